package ep

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
)

// fit is one run.
type fit struct {
	*Engine
	*candidates.Table
	*candidates.Setting
	factors rowFactors
	ws      *credence.Workspace
	q       *normal

	weights, rows              []site
	groups                     []*group // of candidates whose sites are not apart, by their place
	tilted                     []tilted
	gaps                       []float64 // how far the mean of each weight had to go in the last sweep
	along                      float64   // product of the gaps of the last two sweeps
	raised                     int       // sites of the last sweep at the least precision
	steady                     bool      // their least precision is the slab's
	patient                    bool      // learning waits for the sites
	sparse                     bool      // sites begin with hardly any feature in
	stage                      string    // of sweeps whose progress is told; "" tells none
	squares                    []float64 // of the columns
	clipped                    bool      // the covariance of all weights was raised
	logNoise, logSlab, logOdds float64
	logKept                    []float64          // prior standard deviations of the kept blocks
	paces                      map[*float64]*pace // of steps of what is learned
	evaluations                int                // at other values of it
}

func (e *Engine) newFit(ctx context.Context, data credence.Data) (*fit, error) {
	f := &fit{Engine: e, ws: credence.NewWorkspace(e.config.Threads), factors: gaussian{}}
	var err error
	if f.Table, err = candidates.Load(ctx, f.ws, "ep", e.model, data); err != nil {
		return nil, err
	}
	if f.Setting, err = f.Table.NewSetting("ep", e.model, candidates.Sparse, true); err != nil {
		return nil, err
	}
	d, covariance := f.Table.Count(), e.config.Covariance
	if covariance == "" && f.Classes && f.Sparse() && min(f.Rows, d) > fullTextSide {
		covariance = Diagonal
	}
	f.q = newNormal(f.Table, f.ws, covariance)
	f.weights, f.rows, f.tilted, f.gaps = make([]site, d), make([]site, f.Rows), make([]tilted, d), make([]float64, d)
	f.squares = make([]float64, d)
	f.Squares(f.squares, nil)
	f.begin()
	return f, nil
}

// begin takes sites and what is learned to where they start.
func (f *fit) begin() {
	f.logNoise, f.logSlab, f.logOdds, f.logKept = f.Noise.Start, f.Slab.Start, f.Odds.Start, nil
	if f.sparse { // one of them
		f.logOdds = math.Min(f.logOdds, -math.Log(float64(max(1, f.Shared))))
	}
	if l, ok := f.model.Likelihood.(likelihood.Bernoulli); ok {
		f.factors = &classes{l, slices.Repeat([]site{{precision: firstPrecision}}, f.Rows)}
	}
	f.paces = map[*float64]*pace{}
	f.factors.setRows(f)
	for _, b := range f.KeptBlocks {
		f.logKept = append(f.logKept, b.Start)
	}
	first := 1 / (special.Sigmoid(f.logOdds) * math.Exp(2*f.logSlab))
	for j := range f.weights {
		f.weights[j] = site{precision: first}
	}
	f.takeGroups(first)
	f.takeKept()
}

// takeKept makes the sites of kept weights what their normal priors are at the learned values.
func (f *fit) takeKept() {
	for k, u := range f.logKept {
		f.SetKept(k, u)
	}
	for j, v := range f.Kept {
		if v > 0 {
			f.weights[j] = site{1 / v, f.KeptMean[j] / v}
		}
	}
}

// prior is that of a candidate.
func (f *fit) prior() slab { return slab{f.logOdds, math.Exp(2 * f.logSlab)} }

// priorOf is that of one candidate, which may have odds of its own.
func (f *fit) priorOf(c candidates.Candidate) slab {
	s := f.prior()
	s.logOdds, _ = f.OddsOf(c.First, s.logOdds)
	return s
}

// leastPrecision is that of a weight's site, in units of the slab's, and steadyPrecision that of sites that
// did not settle so: no weight is then wider than the slab.
const (
	leastPrecision  = 1e-3
	steadyPrecision = 1.0
)

func (f *fit) least() float64 {
	if f.steady {
		return steadyPrecision
	}
	return leastPrecision
}

// sweep takes q, then moves all sites a part of the way, and returns the largest change of an
// inclusion probability, and of a row's mean.
func (f *fit) sweep(step float64) (changed float64, err error) {
	if err := f.q.take(f.weights, f.rows, f.Classes); err != nil {
		return 0, err
	}
	f.raised, f.along = 0, 0
	for k, c := range f.Candidates {
		before := f.tilted[c.First].inclusion
		if g := f.groups[k]; g != nil {
			f.together(g, step)
		} else {
			f.apart(c, step)
		}
		changed = math.Max(changed, math.Abs(f.tilted[c.First].inclusion-before))
	}
	return math.Max(changed, f.factors.sweep(f, step)), nil
}

// Steps of the sites: the largest, the least, and what a sweep that turns back on the way of the last one makes
// of it.
const (
	wholeStep      = 0.5
	wholeClassStep = 0.7
	leastStep      = 0.02
	shrink         = 0.8
	growth         = 1.15
)

// Sites that start again, and those of classes, are followed for so many sweeps in which they move more than before; a
// rest before so many sweeps is that of a model that is still empty.
const (
	patience = 150
	noRest   = 100
)

// course is how far settling has come.
type course struct {
	Sweeps  int  `json:"sweeps"` // that are done
	Ended   bool `json:"ended"`
	Settled bool `json:"settled"` // as it ended
	// the sweep in which sites and what is learned moved least, 0 before one is looked for
	Calmest int `json:"calmest"`
	least   float64
	calm    siteState // after it
	step    float64
}

func (f *fit) newCourse() *course {
	c := &course{least: math.Inf(1), step: wholeStep}
	if f.Classes {
		c.step = wholeClassStep
	}
	return c
}

// settle sweeps until the sites have settled, and reports whether they have; see follow.
func (f *fit) settle(ctx context.Context, limit int, tolerance float64, learn func(iteration int, changed float64) float64) (iterations int, settled bool, err error) {
	c := f.newCourse()
	err = f.follow(ctx, c, limit, tolerance, learn, func() error { return nil })
	return c.Sweeps, c.Settled, err
}

// follow sweeps until the sites have settled. learn is called after every sweep, and returns how far
// what is learned moved; nil learns nothing. Classes, which tell less, settle ten times as roughly
// while something is learned. Steady and patient sites and those of classes that have not settled
// are left where they and what is learned moved least. save is called now and then, at an interruption, and at the end.
func (f *fit) follow(ctx context.Context, c *course, limit int, tolerance float64, learn func(iteration int, changed float64) float64, save func() error) error {
	longest := f.newCourse().step
	for !c.Ended {
		if err := ctx.Err(); err != nil {
			if c.Sweeps > 0 {
				err = errors.Join(err, save())
			}
			return err
		}
		changed, err := f.sweep(c.step)
		if err != nil {
			return err
		}
		if c.Sweeps++; f.stage != "" && f.config.Progress != nil {
			f.config.Progress(credence.Progress{Stage: f.stage, Done: c.Sweeps, Total: limit})
		}
		moved := 0.0
		if learn != nil {
			moved = learn(c.Sweeps, changed)
		}
		if f.along < 0 { // sites had to go back on their way
			c.step = math.Max(leastStep, c.step*shrink)
		} else {
			c.step = math.Min(longest, c.step*growth)
		}
		rough := 1.0
		if f.Classes && learn != nil {
			rough = 10
		}
		c.Settled = changed < rough*tolerance && moved < 10*rough*tolerance && c.Sweeps > firstSweeps+1
		if far := math.Max(changed, moved); !c.Settled && (f.steady || f.patient || f.Classes) && far < c.least && c.Sweeps > noRest {
			c.least, c.Calmest, c.calm = far, c.Sweeps, siteState{f.theta(), f.sites(), nil}
		}
		c.Ended = c.Settled || c.Sweeps >= limit || learn != nil && c.Sweeps > firstSweeps && f.ranAway() || c.Calmest > 0 && c.Sweeps > c.Calmest+patience
		if !c.Ended && c.Sweeps%sweepsBetween == 0 {
			if err := save(); err != nil {
				return err
			}
		}
	}
	if !c.Settled {
		if c.Calmest > 0 {
			f.restore(c.calm.sites)
			f.setTheta(c.calm.theta)
		}
		if _, err := f.sweep(0); err != nil { // q and inclusions of the sites as they are left
			return err
		}
	}
	return save()
}

// widest is the prior variance of f, in units of the target's, beyond which sites have drifted.
const widest = 10

// drifted says whether slab and inclusions have f vary far beyond the target. Where columns are nearly copies of
// each other sites may come near to rest, and then drift away to ever wider ones with signs in turn, which
// each other's cavities bear out, and slab, noise and inclusion with them.
func (f *fit) drifted() bool { return !f.Classes && f.spread() > widest }

// spread is the prior variance of f, in units of the target's.
func (f *fit) spread() (sum float64) {
	slab := math.Exp(2*f.logSlab) / f.Total
	for j, t := range f.tilted {
		if f.Kept[j] == 0 {
			sum += t.inclusion * f.squares[j] * slab
		}
	}
	return sum
}

// farthest is the spread from which what is learned does not come back.
const farthest = 1000

// ranAway says whether what is learned has left the sites behind. Where columns are very many sites that lag have
// rows leave too little to the other weights, each of which then seems to matter, and slab and inclusion, which move
// faster than sites, grow without end; the way back takes some p/n sweeps.
func (f *fit) ranAway() bool {
	return !f.patient && !f.Classes && (f.Slab.Learned || f.Odds.Learned) && f.spread() > farthest
}

// otherwise says whether sites that have not settled are to begin again, and in which other way.
func (f *fit) otherwise() bool {
	switch {
	case f.ranAway():
		f.patient = true
	case !f.steady && f.drifted():
		f.steady = true
	// Sites that go on moving have many features in, with little noise left, where far fewer explain as much.
	case !f.sparse && !f.steady && !f.patient && !f.Classes && f.Odds.Learned:
		f.sparse = true
	default:
		return false
	}
	return true
}

// logEvidence is log Z of expectation propagation at the sites of the last sweep, in the target's own
// units.
func (f *fit) logEvidence() (float64, error) {
	if err := f.q.take(f.weights, f.rows, f.Classes); err != nil {
		return 0, err
	}
	sum := f.q.integral(f.q) + f.factors.normalisers(f)
	for j, v := range f.Kept { // a normal prior is its own site
		if w := f.weights[j]; v > 0 {
			sum -= w.logSize()
		}
	}
	for k, c := range f.Candidates {
		if g := f.groups[k]; g != nil {
			sum += f.togetherNormaliser(g)
		} else {
			sum += f.apartNormaliser(c)
		}
	}
	return sum, nil
}

// sites are all that settling changes.
type sites struct {
	weights, rows, copies []site
	groups                [][]float64
}

// live are those of the fit itself.
func (f *fit) live() sites {
	s := sites{weights: f.weights, rows: f.rows}
	if c, ok := f.factors.(*classes); ok {
		s.copies = c.copies
	}
	for _, g := range f.q.groups {
		s.groups = append(s.groups, g.precision)
	}
	return s
}

func (f *fit) sites() sites {
	s := f.live()
	s.weights, s.rows, s.copies = slices.Clone(s.weights), slices.Clone(s.rows), slices.Clone(s.copies)
	for k, precision := range s.groups {
		s.groups[k] = slices.Clone(precision)
	}
	return s
}

func (f *fit) restore(s sites) {
	to := f.live()
	copy(to.weights, s.weights)
	copy(to.rows, s.rows)
	copy(to.copies, s.copies)
	for k, precision := range s.groups {
		copy(to.groups[k], precision)
	}
}
