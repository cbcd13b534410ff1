package penalised_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/penalised"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

func fitOf(t *testing.T, s *conform.Selection, l credence.Likelihood, cfg penalised.Config) *credence.Fitted {
	t.Helper()
	e := must.Value(penalised.New(credence.Model{Features: s.Features, Likelihood: l, Prior: prior.Normal{}}, cfg))(t)
	return must.Value(e.Fit(context.Background(), conform.Memory{All: &s.Batch}))(t)
}

func hyper(t *testing.T, fitted *credence.Fitted, name string) float64 {
	t.Helper()
	for _, v := range fitted.Report.Hyper {
		if v.Name == name {
			return v.Value
		}
	}
	t.Fatalf("no %s in %v", name, fitted.Report.Hyper)
	return 0
}

func weights(fitted *credence.Fitted) []float64 {
	q := fitted.Members[0].Posterior
	m, v := make([]float64, q.Weights()), make([]float64, q.Weights())
	q.Marginals(m, v)
	return m
}

// deviation is the standard deviation of the target.
func deviation(s *conform.Selection) float64 {
	_, variance := stat.PopMeanVariance(s.Target, s.Weight)
	return math.Sqrt(variance)
}

// TestCrossValidation compares the mean squared error of folds at a stated λ with fits that leave each
// fold's rows out: with as many folds as rows the folds are known.
func TestCrossValidation(t *testing.T) {
	const n = 12
	for _, alpha := range []float64{1, 0} {
		s := conform.NewSelection(n, 8, 3, 0.2, 1, 0.3, alpha == 1, 4)
		for i := range n * 8 {
			if x := &s.X.Row(i % n)[i/n]; *x != 0 {
				*x += 0.5 // means that matter
			}
		}
		s.Weight = []float64{1, 2, 1, 3, 1, 1, 2, 1, 1, 1, 2, 1}
		whole := fitOf(t, s, likelihood.Gaussian{}, penalised.Config{Alpha: alpha, Lambda: 0.15, Folds: n})
		got, spread := hyper(t, whole, "cross_validated_loss"), hyper(t, whole, "cross_validated_loss_se")
		want, total, squares := 0.0, 0.0, [n]float64{}
		scale := deviation(s)
		for out := range n {
			part := *s
			part.Batch = *conform.Rows(&s.Batch, 0, n)
			part.Batch.Weight = append([]float64(nil), s.Weight...)
			part.Batch.Weight[out] = 0
			lambda := 0.15
			if alpha == 0 { // whose penalty is λ ½b²/s with s of all rows
				lambda *= deviation(&part) / scale
			}
			fitted := fitOf(t, &part, likelihood.Gaussian{}, penalised.Config{Alpha: alpha, Lambda: lambda, Folds: n - 1})
			b := weights(fitted)
			f := b[0]
			for j, x := range s.X.Row(out) {
				f += x * b[j+1]
			}
			squares[out] = (s.Target[out] - f) * (s.Target[out] - f)
			want += s.Weight[out] * squares[out]
			total += s.Weight[out]
		}
		if want /= total; !(math.Abs(got-want) <= 5e-4*want) {
			t.Errorf("alpha %v: mean squared error %.6f, by leaving rows out %.6f", alpha, got, want)
		}
		variance := 0.0 // of the mean over folds
		for i, square := range squares {
			variance += s.Weight[i] / total * (square - want) * (square - want) / (n - 1)
		}
		if !(math.Abs(spread/math.Sqrt(variance)-1) <= 2e-3) {
			t.Errorf("alpha %v: the standard error is %.6f, by leaving rows out %.6f", alpha, spread, math.Sqrt(variance))
		}
	}
}

// TestRules sees the rule of one standard error select no more.
func TestRules(t *testing.T) {
	for _, l := range []credence.Likelihood{likelihood.Gaussian{}, likelihood.Bernoulli{}} {
		s := conform.NewSelection(80, 40, 4, 0, 1, 0.2, false, 6)
		if _, classes := l.(likelihood.Bernoulli); classes {
			s.Divide(0.7)
		}
		least := fitOf(t, s, l, penalised.Config{Alpha: 1})
		count := func(f *credence.Fitted) (selected, hit int) {
			q := f.Members[0].Posterior.(*posterior.SpikeSlab)
			for j, w := range s.Weights {
				if q.InclusionProbability(j+1) == 1 {
					selected++
					if w != 0 {
						hit++
					}
				}
			}
			return selected, hit
		}
		sparser := fitOf(t, s, l, penalised.Config{Alpha: 1, Rule: penalised.OneStandard})
		capped := fitOf(t, s, l, penalised.Config{Alpha: 1, Cap: 2})
		all, hits := count(least)
		few, found := count(sparser)
		ended, right := count(capped)
		t.Log(l, all, hits, few, found, ended, right)
		if few > all || found < 3 || hits < 3 || 2*right <= ended || ended > all {
			t.Errorf("%v: least selects %d (%d right), one standard error %d (%d), capped %d (%d)", l, all, hits, few, found, ended, right)
		}
		if most := hyper(t, least, "cross_validated_loss") + hyper(t, least, "cross_validated_loss_se"); hyper(t, sparser, "cross_validated_loss") > most {
			t.Errorf("%v: the loss under the rule is %g, above %g", l, hyper(t, sparser, "cross_validated_loss"), most)
		}
		if hyper(t, sparser, "lambda") <= hyper(t, least, "lambda") {
			t.Errorf("%v: λ %g under the rule, %g at the least loss", l, hyper(t, sparser, "lambda"), hyper(t, least, "lambda"))
		}
	}
}

// TestSameColumns: of two columns that say the same one has a weight, and the other none rather than a rounding.
func TestSameColumns(t *testing.T) {
	for _, factor := range []float64{1, 0.7, 10, 33} {
		for _, limit := range []float64{0, 2} {
			s := conform.NewSelection(120, 5, 2, 0.3, 1, 0.3, false, 12)
			for i := range s.Target {
				x, level := s.X.Row(i), 0.0
				if x[0] > 0.1 {
					level = 1
				}
				x[0], x[4] = level, 1-level
				s.Target[i] += 2 * level
				s.Target[i] *= factor
			}
			b := weights(fitOf(t, s, likelihood.Gaussian{}, penalised.Config{Alpha: 1, Cap: limit}))
			if b[1] != 0 && b[5] != 0 || limit == 0 && b[1] == b[5] {
				t.Errorf("target times %v, cap %v: weights %v and %v", factor, limit, b[1], b[5])
			}
		}
	}
}

// TestRidge compares ridge regression with the normal equations.
func TestRidge(t *testing.T) {
	s := conform.NewSelection(30, 2, 2, 0.4, 1, 0.2, false, 8)
	b := weights(fitOf(t, s, likelihood.Gaussian{}, penalised.Config{Lambda: 0.3}))
	var xx [2][2]float64
	var xy, mean [2]float64
	centre := 0.0
	for i, y := range s.Target {
		centre += y / 30
		for j := range 2 {
			mean[j] += s.X.Row(i)[j] / 30
		}
	}
	for i, y := range s.Target {
		for j := range 2 {
			u := s.X.Row(i)[j] - mean[j]
			xy[j] += u * (y - centre) / 30
			for k := range 2 {
				xx[j][k] += u * (s.X.Row(i)[k] - mean[k]) / 30
			}
		}
	}
	xx[0][0] += 0.3 / deviation(s)
	xx[1][1] += 0.3 / deviation(s)
	det := xx[0][0]*xx[1][1] - xx[0][1]*xx[1][0]
	want := []float64{0, (xx[1][1]*xy[0] - xx[0][1]*xy[1]) / det, (xx[0][0]*xy[1] - xx[1][0]*xy[0]) / det}
	want[0] = centre - want[1]*mean[0] - want[2]*mean[1]
	for j := range want {
		if !(math.Abs(b[j]-want[j]) <= 1e-3) {
			t.Errorf("weight %d is %.6f, want %.6f", j, b[j], want[j])
		}
	}
}

// TestWideRidge checks the conditions of a minimum of ridge regression with fewer rows than columns,
// where others are gone through.
func TestWideRidge(t *testing.T) {
	for _, l := range []credence.Likelihood{likelihood.Gaussian{}, likelihood.Bernoulli{}} {
		s := conform.NewSelection(20, 50, 5, 0.3, 1, 0.3, true, 8)
		if _, classes := l.(likelihood.Bernoulli); classes {
			s.Divide(0.7)
		}
		b := weights(fitOf(t, s, l, penalised.Config{Lambda: 0.2}))
		slopes, scale := make([]float64, 51), 1.0
		if _, normal := l.(likelihood.Gaussian); normal {
			scale = deviation(s)
		}
		for i, y := range s.Target {
			f := b[0]
			for j, x := range s.X.Row(i) {
				f += x * b[j+1]
			}
			gap := y - f
			if _, classes := l.(likelihood.Bernoulli); classes {
				gap = y - 1/(1+math.Exp(-f))
			}
			slopes[0] += gap / 20
			for j, x := range s.X.Row(i) {
				slopes[j+1] += gap * x / 20
			}
		}
		for j, slope := range slopes {
			if j > 0 {
				slope -= 0.2 / scale * b[j]
			}
			if !(math.Abs(slope) <= 1e-3) {
				t.Errorf("%v: the slope in weight %d is %g", l, j, slope)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	s := conform.NewSelection(10, 3, 1, 0, 1, 0.2, false, 1)
	for want, make := range map[string]func() (*penalised.Engine, error){
		"leave --prior out": func() (*penalised.Engine, error) {
			return penalised.New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}, penalised.Config{})
		},
		"gaussian or bernoulli": func() (*penalised.Engine, error) {
			return penalised.New(credence.Model{Features: s.Features, Likelihood: likelihood.Poisson{}, Prior: prior.Normal{}}, penalised.Config{})
		},
		"alpha=2": func() (*penalised.Engine, error) {
			return penalised.New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}, penalised.Config{Alpha: 2})
		},
	} {
		if _, err := make(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("refusal reads %v, want %q", err, want)
		}
	}
}

// TestStatedNoise: a noise variance that is stated is that of a row of precision 1.
func TestStatedNoise(t *testing.T) {
	s := conform.NewSelection(12, 3, 1, 0, 1, 0.3, false, 4)
	s.Precision = []float64{9, 1, 4, 9, 9, 9, 2, 9, 9, 7, 9, 9}
	fitted := fitOf(t, s, likelihood.Gaussian{NoiseVariance: param.Hold(0.3)}, penalised.Config{Alpha: 1, Lambda: 0.1, Folds: 3})
	if got := hyper(t, fitted, "noise_variance"); !(math.Abs(got-0.3) <= 1e-12) {
		t.Errorf("the noise variance is %v, stated 0.3", got)
	}
}
