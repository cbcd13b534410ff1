package score_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// constantRows are targets of Student's t with an intercept alone.
func constantRows(t *testing.T, n int, weights []float64) (y []float64, rows credence.Source) {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 3))
	one := make([]float64, n)
	for range n {
		y = append(y, 3+distuv.StudentsT{Sigma: 1, Nu: 4, Src: rng}.Rand())
	}
	of := table.New().Numbers("y", y).Numbers("one", one)
	if weights != nil {
		of = of.Numbers("w", weights)
	}
	return y, must.Value(of.Source())(t)
}

// TestLeaveOneOutIsAQuadrature: of one weight and one parameter, a scale, the density of each row given the others is
// that of a dense quadrature over their posterior, which knows nothing of normal distributions: to .01 nat in the mean,
// .03 for a row.
func TestLeaveOneOutIsAQuadrature(t *testing.T) {
	y, rows := constantRows(t, 30, nil)
	model := fitted(t, rows, fit.Options{Formula: "y ~ 1", Family: "studentt(df=4)"})
	sorted := slices.Sorted(slices.Values(y))
	median := (sorted[14] + sorted[15]) / 2
	prior := model.Report.HyperPrior[0].Value // half-Cauchy of the scale, and the intercept's is N(median, (10 s)²)
	total, each := 0.0, make([]float64, len(y))
	const steps = 300
	for a := range steps {
		logScale := math.Log(prior) - 2 + 4*float64(a)/steps
		scale := math.Exp(logScale)
		family := likelihood.StudentT{DegreesOfFreedom: param.Hold(4), Scale: param.Hold(scale)}
		for b := range steps {
			centre := median - 2*prior + 4*prior*float64(b)/steps
			sum := logScale - math.Log1p(scale*scale/(prior*prior)) - (centre-median)*(centre-median)/(200*prior*prior)
			logs := make([]float64, len(y))
			for i, v := range y {
				logs[i] = family.LogDensity(v, centre)
				sum += logs[i]
			}
			total += math.Exp(sum + 60)
			for i, v := range logs {
				each[i] += math.Exp(sum + 60 - v)
			}
		}
	}
	leaver := score.NewLeaver(model)
	table := must.Value(scorer(t, model).Table(rows, score.RequireTargets))(t)
	must.Succeed(t, table.Each(t.Context(), leaver.Add))
	got := must.Value(leaver.Result())(t)
	want := 0.0
	for i := range y {
		log := math.Log(total / each[i])
		want -= log / float64(len(y))
		if gap := leaver.LogDensity(i) - log; !(math.Abs(gap) <= 0.03) {
			t.Errorf("row %d: %v, want %v", i, leaver.LogDensity(i), log)
		}
	}
	if !(math.Abs(float64(got.NLPD)-want) <= 0.01) || got.Unreliable > 0 || got.Marked || !(got.ParetoK > 0) {
		t.Errorf("%+v, want %v", got, want)
	}
}

// TestJointDraws: draws of f and of a scale are those of their stated posterior, skew and with a variance of f that
// goes with the scale: what they say of a row of weight w given the others is E p^(1−w)/E p^(−w) by quadrature.
func TestJointDraws(t *testing.T) {
	weights := make([]float64, 30)
	for i := range weights {
		weights[i] = []float64{1, 0.5, 2}[i%3]
	}
	y, rows := constantRows(t, 30, weights)
	model := fitted(t, rows, fit.Options{Formula: "y ~ 1 + weight(w)", Family: "studentt(df=4)"})
	f := model.Family
	if f.Axes() != 1 || len(model.Members) < 2 {
		t.Fatalf("%d axes, %d members", f.Axes(), len(model.Members))
	}
	f.Root[0], f.Slopes[0], f.Widths[0] = 0.25, 0.15, 0.6
	f.Nodes, f.Gains = []float64{-2.857, -1.356, 1.356, 2.857}, []float64{-0.9, -0.1, 0.15, 1.1}
	var mean, variance float64
	each(t, model, rows, func(rows *score.Rows, _ int) { mean, variance = rows.Latent(0) })
	const steps, reach = 400, 7
	place := func(i int) float64 { return (2*float64(i)/steps - 1) * reach }
	var total, first, second, size float64
	for i := range steps {
		z := place(i)
		density := math.Exp(f.Gain(0, z) - z*z/2)
		total, first, second = total+density, first+density*z, second+density*z*z
		size += density * math.Exp(0.6*z)
	}
	first /= total
	left := variance - 0.15*0.15*(second/total-first*first)
	leaver := score.NewLeaver(model)
	table := must.Value(scorer(t, model).Table(rows, score.RequireTargets))(t)
	must.Succeed(t, table.Each(t.Context(), leaver.Add))
	for i, v := range y {
		var with, without float64
		for a := range steps {
			z := place(a)
			family := likelihood.StudentT{DegreesOfFreedom: param.Hold(4), Scale: param.Hold(math.Exp(f.Mode[0] + 0.25*z))}
			spread := math.Sqrt(left * math.Exp(0.6*z) / (size / total))
			for b := range steps {
				u := place(b)
				log := family.LogDensity(v, mean+0.15*(z-first)+spread*u)
				density := f.Gain(0, z) - z*z/2 - u*u/2
				with += math.Exp(density + (1-weights[i])*log)
				without += math.Exp(density - weights[i]*log)
			}
		}
		if want := math.Log(with / without); !(math.Abs(leaver.LogDensity(i)-want) <= 0.01) {
			t.Errorf("row %d of weight %v: %v, want %v", i, weights[i], leaver.LogDensity(i), want)
		}
	}
}

// What cannot be left out is said: more weights than rows without their correlations, a point, and parameters whose
// spread is not known beside few rows.
func TestLeaveOneOutIsNotMade(t *testing.T) {
	s := newCells(30)
	source := s.source(t)
	counts := fitted(t, source, fit.Options{Formula: "count ~ a + b", Family: "negbinomial", Engine: "svi(covariance=full, hyper=mode)"})
	diagonal := fitted(t, source, fit.Options{Formula: "count ~ a + b", Family: "poisson", Engine: "svi(components=1)"})
	wide := *diagonal
	wide.Report.Rows = 2
	many := *counts
	many.Report.Rows = 300
	for what, c := range map[string]struct {
		model *credence.Fitted
		made  bool
	}{
		"a held size of few rows":      {counts, false},
		"a held size of many rows":     {&many, true},
		"a diagonal posterior":         {diagonal, true},
		"more weights than rows":       {&wide, false},
		"the lasso":                    {fitted(t, source, fit.Options{Formula: "y ~ a + b", Engine: "lasso"}), false},
		"an integrated size":           {fitted(t, source, fit.Options{Formula: "count ~ a + b", Family: "negbinomial"}), true},
		"a stated size of a held fit":  {fitted(t, source, fit.Options{Formula: "count ~ a + b", Family: "negbinomial(size=2)", Engine: "svi(covariance=full, hyper=mode)"}), true},
		"a normal model at its mode":   {fitted(t, source, fit.Options{Formula: "y ~ a + b", Engine: "exact(hyper=mode)"}), true},
		"a posterior of correlated f":  {fitted(t, source, fit.Options{Formula: "y ~ a + b"}), true},
		"a second look at the others ": {counts, false},
	} {
		t.Run(what, func(t *testing.T) {
			leaver := score.NewLeaver(c.model)
			table := must.Value(scorer(t, c.model).Table(source, score.RequireTargets))(t)
			must.Succeed(t, table.Each(t.Context(), leaver.Add))
			if rows := c.model.Report.Rows; rows != 30 { // which it then does not have
				c.model.Report.Rows = 30
				defer func() { c.model.Report.Rows = rows }()
			}
			out := must.Value(leaver.Result())(t)
			if made := out.NotMade == ""; made != c.made || made != out.NLPD.Defined() || out.Rows != 30 {
				t.Errorf("%+v", out)
			}
		})
	}
}

// A model is marked where more than one row in twenty is unreliable.
func TestLeaveOneOutMarks(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, c := range []struct {
		outliers, rows int
	}{{0, 60}, {1, 60}, {2, 30}} {
		var x, z, y []float64
		for i := range c.rows {
			x, z, y = append(x, rng.NormFloat64()), append(z, rng.NormFloat64()), append(y, math.Floor(10*rng.Float64()))
			if i < c.outliers {
				[]([]float64){x, z}[i][i], y[i] = 6, 200
			}
		}
		source := must.Value(table.New().Numbers("x", x).Numbers("z", z).Numbers("y", y).Source())(t)
		got := must.Value(score.LeaveOneOut(t.Context(), scorer(t, fitted(t, source, fit.Options{Formula: "y ~ x + z", Family: "poisson"})), source))(t)
		if got.Marked != (float64(got.Unreliable) > 0.05*float64(c.rows)) || got.Marked != (c.outliers == 2) {
			t.Errorf("%d outliers: %+v", c.outliers, got)
		}
	}
}

// TestDrawFamily: draws stand about their mean with their SD, and those of one set know nothing of another's.
func TestDrawFamily(t *testing.T) {
	_, rows := constantRows(t, 30, nil)
	model := fitted(t, rows, fit.Options{Formula: "y ~ 1", Family: "studentt(df=4)"})
	const count = 2000
	sets := make([]*score.FamilyDraws, 2)
	for k := range sets {
		sets[k] = must.Value(score.DrawFamily(model, count, uint64(k)))(t)
		var mean, square float64
		for _, z := range sets[k].Moved[0] {
			mean, square = mean+z/count, square+z*z/count
		}
		if sd := sets[k].SD[0]; !(math.Abs(mean) <= 0.01) || !(math.Abs(square/(sd*sd)-1) <= 0.02) || len(sets[k].Likelihoods) != count {
			t.Errorf("mean %v, square %v, SD %v", mean, square, sd)
		}
	}
	product := 0.0
	for s, z := range sets[0].Moved[0] {
		product += z * sets[1].Moved[0][s] / (sets[0].SD[0] * sets[1].SD[0]) / math.Sqrt(count)
	}
	if !(math.Abs(product) <= 4) {
		t.Errorf("two sets have a correlation of %v standard errors", product)
	}
}

// TestLeaveOneOutOfFarRows: a row that importance weights do not reach is left out by its cavity, to what the fit
// without it says, and is not told to be unreliable.
func TestLeaveOneOutOfFarRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 7))
	var x, z, y []float64
	for range 25 {
		x, z = append(x, rng.NormFloat64()), append(z, rng.NormFloat64())
		y = append(y, likelihood.Gamma{Shape: param.Hold(2)}.Sample(rng, 0.7*x[len(x)-1]))
	}
	x[3], y[3] = 2.5, 40
	options := fit.Options{Formula: "y ~ x + z", Family: "gamma", Threads: 1}
	all := setOf(t, x, z, y, -1)
	model := fitted(t, all, options)
	leaver := score.NewLeaver(model)
	leaver.KeepPIT()
	must.Succeed(t, must.Value(scorer(t, model).Table(all, score.RequireTargets))(t).Each(t.Context(), leaver.Add))
	if k := leaver.ParetoK(3); k == 0 || k > score.GoodK {
		t.Errorf("k of the far row is %v", k)
	}
	one := must.Value(table.New().Numbers("x", x[3:4]).Numbers("z", z[3:4]).Numbers("y", y[3:4]).Source())(t)
	each(t, fitted(t, setOf(t, x, z, y, 3), options), one, func(rows *score.Rows, i int) {
		if want := rows.LogDensity(i, y[3]); !(math.Abs(leaver.LogDensity(3)-want) <= 0.1) {
			t.Errorf("log density %v given the others, %v of the fit without the row", leaver.LogDensity(3), want)
		}
		below, upTo := leaver.PIT(3)
		if _, want := rows.PIT(i); below != upTo || !(math.Abs(math.Log((1-upTo)/(1-want))) <= 0.3) {
			t.Errorf("1 − P(Y ≤ y) is %v given the others, %v of the fit without the row", 1-upTo, 1-want)
		}
	})
}
