package criticism

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// The score test of one curve is the t test of least squares where squares of the scores are as the model says: the
// larger of two variances is never less than that of the t test, and HC2's is computed here by dense algebra.
func TestScoreIsLeastSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	const n = 60
	for set := range 20 {
		ones, u, curve, y, w := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		x := mat.NewDense(n, 3, nil)
		for i := range n {
			ones[i], u[i], w[i] = 1, rng.NormFloat64(), 1
			curve[i] = u[i] * u[i]
			y[i] = 0.3*curve[i] + math.Exp(float64(set%3-1)*u[i]/2)*rng.NormFloat64()
			x.SetRow(i, []float64{1, u[i], curve[i]})
		}
		var gram, inverse, half, weights mat.Dense
		gram.Mul(x.T(), x)
		if err := inverse.Inverse(&gram); err != nil {
			t.Fatal(err)
		}
		half.Mul(&inverse, x.T())
		weights.Mul(&half, mat.NewDense(n, 1, slices.Clone(y)))
		squares, robust := 0.0, 0.0
		for i := range n {
			fit, leverage := 0.0, 0.0
			for j := range 3 {
				fit += x.At(i, j) * weights.At(j, 0)
				leverage += x.At(i, j) * half.At(j, i)
			}
			e := y[i] - fit
			squares += e * e
			robust += half.At(2, i) * half.At(2, i) * e * e / (1 - leverage)
		}
		variance := math.Max(squares/(n-3)*inverse.At(2, 2), robust)
		want := 2 * special.StudentCDF(-math.Abs(weights.At(2, 0))/math.Sqrt(variance), n-3)
		if _, p, up := scoreTest([][]float64{curve}, [][]float64{ones, u}, w, y, false); !(math.Abs(p/want-1) <= 1e-9) || up != (weights.At(2, 0) > 0) {
			t.Errorf("set %d: p %g, upwards %t, want %g", set, p, up, want)
		}
		// A known scale of 1 in the place of the residuals'.
		want = 2 * special.StudentCDF(-math.Abs(weights.At(2, 0))/math.Sqrt(math.Max(inverse.At(2, 2), robust)), n-3)
		if _, p, _ := scoreTest([][]float64{curve}, [][]float64{ones, u}, w, y, true); !(math.Abs(p/want-1) <= 1e-9) {
			t.Errorf("set %d: p %g at a known scale, want %g", set, p, want)
		}
	}
}

// Of three curves the first has a part of the error of its own: p is the lesser of p₁/¾ and of p₃/¼.
func TestFirstCurve(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const n = 80
	ones, a, b, y := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		ones[i], a[i], b[i] = 1, rng.NormFloat64(), rng.NormFloat64()
		y[i] = 0.3*a[i] + rng.NormFloat64()
	}
	// by least squares, of the model's variance alone: it is the larger here or p differs
	first := func(k int) float64 {
		left := func(columns ...[]float64) (squares float64) {
			x := mat.NewDense(n, len(columns), nil)
			for j, c := range columns {
				x.SetCol(j, c)
			}
			var weights, fit mat.VecDense
			if err := weights.SolveVec(x, mat.NewVecDense(n, slices.Clone(y))); err != nil {
				t.Fatal(err)
			}
			fit.MulVec(x, &weights)
			for i, v := range y {
				squares += (v - fit.AtVec(i)) * (v - fit.AtVec(i))
			}
			return squares
		}
		with, df := left([][]float64{ones, a, b}[:k+1]...), float64(n-k-1)
		return fisherAbove((left(ones)-with)/float64(k)/(with/df), float64(k), df)
	}
	_, p, _ := scoreTest([][]float64{a, b}, [][]float64{ones}, ones, y, false)
	if least := math.Min(first(2)/(1-firstPart), 1); p < first(1)*0.5 || p > 3*math.Min(least, first(1)/firstPart) {
		t.Errorf("p %g, where one curve has %g and two have %g", p, first(1), first(2))
	}
}

// uᵀ V⁻¹ u by a dense inverse, of the first ones alone; lastGiven by the conditional normal distribution, and
// of a Gram matrix by least squares on the nuisance.
func TestQuadratics(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	root := mat.NewDense(4, 4, nil)
	for i := range 4 {
		for j := range 4 {
			root.Set(i, j, rng.NormFloat64())
		}
	}
	var v mat.Dense
	v.Mul(root, root.T())
	lower, u := make([]float64, 16), []float64{0.3, -1, 2, 0.7}
	for i := range 4 {
		for j := range i + 1 {
			lower[i*4+j] = v.At(i, j)
		}
	}
	for k := 1; k <= 4; k++ {
		var inverse mat.Dense
		if err := inverse.Inverse(v.Slice(0, k, 0, k)); err != nil {
			t.Fatal(err)
		}
		want := mat.Inner(mat.NewVecDense(k, u[:k]), &inverse, mat.NewVecDense(k, u[:k]))
		if got := quadratic(lower, u, k); !(math.Abs(got/want-1) <= 1e-9) {
			t.Errorf("of %d: %g, want %g", k, got, want)
		}
	}
	var inverse mat.Dense
	if err := inverse.Inverse(v.Slice(0, 3, 0, 3)); err != nil {
		t.Fatal(err)
	}
	var slope mat.VecDense
	slope.MulVec(&inverse, v.Slice(0, 3, 0, 4).(*mat.Dense).ColView(3))
	mean, variance := mat.Dot(&slope, mat.NewVecDense(3, u[:3])), v.At(3, 3)-mat.Dot(&slope, v.Slice(0, 3, 0, 4).(*mat.Dense).ColView(3))
	if got, want := lastGiven(lower, u), (u[3]-mean)/math.Sqrt(variance); !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("the last given the others is %g, want %g", got, want)
	}
	const n = 50
	a, b := make([]float64, n), make([]float64, n)
	ab, bb := 0.0, 0.0
	for i := range n {
		a[i], b[i] = rng.NormFloat64()+0.4, rng.NormFloat64()
		a[i] += b[i]
		ab += a[i] * b[i]
		bb += b[i] * b[i]
	}
	sum, squares := 0.0, 0.0
	for i := range n {
		left := a[i] - ab/bb*b[i]
		sum += left
		squares += left * left
	}
	one := slices.Repeat([]float64{1}, n)
	if got := lastGiven(gram([][]float64{b, a}, one, one)); !(math.Abs(got-sum/math.Sqrt(squares)) <= 1e-9) {
		t.Errorf("efficient score %g, want %g", got, sum/math.Sqrt(squares))
	}
	nearly := slices.Clone(b)
	for i := range nearly {
		nearly[i] += 1e-6 * a[i]
	}
	if got := lastGiven(gram([][]float64{b, nearly}, one, one)); got != 0 {
		t.Errorf("of the nuisance to rounding %g", got)
	}
	if got := lastGiven(gram([][]float64{b, b}, one, one)); got != 0 {
		t.Errorf("of the nuisance itself %g", got)
	}
}

// targets makes a sample of a Gaussian with residuals at a prediction of 0.
func targets(values ...float64) *sample {
	s := &sample{kind: kind{gaussian: true}, options: Options{Fitted: true}, ws: credence.NewWorkspace(1), share: 1e-3}
	for i, y := range values {
		s.add(likelihood.Gaussian{NoiseVariance: param.Hold(1)}, i, y, 0, 0)
		s.used, s.compared = append(s.used, i), append(s.compared, i)
	}
	return s
}

// A column is the target where it never contradicts its order, and says as much of it.
func TestLeak(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	y := make([]float64, 60)
	for i := range y {
		y[i] = math.Round(100*rng.NormFloat64()) / 100
	}
	each := func(f func(y float64) float64) []float64 {
		out := make([]float64, len(y))
		for i := range y {
			out[i] = f(y[i])
		}
		return out
	}
	noisy := each(func(y float64) float64 { return y })
	noisy[3], noisy[9] = noisy[9], noisy[3]
	for _, c := range []struct {
		name   string
		values []float64
		want   bool
	}{
		{"copy", each(func(y float64) float64 { return y }), true},
		{"line", each(func(y float64) float64 { return 3 - 7*y }), true},
		{"logarithm", each(func(y float64) float64 { return math.Exp(y) }), true},
		{"rounded", each(func(y float64) float64 { return math.Round(4 * y) }), true},
		{"two rows otherwise", noisy, false},
		{"above or below", each(func(y float64) float64 { return math.Copysign(1, y) }), false},
		{"constant", each(func(float64) float64 { return 2 }), false},
		{"square", each(func(y float64) float64 { return y * y }), false},
		{"other than 0 in the largest alone", each(func(y float64) float64 { return max(0, y-.6) }), false},
	} {
		s := targets(y...)
		s.inputs = []column{{name: "z", values: c.values}}
		f := s.leak()
		if (f != nil) != c.want {
			t.Errorf("%s: %v", c.name, f)
		}
		if f != nil && (f.Tone != Fault || f.Remedy != "leave it out, - z") {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
	// Of two classes: a number that parts them is no copy, 0 and 1 or two levels are, three levels are not.
	class := each(func(y float64) float64 { return math.Max(0, math.Copysign(1, y)) })
	for _, c := range []struct {
		name     string
		values   []float64
		category bool
		want     bool
	}{
		{"number", y, false, false},
		{"copy", class, false, true},
		{"other way round", each(func(y float64) float64 { return -math.Copysign(5, y) }), false, true},
		{"levels", class, true, true},
		{"three levels", each(func(y float64) float64 { return math.Copysign(1, y) + math.Copysign(0.5, y-1) }), true, false},
		{"noisy levels", func() []float64 { out := slices.Clone(class); out[5] = 1 - out[5]; return out }(), true, false},
	} {
		s := targets(class...)
		s.kind = kind{classes: true}
		s.inputs = []column{{name: "z", values: c.values, category: c.category}}
		if f := s.leak(); (f != nil) != c.want {
			t.Errorf("classes, %s: %v", c.name, f)
		}
	}
	// A feature that few rows have, all of one class, is not the target, of which family soever.
	rare := slices.Clone(class)
	for i, ones := 0, 0; i < len(rare); i++ {
		if rare[i] > 0 {
			ones++
			rare[i] = float64(min(1, ones/20))
		}
	}
	for _, k := range []kind{{classes: true}, {gaussian: true}, {counts: true}} {
		s := targets(class...)
		s.kind, s.inputs = k, []column{{name: "z", values: rare}}
		if f := s.leak(); f != nil && len(f.Remedy) > 0 && strings.Contains(f.Text, "z") {
			t.Errorf("%+v, a rare feature: %v", k, f)
		}
	}
	s := targets(each(func(y float64) float64 { return math.Round(2*y) / 2 })...)
	s.inputs = []column{{name: "z", values: y}}
	if s.leak() == nil {
		t.Error("the target is a rounded column, and nothing is said")
	}
	if s := targets(y[:20]...); true {
		s.inputs = []column{{name: "z", values: y[:20]}}
		if f := s.leak(); f != nil {
			t.Errorf("of 20 rows: %v", f)
		}
	}
}

// Copies exceed what chance makes, or they do not: pairs of rows with equal inputs whose targets are equal too.
func TestCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	alarms := 0
	const sets = 200
	for set := range sets {
		// Two coarse columns and a count: most rows repeat another one, by chance.
		s := &sample{kind: kind{counts: true, name: "poisson"}, options: Options{Fitted: true, Seed: uint64(set)}, share: 1e-3}
		for i := range 150 {
			x := float64(rng.IntN(5))
			l := likelihood.Poisson{}
			s.add(l, i, l.Sample(rng, x/4), x/4, 0)
			s.hash = append(s.hash, uint64(x))
		}
		s.copied = s.copies()
		c := s.copied
		if !(c.alike > 0) || len(c.later) < 50 {
			t.Fatalf("%+v", c)
		}
		if !(math.Abs(c.equal/c.expected-1) <= 0.6) {
			t.Errorf("%g pairs are equal, %g expected", c.equal, c.expected)
		}
		if s.ask(&copiesCheck) != nil {
			alarms++
		}
	}
	if alarms > 1 {
		t.Errorf("%d of %d sets of coarse columns", alarms, sets)
	}
	s := targets(slices.Concat(normals(rng, 90), make([]float64, 10))...)
	for i := range s.target {
		s.hash = append(s.hash, uint64(i))
		if i >= 90 { // the first ten rows again
			s.target[i], s.hash[i] = s.target[i-90], uint64(i-90)
		}
	}
	c := s.copiesOf()
	if f := s.ask(&copiesCheck); f == nil || len(c.later) != 10 || c.later[0] != 90 || c.equal != 10 || c.alike != 10 {
		t.Errorf("ten rows stand twice: %+v, %v", c, f)
	}
	// Six pairs of equal inputs whose classes are equal too have a probability of a 64th.
	s = &sample{kind: kind{classes: true}, options: Options{Fitted: true}, share: 1e-3}
	for i := range 106 {
		s.add(likelihood.Bernoulli{}, i, float64(i%100%2), 0, 0)
		s.hash = append(s.hash, uint64(i%100))
	}
	if c := s.copiesOf(); s.ask(&copiesCheck) != nil || c.equal != 6 || !(math.Abs(c.expected-3) <= 0.2) || c.p < 1.0/200 || c.p > 1.0/20 {
		t.Errorf("six pairs of classes: %+v", c)
	}
	// Pairs that share a row go together: 30 rows of equal inputs are all of the class that nine in ten have with a
	// probability of .042, and at most .1 as told.
	s = &sample{kind: kind{classes: true}, options: Options{Fitted: true}, share: 1e-3}
	for i := range 300 { // and 270 others, of which one in ten is of the other class
		y := 0.0
		if i >= 30 && i%10 == 0 {
			y = 1
		}
		s.add(likelihood.Bernoulli{}, i, y, math.Log(0.1/0.9), 0)
		s.hash = append(s.hash, uint64(max(29, i)))
	}
	if c := s.copiesOf(); c.equal != 435 || c.p < 0.06 || c.p > 0.2 {
		t.Errorf("thirty rows of equal inputs: %+v", c)
	}
	s = targets(normals(rng, 100)...)
	for i := range s.target { // the same inputs with targets of their own
		s.hash = append(s.hash, uint64(i%20))
	}
	if c := s.copiesOf(); s.ask(&copiesCheck) != nil || c.alike != 200 || len(c.later) != 0 {
		t.Errorf("equal inputs: %+v", c)
	}
}

// copiesOf keeps the copies where the check finds them.
func (s *sample) copiesOf() copied {
	s.copied = s.copies()
	return s.copied
}

func normals(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

// A file is sorted by its target where that hardly ever falls, or hardly ever rises.
func TestSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	y := normals(rng, 100)
	up := slices.Clone(y)
	slices.Sort(up)
	down := slices.Clone(up)
	slices.Reverse(down)
	nearly := slices.Clone(up)
	nearly[50] = 3
	classes, rare := make([]float64, 100), make([]float64, 100)
	for i := range classes {
		classes[i] = math.Floor(float64(i) / 50)
	}
	rare[40], rare[41] = 1, 1
	for _, c := range []struct {
		name string
		y    []float64
		want bool
	}{{"random", y, false}, {"up", up, true}, {"down", down, true}, {"but for one", nearly, true}, {"classes", classes, true}, {"two of a class", rare, false}} {
		if got := targets(c.y...).inOrder(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestOrder: the slope over its error is that of least squares through 0, rows that are no neighbours make no
// pairs, and a column by which the file is sorted is named.
func TestOrder(t *testing.T) {
	r, z := slope([]float64{1, -1, 2, 0}, []float64{1, 0, 1, 1})
	// Σab = 3, Σa² = 6, Σb² = 3; b − a/2 = .5 .5 0 1, Σ a²(…)² = .5; 6·3/4 = 4.5 is the larger.
	if !(math.Abs(r-3/math.Sqrt(18)) <= 1e-12) || !(math.Abs(z-3/math.Sqrt(4.5)) <= 1e-12) {
		t.Errorf("slope %g, %g", r, z)
	}
	rng := rand.New(rand.NewPCG(3, 9))
	e := make([]float64, 200)
	noise := 0.0
	for i := range e {
		noise = 0.6*noise + 0.8*rng.NormFloat64()
		e[i] = noise
	}
	s := targets(e...)
	s.time = "t"
	f := s.ask(&orderCheck)
	if f == nil || f.Statistic < 0.4 || f.Tone != Fault || !strings.Contains(f.Text, "neighbouring") || !strings.Contains(f.Remedy, "add hsgp(t)") {
		t.Errorf("%+v", f)
	}
	for i := range s.place {
		s.place[i] = 2 * i
	}
	if f := s.ask(&orderCheck); f != nil {
		t.Errorf("every second row: %v", f)
	}
	for i, v := range normals(rng, len(e)) {
		e[i] = v + 2*float64(i)/200
	}
	if f := targets(e...).ask(&orderCheck); f == nil || !strings.Contains(f.Text, "drift") || f.Statistic < 0.3 || !strings.Contains(f.Remedy, "hsgp(time)") {
		t.Errorf("%+v", f)
	}
	for _, c := range []struct {
		values []float64
		want   bool
	}{{[]float64{1, 2, 3}, false}, {[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10}, true}, {[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 9}, false}, {nil, false}} {
		if ascends(c.values) != c.want {
			t.Errorf("%v ascends: %v", c.values, !c.want)
		}
	}
}

// TestGroups: the tail of the sum of products within groups is right under the model, and groups are found where there
// are any. Groups are of unequal sizes, residuals skewed.
func TestGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const sets, n = 3000, 120
	group := make([]float64, n)
	for i := range group {
		group[i] = math.Floor(12 * float64(i*i) / (n * n))
	}
	below := map[float64]int{}
	for range sets {
		values := make([]float64, n)
		for i := range values {
			values[i] = rng.ExpFloat64() - 1
		}
		s := targets(values...)
		s.share, s.keys = 1, []column{{name: "g", values: group}}
		f := s.ask(&groupsCheck)
		for _, level := range []float64{0.05, 0.01} {
			if f != nil && f.P <= level {
				below[level]++
			}
		}
	}
	for level, count := range below {
		if want := level * sets; !(math.Abs(float64(count)-want) <= 0.3*want+5*math.Sqrt(want)) {
			t.Errorf("%d of %d sets below %g", count, sets, level)
		}
	}
	values := normals(rng, n)
	for i := range values {
		values[i] += 1.5 * math.Sin(group[i]*5)
	}
	s := targets(values...)
	s.keys = []column{{name: "h", values: make([]float64, n)}, {name: "g", values: group}}
	for i := range s.keys[0].values {
		s.keys[0].values[i] = float64(rng.IntN(9))
	}
	f := s.ask(&groupsCheck)
	if f == nil || f.Tone != Fault || f.Statistic < 0.2 {
		t.Errorf("%+v", f)
	}
	for _, c := range []struct {
		weights            int
		gaussian, category bool
		want               string
	}{
		// a posterior or a prior that effects of groups do not go with
		{0, true, false, "add onehot(`a g`) to the formula"},
		{0, true, true, "add `a g` to the formula"},
		{5, true, true, "add (1 | `a g`) to the formula"},
		{5000, true, false, "add (1 | `a g`) to the formula"},
		{1988, false, false, "add (1 | `a g`) to the formula"}, // and 12 groups
		{1989, false, false, "add onehot(`a g`) to the formula"},
	} {
		s.weights, s.kind.gaussian, s.keys[1].category, s.terms = c.weights, c.gaussian, c.category, map[string]string{"g": "`a g`"}
		if f := s.ask(&groupsCheck); f == nil || f.Remedy != c.want {
			t.Errorf("%+v, want %s", f, c.want)
		}
	}
}

// TestDispersionOfOthers: an f that lies 1.5 standard errors off in every row is no other spread, however many rows
// there are; an f that is known and lies as far off is.
func TestDispersionOfOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	const rows, sd = 40_000, 0.1
	for _, known := range []bool{false, true} {
		s := &sample{kind: kindOf(likelihood.Poisson{}), ws: credence.NewWorkspace(1)}
		for i := range rows {
			variance := sd * sd
			if known {
				variance = 0
			}
			f := 1 + rng.NormFloat64()/2
			s.add(likelihood.Poisson{}, i, likelihood.Poisson{}.Sample(rng, f+1.5*sd), f, variance)
			s.used = append(s.used, i)
		}
		if f := s.dispersion(); (f != nil && f.P < 0.01) != known {
			t.Errorf("f known %t: %+v", known, f)
		}
	}
}

// TestOdds: the score of unequal odds is about standard normal at the truth, and found where they are unequal.
func TestOdds(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 5))
	l := likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 0, 1.5}, State: param.Held}}
	make1 := func(n int, by float64) *sample {
		s := &sample{kind: kindOf(l), ws: credence.NewWorkspace(1), share: 1e-3, options: Options{Fitted: true}}
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
			y := 0.0
			for k, c := range l.Cutpoints.Values {
				if rng.Float64() > special.Sigmoid(c-x[i]-by*float64(k-1)*x[i])/1 && y == float64(k) {
					y++
				}
			}
			if by == 0 {
				y = l.Sample(rng, x[i])
			}
			s.add(l, i, y, x[i], 0)
			s.used, s.compared = append(s.used, i), append(s.compared, i)
		}
		s.inputs = []column{{name: "x", values: x}}
		s.columns = []*column{&s.inputs[0]}
		s.compare()
		return s
	}
	// Slopes of the log probability of a grade are those by differences of its cutpoints, of one row alone.
	one := make1(1, 0)
	const step = 1e-6
	for g, got := range one.gradesOf() {
		for side, slope := range [...]float64{got.below, got.above} {
			want := 0.0
			if cut := g - 1 + side; cut >= 0 && cut < 3 {
				at := func(by float64) float64 {
					moved := l
					moved.Cutpoints.Values = slices.Clone(l.Cutpoints.Values)
					moved.Cutpoints.Values[cut] += by
					return moved.LogDensity(float64(g), one.mean[0])
				}
				want = (at(step) - at(-step)) / (2 * step)
			}
			if !(math.Abs(slope-want) <= 1e-6) {
				t.Errorf("grade %d, side %d: slope %g, want %g", g, side, slope, want)
			}
		}
	}
	sum, squares := 0.0, 0.0
	const sets = 400
	for range sets {
		s := make1(150, 0)
		z := s.unequalOdds(s.view.columns()[0].bounded, s.gradesOf())
		sum += z
		squares += z * z
	}
	if mean, variance := sum/sets, squares/sets; !(math.Abs(mean) <= 5/math.Sqrt(sets)) || !(math.Abs(variance-1) <= 5*math.Sqrt(2.0/sets)) {
		t.Errorf("scores have mean %g and variance %g", mean, variance)
	}
	if f := make1(800, 0.8).ask(&oddsCheck); f == nil || f.Check != "odds" || !strings.Contains(f.Text, "effect of x") {
		t.Errorf("unequal odds: %v", f)
	}
}

// TestTones: faults stand first, one remark is told, that which was not looked at aside, and small shares are details.
func TestTones(t *testing.T) {
	got := inTones([]Finding{
		{Check: unorderedCheck, Tone: Remark}, {Check: "trend", Tone: Detail}, {Check: "odds", Tone: Remark},
		{Check: "groups", Tone: Fault}, {Check: "tails", Tone: Remark},
	})
	text := ""
	for _, f := range got {
		text += fmt.Sprintf("%s %s; ", f.Check, f.Tone)
	}
	if text != "groups fault; unordered remark; trend detail; odds remark; tails detail; " {
		t.Error(text)
	}
	s := targets(1, 2)
	tone := func(explains float64) Tone {
		return s.ask(&check{tone: Fault, when: func(*sample) bool { return true }, test: func(*sample) *Finding { return &Finding{explains: &explains} }}).Tone
	}
	if tone(0.019) != Detail || tone(0.021) != Fault {
		t.Error("what explains 2 % is told")
	}
	s.options.Fitted, s.variance = false, []float64{0.1, 0.1}
	if tone(0.21) != Detail || tone(0.23) != Fault {
		t.Error("the error of f explains 20 %")
	}
	faults, remarks, details := Texts(got)
	if len(faults) != 1 || len(remarks) != 2 || len(details) != 2 {
		t.Error(faults, remarks, details)
	}
	a, b := &Finding{Statistic: 1}, &Finding{Statistic: 2}
	for _, c := range [][4]*Finding{{a, b, b, a}, {b, a, b, a}, {a, nil, a, nil}, {nil, b, b, nil}, {a, {Statistic: 1}, a, nil}, {}} {
		if more, less := bySize(c[0], c[1]); more != c[2] || less != c[3] && c[3] != nil {
			t.Errorf("of %v and %v the larger is %v, the other %v", c[0], c[1], more, less)
		}
	}
}

// Earlier columns have more of the error: 1/k of it, over the sum of all parts.
func TestParts(t *testing.T) {
	s := targets(1, 2)
	s.share = 1
	results := s.test(3, func(k int) scored { return scored{explains: float64(k + 1), p: 0.01} })
	if len(results) != 3 || results[0].explains != 3 || !(math.Abs(results[0].p-0.055) <= 1e-12) || !(math.Abs(results[2].p-0.01*11/6) <= 1e-12) {
		t.Errorf("%+v", results)
	}
}

// The checks that are made of a family share the error.
func TestChecks(t *testing.T) {
	for _, c := range []struct {
		family likelihood.Family
		want   int
	}{
		{likelihood.Gaussian{}, 7}, {likelihood.Poisson{}, 8}, {likelihood.NegativeBinomial{}, 7}, {likelihood.Gamma{}, 6},
		{likelihood.Bernoulli{}, 6}, {likelihood.Ordinal{Cutpoints: param.List{Values: []float64{0, 1}}}, 6}, {likelihood.Binomial{}, 6},
	} {
		s := &sample{kind: kindOf(c.family.(family)), target: []float64{0, 2}, columns: make([]*column, 2), keys: make([]column, 1)}
		if got := s.checks(); got != c.want {
			t.Errorf("%T: %d checks, want %d", c.family, got, c.want)
		}
		s.sorted = true
		if sorted := s.checks(); sorted != c.want-1 {
			t.Errorf("%T, sorted: %d checks", c.family, sorted)
		}
	}
}

// Rows that are left out are not compared with columns.
func TestView(t *testing.T) {
	s := targets(1, 2, 3, 4, 5)
	s.compared = []int{0, 2, 3, 4}
	s.inputs = []column{{name: "a", values: []float64{10, 30, 40, 50}}}
	s.columns = []*column{&s.inputs[0]}
	s.leaveOut([]int{2})
	s.compare()
	a := s.view.columns()[0]
	if !slices.Equal(s.view.rows, []int{0, 3, 4}) || !slices.Equal(s.view.at, []int{0, 2, 3}) || len(a.value) != 3 || !(math.Abs(a.value[1]-(40-100.0/3)/math.Sqrt(2600.0/9)) <= 1e-12) {
		t.Errorf("%+v, %+v", s.view, a)
	}
}

// The score of too many zeros is what least squares leave of it beside the scores of f and of the size, here in closed
// form.
func TestInflation(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 3))
	const n, size = 80, 1.7
	l := likelihood.NegativeBinomial{Size: param.Hold(size)}
	s := &sample{kind: kindOf(l), options: Options{Fitted: true}}
	x, excess := mat.NewDense(n, 3, nil), make([]float64, n)
	for i := range n {
		f := 0.8 * rng.NormFloat64()
		y := l.Sample(rng, f)
		if !s.add(l, i, y, f, 0) {
			t.Fatal("a count has no residual")
		}
		s.used = append(s.used, i)
		mu := math.Exp(f)
		score := size * (y - mu) / (size + mu)
		x.SetRow(i, []float64{score, score * f, size * (mathext.Digamma(y+size) - mathext.Digamma(size) + math.Log(size/(size+mu)) + 1 - (y+size)/(size+mu))})
		if excess[i] = -1; y == 0 {
			excess[i] += math.Pow(1+mu/size, size)
		}
	}
	var weights, fit mat.VecDense
	if err := weights.SolveVec(x, mat.NewVecDense(n, slices.Clone(excess))); err != nil {
		t.Fatal(err)
	}
	fit.MulVec(x, &weights)
	sum, squares := 0.0, 0.0
	for i, v := range excess {
		left := v - fit.AtVec(i)
		sum += left
		squares += left * left
	}
	if got, want := s.inflation(), sum/math.Sqrt(squares); !(math.Abs(got-want) <= 1e-4) {
		t.Errorf("%g, want %g", got, want)
	}
}

// The step to where counts are likeliest leads down as it leads up, however far: along a constant it is log ȳ less f,
// in steps of 1 at most, and leaves scores of no sum and the variance ȳ.
func TestClimbedEndsWhereCountsAreLikeliest(t *testing.T) {
	const n = 40
	for _, c := range []struct{ f, mean float64 }{{3, 2}, {0, 50}, {1, 3}, {6, 1.5}} {
		s := &sample{}
		v := &s.view
		for i := range n {
			y := c.mean + float64(i%3-1)*min(1, c.mean-1)
			if i == n-1 {
				y = c.mean
			}
			s.family, s.target, s.mean = append(s.family, likelihood.Poisson{}), append(s.target, y), append(s.mean, c.f)
			v.rows, v.ones = append(v.rows, i), append(v.ones, 1)
			v.score, v.weights = append(v.score, y-math.Exp(c.f)), append(v.weights, math.Exp(c.f))
		}
		weights, score := s.climbed([][]float64{v.ones})
		if score == nil {
			t.Fatalf("from %g to log %g: there is no end", c.f, c.mean)
		}
		for i, y := range s.target {
			want := y - c.mean + c.mean*(math.Log(c.mean)-c.f)
			if !(math.Abs(weights[i]-c.mean) <= 1e-6*c.mean) || !(math.Abs(score[i]-want) <= 1e-5*(1+math.Abs(want))) {
				t.Errorf("from %g to log %g: weight %g and score %g, want %g and %g", c.f, c.mean, weights[i], score[i], c.mean, want)
				break
			}
		}
	}
}
