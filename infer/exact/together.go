package exact

import (
	"math"

	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/special"
)

// together has columns that vary together by level. The k weights of a level are Tu, u ~ N(0, I), with T = SL: standard deviations S, and L the root of the
// correlations. Since T = XS for X = SLS⁻¹, the form computes with XᵀΦᵀWΦX in the place of ΦᵀWΦ and with S as ever, and its weights are those of ΦX.
type together struct {
	form  *levels
	terms []problem.Together
	roots [][]float64 // L of every term
	mixed []float64   // XᵀΦᵀWΦX
	odds  [][]float64
}

func newTogether(p *levels) *together {
	t := &together{form: p, terms: p.engine.together, mixed: make([]float64, p.pattern.Len()), odds: make([][]float64, len(p.engine.together))}
	for _, term := range t.terms {
		t.roots = append(t.roots, make([]float64, term.K*term.K))
	}
	return t
}

// mix takes the correlations of a point, the deviations of which the form has, and returns XᵀΦᵀWΦX; it turns cross into Xᵀ cross.
func (t *together) mix(at *values, cross []float64) []float64 {
	copy(t.mixed, t.form.gram)
	odds := at.prior[len(t.form.groups):]
	for i, term := range t.terms {
		n := special.Pairs(term.K)
		t.odds[i] = append(t.odds[i][:0], odds[:n]...)
		odds = odds[n:]
		special.CorrelationRoot(t.roots[i], term.K, t.odds[i])
		x := t.x(i)
		t.form.pattern.Mix(t.mixed, term.First, term.Levels, term.K, x)
		t.each(i, func(w []float64) { times(w, x, true) }, cross)
	}
	return t.mixed
}

// x returns X = SLS⁻¹ of a term.
func (t *together) x(i int) []float64 {
	k, s := t.terms[i].K, t.form.s[t.terms[i].First:]
	x := make([]float64, k*k)
	for r := range k {
		for c := range r + 1 {
			x[r*k+c] = t.roots[i][r*k+c] * s[r] / s[c]
		}
	}
	return x
}

// each calls of with the k numbers of every level.
func (t *together) each(i int, of func(w []float64), w []float64) {
	term := &t.terms[i]
	for g := range term.Levels {
		of(w[term.First+g*term.K : term.First+(g+1)*term.K])
	}
}

// times stores Xw in w, or Xᵀw, for a lower triangular X.
func times(w, x []float64, transposed bool) {
	k := len(w)
	if transposed {
		for c := range k {
			sum := 0.0
			for r := c; r < k; r++ {
				sum += x[r*k+c] * w[r]
			}
			w[c] = sum
		}
		return
	}
	for r := k - 1; r >= 0; r-- {
		sum := 0.0
		for c := range r + 1 {
			sum += x[r*k+c] * w[c]
		}
		w[r] = sum
	}
}

// weights turns weights of ΦX into those of Φ.
func (t *together) weights(m []float64) {
	for i := range t.terms {
		x := t.x(i)
		t.each(i, func(w []float64) { times(w, x, false) }, m)
	}
}

// back turns the covariance of weights of ΦX into that of weights of Φ, XCXᵀ.
func (t *together) back(covariance []float64) {
	for i, term := range t.terms {
		k, x := term.K, t.x(i)
		turned := make([]float64, k*k)
		for r := range k {
			for c := range k {
				turned[c*k+r] = x[r*k+c]
			}
		}
		t.form.pattern.Mix(covariance, term.First, term.Levels, k, turned)
	}
}

// slopes stores the slopes in the logarithms of the variances of columns, and of the odds: with K = Σ (ûûᵀ + V_gg − I) over levels, the slope in any
// change dT is tr (T⁻¹dT)ᵀK.
func (t *together) slopes(slope []float64) {
	odds := slope[len(t.form.groups):]
	for i, term := range t.terms {
		k, l := term.K, t.roots[i]
		sum, change := make([]float64, k*k), make([]float64, k*k)
		t.form.pattern.Moments(sum, t.form.inverse, t.form.q, term.First, term.Levels, k)
		for r := range k {
			sum[r*k+r] -= float64(term.Levels)
		}
		along := func() (total float64) { // Σ (L⁻¹dL)∘K, half of it: of the logarithm of a square
			solveRoot(l, change, k)
			for j, v := range change {
				total += v * sum[j]
			}
			return total / 2
		}
		for c := range k {
			clear(change)
			copy(change[c*k:(c+1)*k], l[c*k:(c+1)*k])
			slope[term.Group+c] = along()
		}
		for r := range k {
			for c := range r {
				special.CorrelationSlope(change, l, k, r, c, t.odds[i])
				odds[special.Pairs(r)+c] = along()
			}
		}
		odds = odds[special.Pairs(k):]
	}
}

// solveRoot stores L⁻¹X in the place of X, k×k.
func solveRoot(l, x []float64, k int) {
	for r := range k {
		for c := range k {
			for j := range r {
				x[r*k+c] -= l[r*k+j] * x[j*k+c]
			}
			x[r*k+c] /= l[r*k+r]
		}
	}
}

// longestOdds bounds partial correlations to ±.999.
var longestOdds = math.Log(1.999 / 0.001)

// correlations returns the variables of correlations that are learned.
func (e *Engine) correlations() (list []variable) {
	place := len(e.groups)
	for _, t := range e.together {
		for r := range t.K {
			for c := range r {
				i := place
				if place++; !t.Learned {
					continue
				}
				list = append(list, variable{
					name: t.PairName(r, c), value: func(p *point) *float64 { return &p.prior[i] }, slope: func(s *slopes) float64 { return s.prior[i] },
					lower: -longestOdds, upper: longestOdds, curvature: math.Max(1, float64(t.Levels)) / 4, group: -1, plain: true,
					prior: e.priorOr(hyper.LKJ(t.K, c)), unit: 0.5,
				})
			}
		}
	}
	return list
}

// correlationsAt returns those of every term at odds that follow each other.
func (e *Engine) correlationsAt(odds []float64) (list [][]float64) {
	for _, t := range e.together {
		n := special.Pairs(t.K)
		list = append(list, special.Correlations(t.K, odds[:n]))
		odds = odds[n:]
	}
	return list
}
