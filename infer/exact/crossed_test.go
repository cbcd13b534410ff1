package exact

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// crossedKeys are features of two crossed keys that one factor has, or conjugate gradients solve.
func crossedKeys() plain {
	return plain{intercept: true, dense: 2, sizes: []int{2}}.byLevels(
		ability.LevelRun{Key: "g", Levels: 260, Columns: 1}, ability.LevelRun{Key: "c", Levels: 3, Columns: 1}, ability.LevelRun{Key: "h", Levels: 90, Columns: 2})
}

// crossedFit fits with a factor, or by conjugate gradients.
func crossedFit(t *testing.T, features credence.Features, data credence.Data, threads int, gradients bool) *credence.Fitted {
	t.Helper()
	e := must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{Hyper: param.Mode, Threads: threads, Seed: 5}))(t)
	if !e.crossed {
		t.Fatal("the keys are not crossed")
	}
	if gradients {
		e.most = 20
	}
	return must.Value(e.Fit(context.Background(), data))(t)
}

// TestCrossedFitsAsFactor: conjugate gradients find the mode of a factor: standard deviations within .1 %, means and
// those of fixed effects to what the mode is off by, the evidence within four of its standard errors, and variances of
// rows of training within a few per cent, as probes and cells that count as 0 have it.
func TestCrossedFitsAsFactor(t *testing.T) {
	features := crossedKeys()
	data := levelTable(51, 2500, 2, features).withRoles(52, true, true)
	got, want := crossedFit(t, features, data, 1, true), crossedFit(t, features, data, 1, false)
	if r := want.Report; r.EvidenceStandardError != nil || len(r.Remarks) > 0 {
		t.Errorf("a factor has an evidence ± %v, and remarks %q", r.EvidenceStandardError, r.Remarks)
	}
	r := got.Report
	if r.Status != credence.Converged || r.Evidence != nil || len(r.Remarks) != 1 || !strings.Contains(r.Remarks[0], "conjugate gradients") {
		t.Errorf("%v, evidence %v, remarks %q", r.Status, r.Evidence, r.Remarks)
	}
	if gap, se := *r.EvidenceMode-*want.Report.EvidenceMode, *r.EvidenceStandardError; !(math.Abs(gap) <= 4*se) || !(se > 0 && se < 1) {
		t.Errorf("the evidence is off by %.3f ± %.3f", gap, se)
	}
	for k, v := range want.Report.Hyper {
		if ratio := math.Sqrt(r.Hyper[k].Value / v.Value); !(math.Abs(ratio-1) <= 1e-3) {
			t.Errorf("the standard deviation of %s is %.5f times that of a factor", v.Name, ratio)
		}
	}
	for k, v := range want.Report.HyperSD {
		if ratio := r.HyperSD[k].Value / v.Value; !(math.Abs(ratio-1) <= 0.05) {
			t.Errorf("what is not known of %s is %.4f times that of a factor", v.Name, ratio)
		}
	}
	q, p := got.Members[0].Posterior.(*posterior.Arrow), want.Members[0].Posterior.(*posterior.Arrow)
	d := features.Weights()
	mean, variance, wantMean, wantVariance := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
	q.Marginals(mean, variance)
	p.Marginals(wantMean, wantVariance)
	var off []float64
	for j := range mean {
		sd := math.Sqrt(wantVariance[j])
		if !(math.Abs(mean[j]-wantMean[j]) <= 2e-3*sd) {
			t.Errorf("mean of weight %d is off by %.2g standard deviations", j, (mean[j]-wantMean[j])/sd)
		}
		off = append(off, math.Abs(math.Sqrt(variance[j])/sd-1))
		if j < 3 && off[j] > 1e-3 {
			t.Errorf("the standard deviation of fixed effect %d is off by %.2g", j, off[j])
		}
	}
	slices.Sort(off)
	if median, most := off[d/2], off[d-1]; median > 0.005 || most > 0.05 {
		t.Errorf("standard deviations of weights are off by %.4f in the median, %.4f at most", median, most)
	}
	var phi credence.Design
	ws := credence.NewWorkspace(1)
	features.Transform(ws, &phi, data.batch())
	f, rows, wantRows := make([]float64, data.Rows()), make([]float64, data.Rows()), make([]float64, data.Rows())
	q.Latent(ws, f, rows, &phi)
	p.Latent(ws, f, wantRows, &phi)
	off = off[:0]
	for i, v := range wantRows {
		off = append(off, math.Abs(math.Sqrt(rows[i]/v)-1))
	}
	slices.Sort(off)
	if median, most := off[len(off)/2], off[len(off)-1]; median > 0.02 || most > 0.2 {
		t.Errorf("standard deviations of rows are off by %.4f in the median, %.4f at most", median, most)
	} else {
		t.Logf("standard deviations of rows are off by %.4f in the median, %.4f at most", median, most)
	}
	rng := credence.Rand(1, "test", 0)
	sampler := must.Value(posterior.NewSampler(ws, q, 1, nil))(t)
	draw, square := make([]float64, d), 0.0
	const draws = 300
	for range draws {
		sampler.Draw(rng, draw)
		for j := range draw {
			square += (draw[j] - mean[j]) * (draw[j] - mean[j]) / variance[j] / draws / float64(d)
		}
	}
	if !(math.Abs(square-1) <= 0.03) {
		t.Errorf("draws have %.4f of the variances", square)
	}
}

// TestCrossedAtThreads: the same bytes at any number of threads; another seed has another evidence.
func TestCrossedAtThreads(t *testing.T) {
	features := crossedKeys()
	data := levelTable(53, 1500, 2, features)
	first := crossedFit(t, features, data, 1, true)
	for _, threads := range []int{2, 7} {
		if got := crossedFit(t, features, data, threads, true); !reflect.DeepEqual(got, first) {
			t.Errorf("%d threads: evidence %v, want %v", threads, *got.Report.EvidenceMode, *first.Report.EvidenceMode)
		}
	}
}

// TestNestedKeysAreNotCrossed: a key within another is eliminated after it, whatever there are of its levels.
func TestNestedKeysAreNotCrossed(t *testing.T) {
	features := plain{intercept: true}.byLevels(ability.LevelRun{Key: "h in g", Levels: 300, Columns: 1}, ability.LevelRun{Key: "g", Levels: 100, Columns: 1})
	r := crossedFit(t, features, levelTable(55, 900, 0, features), 1, true).Report
	if r.EvidenceStandardError != nil || len(r.Remarks) > 0 {
		t.Errorf("an evidence ± %v, remarks %q", r.EvidenceStandardError, r.Remarks)
	}
}

// TestCurvatureOfCrossed: the average information is the curvature by differences of slopes, where levels are many.
func TestCurvatureOfCrossed(t *testing.T) {
	features := crossedKeys()
	data := levelTable(57, 2500, 2, features)
	e := must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{Hyper: param.Mode}))(t)
	e.most = 20
	fitted := must.Value(e.Fit(context.Background(), data))(t)
	f := e.newLevels(&primal{common: e.common(must.Value(e.openRows(context.Background(), data, 0, false))(t), credence.NewWorkspace(1), false), rowSums: &Sums{segment: e.segment}})
	must.Succeed(t, f.load(context.Background(), features))
	unit := f.base().summary.units.Scale
	at := values{noise: fitted.Report.Hyper[0].Value / unit / unit}
	for k := range e.groups {
		at.prior = append(at.prior, fitted.Report.Hyper[1+k].Value/unit/unit)
	}
	slope := func() []float64 {
		s := slopes{prior: make([]float64, len(e.groups))}
		must.Value(f.evaluate(context.Background(), &at, &s))(t)
		return append([]float64{2 * s.noise}, s.prior...)
	}
	slope()
	curvature := f.bends(&at).hessian
	for k, g := range e.groups {
		if g.Count < 90 {
			continue
		}
		const h = 0.01
		before := at.prior[k]
		at.prior[k] = before * math.Exp(2*h)
		up := slope()
		at.prior[k] = before * math.Exp(-2*h)
		down := slope()
		at.prior[k] = before
		for l := range e.groups {
			want := 2 * (up[l+1] - down[l+1]) / (2 * h)
			if size := math.Sqrt(curvature.At(k+1, k+1) * curvature.At(l+1, l+1)); !(math.Abs(curvature.At(k+1, l+1)-want) <= 0.15*size) {
				t.Errorf("%s and %s: %.4g, by differences %.4g", g.Name, e.groups[l].Name, curvature.At(k+1, l+1), want)
			}
		}
		if want := (up[0] - down[0]) / (2 * h); !(math.Abs(curvature.At(0, k+1)-want) <= 0.15*math.Sqrt(curvature.At(0, 0)*curvature.At(k+1, k+1))) {
			t.Errorf("%s and noise: %.4g, by differences %.4g", g.Name, curvature.At(0, k+1), want)
		}
	}
}
