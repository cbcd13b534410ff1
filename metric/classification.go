package metric

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// LogLossClip is the distance from 0 and 1 to which probabilities are moved for
// the log loss, so that one certain mistake costs 36 nats instead of infinity.
// It is the spacing of float64 numbers at 1: a probability nearer to 1 cannot be
// told from it. The nlpd of Regression is not clipped.
const LogLossClip = 0x1p-52

// LogLoss returns −log of the probability of class y, 1 or 0, where that of class 1 is given; it is moved by
// LogLossClip from 0 and 1.
func LogLoss(y, probability float64) float64 {
	p := min(max(probability, LogLossClip), 1-LogLossClip)
	if y == 1 {
		return -math.Log(p)
	}
	return -math.Log1p(-p) // log(1−p) loses small p
}

// bernoulli holds the measures of two-class predictions that are plain sums.
type bernoulli struct {
	guard                           guard
	weight, correct, logLoss, brier sum
	clipped                         int64
}

// add takes a row with its log loss, and reports whether it counts towards the ranking.
func (b *bernoulli) add(y, probability, weight, loss float64) bool {
	g := &b.guard
	switch {
	case !g.row(weight):
		return false
	case y != 0 && y != 1:
		g.fail("target is %g: classes are 0 and 1", y)
		return false
	case !(probability >= 0 && probability <= 1):
		g.fail("probability is %g: it must lie between 0 and 1", probability)
		return false
	case weight == 0:
		return false
	}
	b.weight.add(weight)
	if (probability > 0.5) == (y == 1) {
		b.correct.add(weight)
	}
	b.brier.add(weight * (probability - y) * (probability - y))
	b.logLoss.add(weight * loss)
	if y == 1 && probability < LogLossClip || y == 0 && probability > 1-LogLossClip {
		b.clipped++
	}
	return true
}

func (b *bernoulli) result(groups iter.Seq[group]) (ClassificationResult, error) {
	if b.guard.err != nil {
		return ClassificationResult{}, b.guard.err
	}
	total := b.weight.value()
	auc, aucError, ece := rank(groups)
	return ClassificationResult{
		Rows:        b.guard.rows,
		Accuracy:    Score(b.correct.value() / total),
		LogLoss:     Score(b.logLoss.value() / total),
		AUC:         Score(auc),
		AUCError:    Score(aucError),
		Brier:       Score(b.brier.value() / total),
		ECE:         Score(ece),
		ClippedRows: b.clipped,
	}, nil
}

// ClassificationResult is what Classification and Progressive answer. With y
// the class, 0 or 1, and p the predicted probability of 1, all means weighted:
//
//	Accuracy  share of rows with (p > ½) = (y = 1)
//	LogLoss   mean of −log p or −log(1−p), natural, p clipped by LogLossClip
//	AUC       chance that a row of class 1 has a larger p than one of class 0, ties half
//	Brier     mean (p−y)²
//	ECE       mean |p − y|, averaged first within ECEBins bins of equal weight
type ClassificationResult struct {
	Rows        int64 `json:"rows"`
	Accuracy    Score `json:"accuracy,omitzero"`     // share of rows whose likelier class is theirs
	LogLoss     Score `json:"log_loss,omitzero"`     // mean of −log of the probability of the class
	AUC         Score `json:"auc,omitzero"`          // area under the ROC curve
	AUCError    Score `json:"auc_error,omitzero"`    // of Progressive: the exact AUC is within AUC ± AUCError
	Brier       Score `json:"brier,omitzero"`        // mean squared error of the probability
	ECE         Score `json:"ece,omitzero"`          // calibration error, over 20 bins of equal count
	ClippedRows int64 `json:"clipped_rows,omitzero"` // rows whose loss the clipping made smaller
	// Share is the weight of the rows of class 1 over that of all, of Classification alone.
	Share float64 `json:"-"`
}

// Classification measures predicted probabilities of two classes, exactly. It
// keeps 8 bytes a row, 16 from the first weight other than 1 on. The zero value
// is ready.
type Classification struct {
	sums     bernoulli
	byClass  [2]ranked
	weighted bool
}

// ranked holds the probabilities of the rows of a class. weights is empty while
// all weights are 1.
type ranked struct{ probabilities, weights []float64 }

// Add takes a row: the class, 0 or 1, the predicted probability of class 1, the
// weight.
func (c *Classification) Add(y, probability, weight float64) {
	if !c.sums.add(y, probability, weight, LogLoss(y, probability)) {
		return
	}
	if weight != 1 && !c.weighted { // the rows so far have a weight of 1
		c.weighted = true
		for i := range c.byClass {
			class := &c.byClass[i]
			class.weights = slices.Repeat([]float64{1}, len(class.probabilities))
		}
	}
	class := &c.byClass[int(y)]
	class.probabilities = append(class.probabilities, probability)
	if c.weighted {
		class.weights = append(class.weights, weight)
	}
}

// Result returns the measures of the rows so far, or an error that names the
// first row that makes no sense. It sorts: O(n log n) for n rows.
func (c *Classification) Result() (ClassificationResult, error) {
	for i := range c.byClass {
		c.byClass[i].sort()
	}
	result, err := c.sums.result(groupsOf(&c.byClass[1], &c.byClass[0]))
	if err != nil {
		return ClassificationResult{}, err
	}
	result.AUCError = Score(math.NaN()) // ties are ties: there is no error
	var weights [2]float64
	for y := range c.byClass {
		if weights[y] = float64(len(c.byClass[y].probabilities)); c.weighted {
			weights[y] = 0
			for _, w := range c.byClass[y].weights {
				weights[y] += w
			}
		}
	}
	result.Share = weights[1] / (weights[0] + weights[1])
	return result, nil
}

// sort orders the rows by probability. Equal ones are ordered by weight, so that
// sums over them do not depend on the order in which rows came.
func (r *ranked) sort() {
	if len(r.weights) == 0 {
		slices.Sort(r.probabilities)
		return
	}
	type row struct{ probability, weight float64 }
	rows := make([]row, len(r.probabilities))
	for i := range rows {
		rows[i] = row{r.probabilities[i], r.weights[i]}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.probability, b.probability), cmp.Compare(a.weight, b.weight))
	})
	for i, row := range rows {
		r.probabilities[i], r.weights[i] = row.probability, row.weight
	}
}

// groupsOf yields the rows of two sorted lists in groups of equal probability.
func groupsOf(positive, negative *ranked) iter.Seq[group] {
	return func(yield func(group) bool) {
		i, j := 0, 0
		for i < len(positive.probabilities) || j < len(negative.probabilities) {
			p := math.Inf(1)
			if i < len(positive.probabilities) {
				p = positive.probabilities[i]
			}
			if j < len(negative.probabilities) {
				p = min(p, negative.probabilities[j])
			}
			var g group
			i, g.positive = positive.weightAt(p, i)
			j, g.negative = negative.weightAt(p, j)
			g.probability = p * (g.positive + g.negative)
			if !yield(g) {
				return
			}
		}
	}
}

// weightAt returns the weight of the rows with probability p, which start at i,
// and the index of the row after them.
func (r *ranked) weightAt(p float64, i int) (next int, weight float64) {
	for ; i < len(r.probabilities) && r.probabilities[i] == p; i++ {
		if len(r.weights) == 0 {
			weight++
		} else {
			weight += r.weights[i]
		}
	}
	return i, weight
}

// ECEBins is the number of bins of the calibration error.
const ECEBins = 20

// A group is a set of rows that are not ranked among each other: those of equal
// probability, or of one histogram cell.
type group struct {
	positive, negative float64 // total weight of each class
	probability        float64 // Σ weight × probability
}

// rank returns the measures that need the rows in order of probability, given
// as groups in that order.
//
// auc is the Mann–Whitney statistic with mid-ranks: the weighted share of pairs
// of a positive and a negative row in which the positive one has the larger
// probability, rows of one group counting half. aucError is how far it can be
// from the value that a ranking inside the groups would give. Both are NaN if a
// class is missing.
//
// ece is the expected calibration error, Σ_b (W_b/W)·|mean probability − share
// of positives| over ECEBins bins of equal weight (quantile bins: those of equal
// width leave all rows of a rare class in one). A group falls as a whole into
// the bin of its mid-rank, so that ties do not depend on the order of rows.
func rank(groups iter.Seq[group]) (auc, aucError, ece float64) {
	var positives, negatives sum
	for g := range groups {
		positives.add(g.positive)
		negatives.add(g.negative)
	}
	total := positives.value() + negatives.value()
	if !(total > 0) || math.IsInf(total, 1) { // no rows, or weights that overflow
		return math.NaN(), math.NaN(), math.NaN()
	}

	var ordered, tied sum // weight of pairs
	var negativeBelow, below sum
	var gap [ECEBins]sum // Σ weight × (probability − class)
	for g := range groups {
		ordered.add(g.positive * negativeBelow.value())
		tied.add(g.positive * g.negative)
		negativeBelow.add(g.negative)

		weight := g.positive + g.negative
		middle := below.value() + weight/2
		bin := binOf(middle, total, ECEBins)
		gap[bin].add(g.probability)
		gap[bin].add(-g.positive)
		below.add(weight)
	}
	var calibration sum
	for i := range gap {
		calibration.add(math.Abs(gap[i].value()))
	}
	pairs := positives.value() * negatives.value() // 0 makes both NaN
	return (ordered.value() + tied.value()/2) / pairs, tied.value() / 2 / pairs, calibration.value() / total
}

// binOf returns the bin of equal weight in which the middle of a group lies.
func binOf(middle, total float64, bins int) int {
	return int(min(float64(bins)*middle/total, float64(bins-1))) // the product may overflow
}
