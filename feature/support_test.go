package feature

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// numbers returns inputs a, b, c, … that are numbers.
func numbers(p int) Inputs {
	var in Inputs
	for j := range p {
		in.Dense = append(in.Dense, Input{Column: credence.Column{Name: string(rune('a' + j))}})
	}
	return in
}

// withCategory adds a category input with levels l0, l1, …
func withCategory(in Inputs, name string, levels int) Inputs {
	c := credence.Column{Name: name, Kind: credence.Category}
	for l := range levels {
		c.Levels = append(c.Levels, fmt.Sprintf("l%d", l))
	}
	in.Dense = append(in.Dense, Input{Column: c})
	return in
}

// batch draws rows for the inputs: standard normal numbers, codes from -1 (never
// seen) to the last level, and a sparse segment with one entry in ten.
func batch(in Inputs, n int, ones bool) *credence.Batch {
	rng := rand.New(rand.NewPCG(uint64(n), 99))
	rows := &credence.Batch{X: linop.NewDense(n, len(in.Dense))}
	rows.Sparse.Reset(in.Segment)
	for i := range n {
		for j, input := range in.Dense {
			if input.Kind == credence.Category {
				rows.X.Row(i)[j] = float64(rng.IntN(len(input.Levels)+1) - 1)
			} else {
				rows.X.Row(i)[j] = rng.NormFloat64()
			}
		}
		columns, values := []int32{}, []float64{}
		for j := range in.Segment {
			if rng.IntN(10) == 0 {
				columns = append(columns, int32(j))
				values = append(values, rng.NormFloat64())
			}
		}
		if ones {
			values = nil
		}
		rows.Sparse.AppendRow(columns, values)
	}
	return rows
}

func newSet(t testing.TB, in Inputs, terms ...Term) *Set {
	t.Helper()
	s, err := New(in, terms...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func span(first, count int) []int {
	all := make([]int, count)
	for j := range all {
		all[j] = first + j
	}
	return all
}

// spread returns Φ with the sparse columns written out.
func spread(s *Set, rows *credence.Batch) linop.Dense {
	var phi credence.Design
	s.Transform(credence.NewWorkspace(1), &phi, rows)
	n, d := phi.Dims()
	all := linop.NewDense(n, d)
	for i := range n {
		copy(all.Row(i), phi.Dense.Row(i))
	}
	if phi.Sparse.Cols > 0 {
		window := all.Columns(phi.Dense.Cols, phi.Sparse.Cols)
		phi.Sparse.AddTo(&window)
	}
	return all
}

// sameRow compares features with values worked out by hand, to rounding.
func sameRow(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d features, want %d", what, len(got), len(want))
	}
	for j := range want {
		if !(math.Abs(got[j]-want[j]) <= 1e-14*(1+math.Abs(want[j]))) {
			t.Fatalf("%s: feature %d is %g, want %g (all: %v)", what, j, got[j], want[j], got)
		}
	}
}

func refuses(t *testing.T, in Inputs, want string, terms ...Term) {
	t.Helper()
	if _, err := New(in, terms...); err == nil || err.Error() != want {
		t.Fatalf("got %v, want %s", err, want)
	}
}
