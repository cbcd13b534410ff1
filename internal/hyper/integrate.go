package hyper

import (
	"context"
	"errors"
	"math"

	"github.com/credence-ml/credence/internal/kernel"
)

// Outcome says what integration came to.
type Outcome int

// The outcomes.
const (
	AtMode   Outcome = iota // there is none
	Skipped                 // next to nothing would change
	Summed                  // over all axes
	Expanded                // many hyper-parameters: to first order
)

// Integrated is a posterior over all θ.
type Integrated struct {
	Outcome
	Why     string    // it stays at the mode
	Mode    *Maximum  // the last one
	Point             // moments, those of the mode where nothing is summed; the log density is the log evidence
	Theta   []float64 // mean
	Fourth  []float64
	Dropped int // nodes that weigh nothing
}

// restarts bounds the searches that go on from nodes, and coarseWeights the number of weights with five nodes on an axis.
const (
	restarts      = 3
	coarseWeights = 300
)

// Integrate adds up the axes about a mode. Where a node is more likely than the mode, the search goes on from there.
func (r Rules) Integrate(ctx context.Context, m Model, top *Maximum) (*Integrated, error) {
	for again := 0; ; again++ {
		out, elsewhere, err := r.integrate(ctx, m, top)
		if elsewhere == nil || err != nil {
			return out, err
		}
		if again == restarts {
			return &Integrated{Mode: top, Why: "the hyper-parameters have more than one mode, and stand at the likeliest that was found, not integrated: state the prior, as in normal(variance=1)"}, nil
		}
		from, err := r.Climb(ctx, top.At, elsewhere)
		if err != nil {
			return nil, err
		}
		if top, err = r.Mode(ctx, m, from); err != nil {
			return nil, err
		}
	}
}

// integrate adds up the axes, unless a node is more likely than the mode, which it then returns.
func (r Rules) integrate(ctx context.Context, m Model, top *Maximum) (out *Integrated, elsewhere []float64, err error) {
	axes, centre, p := top.Axes, top.At, top.Axes.Count()
	if centre.Linear == nil {
		if centre, err = r.one(ctx, m, top.At, top.At.Theta, ForNode); err != nil {
			return nil, nil, err
		}
	}
	out = &Integrated{Outcome: Skipped, Mode: top, Point: centre.Point, Theta: centre.Theta}
	if out.LogDensity = axes.Laplace(); len(top.Slopes.Mean) > 0 || p == 0 {
		if skip, _, _ := axes.Skip(centre.Variance, top.Slopes); skip {
			return out, nil, nil
		}
		if p > ThreeNodeLimit {
			r.expand(out)
			return out, nil, nil
		}
	}
	with := func(p Point, theta []float64) Point { p.Linear = append(p.Linear, theta...); return p }
	s, thetas := newSums(axes, with(centre.Point, centre.Theta), r.Spread), axes.points()
	err = r.evaluate(ctx, m, top.At, thetas, ForNode, func(i int, e *Evaluation) error {
		if ok := s.add(with(e.Point, e.Theta)); !ok && r.Climb != nil {
			elsewhere = e.Theta
			return errHigher
		} else if !ok {
			e.LogDensity = math.NaN()
			s.add(e.Point)
		}
		if math.IsNaN(e.LogDensity) {
			out.Dropped++
		}
		r.tell("integration over hyper-parameters", i+1, len(thetas), s.LogDensity)
		return nil
	})
	if elsewhere != nil {
		return nil, elsewhere, nil
	}
	out.Outcome, out.Point, out.Fourth = Summed, s.Point, s.Fourth
	out.Linear, out.Theta = s.Linear[:len(s.Linear)-p], s.Linear[len(s.Linear)-p:]
	return out, nil, err
}

// errHigher ends a sum.
var errHigher = errors.New("hyper: a node is more likely than the mode")

// expand adds what the moments gain by the uncertainty of θ to first order: JΣJᵀ, with J the slopes of the means and Σ = H⁻¹,
// and fourth cumulants of 3 times the variance of a variance.
func (r Rules) expand(out *Integrated) {
	p, slopes, root := out.Mode.Axes.Count(), out.Mode.Slopes, out.Mode.Axes.Root()
	count := len(slopes.Mean) / p
	out.Outcome, out.Fourth = Expanded, make([]float64, len(out.Variance))
	for k := range p {
		mean, variance := make([]float64, count), make([]float64, count) // slopes along axis k
		for i := range p {
			kernel.Axpy(root.At(i, k), slopes.Mean[i*count:(i+1)*count], mean)
			kernel.Axpy(root.At(i, k), slopes.Variance[i*count:(i+1)*count], variance)
		}
		r.Spread(out.Linear, 1, mean)
		for j, v := range variance {
			out.Variance[j] += mean[j] * mean[j]
			out.Fourth[j] += 3 * v * v
		}
	}
}
