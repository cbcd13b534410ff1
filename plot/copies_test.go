package plot

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/table"
)

// repeated is a table with each row as often as its weight w says, and all weights 1.
func repeated(t *testing.T, source credence.Source) credence.Source {
	t.Helper()
	var chunk credence.Chunk
	must.Succeed(t, source.Read(&chunk, 0, source.Rows()))
	b, w := table.New(), source.Schema().Index("w")
	for j, c := range source.Schema().Columns {
		var numbers []float64
		var names []string
		for i := range chunk.Rows() {
			row := chunk.Values.Row(i)
			v := row[j]
			if j == w {
				v = 1
			}
			for range int(row[w]) {
				if numbers = append(numbers, v); c.Kind == credence.Category {
					names = append(names, c.Levels[int(v)])
				}
			}
		}
		if c.Kind == credence.Category {
			b.Categories(c.Name, names)
		} else {
			b.Numbers(c.Name, numbers)
		}
	}
	return must.Value(b.Source())(t)
}

func near(a, b []float64, within float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= within })
}

// TestWeightsAreRows: a row of weight 2 is two rows in what is observed and in what is drawn.
func TestWeightsAreRows(t *testing.T) {
	train, test := rowsOf(t, 200, 61), rowsOf(t, 60, 62)
	copies := repeated(t, test)
	numbers := modelOf(t, train, fit.Options{Formula: "y ~ x + weight(w)", Family: "gaussian(variance=0.25)"})
	counts := modelOf(t, train, fit.Options{Formula: "count ~ x + weight(w)", Family: "poisson"})
	weighed, alone := Input{Scorer: numbers, Rows: test}, Input{Scorer: numbers, Rows: copies}
	a, b := pictureOf(t, PPCDist, weighed).Panels[0].Marks, pictureOf(t, PPCDist, alone).Panels[0].Marks
	if !near(a[len(a)-1].Y, b[len(b)-1].Y, 1e-12) {
		t.Error("another density is observed")
	}
	for k, panel := range pictureOf(t, PPCStatistics, weighed).Panels {
		if other := pictureOf(t, PPCStatistics, alone).Panels[k]; !(math.Abs(panel.Rules[0].At-other.Rules[0].At) <= 1e-12) {
			t.Errorf("%s: %g, and %g of the copies", panel.X.Name, panel.Rules[0].At, other.Rules[0].At)
		}
	}
	spreads := map[bool]float64{}
	for _, input := range []Input{weighed, alone} {
		var means []float64
		for _, set := range must.Value((&picture{Input: input}).replicate(t.Context(), 2000))(t).sets {
			means = append(means, stat.Mean(set, nil))
		}
		spreads[input.Rows == copies] = stat.StdDev(means, nil)
	}
	if ratio := spreads[false] / spreads[true]; !(math.Abs(ratio-1) <= 5/math.Sqrt(2000)) {
		t.Errorf("means of sets spread %.3f times as far as those of copies", ratio)
	}
	hanging := func(rows credence.Source) (counts []float64) {
		bars := pictureOf(t, PPCRootogram, Input{Scorer: modelOf(t, train, fit.Options{Formula: "count ~ x + weight(w)", Family: "poisson"}), Rows: rows}).Panels[0].Marks[0]
		for k := range bars.X {
			if n := math.Round(math.Pow(bars.Y[k]-bars.Low[k], 2)); n > 0 {
				counts = append(counts, bars.X[k], n)
			}
		}
		return counts
	}
	if a, b := hanging(test), hanging(copies); !slices.Equal(a, b) {
		t.Errorf("counts %v, and %v of the copies", a, b)
	}
	a, b = pictureOf(t, Residuals, weighed).Panels[0].Marks, pictureOf(t, Residuals, alone).Panels[0].Marks
	for k := range a {
		if !near(a[k].X, b[k].X, 1e-12) || !near(a[k].Y, b[k].Y, 1e-12) {
			t.Errorf("residuals: mark %d is another", k)
		}
	}
	a = pictureOf(t, Reliability, Input{Scorer: counts, Rows: test}).Panels[0].Marks
	b = pictureOf(t, Reliability, Input{Scorer: counts, Rows: copies}).Panels[0].Marks
	wide := func(k int) float64 {
		m := [][]float64{a[0].High, a[0].Low}
		if k == 1 {
			m = [][]float64{b[0].High, b[0].Low}
		}
		return stat.Mean(m[0], nil) - stat.Mean(m[1], nil)
	}
	if ratio := wide(0) / wide(1); !near(a[2].Y, b[2].Y, 1e-9) || !(math.Abs(ratio-1) <= .15) {
		t.Errorf("reliability: the band is %.3f times as wide as that of copies", ratio)
	}
}

// TestCopies: weights that are whole numbers are copies; of others the copies so far are the weights so far, to half a
// row; where weights are less than a row each, or more than a picture needs, they keep their proportions.
func TestCopies(t *testing.T) {
	for _, c := range []struct {
		weights, want []float64
	}{
		{[]float64{1, 0, 3, 2}, []float64{1, 0, 3, 2}}, {[]float64{1.5, 1.5, 1.5, 1.5}, []float64{2, 1, 2, 1}}, {[]float64{1.2, 1.2, 1.2, 1.4}, []float64{1, 1, 2, 1}},
		{[]float64{.25, .25, .25, .25}, []float64{1, 1, 1, 1}}, {[]float64{1e6, 2e6, 1e6}, []float64{12500, 25000, 12500}},
	} {
		repeat := newCopier(floats.Sum(c.weights), len(c.weights))
		var got []float64
		for _, w := range c.weights {
			got = append(got, float64(repeat.of(w)))
		}
		if !slices.Equal(got, c.want) || float64(repeat.total()) != floats.Sum(c.want) {
			t.Errorf("weights %v: copies %v, %d in all, want %v", c.weights, got, repeat.total(), c.want)
		}
	}
}
