package prior

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
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
	} {
		call, err := spec.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		a := spec.NewArguments(call, text)
		read := readLaplace
		if call.Name == "studentt" {
			read = readStudentT
		}
		got := read(a)
		if err := a.Finish(); err != nil || got != want || got.String() != text {
			t.Errorf("%s is read as %v (%v)", text, got, err)
		}
	}
	for _, p := range []interface{ Validate() error }{Laplace{param.Hold(-1)}, StudentT{DF: -2}, StudentT{Scale: param.Hold(math.Inf(1))}, StudentT{DF: math.NaN()}} {
		if p.Validate() == nil {
			t.Errorf("%v was taken", p)
		}
	}
	// Variances by quadrature of the densities.
	if v := (Laplace{param.Hold(0.7)}).UnseenVariance(credence.Block{}); math.Abs(v-moment(func(w float64) float64 { return math.Exp(-math.Abs(w)/0.7) / 1.4 })) > 1e-4 {
		t.Error("laplace", v)
	}
	half, _ := math.Lgamma(4)
	whole, _ := math.Lgamma(3.5)
	density := func(w float64) float64 {
		return math.Exp(half-whole) / math.Sqrt(7*math.Pi) / 0.5 * math.Pow(1+w*w/0.25/7, -4)
	}
	if v := (StudentT{7, param.Hold(0.5)}).UnseenVariance(credence.Block{}); math.Abs(v-moment(density)) > 1e-3 {
		t.Error("studentt", v)
	}
}

func moment(density func(w float64) float64) float64 {
	sum := 0.0
	for w := -40.0; w < 40; w += 1e-3 {
		sum += 1e-3 * w * w * density(w)
	}
	return sum
}
