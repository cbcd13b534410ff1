package criticism_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/published"
)

// TestRealSets: what is known to be wrong with models of published sets is told with the fit.
func TestRealSets(t *testing.T) {
	for _, c := range []struct {
		set, formula, family string
		want                 []string // warnings, parts of
	}{
		// Visits to physicians: 683 zeros, of which R's glm expects 47 (Zeileis, Kleiber & Jackman 2008). That glm.nb
		// expects 608, 75 fewer, has a probability of .0008, which is no finding among eight checks.
		{"nmes1988", "visits ~ hospital + health + chronic + gender + school + insurance", "poisson",
			[]string{"times as much as poisson allows: --family negbinomial", "683 of 4406 counts are zero where poisson expects 47"}},
		{"nmes1988", "visits ~ hospital + health + chronic + gender + school + insurance", "negbinomial",
			[]string{"the residuals bend with chronic"}},
		// Hours of bike rental, which go with the hour of the day in a curve.
		{"bike_hour", "count ~ . - dateday", "poisson",
			[]string{"times as much as poisson allows: --family negbinomial", "the residuals bend with hour"}},
		{"bike_hour", "count ~ . - dateday", "gaussian", []string{"--family negbinomial", "the residuals bend with hour"}},
	} {
		path := published.Path(t, c.set, c.set+".csv.gz")
		rows, err := dataset.Open(context.Background(), []string{path}, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		job, err := fit.New(fit.Options{Formula: c.formula, Family: c.family})
		if err != nil {
			t.Fatal(err)
		}
		columns, err := job.Columns(rows.Schema())
		if err != nil {
			t.Fatal(err)
		}
		source, err := rows.Load(context.Background(), columns)
		if err != nil {
			t.Fatal(err)
		}
		model, err := job.Fit(context.Background(), source)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(slices.Concat(model.Report.Warnings, model.Report.Remarks, model.Report.Details), "\n")
		for _, want := range c.want {
			if !strings.Contains(all, want) {
				t.Errorf("%s under %s: no %q in\n%s", c.set, c.family, want, all)
			}
		}
	}
}
