package criticism

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	// fewestValues is the number of values that make a monotone function of the target no chance, of a
	// column that has fewer of them than the target.
	fewestValues = 10
	// exactShare is the share of the target's variance below which what columns leave is rounding.
	exactShare = 1e-10
)

// leak looks for a column that is the target, or a function of it that rises or falls with it to rounding: no two
// rows are in another order. Of two classes it has two values, each of which goes with a class: a number
// that happens to part them is not the target.
func (s *sample) leak() *Finding {
	y := pick(s.target, s.compared)
	n := len(y)
	if n < fewestRows {
		return nil
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(y[a], y[b]) })
	values := 1
	for k, i := range order[1:] {
		if y[i] != y[order[k]] {
			values++
		}
	}
	if values < 2 {
		return nil
	}
	var names []string
	for j := range s.inputs {
		in := &s.inputs[j]
		if in.category {
			if s.kind.classes && oneToOne(in.values, y, values) {
				names = append(names, in.name)
			}
			continue
		}
		if !ordered(in.values, y, order, 1) && !ordered(in.values, y, order, -1) {
			continue
		}
		distinct := map[float64]bool{}
		for _, v := range in.values {
			distinct[v] = true
		}
		if len(distinct) == values || values > 2 && len(distinct) >= min(values, fewestValues) {
			names = append(names, in.name)
		}
	}
	f := &Finding{Check: "target", Tone: Fault}
	switch {
	case len(names) > 0:
		f.Statistic = 1
		f.Text = fmt.Sprintf("%s is the target in other words: of %d rows no two are in another order, so that nothing else is learned", namesOf(names), n)
		f.Remedy = "leave it out, - " + names[0]
		if len(names) > 1 {
			f.Text = fmt.Sprintf("%s are the target in other words: of %d rows no two are in another order, so that nothing else is learned", namesOf(names), n)
			f.Remedy = "leave them out, - " + namesOf(names[:min(3, len(names))])
		}
	case s.kind.gaussian && s.exact():
		f.Statistic = 1
		f.Text = "the columns together are the target to rounding: it is computed from them"
		f.Remedy = "leave out what is not known before the target is"
	default:
		return nil
	}
	return f
}

// ordered says that values rise with y, or fall where the sign is −1: order sorts y.
func ordered(values, y []float64, order []int, sign float64) bool {
	below, within := math.Inf(-1), math.Inf(-1) // largest value of smaller targets, and of this one or smaller
	for k, i := range order {
		if k > 0 && y[i] != y[order[k-1]] {
			below = within
		}
		v := sign * values[i]
		if v < below {
			return false
		}
		within = math.Max(within, v)
	}
	return true
}

// oneToOne says that every level goes with one value of y, and every value of y with one level.
func oneToOne(levels, y []float64, values int) bool {
	of := map[float64]float64{}
	for i, level := range levels {
		if known, ok := of[level]; ok && known != y[i] {
			return false
		}
		of[level] = y[i]
	}
	return len(of) == values
}

// exact says that the model of a Gaussian leaves nothing of the target but rounding, with many more rows than what it
// can bend by.
func (s *sample) exact() bool {
	mean, left, total, leverage := 0.0, 0.0, 0.0, 0.0
	n := float64(len(s.target))
	for _, y := range s.target {
		mean += y / n
	}
	for i, y := range s.target {
		d := y - s.mean[i]
		left += d * d
		total += (y - mean) * (y - mean)
		leverage += s.variance[i] * s.information[i] / n
	}
	return left < exactShare*total && leverage < 0.5
}
