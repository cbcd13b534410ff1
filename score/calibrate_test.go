package score_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// sample is rows of x in a group, with targets whose spread is that of the group.
type sample struct {
	x, y, count, grade, b []float64
	g                     []string
}

// draw draws rows; the spread of y grows with the group, and so does that of counts.
func drawSample(n int, seed uint64) (s sample) {
	rng := rand.New(rand.NewPCG(seed, 3))
	for range n {
		x, k := rng.NormFloat64(), rng.IntN(3)
		s.x, s.g = append(s.x, x), append(s.g, []string{"a", "b", "c"}[k])
		s.y = append(s.y, 1+x+float64(1+k)*rng.NormFloat64())
		s.count = append(s.count, math.Floor(math.Exp(1+0.3*x+0.9*float64(k)*rng.NormFloat64())+rng.Float64()))
		s.grade = append(s.grade, math.Round(min(3, max(0, 1.5+x/2+float64(k)*rng.NormFloat64()/2))))
		b := 0.0
		if rng.Float64() < 1/(1+math.Exp(1-2*x*x)) {
			b = 1
		}
		s.b = append(s.b, b)
	}
	return s
}

func (s *sample) source(t testing.TB) credence.Source {
	t.Helper()
	return must.Value(table.New().Numbers("x", s.x).Numbers("y", s.y).Numbers("count", s.count).Numbers("grade", s.grade).Numbers("b", s.b).Categories("g", s.g).Source())(t)
}

// visit scores the rows of a sample.
func (s *sample) visit(t testing.TB, model *credence.Fitted, o score.Options, do func(rows *score.Rows, i int)) {
	t.Helper()
	bound := must.Value(must.Value(score.New(model, o))(t).Table(s.source(t), score.UseTargets))(t)
	must.Succeed(t, bound.Each(t.Context(), func(rows *score.Rows) error {
		for i := range rows.Len() {
			do(rows, i)
		}
		return nil
	}))
}

// The ends of an interval are E y plus the SD times an order statistic of (y − E y)/SD of the held-out rows, of the
// row's group where there are groups; an outlier at 40 SD is one at 40 SD. Mean, SD and density are the model's.
func TestCalibrateNormal(t *testing.T) {
	train, held, test := drawSample(200, 1), drawSample(400, 2), drawSample(50, 3)
	model := fitted(t, train.source(t), fit.Options{Formula: "y ~ x", Family: "gaussian(variance=1)", Prior: "normal(variance=1)"})
	for i := range 30 {
		held.y[i*7] += 40 * float64(i%2*2-1)
	}
	scores := map[string][]float64{}
	held.visit(t, model, score.Options{}, func(rows *score.Rows, i int) {
		mean, variance := rows.Moments(i)
		z := (held.y[rows.First()+i] - mean) / math.Sqrt(variance)
		g := held.g[rows.First()+i]
		scores[g], scores[""] = append(scores[g], z), append(scores[""], z)
	})
	for _, z := range scores {
		slices.Sort(z)
	}
	for _, by := range []string{"", "g"} {
		calibrated := must.Value(score.Calibrate(t.Context(), model, held.source(t), by))(t)
		for _, level := range []float64{0.5, 0.9, 0.95} {
			test.g[0] = "d" // which has no calibration
			test.visit(t, calibrated, score.Options{Interval: level}, func(rows *score.Rows, i int) {
				z := scores[""]
				if by != "" && test.g[rows.First()+i] != "d" {
					z = scores[test.g[rows.First()+i]]
				}
				mean, variance := rows.Moments(i)
				p := rows.Predict(i)
				n := float64(len(z) + 1)
				lower, upper := z[int(math.Floor(n*(1-level)/2+1e-9))-1], z[int(math.Ceil(n*(1+level)/2-1e-9))-1]
				if sd := math.Sqrt(variance); !near(p.Lower, mean+sd*lower) || !near(p.Upper, mean+sd*upper) || p.Mean != mean || p.SD != sd {
					t.Fatalf("by %q, %v: %+v, want %v to %v", by, level, p, mean+sd*lower, mean+sd*upper)
				}
				if y := test.y[rows.First()+i]; !near(rows.LogDensity(i, y), math.Log(special.NormalDensity((y-mean)/math.Sqrt(variance)))-math.Log(variance)/2) {
					t.Fatal("the density is another")
				}
			})
		}
		// as one row, and as a file
		path := filepath.Join(t.TempDir(), "m")
		must.Succeed(t, modelfile.Save(path, calibrated))
		loaded := must.Value(modelfile.Load(path))(t)
		test.visit(t, calibrated, score.Options{}, func(rows *score.Rows, i int) {
			k := rows.First() + i
			row := map[string]any{"x": test.x[k], "g": test.g[k]}
			if got := must.Value(score.Row(loaded, row))(t); got != rows.Predict(i) {
				t.Fatalf("by %q, row %d: %+v, of a table %+v", by, k, got, rows.Predict(i))
			}
		})
	}
}

// Of every family, 90 % intervals hold 90 % of further rows, counts and grades by their randomised transform, in every
// group; transforms are even; and draws are as often below a row's target as its transform says.
func TestCalibrateFamilies(t *testing.T) {
	const n = 1000
	train, held, test := drawSample(300, 1), drawSample(n, 2), drawSample(n, 3)
	for _, o := range []fit.Options{
		{Formula: "y ~ x"}, {Formula: "y ~ x", Family: "studentt"}, {Formula: "count ~ x", Family: "poisson"}, {Formula: "grade ~ x", Family: "ordinal"}, {Formula: "b ~ x", Family: "bernoulli"},
		{Formula: "exp(y) ~ x", Family: "gamma"},
	} {
		o.Engine, o.Formula = "", strings.Replace(o.Formula, "exp(y)", "count", 1)
		if o.Family == "gamma" {
			for _, s := range []*sample{&train, &held, &test} {
				for i := range s.count {
					s.count[i] += 0.5 + s.x[i]*s.x[i]
				}
			}
		}
		model := fitted(t, train.source(t), o)
		calibrated := must.Value(score.Calibrate(t.Context(), model, held.source(t), "g"))(t)
		scorer := must.Value(score.New(calibrated, score.Options{}))(t)
		found := must.Value(score.Evaluate(t.Context(), scorer, test.source(t)))(t)
		before := must.Value(score.Evaluate(t.Context(), must.Value(score.New(model, score.Options{}))(t), test.source(t)))(t)
		if found.RMSE != before.RMSE || found.RegressionResult.NLPD != before.RegressionResult.NLPD {
			t.Errorf("%s: E y or the density is another", o.Family)
		}
		for key, level := range map[string]float64{"0.5": 0.5, "0.8": 0.8, "0.9": 0.9, "0.95": 0.95} {
			if got := found.Coverage[key]; math.Abs(got-level) > 4*math.Sqrt(2*level*(1-level)/n) { // of two samples
				t.Errorf("%s %s: %v intervals hold %v", o.Formula, o.Family, level, got)
			}
		}
		for k, share := range found.PIT {
			if even := 1 / float64(len(found.PIT)); !(math.Abs(share-even) <= 4*math.Sqrt(2*even/n)) {
				t.Errorf("%s %s: share %d of the transforms is %v", o.Formula, o.Family, k, share)
			}
		}
		draws, ends := 0.0, 0.0
		test.visit(t, calibrated, score.Options{Interval: 0.8}, func(rows *score.Rows, i int) {
			if i > 40 || rows.First() > 0 {
				return
			}
			p, rng := rows.Predict(i), credence.Rand(1, "test", uint64(i))
			values := make([]float64, 500)
			for s := range values {
				values[s] = must.Value(rows.Sample(i, rng))(t)
				if draws++; values[s] < p.Lower || values[s] > p.Upper {
					ends++
				}
			}
			if list := rows.Probabilities(nil, i); len(list) > 0 {
				sum := 0.0
				for k, share := range list {
					drawn := 0.0
					for _, v := range values {
						if v == float64(k) {
							drawn++
						}
					}
					if sum += share; !(math.Abs(drawn/500-share) <= 4.5*math.Sqrt(share*(1-share)/500)+3./500) {
						t.Errorf("%s, row %d: class %d has the probability %v and is drawn in %v of 500", o.Family, i, k, share, drawn)
					}
				}
				if !near(sum, 1) {
					t.Errorf("%s: probabilities sum to %v", o.Family, sum)
				}
			}
		})
		if share := ends / draws; o.Family == "" && !(math.Abs(share-0.2) <= 0.015) || share > 0.215 {
			t.Errorf("%s: %v of the draws are outside of 80 %% intervals", o.Family, share)
		}
		if o.Family == "bernoulli" && !(found.Brier < before.Brier-0.01) {
			t.Errorf("the Brier score is %v, and was %v", found.Brier, before.Brier)
		}
	}
}

// The transform of counts is a distribution function however far out they are: that of a count begins where that of the
// one before ends, it goes from 0 to 1, and quantiles and draws are its own.
func TestCalibrateCounts(t *testing.T) {
	train, held := drawSample(300, 1), drawSample(300, 2)
	for i := range held.count { // a tenth is far above, and a tenth is 0
		train.count[i] += 20
		switch held.count[i] += 20; i % 10 {
		case 0:
			held.count[i] *= 20
		case 1:
			held.count[i] = 0
		}
	}
	model := fitted(t, train.source(t), fit.Options{Formula: "count ~ x", Family: "poisson"})
	calibrated := must.Value(score.Calibrate(t.Context(), model, held.source(t), ""))(t)
	rows := drawSample(1200, 3)
	for i := range rows.count {
		rows.x[i], rows.count[i] = 0.5, float64(i)
	}
	const draws = 20_000
	var upTo, drawn []float64
	before := 0.0
	rows.visit(t, calibrated, score.Options{}, func(r *score.Rows, i int) {
		below, to := r.PIT(i)
		if !near(below, before) || to < below {
			t.Fatalf("count %d has the transform %v to %v, and that before ends at %v", r.First()+i, below, to, before)
		}
		if before, upTo = to, append(upTo, to); r.First()+i > 0 {
			return
		}
		if below != 0 {
			t.Errorf("below 0 is %v", below)
		}
		drawn = make([]float64, len(rows.count))
		rng := rand.New(rand.NewPCG(8, 8))
		for range draws {
			if y := must.Value(r.Sample(i, rng))(t); int(y) < len(drawn) {
				drawn[int(y)]++
			}
		}
		p := []float64{0.02, 0.05, 0.2, 0.5, 0.8, 0.95, 0.98}
		ends := make([]float64, len(p))
		r.Quantiles(ends, i, p)
		rows.g = nil
		for _, q := range ends {
			rows.g = append(rows.g, fmt.Sprint(q))
		}
	})
	if before < 0.99 {
		t.Errorf("up to 1,199 is %v", before)
	}
	for k, p := range []float64{0.02, 0.05, 0.2, 0.5, 0.8, 0.95, 0.98} {
		var got int
		fmt.Sscan(rows.g[k], &got)
		if upTo[got] < p-1./301 || got > 0 && upTo[got-1] >= p+1./301 { // quantiles are of whole ranks
			t.Errorf("the quantile at %v is %d, up to which is %v", p, got, upTo[got])
		}
	}
	sum := 0.0
	for y, count := range drawn {
		if sum += count; !(math.Abs(sum/draws-upTo[y]) <= 4.5*math.Sqrt(0.25/draws)) {
			t.Fatalf("%v of the draws are up to %d, want %v", sum/draws, y, upTo[y])
		}
	}
}

// Under a model that is true, where classes of two kinds of rows have one probability each, a calibrated probability is
// their share, between its bounds.
func TestCalibrateClasses(t *testing.T) {
	held := drawSample(400, 5)
	ones, all := map[float64]float64{}, map[float64]float64{}
	for i := range held.x {
		held.x[i] = float64(i % 2)
		held.b[i] = float64(i * (1 + i%2) % 7 % 2)
		ones[held.x[i]] += held.b[i]
		all[held.x[i]]++
	}
	train := drawSample(200, 6)
	for i := range train.x {
		train.b[i] = 0
		if train.x[i] > 0 {
			train.b[i] = float64((i + 1) % 2)
		}
	}
	calibrated := must.Value(score.Calibrate(t.Context(), fitted(t, train.source(t), fit.Options{Formula: "b ~ x", Family: "bernoulli"}), held.source(t), ""))(t)
	held.visit(t, calibrated, score.Options{}, func(rows *score.Rows, i int) {
		x, p := held.x[rows.First()+i], rows.Predict(i)
		low, high := ones[x]/(all[x]+1), (ones[x]+1)/(all[x]+1)
		if ones[0]/all[0] > ones[1]/all[1] {
			t.Fatal("shares fall, and are pooled")
		}
		if !near(p.ProbabilityLower, low) || !near(p.ProbabilityUpper, high) || !near(p.Probability, high/(1-low+high)) {
			t.Fatalf("%+v, want %v to %v", p, low, high)
		}
	})
}

// What cannot calibrate is refused, each with what is needed.
func TestCalibrateRefuses(t *testing.T) {
	train, held := drawSample(200, 1), drawSample(150, 2)
	few := drawSample(38, 2)
	number := fitted(t, train.source(t), fit.Options{Formula: "y ~ x"})
	class := fitted(t, train.source(t), fit.Options{Formula: "b ~ x", Family: "bernoulli"})
	same := drawSample(200, 9)
	same.b = slices.Clone(train.b) // as many rows of each class
	must.Value(score.Calibrate(t.Context(), class, same.source(t), ""))(t)
	for _, c := range []struct {
		model *credence.Fitted
		rows  credence.Source
		by    string
		want  string
	}{
		{number, train.source(t), "", "these are the 200 rows that the model was fitted to"},
		{class, train.source(t), "", "these are the 200 rows that the model was fitted to"},
		{number, few.source(t), "", "there are 38 rows to calibrate by, and intervals of 95 % need 39"},
		{number, few.source(t), "g", "need 39"},
		{number, held.source(t), "when", `there is no column "when", by which the model is calibrated`},
		{nil, held.source(t), "", "there is no model"},
	} {
		if _, err := score.Calibrate(t.Context(), c.model, c.rows, c.by); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	calibrated := must.Value(score.Calibrate(t.Context(), number, held.source(t), "g"))(t)
	if _, err := score.New(calibrated, score.Options{Interval: 0.99}); err == nil || !strings.Contains(err.Error(), "interval 0.99 needs 199 rows to calibrate by") {
		t.Error(err)
	}
	if _, err := score.NewCalibration(must.Value(score.New(number, score.Options{}))(t)); err == nil {
		t.Error("a scorer that does not calibrate calibrates")
	}
	again := must.Value(score.Calibrate(t.Context(), calibrated, held.source(t), "g"))(t)
	if fmt.Sprint(again.Calibration) != fmt.Sprint(calibrated.Calibration) {
		t.Error("a calibrated model is calibrated on top")
	}
	counted := 0
	for _, b := range held.b {
		counted += int(b)
	}
	some := fitted(t, train.source(t), fit.Options{Formula: "y ~ x + weight(b)"})
	if _, err := score.Calibrate(t.Context(), some, train.source(t), ""); err == nil || !strings.Contains(err.Error(), "these are the 200 rows that the model was fitted to") {
		t.Errorf("rows of the fit, some of weight 0: %v", err)
	}
	weighted := must.Value(score.Calibrate(t.Context(), some, held.source(t), ""))(t)
	if weighted.Calibration.Rows != counted {
		t.Errorf("%d rows calibrate, and %d have a weight", weighted.Calibration.Rows, counted)
	}
	other := *class
	other.Calibration = calibrated.Calibration
	if _, err := score.New(&other, score.Options{}); err == nil {
		t.Error("a model of classes takes the calibration of numbers")
	}
}

// A row of weight 2 calibrates as two rows do, in the order statistics and in the isotonic regressions; weights that
// are not whole are those of rows that count once.
func TestCalibrateWeights(t *testing.T) {
	train, held, test := drawSample(200, 1), drawSample(120, 2), drawSample(40, 3)
	twice := sample{}
	rng := rand.New(rand.NewPCG(4, 4))
	weighed, halves, many := held, held, held
	weighed.grade, halves.grade = nil, nil
	many.grade = slices.Repeat([]float64{1e5}, len(held.x)) // of more than 10⁷ rows
	for i := range held.x {
		w := rng.IntN(4)
		weighed.grade, halves.grade = append(weighed.grade, float64(w)), append(halves.grade, float64(w)/2)
		for range w {
			twice.x, twice.y, twice.count, twice.grade = append(twice.x, held.x[i]), append(twice.y, held.y[i]), append(twice.count, held.count[i]), append(twice.grade, 1)
			twice.b, twice.g = append(twice.b, held.b[i]), append(twice.g, held.g[i])
		}
	}
	for i := range train.grade {
		train.grade[i] = 1
	}
	for _, o := range []fit.Options{{Formula: "y ~ x + weight(grade)"}, {Formula: "b ~ x + weight(grade)", Family: "bernoulli"}, {Formula: "count ~ x + weight(grade)", Family: "poisson"}} {
		model := fitted(t, train.source(t), o)
		predicted := func(s *sample) (list []score.Prediction, c *credence.Fitted) {
			c = must.Value(score.Calibrate(t.Context(), model, s.source(t), ""))(t)
			test.visit(t, c, score.Options{}, func(rows *score.Rows, i int) { list = append(list, rows.Predict(i)) })
			return list, c
		}
		got, calibrated := predicted(&weighed)
		want, repeated := predicted(&twice)
		if calibrated.Calibration.Rows != len(twice.x) {
			t.Errorf("%s: weights stand for %d rows, want %d", o.Formula, calibrated.Calibration.Rows, len(twice.x))
		}
		if o.Family != "poisson" && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, of rows that stand twice %v", o.Formula, got[0], want[0])
		}
		if o.Family == "poisson" { // copies are spread evenly over the probability of their count, and not at random
			a, b := calibrated.Calibration.Scores, repeated.Calibration.Scores
			for k := range a {
				if !(math.Abs(a[k]-b[k]) < 1) {
					t.Errorf("score %d is %v, at random %v", k, a[k], b[k])
				}
			}
			if distinct := len(slices.Compact(slices.Clone(a))); distinct < len(a)*9/10 {
				t.Errorf("%d copies of counts are at %d places", len(a), distinct)
			}
		}
		rows := 0
		for _, w := range halves.grade {
			if w > 0 {
				rows++
			}
		}
		if _, c := predicted(&halves); c.Calibration.Rows != rows {
			t.Errorf("%s: %d rows of weights that are not whole, want %d", o.Formula, c.Calibration.Rows, rows)
		}
		if _, c := predicted(&many); c.Calibration.Rows != len(held.x) {
			t.Errorf("%s: %d rows of very many, want %d", o.Formula, c.Calibration.Rows, len(held.x))
		}
	}
}

// Rows that lack an input are as if they were not there, and each other row keeps its own group.
func TestCalibrateDroppedRows(t *testing.T) {
	train, held := drawSample(200, 1), drawSample(400, 2)
	model := fitted(t, train.source(t), fit.Options{Formula: "y ~ x", Missing: "drop"})
	var whole sample
	for i, x := range held.x {
		if i%5 == 2 {
			held.x[i] = math.NaN()
			continue
		}
		whole.x, whole.g, whole.y = append(whole.x, x), append(whole.g, held.g[i]), append(whole.y, held.y[i])
		whole.count, whole.grade, whole.b = append(whole.count, held.count[i]), append(whole.grade, held.grade[i]), append(whole.b, held.b[i])
	}
	got := must.Value(score.Calibrate(t.Context(), model, held.source(t), "g"))(t).Calibration
	want := must.Value(score.Calibrate(t.Context(), model, whole.source(t), "g"))(t).Calibration
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, without rows that lack x %+v", got.Groups, want.Groups)
	}
}

// TestPITOfClasses: the probability integral transform of a class lies between 0 and 1 less the probability of the
// positive class, or between that and 1, of calibrated probabilities as of the model's; and those that are not
// calibrated have no bounds.
func TestPITOfClasses(t *testing.T) {
	train, held := drawSample(200, 6), drawSample(150, 7)
	model := fitted(t, train.source(t), fit.Options{Formula: "b ~ x", Family: "bernoulli"})
	calibrated := must.Value(score.Calibrate(t.Context(), model, held.source(t), ""))(t)
	for _, of := range []*credence.Fitted{model, calibrated} {
		held.visit(t, of, score.Options{}, func(rows *score.Rows, i int) {
			p := rows.Predict(i)
			below, upTo := rows.PIT(i)
			want := [2]float64{0, 1 - p.Probability}
			if rows.Target(i) == 1 {
				want = [2]float64{want[1], 1}
			}
			if !near(below, want[0]) || !near(upTo, want[1]) {
				t.Fatalf("row %d: %v to %v, want %v", i, below, upTo, want)
			}
			if bounded := p.ProbabilityLower != 0 || p.ProbabilityUpper != 0; bounded != (of == calibrated) {
				t.Fatalf("row %d: %+v", i, p)
			}
			chance := rows.Probabilities(nil, i)
			if y := rows.Target(i); !near(rows.CRPS(i, y), (p.Probability-y)*(p.Probability-y)) || !near(chance[0], 1-p.Probability) || !near(chance[1], p.Probability) {
				t.Fatalf("row %d: crps %v, probabilities %v, want those of %v", i, rows.CRPS(i, y), chance, p.Probability)
			}
		})
	}
}
