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
// of χ² are 4.575 and 0.352. Rows of half a weight are half as many.
func TestExplainedFreedom(t *testing.T) {
	for _, c := range []struct {
		rows, selected int
		point          float64
	}{{12, 0, 4.575}, {12, 8, 0.352}, {24, 8, 0.352}} {
		x, weights := linop.NewDense(c.rows, 1), make([]float64, c.rows)
		for i := range x.Data {
			x.Data[i], weights[i] = float64(i%2), 12/float64(c.rows) // of variance ¼ about the mean
		}
		selected, point := c.selected, c.point
		fitted := &credence.Fitted{Selection: &selection.Result{Selected: selected}, Members: []credence.Member{{
			Model:     credence.Model{Features: conform.Columns{Dense: 1}, Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(1)}},
			Posterior: &posterior.SpikeSlab{Mean: []float64{2}, Variance: []float64{1e-12}, Probability: []float64{1}},
		}}}
		b := &Base{Data: conform.Memory{All: &credence.Batch{X: x, Target: make([]float64, c.rows), Weight: weights}}}
		share, err := b.explained(context.Background(), fitted, 0.9)
		if err != nil || share == nil {
			t.Fatal(share, err)
		}
		half, err := b.explained(context.Background(), fitted, 0.5)
		if err != nil || !(share.Lower < half.Lower && half.Lower < half.Mean && half.Mean < half.Upper && half.Upper < share.Upper) {
			t.Errorf("the half %+v, nine tenths %+v, %v", half, share, err)
		}
		noise := 1/share.Lower - 1                                                      // beside the variance 1 of f
		if want := float64(11-selected) / point; math.Abs(math.Log(noise/want)) > 0.3 { // 256 draws
			t.Errorf("%d selected: the noise reaches to %.3g, want %.3g", selected, noise, want)
		}
	}
}
