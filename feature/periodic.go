package feature

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
)

// Periodic is a Gaussian process of one input that repeats, with the kernel exp(−2 sin²(π τ/period)/ℓ²) by its Fourier
// series (Solin & Särkkä 2014): the constant, and cosines and sines of the first harmonics, with the variances
//
//	q_0² = I_0(a) e^−a      q_j² = 2 I_j(a) e^−a      a = 1/ℓ²
//
// I the modified Bessel functions. The lengthscale is that of the kernel, without a unit.
type Periodic struct {
	Name        string      `json:"name"` // as the formula writes it
	Input       int         `json:"input"`
	Period      float64     `json:"period"` // in the unit of the data's own column
	Harmonics   int         `json:"harmonics"`
	Lengthscale Lengthscale `json:"lengthscale"`
	// Apart says that columns are without the deviations, which are those of the weights alone: see
	// [credence.Proportioned].
	Apart bool `json:"apart,omitempty"`
}

// Kind implements [Term].
func (*Periodic) Kind() string { return "periodic" }

// Label implements [Term].
func (t *Periodic) Label() string { return t.Name }

// shortestPeriodic times 1/m is the shortest lengthscale of m harmonics, which leave out 1.3 % of the variance there.
const shortestPeriodic = 2.4

// Bind implements [Term].
func (t *Periodic) Bind(in *Inputs) (Map, error) {
	m, err := bindProportioned(t.Name, in, []int{t.Input}, t.Lengthscale)
	if err != nil {
		return nil, err
	}
	cycle := &Cyclic{t.Name, t.Input, t.Period, t.Harmonics}
	if _, err := cycle.Bind(in); err != nil {
		return nil, err
	}
	input := in.Dense[t.Input]
	m.deviation, m.slopes = periodicDeviations(t.Harmonics, m.lengthscale.of(0))
	m.weightName = func(j int) string {
		if j == 0 {
			return input.Name + " mean"
		}
		return fmt.Sprintf("%s %s %d", input.Name, [...]string{"sin", "cos"}[j%2], (j+1)/2)
	}
	m.fill = func(dst, x []float64) {
		dst[0] = 1
		sin, cos := math.Sincos(cycle.angle(&input, x[0]))
		s, c := sin, cos
		for j := 1; j < len(dst); j += 2 {
			dst[j], dst[j+1] = c, s
			s, c = s*cos+c*sin, c*cos-s*sin
		}
	}
	term := *t
	m.term, m.apart = &term, t.Apart
	return &periodicMap{m, t.Harmonics}, nil
}

// periodicMap does not go below the lengthscales that its harmonics have.
type periodicMap struct {
	*proportionedMap
	harmonics int
}

func (m *periodicMap) Hyper() []credence.Hyper {
	list := m.proportionedMap.Hyper()
	list[0].Lower = min(max(list[0].Lower, shortestPeriodic/float64(m.harmonics)), list[0].Start)
	return list
}

// periodicDeviations returns q of every column and the slopes of its logarithm in log ℓ. With ρ_j = I_{j+1}/I_j, by its
// continued fraction from behind, the variances of all harmonics add up to 1, and ∂ log I_j/∂ log a = j + a ρ_j.
func periodicDeviations(harmonics int, lengthscale float64) (deviation, slopes []float64) {
	a := 1 / (lengthscale * lengthscale)
	beyond := harmonics + 50 + int(12*math.Sqrt(min(a, 1e8))) // where I_j is nothing
	ratio := make([]float64, beyond+1)
	for j := beyond; j > 0; j-- {
		ratio[j-1] = 1 / (2*float64(j)/a + ratio[j])
	}
	total, share := 1.0, 1.0 // of I_0
	for _, r := range ratio[:beyond] {
		share *= r
		total += 2 * share
	}
	share = 1 / total
	deviation, slopes = []float64{math.Sqrt(share)}, []float64{a * (1 - ratio[0])}
	for j := 1; j <= harmonics; j++ {
		share *= ratio[j-1]
		q, slope := math.Sqrt(2*share), a*(1-ratio[j])-float64(j)
		deviation, slopes = append(deviation, q, q), append(slopes, slope, slope)
	}
	return deviation, slopes
}
