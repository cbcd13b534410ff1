package metric

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// peerRow is row i of the data that statsmodels 0.14 and scikit-learn were given:
//
//	m = round(sin(1.7 i)·2 + .05 i, 1); y = round(.8 m + cos(2.3 i) + .3, 3); w = 1 + i%3
//	p = round(1/(1 + exp(−m)), 3); c = cos(2.3 i) + m > .4
func peerRow(i int) (m, y, p, c, w float64) {
	x := float64(i)
	m = math.Round((math.Sin(x*1.7)*2+x*0.05)*10) / 10
	y = math.Round((0.8*m+math.Cos(x*2.3)+0.3)*1000) / 1000
	p = math.Round(1000/(1+math.Exp(-m))) / 1000
	if math.Cos(x*2.3)+m > 0.4 {
		c = 1
	}
	return m, y, p, c, float64(1 + i%3)
}

// isotonicSquares is Σ w ŷ² of the isotonic fit, which no other function of the steps has.
func isotonicSquares(bins []ReliabilityBin) (sum float64) {
	for _, b := range bins {
		sum += b.Weight * b.Observed * b.Observed
	}
	return sum
}

// Lines and isotonic steps of weighted rows are those of WLS, GLM(Binomial) on the logit and IsotonicRegression.
func TestCalibrationBesidePeers(t *testing.T) {
	numbers, classes := Calibration{Table: true}, Classification{}
	for i := range 60 {
		m, y, p, c, w := peerRow(i)
		numbers.Add(y, m, w)
		classes.Add(c, p, w)
	}
	line, err := numbers.Result()
	logit, err2 := classes.Calibration(true)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for what, pair := range map[string][2]float64{
		"slope": {float64(line.Slope), 0.7694419791076199}, "intercept": {float64(line.Intercept), 0.35047598186087986},
		"logit slope": {float64(logit.Slope), 3.710146881261822}, "logit intercept": {float64(logit.Intercept), -0.8954052935476485},
		"isotonic": {isotonicSquares(line.Reliability.Isotonic), 475.6884921767926}, "isotonic of classes": {isotonicSquares(logit.Reliability.Isotonic), 85.70833333333333},
		"steps": {float64(len(line.Reliability.Isotonic)), 15}, "steps of classes": {float64(len(logit.Reliability.Isotonic)), 4},
	} {
		if !(math.Abs(pair[0]-pair[1]) <= 1e-9*(1+math.Abs(pair[1]))) {
			t.Errorf("%s is %.16g, peers say %.16g", what, pair[0], pair[1])
		}
	}
}

// Bins hold every row once, in the order of their predictions, and ties together; rows in another order, and weights of
// 2 in place of rows twice, give the same.
func TestReliabilityBins(t *testing.T) {
	var forth, back, twice Calibration
	var classes, classesTwice Classification
	forth.Table, back.Table, twice.Table = true, true, true
	for i := range 200 {
		m, y, p, c, w := peerRow(i)
		forth.Add(y, m, w)
		for range int(w) {
			twice.Add(y, m, 1)
			classesTwice.Add(c, p, 1)
		}
		classes.Add(c, p, w)
		m, y, _, _, w = peerRow(199 - i)
		back.Add(y, m, w)
	}
	result := func(c *Calibration) CalibrationResult {
		r, err := c.Result()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	near := func(what string, a, b CalibrationResult) {
		t.Helper()
		apart := math.Abs(float64(a.Slope-b.Slope)) + math.Abs(float64(a.Intercept-b.Intercept))
		for k, list := range [][2][]ReliabilityBin{{a.Reliability.Bins, b.Reliability.Bins}, {a.Reliability.Isotonic, b.Reliability.Isotonic}} {
			if len(list[0]) != len(list[1]) {
				t.Fatalf("%s: %d and %d bins of kind %d", what, len(list[0]), len(list[1]), k)
			}
			for j, x := range list[0] {
				y := list[1][j]
				apart += math.Abs(x.From-y.From) + math.Abs(x.To-y.To) + math.Abs(x.Predicted-y.Predicted) + math.Abs(x.Observed-y.Observed) + math.Abs(x.Weight-y.Weight)
			}
		}
		if !(apart < 1e-9) {
			t.Errorf("%s: %+v and %+v", what, a, b)
		}
	}
	near("backwards", result(&forth), result(&back))
	near("rows twice", result(&forth), result(&twice))
	one, err := classes.Calibration(true)
	other, err2 := classesTwice.Calibration(true)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	near("classes twice", one, other)
	bins := result(&forth).Reliability.Bins
	total := 0.0
	for k, b := range bins {
		total += b.Weight
		if b.From > b.Predicted || b.Predicted > b.To || k > 0 && b.From <= bins[k-1].To || !(math.Abs(b.Weight-20) <= 12) {
			t.Errorf("bin %d is %+v after %+v", k, b, bins[max(0, k-1)])
		}
	}
	if len(bins) != ReliabilityBins || total != 399 {
		t.Errorf("%d bins of weight %v", len(bins), total)
	}
	steps := result(&forth).Reliability.Isotonic
	if !slices.IsSortedFunc(steps, func(a, b ReliabilityBin) int {
		if a.Observed < b.Observed && a.To < b.From {
			return -1
		}
		return 1
	}) {
		t.Errorf("steps do not ascend: %+v", steps)
	}
	var even Calibration
	even.Table = true
	for i := range 2 * ReliabilityBins {
		even.Add(float64(i%3), float64(i), 0.7)
	}
	for k, b := range result(&even).Reliability.Bins {
		if b.From != float64(2*k) || b.To != float64(2*k+1) || !(math.Abs(b.Weight-1.4) <= 1e-12) {
			t.Errorf("two rows for each bin: bin %d is %+v", k, b)
		}
	}
}

// What has no line has none: one prediction, one class, classes that are told apart without a mistake, rows without a
// mean.
func TestCalibrationWithoutALine(t *testing.T) {
	of := func(rows ...[2]float64) CalibrationResult {
		c := Classification{}
		for _, r := range rows {
			c.Add(r[1], r[0], 1)
		}
		r, err := c.Calibration(false)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for what, r := range map[string]CalibrationResult{
		"no rows": of(), "one class": of([2]float64{0.2, 1}, [2]float64{0.4, 1}), "one prediction": of([2]float64{0.2, 1}, [2]float64{0.2, 0}),
		"apart": of([2]float64{0.2, 0}, [2]float64{0.3, 0}, [2]float64{0.3, 1}, [2]float64{0.9, 1}), "the wrong way": of([2]float64{0.2, 1}, [2]float64{0.3, 0}),
	} {
		if r.Slope.Defined() || r.Intercept.Defined() {
			t.Errorf("%s: %+v", what, r)
		}
	}
	// probabilities that differ by less than the least that a logit is taken of
	if r := of([2]float64{1e-20, 0}, [2]float64{1e-18, 1}, [2]float64{1e-16, 0}); r.Slope.Defined() || r.Intercept.Defined() {
		t.Errorf("one logit: %+v", r)
	}
	if r := of([2]float64{1e-20, 0}, [2]float64{1e-15, 1}, [2]float64{1e-14, 0}); !r.Slope.Defined() {
		t.Errorf("two logits: %+v", r)
	}
	if r := of([2]float64{0, 0}, [2]float64{1, 0}, [2]float64{0, 1}, [2]float64{1, 1}, [2]float64{0.5, 1}); !r.Slope.Defined() {
		t.Errorf("certain and wrong: %+v", r)
	}
	c := Calibration{Table: true}
	c.Add(1, 2, 1)
	c.Add(1, math.NaN(), 1)
	c.Add(3, 4, 1)
	if r, err := c.Result(); err != nil || r.Slope.Defined() || r.Reliability != nil {
		t.Errorf("without a mean: %+v, %v", r, err)
	}
	c = Calibration{}
	c.Add(math.Inf(1), 2, 1)
	if _, err := c.Result(); err == nil {
		t.Error("an infinite target was taken")
	}
}

// The interval score and the weighted interval score are their definitions; from many levels the second is the CRPS,
// here that of a normal distribution.
func TestIntervalScores(t *testing.T) {
	var v Intervals
	v.Add(0.8, 5, 1, 4, 2) // 3 + 10·1
	v.Add(0.8, 2, 1, 4, 1) // 3
	v.Add(0.5, 5, 2, 3, 2) // 1 + 4·2
	v.Add(0.5, 2, 2, 3, 1) // 1
	v.AddMedian(5, 2.5, 2)
	v.AddMedian(2, 2.5, 1)
	r, err := v.Result()
	if err != nil {
		t.Fatal(err)
	}
	want8, want5 := (2*13+3.0)/3, (2*9+1.0)/3
	wis := (0.5*(2*2.5+0.5)/3 + 0.1*want8 + 0.25*want5) / 2.5
	if !(math.Abs(r.Score["0.8"]-want8) <= 1e-14) || !(math.Abs(r.Score["0.5"]-want5) <= 1e-14) || !(math.Abs(float64(*r.WIS)-wis) <= 1e-14) {
		t.Errorf("%+v; want %v, %v, %v", r, want8, want5, wis)
	}
	v = Intervals{}
	v.Add(0.5, 1, math.Inf(-1), 2, 1)
	if r, err := v.Result(); err != nil || len(r.Score) != 0 || r.WIS != nil {
		t.Errorf("an infinite interval: %+v, %v", r, err)
	}
	v = Intervals{}
	v.Add(0.5, 1, math.Inf(-1), 2, 0) // a row that does not count
	v.Add(0.5, 1, 0, 2, 3)
	if r, err := v.Result(); err != nil || r.Width["0.5"] != 2 || r.Score["0.5"] != 2 {
		t.Errorf("an infinite interval of no weight: %+v, %v", r, err)
	}
	v = Intervals{}
	for k := 1; k < 2000; k++ {
		level := float64(k) / 2000
		z := math.Sqrt2 * math.Erfinv(level)
		v.Add(level, 0.7, -z, z, 1)
	}
	v.AddMedian(0.7, 0, 1)
	crps := 0.7*math.Erf(0.7/math.Sqrt2) + 2*math.Exp(-0.245)/math.Sqrt(2*math.Pi) - 1/math.Sqrt(math.Pi)
	if r, err := v.Result(); err != nil || !(math.Abs(float64(*r.WIS)-crps) <= 1e-3) {
		t.Errorf("of 1,999 levels %v, %v; the CRPS is %v", r.WIS, err, crps)
	}
}

// p-values are those of scipy.stats.kstest, which are exact: of 60, 10 and 25 values (mod(.6180339887 i, 1)^1.3, the
// last to the 1.5 again).
func TestPITValue(t *testing.T) {
	of := func(n int, power float64) float64 {
		var p PIT
		for i := range n {
			u := math.Pow(math.Mod(float64(i)*0.6180339887, 1), power)
			p.Add(u, u, 0, float64(1+i%2))
		}
		p.Add(0.5, 0.5, 0, 0)
		r, err := p.Result()
		if err != nil {
			t.Fatal(err)
		}
		return r.PValue
	}
	for _, c := range []struct {
		n           int
		power, want float64
	}{{60, 1.3, 0.4389432258151019}, {10, 1.3, 0.9019319707034601}, {25, 1.95, 0.051312511864532784}} {
		if got := of(c.n, c.power); !(math.Abs(got-c.want) <= 0.003) {
			t.Errorf("%d values: %v, scipy says %v", c.n, got, c.want)
		}
	}
	// Values that are spread as evenly as can be have p-value 1, of few as of many; the statistic of 8 is
	// just above the 0.2 from which on the series is added up, and that of 9 below.
	for _, n := range []int{8, 9, 1000} {
		var p PIT
		for i := range n {
			u := (float64(i) + 0.5) / float64(n)
			p.Add(u, u, 0, 1)
		}
		if r, err := p.Result(); err != nil || !(math.Abs(r.PValue-1) <= 1e-9) {
			t.Errorf("%d even values: %v, %v", n, r.PValue, err)
		}
	}
	// Of discrete targets each row has a place by chance: under a model that is right few p-values are small.
	small := 0
	for seed := range uint64(200) {
		var p PIT
		rng := rand.New(rand.NewPCG(seed, PITBins))
		for i := range 50 {
			p.Add([2]float64{0, 0.3}[min(1, i*3/48)], [2]float64{0.3, 1}[min(1, i*3/48)], rng.Float64(), 1)
		}
		r, err := p.Result()
		if err != nil {
			t.Fatal(err)
		}
		if !(r.PValue >= 0.05) {
			small++
		}
	}
	if small > 10 {
		t.Errorf("%d of 200 p-values are below .05", small)
	}
}

// Sums of targets that no number holds leave the table out, and the rows of others in.
func TestReliabilityOfHugeTargets(t *testing.T) {
	for _, c := range []struct {
		y    float64
		left bool
	}{{1e308, true}, {1e300, false}} {
		table := Calibration{Table: true}
		for i := range 100 {
			table.Add(c.y, float64(i), 1)
		}
		result, err := table.Result()
		if err != nil {
			t.Fatal(err)
		}
		if left := result.Reliability == nil; left != c.left {
			t.Errorf("targets %g: the table is left out: %v, want %v", c.y, left, c.left)
		}
	}
}

// TestTablesOfClasses: the reliability table of two classes is that of the numbers 0 and 1, of rows of any weights.
func TestTablesOfClasses(t *testing.T) {
	rng := generator(12)
	var classes Classification
	numbers := Calibration{Table: true}
	for range 400 {
		y, p, weight := float64(rng.IntN(2)), float64(rng.IntN(90))/90, 0.5+2*rng.Float64()
		classes.Add(y, p, weight)
		numbers.Add(y, p, weight)
	}
	got, want := must[CalibrationResult](t)(classes.Calibration(true)).Reliability, must[CalibrationResult](t)(numbers.Result()).Reliability
	if len(got.Bins) != len(want.Bins) || len(got.Isotonic) != len(want.Isotonic) {
		t.Fatalf("%d bins and %d steps, want %d and %d", len(got.Bins), len(got.Isotonic), len(want.Bins), len(want.Isotonic))
	}
	others := append(want.Bins, want.Isotonic...)
	for k, b := range append(got.Bins, got.Isotonic...) {
		o := others[k]
		for _, pair := range [][2]float64{{b.From, o.From}, {b.To, o.To}, {b.Predicted, o.Predicted}, {b.Observed, o.Observed}, {b.Weight, o.Weight}} {
			near(t, "a number of the table", Score(pair[0]), pair[1], sumTolerance)
		}
	}
	var infinite Calibration
	infinite.Add(1, math.Inf(-1), 1)
	if _, err := infinite.Result(); err == nil {
		t.Error("an infinite mean is taken")
	}
}
