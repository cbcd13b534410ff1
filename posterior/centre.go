package posterior

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Centred rows φ − φ_0 c of posteriors in dual form, where φ_0 is the intercept's own column: what
// products of rows as they are lack of those of centred ones, so that sparse rows stay sparse. A nil centre
// is none.

// centreSquares turns φᵀVφ of every row, for a diagonal V, into that of centred rows.
func centreSquares(ws *credence.Workspace, squares []float64, phi *credence.Design, centre, v []float64) {
	if centre == nil {
		return
	}
	defer ws.Release(ws.Mark())
	along := ws.Floats(len(squares))
	scaled, square := weighed(centre, v, 0, len(centre))
	phi.Mul(ws, along, scaled)
	for i, a := range along {
		lead := phi.Dense.Row(i)[0]
		squares[i] += lead * (lead*square - 2*a)
	}
}

// weighed returns Vc over the weights [first, first+count), 0 for all others, and cᵀVc of these. A
// nil V is the identity.
func weighed(centre, v []float64, first, count int) (scaled []float64, square float64) {
	scaled = make([]float64, len(centre))
	for j := first; j < first+count; j++ {
		scaled[j] = centre[j]
		if v != nil {
			scaled[j] *= v[j]
		}
		square += centre[j] * scaled[j]
	}
	return scaled, square
}

// centreProducts turns ΦVφ over the weights [first, first+count), n×rows, into that of centred rows.
func centreProducts(ws *credence.Workspace, dst []float64, design, phi *credence.Design, centre, v []float64, first, count int) {
	if centre == nil {
		return
	}
	defer ws.Release(ws.Mark())
	n, rows := design.Dense.Rows, phi.Dense.Rows
	scaled, square := weighed(centre, v, first, count)
	train, own := ws.Floats(n), ws.Floats(rows)
	design.Mul(ws, train, scaled)
	phi.Mul(ws, own, scaled)
	for r, t := range train {
		root := design.Dense.Row(r)[0]
		for i, o := range own {
			lead := phi.Dense.Row(i)[0]
			dst[r*rows+i] -= lead*t + root*(o-lead*square)
		}
	}
}

// centreCovariance turns Φ_a V Φ_bᵀ in dst into that of centred rows.
func centreCovariance(ws *credence.Workspace, dst *linop.Dense, a, b *credence.Design, centre, v []float64) {
	if centre == nil {
		return
	}
	defer ws.Release(ws.Mark())
	scaled, square := weighed(centre, v, 0, len(centre))
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

// checkCentre refuses a centre without an intercept.
func checkCentre(centre []float64, design *credence.Design) error {
	if _, d := design.Dims(); centre != nil && (len(centre) != d || design.Dense.Cols == 0 || centre[0] != 0) {
		return fmt.Errorf("posterior: a centre of %d numbers for %d weights, the first of which is an intercept in a dense column", len(centre), d)
	}
	return nil
}
