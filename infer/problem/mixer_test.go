package problem

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/special"
)

// written is a matrix of weights by weights that is written out, d×d.
type written struct{ d int }

func (p written) Mix(h []float64, first, levels, k int, x []float64) {
	all := mat.NewDense(p.d, p.d, nil)
	for j := range p.d {
		all.Set(j, j, 1)
	}
	for g := range levels {
		all.Slice(first+g*k, first+(g+1)*k, first+g*k, first+(g+1)*k).(*mat.Dense).Copy(mat.NewDense(k, k, x))
	}
	var out mat.Dense
	out.Product(all.T(), mat.NewDense(p.d, p.d, h), all)
	copy(h, out.RawMatrix().Data)
}

func (p written) Moments(sum, inverse, u []float64, first, levels, k int) {
	for g := range levels {
		for r := range k {
			for c := range k {
				a, b := first+g*k+r, first+g*k+c
				sum[r*k+c] += u[a]*u[b] + inverse[a*p.d+b]
			}
		}
	}
}

// TestMixer: of two terms, of two and of three columns, with weights before and behind them, all that a mixer does to
// vectors and matrices is what the matrices do that are written out from deviations and correlations; weights of no
// term stay; and slopes are central differences of the log density of the terms' weights, in the logarithms of
// variances and odds, each term by its own.
func TestMixer(t *testing.T) {
	const d = 14
	terms := []Together{{First: 1, Levels: 3, K: 2, Group: 1}, {First: 7, Levels: 2, K: 3, Group: 3}}
	rng := rand.New(rand.NewPCG(9, 1))
	random := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	variances, odds := []float64{1.5, 0.4, 2.5, 0.7, 1.1, 3.1, 0.9}, []float64{2.5, 0.3, 1.7, 0.6}
	group := func(j int) int {
		for _, term := range terms {
			if at := j - term.First; at >= 0 && at < term.Levels*term.K {
				return term.Group + at%term.K
			}
		}
		return min(j, 6)
	}
	spread := func(variances []float64) []float64 {
		s := make([]float64, d)
		for j := range s {
			s[j] = math.Sqrt(variances[group(j)])
		}
		return s
	}
	// root is T, with the identity for weights of no term, and of these deviations where they are wanted.
	root := func(variances, odds []float64, deviations bool) *mat.Dense {
		out, s := mat.NewDense(d, d, nil), spread(variances)
		for j := range d {
			out.Set(j, j, 1)
			if deviations {
				out.Set(j, j, s[j])
			}
		}
		for _, term := range terms {
			n := special.Pairs(term.K)
			of := special.Correlations(term.K, odds[:n])
			odds = odds[n:]
			c := mat.NewSymDense(term.K, nil)
			for r := range term.K {
				c.SetSym(r, r, 1)
				for l := range r {
					c.SetSym(r, l, of[special.Pairs(r)+l])
				}
			}
			var chol mat.Cholesky
			if !chol.Factorize(c) {
				t.Fatal("no correlations")
			}
			var lower mat.TriDense
			chol.LTo(&lower)
			for g := range term.Levels {
				for r := range term.K {
					for l := range r + 1 {
						out.Set(term.First+g*term.K+r, term.First+g*term.K+l, s[term.First+r]*lower.At(r, l))
					}
				}
			}
		}
		return out
	}
	m := NewMixer(terms, written{d})
	m.Take(spread([]float64{9, 9, 9, 9, 9, 9, 9}), []float64{1, 1, 1, 1}) // which the next take the place of
	m.Take(spread(variances), odds)
	whole := root(variances, odds, true)
	var x, inverse, precision mat.Dense // X = TS⁻¹
	x.CloneFrom(whole)
	for j, s := range spread(variances) {
		for i := range d {
			x.Set(i, j, whole.At(i, j)/s)
		}
	}
	must.Succeed(t, inverse.Inverse(root(variances, odds, false)))
	precision.Mul(inverse.T(), &inverse)
	near := func(what string, got []float64, want mat.Matrix) {
		t.Helper()
		rows, cols := want.Dims()
		for i := range rows {
			for j := range cols {
				if v := want.At(i, j); !(math.Abs(got[i*cols+j]-v) <= 1e-10*(1+math.Abs(v))) {
					t.Fatalf("%s: number %d, %d is %v, want %v", what, i, j, got[i*cols+j], v)
				}
			}
		}
	}
	for what, c := range map[string]struct {
		do func(v []float64)
		by mat.Matrix
	}{"weights": {m.Weights, &x}, "cross": {m.Cross, x.T()}, "white": {m.White, &inverse}, "precision": {m.Precision, &precision}} {
		v := random(d)
		var want mat.Dense
		want.Mul(c.by, mat.NewDense(d, 1, append([]float64(nil), v...)))
		c.do(v)
		near(what, v, &want)
	}
	for what, c := range map[string]struct {
		do          func(h []float64)
		left, right mat.Matrix
	}{"mix": {m.Mix, x.T(), &x}, "back": {m.Back, &x, x.T()}} {
		h := random(d * d)
		var want mat.Dense
		want.Product(c.left, mat.NewDense(d, d, append([]float64(nil), h...)), c.right)
		c.do(h)
		near(what, h, &want)
	}
	for k := range 7 {
		if want := k > 0 && k < 6; m.Has(k) != want {
			t.Errorf("group %d is of a term: %v", k, m.Has(k))
		}
	}
	w := random(d)
	density := func(variances, odds []float64) float64 { // of the terms' weights alone
		var inverse mat.Dense
		all, sum := root(variances, odds, false), 0.0
		must.Succeed(t, inverse.Inverse(all))
		var u mat.VecDense
		u.MulVec(&inverse, mat.NewVecDense(d, w))
		for _, term := range terms {
			for j := term.First; j < term.First+term.Levels*term.K; j++ {
				sum -= u.AtVec(j)*u.AtVec(j)/2 + math.Log(all.At(j, j))
			}
		}
		return sum
	}
	u := append([]float64(nil), w...)
	m.White(u)
	slope, slopes := make([]float64, 7), make([]float64, 4)
	m.Slopes(slope, slopes, m.Moments(nil, make([]float64, d*d), u))
	for what, c := range map[string]struct{ at, got []float64 }{"variance": {variances, slope}, "odds": {odds, slopes}} {
		for k, v := range c.at {
			const h = 1e-5
			c.at[k] = v * math.Exp(h)
			up := density(variances, odds)
			c.at[k] = v * math.Exp(-h)
			down := density(variances, odds)
			c.at[k] = v
			if want := (up - down) / (2 * h); !(math.Abs(c.got[k]-want) <= 1e-6*(1+math.Abs(want))) {
				t.Errorf("%s %d: the slope is %v, by differences %v", what, k, c.got[k], want)
			}
		}
	}
}
