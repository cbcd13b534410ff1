package score

import (
	"maps"
	"math"
	"slices"

	"github.com/credence-ml/credence/metric"
)

// LeftOut says that the rows, all of them known by now, were scored by fits that did not know them, and which were left
// out together: standard errors are over groups of the rows of the table, or over rows where groupOf is nil.
func (s *Scores) LeftOut(groupOf func(row int) int) {
	if s.refits, s.group = true, nil; groupOf != nil {
		for _, row := range s.rows {
			s.group = append(s.group, groupOf(row))
		}
	}
}

// NLPD returns the mean of −log p(y|data) and its standard error.
func (s *Scores) NLPD() (mean, standardError metric.Score) {
	mean, standardError = gain(s.written.logDensity, make([]float64, len(s.weight)), s.weight, s.group)
	return -mean, standardError
}

// Gain returns the weighted mean over rows of the differences of log densities from those of a first model, and its
// standard error; without rows of a weight above 0 both are no number.
func Gain(logDensity, first, weights []float64) (mean, standardError metric.Score) {
	return gain(logDensity, first, weights, nil)
}

// gain is Gain, whose standard error is over groups of rows where they are not nil: the sums of G groups count as the
// independent ones, of which one mean is estimated (CR1 of Cameron & Miller 2015). A row of weight w is w rows by
// themselves.
func gain(logDensity, first, weights []float64, groups []int) (mean, standardError metric.Score) {
	sum, total, variance := 0.0, 0.0, 0.0
	for i, weight := range weights {
		if weight > 0 {
			total += weight
			sum += weight * (logDensity[i] - first[i])
		}
	}
	independent, sums := 0, map[int]float64{}
	for i, weight := range weights {
		if !(weight > 0) {
			continue
		}
		gap := logDensity[i] - first[i] - sum/total
		if groups == nil {
			independent++
			variance += weight / total * gap * gap
			continue
		}
		sums[groups[i]] += weight * gap
	}
	if groups != nil {
		independent = len(sums)
	}
	for _, g := range slices.Sorted(maps.Keys(sums)) {
		variance += sums[g] * sums[g] / total * float64(independent) / float64(independent-1)
	}
	mean, standardError = metric.Score(sum/total), metric.Score(math.Sqrt(variance/total))
	if independent == 1 { // it tells nothing of how others differ
		standardError = metric.Score(math.NaN())
	}
	return mean, standardError
}
