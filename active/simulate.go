package active

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// Options say how learning is simulated. They are plain data, read from JSON.
type Options struct {
	Pool    int     `json:"pool,omitempty"`    // rows that may be asked for; 0 means half of them, and 16,000 at most
	Initial int     `json:"initial,omitempty"` // labels to begin with; 0 means 100
	Block   int     `json:"block,omitempty"`   // rows asked for between fits; 0 means 10
	Labels  int     `json:"labels,omitempty"`  // at the end; 0 means 2,000, or the whole pool
	Repeats int     `json:"repeats,omitempty"` // with other pools; 0 means 5
	Every   int     `json:"every,omitempty"`   // labels between two points of a curve; 0 means 100
	Scores  []Score `json:"scores,omitempty"`  // none means information and random
	Audit   float64 `json:"audit,omitempty"`   // share of the labels that go to rows by chance, below 1; 0 means none

	Seed uint64 `json:"seed,omitempty"`
	// 0 means every processor; the result does not depend on it
	Threads int `json:"threads,omitempty"`
	// file written after every run, from which a later simulation goes on; "" means none
	Checkpoint string                  `json:"checkpoint,omitempty"`
	Progress   func(credence.Progress) `json:"-"` // called after every point
}

// mostRepeats is how often a simulation may be repeated.
const mostRepeats = 1000

// Validate refuses options that make no sense whatever the data.
func (o Options) Validate() error {
	for i, s := range o.Scores {
		if err := s.Validate(); err != nil {
			return err
		}
		if slices.Contains(o.Scores[:i], s) {
			return fmt.Errorf("score %s is asked for twice: leave one out", s)
		}
	}
	if min(o.Pool, o.Initial, o.Block, o.Labels, o.Repeats, o.Every) < 0 {
		return fmt.Errorf("pool %d, initial %d, block %d, labels %d, repeats %d and every %d: none can be negative", o.Pool, o.Initial, o.Block, o.Labels, o.Repeats, o.Every)
	}
	if o.Repeats > mostRepeats {
		return fmt.Errorf("repeats %d are more than %d: ask for fewer", o.Repeats, mostRepeats)
	}
	if !(o.Audit >= 0 && o.Audit < 1) {
		return fmt.Errorf("audit %v is no share from 0 to below 1", o.Audit)
	}
	if o.Labels > 0 && o.Initial > o.Labels {
		return fmt.Errorf("initial %d is more than labels %d: begin with fewer", o.Initial, o.Labels)
	}
	if o.Pool > 0 && max(o.Labels, o.Initial) > o.Pool {
		return fmt.Errorf("labels %d and initial %d are more than the pool of %d: ask for fewer, or enlarge the pool", o.Labels, o.Initial, o.Pool)
	}
	return nil
}

// within fills in what the options leave out for so many rows.
func (o Options) within(rows int) (Options, error) {
	fill := func(to *int, value int) {
		if *to == 0 {
			*to = value
		}
	}
	fill(&o.Pool, min(16_000, rows/2))
	fill(&o.Labels, min(2000, o.Pool))
	fill(&o.Initial, min(100, o.Labels))
	fill(&o.Block, 10)
	fill(&o.Repeats, 5)
	fill(&o.Every, 100)
	if len(o.Scores) == 0 {
		o.Scores = []Score{Information, Random}
	}
	if o.Pool >= rows || o.Pool < 1 {
		return o, fmt.Errorf("a pool of %d leaves none of the %d rows to test on: use a smaller pool", o.Pool, rows)
	}
	return o, o.Validate()
}

// Point is a model on the rows outside the pool.
type Point struct {
	Labels  int     `json:"labels"`
	Error   float64 `json:"error"` // share of rows whose likelier class is not theirs
	LogLoss float64 `json:"log_loss"`
	Audit   *Audit  `json:"audit,omitempty"`
}

// Audit is the share of errors that models made of rows by chance, each before it learned their labels: what
// can be known of the error where there are no rows to test on.
type Audit struct {
	Rows  int     `json:"rows"`
	Error float64 `json:"error"`
}

// simulation is one run of Simulate.
type simulation struct {
	Options
	model credence.Model
	all   credence.Batch
}

// Simulate asks for the labels of rows that have them, block by block, as each score would, and measures the
// models on the rows outside the pool. The engine is convex: after each block one step of its loops goes on
// from the fit before. Where a fit has prior variances by rows that are left out, see [svi.HeldOut], they are those of
// the labels, chosen anew when these have doubled; convex has the variances of f for the scores, and what is measured
// is the model of a fit.
func Simulate(ctx context.Context, model credence.Model, data credence.Data, options Options) (*Simulation, error) {
	if _, ok := model.Likelihood.(likelihood.Bernoulli); !ok {
		return nil, fmt.Errorf("active: a simulation needs the family bernoulli, not %v: name a target of two classes", model.Likelihood)
	}
	o, err := options.within(data.Rows())
	if err != nil {
		return nil, fmt.Errorf("active: %w", err)
	}
	s := &simulation{Options: o, model: model}
	for block, err := range credence.Batches(ctx, data) {
		if err != nil {
			return nil, err
		}
		s.all.Append(block, 0, block.Rows())
	}
	runs, err := s.resume()
	if err != nil {
		return nil, fmt.Errorf("active: %w", err)
	}
	for repeat := range o.Repeats {
		if err := s.repeat(ctx, runs, repeat); err != nil {
			return nil, err
		}
	}
	return runs.simulation(o.Pool), nil
}

// repeat makes the runs of one pool that were not made before.
func (s *simulation) repeat(ctx context.Context, runs *runs, repeat int) error {
	order := credence.Rand(s.Seed, credence.ActiveSplit, uint64(repeat)).Perm(s.all.Rows())
	pool, test := order[:s.Pool], subset{&s.all, order[s.Pool:]}
	if len(runs.Full) == repeat {
		var labels learner
		full, err := s.fit(ctx, pool, &labels)
		if err != nil {
			return err
		}
		at, err := s.measure(ctx, full, &labels, pool, test)
		if err != nil {
			return err
		}
		runs.Full = append(runs.Full, at)
	}
	advised := false
	for _, score := range s.Scores {
		advisor := (*advisor)(nil)
		if !advised && score != Random {
			advisor, advised = newAdvisor(), true
		}
		if len(runs.Curves[score]) > repeat {
			continue
		}
		curve, err := s.run(ctx, score, repeat, pool, test, advisor)
		if err != nil {
			return err
		}
		runs.Curves[score] = append(runs.Curves[score], curve)
		if advisor != nil {
			runs.Advices = append(runs.Advices, advisor.stop)
		}
		if err := s.save(runs); err != nil {
			return err
		}
	}
	return nil
}

// learner is what a fit goes on from.
type learner struct {
	before *credence.Fitted // nil for none
	chosen *credence.Fitted // has the prior variances by rows that are left out; nil where they are not
	labels int              // from which they are
}

// fit fits the model to the rows of some places, going on from the fit before.
func (s *simulation) fit(ctx context.Context, places []int, l *learner) (*credence.Fitted, error) {
	config := convex.Config{Hyper: param.Mode, Start: l.before, Seed: s.Seed, Threads: s.Threads}
	if l.before != nil && l.before.Report.Hyperparameters != string(param.Mode) { // what is learned is learned anew
		config.Steps = 1
	}
	if svi.HeldOut(s.model) {
		config.Hyper = param.Heldout
		if len(places) >= 2*l.labels {
			var err error
			if l.chosen, err = s.predictive(ctx, places, nil); err != nil {
				return nil, err
			}
			config.Start, config.Steps, l.labels = l.chosen, 0, len(places)
		}
	}
	engine, err := convex.New(s.model, config)
	if err != nil {
		return nil, err
	}
	l.before, err = engine.Fit(ctx, subset{&s.all, places})
	return l.before, err
}

// predictive is the model that a fit of the labels is, with prior variances of their own or those of another.
func (s *simulation) predictive(ctx context.Context, places []int, chosen *credence.Fitted) (*credence.Fitted, error) {
	engine, err := svi.New(s.model, svi.Config{Hyper: param.Heldout, Start: chosen, Seed: s.Seed, Threads: s.Threads})
	if err != nil {
		return nil, err
	}
	return engine.Fit(ctx, subset{&s.all, places})
}

// run asks by one score. The rows of the pool are in an order of chance, and the first of them labelled.
func (s *simulation) run(ctx context.Context, score Score, repeat int, pool []int, test subset, advisor *advisor) ([]Point, error) {
	labelled, taken := append([]int(nil), pool[:s.Initial]...), make([]bool, len(pool))
	for k := range labelled {
		taken[k] = true
	}
	rows, err := subset{&s.all, pool}.blocks()
	if err != nil {
		return nil, err
	}
	var validation credence.Batch
	if score == ErrorReduction { // the pool is in an order of chance
		if err := (subset{&s.all, pool}).Read(&validation, 0, min(validationRows, len(pool))); err != nil {
			return nil, err
		}
	}
	mean, variance := make([]float64, len(pool)), make([]float64, len(pool))
	audit := Audit{}
	var curve []Point
	var labels learner
	for {
		fitted, err := s.fit(ctx, labelled, &labels)
		if err != nil {
			return nil, err
		}
		scorer, err := NewScorer(fitted, score, s.Seed+uint64(repeat), s.Threads)
		if err != nil {
			return nil, err
		}
		for k := range rows {
			first := k * credence.BlockRows
			if last := first + rows[k].Rows(); score != Random || s.Audit > 0 {
				if err := scorer.Latent(mean[first:last], variance[first:last], &rows[k]); err != nil {
					return nil, err
				}
			}
		}
		count := len(labelled)
		if advisor != nil {
			advisor.judge(count, mean, audit)
		}
		end := count >= s.Labels
		if end || (count-s.Initial)%s.Every < s.Block {
			at, err := s.measure(ctx, fitted, &labels, labelled, test)
			if err != nil {
				return nil, err
			}
			at.Labels = count
			if audit.Rows > 0 {
				so := audit
				so.Error /= float64(so.Rows)
				at.Audit = &so
			}
			curve = append(curve, at)
			if s.Progress != nil {
				s.Progress(credence.Progress{Stage: fmt.Sprintf("repeat %d, %s", repeat+1, score), Done: count, Total: s.Labels, Objective: at.LogLoss, Sure: true})
			}
		}
		if end {
			return curve, nil
		}
		if score == ErrorReduction {
			if err := scorer.Validate(&validation); err != nil {
				return nil, err
			}
		}
		wanted := min(s.Block, s.Labels-count)
		candidates := scorer.NewPool(s.Block, 0)
		if audits := s.audits(count+wanted) - s.audits(count); audits > 0 {
			candidates.audit = &sample{limit: audits, rng: credence.Rand(s.Seed, credence.ActiveAudit, uint64(repeat)<<32|uint64(count))}
		}
		for k := range pool {
			if !taken[k] {
				candidates.Add(&rows[k/credence.BlockRows], k%credence.BlockRows, k, mean[k], variance[k], 1)
			}
		}
		label := func(k int) float64 { return s.all.Target[pool[k]] }
		picks, err := candidates.picks(wanted, label, func(c Candidate, mean float64) {
			if c.Audit {
				audit.Rows++
				if !((2*label(c.Place)-1)*mean > 0) {
					audit.Error++
				}
			}
		})
		if err != nil {
			return nil, err
		}
		for _, c := range picks {
			labelled, taken[c.Place] = append(labelled, pool[c.Place]), true
		}
	}
}

// audits is how many of so many labels are of rows by chance, those to begin with aside.
func (s *simulation) audits(labels int) int {
	return int(s.Audit * float64(labels-s.Initial))
}

// measure returns error and log loss on the test rows of what is fitted to the rows of some places.
func (s *simulation) measure(ctx context.Context, fitted *credence.Fitted, l *learner, places []int, test subset) (Point, error) {
	if l.chosen != nil {
		var err error
		if fitted, err = s.predictive(ctx, places, l.chosen); err != nil {
			return Point{}, err
		}
	}
	scorer, err := NewScorer(fitted, Random, 0, s.Threads)
	if err != nil {
		return Point{}, err
	}
	at, mass := Point{}, 0.0
	rows, err := test.blocks()
	if err != nil {
		return at, err
	}
	mean, variance := make([]float64, credence.BlockRows), make([]float64, credence.BlockRows)
	for k := range rows {
		n := rows[k].Rows()
		if err := scorer.Latent(mean[:n], variance[:n], &rows[k]); err != nil {
			return at, err
		}
		for i, m := range mean[:n] {
			sign, weight := 2*rows[k].Target[i]-1, rows[k].WeightOf(i)
			mass += weight
			if !(sign*m > 0) {
				at.Error += weight
			}
			at.LogLoss -= weight * logProbability(sign*m, variance[i])
		}
	}
	at.Error /= mass
	at.LogLoss /= mass
	return at, nil
}

// logProbability returns log E σ(f).
func logProbability(mean, variance float64) float64 {
	minority := logit.minorities().at(mean, variance)
	if mean > 0 {
		return math.Log1p(-minority)
	}
	return math.Log(minority)
}
