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

// regressApart adds what several levels of the second key say, which given the leaf are independent of each other: with
// e of what the leaf leaves of them, V_ge is V_gc less what the leaf explains, and a level's coefficients are
// V_ge V_ee⁻¹. by are those of the places of the leaf that the level meets.
func (p *Pattern) regressApart(out, covariance []float64, k int, b, to *block, leaf []int32, by []float64) {
	inner, m, apart := &p.heads[1], len(leaf), len(b.cells)+p.Dense-len(leaf)
	with, explained := make([]float64, k*apart), make([]float64, len(b.own)) // V_ge, and then coefficients of e
	for r := range k {
		for i, c := range b.cells[:apart] {
			v := b.sparse[i*k+r]
			for j, l := range leaf {
				v -= by[r*m+j] * p.number(covariance, c, l)
			}
			with[r*apart+i] = v
		}
	}
	for i := 0; i < apart; i += inner.k {
		_, level, _ := p.headOf(b.cells[i])
		of := p.block(out, inner, level)
		for r := range k {
			half(of.own, with[r*apart+i:r*apart+i+inner.k], inner.k)
		}
		for r := range k {
			for c := range r + 1 {
				explained[r*(r+1)/2+c] = dot(with[r*apart+i:r*apart+i+inner.k], with[c*apart+i:c*apart+i+inner.k])
			}
		}
		axpy(-1, explained, to.own)
		for r := range k {
			e := with[r*apart+i : r*apart+i+inner.k]
			rest(of.own, e, inner.k)
			for c, v := range e {
				to.sparse[(i+c)*k+r] = v
				for j, l := range leaf {
					by[r*m+j] -= v * p.number(out, b.cells[i+c], l)
				}
			}
		}
	}
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
