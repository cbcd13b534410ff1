package exact

import (
	"context"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestStageRows pins the rows that a stage on a part of a table has: row ⌊iN/M⌋ for i from 0 to
// M−1, so that a table sorted by an input is seen over its whole range.
func TestStageRows(t *testing.T) {
	data := randomTable(3, 3100, 2, 0)
	for i := range data.x.Rows {
		data.x.Row(i)[0] = float64(i) // sorted
	}
	e := must.Value(New(credence.Model{Features: newBent(2, 0), Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}, Config{}))(t)
	run := &fit{Engine: e, data: data, total: data.Rows()}
	run.ws = credence.NewWorkspace(1)
	const part = 700
	must.Succeed(t, run.open(context.Background(), part, true))
	if r, err := e.openRows(context.Background(), data, part, false); err != nil || !r.Kept() {
		t.Errorf("a part of the rows is not kept where it is read once: %v", err)
	}
	if !run.rows.Kept() || run.rows.Count() != part {
		t.Fatalf("%d rows, kept is %v", run.rows.Count(), run.rows.Kept())
	}
	for k := range run.rows.Blocks() {
		b := must.Value(run.rows.Block(context.Background(), k))(t)
		for i := range b.Rows() {
			if want := (k*credence.BlockRows + i) * 3100 / part; b.X.Row(i)[0] != float64(want) {
				t.Fatalf("sample %d is row %v, want %d", k*credence.BlockRows+i, b.X.Row(i)[0], want)
			}
		}
	}
}
