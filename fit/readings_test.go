package fit_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// groupedRows are y, x, z and a category g of 8 levels.
func groupedRows(t *testing.T) credence.Source {
	var y, x, z []float64
	var g []string
	for i := range 120 {
		x, z = append(x, math.Sin(float64(3*i))), append(z, math.Cos(float64(i*i)))
		g = append(g, string(rune('a'+i%8)))
		y = append(y, x[i]*float64(i%8)/4+z[i]+math.Sin(float64(7*i*i)))
	}
	return must.Value(table.New().Numbers("y", y).Numbers("x", x).Numbers("z", z).Categories("g", g).Source())(t)
}

// TestCorrelationsOfColumns: so many correlations as the columns have, or one for all; another number is refused.
func TestCorrelationsOfColumns(t *testing.T) {
	rows := groupedRows(t)
	for text, fine := range map[string]bool{
		"y ~ x + (1 + x | g, cor=0.3)":                       true,
		"y ~ x + (1 + x | g, cor=[0.3, 0.1, 0.2])":           false,
		"y ~ x + (1 + x + z | g, cor=[.3, .1, .2])":          true,
		"y ~ x + (1 + x + z | g, cor=[.3, .1, .2, 0, 0, 0])": false,
		"y ~ x + (1 + x + z + x:z | g, cor=[.1, .2, .3])":    false,
	} {
		job := must.Value(fit.New(fit.Options{Formula: text, Family: "gaussian"}))(t)
		if _, err := job.Prepare(context.Background(), rows); (err == nil) != fine {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestHashAtTheMean: hash(g):x has a slope for every level, also where x is at its mean in all rows of one.
func TestHashAtTheMean(t *testing.T) {
	var y, x []float64
	var g []string
	for i := range 40 {
		x = append(x, []float64{1, 3, 2, 2}[i%4])
		g = append(g, []string{"a", "a", "b", "b"}[i%4])
		y = append(y, map[string]float64{"a": 1, "b": 5}[g[i]]*x[i]+0.01*math.Sin(float64(i*i)))
	}
	rows := must.Value(table.New().Numbers("y", y).Numbers("x", x).Categories("g", g).Source())(t)
	var means [2][]float64
	for k, text := range []string{"y ~ hash(g):x", "y ~ onehot(g):x"} {
		fitted := must.Value(fit.Table(context.Background(), rows, fit.Options{Formula: text, Family: "gaussian", Engine: "exact"}))(t)
		if d := fitted.Members[0].Model.Features.Weights(); d != 3 {
			t.Errorf("%s has %d weights, want 3", text, d)
		}
		data := must.Value(fitted.Frame.(*frame.Frame).Bind(rows, frame.IgnoreTargets))(t)
		var batch credence.Batch
		must.Succeed(t, data.Read(&batch, 0, data.Rows()))
		var of credence.Distribution
		must.Succeed(t, fitted.DistributionTo(credence.NewWorkspace(1), &of, &batch))
		for i := range batch.Rows() {
			mean, _ := of.Latent(i)
			means[k] = append(means[k], mean)
		}
	}
	for i := range means[0] {
		if gap := means[0][i] - means[1][i]; !(math.Abs(gap) < 1e-3) {
			t.Fatalf("row %d: f is %g with hash(g):x, and %g with onehot(g):x", i, means[0][i], means[1][i])
		}
	}
}

// TestOneHotBesideGroups: onehot(g) and (1 | g) "are one term, (1 | g)", under which another group is
// drawn from the law.
func TestOneHotBesideGroups(t *testing.T) {
	rows := groupedRows(t)
	fresh := must.Value(table.New().Numbers("x", []float64{0, 0}).Categories("g", []string{"a", "another"}).Source())(t)
	for _, text := range []string{"y ~ x + (1 | g)", "y ~ x + onehot(g) + (1 | g)"} {
		fitted := must.Value(fit.Table(context.Background(), rows, fit.Options{Formula: text, Family: "gaussian"}))(t)
		data := must.Value(fitted.Frame.(*frame.Frame).Bind(fresh, frame.IgnoreTargets))(t)
		var batch credence.Batch
		if err := data.Read(&batch, 0, 2); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestUnlabelledTargets: a target in backquotes is the column of that name, which the pool may lack.
func TestUnlabelledTargets(t *testing.T) {
	a, b, spam := make([]float64, 30), make([]float64, 30), make([]float64, 30)
	for i := range a {
		a[i], b[i], spam[i] = float64(i), float64(i*7%13), float64(i/3%2)
	}
	without := must.Value(table.New().Numbers("A", a).Numbers("B", b).Source())(t)
	with := must.Value(table.New().Numbers("A", a).Numbers("B", b).Numbers("is spam", spam).Source())(t)
	for text, rows := range map[string]credence.Source{"`is spam` ~ A + B": without, "`is spam` ~ .": with} {
		job := must.Value(fit.New(fit.Options{Formula: text, Family: "bernoulli", Prior: "normal(variance=1)", Engine: "convex"}))(t)
		fitted, err := job.Unlabelled(context.Background(), rows)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if d := fitted.Members[0].Model.Features.Weights(); d != 3 {
			t.Errorf("%s: %d weights, want those of the intercept, A and B", text, d)
		}
	}
}

// TestPathFamily: the path is of the family of the fit, also where the engine states it.
func TestPathFamily(t *testing.T) {
	b, y := table.New(), make([]float64, 200)
	columns := make([][]float64, 6)
	for i := range y {
		for j := range columns {
			columns[j] = append(columns[j], math.Sin(float64((i+1)*(j+2)*(j+3)))+math.Cos(float64(i*i+j)))
		}
		y[i] = 1 // classes 1 and 2
		if columns[0][i]-columns[1][i]+math.Sin(float64(i*i*i)) > 0 {
			y[i] = 2
		}
	}
	b.Numbers("y", y)
	for j, column := range columns {
		b.Numbers(string(rune('a'+j)), column)
	}
	rows := must.Value(b.Source())(t)
	var paths [2][]selection.Step
	for k, family := range []string{"", "bernoulli(link=probit)"} { // sep means this family by itself
		fitted, err := fit.Select(context.Background(), rows, fit.Options{Formula: "y ~ .", Family: family, Engine: "sep(passes=3)"}, selection.Options{Path: selection.PathAlways})
		if err != nil {
			var misuse *fit.Misuse
			t.Fatalf("%q: %v (%t)", family, err, errors.As(err, &misuse))
		}
		paths[k] = fitted.Selection.Path
	}
	if !reflect.DeepEqual(paths[0], paths[1]) {
		t.Errorf("without the family stated the path is\n%+v, with it\n%+v", paths[0], paths[1])
	}
}
