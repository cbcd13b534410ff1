package sep

import "github.com/credence-ml/credence/linop"

// miniBatch is the state of Algorithm 1 inside a batch and between prior updates.
type miniBatch struct {
	rows    int      // of the present batch
	batches int      // since the last update of the prior factors
	changes []change // in units of the sums: they age with these
	touched []int32  // features that the batches since the last prior update changed
	bias    factors
}

// change is what the rows of a batch do to one feature.
type change struct {
	slot int32
	factors
}

// In the mini-batch form, feature.due is 1 plus the place in changes plus 1, or
// 1 where the feature is not in the batch; touchedFlag marks the members of touched.

// batchRow is lines 3 and 4 of Algorithm 1 for one row: its likelihood factor,
// from cavities of the q at the start of the batch, is added to the changes.
func (l *Learner) batchRow(columns []int32, values []float64, label int, weight, offset float64) float64 {
	work := l.working(len(columns))
	biasWork, s, mean := l.cavities(work, columns, values, label, weight, offset)
	probability, a, b := site(mean, s, label)

	l.batch.bias.addRow(&biasWork, label, weight, a, b, l.scale)
	for k, slot := range columns {
		w := &work[k]
		if w.lambda <= 0 {
			l.events.SkippedCavities++
			continue
		}
		f := l.at(slot)
		place := int(f.due & dueBits)
		if place == 1 {
			l.batch.changes = append(l.batch.changes, change{slot: slot})
			place = len(l.batch.changes) + 1
			if f.due&touchedFlag == 0 {
				l.batch.touched = append(l.batch.touched, slot)
			}
			f.due = f.due&selectedFlag | uint32(place) | touchedFlag
		}
		x := linop.At(values, k)
		l.batch.changes[place-2].addRow(w, label, weight, a*x, b*x*x, l.scale)
	}
	if l.batch.rows++; l.batch.rows >= l.batchSize() {
		l.endBatch()
	}
	return probability
}

// batchSize is M once ten times as many rows have been learned, and less before:
// all rows of a batch pull the same way from the same q, and the bias and the
// features of nearly every row overshoot if they are most of what is known.
func (l *Learner) batchSize() int {
	return int(min(int64(l.cfg.Batch), l.rows/10+1))
}

// addRow adds the factor of a row to sums that are to be multiplied by scale.
func (c *factors) addRow(w *working, label int, weight, a, b, scale float64) {
	factor := weight * w.lambda / (w.lambda - b) / scale
	c.lambda[label] += b * factor
	c.shift[label] += (a + w.mean*b) * factor
	c.count[label] += weight / scale
}

// endBatch is lines 5 to 7 of Algorithm 1.
func (l *Learner) endBatch() {
	if l.batch.rows == 0 {
		return
	}
	l.apply(&l.bias, &l.biasSums, &l.batch.bias)
	l.batch.bias = factors{}
	for i := range l.batch.changes {
		c := &l.batch.changes[i]
		f := l.at(c.slot)
		l.apply(f, l.classes(c.slot), &c.factors) // line 5
		f.due = f.due&selectedFlag | 1 | touchedFlag
	}
	l.batch.changes = l.batch.changes[:0]
	l.batch.rows = 0
	// Line 6. The first update comes after the first batch, not after T of them, so
	// that the factors of the start are soon left. Features without new rows keep
	// their likelihood part and so their prior factor: they need no update.
	if l.batch.batches++; l.batch.batches >= l.cfg.PriorEvery || l.batchSize() < l.cfg.Batch {
		l.refresh(l.batch.touched)
		for _, slot := range l.batch.touched {
			f := l.at(slot)
			f.due = f.due&selectedFlag | 1
		}
		l.batch.touched = l.batch.touched[:0]
		l.batch.batches = 0
	}
}

// apply is the update of the average factors. As printed it reads
// Λ ← (b/n) Σ_t Λ_t + (1−b/n) Λ, which counts the batch b times over: from
// f_a^n ← Π_t f_t · f_a^(n−b) the first factor is 1/n. In sums L = nΛ:
//
//	L ← Σ_t Λ_t + (1−b/n) L      the counts n known, or in later passes
//	L ← Σ_t Λ_t + L              running counts in the first pass, where n grows by b
func (l *Learner) apply(f *feature, sums, c *factors) {
	for label := range 2 {
		b := c.count[label]
		if b == 0 {
			continue
		}
		if !l.again {
			f.gain(sums, label, c.lambda[label], c.shift[label], b)
			continue
		}
		if sums == nil {
			keep := max(0, 1-b/float64(f.count))
			f.lambda, f.shift = keep*f.lambda, keep*f.shift
		} else {
			keep := max(0, 1-b/sums.count[label])
			sums.lambda[label], sums.shift[label] = keep*sums.lambda[label], keep*sums.shift[label]
		}
		f.gain(sums, label, c.lambda[label], c.shift[label], 0)
	}
}

// cavities stores the cavities of a row's features in work, one for each column, and
// returns that of the bias, with the variance 1 + xᵀVx and the mean of the row's f under them all.
func (l *Learner) cavities(work []working, columns []int32, values []float64, label int, weight, offset float64) (bias working, s, mean float64) {
	l.cavity(&l.bias, &l.biasSums, &bias, label, weight)
	s, mean = 1+1/bias.lambda, bias.mean+offset
	for k, slot := range columns {
		f := l.at(slot)
		if f.due == 0 {
			l.begin(f)
		}
		w := &work[k]
		l.cavity(f, l.classes(slot), w, label, weight)
		x := linop.At(values, k)
		if w.lambda > 0 {
			s += x * x / w.lambda
			mean += x * w.mean
		}
	}
	return bias, s, mean
}
