package metric

import (
	"fmt"
	"math"
	"strconv"
)

// Levels returns the probabilities at which intervals are evaluated by custom.
func Levels() []float64 { return []float64{0.5, 0.8, 0.9, 0.95} }

func levelKey(level float64) string { return strconv.FormatFloat(level, 'g', -1, 64) }

// Intervals measures predictive intervals at any number of levels; each level
// costs constant memory. The zero value is ready.
type Intervals struct {
	levels []levelSums // in order of first appearance
	median levelSums   // whose score is the distance of the target
	err    error       // a level that is none
}

type levelSums struct {
	level                         float64
	guard                         guard
	weight, covered, width, score sum
}

// IntervalsResult is what Intervals answers. Keys are levels as %g prints them,
// such as "0.9". A level without weight is absent, and so is an infinite width.
type IntervalsResult struct {
	Coverage map[string]float64 `json:"coverage,omitempty"`       // share of targets in [lower, upper]
	Width    map[string]float64 `json:"interval_width,omitempty"` // mean of upper − lower
	// Held is the share in [lower, upper] where Coverage is that of a [PIT], of targets that are discrete.
	Held map[string]float64 `json:"interval_coverage,omitempty"`
	// Score is the mean of the interval score, upper − lower and 2/(1 − level) times the distance of a target outside
	// (Gneiting & Raftery 2007): it is least for the quantiles that are right.
	Score map[string]float64 `json:"interval_score,omitempty"`
	// WIS is the weighted interval score of K levels and the median, (½|y − median| + Σ (1 − level)/2 · score)/(K + ½),
	// which becomes the CRPS where levels are many and evenly spread (Bracher, Ray, Gneiting & Reich 2021); absent
	// without medians.
	WIS *Score `json:"wis,omitempty"`
}

// Add takes the interval of one row at one level, in (0, 1). Bounds may be
// infinite; they belong to the interval.
func (v *Intervals) Add(level, y, lower, upper, weight float64) {
	if !(level > 0 && level < 1) {
		if v.err == nil {
			v.err = fmt.Errorf("metric: level is %g: it must lie between 0 and 1", level)
		}
		return
	}
	v.at(level).add(y, lower, upper, weight)
}

// AddMedian takes the predictive median of one row, for the weighted interval score.
func (v *Intervals) AddMedian(y, median, weight float64) { v.median.add(y, median, median, weight) }

func (s *levelSums) add(y, lower, upper, weight float64) {
	g := &s.guard
	if !g.row(weight) {
		return
	}
	switch {
	case !(lower <= upper): // also NaN
		g.fail("interval [%g, %g] at level %g is not one", lower, upper, s.level)
	case g.finite("target", y) && weight > 0:
		s.weight.add(weight)
		if lower <= y && y <= upper {
			s.covered.add(weight)
		}
		width := 0.0
		if lower < upper { // Inf − Inf of an interval at infinity is not a width
			width = upper - lower
		}
		s.width.add(weight * width)
		s.score.add(weight * (width + 2/(1-s.level)*math.Max(0, math.Max(lower-y, y-upper))))
	}
}

func (v *Intervals) at(level float64) *levelSums {
	for i := range v.levels {
		if v.levels[i].level == level {
			return &v.levels[i]
		}
	}
	v.levels = append(v.levels, levelSums{level: level})
	return &v.levels[len(v.levels)-1]
}

// Result returns the measures of the rows so far, or an error that names the
// first row that makes no sense.
func (v *Intervals) Result() (IntervalsResult, error) {
	if v.err != nil {
		return IntervalsResult{}, v.err
	}
	r := IntervalsResult{Coverage: map[string]float64{}, Width: map[string]float64{}, Score: map[string]float64{}}
	all := v.median.score.value() / v.median.weight.value() / 4 // twice the distance, of which it is half
	for i := range v.levels {
		s := &v.levels[i]
		if s.guard.err != nil {
			return IntervalsResult{}, s.guard.err
		}
		total := s.weight.value()
		if total == 0 {
			continue
		}
		score := s.score.value() / total
		all += (1 - s.level) / 2 * score
		key := levelKey(s.level)
		r.Coverage[key] = s.covered.value() / total
		if width := s.width.value() / total; !math.IsInf(width, 0) {
			r.Width[key] = width
		}
		if Score(score).Defined() {
			r.Score[key] = score
		}
	}
	if wis := Score(all / (float64(len(v.levels)) + 0.5)); wis.Defined() {
		r.WIS = &wis
	}
	return r, v.median.guard.err
}
