package credence

import "math/rand/v2"

// Purpose names what random numbers are drawn for. The name is part of the key of a random
// stream, so a changed name changes every user's model under the same seed.
type Purpose string

// The purposes of this module, each with what its blocks count.
const (
	DrawFrequencies Purpose = "frequencies" // random features; the place of the term in the formula
	DrawCentres     Purpose = "centres"     // radial and sigmoid features; the place of the term
	PeriodStarts    Purpose = "periods"     // where periods of spectral are searched for; the place of the term
	RedrawFeatures  Purpose = "exact.draw"  // random features of another start; the start
	// ExactLengthscales is for lengthscales of further members; the start.
	ExactLengthscales Purpose = "exact.lengthscales"
	// ExactProbes is for signs that estimate log determinants and variances of levels of crossed keys; the set.
	ExactProbes    Purpose = "exact.probes"
	ExactStarts    Purpose = "exact.starts"    // where the starts of exact lie
	SVIStarts      Purpose = "svi start"       // the start
	SVIDraws       Purpose = "svi draws"       // start << 40 | step
	SVIOrder       Purpose = "svi order"       // the order of rows; the epoch
	SVIEntropy     Purpose = "svi entropy"     // of the mixture's entropy
	SVICurvature   Purpose = "svi curvature"   // the first steps of stochastic fits
	SVIDiagnostics Purpose = "svi diagnostics" // importance weights
	SEPOrder       Purpose = "sep"             // the order of rows; the pass
	SEPCoverage    Purpose = "sep coverage"    // draws of weights that intervals are held against
	GibbsChains    Purpose = "gibbs"           // flips and learned values; the chain
	GibbsDraws     Purpose = "gibbs draws"     // of the weights; the chain
	EPDraws        Purpose = "ep draws"        // which candidates are in; the cluster
	ConvexDraws    Purpose = "convex"          // perturbations; the draw, or behind a place below
	// rows in turn, for cross-validation; 0 of the penalised engines, 1 of refits, 2 of variances
	FoldRows         Purpose = "folds"
	LaplaceVariances Purpose = "laplace"       // columns and signs of estimates of variances; the set
	ActiveRandom     Purpose = "active random" // scores by chance; the row
	ActiveSplit      Purpose = "active split"  // rows of the pool; the repeat
	ActiveAudit      Purpose = "active audit"  // rows labelled whatever their scores
	// ActiveValidation is for rows that stand for those to be predicted.
	ActiveValidation Purpose = "active validation"
	BootstrapRows    Purpose = "bootstrap" // rows drawn with replacement; the resample
	ExplainedDraws   Purpose = "explained" // f of all rows; 0. Noise; 1
	NullCheck        Purpose = "null"      // permuted targets; the permutation
	PredictSamples   Purpose = "predict"   // draws of y; the row
	// places of discrete targets in their probability; the row, and behind 1<<40 that of an evaluation
	CalibrationDraws Purpose = "calibrate"
	EvaluationDraws  Purpose = "evaluate"  // places of discrete targets, one row after the other; 0
	CriticismDraws   Purpose = "criticism" // replicated targets; the row
	LeftOutDraws     Purpose = "left out"  // parameters of a family and f, for rows that are left out; the axis
	EffectDraws      Purpose = "effects"   // weights; twice the member, and behind it draws
	// CovarianceDraws is for covariances of columns that the fit centred; the number of columns.
	CovarianceDraws Purpose = "covariances"
	// noise variances; three times the member. Weights of unseen levels, and y; three times the row, 1 and 2 behind
	PosteriorDraws Purpose = "draws"
	PlotDraws      Purpose = "plot"    // where discrete targets lie; the row
	ImagingLines   Purpose = "imaging" // lines that are measured; 0
)

// Places in the blocks of [ConvexDraws] behind which are those of other draws.
const (
	ConvexDiagonal uint64 = 1 << 40 // signs that estimate the diagonal of a preconditioner; 0
	ConvexSigns    uint64 = 1 << 41 // signs that estimate variances; the vector
	ConvexSingle   uint64 = 1 << 42 // weights of columns in one row; the draw
)

// Rand returns the random stream for one purpose and block of a seeded
// computation. Streams with different arguments are independent.
func Rand(seed uint64, purpose Purpose, block uint64) *rand.Rand {
	// FNV-1a of the purpose, then one round of splitmix64 to spread the block.
	hash := uint64(14695981039346656037)
	for i := range len(purpose) {
		hash = (hash ^ uint64(purpose[i])) * 1099511628211
	}
	block += 0x9e3779b97f4a7c15
	block = (block ^ block>>30) * 0xbf58476d1ce4e5b9
	block = (block ^ block>>27) * 0x94d049bb133111eb
	return rand.New(rand.NewPCG(seed, hash^block^block>>31))
}
