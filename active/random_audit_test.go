package active_test

import (
	"testing"

	"github.com/credence-ml/credence/active"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
)

// TestRandomAudit: the error on rows by chance is that of the models under the score random, too. (TestLast with
// information has at most .25 on the same rows; before the fix this is exactly 1, whatever the data.)
func TestRandomAudit(t *testing.T) {
	rows := conform.Regression(likelihood.Bernoulli{Link: likelihood.Logit}, 200, 2, 4)
	for i := range rows.Target {
		if rows.Target[i] = 0; rows.X.Row(i)[0] > 0 {
			rows.Target[i] = 1
		}
	}
	found := simulated(t, rows, active.Options{Pool: 100, Initial: 30, Block: 7, Labels: 75, Every: 45, Repeats: 1, Audit: 0.5, Scores: []active.Score{active.Random}, Threads: 1})
	curve := found.Scores[active.Random]
	last := curve[len(curve)-1]
	if last.Audit == nil || last.Audit.Rows < 15 || last.Audit.Error > 0.3 {
		t.Errorf("%+v, audit %+v; the error on test rows is %v", last, last.Audit, last.Error)
	}
}
