package svi

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestTwoGrades: two grades are two classes, with the cutpoint for the opposite of the intercept. The
// cutpoint begins at exactly 0. The intercept has a wide prior and a spread of its own, which the cutpoint
// has not: the means agree to a hundredth.
func TestTwoGrades(t *testing.T) {
	data := draw(t, likelihood.Bernoulli{}, 300, 2, 8)
	model := credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: held(1)}
	classes := fitted(t, model, Config{Covariance: Full}, data)
	model.Likelihood = likelihood.OrdinalGrades(2)
	grades := fitted(t, model, Config{Covariance: Full}, data)
	if grades.Report.Status != credence.Converged {
		t.Fatalf("the fit of grades ended %v", grades.Report.Status)
	}
	var mean, variance [2][3]float64
	for k, f := range []*credence.Fitted{classes, grades} {
		f.Members[0].Posterior.Marginals(mean[k][:], variance[k][:])
	}
	for j := 1; j <= 2; j++ {
		closeTo(t, "a slope", mean[1][j], mean[0][j], 0.01)
	}
	cut := grades.Members[0].Model.Likelihood.(likelihood.Ordinal).Cutpoints.Values[0] - mean[1][0]
	closeTo(t, "the cutpoint", cut, -mean[0][0], 0.01)
}

// TestOffsetOfGrades: a constant added to every offset moves the cutpoints by as much, and nothing else, however the
// parameters are treated and whether or not the offsets differ.
func TestOffsetOfGrades(t *testing.T) {
	for _, spread := range []float64{0, 0.5} {
		for _, config := range []Config{{Covariance: Full}, {Covariance: Full, Hyper: param.Mode}, {Covariance: Diagonal}, {Covariance: Full, Approximation: Laplace}} {
			var ends [2]*credence.Fitted
			for k, constant := range []float64{0, -800} {
				data := draw(t, likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 0.5}}}, 150, 2, 8)
				data.offset = make([]float64, 150)
				for i := range data.offset {
					data.offset[i] = constant + spread*float64(i%3)
				}
				model := credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: likelihood.OrdinalGrades(3), Prior: held(1)}
				ends[k] = fitted(t, model, config, data)
			}
			for m := range ends[0].Members {
				var mean, variance [2][3]float64
				var cut [2][]float64
				for k, f := range ends {
					f.Members[m].Posterior.Marginals(mean[k][:], variance[k][:])
					cut[k] = f.Members[m].Model.Likelihood.(likelihood.Ordinal).Cutpoints.Values
				}
				for j := range mean[0] {
					closeTo(t, "a weight", mean[1][j], mean[0][j], 1e-5)
					closeTo(t, "a variance", variance[1][j], variance[0][j], 1e-5)
				}
				for j := range cut[0] {
					closeTo(t, "a cutpoint", cut[1][j], cut[0][j]-800, 1e-4)
				}
			}
		}
	}
}

// TestMostCutpointsUnderLaplace: laplace begins to integrate over as many cutpoints as may be, which takes a second and
// is ended here, and leaves one more where the bound has them.
func TestMostCutpointsUnderLaplace(t *testing.T) {
	for _, c := range []struct {
		cutpoints int
		treatment param.Treatment
	}{{hyper.ThreeNodeLimit, param.Integrate}, {hyper.ThreeNodeLimit + 1, param.Mode}} {
		grades := likelihood.OrdinalGrades(c.cutpoints + 1)
		data := draw(t, likelihood.Gaussian{NoiseVariance: param.Hold(1)}, c.cutpoints+1, 1, 8)
		for i := range data.y {
			data.y[i] = float64(i)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := newFit(t, credence.Model{Features: plain{p: 1}, Likelihood: grades, Prior: held(1)}, Config{Approximation: Laplace, Hyper: param.Integrate, Progress: func(p credence.Progress) {
			if strings.HasPrefix(p.Stage, "curvature in") {
				cancel()
			}
		}}, data)
		rows := r.Rows(0)
		s := must.Value(r.Start(ctx, rows, rows))(t)
		n, at := newton.New(r.Problem), newton.Begin(s)
		stats := n.NewStatistics(s.Family.Count())
		if _, _, err := n.Climb(ctx, rows, at, stats, r.task("climb", 1e-4)); err != nil {
			t.Fatal(err)
		}
		g := &integration{fit: r, newton: n, rows: rows, stats: stats}
		_, err := g.run(ctx, at)
		told := strings.Contains(strings.Join(r.report.Warnings, "; "), "101 hyper-parameters are more than 100, and stay where the variational bound has them: engine svi(covariance=full)")
		if begun := errors.Is(err, context.Canceled); g.config.Hyper != c.treatment || begun != (c.treatment == param.Integrate) || told == begun {
			t.Errorf("%d cutpoints: %s, %v, warnings %q", c.cutpoints, g.config.Hyper, err, r.report.Warnings)
		}
	}
}
