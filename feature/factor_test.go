package feature

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
)

// cosines is Π cos(2πτ_j), of differences in periods.
func cosines(tau []float64) float64 {
	product := 1.0
	for _, v := range tau {
		product *= math.Cos(2 * math.Pi * v)
	}
	return product
}

// estimates draws terms of n frequencies and returns the mean of φ(x)ᵀφ(x') over draws with its standard error, at
// pairs of neighbouring rows.
func estimates(t *testing.T, in Inputs, base RandomFourier, n, draws int, rng *rand.Rand, rows *credence.Batch) (mean, spread, square []float64) {
	pairs := rows.X.Rows / 2
	mean, spread, square = make([]float64, pairs), make([]float64, pairs), make([]float64, pairs)
	var phi credence.Design
	ws := credence.NewWorkspace(1)
	for range draws {
		newSet(t, in, draw(t, in, base, n, rng.Uint64())).Transform(ws, &phi, rows)
		for k := range pairs {
			v := dot(phi.Dense.Row(2*k), phi.Dense.Row(2*k+1))
			mean[k] += v / float64(draws)
			square[k] += v * v / float64(draws)
		}
	}
	for k := range pairs {
		spread[k] = math.Sqrt(max(0, square[k]-mean[k]*mean[k])/float64(draws)) + 1e-9
	}
	return mean, spread, square
}

// pairsOf are pairs of rows of d inputs, those of neighbours some way apart.
func pairsOf(rng *rand.Rand, d, pairs int) *credence.Batch {
	rows := &credence.Batch{X: linop.NewDense(2*pairs, d)}
	for k := range pairs {
		for j := range d {
			rows.X.Row(2 * k)[j] = rng.NormFloat64()
			rows.X.Row(2*k + 1)[j] = rows.X.Row(2 * k)[j] + rng.NormFloat64()*float64(k)/4
		}
	}
	rows.Sparse.Reset(0)
	return rows
}

// scaledDifference is the difference of rows 2k and 2k+1 in some inputs, in lengthscales.
func scaledDifference(rows *credence.Batch, k int, inputs []int, lengthscales []float64) []float64 {
	tau := make([]float64, len(inputs))
	for j, input := range inputs {
		tau[j] = (rows.X.Row(2 * k)[input] - rows.X.Row(2*k + 1)[input]) / lengthscales[j]
	}
	return tau
}

// Frequencies of a product estimate the product of the kernels, for any two of the six, a column that both have, and
// three of them.
func TestProductsOfKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 5))
	in, rows := numbers(4), pairsOf(rng, 4, 6)
	type factor struct {
		kernel       Kernel
		inputs       []int
		lengthscales []float64
	}
	check := func(sampling Sampling, factors ...factor) {
		t.Helper()
		base := RandomFourier{Name: "k", Kernel: factors[0].kernel, Sampling: sampling, Inputs: factors[0].inputs, Lengthscale: Lengthscale{Values: factors[0].lengthscales}}
		for _, f := range factors[1:] {
			base.Times = append(base.Times, Factor{f.kernel, f.inputs, Lengthscale{Values: f.lengthscales}})
		}
		mean, spread, _ := estimates(t, in, base, 20, 300, rng, rows)
		for k := range mean {
			want := 1.0
			for _, f := range factors {
				want *= closedForm(f.kernel, scaledDifference(rows, k, f.inputs, f.lengthscales))
			}
			if !(math.Abs(mean[k]-want) <= 5*spread[k]) {
				t.Errorf("%v, %s: k̂ = %.5f, want %.5f ± %.5f", factors, sampling, mean[k], want, 5*spread[k])
			}
		}
	}
	for _, a := range kernels {
		for _, b := range kernels {
			check("", factor{a, []int{0, 1}, []float64{1, 2}}, factor{b, []int{3, 0}, []float64{0.7, 3}})
		}
	}
	check(IID, factor{RBF, []int{0}, []float64{1}}, factor{Matern32, []int{0}, []float64{2}})
	check(Orthogonal, factor{RBF, []int{2, 1, 0}, []float64{1, 1, 1}}, factor{Matern12, []int{0}, []float64{2}}, factor{RBF, []int{3}, []float64{1}})

	product := draw(t, in, RandomFourier{Name: "k", Kernel: RBF, Inputs: []int{0, 1, 2, 3}, Times: []Factor{{RBF, []int{1, 0, 2, 3}, Lengthscale{}}}}, 4, 3)
	for at := 0; at < len(product.Frequencies); at += 8 { // within a factor directions are orthogonal
		if c := dot(product.Frequencies[:4], product.Frequencies[at:at+4]); at > 0 && !(math.Abs(c) <= 1e-12) {
			t.Errorf("frequencies 1 and %d of the first kernel have the product %v", at/8+1, c)
		}
	}
	product = draw(t, in, RandomFourier{Name: "k", Kernel: RBF, Sampling: IID, Inputs: []int{0, 1, 2, 3}, Times: []Factor{{RBF, []int{1, 0, 2, 3}, Lengthscale{}}}}, 4, 3)
	if c := dot(product.Frequencies[:4], product.Frequencies[8:12]); math.Abs(c) < 1e-12 {
		t.Error("frequencies that are asked to be independent are orthogonal")
	}
}

// A product tells its lengthscales by kernel, and keeps those that are stated.
func TestLengthscalesOfProducts(t *testing.T) {
	in := numbers(3)
	in.Dense[2].Center, in.Dense[2].Scale = 100, 4
	term := draw(t, in, RandomFourier{Name: "p", Kernel: RBF, Inputs: []int{0, 1}, Lengthscale: Lengthscale{Shared: true, Values: []float64{2}, State: param.Held}, Times: []Factor{
		{RBF, []int{0}, Lengthscale{}}, {Matern32, []int{1, 2}, Lengthscale{Values: []float64{3, 4}}}, {Cosine, []int{2}, Lengthscale{Values: []float64{8},
			Periods: &Periods{Lower: []float64{1}, Upper: []float64{50}, Starts: [][]float64{{8}, {9}}}}}}}, 5, 1)
	s := newSet(t, in, &Intercept{}, term)
	var names []string
	for _, h := range s.Hyper() {
		names = append(names, h.Name)
	}
	if want := []string{"lengthscale.p", "lengthscale.p.rbf'.a", "lengthscale.p.matern32.b", "lengthscale.p.matern32.c", "period.p.c"}; !slices.Equal(names, want) {
		t.Fatalf("hyper-parameters %q, want %q", names, want)
	}
	h := s.Hyper()
	if !h[0].Held || h[1].Held || h[0].PriorMean != math.Log(2)/2 || h[1].PriorMean != 0 || h[4].PriorSD != 0 || h[4].Lower != 1 || h[4].Upper != 50 || !slices.Equal(h[4].Starts, []float64{8, 9}) {
		t.Errorf("hyper-parameters are %+v", h)
	}
	values := []float64{2, 1, 5, 6, 7}
	moved := s.WithHyper(values).(*Set).Begun()
	for k, h := range moved.Hyper() {
		if h.Value != values[k] || h.Start != values[k] || k == 4 && !slices.Equal(h.Starts, values[4:]) {
			t.Errorf("begun at %v, %s is %+v", values[k], h.Name, h)
		}
	}
	for _, h := range moved.Held().Hyper() {
		if !h.Held {
			t.Errorf("%s is not held", h.Name)
		}
	}
	if got := s.Smooths()[0].Inputs; !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("a product is a function of %v, want each input once", got)
	}
	// A period is in the column's own unit, 4 times that of the fit: in half of one the wave turns round.
	alone := draw(t, in, RandomFourier{Name: "p", Kernel: RBF, Inputs: []int{2}, Lengthscale: Lengthscale{Values: []float64{1e6}}, Times: []Factor{{Cosine, []int{2}, Lengthscale{Values: []float64{8}}}}}, 5, 1)
	rows := &credence.Batch{X: linop.NewDense(2, 3)}
	rows.X.Row(1)[2] = 1
	rows.Sparse.Reset(0)
	if phi := spread(newSet(t, in, alone), rows); !(math.Abs(dot(phi.Row(0), phi.Row(1))+1) <= 1e-4) {
		t.Errorf("half a period away the kernel is %v, want -1", dot(phi.Row(0), phi.Row(1)))
	}
}

func TestProductsRefuse(t *testing.T) {
	in := numbers(2)
	in.Segment = 3
	base := RandomFourier{Name: "k", Kernel: RBF, Inputs: []int{0}, Frequencies: []float64{1, 2}}
	with := func(change func(t *RandomFourier)) *RandomFourier {
		other := base
		other.Times = []Factor{{RBF, []int{1}, Lengthscale{}}}
		change(&other)
		return &other
	}
	refuses(t, in, "feature: k: a product of kernels takes columns of its own, and no sparse segment", with(func(t *RandomFourier) { t.Segment, t.Frequencies = true, make([]float64, 5) }))
	refuses(t, in, "feature: k: factor 2 of the product has no inputs: name a column", with(func(t *RandomFourier) {
		t.Times = append(t.Times, Factor{Kernel: RBF})
		t.Inputs = nil
		t.Times[0].Inputs = nil
		t.Inputs = []int{0, 1}
	}))
	refuses(t, in, `feature: unknown kernel "rfb": use rbf, laplacian, cauchy, matern12, matern32 or matern52`, with(func(t *RandomFourier) { t.Times[0].Kernel = "rfb" }))
	refuses(t, in, "feature: k: fastfood has the frequencies of one kernel: use orthogonal or iid", with(func(t *RandomFourier) { t.Sampling = Fastfood }))
	refuses(t, in, "feature: k has 3 lengthscales: give 1 or a single one", with(func(t *RandomFourier) { t.Times[0].Lengthscale.Values = []float64{1, 2, 3} }))
	refuses(t, in, "feature: k has 2 bounds or starts of periods: give 1", with(func(t *RandomFourier) {
		t.Times[0].Lengthscale.Periods = &Periods{Lower: []float64{1}, Upper: []float64{1, 2}}
	}))
	refuses(t, in, "feature: k has a lengthscale of -1: give a positive number", with(func(t *RandomFourier) {
		t.Times[0].Lengthscale.Periods = &Periods{Lower: []float64{1}, Upper: []float64{2}, Starts: [][]float64{{-1}}}
	}))
	fast := func(change func(t *RandomFourier)) *RandomFourier {
		other := *draw(t, numbers(2), RandomFourier{Name: "k", Kernel: RBF, Sampling: Fastfood, Inputs: []int{0, 1}}, 3, 1)
		other.Fastfood = slices.Clone(other.Fastfood)
		change(&other)
		return &other
	}
	refuses(t, in, "feature: k has 16 numbers for 5 fastfood frequencies: draw them", fast(func(t *RandomFourier) { t.Count = 5 }))
	refuses(t, in, "feature: k has 16 numbers for 0 fastfood frequencies: draw them", fast(func(t *RandomFourier) { t.Count = 0 }))
	for _, places := range [][]float64{{0, 0}, {0, 2}, {-1, 0}, {0.5, 1}, {math.NaN(), 0}} {
		refuses(t, in, "feature: k: the places of its fastfood frequencies are no permutation: draw them", fast(func(t *RandomFourier) { copy(t.Fastfood[10:], places) }))
	}
	refuses(t, in, "feature: k: a number of its fastfood frequencies is +Inf: give finite numbers", fast(func(t *RandomFourier) { t.Fastfood[7] = math.Inf(1) }))
	if _, err := (&RandomFourier{Name: "k", Kernel: Cauchy, Sampling: Fastfood, Inputs: []int{0}}).Draw(&in, 3, rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Error("cauchy draws fastfood frequencies")
	}
	if _, err := (&RandomFourier{Name: "k", Kernel: RBF, Sampling: Fastfood, Inputs: []int{0}}).Draw(&in, 0, rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Error("no fastfood frequencies are drawn")
	}
}

// explicit forms the frequencies of a fastfood term by matrices: for one block after the other S H G Π H B, and behind
// it H B'.
func explicit(t *RandomFourier, d int, spectral bool) [][]float64 {
	size := 1
	for size < d {
		size *= 2
	}
	parts := 4
	if spectral {
		parts = 5
	}
	hadamard := func(i, j int) float64 {
		sign := 1.0
		for both := i & j; both > 0; both &= both - 1 {
			sign = -sign
		}
		return sign
	}
	var rows [][]float64
	for i := range t.Count {
		numbers := t.Fastfood[i/size*size*parts:]
		row := make([]float64, d*(parts-3))
		for j := range d {
			for k := range size { // G at k takes what stands at Π_k of H B
				row[j] += hadamard(i%size, k) * numbers[2*size+k] * hadamard(int(numbers[size+k]), j)
			}
			row[j] *= numbers[3*size+i%size] * numbers[j]
			if spectral {
				row[d+j] = hadamard(i%size, j) * numbers[4*size+j]
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// Fastfood features are those of the frequencies that its factors multiply out to, at any number of columns, of a block
// and of parts of one.
func TestFastfoodIsItsMatrices(t *testing.T) {
	for _, d := range []int{1, 2, 3, 5, 8, 13} {
		for _, spectral := range []bool{false, true} {
			in := numbers(d)
			base := RandomFourier{Name: "k", Kernel: Matern32, Sampling: Fastfood, Inputs: span(0, d), Lengthscale: Lengthscale{Shared: true, Values: []float64{1.5}}}
			if spectral {
				base.Times = []Factor{{Cosine, span(0, d), Lengthscale{Shared: true, Values: []float64{6}}}}
			}
			for _, n := range []int{1, 7, 16, 37} {
				term := draw(t, in, base, n, uint64(n))
				dense := base
				dense.Sampling, dense.Given = "", true
				for _, row := range explicit(term, d, spectral) {
					dense.Frequencies = append(dense.Frequencies, row...)
				}
				rows := batch(in, conformRows, false)
				got, want := newSet(t, in, term), newSet(t, in, &dense)
				a, b := spread(got, rows), spread(want, rows)
				for i, v := range b.Data {
					if !(math.Abs(a.Data[i]-v) <= 1e-12*float64(n)) {
						t.Fatalf("%d columns, %d frequencies, value %d: %v, want %v", d, n, i, a.Data[i], v)
					}
				}
				if d == 3 && n == 37 { // thinned are the first
					few := spread(got.Thin(4).(*Set), rows)
					if few.Cols != 18 || !(math.Abs(few.Row(5)[8]*math.Sqrt(9./37)-b.Row(5)[8]) <= 1e-10) {
						t.Errorf("one in four of 37 frequencies: %d columns, %v for %v", few.Cols, few.Row(5)[8], b.Row(5)[8])
					}
				}
			}
		}
	}
}

// Fastfood frequencies are unbiased, and off by at most 1.4 times what independent ones are; every one of them alone is
// normal.
func TestKernelsFastfood(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 6))
	for _, kernel := range []Kernel{RBF, Matern12, Matern32, Matern52} {
		for _, d := range dimensions() {
			in := numbers(d)
			base := RandomFourier{Name: "k", Kernel: kernel, Sampling: Fastfood, Inputs: span(0, d), Lengthscale: Lengthscale{Values: []float64{1}}}
			filled := must.Value(base.Lengthscale.fill("k", d))(t)
			rows, taus := shifts(rng, d, &filled)
			n, draws := 2*d+1, 600
			mean, spread, square := estimates(t, in, base, n, draws, rng, rows)
			fast, independent := 0.0, 0.0
			for k, tau := range taus {
				want, twice := closedForm(kernel, tau), make([]float64, d)
				for j := range tau {
					twice[j] = 2 * tau[j]
				}
				if !(math.Abs(mean[k]-want) <= 5*spread[k]) {
					t.Errorf("%s, d = %d: k̂ = %.4f on average, want %.4f ± %.4f", kernel, d, mean[k], want, 5*spread[k])
				}
				fast += square[k] - 2*want*mean[k] + want*want
				independent += (0.5*(1+closedForm(kernel, twice)) - want*want) / float64(n)
			}
			if ratio := math.Sqrt(fast / independent); ratio > 1.4+5/math.Sqrt(float64(draws)) {
				t.Errorf("%s, d = %d: off by %.2f times what independent frequencies are", kernel, d, ratio)
			}
		}
	}
	// A component of a spectral mixture is the Gaussian times the cosines.
	in, rows := numbers(3), pairsOf(rng, 3, 6)
	for _, sampling := range []Sampling{"", IID, Fastfood} {
		all := span(0, 3)
		base := RandomFourier{Name: "k", Kernel: RBF, Sampling: sampling, Inputs: all, Lengthscale: Lengthscale{Values: []float64{2, 3, 1}},
			Times: []Factor{{Cosine, all, Lengthscale{Values: []float64{5, 2, 9}}}}}
		mean, spread, _ := estimates(t, in, base, 12, 800, rng, rows)
		for k := range mean {
			want := closedForm(RBF, scaledDifference(rows, k, all, []float64{2, 3, 1})) * cosines(scaledDifference(rows, k, all, []float64{5, 2, 9}))
			if !(math.Abs(mean[k]-want) <= 5*spread[k]) {
				t.Errorf("spectral, %q: k̂ = %.4f on average, want %.4f ± %.4f", sampling, mean[k], want, 5*spread[k])
			}
		}
	}
}

// BenchmarkFastfood is of 8,192 frequencies of 512 columns, features and their pull-back, beside those of a dense
// matrix.
func BenchmarkFastfood(b *testing.B) {
	const d, n = 512, 8192
	in := numbers(d)
	rows := batch(in, credence.BlockRows, false)
	for _, sampling := range []Sampling{IID, Fastfood} {
		s := newSet(b, in, draw(b, in, RandomFourier{Name: "rbf(.)", Kernel: RBF, Sampling: sampling, Inputs: span(0, d), Lengthscale: Lengthscale{Shared: true}}, n, 1))
		ws := credence.NewWorkspace(1)
		var phi credence.Design
		b.Run("features "+string(sampling), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Transform(ws, &phi, rows)
			}
		})
		grad := make([]float64, len(s.Hyper()))
		b.Run("pull-back "+string(sampling), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Pullback(ws, grad, rows, &phi, phi.Dense.Data)
			}
		})
	}
}
