package newton

import (
	"fmt"
	"slices"

	"github.com/credence-ml/credence/internal/checkpoint"
)

// State is where a climb stands between iterations: all that the next one depends on.
type State struct {
	Iteration int `json:"iteration"`
	Failures  int `json:"failures"`  // steps in a row that did not raise the bound
	Quiet     int `json:"quiet"`     // steps in a row that gained nothing but rounding
	Separable int `json:"separable"` // steps in a row that gained little on separated classes
	at        Point
	rho       float64   // length of the next step
	numbers   []float64 // rho and the gain of the last step as they are stored: the gain may be infinite
	about     []float64 // of the sums of a Gaussian family
	mixed     mixture
}

// Vectors are the parts of the state that are not in its JSON.
func (s *State) Vectors() checkpoint.Vectors {
	vectors := checkpoint.Vectors{
		"newton.mean": &s.at.Mean, "newton.prior": &s.at.Prior, "newton.parameters": &s.at.Free,
		"newton.sites": &s.at.Sites, "newton.about": &s.about, "newton.step": &s.numbers,
	}
	for len(s.mixed) < deepest { // room to read into
		s.mixed = append(s.mixed, natural{})
	}
	for k := range s.mixed {
		p, name := &s.mixed[k], fmt.Sprintf("newton.mixed.%d.", k)
		vectors[name+"sites"], vectors[name+"curvature"], vectors[name+"shift"], vectors[name+"pull"] = &p.sites, &p.curvature, &p.shift, &p.pull
	}
	return vectors
}

// Fits says whether a state that was read is one of so many weights and groups.
func (s *State) Fits(d, groups int) bool {
	if len(s.at.Mean) != d || len(s.at.Sites) != d*d || len(s.at.Prior) != groups || len(s.numbers) != 2 {
		return false
	}
	return !slices.ContainsFunc(s.mixed, func(p natural) bool {
		return p.sites != nil && (len(p.sites) != d*d || len(p.curvature) != d*d || len(p.shift) != d || len(p.pull) != d)
	})
}

// saved returns the state of a climb at a point, sharing the point's memory.
func (n *Newton) saved(state *State, at *Point) *State {
	saved := *state
	saved.mixed = slices.Clone(state.mixed)
	saved.at, saved.numbers = *at, []float64{state.rho, n.Gain}
	if n.sums != nil {
		saved.about = n.sums.about
	}
	return &saved
}

// resume moves the point to a state, which it returns.
func (n *Newton) resume(from *State, at *Point) *State {
	state := *from
	state.mixed = slices.DeleteFunc(slices.Clone(from.mixed), func(p natural) bool { return p.sites == nil })
	state.rho, n.Gain, n.about = from.numbers[0], from.numbers[1], from.about
	family := at.Family.At(from.at.Free)
	*at = Point{
		Mean: slices.Clone(from.at.Mean), Prior: slices.Clone(from.at.Prior), Free: slices.Clone(from.at.Free),
		Sites: slices.Clone(from.at.Sites), Family: family,
	}
	return &state
}
