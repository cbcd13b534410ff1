package svi

import (
	"fmt"

	"github.com/credence-ml/credence/likelihood"
)

// atLimits says, for every learned parameter that ended at a bound of what is tried, what that
// means and what to do.
func (f *family) atLimits() []string {
	var list []string
	for k, v := range f.free() {
		i := f.learned[k]
		name, value := f.parametric.Parameters()[i].Name, f.values[i]
		low, high := v <= f.floor[k]+1e-9, v >= f.ceiling[k]-1e-9
		if !low && !high {
			continue
		}
		list = append(list, atLimit(f.Likelihood, name, value, low))
	}
	return list
}

func atLimit(l Likelihood, name string, value float64, low bool) string {
	// A trend that ranges over a thousand times its noise, or more, looks the same as no noise.
	const either = "either the data are nearly noise-free, or the target ranges over so much more than its noise; state the noise, %s, if it is smaller"
	switch l.(type) {
	case likelihood.Gaussian:
		if low {
			return fmt.Sprintf("the noise is at its floor, %g of the target's variance: "+either, noiseFloor, "gaussian(variance=…)")
		}
	case likelihood.StudentT:
		switch {
		case name == "scale" && low:
			return fmt.Sprintf("the noise is at its floor, %g of the variance that the target's quartiles imply: "+either, noiseFloor, "studentt(scale=…)")
		case name == "df" && !low:
			return fmt.Sprintf("df is at the largest that is tried, %.3g: the noise is normal; use --family gaussian", value)
		}
	case likelihood.NegativeBinomial:
		if !low {
			return fmt.Sprintf("the size is at the largest that is tried, %.3g: the counts vary no more than Poisson's; use --family poisson", value)
		}
	case likelihood.Gamma:
		if !low {
			return fmt.Sprintf("the shape is at the largest that is tried, %.3g: the data are nearly noise-free; state the shape, gamma(shape=…), if it is larger", value)
		}
	}
	end := "largest"
	if low {
		end = "smallest"
	}
	return fmt.Sprintf("%s is at the %s that is tried, %.3g: the data do not say what it is; state it, or choose another family", name, end, value)
}
