package gibbs_test

import (
	"context"
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/gibbs"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// TestRemark: columns are orthogonal and the residuals orthogonal to them, so that the estimate of every weight is as
// many standard errors from 0 as the case says. What is clearly 0 or clearly large is not remarked on, whatever the
// intercept, and weights between are, once, in their number.
func TestRemark(t *testing.T) {
	const n, p = 64, 10
	sign := func(i, j int) float64 { return float64(1 - 2*(bits.OnesCount(uint(i&j))%2)) } // Walsh
	for _, c := range []struct {
		errors []float64 // of the first weights; the others are of .3
		shift  float64   // of the target, in standard errors of the intercept
		want   string
	}{
		{nil, 0, ""},
		{nil, 2, ""}, // the intercept is in every model
		{[]float64{20, -15}, 0, ""},
		{[]float64{3.3}, 0, "1 of 10 weights"},
		{[]float64{3.3, -3, 20}, 0, "2 of 10 weights"},
	} {
		rows := &credence.Batch{X: linop.NewDense(n, p)}
		for i := range n {
			y := sign(i, 21) + sign(i, 42) + c.shift/math.Sqrt(n) // of a mean square of 2
			for j := range p {
				rows.X.Row(i)[j] = sign(i, j+1)
				k := 0.3
				if j < len(c.errors) {
					k = c.errors[j]
				}
				y += math.Sqrt2 * k / math.Sqrt(n) * sign(i, j+1)
			}
			rows.Target = append(rows.Target, y)
		}
		for _, seed := range []uint64{1, 2} {
			e := must.Value(gibbs.New(credence.Model{Features: conform.Columns{Dense: p, Intercept: true}, Likelihood: likelihood.Gaussian{}, Prior: prior.Horseshoe{}}, gibbs.Config{Threads: 1, Seed: seed}))(t)
			r := must.Value(e.Fit(context.Background(), conform.Memory{All: rows}))(t).Report
			if c.want == "" && len(r.Remarks) > 0 || c.want != "" && (len(r.Remarks) != 1 || !strings.HasPrefix(r.Remarks[0], c.want)) {
				t.Errorf("%v: %q, want %q", c.errors, r.Remarks, c.want)
			}
			if len(r.Warnings) > 0 {
				t.Errorf("%v: warnings %q", c.errors, r.Warnings)
			}
		}
	}
}
