package formula

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

func TestFamiliesByHand(t *testing.T) {
	for _, c := range []struct {
		text string
		want credence.Likelihood
		mode frame.Mode
	}{
		{"gaussian", likelihood.Gaussian{}, frame.Numbers},
		{"gaussian(variance=0.1)", likelihood.Gaussian{NoiseVariance: param.Hold(0.1)}, frame.Numbers},
		{"gaussian(variance=~2)", likelihood.Gaussian{NoiseVariance: param.From(2)}, frame.Numbers},
		{"bernoulli", likelihood.Bernoulli{}, frame.Classes},
		{"bernoulli(link=probit)", likelihood.Bernoulli{Link: likelihood.Probit}, frame.Classes},
		{"binomial", likelihood.Binomial{}, frame.Numbers},
		{"binomial(trials=10)", likelihood.Binomial{Trials: 10}, frame.Numbers},
		{"binomial(trials=n)", likelihood.Binomial{}, frame.Numbers},
		{"binomial(trials=exp(n))", likelihood.Binomial{}, frame.Numbers},
		{"poisson", likelihood.Poisson{}, frame.Numbers},
		{"poisson(link=softplus)", likelihood.Poisson{Link: likelihood.Softplus}, frame.Numbers},
		{"negbinomial(size=3)", likelihood.NegativeBinomial{Size: param.Hold(3)}, frame.Numbers},
		{"gamma(shape=~1.5)", likelihood.Gamma{Shape: param.From(1.5)}, frame.Numbers},
		{"studentt", likelihood.StudentT{}, frame.Numbers},
		{"studentt(df=4)", likelihood.StudentT{DegreesOfFreedom: param.Hold(4)}, frame.Numbers},
		{"studentt(scale=~2)", likelihood.StudentT{Scale: param.From(2)}, frame.Numbers},
		{"ordinal", likelihood.Ordinal{}, frame.Grades},
		{"ordinal(cutpoints=[-1, 0.5])", likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 0.5}, State: param.Held}}, frame.Numbers},
		{"ordinal(cutpoints=~[-1, 0.5])", likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 0.5}, State: param.Guess}}, frame.Numbers},
		{"", nil, frame.Automatic},
	} {
		f, err := ParseFamily(c.text, likelihood.All())
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if !reflect.DeepEqual(f.stated, c.want) {
			t.Errorf("%s is %#v, want %#v", c.text, f.stated, c.want)
		}
		if mode := f.Options(frame.Options{}).Mode; mode != c.mode {
			t.Errorf("%s reads the target as %q, want %q", c.text, mode, c.mode)
		}
		if f.String() != c.text {
			t.Errorf("%s prints as %s", c.text, f)
		}
	}
}

// The text forms of likelihoods and priors parse back to the same values.
func TestTextsParseBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for range 500 {
		v := func() float64 { return rng.ExpFloat64() * []float64{1e-30, 1e-3, 1, 1e6, 1e30}[rng.IntN(5)] }
		some := func() param.Parameter {
			return []param.Parameter{{}, param.Hold(v()), param.From(v())}[rng.IntN(3)]
		}
		a, b := some(), some()
		cut := v()
		cutpoints := param.List{Values: []float64{-v(), cut, cut * 2}, State: param.Guess + param.State(rng.IntN(2))}
		for _, l := range []credence.Likelihood{
			likelihood.Gaussian{NoiseVariance: a},
			likelihood.Bernoulli{Link: []likelihood.Link{"", likelihood.Logit, likelihood.Probit, likelihood.Cloglog}[rng.IntN(4)]},
			likelihood.Binomial{Trials: float64(rng.IntN(100))},
			likelihood.Poisson{Link: []likelihood.Link{"", likelihood.Log, likelihood.Softplus}[rng.IntN(3)]},
			likelihood.NegativeBinomial{Size: a},
			likelihood.Gamma{Shape: a},
			likelihood.StudentT{DegreesOfFreedom: a, Scale: b},
			likelihood.Ordinal{Cutpoints: cutpoints},
		} {
			text := l.(fmt.Stringer).String()
			f, err := ParseFamily(text, likelihood.All())
			if err != nil || !reflect.DeepEqual(f.stated, l) {
				t.Fatalf("%#v prints as %s, which reads %#v (%v)", l, text, f.stated, err)
			}
		}
		p := prior.Normal{Variance: a}
		p.ARD = a.State != param.Held && rng.IntN(2) == 0
		if back, err := ParsePrior(p.String(), prior.All()); err != nil || !reflect.DeepEqual(back, p) {
			t.Fatalf("%#v prints as %s, which reads %#v (%v)", p, p, back, err)
		}
	}
}

// countsTable is one column y and the trials n.
func countsTable(y, n []float64) *memory {
	m := &memory{schema: credence.Schema{Columns: []credence.Column{{Name: "y"}, {Name: "n"}}}}
	for i := range y {
		m.rows = append(m.rows, []float64{y[i], n[i]})
	}
	return m
}

func TestFamilyMeetsTheTarget(t *testing.T) {
	for _, c := range []struct {
		family string
		y, n   []float64
		want   credence.Likelihood
		fails  string
	}{
		{"", []float64{1.5, 2, 2}, []float64{1, 1, 1}, likelihood.Gaussian{}, ""},
		{"", []float64{0, 1, 1}, []float64{1, 1, 1}, likelihood.Bernoulli{}, ""},
		{"", []float64{-1, 1, 1}, []float64{1, 1, 1}, likelihood.Bernoulli{}, ""},
		{"", []float64{1, 2, 2}, []float64{1, 1, 1}, likelihood.Gaussian{}, ""},
		{"", []float64{1, 1, 1}, []float64{1, 1, 1}, likelihood.Gaussian{}, ""},
		{"gaussian", []float64{0, 1, 1}, []float64{1, 1, 1}, likelihood.Gaussian{}, ""},
		{"ordinal", []float64{3, 1, 2, 5}, []float64{1, 1, 1, 1}, likelihood.OrdinalGrades(4), ""},
		{"binomial(trials=n)", []float64{1, 2}, []float64{3, 2}, likelihood.Binomial{}, ""},
		{"binomial(trials=n)", []float64{1, 3}, []float64{3, 2}, nil, `row 2: column "y": target 3 is more than the 2 trials`},
		{"binomial(trials=n)", []float64{0, 0}, []float64{3, 0}, nil, `row 2: column "y": trials are 0: leave out rows without trials`},
		{"binomial(trials=4)", []float64{5}, []float64{3}, nil, `row 1: column "y": target 5 is more than the 4 trials`},
		{"poisson", []float64{1, 2.5}, []float64{1, 1}, nil, `row 2: column "y": target 2.5 is not a whole number`},
		{"bernoulli", []float64{1, 2, 3}, []float64{1, 1, 1}, nil, "target y has 3 classes, 1, 2 and 3: pick one against the rest with --positive 1"},
	} {
		family, err := ParseFamily(c.family, likelihood.All())
		if err != nil {
			t.Fatal(err)
		}
		source := countsTable(c.y, c.n)
		plan, err := Parse("y ~ 1", source.Schema(), Options{Family: family})
		if err != nil {
			t.Fatal(err)
		}
		fr, err := frame.Fit(t.Context(), &plan.Frame, source, family.Options(frame.Options{}))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s of %v: refusal reads %v, want %s", c.family, c.y, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s of %v: %v", c.family, c.y, err)
			continue
		}
		l, err := family.Likelihood(fr)
		if err != nil || !reflect.DeepEqual(l, c.want) {
			t.Errorf("%s of %v is %#v, want %#v (%v)", c.family, c.y, l, c.want, err)
		}
		if (plan.Frame.Trials != nil) != (c.family == "binomial(trials=n)") {
			t.Errorf("%s: trials are %v", c.family, plan.Frame.Trials)
		}
	}
}

func TestTrialsAreNoInput(t *testing.T) {
	family, err := ParseFamily("binomial(trials=n)", likelihood.All())
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse("y ~ .", countsTable(nil, nil).Schema(), Options{Family: family})
	var refused *spec.Error
	if !errors.As(err, &refused) || !strings.HasPrefix(refused.Message, ". stands for no column") {
		t.Errorf("with the trials aside nothing is left, but: %v", err)
	}
}
