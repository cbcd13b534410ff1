package criticism_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// design is an intercept, the columns of the model and others.
func (m *mixed) design(others ...[]float64) *mat.Dense {
	columns := append([][]float64{m.a, m.b, m.c, m.d}, others...)
	x := mat.NewDense(len(m.y), len(columns)+1, nil)
	for i := range m.y {
		x.Set(i, 0, 1)
		for j, c := range columns {
			x.Set(i, j+1, c[i])
		}
	}
	return x
}

// lastT is the probability of the t statistic of the last column of least squares.
func lastT(x *mat.Dense, y []float64) float64 {
	n, d := x.Dims()
	e, inverse := leastSquares(x, y)
	scale := 0.0
	for _, v := range e.left {
		scale += v * v / float64(n-d)
	}
	t := e.weights.AtVec(d-1) / math.Sqrt(scale*inverse.At(d-1, d-1))
	return 2 * special.StudentCDF(-math.Abs(t), float64(n-d))
}

type squares struct {
	weights *mat.VecDense
	left    []float64
}

func leastSquares(x *mat.Dense, y []float64) (squares, *mat.Dense) {
	n, d := x.Dims()
	gram, inverse := mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
	gram.Mul(x.T(), x)
	if err := inverse.Inverse(gram); err != nil {
		panic(err)
	}
	right, weights, fit := mat.NewVecDense(d, nil), mat.NewVecDense(d, nil), mat.NewVecDense(n, nil)
	right.MulVec(x.T(), mat.NewVecDense(n, slices.Clone(y)))
	weights.MulVec(inverse, right)
	fit.MulVec(x, weights)
	s := squares{weights, make([]float64, n)}
	for i := range y {
		s.left[i] = y[i] - fit.AtVec(i)
	}
	return s, inverse
}

// dean is the probability of the score of a negative binomial at the most likely Poisson (Dean & Lawless 1989).
func (m *mixed) dean() float64 {
	x := m.design()
	n, d := x.Dims()
	w := mat.NewVecDense(d, nil)
	w.SetVec(0, 0.5)
	mu := make([]float64, n)
	for range 30 {
		gram, right := mat.NewDense(d, d, nil), mat.NewVecDense(d, nil)
		for i := range n {
			row := x.RawRowView(i)
			f := 0.0
			for j, v := range row {
				f += v * w.AtVec(j)
			}
			mu[i] = math.Exp(f)
			for j, v := range row {
				right.SetVec(j, right.AtVec(j)+v*(m.y[i]-mu[i]))
				for k, u := range row {
					gram.Set(j, k, gram.At(j, k)+v*u*mu[i])
				}
			}
		}
		var step mat.VecDense
		if err := step.SolveVec(gram, right); err != nil {
			panic(err)
		}
		w.AddVec(w, &step)
	}
	sum, variance := 0.0, 0.0
	for i, y := range m.y {
		sum += (y-mu[i])*(y-mu[i]) - y
		variance += 2 * mu[i] * mu[i]
	}
	return special.NormalCDF(-sum / math.Sqrt(variance))
}

// product multiplies columns.
func product(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] * b[i]
	}
	return out
}

// lagOne is the probability of the correlation of least squares' residuals with the next ones.
func (m *mixed) lagOne() float64 {
	e, _ := leastSquares(m.design(), m.y)
	products, all := 0.0, 0.0
	for i, v := range e.left {
		all += v * v
		if i > 0 {
			products += v * e.left[i-1]
		}
	}
	return special.NormalCDF(-products / all * math.Sqrt(float64(len(m.y))))
}

var normal = likelihood.Gaussian{NoiseVariance: param.Hold(1)}

// referenced are faults for which there is a textbook test, with as many checks as are made of the family.
var referenced = []struct {
	name, family, check string
	checks              float64
	draw                func(m *mixed)
	reference           func(m *mixed) float64
}{
	{"negative binomial counts of size 3", "poisson", "dispersion", 8, func(m *mixed) {
		m.draw(likelihood.NegativeBinomial{Size: param.Hold(3)})
	}, (*mixed).dean},
	{"negative binomial counts of size 1.5", "poisson", "dispersion", 8, func(m *mixed) {
		m.draw(likelihood.NegativeBinomial{Size: param.Hold(1.5)})
	}, (*mixed).dean},
	{"negative binomial counts, a fifth made zero", "negbinomial", "zeros", 8, func(m *mixed) {
		m.draw(likelihood.NegativeBinomial{Size: param.Hold(3)})
		for i := range m.y {
			if m.rng.IntN(5) == 0 {
				m.y[i] = 0
			}
		}
	}, nil},
	{"a curve .3 a²", "gaussian", "trend", 7, func(m *mixed) {
		for i, a := range m.a {
			m.f[i] += 0.3 * a * a
		}
		m.draw(normal)
	}, func(m *mixed) float64 { return lastT(m.design(product(m.a, m.a)), m.y) }},
	{"an interaction .5 a b", "gaussian", "interaction", 7, func(m *mixed) {
		for i, a := range m.a {
			m.f[i] += 0.5 * a * m.b[i]
		}
		m.draw(normal)
	}, func(m *mixed) float64 { return lastT(m.design(product(m.a, m.b)), m.y) }},
	{"an interaction .7 a c", "gaussian", "interaction", 7, func(m *mixed) {
		for i, a := range m.a {
			m.f[i] += 0.7 * a * (m.c[i] - 0.5)
		}
		m.draw(normal)
	}, func(m *mixed) float64 { return lastT(m.design(product(m.a, m.c)), m.y) }},
	{"autocorrelation .4", "gaussian", "order", 7, func(m *mixed) { m.autoregressive(0.4) }, (*mixed).lagOne},
	{"autocorrelation .6", "gaussian", "order", 7, func(m *mixed) { m.autoregressive(0.6) }, (*mixed).lagOne},
	{"a drift of 1.5", "gaussian", "order", 7, func(m *mixed) {
		for i := range m.f {
			m.f[i] += 1.5 * float64(i) / float64(len(m.f))
		}
		m.draw(normal)
	}, func(m *mixed) float64 {
		place := make([]float64, len(m.y))
		for i := range place {
			place[i] = float64(i)
		}
		return lastT(m.design(place), m.y)
	}},
}

// autoregressive draws normal noise that goes with that of the row before.
func (m *mixed) autoregressive(by float64) {
	m.draw(normal)
	noise := 0.0
	for i := range m.y {
		noise = by*noise + math.Sqrt(1-by*by)*m.rng.NormFloat64()
		m.y[i] = m.f[i] + noise
	}
}

// TestPower: at n = 100 a fault is seen at least half as often as the textbook's test sees it, which is told where to
// look, at the error that the check has.
func TestPower(t *testing.T) {
	study.OnlyCalibration(t)
	count := sets(400)
	for _, c := range referenced {
		t.Run(c.name, func(t *testing.T) {
			seen, remarked, known := 0, 0, 0
			others := map[string]int{}
			for k := range count {
				m := newMixed(100, firstSeed()+uint64(k))
				c.draw(m)
				if c.reference != nil && c.reference(m) <= criticism.ErrorRate/c.checks {
					known++
				}
				for _, f := range m.findings(t, c.family) {
					if f.Check != c.check {
						others[f.Check]++
						continue
					}
					seen++
					if f.Tone != criticism.Detail {
						remarked++
					}
				}
			}
			n := float64(count)
			t.Logf("%s: %.3f, told %.3f, textbook %.3f; other checks %v", c.name, float64(seen)/n, float64(remarked)/n, float64(known)/n, fmt.Sprint(others))
			if spread := 2 * math.Sqrt(float64(known+1)); 2*float64(remarked)+spread < float64(known) {
				t.Errorf("told in %d of %d sets, %d by the textbook", remarked, count, known)
			}
		})
	}
}
