package score

import (
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/posterior"
)

// meanDraws is the number of draws that an interval of the mean is read from where cutpoints are drawn.
const meanDraws = 4000

// MeanIntervals returns the ends of the central interval of E[y|f] of every row, where that of [Rows.Predict] is of y:
// NaN where a row lacks a value, or E y does not exist. It is that of the predictive mixture; of a posterior in draws
// that of all its draws, and of uncertain cutpoints that of 4,000 draws of them and the weights, whose ends have a
// Monte Carlo error of .03 standard deviations.
func (r *Rows) MeanIntervals() (lower, upper []float64, err error) {
	s, n := r.scorer, r.Len()
	tail := (1 - s.options.Interval) / 2
	lower, upper = make([]float64, n), make([]float64, n)
	count := 0
	if q, ok := s.fitted.Members[0].Posterior.(*posterior.Draws); ok && q.Mean == nil && len(s.fitted.Members) == 1 {
		count = q.Count
	} else if s.grades != nil && s.fitted.Family != nil {
		count = meanDraws
	}
	var means []float64
	if count > 0 {
		if r.drawn == nil {
			if r.drawn, err = s.Draw(count, 0); err != nil {
				return nil, nil, err
			}
		}
		means = r.drawn.Latent(r)
	}
	r.Each(func(i int) {
		ends := [2]float64{math.NaN(), math.NaN()}
		mean, _ := r.Moments(i)
		switch {
		case r.Lacks(i) || mean != mean:
		case count > 0:
			of := means[i*r.drawn.Count : (i+1)*r.drawn.Count]
			r.drawn.expect(r, i, of, of)
			slices.Sort(of)
			for k, p := range [2]float64{tail, 1 - tail} {
				ends[k] = special.Quantile(of, p)
			}
		default:
			r.dist.MeanQuantiles(ends[:], i, []float64{tail, 1 - tail}, s.back == nil, s.Expected)
		}
		lower[i], upper[i] = ends[0], ends[1]
	})
	return lower, upper, nil
}

// Expected returns E[y|f] under a likelihood of the model's family, in the target's own values: increasing in f.
func (s *Scorer) Expected(l credence.Likelihood, f float64) float64 {
	if s.back != nil {
		mean, _ := s.back.moments(l.Mean(f), l.Variance(f))
		return mean
	}
	if s.grades == nil {
		return l.Mean(f)
	}
	sum := s.grades[0]
	for k, cut := range cutpointsOf(l) {
		sum += (s.grades[k+1] - s.grades[k]) * special.Sigmoid(f-cut)
	}
	return sum
}
