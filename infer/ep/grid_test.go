package ep

import (
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestGridWhereRowsAreFew: noise, slab and inclusion are added up over a grid where the rows are fewer than the
// candidates, and tell slab and inclusion hardly apart; elsewhere over axes.
func TestGridWhereRowsAreFew(t *testing.T) {
	for _, c := range []struct {
		rows, columns, points int
	}{{30, 60, 3 * 3 * 3}, {60, 30, 1 + 4*3}} {
		s := conform.NewSelection(c.rows, c.columns, 3, 0, 2, 0.3, false, 5)
		e := must.Value(New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}, Config{}))(t)
		f := must.Value(e.newFit(t.Context(), conform.Memory{All: &s.Batch}))(t)
		f.begin()
		if _, _, err := f.settle(t.Context(), 500, settledTolerance, nil); err != nil {
			t.Fatal(err)
		}
		a := must.Value(f.integrate(t.Context(), &siteState{f.theta(), f.sites(), f.inclusions()}))(t)
		if a.points != c.points {
			t.Errorf("%d rows, %d columns: %d points, want %d", c.rows, c.columns, a.points, c.points)
		}
	}
}
