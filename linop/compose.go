package linop

import (
	"fmt"

	"github.com/credence-ml/credence/internal/kernel"
)

// Identity is the n×n identity.
type Identity int

// Dims implements [Matrix].
func (n Identity) Dims() (rows, cols int) { return int(n), int(n) }

// MulVec implements [Matrix].
func (n Identity) MulVec(dst, x []float64) {
	checkMulVec("Identity.MulVec", int(n), int(n), dst, x)
	copy(dst, x)
}

// MulBlock implements [Blocked].
func (n Identity) MulBlock(dst, x *Dense) {
	checkBlock("Identity.MulBlock", int(n), int(n), dst, x)
	for i := range int(n) {
		copy(dst.Row(i), x.Row(i))
	}
}

// MulBlockTrans implements [Blocked].
func (n Identity) MulBlockTrans(dst, x *Dense) { n.MulBlock(dst, x) }

// MulVecTrans implements [Matrix].
func (n Identity) MulVecTrans(dst, x []float64) { n.MulVec(dst, x) }

// Diagonal is diag(d).
type Diagonal []float64

// Dims implements [Matrix].
func (d Diagonal) Dims() (rows, cols int) { return len(d), len(d) }

// MulVec implements [Matrix].
func (d Diagonal) MulVec(dst, x []float64) {
	checkMulVec("Diagonal.MulVec", len(d), len(d), dst, x)
	for i, v := range d {
		dst[i] = v * x[i]
	}
}

// MulVecTrans implements [Matrix].
func (d Diagonal) MulVecTrans(dst, x []float64) { d.MulVec(dst, x) }

// MulBlock implements [Blocked].
func (d Diagonal) MulBlock(dst, x *Dense) {
	checkBlock("Diagonal.MulBlock", len(d), len(d), dst, x)
	for i, v := range d {
		to := dst.Row(i)
		for c, w := range x.Row(i) {
			to[c] = v * w
		}
	}
}

// MulBlockTrans implements [Blocked].
func (d Diagonal) MulBlockTrans(dst, x *Dense) { d.MulBlock(dst, x) }

// Scaled is Factor·A.
type Scaled struct {
	Factor float64
	A      Matrix
}

// Dims implements [Matrix].
func (s Scaled) Dims() (rows, cols int) { return s.A.Dims() }

// MulVec implements [Matrix].
func (s Scaled) MulVec(dst, x []float64) { s.MulBlock(Column(dst), Column(x)) }

// MulVecTrans implements [Matrix].
func (s Scaled) MulVecTrans(dst, x []float64) { s.MulBlockTrans(Column(dst), Column(x)) }

// MulBlock implements [Blocked].
func (s Scaled) MulBlock(dst, x *Dense) {
	MulBlock(s.A, dst, x)
	s.scale(dst)
}

// MulBlockTrans implements [Blocked].
func (s Scaled) MulBlockTrans(dst, x *Dense) {
	MulBlockTrans(s.A, dst, x)
	s.scale(dst)
}

func (s Scaled) scale(dst *Dense) {
	for i := range dst.Rows {
		kernel.Scale(s.Factor, dst.Row(i))
	}
}

// Transposed is Aᵀ.
type Transposed struct{ A Matrix }

// Dims implements [Matrix].
func (t Transposed) Dims() (rows, cols int) {
	rows, cols = t.A.Dims()
	return cols, rows
}

// MulVec implements [Matrix].
func (t Transposed) MulVec(dst, x []float64) { t.A.MulVecTrans(dst, x) }

// MulVecTrans implements [Matrix].
func (t Transposed) MulVecTrans(dst, x []float64) { t.A.MulVec(dst, x) }

// MulBlock implements [Blocked].
func (t Transposed) MulBlock(dst, x *Dense) { MulBlockTrans(t.A, dst, x) }

// MulBlockTrans implements [Blocked].
func (t Transposed) MulBlockTrans(dst, x *Dense) { MulBlock(t.A, dst, x) }

// Product is A·B.
type Product struct{ a, b Matrix }

// NewProduct returns A·B, and panics where their shapes do not fit.
func NewProduct(a, b Matrix) *Product {
	_, inner := a.Dims()
	if rows, _ := b.Dims(); rows != inner {
		panic(fmt.Sprintf("linop: product of a matrix with %d columns and one with %d rows", inner, rows))
	}
	return &Product{a, b}
}

// Dims implements [Matrix].
func (p *Product) Dims() (rows, cols int) {
	rows, _ = p.a.Dims()
	_, cols = p.b.Dims()
	return rows, cols
}

// MulVec implements [Matrix].
func (p *Product) MulVec(dst, x []float64) { p.MulBlock(Column(dst), Column(x)) }

// MulVecTrans implements [Matrix].
func (p *Product) MulVecTrans(dst, x []float64) { p.MulBlockTrans(Column(dst), Column(x)) }

// MulBlock implements [Blocked].
func (p *Product) MulBlock(dst, x *Dense) {
	middle := p.inner(x.Cols)
	MulBlock(p.b, &middle, x)
	MulBlock(p.a, dst, &middle)
}

// MulBlockTrans implements [Blocked].
func (p *Product) MulBlockTrans(dst, x *Dense) {
	middle := p.inner(x.Cols)
	MulBlockTrans(p.a, &middle, x)
	MulBlockTrans(p.b, dst, &middle)
}

func (p *Product) inner(count int) Dense {
	_, inner := p.a.Dims()
	return NewDense(inner, count)
}

// Sum is A + B + ….
type Sum []Matrix

// NewSum returns the sum, and panics where shapes differ or there is nothing to add.
func NewSum(terms ...Matrix) Sum {
	rows, cols := terms[0].Dims()
	for _, t := range terms[1:] {
		if r, c := t.Dims(); r != rows || c != cols {
			panic(fmt.Sprintf("linop: sum of a %d×%d and a %d×%d matrix", rows, cols, r, c))
		}
	}
	return terms
}

// Dims implements [Matrix].
func (s Sum) Dims() (rows, cols int) { return s[0].Dims() }

// MulVec implements [Matrix].
func (s Sum) MulVec(dst, x []float64) { s.MulBlock(Column(dst), Column(x)) }

// MulVecTrans implements [Matrix].
func (s Sum) MulVecTrans(dst, x []float64) { s.MulBlockTrans(Column(dst), Column(x)) }

// MulBlock implements [Blocked].
func (s Sum) MulBlock(dst, x *Dense) {
	addUp(dst, len(s), func(k int, part *Dense) { MulBlock(s[k], part, x) })
}

// MulBlockTrans implements [Blocked].
func (s Sum) MulBlockTrans(dst, x *Dense) {
	addUp(dst, len(s), func(k int, part *Dense) { MulBlockTrans(s[k], part, x) })
}

// addUp stores the sum of what term stores for 0 to count−1, in that order.
func addUp(dst *Dense, count int, term func(k int, part *Dense)) {
	term(0, dst)
	if count == 1 {
		return
	}
	part := NewDense(dst.Rows, dst.Cols)
	for k := 1; k < count; k++ {
		term(k, &part)
		for i := range dst.Rows {
			kernel.Axpy(1, part.Row(i), dst.Row(i))
		}
	}
}

// Stack is matrices with as many columns, one below the other.
type Stack []Matrix

// NewStack returns the stack, and panics where the numbers of columns differ or there is nothing to stack.
func NewStack(parts ...Matrix) Stack {
	_, cols := parts[0].Dims()
	for _, p := range parts[1:] {
		if _, c := p.Dims(); c != cols {
			panic(fmt.Sprintf("linop: stack of matrices with %d and %d columns", cols, c))
		}
	}
	return parts
}

// Dims implements [Matrix].
func (s Stack) Dims() (rows, cols int) {
	for _, p := range s {
		r, c := p.Dims()
		rows, cols = rows+r, c
	}
	return rows, cols
}

// MulVec implements [Matrix].
func (s Stack) MulVec(dst, x []float64) { s.MulBlock(Column(dst), Column(x)) }

// MulVecTrans implements [Matrix].
func (s Stack) MulVecTrans(dst, x []float64) { s.MulBlockTrans(Column(dst), Column(x)) }

// MulBlock implements [Blocked].
func (s Stack) MulBlock(dst, x *Dense) {
	first := 0
	for _, p := range s {
		rows, _ := p.Dims()
		part := dst.Window(first, rows)
		MulBlock(p, &part, x)
		first += rows
	}
}

// MulBlockTrans implements [Blocked].
func (s Stack) MulBlockTrans(dst, x *Dense) {
	first := 0
	addUp(dst, len(s), func(k int, sum *Dense) {
		rows, _ := s[k].Dims()
		part := x.Window(first, rows)
		MulBlockTrans(s[k], sum, &part)
		first += rows
	})
}

// Selection takes elements of a vector: row i of it is that of the identity at Places[i].
type Selection struct {
	Cols   int
	Places []int
}

// Dims implements [Matrix].
func (s *Selection) Dims() (rows, cols int) { return len(s.Places), s.Cols }

// MulVec implements [Matrix].
func (s *Selection) MulVec(dst, x []float64) { s.MulBlock(Column(dst), Column(x)) }

// MulVecTrans implements [Matrix].
func (s *Selection) MulVecTrans(dst, x []float64) { s.MulBlockTrans(Column(dst), Column(x)) }

// MulBlock implements [Blocked].
func (s *Selection) MulBlock(dst, x *Dense) {
	checkBlock("Selection.MulBlock", len(s.Places), s.Cols, dst, x)
	for i, j := range s.Places {
		copy(dst.Row(i), x.Row(j))
	}
}

// MulBlockTrans implements [Blocked].
func (s *Selection) MulBlockTrans(dst, x *Dense) {
	checkBlock("Selection.MulBlockTrans", s.Cols, len(s.Places), dst, x)
	dst.Clear()
	for i, j := range s.Places {
		kernel.Axpy(1, x.Row(i), dst.Row(j))
	}
}
