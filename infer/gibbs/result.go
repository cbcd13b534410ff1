package gibbs

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
)

// Fit implements [credence.Engine].
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	table, err := candidates.Load(ctx, credence.NewWorkspace(e.config.Threads), "gibbs", e.model, data)
	if err != nil {
		return nil, err
	}
	setting, err := table.NewSetting("gibbs", e.model, candidates.Sparse, e.horseshoe == nil)
	if err != nil {
		return nil, err
	}
	if setting.Classes {
		for i, u := range table.Unit() {
			if w := u * u; math.Abs(w-math.Round(w)) > 1e-9*math.Max(1, w) || w > mostCopies {
				return nil, fmt.Errorf("gibbs: row %d has weight %.10g: classes take whole numbers up to %d only; use engine ep", i+1, w, mostCopies)
			}
		}
	}
	table.Compress(credence.NewWorkspace(e.config.Threads), setting)
	f := &fit{Engine: e, Table: table, Setting: setting}
	if e.horseshoe != nil {
		return f.shrink(ctx)
	}
	if err := f.run(ctx); err != nil {
		return nil, err
	}
	return f.fitted()
}

// mostCopies is the largest weight of a row of classes: each of its copies has a variable of its own.
const mostCopies = 10_000

// fit is one run.
type fit struct {
	*Engine
	*candidates.Table
	*candidates.Setting
	chains  []*chain
	records []*record
	kept    []int // chains that did not stick far below the best
	ended   ended // for the checkpoint
	saving  sync.Mutex
}

// started is the number of columns that a chain starts with that begins with those most like the target.
const started = 25

// starts returns the columns that the chain begins with: none; those of Config.Start; those most like
// the target.
func (f *fit) start(k int, like []float64) []int {
	switch k % 4 {
	case 1:
		var columns []int
		for j, kept := range f.Kept {
			if f.config.Start != nil && kept == 0 && f.config.Start[j] > 0.5 {
				columns = append(columns, j)
			}
		}
		return columns
	case 2:
		return f.alike(like, min(started, f.Rows/4, len(f.Candidates)))
	}
	return nil
}

// alike returns the columns of the candidates of largest likeness: that of their best column.
func (f *fit) alike(like []float64, count int) (columns []int) {
	best := make([]float64, len(f.Candidates))
	for k, c := range f.Candidates {
		best[k] = slices.Max(like[c.First:c.End()])
	}
	for _, k := range top(best, count) {
		for j := f.Candidates[k].First; j < f.Candidates[k].End(); j++ {
			columns = append(columns, j)
		}
	}
	return columns
}

// likeness is of every column the share of the target's variance that it explains alone, -1 for kept columns.
func (f *fit) likeness() []float64 {
	d := f.Table.Count()
	cross, squares, out := make([]float64, d), make([]float64, d), make([]float64, d)
	target := slices.Clone(f.centred())
	f.MulTrans(credence.NewWorkspace(1), cross, target)
	f.Squares(squares, nil)
	for j := range d {
		if out[j] = -1; f.Kept[j] == 0 && squares[j] > 0 {
			out[j] = cross[j] * cross[j] / squares[j]
		}
	}
	return out
}

// centred returns the targets about their mean, times the roots of the rows' weights.
func (f *fit) centred() []float64 {
	if !f.Classes {
		return f.Setting.Target
	}
	mean := 0.0
	for i, u := range f.Unit() {
		mean += u * u / f.Total * f.Setting.Target[i]
	}
	out := make([]float64, f.Rows)
	for i, u := range f.Unit() {
		out[i] = u * (f.Setting.Target[i] - mean)
	}
	return out
}

// run runs the chains, as many at once as there are threads. Each has a random stream of its own and
// works on one thread, so that results do not depend on their number.
func (f *fit) run(ctx context.Context) error {
	count := f.config.Chains
	// A move of noise and slab costs about as much as so many flips as there are rows.
	p := plan{flips: f.config.Flips, warm: f.config.Flips / 4, every: max(5, min(f.Rows/2, 40))}
	if f.Classes {
		p.every = 15
	}
	like := f.likeness()
	f.chains, f.records = make([]*chain, count), make([]*record, count)
	if err := f.resume(); err != nil {
		return err
	}
	common := f.common()
	err := f.together(func(k int) (err error) {
		if f.records[k] != nil {
			return nil
		}
		c := newChain(f.Table, f.Setting, credence.NewWorkspace(1), credence.Rand(f.config.Seed, credence.GibbsChains, uint64(k)))
		c.shared = common
		if err = c.begin(f.start(k, like)); err == nil {
			f.records[k], err = c.run(ctx, p)
		}
		if f.chains[k] = c; err == nil {
			err = f.save(k, c, f.records[k])
		}
		return err
	})
	if err == nil && f.config.Progress != nil {
		f.config.Progress(credence.Progress{Stage: "chains", Done: count, Total: count})
	}
	return err
}

// together runs the chains, as many at once as there are threads, and returns the first error.
func (f *fit) together(run func(k int) error) error {
	failed := make([]error, f.config.Chains)
	credence.NewWorkspace(f.config.Threads).Pool().Run(len(failed), func(k, _ int) { failed[k] = run(k) })
	return cmp.Or(failed...)
}

// stuck is by how many nats a chain's mean log density may be below the best one's before it counts as
// stuck: its share of the posterior is then below any that could be seen.
const stuck = 15

// judge leaves chains out that stuck.
func (f *fit) judge() {
	means, best := make([]float64, len(f.records)), math.Inf(-1)
	for k, r := range f.records {
		for _, s := range r.states {
			means[k] += s.weight / r.total * s.logDensity
		}
		if means[k] > best { // false for NaN
			best = means[k]
		}
	}
	for k, m := range means {
		if m > best-stuck || f.Classes {
			f.kept = append(f.kept, k)
		}
	}
}

// fitted assembles the result.
func (f *fit) fitted() (*credence.Fitted, error) {
	if f.judge(); len(f.kept) == 0 {
		return nil, errNoDensity
	}
	d, share := f.Table.Count(), 1/float64(len(f.kept))
	inclusion := make([]float64, d)
	noise, slab, kept, law := 0.0, 0.0, make([]float64, len(f.KeptBlocks)), make([]float64, len(f.KeptBlocks))
	resolved := make([]float64, d)
	for _, k := range f.kept {
		r := f.records[k]
		for j := range d {
			inclusion[j] += share * r.inclusion[j] / r.total
		}
		for _, s := range r.states {
			for k := s.from; k < s.to && !f.Resolves(f.Table, s.logSlab, s.logNoise); k++ {
				resolved[r.active[k]] -= share * s.weight / r.total
			}
			noise += share * s.weight / r.total * math.Exp(2*s.logNoise)
			slab += share * s.weight / r.total * math.Exp(2*s.logSlab)
			for b, u := range s.logKept {
				kept[b] += share * s.weight / r.total * u
				law[b] += share * s.weight / r.total * math.Exp(2*u)
			}
		}
	}
	draws, err := f.draws()
	if err != nil {
		return nil, err
	}
	draws.Probability = inclusion
	included := 0.0
	for _, c := range f.Candidates {
		if _, own := f.OddsOf(c.First, 0); !own {
			included += inclusion[c.First]
		}
	}
	s, p := f.Units.Scale, f.Engine.prior
	pi := (f.OddsA + included) / (f.OddsA + f.OddsB + float64(f.Shared))
	if p.Inclusion.State == param.Held {
		pi = p.Inclusion.Value
	}
	p.Inclusion, p.Slab = p.Inclusion.At(pi), p.Slab.At(slab*s*s)
	out := f.Setting.Fitted(f.Table, f.model, p, draws, noise, kept, credence.Value{Name: "inclusion", Value: p.Inclusion.Value}, credence.Value{Name: "slab", Value: p.Slab.Value})
	f.SetKeptLaw(out, law)
	out.Report.Together, out.Report.Iterations = true, f.config.Flips
	for j, in := range inclusion {
		resolved[j] = math.Max(0, in+resolved[j])
	}
	f.TakeResolved(out, inclusion, resolved)
	f.diagnose(out)
	return out, nil
}

// draws returns draws of the weights in the target's own units, with the intercept at zero of the columns.
func (f *fit) draws() (*posterior.Draws, error) {
	d := f.Table.Count()
	q := &posterior.Draws{Count: f.config.Draws, Values: make([]float64, f.config.Draws*d)}
	next, weights := 0, make([]float64, d)
	for i, k := range f.kept {
		c, r := f.chains[k], f.records[k]
		c.rng = credence.Rand(f.config.Seed, credence.GibbsDraws, uint64(k))
		for _, s := range r.spread((i+1)*q.Count/len(f.kept) - i*q.Count/len(f.kept)) {
			c.restore(r, s)
			if err := c.settleRows(weights); err != nil {
				return nil, err
			}
			row := q.Values[next*d : (next+1)*d]
			next++
			copy(row, weights)
			f.Units.Own(row)
		}
	}
	return q, nil
}

// goodRHat is the R̂ above which chains do not agree.
const (
	goodRHat = 1.1
	sequence = 400 // states of a chain that diagnoses look at
)

// diagnose compares the chains: the number of features, the noise, the slab.
func (f *fit) diagnose(out *credence.Fitted) {
	if lost := len(f.records) - len(f.kept); lost > 0 {
		candidates.Warn(out, "%d of %d chains stuck at sets of features that explain less and are left out: state more flips, such as gibbs(flips=%d)", lost, len(f.records), 4*f.config.Flips)
	}
	var traces [][][]float64
	for _, of := range []struct {
		learned bool
		value   func(s state) float64
	}{
		{true, func(s state) float64 { return float64(s.to - s.from) }},
		{f.Noise.Learned, func(s state) float64 { return s.logNoise }},
		{f.Slab.Learned, func(s state) float64 { return s.logSlab }},
	} {
		if !of.learned { // of numbers that stand rounding is all that there is to compare
			continue
		}
		var chains [][]float64
		for _, k := range f.kept {
			var list []float64
			for _, s := range f.records[k].spread(sequence) {
				list = append(list, of.value(s))
			}
			chains = append(chains, list)
		}
		traces = append(traces, chains)
	}
	if worst := agreement(out, traces); worst > goodRHat {
		candidates.Warn(out, "the chains do not agree (R̂ = %.2f, above %.1f): several sets of features explain the target, or the chains are too short; state more flips, such as gibbs(flips=%d)", worst, goodRHat, 4*f.config.Flips)
	}
}

// agreement reports the largest R̂ and the least effective sample size of numbers of which every chain has a
// trace, and returns that R̂.
func agreement(out *credence.Fitted, traces [][][]float64) float64 {
	worst, least := 1.0, math.Inf(1)
	for _, chains := range traces {
		rHat, effective := diagnose.Chains(chains)
		worst, least = math.Max(worst, rHat), math.Min(least, effective)
	}
	out.Report.RHat, out.Report.EffectiveDraws = &worst, &least
	if worst > goodRHat {
		out.Report.Status = credence.IterationLimit
	}
	return worst
}
