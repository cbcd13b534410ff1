package feature

import (
	"reflect"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/keyhash"
	"github.com/credence-ml/credence/linop"
)

// hashInputs are two categories and three sparse columns.
func hashInputs() Inputs {
	return Inputs{Segment: 3, Dense: []Input{
		{Column: credence.Column{Name: "c", Kind: credence.Category, Levels: []string{"(missing)", "u", "v"}}},
		{Column: credence.Column{Name: "a", Kind: credence.Category, Levels: []string{"x", "y"}}},
	}}
}

// hashBatch has a row of every level that training had, then one of unseen levels.
func hashBatch() *credence.Batch {
	b := &credence.Batch{X: linop.Dense{Rows: 4, Cols: 2, Stride: 2, Data: []float64{1, 0, 2, 1, 0, 1, -1, 0}}, Sparse: linop.CSR{Cols: 3}}
	b.Sparse.AppendRow([]int32{0, 2}, []float64{2, 3})
	b.Sparse.AppendRow([]int32{2}, []float64{0.5})
	b.Sparse.AppendRow(nil, nil)
	b.Sparse.AppendRow([]int32{1}, []float64{4})
	b.Unseen = []float64{0, 0, 0, 25}
	return b
}

// furtherWeights is a prior of variance ½ for weights of hash(.).
type furtherWeights struct{ t *testing.T }

func (p furtherWeights) UnseenVariance(block credence.Block) float64 {
	if block.Name != "hash(.)" {
		p.t.Errorf("block %s has unseen features", block.Name)
	}
	return 0.5
}

// Weights are the keys met in training, in their order, named as they were first met; others add
// their squares to the unseen.
func TestHash(t *testing.T) {
	in := hashInputs()
	batch := hashBatch()
	training := *batch
	training.X.Rows, training.Sparse.Rows, training.Unseen = 3, 3, nil
	for _, bits := range []int{0, 1, 40} {
		term, err := (&Hash{Name: "hash(.)", Crosses: [][]int{{0}, {0, 1}}, Segment: true, Bits: bits}).Met(&in,
			once(&training))
		if err != nil {
			t.Fatal(err)
		}
		// By hand: the keys of every feature of the first three rows, crosses in the order of names.
		level := func(column, level string) uint64 { return keyhash.Text(keyhash.Space(column), []byte(level)) }
		rows := []map[string]float64{{"c=u": 1, "c=u:a=x": 1, "x1": 2, "x3": 3}, {"c=v": 1, "c=v:a=y": 1, "x3": 0.5}, {"c=(missing)": 1, "c=(missing):a=y": 1}, {}}
		keys := map[string]uint64{
			"c=u": level("c", "u"), "c=v": level("c", "v"), "c=(missing)": level("c", "(missing)"), "x1": 1, "x3": 3,
			"c=u:a=x": keyhash.Cross(level("a", "x"), level("c", "u")), "c=v:a=y": keyhash.Cross(level("a", "y"), level("c", "v")),
			"c=(missing):a=y": keyhash.Cross(level("a", "y"), level("c", "(missing)")),
		}
		var want []uint64
		for name := range keys {
			keys[name] = keyhash.Shorten(keys[name], bits)
			want = append(want, keys[name])
		}
		slices.Sort(want)
		want = slices.Compact(want)
		if !slices.Equal(term.Keys, want) {
			t.Fatalf("%d bits: keys %x, want %x", bits, term.Keys, want)
		}
		for j, name := range term.Names {
			if keys[name] != term.Keys[j] {
				t.Errorf("%d bits: key %x is named %s", bits, term.Keys[j], name)
			}
		}
		set, err := New(in, term)
		if err != nil {
			t.Fatal(err)
		}
		var phi credence.Design
		set.Transform(credence.NewWorkspace(1), &phi, batch)
		dense := make([]float64, len(want))
		for i, row := range rows {
			clear(dense)
			for name, v := range row {
				dense[slices.Index(want, keys[name])] += v
			}
			unit, got := make([]float64, len(want)), make([]float64, 4)
			for j := range want {
				clear(unit)
				unit[j] = 1
				phi.MulVec(got, unit)
				if known := i == 3 && keyhash.Shorten(2, bits) == want[j]; got[i] != dense[j] && !known {
					t.Errorf("%d bits, row %d: feature %s is %v, want %v", bits, i, term.Names[j], got[i], dense[j])
				}
			}
		}
		variance := []float64{1, 1, 1, 1}
		set.AddUnseen(variance, batch, furtherWeights{t})
		unseen := 1.0 + 1 + 25 // c, c:a, and the sparse columns that the source left out
		if _, met := slices.BinarySearch(want, keyhash.Shorten(2, bits)); !met {
			unseen += 16
		}
		if !slices.Equal(variance, []float64{1, 1, 1, 1 + 0.5*unseen}) {
			t.Errorf("%d bits: variances %v, want half of %v more in the last row", bits, variance, unseen)
		}
	}
}

func TestHashRefusals(t *testing.T) {
	in := hashInputs()
	for _, term := range []*Hash{
		{Name: "hash(c)", Crosses: [][]int{{0}}},
		{Name: "hash(c)", Crosses: [][]int{{0}}, Keys: []uint64{2, 1}, Names: []string{"a", "b"}},
		{Name: "hash(c)", Crosses: [][]int{{7}}, Keys: []uint64{2}, Names: []string{"a"}},
		{Name: "hash(c)", Crosses: [][]int{{0}}, Keys: []uint64{2}},
	} {
		if _, err := term.Bind(&in); err == nil {
			t.Errorf("%+v is bound", *term)
		}
	}
	if !reflect.DeepEqual(All()[3], &Hash{}) {
		t.Error("hash is not among the terms of model files")
	}
}
