package svi

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// integration integrates the posterior of the weights over the hyper-parameters θ by axis sums, with
// the bound, or Laplace's approximation, for the evidence. Every fit at a θ starts from the normal likelihood that
// stands for the rows at the mode, moved to where it goes to first order in θ once that is known.
type integration struct {
	*fit
	newton    *newton.Newton
	rows      *problem.Rows
	stats     *newton.Statistics // of the last fit
	modeStats *newton.Statistics // of the mode so far
	mode      *newton.Given
	theta     []float64 // of the mode so far
	moves     []move    // of the normal likelihood with each coordinate of θ, none before they are known
	top       *hyper.Maximum
	all       *hyper.Integrated
	// quadratic says that rows are many enough for a pass to cost something, and that the normal likelihood that stands
	// for them says all of a posterior near by: with parameters of the likelihood, and in an expansion, rows have
	// slopes of their own.
	quadratic bool
	// valued says that, with parameters, a pass costs so much that one is to end where another would only have looked
	// that it had: nodes then ask the rows for their density alone.
	valued         bool
	quadrature     *newton.Quadrature
	slopeTolerance float64 // of fits of which differences are taken
	nodeTolerance  float64 // of fits at the nodes
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
	// modeSteps bounds their number.
	modeSteps = 30
	// fineTolerance, slopeTolerance and nodeTolerance are those of fits at the mode, of fits of which differences are
	// taken, where passes cost nothing, and of those at the nodes: a bound is off by the square of its posterior's
	// distance from the optimum, its gradient by that distance itself. Where a smaller tolerance is stated, the last
	// two follow it, down to a hundredth. Nodes far from the mode weigh little: theirs are up to farTolerance.
	fineTolerance  = 1e-6
	slopeTolerance = 1e-4
	nodeTolerance  = 1e-2
	farTolerance   = 0.1
	// exactTolerance is fineTolerance of Laplace's approximation, whose fits double their digits at a step.
	// Its evidence is off by the distance itself.
	exactTolerance = 1e-8
)

// move is a slope of the sites and of b, and how far from the posterior a step of one would end without them.
type move struct {
	sites, shift []float64
	missed       float64
}

// within says whether the slopes of a coordinate tell the posterior a step away to within a tolerance. What they miss
// is of second order: taken for twice as much as a step of one, a factor e, would miss without them.
func within(missed, step, tolerance float64) bool { return 2*missed*step*step <= tolerance }

// mostMoves is the number of floats that moves may take: beyond, fits start from the likelihood at the mode.
const mostMoves = 8 << 20

// at fits at θ, with the gradient if the tolerance is that of slopes or finer. Near the mode a node is known without a
// look at the rows.
func (g *integration) at(ctx context.Context, theta []float64, tolerance float64) (*newton.Given, error) {
	if len(g.moves) == 0 {
		return g.from(ctx, theta, g.mode.Point, g.mode.Shift, tolerance)
	}
	start, shift := g.mode.Clone(), slices.Clone(g.mode.Shift)
	known := tolerance > g.slopeTolerance && (g.quadratic || g.valued) // a node
	for k, m := range g.moves {
		kernel.Axpy(theta[k]-g.theta[k], m.sites, start.Sites)
		kernel.Axpy(theta[k]-g.theta[k], m.shift, shift)
		known = known && within(m.missed, theta[k]-g.theta[k], tolerance/float64(len(g.moves)))
	}
	return g.beside(ctx, theta, start, shift, tolerance, known)
}

// beside is at from a normal likelihood that is near the one there, without a look at the rows where it is known to be
// near enough. Where it leads nowhere, at goes on from that of the mode.
func (g *integration) beside(ctx context.Context, theta []float64, start *newton.Point, shift []float64, tolerance float64, known bool) (*newton.Given, error) {
	switch {
	case known && g.quadratic:
		g.evaluations++
		if next, ok := g.newton.Beside(theta, g.mode, start, shift); ok {
			return next, nil
		}
	case known:
		g.evaluations++
		next, err := g.newton.At(ctx, g.rows, theta, start, shift, g.stats, newton.Task{There: g.mode}, false)
		if err == nil && problem.Finite(next.Bound) || errors.Is(err, base.ErrAsked) {
			return next, err
		}
	}
	if next, err := g.from(ctx, theta, start, shift, tolerance); err == nil || errors.Is(err, base.ErrAsked) {
		return next, err
	}
	return g.from(ctx, theta, g.mode.Point, g.mode.Shift, tolerance)
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
func (g *integration) begin(ctx context.Context, at *newton.Point, tolerance float64) (*hyper.Evaluation, error) {
	var shift []float64
	if g.config.Approximation == Laplace { // its statistics are others than those of the climb
		shift = g.newton.Shift(at)
	}
	theta := g.newton.Theta(at)
	g.newton.Remember()
	mode, err := g.from(ctx, theta, at, shift, tolerance)
	if err != nil {
		return nil, err
	}
	e := evaluation(mode)
	e.Theta = theta
	g.moveTo(e)
	return e, nil
}

// evaluation is what a search is told of a fit.
func evaluation(at *newton.Given) *hyper.Evaluation {
	return &hyper.Evaluation{
		Gradient: at.Gradient, State: at, Point: hyper.Point{LogDensity: at.LogDensity, Mean: at.Mean, Variance: at.Psi},
	}
}

// moveTo takes an evaluation for the mode, which is the last fit where it was not the mode before.
func (g *integration) moveTo(at *hyper.Evaluation) {
	mode := at.State.(*newton.Given)
	if mode == g.mode {
		return
	}
	g.theta, g.mode = at.Theta, mode
	g.newton.Remember()
	if g.modeStats == nil {
		g.modeStats = g.newton.NewStatistics(mode.Family.Count())
	}
	g.stats, g.modeStats = g.modeStats, g.stats
}

// Evaluate implements [hyper.Model]. It keeps where the normal likelihood of the rows moves to with every coordinate.
func (g *integration) Evaluate(ctx context.Context, from *hyper.Evaluation, thetas [][]float64, to hyper.Precision, do func(int, *hyper.Evaluation) error) error {
	g.moveTo(from)
	differences := to == hyper.ForDifferences
	tolerance := g.slopeTolerance
	if to == hyper.ForMode {
		tolerance = fineTolerance
	}
	var above *newton.Given // of a difference
	moves := []move{}
	err := g.aside(len(thetas), func(k int) error {
		theta, at, err := thetas[k], g.mode, error(nil)
		odd := differences && k%2 == 1
		switch {
		case odd && above == nil: // which waits, and from which it begins
			return nil
		case slices.Equal(theta, g.theta):
			g.newton.Place(at.Point)
		case odd:
			at, err = g.opposite(ctx, theta, above)
		case to == hyper.ForNode:
			at, err = g.at(ctx, theta, g.toleranceOf(theta))
		default:
			above = nil
			at, err = g.at(ctx, theta, tolerance)
		}
		if err != nil {
			return err
		}
		e := evaluation(at)
		if to == hyper.ForNode {
			e.Point = g.point(at)
		}
		if e.Correction, err = g.correction(ctx, at); err != nil {
			return err
		}
		if err := do(k, e); err != nil {
			return err
		}
		if odd && len(g.theta)*g.newton.Layout.Len() <= mostMoves {
			m := move{above.Sites, above.Shift, above.Missed / slopeStep}
			for _, part := range [][2][]float64{{m.sites, at.Sites}, {m.shift, at.Shift}} {
				kernel.Axpy(-1, part[1], part[0])
				kernel.Scale(1/(2*slopeStep), part[0])
			}
			moves = append(moves, m)
		}
		above = at
		return nil
	})
	if err != nil {
		return err
	}
	if differences {
		g.moves = moves
	}
	return nil
}

// toleranceOf is that of a node: where rows are many, its distance from the posterior counts in sums with its weight,
// and with its variances, which are at most what the prior's are, beside those of the mode.
func (g *integration) toleranceOf(theta []float64) float64 {
	if !g.quadratic && !g.valued { // passes cost nothing
		return g.nodeTolerance
	}
	far, widening := g.top.Axes.Distance(theta), 0.0
	for k, v := range theta {
		widening = math.Max(widening, 2*math.Abs(v-g.theta[k]))
	}
	return math.Min(farTolerance, g.nodeTolerance*math.Exp(math.Max(0, far*far/2-widening)))
}

// correction is what quadrature in every group says that the bound misses, 0 where there is none.
func (g *integration) correction(ctx context.Context, at *newton.Given) (float64, error) {
	if g.quadrature == nil {
		return 0, nil
	}
	missed, err := g.quadrature.Missed(ctx, at.Point)
	if !problem.Finite(missed) {
		missed = 0
	}
	return missed, err
}

// opposite fits at θ moved from the mode in one coordinate, after a fit at the other side: that says where it is to
// first order.
func (g *integration) opposite(ctx context.Context, theta []float64, other *newton.Given) (*newton.Given, error) {
	if len(g.moves) > 0 {
		return g.at(ctx, theta, g.slopeTolerance)
	}
	start, shift := g.mode.Clone(), slices.Clone(g.mode.Shift)
	for _, part := range [][3][]float64{{start.Sites, g.mode.Sites, other.Sites}, {shift, g.mode.Shift, other.Shift}} {
		kernel.Axpy(1, part[1], part[0])
		kernel.Axpy(-1, part[2], part[0])
	}
	known := g.quadratic && within(other.Missed/slopeStep, slopeStep, g.slopeTolerance)
	return g.beside(ctx, theta, start, shift, g.slopeTolerance, known)
}

// steepest is the greatest slope of the density in a hyper-parameter where a climb has ended at a mode.
const steepest = 0.02

// run goes from where a climb ended to the mode of the hyper-parameters, integrates if it is to, and
// returns the mode, where factor and statistics then are. Without priors, or with nothing learned, that
// is where the climb ended.
func (g *integration) run(ctx context.Context, from *newton.Point) (*newton.Point, error) {
	learned := len(g.newton.Theta(from)) > 0
	g.slopeTolerance = slopeTolerance
	if stated := g.config.Tolerance; stated > 0 {
		g.slopeTolerance = min(slopeTolerance, max(fineTolerance, stated))
	}
	g.nodeTolerance = nodeTolerance / slopeTolerance * g.slopeTolerance
	switch variational := g.config.Approximation != Laplace; {
	case len(from.Free) == 0:
		g.quadratic = variational && g.operations() > cheapOperations
	default:
		g.valued = variational && g.operations() > freeOperations
	}
	if g.quadratic || g.valued {
		g.slopeTolerance = max(g.slopeTolerance, g.tolerance())
	}
	switch {
	case g.config.Approximation == Laplace:
		family := *from.Family
		family.Expanded, from.Family = true, &family
	case g.Priors == nil || !learned:
		return from, nil
	}
	if err := g.search(ctx, from, g.config.Hyper == param.Integrate && learned); err != nil {
		return nil, err
	}
	if g.top != nil {
		g.moveTo(g.top.At)
	}
	g.newton.Place(g.mode.Point)
	g.stats = g.modeStats
	mode := *g.mode.Point
	mode.Bound = g.mode.LogDensity
	return &mode, nil
}

// search looks for the mode, where the slope says that a climb has not ended at one or θ is to be integrated over, and
// integrates.
func (g *integration) search(ctx context.Context, from *newton.Point, integrate bool) error {
	laplace, tolerance := g.config.Approximation == Laplace, g.slopeTolerance
	if laplace && !integrate {
		tolerance = fineTolerance
	}
	begin, err := g.begin(ctx, from, tolerance)
	if err != nil {
		return err
	}
	steep := laplace && len(g.theta) > 0 || slices.ContainsFunc(g.mode.Gradient, func(slope float64) bool { return math.Abs(slope) > steepest })
	many, remedy := len(g.theta) > hyper.ThreeNodeLimit, "state the prior variance, as in normal(variance=1)"
	if integrate && laplace && len(from.Free) > hyper.ThreeNodeLimit { // each step of one takes all rows and all others
		integrate, remedy, g.config.Hyper = false, "engine svi(covariance=full) integrates over them", param.Mode
	}
	if !integrate && (many || !steep) {
		if many && laplace {
			g.warn("%d hyper-parameters are more than %d, and stay where the variational bound has them: %s", len(g.theta), hyper.ThreeNodeLimit, remedy)
		}
		return nil
	}
	rules := g.rules()
	if integrate && !laplace {
		if g.quadrature, err = g.newton.Quadrature(ctx, g.rows, g.mode.Family); err != nil {
			return err
		}
		if g.quadrature != nil && !g.quadratic && !g.valued { // a bound is off by the square, what it misses is not
			g.slopeTolerance = fineTolerance
		}
	}
	if g.top, err = rules.Mode(ctx, g, begin); err == nil && integrate {
		if g.all, err = rules.Integrate(ctx, g, g.top); err == nil {
			g.top = g.all.Mode
		}
	}
	if err != nil {
		return err
	}
	if g.top.Left > nearMode {
		g.warn("the search for the most likely prior variances stopped before it had found them, and intervals and evidence are those of the likeliest it saw: scale the columns, or state the prior variance, as in normal(variance=1)")
	}
	if integrate && g.all.Outcome == hyper.AtMode {
		g.warn("%s", g.all.Why)
		g.config.Hyper = param.Mode
	}
	return nil
}

// rules are those of the search in θ.
func (g *integration) rules() hyper.Rules {
	enough := modeTolerance
	if g.quadratic {
		enough = nearEnough
	}
	rules := hyper.Rules{
		Weights: g.Dims, Steps: modeSteps, Width: slopeStep, Near: nearMode, Enough: enough, Polish: !g.quadratic,
		Climb: g.climb, Tell: g.tell, Marginals: g.covaried,
		Spread: func(linear []float64, scale float64, difference []float64) {
			g.newton.Layout.AddOuter(linear, scale, difference[:g.Dims])
		},
	}
	if !g.Prior.ARD { // whose further weights have variances that no row tells of
		rules.Law = g.law
	}
	return rules
}

// covaried are the coordinates of variances and correlations of groups: the law of few groups is far from log-normal.
func (g *integration) covaried() (places []int) {
	for i, k := range g.newton.LearnedPriors() {
		if k >= len(g.Groups) || g.Groups[k].Covaried {
			places = append(places, i)
		}
	}
	return places
}

// law returns the prior variances of all groups at θ.
func (g *integration) law(theta []float64) []float64 {
	at := newton.Point{Prior: slices.Clone(g.mode.Prior), Free: slices.Clone(g.mode.Free), Family: g.mode.Family}
	g.newton.MoveTo(&at, theta)
	return at.Prior
}

// climb goes on from a θ.
func (g *integration) climb(ctx context.Context, mode *hyper.Evaluation, theta []float64) (*hyper.Evaluation, error) {
	from := mode.State.(*newton.Given).Clone()
	g.newton.MoveTo(from, theta)
	if g.config.Approximation != Laplace { // else a climb at fixed θ follows
		if _, _, err := g.newton.Climb(ctx, g.rows, from, g.stats, g.task("another mode", g.tolerance())); err != nil {
			return nil, err
		}
	}
	return g.begin(ctx, from, g.slopeTolerance)
}

// point is what is added up of a fit: moments of the weights, and for a gaussian family those of the
// noise as a weight more; then the covariance and the noise variance.
func (g *integration) point(at *newton.Given) hyper.Point {
	d := g.Dims
	size := g.newton.Layout.Len()
	linear := make([]float64, size, size+1+len(g.theta))
	g.newton.Centred(linear)
	mean, variance := append(make([]float64, 0, d+1), at.Mean...), append(make([]float64, 0, d+1), at.Psi...)
	if noise, ok := at.Family.Likelihood.(likelihood.Gaussian); ok {
		linear = append(linear, noise.Variance(0))
		mean, variance = append(mean, 0), append(variance, noise.Variance(0))
	}
	return hyper.Point{LogDensity: at.LogDensity, Mean: mean, Variance: variance, Linear: linear}
}

// tell reports progress.
func (g *integration) tell(stage string, done, total int, logDensity float64) {
	if g.config.Progress != nil {
		g.config.Progress(credence.Progress{Stage: stage, Done: done, Total: total, Objective: logDensity, Sure: true})
	}
}
