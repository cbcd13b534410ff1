package credence

import (
	"github.com/credence-ml/credence/linop"
)

// Model is what an engine fits: y ~ Likelihood(Φ(x) w + offset), w ~ Prior.
type Model struct {
	Features   Features
	Likelihood Likelihood
	Prior      Prior
}

// Input is one dense input of a model, a column of Batch.X as it enters the fit.
type Input struct {
	Column
	// Center and Scale say how the input came from the data's own column:
	// (column - Center)/Scale. Scale 0 means 1.
	Center float64 `json:"center,omitempty"`
	Scale  float64 `json:"scale,omitempty"`
}

// Inputs are all inputs of a model.
type Inputs struct {
	Dense   []Input `json:"dense,omitempty"`   // the columns of Batch.X, in order
	Segment int     `json:"segment,omitempty"` // columns of Batch.Sparse
	SparseNames
}

// Block is a run of weights that share a prior variance.
type Block struct {
	Name      string // "(intercept)", "linear", or the term as the formula writes it
	First     int    // first weight
	Count     int
	Intercept bool
	// Kept says that the weights are normal under every prior: no engine selects among them.
	Kept bool
	// Unit says that the squares of its columns add up to 1 in every row, as those of random Fourier features do.
	Unit bool `json:",omitempty"`
}

// Features map the inputs of a row to the d numbers φ(x) whose weights are
// learned. They are immutable and safe for concurrent use with different
// workspaces.
type Features interface {
	// Weights returns d.
	Weights() int
	// Blocks returns the blocks in the order of the weights, which they cover.
	Blocks() []Block
	// Transform fills phi with Φ of the batch's rows, reusing its memory.
	Transform(ws *Workspace, phi *Design, rows *Batch)
}

// Named is implemented by features whose weights have names for people: a
// column, a level "zip=94110", a frequency.
type Named interface {
	// WeightName returns the name of weight j within its block.
	WeightName(j int) string
}

// Grouped is implemented by features of which some weights are in a model or out of it together, under
// a prior that selects: the levels of a category, and what a formula puts into group(…).
type Grouped interface {
	// Groups returns the runs of weights that are selected together, in their order, under names for
	// people. Every other weight stands for itself.
	Groups() []Block
}

// Hyper is a positive hyper-parameter of features, for example a lengthscale.
type Hyper struct {
	Name  string  // "lengthscale.rbf(lat, lon).lat"
	Block int     // index of its block among Blocks
	Value float64 // current value
	Held  bool    // stated: not to be learned
	// Start is the value that a first fit starts from.
	Start float64
	// PriorMean and PriorSD are those of a normal prior on the logarithm;
	// PriorSD 0 means none.
	PriorMean, PriorSD float64
	// Lower and Upper bound what an optimiser may try.
	Lower, Upper float64
	// Starts are where searches begin, one after the other, for a value of which the evidence has many narrow maxima,
	// as a period; nil leaves that to the engine, about Start.
	Starts []float64
	// Step is the change of the logarithm that changes columns as much as a change of 1 does that of a lengthscale; 0
	// means 1.
	Step float64
}

// Tunable is the ability of features to have their hyper-parameters learned by
// gradients.
type Tunable interface {
	Features
	// Hyper lists the hyper-parameters, held ones included.
	Hyper() []Hyper
	// WithHyper returns the features at other values, one for each of Hyper.
	WithHyper(values []float64) Features
	// Pullback adds to grad, one element for each of Hyper, the sums
	// Σ dPhi ⊙ ∂Φ/∂log θ over a batch. phi is Φ of the batch as Transform gave
	// it, dPhi has the shape of phi.Dense: hyper-parameters act on dense columns only.
	Pullback(ws *Workspace, grad []float64, rows *Batch, phi *Design, dPhi []float64)
}

// Likelihood is p(y|f). It is a value: the struct is the distribution.
type Likelihood interface {
	// LogDensity returns log p(y|f), constants included.
	LogDensity(y, f float64) float64
	// Mean returns E[y|f].
	Mean(f float64) float64
	// Variance returns Var[y|f].
	Variance(f float64) float64
}

// Prior is p(w). Engines narrow it to what they can use.
type Prior interface {
	// String returns the text form, which parses back to the same prior.
	String() string
}

// Posterior is q(w) or p(w|y), as far as predictions need it.
type Posterior interface {
	// Weights returns d.
	Weights() int
	// Latent stores the mean and the variance of f = φᵀw for every row of phi.
	// A nil variance is not computed.
	Latent(ws *Workspace, mean, variance []float64, phi *Design)
	// Marginals stores the mean and variance of every weight, in units of the target and of columns as they enter the
	// fit; score.Terms has those of the data.
	Marginals(mean, variance []float64)
}

// LatentDF is the ability of a posterior to have heavier tails than a normal one, as one that is
// integrated over hyper-parameters has.
type LatentDF interface {
	// LatentDF returns the degrees of freedom, above 2, of the Student-t distribution that every
	// f = φᵀw has, 0 or +Inf standing for the normal. The variance that Latent and Marginals give is
	// the whole one, scale²·ν/(ν−2).
	LatentDF() float64
}

// Joint is a posterior that knows how latent values vary together.
type Joint interface {
	Posterior
	// Covariance stores Cov(f_i, f_j) in dst, for every row i of a and j of b.
	Covariance(ws *Workspace, dst *linop.Dense, a, b *Design)
}

// Selector is a posterior of a kind under which weights may be exactly 0.
type Selector interface {
	Posterior
	// Selects reports whether they may be 0 under this one.
	Selects() bool
	// InclusionProbability returns P(w_j ≠ 0), which is 1 for an intercept.
	InclusionProbability(j int) float64
}

// Proportioned is the ability of features some of whose hyper-parameters change prior deviations of weights and no
// columns, as those of Hilbert-space processes do. Engines that do not know it have columns multiplied by the
// deviations, which is the same model.
type Proportioned interface {
	Tunable
	// Apart returns the features with columns that no hyper-parameter changes, where all that are to be learned are of
	// this kind, and false elsewhere. They are Proportioned themselves.
	Apart() (Features, bool)
	// Deviations stores, for features that are apart, by what the prior deviation of every weight is multiplied, 1 for
	// most, and in slopes, unless they are nil, a row of d for each of Hyper, the derivatives of its logarithm in the
	// logarithms of these.
	Deviations(deviation, slopes []float64)
}
