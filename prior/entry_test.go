package prior

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/param"
)

// A further weight has the variance that the prior has at the values which the fit wrote back.
func TestUnseenVariance(t *testing.T) {
	linear, other := credence.Block{First: 1, Count: 3}, credence.Block{First: 4, Count: 1}
	variances := []float64{100, 1, 2, 6, 0.5}
	same := []float64{100, 0.25, 0.25, 0.25, 0.5}
	for _, c := range []struct {
		prior credence.UnseenPrior
		block credence.Block
		want  float64
	}{
		{Normal{Variances: same}, linear, 0.25},
		{Normal{Variances: same}, other, 0.5},
		{Normal{ARD: true, Variances: variances}, linear, 3}, // the mean of 1, 2 and 6
		{Normal{ARD: true, Variances: variances}, other, 0.5},
		{Normal{Variance: param.Hold(4)}, linear, 4},           // nothing learned
		{Normal{Variance: param.Hold(4)}, credence.Block{}, 4}, // no weight in the block
		{SpikeSlab{Inclusion: param.Hold(0.25), Slab: param.Hold(2)}, linear, 0.5},
		// Without the spike the variance would be 0.5.
		{SpikeSlab{Inclusion: param.Hold(0.25), Slab: param.Hold(2), Spike: param.Hold(0.5)}, linear, 0.875},
		{SpikeSlab{Inclusion: param.Parameter{Value: 0.5}, Slab: param.Parameter{Value: 3}}, linear, 1.5},
	} {
		if got := c.prior.UnseenVariance(c.block); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%+v has an unseen weight of variance %v, want %v", c.prior, got, c.want)
		}
	}
}

// Every prior of the table is at other values what its parameters say, in the same states, and the
// same again at its own.
func TestParameters(t *testing.T) {
	for _, p := range []Parametric{
		Normal{}, Normal{Variance: param.From(0.5), ARD: true}, SpikeSlab{},
		SpikeSlab{Inclusion: param.Hold(0.1), Slab: param.From(2), Spike: param.Hold(0.01)},
	} {
		before := p.Parameters()
		values := make([]float64, len(before))
		for i := range values {
			values[i] = 0.125 * float64(i+1)
		}
		moved := p.WithParameters(values).(Parametric)
		for i, parameter := range moved.Parameters() {
			if want := (param.Named{Name: before[i].Name, Parameter: before[i].At(values[i])}); parameter != want {
				t.Errorf("%v moved: %+v, want %+v", p, parameter, want)
			}
			values[i] = before[i].Value
		}
		if back := moved.WithParameters(values); back.String() != p.String() {
			t.Errorf("%v moved and back is %v", p, back)
		}
	}
}

func TestUnknownStateIsRefused(t *testing.T) {
	for _, p := range []interface{ Validate() error }{
		Normal{Variance: param.Parameter{Value: 1, State: 3}}, SpikeSlab{Slab: param.Parameter{Value: 1, State: 3}},
	} {
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "is in the unknown state 3") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
