package feature

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
)

// roundOff bounds the difference between features of the same row computed in
// different company: products may then be summed in another order. Sines of
// arguments up to about 10⁴ lose four of sixteen digits.
const roundOff = 1e-11

// checkFeatures tests an implementation of credence.Features, with the abilities it
// has, on rows of finite inputs. Use more rows than credence.BlockRows to cover
// the seams between blocks, and hyper-parameters away from 1.
func checkFeatures(t *testing.T, features credence.Features, rows *credence.Batch) {
	t.Helper()
	whole := transform(features, 1, rows)
	t.Run("blocks", func(t *testing.T) { featureBlocks(t, features) })
	t.Run("shape", func(t *testing.T) { featureShape(t, features, rows, whole) })
	t.Run("threads", func(t *testing.T) {
		for threads := 2; threads <= 3; threads++ {
			sameBits(t, "features", transform(features, threads, rows), whole)
		}
	})
	t.Run("reuse", func(t *testing.T) {
		ws := credence.NewWorkspace(1)
		var phi credence.Design
		features.Transform(ws, &phi, rows)
		for i := range phi.Dense.Data {
			phi.Dense.Data[i] = math.NaN()
		}
		part := pick(rows, 0, rows.Rows()/2, nil)
		features.Transform(ws, &phi, part)
		features.Transform(ws, &phi, rows)
		sameBits(t, "features in reused memory", &phi, whole)
	})
	t.Run("split", func(t *testing.T) {
		for first := 0; first < rows.Rows(); {
			count := min(1+first*2, rows.Rows()-first)
			nearRows(t, transform(features, 1, pick(rows, first, count, nil)), whole, func(i int) int { return first + i })
			first += count
		}
	})
	t.Run("order", func(t *testing.T) {
		order := rand.New(rand.NewPCG(1, 2)).Perm(rows.Rows())
		nearRows(t, transform(features, 1, pick(rows, 0, rows.Rows(), order)), whole, func(i int) int { return order[i] })
	})
	if named, ok := features.(credence.Named); ok {
		t.Run("names", func(t *testing.T) {
			for _, block := range features.Blocks() {
				seen := make(map[string]bool)
				for j := block.First; j < block.First+block.Count; j++ {
					name := named.WeightName(j)
					if name == "" || seen[name] {
						t.Fatalf("weight %d of block %s is named %q, which is empty or taken", j, block.Name, name)
					}
					seen[name] = true
				}
			}
		})
	}
	if scaled, ok := features.(ability.Rescaled); ok {
		t.Run("own units", func(t *testing.T) { featureOwnUnits(t, features, scaled) })
	}
	if tunable, ok := features.(credence.Tunable); ok {
		t.Run("hyper-parameters", func(t *testing.T) { featureHyper(t, tunable, rows, whole) })
		t.Run("pullback", func(t *testing.T) { featurePullback(t, tunable, rows, whole) })
	}
	if random, ok := features.(ability.Redrawable); ok {
		t.Run("redraw", func(t *testing.T) { featureRedraw(t, random, features, rows, whole) })
		t.Run("thin", func(t *testing.T) { featureThin(t, random, features, rows, whole) })
	}
}

// featureBlocks checks that the blocks cover the weights in order, under
// different names, with at most one intercept.
func featureBlocks(t *testing.T, features credence.Features) {
	next, intercepts := 0, 0
	seen := make(map[string]bool)
	for _, block := range features.Blocks() {
		if block.First != next || block.Count < 1 {
			t.Fatalf("block %s is [%d, +%d), want it to begin at %d", block.Name, block.First, block.Count, next)
		}
		if block.Name == "" || seen[block.Name] {
			t.Fatalf("block name %q is empty or taken", block.Name)
		}
		seen[block.Name] = true
		next += block.Count
		if block.Intercept {
			intercepts++
		}
	}
	if next != features.Weights() {
		t.Fatalf("blocks cover %d weights of %d", next, features.Weights())
	}
	if intercepts > 1 {
		t.Fatalf("%d intercepts", intercepts)
	}
}

// featureOwnUnits checks that every weight has a column, under its own name, to which it contributes.
func featureOwnUnits(t *testing.T, features credence.Features, scaled ability.Rescaled) {
	own, err := scaled.OwnUnits()
	if err != nil {
		t.Fatal(err)
	}
	if own.Map.Rows != len(own.Columns) || own.Map.Cols != features.Weights() || own.Map.Rows < own.Map.Cols {
		t.Fatalf("a map of %d×%d for %d columns and %d weights", own.Map.Rows, own.Map.Cols, len(own.Columns), features.Weights())
	}
	named, _ := features.(credence.Named)
	for _, block := range features.Blocks() {
		for j := block.First; j < block.First+block.Count; j++ {
			column := own.Columns[j]
			if column.Block != block.Name || column.Intercept != block.Intercept || named != nil && column.Name != named.WeightName(j) {
				t.Fatalf("weight %d of block %s has the column %+v", j, block.Name, column)
			}
			self := 0.0
			for k, v := range own.Map.Each(j) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("weight %d adds %g to the weight of %s", k, v, column.Name)
				}
				if k == j {
					self = v
				}
			}
			if !(self > 0) {
				t.Fatalf("weight %d counts %g times in its own units", j, self)
			}
		}
	}
}

func featureShape(t *testing.T, features credence.Features, rows *credence.Batch, whole *credence.Design) {
	n, d := whole.Dims()
	if n != rows.Rows() || d != features.Weights() {
		t.Fatalf("Φ is %d×%d, want %d×%d", n, d, rows.Rows(), features.Weights())
	}
	if whole.Sparse.Rows != n || len(whole.Sparse.Start) != n+1 {
		t.Fatalf("the sparse part has %d rows and %d row starts, want %d and %d", whole.Sparse.Rows, len(whole.Sparse.Start), n, n+1)
	}
	for i := range n {
		for j, v := range whole.Dense.Row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("Φ[%d,%d] is %g for finite inputs", i, j, v)
			}
		}
		columns, values := whole.Sparse.Row(i)
		for k, j := range columns {
			if k > 0 && j <= columns[k-1] || j < 0 || int(j) >= whole.Sparse.Cols {
				t.Fatalf("row %d has sparse columns %v of %d: they must increase", i, columns, whole.Sparse.Cols)
			}
			if values != nil && (math.IsNaN(values[k]) || math.IsInf(values[k], 0)) {
				t.Fatalf("sparse entry (%d,%d) is %g for finite inputs", i, j, values[k])
			}
		}
	}
	empty := transform(features, 1, pick(rows, 0, 0, nil))
	if n, d := empty.Dims(); n != 0 || d != features.Weights() {
		t.Fatalf("Φ of no rows is %d×%d", n, d)
	}
}

// featureHyper checks that setting every hyper-parameter to its own value
// changes no bit, and that setting others changes the new features alone.
func featureHyper(t *testing.T, features credence.Tunable, rows *credence.Batch, whole *credence.Design) {
	hypers := features.Hyper()
	values := make([]float64, len(hypers))
	seen := make(map[string]bool)
	for k, h := range hypers {
		if h.Name == "" || seen[h.Name] {
			t.Fatalf("hyper-parameter name %q is empty or taken", h.Name)
		}
		seen[h.Name] = true
		if !(h.Value > 0 && h.Start > 0 && h.Lower > 0) || h.Start < h.Lower || h.Start > h.Upper || h.PriorSD < 0 {
			t.Fatalf("hyper-parameter %+v is not positive or starts outside its bounds", h)
		}
		values[k] = h.Value
	}
	sameBits(t, "features at their own values", transform(features.WithHyper(values), 1, rows), whole)
	floats.Scale(1.25, values)
	moved := features.WithHyper(values).(credence.Tunable)
	for k, h := range moved.Hyper() {
		was := hypers[k]
		was.Value = values[k]
		if !reflect.DeepEqual(h, was) {
			t.Fatalf("WithHyper made %+v of %+v", h, was)
		}
	}
	sameBits(t, "features after WithHyper", transform(features, 1, rows), whole)
}

// featurePullback compares Pullback with central differences of Σ C ⊙ Φ for a
// random C. A step of 1e-4 in log θ leaves an error of about 1e-8 of the third
// derivative, and rounding of 1e-12 of the sum of absolute terms, so that 1e-6 of
// the scale of these is ample.
func featurePullback(t *testing.T, features credence.Tunable, rows *credence.Batch, whole *credence.Design) {
	hypers := features.Hyper()
	rng := rand.New(rand.NewPCG(3, 4))
	change := make([]float64, len(whole.Dense.Data))
	for i := range change {
		change[i] = rng.NormFloat64()
	}
	grad := make([]float64, len(hypers))
	for k := range grad {
		grad[k] = 1000 // Pullback adds
	}
	ws := credence.NewWorkspace(1)
	features.Pullback(ws, grad, rows, whole, change)
	for threads := 2; threads <= 3; threads++ {
		again := make([]float64, len(hypers))
		for k := range again {
			again[k] = 1000
		}
		features.Pullback(credence.NewWorkspace(threads), again, rows, whole, change)
		for k := range grad {
			if math.Float64bits(again[k]) != math.Float64bits(grad[k]) {
				t.Fatalf("derivative in %s is %g with %d threads, %g with one", hypers[k].Name, again[k], threads, grad[k])
			}
		}
	}
	const step = 1e-4
	values := make([]float64, len(hypers))
	for k := range hypers {
		for j, h := range hypers {
			values[j] = h.Value
		}
		values[k] = hypers[k].Value * math.Exp(step)
		up := transform(features.WithHyper(values), 1, rows)
		values[k] = hypers[k].Value * math.Exp(-step)
		down := transform(features.WithHyper(values), 1, rows)
		sum, scale := 0.0, 0.0
		for i, c := range change {
			term := c * (up.Dense.Data[i] - down.Dense.Data[i]) / (2 * step)
			sum += term
			scale += math.Abs(term)
		}
		if got := grad[k] - 1000; !(math.Abs(got-sum) <= 1e-6*(scale+1e-3)) {
			t.Errorf("derivative in log %s is %.12g, central difference %.12g (sum of absolute terms %g)", hypers[k].Name, got, sum, scale)
		}
		for i := range up.Sparse.Value {
			if up.Sparse.Value[i] != down.Sparse.Value[i] {
				t.Fatalf("%s acts on sparse columns", hypers[k].Name)
			}
		}
	}
}

func transform(features credence.Features, threads int, rows *credence.Batch) *credence.Design {
	phi := &credence.Design{}
	features.Transform(credence.NewWorkspace(threads), phi, rows)
	return phi
}

// pick returns rows first, first+1, … or, with an order, the rows it lists.
func pick(rows *credence.Batch, first, count int, order []int) *credence.Batch {
	part := &credence.Batch{First: rows.First + first}
	part.Append(rows, 0, 0)
	for i := range count {
		from := first + i
		if order != nil {
			from = order[i]
		}
		part.Append(rows, from, 1)
	}
	return part
}

func sameBits(t *testing.T, what string, got, want *credence.Design) {
	t.Helper()
	if got.Dense.Cols != want.Dense.Cols || got.Sparse.Cols != want.Sparse.Cols || len(got.Sparse.Index) != len(want.Sparse.Index) {
		t.Fatalf("%s: %d dense, %d sparse columns and %d entries, want %d, %d and %d", what, got.Dense.Cols, got.Sparse.Cols,
			len(got.Sparse.Index), want.Dense.Cols, want.Sparse.Cols, len(want.Sparse.Index))
	}
	for i := range want.Dense.Rows {
		row := want.Dense.Row(i)
		for j, v := range got.Dense.Row(i) {
			if math.Float64bits(v) != math.Float64bits(row[j]) {
				t.Fatalf("%s: Φ[%d,%d] is %v, was %v", what, i, j, v, row[j])
			}
		}
	}
	for k, j := range want.Sparse.Index {
		if got.Sparse.Index[k] != j {
			t.Fatalf("%s: sparse entry %d is in column %d, was in %d", what, k, got.Sparse.Index[k], j)
		}
	}
	if (got.Sparse.Value == nil) != (want.Sparse.Value == nil) {
		t.Fatalf("%s: sparse values are stored in one case only", what)
	}
	for k, v := range want.Sparse.Value {
		if math.Float64bits(got.Sparse.Value[k]) != math.Float64bits(v) {
			t.Fatalf("%s: sparse entry %d is %v, was %v", what, k, got.Sparse.Value[k], v)
		}
	}
}

// nearRows checks row i of got against row place(i) of want.
func nearRows(t *testing.T, got, want *credence.Design, place func(i int) int) {
	t.Helper()
	for i := range got.Dense.Rows {
		row := want.Dense.Row(place(i))
		for j, v := range got.Dense.Row(i) {
			if !(math.Abs(v-row[j]) <= roundOff*(1+math.Abs(row[j]))) {
				t.Fatalf("Φ[%d,%d] is %v, want %v", i, j, v, row[j])
			}
		}
		columns, values := got.Sparse.Row(i)
		wantColumns, wantValues := want.Sparse.Row(place(i))
		if len(columns) != len(wantColumns) {
			t.Fatalf("row %d has %d sparse entries, want %d", i, len(columns), len(wantColumns))
		}
		for k, j := range columns {
			if j != wantColumns[k] || entry(values, k) != entry(wantValues, k) {
				t.Fatalf("row %d: sparse entry (%d, %g), want (%d, %g)", i, j, entry(values, k), wantColumns[k], entry(wantValues, k))
			}
		}
	}
}

func entry(values []float64, k int) float64 {
	if values == nil {
		return 1
	}
	return values[k]
}
