package linop

import "fmt"

// CSR is a sparse matrix of compressed rows: the entries of row i are
// (Index[k], Value[k]) for k in [Start[i], Start[i+1]), with strictly increasing
// column indices. A nil Value means that every stored entry is 1.
type CSR struct {
	Rows, Cols int
	Start      []int     // length Rows+1, Start[0] is 0
	Index      []int32   // column of each entry
	Value      []float64 // value of each entry, or nil
}

// Dims returns the number of rows and of columns.
func (a *CSR) Dims() (rows, cols int) { return a.Rows, a.Cols }

// Entries returns the number of stored entries.
func (a *CSR) Entries() int { return len(a.Index) }

// Row returns the columns and the values of row i, sharing memory with a; values
// is nil when every entry is 1.
func (a *CSR) Row(i int) (columns []int32, values []float64) {
	lo, hi := a.Start[i], a.Start[i+1]
	if a.Value == nil {
		return a.Index[lo:hi:hi], nil
	}
	return a.Index[lo:hi:hi], a.Value[lo:hi:hi]
}

// Reset makes a an empty matrix with no rows and the given number of columns,
// keeping its memory for AppendRow.
func (a *CSR) Reset(cols int) {
	a.Rows, a.Cols = 0, cols
	a.Start = append(a.Start[:0], 0)
	a.Index = a.Index[:0]
	a.Value = a.Value[:0]
}

// AppendRow adds a row with the given entries, which are copied. Columns must be
// strictly increasing; a nil values means ones and must then be nil for every
// row since Reset.
func (a *CSR) AppendRow(columns []int32, values []float64) {
	if len(a.Start) == 0 {
		a.Start = append(a.Start, 0)
	}
	if values != nil && len(values) != len(columns) {
		panic(fmt.Sprintf("linop: AppendRow with %d columns and %d values", len(columns), len(values)))
	}
	a.Index = append(a.Index, columns...)
	if values != nil {
		a.Value = append(a.Value, values...)
	} else if a.Rows == 0 {
		a.Value = nil
	}
	a.Rows++
	a.Start = append(a.Start, len(a.Index))
}

// MulVec stores A x in dst.
func (a *CSR) MulVec(dst, x []float64) {
	checkMulVec("MulVec", a.Rows, a.Cols, dst, x)
	for i := range dst {
		columns, values := a.Row(i)
		sum := 0.0
		if values == nil {
			for _, j := range columns {
				sum += x[j]
			}
		} else {
			for k, j := range columns {
				sum += values[k] * x[j]
			}
		}
		dst[i] = sum
	}
}

// MulVecTrans stores Aᵀ x in dst.
func (a *CSR) MulVecTrans(dst, x []float64) {
	checkMulVec("MulVecTrans", a.Cols, a.Rows, dst, x)
	clear(dst)
	for i, xi := range x {
		columns, values := a.Row(i)
		if values == nil {
			for _, j := range columns {
				dst[j] += xi
			}
		} else {
			for k, j := range columns {
				dst[j] += values[k] * xi
			}
		}
	}
}

// AddTo adds A to the dense window dst, which has the same shape.
func (a *CSR) AddTo(dst *Dense) {
	if dst.Rows != a.Rows || dst.Cols != a.Cols {
		panic(fmt.Sprintf("linop: AddTo of a %d×%d matrix to a %d×%d one", a.Rows, a.Cols, dst.Rows, dst.Cols))
	}
	for i := range a.Rows {
		columns, values := a.Row(i)
		row := dst.Row(i)
		if values == nil {
			for _, j := range columns {
				row[j]++
			}
		} else {
			for k, j := range columns {
				row[j] += values[k]
			}
		}
	}
}
