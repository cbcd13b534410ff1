package active

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/likelihood"
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

	Seed     uint64                  `json:"seed,omitempty"`
	Threads  int                     `json:"threads,omitempty"` // 0 means every processor; the result does not depend on it
	Progress func(credence.Progress) `json:"-"`                 // called after every point
}

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
}

// Simulation is the result of [Simulate].
type Simulation struct {
	Scores  map[Score][]Point   `json:"scores"`  // means over the repeats
	Repeats map[Score][][]Point `json:"repeats"` // each repeat; the scores of one share pool and first labels
	Full    Point               `json:"full"`    // with the labels of the whole pool, mean over the repeats
	Stop    *Stop               `json:"stop"`    // of the first score that is not random; nil if there is none
}

// simulation is one run of Simulate.
type simulation struct {
	Options
	model   credence.Model
	all     credence.Batch
	advices []Stop
}

// Simulate asks for the labels of rows that have them, block by block, as each score would, and measures the
// models on the rows outside the pool. The engine is convex: after each block one step of its loops goes on
// from the fit before.
func Simulate(ctx context.Context, model credence.Model, data credence.Data, options Options) (*Simulation, error) {
	if l, ok := model.Likelihood.(likelihood.Bernoulli); !ok {
		return nil, fmt.Errorf("active: a simulation needs the family bernoulli, not %v", l)
	}
	o, err := options.within(data.Rows())
	if err != nil {
		return nil, fmt.Errorf("active: %w", err)
	}
	s := &simulation{Options: o, model: model}
	var block credence.Batch
	for first := 0; first < data.Rows(); first += credence.BlockRows {
		if err := data.Read(&block, first, min(credence.BlockRows, data.Rows()-first)); err != nil {
			return nil, err
		}
		for i := range block.Rows() {
			appendRow(&s.all, &block, i)
		}
	}
	out := &Simulation{Scores: map[Score][]Point{}, Repeats: map[Score][][]Point{}}
	for repeat := range o.Repeats {
		order := credence.Rand(o.Seed, credence.ActiveSplit, uint64(repeat)).Perm(data.Rows())
		pool, test := order[:o.Pool], subset{&s.all, order[o.Pool:]}
		full, err := s.fit(ctx, pool, nil)
		if err != nil {
			return nil, err
		}
		at, err := s.measure(full, test)
		if err != nil {
			return nil, err
		}
		out.Full.Labels = o.Pool
		out.Full.Error += at.Error / float64(o.Repeats)
		out.Full.LogLoss += at.LogLoss / float64(o.Repeats)
		advised := false
		for _, score := range o.Scores {
			advisor := (*advisor)(nil)
			if !advised && score != Random {
				advisor, advised = newAdvisor(), true
			}
			curve, err := s.run(ctx, score, repeat, pool, test, advisor)
			if err != nil {
				return nil, err
			}
			out.Repeats[score] = append(out.Repeats[score], curve)
			if advisor != nil {
				s.advices = append(s.advices, advisor.stop)
			}
		}
	}
	for score, curves := range out.Repeats {
		mean := make([]Point, len(curves[0]))
		for _, curve := range curves {
			for k, at := range curve {
				mean[k].Labels = at.Labels
				mean[k].Error += at.Error / float64(o.Repeats)
				mean[k].LogLoss += at.LogLoss / float64(o.Repeats)
			}
		}
		out.Scores[score] = mean
	}
	out.Stop = middle(s.advices)
	return out, nil
}

// fit fits the model to the rows of some places, going on from a fit before, nil for none.
func (s *simulation) fit(ctx context.Context, places []int, before *credence.Fitted) (*credence.Fitted, error) {
	config := convex.Config{Start: before, Seed: s.Seed, Threads: s.Threads}
	if before != nil {
		config.Steps = 1
	}
	engine, err := convex.New(s.model, config)
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
	mean, variance := make([]float64, len(pool)), make([]float64, len(pool))
	var curve []Point
	var fitted *credence.Fitted
	for {
		if fitted, err = s.fit(ctx, labelled, fitted); err != nil {
			return nil, err
		}
		scorer, err := NewScorer(fitted, score, s.Seed+uint64(repeat), s.Threads)
		if err != nil {
			return nil, err
		}
		for k := range rows {
			first := k * credence.BlockRows
			if last := first + rows[k].Rows(); score != Random {
				if err := scorer.Latent(mean[first:last], variance[first:last], &rows[k]); err != nil {
					return nil, err
				}
			}
		}
		count := len(labelled)
		end := count >= s.Labels
		if end || (count-s.Initial)%s.Every < s.Block {
			at, err := s.measure(fitted, test)
			if err != nil {
				return nil, err
			}
			at.Labels = count
			curve = append(curve, at)
			advisor.judge(count, mean)
			if s.Progress != nil {
				s.Progress(credence.Progress{Stage: fmt.Sprintf("repeat %d, %s", repeat+1, score), Done: count, Total: s.Labels, Objective: at.LogLoss})
			}
		}
		if end {
			return curve, nil
		}
		candidates, wanted := scorer.NewPool(s.Block), min(s.Block, s.Labels-count)
		for k := range pool {
			if !taken[k] {
				candidates.Add(&rows[k/credence.BlockRows], k%credence.BlockRows, k, mean[k], variance[k], 1)
			}
		}
		for _, c := range candidates.picks(wanted, func(k int) float64 { return s.all.Target[pool[k]] }, advisor.gain) {
			labelled, taken[c.Place] = append(labelled, pool[c.Place]), true
		}
	}
}

// measure returns error and log loss on the test rows.
func (s *simulation) measure(fitted *credence.Fitted, test subset) (Point, error) {
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
	minority := minorityTable().at(mean, variance)
	if mean > 0 {
		return math.Log1p(-minority)
	}
	return math.Log(minority)
}
