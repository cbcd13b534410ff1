package posterior

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// sparseSquares subtracts zᵀFz from dst for sparse columns z of a design from weight first on, less their centre. F is
// n×n and symmetric; row returns a row of it from the diagonal on, and byColumn is the transpose of all sparse columns.
func sparseSquares(ws *credence.Workspace, dst []float64, row func(i int) []float64, design *credence.Design, byColumn *linop.CSR, centre []float64, first int) {
	n := design.Dense.Rows
	var along []float64 // Fr of the column r that a centre is of
	square := 0.0       // rᵀFr
	if centre != nil {
		root := make([]float64, n)
		for i := range root {
			root[i] = design.Dense.Row(i)[0]
		}
		along = make([]float64, n)
		for i, r := range root {
			along[i] += kernel.Dot(row(i), root[i:])
			kernel.Axpy(r, row(i)[1:], along[i+1:])
		}
		square = kernel.Dot(root, along)
	}
	ws.Each(len(dst), func(j int) {
		rows, values := byColumn.Row(first - design.Dense.Cols + j)
		sum, cross := 0.0, 0.0
		for a, i := range rows {
			v, of := linop.At(values, a), row(int(i))
			part := v * of[0] / 2
			for b := a + 1; b < len(rows); b++ {
				part += linop.At(values, b) * of[rows[b]-i]
			}
			sum += 2 * v * part
			if along != nil {
				cross += v * along[i]
			}
		}
		if centre != nil {
			c := centre[first+j]
			sum += c * (c*square - 2*cross)
		}
		dst[j] -= sum
	})
}
