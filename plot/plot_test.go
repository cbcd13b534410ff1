package plot

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// rowsOf are n rows of two numbers, a boolean, a category, weights, and targets of each kind.
func rowsOf(t testing.TB, n int, seed uint64) credence.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var x, z, w, y, positive, count, class []float64
	var flag []bool
	var city []string
	for range n {
		a, b, c := rng.NormFloat64(), 5+10*rng.Float64(), rng.IntN(4)
		f := .4 + .6*a - .05*b + .3*float64(c%3)
		x, z, w, flag, city = append(x, a), append(z, b), append(w, float64(1+rng.IntN(2))), append(flag, c == 1), append(city, []string{"Basel", "Basel", "Bern", "Chur"}[c])
		y = append(y, f+.5*rng.NormFloat64())
		positive = append(positive, math.Exp(f+.3*rng.NormFloat64()))
		k, p := 0.0, rng.Float64()
		for p > math.Exp(-math.Exp(f)) {
			p *= rng.Float64()
			k++
		}
		count = append(count, k)
		class = append(class, map[bool]float64{true: 1}[rng.Float64() < 1/(1+math.Exp(-2*f))])
	}
	return must.Value(table.New().Numbers("x", x).Numbers("z", z).Booleans("flag", flag).Categories("city", city).Numbers("w", w).
		Numbers("y", y).Numbers("positive", positive).Numbers("count", count).Numbers("class", class).Source())(t)
}

// modelOf fits rows.
func modelOf(t testing.TB, rows credence.Source, options fit.Options) *score.Scorer {
	t.Helper()
	return must.Value(score.New(must.Value(fit.Table(t.Context(), rows, options))(t), score.Options{}))(t)
}

// pictureOf builds a picture, and draws it: the same at any number of threads, well-formed, without attributes style.
func pictureOf(t *testing.T, kind Kind, input Input) *chart.Chart {
	t.Helper()
	c, err := Of(t.Context(), kind, input)
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	text := svgOf(t, kind, input)
	input.Threads = 1
	if again := svgOf(t, kind, input); again != text {
		t.Errorf("%s: another picture on one thread", kind)
	}
	if c.Title == "" || c.Under == "" || c.Description == "" || !strings.Contains(text, "<desc>") {
		t.Errorf("%s: title %q, under it %q, description %q", kind, c.Title, c.Under, c.Description)
	}
	return c
}

func svgOf(t *testing.T, kind Kind, input Input) string {
	t.Helper()
	var out bytes.Buffer
	must.Succeed(t, Draw(t.Context(), &out, kind, input))
	for d := xml.NewDecoder(bytes.NewReader(out.Bytes())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		must.Succeed(t, err)
		if e, is := token.(xml.StartElement); is {
			for _, a := range e.Attr {
				if a.Name.Local == "style" || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Fatalf("%s: attribute %s=%q", kind, a.Name.Local, a.Value)
				}
			}
		}
	}
}

const inputs = "x + z + flag + city"

// predictedAt is the mean of E y over rows in which a number is replaced, by scoring them as any table.
func predictedAt(t *testing.T, scorer *score.Scorer, source credence.Source, column string, value float64) float64 {
	t.Helper()
	place := source.Schema().Index(column)
	var chunk credence.Chunk
	must.Succeed(t, source.Read(&chunk, 0, source.Rows()))
	b := table.New()
	for j, c := range source.Schema().Columns {
		var numbers []float64
		var names []string
		for i := range chunk.Rows() {
			v := chunk.Values.Row(i)[j]
			if j == place {
				v = value
			}
			if numbers = append(numbers, v); c.Kind == credence.Category {
				names = append(names, c.Levels[int(v)])
			}
		}
		if c.Kind == credence.Category {
			b.Categories(c.Name, names)
		} else {
			b.Numbers(c.Name, numbers)
		}
	}
	bound := must.Value(scorer.Table(must.Value(b.Source())(t), score.IgnoreTargets))(t)
	sum := 0.0
	must.Succeed(t, bound.Each(t.Context(), func(rows *score.Rows) error {
		for i := range rows.Len() {
			mean, _ := rows.Moments(i)
			sum += mean / float64(bound.Rows())
		}
		return nil
	}))
	return sum
}

// TestPredictions: a curve is the mean prediction of the rows with the column replaced, from the first percentile to
// the 99th, and levels are those of effects; the rug has the rows.
func TestPredictions(t *testing.T) {
	rows := rowsOf(t, 300, 1)
	scorer := modelOf(t, rows, fit.Options{Formula: "y ~ " + inputs + " + rbf(x, n=10)"})
	c := pictureOf(t, Predictions, Input{Scorer: scorer, Rows: rows})
	if len(c.Panels) != 4 || !strings.Contains(c.Under, "averaged over 300 rows") {
		t.Fatalf("%d panels, %s", len(c.Panels), c.Under)
	}
	band, line, rug := c.Panels[0].Marks[0], c.Panels[0].Marks[1], c.Panels[0].Marks[2]
	if c.Panels[0].X.Name != "x" || len(line.X) != gridPoints || len(rug.X) != mostRug || band.Shape != chart.Band {
		t.Fatalf("%+v", c.Panels[0])
	}
	for _, k := range []int{0, 7, gridPoints - 1} {
		if want := predictedAt(t, scorer, rows, "x", line.X[k]); !(math.Abs(line.Y[k]-want) <= 1e-9) || !(band.Low[k] < want && want < band.High[k]) {
			t.Errorf("at x = %g: %g from %g to %g, want %g", line.X[k], line.Y[k], band.Low[k], band.High[k], want)
		}
	}
	all := must.Value(effect.Columns(scorer, rows))(t)
	values := all[0].Values
	if low, high := special.Quantile(values, .01), special.Quantile(values, .99); line.X[0] != low || !(math.Abs(line.X[gridPoints-1]-high) <= 1e-12) || values[0] >= low {
		t.Errorf("from %g to %g, want %g to %g", line.X[0], line.X[gridPoints-1], low, high)
	}
	levels := must.Value(effect.Of(t.Context(), scorer, rows, effect.Options{What: effect.Predictions, Columns: []string{"city"}}))(t)
	of := c.Panels[3]
	for k, level := range of.X.Levels {
		i := slices.IndexFunc(levels.Effects, func(e effect.Effect) bool { return e.Contrast == level })
		if e := levels.Effects[i]; !(math.Abs(of.Marks[0].Y[k]-float64(e.Estimate)) <= 1e-9) || !(math.Abs(of.Marks[0].Low[k]-float64(e.Low)) <= 1e-9) || !(math.Abs(of.Marks[0].High[k]-float64(e.High)) <= 1e-9) {
			t.Errorf("%s: %+v, want %+v", level, of.Marks[0], e)
		}
	}
	if a, b := c.Panels[0].Y, c.Panels[3].Y; a.From != b.From || a.To != b.To || !(a.From < slices.Min(band.Low)) {
		t.Errorf("axes %+v and %+v", a, b)
	}
	// The columns that are named, the interval that is asked for, and without data a row at the means.
	wide := pictureOf(t, Predictions, Input{Scorer: scorer, Rows: rows, Columns: []string{"z"}, Interval: .99}).Panels
	if len(wide) != 1 || wide[0].X.Name != "z" || wide[0].Marks[0].Name != "99 % interval" || !(wide[0].Marks[0].High[0] > c.Panels[1].Marks[0].High[0]) {
		t.Errorf("%+v", wide)
	}
	if c := pictureOf(t, Predictions, Input{Scorer: scorer}); len(c.Panels) != 4 || !strings.Contains(c.Under, "training means") || len(c.Panels[0].Marks) != 2 {
		t.Errorf("without data: %d panels, %s", len(c.Panels), c.Under)
	}
}

// TestManyColumns: of many columns those have panels that move the predictions most, in their order.
func TestManyColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	b, y := table.New(), make([]float64, 200)
	for j := range 12 {
		v := make([]float64, len(y))
		for i := range v {
			v[i] = rng.NormFloat64()
			y[i] += float64((j*5)%12) * v[i] // 0 for the first, 1 for the sixth, 2 for the eleventh
		}
		b.Numbers(fmt.Sprintf("v%d", j), v)
	}
	rows := must.Value(b.Numbers("y", y).Source())(t)
	c := pictureOf(t, Predictions, Input{Scorer: modelOf(t, rows, fit.Options{Formula: "y ~ .", Family: "gaussian(variance=1)"}), Rows: rows})
	var names []string
	for _, p := range c.Panels {
		names = append(names, p.X.Name)
	}
	if want := []string{"v1", "v2", "v3", "v4", "v6", "v7", "v8", "v9", "v11"}; !slices.Equal(names, want) || !strings.Contains(c.Under, "9 of 12 columns") {
		t.Errorf("panels %v, want %v; %s", names, want, c.Under)
	}
}

// TestSlopes: of a column that enters linearly the slope is its weight; of others the difference of the predictions.
// Columns that are no numbers have none.
func TestSlopes(t *testing.T) {
	rows := rowsOf(t, 300, 2)
	scorer := modelOf(t, rows, fit.Options{Formula: "y ~ " + inputs + " + rbf(x, n=10)"})
	c := pictureOf(t, Slopes, Input{Scorer: scorer, Rows: rows})
	if len(c.Panels) != 2 {
		t.Fatalf("%d panels", len(c.Panels))
	}
	line := c.Panels[0].Marks[1]
	for _, k := range []int{3, 12, 20} {
		const h = 1e-3
		want := (predictedAt(t, scorer, rows, "x", line.X[k]+h) - predictedAt(t, scorer, rows, "x", line.X[k]-h)) / (2 * h)
		if !(math.Abs(line.Y[k]-want) <= 1e-4*(1+math.Abs(want))) {
			t.Errorf("at x = %g: slope %g, want %g", line.X[k], line.Y[k], want)
		}
	}
	terms := must.Value(score.Terms(scorer.Fitted(), score.TermOptions{}))(t)
	z := terms[slices.IndexFunc(terms, func(t score.Term) bool { return t.Name == "z" })]
	want := must.Value(effect.Of(t.Context(), scorer, rows, effect.Options{What: effect.Slopes, Columns: []string{"z"}}))(t).Effects[0]
	for k, v := range c.Panels[1].Marks[1].Y {
		if !(math.Abs(v-z.Mean) <= 1e-9) || !(math.Abs(c.Panels[1].Marks[0].High[k]-float64(want.High)) <= 1e-9) {
			t.Fatalf("slope of z %g to %g, want the weight %+v", v, c.Panels[1].Marks[0].High[k], z)
		}
	}
}

// TestForest: the rows are the comparisons of effects by a standard deviation, the largest on top, with the interval
// asked for and that of 50 %.
func TestForest(t *testing.T) {
	rows := rowsOf(t, 400, 3)
	scorer := modelOf(t, rows, fit.Options{Formula: "count ~ " + inputs, Family: "poisson"})
	c := pictureOf(t, Forest, Input{Scorer: scorer, Rows: rows})
	panel := c.Panels[0]
	outer, inner, last := panel.Marks[0], panel.Marks[1], 0.0
	for _, of := range []struct {
		interval float64
		mark     chart.Mark
	}{{.9, outer}, {.5, inner}} {
		want := must.Value(effect.Of(t.Context(), scorer, rows, effect.Options{Step: effect.SD, Interval: of.interval}))(t)
		if len(want.Effects) != len(panel.Y.Levels) || len(of.mark.Low) != len(panel.Y.Levels) {
			t.Fatalf("%d rows, want %d", len(panel.Y.Levels), len(want.Effects))
		}
		for k, name := range panel.Y.Levels {
			i := slices.IndexFunc(want.Effects, func(e effect.Effect) bool { return e.Term+": "+e.Change() == name })
			if e := want.Effects[i]; inner.X[k] != float64(e.Estimate) || of.mark.Low[k] != float64(e.Low) || of.mark.High[k] != float64(e.High) || of.mark.Y[k] != float64(k) {
				t.Errorf("%s: from %g to %g, want %+v", name, of.mark.Low[k], of.mark.High[k], e)
			}
		}
	}
	for _, v := range inner.X {
		if math.Abs(v) < last {
			t.Errorf("estimates %v are not in their order", inner.X)
		}
		last = math.Abs(v)
	}
	// Without rows, and over one, every column of the model has its effect.
	two := modelOf(t, rows, fit.Options{Formula: "y ~ x + z"})
	for _, some := range []credence.Source{nil, rowsOf(t, 1, 3)} {
		names := pictureOf(t, Forest, Input{Scorer: two, Rows: some}).Panels[0].Y.Levels
		if all := strings.Join(names, " "); len(names) != 2 || !strings.Contains(all, "x: ") || !strings.Contains(all, "z: ") {
			t.Errorf("over few rows: %v", names)
		}
	}
	if !strings.Contains(c.Description, "on top, with intervals; those that do not reach 0 have a sure sign. "+strings.Replace(panel.Y.Levels[len(panel.Y.Levels)-1], ":", ",", 1)) {
		t.Errorf("the largest is not in the description %s", c.Description)
	}
	// Over many rows effects are those of the delta method, within the error of draws.
	input := Input{Scorer: scorer, Rows: rowsOf(t, 1100, 13), Shared: new(Shared)}
	list, _, err := Effects(t.Context(), input)
	must.Succeed(t, err)
	drawn := must.Value(effect.Of(t.Context(), scorer, input.Rows, effect.Options{Step: effect.SD, Draws: 4000}))(t).Effects
	for _, e := range list {
		o := drawn[slices.IndexFunc(drawn, func(o effect.Effect) bool { return o.Term == e.Term && o.Contrast == e.Contrast })]
		if gap := math.Abs(float64(e.Estimate - o.Estimate)); e.Method != "delta" || o.Method != "draws" || gap > 5*float64(o.MCSE) || !(math.Abs(float64(e.StdError/o.StdError)-1) <= .06) {
			t.Errorf("%s: %+v, and by draws %+v", e.Term, e, o)
		}
	}
}

// TestForestOfLogarithms: a number that a standard deviation would move out of its logarithm goes from its first
// quartile to its third, as effects by these, and the others move by a standard deviation.
func TestForestOfLogarithms(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var income, age, y []float64
	for range 200 {
		income, age = append(income, math.Exp(2*rng.NormFloat64())), append(age, 20+50*rng.Float64())
		y = append(y, math.Log(income[len(y)])+.02*age[len(y)]+rng.NormFloat64())
	}
	rows := must.Value(table.New().Numbers("income", income).Numbers("age", age).Numbers("y", y).Source())(t)
	scorer := modelOf(t, rows, fit.Options{Formula: "y ~ log(income) + age"})
	list, moved, err := Effects(t.Context(), Input{Scorer: scorer, Rows: rows})
	must.Succeed(t, err)
	if moved != "a standard deviation, income from its first quartile to its third" || len(list) != 2 || list[0].Contrast != "Q3 - Q1" {
		t.Fatalf("numbers move by %s: %+v", moved, list)
	}
	for k, step := range []string{effect.IQR, effect.SD} {
		want := must.Value(effect.Of(t.Context(), scorer, rows, effect.Options{Step: step, Columns: []string{list[k].Term}}))(t).Effects[0]
		if list[k].Estimate != want.Estimate || list[k].Low != want.Low {
			t.Errorf("%+v, want %+v", list[k], want)
		}
	}
}

// evaluated is what evaluate says of rows, each left out too where they are those of training.
func evaluated(t *testing.T, scorer *score.Scorer, rows credence.Source, leave bool) (coverage string, e *score.Evaluation) {
	t.Helper()
	e = score.NewEvaluation(scorer.Fitted())
	if leave {
		e.LeaveOneOut(scorer.Fitted())
	}
	bound := must.Value(scorer.Table(rows, score.RequireTargets))(t)
	must.Succeed(t, bound.Each(t.Context(), e.Add))
	return fmt.Sprintf("90 %% intervals hold %.1f %% of the targets", 100*must.Value(e.Result())(t).Coverage["0.9"]), e
}

// TestPIT: the line is the histogram of evaluate, added up, and the coverage that of evaluate, weights included; a
// model that is right stays inside the envelope, and others are told what they are.
func TestPIT(t *testing.T) {
	train, test := rowsOf(t, 600, 4), rowsOf(t, 500, 5)
	for _, options := range []fit.Options{{Formula: "y ~ " + inputs}, {Formula: "count ~ " + inputs, Family: "poisson"}, {Formula: "class ~ " + inputs, Family: "bernoulli"}, {Formula: "positive ~ " + inputs, Family: "gamma"}} {
		scorer := modelOf(t, train, options)
		c := pictureOf(t, PPCPIT, Input{Scorer: scorer, Rows: test, Seed: 3})
		coverage, e := evaluated(t, scorer, test, false)
		if !strings.Contains(c.Under, coverage) || !strings.Contains(c.Under, "500 rows") {
			t.Errorf("%s: %q, want %q", options.Family, c.Under, coverage)
		}
		envelope, line := c.Panels[0].Marks[0], c.Panels[0].Marks[1]
		histogram := must.Value(e.Result())(t).PIT
		sum := 0.0
		for k, share := range histogram {
			sum += share
			z := float64(k+1) / float64(len(histogram))
			i := slices.IndexFunc(line.X, func(x float64) bool { return math.Abs(x-z) < 1e-9 })
			tolerance := 1e-9
			if scorer.Discrete() { // drawn, and not expected
				tolerance = 5 * .5 / math.Sqrt(500)
			}
			if !(math.Abs(line.Y[i]-(sum-z)) <= tolerance) {
				t.Errorf("%s: at %g %g, want %g", options.Family, z, line.Y[i], sum-z)
			}
		}
		if !strings.Contains(c.Panels[0].Title, "stays inside") || len(envelope.X) != 101 {
			t.Errorf("%s: %s", options.Family, c.Panels[0].Title)
		}
	}
	// Calibrated intervals end at targets, which they then hold.
	scorer := modelOf(t, train, fit.Options{Formula: "y ~ x", Family: "gaussian(variance=0.1)"})
	calibrated := must.Value(score.New(must.Value(score.Calibrate(t.Context(), scorer.Fitted(), test, ""))(t), score.Options{}))(t)
	if want, _ := evaluated(t, calibrated, test, false); !strings.Contains(pictureOf(t, PPCPIT, Input{Scorer: calibrated, Rows: test}).Under, want) {
		t.Errorf("calibrated: not %s", want)
	}
	for family, want := range map[string]string{"gaussian(variance=4)": "too wide", "gaussian(variance=0.02)": "too narrow"} {
		c := pictureOf(t, PPCPIT, Input{Scorer: modelOf(t, train, fit.Options{Formula: "y ~ " + inputs, Family: family}), Rows: test})
		if !strings.Contains(c.Panels[0].Title, "leaves the envelope") || !strings.Contains(c.Panels[0].Title, want) {
			t.Errorf("%s: %s", family, c.Panels[0].Title)
		}
	}
	// which are larger than y
	for target, want := range map[string]string{"positive": "are too low and too narrow", "count": "are too low and too narrow"} {
		scorer := modelOf(t, train, fit.Options{Formula: "y ~ " + inputs})
		scorer.Fitted().Frame = renamed(scorer, target)
		if c := pictureOf(t, PPCPIT, Input{Scorer: must.Value(score.New(scorer.Fitted(), score.Options{}))(t), Rows: test}); !strings.Contains(c.Panels[0].Title, want) {
			t.Errorf("%s: %s", target, c.Panels[0].Title)
		}
	}
}

// renamed is the frame of a model with another target.
func renamed(scorer *score.Scorer, target string) credence.Frame {
	f := *scorer.Frame()
	of := *f.Target
	of.Expr.Column = target
	f.Target = &of
	return &f
}

// TestResiduals: points are at the ranks of the predictions, curves hold the shares that they say, and the coverage is
// that of evaluate.
func TestResiduals(t *testing.T) {
	train, test := rowsOf(t, 600, 6), rowsOf(t, 800, 7)
	scorer := modelOf(t, train, fit.Options{Formula: "y ~ " + inputs})
	c := pictureOf(t, Residuals, Input{Scorer: scorer, Rows: test})
	points := c.Panels[0].Marks[0]
	var f, u []float64
	bound := must.Value(scorer.Table(test, score.RequireTargets))(t)
	must.Succeed(t, bound.Each(t.Context(), func(rows *score.Rows) error {
		for i := range rows.Len() {
			mean, _ := rows.Latent(i)
			_, upTo := rows.PIT(i)
			f, u = append(f, mean), append(u, upTo)
		}
		return nil
	}))
	for i := range f {
		below := 0
		for _, other := range f {
			if other < f[i] {
				below++
			}
		}
		if at := (float64(below) + .5) / 800; !(math.Abs(points.X[below]-at) <= 1e-12) || !(math.Abs(points.Y[below]-u[i]) <= 1e-12) {
			t.Fatalf("row %d: point (%g, %g), want (%g, %g)", i, points.X[below], points.Y[below], at, u[i])
		}
	}
	for k, level := range []float64{.25, .5, .75} {
		m := c.Panels[0].Marks[k+1]
		for i, x := range m.X {
			count, within := 0, 0
			for j, at := range points.X {
				if math.Abs(at-x) < .5*133/800 {
					within++
					if points.Y[j] <= m.Y[i] {
						count++
					}
				}
			}
			if share := float64(count) / float64(within); !(math.Abs(share-level) <= .02) {
				t.Errorf("curve %g at %g: %g of %d rows are below", level, x, share, within)
			}
		}
	}
	if coverage, _ := evaluated(t, scorer, test, false); !strings.Contains(c.Under, coverage) {
		t.Errorf("%q, want %q", c.Under, coverage)
	}
	// What pictures share is that of each by itself, left out and not.
	shared := Input{Scorer: scorer, Rows: train, Shared: new(Shared)}
	for _, kind := range []Kind{LOOPIT, PPCPIT, Residuals, LOOPIT} {
		if svgOf(t, kind, shared) != svgOf(t, kind, Input{Scorer: scorer, Rows: train}) {
			t.Errorf("%s: another picture beside others", kind)
		}
	}
}

// TestLeftOut: khat has the Pareto-k̂ of evaluate, and rows that are above are named; loo_pit stands where the Leaver
// says.
func TestLeftOut(t *testing.T) {
	rows := rowsOf(t, 120, 8)
	scorer := modelOf(t, rows, fit.Options{Formula: "count ~ " + inputs, Family: "poisson"})
	c := pictureOf(t, KHat, Input{Scorer: scorer, Rows: rows})
	_, e := evaluated(t, scorer, rows, true)
	loo := must.Value(e.Result())(t).LOO
	good := c.Panels[0].Marks[0]
	if len(good.X) != 120 || slices.Max(good.Y) != loo.ParetoK || loo.Unreliable != 0 || !strings.Contains(c.Under, "every row") {
		t.Errorf("%d points up to %v, want %+v; %s", len(good.X), slices.Max(good.Y), loo, c.Under)
	}
	// A row far out is left out badly, and told by its number.
	far := must.Value(table.New().Numbers("x", []float64{0, 1, .5, .2, 40, .8, .1, .9}).Numbers("n", []float64{3, 2, 4, 3, 900, 1, 5, 2}).Source())(t)
	scorer = modelOf(t, far, fit.Options{Formula: "n ~ x", Family: "poisson", Prior: "normal(variance=100)"})
	c = pictureOf(t, KHat, Input{Scorer: scorer, Rows: far})
	_, e = evaluated(t, scorer, far, true)
	loo = must.Value(e.Result())(t).LOO
	bad := c.Panels[0].Marks[1]
	if loo.Unreliable == 0 || len(bad.X) != loo.Unreliable || !slices.Contains(bad.X, 5) || !regexp.MustCompile(`above 0\.7: row ([\d, ]*)5`).MatchString(c.Under) {
		t.Errorf("%v above, want %+v: %s", bad, loo, c.Under)
	}
	left := pictureOf(t, LOOPIT, Input{Scorer: modelOf(t, rows, fit.Options{Formula: "y ~ " + inputs}), Rows: rows})
	if !strings.Contains(left.Panels[0].Title, "stays inside") {
		t.Errorf("%s", left.Panels[0].Title)
	}
	// Many inputs of chance alone: rows that were fitted look too good, and left out they do not.
	rng := rand.New(rand.NewPCG(1, 9))
	b, n := table.New(), 80
	for j := range 50 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		b.Numbers(fmt.Sprintf("v%d", j), v)
	}
	source := must.Value(b.Source())(t)
	chance := modelOf(t, source, fit.Options{Formula: "v0 ~ .", Prior: "normal(variance=10)", Family: "gaussian(variance=1)"})
	in, out := pictureOf(t, PPCPIT, Input{Scorer: chance, Rows: source}), pictureOf(t, LOOPIT, Input{Scorer: chance, Rows: source})
	if !strings.Contains(in.Panels[0].Title, "predictions are too wide") || !strings.Contains(out.Panels[0].Title, "stays inside") {
		t.Errorf("fitted: %s; left out: %s", in.Panels[0].Title, out.Panels[0].Title)
	}
}

// TestWeights: prior and posterior are the normal densities that the prior states and inspect tells, to their height.
func TestWeights(t *testing.T) {
	rows := rowsOf(t, 60, 10)
	for _, c := range []struct {
		prior   string
		density func(x float64) float64
	}{
		{"normal(variance=0.5)", func(x float64) float64 { return math.Exp(-x * x) }},
		{"laplace(scale=0.4)", func(x float64) float64 { return math.Exp(-math.Abs(x) / .4) }},
	} {
		scorer := modelOf(t, rows, fit.Options{Formula: "y ~ x + z", Prior: c.prior, Family: "gaussian(variance=0.3)", Raw: true})
		p := pictureOf(t, PriorPosterior, Input{Scorer: scorer})
		terms := must.Value(score.Terms(scorer.Fitted(), score.TermOptions{}))(t)
		if len(p.Panels) != 2 || p.Panels[0].Title != "x" {
			t.Fatalf("%d panels, first %s", len(p.Panels), p.Panels[0].Title)
		}
		for _, panel := range p.Panels {
			of := terms[slices.IndexFunc(terms, func(t score.Term) bool { return t.Name == panel.Title })]
			before, after := panel.Marks[1], panel.Marks[2]
			top, peak := slices.Max(after.Y), 0.0
			for _, x := range after.X {
				peak = max(peak, math.Exp(-.5*math.Pow((x-of.Mean)/float64(of.SD), 2)))
			}
			highest := 0.0
			for _, x := range before.X {
				highest = max(highest, c.density(x))
			}
			for i, x := range after.X {
				if want := math.Exp(-.5*math.Pow((x-of.Mean)/float64(of.SD), 2)) / peak; !(math.Abs(after.Y[i]/top-want) <= 1e-6) {
					t.Errorf("%s %s at %g: %g, want %g", c.prior, panel.Title, x, after.Y[i], want)
				}
				if want := c.density(x) / highest; !(math.Abs(before.Y[i]-want) <= 1e-6) {
					t.Errorf("%s %s at %g: prior %g, want %g", c.prior, panel.Title, x, before.Y[i], want)
				}
			}
		}
	}
	// The prior of a process that exact keeps apart from its deviations is as wide for a weight as these are.
	process := modelOf(t, rows, fit.Options{Formula: "y ~ hsgp(x, m=6)", Prior: "normal(variance=1)", Engine: "exact"})
	member := process.Fitted().Members[0]
	deviation := make([]float64, member.Model.Features.Weights())
	member.Model.Features.(credence.Proportioned).Deviations(deviation, nil)
	if slices.Max(deviation) < 2*slices.Min(deviation) {
		t.Fatalf("deviations are %v", deviation)
	}
	for _, panel := range pictureOf(t, PriorPosterior, Input{Scorer: process}).Panels {
		place := 0
		for member.Model.Features.(credence.Named).WeightName(place) != panel.Title {
			place++
		}
		before := panel.Marks[1]
		means, variances := make([]float64, len(deviation)), make([]float64, len(deviation))
		member.Posterior.Marginals(means, variances)
		mean, sd := means[place], math.Sqrt(variances[place])
		if end := max(mean+4*sd, min(2.5*deviation[place], 48*sd)); !(math.Abs(before.X[len(before.X)-1]-end) <= 1e-9*end) {
			t.Errorf("%s is drawn to %g, want %g", panel.Title, before.X[len(before.X)-1], end)
		}
		for i, x := range before.X {
			// No x is quite 0, where the prior has its peak.
			if want := math.Exp(-.5 * math.Pow(x/deviation[place], 2)); !(math.Abs(before.Y[i]-want) <= 1e-3) {
				t.Errorf("%s at %g: prior %g, want %g", panel.Title, x, before.Y[i], want)
				break
			}
		}
	}
	// Of several members with the same features both are mixtures, by the shares of the members.
	var members []credence.Member
	for k, variance := range []string{"0.02", "3"} {
		of := modelOf(t, rows, fit.Options{Formula: "y ~ x + z", Prior: "normal(variance=" + variance + ")", Family: "gaussian(variance=0.3)", Raw: true}).Fitted().Members[0]
		of.Weight = []float64{.8, .2}[k]
		members = append(members, of)
		members[k].Model.Features = members[0].Model.Features
	}
	scorer := modelOf(t, rows, fit.Options{Formula: "y ~ x + z", Raw: true})
	fitted := scorer.Fitted()
	fitted.Members = members
	panel := pictureOf(t, PriorPosterior, Input{Scorer: scorer}).Panels[0]
	before, after, at0 := panel.Marks[1], panel.Marks[2], 0.0
	told := func(x float64) (sum float64) {
		for k, m := range fitted.Members {
			count, place := m.Posterior.Weights(), 0
			for m.Model.Features.(credence.Named).WeightName(place) != panel.Title {
				place++
			}
			means, variances := make([]float64, count), make([]float64, count)
			m.Posterior.Marginals(means, variances)
			sum += fitted.Share(k) * math.Exp(-.5*(x-means[place])*(x-means[place])/variances[place]) / math.Sqrt(variances[place])
		}
		return sum
	}
	highest := 0.0
	for _, x := range after.X {
		highest = max(highest, told(x))
	}
	for i, x := range after.X {
		if want := told(x) / highest; !(math.Abs(after.Y[i]-want) <= 1e-9) {
			t.Fatalf("mixture at %g: posterior %g, want %g", x, after.Y[i], want)
		}
	}
	mixed := func(x float64) (sum float64) {
		for k := range fitted.Members {
			v := []float64{.02, 3}[k]
			sum += fitted.Share(k) * math.Exp(-x*x/(2*v)) / math.Sqrt(v)
		}
		return sum
	}
	for _, x := range before.X {
		at0 = max(at0, mixed(x))
	}
	for i, x := range before.X {
		if want := mixed(x) / at0; !(math.Abs(before.Y[i]-want) <= 1e-9) {
			t.Errorf("mixture at %g: %g, want %g", x, before.Y[i], want)
		}
	}
	if density, _ := priorOf(prior.SpikeSlab{}, 0, 1); density != nil {
		t.Error("a spike has no density")
	}
}

// TestPosteriorOf: a weight is drawn with the mean and the standard deviation that it has, whatever its tails.
func TestPosteriorOf(t *testing.T) {
	draws := &posterior.Draws{Count: 400}
	for i := range draws.Count { // of the second of two weights
		draws.Values = append(draws.Values, float64(90+i), 2+3*special.NormalQuantile((float64(i)+.5)/400))
	}
	for name, c := range map[string]struct {
		of     credence.Posterior
		within float64 // of the standard deviation; draws are smoothed
	}{"normal": {&posterior.Full{Mean: []float64{2}, Factor: []float64{3}}, 1e-4}, "five": {&posterior.Full{Mean: []float64{2}, Factor: []float64{3}, DF: 5}, 1e-3}, "draws": {draws, .05}} {
		place, peak := 0, 1/(3*math.Sqrt(2*math.Pi))
		switch name {
		case "five":
			peak = math.Gamma(3) / math.Gamma(2.5) / math.Sqrt(5*math.Pi) / (3 * math.Sqrt(3./5))
		case "draws":
			place = 1
		}
		density := posteriorOf(&credence.Member{Posterior: c.of}, place, 2, 3)
		if got := density(2); !(math.Abs(got/peak-1) <= c.within) {
			t.Errorf("%s: the density is %g at its peak, want %g", name, got, peak)
		}
		sum, mean, square, reach := 0.0, 0.0, 0.0, 30.0
		if name == "five" {
			reach = 600
		}
		for x := 2 - reach; x <= 2+reach; x += .05 {
			of := .05 * density(x)
			sum, mean, square = sum+of, mean+of*x, square+of*(x-2)*(x-2)
		}
		if !(math.Abs(sum-1) <= 1e-4) || !(math.Abs(mean-2) <= 1e-2) || !(math.Abs(math.Sqrt(square)/3-1) <= c.within) {
			t.Errorf("%s: the density has the sum %g, the mean %g and the standard deviation %g, want 1, 2 and 3", name, sum, mean, math.Sqrt(square))
		}
	}
}

// TestPath: a line for each feature, 0 where a step leaves it out, the largest in colour and the sparsest marked.
func TestPath(t *testing.T) {
	s := &selection.Result{}
	for k := range 4 {
		step := selection.Step{Inclusion: math.Pow(10, float64(k-4)), Selected: k, OneSE: k == 1}
		for j := range 2 * k {
			step.Coefficients = append(step.Coefficients, selection.Coefficient{Name: fmt.Sprintf("x%d", j), Inclusion: 1, Mean: float64(10 - j)})
		}
		s.Path = append(s.Path, step)
	}
	c := pathOf(s)
	panel := c.Panels[0]
	if len(panel.Marks) != 6 || panel.X.Scale != chart.Log || panel.Marks[5].Name != "x0" || panel.Marks[5].Colour != 0 || !strings.Contains(c.Under, "4 fits at stated sparsities, from 0 features selected to 3") {
		t.Fatalf("%+v, %s", panel, c.Under)
	}
	if first := panel.Marks[0]; first.Name != "x5" || !slices.Equal(first.Y, []float64{0, 0, 0, 5}) || !slices.Equal(first.X, []float64{1e-4, 1e-3, 1e-2, 1e-1}) {
		t.Errorf("%+v", first)
	}
	if upright := slices.DeleteFunc(slices.Clone(panel.Rules), func(r chart.Rule) bool { return !r.Upright }); len(upright) != 1 || upright[0].At != 1e-3 {
		t.Errorf("rules %+v", panel.Rules)
	}
	s.Path[3].Coefficients = append(s.Path[3].Coefficients, selection.Coefficient{Name: "small", Inclusion: 1, Mean: .1})
	if other := pathOf(s).Panels[0].Marks[0]; other.Name != "others" || other.Colour != chart.Grey {
		t.Errorf("%+v", other)
	}
}

// TestPanels: a number has its band and its line over values with a fiftieth of their range beside them, a boolean
// and a category have an interval at each level, of which as many are named as are drawn, and panels that are set
// beside each other share an axis that holds all intervals with a twentieth of room.
func TestPanels(t *testing.T) {
	scorer := modelOf(t, rowsOf(t, 60, 12), fit.Options{Formula: "y ~ " + inputs})
	p := &picture{Input: Input{Scorer: scorer, Interval: .8}}
	list := []effect.Effect{{Estimate: 1, Low: 0.5, High: 2}, {Estimate: 3, Low: 1, High: 4.5}, {Estimate: 2, Low: 1.5, High: 2.5}}
	levels := make([]string, mostLevels+3)
	for k := range levels {
		levels[k] = fmt.Sprint("l", k)
	}
	number := p.panel(&effect.Column{Name: "z", Kind: credence.Numeric}, []float64{10, 20, 60}, list)
	if len(number.Marks) != 2 || number.Marks[0].Shape != chart.Band || number.Marks[0].Name != "80 % interval" || number.X.From != 9 || number.X.To != 61 || !slices.Equal(number.Marks[1].Y, []float64{1, 3, 2}) || number.X.Scale == chart.Time {
		t.Errorf("%+v", number)
	}
	if date := p.panel(&effect.Column{Name: "z", Kind: credence.Numeric, Date: true}, []float64{10, 20, 60}, list); date.X.Scale != chart.Time {
		t.Errorf("%+v", date)
	}
	if one := p.panel(&effect.Column{Name: "z", Kind: credence.Numeric}, []float64{10}, list[:1]); len(one.Marks) != 1 || one.Marks[0].Shape != chart.Interval || one.X.Levels != nil {
		t.Errorf("%+v", one)
	}
	if flag := p.panel(&effect.Column{Name: "flag", Kind: credence.Boolean}, []float64{0, 1}, list[:2]); flag.Marks[0].Shape != chart.Interval || !slices.Equal(flag.X.Levels, []string{"false", "true"}) || flag.X.Name != "flag" {
		t.Errorf("%+v", flag)
	}
	for count, name := range map[int]string{mostLevels: "city", mostLevels + 1: "city (20 of 21 levels)"} {
		if city := p.panel(&effect.Column{Name: "city", Kind: credence.Category, Levels: levels[:count]}, []float64{0, 1, 2}, list); len(city.X.Levels) != mostLevels || city.X.Name != name {
			t.Errorf("%d levels: %+v", count, city.X)
		}
	}
	panels := []chart.Panel{number, p.panel(&effect.Column{Name: "x", Kind: credence.Numeric}, []float64{1, 2}, []effect.Effect{{Estimate: 0, Low: -5.5, High: 1}, {Estimate: 1, Low: 0, High: 2}})}
	align(panels)
	for _, panel := range panels {
		if !(math.Abs(panel.Y.From+6) <= 1e-12) || !(math.Abs(panel.Y.To-5) <= 1e-12) {
			t.Errorf("an axis from %g to %g, want -6 to 5", panel.Y.From, panel.Y.To)
		}
	}
	same := []chart.Panel{p.panel(&effect.Column{Name: "x", Kind: credence.Numeric}, []float64{1, 2}, []effect.Effect{{Estimate: 2, Low: 2, High: 2}, {Estimate: 2, Low: 2, High: 2}})}
	if align(same); same[0].Y.From != 0 || same[0].Y.To != 0 {
		t.Errorf("of one value the axis is stated: %+v", same[0].Y)
	}
}

// TestRefusals: a kind that a model or its rows cannot have, with those that can.
func TestRefusals(t *testing.T) {
	rows := rowsOf(t, 40, 11)
	gaussian := modelOf(t, rows, fit.Options{Formula: "y ~ x + z"})
	levels := modelOf(t, rows, fit.Options{Formula: "y ~ city"})
	lacking := must.Value(table.New().Numbers("x", []float64{1}).Numbers("z", []float64{1}).Source())(t)
	none := must.Value(table.New().Numbers("x", nil).Numbers("z", nil).Numbers("y", nil).Source())(t)
	for _, c := range []struct {
		kind  Kind
		input Input
		want  string
	}{
		{Residuals, Input{Scorer: gaussian, Rows: none}, "the data have no rows; there can be"},
		{"ppc_pi", Input{Scorer: gaussian}, "did you mean ppc_pit?"},
		{"trace", Input{Scorer: gaussian}, "choose predictions, slopes, forest"},
		{PPCPIT, Input{}, "there is no scorer"},
		{PPCPIT, Input{Scorer: gaussian}, "give data; there can be predictions, slopes, forest, prior_posterior"},
		{Residuals, Input{Scorer: gaussian, Rows: lacking}, "the data lack the target y; there can be"},
		{KHat, Input{Scorer: gaussian, Rows: rows}, "closed form, which needs no Pareto-k̂; there can be predictions, slopes, forest, ppc_dist, ppc_tstat, ppc_pit, loo_pit, pava_calibration, residuals, prior_posterior"},
		{LOOPIT, Input{Scorer: gaussian, Rows: rowsOf(t, 30, 1)}, "fitted to, which are 40, and these are 30"},
		{Path, Input{Scorer: gaussian, Rows: rows}, "not found by select; there can be"},
		{Slopes, Input{Scorer: levels, Rows: rows}, "no column of the model is a number; there can be"},
		{Slopes, Input{Scorer: gaussian, Rows: rows, Columns: []string{"zz"}}, "did you mean z?"},
		{Predictions, Input{Scorer: gaussian, Rows: rows, Columns: []string{"income"}}, "it has x, z"},
		{Forest, Input{Scorer: gaussian, Columns: []string{"x"}}, "--columns are of predictions and slopes"},
		{Forest, Input{Scorer: gaussian, Interval: 1}, "--interval 1 is not a probability"},
		{PriorPosterior, Input{Scorer: modelOf(t, rows, fit.Options{Formula: "y ~ 1"})}, "no weights but its intercept"},
		{Forest, Input{Scorer: modelOf(t, rows, fit.Options{Formula: "y ~ 1"}), Rows: rows}, "no input that is a column of its own, as those of sparse files and parts of dates are none; there can be ppc_dist"},
		{PriorPosterior, Input{Scorer: modelOf(t, rows, fit.Options{Formula: "y ~ x + z", Prior: "spikeslab"})}, "exactly 0"},
	} {
		if err := Draw(t.Context(), io.Discard, c.kind, c.input); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.kind, err, c.want)
		}
	}
	names, texts := Kinds()
	if len(names) != len(texts) || slices.Contains(texts, "") {
		t.Errorf("%v, %v", names, texts)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := Draw(stopped, io.Discard, PPCPIT, Input{Scorer: gaussian, Rows: rows}); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted picture: %v", err)
	}
}

// TestSmall: one row, one level, constant columns and hostile names have every picture that they can have.
func TestSmall(t *testing.T) {
	evil := `</text><script>"&` + "\u202e"
	var x, same, y []float64
	var level []string
	for i := range 30 {
		x, same, y, level = append(x, float64(i%7)), append(same, 5), append(y, float64(i%7)+math.Sin(float64(i))), append(level, []string{evil, "b", evil + "3"}[i%3])
	}
	train := must.Value(table.New().Numbers(evil+" x", x).Numbers("same", same).Categories("level", level).Numbers("y", y).Source())(t)
	one := must.Value(table.New().Numbers(evil+" x", x[:1]).Numbers("same", same[:1]).Categories("level", level[:1]).Numbers("y", y[:1]).Source())(t)
	scorer := modelOf(t, train, fit.Options{Formula: "y ~ ."})
	for _, rows := range []credence.Source{train, one, nil} {
		kinds := Possible(Input{Scorer: scorer, Rows: rows})
		if least := map[bool]int{true: 4, false: 6}[rows == nil]; len(kinds) < least {
			t.Errorf("only %v", kinds)
		}
		for _, kind := range kinds {
			if kind == Slopes && rows == one { // a single row has no range
				continue
			}
			if text := svgOf(t, kind, Input{Scorer: scorer, Rows: rows}); strings.Contains(text, "<script") || strings.Contains(text, "\u202e") {
				t.Errorf("%s has a name as it is", kind)
			}
		}
	}
}

// TestSample: of many rows an evenly spread part is looked at, which is said, and all where that is asked for; a row
// stands by its number.
func TestSample(t *testing.T) {
	const n = 25_000
	var x, y []float64
	for i := range n {
		x, y = append(x, float64(i)), append(y, math.Sin(float64(i*i)))
	}
	source := must.Value(table.New().Numbers("x", x).Numbers("y", y).Source())(t)
	p := &picture{Input: Input{Rows: source}}
	if part := p.rows().(*table.Spread); part.Rows() != most || part.SourceRow(most-1) != n-1 {
		t.Errorf("%d rows to %d", part.Rows(), part.SourceRow(most-1))
	}
	if got := p.looked(most); got != "10,000 of 25,000 rows" {
		t.Error(got)
	}
	p.All = true
	if p.rows() != credence.Source(source) || p.looked(n) != "25,000 rows" || p.looked(1) != "1 of 25,000 rows" {
		t.Errorf("%d rows, %s", p.rows().Rows(), p.looked(n))
	}
}

// TestNarrow: of very many columns those are drawn that move f most, though they stand last; it is said how many.
func TestNarrow(t *testing.T) {
	rng, n := rand.New(rand.NewPCG(9, 9)), 60
	b, formula := table.New(), "y ~ "
	y := make([]float64, n)
	for j := range 130 {
		values := make([]float64, n)
		for i := range values {
			if values[i] = rng.NormFloat64(); j >= 127 {
				y[i] += float64(j-125) * values[i]
			}
		}
		b.Numbers(fmt.Sprintf("x%d", j), values)
		formula += fmt.Sprintf("x%d + ", j)
	}
	rows := must.Value(b.Numbers("y", y).Source())(t)
	input := Input{Scorer: modelOf(t, rows, fit.Options{Formula: strings.TrimSuffix(formula, " + ")}), Rows: rows, Shared: new(Shared)}
	c := pictureOf(t, Forest, input)
	names := c.Panels[0].Y.Levels
	if len(names) != mostBars || !strings.HasPrefix(names[mostBars-1], "x129: ") || !strings.HasPrefix(names[mostBars-2], "x128: ") || !strings.Contains(c.Under, "; of 130 columns the 60 that move f most; the 30 largest of 60") {
		t.Errorf("%s: %v", c.Under, names)
	}
	c = pictureOf(t, Predictions, input)
	if last := c.Panels[len(c.Panels)-1]; len(c.Panels) != mostPanels || last.X.Name != "x129" || !strings.Contains(c.Under, "9 of 130 columns") {
		t.Errorf("%s: the last panel is of %s", c.Under, last.X.Name)
	}
}

// TestRowsBeyondABlock: of more rows than a block, and of a part of them, each has its own number, prediction and
// transform, left out or not, and rows that are alike have different draws.
func TestRowsBeyondABlock(t *testing.T) {
	const n = credence.BlockRows + 88
	rows := rowsOf(t, n, 21)
	scorer := modelOf(t, rows, fit.Options{Formula: "y ~ " + inputs})
	leaver := score.NewLeaver(scorer.Fitted())
	leaver.KeepPIT()
	var means []float64
	must.Succeed(t, must.Value(scorer.Table(rows, score.RequireTargets))(t).Each(t.Context(), func(rows *score.Rows) error {
		for i := range rows.Len() {
			mean, _ := rows.Latent(i)
			means = append(means, mean)
		}
		return leaver.Add(rows)
	}))
	for _, most := range []int{0, n / 2} {
		p := &picture{Input: Input{Scorer: scorer, Rows: rows, Most: most, Shared: &Shared{}}}
		c := must.Value(p.check(t.Context(), most == 0))(t)
		for k, row := range c.row {
			if c.mean[k] != means[row-1] {
				t.Fatalf("%d rows of %d: row %d has the prediction %v, not %v", len(c.row), n, row, c.mean[k], means[row-1])
			}
			if _, u := leaver.PIT(row - 1); most == 0 && c.u[k] != u {
				t.Fatalf("row %d left out: %v, not %v", row, c.u[k], u)
			}
		}
	}
	var y []float64 // alike, of two values
	for i := range n {
		y = append(y, float64(i%2))
	}
	same := must.Value(table.New().Numbers("y", y).Source())(t)
	p := &picture{Input: Input{Scorer: modelOf(t, same, fit.Options{Formula: "y ~ 1", Family: "poisson"}), Rows: same, Shared: &Shared{}}}
	c := must.Value(p.check(t.Context(), false))(t)
	slices.Sort(c.u)
	if left := len(slices.Compact(slices.Clone(c.u))); left != n {
		t.Errorf("%d rows that are alike have %d draws", n, left)
	}
}
