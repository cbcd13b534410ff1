package feature

import (
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
)

// TestGroups: what is selected together is a group, a category, and a product with one; kept columns are not
// selected.
func TestGroups(t *testing.T) {
	in := withCategory(withCategory(withCategory(numbers(3), "zip", 3), "make", 2), "site", 4)
	s := newSet(t, in, &Intercept{}, &Linear{Inputs: []int{0, 3}}, &Kept{"keep(b, make)", []int{1, 4}}, &Group{"group(c, site)", []int{2, 5}},
		&OneHot{"onehot(make)", 4}, &Interaction{Name: "a:zip", Inputs: []int{0, 3}}, &Interaction{Name: "a:b", Inputs: []int{0, 1}})
	want := []credence.Block{{Name: "zip", Count: 3}, {Name: "group(c, site)", Count: 5}, {Name: "onehot(make)", Count: 2}, {Name: "a:zip", Count: 3}}
	next := 0
	for _, g := range s.Groups() {
		k := slices.IndexFunc(want, func(w credence.Block) bool { return w.Name == g.Name && w.Count == g.Count })
		if k < 0 || g.First < next {
			t.Fatalf("group %+v", g)
		}
		next = g.First + g.Count
		want = slices.Delete(want, k, k+1)
	}
	if len(want) > 0 {
		t.Errorf("no group %+v", want)
	}
	candidates, weights := ability.Candidates(s, true), 0
	for _, c := range candidates {
		weights += c.Count
	}
	if len(candidates) != 6 || weights != 15 || len(ability.Candidates(s, false)) != 15 { // a, a:b and four groups
		t.Errorf("candidates %+v", candidates)
	}
}
