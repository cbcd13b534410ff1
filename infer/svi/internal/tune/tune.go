// Package tune learns the hyper-parameters of features, such as lengthscales, on rows that fit in
// memory.
//
// It alternates two steps (Adam, Chang, Khan & Solin 2021, for Gaussian processes): variational
// Newton steps at fixed features, and, with the normal likelihood that then stands for every row,
//
//	exp(b_n u − ½ β_n u²),  u = φᵀw,  β = −2 ∂e/∂variance,  b = ∂e/∂mean + β φᵀm,
//
// the ascent of its exact log evidence in the logarithms of prior variances and hyper-parameters
// together,
//
//	log Z = −½ log|I + ΛH| + ½ hᵀVh,  H = ΦᵀBΦ,  h = Φᵀb,  V = (H + Λ⁻¹)⁻¹
//	∂log Z/∂Φ = (b − BΦm)mᵀ − BΦV.
//
// Where the two agree the slope is that of the bound: ∂L/∂Φ = (∂e/∂mean) mᵀ + 2 diag(∂e/∂variance) ΦV.
package tune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/lbfgs"
	"github.com/credence-ml/credence/likelihood"
)

// MaxWeights is the largest number of weights with which hyper-parameters are learned by a full
// covariance.
const MaxWeights = 4000

// Options say how to learn hyper-parameters.
type Options struct {
	ScreenRows int // rows on which every start is taken near its optimum
	PolishRows int // rows on which the best start is taken to its optimum
	Starts     int // first draw of random features, then fresh ones; each from lengthscales of its own
	Seed       uint64
	Progress   func(credence.Progress)
}

// Result is where hyper-parameters were learned.
type Result struct {
	Features credence.Features
	Start    int           // whose draw of random features was kept
	At       *newton.Point // on the rows that it was learned on
	Scale    float64       // of all rows over those
	Learned  []int         // places of the prior variances that were learned on them

	bound   float64      // with the log priors of hyper-parameters, but for constants
	pairs   []lbfgs.Pair // steps of the ascent, which the next one builds on
	settled bool         // the ascent ended for want of gain
	// promised is what the normal rows gained in the ascent.
	promised float64
}

// Redrawn returns the features of a start: the given ones first, then fresh draws.
func Redrawn(features credence.Features, seed uint64, start int) credence.Features {
	if random, ok := features.(ability.Redrawable); ok {
		return random.Redraw(seed, start)
	}
	return features
}

// startFactors are those by which starts multiply the values that learned hyper-parameters start from:
// the evidence of few rows has several maxima, of short lengthscales and of long ones.
var startFactors = []float64{1, 1. / 3, 3, 1. / 9}

// started returns the features of a start.
func started(features credence.Features, seed uint64, start int) credence.Features {
	tunable, learned := base.LearnedHypers(Redrawn(features, seed, start))
	list, values := tunable.Hyper(), base.HyperValues(tunable)
	for _, i := range learned {
		lower, upper := base.LogBounds(list[i])
		log := math.Log(values[i] * startFactors[start%len(startFactors)])
		if starts := list[i].Starts; len(starts) > 0 {
			log = math.Log(starts[start%len(starts)])
		}
		values[i] = math.Exp(math.Max(lower, math.Min(log, upper)))
	}
	return tunable.WithHyper(values)
}

// Learn learns the hyper-parameters of the problem's features, the best of the starts.
func Learn(ctx context.Context, p *problem.Problem, options Options) (*Result, error) {
	starts := options.Starts
	all := p.Data.Total()
	polish := all >= 2*options.ScreenRows
	rounds := 20
	if polish {
		rounds = 3 // the last steps are taken on more rows
	}
	var best *Result
	for start := range starts {
		stage := fmt.Sprintf("hyper-parameters, start %d of %d", start+1, starts)
		screen := func(l problem.Likelihood, features credence.Features, stage string) (*Result, error) {
			of := *p
			of.Likelihood, of.Features = l, features
			return learnOn(ctx, &of, nil, options.ScreenRows, rounds, stage, options.Progress)
		}
		features := started(p.Features, options.Seed, start)
		got, err := screen(p.Likelihood, features, stage)
		if err != nil {
			return nil, err
		}
		if additive, ok := p.Likelihood.(likelihood.Additive); ok && additive.HeavyTailed() {
			// From starting values that explain little, all of the target is outliers to heavy tails:
			// rows of negative curvature, for which no normal row can stand, hold the ascent where it
			// began. So it is begun at what is learned as if the noise were normal, too.
			normal, err := screen(likelihood.Gaussian{}, features, stage+", normal noise")
			if err != nil {
				return nil, err
			}
			other, err := screen(p.Likelihood, normal.Features, stage)
			if err != nil {
				return nil, err
			}
			if other.bound > got.bound {
				got = other
			}
		}
		if best == nil || got.bound > best.bound {
			got.Start, best = start, got
		}
	}
	if polish {
		rounds = 2
		if all < 2*options.PolishRows {
			rounds = 3 // these are all
		}
		of := *p
		of.Features = best.Features
		got, err := learnOn(ctx, &of, best, options.PolishRows, rounds, "hyper-parameters", options.Progress)
		if err != nil {
			return nil, err
		}
		best, got.Start = got, best.Start
	}
	return best, nil
}

// tuner learns hyper-parameters on some rows.
type tuner struct {
	*newton.Newton
	rows      *problem.Rows
	tunable   credence.Tunable
	hypers    []int     // learned ones
	learned   []int     // places of learned prior variances and odds
	b, beta   []float64 // normal likelihood of the rows at the point that a round starts from
	h, covary []float64
	dPhi      []float64
	fixed     *fixed  // nil where hyper-parameters change columns
	minGain   float64 // of an iteration of the ascent for it to go on
}

// farthestReach bounds the change of the logarithm of a hyper-parameter in a round.
const farthestReach = 3.0

// learnOn alternates the two steps on about limit rows, from where it came to on fewer rows, or nil.
func learnOn(ctx context.Context, p *problem.Problem, from *Result, limit, rounds int, stage string, progress func(credence.Progress)) (*Result, error) {
	own := *p // a block that is constant in these rows is learned from all
	own.Groups = slices.Clone(p.Groups)
	p = &own
	rows := p.Retained(limit)
	s, err := p.Start(ctx, rows, rows)
	if err != nil {
		return nil, err
	}
	t := &tuner{Newton: newton.New(p), rows: rows, learned: p.LearnedPriors(), h: make([]float64, p.Dims)}
	t.covary = make([]float64, t.Layout.Len())
	t.tunable, t.hypers = base.LearnedHypers(p.Features)
	t.minGain = 0.01
	if rows.Sampled() || from != nil { // the rows left out say otherwise by more, and a step costs much
		t.minGain = 0.01 * float64(1+len(t.hypers))
	}
	current := &Result{Features: p.Features, At: newton.Begin(s), Scale: rows.Scale()}
	stats := t.NewStatistics(s.Family.Count()).KeepSites(rows.Count())
	first := newton.Task{Stage: stage, Tolerance: 0.1, Iterations: 6}
	if from != nil {
		t.goOn(current, from)
		first.Tolerance = 0.5 // near already, and the rest comes with the next round
	}
	climb := func(r *Result, task newton.Task) error {
		_, _, err := t.Climb(ctx, rows, r.At, stats, task)
		r.bound = r.At.Bound + logPrior(r.Features, t.hypers)
		return err
	}
	if err := climb(current, first); err != nil {
		return nil, err
	}
	then := first
	then.Iterations = 2
	t.b, t.beta = slices.Clone(stats.B), slices.Clone(stats.Beta)
	reach := farthestReach
	for i := range rounds {
		next, err := t.ascend(ctx, current, reach)
		if err != nil {
			return nil, err
		}
		if next == nil {
			break
		}
		if err := climb(next, then); err != nil {
			return nil, err
		}
		gain := next.bound - current.bound
		if gain > 0 {
			current, reach = next, math.Min(farthestReach, 2*reach)
			t.tunable = next.Features.(credence.Tunable)
			copy(t.b, stats.B)
			copy(t.beta, stats.Beta)
		} else {
			reach *= 0.3 // the normal rows stand for the true ones only nearby
		}
		if progress != nil {
			progress(credence.Progress{Stage: stage, Done: i + 1, Total: rounds, Objective: current.bound})
		}
		// A twentieth of a nat a hyper-parameter is far below what its prior leaves open. Where the rows gain what
		// their normal ones promised, these are nearly the same at the new values, and the next ascent ends where it
		// begins.
		enough := 0.05 * float64(1+len(t.hypers))
		kept := next.settled && math.Abs(gain-next.promised) < enough
		if gain > 0 && (gain < enough || kept || from != nil && rows.Sampled() && next.settled) || reach < 0.02 {
			break
		}
	}
	current.Scale, current.Learned = rows.Scale(), t.learned
	return current, nil
}

// goOn takes up where hyper-parameters were learned on other rows: the curvature goes with the rows.
func (t *tuner) goOn(r, from *Result) {
	times := from.Scale / r.Scale
	t.GoOn(r.At, from.At, times, from.Learned)
	if !slices.Equal(from.Learned, t.learned) { // steps are of other coordinates
		return
	}
	for _, pair := range from.pairs {
		change := slices.Clone(pair.Change)
		kernel.Scale(times, change[len(t.learned):])
		r.pairs = append(r.pairs, lbfgs.Pair{Step: pair.Step, Change: change})
	}
}

// logPrior is the log density of the learned hyper-parameters' logarithms under their priors, but
// for constants.
func logPrior(features credence.Features, learned []int) float64 {
	sum := 0.0
	list := features.(credence.Tunable).Hyper()
	for _, i := range learned {
		value, _ := base.LogHyperPrior(list[i], math.Log(list[i].Value))
		sum += value
	}
	return sum
}
