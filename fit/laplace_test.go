package fit_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// TestLaplace fits with every method, and by itself where a spike is stated, saves, loads and predicts.
func TestLaplace(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const n = 60
	x, z, y := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], z[i] = rng.NormFloat64(), rng.NormFloat64()
		y[i] = 3 - 2*x[i] + 0.3*rng.NormFloat64()
	}
	rows := must.Value(table.New().Numbers("x", x).Numbers("z", z).Numbers("y", y).Source())(t)
	for _, o := range []fit.Options{
		{Prior: "spikeslab(spike=0.001)"}, {Prior: "spikeslab", Engine: "laplace"}, {Prior: "spikeslab(inclusion=0.5, slab=4, spike=0.001)", Engine: "laplace(method=gist)"},
		{Prior: "spikeslab", Engine: "laplace(variances=nystrom, anneal=true)"}, {Prior: "spikeslab(inclusion_prior=[1, 3])", Engine: "laplace(variances=random, vectors=8)"},
	} {
		o.Formula, o.Threads = "y ~ x + z", 1
		fitted, err := fit.Select(context.Background(), rows, o, selection.Options{})
		if err != nil {
			t.Fatal(o, err)
		}
		if fitted.Report.Engine != "laplace" || fitted.Report.Status != credence.Converged {
			t.Errorf("%+v: %+v", o, fitted.Report)
		}
		o.Threads = 2
		twice, err := fit.Select(context.Background(), rows, o, selection.Options{})
		if err != nil {
			t.Fatal(o, err)
		}
		for k, f := range fitted.Selection.Features {
			if f != twice.Selection.Features[k] {
				t.Errorf("%+v: threads matter: %+v, %+v", o, f, twice.Selection.Features[k])
			}
			if f.Selected != (f.Name == "x") {
				t.Errorf("%+v: %+v", o, f)
			}
		}
		path := filepath.Join(t.TempDir(), "m.safetensors")
		must.Succeed(t, modelfile.Save(path, fitted))
		again := must.Value(modelfile.Load(path))(t)
		row, err := score.Row(again, map[string]any{"x": 1.0, "z": 0.0})
		if err != nil || !(math.Abs(row.Mean-1) <= 0.35) || !(row.SD > 0.2 && row.SD < 0.5) {
			t.Errorf("%+v: %+v, %v", o, row, err)
		}
	}
	if _, err := fit.New(fit.Options{Engine: "laplace", Prior: "spikeslab(spike=0)", Family: "gaussian"}); err == nil || !strings.Contains(err.Error(), "state spike above 0") {
		t.Errorf("a point: %v", err)
	}
}

// TestLaplaceNormal: with a normal prior and a gaussian family the mode's curvature is all there is, and
// posterior and evidence are those of exact, at held values to rounding and at learned ones to where the
// searches end; other families answer, save, load and predict.
func TestLaplaceNormal(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(6, 5))
	const n = 50
	x, z, y := make([]float64, n), make([]float64, n), make([]float64, n)
	counts, classes := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], z[i] = rng.NormFloat64(), 5+rng.NormFloat64()
		y[i] = 3 - x[i] + 0.2*z[i] + rng.NormFloat64()
		counts[i] = float64(rng.IntN(int(2 + math.Exp(1+0.5*x[i]))))
		if rng.Float64() < 1/(1+math.Exp(-x[i])) {
			classes[i] = 1
		}
	}
	rows := must.Value(table.New().Numbers("x", x).Numbers("z", z).Numbers("y", y).Numbers("count", counts).Numbers("class", classes).Source())(t)
	moments := func(f *credence.Fitted) (mean, variance []float64) {
		d := f.Members[0].Posterior.Weights()
		mean, variance = make([]float64, d), make([]float64, d)
		f.Members[0].Posterior.Marginals(mean, variance)
		return mean, variance
	}
	for _, c := range []struct {
		family, prior, treatment string
		tolerance                float64
	}{{"gaussian(variance=0.9)", "normal(variance=2)", "integrate", 1e-8}, {"gaussian", "normal", "mode", 1e-6}, {"gaussian", "normal", "ml", 1e-6}} {
		o := fit.Options{Formula: "y ~ x + z", Family: c.family, Prior: c.prior, Engine: "laplace(hyper=" + c.treatment + ")"}
		f := must.Value(fit.Table(ctx, rows, o))(t)
		o.Engine = "exact(tolerance=1e-9, hyper=" + c.treatment + ")"
		e := must.Value(fit.Table(ctx, rows, o))(t)
		want := e.Report.Evidence
		if c.treatment == "mode" {
			want = e.Report.EvidenceMode
		}
		if got := f.Report.EvidenceEstimate; f.Report.Engine != "laplace" || got == nil || !(math.Abs(*got-*want) <= 1e-8*math.Abs(*want)) {
			t.Errorf("%+v: %+v, want evidence %v", c, f.Report, *want)
		}
		m, v := moments(f)
		for j, mean := range first(moments(e)) {
			_, variances := moments(e)
			if !(math.Abs(m[j]-mean) <= c.tolerance*math.Sqrt(v[j])) || !(math.Abs(v[j]/variances[j]-1) <= c.tolerance) {
				t.Errorf("%+v: weight %d is %v ± %v, want %v ± %v", c, j, m[j], math.Sqrt(v[j]), mean, math.Sqrt(variances[j]))
			}
		}
	}
	for _, c := range []struct{ target, family string }{{"class", "bernoulli"}, {"class", "bernoulli(link=probit)"}, {"count", "poisson"}, {"count", "negbinomial"}, {"y", "studentt"}} {
		f, err := fit.Table(ctx, rows, fit.Options{Formula: c.target + " ~ x + z", Family: c.family, Prior: "normal", Engine: "laplace"})
		if err != nil {
			t.Fatal(c, err)
		}
		s, err := fit.Table(ctx, rows, fit.Options{Formula: c.target + " ~ x + z", Family: c.family, Engine: "svi(covariance=full)"})
		if err != nil {
			t.Fatal(c, err)
		}
		// A bound is below the evidence, and Laplace's approximation near both.
		if gap := *f.Report.EvidenceEstimate - *s.Report.ELBO; !(math.Abs(gap) <= 0.5) || f.Report.Hyperparameters != "integrate" || len(f.Report.HyperSD) == 0 {
			t.Errorf("%v: %+v, the bound is %v", c, f.Report, *s.Report.ELBO)
		}
		path := filepath.Join(t.TempDir(), "m.safetensors")
		must.Succeed(t, modelfile.Save(path, f))
		again := must.Value(modelfile.Load(path))(t)
		row := map[string]any{"x": 0.5, "z": 5.0}
		got, err := score.Row(again, row)
		want, wrong := score.Row(s, row)
		if err != nil || wrong != nil || !(math.Abs(got.Mean-want.Mean) <= 0.1*want.SD) || !(math.Abs(got.SD/want.SD-1) <= 0.1) {
			t.Errorf("%v: %+v, %v; the bound's is %+v", c, got, err, want)
		}
	}
	for engine, c := range map[string][2]string{
		"laplace(method=gist)":      {"normal", "method is an option for the prior spikeslab"},
		"laplace(diagnostics=0)":    {"spikeslab", "diagnostics is an option for the prior normal"},
		"laplace(hyper=integrate)":  {"spikeslab", "hyper"},
		"laplace(covariance=false)": {"normal", "covariance"},
		"laplace":                   {"studentt", "it needs the prior normal or spikeslab"},
	} {
		if _, err := fit.New(fit.Options{Engine: engine, Prior: c[0]}); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s with %s: %v", engine, c[0], err)
		}
	}
}

func first(a, _ []float64) []float64 { return a }

// TestManyCutpointsUnderLaplace: curvature in hundreds of cutpoints would take minutes, so that laplace takes them from
// the bound and tells who integrates over them.
func TestManyCutpointsUnderLaplace(t *testing.T) {
	const n = 110
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], y[i] = math.Sin(float64(i*i)), float64(i)
	}
	rows := must.Value(table.New().Numbers("x", x).Numbers("y", y).Source())(t)
	for engine, treatment := range map[string]string{"laplace": "mode", "laplace(hyper=ml)": "ml", "svi(covariance=full)": "integrate"} {
		report := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x", Family: "ordinal", Engine: engine}))(t).Report
		told := strings.Contains(strings.Join(report.Warnings, "\n"), "110 hyper-parameters are more than 100, and stay where the variational bound has them: engine svi(covariance=full) integrates over them")
		if report.Hyperparameters != treatment || told != (engine == "laplace") {
			t.Errorf("%s: hyper-parameters are %s, warnings %q", engine, report.Hyperparameters, report.Warnings)
		}
	}
}
