package feature

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
)

// TestHashProducts: keys of levels times numbers are the columns of the product of the category with the numbers,
// centred as that is, and weights in the units of the data are the same numbers.
func TestHashProducts(t *testing.T) {
	in := withCategory(withCategory(numbers(2), "u", 5), "v", 3)
	for j := range 2 {
		in.Dense[j].Center, in.Dense[j].Scale = 3-float64(4*j), 2+float64(j)
	}
	rows := batch(in, 300, true)
	met := func(term *Hash) *Hash { return must.Value(term.Met(&in, once(rows)))(t) }
	for _, c := range []struct {
		name        string
		keys, terms []Term
		uncentred   bool
	}{
		{"alone", []Term{met(&Hash{Name: "hash(u):a", Crosses: [][]int{{2, 0}}})}, []Term{&Interaction{Name: "u:a", Inputs: []int{2, 0}}}, true},
		{"levels too", []Term{met(&Hash{Name: "a:hash(u)", Crosses: [][]int{{0, 2}}}), met(&Hash{Name: "hash(u)", Crosses: [][]int{{2}}})},
			[]Term{&Interaction{Name: "a:u", Inputs: []int{0, 2}}, &OneHot{"onehot(u)", 2}}, false},
		{"levels among others", []Term{met(&Hash{Name: "hash(u):a:hash(v)", Crosses: [][]int{{2, 0, 3}}}), met(&Hash{Name: "hash(v, u:v)", Crosses: [][]int{{3}, {2, 3}}})},
			[]Term{&Interaction{Name: "u:a:v", Inputs: []int{2, 0, 3}}, &OneHot{"onehot(v)", 3}, &Interaction{Name: "u:v", Inputs: []int{2, 3}}}, false},
		{"two numbers", []Term{met(&Hash{Name: "hash(v):a:b", Crosses: [][]int{{3, 0, 1}}}), met(&Hash{Name: "hash(v)", Crosses: [][]int{{3}}})},
			[]Term{&Interaction{Name: "v:a:b", Inputs: []int{3, 0, 1}}, &OneHot{"onehot(v)", 3}}, true},
	} {
		keys, terms := newSet(t, in, c.keys...).Hierarchical(), newSet(t, in, c.terms...).Hierarchical()
		if term := keys.Terms()[0].(*Hash); term.Uncentred != c.uncentred {
			t.Errorf("%s: uncentred is %t", c.name, term.Uncentred)
		}
		if keys.Weights() != terms.Weights() {
			t.Fatalf("%s: %d weights, want %d", c.name, keys.Weights(), terms.Weights())
		}
		place := map[string]int{}
		for j := range terms.Weights() {
			place[terms.WeightName(j)] = j
		}
		got, want := spread(keys, rows), spread(terms, rows)
		one, other := must.Value(keys.OwnUnits())(t), must.Value(terms.OwnUnits())(t)
		for j := range keys.Weights() {
			k, known := place[keys.WeightName(j)]
			if !known {
				t.Fatalf("%s: %s is a weight", c.name, keys.WeightName(j))
			}
			for i := range got.Rows {
				if gap := got.Row(i)[j] - want.Row(i)[k]; !(math.Abs(gap) <= 1e-12*(1+math.Abs(want.Row(i)[k]))) {
					t.Fatalf("%s: %s is %v in row %d, want %v", c.name, keys.WeightName(j), got.Row(i)[j], i, want.Row(i)[k])
				}
			}
			// What a fitted weight adds to those of the data's own columns.
			a, b := make([]float64, keys.Weights()), make([]float64, terms.Weights())
			a[j], b[k] = 1, 1
			mine, theirs := make([]float64, one.Map.Rows), make([]float64, other.Map.Rows)
			one.Map.MulVec(mine, a)
			other.Map.MulVec(theirs, b)
			for l := range mine[:keys.Weights()] {
				name := keys.WeightName(l)
				if gap := mine[l] - theirs[place[name]]; !(math.Abs(gap) <= 1e-12) {
					t.Errorf("%s: %s adds %v to %s, want %v", c.name, keys.WeightName(j), mine[l], name, theirs[place[name]])
				}
			}
		}
		variance, law := make([]float64, rows.Rows()), make(perWeight, keys.Weights())
		for j := range law {
			law[j] = 1
		}
		keys.AddUnseen(variance, rows, law)
		expected := make([]float64, rows.Rows())
		terms.AddUnseen(expected, rows, law)
		for i := range variance {
			if !(math.Abs(variance[i]-expected[i]) <= 1e-12*(1+expected[i])) {
				t.Errorf("%s, row %d: the unseen add %v, want %v", c.name, i, variance[i], expected[i])
			}
		}
	}
	for _, cross := range [][]int{{0}, {0, 1}} {
		if _, err := (&Hash{Name: "hash(a)", Crosses: [][]int{cross}}).Met(&in, once(rows)); err == nil || !strings.Contains(err.Error(), "read its texts") {
			t.Errorf("%v: %v", cross, err)
		}
	}
}
