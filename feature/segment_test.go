package feature

import (
	"slices"
	"testing"
)

// TestSegmentBesideLevels: a sparse segment and levels of a category in one set are the columns of each by itself, side
// by side.
func TestSegmentBesideLevels(t *testing.T) {
	in := withCategory(Inputs{Segment: 12}, "zip", 4)
	rows := batch(in, 30, false)
	linear, levels := &Linear{Segment: true}, &OneHot{"onehot(zip)", 0}
	for _, terms := range [][]Term{{linear, levels}, {levels, linear}} {
		got := spread(newSet(t, in, terms...), rows)
		first, second := spread(newSet(t, in, terms[0]), rows), spread(newSet(t, in, terms[1]), rows)
		for i := range rows.Rows() {
			if want := slices.Concat(first.Row(i), second.Row(i)); !slices.Equal(got.Row(i), want) {
				t.Fatalf("row %d is %v, want %v", i, got.Row(i), want)
			}
		}
	}
}
