package convex_test

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

func named(values credence.Values, name string) float64 {
	for _, v := range values {
		if v.Name == name {
			return v.Value
		}
	}
	return math.NaN()
}

// TestIntegrateNormal: with normal targets and a normal prior the bound is the evidence, and what is integrated is what
// the engine exact integrates, with few rows and with many.
func TestIntegrateNormal(t *testing.T) {
	for _, n := range []int{18, 60} {
		rows := conform.Regression(likelihood.Gaussian{NoiseVariance: param.Hold(16)}, n, 20, 1)
		for i := range rows.Target {
			rows.X.Row(i)[2] += 4
			rows.Target[i] = 30 + rows.Target[i] + 20*math.Sin(float64(i*i)) // more noise than 20 columns explain
			// weights repeat rows, which few rows would make certain of
			if n > 20 {
				rows.Weight = append(rows.Weight, float64(1+i%3))
			}
		}
		model := credence.Model{Features: conform.Columns{Dense: 16, Sparse: 4, Intercept: true}, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}
		want := fitOf(t, must.Value(exact.New(model, exact.Config{}))(t), rows)
		got := fitOf(t, must.Value(convex.New(model, convex.Config{}))(t), rows)
		r, s := got.Report, want.Report
		if r.EvidenceBound == nil {
			t.Errorf("%d rows: %+v", n, r)
			continue
		}
		if r.Hyperparameters != "integrate" || !(math.Abs(*r.EvidenceBound-*s.Evidence) <= 2e-3) || !(math.Abs(*r.EvidenceBoundMode-*s.EvidenceMode) <= 2e-3) {
			t.Errorf("%d rows, %s: bound %.6g, at the mode %.6g; evidence %.6g, %.6g", n, r.Hyperparameters, *r.EvidenceBound, *r.EvidenceBoundMode, *s.Evidence, *s.EvidenceMode)
		}
		for _, name := range []string{"noise_variance", "prior_variance.linear"} {
			for what, pair := range map[string][2]float64{
				"value": {named(r.Hyper, name), named(s.Hyper, name)}, "SD": {named(r.HyperSD, name), named(s.HyperSD, name)},
				"prior": {named(r.HyperPrior, name), named(s.HyperPrior, name)},
			} {
				if !(math.Abs(pair[0]/pair[1]-1) < 5e-3) {
					t.Errorf("%d rows: %s of %s is %v, want %v", n, what, name, pair[0], pair[1])
				}
			}
		}
		m1, v1 := marginals(want)
		m2, v2 := marginals(got)
		for j := range m1 {
			if !(math.Abs(m1[j]-m2[j]) <= 2e-3*math.Sqrt(v1[j])) || !(math.Abs(v1[j]/v2[j]-1) <= 4e-3) {
				t.Errorf("%d rows: weight %d is %g ± %g, want %g ± %g", n, j, m2[j], math.Sqrt(v2[j]), m1[j], math.Sqrt(v1[j]))
			}
		}
		g, w := got.Members[0].Model.Likelihood.(likelihood.Gaussian), want.Members[0].Model.Likelihood.(likelihood.Gaussian)
		if !(math.Abs(g.PredictiveDF/w.PredictiveDF-1) < 0.1) { // there the variance of f counts, too
			t.Errorf("%d rows: %v degrees of freedom, want %v", n, g.PredictiveDF, w.PredictiveDF)
		}
	}
}

// TestIntegrateGrid integrates over the scale of the prior on a fine grid of fits at held scales. The axis has
// five nodes: moments agree to the second digit.
func TestIntegrateGrid(t *testing.T) {
	rows := conform.Regression(likelihood.Bernoulli{}, 60, 5, 3)
	for _, c := range []struct {
		learned credence.Prior
		at      func(u float64) credence.Prior
		name    string
		log     float64
	}{
		{prior.Normal{}, func(u float64) credence.Prior { return prior.Normal{Variance: param.Hold(math.Exp(2 * u))} }, "prior_variance.linear", 2},
		{prior.Laplace{}, func(u float64) credence.Prior { return prior.Laplace{Scale: param.Hold(math.Exp(u))} }, "prior_scale", 1},
		{prior.StudentT{DF: 4}, func(u float64) credence.Prior {
			return prior.StudentT{DF: 4, Scale: param.Hold(math.Exp(u))}
		}, "prior_scale", 1},
	} {
		model := credence.Model{Features: conform.Columns{Dense: 5, Intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: c.learned}
		got := fitOf(t, must.Value(convex.New(model, convex.Config{}))(t), rows)
		r := got.Report
		density := hyper.BetaPrime{A: 1, B: likelihood.PriorTail(likelihood.Bernoulli{}), Scale: math.Pow(named(r.HyperPrior, c.name), 1/c.log)}
		centre, sd := math.Log(named(r.Hyper, c.name))/c.log, named(r.HyperSD, c.name)/c.log
		const points = 41
		total, d := 0.0, 6
		mean, square, moment := make([]float64, d), make([]float64, d), 0.0
		highest := math.Inf(-1)
		logs, means, variances, us := []float64{}, [][]float64{}, [][]float64{}, []float64{}
		for i := range points {
			u := centre + (float64(i)/(points-1)*12-6)*sd
			model.Prior = c.at(u)
			fitted := fitOf(t, must.Value(convex.New(model, convex.Config{Steps: 1000, Tolerance: 1e-11}))(t), rows)
			value, _, _ := density.At(u)
			m, v := marginals(fitted)
			logs, means, variances, us = append(logs, *fitted.Report.EvidenceBound+value), append(means, m), append(variances, v), append(us, u)
			highest = math.Max(highest, logs[i])
		}
		for i, log := range logs {
			w := math.Exp(log - highest)
			total += w
			moment += w * us[i]
			for j := range d {
				mean[j] += w * means[i][j]
				square[j] += w * (variances[i][j] + means[i][j]*means[i][j])
			}
		}
		evidence := math.Log(total*12*sd/(points-1)) + highest
		if !(math.Abs(*r.EvidenceBound-evidence) <= 0.02) || !(*r.EvidenceBoundMode > *r.EvidenceBound) {
			t.Errorf("%v: bound %.4f, at the mode %.4f, on the grid %.4f", c.learned, *r.EvidenceBound, *r.EvidenceBoundMode, evidence)
		}
		if !(math.Abs(centre-moment/total) <= 0.05*sd) {
			t.Errorf("%v: the mean logarithm is %.4f, on the grid %.4f ± %.4f", c.learned, centre, moment/total, sd)
		}
		m, v := marginals(got)
		for j := range d {
			mean[j] /= total
			variance := square[j]/total - mean[j]*mean[j]
			if !(math.Abs(m[j]-mean[j]) <= 0.02*math.Sqrt(variance)) || !(math.Abs(v[j]/variance-1) <= 0.04) {
				t.Errorf("%v: weight %d is %.4f ± %.4f, on the grid %.4f ± %.4f", c.learned, j, m[j], math.Sqrt(v[j]), mean[j], math.Sqrt(variance))
			}
		}
		if q, ok := got.Members[0].Posterior.(credence.LatentDF); !ok || !(q.LatentDF() > 4) {
			t.Errorf("%v: no degrees of freedom", c.learned)
		}
	}
}

// TestTreatments: what is not said is integrated where it can be, and what cannot be is refused.
func TestTreatments(t *testing.T) {
	rows := classes(80, 4)
	model := credence.Model{Features: conform.Columns{Dense: 4, Intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: prior.Normal{}}
	for way, want := range map[convex.Variances]string{"": "integrate", convex.Exact: "integrate", convex.Sampled: "mode", convex.LanczosMethod: "mode"} {
		if r := fitOf(t, must.Value(convex.New(model, convex.Config{Variances: way}))(t), rows).Report; r.Hyperparameters != want || want == "integrate" != (r.EvidenceBound != nil) {
			t.Errorf("variances=%s: %s, bound %v", way, r.Hyperparameters, r.EvidenceBound)
		}
	}
	if r := fitOf(t, must.Value(convex.New(model, convex.Config{Hyper: param.Mode}))(t), rows).Report; r.Hyperparameters != "mode" || r.EvidenceBound != nil || r.EvidenceBoundMode == nil || r.HyperSD != nil {
		t.Errorf("mode: %+v", r)
	}
	if _, err := convex.New(model, convex.Config{Hyper: param.Integrate, Variances: convex.Sampled}); err == nil || !strings.Contains(err.Error(), "hyper=mode") {
		t.Errorf("sampled: %v", err)
	}
	model.Features = conform.Columns{Sparse: problem.FullWeights, Intercept: true}
	if _, err := convex.New(model, convex.Config{Hyper: param.Integrate}); err == nil || !strings.Contains(err.Error(), "hyper=mode") {
		t.Errorf("many weights: %v", err)
	}
}
