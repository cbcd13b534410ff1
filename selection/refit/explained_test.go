package refit

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/selection"
)

// TestExplainedFreedom: of a known f the variance explained has the spread of the noise, whose variance has a χ² law of
// the degrees of freedom that intercept and selected features leave: of 12 rows 11 or, with 8 selected, 3. 5 % points
// of χ² are 4.575 and 0.352.
func TestExplainedFreedom(t *testing.T) {
	x := linop.NewDense(12, 1)
	for i := range x.Data {
		x.Data[i] = float64(i % 2) // of variance ¼ about the mean
	}
	for selected, point := range map[int]float64{0: 4.575, 8: 0.352} {
		fitted := &credence.Fitted{Selection: &selection.Result{Selected: selected}, Members: []credence.Member{{
			Model:     credence.Model{Features: conform.Columns{Dense: 1}, Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(1)}},
			Posterior: &posterior.SpikeSlab{Mean: []float64{2}, Variance: []float64{1e-12}, Probability: []float64{1}},
		}}}
		b := &Base{Data: conform.Memory{All: &credence.Batch{X: x, Target: make([]float64, 12)}}}
		share, err := b.explained(context.Background(), fitted, 0.9)
		if err != nil || share == nil {
			t.Fatal(share, err)
		}
		noise := 1/share.Lower - 1                                                      // beside the variance 1 of f
		if want := float64(11-selected) / point; math.Abs(math.Log(noise/want)) > 0.3 { // 256 draws
			t.Errorf("%d selected: the noise reaches to %.3g, want %.3g", selected, noise, want)
		}
	}
}
