package quad

import (
	"math"
	"sync/atomic"

	"github.com/credence-ml/credence/internal/special"
)

// Located is a table of the distribution function of d = e + f, of a noise e and an f of mean 0 and a standard
// deviation, in both: of families of location, whose y, or log y, is e and f added. It holds Φ⁻¹ of the function, which
// is next to a straight line, as Chebyshev's polynomials in cells, each made when it is first asked for: the same
// numbers whoever asks, so that goroutines may share a table. The error is below 1e-9, and 1e-8 standard deviations of
// a quantile.
type Located struct {
	cdf   func(d, sd float64) float64
	unit  float64 // about the scale of e
	cells [locatedStrips][2 * locatedCells]atomic.Pointer[locatedCell]
}

const (
	// Strips of the ratio σ of the standard deviation of f to the unit: up to ½, and then by powers of 2.
	locatedStrips = 6
	// Cells on either side of 0 of w = arsinh(d / √(unit² + sd²)), locatedWidth wide.
	locatedCells = 22
	locatedWidth = 0.35
	// locatedSDs and locatedPlaces are the polynomials of a cell, in σ and in w.
	locatedSDs, locatedPlaces = 10, 10
	// mostLocated is the largest Φ⁻¹: beyond it what is 1 but for rounding has lost its digits.
	mostLocated = 6.5
)

// locatedCell are coefficients of products of Chebyshev's polynomials.
type locatedCell [locatedSDs][locatedPlaces]float64

// NewLocated returns a table of a distribution function, of which the noise has about the scale unit.
func NewLocated(unit float64, cdf func(d, sd float64) float64) *Located {
	return &Located{cdf: cdf, unit: unit}
}

// Slice is a cell at a standard deviation: what lookups near each other have in common. The zero value knows none.
type Slice struct {
	cell *locatedCell
	sd   float64
	sums [locatedPlaces]float64
}

// At returns Φ⁻¹(P(e + f ≤ d)), which is no number where the table does not reach. It leaves in near what the next
// lookup may use again, of this table.
func (t *Located) At(d, sd float64, near *Slice) float64 {
	ratio := sd / t.unit
	strip, v := 0, 4*ratio-1
	if ratio >= 0.5 {
		var fraction float64
		fraction, strip = math.Frexp(ratio) // in [½, 1)
		strip, v = strip+1, 4*fraction-3
	}
	w := math.Asinh(d/math.Sqrt(t.unit*t.unit+sd*sd)) / locatedWidth
	place := math.Floor(w)
	if !(strip < locatedStrips && math.Abs(place+0.5) < locatedCells) {
		return math.NaN()
	}
	slot := &t.cells[strip][int(place)+locatedCells]
	cell := slot.Load()
	if cell == nil {
		cell = t.fill(strip, place)
		slot.Store(cell)
	}
	if near.cell != cell || near.sd != sd {
		var x [locatedSDs]float64
		chebyshev(x[:], v)
		*near = Slice{cell: cell, sd: sd}
		for i := range cell {
			row, factor := &cell[i], x[i]
			for k := range row {
				near.sums[k] += factor * row[k]
			}
		}
	}
	// Clenshaw's recurrence.
	x, b, c := 2*(w-place)-1, 0.0, 0.0
	for k := locatedPlaces - 1; k > 0; k-- {
		b, c = near.sums[k]+2*x*b-c, b
	}
	return near.sums[0] + x*b - c
}

// chebyshev stores T_0(x), T_1(x), ….
func chebyshev(dst []float64, x float64) {
	dst[0], dst[1] = 1, x
	for k := 2; k < len(dst); k++ {
		dst[k] = 2*x*dst[k-1] - dst[k-2]
	}
}

// fill interpolates at Chebyshev's nodes. A cell that reaches beyond mostLocated is no number.
func (t *Located) fill(strip int, place float64) *locatedCell {
	var atNode [locatedSDs][locatedPlaces]float64 // T_k at node i, of either axis
	node := func(i int) float64 { return math.Cos(math.Pi * (float64(i) + 0.5) / locatedPlaces) }
	for i := range atNode {
		chebyshev(atNode[i][:], node(i))
	}
	cell := new(locatedCell)
	for i := range locatedSDs {
		sd := (node(i) + 1) / 4 * t.unit
		if strip > 0 {
			sd = math.Ldexp((node(i)+3)/4*t.unit, strip-1)
		}
		stretch := math.Sqrt(t.unit*t.unit + sd*sd)
		for k := range locatedPlaces {
			p := t.cdf(math.Sinh((place+(node(k)+1)/2)*locatedWidth)*stretch, sd)
			z := special.NormalQuantile(math.Max(0, math.Min(p, 1))) // a sum of members may be more than 1 by rounding
			if !(math.Abs(z) < mostLocated) {
				z = math.NaN()
			}
			for a := range cell {
				for b := range cell[a] {
					cell[a][b] += z * atNode[i][a] * atNode[k][b]
				}
			}
		}
	}
	for a := range cell {
		for b := range cell[a] {
			for _, first := range [2]bool{a == 0, b == 0} {
				if cell[a][b] *= 2; first {
					cell[a][b] /= 2
				}
			}
			cell[a][b] /= locatedSDs * locatedPlaces
		}
	}
	return cell
}
