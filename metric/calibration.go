package metric

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// ReliabilityBins is the number of bins of a [Reliability].
const ReliabilityBins = 20

// Calibration measures how targets follow the predicted means of numbers: by a straight line, and where Table is set by
// a reliability table, for which it keeps 24 bytes a row. Two classes have theirs in [Classification.Calibration].
type Calibration struct {
	Table bool

	guard          guard
	means, targets moments
	product        float64 // Σ w (mean − its average)(y − its average)
	none           bool    // a mean that is no number
	rows           []cell
}

// cell is what rows of one prediction have: their weight and Σ weight × target.
type cell struct{ predicted, weight, observed float64 }

// CalibrationResult is what [Calibration.Result] and [Classification.Calibration] answer: the line through targets over
// predicted means by weighted least squares, and for two classes the logistic regression on the logit of the
// probability. Right predictions have the slope 1 and the intercept 0; a slope below 1 says that they go too far, as
// those of a model that fits too closely do (Cox 1958).
type CalibrationResult struct {
	// of the target over the predicted mean, of classes on the logit: 1 where right
	Slope       Score        `json:"calibration_slope,omitzero"`
	Intercept   Score        `json:"calibration_intercept,omitzero"` // of that line: 0 where right
	Reliability *Reliability `json:"reliability,omitempty"`          // where it is asked for
}

// Reliability sets the mean of targets beside predicted means. Rows of one prediction are in one bin.
type Reliability struct {
	// Bins are up to ReliabilityBins of equal weight.
	Bins []ReliabilityBin `json:"bins"`
	// Isotonic are the steps of the ascending function of the prediction that is nearest to the targets by least
	// squares (pool adjacent violators; for classes the CORP diagram of Dimitriadis, Gneiting & Jordan 2021).
	Isotonic []ReliabilityBin `json:"isotonic"`
}

// ReliabilityBin is one bin: the predictions that it holds, and the weighted means.
type ReliabilityBin struct {
	From      float64 `json:"from"`      // least predicted mean
	To        float64 `json:"to"`        // largest predicted mean
	Predicted float64 `json:"predicted"` // mean of the predicted means
	Observed  float64 `json:"observed"`  // mean of the targets
	Weight    float64 `json:"weight"`    // of the rows
}

// Add takes the target, the predicted mean and the weight of a row. A mean that is NaN says that the distribution has
// none; there is no line and no table then, nor a table where sums of targets are beyond any number.
func (c *Calibration) Add(y, mean, weight float64) {
	g := &c.guard
	if !g.row(weight) || !g.finite("target", y) || !math.IsNaN(mean) && !g.finite("mean", mean) || weight == 0 {
		return
	}
	if c.none = c.none || math.IsNaN(mean); c.none {
		return
	}
	before := c.means
	c.means.add(mean, weight)
	if before.weight > 0 {
		c.product += weight * (before.weight / c.means.weight) * (mean - before.mean) * (y - c.targets.mean)
	}
	c.targets.add(y, weight)
	if c.Table {
		c.rows = append(c.rows, cell{mean, weight, weight * y})
	}
}

// Result returns the line and the table of the rows so far, or an error that names the first row that makes no sense.
func (c *Calibration) Result() (CalibrationResult, error) {
	none := Score(math.NaN())
	if c.guard.err != nil || c.none || !(c.means.squares > 0) {
		return CalibrationResult{Slope: none, Intercept: none, Reliability: c.table()}, c.guard.err
	}
	slope := c.product / c.means.squares
	return CalibrationResult{Score(slope), Score(c.targets.mean - slope*c.means.mean), c.table()}, nil
}

func (c *Calibration) table() *Reliability {
	if !c.Table || c.none || len(c.rows) == 0 {
		return nil
	}
	slices.SortFunc(c.rows, func(a, b cell) int { // sums do not depend on the order in which rows came
		return cmp.Or(cmp.Compare(a.predicted, b.predicted), cmp.Compare(a.observed, b.observed), cmp.Compare(a.weight, b.weight))
	})
	found := reliability(slices.Values(c.rows))
	for _, b := range slices.Concat(found.Bins, found.Isotonic) {
		if math.IsInf(b.Predicted, 0) || math.IsNaN(b.Predicted) || math.IsInf(b.Observed, 0) || math.IsNaN(b.Observed) {
			return nil
		}
	}
	return found
}

// bin is a [ReliabilityBin] in sums.
type bin struct{ from, to, weight, predicted, observed float64 }

func (b *bin) add(o bin) {
	if b.weight == 0 {
		b.from = o.from
	}
	b.to = o.to
	b.weight += o.weight
	b.predicted += o.predicted
	b.observed += o.observed
}

func (b *bin) mean() float64 { return b.observed / b.weight }

func means(bins []bin) []ReliabilityBin {
	list := make([]ReliabilityBin, 0, len(bins))
	for _, b := range bins {
		if b.weight > 0 {
			list = append(list, ReliabilityBin{b.from, b.to, b.predicted / b.weight, b.mean(), b.weight})
		}
	}
	return list
}

// reliability makes the table of cells in ascending order of the prediction.
func reliability(cells iter.Seq[cell]) *Reliability {
	var ties []bin
	total := 0.0
	for c := range cells {
		b := bin{c.predicted, c.predicted, c.weight, c.weight * c.predicted, c.observed}
		if n := len(ties); n > 0 && ties[n-1].to == c.predicted {
			ties[n-1].add(b)
		} else {
			ties = append(ties, b)
		}
		total += c.weight
	}
	var bins [ReliabilityBins]bin
	var steps []bin
	below := 0.0
	for _, b := range ties {
		bins[binOf(below+b.weight/2, total, ReliabilityBins)].add(b)
		below += b.weight
		steps = append(steps, b)
		for n := len(steps); n > 1 && steps[n-2].mean() >= steps[n-1].mean(); n-- { // violators are pooled
			steps[n-2].add(steps[n-1])
			steps = steps[:n-1]
		}
	}
	return &Reliability{means(bins[:]), means(steps)}
}

// Calibration returns the line of the logistic regression of the class on the logit of its probability, and with table
// the reliability table, of the rows so far. There is no line where the probabilities tell the classes apart without
// a mistake, or tell nothing.
func (c *Classification) Calibration(table bool) (CalibrationResult, error) {
	if c.sums.guard.err != nil {
		return CalibrationResult{}, c.sums.guard.err
	}
	for i := range c.byClass {
		c.byClass[i].sort()
	}
	groups := groupsOf(&c.byClass[1], &c.byClass[0])
	var out CalibrationResult
	out.Slope, out.Intercept = logisticLine(groups)
	if table && c.sums.weight.value() > 0 {
		out.Reliability = reliability(func(yield func(cell) bool) {
			for g := range groups {
				weight := g.positive + g.negative
				if !yield(cell{g.probability / weight, weight, g.positive}) {
					return
				}
			}
		})
	}
	return out, nil
}

// logisticLine fits P(y = 1) = σ(a + b logit p) to groups by Newton's iteration, whose steps are halved until the
// likelihood rises.
func logisticLine(groups iter.Seq[group]) (slope, intercept Score) {
	slope, intercept = Score(math.NaN()), Score(math.NaN())
	// Where one class lies beyond the other the likelihood has no maximum.
	first, last := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for g := range groups {
		p := g.probability / (g.positive + g.negative)
		for k, weight := range [2]float64{g.negative, g.positive} {
			if weight > 0 {
				first[k], last[k] = min(first[k], p), max(last[k], p)
			}
		}
	}
	if !(first[0] < last[1] && first[1] < last[0]) {
		return slope, intercept
	}
	at := func(a, b float64) (value, gradA, gradB, aa, ab, bb float64) {
		for g := range groups {
			weight := g.positive + g.negative
			p := min(max(g.probability/weight, LogLossClip), 1-LogLossClip)
			x := math.Log(p) - math.Log1p(-p)
			f := a + b*x
			e := math.Exp(-math.Abs(f))
			softplus, q := math.Max(f, 0)+math.Log1p(e), 1/(1+e)
			if f < 0 {
				q = e / (1 + e)
			}
			value += g.positive*f - weight*softplus
			left, bend := g.positive-weight*q, weight*e/((1+e)*(1+e))
			gradA, gradB = gradA+left, gradB+left*x
			aa, ab, bb = aa+bend, ab+bend*x, bb+bend*x*x
		}
		return value, gradA, gradB, aa, ab, bb
	}
	a, b := 0.0, 1.0
	value, gradA, gradB, aa, ab, bb := at(a, b)
	for range 100 {
		determinant := aa*bb - ab*ab
		stepA, stepB := (bb*gradA-ab*gradB)/determinant, (aa*gradB-ab*gradA)/determinant
		if !(math.Abs(stepA)+math.Abs(stepB) < math.Inf(1)) {
			return slope, intercept
		}
		for math.Abs(stepA)+math.Abs(stepB) > 1e-10*(1+math.Abs(a)+math.Abs(b)) {
			if next, _, _, _, _, _ := at(a+stepA, b+stepB); next >= value {
				break
			}
			stepA, stepB = stepA/2, stepB/2
		}
		a, b = a+stepA, b+stepB
		if math.Abs(stepA)+math.Abs(stepB) <= 1e-10*(1+math.Abs(a)+math.Abs(b)) {
			return Score(b), Score(a)
		}
		value, gradA, gradB, aa, ab, bb = at(a, b)
	}
	return slope, intercept
}
