package hyper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/internal/kernel"
)

// Model is a log posterior g(θ), with the moments of the weights given θ. Evaluate calls do for every θ of a set, in
// any order. It starts from an evaluation elsewhere, and from nothing that it came across since: what it says then
// depends neither on the order nor on threads.
type Model interface {
	Evaluate(ctx context.Context, from *Evaluation, thetas [][]float64, to Precision, do func(k int, e *Evaluation) error) error
}

// Each is a [Model] that evaluates one θ after the other.
type Each func(ctx context.Context, from *Evaluation, theta []float64, to Precision) (*Evaluation, error)

// Evaluate implements [Model].
func (each Each) Evaluate(ctx context.Context, from *Evaluation, thetas [][]float64, to Precision, do func(k int, e *Evaluation) error) error {
	for k, theta := range thetas {
		e, err := each(ctx, from, theta, to)
		if err == nil {
			err = do(k, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Precision says what a set of evaluations is for.
type Precision int

// The precisions. Nodes need no gradient, and only they and the mode linear numbers.
const (
	ForDifferences Precision = iota // of gradients and moments: every coordinate moved up and then down, in turn
	ForStep                         // from afar
	ForMode                         // a step near the mode
	ForNode                         // of a sum; θ of the mode is one whose linear numbers are still wanted
)

// Evaluation is what a model knows at θ.
type Evaluation struct {
	Theta    []float64 // set by the search
	Gradient []float64 // of LogDensity
	Point              // its memory may be used again; a node whose LogDensity is NaN weighs nothing
	State    any       // what the model starts from elsewhere
}

// keep copies what may be used again.
func (e *Evaluation) keep() *Evaluation {
	kept := *e
	kept.Mean, kept.Variance, kept.Linear = slices.Clone(e.Mean), slices.Clone(e.Variance), slices.Clone(e.Linear)
	return &kept
}

// Rules say how a model is searched and integrated over. Lengths are in units of the posterior of θ.
type Rules struct {
	// above 300 there are three nodes on an axis; of so many moments slopes are taken by differences, with 0 of none
	Weights int
	Steps   int     // at most so many
	Width   float64 // half of that of differences
	// Grid adds up a grid of three nodes for each of two or three hyper-parameters in the place of their axes: where
	// the law of them is a bent ridge, as that of slab and inclusion is, functions of several at once are far from sums
	// over axes.
	Grid   bool
	Near   float64 // length of the gradient below which the curvature stays
	Enough float64 // and that of a mode
	Polish bool    // take a step near the mode at least: its evaluation is finer
	// Curvature returns H = −∇²g and the slopes of moments in closed form, and is asked again at the mode; nil takes
	// differences.
	Curvature func(ctx context.Context, at *Evaluation) (*mat.SymDense, Slopes, error)
	// Climb goes on from the mode so far at a node that is more likely; nil leaves such nodes out.
	Climb  func(ctx context.Context, from *Evaluation, theta []float64) (*Evaluation, error)
	Spread Spread
	// Law returns numbers whose expectations over θ are wanted beside the moments, convex functions of θ: the prior
	// variances, which are those of weights that no row has. It may be nil.
	Law func(theta []float64) []float64
	// Marginals returns the coordinates whose marginal laws are wanted beside the moments. A climb may end where others
	// are coordinates, so that it is asked at the mode that is integrated about. It may be nil.
	Marginals func() []int
	Tell      func(stage string, done, total int, logDensity float64) // may be nil
}

// Maximum is a mode of the log posterior, as far as the search came.
type Maximum struct {
	At     *Evaluation
	Axes   *Axes
	Slopes Slopes  // Mean is nil where they are not known
	Left   float64 // length of the gradient

	fine  bool    // evaluated as one near the mode
	reach float64 // of the next step
	// uncorrected is the mode, where At is where corrections move it; else nil
	uncorrected *Evaluation
}

// longestStep bounds the first step; one that it held back and that went well doubles it.
const longestStep = 1.5

// Mode goes up from an evaluation by Newton's method. Far from the mode a step is bounded, and is halved until the
// density is higher; near it, where densities differ by rounding, the gradient has to fall by half, and the curvature
// stays.
func (r Rules) Mode(ctx context.Context, m Model, from *Evaluation) (*Maximum, error) {
	top := &Maximum{At: from.keep(), reach: longestStep}
	for taken := 0; ; {
		if err := r.measure(ctx, m, top); err != nil {
			return nil, err
		}
		before, near := taken, top.Left < r.Near
		for moved := true; moved && (top.Left > r.Enough || r.Polish && near && !top.fine) && taken < r.Steps; moved = moved && near {
			var err error
			if moved, err = r.step(ctx, m, top, near); err != nil {
				return nil, err
			}
			if moved {
				taken++
			}
		}
		if taken == before || near && r.Curvature == nil {
			top.Axes.MoveTo(top.At.Theta, top.At.LogDensity)
			return top, nil
		}
	}
}

// measure takes curvature and axes where the search stands.
func (r Rules) measure(ctx context.Context, m Model, top *Maximum) (err error) {
	var hessian *mat.SymDense
	switch {
	case len(top.At.Theta) == 0:
	case r.Curvature != nil:
		hessian, top.Slopes, err = r.Curvature(ctx, top.At)
	default:
		hessian, top.Slopes, err = r.Differences(ctx, m, top.At)
	}
	if err == nil {
		top.Axes, err = NewAxes(top.At.Theta, top.At.LogDensity, hessian, r.Weights > coarseWeights)
	}
	if err == nil {
		top.Axes.grid = r.Grid && (top.Axes.Count() == 2 || top.Axes.Count() == 3)
		top.Left = top.Axes.Whitened(top.At.Gradient)
	}
	return err
}

// Differences takes curvature and slopes by central differences.
func (r Rules) Differences(ctx context.Context, m Model, at *Evaluation) (*mat.SymDense, Slopes, error) {
	p := len(at.Theta)
	thetas := make([][]float64, 2*p)
	for i := range thetas {
		thetas[i] = slices.Clone(at.Theta)
		thetas[i][i/2] += float64(1-2*(i%2)) * r.Width
	}
	out, slopes, above := mat.NewSymDense(p, nil), Slopes{}, (*Evaluation)(nil)
	err := r.evaluate(ctx, m, at, thetas, ForDifferences, func(i int, e *Evaluation) error {
		r.tell(fmt.Sprintf("curvature in %d hyper-parameters", p), i+1, 2*p, at.LogDensity)
		if i%2 == 0 {
			above = e.keep()
			return nil
		}
		k, count := i/2, min(r.Weights, len(e.Variance))
		slopes.Mean, slopes.Variance = append(slopes.Mean, make([]float64, count)...), append(slopes.Variance, make([]float64, count)...)
		for side, e := range []*Evaluation{above, e} {
			sign := float64(1 - 2*side)
			for l, v := range e.Gradient {
				share := sign * v / (4 * r.Width) // half of it for each of (k, l) and (l, k)
				if k == l {
					share *= 2
				}
				out.SetSym(k, l, out.At(k, l)-share)
			}
			kernel.Axpy(sign/(2*r.Width), e.Mean[:count], slopes.Mean[k*count:])
			if k == len(slopes.Correction) {
				slopes.Correction = append(slopes.Correction, 0)
			}
			slopes.Correction[k] += sign / (2 * r.Width) * e.Correction
			kernel.Axpy(sign/(2*r.Width), e.Variance[:count], slopes.Variance[k*count:])
		}
		return nil
	})
	return out, slopes, err
}

// step takes one, if there is one to take.
func (r Rules) step(ctx context.Context, m Model, top *Maximum, near bool) (bool, error) {
	step, to, tries := make([]float64, len(top.At.Theta)), ForStep, 4
	if near {
		to, tries = ForMode, 1
	}
	top.Axes.NewtonStep(step, top.At.Gradient)
	share := math.Min(1, top.reach/top.Left)
	for try := range tries {
		theta := slices.Clone(top.At.Theta)
		kernel.Axpy(share, step, theta)
		next, err := r.one(ctx, m, top.At, theta, to)
		if err != nil {
			return false, err
		}
		left, most := top.Axes.Whitened(next.Gradient), top.Left/2
		if !top.fine { // the gradient so far is not as fine as this one
			most = r.Near
		}
		if near && left < most || !near && next.LogDensity > top.At.LogDensity {
			if try == 0 && share < 1 {
				top.reach *= 2
			}
			top.At, top.Left, top.fine = next, left, near
			return true, nil
		}
		share /= 2
	}
	return false, nil
}

// one evaluates at one θ.
func (r Rules) one(ctx context.Context, m Model, from *Evaluation, theta []float64, to Precision) (out *Evaluation, err error) {
	err = r.evaluate(ctx, m, from, [][]float64{theta}, to, func(_ int, e *Evaluation) error {
		out = e.keep()
		return nil
	})
	return out, err
}

// evaluate calls do in the order of the set: evaluations that are early wait.
func (r Rules) evaluate(ctx context.Context, m Model, from *Evaluation, thetas [][]float64, to Precision, do func(k int, e *Evaluation) error) error {
	next, early := 0, map[int]*Evaluation{}
	err := m.Evaluate(ctx, from, thetas, to, func(k int, e *Evaluation) error {
		if e.Theta = thetas[k]; k != next {
			early[k] = e.keep()
			return nil
		}
		for ; e != nil; e = early[next] {
			if err := do(next, e); err != nil {
				return err
			}
			delete(early, next)
			next++
		}
		return nil
	})
	if err == nil && next < len(thetas) {
		err = fmt.Errorf("hyper: %d of %d values were evaluated", next, len(thetas))
	}
	return err
}

func (r Rules) tell(stage string, done, total int, logDensity float64) {
	if r.Tell != nil {
		r.Tell(stage, done, total, logDensity)
	}
}
