package svi

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/posterior"
)

// task is what a climb is to do.
type task struct {
	stage      string
	tolerance  float64
	iterations int
	trifle     float64 // a gain, in nats, that no fit need go on for at its limit of iterations
	progress   func(credence.Progress)
	saved      *progressState // to go on from, or nil
	save       func(*progressState) error
}

// progressState is where a climb stands between iterations: all that the next one depends on.
type progressState struct {
	Iteration int
	At        point
	About     []float64 // of the sums of a Gaussian family, see sufficient
	Rho       float64
	Failures  int
	Quiet     int
	Creeping  int
	Gain      float64 // of the last step
}

// climb maximises the bound over the rows of t from a point, which it moves to where it ends;
// r.factor is then its F and the statistics are those there. Where it ends because no step raises
// the bound, though there is something to gain, r.promise says how much.
func (r *newton) climb(ctx context.Context, t *table, at *point, s *statistics, job task) (credence.Status, int, error) {
	next, to := newStatistics(r.d, len(at.Free)), &point{}
	if s.beta != nil {
		next.keepSites(len(s.beta))
	}
	rho, failures, quiet, creeping, iteration := 1.0, 0, 0, 0, 0
	if job.saved != nil {
		f := at.family
		*at = *job.saved.At.clone()
		rho, failures, quiet, iteration = job.saved.Rho, job.saved.Failures, job.saved.Quiet, job.saved.Iteration
		creeping = job.saved.Creeping
		r.gain, r.about = job.saved.Gain, job.saved.About
		at.family = f.at(job.saved.At.Free)
	}
	r.promise = 0
	begun := at.Sites != nil
	if begun && !r.place(at) {
		return "", iteration, fmt.Errorf("svi: the precision of the weights is not positive definite: two feature columns may be equal; state a smaller prior variance or drop one")
	}
	if begun {
		if err := r.pass(ctx, t, s, at.Mean, r.factor, at.family); err != nil {
			return "", iteration, err
		}
		at.bound = s.value - r.divergence(at)
		begun = finite(at.bound) // a V from other rows may be too wide for these
	}
	if !begun {
		r.clamp = true
		err := r.pass(ctx, t, s, at.Mean, nil, at.family)
		r.clamp = false
		if err != nil {
			return "", iteration, err
		}
		at.Sites, at.psi, at.bound = clone(s.curvature), nil, math.Inf(-1)
	}
	for ; iteration < job.iterations; iteration++ {
		if job.save != nil && at.psi != nil {
			state := progressState{Iteration: iteration, At: *at, Rho: rho, Failures: failures, Quiet: quiet, Creeping: creeping, Gain: r.gain}
			if t.sums != nil {
				state.About = t.sums.about
			}
			if err := job.save(&state); err != nil {
				return "", iteration, err
			}
		}
		made, ok := r.propose(to, at, s, rho, failures > 1, job.tolerance)
		if ok && failures < 2 && made.negligible(rho*job.tolerance) || quiet >= 5 || creeping >= 2 {
			r.place(at)
			return credence.Converged, iteration, nil
		}
		promise := math.Inf(1)
		if ok {
			promise = made.gain + made.decrement/rho
			if err := r.pass(ctx, t, next, to.Mean, r.factor, to.family); err != nil {
				return "", iteration, err
			}
			to.bound = next.value - r.divergence(to)
			ok = r.better(to, at, next, s)
		}
		if !ok {
			if at.psi == nil {
				// The curvature at the mean alone may be next to nothing, as of a Poisson far below
				// a count of one: V is then so wide that the expected count overflows. A narrower V
				// has a bound.
				kernel.Scale(4, at.Sites)
			}
			rho, failures = rho/2, failures+1
			if rho < shortest {
				r.promise = promise
				break
			}
			continue
		}
		r.gain = to.bound - at.bound
		if r.gain < 1e-12*math.Abs(at.bound) {
			quiet++ // the bound has come to its last digits
		} else {
			quiet = 0
		}
		if r.creeping(next) {
			creeping++
		} else {
			creeping = 0
		}
		*at, *to = *to, *at // the caller's point is always the accepted one
		*s, *next = *next, *s
		rho, failures = math.Min(1, 1.2*rho), 0
		if job.progress != nil {
			job.progress(credence.Progress{Stage: job.stage, Done: iteration + 1, Total: job.iterations, Objective: at.bound})
		}
	}
	if at.psi == nil {
		return "", iteration, fmt.Errorf("svi: no step from the starting values raised the bound: scale the columns, or state a smaller prior variance")
	}
	r.place(at)
	least, worth := 1e-12*math.Abs(at.bound), job.tolerance*job.tolerance
	if r.promise > 0 && r.promise <= math.Max(10*least, worth) || r.promise == 0 && r.gain <= math.Max(job.trifle, math.Max(least, rho*worth/2)) {
		r.promise = 0
		return credence.Converged, iteration, nil // what is left is below the tolerance, or below rounding
	}
	return credence.IterationLimit, iteration, nil
}

// shortest is the length of a step that a climb tries last. Where even that does not raise the
// bound, its value and its slope disagree by rounding.
const shortest = 1e-9

// better says whether a step may be taken. From V = 0 there is no bound to compare
// with. The theory of a normal posterior takes d/2 nats of the rows' expected log
// density for V, and much more can only be a step that went astray.
func (r *newton) better(to, at *point, next, s *statistics) bool {
	if !finite(to.bound) {
		return false
	}
	if at.psi == nil {
		return next.value >= s.value-(10+2*float64(r.d)+math.Abs(s.value))
	}
	return to.bound >= at.bound-1e-11*(math.Abs(next.value)+math.Abs(s.value)+1)
}

// full returns the posterior at the last place.
func (r *newton) full(p *point) *posterior.Full {
	return &posterior.Full{Mean: clone(p.Mean), Factor: clone(r.factor)}
}
