package feature

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Spline is the curved part of a natural cubic spline of one input: k − 2 weights for k knots, whose squares add up to
// ∫ f″², so that one prior variance says how much the function bends. It is straight beyond the outer knots, and 0 in
// the least squares line through its values at the knots: the straight part is another term's.
//
// With a(x) the cardinal natural spline (mgcv's basis "cr") and S its penalty, of which S⁺ is the pseudo-inverse, rows
// have φ(x)ᵀφ(z) = a(x)ᵀ S⁺ a(z). The second derivatives γ at the inner knots have ∫ f″² = γᵀBγ for a tridiagonal
// B = LLᵀ (Green & Silverman 1994, section 2.1); weights are Lᵀγ. A weight is then told without eigenvectors, whose
// signs and rotations differ between machines.
type Spline struct {
	Name  string `json:"name"` // as the formula writes it
	Input int    `json:"input"`
	// Knots increase, three at least, as the input enters the fit. How many and where is chosen in formula/spline.go.
	Knots []float64 `json:"knots"`
}

// Cyclic is a periodic smoothing spline of one input without its constant: cosines and sines of the first harmonics of
// a period, j⁻² cos and j⁻² sin of 2πjx/period, so that the squares of the weights add up to ∫ f″² over a period but
// for a factor.
type Cyclic struct {
	Name      string  `json:"name"` // as the formula writes it
	Input     int     `json:"input"`
	Period    float64 `json:"period"` // in the unit of the data's own column
	Harmonics int     `json:"harmonics"`
}

// Kind implements [Term].
func (*Spline) Kind() string { return "spline" }

// Kind implements [Term].
func (*Cyclic) Kind() string { return "cyclic" }

// Label implements [Term].
func (t *Spline) Label() string { return t.Name }

// Label implements [Term].
func (t *Cyclic) Label() string { return t.Name }

// Bind implements [Term].
func (t *Spline) Bind(in *Inputs) (Map, error) {
	if _, err := newReader(t.Name, in, []int{t.Input}, false, nil); err != nil {
		return nil, err
	}
	k := len(t.Knots)
	if k < 3 {
		return nil, fmt.Errorf("feature: %s has %d knots: give three at least", t.Name, k)
	}
	for i, v := range t.Knots {
		if !(math.Abs(v) <= farthest) || i > 0 && v <= t.Knots[i-1] {
			return nil, fmt.Errorf("feature: %s: knot %d is %g: give finite numbers that increase", t.Name, i+1, v)
		}
	}
	m := &splineMap{input: t.Input, name: in.Dense[t.Input].Name, knots: slices.Clone(t.Knots)}
	m.tabulate()
	return m, nil
}

type splineMap struct {
	input int
	name  string
	knots []float64
	// Every weight's function has these values and second derivatives at the knots, k×(k−2).
	values, bends linop.Dense
}

// tabulate makes the functions: weight j has L e_j for its second differences Bγ and L⁻ᵀ e_j for its γ.
func (m *splineMap) tabulate() {
	k := len(m.knots)
	m.values, m.bends = linop.NewDense(k, k-2), linop.NewDense(k, k-2)
	gap := func(i int) float64 { return m.knots[i+1] - m.knots[i] }
	diagonal, below := make([]float64, k-2), make([]float64, k-2) // of L
	for j := range diagonal {
		square := (gap(j) + gap(j+1)) / 3
		if j > 0 {
			square -= below[j-1] * below[j-1]
		}
		diagonal[j] = math.Sqrt(square)
		below[j] = gap(j+1) / 6 / diagonal[j]
	}
	centre, spread := 0.0, 0.0
	for _, x := range m.knots {
		centre += x / float64(k)
	}
	for _, x := range m.knots {
		spread += (x - centre) * (x - centre)
	}
	for j := range k - 2 {
		bend := 1 / diagonal[j]
		for i := j; i >= 0; i-- {
			m.bends.Row(i + 1)[j] = bend
			if i > 0 {
				bend *= -below[i-1] / diagonal[i-1]
			}
		}
		// Slopes grow by the second differences; the line is taken out.
		slope, value, mean, tilt := 0.0, 0.0, 0.0, 0.0
		for i, x := range m.knots {
			m.values.Row(i)[j] = value
			mean += value / float64(k)
			tilt += value * (x - centre) / spread
			switch i {
			case j + 1:
				slope += diagonal[j]
			case j + 2:
				slope += below[j]
			}
			if i < k-1 {
				value += slope * gap(i)
			}
		}
		for i, x := range m.knots {
			m.values.Row(i)[j] -= mean + tilt*(x-centre)
		}
	}
}

func (m *splineMap) Columns() (dense, sparse int) { return len(m.knots) - 2, 0 }

func (m *splineMap) WeightName(j int) string { return fmt.Sprintf("%s bend %d", m.name, j+1) }

// Fill is the cubic between two knots of given values and second derivatives (Green & Silverman 1994, equation 2.22),
// and a line beyond the last.
func (m *splineMap) Fill(_ *credence.Workspace, dst linop.Dense, rows *credence.Batch) {
	last := len(m.knots) - 2
	for i := range dst.Rows {
		row, x := dst.Row(i), limit(rows.X.Row(i)[m.input])
		at, _ := slices.BinarySearch(m.knots, x)
		at = max(0, min(at-1, last))
		h := m.knots[at+1] - m.knots[at]
		s := limit((x - m.knots[at]) / h)
		inside := max(0, min(s, 1))
		left := -h * h / 6 * (inside * (1 - inside) * (2 - inside))
		right := -h * h / 6 * (inside * (1 - inside) * (1 + inside))
		// Beyond the end the slope is that at the end, where the second derivative is 0.
		if s < 0 {
			right -= h * h / 6 * s
		} else if s > 1 {
			left += h * h / 6 * (s - 1)
		}
		clear(row)
		kernel.Axpy(1-s, m.values.Row(at), row)
		kernel.Axpy(s, m.values.Row(at+1), row)
		kernel.Axpy(left, m.bends.Row(at), row)
		kernel.Axpy(right, m.bends.Row(at+1), row)
	}
}

// MostHarmonics bounds the harmonics of a cyclic smooth, and the knots of a spline.
const MostHarmonics = 1000

// Bind implements [Term].
func (t *Cyclic) Bind(in *Inputs) (Map, error) {
	if _, err := newReader(t.Name, in, []int{t.Input}, false, nil); err != nil {
		return nil, err
	}
	if !(t.Period > 0) || math.IsInf(t.Period, 1) || t.Harmonics < 1 || t.Harmonics > MostHarmonics {
		return nil, fmt.Errorf("feature: %s has %d harmonics of a period of %g: give 1 to %d of a positive one", t.Name, t.Harmonics, t.Period, MostHarmonics)
	}
	return &cyclicMap{*t, in.Dense[t.Input]}, nil
}

type cyclicMap struct {
	term  Cyclic
	input Input
}

func (m *cyclicMap) Columns() (dense, sparse int) { return 2 * m.term.Harmonics, 0 }

func (m *cyclicMap) WeightName(j int) string {
	return fmt.Sprintf("%s %s %d", m.input.Name, [...]string{"cos", "sin"}[j%2], j/2+1)
}

// angle is the place in the period of a value of the input, as it enters the fit.
func (t *Cyclic) angle(input *Input, x float64) float64 {
	turns := limit(limit(input.Center+scaleOf(input)*limit(x)) / t.Period)
	return 2 * math.Pi * (turns - math.Floor(turns))
}

// Fill turns by the first harmonic from one to the next.
func (m *cyclicMap) Fill(_ *credence.Workspace, dst linop.Dense, rows *credence.Batch) {
	for i := range dst.Rows {
		row := dst.Row(i)
		sin, cos := math.Sincos(m.term.angle(&m.input, rows.X.Row(i)[m.term.Input]))
		s, c := sin, cos
		for j := range m.term.Harmonics {
			share := 1 / float64((j+1)*(j+1))
			row[2*j], row[2*j+1] = share*c, share*s
			s, c = s*cos+c*sin, c*cos-s*sin
		}
	}
}

// plain are the cubics.
func (m *splineMap) plain(p Plain) []Plain {
	p.Kind, p.Inputs = "spline", []int{m.input}
	p.Numbers["knots"], p.Numbers["values"], p.Numbers["bends"] = m.knots, m.values.Data, m.bends.Data
	return []Plain{p}
}

// plain are the harmonics of the period, each of its share.
func (m *cyclicMap) plain(p Plain) []Plain {
	p.ofCycle(&m.term, &m.input)
	for j := range m.term.Harmonics {
		share := 1 / float64((j+1)*(j+1))
		p.Numbers["deviation"] = append(p.Numbers["deviation"], share, share)
	}
	return []Plain{p}
}
