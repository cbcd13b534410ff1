package convex

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// tails are those of a prior that has heavier ones than the normal, with one scale τ for all weights. What the engine
// asks of such a prior stands here alone.
type tails interface {
	Validate() error
	// scale is what is stated of τ, and at the prior at another.
	scale() param.Parameter
	at(scale float64) credence.Prior
	// potential is that of a weight, the noise being σ².
	potential(scale, noise float64) Potential
	// constant is the log of what normalises the density at τ = 1.
	constant() float64
	// square is what a weight adds to the square of τ: its own with its variance is s, its site has the precision
	// γ⁻¹, noise is σ².
	square(s, logScale, precision, noise float64) float64
	// convex says that the bound is.
	convex() bool
}

// tailsOf returns the tails of a prior, and whether they are heavier than the normal's.
func tailsOf(p credence.Prior) (t tails, heavy bool) {
	switch p := p.(type) {
	case prior.Laplace:
		return laplace{p}, true
	case prior.StudentT:
		return studentT{p}, true
	}
	return nil, false
}

type laplace struct{ prior.Laplace }

func (p laplace) scale() param.Parameter { return p.Scale }

func (p laplace) at(scale float64) credence.Prior { return prior.Laplace{Scale: p.Scale.At(scale)} }

func (p laplace) potential(scale, noise float64) Potential {
	return Laplace{Rate: math.Sqrt(noise) / scale}
}

func (p laplace) constant() float64 { return -math.Ln2 }

// E of the bound: h = τ²γ.
func (p laplace) square(_, _, precision, noise float64) float64 { return noise / precision }

func (p laplace) convex() bool { return true }

type studentT struct{ prior.StudentT }

func (p studentT) scale() param.Parameter { return p.Scale }

func (p studentT) at(scale float64) credence.Prior {
	p.Scale = p.Scale.At(scale)
	return p.StudentT
}

func (p studentT) potential(scale, noise float64) Potential {
	return StudentT{Rate: noise / (scale * scale), DF: p.Degrees()}
}

func (p studentT) constant() float64 {
	df := p.Degrees()
	half, _ := math.Lgamma((df + 1) / 2)
	whole, _ := math.Lgamma(df / 2)
	return half - whole - math.Log(df*math.Pi)/2
}

func (p studentT) square(s, logScale, _, _ float64) float64 {
	return s * (p.Degrees() + 1) / (p.Degrees() + s*math.Exp(-2*logScale))
}

func (p studentT) convex() bool { return false }
