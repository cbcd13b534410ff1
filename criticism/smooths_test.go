package criticism_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/table"
)

// A smooth term that can follow its curve is not called stiff: not in the rows of the fit, and not in ever more others,
// which all share the error of a curve that few rows told.
func TestSmoothsThatFollow(t *testing.T) {
	sets := 1
	if study.Calibration() {
		sets = 100
	}
	fits, alarms := 0, 0
	for _, family := range families {
		if family.text == "binomial(trials=trials)" || family.text == "ordinal" {
			continue
		}
		for set := range sets {
			rng := rand.New(rand.NewPCG(firstSeed()+uint64(set), 7))
			draw := func(n int) credence.Source {
				var x, y []float64
				for range n {
					at := rng.Float64()
					x, y = append(x, at), append(y, family.draw.Sample(rng, 0.8*math.Sin(5*at)))
				}
				return must.Value(table.New().Numbers("x", x).Numbers("y", y).Source())(t)
			}
			for _, formula := range []string{"y ~ s(x)", "y ~ hsgp(x, m=12)"} {
				rows := draw([]int{60, 200, 400}[set%3])
				model := fittedBy(t, rows, fit.Options{Formula: formula, Family: family.text})
				for own, some := range map[bool]credence.Source{true: rows, false: draw(6000)} {
					fits++
					for _, f := range findings(t, model, some, criticism.Options{Fitted: own}) {
						if strings.Contains(f.Text, "more finely") {
							alarms++
							t.Logf("%s, %s, set %d, own rows %v: %v", family.text, formula, set, own, f)
						}
					}
				}
			}
		}
	}
	// Half of the error of one of seven checks is expected in rows of the fit, and three standard deviations refused.
	expected := criticism.ErrorRate / 14 * float64(fits) / 2
	if t.Logf("%d of %d", alarms, fits); float64(alarms) > expected+3*math.Sqrt(expected) {
		t.Errorf("%d of %d right smooth terms are called stiff, where %.2g are expected", alarms, fits, expected)
	}
}

// The remedy writes the term as it is but for the number of its functions, of a column with a name of its own too; and
// rows that a stiff curve passes by are no mistakes in the data.
func TestStiffSmooths(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	var x, y []float64
	for range 500 {
		at := rng.Float64()
		x, y = append(x, at), append(y, math.Sin(40*at*at)+0.02*rng.NormFloat64())
	}
	for _, c := range []struct{ column, formula, remedy string }{
		{"t", "y ~ s(t)", "s(t, k=30)"},
		{"t", "y ~ t + s(t, k=20)", "s(t, k=60)"},
		{"t", "y ~ abs(t) + s(t, k=20)", "s(t, k=60)"},
		{"t", "y ~ s(t, period=1, k=4)", "s(t, period=1, k=30)"},
		{"t", "y ~ s(t, period=1)", "s(t, period=1, k=30)"},
		{"day of year", "y ~ s(`day of year`, k=20)", "s(`day of year`, k=60)"},
		{"t", "y ~ hsgp(t, m=12)", "hsgp(t, m=36)"},
		{"t", "y ~ s(log(t), k=11)", "s(log(t), k=33)"},
	} {
		source := must.Value(table.New().Numbers(c.column, x).Numbers("y", y).Source())(t)
		found := findings(t, fittedBy(t, source, fit.Options{Formula: c.formula}), source, criticism.Options{Fitted: true})
		if len(found) == 0 || found[0].Check != "trend" || found[0].Tone != criticism.Remark || found[0].Remedy != "give it more functions: "+c.remedy {
			t.Errorf("%s: %+v, want %s", c.formula, found, c.remedy)
		}
		for _, f := range found {
			if f.Check == "outliers" && f.Tone != criticism.Detail {
				t.Errorf("%s: %v", c.formula, f)
			}
		}
	}
}
