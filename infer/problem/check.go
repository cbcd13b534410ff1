package problem

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
)

// check refuses a block with rows that have no target, one that the family cannot have, or an
// offset or a weight that no fit can use. place(i) is the row of the data that row i is.
func (r *Rows) check(b *credence.Batch, place func(i int) int) error {
	if len(b.Target) != b.Rows() {
		return fmt.Errorf("%s: rows from %d on have no target: fit needs one in every row", r.engine, place(0)+1)
	}
	supported, _ := r.model.Likelihood.(likelihood.Supported)
	for i, y := range b.Target {
		var err error
		switch {
		case b.Trials != nil:
			if s, ok := b.LikelihoodOf(r.model.Likelihood, i).(likelihood.Supported); ok {
				err = s.CheckTarget(y)
			}
		case supported != nil:
			err = supported.CheckTarget(y)
		case math.IsNaN(y) || math.IsInf(y, 0):
			err = fmt.Errorf("target %v is not a number: drop the row or declare it missing", y)
		}
		if err == nil && b.Offset != nil {
			err = r.checkOffset(y, b.Offset[i])
		}
		if err == nil && b.Weight != nil && !(b.Weight[i] >= 0 && !math.IsInf(b.Weight[i], 1)) {
			err = fmt.Errorf("weight %v is not a number from 0 up: correct it, or drop the row", b.Weight[i])
		}
		if err == nil && b.Precision != nil && !(b.Precision[i] > 0 && !math.IsInf(b.Precision[i], 1)) {
			err = fmt.Errorf("precision %v is not a number above 0: correct it, or drop the row", b.Precision[i])
		}
		if err != nil {
			return fmt.Errorf("%s: row %d: %w", r.engine, place(i)+1, err)
		}
	}
	return nil
}

func (r *Rows) checkOffset(y, offset float64) error {
	switch {
	case math.IsNaN(offset) || math.IsInf(offset, 0):
		return fmt.Errorf("offset %v is not a finite number: an exposure of zero has no logarithm; drop the row", offset)
	case math.IsInf(y-offset, 0):
		return fmt.Errorf("target %v less offset %v is beyond all numbers: divide the target by its size", y, offset)
	case math.Abs(offset) > 700 && r.overflows(offset):
		return fmt.Errorf("offset %v multiplies the mean by e to that power, which no number holds: state the logarithm of an exposure, as in offset(log(exposure))", offset)
	}
	return nil
}

// overflows says whether the mean of y is beyond all numbers where f is the offset alone.
func (r *Rows) overflows(offset float64) bool {
	family, ok := r.model.Likelihood.(likelihood.Family)
	return ok && math.IsInf(family.Mean(offset), 0)
}
