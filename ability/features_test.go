package ability

import (
	"slices"
	"testing"

	"github.com/credence-ml/credence"
)

// two is features of two blocks that multiply no prior deviation, one of which is of three weights.
type two struct{ credence.Features }

func (two) Weights() int { return 4 }

func (two) Blocks() []credence.Block {
	return []credence.Block{{Name: "(intercept)", Count: 1, Intercept: true}, {Name: "linear", First: 1, Count: 3}}
}

// Features that say nothing of prior deviations leave each weight its own, and those without groups are candidates one
// by one.
func TestFeaturesWithoutAbilities(t *testing.T) {
	if got := Deviations(two{}); !slices.Equal(got, []float64{1, 1, 1, 1}) {
		t.Errorf("prior deviations are multiplied by %v", got)
	}
	for _, together := range []bool{true, false} {
		if got := Candidates(two{}, together); len(got) != 3 || got[0].First != 1 || got[2].First != 3 || got[1].Count != 1 {
			t.Errorf("candidates %+v", got)
		}
	}
}
