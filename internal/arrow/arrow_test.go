package arrow

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/linop"
)

// tolerance is that of algebra with condition numbers of a few hundred.
const tolerance = 1e-9

// features are those of a test.
type features struct {
	dense, weights int
	runs           []ability.LevelRun
}

func (f *features) Weights() int                                                     { return f.weights }
func (f *features) DenseWeights() int                                                { return f.dense }
func (f *features) LevelRuns() []ability.LevelRun                                    { return f.runs }
func (f *features) Blocks() []credence.Block                                         { return nil }
func (f *features) Transform(*credence.Workspace, *credence.Design, *credence.Batch) {}

// term is k columns by the levels of a key, whose level in a row is level(i), -1 for none.
type term struct {
	key       string
	levels, k int
	level     func(i int) int
}

// design makes random rows of terms. The first column of a term is 1, further ones are random, a tenth of them 0.
func design(rng *rand.Rand, n, dense int, terms []term) (*features, *credence.Design) {
	f := &features{dense: dense, weights: dense}
	for _, t := range terms {
		f.runs = append(f.runs, ability.LevelRun{Key: t.key, First: f.weights, Levels: t.levels, Columns: t.k})
		f.weights += t.levels * t.k
	}
	phi := &credence.Design{Dense: linop.NewDense(n, dense)}
	phi.Sparse.Reset(f.weights - dense)
	for i := range n {
		for j := range dense {
			phi.Dense.Row(i)[j] = rng.NormFloat64()
		}
		if dense > 0 {
			phi.Dense.Row(i)[0] = 1
		}
		var columns []int32
		values := []float64{}
		for k, t := range terms {
			if level := t.level(i); level >= 0 {
				for c := range t.k {
					if c == 0 || rng.Float64() > 0.1 {
						columns = append(columns, int32(f.runs[k].First+level*t.k+c-dense))
						values = append(values, 1)
						if c > 0 || k%2 == 1 {
							values[len(values)-1] = rng.NormFloat64()
						}
					}
				}
			}
		}
		phi.Sparse.AppendRow(columns, values)
	}
	return f, phi
}

type problem struct {
	name  string
	dense int
	n     int
	terms func(rng *rand.Rand, n int) []term
}

// at returns levels at random, of which a twentieth is missing.
func at(rng *rand.Rand, n, levels int) func(int) int {
	list := make([]int, n)
	for i := range list {
		if list[i] = rng.IntN(levels); rng.Float64() < 0.05 {
			list[i] = -1
		}
	}
	return func(i int) int { return list[i] }
}

func problems() []problem {
	nested := func(k, by int, more ...term) func(rng *rand.Rand, n int) []term {
		return func(rng *rand.Rand, n int) []term {
			inner := at(rng, n, 70*by)
			outer := func(i int) int {
				if level := inner(i); level >= 0 {
					return level / by
				}
				return i % 70
			}
			crossed := at(rng, n, 11)
			return append([]term{{"h", 140 * by, 1, inner}, {"c", 11, 1, crossed}, {"g", 70, k, outer}}, more...)
		}
	}
	return []problem{
		{"one key", 3, 400, func(rng *rand.Rand, n int) []term { return []term{{"g", 90, 1, at(rng, n, 90)}} }},
		{"without dense columns", 0, 300, func(rng *rand.Rand, n int) []term {
			return []term{{"g", 70, 2, at(rng, n, 70)}, {"h", 20, 1, at(rng, n, 20)}}
		}},
		{"three columns", 4, 500, func(rng *rand.Rand, n int) []term {
			g := at(rng, n, 40)
			return []term{{"h", 9, 1, at(rng, n, 9)}, {"g", 40, 1, g}, {"g", 40, 2, g}}
		}},
		{"crossed", 5, 600, func(rng *rand.Rand, n int) []term {
			g, h := at(rng, n, 80), at(rng, n, 60)
			return []term{{"h", 60, 2, h}, {"g", 80, 2, g}, {"x", 7, 1, at(rng, n, 7)}}
		}},
		{"nested", 2, 500, nested(1, 2)},
		{"nested, two columns", 6, 500, nested(2, 3)},
		{"as many dense columns as short loops take", few, 300, func(rng *rand.Rand, n int) []term {
			return []term{{"g", 60, 2, at(rng, n, 60)}}
		}},
		{"one dense column more", few + 1, 300, func(rng *rand.Rand, n int) []term { return []term{{"g", 60, 2, at(rng, n, 60)}} }},
		{"a first level that meets no other", 3, 300, func(rng *rand.Rand, n int) []term {
			g, h := at(rng, n, 60), at(rng, n, 9)
			return []term{{"g", 60, 1, g}, {"h", 9, 1, func(i int) int {
				if g(i) == 0 {
					return -1
				}
				return h(i)
			}}}
		}},
		{"no rows of a level", 2, 60, func(rng *rand.Rand, n int) []term { return []term{{"g", 90, 2, at(rng, n, 90)}} }},
	}
}

// oracle is the dense algebra of a problem.
type oracle struct {
	f          *features
	phi        *credence.Design
	p          *Pattern
	rows       *mat.Dense // Φ
	weights    []float64
	deviations []float64
	h          *mat.SymDense
	a          *mat.SymDense
	inverse    *mat.Dense // A⁻¹
	covariance *mat.Dense
	values     []float64
	factor     *Factor
}

const scale = 1.7

func solveBoth(t testing.TB, pr problem, seed uint64, threads int) *oracle {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	o := &oracle{}
	o.f, o.phi = design(rng, pr.n, pr.dense, pr.terms(rng, pr.n))
	d := o.f.weights
	o.rows = mat.NewDense(pr.n, d, nil)
	o.weights = make([]float64, pr.n)
	for i := range pr.n {
		o.weights[i] = rng.ExpFloat64()
		o.phi.Each(i, func(j int, v float64) { o.rows.Set(i, j, v) })
	}
	o.weights[3] = 0
	o.deviations = make([]float64, d)
	for j := range d {
		o.deviations[j] = math.Exp(0.4 * rng.NormFloat64())
	}
	o.deviations[d-1] = 0 // a weight that is known
	finder := NewFinder(o.f)
	for first := 0; first < pr.n; first += 100 {
		window := o.phi.Window(first, min(100, pr.n-first))
		finder.Add(&window)
	}
	var err error
	if o.p, err = finder.Pattern(); err != nil {
		t.Fatal(err)
	}
	ws := credence.NewWorkspace(threads)
	o.values = make([]float64, o.p.Len())
	for first := 0; first < pr.n; first += 100 {
		window := o.phi.Window(first, min(100, pr.n-first))
		o.p.AddRows(ws, o.values, &window, o.weights[first:])
	}
	o.p.Close(o.values)
	o.factor = o.p.NewFactor(ws)
	if lost := o.factor.Set(o.values, scale, o.deviations, []float64{0}); lost >= 0 {
		t.Fatalf("weight %d is lost", lost)
	}
	return o
}

// dense does the same with dense matrices.
func (o *oracle) dense() {
	n, d := o.rows.Dims()
	var weighted, h mat.Dense
	weighted.CloneFrom(o.rows)
	for i := range n {
		for j := range d {
			weighted.Set(i, j, o.weights[i]*o.rows.At(i, j))
		}
	}
	h.Mul(o.rows.T(), &weighted)
	o.h, o.a = mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			o.h.SetSym(i, j, h.At(i, j))
			o.a.SetSym(i, j, scale*o.deviations[i]*o.deviations[j]*h.At(i, j))
		}
		o.a.SetSym(i, i, o.a.At(i, i)+1)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(o.a); err != nil {
		panic(err)
	}
	o.inverse = &inverse
	o.covariance = mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			o.covariance.Set(i, j, o.deviations[i]*o.deviations[j]*inverse.At(i, j))
		}
	}
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	size, worst := 0.0, 0.0
	for i := range want {
		size = math.Max(size, math.Abs(want[i]))
		worst = math.Max(worst, math.Abs(got[i]-want[i]))
	}
	if !(worst <= tolerance*size) {
		t.Errorf("%s: off by %.2g of %.2g", what, worst, size)
	}
}

// every goes through the numbers of a pattern by weights.
func (o *oracle) every(values []float64, visit func(i, j int, v float64)) {
	p := o.p
	weight := make([]int, p.Weights)
	for j, at := range p.place {
		weight[at] = j
	}
	for t := range p.heads {
		h := &p.heads[t]
		for g := range h.levels {
			b, next := p.block(values, h, g), 0
			for r := range h.k {
				i := weight[h.first+g*h.k+r]
				for c := range r + 1 {
					visit(i, weight[h.first+g*h.k+c], b.own[next+c])
				}
				next += r + 1
				for j := range p.Dense {
					visit(i, j, b.dense[r*p.Dense+j])
				}
				for k, c := range b.cells {
					visit(i, weight[c], b.sparse[k*h.k+r])
				}
			}
		}
	}
	for i, leaf := 0, p.Leaf(values); i < p.Rest(); i++ {
		for j := i; j < p.Rest(); j++ {
			visit(weight[p.leaf+i], weight[p.leaf+j], leaf[i*p.Rest()+j])
		}
	}
}

func (o *oracle) compare(t *testing.T, what string, values []float64, with mat.Matrix) {
	t.Helper()
	var got, want []float64
	o.every(values, func(i, j int, v float64) { got, want = append(got, v), append(want, with.At(i, j)) })
	near(t, what, got, want)
}

func TestArrowIsDenseAlgebra(t *testing.T) {
	for k, pr := range problems() {
		t.Run(pr.name, func(t *testing.T) {
			o := solveBoth(t, pr, uint64(k), 1)
			o.dense()
			d, n := o.f.weights, pr.n
			o.compare(t, "H", o.values, o.h)
			count := 0.0
			o.every(o.values, func(i, j int, v float64) {
				if count += v * v; i != j {
					count += v * v
				}
			})
			if all := math.Pow(mat.Norm(o.h, 2), 2); !(math.Abs(count-all) <= tolerance*all) {
				t.Errorf("the pattern leaves numbers of H out: %v of %v", count, all)
			}
			rng := rand.New(rand.NewPCG(9, 9))
			x, got, want := make([]float64, d), make([]float64, d), mat.NewVecDense(d, nil)
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			o.p.Mul(got, o.values, x)
			want.MulVec(o.h, mat.NewVecDense(d, x))
			near(t, "Hx", got, want.RawVector().Data)
			o.p.Diagonal(got, o.values)
			for j := range d {
				want.SetVec(j, o.h.At(j, j))
			}
			near(t, "diag H", got, want.RawVector().Data)
			var chol mat.Cholesky
			chol.Factorize(o.a)
			near(t, "log|A|", []float64{o.factor.LogDet()}, []float64{chol.LogDet()})
			white := make([]float64, d)
			o.factor.Whiten(got, white, x)
			want.MulVec(o.covariance, mat.NewVecDense(d, x))
			near(t, "Cb", got, want.RawVector().Data)
			for j, s := range o.deviations {
				white[j] *= s
			}
			near(t, "S white", white, want.RawVector().Data)
			selected := make([]float64, o.p.Len())
			for i := range selected {
				selected[i] = math.NaN() // what was there does not matter
			}
			o.factor.Inverse(selected)
			o.compare(t, "A⁻¹", selected, o.inverse)
			o.factor.Scale(selected)
			o.compare(t, "C", selected, o.covariance)

			ws := credence.NewWorkspace(1)
			var half, rows mat.Dense
			half.Mul(o.rows, o.covariance)
			rows.Mul(&half, o.rows.T())
			variances, diagonal := make([]float64, n), make([]float64, n)
			o.p.RowVariances(ws, variances, selected, o.phi, nil)
			for i := range diagonal {
				diagonal[i] = rows.At(i, i)
			}
			near(t, "variances of rows", variances, diagonal)
			regression := o.p.Regression(ws, selected)
			joint := linop.NewDense(n, n)
			o.p.Covariance(ws, &joint, regression, o.phi, o.phi)
			near(t, "covariances of rows", joint.Data, rows.RawMatrix().Data)
			o.draws(t, regression)
		})
	}
}

// draws compares the root of the covariance that draws have with it: a draw is linear in its normal numbers, which are
// taken one by one.
func (o *oracle) draws(t *testing.T, regression []float64) {
	t.Helper()
	sum, d := o.drawn(regression), o.f.weights
	var got, want []float64
	for i := range d {
		for j := range d {
			got, want = append(got, sum.At(i, j)), append(want, o.covariance.At(i, j))
		}
	}
	near(t, "covariance of draws", got, want)
}

func (o *oracle) drawn(regression []float64) *mat.SymDense {
	d := o.f.weights
	sum, draw := mat.NewSymDense(d, nil), make([]float64, d)
	for k := range d {
		o.p.Draw(draw, regression, func() func() float64 {
			i := -1
			return func() float64 {
				if i++; i == k {
					return 1
				}
				return 0
			}
		}())
		sum.SymRankOne(sum, 1, mat.NewVecDense(d, draw))
	}
	return sum
}

func TestNestedKeysAreHeads(t *testing.T) {
	want := map[string]int{"one key": 1, "without dense columns": 1, "three columns": 1, "crossed": 1, "nested": 2, "nested, two columns": 2, "no rows of a level": 1, "as many dense columns as short loops take": 1, "one dense column more": 1, "a first level that meets no other": 1}
	for k, pr := range problems() {
		if got := len(solveBoth(t, pr, uint64(k), 1).p.heads); got != want[pr.name] {
			t.Errorf("%s: %d heads, want %d", pr.name, got, want[pr.name])
		}
	}
}

func TestSameBytesAtAnyThreads(t *testing.T) {
	for k, pr := range problems() {
		var first []float64
		for _, threads := range []int{1, 2, 7} {
			o := solveBoth(t, pr, uint64(k), threads)
			selected, x := make([]float64, o.p.Len()), make([]float64, o.f.weights)
			o.factor.Inverse(selected)
			o.factor.Whiten(x, x, o.deviations)
			all := slices.Concat(o.values, selected, x, []float64{o.factor.LogDet()})
			if first == nil {
				first = all
			} else if !slices.Equal(all, first) {
				t.Errorf("%s: other bytes at %d threads", pr.name, threads)
			}
		}
	}
}

func TestCentre(t *testing.T) {
	o := solveBoth(t, problems()[3], 3, 1)
	o.dense()
	d := o.f.weights
	means, to := make([]float64, d), mat.NewDense(d, d, nil)
	for j := range d {
		to.Set(j, j, 1)
		if j > 0 && j < o.f.dense {
			means[j] = float64(j) - 1.5
			to.Set(0, j, -means[j])
		}
	}
	o.p.Centre(o.values, means)
	var half, want mat.Dense
	half.Mul(to.T(), o.h)
	want.Mul(&half, to)
	o.compare(t, "TᵀHT", o.values, &want)
}

// TestMix: columns of levels mixed in the pattern are XᵀHX, and the sums over levels are those of the dense matrix.
func TestMix(t *testing.T) {
	for k, pr := range problems() {
		t.Run(pr.name, func(t *testing.T) {
			o := solveBoth(t, pr, uint64(k), 1)
			o.dense()
			rng := rand.New(rand.NewPCG(5, 5))
			d := o.f.weights
			inverse, u := make([]float64, o.p.Len()), make([]float64, d)
			o.factor.Inverse(inverse)
			for j := range u {
				u[j] = rng.NormFloat64()
			}
			for _, r := range o.f.runs {
				n := r.Columns
				x, to := make([]float64, n*n), mat.NewDense(d, d, nil)
				for i := range d {
					to.Set(i, i, 1)
				}
				for i := range x {
					x[i] = rng.NormFloat64()
				}
				sum, want := make([]float64, n*n), make([]float64, n*n)
				for g := range r.Levels {
					for i := range n {
						for j := range n {
							a, b := r.First+g*n+i, r.First+g*n+j
							to.Set(a, b, x[i*n+j])
							want[i*n+j] += u[a]*u[b] + o.inverse.At(a, b)
						}
					}
				}
				o.p.Moments(sum, inverse, u, r.First, r.Levels, n)
				near(t, "sums over levels", sum, want)
				values := slices.Clone(o.values)
				o.p.Mix(values, r.First, r.Levels, n, x)
				var half, mixed mat.Dense
				half.Mul(to.T(), o.h)
				mixed.Mul(&half, to)
				o.compare(t, "XᵀHX", values, &mixed)
			}
		})
	}
}

func TestLostPivot(t *testing.T) {
	o := solveBoth(t, problems()[0], 0, 1)
	for _, weight := range []int{1, o.f.dense + 5} {
		values := slices.Clone(o.values)
		at := -1
		k := 0
		o.every(values, func(i, j int, _ float64) {
			if i == weight && j == weight {
				at = k
			}
			k++
		})
		if at < 0 {
			t.Fatal("no such number")
		}
		k = 0
		p := o.p
		for j := range p.heads[0].levels { // one column a level
			if weight == p.Dense+j {
				values[p.heads[0].own+j] = -1e3
			}
		}
		if weight < p.Dense {
			values[p.rest+weight*p.Rest()+weight] = -1e3
		}
		if lost := o.factor.Set(values, scale, o.deviations, []float64{0, 1e-6}); lost != weight {
			t.Errorf("weight %d is lost, want %d", lost, weight)
		}
		if lost := o.factor.Set(values, scale, o.deviations, []float64{0, 1e6}); lost >= 0 || o.factor.Jitter() != 1e6 {
			t.Errorf("weight %d is lost at jitter %v", lost, o.factor.Jitter())
		}
	}
}

func TestNewRefuses(t *testing.T) {
	cells := func(rows int, places ...int32) linop.CSR {
		c := linop.CSR{Rows: rows, Cols: 12, Start: make([]int, rows+1), Index: places}
		for i := range rows {
			c.Start[i+1] = len(places)
		}
		return c
	}
	run := func(first, levels, k int) [][]ability.LevelRun {
		return [][]ability.LevelRun{{{Key: "g", First: first, Levels: levels, Columns: k}}}
	}
	for name, bad := range map[string]struct {
		dense int
		heads [][]ability.LevelRun
		cells linop.CSR
	}{
		"run of dense columns": {3, run(2, 2, 1), cells(2)},
		"run beyond":           {3, run(3, 5, 2), cells(5)},
		"no level":             {3, run(3, 0, 2), cells(0)},
		"huge":                 {3, run(3, 1<<40, 1<<40), cells(2)},
		"two keys of a weight": {3, append(run(3, 2, 2), run(6, 2, 2)...), cells(4)},
		"other levels":         {3, [][]ability.LevelRun{{{First: 3, Levels: 2, Columns: 1}, {First: 5, Levels: 3, Columns: 1}}}, cells(2)},
		"few cells":            {3, run(3, 2, 2), cells(1)},
		"cell of the head":     {3, run(3, 2, 2), cells(2, 1)},
		"dense cell":           {3, run(3, 2, 2), cells(2, 4)},
		"cell beyond":          {3, run(3, 2, 2), cells(2, 12)},
		"cells descend":        {3, run(3, 2, 2), cells(2, 9, 8)},
		"more dense columns":   {13, nil, cells(0)},
	} {
		if _, err := New(12, bad.dense, bad.heads, bad.cells); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New(12, 3, run(3, 2, 2), cells(2, 7, 11)); err != nil {
		t.Errorf("refused: %v", err)
	}
}

func BenchmarkEvaluation(b *testing.B) {
	for _, c := range []struct {
		rows, levels, k, dense int
		crossed                int
	}{{60_000, 20_000, 1, 2, 0}, {250_000, 100_000, 2, 3, 0}, {73_000, 2972, 1, 4, 1128}} {
		rng := rand.New(rand.NewPCG(1, 1))
		g := func(i int) int { return i % c.levels }
		terms := []term{{"g", c.levels, c.k, g}}
		if c.crossed > 0 {
			terms = append(terms, term{"h", c.crossed, 1, at(rng, c.rows, c.crossed)})
		}
		f, phi := design(rng, c.rows, c.dense, terms)
		finder, ws := NewFinder(f), credence.NewWorkspace(1)
		finder.Add(phi)
		p, err := finder.Pattern()
		if err != nil {
			b.Fatal(err)
		}
		values, inverse, deviations := make([]float64, p.Len()), make([]float64, p.Len()), slices.Repeat([]float64{1}, f.weights)
		p.AddRows(ws, values, phi, nil)
		p.Close(values)
		factor := p.NewFactor(ws)
		b.Run(fmt.Sprintf("%d×%d+%d", c.levels, c.k, f.weights-c.levels*c.k), func(b *testing.B) {
			for range b.N {
				factor.Set(values, 1, deviations, []float64{0})
				factor.LogDet()
				factor.Inverse(inverse)
			}
		})
	}
}
