package feature

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
)

// anyFurther is a prior of variance 2 for weights of a:b.
type anyFurther struct{ t *testing.T }

func (p anyFurther) UnseenVariance(block credence.Block) float64 {
	if block.Name != "a:b" {
		p.t.Errorf("block %s has unseen features", block.Name)
	}
	return 2
}

// once yields one batch.
func once(rows *credence.Batch) iter.Seq2[*credence.Batch, error] {
	return func(yield func(*credence.Batch, error) bool) { yield(rows, nil) }
}

// TestCombinationsMet: a product of many levels has the columns of the whole product that some row has, under their
// names; a row of another combination has none and counts at the prior.
func TestCombinationsMet(t *testing.T) {
	in := withCategory(withCategory(Inputs{}, "a", 70), "b", 60)
	rows := batch(in, 500, true)
	term := &Interaction{Name: "a:b", Inputs: []int{0, 1}}
	met, err := term.OfRows(&in, once(rows))
	if err != nil {
		t.Fatal(err)
	}
	whole, some := newSet(t, in, term), newSet(t, in, met)
	all, few := spread(whole, rows), spread(some, rows)
	var names []string
	for j := range whole.Weights() {
		column := slices.ContainsFunc(span(0, all.Rows), func(i int) bool { return all.Row(i)[j] != 0 })
		if !column {
			continue
		}
		k := len(names)
		names = append(names, whole.WeightName(j))
		if some.WeightName(k) != names[k] {
			t.Fatalf("weight %d is %s, want %s", k, some.WeightName(k), names[k])
		}
		for i := range all.Rows {
			if all.Row(i)[j] != few.Row(i)[k] {
				t.Fatalf("row %d, %s: %v, want %v", i, names[k], few.Row(i)[k], all.Row(i)[j])
			}
		}
	}
	if some.Weights() != len(names) || len(names) < 300 {
		t.Fatalf("%d weights for %d combinations", some.Weights(), len(names))
	}

	other := batch(in, 700, true)
	variance := make([]float64, other.Rows())
	some.AddUnseen(variance, other, anyFurther{t})
	unseen := 0
	for i := range other.Rows() {
		x, want := other.X.Row(i), 0.0
		if x[0] < 0 || x[1] < 0 || !slices.Contains(names, fmt.Sprintf("a=l%v:b=l%v", x[0], x[1])) {
			want, unseen = 2, unseen+1
		}
		if variance[i] != want {
			t.Errorf("row %d: the variance of the unseen is %v, want %v", i, variance[i], want)
		}
	}
	if unseen < 300 || unseen > 650 {
		t.Errorf("%d rows are of combinations not met", unseen)
	}
}

// TestFewCombinations: a product of few levels, or with numbers, keeps every combination.
func TestFewCombinations(t *testing.T) {
	in := withCategory(withCategory(withCategory(numbers(1), "b", 64), "c", 64), "d", 65)
	none := func(func(*credence.Batch, error) bool) { t.Error("the rows were read") }
	for _, inputs := range [][]int{{1, 2}, {0, 2, 3}} {
		term := &Interaction{Name: "p", Inputs: inputs}
		if of, err := term.OfRows(&in, none); err != nil || of != term {
			t.Errorf("%v: %v, %v", inputs, of, err)
		}
	}
}

func TestMetRefusals(t *testing.T) {
	in := withCategory(withCategory(numbers(1), "b", 3), "c", 2)
	for _, c := range []struct{ met, inputs []int }{{[]int{-1, 2}, []int{1, 2}}, {[]int{0, 6}, []int{1, 2}}, {[]int{2, 2}, []int{1, 2}}, {[]int{0}, []int{0, 1}}} {
		term := &Interaction{Name: "p", Inputs: c.inputs}
		for _, m := range c.met {
			term.Met = append(term.Met, int32(m))
		}
		if _, err := term.Bind(&in); err == nil || !strings.Contains(err.Error(), "which are not increasing numbers below") {
			t.Errorf("%v of %v: %v", c.met, c.inputs, err)
		}
	}
}

// TestMetInBatches: terms that have what the rows have meet in many batches what they meet in one, whichever batch has
// it.
func TestMetInBatches(t *testing.T) {
	in := withCategory(withCategory(numbers(1), "a", 70), "b", 60)
	rows := batch(in, 500, true)
	pieces := func(yield func(*credence.Batch, error) bool) {
		for first := 0; first < 500; first += 120 {
			part := *rows
			part.X.Rows = min(120, 500-first)
			part.X.Data = rows.X.Data[first*rows.X.Stride:]
			part.Sparse.Reset(0)
			for range part.X.Rows {
				part.Sparse.AppendRow(nil, nil)
			}
			if !yield(&part, nil) {
				return
			}
		}
	}
	hash := &Hash{Name: "hash(a * b)", Crosses: [][]int{{1}, {2}, {1, 2}}}
	product, groups := &Interaction{Name: "a:b", Inputs: []int{1, 2}}, &Multilevel{Name: "(1 | a:b)", Key: []int{1, 2}, Columns: [][]int{nil}}
	of := func(batches iter.Seq2[*credence.Batch, error]) string {
		h, err := hash.Met(&in, batches)
		if err != nil {
			t.Fatal(err)
		}
		p, err := product.OfRows(&in, batches)
		if err != nil {
			t.Fatal(err)
		}
		g, err := groups.OfRows(&in, batches)
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Keys) < 400 || len(p.Met) < 300 || len(g.Met) < 300 {
			t.Errorf("%d keys, %d combinations, %d groups", len(h.Keys), len(p.Met), len(g.Met))
		}
		return fmt.Sprint(h.Keys, h.Names, p.Met, g.Met)
	}
	if one, many := of(once(rows)), of(pieces); one != many {
		t.Errorf("in one batch\n%.200s, in many\n%.200s", one, many)
	}
}
