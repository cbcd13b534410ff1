package posterior

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Dual is w ~ N(Mean, Λ − ΛΦᵀK⁻¹ΦΛ), K = ΦΛΦᵀ + R, for fewer training rows n
// than weights d: Rasmussen & Williams (2006), eq. 2.12 in terms of features.
// Φ carries the rows' weights: a row of weight v is multiplied by √v. With DF it is
// Student-t with that covariance.
//
// With a Centre c, weight 0 is an intercept that stands at c: what is said here of w, φ and Φ is
// said of (b̃, w), φ − c and the rows less c, with f = b̃ + (φ − c)ᵀw, and weight 0 is b̃ − cᵀw.
type Dual struct {
	Mean          []float64       `json:"-" tensor:"mean,d"`
	PriorVariance []float64       `json:"-" tensor:"prior_variance,d"`  // diagonal of Λ, in units of Scale²
	Design        credence.Design `json:"-" tensor:"design,n,d"`        // Φ, not centred
	Centre        []float64       `json:"-" tensor:"centre,d,optional"` // c, whose element 0 is 0
	// Factor is U with UᵀU = K, row-major, in units of Scale; below the diagonal it is not read.
	Factor []float64 `json:"-" tensor:"kernel_factor,n,n"`
	// Scale is the unit that keeps Λ and K representable for targets of any size.
	Scale float64 `json:"scale"`
	// DF is the degrees of freedom of every f, above 2; 0 stands for the normal distribution.
	DF float64 `json:"df,omitempty"`
	// Probability is P(w_j ≠ 0), 1 for an intercept; nil if every weight is included.
	Probability []float64 `json:"-" tensor:"inclusion,d,optional"`
}

var (
	_ credence.Joint    = (*Dual)(nil)
	_ credence.Selector = (*Dual)(nil)
	_ credence.LatentDF = (*Dual)(nil)
)

// Selects reports whether weights may be 0.
func (p *Dual) Selects() bool { return p.Probability != nil }

// InclusionProbability returns P(w_j ≠ 0).
func (p *Dual) InclusionProbability(j int) float64 { return included(p.Probability, j) }

// Weights returns d.
func (p *Dual) Weights() int { return len(p.Mean) }

// LatentDF returns DF.
func (p *Dual) LatentDF() float64 { return p.DF }

// Latent stores φᵀm and φᵀΛφ − ‖U⁻ᵀΦΛφ‖² for every row. Rounding may take
// the difference a little below zero where the data determine f; it is then 0.
func (p *Dual) Latent(ws *credence.Workspace, mean, variance []float64, phi *credence.Design) {
	check("Dual.Latent", len(p.Mean), mean, variance, phi)
	phi.MulVec(mean, p.Mean)
	if variance == nil {
		return
	}
	rows, _ := phi.Dims()
	n, _ := p.Design.Dims()
	defer ws.Release(ws.Mark())
	cross := ws.Floats(n * min(rows, panel))
	for first := 0; first < rows; first += panel {
		part := phi.Window(first, min(panel, rows-first))
		of := variance[first : first+part.Dense.Rows]
		p.project(ws, cross, of, &part)
		for k := range n {
			for i, v := range cross[k*len(of) : (k+1)*len(of)] {
				of[i] -= v * v
			}
		}
		for i, v := range of {
			of[i] = math.Max(v, 0) * p.Scale * p.Scale
		}
	}
}

// Covariance stores Φ_a Λ Φ_bᵀ − (U⁻ᵀΦΛΦ_aᵀ)ᵀ(U⁻ᵀΦΛΦ_bᵀ), in units of Scale².
func (p *Dual) Covariance(ws *credence.Workspace, dst *linop.Dense, a, b *credence.Design) {
	rows, cols := checkCovariance("Dual.Covariance", len(p.Mean), dst, a, b)
	n, _ := p.Design.Dims()
	defer ws.Release(ws.Mark())
	left, right := ws.Floats(n*rows), ws.Floats(n*cols)
	p.project(ws, left, ws.Floats(rows), a)
	p.project(ws, right, ws.Floats(cols), b)
	dst.Clear()
	addDiagonalCovariance(dst, a, b, p.PriorVariance)
	centreCovariance(ws, dst, a, b, p.Centre, p.PriorVariance, 0)
	ws.Pool().Gemm(true, false, rows, cols, n, -1, left, max(1, rows), right, max(1, cols), 1, dst.Data, max(1, dst.Stride))
	for i := range rows {
		kernel.Scale(p.Scale*p.Scale, dst.Row(i))
	}
}

// project stores U⁻ᵀΦΛφ of every row φ of phi in the columns of cross, n×rows, and the prior
// variances φᵀΛφ in prior.
func (p *Dual) project(ws *credence.Workspace, cross, prior []float64, phi *credence.Design) {
	count, d := phi.Dims()
	n, _ := p.Design.Dims()
	dense := phi.Dense.Cols
	defer ws.Release(ws.Mark())
	rows := centredRows(ws, phi, p.Centre)
	scaled := rows
	scaled.Dense = linop.Dense{Rows: count, Cols: dense, Stride: dense, Data: ws.Floats(count * dense)}
	for i := range count {
		sum, row := 0.0, scaled.Dense.Row(i)
		for j, v := range rows.Dense.Row(i) {
			row[j] = v * p.PriorVariance[j]
			sum += v * row[j]
		}
		for j, v := range phi.Sparse.Each(i) {
			sum += v * (v * p.PriorVariance[dense+j])
		}
		prior[i] = sum
	}
	centreSquares(ws, prior, &rows, p.Centre, p.PriorVariance)
	crossProducts(ws, cross, &p.Design, &scaled, p.PriorVariance, 0, d)
	centreProducts(ws, cross, &p.Design, &rows, p.Centre, p.PriorVariance, 0, d)
	ws.Pool().TrsmLeft(true, n, count, p.Factor, n, cross, count)
}

// crossProducts stores Φφ over the columns [first, first+count) for every row φ of phi in the columns
// of dst, n×rows. Sparse entries of φ are multiplied by scale, of all columns, unless that is nil.
func crossProducts(ws *credence.Workspace, dst []float64, design, phi *credence.Design, scale []float64, first, count int) {
	n, rows, dense := design.Dense.Rows, phi.Dense.Rows, phi.Dense.Cols
	low, end := min(first, dense), min(first+count, dense)
	ws.Pool().Gemm(false, true, n, rows, end-low, 1, design.Dense.Data[min(low, len(design.Dense.Data)):], max(1, design.Dense.Stride),
		phi.Dense.Data[min(low, len(phi.Dense.Data)):], max(1, phi.Dense.Stride), 0, dst, max(1, rows))
	if first+count <= dense {
		return
	}
	sparse := phi.Sparse // of its own, so that a dense phi takes no memory
	entry := func(j int, v float64) (float64, bool) {
		at := dense + j
		if scale != nil {
			v *= scale[at]
		}
		return v, at >= first && at < first+count
	}
	if rows >= transposedRows {
		// Entries of a column meet those of the same column alone. Every sum takes the columns in their order.
		byColumn := design.Sparse.Transpose()
		ws.InRuns(rows, func(from, to int) {
			sums := make([]float64, n)
			for i := from; i < to; i++ {
				clear(sums)
				for j, v := range sparse.Each(i) {
					if v, within := entry(j, v); within {
						byColumn.AddRow(sums, j, v)
					}
				}
				for r, sum := range sums {
					dst[r*rows+i] += sum
				}
			}
		})
		return
	}
	scatter := make([]float64, sparse.Cols) // φ of one row, zero between two rows
	for i := range rows {
		for j, v := range sparse.Each(i) {
			if v, within := entry(j, v); within {
				scatter[j] = v
			}
		}
		for r := range n {
			dst[r*rows+i] += design.Sparse.AddRowDot(0, r, scatter)
		}
		for j := range sparse.Each(i) {
			scatter[j] = 0
		}
	}
}

// transposedRows is the number of rows from which on Φ is transposed for their products with it.
const transposedRows = 16

// Marginals stores the means and variances of the weights: λ_j − λ_j²‖U⁻ᵀφ_j‖² with φ_j column j of Φ, n² operations
// each, and λ_j − λ_j²φ_jᵀK⁻¹φ_j of sparse columns that are many.
func (p *Dual) Marginals(mean, variance []float64) {
	copy(mean, p.Mean)
	n, d := p.Design.Dims()
	ws := credence.NewWorkspace(0)
	solved := d // columns
	clear(variance)
	if sparse := p.Design.Sparse.Cols; sparse > 2*n {
		solved = d - sparse
		inverse, byColumn := make([]float64, n*n), p.Design.Sparse.Transpose()
		ws.Pool().CholeskyInverse(n, p.Factor, n, inverse, n)
		row := func(i int) []float64 { return inverse[i*n+i : (i+1)*n] }
		sparseSquares(ws, variance[solved:], row, &p.Design, &byColumn, p.Centre, solved)
	}
	columns := make([]float64, n*min(solved, panel))
	for left := 0; left < solved; left += panel {
		cols := min(panel, solved-left)
		gather(columns, &p.Design, p.Centre, left, cols)
		ws.Pool().TrsmLeft(true, n, cols, p.Factor, n, columns, cols)
		for r := range n {
			for j, v := range columns[r*cols : (r+1)*cols] {
				variance[left+j] -= v * v
			}
		}
	}
	for j, l := range p.PriorVariance {
		variance[j] = math.Max(l+l*l*variance[j], 0) * p.Scale * p.Scale
	}
	interceptMarginal(p, &p.Design, p.Centre, mean, variance)
}

// gather stores columns [left, left+cols) of Φ less their centre in dst, n×cols.
func gather(dst []float64, design *credence.Design, centre []float64, left, cols int) {
	n, dense := design.Dense.Rows, design.Dense.Cols
	for r := range n {
		row := dst[r*cols : (r+1)*cols]
		clear(row)
		if left < dense {
			copy(row, design.Dense.Row(r)[left:min(dense, left+cols)])
		}
		for j, v := range design.Sparse.Each(r) {
			if w := dense + j - left; w >= 0 && w < cols {
				row[w] = v
			}
		}
		if centre != nil {
			kernel.Axpy(-design.Dense.Row(r)[0], centre[left:left+cols], row)
		}
	}
}
