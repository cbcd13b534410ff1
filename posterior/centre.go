package posterior

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Posteriors in dual form, and spike-and-slab ones, are of centred rows φ − φ_0 c, where φ_0 is the intercept's own
// column. Dense columns are centred as they are used; sparse ones stay sparse, and what products of theirs lack of
// those of centred ones is added. A nil centre is none.

// centredRows returns rows whose dense columns are centred, which stand in the scratch memory of ws.
func centredRows(ws *credence.Workspace, phi *credence.Design, centre []float64) credence.Design {
	out := *phi
	if centre == nil {
		return out
	}
	rows, dense := phi.Dense.Rows, phi.Dense.Cols
	out.Dense = linop.Dense{Rows: rows, Cols: dense, Stride: dense, Data: ws.Floats(rows * dense)}
	for i := range rows {
		from, row := phi.Dense.Row(i), out.Dense.Row(i)
		copy(row, from)
		kernel.Axpy(-from[0], centre[:dense], row)
	}
	return out
}

// centreSquares turns φᵀVφ of every row of centred dense columns, for a diagonal V, into that of
// centred rows.
func centreSquares(ws *credence.Workspace, squares []float64, phi *credence.Design, centre, v []float64) {
	if centre == nil || phi.Sparse.Cols == 0 {
		return
	}
	defer ws.Release(ws.Mark())
	dense := phi.Dense.Cols
	scaled, square := weighed(ws, centre, v, dense, len(centre)-dense)
	for i := range squares {
		lead := phi.Dense.Row(i)[0]
		squares[i] += lead * (lead*square - 2*phi.Sparse.AddRowDot(0, i, scaled[dense:]))
	}
}

// weighed returns Vc over the weights [first, first+count), 0 for all others, and cᵀVc of these. A
// nil V is the identity.
func weighed(ws *credence.Workspace, centre, v []float64, first, count int) (scaled []float64, square float64) {
	scaled = ws.Floats(len(centre))
	clear(scaled)
	for j := first; j < first+count; j++ {
		scaled[j] = centre[j]
		if v != nil {
			scaled[j] *= v[j]
		}
		square += centre[j] * scaled[j]
	}
	return scaled, square
}

// centreProducts turns ΦVφ over the weights [first, first+count), n×rows, for rows of centred dense
// columns, into that of centred rows on both sides.
func centreProducts(ws *credence.Workspace, dst []float64, design, phi *credence.Design, centre, v []float64, first, count int) {
	if centre == nil {
		return
	}
	defer ws.Release(ws.Mark())
	n, rows, dense := design.Dense.Rows, phi.Dense.Rows, phi.Dense.Cols
	all, _ := weighed(ws, centre, v, first, count)
	own := ws.Floats(rows)
	for i := range own {
		own[i] = phi.RowDot(i, all)
	}
	var sparse []float64
	if end := first + count; end > dense {
		from := max(first, dense)
		scaled, square := weighed(ws, centre, v, from, end-from)
		for i := range own {
			own[i] -= phi.Dense.Row(i)[0] * square
		}
		sparse = scaled[dense:]
	}
	for r := range n {
		root, train := design.Dense.Row(r)[0], 0.0
		if sparse != nil {
			train = design.Sparse.AddRowDot(0, r, sparse)
		}
		for i, o := range own {
			dst[r*rows+i] -= phi.Dense.Row(i)[0]*train + root*o
		}
	}
}

// centreCovariance turns Φ_a V Φ_bᵀ in dst, of rows that are centred before weight first, into that of centred rows.
func centreCovariance(ws *credence.Workspace, dst *linop.Dense, a, b *credence.Design, centre, v []float64, first int) {
	if centre == nil {
		return
	}
	defer ws.Release(ws.Mark())
	scaled, square := weighed(ws, centre, v, first, len(centre)-first)
	left, right := ws.Floats(dst.Rows), ws.Floats(dst.Cols)
	a.Mul(ws, left, scaled)
	b.Mul(ws, right, scaled)
	for i, l := range left {
		lead, row := a.Dense.Row(i)[0], dst.Row(i)
		for k, r := range right {
			other := b.Dense.Row(k)[0]
			row[k] += lead*(other*square-r) - l*other
		}
	}
}

// interceptMarginal stores mean and variance of weight 0, which is f of the row that has the intercept alone.
func interceptMarginal(q credence.Posterior, design *credence.Design, centre, mean, variance []float64) {
	if centre == nil {
		return
	}
	unit := credence.Design{Dense: linop.NewDense(1, design.Dense.Cols)}
	unit.Dense.Data[0] = 1
	if sparse := design.Sparse.Cols; sparse > 0 {
		unit.Sparse.Reset(sparse)
		unit.Sparse.AppendRow(nil, nil)
	}
	q.Latent(credence.NewWorkspace(1), mean[:1], variance[:1], &unit)
}

// Centred reports whether there is a centre, with which weight 0 is an intercept.
func (p *Dual) Centred() bool { return p.Centre != nil }

// Centred reports whether there is a centre, with which weight 0 is an intercept.
func (p *DualSum) Centred() bool { return p.Centre != nil }

// Centred reports whether there is a centre, with which weight 0 is an intercept.
func (p *SpikeSlab) Centred() bool { return p.Centre != nil }

// checkCentre refuses a centre without an intercept.
func checkCentre(centre []float64, d, dense int) error {
	if centre != nil && (len(centre) != d || dense == 0 || centre[0] != 0) {
		return fmt.Errorf("posterior: a centre of %d numbers for %d weights, the first of which is an intercept in a dense column", len(centre), d)
	}
	return nil
}
