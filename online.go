package credence

import (
	"math"

	"github.com/credence-ml/credence/safetensors"
)

// Online is an engine that learns rows one after another. The sparse columns of its batches are
// slots: numbers from 0 that their owner gives to features as it meets them. Targets are classes, 0
// and 1. An Online is for one goroutine at a time.
type Online interface {
	// Learn scores every row of a batch and then learns it: probability gets the chance of class 1
	// as it was before the row. A row without a target (NaN) or of weight 0 is scored alone. So is a
	// row that would take the state beyond finite numbers, and Learn returns those rows, ascending.
	Learn(b *Batch, probability []float64) (refused []int)
	// EndPass says that the next row begins another pass over the same rows.
	EndPass()
	// Finish brings everything up to date for results. To go on learning from a state is to go on
	// from before Finish.
	Finish()
	// Weight returns the posterior of the weight of a slot, which is the prior for a slot not met
	// yet, and that of the intercept for InterceptSlot.
	Weight(slot int) Marginal
	// Selected returns how many of the first count slots are in the model.
	Selected(count int) int
	// Describe fills in the likelihood, the prior and the hyper-parameters of a fit of one member.
	Describe(f *Fitted)
	// State returns all that is known, as a JSON document and tensors, which read the learner when
	// they are written.
	State() (document []byte, tensors []safetensors.Tensor, err error)
}

// InterceptSlot is the slot of the intercept.
const InterceptSlot = -1

// Marginal is the posterior of one weight.
type Marginal struct {
	Mean, Variance float64 // of w, the chance of 0 included
	Inclusion      float64 // P(w ≠ 0)
}

// ordinary bounds values, weights and offsets of rows that cannot take a learner beyond finite
// numbers: sums of their squares and products stay below 1e308 for more rows than there will be.
const ordinary = 1e6

// Ordinary says whether no entry, weight or offset of row i is above 10⁶ in size. An online engine
// tries other rows before it learns them.
func (b *Batch) Ordinary(i int) bool {
	if b.Weight != nil && !(b.Weight[i] <= ordinary) || b.Offset != nil && !(math.Abs(b.Offset[i]) <= ordinary) {
		return false
	}
	if b.Sparse.Value != nil {
		for _, v := range b.Sparse.Value[b.Sparse.Start[i]:b.Sparse.Start[i+1]] {
			if !(v <= ordinary && v >= -ordinary) {
				return false
			}
		}
	}
	return true
}
