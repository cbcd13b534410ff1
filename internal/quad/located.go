package quad

import (
	"math"
	"sync/atomic"

	"github.com/credence-ml/credence/internal/special"
)

// Located is a table of the distribution function of d = e + f, of a noise e and an f of mean 0 and a standard
// deviation, in both: of families of location, whose y, or log y, is e and f added. It holds Φ⁻¹ of the function, which
// is next to a straight line, as polynomials in cells, each made when it is first asked for: the same
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
	// Cells on either side of d = 0, two for each doubling of u = a + √(1 + a²), a = |d| / √(unit² + sd²): halves of
	// the numbers between powers of 2, which are found without arsinh a = log u.
	locatedCells = 22
	// locatedSDs and locatedPlaces are the polynomials of a cell, in σ and in u.
	locatedSDs, locatedPlaces = 10, 10
	// mostLocated is the largest Φ⁻¹: beyond it what is 1 but for rounding has lost its digits.
	mostLocated = 6.5
)

// locatedCell are coefficients of Chebyshev's polynomials of σ times powers of u, both from -1 to 1: of so few powers
// rounding loses no more than two digits.
type locatedCell [locatedSDs][locatedPlaces]float64

// NewLocated returns a table of a distribution function, of which the noise has about the scale unit.
func NewLocated(unit float64, cdf func(d, sd float64) float64) *Located {
	return &Located{cdf: cdf, unit: unit}
}

// Slice is a table at one standard deviation: what the lookups of a component of a row have in common.
type Slice struct {
	table   *Located
	stretch float64
	strip   int
	sds     [locatedSDs]float64 // polynomials of the ratio
	known   uint64              // the cells whose sums over these are known
	sums    [2 * locatedCells][locatedPlaces]float64
}

// Slice makes a slice of the table at a standard deviation, which At then looks up in.
func (t *Located) Slice(s *Slice, sd float64) {
	ratio, strip := sd/t.unit, 0
	v := 4*ratio - 1
	if ratio >= 0.5 {
		var fraction float64
		fraction, strip = math.Frexp(ratio) // in [½, 1)
		strip, v = strip+1, 4*fraction-3
	}
	s.table, s.strip, s.stretch, s.known = t, strip, math.Sqrt(t.unit*t.unit+sd*sd), 0
	chebyshev(s.sds[:], v)
}

// At returns Φ⁻¹(P(e + f ≤ d)), which is no number where the table does not reach.
func (s *Slice) At(d float64) float64 {
	a := math.Abs(d) / s.stretch
	u := math.Float64bits(a+math.Sqrt(1+a*a)) - math.Float64bits(1)
	at := int(u >> 51)
	if !(s.strip < locatedStrips && at < locatedCells) {
		return math.NaN()
	}
	x := float64(u&(1<<51-1))*0x1p-50 - 1 // within the cell, of its numbers u
	if d < 0 {
		at += locatedCells
	}
	sums := &s.sums[at]
	if s.known>>at&1 == 0 {
		s.known |= 1 << at
		s.table.sum(sums, s.strip, at, &s.sds)
	}
	even, odd, square := sums[locatedPlaces-2], sums[locatedPlaces-1], x*x
	for k := locatedPlaces - 4; k >= 0; k -= 2 {
		even, odd = even*square+sums[k], odd*square+sums[k+1]
	}
	return even + x*odd
}

// sum stores the coefficients of a cell in u, for the polynomials of a ratio.
func (t *Located) sum(sums *[locatedPlaces]float64, strip, at int, sds *[locatedSDs]float64) {
	slot := &t.cells[strip][at]
	cell := slot.Load()
	if cell == nil {
		cell = t.fill(strip, at)
		slot.Store(cell)
	}
	*sums = [locatedPlaces]float64{}
	for i := range cell {
		row, factor := &cell[i], sds[i]
		for k := range row {
			sums[k] += factor * row[k]
		}
	}
}

// chebyshev stores T_0(x), T_1(x), ….
func chebyshev(dst []float64, x float64) {
	dst[0], dst[1] = 1, x
	for k := 2; k < len(dst); k++ {
		dst[k] = 2*x*dst[k-1] - dst[k-2]
	}
}

// fill interpolates at Chebyshev's nodes. A cell that reaches beyond mostLocated is no number.
func (t *Located) fill(strip, at int) *locatedCell {
	var atNode [locatedSDs][locatedPlaces]float64 // T_k at node i, of either axis
	node := func(i int) float64 { return math.Cos(math.Pi * (float64(i) + 0.5) / locatedPlaces) }
	for i := range atNode {
		chebyshev(atNode[i][:], node(i))
	}
	side := 1.0
	if at >= locatedCells {
		side, at = -1, at-locatedCells
	}
	cell := new(locatedCell)
	for i := range locatedSDs {
		sd := (node(i) + 1) / 4 * t.unit
		if strip > 0 {
			sd = math.Ldexp((node(i)+3)/4*t.unit, strip-1)
		}
		stretch := math.Sqrt(t.unit*t.unit + sd*sd)
		for k := range locatedPlaces {
			u := math.Ldexp(1+float64(at%2)/2+(node(k)+1)/4, at/2)
			p := t.cdf(side*(u-1/u)/2*stretch, sd)
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
		cell[a] = powers(cell[a])
	}
	return cell
}

// powers returns the coefficients of powers of the sum of Chebyshev's polynomials with coefficients c.
func powers(c [locatedPlaces]float64) (sum [locatedPlaces]float64) {
	var last, before [locatedPlaces]float64 // coefficients of T_k and T_k-1
	last[0] = 1
	for k := range c {
		var next [locatedPlaces]float64
		for i, v := range last {
			sum[i] += c[k] * v
			if i+1 < len(next) {
				next[i+1] = 2 * v
			}
		}
		for i, v := range before {
			next[i] -= v
		}
		if k == 0 {
			next[1] = 1 // T_1 is x, not 2x
		}
		before, last = last, next
	}
	return sum
}
