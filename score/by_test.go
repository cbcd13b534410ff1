package score_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
)

// visit is one row, of which each family has a target.
type visit struct {
	X, Y, Price, Weight float64
	Count, Grade        int
	Bought              bool
	City                string
}

func visits(n int) (all []visit) {
	for i := range n {
		x := math.Sin(float64(i) * 1.3)
		all = append(all, visit{
			X: x, Y: x + math.Cos(float64(i)*2.7), Price: math.Exp(x + math.Cos(float64(i)*2.7)), Weight: float64(1 + i%3), Count: int(math.Abs(3*x+2*math.Cos(float64(i)*1.9)) * 2),
			Grade: int(math.Round(1 + x*0.8 + 0.7*math.Cos(float64(i)*2.2))), Bought: math.Sin(float64(i)*3.1)+x > 0, City: []string{"Bern", "10", "9", ""}[i%7%4],
		})
	}
	return all
}

// The metrics of a group are those of an evaluation of its rows alone, of every family, and the metrics of all rows are
// as without groups.
func TestGroupsAreSubsets(t *testing.T) {
	all := visits(400)
	for k, o := range []fit.Options{
		{Formula: "log(Price) ~ X"}, {Formula: "Y ~ X"}, {Formula: "log(Price) ~ X"}, {Formula: "Count ~ X", Family: "poisson"}, {Formula: "Grade ~ X", Family: "ordinal"}, {Formula: "Bought ~ X", Family: "bernoulli"},
	} {
		o.Formula += " + weight(Weight)"
		o.Seed = 7 // of the draws of the PIT, too
		model := fitted(t, all[:90], o)
		s := must.Value(score.New(model, score.Options{Original: k == 0}))(t)
		of := func(rows []visit, by bool) map[string]any {
			e := score.NewEvaluation(model)
			e.Reliability()
			if by {
				e.By([]string{"City"}, func(r *score.Rows, i int) ([]string, error) { return []string{rows[r.SourceRow(i)].City}, nil })
			}
			must.Succeed(t, must.Value(s.Table(structs(t, rows), score.RequireTargets))(t).Each(t.Context(), e.Add))
			var decoded map[string]any
			must.Succeed(t, json.Unmarshal(must.Value(json.Marshal(must.Value(e.Result())(t)))(t), &decoded))
			return decoded
		}
		text := func(m map[string]any) string { return string(must.Value(json.Marshal(m))(t)) }
		whole := of(all, true)
		groups := whole["groups"].([]any)
		delete(whole, "groups")
		if a, b := text(whole), text(of(all, false)); a != b {
			t.Errorf("%s: with groups all rows have\n%s\nand without\n%s", o.Formula, a, b)
		}
		for k, name := range []string{"9", "10", "Bern", "missing"} {
			g := groups[k].(map[string]any)
			if got := g["by"].(map[string]any)["City"]; got != name || len(groups) != 4 {
				t.Fatalf("%s: group %d of %d is %v", o.Formula, k, len(groups), got)
			}
			delete(g, "by")
			var rows []visit
			for _, v := range all {
				if v.City == name || v.City == "" && name == "missing" {
					rows = append(rows, v)
				}
			}
			if a, b := text(g), text(of(rows, false)); a != b {
				t.Errorf("%s: %s has\n%s\nand alone\n%s", o.Formula, name, a, b)
			}
		}
	}
}

// Texts of two columns make one group where both are the same, however they read one after the other.
func TestGroupsOfColumns(t *testing.T) {
	all := visits(60)
	model := fitted(t, all, fit.Options{Formula: "Y ~ X"})
	e := score.NewEvaluation(model)
	texts := [][]string{{"a", "bc"}, {"ab", "c"}, {"", "abc"}, {"abc", ""}}
	e.By([]string{"first", "second"}, func(r *score.Rows, i int) ([]string, error) { return texts[r.SourceRow(i)%4], nil })
	must.Succeed(t, must.Value(scorer(t, model).Table(structs(t, all), score.RequireTargets))(t).Each(t.Context(), e.Add))
	groups := must.Value(e.Result())(t).Groups
	for _, g := range groups {
		if g.Rows != 15 {
			t.Errorf("%v has %d rows of 15", g.By, g.Rows)
		}
	}
	if len(groups) != 4 {
		t.Errorf("%d groups of 4", len(groups))
	}
}

// Groups are refused where they are too many, and where their texts are not those of the columns.
func TestGroupsAreRefused(t *testing.T) {
	all := visits(1001)
	model := fitted(t, all[:50], fit.Options{Formula: "Y ~ X"})
	for want, texts := range map[string]func(i int) []string{
		"there are more than 1000 groups by City: name columns with fewer values": func(i int) []string { return []string{fmt.Sprint(i)} },
		"there are 2 texts of the columns City":                                   func(i int) []string { return []string{"a", "b"} },
	} {
		e := score.NewEvaluation(model)
		e.By([]string{"City"}, func(r *score.Rows, i int) ([]string, error) { return texts(r.SourceRow(i)), nil })
		err := must.Value(scorer(t, model).Table(structs(t, all), score.RequireTargets))(t).Each(t.Context(), e.Add)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// The CRPS of a row is the mean of the pinball losses of its quantiles, twice, in units of the target's column where
// predictions are taken back; of classes and grades it is the sum over their probabilities.
func TestCRPSOfRows(t *testing.T) {
	all := visits(120)
	for _, o := range []struct {
		fit.Options
		back bool
	}{
		{Options: fit.Options{Formula: "Y ~ X"}}, {Options: fit.Options{Formula: "log(Price) ~ X"}, back: true}, {Options: fit.Options{Formula: "sqrt(Price) ~ X"}, back: true},
		{Options: fit.Options{Formula: "Price ~ X", Family: "gamma"}}, {Options: fit.Options{Formula: "Count ~ X", Family: "negbinomial"}},
		{Options: fit.Options{Formula: "Grade ~ X", Family: "ordinal"}}, {Options: fit.Options{Formula: "Bought ~ X", Family: "bernoulli"}},
	} {
		model := fitted(t, all[:90], o.Options)
		s := must.Value(score.New(model, score.Options{Original: o.back}))(t)
		rows := s.NewRows()
		must.Succeed(t, must.Value(s.Table(structs(t, all[:3]), score.UseTargets))(t).Each(t.Context(), func(r *score.Rows) error { return rows.Score(r.Batch()) }))
		for i := range rows.Len() {
			y, want := rows.Target(i), 0.0
			if classes := s.Classes(); classes != nil {
				below, values := 0.0, []float64{0, 1}
				if s.Grades() != nil {
					values = s.Grades()
				}
				for k, p := range rows.Probabilities(nil, i)[:len(classes)-1] {
					below += p
					if at := below; y <= values[k] {
						want += (1 - at) * (1 - at)
					} else {
						want += at * at
					}
				}
			} else {
				const n = 20000
				probabilities, quantiles := make([]float64, n), make([]float64, n)
				for k := range n {
					u := (float64(k) + 0.5) / n
					probabilities[k] = u * u * (3 - 2*u) // denser in the tails
				}
				rows.Quantiles(quantiles, i, probabilities)
				for k, q := range quantiles {
					u := (float64(k) + 0.5) / n
					loss := probabilities[k] * (y - q)
					if y < q {
						loss = (1 - probabilities[k]) * (q - y)
					}
					want += 2 * loss * 6 * u * (1 - u) / n
				}
			}
			if got := rows.CRPS(i, y); !(math.Abs(got-want) <= 1e-4*want) {
				t.Errorf("%s, row %d: %v, want %v", o.Formula, i, got, want)
			}
		}
	}
}

// Above 10,000 rows the CRPS without a closed form is that of evenly spread ones, which the result tells.
func TestCRPSOfManyRows(t *testing.T) {
	all := visits(20_001)
	for family, target := range map[string]string{"poisson": "Count", "gaussian": "Count", "bernoulli": "Bought"} {
		model := fitted(t, all[:90], fit.Options{Formula: target + " ~ X", Family: family})
		e := must.Value(score.Evaluate(t.Context(), scorer(t, model), structs(t, all)))(t)
		sum, n := 0.0, int64(0)
		each(t, model, structs(t, all), func(rows *score.Rows, i int) {
			if family != "poisson" || (rows.First()+i)%3 == 0 {
				sum += rows.CRPS(i, rows.Target(i))
				n++
			}
		})
		told := n
		if family != "poisson" {
			told = 0
		}
		if e.CRPS == nil || !near(float64(*e.CRPS), sum/float64(n)) || e.CRPSRows != told {
			t.Errorf("%s: %v of %d rows, want %v of %d", family, e.CRPS, e.CRPSRows, sum/float64(n), told)
		}
	}
}

// Trials are those of each row in its deviance, too; the exponential of a target with heavy tails has no score.
func TestTrialsAndTails(t *testing.T) {
	type hits struct{ X, Hits, Of float64 }
	var all []hits
	for i := range 40 {
		all = append(all, hits{math.Sin(float64(i)), float64(i % 4), float64(3 + i%5)})
	}
	model, want := fitted(t, all, fit.Options{Formula: "Hits ~ X", Family: "binomial(trials=Of)"}), 0.0
	each(t, model, structs(t, all), func(rows *score.Rows, i int) {
		mean, _ := rows.Moments(i)
		want += metric.BinomialDeviance(rows.Target(i), all[rows.SourceRow(i)].Of, mean)
	})
	if e := must.Value(score.Evaluate(t.Context(), scorer(t, model), structs(t, all)))(t); !near(float64(e.Deviance), want) {
		t.Errorf("deviance %v, want %v", e.Deviance, want)
	}
	heavy := visits(40)
	model = fitted(t, heavy, fit.Options{Formula: "log(Price) ~ X", Family: "studentt(df=4)"})
	for _, back := range []bool{false, true} {
		e := must.Value(score.Evaluate(t.Context(), must.Value(score.New(model, score.Options{Original: back}))(t), structs(t, heavy)))(t)
		if (e.CRPS == nil) != back {
			t.Errorf("taken back %v: CRPS %v", back, e.CRPS)
		}
	}
}
