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

// grouped is a problem with a group of three columns that matter, one of four that do not, and single ones.
func grouped(n int, correlation float64, sparse bool, seed uint64) *conform.Selection {
	s := conform.NewSelection(n, 13, 4, correlation, 0.3, 0.5, sparse, seed)
	f := s.Features.(conform.Columns)
	f.Kept = 1
	f.Together = []credence.Block{{Name: "a", First: 2, Count: 3}, {Name: "b", First: 7, Count: 4}}
	s.Features = f
	return s
}

// TestGroups compares with the enumeration of the models in which groups are in or out.
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		n           int
		correlation float64
		sparse      bool
		apart       bool    // sites of groups as those of a large one
		rmse, nats  float64 // a direction of a site that is raised costs most where rows are few
	}{{40, 0, false, false, 0.01, 0.05}, {40, 0.5, false, false, 0.05, 0.1}, {40, 0.3, true, false, 0.03, 0.05}, {12, 0, false, false, 0.1, 0.7},
		{40, 0, false, true, 0.05, 0.5}} {
		for seed := uint64(1); seed <= 3; seed++ {
			s := grouped(c.n, c.correlation, c.sparse, seed)
			mean, sd := location(s)
			s.KeptVariance = 1
			p0 := held(0.3, 1)
			if seed == 3 {
				s.Odds = make([]float64, 13)
				s.Odds[2], s.Odds[3], s.Odds[4], s.Odds[5] = 0.01, 0.01, 0.01, 5
				p0.Odds = s.WeightOdds()
			}
			inclusion, weights, evidence := s.Enumerate(0.3, 1, 0.5, mean, 100*sd*sd)
			e := must.Value(New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, Prior: p0}, Config{}))(t)
			f := must.Value(e.newFit(context.Background(), conform.Memory{All: &s.Batch}))(t)
			f.KeptBlocks, f.logKept = nil, nil // held, as by enumeration
			f.Kept[1] = 1 / f.Units.Scale / f.Units.Scale
			f.takeKept()
			if c.apart {
				f.q.groups, f.groups = nil, make([]*group, len(f.Candidates))
			}
			if _, settled, err := f.settle(context.Background(), 500, 1e-8, nil); err != nil || !settled && c.n > 12 {
				t.Fatal(err, settled)
			}
			square, far := 0.0, 0.0
			for j, a := range f.inclusions()[1:] {
				square += (a - inclusion[j]) * (a - inclusion[j]) / 12
				far = math.Max(far, math.Abs(f.q.mean[j+1]*f.Units.Scale-weights[j]))
			}
			if in := f.inclusions(); in[3] != in[5] || in[8] != in[11] {
				t.Errorf("%+v: members of a group have different inclusions: %v", c, in)
			}
			if math.Sqrt(square) > c.rmse || far > c.rmse+0.05 {
				t.Errorf("%+v: inclusions are off by %.3f (root mean square), weights by %.3f", c, math.Sqrt(square), far)
			}
			if got, err := f.logEvidence(); err != nil || !(math.Abs(got-evidence) <= c.nats) {
				t.Errorf("%+v: log evidence is %.4f, by enumeration %.4f (%v)", c, got, evidence, err)
			}
		}
	}
}

// TestOneMember: groups of one member are what single columns are, in both forms.
func TestOneMember(t *testing.T) {
	for _, n := range []int{10, 30} {
		s := conform.NewSelection(n, 14, 3, 0.3, 1, 0.5, false, 3)
		alone := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{})
		e := must.Value(New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}, Config{}))(t)
		f := must.Value(e.newFit(context.Background(), conform.Memory{All: &s.Batch}))(t)
		for k, c := range f.Candidates {
			if k%3 == 0 {
				f.groups[k] = &group{Candidate: c, precision: []float64{f.weights[c.First].precision}, upper: []float64{0}, covariance: []float64{0}}
				f.q.groups = append(f.q.groups, f.groups[k])
			}
		}
		if _, _, err := f.settle(context.Background(), 500, 1e-5, f.learn); err != nil {
			t.Fatal(err)
		}
		a := must.Value(f.integrate(context.Background(), &siteState{f.theta(), f.sites(), f.inclusions()}))(t)
		want, evidence := alone.Members[0].Posterior.(credence.Selector), *alone.Report.EvidenceEstimate
		for j, got := range a.inclusion {
			if !(math.Abs(got-want.InclusionProbability(j)) <= 1e-3) {
				t.Errorf("n = %d: inclusion %d is %.6f as a group and %.6f alone", n, j, got, want.InclusionProbability(j))
			}
		}
		if !(math.Abs(a.evidence-evidence) <= 1e-3) {
			t.Errorf("n = %d: log evidence is %.6f as groups and %.6f alone", n, a.evidence, evidence)
		}
	}
}
