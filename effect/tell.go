package effect

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/metric"
)

// summarise tells the estimate and the interval of each quantity.
func (r *runner) summarise(result *Result, quantities []*quantity) error {
	wide := 0.0 // standard deviations to either side, of intervals that hold together
	if r.options.Simultaneous {
		var err error
		if wide, err = r.together(quantities); err != nil {
			return err
		}
	}
	var linear []*quantity
	for _, q := range quantities {
		if q.vectors != nil {
			linear = append(linear, q)
		}
	}
	for k, m := range r.mixtures(linear) {
		linear[k].tell(m, r.options, wide)
	}
	for _, q := range quantities {
		if q.vectors == nil {
			q.tellDraws(r.options, wide)
		}
		if result.What == Predictions && !r.options.Link && !r.members[0].curve.identity && len(r.options.Hypotheses) == 0 {
			q.Direction = metric.Score(math.NaN())
		}
		result.Effects = append(result.Effects, q.Effect)
	}
	return nil
}

// mixtures returns the posteriors of quantities that are linear in the weights.
func (r *runner) mixtures(quantities []*quantity) []mixture {
	out := make([]mixture, len(quantities))
	for place, m := range r.members {
		vectors := make([]vector, len(quantities))
		for k, q := range quantities {
			vectors[k] = q.vectors[place]
		}
		for k, parts := range m.parts(r.ws, vectors) {
			out[k] = append(out[k], parts...)
		}
	}
	return out
}

// tell fills in what a mixture says.
func (q *quantity) tell(m mixture, options *Options, wide float64) {
	mean, sd := m.moments()
	tail := (1 - options.Interval) / 2
	low, high := m.quantile(tail), m.quantile(1-tail)
	if wide > 0 {
		low, high = mean-wide*sd, mean+wide*sd
	}
	if q.log {
		mean = m.quantile(0.5)
	}
	below := m.cdf(0)
	direction := max(below, 1-below)
	q.half = [2]float64{m.quantile(.25), m.quantile(.75)}
	if centre, _ := m.moments(); centre == 0 && sd == 0 { // nothing changes
		direction = 0.5
	}
	q.finish(mean, sd, low, high, direction)
}

// finish stores the numbers, of a logarithm their exponentials.
func (q *quantity) finish(estimate, sd, low, high, direction float64) {
	if q.log {
		estimate, low, high = math.Exp(estimate), math.Exp(low), math.Exp(high)
		q.half = [2]float64{math.Exp(q.half[0]), math.Exp(q.half[1])}
		sd *= estimate
	}
	q.Estimate, q.StdError, q.Low, q.High = metric.Score(estimate), metric.Score(sd), metric.Score(low), metric.Score(high)
	if q.Direction, q.Method = metric.Score(direction), string(q.method); estimate != estimate {
		q.Direction = metric.Score(estimate)
	}
	if q.method != draws {
		q.MCSE = metric.Score(math.NaN())
	}
}

// tellDraws fills in what draws say.
func (q *quantity) tellDraws(options *Options, wide float64) {
	n := float64(len(q.values))
	sorted := slices.Clone(q.values)
	slices.Sort(sorted)
	mean, sd := stat.MeanStdDev(sorted, nil)
	tail := (1 - options.Interval) / 2
	low, high := special.Quantile(sorted, tail), special.Quantile(sorted, 1-tail)
	if wide > 0 {
		low, high = mean-wide*sd, mean+wide*sd
	}
	error := sd / math.Sqrt(n)
	if q.log { // of a median of normal draws
		mean, error = special.Quantile(sorted, 0.5), error*math.Sqrt(math.Pi/2)
	}
	q.half = [2]float64{special.Quantile(sorted, .25), special.Quantile(sorted, .75)}
	below, _ := slices.BinarySearch(sorted, 0)
	upTo, _ := slices.BinarySearch(sorted, math.SmallestNonzeroFloat64) // exact zeros have no sign
	direction := max(float64(below), n-float64(upTo)) / n
	if sorted[0] == 0 && sorted[len(sorted)-1] == 0 { // nothing changes
		direction = 0.5
	}
	q.finish(mean, sd, low, high, direction)
	if q.MCSE = metric.Score(error); q.log {
		q.MCSE *= q.Estimate
	}
}

// together returns how many standard deviations hold all quantities with the probability of the intervals: the quantile
// of the largest over draws of all of them.
func (r *runner) together(quantities []*quantity) (float64, error) {
	if err := r.drawn(quantities); err != nil {
		return 0, err
	}
	most := make([]float64, r.total)
	for _, q := range quantities {
		mean, sd := stat.MeanStdDev(q.values, nil)
		for s, v := range q.values {
			if z := math.Abs(v-mean) / sd; sd > 0 && z > most[s] {
				most[s] = z
			}
		}
	}
	slices.Sort(most)
	return special.Quantile(most, r.options.Interval), nil
}

// drawn gives every quantity its values under draws of the weights.
func (r *runner) drawn(quantities []*quantity) error {
	if err := r.draw(); err != nil {
		return err
	}
	for _, q := range quantities {
		switch {
		case len(q.values) == r.total:
			continue
		case q.vectors == nil: // of no rows
			q.values = slices.Repeat(q.values[:1], r.total)
			continue
		}
		q.values = make([]float64, 0, r.total)
		for place, m := range r.members {
			v := q.vectors[place]
			mean, _ := m.moments()
			centre := kernel.Dot(mean, v.gradient)
			values := slices.Repeat([]float64{v.value - centre}, m.count)
			for j, g := range v.gradient {
				kernel.Axpy(g, m.draws[j*m.count:(j+1)*m.count], values)
			}
			q.values = append(q.values, values...)
		}
	}
	return nil
}

// part is a normal distribution, or a Student-t of so many degrees of freedom, and its share of a mixture.
type part struct{ mean, sd, df, share float64 }

// scale is the factor of a standard normal or Student-t variable.
func (p *part) scale() float64 {
	if p.df > 0 {
		return p.sd * math.Sqrt(1-2/p.df)
	}
	return p.sd
}

func (p *part) cdf(x float64) float64 {
	switch z := (x - p.mean) / p.scale(); {
	case !(p.sd > 0) && x >= p.mean:
		return 1
	case !(p.sd > 0):
		return 0
	case p.df > 0:
		return special.StudentCDF(z, p.df)
	default:
		return special.NormalCDF(z)
	}
}

func (p *part) quantile(level float64) float64 {
	if p.df > 0 {
		return p.mean + p.scale()*special.StudentQuantile(level, p.df)
	}
	return p.mean + p.sd*special.NormalQuantile(level)
}

// mixture is the posterior of a quantity.
type mixture []part

func (m mixture) moments() (mean, sd float64) {
	for i := range m {
		mean += m[i].share * m[i].mean
	}
	variance := 0.0
	for i := range m {
		gap := m[i].mean - mean
		variance += m[i].share * (m[i].sd*m[i].sd + gap*gap)
	}
	return mean, math.Sqrt(variance)
}

func (m mixture) cdf(x float64) (sum float64) {
	for i := range m {
		sum += m[i].share * m[i].cdf(x)
	}
	return sum
}

func (m mixture) quantile(level float64) float64 {
	if len(m) == 1 {
		return m[0].quantile(level)
	}
	mean, sd := m.moments()
	if !(sd > 0) {
		return mean
	}
	return quad.Quantile(m.cdf, level, mean, sd, math.Inf(-1), math.Inf(1))
}
