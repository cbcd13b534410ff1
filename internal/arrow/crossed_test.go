package arrow

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Ten times what iterations leave of vectors, and of probes, whose squares count.
const (
	solvedTolerance = 1e-7
	probedTolerance = 1e-3
)

func signs(set uint64) *rand.Rand { return rand.New(rand.NewPCG(7, set)) }

// crossed is a problem of two crossed keys, which meet in any way, beside a small one, with a dense oracle and what Set
// left.
func crossed(t testing.TB, outer, inner, ko, ki, dense, threads int, of func(uint64) *rand.Rand) (*oracle, *Crossed) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(outer)))
	n := 4 * outer
	return crossedBy(t, rng, []term{{"h", inner, ki, at(rng, n, inner)}, {"x", 3, 1, at(rng, n, 3)}, {"g", outer, ko, at(rng, n, outer)}}, n, dense, threads, of)
}

// crossedBy is crossed of terms, of which the second is the small one.
func crossedBy(t testing.TB, rng *rand.Rand, terms []term, n, dense, threads int, of func(uint64) *rand.Rand) (*oracle, *Crossed) {
	t.Helper()
	o := &oracle{weights: make([]float64, n)}
	o.f, o.phi = design(rng, n, dense, terms)
	o.rows, o.deviations = mat.NewDense(n, o.f.weights, nil), make([]float64, o.f.weights)
	for i := range n {
		o.weights[i] = rng.ExpFloat64()
		o.phi.Each(i, func(j int, v float64) { o.rows.Set(i, j, v) })
	}
	for j := range o.deviations {
		o.deviations[j] = math.Exp(0.4 * rng.NormFloat64())
	}
	finder := NewFinder(o.f)
	if len(finder.heads) < 2 { // it is below leastNested
		finder.heads = keys(o.f, false)[:2]
	}
	finder.Add(o.phi)
	var err error
	if o.p, err = finder.Crossed(); err != nil {
		t.Fatal(err)
	}
	if beside := Beside(o.f); beside != dense+3 || o.p.Rest() != beside {
		t.Fatalf("%d weights beside both keys, %d in the leaf", beside, o.p.Rest())
	}
	ws := credence.NewWorkspace(threads)
	o.values = make([]float64, o.p.Len())
	o.p.AddRows(ws, o.values, o.phi, o.weights)
	o.p.Close(o.values)
	o.dense()
	c := o.p.NewCrossed(ws, of)
	if lost := c.Set(o.values, scale, o.deviations); lost >= 0 {
		t.Fatalf("weight %d is lost", lost)
	}
	return o, c
}

// hadamard is a source of signs in the place of random ones: of 16 weights, or of 8 where columns are skipped, the
// columns are orthogonal, so that averages over them are exact.
type hadamard struct{ row int }

func (h *hadamard) Uint64() (signs uint64) {
	for n := range 64 {
		i, j := h.row+n/Probes, n%Probes
		signs |= uint64((bits.OnesCount(uint(i&j))+1)%2) << n
	}
	h.row += 64 / Probes
	return signs
}

func orthogonal(uint64) *rand.Rand { return rand.New(&hadamard{}) }

// TestCrossedIsDenseAlgebra: with orthogonal probes, as many as inner weights, estimates of traces and determinants are
// exact, and so are all numbers but those of outer with inner levels. Of fewer than seven columns of the leaf as many
// probes are more than that.
func TestCrossedIsDenseAlgebra(t *testing.T) {
	for _, c := range []struct{ outer, inner, ko, ki, dense int }{{40, 8, 1, 1, 4}, {30, 4, 2, 2, 5}, {25, 2, 3, 4, 21}, {50, 8, 1, 1, 0}} {
		o, f := crossed(t, c.outer, c.inner, c.ko, c.ki, c.dense, 1, orthogonal)
		d, exact := o.f.weights, c.dense > 0
		x, got, white := make([]float64, d), make([]float64, d), make([]float64, d)
		want := mat.NewVecDense(d, nil)
		for range 2 { // the leaf's columns are solved for at first
			for j := range x {
				x[j] = math.Sin(float64(j * j))
			}
			want.MulVec(o.covariance, mat.NewVecDense(d, x))
			f.Whiten(got, white, x)
			nearly(t, "Cx", got, want.RawVector().Data, solvedTolerance)
			for j := range white {
				white[j] *= o.deviations[j]
			}
			nearly(t, "S⁻¹Cx", white, got, tolerance)
		}
		list := make([][]float64, 19) // two sets of columns
		for k := range list {
			list[k] = make([]float64, d)
			list[k][k] = 1
		}
		f.Inverses(list)
		for k, column := range list {
			nearly(t, "A⁻¹x", column, mat.Col(nil, k, o.inverse), solvedTolerance)
		}
		values := make([]float64, o.p.Len())
		f.selected(values, 1)
		o.compareButCells(t, "A⁻¹ by draws", values)
		f.Scale(values)
		f.p.scaled(f.ws, values, values, 1, inverses(f.s), 0)
		o.compareButCells(t, "S⁻¹CS⁻¹", values)
		if f.Left != 0 {
			t.Errorf("iterations left %v", f.Left)
		}
		if exact {
			var chol mat.Cholesky
			chol.Factorize(o.a)
			nearly(t, "log determinant", []float64{f.LogDet()}, []float64{chol.LogDet()}, probedTolerance)
			f.Inverse(values)
			o.compareButCells(t, "A⁻¹", values)
		}
	}
}

// TestCellsOfCrossed: where an outer level meets one inner level, no other inner weight adds to their numbers, and all
// are those of dense algebra, cells among them.
func TestCellsOfCrossed(t *testing.T) {
	for _, k := range [][2]int{{1, 1}, {2, 3}} {
		rng := rand.New(rand.NewPCG(5, 5))
		o, f := crossedBy(t, rng, []term{{"h", 8, k[1], func(i int) int { return i % 40 % 8 }}, {"x", 3, 1, at(rng, 160, 3)}, {"g", 40, k[0], func(i int) int { return i % 40 }}}, 160, 4, 1, signs)
		values := make([]float64, o.p.Len())
		f.Selected(values)
		var got, want []float64
		o.every(values, func(i, j int, v float64) { got, want = append(got, v), append(want, o.inverse.At(i, j)) })
		nearly(t, "A⁻¹", got, want, probedTolerance)
	}
}

func inverses(x []float64) []float64 {
	out := slices.Clone(x)
	for i, v := range x {
		out[i] = 1 / v
	}
	return out
}

func nearly(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	size, worst := 0.0, 0.0
	for i := range want {
		size, worst = math.Max(size, math.Abs(want[i])), math.Max(worst, math.Abs(got[i]-want[i]))
	}
	if !(worst <= tolerance*size) {
		t.Errorf("%s: off by %.2g of %.2g", what, worst, size)
	}
}

// compareButCells compares all numbers, those of outer with inner levels by a tenth of what they are.
func (o *oracle) compareButCells(t *testing.T, what string, values []float64) {
	t.Helper()
	var got, want, cells, exact []float64
	of := func(j int) int { k, _, _ := o.p.headOf(o.p.place[j]); return k }
	o.every(values, func(i, j int, v float64) {
		if of(i) == 0 && of(j) == 1 {
			cells, exact = append(cells, v), append(exact, o.inverse.At(i, j))
		} else {
			got, want = append(got, v), append(want, o.inverse.At(i, j))
		}
	})
	nearly(t, what, got, want, probedTolerance)
	square, off := 0.0, 0.0
	for i, v := range exact {
		square, off = square+v*v, off+(v-cells[i])*(v-cells[i])
	}
	t.Logf("%s: cells off by %.3f of their root mean square", what, math.Sqrt(off/square))
}

// TestCovarianceOfCrossed: what rows have in common, by the regression of levels on what they meet, has the rows'
// variances on its diagonal, and is that of draws.
func TestCovarianceOfCrossed(t *testing.T) {
	for _, c := range []struct{ ko, ki, dense int }{{1, 1, 2}, {2, 2, 1}, {1, 3, 0}} {
		o, f := crossed(t, 120, 50, c.ko, c.ki, c.dense, 1, signs)
		ws := credence.NewWorkspace(1)
		values := make([]float64, o.p.Len())
		f.Selected(values)
		f.Scale(values)
		regression := o.p.Regression(ws, values)
		rows := o.phi.Window(0, 60)
		want, got := make([]float64, 60), linop.NewDense(60, 60)
		o.p.RowVariances(ws, want, values, &rows, nil)
		o.p.Covariance(ws, &got, regression, &rows, &rows)
		diagonal := make([]float64, 60)
		for i := range diagonal {
			diagonal[i] = got.Row(i)[i]
		}
		// What a level owes to columns of the leaf that it does not meet, by levels that it does, is left out.
		nearly(t, "variances", diagonal, want, 3e-3)
		var half, drawn mat.Dense
		half.Mul(o.rows.Slice(0, 60, 0, o.f.weights), o.drawn(regression))
		drawn.Mul(&half, o.rows.Slice(0, 60, 0, o.f.weights).T())
		nearly(t, "covariance of draws", drawn.RawMatrix().Data, got.Data, tolerance)
	}
}

// TestErrorsOfProbes: over seeds the log determinant scatters as its standard error says, which falls with the fourth
// power of what crossed levels have in common, since the second is taken off; numbers of two rounds of draws scatter by
// half the variance of one.
func TestErrorsOfProbes(t *testing.T) {
	const seeds = 60 // five standard errors of a variance are .9 of it
	o, _ := crossed(t, 40, 16, 1, 1, 0, 1, signs)
	told, determinants, one, two := 0.0, scatter{}, make([]scatter, o.f.weights), make([]scatter, o.f.weights)
	values, diagonal := make([]float64, o.p.Len()), make([]float64, o.f.weights)
	for seed := range uint64(seeds) {
		f := o.p.NewCrossed(credence.NewWorkspace(1), func(set uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, set)) })
		f.Set(o.values, scale, o.deviations)
		determinants.add(f.LogDet())
		told += f.StandardError() * f.StandardError() / seeds
		for rounds, to := range [][]scatter{one, two} {
			f.selected(values, uint64(1+rounds))
			o.p.Diagonal(diagonal, values)
			for j, v := range diagonal {
				to[j].add(v)
			}
		}
		if seed > 0 {
			continue
		}
		var errors []float64
		for _, by := range []float64{100, 300} {
			f.Set(o.values, scale/by, o.deviations)
			f.LogDet()
			errors = append(errors, f.StandardError())
		}
		if ratio := errors[0] / errors[1]; ratio < 27 {
			t.Errorf("with a third of the scale the error is %.3g times less, not 81 times", ratio)
		}
	}
	if ratio := determinants.variance() / told; !(math.Abs(math.Log(ratio)) <= 0.9) {
		t.Errorf("the log determinant has %.2f times the variance that is told", ratio)
	}
	first, second := 0.0, 0.0
	for j := range one {
		first, second = first+one[j].variance(), second+two[j].variance()
	}
	if ratio := second / first; !(math.Abs(ratio-0.5) <= 0.1) {
		t.Errorf("two rounds have %.2f times the variance of one", ratio)
	}
}

// scatter holds the sums of numbers less the first.
type scatter struct{ count, first, sum, square float64 }

func (s *scatter) add(v float64) {
	if s.count == 0 {
		s.first = v
	}
	v -= s.first
	s.count, s.sum, s.square = s.count+1, s.sum+v, s.square+v*v
}

func (s *scatter) variance() float64 { return (s.square - s.sum*s.sum/s.count) / (s.count - 1) }

// TestChainIsLeft: where every level meets but two of the other key, one after the other, iterations take as many steps
// as there are levels, and what they leave is told.
func TestChainIsLeft(t *testing.T) {
	const levels = 1200
	rng := rand.New(rand.NewPCG(8, 8))
	f, phi := design(rng, 2*levels, 0, []term{{"g", levels, 1, func(i int) int { return i / 2 }}, {"h", levels, 1, func(i int) int { return (i + 1) / 2 % levels }}})
	finder := NewFinder(f)
	finder.Add(phi)
	p, err := finder.Crossed()
	if err != nil {
		t.Fatal(err)
	}
	ws, values, deviations := credence.NewWorkspace(1), make([]float64, p.Len()), make([]float64, p.Weights)
	for j := range deviations {
		deviations[j] = 1e4
	}
	p.AddRows(ws, values, phi, nil)
	p.Close(values)
	c := p.NewCrossed(ws, signs)
	if lost := c.Set(values, 1, deviations); lost >= 0 {
		t.Fatalf("weight %d is lost", lost)
	}
	b := make([]float64, p.Weights)
	for j := range b {
		b[j] = rng.NormFloat64()
	}
	c.Whiten(b, make([]float64, len(b)), b)
	if !(c.Left > 10*solvedShare) {
		t.Errorf("iterations left %v", c.Left)
	}
}

// TestEigen: values and first components of vectors are those of a library, of random matrices, and of one that falls
// apart.
func TestEigen(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{1, 2, 7, 60} {
		l, full := &lanczos{count: [Probes]int{3: n}}, mat.NewSymDense(n, nil)
		for k := range n {
			var diagonal, beside columns
			diagonal[3], beside[3] = 3+rng.Float64(), rng.Float64()
			if k%5 == 3 {
				beside[3] = 0
			}
			l.diagonal, l.beside = append(l.diagonal, diagonal), append(l.beside, beside)
			if full.SetSym(k, k, diagonal[3]); k > 0 {
				full.SetSym(k, k-1, l.beside[k-1][3])
			}
		}
		values, vectors := l.eigen(3, n)
		back := mat.NewDense(n, n, nil)
		for k, v := range values {
			column := mat.NewVecDense(n, vectors[k])
			var outer mat.Dense
			outer.Outer(v, column, column)
			back.Add(back, &outer)
		}
		nearly(t, "VΛVᵀ", back.RawMatrix().Data, mat.DenseCopyOf(full).RawMatrix().Data, tolerance)
		again, first := l.eigen(3, 1)
		for k, v := range values {
			if again[k] != v || first[k][0] != vectors[k][0] {
				t.Errorf("%d of %d: %v, %v with all components", k, n, again[k], v)
			}
		}
		var eigen mat.EigenSym
		eigen.Factorize(full, false)
		slices.Sort(values)
		nearly(t, "eigenvalues", values, eigen.Values(nil), tolerance)
	}
}
