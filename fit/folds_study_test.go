package fit_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/conform/published"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// genes are the sets of gene expression, with the class that counts as positive, "" of a regression.
var genes = []struct{ name, file, positive string }{
	{"alon_colon", "alon_colon", "t"}, {"golub_leukemia", "golub_leukemia", "AML"}, {"shipp_dlbcl", "shipp_dlbcl", "FL"},
	{"singh_prostate", "singh_prostate", "Tumor"}, {"eyedata_gse5680", "eyedata", ""}, {"riboflavin", "riboflavin", ""},
}

// contender is an engine with its prior.
type contender struct{ prior, engine string }

// TestGeneFolds leaves out a tenth of the rows in turn, and compares the selection by default with the lasso and ridge
// regression: error, or root mean square error, log density, and features.
func TestGeneFolds(t *testing.T) {
	study.OnlyCalibration(t)
	for _, set := range genes {
		t.Run(set.name, func(t *testing.T) {
			names, columns := readColumns(t, set.name, set.file+".csv.gz")
			y := columns[0]
			order := rand.New(rand.NewPCG(1, 1)).Perm(len(y))
			if set.positive != "" {
				slices.SortStableFunc(order, func(a, b int) int { return compareText(y[a], y[b]) })
			}
			numbers := make([][]float64, len(columns))
			for j, column := range columns {
				for i, text := range column {
					v, err := strconv.ParseFloat(text, 64)
					switch {
					case j == 0 && set.positive != "":
						v = indicator(text == set.positive)
					case err != nil:
						t.Fatal(err)
					}
					if numbers[j] = append(numbers[j], v); math.IsNaN(v) {
						t.Fatalf("row %d of %s is missing", i+1, names[j])
					}
				}
			}
			family := "gaussian"
			if set.positive != "" {
				family = "bernoulli"
			}
			part := func(keep func(fold int) bool) credence.Source {
				b := table.New()
				for j, column := range numbers {
					var list []float64
					for k, i := range order {
						if keep(k % folds) {
							list = append(list, column[i])
						}
					}
					b.Numbers(names[j], list)
				}
				source := must.Value(b.Source())(t)
				return source
			}
			compareFolds(t, "y", family, folds, part, []contender{{"", "lasso"}, {"", "ridge"}, {"spikeslab", ""}})
		})
	}
}

const folds = 10

// texts are sets of words, with the class that counts as positive: the largest where there are several.
var texts = []struct{ set, file, positive string }{
	{"reuters", "reuters", "+1"}, {"mr_polarity", "mr_unigram", "+1"}, {"cluto_classic", "classic", "3"},
	{"cluto_hitech", "hitech", "4"}, {"cluto_k1b", "k1b", "2"}, {"cluto_la12", "la12", "4"},
}

// TestTextFolds is TestGeneFolds for texts, with fewer folds.
func TestTextFolds(t *testing.T) {
	study.OnlyCalibration(t)
	const folds = 3
	for _, set := range texts {
		t.Run(set.set, func(t *testing.T) {
			labels, x := readSparse(t, set.positive, set.set, set.file+".gz")
			order := rand.New(rand.NewPCG(1, 1)).Perm(len(labels))
			slices.SortStableFunc(order, func(a, b int) int { return int(labels[a] - labels[b]) })
			part := func(keep func(fold int) bool) credence.Source {
				var y []float64
				some := linop.CSR{Cols: x.Cols, Start: []int{0}}
				for k, i := range order {
					if keep(k % folds) {
						from, to := x.Start[i], x.Start[i+1]
						y, some.Rows = append(y, labels[i]), some.Rows+1
						some.Index, some.Value = append(some.Index, x.Index[from:to]...), append(some.Value, x.Value[from:to]...)
						some.Start = append(some.Start, len(some.Index))
					}
				}
				source := must.Value(table.Sparse(y, some))(t)
				return source
			}
			compareFolds(t, "label", "bernoulli", folds, part, []contender{{"", "lasso"}, {"spikeslab", ""}})
		})
	}
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// compareFolds tells how contenders do on each fold when they learn from the others; differences are from the first.
func compareFolds(t *testing.T, target, family string, folds int, part func(keep func(fold int) bool) credence.Source, contenders []contender) {
	t.Helper()
	errors, densities := make([][]float64, len(contenders)), make([][]float64, len(contenders))
	for k, c := range contenders {
		called, expected, seconds, engine := 0.0, 0.0, 0.0, ""
		for out := range folds {
			before := study.Processor()
			fitted, err := fit.Table(context.Background(), part(func(fold int) bool { return fold != out }),
				fit.Options{Target: target, Family: family, Prior: c.prior, Engine: c.engine})
			if err != nil {
				t.Fatal(c, err)
			}
			seconds = math.Max(seconds, (study.Processor() - before).Seconds())
			engine = fitted.Report.Engine
			if count, ok := score.Selected(fitted); ok {
				called += float64(count) / float64(folds)
			}
			expected += expectedFeatures(fitted) / float64(folds)
			loss, density := predictFold(t, fitted, part(func(fold int) bool { return fold == out }), family != "gaussian")
			errors[k], densities[k] = append(errors[k], loss), append(densities[k], density)
		}
		gap, spread := pairedGap(errors[k], errors[0])
		more, wide := pairedGap(densities[k], densities[0])
		show := func(mean float64) float64 { return mean }
		if family == "gaussian" {
			show = math.Sqrt
		}
		t.Logf("%-22s %-8s error %.4f (less lasso's %+.4f ± %.4f)  log density %.4f (%+.4f ± %.4f)  called %.1f  expected %.1f  most CPU s %.1f",
			c.engine+" "+c.prior, engine, show(average(errors[k])), gap, spread, average(densities[k]), more, wide, called, expected, seconds)
	}
}

// predictFold returns the mean error, squared of a regression, and the mean log density of rows.
func predictFold(t *testing.T, fitted *credence.Fitted, rows credence.Source, classes bool) (loss, density float64) {
	t.Helper()
	scorer, err := score.New(fitted, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	scored, err := scorer.Table(rows, score.RequireTargets)
	if err != nil {
		t.Fatal(err)
	}
	count := 0.0
	err = scored.Each(context.Background(), func(rows *score.Rows) error {
		for i := range rows.Len() {
			y := rows.Target(i)
			mean, _ := rows.Moments(i)
			if count++; classes {
				loss += indicator((mean > 0.5) != (y > 0.5))
			} else {
				loss += (mean - y) * (mean - y)
			}
			density += rows.LogDensity(i, y)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return loss / count, density / count
}

// expectedFeatures is the sum of all inclusions.
func expectedFeatures(fitted *credence.Fitted) (sum float64) {
	if q, ok := fitted.Members[0].Posterior.(credence.Selector); ok {
		for _, c := range score.Candidates(fitted) {
			sum += q.InclusionProbability(c.First)
		}
	}
	return sum
}

func average(list []float64) (mean float64) {
	for _, v := range list {
		mean += v / float64(len(list))
	}
	return mean
}

// pairedGap is the mean of differences and its standard error.
func pairedGap(a, b []float64) (mean, spread float64) {
	difference := make([]float64, len(a))
	for i := range a {
		difference[i] = a[i] - b[i]
	}
	mean = average(difference)
	for _, v := range difference {
		spread += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(spread / float64(len(a)*(len(a)-1)))
}

// readColumns reads a CSV file of the development data.
func readColumns(t *testing.T, parts ...string) (names []string, columns [][]string) {
	t.Helper()
	rows, err := csv.NewReader(bufio.NewReader(published.Open(t, parts...))).ReadAll()
	if err != nil {
		t.Fatal(parts, err)
	}
	names, columns = rows[0], make([][]string, len(rows[0]))
	for _, row := range rows[1:] {
		for j, text := range row {
			columns[j] = append(columns[j], text)
		}
	}
	return names, columns
}

// readSparse reads a file of sparse rows of the development data.
func readSparse(t *testing.T, positive string, parts ...string) (labels []float64, x linop.CSR) {
	t.Helper()
	x.Start = []int{0}
	lines := bufio.NewScanner(published.Open(t, parts...))
	for lines.Buffer(nil, 1<<24); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		labels = append(labels, indicator(fields[0] == positive))
		for _, field := range fields[1:] {
			index, value, _ := strings.Cut(field, ":")
			j := must.Value(strconv.Atoi(index))(t)
			v := must.Value(strconv.ParseFloat(value, 64))(t)
			x.Index, x.Value, x.Cols = append(x.Index, int32(j-1)), append(x.Value, v), max(x.Cols, j)
		}
		x.Rows, x.Start = x.Rows+1, append(x.Start, len(x.Index))
	}
	return labels, x
}
