package likelihood_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// families are one of each, and each link.
func families() []likelihood.Named {
	return []likelihood.Named{
		likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, likelihood.Gaussian{NoiseVariance: param.Hold(0.5), PredictiveDF: 5}, likelihood.Bernoulli{}, likelihood.Bernoulli{Link: likelihood.Probit},
		likelihood.Bernoulli{Link: likelihood.Cloglog}, likelihood.Binomial{Trials: 6}, likelihood.Poisson{}, likelihood.Poisson{Link: likelihood.Softplus},
		likelihood.NegativeBinomial{Size: param.Hold(2)}, likelihood.Gamma{Shape: param.Hold(2)}, likelihood.StudentT{DegreesOfFreedom: param.Hold(4)},
		likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 0.5, 2}, State: param.Held}},
	}
}

// TestDistributionsEnd: every distribution function is 0 below all targets, 1 beyond all of them and at +∞, and nowhere
// between falls.
func TestDistributionsEnd(t *testing.T) {
	for _, family := range families() {
		of := family.(interface {
			likelihood.Cumulative
			likelihood.Supported
			PredictiveCDF(y, mean, variance float64) float64
		})
		lower, upper := of.Support()
		for name, cdf := range map[string]func(y float64) float64{
			"given f": func(y float64) float64 { return of.CDF(y, 0.3) }, "predictive": func(y float64) float64 { return of.PredictiveCDF(y, 0.3, 0.7) },
			"predictive without variance": func(y float64) float64 { return of.PredictiveCDF(y, 0.3, 0) },
		} {
			if v := cdf(math.Inf(-1)); v != 0 {
				t.Errorf("%v, %s: P(y ≤ −∞) is %v", family, name, v)
			}
			if v := cdf(math.Inf(1)); v != 1 {
				t.Errorf("%v, %s: P(y ≤ ∞) is %v", family, name, v)
			}
			if !math.IsInf(lower, 0) {
				if v := cdf(math.Nextafter(lower, -1)); v != 0 {
					t.Errorf("%v, %s: P(y < %v) is %v", family, name, lower, v)
				}
			}
			if !math.IsInf(upper, 0) {
				if v := cdf(upper); !(math.Abs(v-1) <= 1e-9) {
					t.Errorf("%v, %s: P(y ≤ %v) is %v", family, name, upper, v)
				}
			}
			before := 0.0
			for y := -2.0; y <= 8; y += 0.5 {
				v := cdf(y)
				if !(v >= before-1e-12 && v <= 1) {
					t.Errorf("%v, %s: P(y ≤ %v) is %v, behind %v", family, name, y, v, before)
				}
				before = v
			}
		}
	}
}

// TestRecursion: the probabilities of counts follow each other as the family says, and are those of its density.
func TestRecursion(t *testing.T) {
	f := []float64{-3, 0, 0.7, 2.5}
	for _, family := range families() {
		of, ok := family.(likelihood.Recursive)
		if !ok {
			continue
		}
		zero, ratio := make([]float64, len(f)), make([]float64, len(f))
		size := of.Recursion(zero, ratio, f)
		for j := range f {
			p := zero[j]
			for y := range 30 {
				want := family.(interface{ LogDensity(y, f float64) float64 }).LogDensity(float64(y), f[j])
				if !(math.Abs(math.Log(p)-want) <= 1e-11*(1+math.Abs(want))) {
					t.Errorf("%v at %v: log P(%d) is %v, want %v", family, f[j], y, math.Log(p), want)
				}
				p *= ratio[j] * (1 + float64(y)/size) / float64(y+1)
			}
		}
	}
}

// TestScalesByLink: priors of weights are in units of the data where f is, and else of what makes a class all but
// certain or e times as much; where classes may be separable the prior has a variance.
func TestScalesByLink(t *testing.T) {
	for _, c := range []struct {
		family      likelihood.Family
		scale, tail float64
	}{
		{likelihood.Gaussian{}, 0, 0.5}, {likelihood.StudentT{}, 0, 0.5}, {likelihood.Poisson{Link: likelihood.Softplus}, 0, 0.5}, {likelihood.Poisson{}, 1, 0.5},
		{likelihood.NegativeBinomial{}, 1, 0.5}, {likelihood.Gamma{}, 1, 0.5}, {likelihood.Bernoulli{}, 2.5, 1.5}, {likelihood.Binomial{}, 2.5, 1.5},
		{likelihood.Ordinal{}, 2.5, 1.5}, {likelihood.Bernoulli{Link: likelihood.Probit}, 1.5, 1.5}, {likelihood.Bernoulli{Link: likelihood.Cloglog}, 1.5, 1.5},
		{likelihood.Quadrature{Likelihood: likelihood.Bernoulli{Link: likelihood.Probit}}, 1.5, 1.5}, {logisticNoise{}, 1, 0.5},
	} {
		if scale, tail := likelihood.LatentScale(c.family), likelihood.PriorTail(c.family); scale != c.scale || tail != c.tail {
			t.Errorf("%T %v: scale %v and tail %v, want %v and %v", c.family, c.family, scale, tail, c.scale, c.tail)
		}
	}
}

// TestQuadratureIsItsFamily: name, kind of target and text form are those of the family, which is read back from its
// JSON as the type that stands there; a family that says nothing has its type, and any number as a target.
func TestQuadratureIsItsFamily(t *testing.T) {
	l := likelihood.Quadrature{Likelihood: likelihood.NegativeBinomial{Size: param.Hold(2)}}
	link, kind := l.Describe()
	if l.Name() != "negbinomial" || link != likelihood.Log || kind != likelihood.Counts {
		t.Errorf("%s, %s, %v", l.Name(), link, kind)
	}
	text, err := json.Marshal(l)
	plain, _ := json.Marshal(l.Likelihood)
	if err != nil || string(text) != string(plain) {
		t.Errorf("%s, %v; want %s", text, err, plain)
	}
	read := likelihood.Quadrature{Likelihood: likelihood.NegativeBinomial{}}
	if err := json.Unmarshal(text, &read); err != nil || read != l {
		t.Errorf("read %v, %v", read, err)
	}
	if err := json.Unmarshal(text, &likelihood.Quadrature{}); err == nil || !strings.Contains(err.Error(), "quadrature of no family: name one, as in Quadrature{Likelihood: mine{}}") {
		t.Errorf("no family: %v", err)
	}
	if err := json.Unmarshal([]byte(`{"size": 3`), &read); err == nil {
		t.Error("a cut text is read")
	}
	own := likelihood.Quadrature{Likelihood: logisticNoise{scale: 1}}
	link, kind = own.Describe()
	if lower, upper, discrete := likelihood.Support(logisticNoise{}); own.Name() != "likelihood_test.logisticNoise" || link != "" || kind != likelihood.Measurements || !math.IsInf(lower, -1) || !math.IsInf(upper, 1) || discrete {
		t.Errorf("%s, %s, %v, from %v to %v", own.Name(), link, kind, lower, upper)
	}
	if lower, upper, discrete := likelihood.Support(likelihood.Binomial{Trials: 4}); lower != 0 || upper != 4 || !discrete {
		t.Errorf("binomial from %v to %v, %v", lower, upper, discrete)
	}
}

// TestNoGrade: what is no grade has no probability and no slope, in every form.
func TestNoGrade(t *testing.T) {
	l := likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 0.5}, State: param.Held}}
	for _, y := range []float64{-1, 3, 0.5, math.NaN(), math.Inf(1)} {
		value, first, second := l.Derivatives(y, 0.3)
		expected, mean, variance := l.ExpectedLogDensity(y, 0.3, 0.5)
		gradient := []float64{1, 1}
		l.ExpectedParameterGradient(gradient, y, 0.3, 0.5)
		for _, v := range []float64{value, expected, l.LogDensity(y, 0.3)} {
			if !math.IsInf(v, -1) {
				t.Errorf("grade %v has log density %v", y, v)
			}
		}
		for _, v := range append(gradient, first, second, mean, variance) {
			if v == v {
				t.Errorf("grade %v has a slope %v", y, v)
			}
		}
		if l.CheckTarget(y) == nil {
			t.Errorf("grade %v is taken", y)
		}
	}
	if g := l.Grades(); g != 3 || (likelihood.Ordinal{}).Grades() != 0 {
		t.Errorf("%d grades", g)
	}
	if g := l.WithGrades(5).(likelihood.Ordinal); g.Grades() != 5 || g.Validate() != nil {
		t.Errorf("of five grades: %v", g)
	}
}

// TestMomentsOfStudentT: there is a mean above one degree of freedom, and a variance above two.
func TestMomentsOfStudentT(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ df, mean, variance float64 }{
		{0.5, nan, nan}, {1, nan, nan}, {math.Nextafter(1, 2), 7, inf}, {2, 7, inf}, {2.5, 7, 9 * 2.5 / 0.5}, {3, 7, 27},
	} {
		l := likelihood.StudentT{DegreesOfFreedom: param.Hold(c.df), Scale: param.Hold(3)}
		if m, v := l.Mean(7), l.Variance(7); fmt.Sprint(m, v) != fmt.Sprint(c.mean, c.variance) {
			t.Errorf("%v degrees of freedom: %v and %v, want %v and %v", c.df, m, v, c.mean, c.variance)
		}
	}
}

// TestTrialsAreRead: trials are a number, or a column that the formula reads; they are not learned.
func TestTrialsAreRead(t *testing.T) {
	for text, want := range map[string]string{
		"binomial(trials=12)": "", "binomial(trials=1)": "", "binomial": "",
		"binomial(trials=0)": "trials", "binomial(trials=2.5)": "trials", "binomial(trials=~12)": "trials", "binomial(trials=~n)": "trials are not learned, so they cannot be a starting guess: drop the ~",
	} {
		family, _, err := spec.Choose(text, "family", likelihood.All())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if err == nil && fmt.Sprint(family) != text {
			t.Errorf("%s is read as %v", text, family)
		}
	}
	for trials, valid := range map[float64]bool{0: true, 1: true, 1 << 40: true, -1: false, 1.5: false, math.Inf(1): false, math.NaN(): false} {
		if err := (likelihood.Binomial{Trials: trials}).Validate(); (err == nil) != valid || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("trials %v is not a positive whole number", trials)) {
			t.Errorf("%v trials: %v", trials, err)
		}
	}
}
