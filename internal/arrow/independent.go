package arrow

// several reports whether a level meets two of a key after it.
func (p *Pattern) several(b *block) bool {
	if n := len(b.cells); n > 0 && int(b.cells[0]) < p.leaf {
		t, level, _ := p.headOf(b.cells[0])
		for _, c := range b.cells[1:] {
			if u, other, _ := p.headOf(c); u == t && other != level {
				return true
			}
		}
	}
	return false
}

// regressCrossed is regress for a level that meets several of the second key, which given the leaf are independent of
// each other: with e of what the leaf leaves of them, V_ge is V_gc less what the leaf explains, and a level's
// coefficients are V_ge V_ee⁻¹.
func (p *Pattern) regressCrossed(out, covariance []float64, k int, b, to *block) {
	inner, q, sparse := &p.heads[1], p.Dense, 0
	for sparse < len(b.cells) && int(b.cells[sparse]) < p.leaf {
		sparse++
	}
	leaf := make([]int32, 0, q+len(b.cells)-sparse) // that the level meets
	for j := range q {
		leaf = append(leaf, int32(p.leaf+j))
	}
	leaf = append(leaf, b.cells[sparse:]...)
	m := len(leaf)
	roots := make([]float64, m*m)
	for i := range m {
		for j := i; j < m; j++ {
			roots[i*m+j] = p.number(covariance, leaf[i], leaf[j])
		}
	}
	semidefinite(roots, m)
	copy(to.own, b.own)
	by := make([]float64, k*m)               // coefficients of the leaf
	with := make([]float64, k*sparse)        // V_ge, and then coefficients of e
	explained := make([]float64, len(b.own)) // by e
	for r := range k {
		x := by[r*m : (r+1)*m]
		copy(x, b.dense[r*q:(r+1)*q])
		for i := range b.cells[sparse:] {
			x[q+i] = b.sparse[(sparse+i)*k+r]
		}
		before := append([]float64(nil), x...)
		solve(roots, x)
		for c := range r + 1 {
			at := r*(r+1)/2 + c
			for i := range m {
				v := before[i] // V_gl of column c
				if c < r {
					if v = 0; i < q {
						v = b.dense[c*q+i]
					} else {
						v = b.sparse[(sparse+i-q)*k+c]
					}
				}
				to.own[at] -= x[i] * v
			}
		}
		for i, c := range b.cells[:sparse] {
			v := b.sparse[i*k+r]
			for j, l := range leaf {
				v -= x[j] * p.number(covariance, c, l)
			}
			with[r*sparse+i] = v
		}
	}
	for i := 0; i < sparse; i += inner.k {
		_, level, _ := p.headOf(b.cells[i])
		of := p.block(out, inner, level)
		for r := range k {
			half(of.own, with[r*sparse+i:r*sparse+i+inner.k], inner.k)
		}
		for r := range k {
			for c := range r + 1 {
				explained[r*(r+1)/2+c] = dot(with[r*sparse+i:r*sparse+i+inner.k], with[c*sparse+i:c*sparse+i+inner.k])
			}
		}
		axpy(-1, explained, to.own)
		for r := range k {
			e := with[r*sparse+i : r*sparse+i+inner.k]
			rest(of.own, e, inner.k)
			for c, v := range e {
				to.sparse[(i+c)*k+r] = v
				for j, l := range leaf {
					by[r*m+j] -= v * p.coefficient(&of, c, l)
				}
			}
		}
	}
	for r := range k {
		copy(to.dense[r*q:(r+1)*q], by[r*m:])
		for i := range b.cells[sparse:] {
			to.sparse[(sparse+i)*k+r] = by[r*m+q+i]
		}
	}
	lower(to.own, k)
}

// half stores L⁻¹x, and rest L⁻ᵀx, with 0 where L has a row of 0.
func half(l, x []float64, k int) {
	for r, row := 0, 0; r < k; r, row = r+1, row+r+1 {
		for c := range r {
			x[r] -= l[row+c] * x[c]
		}
		if pivot := l[row+r]; pivot > 0 {
			x[r] /= pivot
		} else {
			x[r] = 0
		}
	}
}

func rest(l, x []float64, k int) {
	for r := k - 1; r >= 0; r-- {
		for c := r + 1; c < k; c++ {
			x[r] -= l[c*(c+1)/2+r] * x[c]
		}
		if pivot := l[r*(r+3)/2]; pivot > 0 {
			x[r] /= pivot
		} else {
			x[r] = 0
		}
	}
}

// coefficient is that of a place of the leaf in the regression of a column of a level, 0 where the level has none.
func (p *Pattern) coefficient(of *block, column int, place int32) float64 {
	if j := int(place) - p.leaf; j < p.Dense {
		return of.dense[column*p.Dense+j]
	}
	k := p.heads[1].k
	if cell := of.at(place, k); cell >= 0 {
		return of.sparse[cell+column]
	}
	return 0
}
