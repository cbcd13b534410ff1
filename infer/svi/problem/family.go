package problem

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// Family is a likelihood whose learned parameters move. They are unconstrained numbers: the
// logarithms of positive parameters.
type Family struct {
	Likelihood
	Floor, Ceiling []float64 // bounds of the learned parameters, unconstrained

	parametric likelihood.Parametric // nil without parameters to learn
	learned    []int                 // places of the learned ones among Parameters
	values     []float64             // of all Parameters, constrained
	positive   []bool
}

const (
	// parameterLimit bounds logarithms of positive parameters: e^±46 is 1e±20.
	parameterLimit = 46
	// shapeLimit bounds the logarithms of those without units (sizes, shapes, degrees of freedom):
	// beyond a million a family is its limit, Poisson or Gaussian, and the data cannot tell. Large
	// counts can, of the size of a negative binomial, see startParameters.
	shapeLimit = 14
)

// NewFamily returns the family at the starting values of its parameters.
func NewFamily(l Likelihood) *Family {
	f := &Family{Likelihood: l}
	parametric, ok := l.(likelihood.Parametric)
	if !ok {
		return f
	}
	for i, p := range parametric.Parameters() {
		f.values = append(f.values, p.Value)
		f.positive = append(f.positive, p.Positive)
		if p.State != param.Held {
			f.learned = append(f.learned, i)
			low, high := math.Inf(-1), math.Inf(1)
			if p.Positive {
				low, high = -parameterLimit, parameterLimit
				if unitPower(l, p.Name) == 0 {
					high = shapeLimit
				}
			}
			f.Floor, f.Ceiling = append(f.Floor, low), append(f.Ceiling, high)
		}
	}
	if len(f.learned) > 0 {
		f.parametric = parametric
	}
	return f
}

// unitPower returns the power of the unit of y that a parameter has.
func unitPower(l Likelihood, parameter string) float64 {
	if additive, ok := l.(likelihood.Additive); ok {
		return additive.UnitPower(parameter)
	}
	return 0
}

// heavyTailed says whether single targets may lie anywhere.
func heavyTailed(l Likelihood) bool {
	additive, ok := l.(likelihood.Additive)
	return ok && additive.HeavyTailed()
}

// Count returns the number of learned parameters.
func (f *Family) Count() int { return len(f.learned) }

// Free returns the learned parameters as unconstrained numbers.
func (f *Family) Free() []float64 {
	x := make([]float64, len(f.learned))
	for k, i := range f.learned {
		x[k] = f.values[i]
		if f.positive[i] {
			x[k] = math.Log(x[k])
		}
	}
	return x
}

// At returns the family at other values of the learned parameters, within their bounds.
func (f *Family) At(x []float64) *Family {
	if len(f.learned) == 0 {
		return f
	}
	moved := *f
	moved.values = slices.Clone(f.values)
	for k, i := range f.learned {
		v := math.Max(f.Floor[k], math.Min(x[k], f.Ceiling[k]))
		if f.positive[i] {
			v = math.Exp(v)
		}
		moved.values[i] = v
	}
	narrowed := f.parametric.WithParameters(moved.values)
	moved.parametric = narrowed.(likelihood.Parametric)
	moved.Likelihood = narrowed.(Likelihood)
	return &moved
}

// LikelihoodOf returns the likelihood of row i.
func (b *Block) LikelihoodOf(l Likelihood, i int) Likelihood {
	return b.Batch.LikelihoodOf(l, i).(Likelihood)
}

// AddSlopes adds the gradients of log p(y|f) in the learned parameters, times weight, to dst; l is the
// likelihood of the row. work is scratch memory, which it returns for the next call.
func (f *Family) AddSlopes(dst, work []float64, l Likelihood, y, latent, weight float64) []float64 {
	if f.parametric == nil {
		return work
	}
	work = Grow(work, len(f.values))
	l.(likelihood.Parametric).ExpectedParameterGradient(work, y, latent, 0)
	for k, place := range f.learned {
		dst[k] += weight * work[place]
	}
	return work
}

// Values returns all parameters with their names in reports.
func (f *Family) Values() (list []credence.Value) {
	p, ok := f.Likelihood.(likelihood.Parametric)
	if !ok {
		return nil
	}
	for _, parameter := range p.Parameters() {
		name := parameter.Name
		if unitPower(f.Likelihood, name) == 2 {
			name = "noise_" + name
		}
		list = append(list, credence.Value{Name: name, Value: parameter.Value})
	}
	return list
}

// AtLimits says, for every learned parameter that ended at a bound of what is tried, what that
// means and what to do.
func (f *Family) AtLimits() []string {
	var list []string
	for k, v := range f.Free() {
		i := f.learned[k]
		name, value := f.parametric.Parameters()[i].Name, f.values[i]
		low, high := v <= f.Floor[k]+1e-9, v >= f.Ceiling[k]-1e-9
		if !low && !high {
			continue
		}
		text := ""
		if limited, ok := f.Likelihood.(likelihood.Limited); ok {
			text = limited.AtLimit(name, value, low)
		}
		if text == "" {
			end := "largest"
			if low {
				end = "smallest"
			}
			text = fmt.Sprintf("%s is at the %s that is tried, %.3g: the data do not say what it is; state it, or choose another family", name, end, value)
		}
		list = append(list, text)
	}
	return list
}
