package prior

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// normalQuartile is the upper quartile of the standard normal distribution.
const normalQuartile = 0.6744897501960817

// A further weight has the variance that the prior has at the values which the fit wrote back.
func TestUnseenVariance(t *testing.T) {
	linear, other := credence.Block{First: 1, Count: 3}, credence.Block{First: 4, Count: 1}
	variances := []float64{100, 1, 2, 6, 0.5}
	same := []float64{100, 0.25, 0.25, 0.25, 0.5}
	for _, c := range []struct {
		prior credence.UnseenPrior
		block credence.Block
		want  float64
	}{
		{Normal{Variances: same}, linear, 0.25},
		{Normal{Variances: same}, other, 0.5},
		{Normal{ARD: true, Variances: variances}, linear, 3}, // the mean of 1, 2 and 6
		{Normal{ARD: true, Variances: variances}, other, 0.5},
		{Normal{Variance: param.Hold(4)}, linear, 4},           // nothing learned
		{Normal{Variance: param.Hold(4)}, credence.Block{}, 4}, // no weight in the block
		{SpikeSlab{Inclusion: param.Hold(0.25), Slab: param.Hold(2)}, linear, 0.5},
		// Without the spike the variance would be 0.5.
		{SpikeSlab{Inclusion: param.Hold(0.25), Slab: param.Hold(2), Spike: param.Hold(0.5)}, linear, 0.875},
		{SpikeSlab{Inclusion: param.Parameter{Value: 0.5}, Slab: param.Parameter{Value: 3}}, linear, 1.5},
		{Laplace{param.Hold(3)}, linear, 18},
		{StudentT{DF: 2.5, Scale: param.Hold(3)}, linear, 45},
		// of two degrees of freedom and one, whose upper quartiles are √(2/3) and 1, the normal ones of those quartiles
		{StudentT{DF: 2, Scale: param.Hold(3)}, linear, 9 * 2.0 / 3 / (normalQuartile * normalQuartile)},
		{StudentT{DF: 1, Scale: param.Hold(3)}, linear, 9 / (normalQuartile * normalQuartile)},
		// a kept block has its own variance, and another of its name, or of none, has not
		{SpikeSlab{Inclusion: param.Hold(0.5), Slab: param.Hold(2)}.WithKept(Kept{"age": 7}).(credence.UnseenPrior), credence.Block{Name: "age", Kept: true}, 7},
		{SpikeSlab{Inclusion: param.Hold(0.5), Slab: param.Hold(2)}.WithKept(Kept{"age": 7}).(credence.UnseenPrior), credence.Block{Name: "age"}, 1},
		{SpikeSlab{Inclusion: param.Hold(0.5), Slab: param.Hold(2)}.WithKept(Kept{"age": 7}).(credence.UnseenPrior), credence.Block{Name: "sex", Kept: true}, 1},
		{Horseshoe{Scale: param.Hold(2)}.WithKept(Kept{"age": 7}).(credence.UnseenPrior), credence.Block{Name: "age", Kept: true}, 7},
		{Horseshoe{Scale: param.Hold(2)}.WithKept(Kept{"age": 7}).(credence.UnseenPrior), credence.Block{Name: "age"}, 4 * horseshoeQuartile * horseshoeQuartile},
	} {
		if got := c.prior.UnseenVariance(c.block); !(math.Abs(got-c.want) <= 1e-13*c.want) {
			t.Errorf("%+v has an unseen weight of variance %v, want %v", c.prior, got, c.want)
		}
	}
}

// Every prior of the table is at other values what its parameters say, in the same states, and the
// same again at its own.
func TestParameters(t *testing.T) {
	for _, p := range []Parametric{
		Normal{}, Normal{Variance: param.From(0.5), ARD: true}, SpikeSlab{},
		SpikeSlab{Inclusion: param.Hold(0.1), Slab: param.From(2), Spike: param.Hold(0.01)},
		Laplace{}, Laplace{param.Hold(3)}, StudentT{}, StudentT{5, param.From(2)}, Horseshoe{}, Horseshoe{DF: 2, Scale: param.Hold(0.1)},
	} {
		before := p.Parameters()
		values := make([]float64, len(before))
		for i := range values {
			values[i] = 0.125 * float64(i+1)
		}
		moved := p.WithParameters(values).(Parametric)
		for i, parameter := range moved.Parameters() {
			if want := (param.Named{Name: before[i].Name, Parameter: before[i].At(values[i])}); parameter != want {
				t.Errorf("%v moved: %+v, want %+v", p, parameter, want)
			}
			values[i] = before[i].Value
		}
		if back := moved.WithParameters(values); back.String() != p.String() {
			t.Errorf("%v moved and back is %v", p, back)
		}
	}
}

func TestUnknownStateIsRefused(t *testing.T) {
	for _, p := range []interface{ Validate() error }{
		Normal{Variance: param.Parameter{Value: 1, State: 3}}, SpikeSlab{Slab: param.Parameter{Value: 1, State: 3}},
		Laplace{param.Parameter{Value: 1, State: 3}}, StudentT{Scale: param.Parameter{Value: 1, State: 3}}, Horseshoe{Scale: param.Parameter{Value: 1, State: 3}},
	} {
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "is in the unknown state 3") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}

// The table reads every prior by its name, in the order of messages, and refuses what two arguments say together, at
// its place.
func TestPriorsAreReadByName(t *testing.T) {
	var names []string
	for _, e := range All() {
		name := e.Zero.Name()
		names = append(names, name)
		p, _, err := spec.Choose(name, "prior", All())
		if err != nil || p.Name() != name || !reflect.DeepEqual(p, e.Zero) {
			t.Errorf("%s is read as %v (%v)", name, p, err)
		}
	}
	if got := strings.Join(names, " "); got != "normal spikeslab laplace studentt horseshoe" {
		t.Errorf("the priors are %s", got)
	}
	for text, want := range map[string]string{
		"normal(ard=true, variance=2)":   "column 8: ard=true learns a variance for each weight, and variance= holds them all: leave out one of the two, or write such as variance=~1",
		"normal(ard=true, variance=~2)":  "",
		"normal(ard=false, variance=2)":  "",
		"normals":                        `there is no prior "normals" in this version`,
		"laplace(scale=0)":               "scale",
		"horseshoe(df=-1)":               "df",
		"studentt(df=2, scale=1, n=400)": "n",
	} {
		_, _, err := spec.Choose(text, "prior", All())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// The smallest and largest values that a program may state are taken, and the next are refused by what they are.
func TestStatedValuesEnd(t *testing.T) {
	const tiny = math.SmallestNonzeroFloat64
	inf := math.Inf(1)
	for _, c := range []struct {
		prior interface{ Validate() error }
		want  string
	}{
		{Laplace{param.Hold(tiny)}, ""},
		{Laplace{param.Hold(0)}, "laplace: scale 0 is not a positive number: state one above 0"},
		{Laplace{param.From(inf)}, "laplace: scale +Inf is not a positive number"},
		{StudentT{DF: tiny, Scale: param.Hold(math.MaxFloat64)}, ""},
		{StudentT{DF: -tiny}, "studentt: df -5e-324 is not a positive number: state one above 0, or leave it out for 3"},
		{StudentT{DF: inf}, "studentt: df +Inf is not a positive number"},
		{Horseshoe{DF: math.NaN()}, "horseshoe: df NaN is not a positive number: state one above 0, or leave it out for 1"},
		{Horseshoe{Scale: param.From(0)}, "horseshoe: scale 0 is not a positive number"},
		{Horseshoe{Kept: Kept{"age": 0}}, "the variance 0 of age is not a positive number"},
		{Horseshoe{Kept: Kept{"age": tiny}}, ""},
		{SpikeSlab{Kept: Kept{"age": inf}}, "the variance +Inf of age is not a positive number"},
		{SpikeSlab{Odds: []float64{0, 1, -tiny}}, "the prior odds -5e-324 of weight 3 are not a positive number: state one above 0"},
		{SpikeSlab{Odds: []float64{inf}}, "the prior odds +Inf of weight 1 are not a positive number"},
		{SpikeSlab{Odds: []float64{math.NaN()}}, "the prior odds NaN of weight 1 are not a positive number"},
		{SpikeSlab{Odds: []float64{0, math.MaxFloat64}}, ""},
		{SpikeSlab{InclusionPrior: [2]float64{1, 0}}, "inclusion_prior [1, 0] is no Beta distribution: state two positive numbers"},
		{SpikeSlab{InclusionPrior: [2]float64{-1, 2}}, "inclusion_prior [-1, 2] is no Beta distribution"},
		{SpikeSlab{InclusionPrior: [2]float64{1, 1e12 - 1}}, "inclusion_prior [1, 9.99999999999e+11] is no Beta distribution"},
		{SpikeSlab{InclusionPrior: [2]float64{1, 1e12 - 2}}, ""},
		{SpikeSlab{InclusionPrior: [2]float64{1, 9}, Inclusion: param.From(0.1)}, ""},
		{SpikeSlab{InclusionPrior: [2]float64{1, 9}, Inclusion: param.Hold(0.1)}, "inclusion is held at 0.1 and has no prior: leave inclusion_prior out"},
	} {
		err := c.prior.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.prior, err, c.want)
		}
	}
}

// A weight with odds of its own has the inclusion that they say, and any other that of all.
func TestPriorInclusion(t *testing.T) {
	p := SpikeSlab{Inclusion: param.Hold(0.3), Odds: []float64{3, 0, 0.25}}
	for j, want := range []float64{0.75, 0.3, 0.2, 0.3} {
		if got := p.PriorInclusion(j); got != want {
			t.Errorf("weight %d: %v, want %v", j, got, want)
		}
	}
}
