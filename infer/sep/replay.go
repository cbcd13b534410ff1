package sep

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

const (
	mostPasses = 200  // of a fit, or over the rows of a short stream
	replayed   = 3e-3 // moved by the last pass of a replay that has converged
	included   = 5e-3 // that inclusions were moved by in the last pass of what has converged
	// mostDistance is how many standard deviations f of a row may lie from 0 for its factors to be made anew. Beside
	// importances of 10¹⁷ the passes may throw f farther each time, and must not throw it beyond all numbers.
	mostDistance = 1e10
)

// own are the factors of the rows of a replay: of every entry, and behind them of the bias in every row.
type own struct{ lambda, shift []float64 }

// replay learns the early rows again by expectation propagation with a factor for every row, which
// is taken out before it is made anew: they start as shares of the sums, as average factors. ρ0, τ0 and the
// prior factors are learned after every pass. It ends after so many passes, when one moves little unless
// all are to be made, or with the error of between, which is called after every pass.
func (l *Learner) replay(passes int, all bool, between func(pass int) error) (done int, converged bool, err error) {
	l.replaying = true
	defer func() { l.replaying = false }()
	rows := &l.early.rows
	entries := len(rows.Index)
	o := own{make([]float64, entries+rows.Rows), make([]float64, entries+rows.Rows)}
	for i := range rows.Rows {
		label, weight := l.early.label[i], l.early.weight[i]
		share := func(at int, sums *factors) {
			if sums.count[label] > 0 {
				part := min(1, weight/sums.count[label])
				o.lambda[at], o.shift[at] = sums.lambda[label]*part, sums.shift[label]*part
			}
		}
		share(entries+i, &l.biasSums)
		columns, _ := rows.Row(i)
		for k, slot := range columns {
			share(rows.Start[i]+k, l.classes(slot))
		}
	}
	before, after := l.marginals(nil), []credence.Marginal(nil)
	for done < passes && (all || !converged) {
		for i := range rows.Rows {
			l.replayRow(i, &o)
		}
		l.moveHyper(l.sampled())
		l.Refresh()
		done++
		after = l.marginals(after[:0])
		converged = still(before, after, replayed)
		before, after = after, before
		if between != nil {
			if err := between(done); err != nil {
				return done, converged, err
			}
		}
	}
	return done, converged, nil
}

// marginals appends the posteriors of the bias and of all features that have been seen.
func (l *Learner) marginals(dst []credence.Marginal) []credence.Marginal {
	dst = append(dst, l.weight(&l.bias))
	l.each(func(f *feature) { dst = append(dst, l.marginal(f)) })
	return dst
}

// replayRow makes the factors of one row anew.
func (l *Learner) replayRow(i int, o *own) {
	e := &l.early
	columns, values := e.rows.Row(i)
	label, weight, first, last := int(e.label[i]), e.weight[i], e.rows.Start[i], len(e.rows.Index)+i
	copies := max(1, weight) // of which the cavity is without one
	cavity := func(f *feature, w *working, at int) {
		lambda, shift := l.natural(f)
		w.removedLambda, w.removedShift = o.lambda[at], o.shift[at]
		w.lambda = lambda - w.removedLambda/copies
		if f == &l.bias {
			w.lambda = max(w.lambda, float64(f.priorLambda))
		}
		w.mean = (shift - w.removedShift/copies) / w.lambda
	}
	put := func(f *feature, sums *factors, w *working, at int, a, b float64) {
		factor := weight * w.lambda / (w.lambda - b)
		o.lambda[at], o.shift[at] = b*factor, (a+w.mean*b)*factor
		f.trade(sums, label, o.lambda[at]-w.removedLambda, o.shift[at]-w.removedShift, 0)
	}
	work := l.working(len(columns))
	var bias working
	cavity(&l.bias, &bias, last)
	s, mean := 1+1/bias.lambda, bias.mean+e.offset[i]
	for k, slot := range columns {
		w := &work[k]
		cavity(l.at(slot), w, first+k)
		if w.lambda > 0 {
			x := linop.At(values, k)
			s += x * x / w.lambda
			mean += x * w.mean
		}
	}
	if !(math.Abs(mean) <= mostDistance*math.Sqrt(s)) {
		l.events.SkippedCavities += int64(len(columns))
		return
	}
	_, a, b := site(mean, s, label)
	put(&l.bias, &l.biasSums, &bias, last, a, b)
	for k, slot := range columns {
		if w := &work[k]; w.lambda > 0 {
			x := linop.At(values, k)
			put(l.at(slot), l.classes(slot), w, first+k, a*x, b*x*x)
		} else {
			l.events.SkippedCavities++
		}
	}
}

// still says whether the root mean square of what the means have moved by, in standard deviations, is below a bound,
// and that of the inclusions is small. Weights count by their inclusion: those out of the model hardly move.
func still(before, after []credence.Marginal, bound float64) bool {
	means, inclusions, total := 0.0, 0.0, 0.0
	for j := range before {
		change, other := after[j].Mean-before[j].Mean, after[j].Inclusion-before[j].Inclusion
		share := max(before[j].Inclusion, after[j].Inclusion)
		means += share * change * change / after[j].Variance
		inclusions += share * other * other
		total += share
	}
	return math.Sqrt(means/total) < bound && math.Sqrt(inclusions/total) < included
}
