package convex_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// The number of draws that a warning asks for halves the error that it tells of: it is half in the next warning.
func TestRemedyHalvesTheError(t *testing.T) {
	model := credence.Model{Features: conform.Columns{Dense: 3, Intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: prior.Normal{Variance: param.Hold(1)}}
	told := func(k int) (off float64, remedy int) {
		fitted := fitOf(t, must.Value(convex.New(model, convex.Config{Variances: convex.Sampled, K: k}))(t), classes(60, 3))
		for _, text := range fitted.Report.Warnings {
			var draws int
			if _, err := fmt.Sscanf(text, "variances are those of %d draws, with a relative standard error of %g: state convex(k=%d) to halve it", &draws, &off, &remedy); err == nil && draws == k {
				return off, remedy
			}
		}
		t.Fatalf("%d draws: %q", k, fitted.Report.Warnings)
		return 0, 0
	}
	off, remedy := told(8)
	if half, _ := told(remedy); !(math.Abs(half/off-0.5) <= 0.02) {
		t.Errorf("the error is %g of 8 draws, and %g of the %d that would halve it", off, half, remedy)
	}
}
