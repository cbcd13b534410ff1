// Package newton is variational inference with a full covariance, q = N(m, V), by natural-gradient
// steps.
//
// At the optimum of the bound over q, with e the expected log density of a row,
//
//	V⁻¹ = Λ⁻¹ + H,  H = −2 Φᵀ diag(∂e/∂variance) Φ      Λ⁻¹m = Φᵀ ∂e/∂mean = g
//
// (Opper & Archambeau 2009, eqs. 5–6), and a natural-gradient step of length ρ is
//
//	H ← (1−ρ) H + ρ H(m, V)      m ← m + V ρ (g − Λ⁻¹m)
//
// (conjugate-computation variational inference, Khan & Lin 2017). With ρ = 1 it is Newton's method
// with expected derivatives. Every ρ small enough raises the bound, so steps that lower it are
// halved. H and b = H m + ρg + (1−ρ)Λ⁻¹m are the natural parameters of a normal likelihood that
// stands for the rows, and prior variances are set to the maximum of its evidence
//
//	log Z(Λ) = −½ log|I + Λ^½ H Λ^½| + ½ bᵀ (H + Λ⁻¹)⁻¹ b
//
// at no pass over the rows. At a fixed point its slope is that of the bound itself. This goes further
// at a step than the mean of m² + diag V, which is the maximum at fixed q. The learned parameters γ
// of the likelihood take the joint Newton step with m, through ∂²e/∂mean∂γ.
//
// Cost: 2nd² operations and the likelihood's integrals a step; a Gaussian family is read once, for
// its sums. Memory: O(d²) and a block of rows.
package newton

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/posterior"
)

// Newton climbs the bound of a problem.
type Newton struct {
	*problem.Problem
	Targets base.Moments // of the rows of the last pass
	counted source       // the rows of the targets; nil where not all were
	Gain    float64      // of the bound in the last step
	// PredictedGain is what a whole step would gain by the slope where no step raised the bound, else 0.
	PredictedGain float64

	whole     worker        // with all threads
	workers   []*worker     // of the threads
	parts     []*Statistics // of a pass, but for the first
	product   []float64
	fixed     bool      // prior variances and parameters of the likelihood stay
	sloped    bool      // their slopes are wanted all the same
	valued    bool      // a pass adds up values alone
	clamp     bool      // rows of negative curvature are left out, where nothing else makes V positive
	upper     []float64 // d×d: V in a pass, where formed says so
	formed    bool
	dense     bool // a pass fills all columns of its blocks
	Layout    gauss.Values
	system    gauss.Solver
	factor    gauss.Spread // V of the last factorise
	levels    *levels      // V where weights go by levels; nil for dense matrices
	runs      []run
	deviation []float64 // √λ of every weight
	work      [4][]float64
	packed    *Statistics     // of packed rows, by their columns
	order     *problem.Packed // of the columns of lower
	lower     []float64       // d×d: V by columns of packed rows
	sums      *sums           // of a Gaussian family
	about     []float64       // of the next sums of a resumed fit; nil means the mean of the next pass
	earlier   mixture         // of the last climb, its end the first
	near      mixture         // that which climbs at other hyper-parameters draw on
	missed    float64         // by the start, by the first step of the last climb
	around    *around         // the last mode that was asked about
}

// New returns the climber of a problem.
func New(p *problem.Problem) *Newton {
	d := p.Dims
	n := &Newton{Problem: p, deviation: make([]float64, d)}
	n.whole.Workspace = p.Workspace
	if n.Layout = (gauss.Dense{Weights: d}); p.Pattern != nil { // sites of rows may be negative
		n.Layout = gauss.Arrow{Pattern: p.Pattern}
		n.levels = newLevels(n)
	}
	n.system, n.runs = n.Layout.Solver(p.Workspace), runsOf(n.Layout, d)
	for i := range n.work {
		n.work[i] = make([]float64, d)
	}
	return n
}

// Task is what a climb is to do.
type Task struct {
	Stage      string
	Tolerance  float64 // distance from the optimum, in posterior standard deviations
	Iterations int
	// NegligibleGain is the gain of the last iteration, in nats, below which a climb that meets its
	// limit of iterations has converged.
	NegligibleGain float64
	Progress       func(credence.Progress)
	Resume         *State // to go on from, or nil
	Save           func(*State) error
	// near says that the climb of [Newton.Remember] was at nearly the same hyper-parameters and that V was placed at
	// the point, known that the statistics are those there.
	known, near bool
	// There is a mode near by, where the normal likelihood to begin from is known to be near enough: [Newton.At] then
	// takes its bound from the rows, and no step.
	There *Given
}

// Climb maximises the bound over rows from a point, which it moves to where it ends; the statistics
// are then those there. It returns how it ended and the number of iterations. Where it ends because
// no step raises the bound, though there is something to gain, n.PredictedGain says how much.
func (n *Newton) Climb(ctx context.Context, rows *problem.Rows, at *Point, s *Statistics, task Task) (credence.Status, int, error) {
	next, to := n.NewStatistics(len(at.Free)), &Point{}
	next.KeepSites(len(s.Beta))
	state := &State{rho: 1}
	if task.Resume != nil {
		state = n.resume(task.Resume, at)
	}
	n.PredictedGain = 0
	if err := n.begin(ctx, rows, at, s, task); err != nil {
		return "", state.Iteration, err
	}
	mixes := n.sums == nil && !at.Family.Expanded // sums and modes need no more than plain steps
	if task.near && mixes && at.Psi != nil {
		state.mixed = n.near.moved(n.natural(at, s), at.Psi)
	}
	defer func() {
		n.earlier = nil
		if mixes && at.Psi != nil {
			n.earlier = state.mixed
			n.earlier.keep(n.natural(at, s))
		}
	}()
	for ; state.Iteration < task.Iterations; state.Iteration++ {
		if task.Save != nil && at.Psi != nil {
			if err := task.Save(n.saved(state, at)); err != nil {
				return "", state.Iteration, err
			}
		}
		made, ok := n.propose(to, at, s, state.mixed, state.rho, state.Failures > 1, task.Tolerance)
		if state.Iteration == 0 {
			n.missed = math.Max(math.Sqrt(made.decrement), made.widening)
		}
		small := ok && state.Failures < 2 && made.negligible(state.rho*task.Tolerance)
		if small && !task.near && len(state.mixed) > 0 { // earlier points may cancel a step that is not small
			var plain step
			plain, small = n.propose(to, at, s, nil, 1, false, task.Tolerance)
			if small = small && plain.negligible(task.Tolerance); !small {
				made, ok = n.propose(to, at, s, state.mixed, state.rho, state.Failures > 1, task.Tolerance)
			}
		}
		if small || state.Quiet >= 5 || state.Separable >= 2 {
			n.Place(at)
			return credence.Converged, state.Iteration, nil
		}
		predicted, gain := math.Inf(1), 0.0
		if ok {
			predicted = made.gain + made.decrement/state.rho
			if err := n.Pass(ctx, rows, next, to.Mean, n.factor, to.Family); err != nil {
				return "", state.Iteration, err
			}
			to.Bound = next.Value - n.divergence(to) + n.density(to)
			gain = n.gained(to, at, next, s)
			ok = n.acceptable(to, at, gain, next, s)
		}
		if !ok && len(state.mixed) > 0 { // the plain step first
			state.mixed = nil
			continue
		}
		if !ok {
			if at.Psi == nil {
				// The curvature at the mean alone may be next to nothing, as of a Poisson far below
				// a count of one: V is then so wide that the expected count overflows. A narrower V
				// has a bound.
				kernel.Scale(4, at.Sites)
			}
			state.rho, state.Failures = state.rho/2, state.Failures+1
			if state.rho < shortest {
				n.PredictedGain = predicted
				break
			}
			continue
		}
		n.accepted(state, gain, at.Bound, next)
		if at.Psi != nil && mixes {
			state.mixed.keep(n.natural(at, s))
		}
		*at, *to = *to, *at // the caller's point is always the accepted one
		*s, *next = *next, *s
		if task.Progress != nil {
			task.Progress(credence.Progress{Stage: task.Stage, Done: state.Iteration + 1, Total: task.Iterations, Objective: at.Bound})
		}
	}
	if at.Psi == nil {
		return "", state.Iteration, fmt.Errorf("%s: no step from the starting values raised the bound: scale the columns, or state a smaller prior variance, or weights of rows nearer to 1", n.Engine)
	}
	n.Place(at)
	return n.ended(state, at, task), state.Iteration, nil
}

// begin takes the statistics at the point. A point without sites, or with sites of other rows whose V
// is too wide for these, begins with the curvature at its mean.
func (n *Newton) begin(ctx context.Context, rows *problem.Rows, at *Point, s *Statistics, task Task) error {
	if at.Sites != nil {
		if !task.near {
			if _, ok := n.Place(at); !ok {
				return n.indefinite()
			}
		}
		if !task.known {
			if err := n.Pass(ctx, rows, s, at.Mean, n.factor, at.Family); err != nil {
				return err
			}
		}
		at.Bound = s.Value - n.divergence(at) + n.density(at)
		if problem.Finite(at.Bound) {
			return nil
		}
	}
	n.clamp = true
	err := n.Pass(ctx, rows, s, at.Mean, nil, at.Family)
	n.clamp = false
	if err != nil {
		return err
	}
	at.Sites, at.Psi, at.Bound = append([]float64{}, s.Curvature...), nil, math.Inf(-1)
	return nil
}

// indefinite says why no V could be placed.
func (n *Newton) indefinite() error {
	return fmt.Errorf("%s: the precision of the weights is not positive definite: two feature columns may be equal; state a smaller prior variance or drop one", n.Engine)
}

// shortest is the length of a step that a climb tries last. Where even that does not raise the
// bound, its value and its slope disagree by rounding.
const shortest = 1e-9

// acceptable says whether a step may be taken. From V = 0 there is no bound to compare with. The
// theory of a normal posterior takes d/2 nats of the rows' expected log density for V, and much more
// can only be a step that went astray.
func (n *Newton) acceptable(to, at *Point, gain float64, next, s *Statistics) bool {
	if !problem.Finite(to.Bound) {
		return false
	}
	if at.Psi == nil {
		return next.Value >= s.Value-(10+2*float64(n.Dims)+math.Abs(s.Value))
	}
	return gain >= -1e-11*(math.Abs(next.Value)+math.Abs(s.Value)+1)
}

// gained is what a step gains: of the bound, or, for an expansion, of the log density of rows and weights
// together, whose mode is sought.
func (n *Newton) gained(to, at *Point, next, s *Statistics) float64 {
	if !to.Family.Expanded {
		return to.Bound - at.Bound
	}
	return n.joint(to, next) - n.joint(at, s)
}

// joint is log p(y, m) at the mean of a point, but for the normaliser of the prior. The value of an
// expansion has ½ tr HV less than the rows' own.
func (n *Newton) joint(p *Point, s *Statistics) float64 {
	sum := s.Value + s.Trace/2
	mean := n.levels.standard(p.Mean, p.Prior)
	for k, g := range n.Groups {
		for j := g.First; j < g.End(); j += g.Step() {
			sum -= mean[j] * mean[j] / p.Prior[k] / 2
		}
	}
	return sum
}

// separableGain is what an iteration must gain, in nats, for a fit without priors of its
// hyper-parameters to go on once its classes are separated. Then the likelihood is all but constant in the scale of the
// weights, and the learned prior variance creeps upwards for hundreds of iterations, through values that the data do
// not tell apart.
const separableGain = 0.05

// lastDigits is the gain, as a share of the bound, that is a matter of rounding.
const lastDigits = 1e-12

// accepted counts a step that gained so much from a bound.
func (n *Newton) accepted(state *State, gain, bound float64, s *Statistics) {
	n.Gain = gain
	count := func(counter *int, condition bool) {
		if *counter++; !condition {
			*counter = 0
		}
	}
	count(&state.Quiet, gain < lastDigits*math.Abs(bound))
	count(&state.Separable, n.Priors == nil && s.Separated && gain < separableGain && !n.Targets.Constant() && len(n.LearnedGroups()) > 0)
	state.rho, state.Failures = math.Min(1, 2*state.rho), 0
}

// ended says how a climb ended that met its limit of iterations or found no step that raises the
// bound: it has converged where what is left is below the tolerance, or below rounding.
func (n *Newton) ended(state *State, at *Point, task Task) credence.Status {
	rounding, within := lastDigits*math.Abs(at.Bound), task.Tolerance*task.Tolerance
	if n.PredictedGain > 0 && n.PredictedGain <= math.Max(10*rounding, within) ||
		n.PredictedGain == 0 && n.Gain <= math.Max(task.NegligibleGain, math.Max(rounding, state.rho*within/2)) {
		n.PredictedGain = 0
		return credence.Converged
	}
	return credence.IterationLimit
}

// Posterior returns the posterior of the weights at the point that was placed last.
func (n *Newton) Posterior(p *Point) credence.Posterior {
	mean := make([]float64, n.Dims)
	n.Intercept.Weights(mean, p.Mean)
	if n.levels != nil {
		return posterior.NewArrow(mean, n.Pattern, slices.Clone(n.levels.own()), 0)
	}
	q := &posterior.Full{Mean: mean, Factor: slices.Clone(n.factor.(gauss.Root))}
	n.Intercept.WeightFactor(q.Factor)
	return q
}
