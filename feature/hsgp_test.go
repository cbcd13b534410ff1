package feature

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
)

// kernels are those of Hilbert-space processes, by their formulas.
var hilbertKernels = map[Kernel]func(square float64) float64{
	RBF:      func(s float64) float64 { return math.Exp(-s / 2) },
	Matern32: func(s float64) float64 { r := math.Sqrt(3 * s); return (1 + r) * math.Exp(-r) },
	Matern52: func(s float64) float64 { r := math.Sqrt(5 * s); return (1 + r + r*r/3) * math.Exp(-r) },
}

// asked returns a term with the functions and the boundary that its lengthscales ask for.
func asked(t *testing.T, term HSGP) *HSGP {
	t.Helper()
	term.Most = []int{5000, 5000}[:len(term.Inputs)]
	held := term
	held.Lengthscale = Lengthscale{} // of an engine that learns none
	if wider, short := held.widened(0); wider != nil || short != "" {
		t.Errorf("without a lengthscale it asks for %+v, %s", wider, short)
	}
	wider, short := term.widened(0)
	if wider == nil || short != "" {
		t.Fatalf("%s at %v: %s", term.Name, term.Lengthscale.Values, short)
	}
	if again, short := wider.widened(0); again != nil || short != "" {
		t.Fatalf("%s at %v wants %v and %v, and then more", term.Name, term.Lengthscale.Values, wider.Functions, wider.Boundary)
	}
	return wider
}

// With what the self-check asks for, the kernel is within 2.5 % of its variance everywhere in the data, at all
// lengthscales, and in two dimensions; far beyond that it is the kernel.
func TestHilbertKernels(t *testing.T) {
	in := numbers(2)
	const reach = 1.7
	rows := batch(in, 41, false)
	for name, of := range hilbertKernels {
		for _, l := range []float64{0.1, 0.2, 0.3, 0.5, 1, 2} {
			term := HSGP{Name: "hsgp(a)", Kernel: name, Inputs: []int{0}, Lengthscale: Lengthscale{Values: []float64{l * reach}},
				Functions: []int{1}, Middle: []float64{0.3}, Reach: []float64{reach}, Boundary: []float64{1}}
			for i := range 41 {
				rows.X.Row(i)[0] = 0.3 + reach*(float64(i)/20-1)
			}
			check := func(term *HSGP, within float64) {
				for i, row := range allProducts(spread(newSet(t, in, term), rows)) {
					for k, got := range row {
						far := (rows.X.Row(i)[0] - rows.X.Row(k)[0]) / (l * reach)
						if want := of(far * far); !(math.Abs(got-want) <= within) {
							t.Fatalf("%s, ℓ/S = %g, m = %v, c = %v: kernel of %g is %.4f, want %.4f", name, l, term.Functions, term.Boundary, far*l, got, want)
						}
					}
				}
			}
			check(asked(t, term), 0.025)
			term.Functions, term.Boundary = []int{MostFunctions}, []float64{1 + 12*l}
			check(&term, 1e-3)
		}
		two := asked(t, HSGP{Name: "hsgp(a, b)", Kernel: name, Inputs: []int{0, 1}, Lengthscale: Lengthscale{Values: []float64{0.8, 2}},
			Functions: []int{1, 1}, Middle: []float64{0, 1}, Reach: []float64{1, 2}, Boundary: []float64{1, 1}})
		for i := range 41 {
			rows.X.Row(i)[0], rows.X.Row(i)[1] = math.Cos(float64(3*i)), 1+2*math.Sin(float64(7*i))
		}
		for i, row := range allProducts(spread(newSet(t, in, two), rows)) {
			for k, got := range row {
				a, b := (rows.X.Row(i)[0]-rows.X.Row(k)[0])/0.8, (rows.X.Row(i)[1]-rows.X.Row(k)[1])/2
				if want := of(a*a + b*b); math.Abs(got-want) > 0.05 { // twice one input's
					t.Fatalf("%s of two inputs: %.4f, want %.4f", name, got, want)
				}
			}
		}
	}
}

// What is stated stays and is told; there are no more functions than different values.
func TestHilbertLimits(t *testing.T) {
	term := HSGP{Name: "hsgp(a)", Kernel: RBF, Inputs: []int{0}, Lengthscale: Lengthscale{Values: []float64{0.1}}, Functions: []int{10}, Middle: []float64{0}, Reach: []float64{2}, Boundary: []float64{1.2}}
	in := numbers(1)
	for _, c := range []struct {
		most      []int
		fixed     bool
		l         float64
		functions int // of the wider one, 0 for none
		boundary  float64
		short     string
	}{
		{[]int{500}, false, 0.1, 42, 1.2, ""}, // 1.75 · 1.2 · 20
		{[]int{500}, false, 1, 10, 1.75, ""},
		{[]int{500}, false, 4, 10, 6.4, ""},
		{[]int{17}, false, 0.1, 17, 1.2, ""},
		{nil, false, 0.1, 0, 0, "[hsgp(a): the lengthscale [0.1] asks for m=[42], boundary=1.2]"},
		{nil, false, 1, 10, 1.75, ""},
		{[]int{500}, true, 1, 0, 0, "[hsgp(a): the lengthscale [1] asks for m=[10], boundary=1.75]"},
		{[]int{5000}, false, 0.001, 0, 0, "[hsgp(a): the lengthscale [0.001] asks for m=[4200], boundary=1.2]"},
	} {
		term.Most, term.Fixed, term.Lengthscale.Values = c.most, c.fixed, []float64{c.l}
		wider, short := newSet(t, in, &term).Widened(noSignal)
		if got := fmt.Sprint(short); got != cmp.Or(c.short, "[]") {
			t.Errorf("ℓ = %g: %s, want %s", c.l, got, c.short)
		}
		if wider == nil && c.functions == 0 {
			continue
		}
		if wider == nil || c.functions == 0 || wider.Terms()[0].(*HSGP).Functions[0] != c.functions || !(math.Abs(wider.Terms()[0].(*HSGP).Boundary[0]-c.boundary) <= 1e-12) {
			t.Errorf("ℓ = %g: %+v, want m = %d, c = %g", c.l, wider, c.functions, c.boundary)
		}
	}
}

// Each input has its own limits, and the functions are 0 from the edges of the box on.
func TestHilbertInputs(t *testing.T) {
	in := numbers(2)
	term := HSGP{Name: "hsgp(a, b)", Kernel: RBF, Inputs: []int{0, 1}, Lengthscale: Lengthscale{Values: []float64{1, 0.1}}, Functions: []int{2, 3},
		Middle: []float64{0, 1}, Reach: []float64{2, 2}, Boundary: []float64{1.2, 1.2}, Most: []int{4, 17}}
	wider, _ := newSet(t, in, &term).Widened(noSignal)
	got := wider.Terms()[0].(*HSGP)
	if got.Functions[0] != 4 || got.Functions[1] != 17 || !(math.Abs(got.Boundary[0]-1.75) <= 1e-12) || got.Boundary[1] != 1.2 {
		t.Errorf("m = %v, c = %v", got.Functions, got.Boundary)
	}
	term.Most = nil
	if _, short := newSet(t, in, &term).Widened(noSignal); fmt.Sprint(short) != "[hsgp(a, b): the lengthscale [1, 0.1] asks for m=[7, 42], boundary=1.75]" {
		t.Errorf("%s", short)
	}
	rows := batch(in, 5, false)
	for i, x := range [][2]float64{{2.4, 1}, {-3, 1.5}, {0.5, 9}, {1, -1.4}, {1, 1.1}} {
		rows.X.Row(i)[0], rows.X.Row(i)[1] = x[0], x[1]
	}
	phi := spread(newSet(t, in, &term), rows)
	for i := range 5 {
		largest := 0.0
		for _, v := range phi.Row(i) {
			largest = math.Max(largest, math.Abs(v))
		}
		if inside := i == 4; inside != (largest > 1e-9) {
			t.Errorf("row %d: functions up to %g", i, largest)
		}
	}
}

// The spectral density is that of the kernel: k(0) = 1 = ∫ S dω/(2π)^d.
func TestSpectralDensitiesIntegrateToOne(t *testing.T) {
	for name := range hilbertKernels {
		for d := 1; d <= 3; d++ {
			sphere := []float64{2, 2 * math.Pi, 4 * math.Pi}[d-1]
			sum := 0.0
			const steps = 20_000
			for i := range steps { // ω = u/(1 − u)
				u := (float64(i) + 0.5) / steps
				w := u / (1 - u)
				sum += sphere * math.Pow(w, float64(d-1)) * name.density(d, w*w) / (1 - u) / (1 - u) / steps
			}
			if got := sum / math.Pow(2*math.Pi, float64(d)); !(math.Abs(got-1) <= 1e-5) {
				t.Errorf("%s in %d dimensions: %.8f", name, d, got)
			}
		}
	}
}

// φ(x)ᵀφ(z) is exp(−2 sin²(π(x−z)/period)/ℓ²), to the rounding of 60 harmonics.
func TestPeriodicKernel(t *testing.T) {
	in := numbers(1)
	in.Dense[0].Center, in.Dense[0].Scale = -4, 3
	rows := batch(in, 30, false)
	for _, l := range []float64{0.2, 0.7, 1, 4, 300} {
		s := newSet(t, in, &Periodic{Name: "periodic(a)", Input: 0, Period: 7, Harmonics: 60, Lengthscale: Lengthscale{Values: []float64{l}}})
		for k, want := range map[int]string{0: "a mean", 1: "a cos 1", 2: "a sin 1", 119: "a cos 60", 120: "a sin 60"} {
			if name := s.WeightName(k); name != want {
				t.Errorf("weight %d is %s, want %s", k, name, want)
			}
		}
		for i, row := range allProducts(spread(s, rows)) {
			for k, got := range row {
				sin := math.Sin(math.Pi * 3 * (rows.X.Row(i)[0] - rows.X.Row(k)[0]) / 7)
				if want := math.Exp(-2 * sin * sin / l / l); !(math.Abs(got-want) <= 1e-12) {
					t.Fatalf("ℓ = %g: %.14f, want %.14f", l, got, want)
				}
			}
		}
	}
	// The shortest lengthscale of m harmonics leaves out 1.3 % of the variance.
	short := &Periodic{Name: "periodic(a)", Input: 0, Period: 7, Harmonics: 12, Lengthscale: Lengthscale{Values: []float64{0.5}}}
	lower := newSet(t, in, short).Hyper()[0].Lower
	deviation, _ := periodicDeviations(12, lower)
	sum := 0.0
	for j, q := range deviation {
		if j%2 == 0 { // the cosines have the share of both
			sum += q * q
		}
	}
	if !(math.Abs(lower-0.2) <= 1e-12) || 1-sum > 0.02 || 1-sum < 0.005 {
		t.Errorf("at ℓ = %g %.4f of the variance is left out", lower, 1-sum)
	}
}

func TestProportionedConformance(t *testing.T) {
	in := withCategory(numbers(3), "zip", 3)
	box := func(name string, kernel Kernel, l Lengthscale, inputs []int, m ...int) *HSGP {
		h := &HSGP{Name: name, Kernel: kernel, Inputs: inputs, Lengthscale: l, Functions: m}
		for range inputs {
			h.Middle, h.Reach, h.Boundary = append(h.Middle, 0.1), append(h.Reach, 2), append(h.Boundary, 1.5)
		}
		return h
	}
	for _, l := range []float64{0.1, 1, 10} {
		s := newSet(t, in, &Intercept{}, &Linear{Inputs: span(0, 4)},
			box("hsgp(b)", RBF, Lengthscale{Values: []float64{l}}, []int{1}, 9),
			box("hsgp(c, a)", Matern52, Lengthscale{Values: []float64{l, 0.7}}, []int{2, 0}, 4, 5),
			box("hsgp(a, b, c)", Matern32, Lengthscale{Values: []float64{l}, Shared: true}, span(0, 3), 2, 3, 2),
			&Periodic{Name: "periodic(c)", Input: 2, Period: 3, Harmonics: 40, Lengthscale: Lengthscale{Values: []float64{l}}})
		checkFeatures(t, s, batch(in, conformRows, false))
		apart, ok := s.Apart()
		if !ok {
			t.Fatal("nothing is apart")
		}
		checkFeatures(t, apart, batch(in, conformRows, false))
		checkApart(t, s, apart.(*Set), batch(in, 9, false))
		if _, ok := s.Held().Apart(); ok {
			t.Fatal("what is held is apart")
		}
		if len(s.Smooths()) != 4 || !s.Blocks()[2].Unit {
			t.Fatalf("smooths %+v", s.Smooths())
		}
	}
	far := newSet(t, in, box("hsgp(a)", RBF, Lengthscale{Values: []float64{1e-200}}, []int{0}, 5),
		&Periodic{Name: "periodic(c)", Input: 2, Period: 1e-300, Harmonics: 3, Lengthscale: Lengthscale{Values: []float64{1e-9}}})
	rows := batch(in, 2, false)
	copy(rows.X.Data, []float64{math.MaxFloat64, 0, 1e300, 0, -math.MaxFloat64, 0, -1e-300, 0})
	conformFinite(t, far, rows)

	four := box("hsgp(a, b, c, d)", RBF, Lengthscale{}, []int{0, 1, 2, 0}, 1, 1, 1, 1)
	refuses(t, in, "feature: hsgp(a, b, c, d): a Hilbert-space process has one to three inputs, each with functions, a middle, a reach and a boundary, and a kernel rbf, matern32 or matern52", four)
	refuses(t, in, "feature: hsgp(a): a Hilbert-space process has one to three inputs, each with functions, a middle, a reach and a boundary, and a kernel rbf, matern32 or matern52", box("hsgp(a)", Matern12, Lengthscale{}, []int{0}, 5))
	refuses(t, in, "feature: hsgp(a, b): 50 functions on 0.1 ± 1.5 × 2: give 1 to 2000 in all, and a boundary of 1 or more", box("hsgp(a, b)", RBF, Lengthscale{}, []int{0, 1}, 41, 50))
	refuses(t, in, "feature: periodic(a) has 0 harmonics of a period of 3: give 1 to 1000 of a positive one", &Periodic{Name: "periodic(a)", Input: 0, Period: 3})
}

// checkApart: columns that are apart, times the deviations, are the columns; slopes are central differences; a fit anew
// has the columns.
func checkApart(t *testing.T, s, apart *Set, rows *credence.Batch) {
	t.Helper()
	d, hypers := s.Weights(), apart.Hyper()
	deviation, slopes := make([]float64, d), make([]float64, d*len(hypers))
	apart.Deviations(deviation, slopes)
	alone := make([]float64, d)
	if apart.Deviations(alone, nil); !slices.Equal(alone, deviation) {
		t.Fatal("without slopes the deviations are others")
	}
	want, bare, again := spread(s, rows), spread(apart, rows), spread(apart.Begun(), rows)
	for i := range want.Rows {
		for j, v := range want.Row(i) {
			if got := bare.Row(i)[j] * deviation[j]; !(math.Abs(got-v) <= 1e-12) || again.Row(i)[j] != v {
				t.Fatalf("%s of row %d is %v times %v, want %v, and anew %v", s.WeightName(j), i, bare.Row(i)[j], deviation[j], v, again.Row(i)[j])
			}
		}
	}
	up, down, other := make([]float64, d), make([]float64, d), make([]float64, d*len(hypers))
	for h := range hypers {
		const step = 1e-5
		at := func(dst []float64, by float64) {
			values := make([]float64, len(hypers))
			for k := range values {
				values[k] = hypers[k].Value
			}
			values[h] *= math.Exp(by)
			apart.WithHyper(values).(*Set).Deviations(dst, other)
		}
		at(up, step)
		at(down, -step)
		for j := range d {
			if down[j] == 0 || up[j] == 0 {
				continue
			}
			if got, want := slopes[h*d+j], math.Log(up[j]/down[j])/(2*step); !(math.Abs(got-want) <= 1e-6*max(1, math.Abs(want))) {
				t.Fatalf("slope of %s in %s is %v, want %v", s.WeightName(j), hypers[h].Name, got, want)
			}
		}
	}
}

func noSignal(string) float64 { return 0 }

// A rough function of little noise takes as many functions as leave out less than the noise hides: by the tail of the
// spectral density, whose integral is summed here, the last number of functions is enough and the one before is not.
func TestSignalsTakeMoreFunctions(t *testing.T) {
	in := numbers(1)
	for _, kernel := range []Kernel{RBF, Matern32, Matern52} {
		for _, signal := range []float64{0, 1, 1e3, 1e6} {
			term := HSGP{Name: "hsgp(a)", Kernel: kernel, Inputs: []int{0}, Lengthscale: Lengthscale{Values: []float64{1}}, Functions: []int{10},
				Middle: []float64{0}, Reach: []float64{2}, Boundary: []float64{4}, Most: []int{500}}
			wider, short := newSet(t, in, &term).Widened(func(block string) float64 {
				if block != "hsgp(a)" {
					t.Errorf("the signal of %q is asked for", block)
				}
				return signal
			})
			m := 10
			if wider != nil {
				m = wider.Terms()[0].(*HSGP).Functions[0]
			}
			beyond := func(m int) (share float64) { // 2∫S/2π
				const step = 1e-3 // of the logarithm
				for w := math.Pi * float64(m) / 16 * math.Exp(step/2); w < 1e5; w *= math.Exp(step) {
					share += kernel.density(1, w*w) * 2 * w * math.Sinh(step/2) / math.Pi
				}
				return share
			}
			if len(short) > 0 || beyond(m)*signal > float64(m)/10*1.001 {
				t.Errorf("%s, signal %v: %d functions leave out %.3g, %v", kernel, signal, m, beyond(m), short)
			}
			if signal >= 1e3 && beyond(m-1)*signal <= float64(m-1)/10*0.999 {
				t.Errorf("%s, signal %v: %d functions, and one less is enough", kernel, signal, m)
			}
		}
	}
	term := HSGP{Name: "hsgp(a)", Kernel: Matern32, Inputs: []int{0}, Lengthscale: Lengthscale{Values: []float64{1}}, Functions: []int{30}, Middle: []float64{0}, Reach: []float64{2}, Boundary: []float64{4}}
	if wider, short := newSet(t, in, &term).Widened(func(string) float64 { return 1e9 }); wider != nil || len(short) > 0 {
		t.Errorf("stated functions become %v, %v", wider, short)
	}
	term.Most = []int{35}
	wider, _ := newSet(t, in, &term).Widened(func(string) float64 { return 1e9 })
	if wider == nil || wider.Terms()[0].(*HSGP).Functions[0] != 35 {
		t.Error("functions are not bounded by the different values")
	}
}

// TestHilbertColumnsByHand: the columns of two inputs, whose boxes, lengthscales and numbers of functions differ, are
// the products of waves by the formula times the deviations of the spectral density; the slopes of these are their
// central differences.
func TestHilbertColumnsByHand(t *testing.T) {
	in := numbers(3)
	rows := batch(in, 20, false)
	for i := range 20 {
		rows.X.Row(i)[2], rows.X.Row(i)[0] = 1+1.5*math.Sin(float64(i)), -2+3*math.Cos(float64(2*i))
	}
	middle, reach, boundary, functions, scales := []float64{1, -2}, []float64{1.5, 3}, []float64{1.3, 1.6}, []int{3, 2}, []float64{0.8, 2}
	at := func(kernel Kernel, l ...float64) *HSGP {
		return &HSGP{Name: "hsgp(c, a)", Kernel: kernel, Inputs: []int{2, 0}, Lengthscale: Lengthscale{Values: l}, Functions: functions, Middle: middle, Reach: reach, Boundary: boundary}
	}
	phi := spread(newSet(t, in, at(RBF, scales...)), rows)
	for i := range 20 {
		x := []float64{rows.X.Row(i)[2], rows.X.Row(i)[0]}
		for j := range 6 {
			want := 1.0
			for k, place := range []int{j/2 + 1, j%2 + 1} {
				half := reach[k] * boundary[k]
				omega := math.Pi * float64(place) / (2 * half)
				want *= math.Sin(omega*(x[k]-middle[k]+half)) / math.Sqrt(half)
				want *= math.Sqrt(scales[k] * math.Sqrt(2*math.Pi) * math.Exp(-omega*omega*scales[k]*scales[k]/2))
			}
			if got := phi.Row(i)[j]; !(math.Abs(got-want) <= 1e-12) {
				t.Fatalf("column %d of row %d is %v, want %v", j, i, got, want)
			}
		}
	}
	const h = 1e-5
	for kernel := range hilbertKernels {
		bound := func(l ...float64) *proportionedMap {
			m, err := at(kernel, l...).Bind(&in)
			if err != nil {
				t.Fatal(err)
			}
			return m.(*proportionedMap)
		}
		m := bound(scales...)
		for k := range 2 {
			up, down := slices.Clone(scales), slices.Clone(scales)
			up[k], down[k] = up[k]*math.Exp(h), down[k]*math.Exp(-h)
			above, below := bound(up...), bound(down...)
			for j, d := range m.deviation {
				want := (above.deviation[j] - below.deviation[j]) / (2 * h) / d
				if got := m.slopes[j*2+k]; !(math.Abs(got-want) <= 1e-7*(1+math.Abs(want))) {
					t.Errorf("%s: the slope of deviation %d in lengthscale %d is %v, want %v", kernel, j, k, got, want)
				}
			}
		}
	}
}
