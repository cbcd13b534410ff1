package plot

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// TestReplicates: the mean of a set of a Gaussian has the mean of the average prediction and the variance of that of f,
// which the rows share, and of the noise; the picture's share is that of its normal distribution.
func TestReplicates(t *testing.T) {
	train, test := rowsOf(t, 100, 20), rowsOf(t, 100, 21)
	scorer := modelOf(t, train, fit.Options{Formula: "y ~ " + inputs, Family: "gaussian(variance=0.25)"})
	p := &picture{Input: Input{Scorer: scorer, Rows: test, Seed: 4}, kind: PPCStatistics}
	r := must.Value(p.replicate(t.Context(), 1000))(t)
	if len(r.y) != 100 || len(r.sets) != 1000 {
		t.Fatalf("%d rows, %d sets", len(r.y), len(r.sets))
	}
	e := must.Value(effect.Of(t.Context(), scorer, test, effect.Options{What: effect.Predictions}))(t).Effects[0]
	mean, sd := float64(e.Estimate), math.Sqrt(float64(e.StdError*e.StdError)+.25/100)
	var means []float64
	for _, set := range r.sets {
		means = append(means, stat.Mean(set, nil))
	}
	gotMean, gotSD := stat.MeanStdDev(means, nil)
	if !(math.Abs(gotMean-mean) <= 5*sd/math.Sqrt(1000)) || !(math.Abs(gotSD/sd-1) <= 5/math.Sqrt(2000)) {
		t.Errorf("means of sets %g ± %g, want %g ± %g", gotMean, gotSD, mean, sd)
	}
	c := pictureOf(t, PPCStatistics, p.Input)
	observed := stat.Mean(r.y, nil)
	want := 1 - special.NormalCDF((observed-mean)/sd)
	var share float64
	if _, err := fmt.Sscanf(c.Panels[0].Title, "mean: %g %% of the sets are above", &share); err != nil || !(math.Abs(share/100-want) <= 5*.5/math.Sqrt(1000)) {
		t.Errorf("%s, want %g: %v", c.Panels[0].Title, want, err)
	}
	sum := 0.0
	for _, v := range c.Panels[0].Marks[0].Y {
		sum += v
	}
	if len(c.Panels) != 3 || !(math.Abs(sum-.99) <= .003) || c.Panels[0].Rules[0].At != observed {
		t.Errorf("%d panels, bars add up to %g, rule at %g", len(c.Panels), sum, c.Panels[0].Rules[0].At)
	}
	counts := pictureOf(t, PPCStatistics, Input{Scorer: modelOf(t, train, fit.Options{Formula: "count ~ " + inputs, Family: "poisson"}), Rows: test})
	zeros := 0.0
	place := test.Schema().Index("count")
	for i := range 100 {
		var one = must.Value(rowOf(test, i))(t)
		if one[place] == 0 {
			zeros += .01
		}
	}
	drawn := must.Value((&picture{Input: Input{Scorer: modelOf(t, train, fit.Options{Formula: "count ~ " + inputs, Family: "poisson"}), Rows: test}}).replicate(t.Context(), 1000))(t)
	larger, top := 0.0, slices.Max(drawn.y)
	for _, set := range drawn.sets { // ties count half
		switch most := slices.Max(set); {
		case most > top:
			larger += .1
		case most == top:
			larger += .05
		}
	}
	if want := fmt.Sprintf("largest: %.3g %% of the sets are above", larger); counts.Panels[3].Title != want {
		t.Errorf("%s, want %s", counts.Panels[3].Title, want)
	}
	if len(counts.Panels) != 4 || !(math.Abs(counts.Panels[2].Rules[0].At-zeros) <= 1e-9) || !strings.HasPrefix(counts.Panels[2].Title, "share of zeros") {
		t.Errorf("%d panels, share of zeros %+v, want %g", len(counts.Panels), counts.Panels[2].Rules, zeros)
	}
	if classes := pictureOf(t, PPCStatistics, Input{Scorer: modelOf(t, train, fit.Options{Formula: "class ~ x", Family: "bernoulli"}), Rows: test}); len(classes.Panels) != 1 {
		t.Errorf("%d panels of classes", len(classes.Panels))
	}
}

// TestDensities: a density is the sum of kernels about the values, reflected at the end of the support, and holds all
// mass; of skewed amounts it is that of the logarithm.
func TestDensities(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var any, positive, skewed []float64
	for range 300 {
		z := rng.NormFloat64()
		any, positive, skewed = append(any, 3+2*z), append(positive, math.Abs(z)), append(skewed, math.Exp(2*z))
	}
	for _, c := range []struct {
		y     []float64
		lower float64
		logs  bool
	}{{any, math.Inf(-1), false}, {positive, 0, false}, {skewed, 0, true}} {
		d := newSmooth(c.y, c.lower)
		got := d.density(c.y)
		if d.logs != c.logs || len(got) != len(d.x) || c.lower == 0 && d.x[0] < 0 {
			t.Fatalf("%+v", d)
		}
		total, top := 0.0, slices.Max(got)
		for k, x := range d.x {
			if d.logs {
				x = math.Log10(x)
			}
			want := 0.0
			for _, v := range c.y {
				if d.logs {
					v = math.Log10(v)
				}
				for _, at := range []float64{v, 2*d.at - v} {
					if z := (x - at) / d.bandwidth; !math.IsInf(at, 0) {
						want += math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / d.bandwidth / 300
					}
				}
			}
			if !(math.Abs(got[k]-want) <= .03*top) {
				t.Errorf("lower %g: density %g at %g, want %g", c.lower, got[k], x, want)
			}
			weight := d.step
			if k == 0 || k == len(got)-1 {
				weight /= 2
			}
			total += got[k] * weight
		}
		if !(math.Abs(total-1) <= .01) {
			t.Errorf("lower %g: total %g", c.lower, total)
		}
		if last := len(got) - 1; got[last] > .01*top || c.lower != 0 && got[0] > .01*top || c.lower == 0 && !d.logs && d.x[0] != 0 {
			t.Errorf("lower %g: the grid begins at %g with a density of %g and ends with %g, of %g", c.lower, d.x[0], got[0], got[last], top)
		}
	}
	// The bandwidth is by the smaller of deviation and quartiles (Silverman 1986, eq. 3.31).
	tails, ends := []float64{-1000, -2, -1, 0, 1, 2, 1000}, []float64{-1, -1, -1, 0, 1, 1, 1}
	for _, y := range [][]float64{tails, ends} {
		width := min(stat.StdDev(y, nil), (special.Quantile(y, .75)-special.Quantile(y, .25))/1.34)
		if want := .9 * width * math.Pow(7, -.2); !(math.Abs(newSmooth(y, math.Inf(-1)).bandwidth/want-1) <= 1e-12) {
			t.Errorf("%v: the bandwidth is %v, want %v", y, newSmooth(y, math.Inf(-1)).bandwidth, want)
		}
	}
	if d := newSmooth(any, math.Inf(-1)); slices.Max(d.density([]float64{1e300, -1e300})) > 0 {
		t.Error("values beyond all grids have a density on one")
	}
	for _, y := range [][]float64{{1}, {0, 0, 0}, {1e300, -1e300}} { // one value, equal ones, and far ones
		if d := newSmooth(y, math.Inf(-1)).density(y); slices.ContainsFunc(d, math.IsNaN) {
			t.Errorf("%v: %v", y, d)
		}
	}
}

// TestDist: few whole numbers have their shares, classes their names, and densities of the sets lie about that of
// targets from the same law.
func TestDist(t *testing.T) {
	train, test := rowsOf(t, 400, 22), rowsOf(t, 400, 23)
	c := pictureOf(t, PPCDist, Input{Scorer: modelOf(t, train, fit.Options{Formula: "y ~ " + inputs}), Rows: test})
	marks := c.Panels[0].Marks
	if len(marks) != 52 || marks[51].Name != "observed" || !marks[0].Faint || !strings.Contains(c.Under, "400 rows") {
		t.Fatalf("%d marks", len(marks))
	}
	for i, v := range marks[51].Y {
		low, high, mean := math.Inf(1), math.Inf(-1), 0.0
		for _, m := range marks[:50] {
			low, high, mean = min(low, m.Y[i]), max(high, m.Y[i]), mean+m.Y[i]/50
		}
		if !(math.Abs(mean-marks[50].Y[i]) <= 1e-12) || v < low-.6*(high-low)-1e-4 || v > high+.6*(high-low)+1e-4 {
			t.Errorf("at %g: observed %g, sets from %g to %g, their mean %g", marks[51].X[i], v, low, high, marks[50].Y[i])
		}
	}
	c = pictureOf(t, PPCDist, Input{Scorer: modelOf(t, train, fit.Options{Formula: "class ~ " + inputs, Family: "bernoulli"}), Rows: test})
	sets, observed := c.Panels[0].Marks[0], c.Panels[0].Marks[1]
	ones := 0.0
	for i := range 400 {
		ones += must.Value(rowOf(test, i))(t)[test.Schema().Index("class")] / 400
	}
	if !slices.Equal(c.Panels[0].X.Levels, []string{"0", "1"}) || observed.Shape != chart.Points || !(math.Abs(observed.Y[1]-ones) <= 1e-9) || !(math.Abs(observed.Y[0]+ones-1) <= 1e-9) || !(sets.Low[1] < ones && ones < sets.High[1]) {
		t.Errorf("classes %+v, want %g; %v", c.Panels[0], ones, c.Panels[0].X.Levels)
	}
}

// TestRootogram: bars hang from the root of what is expected, which is the sum of the probabilities of the rows, and
// are as long as the root of what is observed; wide counts are told in runs.
func TestRootogram(t *testing.T) {
	train, test := rowsOf(t, 400, 24), rowsOf(t, 500, 25)
	scorer := modelOf(t, train, fit.Options{Formula: "count ~ " + inputs, Family: "poisson"})
	c := pictureOf(t, PPCRootogram, Input{Scorer: scorer, Rows: test})
	bars, band := c.Panels[0].Marks[0], c.Panels[0].Marks[1]
	expected, observed := make([]float64, len(bars.X)), make([]float64, len(bars.X))
	bound := must.Value(scorer.Table(test, score.RequireTargets))(t)
	must.Succeed(t, bound.Each(t.Context(), func(rows *score.Rows) error {
		for i := range rows.Len() {
			for k := range expected {
				expected[k] += math.Exp(rows.LogDensity(i, float64(k)))
			}
			if k := int(rows.Target(i)); k < len(observed) {
				observed[k]++
			}
		}
		return nil
	}))
	for k, x := range bars.X {
		// 200 sets: the mean of counts has a standard error of √(expected/200), and what the weights are uncertain by
		// adds a tenth.
		if x != float64(k) || !(math.Abs(bars.Y[k]*bars.Y[k]-expected[k]) <= 6*math.Sqrt(expected[k]/200)+.02*expected[k]) {
			t.Errorf("count %g: expected %g, want %g", x, bars.Y[k]*bars.Y[k], expected[k])
		}
		if length := bars.Y[k] - bars.Low[k]; !(math.Abs(length*length-observed[k]) <= 1e-9*(1+observed[k])) {
			t.Errorf("count %g: observed %g, want %g", x, length*length, observed[k])
		}
		if !(band.Low[k] <= 0 && band.High[k] >= 0) {
			t.Errorf("count %g: band from %g to %g", x, band.Low[k], band.High[k])
		}
	}
	var x, wide []float64
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 300 {
		x, wide = append(x, float64(i%7)), append(wide, math.Round(math.Exp(5+.3*float64(i%7)+.5*rng.NormFloat64())))
	}
	source := must.Value(table.New().Numbers("x", x).Numbers("n", wide).Source())(t)
	c = pictureOf(t, PPCRootogram, Input{Scorer: modelOf(t, source, fit.Options{Formula: "n ~ x", Family: "negbinomial"}), Rows: source})
	bars = c.Panels[0].Marks[0]
	total, step := 0.0, bars.X[1]-bars.X[0]
	for k := range bars.X {
		total += math.Pow(bars.Y[k]-bars.Low[k], 2)
	}
	if !(math.Abs(total-300) <= 1e-6) || len(bars.X) > mostValues+1 || step <= 1 || !strings.Contains(c.Under, fmt.Sprintf("%g counts a bar", step)) || bars.X[0] != (step-1)/2 {
		t.Errorf("%d bars of %g counts hold %g rows: %s", len(bars.X), step, total, c.Under)
	}
	err := Draw(t.Context(), io.Discard, PPCRootogram, Input{Scorer: modelOf(t, source, fit.Options{Formula: "n ~ x"}), Rows: source})
	if err == nil || !strings.Contains(err.Error(), "a rootogram is of counts, and the target is none; there can be predictions") || strings.Contains(err.Error(), "ppc_rootogram,") {
		t.Errorf("%v", err)
	}
}

// rowOf returns a row of a table.
func rowOf(source credence.Source, i int) ([]float64, error) {
	var chunk credence.Chunk
	err := source.Read(&chunk, i, 1)
	return slices.Clone(chunk.Values.Row(0)), err
}
