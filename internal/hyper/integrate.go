package hyper

import (
	"context"
	"errors"
	"math"
	"slices"

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
	Why    string    // it stays at the mode
	Mode   *Maximum  // the last one
	Point            // moments, those of the mode where nothing is summed; the log density is the log evidence
	Theta  []float64 // mean
	Law    []float64 // expectations of [Rules.Law]; nil at the mode
	Fourth []float64
	// Marginals are those of [Rules.Marginals], in their order; nil at the mode.
	Marginals []Marginal
	// Gains are, of a sum, the log density at every node of every axis in turn less that of N(θ̂, H⁻¹), relative to the
	// mode.
	Gains   []float64
	Dropped int // nodes that weigh nothing
	// Uncorrected is the log evidence without the corrections of points; but for rounding the same where none are.
	Uncorrected float64
}

// restarts bounds the searches that go on from nodes, and coarseWeights the number of weights with five nodes on an
// axis.
const (
	restarts      = 3
	coarseWeights = 300
)

// Integrate adds up the axes about a mode. Where a node is more likely than the mode, the search goes on from there.
func (r Rules) Integrate(ctx context.Context, m Model, top *Maximum) (*Integrated, error) {
	for again := 0; ; again++ {
		var err error
		if top, err = r.recentre(ctx, m, top); err != nil {
			return nil, err
		}
		out, elsewhere, err := r.integrate(ctx, m, top)
		if elsewhere == nil && err == nil {
			out.Marginals, err = r.marginals(ctx, m, top)
		}
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
		top.At.Correction = centre.Correction
	}
	out = &Integrated{Outcome: Skipped, Mode: top, Point: centre.Point, Theta: centre.Theta}
	law := func([]float64) []float64 { return nil }
	if r.Law != nil {
		law, out.Law = r.Law, axes.expect(r.Law)
	}
	out.Uncorrected = axes.Laplace() + top.peak() - axes.LogDensity
	if out.LogDensity = axes.Laplace() + centre.Correction; len(top.Slopes.Mean) > 0 || p == 0 {
		if skip, _, _ := axes.Skip(centre.Variance, top.Slopes); skip {
			return out, nil, nil
		}
		if p > ThreeNodeLimit {
			r.expand(out)
			return out, nil, nil
		}
	}
	with := func(p Point, theta []float64) Point {
		p.Linear = append(append(p.Linear, theta...), law(theta)...)
		return p
	}
	s, thetas := newSums(top, with(centre.Point, centre.Theta), r.Spread), axes.points()
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
	out.Outcome, out.Point, out.Fourth, out.Gains, out.Uncorrected = Summed, s.Point, s.Fourth, s.gains, s.uncorrected
	own := len(s.Linear) - p - len(out.Law)
	out.Linear, out.Theta = s.Linear[:own], s.Linear[own:own+p]
	for i, least := range law(out.Theta) { // a sum of axes may lie below what Jensen's inequality allows
		out.Law[i] = math.Max(s.Linear[own+p+i], least)
	}
	return out, nil, err
}

// farCorrected is how far corrections have to take the mode, in standard deviations, for the points to go with it.
const farCorrected = 0.1

// recentre returns a maximum to which corrections move the mode, by their slopes and the curvature there: a step of
// Newton's method. Where points are, that is all that it decides: the weights of points say what is more likely.
func (r Rules) recentre(ctx context.Context, m Model, top *Maximum) (*Maximum, error) {
	if len(top.Slopes.Correction) == 0 || top.Axes.Whitened(top.Slopes.Correction) < farCorrected {
		return top, nil
	}
	theta := make([]float64, top.Axes.Count())
	top.Axes.NewtonStep(theta, top.Slopes.Correction)
	kernel.Axpy(1, top.At.Theta, theta)
	at, err := r.one(ctx, m, top.At, theta, ForMode)
	if err != nil {
		return nil, err
	}
	moved, axes := *top, *top.Axes
	axes.Theta = slices.Clone(theta)
	axes.MoveTo(theta, at.LogDensity)
	moved.At, moved.Axes, moved.uncorrected = at, &axes, top.At
	return &moved, nil
}

// peak is the log density of the mode without corrections.
func (m *Maximum) peak() float64 {
	if m.uncorrected != nil {
		return m.uncorrected.LogDensity
	}
	return m.Axes.LogDensity
}

// errHigher ends a sum.
var errHigher = errors.New("hyper: a node is more likely than the mode")

// expand adds what the moments gain by the uncertainty of θ to first order: JΣJᵀ, with J the slopes of the means and Σ
// = H⁻¹, and fourth cumulants of 3 times the variance of a variance.
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

// Point is what is known of the weights given θ.
type Point struct {
	LogDensity float64 // g: log evidence and log priors
	// Correction is what a better approximation of the evidence has more. It weighs points; the search for the mode
	// goes by g alone.
	Correction float64
	// Mean and Variance are those of the weights, or of other linear functions of f. Mean may be
	// longer: further means of which no variances are wanted.
	Mean     []float64
	Variance []float64
	// Linear are numbers whose expectations are wanted, such as the covariance of the weights as an
	// engine keeps it, and the noise variance. Their number is the same at every point.
	Linear []float64
}

// sums add up the points of all axes, in the order of axes and nodes. The memory is that of two sets of linear numbers
// beside the mode's, and ten numbers a weight.
type sums struct {
	Point            // totals over the parts that are complete; of densities the log evidence
	Fourth []float64 // fourth cumulants, of what has variances
	gains  []float64 // of all points so far
	// uncorrected is the log evidence without corrections, and peak the log density of the mode without them.
	uncorrected, peak float64

	axes       *Axes
	parts      [][]spot
	mode       Point
	spread     Spread
	part, node int // the point that comes next
	// Of the open part.
	axisLinear []float64 // Σ W (X − X̂)
	weights    []float64 // W of its points, the mode's last
	plain      float64   // their sum without corrections
	means      []float64 // of its points, one after the other, without the mode's
	variances  []float64
}

// Spread adds scale·δδᵀ to the covariance among the linear numbers, for the difference δ of a mean of the weights from
// that of its axis. It is called for every point of an axis once the axis is complete.
type Spread func(linear []float64, scale float64, difference []float64)

// Upper is a [Spread] for linear numbers that begin with the upper triangle of the d×d covariance of the first d
// moments.
func Upper(d int) Spread {
	return func(linear []float64, scale float64, difference []float64) {
		for i, v := range difference[:d] {
			kernel.Axpy(scale*v, difference[i:d], linear[i*d+i:(i+1)*d])
		}
	}
}

// newSums begins with the mode, whose slices the sums keep and do not change; spread is nil where there is no
// covariance.
func newSums(top *Maximum, mode Point, spread Spread) *sums {
	axes := top.Axes
	return &sums{
		axes: axes, parts: axes.parts(), mode: mode, spread: spread, Fourth: make([]float64, len(mode.Variance)), axisLinear: make([]float64, len(mode.Linear)),
		uncorrected: axes.Laplace(), peak: top.peak(),
		Point: Point{
			LogDensity: axes.Laplace() + mode.Correction,
			Mean:       slices.Clone(mode.Mean), Variance: slices.Clone(mode.Variance), Linear: slices.Clone(mode.Linear),
		},
	}
}

// higher is by how many nats a point may exceed the mode before it is no mode.
const higher = 0.1

// leastGain is that of a point without a density.
const leastGain = -700

// add adds the next of the axes' points, whose slices may be used again afterwards, unless it is higher than a mode
// allows. A point at which the density is no number weighs nothing.
func (s *sums) add(p Point) (ok bool) {
	n := s.parts[s.part][s.node]
	if p.LogDensity-s.peak > higher {
		return false
	}
	gain := p.LogDensity - s.axes.LogDensity + kernel.Dot(n.z, n.z)/2
	if gain > leastGain {
		s.plain += n.weight * math.Exp(gain)
	}
	gain += p.Correction - s.mode.Correction
	if !(gain > leastGain) { // NaN
		gain = leastGain
	}
	s.gains = append(s.gains, gain)
	weight := n.weight * math.Exp(gain)
	if gain == leastGain {
		weight = 0
	}
	s.weights = append(s.weights, weight)
	if weight == 0 {
		p.Mean, p.Variance = s.mode.Mean, s.mode.Variance
	} else {
		for i, x := range p.Linear {
			s.axisLinear[i] += weight * (x - s.mode.Linear[i])
		}
	}
	s.means, s.variances = append(s.means, p.Mean...), append(s.variances, p.Variance...)
	if s.node++; s.node == len(s.parts[s.part]) {
		s.finishPart()
	}
	return true
}

// finishPart adds what an axis alone, or the grid, gains over the mode.
func (s *sums) finishPart() {
	d, total := len(s.Mean), 1.0
	for _, n := range s.parts[s.part] {
		total -= n.weight
	}
	s.weights = append(s.weights, total) // the mode's
	s.uncorrected += math.Log(s.plain + total)
	s.means, s.variances = append(s.means, s.mode.Mean...), append(s.variances, s.mode.Variance...)
	total = 0
	for _, w := range s.weights {
		total += w
	}
	s.LogDensity += math.Log(total)
	kernel.Axpy(1/total, s.axisLinear, s.Linear)
	centre := make([]float64, d) // mean on this axis
	for i, w := range s.weights {
		kernel.Axpy(w/total, s.means[i*d:(i+1)*d], centre)
	}
	count := len(s.Variance)
	for j := range count {
		second, fourth := 0.0, 0.0
		for i, w := range s.weights {
			v, gap := s.variances[i*count+j], s.means[i*d+j]-centre[j]
			square := gap * gap
			second += w / total * (v + square)
			fourth += w / total * (3*v*v + 6*v*square + square*square)
		}
		s.Variance[j] += second - s.mode.Variance[j]
		s.Fourth[j] += fourth - 3*second*second
	}
	for j, c := range centre {
		s.Mean[j] += c - s.mode.Mean[j]
	}
	if s.spread != nil {
		difference := make([]float64, d)
		for i, w := range s.weights {
			if w == 0 {
				continue
			}
			copy(difference, s.means[i*d:(i+1)*d])
			kernel.Axpy(-1, centre, difference)
			s.spread(s.Linear, w/total, difference)
		}
	}
	clear(s.axisLinear)
	s.plain = 0
	s.weights, s.means, s.variances = s.weights[:0], s.means[:0], s.variances[:0]
	s.part, s.node = s.part+1, 0
}

// Degrees of freedom lie in this range: below the lower end a t has no fourth moment, above the
// upper it is normal.
const (
	leastDF       = 4.2
	greatestDF    = 300
	leastKurtosis = 0.03
)

// DF returns the degrees of freedom of a Student-t with a variance and a fourth cumulant.
func DF(variance, fourth float64) float64 {
	kurtosis := fourth / (variance * variance)
	if !(kurtosis > leastKurtosis) {
		kurtosis = leastKurtosis
	}
	return math.Max(leastDF, math.Min(4+6/kurtosis, greatestDF))
}

// MedianDF returns the median of the degrees of freedom of Student-t's with these variances and fourth
// cumulants.
func MedianDF(variance, fourth []float64) float64 {
	var list []float64
	for j, v := range variance {
		if v > 0 {
			list = append(list, DF(v, fourth[j]))
		}
	}
	if len(list) == 0 {
		return greatestDF
	}
	slices.Sort(list)
	return list[len(list)/2]
}
