package effect_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// TestManyLevels: the levels of groups, and those of a category that has more than 100, are compared where the column
// is named alone, and the result says so.
func TestManyLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 50))
	var y, x []float64
	var few, many, group []string
	for i := range 1010 {
		x = append(x, rng.NormFloat64())
		few, many, group = append(few, fmt.Sprint("f", i%100)), append(many, fmt.Sprint("m", i%101)), append(group, fmt.Sprint("g", i%7))
		y = append(y, x[i]+rng.NormFloat64()+float64(i%7))
	}
	rows, err := table.New().Numbers("x", x).Categories("few", few).Categories("many", many).Categories("group", group).Numbers("y", y).Source()
	if err != nil {
		t.Fatal(err)
	}
	terms := func(formula string, options effect.Options) (map[string]int, []string, error) {
		model, err := fit.Table(t.Context(), rows, fit.Options{Formula: formula})
		if err != nil {
			t.Fatal(err)
		}
		scorer, err := score.New(model, score.Options{})
		if err != nil {
			t.Fatal(err)
		}
		columns, err := effect.Columns(scorer, rows)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range columns {
			if want := c.Name == "many" || c.Name == "group" && strings.Contains(formula, "|"); c.Many != want {
				t.Errorf("%s: many is %v of %s", formula, c.Many, c.Name)
			}
		}
		result, err := effect.Of(t.Context(), scorer, rows, options)
		if err != nil {
			return nil, nil, err
		}
		count := map[string]int{}
		for _, e := range result.Effects {
			count[e.Term]++
		}
		return count, result.Remarks, nil
	}
	for _, c := range []struct{ formula, named, want, remarks string }{
		{"y ~ x + few + many", "", "map[few:99 x:1]", "[the 101 levels of many are left out: --comparisons many compares each with m0]"},
		{"y ~ x + few + many", "many", "map[many:100]", "[]"},
		{"y ~ x + group", "", "map[group:6 x:1]", "[]"},
		{"y ~ x + (1 | group)", "", "map[x:1]", "[the 7 levels of group are left out: --comparisons group compares each with g0]"},
		{"y ~ x + (1 | group)", "group", "map[group:6]", "[]"},
	} {
		var o effect.Options
		if c.named != "" {
			o.Columns = []string{c.named}
		}
		got, remarks, err := terms(c.formula, o)
		if fmt.Sprint(got) != c.want || fmt.Sprint(remarks) != c.remarks || err != nil {
			t.Errorf("%s, %q: %v, %q, %v", c.formula, c.named, got, remarks, err)
		}
	}
	if _, _, err := terms("y ~ (1 | group)", effect.Options{}); err == nil || !strings.Contains(err.Error(), "name some, as --comparisons group") {
		t.Errorf("%v", err)
	}
}

// TestNumberAndLevel: of a column that the model takes as a number and by its levels, both are replaced.
func TestNumberAndLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 50))
	source := func(year func(i int) float64) credence.Source {
		var years, y, ids []float64
		var levels []string
		for i := range 90 {
			v := year(i)
			years, levels, y, ids = append(years, v), append(levels, fmt.Sprint(v)), append(y, v/2+rng.NormFloat64()), append(ids, float64(12345670+i%3))
		}
		s, err := table.New().Numbers("year", years).Categories(credence.TextOf("year"), levels).Numbers("y", y).Numbers("id", ids).Source()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	rows := source(func(i int) float64 { return []float64{2001, 2002, 2010}[i%3] })
	model, err := fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ year + onehot(year)"})
	if err != nil {
		t.Fatal(err)
	}
	scorer, err := score.New(model, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	predicted := func(rows credence.Source, options effect.Options) float64 {
		options.What = effect.Predictions
		result, err := effect.Of(t.Context(), scorer, rows, options)
		if err != nil {
			t.Fatal(err)
		}
		return float64(result.Effects[0].Estimate)
	}
	at := func(v float64) float64 {
		return predicted(source(func(i int) float64 { return v }), effect.Options{})
	}
	for _, v := range []float64{2001, 2002, 2010} {
		near(t, fmt.Sprint("year ", v), predicted(rows, effect.Options{At: []string{fmt.Sprint("year=", v)}}), at(v), 1e-9)
	}
	result, err := effect.Of(t.Context(), scorer, rows, effect.Options{Bases: []string{"year=2010"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range result.Effects {
		var v float64
		fmt.Sscan(e.Contrast, &v)
		near(t, e.Contrast, float64(e.Estimate), at(v)-at(2010), 1e-9*math.Abs(at(v)))
	}
	if result, err = effect.Of(t.Context(), scorer, rows, effect.Options{What: effect.Predictions, By: []string{"id"}}); err != nil || len(result.Effects) != 3 {
		t.Errorf("of 3 ids of 8 digits: %+v, %v", result, err)
	}
}
