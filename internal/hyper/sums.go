package hyper

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/kernel"
)

// Point is what is known of the weights given θ.
type Point struct {
	LogDensity float64 // g: log evidence and log priors
	// Mean and Variance are those of the weights, or of other linear functions of f. Mean may be
	// longer: further means of which no variances are wanted.
	Mean     []float64
	Variance []float64
	// Linear are numbers whose expectations are wanted, such as the covariance of the weights as an
	// engine keeps it, and the noise variance. Their number is the same at every point.
	Linear []float64
}

// Sums add up the points of all axes, in the order of axes and nodes, whatever the threads. The
// memory is that of two sets of linear numbers beside the mode's, and ten numbers a weight.
//
// What the sums hold between two points is exported, so that a checkpoint can keep it.
type Sums struct {
	axes *Axes
	mode Point
	// Spread is called for every point of an axis once the axis is complete: it adds scale·δδᵀ to the
	// total covariance, for the difference δ of a mean of the weights from that of its axis.
	spread func(linear []float64, scale float64, difference []float64)

	Axis, Node  int       // the point that comes next
	Linear      []float64 // totals over the axes that are complete
	Mean        []float64
	Variance    []float64
	Fourth      []float64 // fourth cumulants, of what has variances
	LogEvidence float64
	// Of the open axis.
	AxisLinear []float64 // Σ W (X − X̂)
	Weights    []float64 // W of its points, the mode's last
	Means      []float64 // of its points, one after the other, without the mode's
	Variances  []float64
}

// NewSums begins with the mode, whose slices the sums keep and do not change. spread adds scale·δδᵀ
// to the covariance among the linear numbers; it may be nil where there is none.
func NewSums(axes *Axes, mode Point, spread func(linear []float64, scale float64, difference []float64)) *Sums {
	return &Sums{
		axes: axes, mode: mode, spread: spread,
		Linear: slices.Clone(mode.Linear), Mean: slices.Clone(mode.Mean), Variance: slices.Clone(mode.Variance),
		Fourth: make([]float64, len(mode.Variance)), LogEvidence: axes.Laplace(), AxisLinear: make([]float64, len(mode.Linear)),
	}
}

// Done says whether every point has been added.
func (s *Sums) Done() bool { return s.Axis == s.axes.Count() }

// Next stores θ of the point that comes next in dst.
func (s *Sums) Next(dst []float64) { s.axes.Point(dst, s.Axis, s.Node) }

// HigherError says that a point has a higher density than the mode by more than a mode allows: the
// climb to it stalled, and has to go on from Theta.
type HigherError struct {
	Theta []float64
	Nats  float64
}

func (e *HigherError) Error() string {
	return fmt.Sprintf("the evidence is %.3g nats higher elsewhere than where its climb ended", e.Nats)
}

// higher is by how many nats a point may exceed the mode before it is no mode.
const higher = 0.1

// Add adds the point that Next gave. Its slices may be used again afterwards. A point at which the
// density is no number weighs nothing.
func (s *Sums) Add(p Point) error {
	n := s.axes.nodes[s.Node]
	gain := p.LogDensity - s.axes.LogDensity
	if gain > higher {
		theta := make([]float64, len(s.axes.Theta))
		s.Next(theta)
		return &HigherError{theta, gain}
	}
	weight := n.weight * math.Exp(gain+n.z*n.z/2)
	if !(weight >= 0) { // NaN
		weight = 0
	}
	s.Weights = append(s.Weights, weight)
	if weight == 0 {
		p.Mean, p.Variance = s.mode.Mean, s.mode.Variance
	} else {
		for i, x := range p.Linear {
			s.AxisLinear[i] += weight * (x - s.mode.Linear[i])
		}
	}
	s.Means, s.Variances = append(s.Means, p.Mean...), append(s.Variances, p.Variance...)
	if s.Node++; s.Node == len(s.axes.nodes) {
		s.finishAxis()
	}
	return nil
}

// finishAxis adds what the axis alone gains over the mode.
func (s *Sums) finishAxis() {
	d, total := len(s.Mean), 1.0
	for _, n := range s.axes.nodes {
		total -= n.weight
	}
	s.Weights = append(s.Weights, total) // the mode's
	s.Means, s.Variances = append(s.Means, s.mode.Mean...), append(s.Variances, s.mode.Variance...)
	total = 0
	for _, w := range s.Weights {
		total += w
	}
	s.LogEvidence += math.Log(total)
	kernel.Axpy(1/total, s.AxisLinear, s.Linear)
	centre := make([]float64, d) // mean on this axis
	for i, w := range s.Weights {
		kernel.Axpy(w/total, s.Means[i*d:(i+1)*d], centre)
	}
	count := len(s.Variance)
	for j := range count {
		second, fourth := 0.0, 0.0
		for i, w := range s.Weights {
			v, gap := s.Variances[i*count+j], s.Means[i*d+j]-centre[j]
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
		for i, w := range s.Weights {
			if w == 0 {
				continue
			}
			copy(difference, s.Means[i*d:(i+1)*d])
			kernel.Axpy(-1, centre, difference)
			s.spread(s.Linear, w/total, difference)
		}
	}
	clear(s.AxisLinear)
	s.Weights, s.Means, s.Variances = s.Weights[:0], s.Means[:0], s.Variances[:0]
	s.Axis, s.Node = s.Axis+1, 0
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

// DF returns the degrees of freedom of all that has variances, their median.
func (s *Sums) DF() float64 { return MedianDF(s.Variance, s.Fourth) }

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
