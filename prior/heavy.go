package prior

import (
	"cmp"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// Laplace is w_j ~ exp(−|w_j|/b)/(2b), one scale b for all weights but the intercept.
type Laplace struct {
	// Scale is b; the zero value is learned.
	Scale param.Parameter `json:"scale,omitzero"`
}

// Name is "laplace".
func (p Laplace) Name() string { return "laplace" }

func readLaplace(a *spec.Arguments) Named {
	return Laplace{a.Means("of the weights of scaled columns", "").Setting("scale", spec.Positive())}
}

// String returns laplace or laplace(scale=…).
func (p Laplace) String() string { return stated(p).String() }

// Parameters implements [Parametric]: scale.
func (p Laplace) Parameters() []param.Named {
	return []param.Named{{Name: "scale", Parameter: p.Scale}}
}

// WithParameters implements [Parametric].
func (p Laplace) WithParameters(values []float64) Named { return Laplace{p.Scale.At(values[0])} }

// UnseenVariance is the variance of a further weight: 2b².
func (p Laplace) UnseenVariance(credence.Block) float64 { return 2 * p.Scale.Value * p.Scale.Value }

// LogDensity implements [Dense].
func (p Laplace) LogDensity(_ credence.Block, weight float64) float64 {
	return -math.Ln2 - math.Log(p.Scale.Value) - math.Abs(weight)/p.Scale.Value
}

// Validate refuses a stated scale that is not a positive number.
func (p Laplace) Validate() error { return checkScale(p, p.Scale) }

// StudentT is w_j ~ t_ν with a scale, for all weights but the intercept.
type StudentT struct {
	// DF is ν; 0 means 3. It is not learned: few weights say what it is.
	DF float64 `json:"df,omitempty"`
	// Scale multiplies the standard t; the zero value is learned.
	Scale param.Parameter `json:"scale,omitzero"`
}

// Degrees returns ν.
func (p StudentT) Degrees() float64 { return cmp.Or(p.DF, 3) }

// Name is "studentt".
func (p StudentT) Name() string { return "studentt" }

func readStudentT(a *spec.Arguments) Named {
	return StudentT{DF: a.Means("degrees of freedom", "3").Float("df", 0, spec.Positive()), Scale: a.Means("of the weights of scaled columns", "").Setting("scale", spec.Positive())}
}

// String returns studentt or studentt(df=…, scale=…).
func (p StudentT) String() string { return heavyText(p, p.DF, p.Scale) }

func heavyText(p Parametric, df float64, scale param.Parameter) string {
	t := &param.Text{Name: p.Name()}
	if df != 0 {
		t.Add("df", param.Number(df))
	}
	t.Parameter("scale", scale)
	return t.String()
}

// Parameters implements [Parametric]: scale.
func (p StudentT) Parameters() []param.Named {
	return []param.Named{{Name: "scale", Parameter: p.Scale}}
}

// WithParameters implements [Parametric].
func (p StudentT) WithParameters(values []float64) Named {
	return StudentT{p.DF, p.Scale.At(values[0])}
}

// UnseenVariance is the variance of a further weight, where there is one; with two degrees of freedom or
// fewer it is that of the normal distribution with the same quartiles, and with less than half a degree that of half.
func (p StudentT) UnseenVariance(credence.Block) float64 {
	if df := p.Degrees(); df > 2 {
		return p.Scale.Value * p.Scale.Value * df / (df - 2)
	}
	sd := p.Scale.Value * special.StudentQuantile(0.75, max(p.Degrees(), 0.5)) / special.NormalQuantile(0.75)
	return sd * sd
}

// LogDensity implements [Dense].
func (p StudentT) LogDensity(_ credence.Block, weight float64) float64 {
	df, z := p.Degrees(), weight/p.Scale.Value
	half, _ := math.Lgamma((df + 1) / 2)
	whole, _ := math.Lgamma(df / 2)
	return half - whole - 0.5*math.Log(df) - 0.5*math.Log(math.Pi) - math.Log(p.Scale.Value) - (df+1)/2*math.Log(1+z*z/df)
}

// Validate refuses stated values that are not positive numbers.
func (p StudentT) Validate() error {
	return checkHeavy(p, p.DF, 3, p.Scale)
}

func checkHeavy(p Parametric, df, otherwise float64, scale param.Parameter) error {
	if df < 0 || math.IsNaN(df) || math.IsInf(df, 0) {
		return fmt.Errorf("prior: %s: df %v is not a positive number: state one above 0, or leave it out for %v", p.Name(), df, otherwise)
	}
	return checkScale(p, scale)
}

func checkScale(p Parametric, scale param.Parameter) error {
	if err := checkStates(p); err != nil {
		return err
	}
	if v := scale.Value; scale.State != param.Learned && !(v > 0 && !math.IsInf(v, 1)) {
		return fmt.Errorf("prior: %s: scale %v is not a positive number: state one above 0, or leave it out to have it learned", p.Name(), v)
	}
	return nil
}
