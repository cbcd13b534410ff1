// Package param has the one type of a model parameter: what is left out of a
// text is learned, what is stated is held, and a value behind "~" is where
// learning starts. Grammar, likelihoods, priors and features all use it.
package param

// State says what a fit may do with a parameter.
type State uint8

// The states of a parameter.
const (
	Learned State = iota // left out: the engine finds the value
	Guess                // key=~value: the engine starts from the value
	Held                 // key=value: the value is fixed
)

// String is "learned", "guess" or "held".
func (s State) String() string {
	switch s {
	case Guess:
		return "guess"
	case Held:
		return "held"
	}
	return "learned"
}

// Parameter is a positive model parameter. The zero value is learned from a
// start that the engine chooses.
type Parameter struct {
	Value float64 `json:"value,omitempty"` // 0 where State is Learned and nothing is known yet
	State State   `json:"state,omitempty"`
}
