package effect_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/published"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// TestEffectsOnSets compares effects on six published sets, 2,500 rows each, with dense algebra on Φ and the covariance
// (of f), with the predictive means of rows that are changed by hand (of E y), and the SD of the delta method with that
// of four times 10,000 draws.
func TestEffectsOnSets(t *testing.T) {
	study.OnlyCalibration(t)
	const draws = 10_000
	sets := []struct {
		name, target, inputs, smooth string
		column, category, level      string // that change
		counts                       bool
	}{
		{"kin8nm", "y", "x1 + x2 + x3*x4", "rbf(x5, x6, n=20)", "x3", "", "", false},
		{"power", "y", "x1 + x2*x3", "rbf(x4, n=20)", "x2", "", "", false},
		{"calhousing", "y", "latitude + medianIncome*housingMedianAge", "rbf(longitude, n=20)", "medianIncome", "", "", false},
		{"nmes1988", "visits", "health + chronic*age + school", "rbf(income, n=20)", "chronic", "health", "poor", true},
		{"bemtpl97", "nclaims", "bm + ageph*fuel + coverage", "rbf(power, n=20)", "ageph", "coverage", "TPL+", true},
		{"bike_hour", "count", "hour + temp*humidity + windspeed", "rbf(hour, n=20)", "temp", "", "", true},
	}
	for _, set := range sets {
		names, rows := records(t, set.name, 2500)
		target := slices.Index(names, set.target)
		middle := medianOf(rows, target)
		models := map[string]fit.Options{
			"gaussian":  {Formula: set.target + " ~ " + set.inputs},
			"bernoulli": {Formula: fmt.Sprintf("(%s > %g) ~ %s", set.target, middle, set.inputs), Family: "bernoulli"},
			"members":   {Formula: set.target + " ~ " + set.inputs + " + " + set.smooth},
		}
		if set.counts {
			models["poisson"] = fit.Options{Formula: set.target + " ~ " + set.inputs, Family: "poisson"}
		}
		for family, options := range models {
			t.Run(set.name+"/"+family, func(t *testing.T) {
				source := func(change func(row []any)) credence.Source {
					var changed [][]any
					for _, row := range rows {
						row = slices.Clone(row)
						change(row)
						changed = append(changed, row)
					}
					s, err := table.Records(names, changed)
					if err != nil {
						t.Fatal(err)
					}
					return s
				}
				number := slices.Index(names, set.column)
				as := source(func([]any) {})
				more := source(func(row []any) { row[number] = row[number].(float64) + 1 })
				model, err := fit.Table(t.Context(), as, options)
				if err != nil {
					t.Fatal(err)
				}
				scorer, err := score.New(model, score.Options{})
				if err != nil {
					t.Fatal(err)
				}
				effects := func(o effect.Options) []effect.Effect {
					result, err := effect.Of(t.Context(), scorer, as, o)
					if err != nil {
						t.Fatal(err)
					}
					return result.Effects
				}
				expected := func(rows credence.Source) (sum float64) {
					bound, err := scorer.Table(rows, score.IgnoreTargets)
					if err != nil {
						t.Fatal(err)
					}
					if err := bound.Each(t.Context(), func(r *score.Rows) error {
						for i := range r.Len() {
							m, _ := r.Moments(i)
							sum += m / float64(bound.Rows())
						}
						return nil
					}); err != nil {
						t.Fatal(err)
					}
					return sum
				}
				type pair struct {
					term, contrast string
					high, low      credence.Source
				}
				pairs := []pair{{set.column, "+1", more, as}}
				columns := []string{set.column}
				if set.category != "" {
					place := slices.Index(names, set.category)
					at := func(level string) credence.Source { return source(func(row []any) { row[place] = level }) }
					columns = append(columns, set.category)
					base := effects(effect.Options{Columns: columns[1:], Link: true})[0].Contrast
					_, base, _ = strings.Cut(base, " - ")
					pairs = append(pairs, pair{set.category, set.level + " - " + base, at(set.level), at(base)})
				}
				link := effects(effect.Options{Columns: columns, Link: true})
				byDraws := effects(effect.Options{Columns: columns, Draws: draws})
				again := [][]effect.Effect{byDraws}
				for seed := uint64(1); byDraws[0].Method == "draws" && seed < 4; seed++ {
					again = append(again, effects(effect.Options{Columns: columns, Draws: draws, Seed: seed}))
				}
				// which are too many for so many rows
				byDelta := effects(effect.Options{Columns: columns, Draws: effect.MostDraws})
				for _, p := range pairs {
					mean, square := 0.0, 0.0
					for k := range model.Members {
						if model.Share(k) == 0 {
							continue
						}
						m, v := linearOf(t, scorer, k, p.high, p.low, ones(len(rows)))
						mean += model.Share(k) * m
						square += model.Share(k) * (v + m*m)
					}
					sd := math.Sqrt(square - mean*mean)
					e := find(t, link, p.term, p.contrast)
					near(t, p.contrast+" of f", float64(e.Estimate), mean, 1e-9*(1+math.Abs(mean)))
					near(t, p.contrast+" of f: SD", float64(e.StdError)/sd, 1, 1e-6)
					e, want := find(t, byDraws, p.term, p.contrast), expected(p.high)-expected(p.low)
					if e.Method == "exact" {
						near(t, p.contrast, float64(e.Estimate), want, 1e-9*(math.Abs(want)+float64(e.StdError)))
						continue
					}
					d, spread := find(t, byDelta, p.term, p.contrast), 0.0
					for _, list := range again {
						spread += math.Pow(float64(find(t, list, p.term, p.contrast).StdError), 2) / float64(len(again))
					}
					ratio := float64(d.StdError) / math.Sqrt(spread)
					t.Logf("%s %s: draws %.5g ± %.4g, off by %.2f Monte Carlo errors; delta off by %.1e SD, its SD ÷ that of draws %.4f", p.term, p.contrast, e.Estimate, e.StdError,
						(float64(e.Estimate)-want)/float64(e.MCSE), (float64(d.Estimate)-want)/float64(d.StdError), ratio)
					near(t, p.contrast, float64(e.Estimate), want, 3.5*float64(e.MCSE))
					near(t, p.contrast+" by delta", float64(d.Estimate), want, 1e-3*float64(e.StdError))
					near(t, p.contrast+": SD by "+d.Method, ratio, 1, 0.02+3/math.Sqrt(8*draws))
				}
			})
		}
	}
}

// records returns evenly spread rows of a published set.
func records(t testing.TB, name string, most int) (names []string, rows [][]any) {
	t.Helper()
	all, err := csv.NewReader(published.Open(t, name, name+".csv.gz")).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i := range most {
		var row []any
		for _, text := range all[1+i*(len(all)-1)/most] {
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				row = append(row, v)
			} else {
				row = append(row, text)
			}
		}
		rows = append(rows, row)
	}
	return all[0], rows
}

// medianOf is the median of a column.
func medianOf(rows [][]any, j int) float64 {
	var values []float64
	for _, row := range rows {
		values = append(values, row[j].(float64))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
