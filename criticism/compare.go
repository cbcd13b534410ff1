package criticism

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// view is the rows used whose inputs are kept, and what residuals are compared with there.
type view struct {
	rows    []int // of the sample
	at      []int // their places in inputs
	against []*against
	ones    []float64
	score   []float64 // d log p(y|f)/df
	weights []float64 // its variances
	without *against  // the prediction of each row without it
}

// against is a column that residuals are compared with.
type against struct {
	name    string    // "" is the prediction
	value   []float64 // standardised
	along   float64   // how far it varies with the prediction
	bounded []float64 // the value, large ones cut off
	square  []float64 // of it
	curves  [][]float64
}

// largestValue is what standardised values count at most where they are squared or multiplied.
const largestValue = 3

// compare makes the view of the rows used.
func (s *sample) compare() {
	used := make([]bool, len(s.target))
	for _, i := range s.used {
		used[i] = true
	}
	v := view{}
	for k, i := range s.compared {
		if used[i] {
			v.rows, v.at, v.ones = append(v.rows, i), append(v.at, k), append(v.ones, 1)
		}
	}
	v.score, v.weights = pick(s.score, v.rows), pick(s.information, v.rows)
	f := &against{value: pick(s.mean, v.rows)}
	standardise(f.value)
	v.against = make([]*against, len(s.columns))
	s.ws.Pool().Run(len(v.against), func(j, _ int) {
		a := &against{name: s.columns[j].name, value: pick(s.columns[j].values, v.at)}
		if standardise(a.value) {
			for i, u := range a.value {
				a.along += u * f.value[i]
			}
			v.against[j] = a
		}
	})
	v.against = slices.DeleteFunc(v.against, func(a *against) bool { return a == nil })
	slices.SortStableFunc(v.against, func(a, b *against) int { return cmp.Compare(math.Abs(b.along), math.Abs(a.along)) })
	v.against = append(v.against[:min(len(v.against), mostColumns)], f)
	v.without = &against{value: pick(s.without, v.rows)}
	standardise(v.without.value)
	all := append(slices.Clip(v.against), v.without)
	s.ws.Pool().Run(len(all), func(j, _ int) {
		a := all[j]
		a.bounded, a.square, a.curves = make([]float64, len(a.value)), make([]float64, len(a.value)), curves(Ranks(a.value))
		for i, x := range a.value {
			a.bounded[i] = max(-largestValue, min(largestValue, x))
			a.square[i] = a.bounded[i] * a.bounded[i]
		}
	})
	s.view = v
}

// columns are those that vary most with the prediction, the first most, and prediction is f.
func (v *view) columns() []*against  { return v.against[:len(v.against)-1] }
func (v *view) prediction() *against { return v.against[len(v.against)-1] }

// scored is what a test says of a column.
type scored struct {
	names    []string
	explains float64
	p        float64 // for all columns that are tested
	upwards  bool
}

// test runs a test of every item, and returns those that speak, what explains most first. Items that are earlier have
// a larger part of the error of the check, by 1/k: faults are the likelier, and the more costly, the more a column
// does.
func (s *sample) test(items int, run func(k int) scored) []scored {
	results := make([]scored, items)
	parts := 0.0
	for k := range items {
		parts += 1 / float64(k+1)
	}
	s.ws.Pool().Run(items, func(k, _ int) {
		results[k] = run(k)
		results[k].p = min(1, results[k].p*parts*float64(k+1))
	})
	results = slices.DeleteFunc(results, func(r scored) bool { return !(r.p <= s.share && r.explains > s.error()) })
	slices.SortStableFunc(results, func(a, b scored) int { return cmp.Compare(b.explains, a.explains) })
	return results
}

// follow tests whether the scores follow curves of every item, beyond the nuisance.
func (s *sample) follow(items int, of func(k int) (names []string, curves, nuisance [][]float64)) []scored {
	v := &s.view
	return s.test(items, func(k int) (r scored) {
		names, curves, nuisance := of(k)
		r.names = names
		nuisance = append(nuisance, v.ones, v.prediction().value)
		r.explains, r.p, r.upwards = scoreTest(curves, nuisance, v.weights, v.score, s.kind.classes)
		if s.kind.fixedDispersion { // two tests, of which the second costs more
			if r.explains > toldShare+s.error() && r.p > s.share/2 {
				if weights, score := s.climbed(slices.Concat(nuisance, curves)); score != nil {
					_, p, _ := scoreTest(curves, nuisance, weights, score, false)
					r.p = min(r.p, p)
				}
			}
			r.p = min(1, 2*r.p)
		}
		return r
	})
}

// climbed returns weights and scores of the rows by which one step from f along the vectors ends where their sum with f
// is likeliest, and leaves the scores that rows have there. Where a product or a curve moves f far, the scores at f
// itself are those of the few counts that it moves most, and so is their variance: no test by them would speak. There
// are none where Newton's method does not end.
func (s *sample) climbed(vectors [][]float64) (weights, score []float64) {
	const steps, longest, tolerance = 30, 1.0, 1e-6
	v := &s.view
	m := len(vectors)
	weights, score = slices.Clone(v.weights), slices.Clone(v.score)
	along, row := make([]float64, len(v.rows)), make([]float64, m)
	for range steps {
		products, sums := gram(vectors, weights, score)
		l := factor(products, m)
		to := solve(make([]float64, m), l, sums)
		moved := 0.0
		for k := range v.rows {
			for r, u := range vectors {
				row[r] = u[k]
			}
			fit := 0.0
			for j, x := range solve(row, l, row) {
				fit += x * to[j]
			}
			if math.IsNaN(fit) {
				return nil, nil
			}
			moved = max(moved, math.Abs(fit-along[k]))
			score[k] = fit
		}
		share := min(1, longest/moved)
		for k, i := range v.rows {
			along[k] += share * (score[k] - along[k])
			f := s.mean[i] + along[k]
			_, slope, _ := s.family[i].Derivatives(s.target[i], f)
			weights[k] = informationAt(s.family[i], f)
			score[k] = slope + weights[k]*along[k]
		}
		if moved <= tolerance {
			return weights, score
		}
	}
	return nil, nil
}

// found is a finding of the first of results.
func found(results []scored, text, remedy string) *Finding {
	return &Finding{Statistic: results[0].explains, P: results[0].p, Text: text, Remedy: remedy, explains: &results[0].explains}
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

// columnsOf names the columns of results, or the prediction where there are none.
func columnsOf(results []scored) string {
	var names []string
	for _, r := range results {
		if r.names[0] != "" {
			names = append(names, r.names[0])
		}
	}
	return cmp.Or(namesOf(names), "the prediction")
}

// namesOf names the first three.
func namesOf(names []string) string {
	if len(names) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names, ", ")
}
