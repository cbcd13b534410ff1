package feature

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/param"
)

// conformRows crosses the seam between two blocks of rows.
const conformRows = credence.BlockRows + 85

func draw(t testing.TB, in Inputs, term RandomFourier, n int, seed uint64) *RandomFourier {
	t.Helper()
	drawn, err := term.Draw(&in, n, rand.New(rand.NewPCG(seed, 7)))
	if err != nil {
		t.Fatal(err)
	}
	return drawn
}

func TestConformance(t *testing.T) {
	in := withCategory(withCategory(numbers(4), "zip", 7), "make", 3)
	wide := withCategory(numbers(3), "device", 400)
	sparse := numbers(2)
	sparse.Segment = 30
	both := withCategory(numbers(2), "zip", 4)
	both.Segment = 12
	rbf := draw(t, in, RandomFourier{Name: "rbf(a, c)", Kernel: RBF, Inputs: []int{0, 2},
		Lengthscale: Lengthscale{Values: []float64{0.3, 4}}}, 11, 1)
	shared := draw(t, in, RandomFourier{Name: "matern32(., ard=false)", Kernel: Matern32, Inputs: span(0, 4),
		Lengthscale: Lengthscale{Shared: true, Values: []float64{1.7}}}, 6, 2)
	given := draw(t, in, RandomFourier{Name: "cauchy(b)", Kernel: Cauchy, Inputs: []int{1},
		Lengthscale: Lengthscale{State: param.Held, Values: []float64{2}}}, 5, 3)
	given.Given = true
	product := draw(t, in, RandomFourier{Name: "rbf(a, c):matern32(c)", Kernel: RBF, Inputs: []int{0, 2}, Lengthscale: Lengthscale{Values: []float64{0.3, 4}},
		Times: []Factor{{Matern32, []int{2}, Lengthscale{Values: []float64{2}}}, {Cauchy, []int{1, 3}, Lengthscale{Shared: true, Values: []float64{1}}}}}, 12, 6)
	spectral := func(name string, sampling Sampling) *RandomFourier {
		return draw(t, in, RandomFourier{Name: name, Kernel: RBF, Sampling: sampling, Inputs: []int{0, 2, 3}, Lengthscale: Lengthscale{Values: []float64{2, 3, 1}},
			Times: []Factor{{Cosine, []int{0, 2, 3}, Lengthscale{Values: []float64{2, 3, 5}, NoPrior: true, Periods: &Periods{
				Lower: []float64{1, 1, 1}, Upper: []float64{9, 9, 9}, Starts: [][]float64{{2, 3, 5}, {3, 4, 2}}}}}}}, 11, 7)
	}
	fast := draw(t, in, RandomFourier{Name: "matern52(., kind=fastfood)", Kernel: Matern52, Sampling: Fastfood, Inputs: span(0, 4),
		Lengthscale: Lengthscale{Values: []float64{0.3, 4, 2, 1}}}, 14, 8)
	onSparse := draw(t, sparse, RandomFourier{Name: "rbf(.)", Kernel: RBF, Inputs: []int{1}, Segment: true, Without: []int32{0, 17},
		Lengthscale: Lengthscale{Values: []float64{3}}}, 9, 4)

	for name, c := range map[string]struct {
		in    Inputs
		ones  bool
		terms []Term
	}{
		"linear":    {numbers(3), false, []Term{&Intercept{}, &Linear{Inputs: span(0, 3)}}},
		"dense":     {in, false, []Term{&Intercept{}, &Linear{Inputs: span(0, 6)}, rbf, &OneHot{"onehot(zip)", 4}, shared, given}},
		"products":  {in, false, []Term{&Intercept{}, product, spectral("spectral(a, c, d)", ""), spectral("fast", Fastfood), fast}},
		"mixed":     {wide, false, []Term{&OneHot{"onehot(device)", 3}, &Linear{Inputs: span(0, 4)}, &Intercept{}}},
		"segment":   {sparse, false, []Term{&Intercept{}, &Linear{Inputs: span(0, 2), Segment: true, Without: []int32{3}}, onSparse}},
		"all sorts": {both, false, []Term{&Linear{Inputs: span(0, 3), Segment: true}, &OneHot{"onehot(zip)", 2}}},
		"ones":      {sparse, true, []Term{&Linear{Segment: true}}},
		"intercept": {numbers(0), false, []Term{&Intercept{}}},
		"together":  {in, false, []Term{&Intercept{}, &Kept{"keep(a, zip)", []int{4, 0}}, &Group{"group(b, c)", []int{1, 2}}, &Linear{Inputs: []int{3, 5}}}},
		"apart":     {wide, false, []Term{&Kept{"keep(a, device)", []int{3, 0}}, &Group{"group(b)", []int{1}}, &Linear{Inputs: []int{2}}, &Intercept{}}},
	} {
		t.Run(name, func(t *testing.T) {
			checkFeatures(t, newSet(t, c.in, c.terms...), batch(c.in, conformRows, c.ones))
		})
	}
}

// Terms with sparse columns go last however the caller orders them, and their
// blocks stay in one piece.
func TestOrderOfWeights(t *testing.T) {
	wide := withCategory(numbers(2), "device", 300)
	s := newSet(t, wide, &OneHot{"onehot(device)", 2}, &Linear{Inputs: []int{2, 1, 0}}, &Intercept{})
	want := []credence.Block{
		{Name: "(intercept)", First: 0, Count: 1, Intercept: true},
		{Name: "linear", First: 1, Count: 302},
		{Name: "onehot(device)", First: 303, Count: 300},
	}
	for k, block := range s.Blocks() {
		if block != want[k] {
			t.Fatalf("block %d is %+v, want %+v", k, block, want[k])
		}
	}
	var phi credence.Design
	rows := batch(wide, 4, false)
	rows.X.Row(2)[2] = 7
	rows.X.Row(3)[2] = -1
	s.Transform(credence.NewWorkspace(1), &phi, rows)
	if phi.Dense.Cols != 3 || phi.Sparse.Cols != 600 || phi.Sparse.Value != nil {
		t.Fatalf("%d dense and %d sparse columns, values %v", phi.Dense.Cols, phi.Sparse.Cols, phi.Sparse.Value)
	}
	if columns, _ := phi.Sparse.Row(2); len(columns) != 2 || columns[0] != 7 || columns[1] != 307 {
		t.Fatalf("level 7 has sparse columns %v", columns)
	}
	if columns, _ := phi.Sparse.Row(3); len(columns) != 0 {
		t.Fatalf("a level never seen has sparse columns %v", columns)
	}
	sameRow(t, "dense part", phi.Dense.Row(2), []float64{1, rows.X.Row(2)[1], rows.X.Row(2)[0]})
	for j, want := range map[int]string{0: "(intercept)", 1: "b", 2: "a", 3: "device=l0", 302: "device=l299", 303: "device=l0"} {
		if got := s.WeightName(j); got != want {
			t.Fatalf("weight %d is named %s, want %s", j, got, want)
		}
	}
	// The same terms again give the same set.
	again := newSet(t, s.Inputs(), s.Terms()...)
	for k, block := range again.Blocks() {
		if block != want[k] {
			t.Fatalf("bound again, block %d is %+v, want %+v", k, block, want[k])
		}
	}
}

func TestCategoriesAreDenseWhileFew(t *testing.T) {
	for _, c := range []struct{ levels, dense, sparse int }{{255, 257, 0}, {257, 1, 257}} {
		in := withCategory(numbers(1), "zip", c.levels)
		in = withCategory(in, "one", 1)
		terms := []Term{&Linear{Inputs: span(0, 2)}}
		if c.levels == 255 {
			terms = append(terms, &OneHot{"onehot(one)", 2})
		}
		var phi credence.Design
		newSet(t, in, terms...).Transform(credence.NewWorkspace(1), &phi, batch(in, 3, false))
		if phi.Dense.Cols != c.dense || phi.Sparse.Cols != c.sparse {
			t.Fatalf("%d levels give %d dense and %d sparse columns, want %d and %d", c.levels, phi.Dense.Cols, phi.Sparse.Cols, c.dense, c.sparse)
		}
	}
}

func TestUnseenLevelGivesZeros(t *testing.T) {
	in := withCategory(numbers(1), "zip", 3)
	rows := batch(in, 2, false)
	rows.X.Row(0)[0], rows.X.Row(0)[1] = 0.5, -1
	rows.X.Row(1)[0], rows.X.Row(1)[1] = 0.25, 2
	phi := spread(newSet(t, in, &Linear{Inputs: []int{1, 0}}), rows)
	sameRow(t, "unseen", phi.Row(0), []float64{0.5, 0, 0, 0})
	sameRow(t, "seen", phi.Row(1), []float64{0.25, 0, 0, 1})
}

func TestRefusals(t *testing.T) {
	in := withCategory(numbers(2), "zip", 3)
	refuses(t, in, "feature: the term linear stands twice: leave one out", &Linear{Inputs: []int{0}}, &Linear{Inputs: []int{1}})
	refuses(t, in, "feature: linear: input 5 of 3: give the position of a column of the batch", &Linear{Inputs: []int{5}})
	refuses(t, in, "feature: linear has no columns: leave the term out", &Linear{})
	refuses(t, in, "feature: linear uses a sparse segment, which the data lack", &Linear{Segment: true})
	refuses(t, in, "feature: onehot(a): a is a number: declare it a category", &OneHot{"onehot(a)", 0})
	refuses(t, in, "feature: rbf(zip): zip is a category: leave it out or use onehot(zip)",
		&RandomFourier{Name: "rbf(zip)", Kernel: RBF, Inputs: []int{2}})
	refuses(t, in, "feature: rbf(a) has 0 frequency values for 1 inputs: give rows of 1, or draw them",
		&RandomFourier{Name: "rbf(a)", Kernel: RBF, Inputs: []int{0}})
	refuses(t, in, "feature: rbf(a) has 2 lengthscales: give 1 or a single one",
		&RandomFourier{Name: "rbf(a)", Kernel: RBF, Inputs: []int{0}, Frequencies: []float64{1},
			Lengthscale: Lengthscale{Values: []float64{1, 2}}})
	if _, _, err := Laplacian.Draw(Orthogonal, 3, 2, rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Fatal("orthogonal frequencies of a product kernel were drawn")
	}
}

func TestBatchOfAnotherShapePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("a batch with too many inputs was transformed")
		}
	}()
	var phi credence.Design
	newSet(t, numbers(2), &Linear{Inputs: span(0, 2)}).Transform(credence.NewWorkspace(1), &phi, batch(numbers(3), 2, false))
}

// Numbers, levels and the sparse segment of one linear term stand in this order.
func TestLinearOfEverySort(t *testing.T) {
	in := withCategory(withCategory(numbers(1), "zip", 3), "make", 2)
	in.Segment = 4
	rows := &credence.Batch{}
	rows.X.Reshape(2, 3)
	copy(rows.X.Data, []float64{0.5, 1, 0, -2, -1, 1})
	rows.Sparse.Reset(4)
	rows.Sparse.AppendRow([]int32{0, 1, 3}, []float64{6, 7, 8})
	rows.Sparse.AppendRow([]int32{1}, []float64{9})
	s := newSet(t, in, &Linear{Inputs: []int{1, 2, 0}, Segment: true, Without: []int32{1}})
	var design credence.Design
	s.Transform(credence.NewWorkspace(1), &design, rows)
	if design.Dense.Cols != 1 || design.Sparse.Cols != 8 {
		t.Fatalf("%d dense and %d sparse columns, want 1 and 8", design.Dense.Cols, design.Sparse.Cols)
	}
	phi := spread(s, rows)
	sameRow(t, "first", phi.Row(0), []float64{0.5, 0, 1, 0, 1, 0, 6, 0, 8})
	sameRow(t, "second", phi.Row(1), []float64{-2, 0, 0, 0, 0, 1, 0, 0, 0})
	for j, want := range []string{"a", "zip=l0", "zip=l1", "zip=l2", "make=l0", "make=l1", "x1", "x3", "x4"} {
		if got := s.WeightName(j); got != want {
			t.Fatalf("weight %d is named %s, want %s", j, got, want)
		}
	}
}

// Slopes are read between the first and the last column that a hyper-parameter acts on:
// what stands elsewhere may be anything.
func TestHyperColumns(t *testing.T) {
	in := withCategory(numbers(3), "zip", 4)
	first := draw(t, in, RandomFourier{Name: "rbf(a)", Kernel: RBF, Inputs: []int{0}, Lengthscale: Lengthscale{Values: []float64{0.7}}}, 6, 1)
	second := draw(t, in, RandomFourier{Name: "cauchy(b)", Kernel: Cauchy, Inputs: []int{1}, Lengthscale: Lengthscale{Values: []float64{2}}}, 5, 2)
	s := newSet(t, in, &Intercept{}, &Linear{Inputs: span(0, 3)}, first, &Polynomial{Name: "poly(c, 3)", Inputs: []int{2}, Degree: 3}, second, &OneHot{"onehot(zip)", 3})
	from, to := s.HyperColumns()
	if from != 4 || to != 4+12+3+10 {
		t.Fatalf("columns [%d, %d), want [4, 29)", from, to)
	}
	rows := batch(in, 50, false)
	ws := credence.NewWorkspace(1)
	var phi credence.Design
	s.Transform(ws, &phi, rows)
	slopes := func(outside float64) []float64 {
		change := make([]float64, len(phi.Dense.Data))
		for i := range change {
			change[i] = math.Sin(float64(i))
			if j := i % phi.Dense.Cols; j < from || j >= to {
				change[i] = outside
			}
		}
		grad := make([]float64, len(s.Hyper()))
		s.Pullback(ws, grad, rows, &phi, change)
		return grad
	}
	want := slopes(0)
	for k, g := range slopes(math.NaN()) {
		if g != want[k] || g == 0 {
			t.Errorf("slope %d is %v with numbers elsewhere, %v without", k, g, want[k])
		}
	}
	plain := newSet(t, in, &Intercept{}, &Linear{Inputs: span(0, 3)})
	if from, to := plain.HyperColumns(); from != to {
		t.Errorf("columns [%d, %d) of a set without hyper-parameters", from, to)
	}
}
