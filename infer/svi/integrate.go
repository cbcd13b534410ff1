package svi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/newton"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
)

// integration integrates the posterior of the weights over the hyper-parameters θ by axis sums, with
// the bound, or Laplace's approximation, for the evidence. Every fit at a θ starts from the normal likelihood that
// stands for the rows at the mode, moved to where it goes to first order in θ once that is known.
type integration struct {
	*fit
	newton    *newton.Newton
	rows      *problem.Rows
	stats     *newton.Statistics // of the last fit, and in the end of the mode
	modeStats *newton.Statistics
	mode      *newton.Given
	theta     []float64 // θ̂
	axes      *hyper.Axes
	slopes    hyper.Slopes // of mean and variances of the weights, p×d
	moves     []move       // of the normal likelihood with each coordinate of θ, none before they are known
	skipped   bool
	sums      *hyper.Sums // nil where they are skipped
	// quadratic says that rows are many enough for a pass to cost something, and that the normal likelihood that stands for them
	// says all of a posterior near by: with parameters of the likelihood, and in an expansion, rows have slopes of their own.
	quadratic      bool
	slopeTolerance float64 // of fits of which differences are taken
	evaluations    int     // fits at a θ
}

const (
	// slopeStep is the half width of differences in θ.
	slopeStep = 0.02
	// modeTolerance is the length of the gradient at the mode, in units of the posterior of θ.
	modeTolerance = 1e-5
	// nearEnough is that length where passes cost something: sums over the axes weigh where the mode is by themselves.
	nearEnough = 1e-2
	// nearMode is the length from which on the curvature stays the same to the second digit.
	nearMode = 0.05
	// longestStep bounds a step to the mode.
	longestStep = 1.5
	// modeSteps bounds their number.
	modeSteps = 30
	// fineTolerance, slopeTolerance and nodeTolerance are those of fits at the mode, of fits of which
	// differences are taken, where passes cost nothing, and of those at the nodes: a bound is off by the square of its posterior's
	// distance from the optimum, its gradient by that distance itself.
	fineTolerance  = 1e-6
	slopeTolerance = 1e-4
	nodeTolerance  = 1e-2
	// exactTolerance is fineTolerance of Laplace's approximation, whose fits double their digits at a step.
	// Its evidence is off by the distance itself.
	exactTolerance = 1e-8
)

// move is a slope of the sites and of b, and how far from the posterior a step of one would end without them.
type move struct {
	sites, shift []float64
	missed       float64
}

// within says whether the slopes of a coordinate tell the posterior a step away to within a tolerance. What they miss is of second
// order: taken for twice as much as a step of one, a factor e, would miss without them.
func within(missed, step, tolerance float64) bool { return 2*missed*step*step <= tolerance }

// mostMoves is the number of floats that moves may take: beyond, fits start from the likelihood at the mode.
const mostMoves = 8 << 20

// at fits at θ, with the gradient if the tolerance is that of slopes or finer. Near the mode a node is known without a look at
// the rows.
func (g *integration) at(ctx context.Context, theta []float64, tolerance float64) (*newton.Given, error) {
	if len(g.moves) > 0 {
		start := g.mode.Clone()
		shift := slices.Clone(g.mode.Shift)
		known := tolerance == nodeTolerance && g.quadratic
		for k, m := range g.moves {
			kernel.Axpy(theta[k]-g.theta[k], m.sites, start.Sites)
			kernel.Axpy(theta[k]-g.theta[k], m.shift, shift)
			known = known && within(m.missed, theta[k]-g.theta[k], tolerance/float64(len(g.moves)))
		}
		if known {
			if next, ok := g.unseen(theta, start, shift); ok {
				return next, nil
			}
		}
		if next, err := g.from(ctx, theta, start, shift, tolerance); err == nil {
			return next, nil
		}
	}
	return g.from(ctx, theta, g.mode.Point, g.mode.Shift, tolerance)
}

// unseen is at by a normal likelihood alone.
func (g *integration) unseen(theta []float64, start *newton.Point, shift []float64) (*newton.Given, bool) {
	g.evaluations++
	return g.newton.Beside(theta, g.mode, start, shift)
}

// from is at from a normal likelihood, or without shift from where the last climb ended.
func (g *integration) from(ctx context.Context, theta []float64, from *newton.Point, shift []float64, tolerance float64) (*newton.Given, error) {
	g.evaluations++
	task := newton.Task{Tolerance: tolerance, Iterations: 200}
	if g.config.Approximation == Laplace {
		task.Tolerance = math.Min(tolerance, g.slopeTolerance)
		if tolerance == fineTolerance {
			task.Tolerance = exactTolerance
		}
	}
	return g.newton.At(ctx, g.rows, theta, from, shift, g.stats, task, tolerance <= g.slopeTolerance)
}

// begin fits where a climb ended, with its θ.
func (g *integration) begin(ctx context.Context, at *newton.Point, tolerance float64) error {
	var shift []float64
	if g.config.Approximation == Laplace { // its statistics are others than those of the climb
		shift = g.newton.Shift(at)
	}
	theta := g.newton.Theta(at)
	mode, err := g.from(ctx, theta, at, shift, tolerance)
	if err == nil {
		g.moveTo(theta, mode)
	}
	return err
}

// moveTo takes the last fit for the mode.
func (g *integration) moveTo(theta []float64, mode *newton.Given) {
	g.theta, g.mode = theta, mode
	if g.modeStats == nil {
		g.modeStats = newton.NewStatistics(g.Dims, mode.Family.Count())
	}
	g.stats, g.modeStats = g.modeStats, g.stats
}

// findMode goes from the end of a climb to the mode, by Newton steps in θ.
func (g *integration) findMode(ctx context.Context, from *newton.Point) error {
	if err := g.begin(ctx, from, g.slopeTolerance); err != nil {
		return err
	}
	for range modeSteps {
		if err := g.differences(ctx); err != nil {
			return err
		}
		length := g.axes.Whitened(g.mode.Gradient)
		if length < nearMode {
			return g.polish(ctx)
		}
		moved, err := g.step(ctx, math.Min(1, longestStep/length))
		if err != nil {
			return err
		}
		if !moved {
			break
		}
	}
	if left := g.axes.Whitened(g.mode.Gradient); left > nearMode {
		g.warn("the search for the most likely hyper-parameters ended %.2g standard deviations from where their slope points: scale the columns, or state the prior variance, as in normal(variance=1)", left)
	}
	return nil
}

// step takes a share of the Newton step, or the longest of its halves that raises the density.
func (g *integration) step(ctx context.Context, share float64) (moved bool, err error) {
	full, theta := make([]float64, len(g.theta)), make([]float64, len(g.theta))
	g.axes.NewtonStep(full, g.mode.Gradient)
	for ; share > 1e-3; share /= 2 {
		copy(theta, g.theta)
		kernel.Axpy(share, full, theta)
		next, err := g.at(ctx, theta, g.slopeTolerance)
		if err != nil {
			return false, err
		}
		if next.LogDensity > g.mode.LogDensity {
			g.moveTo(theta, next)
			return true, nil
		}
	}
	return false, nil
}

// polish takes Newton steps with the same curvature until no slope is left, or none that falls.
func (g *integration) polish(ctx context.Context) error {
	length, goal := 2*nearMode, modeTolerance // of the gradient so far, which is not as fine as this one
	if g.quadratic {
		length, goal = g.axes.Whitened(g.mode.Gradient), nearEnough
	}
	for length > goal {
		theta := make([]float64, len(g.theta))
		g.axes.NewtonStep(theta, g.mode.Gradient)
		kernel.Axpy(1, g.theta, theta)
		next, err := g.at(ctx, theta, fineTolerance)
		if err != nil {
			return err
		}
		left := g.axes.Whitened(next.Gradient)
		if !(left < length/2) {
			break
		}
		g.moveTo(theta, next)
		length = left
	}
	g.axes.MoveTo(g.theta, g.mode.LogDensity)
	return nil
}

// differences takes the curvature of the density at the mode, and the slopes of the posterior.
func (g *integration) differences(ctx context.Context) error {
	p, d := len(g.theta), g.Dims
	g.slopes = hyper.Slopes{Mean: make([]float64, p*d), Variance: make([]float64, p*d)}
	done, ends := 0, [2]*newton.Given{}
	moves := []move{}
	curvature, err := hyper.Curvature(g.theta, slopeStep, func(theta []float64, k int, sign float64) ([]float64, error) {
		g.tell(fmt.Sprintf("curvature in %d hyper-parameters", p), done, 2*p)
		done++
		next, err := g.beside(ctx, theta, sign, ends[0])
		if err != nil {
			return nil, err
		}
		share := sign / (2 * slopeStep)
		kernel.Axpy(share, next.Mean, g.slopes.Mean[k*d:(k+1)*d])
		kernel.Axpy(share, next.Variances(), g.slopes.Variance[k*d:(k+1)*d])
		ends[0], ends[1] = next, ends[0]
		if sign < 0 && p*d*d <= mostMoves {
			m := move{ends[1].Sites, ends[1].Shift, ends[1].Missed / slopeStep}
			for _, part := range [][2][]float64{{m.sites, next.Sites}, {m.shift, next.Shift}} {
				kernel.Axpy(-1, part[1], part[0])
				kernel.Scale(1/(2*slopeStep), part[0])
			}
			moves = append(moves, m)
		}
		return next.Gradient, nil
	})
	if err != nil {
		return err
	}
	g.moves = moves
	g.axes, err = hyper.NewAxes(g.theta, g.mode.LogDensity, curvature, d > coarseWeights)
	if err != nil {
		return fmt.Errorf("%s: %w: scale the columns, or state the prior variance, as in normal(variance=1)", g.Engine, err)
	}
	return nil
}

// beside fits at θ moved from the mode in one coordinate; of the second such fit the first, opposite, says where
// it is to first order.
func (g *integration) beside(ctx context.Context, theta []float64, sign float64, opposite *newton.Given) (*newton.Given, error) {
	if sign > 0 || len(g.moves) > 0 {
		return g.at(ctx, theta, g.slopeTolerance)
	}
	start, shift := g.mode.Clone(), slices.Clone(g.mode.Shift)
	for _, part := range [][3][]float64{{start.Sites, g.mode.Sites, opposite.Sites}, {shift, g.mode.Shift, opposite.Shift}} {
		kernel.Axpy(1, part[1], part[0])
		kernel.Axpy(-1, part[2], part[0])
	}
	if g.quadratic && within(opposite.Missed/slopeStep, slopeStep, g.slopeTolerance) {
		if next, ok := g.unseen(theta, start, shift); ok {
			return next, nil
		}
	}
	if next, err := g.from(ctx, theta, start, shift, g.slopeTolerance); err == nil {
		return next, nil
	}
	return g.at(ctx, theta, g.slopeTolerance)
}

// coarseWeights is the number of weights above which three nodes on an axis do.
const coarseWeights = 300

// steepest is the greatest slope of the density in a hyper-parameter where a climb has ended at a mode.
const steepest = 0.02

// run goes from where a climb ended to the mode of the hyper-parameters, integrates if it is to, and
// returns the mode, where factor and statistics then are. Without priors, or with nothing learned, that
// is where the climb ended.
func (g *integration) run(ctx context.Context, from *newton.Point) (*newton.Point, error) {
	learned := len(g.newton.Theta(from)) > 0
	g.slopeTolerance = slopeTolerance
	if g.quadratic = g.operations() > cheapOperations && len(from.Free) == 0 && g.config.Approximation != Laplace; g.quadratic {
		g.slopeTolerance = max(slopeTolerance, g.tolerance())
	}
	switch {
	case g.config.Approximation == Laplace:
		family := *from.Family
		family.Expanded, from.Family = true, &family
	case g.Priors == nil || !learned:
		return from, nil
	}
	var err error
	if g.config.Hyper == hyper.Integrate && learned {
		err = g.integrate(ctx, from)
	} else {
		err = g.settle(ctx, from)
	}
	if err != nil {
		return nil, err
	}
	g.newton.Place(g.mode.Point)
	g.stats = g.modeStats
	mode := *g.mode.Point
	mode.Bound = g.mode.LogDensity
	return &mode, nil
}

// settle looks for the mode where the slope says that a climb has not ended at one.
func (g *integration) settle(ctx context.Context, from *newton.Point) error {
	tolerance := g.slopeTolerance
	if g.config.Approximation == Laplace {
		tolerance = fineTolerance
	}
	if err := g.begin(ctx, from, tolerance); err != nil {
		return err
	}
	steep := g.config.Approximation == Laplace && len(g.theta) > 0 || slices.ContainsFunc(g.mode.Gradient, func(slope float64) bool { return math.Abs(slope) > steepest })
	if steep && len(g.theta) <= hyper.ThreeNodeLimit {
		return g.findMode(ctx, from)
	}
	if steep && g.config.Approximation == Laplace {
		g.warn("%d hyper-parameters are more than %d, and stay where the variational bound has them: state the prior variance, as in normal(variance=1)", len(g.theta), hyper.ThreeNodeLimit)
	}
	return nil
}

// integrate adds up the axes. Where a node is more likely than the mode, the climb goes on from there.
func (g *integration) integrate(ctx context.Context, from *newton.Point) error {
	const restarts = 5
	for range restarts {
		if err := g.findMode(ctx, from); err != nil {
			return err
		}
		g.skipped, _, _ = g.axes.Skip(g.mode.Variances(), g.slopes)
		if g.skipped || g.axes.Count() > hyper.ThreeNodeLimit {
			return nil
		}
		err := g.add(ctx)
		var higher *hyper.HigherError
		if !errors.As(err, &higher) {
			return err
		}
		from = g.mode.Clone()
		g.newton.MoveTo(from, higher.Theta)
		if g.config.Approximation == Laplace { // a climb at fixed θ follows
			continue
		}
		if _, _, err := g.newton.Climb(ctx, g.rows, from, g.stats, g.task("another mode", g.tolerance())); err != nil {
			return err
		}
	}
	g.sums = nil
	g.warn("the hyper-parameters have more than one mode, and are taken at the most likely one that was found: state the prior variance, as in normal(variance=1)")
	return nil
}

// add adds up the points of all axes.
func (g *integration) add(ctx context.Context) error {
	d := g.Dims
	g.newton.Place(g.mode.Point)
	centre := g.point(g.mode, g.theta)
	g.sums = hyper.NewSums(g.axes, centre, func(linear []float64, scale float64, gap []float64) {
		for i, v := range gap[:d] {
			kernel.Axpy(scale*v, gap[i:d], linear[i*d+i:(i+1)*d])
		}
	})
	theta := make([]float64, len(g.theta))
	for done := 0; !g.sums.Done(); done++ {
		g.tell("integration over hyper-parameters", done, g.axes.Count()*g.axes.Nodes())
		g.sums.Next(theta)
		next, err := g.at(ctx, theta, nodeTolerance)
		if err != nil {
			return err
		}
		if err := g.sums.Add(g.point(next, theta)); err != nil {
			return err
		}
	}
	return nil
}

// point is what is added up of a fit: moments of the weights, and for a gaussian family those of the
// noise as a weight more; then the covariance, θ and the noise variance.
func (g *integration) point(at *newton.Given, theta []float64) hyper.Point {
	d := g.Dims
	linear := make([]float64, d*d, d*d+len(theta)+1)
	g.newton.Centred(linear)
	linear = append(linear, theta...)
	mean, variance := append(make([]float64, 0, d+1), at.Mean...), append(make([]float64, 0, d+1), at.Variances()...)
	if noise, ok := at.Family.Likelihood.(likelihood.Gaussian); ok {
		linear = append(linear, noise.Variance(0))
		mean, variance = append(mean, 0), append(variance, noise.Variance(0))
	}
	return hyper.Point{LogDensity: at.LogDensity, Mean: mean, Variance: variance, Linear: linear}
}

// tell reports progress.
func (g *integration) tell(stage string, done, total int) {
	if g.config.Progress != nil {
		g.config.Progress(credence.Progress{Stage: stage, Done: done, Total: total, Objective: g.mode.LogDensity})
	}
}
