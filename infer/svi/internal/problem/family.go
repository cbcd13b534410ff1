package problem

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// Family is a likelihood whose learned parameters move. They are unconstrained numbers: the
// logarithms of positive parameters, of a variance that of its root; degrees of freedom are above 2, so that y has a
// variance, and the logarithm is of what they are above it.
type Family struct {
	Likelihood
	Floor, Ceiling []float64 // bounds of the learned parameters, unconstrained
	// Expanded says that the expectations of a row are those of its expansion to second order about the
	// mean of f: Laplace's approximation.
	Expanded bool

	precision  float64               // mean precision of the rows, in whose unit dispersions are
	offset     float64               // mean offset of the rows, from which cutpoints are told
	parametric likelihood.Parametric // nil without parameters to learn
	learned    []int                 // places of the learned ones among Parameters
	values     []float64             // of all Parameters, constrained
	free       []credence.Coordinate // of all Parameters
}

const (
	// parameterLimit bounds logarithms of positive parameters: e^±46 is 1e±20. What has the unit of y goes further
	// where y is as large.
	parameterLimit = 46
	// shapeLimit bounds the logarithms of those without units (sizes, shapes, degrees of freedom):
	// beyond a million a family is its limit, Poisson or Gaussian, and the data cannot tell. Large
	// counts can, of the size of a negative binomial, see startParameters.
	shapeLimit = 14
)

// Parameters with priors of their own, by name. Degrees of freedom that are learned are above leastDF, by
// at least e^nearDF. One over them is half-Cauchy(1/scaleDF) below 1/leastDF: flat in 1/ν about normal noise and
// heavy-tailed in ν, so that few rows do not make noise normal that may have outliers.
const (
	degreesOfFreedom = "df"
	shape            = "shape"
	leastDF          = 2.0
	scaleDF          = 4.0
	nearDF           = -4.0
)

// NewFamily returns the family at the starting values of its parameters.
func NewFamily(l Likelihood) *Family {
	f := &Family{Likelihood: l, precision: 1}
	parametric, ok := l.(likelihood.Parametric)
	if !ok {
		return f
	}
	for i, p := range parametric.Parameters() {
		f.values = append(f.values, p.Value)
		free := credence.Coordinate{Name: p.Name, Place: i}
		if p.Positive {
			free.Power = 1
		}
		if unitPower(l, p.Name) == 2 {
			free.Power = 2
		}
		if p.Name == degreesOfFreedom && p.State != param.Held {
			free.From = leastDF
			f.values[i] = math.Max(p.Value, leastDF+math.Exp(nearDF))
		}
		f.free = append(f.free, free)
		if p.State != param.Held {
			f.learned = append(f.learned, i)
			low, high := math.Inf(-1), math.Inf(1)
			if p.Positive {
				low, high = -parameterLimit/free.Power, parameterLimit/free.Power
				if unitPower(l, p.Name) == 0 {
					high = shapeLimit
				}
				if free.From > 0 {
					low = nearDF
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
		x[k] = f.free[i].Free(f.values[i])
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
		moved.values[i] = f.free[i].Value(math.Max(f.Floor[k], math.Min(x[k], f.Ceiling[k])))
	}
	narrowed := f.parametric.WithParameters(moved.values)
	moved.parametric = narrowed.(likelihood.Parametric)
	moved.Likelihood = narrowed.(Likelihood)
	return &moved
}

// Held returns the family with nothing to learn.
func (f *Family) Held() *Family {
	held := *f
	held.learned = nil
	return &held
}

// Coordinates are those of the learned parameters, in the order of Free.
func (f *Family) Coordinates() []credence.Coordinate {
	var list []credence.Coordinate
	for _, i := range f.learned {
		list = append(list, f.free[i])
	}
	return list
}

// With returns the family with another likelihood of the same parameters.
func (f *Family) With(l Likelihood) *Family {
	moved := *f
	moved.Likelihood = l
	return &moved
}

// Learned names the learned parameters as reports do.
func (f *Family) Learned() []string {
	var names []string
	values := f.Values()
	for _, i := range f.learned {
		names = append(names, values[i].Name)
	}
	return names
}

// PriorScales returns the scale of the prior of each learned parameter that has one: the scale of a
// half-Cauchy, the median of a log-normal, under its name in reports.
func (f *Family) PriorScales(s float64) (list []credence.Value) {
	names := f.Learned()
	for k, name := range names {
		switch prior := f.prior(k, s).(type) {
		case hyper.BetaPrime:
			list = append(list, credence.Value{Name: name, Value: math.Pow(prior.Scale, f.free[f.learned[k]].Power)})
		case hyper.Normal:
			list = append(list, credence.Value{Name: name, Value: math.Exp(prior.Mean)})
		case hyper.Cauchy:
			list = append(list, credence.Value{Name: name, Value: prior.Scale})
		}
	}
	return list
}

// LogFactor is the derivative of the logarithm of learned parameter k in its free number, which is 1 unless it is a
// variance or above more than 0; of a parameter that may be negative it is that of the parameter. Gradients of families
// are in the logarithm.
func (f *Family) LogFactor(k int) float64 {
	i := f.learned[k]
	if free := f.free[i]; free.From == 0 { // the value may be 0, as a cutpoint
		return max(1, free.Power)
	}
	return 1 - f.free[i].From/f.values[i]
}

// LogPrior is the log density of free parameters under their priors, s being the scale of the family,
// and adds its slope and second derivatives to slope and bend, P and P×P, unless they are nil:
// half-Cauchy for what has the unit of y, at the mean precision of the rows, log-normal for a size or a shape,
// half-Cauchy(¼) for one over degrees of freedom, and equal probabilities of all sets of grade probabilities, where f
// is the mean offset of the rows, for cutpoints. Other parameters have none.
func (f *Family) LogPrior(free []float64, s float64, slope, bend []float64) float64 {
	p := len(f.learned)
	if _, kind := likelihood.Describe(f.Likelihood); kind == likelihood.Grades && p > 0 {
		free = slices.Clone(free)
		free[0] -= f.offset
		return hyper.Cutpoints{}.At(free, slope, bend)
	}
	sum := 0.0
	for k := range f.learned {
		value, first, second := f.prior(k, s).At(free[k])
		sum += value
		if slope != nil {
			slope[k] += first
		}
		if bend != nil {
			bend[k*p+k] += second
		}
	}
	return sum
}

// prior is that of free parameter k, flat for none.
func (f *Family) prior(k int, s float64) hyper.Prior {
	name := f.parametric.Parameters()[f.learned[k]].Name
	if unitPower(f.Likelihood, name) > 0 {
		return hyper.HalfCauchy(s * math.Sqrt(f.precision))
	}
	switch name {
	case "size":
		return hyper.Normal{Mean: math.Ln2, SD: 1.5}
	case shape:
		return hyper.Normal{Mean: 1 - math.Log(f.precision), SD: 1.5}
	case degreesOfFreedom:
		return hyper.Cauchy{Scale: scaleDF, From: leastDF}
	}
	return hyper.Flat{}
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
	work = order.Resized(work, len(f.values))
	l.(likelihood.Parametric).ExpectedParameterGradient(work, y, latent, 0)
	for k, place := range f.learned {
		dst[k] += weight * work[place] * f.LogFactor(k)
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
