package active

import (
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
)

// TestAuditOfFewRows: a pool of fewer rows than are asked for is listed whole, with an audit too. Before the fix of 7
// rows 4 are listed, and of 5 none.
func TestAuditOfFewRows(t *testing.T) {
	fitted := convexFit(t, poolOf(40))
	for _, n := range []int{5, 7} {
		s := must.Value(NewScorer(fitted, Information, 1, 1))(t)
		rows := poolOf(n)
		own := blockOf(t, s, rows)
		pool := s.NewPool(10, 0.5)
		for i := range n {
			pool.Add(rows, i, i, own.mean[i], own.variance[i], 1)
		}
		if got := must.Value(pool.Picks(10))(t); len(got) != n {
			t.Errorf("of %d rows %d are listed: %+v", n, len(got), got)
		}
	}
}
