package exact

import (
	"context"
	"math"

	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/param"
)

// Columns of a block that are not scaled may differ by orders of magnitude, or vary little about a
// large mean. The variance at which their weights together would explain the target is then that of
// the largest column, at which the others explain nothing, and a climb from there may never find
// what they do. So such a block begins where the evidence is largest among beginSteps variances
// between that one and the one by its finest column.
const beginSteps = 8

// fine returns for every group the prior variance at which its column that varies least would explain
// the target's variance if all were like it, where that is problem.MixedRatio times its reference, and
// elsewhere the reference itself. Blocks with hyper-parameters are left out: their
// features are of one size by construction.
func (e *Engine) fine(f form, references []float64) []float64 {
	squares, weight := f.base().squares, f.base().summary.precise
	means := f.base().means
	out := append([]float64(nil), references...)
	for k, g := range e.groups {
		if g.Intercept || g.Tuned {
			continue
		}
		least := math.Inf(1)
		for j := g.First; j < g.End(); j++ {
			variance := squares[j] / weight
			if means != nil {
				variance -= means[j] * means[j]
			}
			least = math.Min(least, problem.Size(squares[j]/weight, variance))
		}
		if v := referenceVariance(f) / (float64(g.Of) * least); v > problem.MixedRatio*references[k] && !math.IsInf(v, 1) {
			out[k] = v
		}
	}
	return out
}

// begin moves the prior variances of mixed blocks, one after the other, to where the evidence is largest.
func (e *Engine) begin(ctx context.Context, f form, current *point, references, fine []float64) error {
	for k := range e.groups {
		if fine[k] <= references[k] || e.prior.Variance.State != param.Learned {
			continue
		}
		if e.groups[k].Count == 1 { // a column of its own
			current.prior[k] = fine[k]
			continue
		}
		best, bestEvidence := current.prior[k], math.Inf(-1)
		for step := range beginSteps {
			share := float64(step) / (beginSteps - 1)
			current.prior[k] = references[k] * math.Pow(fine[k]/references[k], share)
			evidence, err := f.evaluate(ctx, &current.values, nil)
			if err != nil {
				return err
			}
			if evidence > bestEvidence { // false for NaN
				best, bestEvidence = current.prior[k], evidence
			}
		}
		current.prior[k] = best
	}
	return nil
}
