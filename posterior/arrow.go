package posterior

import (
	"fmt"
	"sync"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/arrow"
	"github.com/credence-ml/credence/linop"
)

// Arrow is w ~ N(Mean, C) where many of the weights go by the levels of a category, or Student-t with that covariance.
// Of C it has what rows of the training table ask for: the k×k numbers of every level, those of a level and what it has
// met in a row (all dense columns, and some sparse ones), and the rest, R×R. For one category that is everything a row
// can ask for. Where a row has a level and a sparse column of the rest that no training row had together, their
// covariance counts as 0 in its variance. A row takes k² + k·(entries of the rest) operations, and the square of these
// entries.
type Arrow struct {
	Mean  []float64 `json:"-" tensor:"mean,d"`
	Dense int       `json:"dense"` // columns that are dense, the first ones
	// Heads are the runs of weights by levels, those of one key together, outermost key first: every level of it lies
	// within one of the next, or the two are crossed, and levels of the second are independent given the rest.
	Heads [][]ability.LevelRun `json:"heads"`
	// Cells has a row for every level of every head, with what it has met; columns are in the order of heads, dense
	// columns and others.
	Cells credence.Design `json:"-" tensor:"cells,l,d"`
	// Values are, for every head in turn, the lower triangles of the levels' k×k numbers, k×Dense numbers of every
	// level and k of every cell; at last the rest, R×R, dense columns first, of which the upper triangle is read.
	Values []float64 `json:"-" tensor:"covariance,v"`
	// DF is the degrees of freedom of every f, above 2; 0 stands for the normal distribution.
	DF float64 `json:"df,omitempty"`

	once       sync.Once // of the pattern
	found      *arrow.Pattern
	failed     error
	regressed  sync.Once
	regression []float64 // what draws and covariances are made of
}

var (
	_ credence.Joint    = (*Arrow)(nil)
	_ credence.LatentDF = (*Arrow)(nil)
)

// ArrowPattern is where the numbers of an [Arrow] stand: its dense columns, its runs of weights by levels, and what
// every level has met.
type ArrowPattern interface {
	Parts() (dense int, heads [][]ability.LevelRun, cells *linop.CSR)
}

// NewArrow returns the posterior with the numbers of a pattern, which it takes.
func NewArrow(mean []float64, pattern ArrowPattern, values []float64, df float64) *Arrow {
	dense, heads, cells := pattern.Parts()
	return &Arrow{Mean: mean, Dense: dense, Heads: heads, Cells: credence.Design{Dense: linop.NewDense(cells.Rows, 0), Sparse: *cells}, Values: values, DF: df}
}

// SameCovariance reports whether another posterior has the same numbers in memory, so that the variances of f are the
// same.
func (p *Arrow) SameCovariance(other credence.Posterior) bool {
	q, ok := other.(*Arrow)
	return ok && len(p.Values) > 0 && len(q.Values) == len(p.Values) && &q.Values[0] == &p.Values[0]
}

// pattern panics where Validate has something to say.
func (p *Arrow) pattern() *arrow.Pattern {
	if err := p.Validate(); err != nil {
		panic(err)
	}
	return p.found
}

// Validate implements [Stored].
func (p *Arrow) Validate() error {
	p.once.Do(func() {
		if p.found, p.failed = arrow.New(len(p.Mean), p.Dense, p.Heads, p.Cells.Sparse); p.failed == nil && p.found.Len() != len(p.Values) {
			p.failed = fmt.Errorf("%d numbers of a covariance that has %d", len(p.Values), p.found.Len())
		}
		if p.failed == nil {
			p.failed = checkDF(p.DF)
		}
	})
	if p.failed != nil {
		return fmt.Errorf("posterior: %w", p.failed)
	}
	return nil
}

// Kind implements [Stored].
func (*Arrow) Kind() string { return "arrow" }

// Weights returns d.
func (p *Arrow) Weights() int { return len(p.Mean) }

// LatentDF returns DF.
func (p *Arrow) LatentDF() float64 { return p.DF }

// Latent stores Φm and the rows' φᵀCφ. Rounding may take a variance that is nearly 0 below it; it is then 0.
func (p *Arrow) Latent(ws *credence.Workspace, mean, variance []float64, phi *credence.Design) {
	check("Arrow.Latent", len(p.Mean), mean, variance, phi)
	phi.Mul(ws, mean, p.Mean)
	if variance == nil {
		return
	}
	p.pattern().RowVariances(ws, variance, p.Values, phi, func() []float64 { return p.regress(credence.NewWorkspace(1)) })
	for i, v := range variance {
		variance[i] = max(0, v)
	}
}

// Covariance stores Φ_a C Φ_bᵀ. What two levels have in common, which no row tells, follows from the rest.
func (p *Arrow) Covariance(ws *credence.Workspace, dst *linop.Dense, a, b *credence.Design) {
	checkCovariance("Arrow.Covariance", len(p.Mean), dst, a, b)
	p.pattern().Covariance(ws, dst, p.regress(ws), a, b)
}

func (p *Arrow) regress(ws *credence.Workspace) []float64 {
	p.regressed.Do(func() { p.regression = p.pattern().Regression(ws, p.Values) })
	return p.regression
}

// Marginals stores the means and variances of the weights.
func (p *Arrow) Marginals(mean, variance []float64) {
	copy(mean, p.Mean)
	p.pattern().Diagonal(variance, p.Values)
}
