package layout

import (
	"math"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	table := Table{Head: []string{"set", "RMSE"}, Left: 1}
	table.Add("boston", PlusMinus(2.5, 0.125, 2))
	table.Add("x")
	var b strings.Builder
	if _, err := table.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	const want = "" +
		"| set    |        RMSE |\n" +
		"| ------ | ----------: |\n" +
		"| boston | 2.50 ± 0.12 |\n" +
		"| x      |             |\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{PlusMinus(-1.5, math.NaN(), 1), "−1.5"},
		{PlusMinus(-1.5, 0.25, 2), "−1.50 ± 0.25"},
		{Number(math.NaN(), 3), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
