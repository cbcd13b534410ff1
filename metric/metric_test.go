package metric

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sumTolerance is for the same sum in another order: n rows of rounding errors
// of 1e-16 in the plain sums of the oracles, n ≤ 10⁴.
const sumTolerance = 1e-12

func near(t *testing.T, what string, got Score, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(float64(got)-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s is %.17g, want %.17g", what, float64(got), want)
	}
}

func must[R any](t testing.TB) func(R, error) R {
	return func(r R, err error) R {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func toJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A plain sum of these is 0; carried errors give the true 2.
func TestSumCarriesErrors(t *testing.T) {
	var s sum
	for _, x := range []float64{1, 1e100, 1, -1e100} {
		s.add(x)
	}
	if s.value() != 2 {
		t.Errorf("sum is %g, want 2", s.value())
	}
	s.add(math.Inf(1))
	s.add(1)
	if !math.IsInf(s.value(), 1) {
		t.Errorf("sum is %g, want +Inf", s.value())
	}
}

// Of one row, of a constant target, of nothing, of infinities: what is undefined
// is absent, and what is 0 is present.
func TestUndefinedIsAbsent(t *testing.T) {
	regression := func(rows ...[3]float64) string {
		r := Regression{TrainVariance: 1}
		for _, row := range rows {
			r.Add(row[0], row[1], row[2], 1)
		}
		return toJSON(t, must[RegressionResult](t)(r.Result()))
	}
	classification := func(rows ...[2]float64) string {
		var c Classification
		for _, row := range rows {
			c.Add(row[0], row[1], 1)
		}
		return toJSON(t, must[ClassificationResult](t)(c.Result()))
	}
	deviance := func(units ...float64) string {
		var d Deviance
		for _, unit := range units {
			d.Add(unit, 1)
		}
		return toJSON(t, must[DevianceResult](t)(d.Result()))
	}
	var noProgress Progressive
	var wide Intervals
	wide.Add(0.9, 1, math.Inf(-1), math.Inf(1), 1)
	wide.Add(0.5, 1, 2, 2, 1)
	wide.Add(0.8, 1, 2, 2, 0)
	cases := map[string][2]string{
		"no rows":         {regression(), "rows"},
		"zero density":    {regression([3]float64{1, 1, 0}, [3]float64{2, 2, math.Inf(-1)}), "mae r2 rmse rows smse zero_density_rows"},
		"constant":        {regression([3]float64{0.1, 0.1, 0}, [3]float64{0.1, 0.1, 0}), "mae msll nlpd rmse rows"},
		"no predictions":  {classification(), "rows"},
		"one class":       {classification([2]float64{1, 1}), "accuracy brier ece log_loss rows"},
		"both classes":    {classification([2]float64{1, 0.5}, [2]float64{0, 0.5}), "accuracy auc brier ece log_loss rows"},
		"no stream":       {toJSON(t, must[ClassificationResult](t)(noProgress.Result())), "rows"},
		"no deviance":     {deviance(), ""},
		"saturated":       {deviance(0, 0), "deviance"},
		"ruled out":       {deviance(1, math.Inf(1)), "infinite_deviance_rows"},
		"infinite width":  {toJSON(t, must[IntervalsResult](t)(wide.Result())), "coverage interval_score interval_width"},
		"empty intervals": {toJSON(t, IntervalsResult{}), ""},
	}
	for name, c := range cases {
		var got map[string]any
		if err := json.Unmarshal([]byte(c[0]), &got); err != nil {
			t.Fatal(err)
		}
		if keys := strings.Join(slices.Sorted(maps.Keys(got)), " "); keys != c[1] {
			t.Errorf("%s: got  %s\nwant %s", name, keys, c[1])
		}
	}
}

func TestInfiniteWidthIsAbsentAtItsLevelOnly(t *testing.T) {
	var v Intervals
	v.Add(0.9, 1, math.Inf(-1), math.Inf(1), 1)
	v.Add(0.5, 1, 2, 2, 1)
	if got := toJSON(t, must[IntervalsResult](t)(v.Result())); got != `{"coverage":{"0.5":0,"0.9":1},"interval_width":{"0.5":0},"interval_score":{"0.5":4}}` {
		t.Error(got)
	}
}

func TestEvaluationIsOneObject(t *testing.T) {
	r := Regression{TrainMean: 0, TrainVariance: 1}
	var c Classification
	var v Intervals
	var d Deviance
	for i, y := range []float64{0, 1, 1, 0} {
		p := []float64{0.25, 0.75, 0.5, 0.5}[i]
		r.Add(y, p, math.Log(0.5), 1)
		c.Add(y, p, 1)
		for _, level := range Levels() {
			v.Add(level, y, p-level, p+level, 1)
		}
		d.Add(BinomialDeviance(y, 1, p), 1)
	}
	rr, cr := must[RegressionResult](t)(r.Result()), must[ClassificationResult](t)(c.Result())
	vr, dr := must[IntervalsResult](t)(v.Result()), must[DevianceResult](t)(d.Result())
	var got map[string]any
	if err := json.Unmarshal([]byte(toJSON(t, Evaluation{Rows: 4, RegressionResult: &rr, IntervalsResult: &vr, ClassificationResult: &cr, DevianceResult: &dr})), &got); err != nil {
		t.Fatal(err)
	}
	keys := "rows nlpd rmse mae smse msll r2 coverage interval_width interval_score accuracy log_loss auc brier ece deviance"
	for _, key := range strings.Fields(keys) {
		if _, found := got[key]; !found {
			t.Errorf("%s is missing", key)
		}
		delete(got, key)
	}
	if len(got) != 0 {
		t.Errorf("unexpected: %v", got)
	}
	if text := toJSON(t, Evaluation{Rows: 3, DevianceResult: &dr}); !strings.HasPrefix(text, `{"rows":3,"deviance":`) {
		t.Error(text)
	}
}

// Every refusal names the first bad row, and later rows do not hide it.
func TestRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	regression := func(y, mean, logDensity, weight float64) error {
		var r Regression
		r.Add(y, mean, logDensity, weight)
		r.Add(1, 1, 0, -1)
		_, err := r.Result()
		return err
	}
	pit := func(below, upTo, weight float64) error {
		var p PIT
		p.Add(0.5, 0.5, 0, 1)
		p.Add(below, upTo, 0, weight)
		p.Add(0, 1, 0, -1)
		_, err := p.Result()
		return err
	}
	classification := func(y, p, weight float64) error {
		var c Classification
		var s Progressive
		for _, add := range []func(y, p, weight float64){c.Add, func(y, p, weight float64) { s.Add(y, p, weight) }} {
			add(0, 0.5, 1)
			add(y, p, weight)
			add(0, 0.5, -1)
		}
		_, err := c.Result()
		if _, line := c.Calibration(true); line == nil || line.Error() != err.Error() {
			t.Errorf("exact %v, its calibration %v", err, line)
		}
		if state, lost := s.State(); state != nil || lost == nil || lost.Error() != err.Error() {
			t.Errorf("exact %v, a state of progressive ones %v, %v", err, state, lost)
		}
		if _, other := s.Result(); other == nil || err == nil || other.Error() != err.Error() {
			t.Errorf("exact %v, progressive %v", err, other)
		}
		return err
	}
	intervals := func(level, y, lower, upper float64) error {
		var v Intervals
		v.Add(0.5, 1, 0, 2, 1)
		v.Add(level, y, lower, upper, 1)
		v.Add(level, 1, 0, 2, -1)
		_, err := v.Result()
		return err
	}
	deviance := func(unit, weight float64) error {
		var d Deviance
		d.Add(unit, weight)
		_, err := d.Result()
		return err
	}
	cases := map[string]error{
		"metric: row 1: target is NaN: it must be finite":                                    regression(nan, 0, 0, 1),
		"metric: row 1: target is +Inf: it must be finite":                                   regression(inf, 0, 0, 0),
		"metric: row 1: mean is -Inf: it must be finite":                                     regression(0, -inf, 0, 1),
		"metric: row 1: log density is NaN: a density is a finite number":                    regression(0, 0, nan, 1),
		"metric: row 1: log density is +Inf: a density is a finite number":                   regression(0, 0, inf, 1),
		"metric: row 1: weight is NaN: weights must be finite and not negative":              regression(0, 0, 0, nan),
		"metric: row 1: weight is -1: weights must be finite and not negative":               regression(0, 0, 0, -1),
		"metric: row 2: weight is +Inf: weights must be finite and not negative":             classification(0, 0.5, inf),
		"metric: row 2: target is -1: classes are 0 and 1":                                   classification(-1, 0.5, 1),
		"metric: row 2: target is NaN: classes are 0 and 1":                                  classification(nan, 0.5, 1),
		"metric: row 2: probability is NaN: it must lie between 0 and 1":                     classification(0, nan, 1),
		"metric: row 2: probability is 1.5: it must lie between 0 and 1":                     classification(0, 1.5, 1),
		"metric: row 2: probability is -0.5: it must lie between 0 and 1":                    classification(0, -0.5, 0),
		"metric: level is 1: it must lie between 0 and 1":                                    intervals(1, 0, 0, 1),
		"metric: level is NaN: it must lie between 0 and 1":                                  intervals(nan, 0, 0, 1),
		"metric: row 2: interval [2, 1] at level 0.5 is not one":                             intervals(0.5, 0, 2, 1),
		"metric: row 1: interval [NaN, 1] at level 0.9 is not one":                           intervals(0.9, 0, nan, 1),
		"metric: row 2: target is NaN: it must be finite":                                    intervals(0.5, nan, 0, 1),
		"metric: row 2: the probabilities 0.5 below the target and 0.25 up to it are none":   pit(0.5, 0.25, 1),
		"metric: row 2: the probabilities -0.1 below the target and 0.5 up to it are none":   pit(-0.1, 0.5, 0),
		"metric: row 2: the probabilities 0 below the target and 1.5 up to it are none":      pit(0, 1.5, 1),
		"metric: row 2: the probabilities NaN below the target and 1 up to it are none":      pit(nan, 1, 1),
		"metric: row 2: weight is NaN: weights must be finite and not negative":              pit(0, 1, nan),
		"metric: row 1: deviance is NaN: target or mean is outside the domain of the family": deviance(nan, 1),
		"metric: row 1: deviance is -1: target or mean is outside the domain of the family":  deviance(-1, 1),
		"metric: row 1: weight is -2: weights must be finite and not negative":               deviance(1, -2),
	}
	for want, err := range cases {
		if err == nil || err.Error() != want {
			t.Errorf("error is %v\nwant     %s", err, want)
		}
	}
}

// TestFigures: a figure has the name and the value that it has in JSON, and what is not defined is left out.
func TestFigures(t *testing.T) {
	crps, original, wis, p := Score(.7), Score(1.25), Score(.6), .3
	for _, e := range []Evaluation{
		{RegressionResult: &RegressionResult{NLPD: 1, RMSE: 2, MAE: 3, SMSE: 4, MSLL: Score(math.NaN()), R2: 5}, CRPS: &crps, NLPDOriginal: &original, PITValue: &p,
			IntervalsResult: &IntervalsResult{WIS: &wis}, CalibrationResult: &CalibrationResult{Slope: 1.5}, DevianceResult: &DevianceResult{Deviance: 9}},
		{ClassificationResult: &ClassificationResult{Accuracy: .9, LogLoss: .2, AUC: .8, Brier: .1, ECE: .05}, CalibrationResult: &CalibrationResult{Slope: 1.5}},
	} {
		var told map[string]any
		if err := json.Unmarshal([]byte(toJSON(t, e)), &told); err != nil {
			t.Fatal(err)
		}
		figures := e.Figures()
		for _, f := range figures {
			if told[f.Name] != float64(f.Value) {
				t.Errorf("%s is %v, and %v in JSON", f.Name, f.Value, told[f.Name])
			}
		}
		if want := map[bool]int{true: 6, false: 11}[e.ClassificationResult != nil]; len(figures) != want {
			t.Errorf("%d figures, want %d: %v", len(figures), want, figures)
		}
	}
}

// Groups go by numbers, behind which stand texts by their bytes; the first column that differs decides.
func TestGroupsInOrder(t *testing.T) {
	list := []string{"-2", "9", "10", "10.0", "+Inf", "1a", "9a", "Bern", "missing"}
	for i, a := range list {
		for j, b := range list {
			if got := (Group{{"g", a}}).Compare(Group{{"g", b}}); (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("%s against %s: %d", a, b, got)
			}
		}
	}
}

// A group is one object with its columns in their order, of any texts, and reads so for people.
func TestGroupTexts(t *testing.T) {
	for _, c := range []struct {
		group      Group
		json, text string
	}{
		{nil, `{}`, ""},
		{Group{{"region", "Bern"}}, `{"region":"Bern"}`, "region Bern"},
		{Group{{"z \"a\"", "1"}, {"a", "<é\n>"}, {"b", ""}}, `{"z \"a\"":"1","a":"\u003cé\n\u003e","b":""}`, "z \"a\" 1, a <é\n>, b "},
	} {
		text, err := json.Marshal(c.group)
		if err != nil || string(text) != c.json {
			t.Errorf("%v is %s (%v), want %s", c.group, text, err, c.json)
		}
		if got := c.group.String(); got != c.text {
			t.Errorf("%v reads %q, want %q", c.group, got, c.text)
		}
	}
	first := Group{{"a", "1"}, {"b", "z"}}
	for _, behind := range []Group{{{"a", "1"}, {"b", "zz"}}, {{"a", "2"}, {"b", "a"}}} {
		if first.Compare(behind) >= 0 || behind.Compare(first) <= 0 {
			t.Errorf("%v does not stand behind %v", behind, first)
		}
	}
}

// TestWeightsAreRowsRepeated: every measure of rows with whole weights is that of each row as often as its weight says,
// with ties among the predictions; and rows of weight 0, wherever they lie, leave no trace.
func TestWeightsAreRowsRepeated(t *testing.T) {
	rng := generator(11)
	type row struct{ y, p, spread, weight float64 }
	var weighted, repeated []row
	for range 300 {
		r := row{float64(rng.IntN(2)), float64(1+rng.IntN(60)) / 61, 1 + rng.Float64(), float64(rng.IntN(4))}
		weighted = append(weighted, r)
		for range int(r.weight) {
			repeated = append(repeated, row{r.y, r.p, r.spread, 1})
		}
	}
	weighted = append(weighted, row{0, 0.001, 1, 0}, row{1, 0.999, 1, 0})
	measure := func(rows []row) (numbers []float64) {
		var classes Classification
		var stream Progressive
		line := Calibration{Table: true}
		var intervals Intervals
		var pit PIT
		for _, r := range rows {
			classes.Add(r.y, r.p, r.weight)
			stream.Add(r.y, r.p, r.weight)
			line.Add(r.y*r.spread, r.p, r.weight)
			intervals.Add(0.8, r.y*r.spread, r.p, r.p+r.spread, r.weight)
			intervals.AddMedian(r.y, r.p, r.weight)
			pit.Add(r.p*r.p, r.p, 0, r.weight)
		}
		c, s := must[ClassificationResult](t)(classes.Result()), must[ClassificationResult](t)(stream.Result())
		numbers = append(numbers, float64(c.Accuracy), float64(c.LogLoss), float64(c.AUC), float64(c.Brier), float64(c.ECE), c.Share,
			float64(s.Accuracy), float64(s.LogLoss), float64(s.AUC), float64(s.Brier), float64(s.ECE), float64(s.AUCError))
		for _, r := range []CalibrationResult{must[CalibrationResult](t)(classes.Calibration(true)), must[CalibrationResult](t)(line.Result())} {
			numbers = append(numbers, float64(r.Slope), float64(r.Intercept))
			for _, b := range slices.Concat(r.Reliability.Bins, r.Reliability.Isotonic) {
				numbers = append(numbers, b.From, b.To, b.Predicted, b.Observed, b.Weight)
			}
		}
		v, p := must[IntervalsResult](t)(intervals.Result()), must[PITResult](t)(pit.Result())
		numbers = append(numbers, v.Coverage["0.8"], v.Width["0.8"], v.Score["0.8"], float64(*v.WIS))
		for _, level := range Levels() {
			numbers = append(numbers, p.Coverage[levelKey(level)])
		}
		return append(numbers, p.Histogram...)
	}
	got, want := measure(weighted), measure(repeated)
	if len(got) != len(want) {
		t.Fatalf("%d numbers, want %d", len(got), len(want))
	}
	for k := range got {
		near(t, "number "+string(rune('0'+k/100))+string(rune('0'+k/10%10))+string(rune('0'+k%10)), Score(got[k]), want[k], 1e-9)
	}
	var none Classification
	none.Add(1, 0.3, 0)
	if r, err := none.Calibration(true); err != nil || r.Reliability != nil {
		t.Errorf("rows without weight have the table %+v, %v", r.Reliability, err)
	}
	var levels Intervals
	levels.Add(0, 1, 0, 2, 1)
	levels.Add(1.5, 1, 0, 2, 1)
	if _, err := levels.Result(); err == nil || !strings.Contains(err.Error(), "level is 0:") {
		t.Errorf("%v, want that of the first level", err)
	}
}
