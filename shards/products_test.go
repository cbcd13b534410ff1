package shards

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// productsOf are those of a job by two parts of its last round, and the model that these are merged into.
func productsOf(t *testing.T, job *Job) (*table.Products, *credence.Fitted) {
	t.Helper()
	for {
		var parts []*Part
		for _, files := range split(len(job.Files()), 2) {
			parts = append(parts, stored(t, must.Value(job.Partial(ctx, files...))(t), ReadPart))
		}
		fitted, more, err := job.Merge(ctx, parts...)
		must.Succeed(t, err)
		if !more {
			return must.Value(job.Products(ctx, parts...))(t), fitted
		}
	}
}

// columns writes a table that has the columns of products as numbers, and the target.
func columns(t *testing.T, products *table.Products, paths []string) string {
	t.Helper()
	var rows []map[string]string
	mean := map[string]float64{}
	for _, path := range paths {
		records := must.Value(csv.NewReader(strings.NewReader(string(must.Value(os.ReadFile(path))(t)))).ReadAll())(t)
		for _, record := range records[1:] {
			row := map[string]string{}
			for k, name := range records[0] {
				row[name] = record[k]
			}
			rows = append(rows, row)
		}
	}
	number := func(row map[string]string, name string) float64 {
		return must.Value(strconv.ParseFloat(row[name], 64))(t)
	}
	for _, row := range rows {
		for _, name := range []string{"a", "b"} {
			mean[name] += number(row, name) / float64(len(rows))
		}
	}
	names := slices.DeleteFunc(slices.Clone(products.Names), func(name string) bool { return name == table.Ones })
	text := strings.Join(names, ",") + "\n"
	for _, row := range rows {
		for k, name := range names {
			if k > 0 {
				text += ","
			}
			level, is := strings.CutPrefix(name, "g=")
			switch {
			case is && row["g"] == level, name == "yes" && row[name] == "true":
				text += "1"
			case is, name == "yes":
				text += "0"
			case name == "a:b":
				text += fmt.Sprint((number(row, "a") - mean["a"]) * (number(row, "b") - mean["b"]))
			case name == "log(p)":
				text += fmt.Sprint(math.Log(number(row, "p")))
			case name == "square(k)":
				text += fmt.Sprint(number(row, "k") * number(row, "k"))
			default:
				text += row[name]
			}
		}
		text += "\n"
	}
	path := filepath.Join(t.TempDir(), "columns.csv")
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// TestProducts: what is selected by the sums of a job is what is selected among the columns of its model, in the data's
// own units, be the mean of a column 10⁶ deviations large.
func TestProducts(t *testing.T) {
	for _, c := range []struct {
		formula string
		paths   []string
	}{
		{"y ~ a + b + amount", write(t, 300, 0, 400, 90)},
		{"y ~ a*b + yes + g", write(t, 300, 400, 90)},
		{"log(p) ~ a + b + square(k)", []string{sales(t, 700)}},
	} {
		products, _ := productsOf(t, must.Value(New(ctx, c.paths, fit.Options{Formula: c.formula}, dataset.Options{}))(t))
		how := fit.Options{Engine: "ep(tolerance=1e-9)"}
		got := must.Value(fit.SelectProducts(ctx, products, how, selection.Options{}))(t)
		kinds := map[string]credence.Kind{}
		for _, name := range products.Names {
			kinds[name] = credence.Numeric
		}
		delete(kinds, table.Ones)
		all := must.Value(dataset.Open(ctx, []string{columns(t, products, c.paths)}, dataset.Options{Types: kinds}))(t)
		defer all.Close()
		how.Target = products.Target
		want := must.Value(fit.Select(ctx, must.Value(all.Load(ctx, nil))(t), how, selection.Options{}))(t)
		of := map[string]selection.Feature{}
		for _, f := range want.Selection.Features {
			of[f.Name] = f
		}
		if len(of) < 3 || len(got.Selection.Features) != len(of) || got.Report.Rows != want.Report.Rows {
			t.Errorf("%s: %d features of %d, %d rows of %d", c.formula, len(got.Selection.Features), len(of), got.Report.Rows, want.Report.Rows)
		}
		for _, f := range got.Selection.Features {
			w := of[f.Name]
			if gap := math.Abs(f.Inclusion - w.Inclusion); !(gap <= 1e-6) {
				t.Errorf("%s: inclusion of %s is %v, by the rows %v", c.formula, f.Name, f.Inclusion, w.Inclusion)
			}
			if gap := math.Max(math.Abs(f.Mean-w.Mean), math.Abs(f.SD-w.SD)); !(gap <= 1e-5*w.SD) {
				t.Errorf("%s: %s is %v ± %v, by the rows %v ± %v", c.formula, f.Name, f.Mean, f.SD, w.Mean, w.SD)
			}
		}
		if of := must.Value(score.Terms(want, score.TermOptions{}))(t)[0]; !(math.Abs(must.Value(score.Terms(got, score.TermOptions{}))(t)[0].Mean-of.Mean) <= 1e-5*float64(of.SD)) {
			t.Errorf("%s: the intercept is not %v, as by the rows", c.formula, of.Mean)
		}
		if gap := math.Abs(got.TargetMean-want.TargetMean) / math.Sqrt(want.TargetVariance); !(gap <= 1e-9) {
			t.Errorf("%s: the mean of the target is %v, by the rows %v", c.formula, got.TargetMean, want.TargetMean)
		}
	}
}

// TestProductsOfDatabase: the sums that a database forms select as the rows do.
func TestProductsOfDatabase(t *testing.T) {
	rows := sales(t, 700)
	options := fit.Options{Formula: "y ~ a + b + k + g"}
	s := sqlite(t, rows, "")
	job := must.Value(NewSQL("sqlite", s.table, map[string]credence.Kind{"g": credence.Category}, options))(t)
	var part *Part
	for more := true; more; {
		part = must.Value(job.Answer(strings.NewReader(s.ask(must.Value(job.Query())(t)))))(t)
		var err error
		_, more, err = job.Merge(ctx, part)
		must.Succeed(t, err)
	}
	of, _ := productsOf(t, must.Value(New(ctx, []string{rows}, options, dataset.Options{}))(t))
	products := must.Value(job.Products(ctx, part))(t)
	for i, name := range products.Names {
		if name != of.Names[i] || !(math.Abs(products.Centre[i]-of.Centre[i]) <= 1e-12*math.Abs(of.Centre[i])) && name != "y" {
			t.Errorf("column %d is %s about %v, of the rows %s about %v", i, name, products.Centre[i], of.Names[i], of.Centre[i])
		}
	}
	how := fit.Options{Engine: "ep(tolerance=1e-9)"}
	one := must.Value(fit.SelectProducts(ctx, of, how, selection.Options{}))(t).Selection.Features
	for k, f := range must.Value(fit.SelectProducts(ctx, products, how, selection.Options{}))(t).Selection.Features {
		if w := one[k]; f.Name != w.Name || !(math.Abs(f.Inclusion-w.Inclusion) <= 1e-7) || !(math.Abs(f.Mean-w.Mean) <= 1e-7*w.SD) {
			t.Errorf("%+v, by the rows %+v", f, w)
		}
	}
}

// TestProductsRefuse: what has no products of all files is refused with what to do.
func TestProductsRefuse(t *testing.T) {
	paths := write(t, 300, 400)
	job := must.Value(New(ctx, paths, fit.Options{Formula: "y ~ a + b"}, dataset.Options{}))(t)
	_, err := job.Products(ctx, part(t, job, "p", 0, 1))
	refused(t, err, "asks round 1, which counts", "merge until the model is written")
	_, _, err = job.Merge(ctx, part(t, job, "p", 0, 1))
	must.Succeed(t, err)
	_, err = job.Products(ctx, part(t, job, "p", 0))
	refused(t, err, "no part answers round 2 for files 1")
	for _, c := range []struct {
		options fit.Options
		want    string
	}{
		{fit.Options{Formula: "y ~ a + offset(b)"}, "without offset"},
		{fit.Options{Formula: "y ~ 0 + a"}, "with an intercept"},
		{fit.Options{Formula: "y ~ a + precision(amount)"}, "without precision"},
		{fit.Options{Formula: "amount ~ a", Family: "poisson"}, "adds up no products"},
	} {
		job := must.Value(New(ctx, paths, c.options, dataset.Options{}))(t)
		_, _, err := job.Merge(ctx, part(t, job, "p", 0, 1))
		must.Succeed(t, err)
		_, err = job.Products(ctx, part(t, job, "p", 0, 1))
		refused(t, err, c.want)
	}
}
