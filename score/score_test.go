package score_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// structs is the table of a slice.
func structs(t testing.TB, slice any) credence.Source {
	t.Helper()
	source := must.Value(table.Structs(slice))(t)
	return source
}

// scorer applies a model with default options.
func scorer(t testing.TB, model *credence.Fitted) *score.Scorer {
	t.Helper()
	s := must.Value(score.New(model, score.Options{}))(t)
	return s
}

// each visits the rows of a table that may have targets.
func each(t testing.TB, model *credence.Fitted, source credence.Source, visit func(rows *score.Rows, i int)) {
	t.Helper()
	scored := must.Value(scorer(t, model).Table(source, score.UseTargets))(t)
	if err := scored.Each(context.Background(), func(rows *score.Rows) error {
		for i := range rows.Len() {
			visit(rows, i)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-10*(1+math.Abs(b)) }

// The metrics are the sums that they are defined by, over the predictions of the rows.
func TestEvaluateByHand(t *testing.T) {
	all := houses(600) // more than a block
	model := fitted(t, all[:90], fit.Options{Formula: "Price ~ Size + Rooms", Engine: "exact(hyper=mode)"})
	e := must.Value(score.Evaluate(context.Background(), scorer(t, model), structs(t, all)))(t)
	var square, density, inside float64
	each(t, model, structs(t, all), func(rows *score.Rows, i int) {
		y, p := rows.Target(i), rows.Predict(i)
		square += (y - p.Mean) * (y - p.Mean)
		density += rows.LogDensity(i, y)
		z := (y - p.Mean) / p.SD // at one point of its hyper-parameters a Gaussian family predicts normal distributions
		if normal := -0.5*z*z - math.Log(p.SD) - 0.5*math.Log(2*math.Pi); !near(rows.LogDensity(i, y), normal) {
			t.Fatalf("log density %v of a normal distribution, want %v", rows.LogDensity(i, y), normal)
		}
		if p.Lower <= y && y <= p.Upper {
			inside++
		}
	})
	n := float64(len(all))
	if e.Rows != int64(n) || !near(float64(e.RMSE), math.Sqrt(square/n)) || !near(float64(e.NLPD), -density/n) || !near(e.Coverage["0.9"], inside/n) {
		t.Errorf("%+v; want rmse %v, nlpd %v, coverage %v", e.RegressionResult, math.Sqrt(square/n), -density/n, inside/n)
	}
}

// Rows of weight above 0 whose CRPS is beyond what is known of them are counted, and leave the whole without one: an
// evaluation and a comparison say so.
func TestEvaluateWithoutCRPS(t *testing.T) {
	type count struct{ X, N, W float64 }
	model := fitted(t, []count{{0, 1, 1}, {0.01, 2, 1}}, fit.Options{Formula: "N ~ X + weight(W)", Family: "poisson", Prior: "normal(variance=200)", Raw: true})
	for unknown, rows := range [][]count{
		{{0, 1, 1}, {0.01, 2, 1}},
		{{0, 1, 1}, {1, 2, 1}, {-1, 2, 0}},
		{{0, 1, 1}, {1, 2, 3}, {-1, 2, 1}},
	} {
		source := structs(t, rows)
		e := must.Value(score.Evaluate(context.Background(), scorer(t, model), source))(t)
		c := must.Value(score.Compare(gather(t, "a", model, source)))(t)
		said := slices.ContainsFunc(c.Warnings, func(w string) bool {
			return strings.HasPrefix(w, "a has no crps: in "+fmt.Sprint(unknown)+" row")
		})
		if e.CRPSUnknown != int64(unknown) || (e.CRPS == nil) != (unknown > 0) || c.Models[0].CRPS.Defined() != (unknown == 0) || said != (unknown > 0) {
			t.Errorf("%d rows of counts hardly known: %d are told, crps %v, compared %v: %q", unknown, e.CRPSUnknown, e.CRPS, c.Models[0].CRPS, c.Warnings)
		}
	}
}

// Rows that are not scored, every other of many, are none whose CRPS is unknown; and each group counts its own.
func TestUnknownCRPSIsCounted(t *testing.T) {
	type count struct {
		X, N float64
		G    string
	}
	var many []count
	for i := range 100 {
		many = append(many, count{float64(i%5) / 10, float64(i % 4), "a"})
	}
	model := fitted(t, many[:60], fit.Options{Formula: "N ~ X", Family: "poisson"})
	scores := score.NewScores("a", model)
	scores.Expect(20_000)
	must.Succeed(t, must.Value(scorer(t, model).Table(structs(t, many), score.RequireTargets))(t).Each(t.Context(), scores.Add))
	if c := must.Value(score.Compare(scores))(t); len(c.Warnings) > 0 || !c.Models[0].CRPS.Defined() {
		t.Errorf("crps %v of some of the rows: %q", c.Models[0].CRPS, c.Warnings)
	}
	wide := fitted(t, []count{{0, 1, ""}, {0.01, 2, ""}}, fit.Options{Formula: "N ~ X", Family: "poisson", Prior: "normal(variance=200)", Raw: true})
	rows := []count{{0, 1, "near"}, {0.01, 2, "near"}, {1, 2, "far"}}
	table := must.Value(scorer(t, wide).Table(structs(t, rows), score.RequireTargets))(t)
	e := score.NewEvaluation(wide)
	e.By([]string{"G"}, func(r *score.Rows, i int) ([]string, error) { return []string{rows[r.SourceRow(i)].G}, nil })
	must.Succeed(t, table.Each(t.Context(), e.Add))
	got := must.Value(e.Result())(t)
	if len(got.Groups) != 2 || got.Groups[0].CRPSUnknown != 1 || got.Groups[1].CRPSUnknown != 0 || got.CRPSUnknown != 1 {
		t.Errorf("%d rows without crps, by group %+v", got.CRPSUnknown, got.Groups)
	}
}

// Members count by their weights: in the deviance of counts, whose variance is that of the mixture, and
// where one of them has no mean.
func TestEvaluateMembers(t *testing.T) {
	type counted struct{ X, N float64 }
	var all []counted
	for i := range 60 {
		all = append(all, counted{float64(i%7) - 3, float64(i * i % 5)})
	}
	source, few := structs(t, all), structs(t, all[:8])
	evaluate := func(model *credence.Fitted, source credence.Source, likelihoods ...credence.Likelihood) *metric.Evaluation {
		t.Helper()
		member := model.Members[0]
		model.Members = nil
		for k, l := range likelihoods {
			member.Model.Likelihood, member.Weight = l, []float64{0.25, 0.75, 0}[k]
			model.Members = append(model.Members, member)
		}
		e := must.Value(score.Evaluate(context.Background(), scorer(t, model), source))(t)
		return e
	}
	size := func(v float64) credence.Likelihood { return likelihood.NegativeBinomial{Size: param.Hold(v)} }
	model := fitted(t, source, fit.Options{Formula: "N ~ X", Family: "negbinomial(size=2)", Prior: "normal(variance=1)"})
	e := evaluate(model, source, size(1), size(4), size(1e-3))
	deviance := 0.0
	each(t, model, source, func(rows *score.Rows, i int) {
		mean, _ := rows.Moments(i)
		deviance += metric.NegativeBinomialDeviance(rows.Target(i), mean, 1/(0.25/1+0.75/4))
	})
	if !near(float64(e.Deviance), deviance) {
		t.Errorf("deviance %v, want %v", e.Deviance, deviance)
	}
	df := func(v float64) credence.Likelihood {
		return likelihood.StudentT{DegreesOfFreedom: param.Hold(v), Scale: param.Hold(1)}
	}
	model = fitted(t, source, fit.Options{Formula: "N ~ X", Family: "studentt(df=4, scale=1)", Prior: "normal(variance=1)"})
	if e := evaluate(model, few, df(4), df(3), df(0.5)); !e.RMSE.Defined() {
		t.Error("a member of no weight takes the mean")
	}
	if e := evaluate(model, few, df(0.5), df(4)); e.RMSE.Defined() {
		t.Error("there is a mean where a member has none")
	}
}

// Of two classes the positive one has the probability, and the other the rest.
func TestClasses(t *testing.T) {
	all := houses(80)
	model := fitted(t, all, fit.Options{Formula: "Zip ~ Size + Rooms", Positive: "b"})
	s := scorer(t, model)
	if classes := s.Classes(); len(classes) != 2 || classes[1] != "b" || !s.Binary() || s.Target() != "Zip" {
		t.Errorf("classes %q, binary %v, target %s", classes, s.Binary(), s.Target())
	}
	right := 0
	each(t, model, structs(t, all), func(rows *score.Rows, i int) {
		p := rows.Predict(i)
		probabilities := rows.Probabilities(nil, i)
		if p.Probability != p.Mean || probabilities[1] != p.Mean || !near(probabilities[0]+probabilities[1], 1) ||
			!near(rows.LogDensity(i, 1), math.Log(p.Mean)) || !near(p.SD*p.SD, p.Mean*(1-p.Mean)) {
			t.Fatalf("%+v, %v", p, probabilities)
		}
		if (p.Mean > 0.5) == (rows.Target(i) == 1) {
			right++
		}
		if (all[rows.SourceRow(i)].Zip == "b") != (rows.Target(i) == 1) {
			t.Fatalf("row %d has class %v", i, rows.Target(i))
		}
	})
	e, err := score.Evaluate(context.Background(), s, structs(t, all))
	if err != nil || e.Accuracy != metric.Score(float64(right)/80) {
		t.Errorf("accuracy %v, want %v/80; %v", e.Accuracy, right, err)
	}
}

// Grades are predicted in their own values, whatever numbers they are.
func TestGrades(t *testing.T) {
	type graded struct{ X, Y float64 }
	var all []graded
	for i := range 120 {
		x := float64(i*37%120) / 12
		all = append(all, graded{x, []float64{-10, 0, 30}[min(2, int(x/3.3+0.4*math.Sin(float64(i))))]})
	}
	rows, model := structs(t, all), (*credence.Fitted)(nil)
	model, err := fit.Table(context.Background(), rows, fit.Options{Formula: "Y ~ X", Family: "ordinal"})
	if err != nil {
		t.Fatal(err)
	}
	// A grade has a probability, which is nothing to compare with the density of a normal distribution.
	if e := must.Value(score.Evaluate(context.Background(), scorer(t, model), rows))(t); !math.IsNaN(float64(e.MSLL)) || !(e.NLPD > 0) {
		t.Errorf("grades have an nlpd of %v and an msll of %v, want no msll", e.NLPD, e.MSLL)
	}
	values := []float64{-10, 0, 30}
	each(t, model, rows, func(rows *score.Rows, i int) {
		total, mean, square := 0.0, 0.0, 0.0
		for k, p := range rows.Probabilities(nil, i) {
			total, mean, square = total+p, mean+p*values[k], square+p*values[k]*values[k]
			if d := rows.LogDensity(i, values[k]); !(math.Abs(math.Exp(d)-p) <= 1e-9) {
				t.Fatalf("grade %v has probability %v and density %v", values[k], p, math.Exp(d))
			}
		}
		p := rows.Predict(i)
		if !near(total, 1) || !near(p.Mean, mean) || !(math.Abs(p.SD*p.SD-(square-mean*mean)) <= 1e-9*square) || p.Probability != 0 {
			t.Fatalf("%+v, total %v, mean %v", p, total, mean)
		}
		if !math.IsInf(rows.LogDensity(i, 1), -1) {
			t.Fatal("1 is no grade, and has a density")
		}
		draw, err := rows.Sample(i, credence.Rand(1, credence.PredictSamples, uint64(i)))
		for _, v := range []float64{p.Lower, p.Upper, draw, rows.Target(i)} {
			if v != -10 && v != 0 && v != 30 || err != nil {
				t.Fatalf("%v is no grade; %v", v, err)
			}
		}
	})
}

// Weights on the data's own scale predict from the data as they stand, and the intercept has the
// standard deviation of f where every column is 0.
func TestTermsAreOnTheirOwnScale(t *testing.T) {
	model := fitted(t, houses(60), fit.Options{Formula: "Price ~ Size + Rooms + Zip"})
	weight := map[string]score.Term{}
	for _, term := range terms(t, model, score.TermOptions{}) {
		weight[term.Name] = term
		if !near(float64(term.Upper)-term.Mean, term.Mean-float64(term.Lower)) || !(float64(term.Upper) > term.Mean) || term.Inclusion != nil {
			t.Errorf("%+v", term)
		}
	}
	rows := structs(t, []house{{Size: 70, Rooms: 3, Zip: "b"}, {Zip: "c"}})
	want := []float64{70*weight["Size"].Mean + 3*weight["Rooms"].Mean + weight["Zip=b"].Mean, weight["Zip=c"].Mean}
	each(t, model, rows, func(rows *score.Rows, i int) {
		if mean, _ := rows.Latent(i); !near(mean, want[i]+weight["(intercept)"].Mean) {
			t.Errorf("row %d: f %v, want %v", i, mean, want[i]+weight["(intercept)"].Mean)
		}
	})
	alone := fitted(t, houses(60), fit.Options{Formula: "Price ~ Size + Rooms"})
	each(t, alone, structs(t, []house{{}}), func(rows *score.Rows, i int) {
		mean, variance := rows.Latent(i)
		for _, term := range terms(t, alone, score.TermOptions{Interval: 0.5}) {
			if term.Name == "(intercept)" && (!near(term.Mean, mean) || !near(float64(term.SD), math.Sqrt(variance))) {
				t.Errorf("intercept %+v, f at 0 has %v, %v", term, mean, math.Sqrt(variance))
			}
		}
	})
	if _, ok := score.Selected(model); ok {
		t.Error("weights that cannot be 0 are selected")
	}
}

// TestSelectedColumns: columns of a table are those that features selected are made of, whatever is made of them, and
// the target's, in the order of the table; a feature that is made of none is named.
func TestSelectedColumns(t *testing.T) {
	model := *fitted(t, houses(300), fit.Options{Formula: "Garden ~ log(Size) + poly(Rooms, 2) + Zip + Size:Zip + s(Size)", Family: "bernoulli(link=probit)"})
	schema := &credence.Schema{Columns: []credence.Column{{Name: "Zip"}, {Name: "Other"}, {Name: "Garden"}, {Name: "Rooms"}, {Name: "log(Size)"}, {Name: "Size"}}}
	if got, err := score.SelectedColumns(&model, schema); got != nil || err != nil {
		t.Errorf("columns %v of a model that is no selection's, %v", got, err)
	}
	all := terms(t, &model, score.TermOptions{})
	for name, want := range map[string][]string{
		"log(Size)": {"Garden", "Size"}, "Rooms^2": {"Garden", "Rooms"}, "Zip=b": {"Zip", "Garden"}, "Size:Zip=b": {"Zip", "Garden", "Size"}, "": {"Garden"},
		"Size bend 1": {"Garden", "Size"},
	} {
		result := &selection.Result{}
		for _, term := range all {
			result.Features = append(result.Features, selection.Feature{Block: term.Block, Name: term.Name, Selected: term.Name == name})
		}
		if model.Selection = result; len(result.Names()) != min(len(name), 1) {
			t.Errorf("%s is called %d times", name, len(result.Names()))
		}
		if got, err := score.SelectedColumns(&model, schema); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: columns %v, %v, want %v", name, got, err, want)
		}
	}
	model.Selection = &selection.Result{Features: []selection.Feature{{Block: all[0].Block, Name: all[0].Name, Selected: true}}}
	if got, err := score.SelectedColumns(&model, schema); err == nil || !strings.Contains(err.Error(), "the feature (intercept) is made of no column") {
		t.Errorf("columns %v, %v", got, err)
	}
	model.Selection.Features[0] = selection.Feature{Block: "linear", Name: "log(Size)", Selected: true}
	schema.Columns = schema.Columns[:5]
	if got, err := score.SelectedColumns(&model, schema); err == nil || !strings.Contains(err.Error(), "the feature log(Size) is made of no column") {
		t.Errorf("columns %v of a table without it, %v", got, err)
	}
}

// The selected weights are those with an inclusion above one half, the intercept aside.
func TestSelected(t *testing.T) {
	model := fitted(t, houses(300), fit.Options{Formula: "Garden ~ Size + Rooms + Zip", Family: "bernoulli(link=probit)", Prior: "spikeslab", Engine: "sep"})
	var want []string
	for _, term := range terms(t, model, score.TermOptions{}) {
		if (term.Inclusion == nil) != (term.Name == "(intercept)") {
			t.Fatalf("%+v: the weights but the intercept have an inclusion", term)
		}
		if term.Inclusion != nil && *term.Inclusion > 0.5 {
			want = append(want, term.Name)
		}
	}
	if got, ok := score.Selected(model); !ok || got != len(want) || !slices.Equal(score.SelectedNames(model), want) {
		t.Errorf("%d selected, %v, named %v; want %v", got, ok, score.SelectedNames(model), want)
	}
	sum := score.Summarise(model)
	if sum.Family != "bernoulli" || sum.Link != "probit" || sum.Draws != 0 || sum.Selected == nil || *sum.Selected != len(want) || sum.Above != 0.5 || sum.Rows != 300 {
		t.Errorf("%+v", sum)
	}
	sorted := terms(t, model, score.TermOptions{Sort: score.ByInclusion})
	for i, term := range sorted[2:] { // what has no inclusion is in, first
		if sorted[0].Inclusion != nil || *term.Inclusion > *sorted[i+1].Inclusion {
			t.Errorf("by inclusion: %+v", sorted)
		}
	}
}

// gather scores rows for a comparison.
// TestStuck: of a fit that tells no inclusion there is none in its terms, and nothing is selected.
func TestStuck(t *testing.T) {
	model := fitted(t, houses(60), fit.Options{Formula: "Price ~ Size + Rooms", Prior: "spikeslab", Engine: "ep"})
	told := func() (count, selected int) {
		for _, term := range must.Value(score.Terms(model, score.TermOptions{}))(t) {
			if term.Inclusion != nil {
				count++
			}
		}
		selected, selects := score.Selected(model)
		if !selects || selected != len(score.SelectedNames(model)) {
			t.Errorf("%d selected: %v", selected, score.SelectedNames(model))
		}
		return count, selected
	}
	if count, selected := told(); count != 2 || selected == 0 {
		t.Errorf("%d inclusions, %d selected", count, selected)
	}
	model.Report.Stuck = true
	if count, selected := told(); count != 0 || selected != 0 {
		t.Errorf("stuck: %d inclusions, %d selected", count, selected)
	}
}

func gather(t *testing.T, name string, model *credence.Fitted, source credence.Source) *score.Scores {
	t.Helper()
	scored := must.Value(scorer(t, model).Table(source, score.RequireTargets))(t)
	scores := score.NewScores(name, model)
	must.Succeed(t, scored.Each(context.Background(), scores.Add))
	return scores
}

// Of many rows the CRPS is that of evenly spread ones, counted over all blocks.
func TestCompareSpreadsRows(t *testing.T) {
	type row struct{ X, Y float64 }
	var rows []row
	for i := range 1500 {
		x := math.Sin(float64(i * i))
		rows = append(rows, row{x, 2*x + math.Cos(float64(3*i*i))})
	}
	source := structs(t, rows)
	model := fitted(t, source, fit.Options{Formula: "Y ~ X"})
	sum, count := 0.0, 0.0
	each(t, model, source, func(rows *score.Rows, i int) {
		if rows.SourceRow(i)%3 == 0 {
			sum, count = sum+rows.CRPS(i, rows.Target(i)), count+1
		}
	})
	spread := score.NewScores("a", model)
	spread.Expect(25_000) // of which each third is near ten thousand
	must.Succeed(t, must.Value(scorer(t, model).Table(source, score.RequireTargets))(t).Each(context.Background(), spread.Add))
	if got := must.Value(score.Compare(spread))(t).Models[0].CRPS; count != 500 || !near(float64(got), sum/count) {
		t.Errorf("crps %v, want %v of %v rows", got, sum/count, count)
	}
}

// Gains are differences of log densities over rows, with the standard error of their mean, over rows or groups of
// them; a row of weight 2 is the row twice.
func TestCompareByHand(t *testing.T) {
	type weighed struct{ X, Z, Y, W float64 }
	var all, twice []weighed
	for i := range 50 {
		r := weighed{float64(i % 7), float64(i % 5), float64(2*(i%7)+i%5) + math.Sin(float64(i)), float64(1 + i%2)}
		all = append(all, r)
		for range int(r.W) {
			r.W = 1
			twice = append(twice, r)
		}
	}
	source := structs(t, all)
	small := fitted(t, source, fit.Options{Formula: "Y ~ X + weight(W)"})
	large := fitted(t, source, fit.Options{Formula: "Y ~ X + Z + weight(W)"})
	c, err := score.Compare(gather(t, "small", small, source), gather(t, "large", large, source))
	if err != nil || c.Rows != 50 || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "these are the rows that small was fitted to") {
		t.Fatalf("%+v, %v", c, err)
	}
	d := must.Value(score.Compare(gather(t, "small", small, structs(t, twice)), gather(t, "large", large, structs(t, twice))))(t)
	var density, mean, deviation [2][]float64
	for k, model := range []*credence.Fitted{small, large} {
		each(t, model, structs(t, twice), func(rows *score.Rows, i int) {
			m, v := rows.Moments(i)
			density[k], mean[k], deviation[k] = append(density[k], rows.LogDensity(i, rows.Target(i))), append(mean[k], m), append(deviation[k], math.Sqrt(v))
		})
	}
	n, gain, square, nlpd, wrong, apart, ratio := float64(len(twice)), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
	for i, r := range twice {
		gap := density[1][i] - density[0][i]
		gain, square, nlpd = gain+gap/n, square+gap*gap/n, nlpd-density[1][i]/n
		wrong += (r.Y - mean[1][i]) * (r.Y - mean[1][i]) / n
		apart += (mean[0][i] - mean[1][i]) * (mean[0][i] - mean[1][i]) / n
		ratio += math.Log(deviation[1][i]/deviation[0][i]) / n
	}
	got := d.Models[1]
	for what, figure := range map[string][2]float64{"nlpd": {float64(got.NLPD), nlpd}, "rmse": {float64(got.RMSE), math.Sqrt(wrong)}, "apart": {float64(got.MeanDifference), math.Sqrt(apart)}, "ratio": {float64(got.SDRatio), math.Exp(ratio)}} {
		if !near(figure[0], figure[1]) {
			t.Errorf("%s is %v, want %v", what, figure[0], figure[1])
		}
	}
	// In groups the standard error is that of the groups' sums.
	const groups = 6
	var sums, own [groups]float64
	for i := range twice {
		sums[i%groups] += density[1][i] - density[0][i] - gain
		own[i%groups] += -density[1][i] - nlpd
	}
	squares, ownSquares := 0.0, 0.0
	for g := range groups {
		squares, ownSquares = squares+sums[g]*sums[g], ownSquares+own[g]*own[g]
	}
	left := []*score.Scores{gather(t, "small", small, structs(t, twice)), gather(t, "large", large, structs(t, twice))}
	for _, s := range left {
		s.LeftOut(func(row int) int { return row % groups })
	}
	clustered, wide := must.Value(score.Compare(left...))(t).Models[1], float64(groups)/(groups-1)
	if value, standardError := left[1].NLPD(); !near(float64(clustered.GainError), math.Sqrt(squares*wide)/n) || !near(float64(value), nlpd) || !near(float64(standardError), math.Sqrt(ownSquares*wide)/n) {
		t.Errorf("of groups %+v, %v ± %v; want ± %v and ± %v", clustered, value, standardError, math.Sqrt(squares*wide)/n, math.Sqrt(ownSquares*wide)/n)
	}
	if !near(float64(got.Gain), gain) || !(math.Abs(float64(got.GainError)-math.Sqrt((square-gain*gain)/n)) <= 1e-9) || d.Models[0].Gain != 0 || d.Models[0].SDRatio != 1 {
		t.Errorf("%+v; want gain %v ± %v", got, gain, math.Sqrt((square-gain*gain)/n))
	}
	for _, figure := range [][2]metric.Score{{got.Gain, c.Models[1].Gain}, {got.NLPD, c.Models[1].NLPD}, {got.RMSE, c.Models[1].RMSE}, {got.MeanDifference, c.Models[1].MeanDifference}, {got.SDRatio, c.Models[1].SDRatio}, {got.GainError, c.Models[1].GainError}} {
		if !near(float64(figure[0]), float64(figure[1])) {
			t.Errorf("rows written twice have %v, rows of weight 2 %v", figure[0], figure[1])
		}
	}
}

// What cannot be compared is refused, and what can be misread is warned about.
func TestCompareRefusals(t *testing.T) {
	all := houses(40)
	source := structs(t, all)
	price := gather(t, "price", fitted(t, all, fit.Options{Formula: "Price ~ Size"}), source)
	square := gather(t, "square", fitted(t, all, fit.Options{Formula: "square(Price) ~ Size"}), source)
	if _, err := score.Compare(price, square); err == nil || !strings.Contains(err.Error(), "price predicts Price and square predicts square(Price)") {
		t.Errorf("%v", err)
	}
	if _, err := score.Compare(price, gather(t, "fewer", fitted(t, all, fit.Options{Formula: "Price ~ Rooms"}), structs(t, all[:30]))); err == nil || !strings.Contains(err.Error(), "leave out different rows") {
		t.Errorf("%v", err)
	}
	other := gather(t, "other", fitted(t, all, fit.Options{Formula: "Zip ~ Size", Positive: "a"}), source)
	if _, err := score.Compare(gather(t, "b", fitted(t, all, fit.Options{Formula: "Zip ~ Size", Positive: "b"}), source), other); err == nil || !strings.Contains(err.Error(), "read target Zip differently (row 1 is 0 for the one and 1 for the other)") {
		t.Errorf("%v", err)
	}
	rooms := gather(t, "normal", fitted(t, all, fit.Options{Formula: "Rooms ~ Size"}), source)
	counts := gather(t, "counts", fitted(t, all[:35], fit.Options{Formula: "Rooms ~ Size", Family: "poisson"}), source)
	c, err := score.Compare(rooms, counts)
	if err != nil || !strings.Contains(c.Warnings[0], "counts gives probabilities of whole numbers and normal densities, and neither ranks beside the other") {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestCompareWithinKinds: of models that give densities and models that give probabilities, each has the figures that
// it has among its own.
func TestCompareWithinKinds(t *testing.T) {
	all := houses(40)
	source := structs(t, all)
	var densities, probabilities, mixed []*score.Scores
	for k, o := range []fit.Options{{Formula: "Rooms ~ Size"}, {Formula: "Rooms ~ Size", Family: "poisson"}, {Formula: "Rooms ~ Size + Price"}, {Formula: "Rooms ~ Size + Price", Family: "poisson"}} {
		s := gather(t, fmt.Sprint("m", k), fitted(t, all, o), source)
		mixed = append(mixed, s)
		if o.Family == "" {
			densities = append(densities, s)
		} else {
			probabilities = append(probabilities, s)
		}
	}
	together := must.Value(score.Compare(mixed...))(t).Models
	for first, apart := range map[int][]*score.Scores{0: densities, 1: probabilities} {
		for k, want := range must.Value(score.Compare(apart...))(t).Models {
			got := together[first+2*k]
			if got.Model != want.Model || got.Kind != want.Kind || got.Gain != want.Gain || got.GainError != want.GainError || got.MeanDifference != want.MeanDifference || got.SDRatio != want.SDRatio || (got.Evidence == nil) != (want.Evidence == nil) {
				t.Errorf("%+v, apart %+v", got, want)
			}
			if k == 1 && got.Gain == 0 {
				t.Errorf("%s gains nothing", got.Model)
			}
		}
	}
}

// Options that a model cannot have are refused.
func TestOptions(t *testing.T) {
	model := fitted(t, houses(40), fit.Options{Formula: "Price ~ Size + Zip"})
	for _, c := range []struct {
		options score.Options
		want    string
	}{
		{score.Options{Interval: 1.5}, "interval 1.5 is not a probability between 0 and 1"},
		{score.Options{Interval: -1}, "is not a probability"},
		{score.Options{Missing: "indicator"}, "the model has no indicators of missing values"},
		{score.Options{Missing: "median"}, "use error, mean, indicator or drop"},
		{score.Options{Unseen: "guess"}, "use error or prior"},
	} {
		if _, err := score.New(model, c.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.options, err, c.want)
		}
	}
	for _, broken := range []*credence.Fitted{{}, {Members: model.Members}} {
		if _, err := score.New(broken, score.Options{}); err == nil {
			t.Errorf("%+v is scored", broken)
		}
	}
	lenient := must.Value(score.New(model, score.Options{Missing: "mean", Unseen: "prior"}))(t)
	bound := must.Value(score.Bind[map[string]any](lenient))(t)
	filled, err := bound.Score(map[string]any{"Size": nil, "Zip": "a"})
	mean := 0.0
	for _, h := range houses(40) {
		mean += h.Size / 40
	}
	want, errWant := bound.Score(map[string]any{"Size": mean, "Zip": "a"})
	if err != nil || errWant != nil || !near(filled.Mean, want.Mean) {
		t.Errorf("a missing size predicts %v, the mean %v; %v, %v", filled, want, err, errWant)
	}
	if p, err := bound.Score(map[string]any{"Size": 70, "Zip": "never seen"}); err != nil || p.SD == 0 {
		t.Errorf("%v, %v", p, err)
	}
}

// TestBaselinesByHand: what predictions without columns come to is, for densities, a normal curve with the targets' own
// moments, and for probabilities their own shares, of rows by their weights, at a fit, an evaluation and a comparison.
// The target may be the first column.
func TestBaselinesByHand(t *testing.T) {
	type row struct {
		Y, X, W float64
		Yes     bool
	}
	var all []row
	total, mean, square, yes := 0.0, 0.0, 0.0, 0.0
	counts := map[float64]float64{}
	for i := range 60 {
		r := row{Y: float64((i*i + 2*i/7) % 6), X: float64(i%7) + math.Sin(float64(i)), W: float64(1 + i%3)}
		if r.Yes = i*i%5 > 1; r.Yes {
			yes += r.W
		}
		all = append(all, r)
		total, mean, square, counts[r.Y] = total+r.W, mean+r.W*r.Y, square+r.W*r.Y*r.Y, counts[r.Y]+r.W
	}
	variance := square/total - mean/total*(mean/total)
	entropy := func(shares ...float64) (sum float64) {
		for _, p := range shares {
			sum -= p * math.Log(p)
		}
		return sum
	}
	var shares []float64
	for _, count := range counts {
		shares = append(shares, count/total)
	}
	source, normal := structs(t, all), math.Log(2*math.Pi*math.E*variance)/2
	for _, c := range []struct {
		formula, family, kind string
		fit, nlpd, rmse       float64 // NaN where a fit does not tell it
	}{
		{"Y ~ X + weight(W)", "", score.Densities, normal, normal, math.Sqrt(variance)},
		{"Y ~ X + weight(W)", "poisson", score.Probabilities, math.NaN(), entropy(shares...), math.Sqrt(variance)},
		{"Yes ~ X + weight(W)", "", score.Probabilities, entropy(yes/total, 1-yes/total), entropy(yes/total, 1-yes/total), math.Sqrt(yes / total * (1 - yes/total))},
	} {
		model := fitted(t, source, fit.Options{Formula: c.formula, Family: c.family})
		each(t, model, source, func(rows *score.Rows, i int) { // under UseTargets
			if y := rows.Target(i); y != all[i].Y && c.formula[0:2] == "Y " {
				t.Fatalf("row %d has the target %v, want %v", i, y, all[i].Y)
			}
		})
		e := must.Value(score.Evaluate(t.Context(), scorer(t, model), source))(t)
		compared := must.Value(score.Compare(gather(t, "a", model, source)))(t).Baselines
		if len(compared) != 1 {
			t.Fatalf("%s: %+v", c.formula, compared)
		}
		for where, b := range map[string]*score.Baseline{"fit": score.Summarise(model).Baseline, "evaluate": score.EvaluatedBaseline(model, e), "compare": &compared[0]} {
			nlpd := c.nlpd
			if where != "compare" && math.IsNaN(c.fit) {
				nlpd = math.NaN()
			}
			if b == nil || b.Kind != c.kind || !near(float64(b.RMSE), c.rmse) || !near(float64(b.NLPD), nlpd) && !(math.IsNaN(nlpd) && !b.NLPD.Defined()) {
				t.Errorf("%s %s: %s has %+v, want nlpd %v and rmse %v", c.formula, c.family, where, b, nlpd, c.rmse)
			}
		}
	}
}

// TestRawBesideScaled: of two models it is the one that was fitted with --raw that is said to be, first or second.
func TestRawBesideScaled(t *testing.T) {
	all := houses(60)
	source := structs(t, all)
	raw, scaled := fitted(t, all, fit.Options{Formula: "Price ~ Size", Raw: true}), fitted(t, all, fit.Options{Formula: "Price ~ Size"})
	c := must.Value(score.Compare(gather(t, "first", raw, source), gather(t, "second", scaled, source)))(t)
	if warnings := strings.Join(c.Warnings, "\n"); !strings.Contains(warnings, "first was fitted with --raw and second to scaled columns") {
		t.Errorf("warnings %q", warnings)
	}
}
