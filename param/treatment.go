package param

import (
	"fmt"
	"slices"
	"strings"
)

// Treatment says what is done about hyper-parameters that are not stated.
type Treatment string

// The treatments. The empty one is the engine's default.
const (
	Integrate         Treatment = "integrate" // integrated under their priors
	Mode              Treatment = "mode"      // the mode under the same priors
	MaximumLikelihood Treatment = "ml"        // type-II maximum likelihood: no priors
	Heldout           Treatment = "heldout"   // prior variances by the log loss of rows that are left out
)

// Validate refuses any other word, and Heldout where it is not among the words that the engine has beside the other
// three.
func (t Treatment) Validate(more ...Treatment) error {
	words := append([]Treatment{Integrate, Mode}, append(more, MaximumLikelihood)...)
	if t == "" || slices.Contains(words, t) {
		return nil
	}
	text := fmt.Sprint(words[:len(words)-1])
	return fmt.Errorf("hyper=%s is none of %s and ml", string(t), strings.ReplaceAll(text[1:len(text)-1], " ", ", "))
}
