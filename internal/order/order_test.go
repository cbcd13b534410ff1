package order

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBy(t *testing.T) {
	values := []float64{2, 1, 2, 0}
	if got := By(len(values), func(a, b int) int { return cmp.Compare(values[a], values[b]) }); !slices.Equal(got, []int{3, 1, 0, 2}) {
		t.Errorf("places are %v", got)
	}
}

// The last of many are those that a sort of all has last, in any order that they come in.
func TestLast(t *testing.T) {
	const n = 40
	falling := Places(n)
	slices.Reverse(falling)
	for _, values := range [][]int{Places(n), falling, rand.New(rand.NewPCG(1, 2)).Perm(n)} {
		compare := func(a, b int) int { return cmp.Or(cmp.Compare(values[a]/3, values[b]/3), a-b) }
		want := By(n, compare)
		for k := 1; k <= n; k++ {
			if got := Last(n, k, compare); !slices.Equal(got, want[n-k:]) {
				t.Errorf("%v: the last %d are %v, want %v", values, k, got, want[n-k:])
			}
		}
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

// The values of entries go with their columns, and equal columns stay as they stand.
func TestEntries(t *testing.T) {
	columns, values := []int32{3, 70, -1, 3, 0}, []float64{1, 2, 3, 4, 5}
	Entries(columns, values)
	if !slices.Equal(columns, []int32{-1, 0, 3, 3, 70}) || !slices.Equal(values, []float64{3, 5, 1, 4, 2}) {
		t.Errorf("columns %v, values %v", columns, values)
	}
	columns = []int32{2, 1}
	if Entries(columns, nil); !slices.Equal(columns, []int32{1, 2}) {
		t.Errorf("columns of ones are %v", columns)
	}
}
