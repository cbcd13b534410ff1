package posterior

import (
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// DualSum is what becomes of [Dual] when it is averaged over hyper-parameters, weights of the points
// negative or not. With a Centre all of this is of centred rows, as in Dual, but for Mean and
// Differences. Each point gives block b of the weights a prior variance λ_b of its own, so that the
// covariance of blocks b and c is
//
//	C_bc = D_b δ_bc − Z_bᵀ F_bc Z_c + Σ_k s_k d_k,b d_k,cᵀ
//
// where D is the mean of the prior variances and the d_k are differences of means. Z_b is Φ_b of the rows and their
// weights, as in Dual, for a block of n weights or more, and F_bc is then the mean of λ_b λ_c K⁻¹; a block of fewer
// weights has Z_b = I, and Φ_b stands in F_bc, so that no form is larger than need be. With one point C is that of Dual
// and there are no differences. A row takes 2nd + n² operations for one large block, and each further one adds its
// pairs; d×d is never formed. Φ may be other directions than those of rows: with n orthonormal ones of one block, the
// rows of Vᵀ, and F = D − C', it is the normal distribution that has covariance C' along them and its prior elsewhere.
type DualSum struct {
	Mean          []float64       `json:"-" tensor:"mean,d"`
	PriorVariance []float64       `json:"-" tensor:"prior_variance,d"` // diagonal of D, in units of Scale²
	Design        credence.Design `json:"-" tensor:"design,n,d"`
	Centre        []float64       `json:"-" tensor:"centre,d,optional"` // as in Dual
	// Blocks holds the number of weights of every block, which cover the weights in order.
	Blocks []int `json:"blocks"`
	// Forms holds F_bc for b ≤ c, in the order 00, 01, …, 11, 12, …, row-major, of F_bb the [Triangle], in
	// units of 1, which are those of Φ's weights over Scale².
	Forms []float64 `json:"-" tensor:"forms,F"`
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

// Triangle appends the upper triangle of a symmetric n×n matrix, row behind row, to dst.
func Triangle(dst []float64, n int, matrix []float64) []float64 {
	dst = slices.Grow(dst, n*(n+1)/2)
	for i := range n {
		dst = append(dst, matrix[i*n+i:(i+1)*n]...)
	}
	return dst
}

// side is the number of columns of Z_b, where a block has so many weights and there are n rows.
func side(n, weights int) int { return min(n, weights) }

// Forms is the number of elements of the Forms of a [DualSum] of n rows and blocks of so many weights.
func Forms(n int, blocks []int) (elements int) {
	behind := 0 // of the blocks after b
	for _, count := range slices.Backward(blocks) {
		k := side(n, count)
		elements += k*(k+1)/2 + k*behind
		behind += k
	}
	return elements
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
	rows := len(mean)
	most := min(rows, panel)
	cross, product := p.room(ws, most), p.room(ws, most)
	for first := 0; first < rows; first += panel {
		part := phi.Window(first, min(panel, rows-first))
		of := variance[first : first+part.Dense.Rows]
		mark := ws.Mark()
		centred := centredRows(ws, &part, p.Centre)
		for i := range of {
			of[i] = centred.RowSquareDot(i, p.PriorVariance)
		}
		centreSquares(ws, of, &centred, p.Centre, p.PriorVariance)
		cross := p.project(ws, cross, &part, &centred)
		p.weigh(ws, product, cross, len(of))
		ws.Release(mark)
		for k := 0; k < len(cross); k += len(of) {
			halves := product[k : k+len(of)]
			for i, v := range cross[k : k+len(of)] {
				of[i] -= 2 * v * halves[i]
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
	defer ws.Release(ws.Mark())
	left, right, product := p.room(ws, rows), p.room(ws, cols), p.room(ws, max(rows, cols))
	centredA, centredB := centredRows(ws, a, p.Centre), centredRows(ws, b, p.Centre)
	left, right = p.project(ws, left, a, &centredA), p.project(ws, right, b, &centredB)
	dst.Clear()
	addDiagonalCovariance(dst, a, b, p.PriorVariance)
	centreCovariance(ws, dst, a, b, p.Centre, p.PriorVariance, 0)
	subtract := func(left, right []float64) {
		ws.Pool().Gemm(true, false, rows, cols, len(left)/max(1, rows), -1, left, max(1, rows), right, max(1, cols), 1, dst.Data, max(1, dst.Stride))
	}
	p.weigh(ws, product, right, cols)
	subtract(left, product[:len(right)])
	p.weigh(ws, product, left, rows)
	subtract(product[:len(left)], right)
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

// room returns scratch memory for what project stores of so many rows.
func (p *DualSum) room(ws *credence.Workspace, rows int) []float64 {
	sides := 0
	for _, count := range p.Blocks {
		sides += side(p.Design.Dense.Rows, count)
	}
	return ws.Floats(sides * rows)
}

// project stores Z_b φ_b of every block b and row φ of phi in the columns of cross, and returns what it stored, block
// behind block. Centred are the rows with dense columns centred.
func (p *DualSum) project(ws *credence.Workspace, cross []float64, phi, centred *credence.Design) []float64 {
	n, rows := p.Design.Dense.Rows, phi.Dense.Rows
	first, end := 0, 0
	for _, count := range p.Blocks {
		of := cross[end : end+side(n, count)*rows]
		if end += len(of); count < n {
			p.own(ws, of, phi, first, count)
		} else {
			crossProducts(ws, of, &p.Design, centred, nil, first, count)
			centreProducts(ws, of, &p.Design, centred, p.Centre, nil, first, count)
		}
		first += count
	}
	return cross[:end]
}

// own stores the columns [first, first+count) of phi, centred, in the rows of dst.
func (p *DualSum) own(ws *credence.Workspace, dst []float64, phi *credence.Design, first, count int) {
	defer ws.Release(ws.Mark())
	rows := phi.Dense.Rows
	columns := ws.Floats(rows * count)
	gather(columns, phi, p.Centre, first, count)
	for i := range rows {
		for j, v := range columns[i*count : (i+1)*count] {
			dst[j*rows+i] = v
		}
	}
}

// weigh stores half of F times what project stored: ½ diag(F_bb) + what is right of it in F_bb, and F_bc for c > b.
func (p *DualSum) weigh(ws *credence.Workspace, dst, cross []float64, rows int) {
	n, ld, forms := p.Design.Dense.Rows, max(1, rows), p.Forms
	for b, count := range p.Blocks {
		k := side(n, count)
		forms = weighTriangle(ws, dst, forms, cross, k, rows)
		behind := cross[k*rows:]
		for _, count := range p.Blocks[b+1:] {
			other := side(n, count)
			ws.Pool().Gemm(false, false, k, rows, other, 1, forms, other, behind, ld, 1, dst, ld)
			forms, behind = forms[k*other:], behind[other*rows:]
		}
		dst, cross = dst[k*rows:], cross[k*rows:]
	}
}

// unpacked is the number of rows of a triangle that are unpacked at a time.
const unpacked = 64

// weighTriangle stores (½ diag F + what is right of it) x in dst, k×rows, for the triangle of F at the beginning of
// forms, and returns what is behind it.
func weighTriangle(ws *credence.Workspace, dst, forms, x []float64, k, rows int) (behind []float64) {
	defer ws.Release(ws.Mark())
	part := ws.Floats(min(k, unpacked) * k)
	for from := 0; from < k; from += unpacked {
		count, width := min(unpacked, k-from), k-from
		for i := range count {
			row := part[i*width : (i+1)*width]
			clear(row[:i])
			copy(row[i:], forms[:width-i])
			row[i] /= 2
			forms = forms[width-i:]
		}
		ld := max(1, rows)
		ws.Pool().Gemm(false, false, count, rows, width, 1, part, width, x[from*rows:], ld, 0, dst[from*rows:], ld)
	}
	return forms
}

// Marginals stores the means and variances of the weights, in large blocks with n² operations for a dense column and
// the square of its entries for a sparse one.
func (p *DualSum) Marginals(mean, variance []float64) {
	copy(mean, p.Mean)
	copy(variance, p.PriorVariance)
	n := p.Design.Dense.Rows
	ws := credence.NewWorkspace(0)
	size := n * min(len(mean), panel)
	columns, product := make([]float64, size), make([]float64, size)
	forms, first, byColumn := p.Forms, 0, linop.CSR{}
	for b, count := range p.Blocks {
		k, behind := side(n, count), 0
		if of := variance[first : first+count]; count < n {
			diagonal := forms
			for j := range of {
				of[j] -= diagonal[0]
				diagonal = diagonal[count-j:]
			}
		} else {
			dense := max(0, min(count, p.Design.Dense.Cols-first))
			for left := 0; left < dense; left += panel {
				cols := min(panel, dense-left)
				gather(columns, &p.Design, p.Centre, first+left, cols)
				weighTriangle(ws, product, forms, columns, n, cols)
				for r := range n {
					for j, v := range columns[r*cols : (r+1)*cols] {
						of[left+j] -= 2 * v * product[r*cols+j]
					}
				}
			}
			if dense < count {
				triangle := forms
				if byColumn.Rows == 0 {
					byColumn = p.Design.Sparse.Transpose()
				}
				row := func(i int) []float64 { return triangle[i*n-i*(i-1)/2:][:n-i] }
				sparseSquares(ws, of[dense:], row, &p.Design, &byColumn, p.Centre, first+dense)
			}
		}
		for _, other := range p.Blocks[b+1:] {
			behind += side(n, other)
		}
		forms, first = forms[k*(k+1)/2+k*behind:], first+count
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
