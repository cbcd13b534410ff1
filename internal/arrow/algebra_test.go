package arrow

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// TestUncentre: the covariance of (b − x̄ᵀw, w) is TCTᵀ.
func TestUncentre(t *testing.T) {
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
	covariance := make([]float64, o.p.Len())
	o.factor.Inverse(covariance)
	o.factor.Scale(covariance)
	o.p.Uncentre(covariance, means)
	var half, want mat.Dense
	half.Mul(to, o.covariance)
	want.Mul(&half, to.T())
	o.compare(t, "TCTᵀ", covariance, &want)
}

// TestJitterIsAShareOfTheMean: what is added to the diagonal is the same for every weight, those of levels with several
// columns among them.
func TestJitterIsAShareOfTheMean(t *testing.T) {
	o := solveBoth(t, problems()[5], 5, 1)
	o.dense()
	d := o.f.weights
	const share = 0.3
	if lost := o.factor.Set(o.values, scale, o.deviations, []float64{share}); lost >= 0 {
		t.Fatalf("weight %d is lost", lost)
	}
	raised := mat.NewSymDense(d, nil)
	raised.CopySym(o.a)
	for j := range d {
		raised.SetSym(j, j, o.a.At(j, j)+share*mat.Trace(o.a)/float64(d))
	}
	var inverse mat.Dense
	if err := inverse.Inverse(raised); err != nil {
		t.Fatal(err)
	}
	got := make([]float64, o.p.Len())
	o.factor.Inverse(got)
	o.compare(t, "the inverse with jitter", got, &inverse)
}

// TestVariancesOfSums: a sum of two rows that have two levels of the outermost key, and columns of other keys after
// them, has the variance of dense algebra.
func TestVariancesOfSums(t *testing.T) {
	for _, k := range []int{1, 5} {
		o := solveBoth(t, problems()[k], uint64(k), 1)
		o.dense()
		d, n, q := o.f.weights, o.phi.Dense.Rows/2, o.f.dense
		sums, rows := &credence.Design{Dense: linop.NewDense(n, q)}, mat.NewDense(n, d, nil)
		sums.Sparse.Reset(d - q)
		for i := range n {
			var columns []int32
			values := []float64{}
			for j := range d {
				v := o.rows.At(2*i, j) + 0.5*o.rows.At(2*i+1, j)
				if rows.Set(i, j, v); j < q {
					sums.Dense.Row(i)[j] = v
				} else if v != 0 {
					columns, values = append(columns, int32(j-q)), append(values, v)
				}
			}
			sums.Sparse.AppendRow(columns, values)
		}
		ws := credence.NewWorkspace(1)
		covariance := make([]float64, o.p.Len())
		o.factor.Inverse(covariance)
		o.factor.Scale(covariance)
		got, want := make([]float64, n), make([]float64, n)
		o.p.RowVariances(ws, got, covariance, sums, func() []float64 { return o.p.Regression(ws, covariance) })
		var half, all mat.Dense
		half.Mul(rows, o.covariance)
		all.Mul(&half, rows.T())
		first, two := o.f.runs[0], 0
		for i := range n {
			levels := map[int]bool{}
			for j := range first.Levels * first.Columns {
				if rows.At(i, first.First+j) != 0 {
					levels[j/first.Columns] = true
				}
			}
			if len(levels) < 2 { // cells that no row has count as 0
				got[i] = 0
				continue
			}
			want[i] = all.At(i, i)
			two++
		}
		if two < n/2 {
			t.Fatalf("%d of %d sums have two levels", two, n)
		}
		near(t, "variances of sums", got, want)
	}
}

// TestMixBesideAnotherRun: columns of a key that is nested in, beside another term of that key: its levels are further
// apart than they have columns.
func TestMixBesideAnotherRun(t *testing.T) {
	outer := func(i int) int { return i % 35 }
	pr := problem{"two terms of the outer key", 2, 400, func(rng *rand.Rand, _ int) []term {
		inner := func(i int) int { return i % 140 }
		return []term{{"h", 140, 1, inner}, {"g", 35, 1, outer}, {"g", 35, 2, outer}}
	}}
	o := solveBoth(t, pr, 8, 1)
	if o.dense(); len(o.p.heads) != 2 || o.p.heads[1].k != 3 {
		t.Fatalf("%d heads", len(o.p.heads))
	}
	r, d := o.f.runs[2], o.f.weights
	x, to := []float64{1.5, 0.25, -0.75, 2}, mat.NewDense(d, d, nil)
	for i := range d {
		to.Set(i, i, 1)
	}
	for g := range r.Levels {
		for k, v := range x {
			to.Set(r.First+2*g+k/2, r.First+2*g+k%2, v)
		}
	}
	values := slices.Clone(o.values)
	o.p.Mix(values, r.First, r.Levels, 2, x)
	var half, mixed mat.Dense
	half.Mul(to.T(), o.h)
	mixed.Mul(&half, to)
	o.compare(t, "XᵀHX", values, &mixed)
}

// TestManyPairs: pairs that are put together on the way are those of all rows.
func TestManyPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 7))
	f, phi := design(rng, 500, 1, []term{{"g", 90, 1, at(rng, 500, 90)}, {"h", 60, 1, at(rng, 500, 60)}})
	var want *Pattern
	for _, repeated := range []int{0, 1 << 20} {
		finder := NewFinder(f)
		for first := 0; first < 500; first += 100 {
			window := phi.Window(first, 100)
			finder.Add(&window)
			if first == 0 && repeated > 0 { // as many rows like the first would have left
				pair := finder.pairs[0]
				finder.pairs = append(finder.pairs, slices.Repeat([]uint64{pair}, repeated)...)
			}
		}
		got, err := finder.Pattern()
		if err != nil {
			t.Fatal(err)
		}
		if repeated > 0 && (finder.settled == 0 || !slices.Equal(got.Cells.Index, want.Cells.Index) || !slices.Equal(got.Cells.Start, want.Cells.Start)) {
			t.Errorf("%d cells after %d pairs, want %d", len(got.Cells.Index), finder.settled, len(want.Cells.Index))
		}
		want = got
	}
}

// TestOuterAndTimesDense: H + s·xxᵀ where the pattern has numbers, and by·ΦC at the dense columns, for all problems
// with nested and crossed keys.
func TestOuterAndTimesDense(t *testing.T) {
	for _, k := range []int{2, 3, 4} {
		o := solveBoth(t, problems()[k], uint64(k), 2)
		o.dense()
		d, n, q := o.f.weights, o.phi.Dense.Rows, o.f.dense
		rng := rand.New(rand.NewPCG(6, 6))
		x := make([]float64, d)
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		values := slices.Clone(o.values)
		o.p.AddOuter(values, -0.7, x)
		var want mat.Dense
		want.Outer(-0.7, mat.NewVecDense(d, x), mat.NewVecDense(d, x))
		want.Add(&want, o.h)
		o.compare(t, "H − 0.7 xxᵀ", values, &want)

		covariance, got := make([]float64, o.p.Len()), make([]float64, n*q)
		o.factor.Inverse(covariance)
		o.factor.Scale(covariance)
		o.p.TimesDense(credence.NewWorkspace(2), got, -1.5, o.phi, covariance)
		var product mat.Dense
		product.Mul(o.rows, o.covariance.Slice(0, d, 0, q))
		product.Scale(-1.5, &product)
		near(t, "−1.5 ΦC", got, product.RawMatrix().Data)
	}
}

// TestRegressionOnWhatHasNoVariance: a weight without a variance of its own, given those before it, takes no part in a
// regression on it, whatever rounding has left in its place.
func TestRegressionOnWhatHasNoVariance(t *testing.T) {
	l := []float64{2, 1, 0, 3, 0, 4} // the second is half the first
	v := []float64{1, -2, 0.5}
	white := []float64{2*v[0] + v[1] + 3*v[2], 0, 4 * v[2]} // Lᵀv
	b := []float64{2 * white[0], white[0], 3*white[0] + 4*white[2]}
	for _, rounding := range []float64{0, 1e-3, -1e-3} {
		x := slices.Clone(b)
		x[1] += rounding
		half(l, x, 3)
		near(t, "L⁻¹b", x, white)
		x[1] = rounding
		rest(l, x, 3)
		near(t, "Lᵀ times what is left", []float64{2*x[0] + x[1] + 3*x[2], x[1], 4 * x[2]}, white)
	}
}
