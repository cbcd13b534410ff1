package fit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/credence-ml/credence/table"
)

// What auto makes of a gaussian model: levels in any number have the closed form where the columns beside those of the
// largest category are few, or few beside those of the two largest, and else convex.
func TestAutoOfManyLevels(t *testing.T) {
	const closed = "exact: a Gaussian family with a normal prior has a closed form"
	for _, c := range []struct {
		levels, each int
		formula      string
		want         string
	}{
		{150, 2, "y ~ g", closed},
		{500, 2, "y ~ g", closed},
		{largestExact + 1, 2, "y ~ g + h", closed},
		{largestExact + 1, 2, "y ~ onehot(g) + x", closed},
		{largestExact + 1, 2, "y ~ hash(g)", closed},
		{largestExact + 1, 2, "y ~ g:h", closed},
		{largestExact + 1, 2, "y ~ group(g, x) + onehot(h)", closed},
		{2 * largestExact, 2, "y ~ g + onehot(k)", closed},
		{2 * largestExact, 2, "y ~ (1 | g) + (1 | k)", closed},
		{2 * largestExact, 2, "y ~ g + onehot(k) + onehot(m)", "convex: 40000 rows and 33455 weights, 13455 of them beside the levels of the largest category, are too many for the closed form"},
		{2 * largestExact, 1, "y ~ hash(g, k)", "convex: 20000 rows and 26668 weights are too many for the closed form"},
	} {
		var names, halves, thirds, many []string
		var x, y []float64
		for i := range c.levels * c.each {
			names = append(names, fmt.Sprintf("u%d", i%c.levels))
			thirds = append(thirds, fmt.Sprintf("v%d", i%40_000/3))
			many = append(many, fmt.Sprintf("w%d", i%120))
			halves = append(halves, []string{"a", "b"}[i%2])
			x, y = append(x, float64(i%7)), append(y, float64(i%13))
		}
		rows, err := table.New().Categories("g", names).Categories("h", halves).Categories("k", thirds).Categories("m", many).Numbers("x", x).Numbers("y", y).Source()
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
