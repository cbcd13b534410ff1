package sep

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// memory is rows in memory as credence.Data, dense.
type memory struct {
	x [][]float64
	y []int
}

func (m memory) Rows() int { return len(m.x) }

func (m memory) Read(dst *credence.Batch, first, count int) error {
	dst.First = first
	dst.X.Reshape(count, len(m.x[0]))
	dst.Target = dst.Target[:0]
	for i := range count {
		copy(dst.X.Row(i), m.x[first+i])
		dst.Target = append(dst.Target, float64(m.y[first+i]))
	}
	return nil
}

// columns passes the dense inputs through; the last one is the intercept.
type columns struct{ n int }

func (c columns) Weights() int { return c.n }
func (c columns) Blocks() []credence.Block {
	return []credence.Block{{Name: "linear", Count: c.n - 1}, {Name: "(intercept)", First: c.n - 1, Count: 1, Intercept: true}}
}
func (c columns) Transform(_ *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	phi.Dense = rows.X
}

func probit(p *simulated) credence.Model {
	return credence.Model{
		Features:   columns{p.features + 1},
		Likelihood: likelihood.Bernoulli{Link: likelihood.Probit},
		Prior:      prior.SpikeSlab{Inclusion: p.hyper().Inclusion, Slab: p.hyper().Slab},
	}
}

// Fit finds what Gibbs finds, also where the rows are sorted by their target and
// with the counts known beforehand.
func TestFitAgainstGibbs(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	p := denseProblem(2000, 50, 7)
	gibbs := p.gibbs(800, 1)
	sorted := memory{}
	for label := range 2 {
		for i, y := range p.y {
			if y == label {
				sorted.x, sorted.y = append(sorted.x, p.x[i]), append(sorted.y, y)
			}
		}
	}
	for _, c := range []struct {
		name string
		data memory
		cfg  Config
	}{
		{"as drawn", memory{p.x, p.y}, Config{}},
		{"sorted", sorted, Config{}},
		{"known counts", sorted, Config{KnownCounts: true}},
		{"mini-batches", sorted, Config{Batch: 100}},
	} {
		e := must.Value(New(probit(p), c.cfg))(t)
		fitted := must.Value(e.Fit(context.Background(), c.data))(t)
		q := fitted.Members[0].Posterior.(credence.Selector)
		inclusion := make([]float64, p.features)
		for j := range inclusion {
			inclusion[j] = q.InclusionProbability(j)
		}
		// The family's own error is 0.02 here; the order of rows moves borderline features.
		if distance := rmse(inclusion, gibbs.inclusion); distance > 0.05 {
			t.Errorf("%s: inclusion RMSE %.4f", c.name, distance)
		}
		test := memory{p.testX, make([]int, len(p.testX))}
		var batch credence.Batch
		test.Read(&batch, 0, test.Rows())
		dist := must.Value(fitted.Distribution(credence.NewWorkspace(1), &batch))(t)
		probability := make([]float64, test.Rows())
		for i := range probability {
			probability[i], _ = dist.Moments(i)
		}
		if loss, best := p.logLoss(probability), p.logLoss(gibbs.test); loss > best+0.005 {
			t.Errorf("%s: log loss %.4f, Gibbs has %.4f", c.name, loss, best)
		}
		again, err := e.Fit(context.Background(), c.data)
		if err != nil || !reflect.DeepEqual(again.Members[0].Posterior, fitted.Members[0].Posterior) {
			t.Errorf("%s: a second fit differs (%v)", c.name, err)
		}
	}
}

// The report says what the fit did: moments of the targets, and whether the last pass still
// moved the weights.
func TestReport(t *testing.T) {
	p := denseProblem(2000, 50, 7)
	rate := 0.0
	for _, y := range p.y {
		rate += float64(y) / float64(p.rows)
	}
	for _, c := range []struct {
		cfg  Config
		want credence.Status
	}{
		{Config{}, credence.Converged},
		{Config{Passes: 1}, credence.IterationLimit},
		{Config{Passes: 2}, credence.IterationLimit},
		{Config{Passes: 3, KnownCounts: true}, credence.IterationLimit},
		{Config{Passes: 10}, credence.Converged},
	} {
		fitted := must.Value(must.Value(New(probit(p), c.cfg))(t).Fit(context.Background(), memory{p.x, p.y}))(t)
		if fitted.Report.Status != c.want || fitted.Report.Inputs != p.features+1 {
			t.Errorf("%d passes: %s with %d inputs, want %s with %d", c.cfg.Passes, fitted.Report.Status, fitted.Report.Inputs, c.want, p.features+1)
		}
		// Sums of 2,000 numbers in another order.
		if !(math.Abs(fitted.TargetMean-rate) <= 1e-12) || !(math.Abs(fitted.TargetVariance-rate*(1-rate)) <= 1e-12) {
			t.Errorf("targets have mean %v and variance %v, want mean %v", fitted.TargetMean, fitted.TargetVariance, rate)
		}
	}
}

// Passes that are stated are all made. Left out, the last one moved no inclusion by much, and more hardly move any.
func TestPasses(t *testing.T) {
	for _, c := range []struct {
		kept bool
		p    *simulated
	}{{true, denseProblem(400, 20, 5)}, {false, denseProblem(20_000, 20, 7)}} {
		fit := func(cfg Config) (*credence.Fitted, []string) {
			var stages []string
			cfg.Progress = func(at credence.Progress) { stages = append(stages, at.Stage) }
			if !c.kept {
				cfg.Batch = 100 // rows of mini-batches have no factors of their own
			}
			return must.Value(must.Value(New(probit(c.p), cfg))(t).Fit(context.Background(), memory{c.p.x, c.p.y}))(t), stages
		}
		left, _ := fit(Config{})
		if left.Report.Status != credence.Converged || left.Report.Iterations < 3 || left.Report.Iterations == mostPasses {
			t.Errorf("kept %v: %s after %d passes where none are stated", c.kept, left.Report.Status, left.Report.Iterations)
		}
		for _, passes := range []int{2, 60} {
			stated, stages := fit(Config{Passes: passes})
			want := credence.Converged
			if passes == 2 {
				want = credence.IterationLimit
			} else if !c.kept {
				want = stated.Report.Status // the order of rows decides
			}
			if last := stages[len(stages)-1]; stated.Report.Iterations != passes || stated.Report.Status != want || last != fmt.Sprintf("pass %d of %d", passes, passes) {
				t.Errorf("kept %v: %s after %d passes, last %q, where %d are stated", c.kept, stated.Report.Status, stated.Report.Iterations, last, passes)
			}
			most := 0.0
			for j := range c.p.features {
				most = max(most, math.Abs(stated.Members[0].Posterior.(credence.Selector).InclusionProbability(j)-left.Members[0].Posterior.(credence.Selector).InclusionProbability(j)))
			}
			t.Logf("kept %v: %d passes left out; %d move an inclusion by %.4f", c.kept, left.Report.Iterations, passes, most)
			if passes == 60 && c.kept && most > included {
				t.Errorf("kept %v: %d passes more move an inclusion by %.4f", c.kept, passes-left.Report.Iterations, most)
			}
		}
	}
}

// labelled is memory with targets, weights and offsets of any kind.
type labelled struct {
	memory
	target, weight, offset []float64
}

func (r labelled) Read(dst *credence.Batch, first, count int) error {
	err := r.memory.Read(dst, first, count)
	dst.Target, dst.Weight, dst.Offset = r.target, r.weight, r.offset
	return err
}

func TestFitRefuses(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		data labelled
		want string
	}{
		{labelled{}, "sep: there are no rows to fit"},
		{labelled{}, "sep: rows from 1 on have no target: fit needs one in every row"},
		{labelled{target: []float64{0, 2}}, "sep: row 2: target 2 is neither 0 nor 1"},
		{labelled{target: []float64{0.7, 0}}, "sep: row 1: target 0.7 is neither 0 nor 1"},
		{labelled{target: []float64{0, math.NaN()}}, "sep: row 2: target NaN is neither 0 nor 1"},
		{labelled{target: []float64{0, 1}, weight: []float64{1, -1}}, "sep: row 2: weight -1 is not a number from 0 up"},
		{labelled{target: []float64{0, 1}, weight: []float64{0, 0}}, "sep: every row has weight 0"},
		{labelled{target: []float64{0, 1}, offset: []float64{inf, 0}}, "sep: row 1: offset +Inf is not a finite number"},
	} {
		p := denseProblem(2, 3, 1)
		if c.want != "sep: there are no rows to fit" {
			c.data.memory = memory{p.x, p.y}
		}
		e, err := New(probit(p), Config{})
		must.Succeed(t, err)
		if _, err = e.Fit(context.Background(), c.data); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("refusal reads %v, want %q", err, c.want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	p := denseProblem(20, 2, 1)
	for want, change := range map[string]func(m *credence.Model, c *Config){
		"it needs the family bernoulli(link=probit), not bernoulli": func(m *credence.Model, _ *Config) { m.Likelihood = likelihood.Bernoulli{} },
		"it needs the prior spikeslab, not normal":                  func(m *credence.Model, _ *Config) { m.Prior = prior.Normal{} },
		"has a spike of variance 0.1":                               func(m *credence.Model, _ *Config) { m.Prior = prior.SpikeSlab{Spike: held(0.1)} },
		"no features":                                               func(m *credence.Model, _ *Config) { m.Features = nil },
		"are for streams":                                           func(_ *credence.Model, c *Config) { c.Prune = 0.1 },
		"passes cannot be -1":                                       func(_ *credence.Model, c *Config) { c.Passes = -1 },
	} {
		model, cfg := probit(p), Config{}
		change(&model, &cfg)
		if _, err := New(model, cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("refusal reads %v, want %q", err, want)
		}
	}
}
