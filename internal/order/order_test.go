package order

import (
	"cmp"
	"slices"
	"testing"
)

func TestBy(t *testing.T) {
	values := []float64{2, 1, 2, 0}
	if got := By(len(values), func(a, b int) int { return cmp.Compare(values[a], values[b]) }); !slices.Equal(got, []int{3, 1, 0, 2}) {
		t.Errorf("places are %v", got)
	}
}

func TestRuns(t *testing.T) {
	values := []int{5, 5, 7, 5}
	var got [][2]int
	for from, to := range Runs(len(values), func(first, other int) bool { return values[other] == values[first] }) {
		got = append(got, [2]int{from, to})
	}
	if !slices.Equal(got, [][2]int{{0, 2}, {2, 3}, {3, 4}}) {
		t.Errorf("runs are %v", got)
	}
	for range Runs(0, nil) {
		t.Error("there is a run of nothing")
	}
	for _, to := range Runs(3, func(int, int) bool { return true }) {
		if to != 3 {
			t.Errorf("a run of all ends at %d", to)
		}
	}
	var begins []int
	for from := range Runs(9, func(first, other int) bool { return other < first+2 }) { // less than 2 from the first
		if begins = append(begins, from); from == 4 {
			break
		}
	}
	if !slices.Equal(begins, []int{0, 2, 4}) {
		t.Errorf("runs begin at %v", begins)
	}
}
