package posterior

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

// Dual is w ~ N(Mean, Λ − ΛΦᵀK⁻¹ΦΛ), K = ΦΛΦᵀ + R, for fewer training rows n
// than weights d: Rasmussen & Williams (2006), eq. 2.12 in terms of features.
// Φ carries the rows' weights: a row of weight v is multiplied by √v.
type Dual struct {
	Mean          []float64 // length d
	PriorVariance []float64 // diagonal of Λ, length d, in units of Scale²
	Design        credence.Design
	Factor        []float64 // U with UᵀU = K, n×n row-major, in units of Scale; below the diagonal it is not read
	// Scale is the unit that keeps Λ and K representable for targets of any size.
	Scale float64
}

var _ credence.Posterior = (*Dual)(nil)

// Weights returns d.
func (p *Dual) Weights() int { return len(p.Mean) }

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
	dense := phi.Dense.Cols
	defer ws.Release(ws.Mark())
	scaled := ws.Floats(min(rows, panel) * dense)
	cross := ws.Floats(n * min(rows, panel))
	scatter := make([]float64, phi.Sparse.Cols)
	for first := 0; first < rows; first += panel {
		count := min(panel, rows-first)
		for i := range count {
			row := phi.Dense.Row(first + i)
			prior := 0.0
			for j, v := range row {
				s := v * p.PriorVariance[j]
				scaled[i*dense+j] = s
				prior += v * s
			}
			variance[first+i] = prior
		}
		ws.Pool().Gemm(false, true, n, count, dense, 1, p.Design.Dense.Data, max(1, p.Design.Dense.Stride),
			scaled, max(1, dense), 0, cross, count)
		if phi.Sparse.Cols > 0 {
			p.addSparse(cross, variance, scatter, phi, first, count)
		}
		ws.Pool().TrsmLeft(true, n, count, p.Factor, n, cross, count)
		for k := range n {
			for i, v := range cross[k*count : (k+1)*count] {
				variance[first+i] -= v * v
			}
		}
		for i := first; i < first+count; i++ {
			variance[i] = math.Max(variance[i], 0) * p.Scale * p.Scale
		}
	}
}

// addSparse adds what the sparse columns of some rows contribute to cross =
// ΦΛφ and to the prior variances of f. scatter is zero before and after.
func (p *Dual) addSparse(cross, variance, scatter []float64, phi *credence.Design, first, count int) {
	dense := phi.Dense.Cols
	n, _ := p.Design.Dims()
	for i := range count {
		columns, values := phi.Sparse.Row(first + i)
		for k, j := range columns {
			v := 1.0
			if values != nil {
				v = values[k]
			}
			scatter[j] = v * p.PriorVariance[dense+int(j)]
			variance[first+i] += v * scatter[j]
		}
		for r := range n {
			entries, factors := p.Design.Sparse.Row(r)
			cross[r*count+i] += sparseDot(entries, factors, scatter)
		}
		for _, j := range columns {
			scatter[j] = 0
		}
	}
}

// sparseDot returns the product of a sparse row with a dense vector.
func sparseDot(columns []int32, values, x []float64) float64 {
	sum := 0.0
	if values == nil {
		for _, j := range columns {
			sum += x[j]
		}
		return sum
	}
	for k, j := range columns {
		sum += values[k] * x[j]
	}
	return sum
}

// Marginals stores the means and variances of the weights: λ_j − λ_j²‖U⁻ᵀφ_j‖²
// with φ_j column j of Φ, n² operations each.
func (p *Dual) Marginals(mean, variance []float64) {
	copy(mean, p.Mean)
	n, d := p.Design.Dims()
	pool := kernel.New(0)
	columns := make([]float64, n*min(d, panel))
	for left := 0; left < d; left += panel {
		cols := min(panel, d-left)
		p.gather(columns, left, cols)
		pool.TrsmLeft(true, n, cols, p.Factor, n, columns, cols)
		for j := range cols {
			variance[left+j] = 0
		}
		for r := range n {
			for j, v := range columns[r*cols : (r+1)*cols] {
				variance[left+j] += v * v
			}
		}
		for j := left; j < left+cols; j++ {
			l := p.PriorVariance[j]
			variance[j] = math.Max(l-l*l*variance[j], 0) * p.Scale * p.Scale
		}
	}
}

// gather stores columns [left, left+cols) of Φ in dst, n×cols.
func (p *Dual) gather(dst []float64, left, cols int) {
	n, _ := p.Design.Dims()
	dense := p.Design.Dense.Cols
	for r := range n {
		row := dst[r*cols : (r+1)*cols]
		clear(row)
		if left < dense {
			copy(row, p.Design.Dense.Row(r)[left:min(dense, left+cols)])
		}
		if p.Design.Sparse.Cols == 0 {
			continue
		}
		columns, values := p.Design.Sparse.Row(r)
		for k, j := range columns {
			if w := dense + int(j) - left; w >= 0 && w < cols {
				row[w] = 1
				if values != nil {
					row[w] = values[k]
				}
			}
		}
	}
}
