package fit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// patients are rows of 20 patients with a number, a level, a date, a target with an effect of the patient, a count and
// a class.
func patients(t *testing.T, n int) credence.Source {
	rng := rand.New(rand.NewPCG(3, 5))
	var x, z, days, y, counts, effects, holes []float64
	var who, sex, class []string
	for range 20 {
		effects = append(effects, rng.NormFloat64())
	}
	for i := range n {
		p := rng.IntN(20)
		who, sex, days = append(who, fmt.Sprint("p", p)), append(sex, []string{"f", "m"}[i%2]), append(days, float64(i/3))
		x, z = append(x, 3+2*rng.NormFloat64()), append(z, rng.NormFloat64())
		f := 0.5*x[i] - 0.4*z[i] + effects[p]
		y, counts = append(y, f+0.5*rng.NormFloat64()), append(counts, math.Floor(math.Exp(0.3*f)))
		class = append(class, map[bool]string{true: "ill", false: "well"}[f+rng.NormFloat64() > 2.5])
		if holes = append(holes, x[i]); i%9 == 4 {
			holes[i] = math.NaN()
		}
	}
	return must.Value(table.New().Numbers("x", x).Numbers("z", z).Numbers("day", days).Numbers("y", y).Numbers("n", counts).Numbers("h", holes).
		Categories("who", who).Categories("sex", sex).Categories("ill", class).Source())(t)
}

func bytesOf(t *testing.T, model *credence.Fitted) []byte {
	t.Helper()
	var out bytes.Buffer
	must.Succeed(t, modelfile.Write(&out, model, modelfile.DefaultParts()))
	return out.Bytes()
}

// TestAgain: a model fitted again by what its file holds is the model, to the byte.
func TestAgain(t *testing.T) {
	ctx, rows := context.Background(), patients(t, 120)
	for name, o := range map[string]fit.Options{
		"chosen":   {Formula: "y ~ x + z + sex"},
		"missing":  {Formula: "y ~ h + square(z) + sex", Missing: "indicator", Unseen: "prior", DropTarget: true, Seed: 9},
		"positive": {Formula: "ill ~ x + sex", Positive: "well", Raw: true, Prior: "normal(ard=true)"},
		"kernel":   {Formula: "y ~ z + rbf(x)", Seed: 2},
		"counts":   {Formula: "n ~ x + sex", Family: "negbinomial", Engine: "svi(covariance=diagonal)"},
		"lasso":    {Formula: "y ~ x + z + day", Engine: "lasso"},
		"odds":     {Formula: "y ~ x + z + day", Prior: "spikeslab", PriorOdds: []fit.Odds{{Feature: "z", Odds: 0.01}, {Feature: "day", Odds: 0.2}}},
	} {
		model := must.Value(fit.Table(ctx, rows, o))(t)
		file := bytesOf(t, model)
		stored := must.Value(modelfile.Read(bytes.NewReader(file), int64(len(file)), modelfile.DefaultParts()))(t)
		job := must.Value(fit.Again(stored, fit.Options{Threads: 1}))(t)
		needs := map[string]bool{}
		for _, c := range must.Value(job.Columns(rows.Schema()))(t) {
			needs[c] = true
		}
		if needs["who"] || !needs["x"] && !needs["h"] {
			t.Errorf("%s needs %v", name, needs)
		}
		if again := must.Value(job.Fit(ctx, rows))(t); !bytes.Equal(file, bytesOf(t, again)) {
			t.Errorf("%s: the model fitted again is another: %+v and %+v", name, model.Recipe, again.Recipe)
		}
	}
	some := must.Value(table.New().Numbers("x", []float64{1, 2, 4}).Numbers("y", []float64{1, 3, 2}).Source())(t)
	model := must.Value(fit.Table(ctx, some, fit.Options{Formula: "y ~ ."}))(t)
	more := must.Value(table.New().Numbers("x", []float64{1, 2, 4}).Numbers("y", []float64{1, 3, 2}).Numbers("who", []float64{4, 2, 1}).Source())(t)
	if _, err := must.Value(fit.Again(model, fit.Options{}))(t).Fit(ctx, more); err == nil || !strings.Contains(err.Error(), `not fitted to column "who"`) {
		t.Error(err)
	}
}

// TestAgainDrawsNoMore: frequencies that were fewer than asked for, so that a chosen engine has a full covariance, are
// so again, and the doubling of others begins anew.
func TestAgainDrawsNoMore(t *testing.T) {
	ctx, rows := context.Background(), patients(t, 120)
	model := must.Value(fit.Table(ctx, rows, fit.Options{Formula: "n ~ x + z + day", Family: "poisson", Engine: "laplace"}))(t)
	for formula, doubled := range map[string]float64{"n ~ rbf(x, z, n=500) + rbf(z, day, n=500) + rbf(x, day, n=500)": 1, "n ~ rbf(z)": 2} {
		first := must.Value(must.Value(fit.New(fit.Options{Formula: formula, Family: "poisson"}))(t).Prepare(ctx, rows))(t).Frequencies()
		model.Recipe.Formula, model.Recipe.Engine, model.Report.Frequencies = formula, "svi(covariance=full)", nil
		for _, d := range first {
			model.Report.Frequencies = append(model.Report.Frequencies, credence.Value{Name: d.Term, Value: float64(d.Count) * doubled})
		}
		again := must.Value(must.Value(fit.Again(model, fit.Options{}))(t).Prepare(ctx, rows))(t)
		if got := again.Frequencies(); fmt.Sprint(got) != fmt.Sprint(first) || first[0].Count >= 500 || again.Model().Features.Weights() > 2001 {
			t.Errorf("%+v, and first %+v: %d weights", got, first, again.Model().Features.Weights())
		}
	}
}

// leftOut returns the scores of the rows left out of refits, and their log densities by row, NaN for those never left
// out.
func leftOut(t *testing.T, model *credence.Fitted, rows credence.Source, how fit.FoldOptions) (*score.Scores, *fit.Folds, []float64) {
	t.Helper()
	again := must.Value(must.Value(fit.Again(model, fit.Options{Threads: 1}))(t).Prepare(context.Background(), rows))(t)
	folds := must.Value(again.Folds(context.Background(), how))(t)
	scores, densities := score.NewScores("m", model), make([]float64, rows.Rows())
	for i := range densities {
		densities[i] = math.NaN()
	}
	must.Succeed(t, again.HeldOut(context.Background(), folds, func(r *score.Rows) error {
		for i := range r.Len() {
			densities[r.SourceRow(i)] = r.LogDensity(i, r.Target(i))
		}
		return scores.Add(r)
	}))
	if scores.LeftOut(nil); how.Group != "" {
		scores.LeftOut(folds.GroupOf)
	}
	return scores, folds, densities
}

// TestFoldsHaveNoCheckpoint: fits without a fold neither go on from the checkpoint of a fit nor write it.
func TestFoldsHaveNoCheckpoint(t *testing.T) {
	ctx, rows := context.Background(), patients(t, 60)
	densities := func(checkpoint string) (list []float64) {
		p := must.Value(must.Value(fit.New(fit.Options{Formula: "y ~ x + z", Prior: "spikeslab", Engine: "ep", Checkpoint: checkpoint}))(t).Prepare(ctx, rows))(t)
		must.Value(p.Fit(ctx))(t)
		folds := must.Value(p.Folds(ctx, fit.FoldOptions{Folds: 3}))(t)
		must.Succeed(t, p.HeldOut(ctx, folds, func(r *score.Rows) error {
			for i := range r.Len() {
				list = append(list, r.LogDensity(i, r.Target(i)))
			}
			return nil
		}))
		return list
	}
	if got, want := densities(filepath.Join(t.TempDir(), "checkpoint")), densities(""); !slices.Equal(got, want) {
		t.Errorf("%v with a checkpoint, %v without", got, want)
	}
}

// TestHeldOutIsCheck: the log density of a selection's check is that of refits with its seed.
func TestHeldOutIsCheck(t *testing.T) {
	rows := patients(t, 60)
	model := must.Value(fit.Select(context.Background(), rows, fit.Options{Formula: "y ~ x + z + day + n", Engine: "ep", Seed: 4}, selection.Options{Check: 6, Path: selection.PathNever}))(t)
	scores, _, _ := leftOut(t, model, rows, fit.FoldOptions{Folds: 6, Seed: 4})
	nlpd, _ := scores.NLPD()
	if want := *model.Selection.Check.Engines[0].LogDensity; !(math.Abs(float64(nlpd)+want) <= 1e-12) {
		t.Errorf("nlpd %v, the check has %v", nlpd, want)
	}
}

// TestPairedErrors: the difference of two models and its standard error over groups, from the densities of rows; the
// errors of rows that go together are larger than those of rows by themselves.
func TestPairedErrors(t *testing.T) {
	ctx, rows := context.Background(), patients(t, 240)
	first := must.Value(fit.Table(ctx, rows, fit.Options{Formula: "y ~ x + z"}))(t)
	second := must.Value(fit.Table(ctx, rows, fit.Options{Formula: "y ~ z", Family: "studentt"}))(t)
	how := fit.FoldOptions{Folds: 5, Group: "who", Seed: 1}
	a, folds, p := leftOut(t, first, rows, how)
	b, _, q := leftOut(t, second, rows, how)
	result := must.Value(score.Compare(a, b))(t)
	sum, groups, n := 0.0, map[int]float64{}, float64(rows.Rows())
	for i := range p {
		sum += q[i] - p[i]
	}
	for i := range p {
		groups[folds.GroupOf(i)] += q[i] - p[i] - sum/n
	}
	squares := 0.0
	for _, s := range groups {
		squares += s * s
	}
	want, g := math.Sqrt(squares*float64(len(groups))/float64(len(groups)-1))/n, &result.Models[1]
	if folds.Groups != 20 || len(groups) != 20 || !(math.Abs(float64(g.Gain)-sum/n) <= 1e-12) || !(math.Abs(float64(g.GainError)-want) <= 1e-12) {
		t.Errorf("gain %v ± %v, %v ± %v by rows of %d groups", g.Gain, g.GainError, sum/n, want, len(groups))
	}
	_, over := a.NLPD()
	a.LeftOut(nil)
	if _, alone := a.NLPD(); !(over > 1.3*alone) { // 12 rows share an effect that has most of the variance
		t.Errorf("standard error %v over groups, %v over rows", over, alone)
	}
	for _, w := range result.Warnings {
		if strings.Contains(w, "--loo") {
			t.Errorf("rows left out are taken for those of the fit: %s", w)
		}
	}
}

// TestScalingOfAllRows: columns are scaled by all rows, those left out among them.
func TestScalingOfAllRows(t *testing.T) {
	ctx, rows := context.Background(), patients(t, 60)
	var chunk credence.Chunk
	must.Succeed(t, rows.Read(&chunk, 0, 60))
	var x, y []float64
	mean, squares := 0.0, 0.0
	for i := range 60 {
		v := chunk.Values.Row(i)[0]
		x, y = append(x, v), append(y, chunk.Values.Row(i)[3])
		mean += v / 60
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean) / 60
	}
	for i := range x {
		x[i] = (x[i] - mean) / math.Sqrt(squares)
	}
	scaled := must.Value(table.New().Numbers("x", x).Numbers("y", y).Source())(t)
	o := fit.Options{Formula: "y ~ x", Prior: "normal(variance=0.01)"}
	_, _, p := leftOut(t, must.Value(fit.Table(ctx, rows, o))(t), rows, fit.FoldOptions{Folds: 3})
	o.Raw = true
	_, _, q := leftOut(t, must.Value(fit.Table(ctx, scaled, o))(t), scaled, fit.FoldOptions{Folds: 3})
	for i := range p {
		if !(math.Abs(p[i]-q[i]) <= 1e-9) {
			t.Fatalf("row %d has log density %v, of a column scaled before %v", i+1, p[i], q[i])
		}
	}
}

// TestDroppedRows: rows that the model leaves out are in no fold, and say nothing, wherever they stand.
func TestDroppedRows(t *testing.T) {
	ctx, rows := context.Background(), patients(t, 60)
	var chunk credence.Chunk
	must.Succeed(t, rows.Read(&chunk, 0, 60))
	columns, whole := make([][]float64, 3), []int{}
	for i := range 60 {
		row := chunk.Values.Row(i) // h, y and who
		if row[5] == row[5] {
			whole = append(whole, i)
			for j, v := range []float64{row[5], row[3], row[6]} {
				columns[j] = append(columns[j], v)
			}
		}
	}
	few := must.Value(table.New().Numbers("h", columns[0]).Numbers("y", columns[1]).Numbers("who", columns[2]).Source())(t)
	o := fit.Options{Formula: "y ~ h", Missing: "drop"}
	for _, how := range []fit.FoldOptions{{Folds: 4}, {Folds: 4, Group: "who"}, {Folds: 4, Time: "h"}} {
		scores, folds, p := leftOut(t, must.Value(fit.Table(ctx, rows, o))(t), rows, how)
		alone, _, q := leftOut(t, must.Value(fit.Table(ctx, few, o))(t), few, how)
		for k, i := range whole {
			if !(math.Abs(p[i]-q[k]) <= 1e-12) && (p[i] == p[i] || q[k] == q[k]) {
				t.Errorf("%+v: row %d has log density %v, %v in a table without rows that are left out", how, i, p[i], q[k])
			}
		}
		_, a := scores.NLPD()
		if _, b := alone.NLPD(); !(math.Abs(float64(a-b)) <= 1e-12) || len(whole) != 53 || p[4] == p[4] || how.Group != "" && folds.GroupOf(4) != -1 {
			t.Errorf("%+v: standard error %v and %v, %d rows, row 4 has %v", how, a, b, len(whole), p[4])
		}
	}
}

// TestGroupsOfClasses: groups of one class each are dealt so that each fold has as many of either, whatever the seed.
func TestGroupsOfClasses(t *testing.T) {
	ctx := context.Background()
	var x, who []float64
	var class []string
	for i := range 90 { // 18 patients, of whom every third is ill
		x, who, class = append(x, float64(i*i%13)), append(who, float64(i%18)), append(class, []string{"ill", "well", "well"}[i%3])
	}
	rows := must.Value(table.New().Numbers("x", x).Numbers("who", who).Categories("c", class).Source())(t)
	model := must.Value(fit.Table(ctx, rows, fit.Options{Formula: "c ~ x", Engine: "laplace"}))(t)
	again := must.Value(must.Value(fit.Again(model, fit.Options{}))(t).Prepare(ctx, rows))(t)
	for seed := range uint64(5) {
		folds := must.Value(again.Folds(ctx, fit.FoldOptions{Folds: 6, Group: "who", Seed: seed}))(t)
		must.Succeed(t, again.HeldOut(ctx, folds, func(r *score.Rows) error {
			ill, groups := 0.0, map[int]bool{}
			for i := range r.Len() {
				ill += (1 - r.Target(i)) / 5
				groups[folds.GroupOf(r.SourceRow(i))] = true
			}
			if len(groups) != 3 || r.Len() != 15 || !(math.Abs(ill-1) <= 1e-12) {
				return fmt.Errorf("seed %d: a fold has %d groups of %d rows, %v of them ill", seed, len(groups), r.Len(), ill)
			}
			return nil
		}))
	}
}

// TestTimes: no row is predicted from a later one, none of the first window is left out, and a share is that of the
// times, the last.
func TestTimes(t *testing.T) {
	rows := patients(t, 90) // 30 days of 3 rows
	model := must.Value(fit.Table(context.Background(), rows, fit.Options{Formula: "y ~ x"}))(t)
	for how, first := range map[fit.FoldOptions]int{{Folds: 4, Time: "day"}: 18, {Split: 0.2, Time: "day"}: 72} {
		_, _, p := leftOut(t, model, rows, how)
		for i := range p {
			if (p[i] == p[i]) != (i >= first) {
				t.Errorf("%+v: row %d has log density %v", how, i, p[i])
			}
		}
	}
	// What stands behind a window moves no density of it.
	var chunk credence.Chunk
	must.Succeed(t, rows.Read(&chunk, 0, 90))
	columns := make([][]float64, 3)
	for i := range 90 {
		row := chunk.Values.Row(i)
		for j, v := range []float64{row[2], row[3], row[0]} {
			columns[j] = append(columns[j], v)
		}
	}
	densities := func(late float64) []float64 {
		y := append(append([]float64{}, columns[1][:54]...), columns[1][54:]...)
		for i := 54; i < 90; i++ {
			y[i] += late
		}
		source := must.Value(table.New().Numbers("day", columns[0]).Numbers("y", y).Numbers("x", columns[2]).Source())(t)
		_, _, p := leftOut(t, must.Value(fit.Table(context.Background(), source, fit.Options{Formula: "y ~ x"}))(t), source, fit.FoldOptions{Folds: 4, Time: "day"})
		return p
	}
	a, b := densities(0), densities(5)
	for i := 18; i < 54; i++ {
		if !(math.Abs(a[i]-b[i]) <= 1e-9) {
			t.Errorf("row %d, of day %v, has log density %v, and %v where later targets differ", i, columns[0][i], a[i], b[i])
		}
	}
	if a[60] == b[60] {
		t.Error("targets say nothing")
	}
}

// TestFoldRefusals: what cannot be done says what can.
func TestFoldRefusals(t *testing.T) {
	ctx, rows := context.Background(), patients(t, 60)
	model := must.Value(fit.Table(ctx, rows, fit.Options{Formula: "y ~ x"}))(t)
	classes := must.Value(fit.Table(ctx, rows, fit.Options{Formula: "ill ~ x"}))(t)
	rare := must.Value(table.New().Numbers("x", []float64{1, 2, 3, 4, 5, 6, 7, 8}).Categories("c", []string{"u", "v", "u", "u", "v", "u", "u", "u"}).
		Numbers("day", []float64{1, 1, 2, 2, 3, 3, 4, math.NaN()}).Source())(t)
	few := must.Value(fit.Table(ctx, rare, fit.Options{Formula: "c ~ x"}))(t)
	late := must.Value(table.New().Numbers("x", []float64{1, 2, 3, 4, 5, 6}).Categories("c", []string{"u", "u", "v", "u", "v", "u"}).Source())(t)
	for _, c := range []struct {
		model  *credence.Fitted
		rows   credence.Source
		how    fit.FoldOptions
		misuse bool
		want   string
	}{
		{model, rows, fit.FoldOptions{}, true, "--cv 0: rows are left out in 2 folds or more: state for example 10"},
		{model, rows, fit.FoldOptions{Folds: -3}, true, "--cv -3"},
		{model, rows, fit.FoldOptions{Folds: 5, Split: 0.1}, true, "keep one of them"},
		{model, rows, fit.FoldOptions{Split: 1}, true, "--split 1 is not a share of the rows between 0 and 1"},
		{model, rows, fit.FoldOptions{Split: math.NaN()}, true, "state for example 0.2"},
		{model, rows, fit.FoldOptions{Folds: 5, Group: "who", Time: "day"}, true, "keep one of them"},
		{model, rows, fit.FoldOptions{Folds: 61}, false, "61 folds take 61 rows that have a weight or more, and there are 60: state fewer"},
		{model, rows, fit.FoldOptions{Folds: 21, Group: "who"}, false, "21 folds take 21 groups of who or more, and there are 18: state fewer"},
		{model, rows, fit.FoldOptions{Folds: 20, Time: "day"}, false, "20 folds take 21 different values of day or more, and there are 20: state fewer"},
		{model, rows, fit.FoldOptions{Split: 0.001}, false, "--split 0.001 leaves out no row: state another share"},
		{model, rows, fit.FoldOptions{Split: 0.999}, false, "--split 0.999 is predicted from no row"},
		{model, rows, fit.FoldOptions{Folds: 3, Group: "whom"}, false, `there is no column "whom" to leave rows out by: name one of the table`},
		{model, rows, fit.FoldOptions{Folds: 3, Time: "who"}, false, `column "who" is a category, and --time takes numbers or dates: declare it with --types who=date`},
		{few, rare, fit.FoldOptions{Folds: 3}, false, "fold 3 of 3 leaves out no row whose c is v: state fewer folds"},
		{few, rare, fit.FoldOptions{Folds: 3, Time: "day"}, false, `row 8: column "day" is empty`},
		{few, late, fit.FoldOptions{Folds: 2, Time: "x"}, false, "fold 1 of 2 is predicted from no row whose c is v"},
		{classes, rows, fit.FoldOptions{Folds: 19, Time: "day"}, false, "no row whose ill is"},
	} {
		again := must.Value(must.Value(fit.Again(c.model, fit.Options{}))(t).Prepare(ctx, c.rows))(t)
		folds, err := again.Folds(ctx, c.how)
		if err == nil || errors.Is(err, fit.ErrMisuse) != c.misuse || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, %+v", c.how, err, folds)
		}
	}
	partial, bare, online := *model, *model, *model
	partial.Recipe.Partial, bare.Recipe, online.Frame = true, credence.Recipe{}, &keyed.Frame{}
	for want, m := range map[string]*credence.Fitted{
		"--missing, --unseen, --positive, --raw, --types and --prior-odds: fit it again": &partial, "fit it by package fit": &bare, "learned online": &online,
	} {
		if _, err := fit.Again(m, fit.Options{}); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
	again := must.Value(must.Value(fit.Again(model, fit.Options{}))(t).Prepare(ctx, rows))(t)
	folds := must.Value(again.Folds(ctx, fit.FoldOptions{Folds: 5}))(t)
	none := func(*score.Rows) error { return nil }
	other := must.Value(must.Value(fit.Again(few, fit.Options{}))(t).Prepare(ctx, rare))(t)
	for want, err := range map[string]error{"there are no folds": again.HeldOut(ctx, nil, none), "deal them by": again.HeldOut(ctx, folds, nil),
		"the folds are of 60 rows and the table has 8": other.HeldOut(ctx, folds, none)} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	stopped, stop := context.WithCancel(ctx)
	fits := 0
	if err := again.HeldOut(stopped, folds, func(*score.Rows) error { fits++; stop(); return nil }); !errors.Is(err, context.Canceled) || fits != 1 {
		t.Errorf("stopped after %d fits: %v", fits, err)
	}
}
