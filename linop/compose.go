package linop

import "fmt"

// Identity is the n×n identity.
type Identity int

// Dims implements [Matrix].
func (n Identity) Dims() (rows, cols int) { return int(n), int(n) }

// MulVec implements [Matrix].
func (n Identity) MulVec(dst, x []float64) {
	checkMulVec("Identity.MulVec", int(n), int(n), dst, x)
	copy(dst, x)
}

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

// Scaled is Factor·A.
type Scaled struct {
	Factor float64
	A      Matrix
}

// Dims implements [Matrix].
func (s Scaled) Dims() (rows, cols int) { return s.A.Dims() }

// MulVec implements [Matrix].
func (s Scaled) MulVec(dst, x []float64) {
	s.A.MulVec(dst, x)
	for i := range dst {
		dst[i] *= s.Factor
	}
}

// MulVecTrans implements [Matrix].
func (s Scaled) MulVecTrans(dst, x []float64) {
	s.A.MulVecTrans(dst, x)
	for i := range dst {
		dst[i] *= s.Factor
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

func (p *Product) inner() []float64 {
	_, inner := p.a.Dims()
	return make([]float64, inner)
}

// MulVec implements [Matrix].
func (p *Product) MulVec(dst, x []float64) {
	middle := p.inner()
	p.b.MulVec(middle, x)
	p.a.MulVec(dst, middle)
}

// MulVecTrans implements [Matrix].
func (p *Product) MulVecTrans(dst, x []float64) {
	middle := p.inner()
	p.a.MulVecTrans(middle, x)
	p.b.MulVecTrans(dst, middle)
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
func (s Sum) MulVec(dst, x []float64) { s.add(dst, x, Matrix.MulVec) }

// MulVecTrans implements [Matrix].
func (s Sum) MulVecTrans(dst, x []float64) { s.add(dst, x, Matrix.MulVecTrans) }

func (s Sum) add(dst, x []float64, mul func(a Matrix, dst, x []float64)) {
	mul(s[0], dst, x)
	term := make([]float64, len(dst))
	for _, a := range s[1:] {
		mul(a, term, x)
		for i, v := range term {
			dst[i] += v
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
func (s Stack) MulVec(dst, x []float64) {
	first := 0
	for _, p := range s {
		rows, _ := p.Dims()
		p.MulVec(dst[first:first+rows], x)
		first += rows
	}
}

// MulVecTrans implements [Matrix].
func (s Stack) MulVecTrans(dst, x []float64) {
	clear(dst)
	part, first := make([]float64, len(dst)), 0
	for _, p := range s {
		rows, _ := p.Dims()
		p.MulVecTrans(part, x[first:first+rows])
		for i, v := range part {
			dst[i] += v
		}
		first += rows
	}
}

// Selection takes elements of a vector: row i of it is that of the identity at Places[i].
type Selection struct {
	Cols   int
	Places []int
}

// Dims implements [Matrix].
func (s *Selection) Dims() (rows, cols int) { return len(s.Places), s.Cols }

// MulVec implements [Matrix].
func (s *Selection) MulVec(dst, x []float64) {
	checkMulVec("Selection.MulVec", len(s.Places), s.Cols, dst, x)
	for i, j := range s.Places {
		dst[i] = x[j]
	}
}

// MulVecTrans implements [Matrix].
func (s *Selection) MulVecTrans(dst, x []float64) {
	checkMulVec("Selection.MulVecTrans", s.Cols, len(s.Places), dst, x)
	clear(dst)
	for i, j := range s.Places {
		dst[j] += x[i]
	}
}
