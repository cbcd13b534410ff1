package feature

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// LargestDegree bounds polynomials: a power of 20 of a scaled input spans 20 decades.
const LargestDegree = 20

// Polynomial is the powers x, x², …, x^Degree of each of its inputs as they enter
// the fit, that is, of centred and scaled inputs unless scaling is off, which keeps
// the powers of one input comparable and less correlated. They are plain powers and not
// orthogonal polynomials, so that a weight means the same whatever the other rows are.
type Polynomial struct {
	Name   string `json:"name"` // as the formula writes it
	Inputs []int  `json:"inputs"`
	Degree int    `json:"degree"`
}

// Kind implements [Term].
func (*Polynomial) Kind() string { return "polynomial" }

// Label implements [Term].
func (t *Polynomial) Label() string { return t.Name }

// Bind implements [Term].
func (t *Polynomial) Bind(in *Inputs) (Map, error) {
	if t.Degree < 1 || t.Degree > LargestDegree {
		return nil, fmt.Errorf("feature: %s has degree %d: give one from 1 to %d", t.Name, t.Degree, LargestDegree)
	}
	r, err := newReader(t.Name, in, t.Inputs, false, nil)
	if err != nil {
		return nil, err
	}
	return &polynomialMap{r, t.Degree}, nil
}

type polynomialMap struct {
	reader reader
	degree int
}

func (m *polynomialMap) Columns() (dense, sparse int) { return m.reader.d * m.degree, 0 }

func (m *polynomialMap) Fill(_ *credence.Workspace, dst linop.Dense, rows *credence.Batch) {
	for i := range dst.Rows {
		row, x := dst.Row(i), rows.X.Row(i)
		for k, index := range m.reader.dense {
			power := 1.0
			for p := range m.degree {
				power = saturate(power * x[index])
				row[k*m.degree+p] = power
			}
		}
	}
}

func (m *polynomialMap) WeightName(j int) string {
	name := m.reader.name(j / m.degree)
	if power := j%m.degree + 1; power > 1 {
		return fmt.Sprintf("%s^%d", name, power)
	}
	return name
}

func (m *polynomialMap) groups() []group {
	var all []group
	for k, index := range m.reader.dense {
		for p := range m.degree {
			all = append(all, group{numbers: []power{{index, p + 1}}, first: k*m.degree + p})
		}
	}
	return all
}

// saturate holds a product that overflows at the largest number: infinity times
// zero further on would not be a number.
func saturate(x float64) float64 { return max(-math.MaxFloat64, min(x, math.MaxFloat64)) }
