package gauss

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/hyper"
)

// Coordinate is one of θ as reports tell it.
type Coordinate struct {
	Name     string
	Together bool // of a term of several columns, whose coordinates correlate
	Odds     bool // of a partial correlation, not the prior variance of a block
}

// Laws returns how the coordinates of terms of several columns correlate under N(θ̂, H⁻¹), nil where there are none,
// with the laws of their odds, and the other laws.
func Laws(axes *hyper.Axes, of []Coordinate, marginals []hyper.Marginal) (joint *credence.JointLaw, laws []credence.Law) {
	var law credence.JointLaw
	var kept []int
	for k, c := range of {
		if c.Together {
			law.Names, kept = append(law.Names, c.Name), append(kept, k)
		}
	}
	if kept != nil {
		joint, law.Correlations = &law, axes.Correlations(kept)
	}
	for _, m := range marginals {
		l := credence.Law{Name: of[m.Coordinate].Name, LogDensity: m.LogDensity}
		for _, u := range m.At {
			l.At = append(l.At, math.Exp(2*u))
		}
		if of[m.Coordinate].Odds {
			law.Odds = append(law.Odds, l)
		} else {
			laws = append(laws, l)
		}
	}
	return joint, laws
}
