package feature

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
)

// closedForm is k(τ) for τ already divided by the lengthscales.
func closedForm(k Kernel, tau []float64) float64 {
	square, absolute, product := 0.0, 0.0, 1.0
	for _, v := range tau {
		square += v * v
		absolute += math.Abs(v)
		product /= 1 + v*v
	}
	distance := math.Sqrt(square)
	switch k {
	case RBF:
		return math.Exp(-square / 2)
	case Laplacian:
		return math.Exp(-absolute)
	case Cauchy:
		return product
	case Matern12:
		return math.Exp(-distance)
	case Matern32:
		r := math.Sqrt(3) * distance
		return (1 + r) * math.Exp(-r)
	case Matern52:
		r := math.Sqrt(5) * distance
		return (1 + r + r*r/3) * math.Exp(-r)
	}
	panic("no closed form of " + string(k))
}

var kernels = []Kernel{RBF, Laplacian, Cauchy, Matern12, Matern32, Matern52}

// dimensions are the numbers of inputs, of which the largest takes longer than all others.
func dimensions() []int {
	if !study.Long() {
		return []int{1, 2, 5, 20}
	}
	return []int{1, 2, 5, 20, 64}
}

// lengthscales are the cases of d inputs: three shared ones far from and at 1, and a mixed list.
func lengthscales(d int) [][]float64 {
	mixed := make([]float64, d)
	for j := range mixed {
		mixed[j] = []float64{0.3, 10, 1, 0.1, 2.5}[j%5]
	}
	return [][]float64{{0.1}, {1}, {10}, mixed}
}

// shifts are pairs of rows whose difference, divided by the lengthscales, has
// lengths between 0 and 3, so that the kernel is neither 1 nor 0.
func shifts(rng *rand.Rand, d int, l *Lengthscale) (rows *credence.Batch, taus [][]float64) {
	lengths := []float64{0, 0.1, 0.5, 1, 2, 3}
	rows = &credence.Batch{X: linop.NewDense(2*len(lengths), d)}
	for k, length := range lengths {
		tau, norm := make([]float64, d), 0.0
		for j := range tau {
			tau[j] = rng.NormFloat64()
			norm += tau[j] * tau[j]
		}
		for j := range tau {
			tau[j] *= length / math.Sqrt(norm)
			x := rng.NormFloat64()
			rows.X.Row(2 * k)[j] = x
			rows.X.Row(2*k + 1)[j] = x - tau[j]*l.of(j)
		}
		taus = append(taus, tau)
	}
	rows.Sparse.Reset(0)
	return rows, taus
}

// φ(x)ᵀφ(x') must estimate the kernel within five exact standard errors,
// Var k̂ = (1/n)[½(1+k(2τ)) - k(τ)²] for independent frequencies. In 720
// cases five standard errors are passed by chance in one seed of some thousands.
func TestKernelsIndependent(t *testing.T) {
	n := 20000
	if testing.Short() {
		n = 4000
	}
	rng := rand.New(rand.NewPCG(11, 12))
	ws := credence.NewWorkspace(0)
	var phi credence.Design
	for _, kernel := range kernels {
		for _, d := range dimensions() {
			in := numbers(d)
			for _, values := range lengthscales(d) {
				term := draw(t, in, RandomFourier{Name: "k", Kernel: kernel, Sampling: IID, Inputs: span(0, d),
					Lengthscale: Lengthscale{Values: values}}, n, rng.Uint64())
				filled, err := term.Lengthscale.fill("k", d)
				if err != nil {
					t.Fatal(err)
				}
				rows, taus := shifts(rng, d, &filled)
				newSet(t, in, term).Transform(ws, &phi, rows)
				for k, tau := range taus {
					got := dot(phi.Dense.Row(2*k), phi.Dense.Row(2*k+1))
					want := closedForm(kernel, tau)
					twice := make([]float64, d)
					for j := range tau {
						twice[j] = 2 * tau[j]
					}
					// Rounding of heavy-tailed frequencies is all that is left at τ = 0.
					limit := 5*math.Sqrt(max(0, (0.5*(1+closedForm(kernel, twice))-want*want)/float64(n))) + 1e-9
					if !(math.Abs(got-want) <= limit) {
						t.Errorf("%s, d = %d, lengthscales %v, τ %.3v: k̂ = %.5f, want %.5f ± %.5f", kernel, d, values, tau, got, want, limit)
					}
				}
			}
		}
	}
}

// Orthogonal frequencies are unbiased: the mean of k̂ over many draws is within
// five of its own standard errors of k. For RBF the mean squared error is at most that
// of independent frequencies, by theory for n = d and small ‖τ‖ and in practice beyond.
func TestKernelsOrthogonal(t *testing.T) {
	draws := 3000
	if testing.Short() {
		draws = 600
	}
	rng := rand.New(rand.NewPCG(13, 14))
	ws := credence.NewWorkspace(1)
	var phi credence.Design
	for _, kernel := range []Kernel{RBF, Matern12, Matern32, Matern52} {
		for _, d := range dimensions() {
			in := numbers(d)
			scales := lengthscales(d)
			values := scales[len(scales)-1]
			base := RandomFourier{Name: "k", Kernel: kernel, Sampling: Orthogonal, Inputs: span(0, d), Lengthscale: Lengthscale{Values: values}}
			filled, err := base.Lengthscale.fill("k", d)
			if err != nil {
				t.Fatal(err)
			}
			rows, taus := shifts(rng, d, &filled)
			n := d + (d+1)/2 // a full group and a part of one
			sum, square := make([]float64, len(taus)), make([]float64, len(taus))
			for range draws {
				newSet(t, in, draw(t, in, base, n, rng.Uint64())).Transform(ws, &phi, rows)
				for k, tau := range taus {
					e := dot(phi.Dense.Row(2*k), phi.Dense.Row(2*k+1)) - closedForm(kernel, tau)
					sum[k] += e
					square[k] += e * e
				}
			}
			orthogonal, independent := 0.0, 0.0
			for k, tau := range taus {
				mean, second := sum[k]/float64(draws), square[k]/float64(draws)
				if limit := 5*math.Sqrt(second/float64(draws)) + 1e-9; !(math.Abs(mean) <= limit) {
					t.Errorf("%s, d = %d, τ %.3v: k̂ is off by %.5f on average, more than %.5f", kernel, d, tau, mean, limit)
				}
				twice := make([]float64, d)
				for j := range tau {
					twice[j] = 2 * tau[j]
				}
				k := closedForm(kernel, tau)
				orthogonal += second
				independent += (0.5*(1+closedForm(kernel, twice)) - k*k) / float64(n)
			}
			// The empirical sum over lengths is known to a few per cent; d = 1 has
			// nothing to be orthogonal to.
			if kernel == RBF && d > 1 && orthogonal > independent {
				t.Errorf("RBF, d = %d: mean squared error %.3g orthogonal, %.3g independent", d, orthogonal, independent)
			}
		}
	}
}

// Quasi frequencies of one dimension give the kernel to less than a third of what independent ones are off by, of two
// to two thirds, all of them and the first few; without amplitudes, or with those of another widening, it is that of
// another lengthscale. Squares of a row add up to 1. Every draw has the tail of the density, which 50 independent
// frequencies miss in every second one.
func TestKernelsQuasi(t *testing.T) {
	const n, draws = 100, 20
	rng := rand.New(rand.NewPCG(15, 16))
	ws := credence.NewWorkspace(1)
	var phi credence.Design
	for _, kernel := range kernels {
		for d, share := range []float64{1: 0.3, 2: 0.6} {
			if d == 0 {
				continue
			}
			in := numbers(d)
			values := lengthscales(d)[3]
			base := RandomFourier{Name: "k", Kernel: kernel, Inputs: span(0, d), Lengthscale: Lengthscale{Values: values}}
			filled := must.Value(base.Lengthscale.fill("k", d))(t)
			rows, taus := shifts(rng, d, &filled)
			for _, parts := range []int{1, 3} {
				quasi, independent := 0.0, 0.0
				for range draws {
					term := draw(t, in, base, n*parts, rng.Uint64())
					if term.Sampling != Quasi {
						t.Fatalf("%s draws %s frequencies", kernel, term.Sampling)
					}
					newSet(t, in, term).Thin(parts).Transform(ws, &phi, rows)
					for k, tau := range taus {
						want, twice := closedForm(kernel, tau), make([]float64, d)
						for j := range tau {
							twice[j] = 2 * tau[j]
						}
						e := dot(phi.Dense.Row(2*k), phi.Dense.Row(2*k+1)) - want
						quasi += e * e
						independent += (0.5*(1+closedForm(kernel, twice)) - want*want) / n
					}
					if one := dot(phi.Dense.Row(0), phi.Dense.Row(0)); !(math.Abs(one-1) <= 1e-12) {
						t.Fatalf("%s, d = %d, one in %d: the squares of a row add up to %v", kernel, d, parts, one)
					}
				}
				if quasi > share*share*independent {
					t.Errorf("%s, d = %d, one in %d: the error is %.3f of that of independent frequencies, more than %v", kernel, d, parts, math.Sqrt(quasi/independent), share)
				}
			}
		}
	}
}

// farOut is the share of the prior's variance at frequencies beyond three.
func farOut(frequencies, amplitudes []float64) (share float64) {
	for i, w := range frequencies {
		if !(math.Abs(w) <= 3) {
			share += amplitudes[i] * amplitudes[i]
		}
	}
	return share
}

func TestQuasiFrequenciesHaveTails(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for range 100 {
		omega, amplitudes, err := RBF.Draw("", 50, 1, rng)
		if err != nil {
			t.Fatal(err)
		}
		// About 7 of the 50 are out there, and steps misplace one at most, whose share is twice exp(−3/8 ω²)/50.
		if share, want := farOut(omega, amplitudes), math.Erfc(3/math.Sqrt2); !(math.Abs(share-want) <= 2*math.Exp(-3./8*9)/50) {
			t.Errorf("%.5f of the variance is beyond a frequency of 3, want %.5f", share, want)
		}
	}
}

// The directions of a group are at right angles and the lengths of the draw stay.
func TestOrthogonalDirections(t *testing.T) {
	const d = 60
	for _, kernel := range []Kernel{RBF, Matern32} {
		omega, _, err := kernel.Draw(Orthogonal, 100, d, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			for k := range i {
				a, b := omega[i*d:(i+1)*d], omega[k*d:(k+1)*d]
				cosine := dot(a, b) / math.Sqrt(dot(a, a)*dot(b, b))
				if together := i/d == k/d; together && !(math.Abs(cosine) <= 1e-14) {
					t.Fatalf("%s: frequencies %d and %d have cosine %g", kernel, k, i, cosine)
				}
			}
		}
	}
}

// Nearly parallel rows lose their angles to cancellation in a single pass.
func TestOrthogonaliseNearlyParallel(t *testing.T) {
	g := []float64{1, 1, 1, 1, 1 + 1e-9, 1, 1, 1, 1 - 1e-9}
	orthogonalise(g, 3)
	for i := range 3 {
		for k := range i {
			if cosine := dot(g[3*i:3*i+3], g[3*k:3*k+3]) / 3; !(math.Abs(cosine) <= 1e-15) {
				t.Fatalf("rows %d and %d have cosine %g", k, i, cosine)
			}
		}
	}
}

// What is drawn again has the frequencies and the amplitudes of another seed.
func TestRedraw(t *testing.T) {
	in, ws := numbers(2), credence.NewWorkspace(1)
	base := RandomFourier{Name: "k", Kernel: RBF, Inputs: []int{0, 1}, Lengthscale: Lengthscale{Values: []float64{1, 1}}}
	first := draw(t, in, base, 20, 1)
	want := *first
	var err error
	want.Frequencies, want.Amplitudes, err = RBF.Draw(first.Sampling, 20, 2, credence.Rand(7, credence.RedrawFeatures, 3))
	must.Succeed(t, err)
	var got, other credence.Design
	rows := batch(in, 5, false)
	newSet(t, in, first).Redraw(7, 3).Transform(ws, &got, rows)
	newSet(t, in, &want).Transform(ws, &other, rows)
	for i := range 5 {
		sameRow(t, "drawn again", got.Dense.Row(i), other.Dense.Row(i))
	}
}

// Given frequencies are ω before division by ℓ, and are not redrawn.
func TestGivenFrequencies(t *testing.T) {
	in := numbers(2)
	s := newSet(t, in, &RandomFourier{Name: "rbf(a, b)", Kernel: RBF, Inputs: []int{1, 0}, Given: true,
		Frequencies: []float64{1, 0, 0.5, -2}, Lengthscale: Lengthscale{Values: []float64{4, 0.3}, State: param.Held}})
	rows := batch(in, 1, false)
	a, b := rows.X.Row(0)[0], rows.X.Row(0)[1]
	z1, z2 := b/4, 0.5*b/4-2*a/0.3
	r := math.Sqrt(0.5)
	phi := spread(s, rows)
	sameRow(t, "given", phi.Row(0), []float64{r * math.Cos(z1), r * math.Cos(z2), r * math.Sin(z1), r * math.Sin(z2)})
	if s.Random() || s.Redraw(1, 1) != credence.Features(s) {
		t.Fatal("given frequencies were redrawn")
	}
	if s.Thin(2) != credence.Features(s) {
		t.Fatal("given frequencies were thinned")
	}
	if h := s.Hyper()[1]; h.Name != "lengthscale.rbf(a, b).a" || !h.Held || h.Value != 0.3 {
		t.Fatalf("hyper-parameter %+v", h)
	}
}

// One in so many are the first, whose φ·φ is one like that of all: the prior variance means the same.
func TestThinnedFrequencies(t *testing.T) {
	in := numbers(3)
	term := draw(t, in, RandomFourier{Name: "rbf(.)", Kernel: RBF, Inputs: span(0, 3)}, 9, 1)
	s := newSet(t, in, &Intercept{}, term)
	rows := batch(in, 2, false)
	whole := spread(s, rows)
	for parts, n := range map[int]int{1: 9, 2: 4, 4: 2, 5: 1, 100: 1} {
		thin := s.Thin(parts).(*Set)
		phi := spread(thin, rows)
		if phi.Cols != 1+2*n {
			t.Fatalf("one in %d of nine frequencies has %d columns", parts, phi.Cols)
		}
		for i := range rows.Rows() {
			square := 0.0
			for j, v := range phi.Row(i)[1:] {
				square += v * v
				// All have 1/√9 where these have 1/√n.
				if was := whole.Row(i)[1+j%n+9*(j/n)] * math.Sqrt(9/float64(n)); !(math.Abs(v-was) <= 1e-15) {
					t.Fatalf("one in %d: column %d is %v, was %v", parts, j+1, v, was)
				}
			}
			if !(math.Abs(square-1) <= 1e-14) {
				t.Fatalf("one in %d: the squares add up to %v", parts, square)
			}
		}
	}
}

func TestLengthscaleDefaults(t *testing.T) {
	in := numbers(4)
	term := draw(t, in, RandomFourier{Name: "rbf(.)", Kernel: RBF, Inputs: span(0, 4)}, 3, 1)
	want := credence.Hyper{Name: "lengthscale.rbf(.).d", Value: 2, Start: 2, PriorMean: math.Log(2), PriorSD: 1, Lower: 0.02, Upper: 3000}
	if hypers := newSet(t, in, term).Hyper(); len(hypers) != 4 || !reflect.DeepEqual(hypers[3], want) {
		t.Fatalf("hyper-parameters %+v, want four and the last %+v", hypers, want)
	}
	term.Lengthscale = Lengthscale{Shared: true, NoPrior: true, State: param.Guess, Values: []float64{5}}
	want = credence.Hyper{Name: "lengthscale.rbf(.)", Value: 5, Start: 5, Lower: 0.02, Upper: 3000}
	s := newSet(t, in, term)
	if hypers := s.Hyper(); len(hypers) != 1 || !reflect.DeepEqual(hypers[0], want) {
		t.Fatalf("hyper-parameters %+v, want %+v", hypers, want)
	}
	// What was learned is stored with the term; where to start stays.
	learned := s.WithHyper([]float64{0.4}).(*Set)
	want.Value = 0.4
	if h := newSet(t, in, learned.Terms()...).Hyper()[0]; !reflect.DeepEqual(h, want) {
		t.Fatalf("after learning %+v, want %+v", h, want)
	}
}

// Sines of what overflows are not numbers; finite inputs, lengthscales and frequencies
// never give one.
func TestFourierStaysFinite(t *testing.T) {
	in := numbers(2)
	s := newSet(t, in, &RandomFourier{Name: "rbf(a, b)", Kernel: RBF, Inputs: []int{0, 1}, Given: true,
		Frequencies: []float64{1e90, -1e90, 3, 2}, Lengthscale: Lengthscale{Values: []float64{5e-324, 1e-10}}})
	rows := batch(in, 4, false)
	copy(rows.X.Data, []float64{math.MaxFloat64, math.MaxFloat64, -1e300, 5e-324, 0, 0, 1e200, -1e200})
	phi := spread(s, rows)
	for i, v := range phi.Data {
		if !(math.Abs(v) <= 1) {
			t.Fatalf("value %d is %g", i, v)
		}
	}
	var design credence.Design
	ws := credence.NewWorkspace(1)
	s.Transform(ws, &design, rows)
	grad := make([]float64, 2)
	s.Pullback(ws, grad, rows, &design, make([]float64, len(design.Dense.Data)))
	if grad[0] != 0 || grad[1] != 0 {
		t.Fatalf("gradient %v of a constant", grad)
	}
}

// Rows of a sparse segment and the same rows as dense inputs have the same features.
func TestSparseInputsEqualDense(t *testing.T) {
	sparse := Inputs{Segment: 6}
	rows := batch(sparse, 40, false)
	dense := numbers(6)
	full := &credence.Batch{X: linop.NewDense(40, 6)}
	rows.Sparse.AddTo(&full.X)
	rows.X.Rows = 40
	full.Sparse.Reset(0)
	scale := Lengthscale{Values: []float64{0.5, 2, 3, 1, 0.7, 9}}
	a := draw(t, sparse, RandomFourier{Name: "rbf(.)", Kernel: RBF, Segment: true, Lengthscale: scale}, 8, 5)
	b := draw(t, dense, RandomFourier{Name: "rbf(.)", Kernel: RBF, Inputs: span(0, 6), Lengthscale: scale}, 8, 5)
	got, want := spread(newSet(t, sparse, a), rows), spread(newSet(t, dense, b), full)
	for i := range 40 {
		sameRow(t, fmt.Sprintf("row %d", i), got.Row(i), want.Row(i))
	}
	if name := newSet(t, sparse, a).Hyper()[5].Name; name != "lengthscale.rbf(.).x6" {
		t.Fatalf("the lengthscale of a sparse input is named %s", name)
	}
}

func TestNothingAllocatedOnceWarm(t *testing.T) {
	in := withCategory(numbers(5), "zip", 4)
	s := newSet(t, in, &Intercept{}, &Linear{Inputs: span(0, 6)},
		draw(t, in, RandomFourier{Name: "rbf(.)", Kernel: RBF, Inputs: span(0, 5)}, 20, 1))
	rows := batch(in, conformRows, false)
	var phi credence.Design
	for threads := 1; threads <= 2; threads++ {
		ws := credence.NewWorkspace(threads)
		grad := make([]float64, 5)
		step := func() {
			s.Transform(ws, &phi, rows)
			s.Pullback(ws, grad, rows, &phi, phi.Dense.Data)
		}
		step()
		step()
		if allocations := testing.AllocsPerRun(100, step); allocations > 0 {
			t.Errorf("%d threads: %g allocations", threads, allocations)
		}
	}
}

func benchmarkFourier(b *testing.B, threads int, pullback bool) {
	const n, d = 500, 20
	in := numbers(d)
	s := newSet(b, in, draw(b, in, RandomFourier{Name: "rbf(.)", Kernel: RBF, Inputs: span(0, d)}, n, 1))
	const count = 10000
	rows := batch(in, credence.BlockRows, false)
	ws := credence.NewWorkspace(threads)
	var phi credence.Design
	s.Transform(ws, &phi, rows)
	grad := make([]float64, d)
	b.ReportAllocs()
	for b.Loop() {
		for range count / credence.BlockRows {
			if pullback {
				s.Pullback(ws, grad, rows, &phi, phi.Dense.Data)
			} else {
				s.Transform(ws, &phi, rows)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*(count/credence.BlockRows)*credence.BlockRows), "ns/row")
}

func BenchmarkTransform1(b *testing.B) { benchmarkFourier(b, 1, false) }
func BenchmarkTransform2(b *testing.B) { benchmarkFourier(b, 2, false) }
func BenchmarkPullback1(b *testing.B)  { benchmarkFourier(b, 1, true) }
func BenchmarkPullback2(b *testing.B)  { benchmarkFourier(b, 2, true) }
