package effect_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// TestWidest: of 520 numbers and a category, where none is named, those are told whose weights move f most: by
// their standard deviations, as levels, and in products. A number of a large weight that hardly varies is none of them.
// Columns that are named are told always.
func TestWidest(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	const n, p = 700, 520
	b, y, city := table.New(), make([]float64, n), make([]string, n)
	columns := make([][]float64, p)
	for j := range columns {
		columns[j] = make([]float64, n)
		for i := range columns[j] {
			columns[j][i] = rng.NormFloat64()
		}
	}
	for i := range y {
		city[i] = []string{"Basel", "Chur"}[i%2]
		columns[500][i] *= 1e-3 // a large weight of what hardly varies
		columns[501][i] *= 1e3  // a small one of what does
		y[i] = 4*columns[3][i] + 4*columns[7][i]*columns[8][i] + 4e-3*columns[501][i] + 20*float64(i%2)
	}
	formula := "y ~ city + x7:x8"
	for j := range columns {
		b.Numbers(fmt.Sprint("x", j), columns[j])
		if j != 7 && j != 8 {
			formula += fmt.Sprint(" + x", j)
		}
	}
	rows := must.Value(b.Categories("city", city).Numbers("y", y).Source())(t)
	scorer := must.Value(score.New(must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: formula}))(t), score.Options{}))(t)
	result := must.Value(effect.Of(t.Context(), scorer, rows, effect.Options{}))(t)
	var names []string
	for _, e := range result.Effects {
		names = append(names, e.Term)
	}
	const text = "of 521 columns the 60 are told whose weights move f most; --comparisons NAME,NAME tells others"
	if len(names) != 60 || !slices.Contains(result.Remarks, text) {
		t.Fatalf("%d effects, %v", len(names), result.Remarks)
	}
	for _, name := range []string{"x3", "x7", "x8", "x501", "city"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not told among %v", name, names)
		}
	}
	first := must.Value(effect.Widest(scorer, names, 3))(t)
	if len(first) != 3 || !slices.Contains(first, "x3") || !slices.Contains(first, "x501") {
		t.Errorf("the widest are %v", first)
	}
	named := must.Value(effect.Of(t.Context(), scorer, rows, effect.Options{Columns: []string{"x500", "x9"}}))(t)
	if len(named.Effects) != 2 || strings.Contains(strings.Join(named.Remarks, ""), "move f most") {
		t.Errorf("%v, %v", named.Effects, named.Remarks)
	}
	slopes := must.Value(effect.Of(t.Context(), scorer, rows, effect.Options{What: effect.Slopes}))(t)
	if len(slopes.Effects) != 60 || slices.ContainsFunc(slopes.Effects, func(e effect.Effect) bool { return e.Term == "city" }) {
		t.Errorf("%d slopes", len(slopes.Effects))
	}
}
