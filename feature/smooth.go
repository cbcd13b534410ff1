package feature

import "slices"

// Smooth is a term whose weights mean nothing one by one: those of splines, random features, bumps and sigmoids, which
// together are one function of its inputs.
type Smooth struct {
	Block        string
	First, Count int   // of its weights, all of them dense
	Inputs       []int // dense inputs that it is a function of
	Segment      bool  // it is a function of columns of the sparse segment too
	Straight     bool  // its straight part is a plain column's weight
}

// Smooths returns the smooth terms in the order of their weights.
func (s *Set) Smooths() (smooths []Smooth) {
	for k := range s.terms {
		block := s.block(&s.terms[k])
		smooth := Smooth{Block: block.Name, First: block.First, Count: block.Count}
		switch t := s.terms[k].term.(type) {
		case *RandomFourier:
			smooth.Inputs, smooth.Segment = t.all(), t.Segment
			slices.Sort(smooth.Inputs)
			smooth.Inputs = slices.Compact(smooth.Inputs)
		case *Spline:
			smooth.Inputs, smooth.Straight = []int{t.Input}, true
		case *Cyclic:
			smooth.Inputs = []int{t.Input}
		case *HSGP:
			smooth.Inputs = t.Inputs
		case *Periodic:
			smooth.Inputs = []int{t.Input}
		case *Radial:
			smooth.Inputs = t.Inputs
		case *Sigmoid:
			smooth.Inputs = t.Inputs
		default:
			continue
		}
		smooth.Inputs = slices.Clone(smooth.Inputs)
		smooths = append(smooths, smooth)
	}
	return smooths
}
