package effect

import (
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// start is what a run of rows has in its first state: other states mostly change few features of it, so that f there is
// f here and the change times the weights.
type start struct {
	dense   linop.Dense
	sparse  linop.CSR
	values  []float64 // of f without offset, rows × draws
	changed linop.CSR // the difference of the features of another state
}

// set keeps the first state.
func (s *start) set(phi *credence.Design, values []float64) {
	s.dense.Reshape(phi.Dense.Rows, phi.Dense.Cols)
	for i := range phi.Dense.Rows {
		copy(s.dense.Row(i), phi.Dense.Row(i))
	}
	s.sparse.Reset(phi.Sparse.Cols)
	s.sparse.Append(&phi.Sparse)
	s.values = append(s.values[:0], values...)
}

// differ finds the features that phi does not share with the first state, and says whether they are so few that a
// product with them alone is less work: a product with all of them is of blocks, which take a fraction of the time of
// rows.
func (s *start) differ(phi *credence.Design) bool {
	rows, cols := phi.Dims()
	dense, few := phi.Dense.Cols, rows*cols/16
	if phi.Dense.Cols == 0 {
		few = phi.Sparse.Entries() / 2
	}
	s.changed.Reset(cols)
	var columns []int32
	var values []float64
	for i := range rows {
		columns, values = columns[:0], values[:0]
		if dense > 0 {
			before := s.dense.Row(i)
			for j, v := range phi.Dense.Row(i) {
				if v != before[j] {
					columns, values = append(columns, int32(j)), append(values, v-before[j])
				}
			}
		}
		columns, values = differences(columns, values, int32(dense), &s.sparse, &phi.Sparse, i)
		if s.changed.AppendRow(columns, values); s.changed.Entries() > few {
			return false
		}
	}
	return true
}

// differences appends where row i of b is not that of a; both have their columns in order.
func differences(columns []int32, values []float64, first int32, a, b *linop.CSR, i int) ([]int32, []float64) {
	if b.Cols == 0 {
		return columns, values
	}
	was, before := a.Row(i)
	is, after := b.Row(i)
	for p, q := 0, 0; p < len(was) || q < len(is); {
		var j int32
		v := 0.0
		if q == len(is) || p < len(was) && was[p] <= is[q] {
			j, v = was[p], -linop.At(before, p)
		} else {
			j = is[q]
		}
		if p < len(was) && was[p] == j {
			p++
		}
		if q < len(is) && is[q] == j {
			v += linop.At(after, q)
			q++
		}
		if v != 0 {
			columns, values = append(columns, first+j), append(values, v)
		}
	}
	return columns, values
}

// latent stores f without offset of the rows in state k under every draw of a member in dst, rows × draws.
func (m *member) latent(ws *credence.Workspace, k int, dst []float64) {
	rows, cols := m.phi.Dims()
	if k == 0 || !m.start.differ(&m.phi) {
		m.phi.MulColumns(ws, dst, m.draws, m.count)
		if k == 0 {
			m.start.set(&m.phi, dst)
		}
		return
	}
	copy(dst, m.start.values)
	weights := linop.Dense{Rows: cols, Cols: m.count, Stride: m.count, Data: m.draws}
	ws.Each(rows, func(i int) {
		m.start.changed.AddRowMul(dst[i*m.count:(i+1)*m.count], i, 1, &weights)
	})
}

// acrossDraws turns draws of d weights, one a row, so that a weight has its draws side by side.
func acrossDraws(draws []float64, d int) []float64 {
	count := len(draws) / max(1, d)
	out := make([]float64, len(draws))
	for s, w := range slices.Collect(slices.Chunk(draws, max(1, d))) {
		for j, v := range w {
			out[j*count+s] = v
		}
	}
	return out
}
