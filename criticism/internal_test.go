package criticism

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// The tail of a binomial sum, whose probabilities are enumerated: within a third of itself down to 1e-4.
func TestTailOfASum(t *testing.T) {
	const n, p = 200, 0.04
	density, above := make([]float64, n+1), 0.0
	for k := range density {
		lgamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
		density[k] = math.Exp(lgamma(n+1) - lgamma(float64(k)+1) - lgamma(n-float64(k)+1) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	sum := moment3{n * p, n * p * (1 - p), n * p * (1 - p) * (1 - 2*p)}
	mirrored := moment3{-sum.mean, sum.variance, -sum.third}
	for k := n; k >= 0; k-- {
		above += density[k]
		if above < 1e-4 || above > 0.05 {
			continue
		}
		at := float64(k) - 0.5 // the middle of the step
		if got := sum.above(at); !(math.Abs(got/above-1) <= 1.0/3) {
			t.Errorf("P(T ≥ %d) is %g, want %g", k, got, above)
		}
		if got, want := mirrored.below(-at), sum.above(at); !(math.Abs(got/want-1) <= 1e-9) {
			t.Errorf("the mirrored tail is %g, want %g", got, want)
		}
	}
	normal := moment3{5, 4, 0}
	if got := normal.above(9); !(math.Abs(got-special.NormalCDF(-2)) <= 1e-15) {
		t.Errorf("normal tail %g", got)
	}
	if constant := (moment3{mean: 3}); constant.above(4) != 0 || constant.above(3) != 1 {
		t.Error("a constant has a tail")
	}
}

// What has probability 1 − P(Y < y) or P(Y ≤ y) is as extreme as twice the smaller of the two.
func TestExtreme(t *testing.T) {
	l := likelihood.Poisson{}
	at := func(y float64) float64 { return extreme(l, y, func(y float64) float64 { return l.CDF(y, 0) }) }
	e := math.Exp(-1)
	if got, want := at(3), 2*(1-2.5*e); !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("of 3 at mean 1: %g, want %g", got, want)
	}
	if got, want := at(0), 2*e; !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("of 0 at mean 1: %g, want %g", got, want)
	}
}

// Cumulants of replicated residuals are those of the family: squares of normal ones have the mean 1, the
// variance 2 and the third cumulant 8.
func TestReplicates(t *testing.T) {
	const n = 4000
	s := &sample{ws: credence.NewWorkspace(1), options: Options{Fitted: true}}
	for i := range n {
		s.add(likelihood.Gaussian{NoiseVariance: param.Hold(3)}, i, 0, 1, 0)
		s.used = append(s.used, i)
	}
	got := s.replicate(func(_, _, e float64) float64 { return e * e })
	for _, c := range [][3]float64{{got.mean, 1, 2}, {got.variance, 2, 56}, {got.third, 8, 10395 - 8*8}} {
		// The last number bounds the variance of one draw's part; ten draws of each row make the mean.
		if !(math.Abs(c[0]/n-c[1]) <= 5*math.Sqrt(c[2]/(10*n))) {
			t.Errorf("a cumulant of a row is %g, want %g", c[0]/n, c[1])
		}
	}
}

// The residual of a row of the fit is too small by its leverage, that of another too large by it.
func TestLeverage(t *testing.T) {
	for _, fitted := range []bool{true, false} {
		s := &sample{options: Options{Fitted: fitted}}
		s.add(likelihood.Gaussian{NoiseVariance: param.Hold(4)}, 0, 5, 1, 1)
		want := 2 / math.Sqrt(1.25)
		if fitted {
			want = 2 / math.Sqrt(0.75)
		}
		if !(math.Abs(s.residual[0]-want) <= 1e-6) {
			t.Errorf("fitted %v: residual %g, want %g", fitted, s.residual[0], want)
		}
	}
}

// Published tails: F of 3 and 10 degrees of freedom is above 3.708 with probability 0.05, and |t| of 5 above
// 4.032 with 0.01 (any table).
func TestTables(t *testing.T) {
	if got := fisherAbove(3.708265, 3, 10); !(math.Abs(got-0.05) <= 1e-6) {
		t.Errorf("F: %g", got)
	}
	if got := studentTail(4.0321430, 5); !(math.Abs(got-0.01) <= 1e-7) {
		t.Errorf("t: %g", got)
	}
	if got := studentTail(-4.0321430, 5); !(math.Abs(got-0.01) <= 1e-7) {
		t.Errorf("t: %g", got)
	}
}

// The probability of a kurtosis is uniform over normal samples, in its lower tail too.
func TestKurtosis(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const sets, n = 20000, 50
	below := map[float64]int{}
	for range sets {
		e := make([]float64, n)
		for i := range e {
			e[i] = rng.NormFloat64()
		}
		standardise(e)
		kurtosis := 0.0
		for _, v := range e {
			kurtosis += v * v * v * v / n
		}
		p := kurtosisAbove(kurtosis, n)
		for _, level := range []float64{0.5, 0.05, 0.01, 0.002} {
			if p <= level {
				below[level]++
			}
		}
	}
	for level, count := range below {
		// The approximation is good to a tenth or so; the rest is five standard errors.
		if want := level * sets; !(math.Abs(float64(count)-want) <= 0.25*want+5*math.Sqrt(want)) {
			t.Errorf("%d of %d below %g", count, sets, level)
		}
	}
}

// Equal values share a rank, and the curves of evenly spaced ranks are orthogonal Legendre polynomials.
func TestCurves(t *testing.T) {
	got := Ranks([]float64{3, -1, 3, 8})
	for i, want := range []float64{0, -0.75, 0, 0.75} {
		if !(math.Abs(got[i]-want) <= 1e-15) {
			t.Fatalf("ranks %v", got)
		}
	}
	const n = 2000
	u := make([]float64, n)
	for i := range u {
		u[i] = float64(i)
	}
	rank := Ranks(u)
	polynomials := curves(rank)
	for i, x := range rank {
		for k, want := range []float64{(3*x*x - 1) / 2, (5*x*x*x - 3*x) / 2, (35*x*x*x*x - 30*x*x + 3) / 8} {
			if !(math.Abs(polynomials[k][i]-want) <= 1e-12) {
				t.Fatalf("degree %d at %g is %g, want %g", k+2, x, polynomials[k][i], want)
			}
		}
	}
}

// Counting bytes orders numbers as sorting does, equal ones as they stand.
func TestAscending(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for _, values := range [][]float64{
		nil, {3}, {2, 2, 2}, {1, -1, 0, -2, math.Inf(1), math.Inf(-1), 5e-324, -5e-324, 1e300}, normals(rng, 700),
		slices.Repeat([]float64{0.25, -7, 1e9, 0.5}, 90),
	} {
		want := make([]int, len(values))
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
		if got := ascending(floatBits(values)); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", values, got, want)
		}
	}
	if got := ascending([]uint64{7, 1 << 63, 7, 0}); !slices.Equal(got, []int{3, 0, 2, 1}) {
		t.Errorf("of hashes %v", got)
	}
}

// TestScore: the test is uniform under scores of any spread, whatever weights it projects by; it finds a
// curve and its share; and what the nuisance explains is no curve.
func TestScore(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const sets, n = 4000, 200
	below := 0
	for range sets {
		u, score, weights, one := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range u {
			u[i], weights[i], one[i] = rng.NormFloat64(), 0.5+rng.Float64(), 1
		}
		rank := Ranks(u)
		for i := range u {
			score[i] = math.Exp(rank[i]) * rng.NormFloat64()
		}
		if _, p, _ := scoreTest(curves(rank), [][]float64{one, u}, weights, score, false); p < 0.05 {
			below++
		}
	}
	if want := 0.05 * sets; !(math.Abs(float64(below)-want) <= 0.15*want+5*math.Sqrt(want)) {
		t.Errorf("%d of %d below 0.05", below, sets)
	}
	u, curve, one := make([]float64, n), make([]float64, n), make([]float64, n)
	line := make([]float64, n)
	for i := range u {
		u[i], one[i] = rng.NormFloat64(), 1
		noise := rng.NormFloat64()
		curve[i] = (u[i]*u[i]-1)/math.Sqrt2 + noise
		line[i] = 5*u[i] + noise
	}
	rank := Ranks(u)
	if explained, p, _ := scoreTest(curves(rank), [][]float64{one, rank, u}, one, curve, false); p > 1e-4 || explained < 0.2 || explained > 0.7 {
		t.Errorf("a curve of half of the variance explains %g, p %g", explained, p)
	}
	// A fit has taken the line out of its residuals.
	slope, squares := 0.0, 0.0
	for i := range u {
		slope += u[i] * line[i]
		squares += u[i] * u[i]
	}
	for i := range line {
		line[i] -= slope / squares * u[i]
	}
	if explained, p, _ := scoreTest(curves(rank), [][]float64{one, rank, u}, one, line, false); p < 1e-3 {
		t.Errorf("a line explains %g, p %g", explained, p)
	}
	if explained, p, _ := scoreTest([][]float64{one}, [][]float64{one}, one, curve, false); explained != 0 || p != 1 {
		t.Errorf("no curve explains %g, p %g", explained, p)
	}
}

// Small residuals tell nothing only of rows of the fit, and of a posterior without any spread.
func TestBent(t *testing.T) {
	for _, c := range []struct {
		fitted             bool
		variance, residual float64
		want               bool
	}{{true, 0, 0.5, true}, {false, 0, 0.5, false}, {true, 1e-9, 0.5, false}, {true, 0, 0.95, false}} {
		s := &sample{options: Options{Fitted: c.fitted}, variance: []float64{c.variance, 0}, residual: []float64{c.residual, -c.residual}}
		if got := s.bent(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Members at the deciles 1, 3, 5, 7 and 9 of log-normal parameters give their ends away.
func TestFarthest(t *testing.T) {
	fitted := &credence.Fitted{}
	at := func(p float64) likelihood.StudentT {
		z := special.NormalQuantile(p)
		return likelihood.StudentT{DegreesOfFreedom: param.Hold(5 * math.Exp(0.4*z)), Scale: param.Hold(2 * math.Exp(0.1*z))}
	}
	for _, p := range []float64{0.9, 0.1, 0.5, 0.3, 0.7} {
		fitted.Members = append(fitted.Members, credence.Member{Model: credence.Model{Likelihood: at(p)}})
	}
	for k, l := range farthest(fitted) {
		got, want := l.(likelihood.StudentT), at([]float64{leastError / 2, 1 - leastError/2}[k])
		if !(math.Abs(got.DegreesOfFreedom.Value/want.DegreesOfFreedom.Value-1) <= 1e-9) || !(math.Abs(got.Scale.Value/want.Scale.Value-1) <= 1e-9) {
			t.Errorf("end %d is %v, want %v", k, got, want)
		}
	}
	if len(farthest(fitted)) != 2 {
		t.Error("there are no two ends")
	}
	for k := range fitted.Members {
		fitted.Members[k].Model.Likelihood = at(0.5)
	}
	if len(farthest(fitted)) > 0 {
		t.Error("members that are the same have ends")
	}
}

// A family without a variance has the spread within which as much lies as within a standard deviation of a normal one,
// in the unit of its scale.
func TestSpreadWithoutVariance(t *testing.T) {
	for _, df := range []float64{0.8, 1, 1.9} {
		l := likelihood.StudentT{DegreesOfFreedom: param.Hold(df), Scale: param.Hold(3)}
		centre, spread := moments(l, 5)
		if within := l.PredictiveCDF(centre+spread, 5, 0) - l.PredictiveCDF(centre-spread, 5, 0); !(math.Abs(centre-5) <= 1e-6) || !(math.Abs(within-math.Erf(math.Sqrt2/2)) <= 1e-6) {
			t.Errorf("%g degrees of freedom: %g lies within %g of %g", df, within, spread, centre)
		}
	}
}
