package prior

import (
	"math"
	"reflect"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

func TestHeavyTails(t *testing.T) {
	for text, want := range map[string]Named{
		"laplace":                   Laplace{},
		"laplace(scale=0.1)":        Laplace{param.Hold(0.1)},
		"laplace(scale=~2)":         Laplace{param.From(2)},
		"studentt":                  StudentT{},
		"studentt(df=4, scale=0.5)": StudentT{4, param.Hold(0.5)},
		"horseshoe":                 Horseshoe{},
		"horseshoe(df=3, scale=~1)": Horseshoe{DF: 3, Scale: param.From(1)},
	} {
		call, err := spec.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		a := spec.NewArguments(call, text)
		got := map[string]func(*spec.Arguments) Named{"laplace": readLaplace, "studentt": readStudentT, "horseshoe": readHorseshoe}[call.Name](a)
		if err := a.Finish(); err != nil || !reflect.DeepEqual(got, want) || got.String() != text {
			t.Errorf("%s is read as %v (%v)", text, got, err)
		}
	}
	for _, p := range []interface{ Validate() error }{Laplace{param.Hold(-1)}, StudentT{DF: -2}, StudentT{Scale: param.Hold(math.Inf(1))}, StudentT{DF: math.NaN()}, Horseshoe{DF: -1}, Horseshoe{Scale: param.Hold(-1)}} {
		if p.Validate() == nil {
			t.Errorf("%v was taken", p)
		}
	}
	// Variances by quadrature of the densities.
	if v := (Laplace{param.Hold(0.7)}).UnseenVariance(credence.Block{}); !(math.Abs(v-moment(func(w float64) float64 { return math.Exp(-math.Abs(w)/0.7) / 1.4 })) <= 1e-4) {
		t.Error("laplace", v)
	}
	half, _ := math.Lgamma(4)
	whole, _ := math.Lgamma(3.5)
	density := func(w float64) float64 {
		return math.Exp(half-whole) / math.Sqrt(7*math.Pi) / 0.5 * math.Pow(1+w*w/0.25/7, -4)
	}
	// s²ν/(ν − 2) of ν = 3
	if v := (StudentT{Scale: param.Hold(0.5)}).UnseenVariance(credence.Block{}); !(math.Abs(v-0.75) <= 1e-15) {
		t.Errorf("the variance of an unseen weight of three degrees of freedom is %v", v)
	}
	// of half a degree of freedom and fewer, s²q² with a normal variable of deviation q in the quartiles of the half
	for _, df := range []float64{0.5, 0.1, 1e-300} {
		v := (StudentT{df, param.Hold(3)}).UnseenVariance(credence.Block{})
		if p := special.StudentCDF(math.Sqrt(v)/3*normalQuartile, 0.5); !(math.Abs(p-0.75) <= 1e-12) {
			t.Errorf("the quartile of %v degrees of freedom has %v below it", df, p)
		}
	}
	if v := (StudentT{7, param.Hold(0.5)}).UnseenVariance(credence.Block{}); !(math.Abs(v-moment(density)) <= 1e-3) {
		t.Error("studentt", v)
	}
}

// TestDensities: densities of weights integrate to 1 at scales that are not 1, and have the variance of the prior.
func TestDensities(t *testing.T) {
	block := credence.Block{First: 1, Count: 1}
	for _, p := range []Dense{Normal{Variance: param.Hold(0.3)}, Normal{Variances: []float64{5, 0.2}, ARD: true}, Laplace{param.Hold(0.7)}, StudentT{9, param.Hold(0.4)}} {
		total, square := 0.0, 0.0
		for w := -59.995; w < 60; w += 0.01 {
			mass := 0.01 * math.Exp(p.LogDensity(block, w))
			total, square = total+mass, square+w*w*mass
		}
		if v := p.UnseenVariance(block); !(math.Abs(total-1) <= 1e-4) || !(math.Abs(square/v-1) <= 1e-3) {
			t.Errorf("%v has the mass %v and the variance %v, want 1 and %v", p, total, square, v)
		}
	}
}

// TestHorseshoeQuartile: half of the weights are below 0.6745 times the root of the variance of one more.
func TestHorseshoeQuartile(t *testing.T) {
	const scale = 0.3
	below, far := 0.0, 0.674489750196*math.Sqrt(Horseshoe{Scale: param.Hold(scale)}.UnseenVariance(credence.Block{}))/scale
	for z := 5e-4; z < 9; z += 1e-3 {
		below += 1e-3 * math.Sqrt(2/math.Pi) * math.Exp(-z*z/2) * 2 / math.Pi * math.Atan(far/z)
	}
	if !(math.Abs(below-0.5) <= 1e-4) {
		t.Errorf("%v are", below)
	}
}

func moment(density func(w float64) float64) float64 {
	sum := 0.0
	for w := -40.0; w < 40; w += 1e-3 {
		sum += 1e-3 * w * w * density(w)
	}
	return sum
}
