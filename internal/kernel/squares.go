package kernel

// squaresRows are the right-hand sides of more than side rows that are solved at once.
const squaresRows = 512

// SolvedSquares stores |U⁻ᵀDx|² of every row x of B, m×n, in dst: U is upper triangular n×n, D = diag(scales). B stays
// as it is. It takes n² operations a row. The strict lower triangle of U is not read.
func (p *Pool) SolvedSquares(m, n int, u []float64, ldu int, scales, b []float64, ldb int, dst []float64) {
	need("SolvedSquares U", u, n, n, ldu)
	need("SolvedSquares scales", scales, 1, n, n)
	need("SolvedSquares B", b, m, n, ldb)
	need("SolvedSquares result", dst, 1, m, m)
	if m == 0 || n == 0 {
		clear(dst[:m])
		return
	}
	if n <= side {
		t := p.triangles()
		t.load(false, n, u, ldu)
		t.scales, t.squares = scales, dst
		defer func() { t.scales, t.squares = nil, nil }() // after a panic, too: a solve would store no solution
		t.solve(true, m, 0, b, ldb)
		return
	}
	rows := aligned[float64](min(m, squaresRows) * n)
	for first := 0; first < m; first += squaresRows {
		count := min(squaresRows, m-first)
		p.Run(count, func(i, _ int) {
			x, row := b[(first+i)*ldb:(first+i)*ldb+n], rows[i*n:(i+1)*n]
			for k, s := range scales[:n] {
				row[k] = s * x[k]
			}
		})
		p.TrsmRight(false, count, n, u, ldu, rows, n)
		p.Run(count, func(i, _ int) { row := rows[i*n : (i+1)*n]; dst[first+i] = Dot(row, row) })
	}
}

// square solves a packed panel whose n right-hand sides begin with row j of B, and stores the squares of their
// solutions.
func (t *triangle) square(panel []float64, j, n, worker int) {
	g := t.grid
	for k, s := range t.scales[:t.kb] {
		Scale(s, panel[k*g.nr:(k+1)*g.nr])
	}
	t.substitute(panel, 0)
	t.rows[worker] = grow(t.rows[worker], side*g.nr)
	rows := t.rows[worker]
	g.transpose(n, t.kb, panel, g.nr, rows, side)
	for r := range n {
		row := rows[r*side : r*side+t.kb]
		t.squares[j+r] = Dot(row, row)
	}
}
