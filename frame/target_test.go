package frame

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
)

// column is a source of one column, y.
func column(values ...float64) *memory {
	source := numbers([]string{"y"})
	for _, v := range values {
		source.rows = append(source.rows, []float64{v})
	}
	return source
}

func TestClassesOfTargets(t *testing.T) {
	for _, c := range []struct {
		what     string
		source   *memory
		options  Options
		positive string
		want     []float64
	}{
		{"0/1", column(0, 1, 1), Options{}, "1", []float64{0, 1, 1}},
		{"±1", column(-1, 1, -1), Options{}, "1", []float64{0, 1, 0}},
		{"boolean", column(1, 0).with("y"), Options{}, "true", []float64{1, 0}},
		{"names", column(0, 1, 1).with("y", "spam", "ham"), Options{}, "spam", []float64{1, 0, 0}},
		{"names in two cases", column(0, 1, 1).with("y", "Yes", "no"), Options{}, "Yes", []float64{1, 0, 0}},
		{"chosen", column(0, 1, 1).with("y", "spam", "ham"), Options{Positive: "ham"}, "ham", []float64{0, 1, 1}},
		{"one of three", column(0, 1, 2).with("y", "a", "b", "c"), Options{Positive: "b"}, "b", []float64{0, 1, 0}},
		{"one of ten numbers", column(3, 5, 7, 9), Options{Positive: "5.0"}, "5", []float64{0, 1, 0, 0}},
		{"a word in another case", column(0, 1, 2).with("y", "yes", "no", "maybe"), Options{Positive: "YES"}, "yes", []float64{1, 0, 0}},
		{"a number in another notation", column(0, 1, 2).with("y", "1e3", "2", "many"), Options{Positive: "1000"}, "1e3", []float64{1, 0, 0}},
		{"1 and 2 as classes", column(1, 2, 2), Options{Mode: Classes}, "2", []float64{0, 1, 1}},
		{"1 and 2", column(1, 2, 2), Options{}, "", []float64{1, 2, 2}},
		{"0/1 as numbers", column(0, 1, 1), Options{Mode: Numbers}, "", []float64{0, 1, 1}},
		{"grades", column(3, 1, 5, 5), Options{Mode: Grades}, "", []float64{1, 0, 2, 2}},
	} {
		f, batch := mustFit(t, &Plan{Target: target("y")}, c.source, c.options)
		if f.Target.Positive() != c.positive {
			t.Errorf("%s: positive class %q, want %q", c.what, f.Target.Positive(), c.positive)
		}
		wantColumn(t, c.what, batch.Target, c.want)
		mean, n := 0.0, float64(len(c.want))
		for _, v := range c.want {
			mean += v / n
		}
		variance := 0.0
		for _, v := range c.want {
			variance += (v - mean) * (v - mean) / n
		}
		if !near(f.Target.Mean, mean) || !near(f.Target.Variance, variance) {
			t.Errorf("%s: mean %g and variance %g, want %g and %g", c.what, f.Target.Mean, f.Target.Variance, mean, variance)
		}
	}
}

func TestTargetsOfAnotherKind(t *testing.T) {
	// Training had true and false; the later table holds 0 and 1, or the words as levels.
	training := numbers([]string{"y"}, []float64{1}, []float64{0}).with("y")
	f := must.Value(Fit(t.Context(), &Plan{Target: target("y")}, training, Options{}))(t)
	for _, later := range []*memory{
		numbers([]string{"y"}, []float64{0}, []float64{1}),
		numbers([]string{"y"}, []float64{1}, []float64{0}).with("y", "true", "false"),
	} {
		data := must.Value(f.Bind(later, RequireTargets))(t)
		batch := must.Value(readAll(data))(t)
		wantColumn(t, "target", batch.Target, []float64{0, 1})
	}
}

// TestManyGrades: a target of about as many grades as rows is told, by the weights of rows.
func TestManyGrades(t *testing.T) {
	values := func(different, each int) (list []float64) {
		for i := range different * each {
			list = append(list, float64(i%different))
		}
		return list
	}
	for _, c := range []struct {
		different, each int
		told            bool
	}{{60, 1, true}, {60, 4, true}, {60, 5, false}, {20, 1, false}, {21, 4, true}} {
		f, _ := mustFit(t, &Plan{Target: target("y")}, column(values(c.different, c.each)...), Options{Mode: Grades})
		text := fmt.Sprintf("target y has %d grades, %d rows each on average, and a cutpoint", c.different, c.each)
		if told := slices.ContainsFunc(f.Warnings, func(w string) bool { return strings.Contains(w, text) }); told != c.told {
			t.Errorf("%d grades of %d rows each: %q", c.different, c.each, f.Warnings)
		}
	}
}
