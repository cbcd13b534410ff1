package frame

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// tolerance is relative, for sums and roots of a handful of numbers.
const tolerance = 1e-14

// near holds for two missing values as well.
func near(a, b float64) bool {
	return a != a && b != b || math.Abs(a-b) <= tolerance*(1+math.Abs(b))
}

func wantColumn(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !near(got[i], want[i]) {
			t.Fatalf("%s is %v, want %v", what, got, want)
		}
	}
}

func mustFit(t *testing.T, plan *Plan, source credence.Source, options Options) (*Frame, *credence.Batch) {
	t.Helper()
	f := must.Value(Fit(t.Context(), plan, source, options))(t)
	targets := IgnoreTargets
	if f.Target != nil {
		targets = RequireTargets
	}
	data := must.Value(f.Bind(source, targets))(t)
	batch := must.Value(readAll(data))(t)
	return f, batch
}

func target(name string) *Expr {
	e := Column(name)
	return &e
}

func TestTransformsAndScalingByHand(t *testing.T) {
	// x = 1, 2, 3, 6 has mean 3 and variance (4+1+0+9)/4 = 3.5.
	source := numbers([]string{"x", "y"}, []float64{1, 10}, []float64{2, 20}, []float64{3, 30}, []float64{6, 60})
	x := Column("x")
	plan := &Plan{Target: target("y"), Inputs: []Expr{x, x.With(Square), x.With(Center), x.With(Scale).With(Exp), x.With(Center).With(Square).With(Sqrt)}}
	sd := math.Sqrt(3.5)

	_, raw := mustFit(t, plan, source, Options{Raw: true})
	wantColumn(t, "x", columnOf(&raw.X, 0), []float64{1, 2, 3, 6})
	wantColumn(t, "square(x)", columnOf(&raw.X, 1), []float64{1, 4, 9, 36})
	wantColumn(t, "center(x)", columnOf(&raw.X, 2), []float64{-2, -1, 0, 3})
	wantColumn(t, "exp(scale(x))", columnOf(&raw.X, 3), []float64{math.Exp(-2 / sd), math.Exp(-1 / sd), 1, math.Exp(3 / sd)})
	wantColumn(t, "|x-3|", columnOf(&raw.X, 4), []float64{2, 1, 0, 3})
	wantColumn(t, "y", raw.Target, []float64{10, 20, 30, 60})

	f, scaled := mustFit(t, plan, source, Options{})
	wantColumn(t, "scaled x", columnOf(&scaled.X, 0), []float64{-2 / sd, -1 / sd, 0, 3 / sd})
	if in := f.Inputs[0]; !near(in.Center, 3) || !near(in.Scale, sd) {
		t.Errorf("x is centred by %g and divided by %g", in.Center, in.Scale)
	}
	if f.Target.Mean != 30 || !near(f.Target.Variance, 350) || f.Rows != 4 || f.WeightSum != 4 {
		t.Errorf("target mean %g, variance %g of %d rows", f.Target.Mean, f.Target.Variance, f.Rows)
	}
	if name := f.Inputs[3].Name; name != "exp(scale(x))" {
		t.Errorf("input is named %q", name)
	}
}

func TestConstantAndEqualInputsStayAndAreTold(t *testing.T) {
	source := numbers([]string{"one", "a", "b", "y"}, []float64{1, 3, 3, 0.5}, []float64{1, 4, 4, 2}, []float64{1, 9, 9, 3})
	f, batch := mustFit(t, &Plan{Target: target("y"), Inputs: []Expr{Column("one"), Column("a"), Column("b")}}, source, Options{})
	wantColumn(t, "one", columnOf(&batch.X, 0), []float64{1, 1, 1})
	warnings, remarks := []string{"inputs a and b have the same values in every row"}, []string{"input one is the same in every row"}
	if !reflect.DeepEqual(f.Warnings, warnings) || !reflect.DeepEqual(f.Remarks, remarks) {
		t.Errorf("warnings are %q, want %q; remarks %q, want %q", f.Warnings, warnings, f.Remarks, remarks)
	}
}

// Of many inputs that repeat others a few are named, and the others are counted.
func TestManyEqualInputs(t *testing.T) {
	names, plan := []string{"y"}, &Plan{Target: target("y")}
	for k := range mostRepeated + 3 { // the first repeats none
		names = append(names, fmt.Sprintf("x%d", k))
		plan.Inputs = append(plan.Inputs, Column(names[k+1]))
	}
	source := numbers(names, slices.Repeat([]float64{1}, len(names)), slices.Repeat([]float64{2}, len(names)))
	f, _ := mustFit(t, plan, source, Options{})
	if last := "2 more inputs have the values of another in every row"; len(f.Warnings) != mostRepeated+1 || f.Warnings[mostRepeated] != last {
		t.Errorf("warnings are %q, the last of which is not %q", f.Warnings, last)
	}
}

// A category that has a level for nearly every row is doubted.
func TestCategoriesOfManyLevels(t *testing.T) {
	for _, c := range []struct {
		rows, levels int
		want         []string
	}{
		{60, 60, []string{"column id is a category with 60 levels in 60 rows: each level has a weight of its own; is it an identifier (leave it out: - id), or numbers written in another way?"}},
		{41, 21, []string{"column id is a category with 21 levels in 41 rows: each level has a weight of its own; is it an identifier (leave it out: - id), or numbers written in another way?"}},
		{42, 21, nil},
		{20, 20, nil},
	} {
		source := numbers([]string{"id", "y"})
		levels := make([]string, c.levels)
		for k := range levels {
			levels[k] = fmt.Sprintf("n%d", k)
		}
		source.with("id", levels...)
		for i := range c.rows {
			source.rows = append(source.rows, []float64{float64(i % c.levels), float64(i)})
		}
		f, _ := mustFit(t, &Plan{Target: target("y"), Inputs: []Expr{Column("id")}}, source, Options{})
		if !reflect.DeepEqual(f.Warnings, c.want) {
			t.Errorf("%d levels in %d rows: warnings %q, want %q", c.levels, c.rows, f.Warnings, c.want)
		}
	}
}

func TestStableVarianceOfALargeMean(t *testing.T) {
	var m moments
	block := make([]float64, 0, credence.BlockRows)
	for i := range 10 * credence.BlockRows {
		if block = append(block, 1e9+float64(i%2)); len(block) == cap(block) {
			m.add(block, nil)
			block = block[:0]
		}
	}
	if m.Mean != 1e9+0.5 || m.variance() != 0.25 {
		t.Errorf("mean %v, variance %v, want 1e9+0.5 and 0.25", m.Mean, m.variance())
	}
}

// TestMomentsOfParts: moments of parts, merged in their order, are those of all values by the definition; ends count
// rows that have a weight, least and largest all.
func TestMomentsOfParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	for range 50 {
		n := 1 + rng.IntN(40)
		values, weights := make([]float64, n), make([]float64, n)
		whole, merged := &moments{}, &moments{}
		known, total, low, high, least, largest := 0, 0.0, math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
		var kept, counts []float64
		for i := range n {
			if values[i], weights[i] = rng.NormFloat64(), float64(rng.IntN(3)); rng.IntN(5) == 0 {
				values[i] = nan
				continue
			}
			v, w := values[i], weights[i]
			known, total, least, largest = known+1, total+w, min(least, v), max(largest, v)
			if w > 0 {
				low, high, kept, counts = min(low, v), max(high, v), append(kept, v), append(counts, w)
			}
		}
		whole.add(values, weights)
		for first := 0; first < n; {
			end := first + 1 + rng.IntN(n-first)
			part := &moments{}
			part.add(values[first:end], weights[first:end])
			merged.merge(part)
			first = end
		}
		for what, m := range map[string]*moments{"whole": whole, "merged": merged} {
			if m.Count != known || m.Missing != n-known || m.Weight != total || m.Hash != whole.Hash {
				t.Fatalf("%s: %+v, want %d values of weight %v", what, m, known, total)
			}
			if known > 0 && (m.Min != least || m.Max != largest) || total > 0 && (m.Low != low || m.High != high) {
				t.Fatalf("%s: %+v, want %v to %v, those that count %v to %v", what, m, least, largest, low, high)
			}
			if mean, variance := stat.PopMeanVariance(kept, counts); total > 0 && (!(math.Abs(m.Mean-mean) <= 1e-12) || !(math.Abs(m.variance()-variance) <= 1e-12)) {
				t.Fatalf("%s: mean %v and variance %v, want %v and %v", what, m.Mean, m.variance(), mean, variance)
			}
		}
	}
}

// The standard deviation of c·x is c times that of x, bit for bit where c is a
// power of two, also where c²x² is no number. Blocks of other magnitudes, and of
// zeros, come before and after.
func TestDeviationAtAnyScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	blocks := [][]float64{{0, 0, 0}, nil, nil, {0, 0}}
	for i := range 50 {
		blocks[1] = append(blocks[1], rng.NormFloat64())
		blocks[2] = append(blocks[2], 0.01*rng.NormFloat64()+float64(i%2))
	}
	gather := func(exponent int, weight []float64) *moments {
		var m moments
		for _, block := range blocks {
			scaled := make([]float64, len(block))
			for i, v := range block {
				scaled[i] = math.Ldexp(v, exponent)
			}
			if weight != nil {
				m.add(scaled, weight[:len(scaled)])
			} else {
				m.add(scaled, nil)
			}
		}
		return &m
	}
	weight := make([]float64, 50)
	for i := range weight {
		weight[i] = float64(i % 4)
	}
	for _, w := range [][]float64{nil, weight} {
		plain := gather(0, w)
		for _, exponent := range []int{-990, -600, -401, -300, 300, 399, 420, 512, 700, 1019} {
			m := gather(exponent, w)
			if got, want := m.deviation(), math.Ldexp(plain.deviation(), exponent); got != want {
				t.Errorf("times 2^%d the deviation is %g, want %g", exponent, got, want)
			}
			if got, want := m.centre(), math.Ldexp(plain.centre(), exponent); got != want {
				t.Errorf("times 2^%d the mean is %g, want %g", exponent, got, want)
			}
		}
	}
	var m moments // 1e200 is met after the unit has been chosen for 1e-200
	m.add([]float64{1e-200, 3e-200}, nil)
	m.add([]float64{1e200, 3e200}, nil)
	if got, want := m.deviation(), math.Sqrt(1.5)*1e200; math.Abs(got/want-1) > 1e-15 { // (0, 0, 1, 3) about 1
		t.Errorf("mixed scales: deviation %g, want %g", got, want)
	}
}

func TestOffsetWeightTrials(t *testing.T) {
	source := numbers([]string{"y", "n", "e", "w"}, []float64{1, 2, 1, 0.5}, []float64{3, 4, math.E, 2})
	plan := &Plan{
		Target: target("y"), Weight: target("w"), Trials: target("n"),
		Offset: []Expr{Column("e").With(Log), Constant(2)},
	}
	var seen [][2]float64
	check := func(y, n float64) error { seen = append(seen, [2]float64{y, n}); return nil }
	f, batch := mustFit(t, plan, source, Options{Mode: Numbers, CheckTarget: check})
	wantColumn(t, "offset", batch.Offset, []float64{2, 3})
	wantColumn(t, "trials", batch.Trials, []float64{2, 4})
	wantColumn(t, "weight", batch.Weight, []float64{0.5, 2})
	if !reflect.DeepEqual(seen, [][2]float64{{1, 2}, {3, 4}}) {
		t.Errorf("checked %v", seen)
	}
	if !near(f.Target.Mean, 2.6) || f.WeightSum != 2.5 {
		t.Errorf("weighted mean %g, weights %g", f.Target.Mean, f.WeightSum)
	}
	// The level that fills is the one of most weight.
	levels := numbers([]string{"g", "w"}, []float64{0, 1}, []float64{0, 1}, []float64{1, 5}, []float64{nan, 1}).with("g", "a", "b")
	if f := must.Value(Fit(t.Context(), &Plan{Inputs: []Expr{Column("g")}, Weight: target("w")}, levels, Options{Missing: Mean}))(t); f.Inputs[0].Fill != 1 {
		t.Errorf("level %v fills, and b has the weight 5 of 7", f.Inputs[0].Fill)
	}
	// The ends are those of rows of weight, of all blocks: 1 and 1,296 of 0 to 1,299.
	long := numbers([]string{"x", "w"})
	for i := range 1300 {
		x, w := (i*7)%1300, 1.0
		if x == 0 || x > 1296 {
			w = 0
		}
		long.rows = append(long.rows, []float64{float64(x), w})
	}
	if f := must.Value(Fit(t.Context(), &Plan{Inputs: []Expr{Column("x")}, Weight: target("w")}, long, Options{}))(t); *f.Inputs[0].Ends != [2]float64{1, 1296} {
		t.Errorf("the ends of rows of weight are %v", *f.Inputs[0].Ends)
	}
	// Prediction needs neither target nor weight.
	data, err := f.Bind(numbers([]string{"n", "e"}, []float64{5, 1}), IgnoreTargets)
	if err != nil {
		t.Fatal(err)
	}
	if batch, err = readAll(data); err != nil || batch.Weight != nil || batch.Trials[0] != 5 || batch.Offset[0] != 2 {
		t.Errorf("prediction batch %+v (%v)", batch, err)
	}
}

func TestSparseSegment(t *testing.T) {
	source := numbers([]string{"label"}, []float64{1}, []float64{-1}, []float64{1})
	source.schema.Sparse, source.schema.Label = 4, true
	source.sparse = []map[int]float64{{0: 1, 2: 5}, {3: 2}, {2: 7, 3: 1}}
	x3 := Column("x3")
	plan := &Plan{Target: target("label"), Inputs: []Expr{x3, x3.With(Square), Column("x4")}, Sparse: true}
	f, batch := mustFit(t, plan, source, Options{})
	wantColumn(t, "x3", columnOf(&batch.X, 0), []float64{5, 0, 7})
	wantColumn(t, "square(x3)", columnOf(&batch.X, 1), []float64{25, 0, 49})
	wantColumn(t, "x4", columnOf(&batch.X, 2), []float64{0, 2, 1})
	wantColumn(t, "label", batch.Target, []float64{1, 0, 1})
	if columns, values := batch.Sparse.Row(2); !slices.Equal(columns, []int32{2, 3}) || !slices.Equal(values, []float64{7, 1}) || batch.Sparse.Cols != 4 {
		t.Errorf("sparse row is %v %v", columns, values)
	}

	wider := numbers([]string{"label"}, []float64{1}, []float64{1})
	wider.schema.Sparse, wider.schema.Label = 6, true
	wider.sparse = []map[int]float64{{1: 1, 4: 9, 5: 1}, {}}
	narrow := numbers([]string{"label"}, []float64{1}, []float64{1})
	narrow.schema.Sparse, narrow.schema.Label = 2, true
	narrow.sparse = []map[int]float64{{1: 1}, {}}
	for _, later := range []*memory{wider, narrow} {
		bound, err := f.Bind(later, IgnoreTargets)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // rows are counted once, however often they are read
			if batch, err = readAll(bound); err != nil {
				t.Fatal(err)
			}
		}
		if columns, _ := batch.Sparse.Row(0); !slices.Equal(columns, []int32{1}) || batch.Sparse.Cols != 4 || batch.Sparse.Rows != 2 {
			t.Errorf("of %d columns the row keeps %v", later.schema.Sparse, columns)
		}
		wantColumn(t, "x3", columnOf(&batch.X, 0), []float64{0, 0})
		if want := max(0, later.schema.Sparse-4); bound.Counts().UnseenFeatures != want {
			t.Errorf("%d unseen features, want %d", bound.Counts().UnseenFeatures, want)
		}
		// 9²+1²
		if later == narrow && batch.Unseen != nil || later == wider && !slices.Equal(batch.Unseen, []float64{82, 0}) {
			t.Errorf("of %d columns the unseen have squares %v", later.schema.Sparse, batch.Unseen)
		}
	}
}

// squared is a source that left entries of some rows out.
type squared struct {
	*memory
	squares []float64
}

func (s squared) Read(dst *credence.Chunk, first, count int) error {
	dst.Unseen = s.squares[first : first+count]
	return s.memory.Read(dst, first, count)
}

// What a source left out is added to what the frame leaves out, also behind rows
// that are dropped.
func TestUnseenSquaresOfSources(t *testing.T) {
	training := numbers([]string{"label"}, []float64{1}, []float64{2})
	training.schema.Sparse, training.schema.Label = 2, true
	training.sparse = []map[int]float64{{0: 1}, {1: 1}}
	target := Column("label")
	f := must.Value(Fit(t.Context(), &Plan{Target: &target, Sparse: true}, training, Options{Missing: Drop}))(t)
	later := numbers([]string{"label"}, []float64{1}, []float64{nan}, []float64{3})
	later.schema.Sparse, later.schema.Label = 3, true
	later.sparse = []map[int]float64{{2: 2}, {}, {0: 1}}
	data := must.Value(f.Bind(squared{later, []float64{5, 6, 7}}, RequireTargets))(t)
	batch, err := readAll(data)
	if err != nil || !slices.Equal(batch.Unseen, []float64{9, 7}) {
		t.Errorf("squares %v, %v", batch.Unseen, err)
	}
}

// Every way of reading gives the same rows, from whatever order of columns, and
// so does a frame that went through JSON.
func TestReadingIsTheSameEveryWay(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 20 {
		rows := 1 + rng.IntN(1200)
		source := numbers([]string{"a", "b", "c", "d", "y", "w"}).with("c", "p", "q", "r").with("d")
		for range rows {
			row := []float64{rng.NormFloat64(), 1 + rng.ExpFloat64(), float64(rng.IntN(3)), float64(rng.IntN(2)), rng.NormFloat64(), 1 + float64(rng.IntN(3))}
			if rng.IntN(9) == 0 {
				row[rng.IntN(4)] = nan
			}
			source.rows = append(source.rows, row)
		}
		source.rows[0] = []float64{1, 1, 0, 1, 2, 1}
		plan := &Plan{Target: target("y"), Weight: target("w"), Inputs: []Expr{Column("a"), Column("b").With(Log).With(Scale), Column("c"), Column("d"), Column("b")}}
		options := Options{Missing: []Policy{Mean, Indicator, Drop}[rng.IntN(3)], Raw: rng.IntN(2) == 0}
		f, want := mustFit(t, plan, source, options)

		order := rng.Perm(6)
		shuffled := &memory{}
		for _, j := range order {
			shuffled.schema.Columns = append(shuffled.schema.Columns, source.schema.Columns[j])
		}
		for _, row := range source.rows {
			var moved []float64
			for _, j := range order {
				moved = append(moved, row[j])
			}
			shuffled.rows = append(shuffled.rows, moved)
		}
		f2 := must.Value(Fit(t.Context(), plan, shuffled, options))(t)
		text := must.Value(json.Marshal(f2))(t)
		var stored Frame
		must.Succeed(t, json.Unmarshal(text, &stored))
		if !reflect.DeepEqual(f, &stored) {
			t.Fatalf("frame\n%+v\nfrom another order, through JSON\n%+v", f, &stored)
		}
		data := must.Value(stored.Bind(shuffled, RequireTargets))(t)
		var batch credence.Batch
		for first := 0; first < data.Rows(); {
			count := min(1+rng.IntN(700), data.Rows()-first)
			must.Succeed(t, data.Read(&batch, first, count))
			if !slices.Equal(batch.X.Data, want.X.Data[first*want.X.Cols:(first+count)*want.X.Cols]) ||
				!slices.Equal(batch.Target, want.Target[first:first+count]) || !slices.Equal(batch.Weight, want.Weight[first:first+count]) {
				t.Fatalf("rows from %d differ", first)
			}
			first += count
		}
		if passes := source.reads; options.Missing != Drop && passes > 3 {
			t.Fatalf("fit and one reading took %d passes", passes)
		}
	}
}
