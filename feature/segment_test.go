package feature

import (
	"slices"
	"testing"

	"github.com/credence-ml/credence"
)

// The place of a column and the column of a place, against a list of the chosen
// columns; a segment of two billion columns takes no memory.
func TestPlacesInTheSegment(t *testing.T) {
	for _, without := range [][]int32{nil, {0}, {9}, {0, 1, 2}, {3, 5, 6, 9}, {1, 2, 3, 4, 5, 6, 7, 8}} {
		s, err := newSegment("linear", &Inputs{Segment: 10}, true, without)
		if err != nil {
			t.Fatal(err)
		}
		next := 0
		for k := range int32(10) {
			want := int32(-1)
			if !slices.Contains(without, k) {
				want = int32(next)
				if got := s.name(next); got != (&credence.SparseNames{}).SparseName(int(k)) {
					t.Errorf("without %v: place %d is named %s, want %s", without, next, got, (&credence.SparseNames{}).SparseName(int(k)))
				}
				next++
			}
			if got := s.place(k); got != want {
				t.Errorf("without %v: column %d has place %d, want %d", without, k, got, want)
			}
		}
		if s.columns != next {
			t.Errorf("without %v: %d columns, want %d", without, s.columns, next)
		}
	}
	s, err := newSegment("linear", &Inputs{Segment: 2_000_000_000}, true, []int32{7})
	if err != nil || s.place(1_999_999_999) != 1_999_999_998 || s.name(7) != "x9" {
		t.Errorf("a wide segment: %v", err)
	}
}
