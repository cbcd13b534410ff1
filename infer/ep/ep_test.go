package ep

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

func held(inclusion, slab float64) prior.SpikeSlab {
	return prior.SpikeSlab{Inclusion: param.Hold(inclusion), Slab: param.Hold(slab)}
}

func fitOf(t *testing.T, s *conform.Selection, l credence.Likelihood, p credence.Prior, cfg Config) *credence.Fitted {
	t.Helper()
	e := must.Value(New(credence.Model{Features: s.Features, Likelihood: l, Prior: p}, cfg))(t)
	return must.Value(e.Fit(context.Background(), conform.Memory{All: &s.Batch}))(t)
}

// TestEnumeration compares inclusion, weights and evidence with those of all 4,096 models, in both forms.
func TestEnumeration(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	for _, c := range []struct {
		n           int
		correlation float64
		sparse      bool
		weighted    bool
		rmse        float64
		odds        []float64
	}{
		{40, 0, false, false, 0.03, nil}, {40, 0.5, false, false, 0.05, nil}, {12, 0, false, false, 0.05, nil}, {40, 0.3, true, false, 0.05, nil},
		{12, 0, true, true, 0.05, nil}, {40, 0.3, false, true, 0.05, nil}, {40, 0.3, false, false, 0.05, []float64{0.02, 0, 50, 0, 0.02, 0, 1, 10, 0, 0.001, 3, 0}},
	} {
		const p = 12
		s := conform.NewSelection(c.n, p, 4, c.correlation, 1, 0.5, c.sparse, uint64(c.n)+3)
		if c.weighted {
			for i := range c.n {
				s.Weight = append(s.Weight, float64(1+i%3))
			}
		}
		p0 := held(0.3, 1)
		if s.Odds = c.odds; c.odds != nil {
			p0.Odds = s.WeightOdds()
		}
		fitted := fitOf(t, s, likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, p0, Config{})
		mean, sd := location(s)
		inclusion, weights, evidence := s.Enumerate(0.3, 1, 0.5, mean, 100*sd*sd)
		square, far := 0.0, 0.0
		q := fitted.Members[0].Posterior.(credence.Selector)
		m, v := make([]float64, p+1), make([]float64, p+1)
		q.Marginals(m, v)
		for j := range p {
			gap := q.InclusionProbability(j+1) - inclusion[j]
			square += gap * gap / p
			far = math.Max(far, math.Abs(m[j+1]-weights[j]))
		}
		if math.Sqrt(square) > c.rmse || far > 0.1 {
			t.Errorf("%+v: inclusions are off by %.3f (root mean square), weights by %.3f", c, math.Sqrt(square), far)
		}
		if got := *fitted.Report.EvidenceEstimate; !(math.Abs(got-evidence) <= 0.2) {
			t.Errorf("%+v: log evidence is %.4f, by enumeration %.4f", c, got, evidence)
		}
		if fitted.Report.Status != credence.Converged {
			t.Errorf("%+v: %s", c, fitted.Report.Status)
		}
	}
}

func location(s *conform.Selection) (mean, sd float64) {
	total, square := 0.0, 0.0
	for i, y := range s.Target {
		total += s.WeightOf(i)
		mean += s.WeightOf(i) * y
	}
	mean /= total
	for i, y := range s.Target {
		square += s.WeightOf(i) * (y - mean) * (y - mean)
	}
	return mean, math.Sqrt(square / total)
}

// TestReported: slab and inclusion are reported at their mode, whether they are integrated or not; the
// evidence at the mode is that of a fit that holds them there.
func TestReported(t *testing.T) {
	s := conform.NewSelection(60, 30, 6, 0, 1, 0.3, false, 8)
	values := func(f *credence.Fitted) []float64 {
		p := f.Members[0].Model.Prior.(prior.SpikeSlab)
		return []float64{p.Inclusion.Value, p.Slab.Value}
	}
	mode := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{Hyper: param.Mode})
	integrated := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{})
	want := values(mode)
	for k, got := range values(integrated) {
		if !(math.Abs(got/want[k]-1) <= 0.02) {
			t.Errorf("value %d is reported as %g when integrated, and is %g at the mode", k, got, want[k])
		}
	}
	noise := mode.Members[0].Model.Likelihood.(likelihood.Gaussian).NoiseVariance.Value
	at := fitOf(t, s, likelihood.Gaussian{NoiseVariance: param.Hold(noise)}, held(want[0], want[1]), Config{})
	if a, b := *mode.Report.EvidenceEstimate, *at.Report.EvidenceEstimate; !(math.Abs(a-b) <= 1e-3) {
		t.Errorf("log evidence is %.5f at the mode, %.5f where its values are held", a, b)
	}
	if *integrated.Report.EvidenceEstimate >= *mode.Report.EvidenceEstimate {
		t.Error("the integrated evidence is above that at the mode")
	}
}

// TestEmptyColumns: a column of zeros keeps its prior, and changes nothing else.
func TestEmptyColumns(t *testing.T) {
	for _, n := range []int{12, 60} {
		s := conform.NewSelection(n, 20, 4, 0, 1, 0.5, true, 3)
		for i := range n {
			s.X.Row(i)[7], s.X.Row(i)[19] = 0, 0
		}
		for _, treatment := range []param.Treatment{param.Mode, param.Integrate} {
			fitted := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{Hyper: treatment})
			q, pi := fitted.Members[0].Posterior.(credence.Selector), fitted.Members[0].Model.Prior.(prior.SpikeSlab).Inclusion.Value
			m, v := make([]float64, 21), make([]float64, 21)
			q.Marginals(m, v)
			if m[8] != 0 || !(v[8] > 0) || treatment == param.Mode && !(math.Abs(q.InclusionProbability(8)-pi) <= 1e-6) {
				t.Errorf("n = %d, %s: %g ± %g, inclusion %g of %g", n, treatment, m[8], math.Sqrt(v[8]), q.InclusionProbability(8), pi)
			}
			if fitted.Report.EvidenceEstimate == nil {
				t.Errorf("n = %d, %s: no evidence", n, treatment)
			}
		}
	}
}

// TestPosteriors: in the form of the rows q has the variances of f that it has with all covariances.
func TestPosteriors(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		s := conform.NewSelection(15, 40, 4, 0.3, 1, 0.5, sparse, 9)
		for i := range 15 {
			s.Weight = append(s.Weight, float64(1+i%2))
		}
		for _, l := range []credence.Likelihood{likelihood.Gaussian{}, likelihood.Bernoulli{}} {
			if _, classes := l.(likelihood.Bernoulli); classes {
				s.Divide(0.7)
			}
			e := must.Value(New(credence.Model{Features: s.Features, Likelihood: l, Prior: prior.SpikeSlab{}}, Config{}))(t)
			f := must.Value(e.newFit(context.Background(), conform.Memory{All: &s.Batch}))(t)
			a := must.Value(f.atMode(context.Background(), &siteState{f.theta(), f.sites(), f.inclusions()}))(t)
			full := f.posterior(a)
			a.covariance = nil
			rows := f.posterior(a)
			if _, ok := rows.(interface{ Selects() bool }); !ok {
				t.Fatal("no inclusions")
			}
			var phi credence.Design
			ws := credence.NewWorkspace(1)
			s.Features.Transform(ws, &phi, &s.Batch)
			m1, v1, m2, v2 := make([]float64, 15), make([]float64, 15), make([]float64, 15), make([]float64, 15)
			full.Latent(ws, m1, v1, &phi)
			rows.Latent(ws, m2, v2, &phi)
			for i := range m1 {
				if !(math.Abs(m1[i]-m2[i]) <= 1e-9*(1+math.Abs(m1[i]))) || !(math.Abs(v1[i]/v2[i]-1) <= 1e-6) {
					t.Errorf("sparse %t, %v, row %d: f is %g ± %g by the rows, %g ± %g by all covariances", sparse, l, i, m2[i], math.Sqrt(v2[i]), m1[i], math.Sqrt(v1[i]))
				}
			}
		}
	}
}

// TestLearned recovers the relevant features of the paper's simulation with nothing stated.
func TestLearned(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	s := conform.NewSelection(120, 1000, 20, 0, 1, 0.1, false, 5)
	for _, treatment := range []param.Treatment{param.Mode, param.Integrate} {
		fitted := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{Hyper: treatment})
		q := fitted.Members[0].Posterior.(credence.Selector)
		hit, wrong, missed := 0, 0, 0
		for j, w := range s.Weights {
			switch in := q.InclusionProbability(j+1) > 0.5; {
			case in && w != 0:
				hit++
			case in:
				wrong++
			case w != 0 && math.Abs(w) > 0.3:
				missed++
			}
		}
		t.Log(treatment, hit, wrong, missed, fitted.Report.Hyper, *fitted.Report.EvidenceEstimate, fitted.Report.Iterations, fitted.Report.Warnings)
		if hit < 12 || wrong > 1 || missed > 1 {
			t.Errorf("%s: %d found, %d wrong, %d missed", treatment, hit, wrong, missed)
		}
	}
}

// TestGradient compares the slopes at settled sites with differences of the evidence, on the first
// problem without a site at the least precision, where slopes are not those of the evidence.
func TestGradient(t *testing.T) {
	for k, l := range []credence.Likelihood{likelihood.Gaussian{}, likelihood.Bernoulli{}, likelihood.Bernoulli{Link: likelihood.Probit}, likelihood.Gaussian{}} {
		checked := false
		for seed := uint64(1); seed < 20 && !checked; seed++ {
			s := conform.NewSelection(60, 20, 5, 0.3, 1, 0.3, false, seed)
			if k == 3 { // with a kept block and groups
				s = grouped(60, 0.3, false, seed)
			}
			if _, ok := l.(likelihood.Bernoulli); ok {
				s.Divide(0.7)
			}
			for i := 0; k == 0 && i < s.Batch.Rows(); i++ {
				s.Batch.Weight = append(s.Batch.Weight, float64(1+i%3))
			}
			e := must.Value(New(credence.Model{Features: s.Features, Likelihood: l, Prior: prior.SpikeSlab{}}, Config{MaxIterations: 3000}))(t)
			f := must.Value(e.newFit(context.Background(), conform.Memory{All: &s.Batch}))(t)
			from := &siteState{f.theta(), f.sites(), f.inclusions()}
			theta := f.theta()
			p, err := f.at(context.Background(), from, theta, settledTolerance, false)
			if err != nil || !p.settled || f.raised > 0 {
				continue
			}
			checked, from.sites = true, f.sites()
			conform.Gradient(t, theta, p.Gradient, func(x []float64) float64 {
				q, err := f.at(context.Background(), from, x, settledTolerance, false)
				if err != nil || !q.settled {
					t.Fatal(err, q.settled)
				}
				return q.LogDensity
			})
		}
		if !checked {
			t.Errorf("%v: no problem was fit for the comparison", l)
		}
	}
}
