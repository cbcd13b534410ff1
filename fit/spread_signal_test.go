package fit_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// TestSpreadSignal: where many features share a signal and none is called, the likeliest is named with its inclusion;
// where one has the signal alone nothing is said.
func TestSpreadSignal(t *testing.T) {
	for _, shared := range []bool{true, false} {
		rng := rand.New(rand.NewPCG(3, 3))
		const n, p = 60, 120
		columns, y := make([][]float64, p), make([]float64, n)
		for i := range n {
			z := rng.NormFloat64()
			y[i] = indicator(z > 0)
			for j := range columns {
				x := rng.NormFloat64()
				if shared || j == 7 {
					x = z + 0.5*x
				}
				columns[j] = append(columns[j], x)
			}
		}
		b := table.New()
		b.Numbers("y", y)
		for j, column := range columns {
			b.Numbers(fmt.Sprint("x", j), column)
		}
		source := must.Value(b.Source())(t)
		fitted := must.Value(fit.Select(context.Background(), source, fit.Options{Target: "y", Family: "bernoulli", Engine: "ep(hyper=mode)"}, selection.Options{Path: selection.PathNever}))(t)
		first := fitted.Selection.Features[0]
		threshold, others := math.Floor(95*first.Inclusion)/100, ""
		if above := slices.IndexFunc(fitted.Selection.Features, func(f selection.Feature) bool { return f.Inclusion <= threshold }); above > 1 {
			others = fmt.Sprintf(" and %d more", above-1)
		}
		told := slices.ContainsFunc(fitted.Report.Warnings, func(w string) bool {
			return strings.Contains(w, "no single feature stands out") && strings.Contains(w, "which. Predictions use all of them; how well they predict is untested: add --check 5 (five folds). --threshold ") &&
				strings.HasSuffix(w, fmt.Sprintf(" --threshold %.2g would select %s%s", threshold, first.Name, others))
		})
		if shared { // what is checked is not said to be untested
			checked := must.Value(fit.Select(context.Background(), source, fit.Options{Target: "y", Family: "bernoulli", Engine: "ep(hyper=mode)"}, selection.Options{Path: selection.PathNever, Check: 2}))(t)
			if text := strings.Join(checked.Report.Warnings, "\n"); !strings.Contains(text, "Predictions use all of them. --threshold ") {
				t.Error(text)
			}
		}
		if told != shared || (fitted.Selection.Selected == 0) != shared {
			t.Errorf("shared %t: %d called, %s has %.3f, %q", shared, fitted.Selection.Selected, first.Name, first.Inclusion, fitted.Report.Warnings)
		}
	}
}
