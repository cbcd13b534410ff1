package score_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/score"
)

// threeGrades is a model of the weights w₀ … w₃ of an intercept, x about 10 in units of 2 and two levels, and of two
// cutpoints, along three axes.
func threeGrades(t *testing.T) *credence.Fitted {
	t.Helper()
	q := &posterior.Diagonal{Mean: []float64{1, 2, 0.5, 0}, Variance: []float64{1, 0.16, 4, 4}}
	model := mixed(t, q, q, likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 0.5}}})
	model.Family = &credence.FamilyPosterior{
		Coordinates: []credence.Coordinate{{Name: "cutpoint"}, {Name: "gap1", Place: 1, Power: 1}},
		Mode:        []float64{-1, 0.4}, Root: []float64{0.3, -0.1, 0.05, 0.2, 0.25, -0.15},
		Slopes: []float64{0.2, 0.1, -0.3, 0.05, -0.02, 0.04, 0.3, -0.2, 0.1, 0, 0, 0.2}, Widths: make([]float64, 3),
	}
	return model
}

// The variance of a cutpoint at the origin of the data is that of the family's, by the slopes of the two in the axes,
// of the intercept, and twice what they have in common; under gains an axis has the mean and the variance of its
// density.
func TestCutpointsByTheDeltaMethod(t *testing.T) {
	model := threeGrades(t)
	f := model.Family
	for _, skew := range []bool{false, true} {
		mean, sd := make([]float64, 3), []float64{1, 1, 1}
		if skew { // that of the second axis is N(.3, .5), of the others N(0, 1)
			mean[1], sd[1] = 0.3, math.Sqrt(0.5)
			f.Nodes = []float64{-2.857, -1.356, 1.356, 2.857}
			f.Gains = make([]float64, 12)
			for i, z := range f.Nodes {
				f.Gains[4+i] = z*z/2 - (z-0.3)*(z-0.3) + 0.09
			}
		}
		for base, intercept := range map[string][]float64{"": {1, -5, 0, 0}, "c=l": {1, -5, 1, 0}} {
			var options score.TermOptions
			if base != "" {
				options.Bases = []string{base}
			}
			all := terms(t, model, options)
			for k := range 2 {
				// of the family, at a point of one axis and the means of the others
				cutpoint := func(axis int, z float64) float64 {
					x := slices.Clone(f.Mode)
					for i := range x {
						for a := range 3 {
							at := mean[a]
							if a == axis {
								at += z * sd[a]
							}
							x[i] += f.Root[i*3+a] * at
						}
					}
					return x[0] + float64(k)*math.Exp(x[1])
				}
				variance := 1 + 25*0.16 + 4*intercept[2]
				for a := range 3 {
					const h = 1e-4
					own := (cutpoint(a, h) - cutpoint(a, -h)) / (2 * h)
					with := 0.0
					for j, v := range intercept {
						with -= v * f.Slopes[j*3+a] * sd[a]
					}
					variance += own*own + 2*own*with
				}
				if got := float64(all[k].SD); !(math.Abs(got/math.Sqrt(variance)-1) <= 1e-6) || !near(all[k].Mean, []float64{-1, 0.5}[k]+9-0.5*intercept[2]) {
					t.Errorf("skew %v, base %q: cutpoint %d is %v ± %v, want ± %v", skew, base, k, all[k].Mean, got, math.Sqrt(variance))
				}
			}
		}
	}
}

// Intervals of cutpoints ascend: where a wide gap follows, the end below is that of the cutpoint before.
func TestIntervalsOfCutpointsAscend(t *testing.T) {
	model := threeGrades(t)
	model.Family.Root[3], model.Family.Root[4] = 3, 3
	all := terms(t, model, score.TermOptions{Exp: true})
	if low, next := all[0], all[1]; next.Lower != low.Lower || !(next.Upper > low.Upper) || !(float64(next.SD) > 2*float64(low.SD)) || next.Exp.Lower != low.Exp.Lower || !near(float64(low.Exp.Upper), math.Exp(float64(low.Upper))) {
		t.Errorf("%+v and %+v", low, next)
	}
}

// Learned cutpoints of a fit that does not know their spread, as that of an old file, have no interval, and stated ones
// that of the intercept.
func TestCutpointsOfUnknownSpread(t *testing.T) {
	model := threeGrades(t)
	model.Family = nil
	for _, term := range terms(t, model, score.TermOptions{Exp: true})[:2] {
		if term.SD.Defined() || term.Lower.Defined() || term.Upper.Defined() || term.Exp.Lower.Defined() || !near(term.Exp.Estimate, math.Exp(term.Mean)) {
			t.Errorf("%+v has a spread", term)
		}
	}
	held := likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 0.5}, State: param.Held}}
	model.Members[0].Model.Likelihood, model.Members[1].Model.Likelihood = held, held
	for _, term := range terms(t, model, score.TermOptions{})[:2] {
		if !near(float64(term.SD), math.Sqrt(5)) {
			t.Errorf("%+v, want a spread of √5", term)
		}
	}
	model = threeGrades(t)
	model.Family.Coordinates[1].Name = "scale"
	if _, err := score.Terms(model, score.TermOptions{}); err == nil {
		t.Error("a posterior of parameters that the family has not is taken")
	}
}

// TestCutpointsAgainstMaximumLikelihood: of many rows the standard deviations of cutpoints are the standard errors of
// maximum likelihood, from the observed information, to 3 %.
func TestCutpointsAgainstMaximumLikelihood(t *testing.T) {
	for _, cutpoints := range [][]float64{{-1, 1}, {-2, -0.5, 0.5, 2}} {
		rng := rand.New(rand.NewPCG(4, uint64(len(cutpoints))))
		s, _ := drawGraded(rng, 1500, 2, cutpoints, []float64{0.8, -0.4}, 0)
		for j, shift := range []float64{3, -1} { // away from the means
			for i := range s.x[j] {
				s.x[j][i] += shift
			}
		}
		model := s.fit(t)
		all := terms(t, model, score.TermOptions{})
		var at []float64
		for _, term := range all {
			at = append(at, term.Mean)
		}
		k := len(cutpoints)
		logLikelihood := func(x []float64) (sum float64) {
			family := likelihood.Ordinal{Cutpoints: param.List{Values: x[:k]}}
			for i, y := range s.y {
				sum += family.LogDensity(y, x[k]*s.x[0][i]+x[k+1]*s.x[1][i])
			}
			return sum
		}
		const h = 1e-3
		information := mat.NewSymDense(len(at), nil)
		for a := range at {
			for b := range a + 1 {
				sum := 0.0
				for _, sign := range [][2]float64{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
					x := slices.Clone(at)
					x[a] += sign[0] * h
					x[b] += sign[1] * h
					sum += sign[0] * sign[1] * logLikelihood(x)
				}
				information.SetSym(a, b, -sum/(4*h*h))
			}
		}
		var cholesky mat.Cholesky
		var covariance mat.SymDense
		if !cholesky.Factorize(information) {
			t.Fatal("no information")
		}
		must.Succeed(t, cholesky.InverseTo(&covariance))
		for i := range cutpoints {
			if ratio := float64(all[i].SD) / math.Sqrt(covariance.At(i, i)); !(math.Abs(ratio-1) <= 0.03) {
				t.Errorf("%d grades, %s: a spread of %v, %.3f of the standard error", k+1, all[i].Name, all[i].SD, ratio)
			}
		}
	}
}
