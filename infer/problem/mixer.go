package problem

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence/internal/special"
)

// Mixed is a matrix of weights by weights of which a [Mixer] turns the levels of a term, levels runs of k weights from
// first on: Mix turns h into XᵀhX, and Moments adds to sum what the terms have of the inverse and of weights u.
type Mixed interface {
	Mix(h []float64, first, levels, k int, x []float64)
	Moments(sum, inverse, u []float64, first, levels, k int)
}

// Mixer has columns that vary together by level. The k weights of a level are Tu, u ~ N(0, I), with T = SL: standard
// deviations S, and L the root of the correlations. Since T = XS for X = SLS⁻¹, an engine computes with XᵀΦᵀWΦX in the
// place of ΦᵀWΦ and with S as ever, and its weights are those of ΦX. The methods of a nil Mixer change nothing.
type Mixer struct {
	terms   []Together
	pattern Mixed
	s       []float64   // prior deviations of all weights
	roots   [][]float64 // L of every term
	odds    [][]float64
}

// NewMixer returns that of terms in a pattern, nil without terms.
func NewMixer(terms []Together, pattern Mixed) *Mixer {
	if len(terms) == 0 {
		return nil
	}
	t := &Mixer{terms: terms, pattern: pattern, odds: make([][]float64, len(terms))}
	for _, term := range terms {
		t.roots = append(t.roots, make([]float64, term.K*term.K))
	}
	return t
}

// Take takes the prior deviations of all weights, which it keeps, and the odds of the terms' partial correlations one
// after the other.
func (t *Mixer) Take(deviations, odds []float64) {
	if t == nil {
		return
	}
	t.s = deviations
	for i, term := range t.terms {
		n := special.Pairs(term.K)
		t.odds[i] = append(t.odds[i][:0], odds[:n]...)
		odds = odds[n:]
		special.CorrelationRoot(t.roots[i], term.K, t.odds[i])
	}
}

// Mix turns H into XᵀHX.
func (t *Mixer) Mix(h []float64) {
	for i := range t.all() {
		term := &t.terms[i]
		t.pattern.Mix(h, term.First, term.Levels, term.K, t.x(i))
	}
}

// Back turns the covariance of weights of ΦX into that of weights of Φ, XCXᵀ.
func (t *Mixer) Back(covariance []float64) {
	for i := range t.all() {
		term := &t.terms[i]
		k, x := term.K, t.x(i)
		turned := make([]float64, k*k)
		for r := range k {
			for c := range k {
				turned[c*k+r] = x[r*k+c]
			}
		}
		t.pattern.Mix(covariance, term.First, term.Levels, k, turned)
	}
}

// Cross turns a vector v into Xᵀv.
func (t *Mixer) Cross(v []float64) {
	for i := range t.all() {
		x := t.x(i)
		t.each(i, v, func(w, _ []float64) { times(w, x, true) })
	}
}

// Weights turns weights of ΦX into those of Φ.
func (t *Mixer) Weights(m []float64) {
	for i := range t.all() {
		x := t.x(i)
		t.each(i, m, func(w, _ []float64) { times(w, x, false) })
	}
}

// White turns the terms' weights w into T⁻¹w, which are N(0, I) under the prior. Others stay.
func (t *Mixer) White(w []float64) {
	for i := range t.all() {
		l := t.roots[i]
		t.each(i, w, func(w, s []float64) {
			floats.Div(w, s)
			solveRoot(l, w, len(w), 1)
		})
	}
}

// Precision turns the terms' weights w into (TTᵀ)⁻¹w. Others stay.
func (t *Mixer) Precision(w []float64) {
	t.White(w)
	for i := range t.all() {
		l := t.roots[i]
		t.each(i, w, func(w, s []float64) {
			for r := len(w) - 1; r >= 0; r-- {
				for j := r + 1; j < len(w); j++ {
					w[r] -= l[j*len(w)+r] * w[j]
				}
				w[r] /= l[r*len(w)+r]
			}
			floats.Div(w, s)
		})
	}
}

// all are the terms, none of nil.
func (t *Mixer) all() []Together {
	if t == nil {
		return nil
	}
	return t.terms
}

// Has says whether a group is a column of a term.
func (t *Mixer) Has(group int) bool {
	return slices.ContainsFunc(t.all(), func(t Together) bool { return group >= t.Group && group < t.Group+t.K })
}

// x returns X = SLS⁻¹ of a term.
func (t *Mixer) x(i int) []float64 {
	k, s := t.terms[i].K, t.s[t.terms[i].First:]
	x := make([]float64, k*k)
	for r := range k {
		for c := range r + 1 {
			x[r*k+c] = t.roots[i][r*k+c] * s[r] / s[c]
		}
	}
	return x
}

// each calls of with the k numbers of every level, and with their deviations.
func (t *Mixer) each(i int, w []float64, of func(w, s []float64)) {
	term := &t.terms[i]
	for g := range term.Levels {
		from, to := term.First+g*term.K, term.First+(g+1)*term.K
		of(w[from:to], t.s[from:to])
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

// Moments adds Σ (uuᵀ + V_gg) over the levels of every term to sums, k×k each, for weights u = T⁻¹w of mean u, and of
// the covariance V those numbers of the pattern; nil sums are made.
func (t *Mixer) Moments(sums [][]float64, inverse, u []float64) [][]float64 {
	if sums == nil {
		for _, term := range t.all() {
			sums = append(sums, make([]float64, term.K*term.K))
		}
	}
	for i := range t.all() {
		term := &t.terms[i]
		t.pattern.Moments(sums[i], inverse, u, term.First, term.Levels, term.K)
	}
	return sums
}

// Slopes stores the slopes of a log density in the logarithms of the variances of columns, and of the odds behind them:
// with K = Σ (E uuᵀ − I) over levels, by the sums Σ E uuᵀ of every term, the slope in any change dT is tr (T⁻¹dT)ᵀK.
func (t *Mixer) Slopes(slope, odds []float64, sums [][]float64) {
	for i := range t.all() {
		term := &t.terms[i]
		k, l := term.K, t.roots[i]
		sum, change := slices.Clone(sums[i]), make([]float64, k*k)
		for r := range k {
			sum[r*k+r] -= float64(term.Levels)
		}
		along := func() (total float64) { // Σ (L⁻¹dL)∘K, half of it: of the logarithm of a square
			solveRoot(l, change, k, k)
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

// solveRoot stores L⁻¹X in the place of X, k×columns.
func solveRoot(l, x []float64, k, columns int) {
	for r := range k {
		for c := range columns {
			for j := range r {
				x[r*columns+c] -= l[r*k+j] * x[j*columns+c]
			}
			x[r*columns+c] /= l[r*k+r]
		}
	}
}
