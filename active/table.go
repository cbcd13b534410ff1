package active

import (
	"math"

	"github.com/credence-ml/credence"
)

// table holds the logarithm of a positive function of mean and variance on a grid, equally spaced in
// the logarithm of the variance and in mean/√(4 + variance): what a site of a label and a
// normal distribution make smooth. Products of polynomials of degree 5 interpolate it.
type table struct {
	of     func(mean, variance float64) float64
	values []float64 // [logarithm of the variance][mean]
}

// The grid, beside which the function itself is computed.
const (
	tableStep             = 0.1
	lowestLog, highestLog = -14.0, 9.0
	widest                = 7.0
	tableMargin           = 2 // points of the polynomials on either side of a cell
	tableRows             = int((highestLog-lowestLog)/tableStep) + 2*tableMargin + 2
	tableCols             = int(widest/tableStep) + 2*tableMargin + 2
)

func newTable(of func(mean, variance float64) float64) *table {
	t := &table{of, make([]float64, tableRows*tableCols)}
	for i := range tableRows {
		variance := math.Exp(lowestLog + tableStep*float64(i-tableMargin))
		for k := range tableCols {
			t.values[i*tableCols+k] = math.Log(of(tableStep*float64(k-tableMargin)*math.Sqrt(4+variance), variance))
		}
	}
	return t
}

// at returns the function at |mean|.
func (t *table) at(mean, variance float64) float64 {
	mean = math.Abs(mean)
	row, col := (math.Log(variance)-lowestLog)/tableStep, mean/math.Sqrt(4+variance)/tableStep
	if !(row >= 0 && row < (highestLog-lowestLog)/tableStep && col < widest/tableStep) {
		return t.of(mean, variance)
	}
	i, k := math.Floor(row), math.Floor(col)
	down, across := weights(row-i), weights(col-k)
	sum := 0.0
	for a, wa := range down {
		first := (int(i)+a)*tableCols + int(k)
		part := 0.0
		for b, v := range t.values[first : first+len(across)] {
			part += across[b] * v
		}
		sum += wa * part
	}
	return math.Exp(sum)
}

// weights are those of the six points −2, …, 3 in the polynomial through them at x in [0, 1) (Lagrange).
func weights(x float64) [6]float64 {
	a, b, c, d, e, f := x+2, x+1, x, x-1, x-2, x-3
	return [6]float64{
		-b * c * d * e * f / 120, a * c * d * e * f / 24, -a * b * d * e * f / 12,
		a * b * c * e * f / 12, -a * b * c * d * f / 24, a * b * c * d * e / 120,
	}
}

// subset is some rows of a batch as data, in the order given.
type subset struct {
	of     *credence.Batch
	places []int
}

// Rows implements [credence.Data].
func (s subset) Rows() int { return len(s.places) }

// Read implements [credence.Data].
func (s subset) Read(dst *credence.Batch, first, count int) error {
	*dst = credence.Batch{}
	for _, place := range s.places[first : first+count] {
		dst.Append(s.of, place, 1)
	}
	dst.First = first
	return nil
}

// blocks returns the rows in blocks of the size in which rows are scored.
func (s subset) blocks() ([]credence.Batch, error) {
	var out []credence.Batch
	for first, count := range credence.Blocks(len(s.places)) {
		var b credence.Batch
		if err := s.Read(&b, first, count); err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}
