package criticism

import (
	"cmp"
	"math"
	"slices"
)

// view is the rows used whose inputs are kept, and what residuals are compared with there.
type view struct {
	rows    []int // of the sample
	at      []int // their places in inputs
	mean    []float64
	against []*against // columns, those that vary most with the prediction first, then the prediction
}

// against is a column that residuals are compared with.
type against struct {
	name    string    // "" is the prediction
	value   []float64 // standardised
	rank    []float64 // in (−1, 1)
	bounded []float64 // the value, large ones cut off
	square  []float64 // of it
}

// compare makes the view of the rows used.
func (s *sample) compare() {
	used := make([]bool, len(s.target))
	for _, i := range s.used {
		used[i] = true
	}
	v := &s.view
	*v = view{}
	for k, i := range s.compared {
		if used[i] {
			v.rows, v.at = append(v.rows, i), append(v.at, k)
		}
	}
	v.mean = pick(s.mean, v.rows)
	standardise(v.mean)
	type candidate struct {
		*column
		size float64
	}
	sizes := make([]float64, len(s.columns))
	s.ws.Pool().Run(len(s.columns), func(j, _ int) {
		u := pick(s.columns[j].values, v.at)
		if !standardise(u) {
			sizes[j] = -1
			return
		}
		sum := 0.0
		for i, value := range u {
			sum += value * v.mean[i]
		}
		sizes[j] = math.Abs(sum)
	})
	var list []candidate
	for j, c := range s.columns {
		if sizes[j] >= 0 {
			list = append(list, candidate{c, sizes[j]})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.size, a.size) })
	list = list[:min(len(list), mostColumns)]
	v.against = make([]*against, len(list)+1)
	s.ws.Pool().Run(len(v.against), func(j, _ int) {
		if j == len(list) {
			v.against[j] = v.of("", slices.Clone(v.mean))
			return
		}
		u := pick(list[j].values, v.at)
		standardise(u)
		v.against[j] = v.of(list[j].name, u)
	})
}

// largestValue is what standardised values count at most where they are squared or multiplied.
const largestValue = 3

// of ranks standardised values.
func (v *view) of(name string, u []float64) *against {
	a := &against{name: name, value: u, rank: ranks(u), bounded: make([]float64, len(u)), square: make([]float64, len(u))}
	for i, x := range u {
		a.bounded[i] = math.Max(-largestValue, math.Min(largestValue, x))
		a.square[i] = a.bounded[i] * a.bounded[i]
	}
	return a
}

// columns are those of the view but the prediction.
func (v *view) columns() []*against { return v.against[:len(v.against)-1] }

// prediction is f.
func (v *view) prediction() *against { return v.against[len(v.against)-1] }

// ones is a column of them.
func (v *view) ones() []float64 {
	ones := make([]float64, len(v.rows))
	for i := range ones {
		ones[i] = 1
	}
	return ones
}

// scored is what a test says of a column.
type scored struct {
	names    []string
	explains float64
	p        float64 // for all columns that are tested
	upwards  bool
}

// test runs a test of every item, and returns those that speak, what explains most first. Items that are earlier have
// a larger part of the error of the check, by 1/k: faults are the likelier, and the more costly, the more a column does.
func (s *sample) test(items int, run func(k int) scored) []scored {
	results := make([]scored, items)
	parts := 0.0
	for k := range items {
		parts += 1 / float64(k+1)
	}
	s.ws.Pool().Run(items, func(k, _ int) {
		results[k] = run(k)
		results[k].p = math.Min(1, results[k].p*parts*float64(k+1))
	})
	results = slices.DeleteFunc(results, func(r scored) bool { return !(r.p <= s.share && r.explains > s.error()) })
	slices.SortStableFunc(results, func(a, b scored) int { return cmp.Compare(b.explains, a.explains) })
	return results
}

// error bounds the share of the variance of residuals that the error of f itself explains in rows other
// than those of the fit, by twice its expectation: however many rows there are, the error bends them all
// alike. Residuals of rows of the fit have none of it.
func (s *sample) error() float64 {
	if s.options.Fitted {
		return 0
	}
	sum := 0.0
	for _, i := range s.used {
		sum += s.variance[i] * s.information[i]
	}
	return 2 * sum / float64(len(s.used))
}

// pick returns the values of the rows.
func pick(values []float64, rows []int) []float64 {
	out := make([]float64, len(rows))
	for k, i := range rows {
		out[k] = values[i]
	}
	return out
}
