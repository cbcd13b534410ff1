package credence

import "math"

// UnseenFeatures is the ability of features to have sparse columns that training did not have.
type UnseenFeatures interface {
	// AddUnseen adds, for each row and each block that would have a weight for them, the sum of squares
	// of their entries times the prior variance of such a weight: of [Batch].Unseen, and of what the
	// features find themselves.
	AddUnseen(variance []float64, rows *Batch, prior UnseenPrior)
}

// UnseenPrior is the ability of a prior to be that of weights which training did not have.
type UnseenPrior interface {
	// UnseenVariance is the prior variance, after the fit, of a further weight of the block.
	UnseenVariance(block Block) float64
}

// addUnseen adds what sparse columns that training did not have contribute to the
// variance of f: their weights are independent draws of the prior, with mean 0.
func addUnseen(variance []float64, rows *Batch, model Model) {
	features, ok := model.Features.(UnseenFeatures)
	prior, known := model.Prior.(UnseenPrior)
	if ok && known {
		features.AddUnseen(variance, rows, prior)
	}
}

// AddUnseenSquares adds squares, one for each row or nil, times the variance of a further weight of a
// block. Sums beyond all numbers are the largest number, so that quantiles stay numbers.
func AddUnseenSquares(variance, squares []float64, prior UnseenPrior, block Block) {
	if squares == nil {
		return
	}
	v := prior.UnseenVariance(block)
	for i, square := range squares {
		if square > 0 {
			variance[i] = math.Min(variance[i]+v*square, math.MaxFloat64)
		}
	}
}
