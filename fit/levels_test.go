package fit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/credence-ml/credence/table"
)

// What auto makes of a gaussian model beyond the closed form: levels in great number are variational Bayes', whose cost
// is that of the entries, and fewer or other columns convex'.
func TestAutoOfManyLevels(t *testing.T) {
	for _, c := range []struct {
		levels, each int
		formula      string
		want         string
	}{
		{150, 2, "y ~ g", "exact: a Gaussian family with a normal prior has a closed form"},
		{250, 100, "y ~ g", "exact: a Gaussian family with a normal prior has a closed form"}, // rows cost more than levels
		{500, 2, "y ~ g", "svi: of the 501 weights 500 are levels"},
		{largestExact + 1, 2, "y ~ g", "svi: of the 10002 weights 10001 are levels"},
		{largestExact + 1, 2, "y ~ g + onehot(k)", "convex: 20002 rows and 16670 weights are too many for the closed form; products with the columns do"},
		{largestSampled + 1, 1, "y ~ g + onehot(k)", "svi: 50001 rows and 66668 weights are too many for the closed form; variational Bayes takes weights for independent"},
		{largestSampled + 1, 1, "y ~ onehot(g) + x", "svi: of the 50003 weights 50001 are levels"},
		{largestSampled + 1, 1, "y ~ hash(g)", "svi: of the 50002 weights 50001 are levels"},
		{largestSampled + 1, 1, "y ~ hash(g, h)", "svi: "},
		{largestSampled + 1, 1, "y ~ g:h", "svi: "},
		{largestSampled + 1, 1, "y ~ group(g, x) + onehot(h)", "svi: of the 50005 weights 50001 are levels"},
	} {
		var names, halves, thirds []string
		var x, y []float64
		for i := range c.levels * c.each {
			names = append(names, fmt.Sprintf("u%d", i%c.levels))
			thirds = append(thirds, fmt.Sprintf("v%d", i/3%(largestExact*5/3)))
			halves = append(halves, []string{"a", "b"}[i%2])
			x, y = append(x, float64(i%7)), append(y, float64(i%13))
		}
		rows, err := table.New().Categories("g", names).Categories("h", halves).Categories("k", thirds).Numbers("x", x).Numbers("y", y).Source()
		if err != nil {
			t.Fatal(err)
		}
		job, err := New(Options{Formula: c.formula})
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := job.Prepare(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		notes := prepared.Explain()
		if told := notes[len(notes)-1].Text; !strings.HasPrefix(told, c.want) {
			t.Errorf("%s, %d levels: %s", c.formula, c.levels, told)
		}
	}
}
