package posterior

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// DualSum is what becomes of [Dual] when it is averaged over hyper-parameters, weights of the points
// negative or not. With a Centre all of this is of centred rows, as in Dual, but for Mean and
// Differences. Each point gives block b of the weights a prior variance λ_b of its own, so that the
// covariance of blocks b and c is
//
//	C_bc = D_b δ_bc − Φ_bᵀ M_bc Φ_c + Σ_k s_k d_k,b d_k,cᵀ
//
// where D is the mean of the prior variances, M_bc the mean of λ_b λ_c K⁻¹, which is symmetric, and the
// d_k are differences of means. Φ and its rows' weights are those of Dual; with one point
// M_bc = λ_b λ_c K⁻¹ and there are no differences. A row takes 2nd + 2n²P operations for P = B(B+1)/2
// pairs of B blocks; d×d is never formed. Φ may be other directions than those of rows: with n orthonormal ones of one block, the rows of Vᵀ,
// and M = D − C', it is the normal distribution that has covariance C' along them and its prior elsewhere.
type DualSum struct {
	Mean          []float64       `json:"-" tensor:"mean,d"`
	PriorVariance []float64       `json:"-" tensor:"prior_variance,d"` // diagonal of D, in units of Scale²
	Design        credence.Design `json:"-" tensor:"design,n,d"`
	Centre        []float64       `json:"-" tensor:"centre,d,optional"` // as in Dual
	// Blocks holds the number of weights of every block, which cover the weights in order.
	Blocks []int `json:"blocks"`
	// Pairs holds M_bc for b ≤ c, in the order 00, 01, …, 11, 12, …, each whole: n×n, row-major, in
	// units of 1, which are those of Φ's weights over Scale².
	Pairs []float64 `json:"-" tensor:"pairs,P,n,n"`
	// Shares holds s_k, of any sign, and Differences d_k, row-major in units of Scale.
	Shares      []float64 `json:"-" tensor:"difference_shares,K,optional"`
	Differences []float64 `json:"-" tensor:"differences,K,d,optional"`
	Scale       float64   `json:"scale"`
	// DF is the degrees of freedom of every f, above 2; 0 stands for the normal distribution.
	DF float64 `json:"df,omitempty"`
}

var (
	_ credence.Joint    = (*DualSum)(nil)
	_ credence.LatentDF = (*DualSum)(nil)
)

// Weights returns d.
func (p *DualSum) Weights() int { return len(p.Mean) }

// LatentDF returns DF.
func (p *DualSum) LatentDF() float64 { return p.DF }

// pair returns M_bc for b ≤ c.
func (p *DualSum) pair(b, c int) []float64 {
	n := p.Design.Dense.Rows
	index := b*len(p.Blocks) - b*(b-1)/2 + c - b
	return p.Pairs[index*n*n : (index+1)*n*n]
}

// difference returns d_k.
func (p *DualSum) difference(k int) []float64 {
	return p.Differences[k*len(p.Mean) : (k+1)*len(p.Mean)]
}

// Latent stores φᵀm and φᵀCφ for every row. Rounding may take the variance a little below zero where
// the data determine f; it is then 0.
func (p *DualSum) Latent(ws *credence.Workspace, mean, variance []float64, phi *credence.Design) {
	check("DualSum.Latent", len(p.Mean), mean, variance, phi)
	phi.MulVec(mean, p.Mean)
	if variance == nil {
		return
	}
	defer ws.Release(ws.Mark())
	rows, n := len(mean), p.Design.Dense.Rows
	size := n * min(rows, panel)
	cross, product := ws.Floats(size*len(p.Blocks)), ws.Floats(size)
	for first := 0; first < rows; first += panel {
		part := phi.Window(first, min(panel, rows-first))
		of := variance[first : first+part.Dense.Rows]
		mark := ws.Mark()
		centred := centredRows(ws, &part, p.Centre)
		for i := range of {
			of[i] = centred.RowSquareDot(i, p.PriorVariance)
		}
		centreSquares(ws, of, &centred, p.Centre, p.PriorVariance)
		p.project(ws, cross, &centred)
		ws.Release(mark)
		for b := range p.Blocks {
			p.weigh(ws, product, cross, b, len(of), b, 2)
			for k := range n {
				for i, v := range cross[(b*n+k)*len(of) : (b*n+k+1)*len(of)] {
					of[i] -= v * product[k*len(of)+i]
				}
			}
		}
	}
	along := ws.Floats(rows)
	for k, share := range p.Shares {
		phi.Mul(ws, along, p.difference(k))
		for i, v := range along {
			variance[i] += share * v * v
		}
	}
	for i, v := range variance {
		variance[i] = math.Max(v, 0) * p.Scale * p.Scale
	}
}

// Covariance stores Φ_a C Φ_bᵀ.
func (p *DualSum) Covariance(ws *credence.Workspace, dst *linop.Dense, a, b *credence.Design) {
	rows, cols := checkCovariance("DualSum.Covariance", len(p.Mean), dst, a, b)
	n := p.Design.Dense.Rows
	defer ws.Release(ws.Mark())
	left, right := ws.Floats(n*rows*len(p.Blocks)), ws.Floats(n*cols*len(p.Blocks))
	product := ws.Floats(n * cols)
	centredA, centredB := centredRows(ws, a, p.Centre), centredRows(ws, b, p.Centre)
	p.project(ws, left, &centredA)
	p.project(ws, right, &centredB)
	clearRows(dst)
	addDiagonalCovariance(dst, a, b, p.PriorVariance)
	centreCovariance(ws, dst, a, b, p.Centre, p.PriorVariance)
	for block := range p.Blocks {
		p.weigh(ws, product, right, block, cols, 0, 1)
		ws.Pool().Gemm(true, false, rows, cols, n, -1, left[block*n*rows:], max(1, rows), product, max(1, cols), 1, dst.Data, max(1, dst.Stride))
	}
	ofA, ofB := ws.Floats(rows), ws.Floats(cols)
	for k, share := range p.Shares {
		a.Mul(ws, ofA, p.difference(k))
		b.Mul(ws, ofB, p.difference(k))
		for i, v := range ofA {
			kernel.Axpy(share*v, ofB, dst.Row(i))
		}
	}
	for i := range rows {
		kernel.Scale(p.Scale*p.Scale, dst.Row(i))
	}
}

// project stores Φ_b φ_b of every block b and row φ of phi, whose dense columns are centred, in the
// columns of cross, B×n×rows.
func (p *DualSum) project(ws *credence.Workspace, cross []float64, phi *credence.Design) {
	size, first := p.Design.Dense.Rows*phi.Dense.Rows, 0
	for b, count := range p.Blocks {
		of := cross[b*size : (b+1)*size]
		crossProducts(ws, of, &p.Design, phi, nil, first, count)
		centreProducts(ws, of, &p.Design, phi, p.Centre, nil, first, count)
		first += count
	}
}

// weigh stores Σ_{c ≥ from} M_bc cross_c in dst, n×rows, the terms other than c = b times factor.
func (p *DualSum) weigh(ws *credence.Workspace, dst, cross []float64, b, rows, from int, factor float64) {
	n := p.Design.Dense.Rows
	ld, keep := max(1, rows), 0.0
	for c := from; c < len(p.Blocks); c++ {
		by := factor
		if c == b {
			by = 1
		}
		ws.Pool().Gemm(false, false, n, rows, n, by, p.pair(min(b, c), max(b, c)), n, cross[c*n*rows:], ld, keep, dst, ld)
		keep = 1
	}
}

// Marginals stores the means and variances of the weights, 2n² operations each.
func (p *DualSum) Marginals(mean, variance []float64) {
	copy(mean, p.Mean)
	copy(variance, p.PriorVariance)
	n, d := p.Design.Dims()
	pool := kernel.New(0)
	size := n * min(d, panel)
	columns, product := make([]float64, size), make([]float64, size)
	first := 0
	for b, count := range p.Blocks {
		for left := first; left < first+count; left += panel {
			cols := min(panel, first+count-left)
			gather(columns, &p.Design, p.Centre, left, cols)
			pool.Gemm(false, false, n, cols, n, 1, p.pair(b, b), n, columns, cols, 0, product, cols)
			for r := range n {
				for j, v := range columns[r*cols : (r+1)*cols] {
					variance[left+j] -= v * product[r*cols+j]
				}
			}
		}
		first += count
	}
	for k, share := range p.Shares {
		for j, v := range p.difference(k) {
			variance[j] += share * v * v
		}
	}
	for j, v := range variance {
		variance[j] = math.Max(v, 0) * p.Scale * p.Scale
	}
	interceptMarginal(p, &p.Design, p.Centre, mean, variance)
}
