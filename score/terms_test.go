package score_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

func terms(t *testing.T, model *credence.Fitted, options score.TermOptions) []score.Term {
	t.Helper()
	all := must.Value(score.Terms(model, options))(t)
	return all
}

// cells is a table of which columns can be worked out by the names of weights.
type cells struct {
	n       int
	numbers map[string][]float64
	levels  map[string][]string
}

// newCells draws columns far from 0 and of different sizes, levels g and h, a target y, counts, a weight w and an
// offset o.
func newCells(n int) cells {
	rng := rand.New(rand.NewPCG(20, 26))
	c := cells{n, map[string][]float64{}, map[string][]string{}}
	for range n {
		a, b := 30+4*rng.NormFloat64(), -0.5+0.1*rng.NormFloat64()
		g, h := rng.IntN(3), rng.IntN(2)
		for name, v := range map[string]float64{
			"a": a, "b": b, "d": 2000 * rng.Float64(), "w": float64(1 + rng.IntN(3)), "o": rng.NormFloat64(), "log(a)": math.Log(a),
			"y": a + 20*b*b + float64(g)*0.3*(a-10) + float64(h) + rng.NormFloat64(), "count": float64(rng.IntN(5)),
		} {
			c.numbers[name] = append(c.numbers[name], v)
		}
		c.levels["g"] = append(c.levels["g"], []string{"u", "v", "w"}[g])
		c.levels["h"] = append(c.levels["h"], []string{"no", "yes please"}[h])
	}
	return c
}

func (c *cells) source(t *testing.T) credence.Source {
	t.Helper()
	rows := table.New()
	for _, name := range []string{"a", "b", "d", "w", "o", "y", "count"} {
		rows.Numbers(name, c.numbers[name])
	}
	source := must.Value(rows.Categories("g", c.levels["g"]).Categories("h", c.levels["h"]).Source())(t)
	return source
}

// column returns row i of the column that a weight's name says.
func (c *cells) column(i int, name string) float64 {
	if name == "(intercept)" {
		return 1
	}
	product := 1.0
	for _, factor := range strings.Split(name, ":") {
		if column, level, ok := strings.Cut(factor, "="); ok {
			if c.levels[column][i] != level {
				return 0
			}
			continue
		}
		column, exponent, _ := strings.Cut(factor, "^")
		values, known := c.numbers[column]
		if !known {
			panic(fmt.Sprintf("a weight is named %q", name))
		}
		degree, err := strconv.Atoi(exponent)
		if err != nil {
			degree = 1
		}
		product *= math.Pow(values[i], float64(degree))
	}
	return product
}

// Σ weight × column is the mean of f in every row, for every formula without features that the fit makes, under
// every engine and option. The error is bounded relative to the sum of absolute summands.
func TestTermsAddUpToTheLatentMean(t *testing.T) {
	c := newCells(60)
	for _, formula := range []string{
		"a + b + g", "a:b", "a*b", "a:g", "a + a:g", "g + a:g", "a*g", "a*g*b", "a:b:d", "a*b*d", "g:h", "g*h", "a*g*h", "a:g:h + h",
		"poly(a, 3)", "poly(a, b, 4)", "b + poly(a, 2) + a:b", "log(a)*g", "log(a):b", "onehot(g) + a:g", "0 + a*b", "0 + a:g", "0 + g + a:g",
		"a*b + weight(w)", "a:g + offset(o) + weight(w)", "poly(a, 2) + offset(o)",
	} {
		for _, o := range []fit.Options{
			{}, {Raw: true}, {Engine: "svi", Family: "gaussian"}, {Engine: "svi(components=2)"}, {Family: "poisson"}, {Prior: "normal(variance=2)"},
		} {
			for _, bases := range [][]string{nil, {"mean"}, {"g=v"}} {
				if len(bases) > 0 && (o.Raw || o.Engine != "" || !strings.Contains(formula, "g")) {
					continue
				}
				o.Formula = "y ~ " + formula
				if o.Family == "poisson" {
					o.Formula = "count ~ " + formula
				}
				source := c.source(t)
				model, err := fit.Table(context.Background(), source, o)
				if err != nil {
					t.Fatalf("%+v: %v", o, err)
				}
				all, err := score.Terms(model, score.TermOptions{Bases: bases})
				if err != nil && (strings.Contains(err.Error(), "no term of its own") || strings.Contains(err.Error(), "no categories")) {
					continue
				} else if err != nil {
					t.Fatal(err)
				}
				each(t, model, source, func(rows *score.Rows, i int) {
					sum, size := 0.0, 0.0
					if strings.Contains(formula, "offset") {
						sum = c.numbers["o"][i]
					}
					for _, term := range all {
						x := term.Mean * c.column(i, term.Name)
						sum, size = sum+x, size+math.Abs(x)
					}
					if mean, _ := rows.Latent(i); !(math.Abs(mean-sum) <= 1e-9*(1+math.Abs(mean))+1e-13*size) {
						t.Fatalf("%+v, %v, row %d: Σ weight × column is %.12g and f is %.12g", o, bases, i, sum, mean)
					}
				})
			}
		}
	}
}

// Products of columns of a sparse segment, which are never scaled, with columns of their own.
func TestTermsOfSparseRows(t *testing.T) {
	var x linop.CSR
	x.Reset(4)
	rng := rand.New(rand.NewPCG(1, 9))
	labels := make([]float64, 50)
	for i := range labels {
		values := []float64{rng.NormFloat64(), 5 + rng.Float64()}
		x.AppendRow([]int32{int32(i % 2), int32(2 + i%2)}, values)
		labels[i] = values[0]*values[1] + rng.NormFloat64()
	}
	source := must.Value(table.Sparse(labels, x))(t)
	model := fitted(t, source, fit.Options{Formula: "label ~ . + x1:x3 + poly(x2, 2)"})
	each(t, model, source, func(rows *score.Rows, i int) {
		sum := 0.0
		for _, term := range terms(t, model, score.TermOptions{}) {
			value := 1.0
			for _, factor := range strings.Split(term.Name, ":") {
				name, power, _ := strings.Cut(factor, "^")
				if name == "(intercept)" {
					continue
				}
				j, err := strconv.Atoi(name[1:])
				if err != nil {
					t.Fatalf("a weight is named %s", term.Name)
				}
				cell := 0.0
				for column, v := range x.Each(i) {
					if column == j-1 {
						cell = v
					}
				}
				if value *= cell; power != "" {
					value *= cell
				}
			}
			sum += term.Mean * value
		}
		if mean, _ := rows.Latent(i); !near(sum, mean) {
			t.Fatalf("row %d: %v and f is %v", i, sum, mean)
		}
	})
}

// orthonormal returns an orthonormal basis of the span of columns, those that depend on others left out.
func orthonormal(columns [][]float64) [][]float64 {
	var basis [][]float64
	for _, column := range columns {
		v := append([]float64(nil), column...)
		size := math.Sqrt(dot(v, v))
		for range 2 { // twice is enough
			for _, q := range basis {
				along := dot(q, v)
				for i := range v {
					v[i] -= along * q[i]
				}
			}
		}
		if left := math.Sqrt(dot(v, v)); left > 1e-9*size {
			for i := range v {
				v[i] /= left
			}
			basis = append(basis, v)
		}
	}
	return basis
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// Under the flattest prior a formula fits what R's model matrix fits: least squares on the span of the raw columns, by
// orthonormal columns. They stand as R names them, levels in full where a margin is absent. A prior variance of 10⁸
// leaves a relative 10⁻⁸ of the weights, times the condition of the columns; products of centred columns alone miss by
// more than 1.
func TestFormulasMeanWhatTheyMeanInR(t *testing.T) {
	c := newCells(80)
	levels := func(prefix string) []string { return []string{prefix + "g=u", prefix + "g=v", prefix + "g=w"} }
	for formula, span := range map[string][]string{
		"a:b":            {"a:b"},
		"a + a:b":        {"a", "a:b"},
		"a*b":            {"a", "b", "a:b"},
		"a:g":            levels("a:"),
		"a + a:g":        levels("a:"),
		"g + a:g":        append(levels(""), levels("a:")...),
		"a*g":            append(levels(""), levels("a:")...),
		"b + a:b:g":      append(levels("a:b:"), "b"),
		"poly(a, 3)":     {"a", "a^2", "a^3"},
		"a*g*b":          append(append(append(levels(""), levels("a:")...), levels("b:")...), levels("a:b:")...),
		"h + a:b + a:d":  {"h=yes please", "a:b", "a:d"},
		"a + g:h":        {"a", "g=u:h=no", "g=v:h=no", "g=w:h=no", "g=u:h=yes please", "g=v:h=yes please", "g=w:h=yes please"},
		"log(a):b":       {"log(a):b"},
		"g + b + a:b:g":  append(append(levels(""), "b"), levels("a:b:")...),
		"a + b + a:b:d":  {"a", "b", "a:b:d"},
		"a*b + d + a:d":  {"a", "b", "a:b", "d", "a:d"},
		"poly(a, 2) + b": {"a", "a^2", "b"},
	} {
		columns := make([][]float64, 1+len(span))
		for i := range c.n {
			columns[0] = append(columns[0], 1)
			for k, name := range span {
				columns[k+1] = append(columns[k+1], c.column(i, name))
			}
		}
		want := make([]float64, c.n)
		for _, q := range orthonormal(columns) {
			along := dot(q, c.numbers["y"])
			for i := range want {
				want[i] += along * q[i]
			}
		}
		source := c.source(t)
		model := fitted(t, source, fit.Options{Formula: "y ~ " + formula, Prior: "normal(variance=1e8)", Family: "gaussian(variance=1)"})
		each(t, model, source, func(rows *score.Rows, i int) {
			if mean, _ := rows.Latent(i); !(math.Abs(mean-want[i]) <= 1e-6) {
				t.Fatalf("%s, row %d: f is %.9g, least squares %.9g", formula, i, mean, want[i])
			}
		})
	}
}

// Told against bases, the columns of a formula are independent, so that Φw = M(own weights) has one solution:
// own = Tw with T by least squares of Φ on the raw columns M. Means and standard deviations are those of Tw under the
// joint posterior, whose covariance is written out.
func TestOwnWeightsVaryJointly(t *testing.T) {
	c := newCells(50)
	for _, formula := range []string{"a*b", "poly(a, 3)", "a*g", "a*g*b", "g*h + a", "a*g*h", "b + poly(a, 2) + a:b", "a + b + g"} {
		source := c.source(t)
		model := fitted(t, source, fit.Options{Formula: "y ~ " + formula, Engine: "exact", Prior: "normal(variance=3)", Family: "gaussian(variance=1)"})
		full, ok := model.Members[0].Posterior.(*posterior.Full)
		if !ok {
			t.Fatalf("%s: %T", formula, model.Members[0].Posterior)
		}
		bases := []string{"g=v", "h=no"}
		if !strings.Contains(formula, "h") {
			bases = bases[:1]
		}
		if !strings.Contains(formula, "g") {
			bases = nil
		}
		all := terms(t, model, score.TermOptions{Bases: bases})
		var own []score.Term
		var columns [][]float64
		for _, term := range all {
			if term.Base {
				if term.Mean != 0 || term.SD != 0 {
					t.Errorf("%s: the base is %+v", formula, term)
				}
				continue
			}
			column := make([]float64, c.n)
			for i := range column {
				column[i] = c.column(i, term.Name)
			}
			own, columns = append(own, term), append(columns, column)
		}
		basis := orthonormal(columns)
		if len(basis) != len(own) {
			t.Fatalf("%s: %d independent columns among %d", formula, len(basis), len(own))
		}
		// M = QR gives T = R⁻¹QᵀΦ.
		d := len(full.Mean)
		phi := designOf(t, model, source, c.n)
		solve := func(f []float64) []float64 {
			x := make([]float64, len(own))
			for k := len(own) - 1; k >= 0; k-- {
				x[k] = dot(basis[k], f)
				for l := k + 1; l < len(own); l++ {
					x[k] -= dot(basis[k], columns[l]) * x[l]
				}
				x[k] /= dot(basis[k], columns[k])
			}
			return x
		}
		mean, variance := make([]float64, len(own)), make([]float64, len(own))
		for k := range d { // w = mean + F z: the variance is the sum over the columns of F
			f, m := make([]float64, c.n), make([]float64, c.n)
			for i := range f {
				for j := range k + 1 {
					f[i] += phi.Row(i)[j] * full.Factor[j*d+k]
				}
				m[i] = phi.Row(i)[k] * full.Mean[k]
			}
			for i, v := range solve(f) {
				variance[i] += v * v
			}
			for i, v := range solve(m) {
				mean[i] += v
			}
		}
		for i, term := range own {
			if !(math.Abs(term.Mean-mean[i]) <= 1e-6*(math.Abs(mean[i])+float64(term.SD))) || !(math.Abs(float64(term.SD)-math.Sqrt(variance[i])) <= 1e-6*float64(term.SD)) {
				t.Errorf("%s: %s is %.9g ± %.9g, want %.9g ± %.9g", formula, term.Name, term.Mean, term.SD, mean[i], math.Sqrt(variance[i]))
			}
		}
	}
}

// designOf returns Φ, all of its columns dense.
func designOf(t *testing.T, model *credence.Fitted, source credence.Source, n int) linop.Dense {
	t.Helper()
	bound := must.Value(scorer(t, model).Frame().Bind(source, score.IgnoreTargets))(t)
	var batch credence.Batch
	must.Succeed(t, bound.Read(&batch, 0, n))
	var phi credence.Design
	model.Members[0].Model.Features.Transform(credence.NewWorkspace(1), &phi, &batch)
	if phi.Sparse.Cols > 0 {
		t.Fatal("the design is not dense")
	}
	return phi.Dense
}

// mixed is a fit of two members by hand: x as it stands and the category c, weights 1/4 and 3/4.
func mixed(t *testing.T, first, second credence.Posterior, family credence.Likelihood) *credence.Fitted {
	t.Helper()
	set, err := feature.New(feature.Inputs{Dense: []feature.Input{
		{Column: credence.Column{Name: "x"}, Center: 10, Scale: 2},
		{Column: credence.Column{Name: "c", Kind: credence.Category, Levels: []string{"l", "m"}}},
	}}, &feature.Intercept{}, &feature.Linear{Inputs: []int{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	model := credence.Model{Features: set, Likelihood: family, Prior: prior.Normal{}}
	return &credence.Fitted{Members: []credence.Member{{Model: model, Posterior: first, Weight: 0.25}, {Model: model, Posterior: second, Weight: 0.75}}}
}

// Weights that mean the same in all members have the moments of the mixture.
func TestTermsAverageOverMembers(t *testing.T) {
	first := &posterior.Diagonal{Mean: []float64{1, 2, 3, 4}, Variance: []float64{1, 1, 4, 9}}
	second := &posterior.Diagonal{Mean: []float64{2, -2, 3, 4}, Variance: []float64{2, 3, 4, 9}}
	all := terms(t, mixed(t, first, second, likelihood.Poisson{}), score.TermOptions{Bases: []string{"c=m"}, Exp: true})
	// x: w/2. The intercept: w₀ − 5 w₁ + w₃. c=l: w₂ − w₃.
	moment := func(m1, v1, m2, v2 float64) (mean, variance float64) {
		mean = 0.25*m1 + 0.75*m2
		return mean, 0.25*(v1+(m1-mean)*(m1-mean)) + 0.75*(v2+(m2-mean)*(m2-mean))
	}
	mean, variance := make([]float64, 4), make([]float64, 4)
	mean[0], variance[0] = moment(1-10+4, 1+25+9, 2+10+4, 2+75+9)
	mean[1], variance[1] = moment(1, 0.25, -1, 0.75)
	mean[2], variance[2] = moment(-1, 13, -1, 13)
	for i, term := range all {
		if !near(term.Mean, mean[i]) || !near(float64(term.SD*term.SD), variance[i]) || term.Base != (i == 3) {
			t.Errorf("%+v, want %v ± √%v", term, mean[i], variance[i])
		}
		if !near(term.Exp.Estimate, math.Exp(term.Mean)) || !near(float64(term.Exp.Lower), math.Exp(float64(term.Lower))) || !near(float64(term.Exp.Upper), math.Exp(float64(term.Upper))) {
			t.Errorf("%+v", term.Exp)
		}
	}
	if _, err := score.Terms(mixed(t, first, second, likelihood.Gaussian{}), score.TermOptions{Exp: true}); err == nil || !strings.Contains(err.Error(), "exponential") {
		t.Errorf("exponentials under gaussian: %v", err)
	}
	if _, err := score.Terms(mixed(t, first, second, likelihood.Gaussian{}), score.TermOptions{Bases: []string{"c=n"}}); err == nil {
		t.Error("a level that is none may be a base")
	}
	if _, err := score.Terms(mixed(t, first, second, likelihood.Gaussian{}), score.TermOptions{Interval: 1}); err == nil {
		t.Error("an interval of probability 1")
	}
}

// Weights of which squares are no numbers: x²⁰ of nanoseconds, and of a column whose powers overflow, keep their
// spread, and what overflows is held at the largest number.
func TestTermsOfAnySize(t *testing.T) {
	for _, scale := range []float64{1e15, 1e-14, 1e-20} {
		set, err := feature.New(feature.Inputs{Dense: []feature.Input{{Column: credence.Column{Name: "x"}, Center: 3 * scale, Scale: scale}}},
			&feature.Intercept{}, &feature.Polynomial{Name: "poly(x, 20)", Inputs: []int{0}, Degree: 20})
		if err != nil {
			t.Fatal(err)
		}
		q := &posterior.Diagonal{}
		for range set.Weights() {
			q.Mean, q.Variance = append(q.Mean, 900), append(q.Variance, 4)
		}
		model := &credence.Fitted{Members: []credence.Member{{Model: credence.Model{Features: set, Likelihood: likelihood.Poisson{}, Prior: prior.Normal{}}, Posterior: q}}}
		all := terms(t, model, score.TermOptions{Exp: true})
		last := all[20]
		if want := math.Pow(scale, -20); last.Name != "x^20" || !(math.Abs(last.Mean/900/want-1) < 1e-12) && !math.IsInf(want, 0) ||
			!(math.Abs(float64(last.SD)/2/want-1) < 1e-12) && !math.IsInf(want, 0) {
			t.Errorf("scale %g: %+v, want %v times 900 ± 2", scale, last, want)
		}
		if _, err := json.Marshal(all); err != nil {
			t.Errorf("scale %g: %v", scale, err)
		}
	}
}

// Levels that are stored sparse: the intercept is w₀ and the base, and a level is a difference.
func TestBaseOfManyLevels(t *testing.T) {
	column := credence.Column{Name: "id", Kind: credence.Category}
	for l := range feature.DenseLevels + 10 {
		column.Levels = append(column.Levels, fmt.Sprint(l))
	}
	set := must.Value(feature.New(feature.Inputs{Dense: []feature.Input{{Column: column}}}, &feature.Intercept{}, &feature.Linear{Inputs: []int{0}}))(t)
	q := &posterior.Diagonal{}
	for j := range set.Weights() {
		q.Mean, q.Variance = append(q.Mean, float64(j*j)), append(q.Variance, float64(1+j))
	}
	model := &credence.Fitted{Members: []credence.Member{{Model: credence.Model{Features: set, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}, Posterior: q}}}
	for i, term := range terms(t, model, score.TermOptions{Bases: []string{"id=40"}}) { // weight 41
		mean, variance := float64(i*i-41*41), float64(1+i+42)
		switch i {
		case 0:
			mean, variance = 41*41, 1+42
		case 41:
			variance = 0
		}
		if !near(term.Mean, mean) || !near(float64(term.SD*term.SD), variance) {
			t.Fatalf("%+v, want %v ± √%v", term, mean, variance)
		}
	}
}

// The level of an interval is that of Student's t where the posterior has its tails, with the variance that is stated.
func TestIntervalsHaveTheTailsOfThePosterior(t *testing.T) {
	factor := make([]float64, 16)
	for j := range 4 {
		factor[j*4+j] = 1
	}
	q := &posterior.Full{Mean: make([]float64, 4), Factor: factor, DF: 5}
	term := terms(t, mixed(t, q, q, likelihood.Gaussian{}), score.TermOptions{Interval: 0.8})[2]
	// P(|T₅| > t) = 0.2 at t = 1.475884048824481 (R: qt(.9, 5)); the scale is √(3/5).
	if want := 1.475884048824481 * math.Sqrt(0.6); !near(float64(term.Upper), want) || !near(float64(term.Lower), -want) || !near(float64(term.SD), 1) {
		t.Errorf("%+v, want ± %v", term, want)
	}
}

// A cutpoint of the terms less Σ weight × column is the cutpoint of the family less f.
func TestCutpointsStandAtTheOrigin(t *testing.T) {
	c := newCells(90)
	source := c.source(t)
	for _, formula := range []string{"a*g", "0 + b + g"} {
		for _, bases := range [][]string{nil, {"g=w"}} {
			model := fitted(t, source, fit.Options{Formula: "count ~ " + formula, Family: "ordinal"})
			cutpoints := model.Members[0].Model.Likelihood.(likelihood.Ordinal).Cutpoints.Values
			all := terms(t, model, score.TermOptions{Bases: bases})
			each(t, model, source, func(rows *score.Rows, i int) {
				f, _ := rows.Latent(i)
				sum := 0.0
				for _, term := range all[len(cutpoints):] {
					sum += term.Mean * c.column(i, term.Name)
				}
				for k, cutpoint := range cutpoints {
					term := all[k]
					if name := fmt.Sprintf("%d|%d", k, k+1); term.Name != name || term.Block != "cutpoints" {
						t.Fatalf("cutpoint %d is %+v", k, term)
					}
					if len(model.Members) == 1 && !near(term.Mean-sum, cutpoint-f) {
						t.Fatalf("%s, %v, row %d: %s less f is %v, want %v", formula, bases, i, term.Name, term.Mean-sum, cutpoint-f)
					}
				}
			})
		}
	}
}

// TestCutpointsAreNamedByGrades: cutpoints of grades that are not counted from 0 have the names of the grades beside
// them, and ascend in their place.
func TestCutpointsAreNamedByGrades(t *testing.T) {
	type row struct{ X, Y float64 }
	var rows []row
	for i := range 90 {
		x := math.Sin(float64(i))
		rows = append(rows, row{x, []float64{2, 5, 9, 20}[min(3, max(0, int(1.5+2*x+0.9*math.Cos(float64(7*i)))))]})
	}
	terms := must.Value(score.Terms(fitted(t, rows, fit.Options{Formula: "Y ~ X", Family: "ordinal"}), score.TermOptions{}))(t)
	var names []string
	last := math.Inf(-1)
	for _, term := range terms {
		if term.Block == "cutpoints" {
			if names = append(names, term.Name); !(term.Mean > last) {
				t.Errorf("%+v is not above %v", term, last)
			}
			last = term.Mean
		}
	}
	if strings.Join(names, " ") != "2|5 5|9 9|20" {
		t.Errorf("cutpoints %q", names)
	}
}
