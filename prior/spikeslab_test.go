package prior

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

func held(v float64) param.Parameter {
	return param.Parameter{Value: v, State: param.Held}
}

func guess(v float64) param.Parameter {
	return param.Parameter{Value: v, State: param.Guess}
}

func TestSpikeSlabText(t *testing.T) {
	for _, c := range []struct {
		prior SpikeSlab
		want  string
	}{
		{SpikeSlab{}, "spikeslab"},
		{SpikeSlab{Inclusion: held(0.01), Slab: held(1), Spike: held(1e-3)}, "spikeslab(inclusion=0.01, slab=1, spike=0.001)"},
		{SpikeSlab{Slab: guess(0.5)}, "spikeslab(slab=~0.5)"},
		{SpikeSlab{Spike: held(0)}, "spikeslab(spike=0)"},
	} {
		if got := c.prior.String(); got != c.want {
			t.Errorf("%+v reads %q, want %q", c.prior, got, c.want)
		}
		if err := c.prior.Validate(); err != nil {
			t.Errorf("%s is refused: %v", c.want, err)
		}
	}
}

func TestSpikeSlabRefusals(t *testing.T) {
	for _, c := range []struct {
		prior SpikeSlab
		want  string
	}{
		{SpikeSlab{Inclusion: held(1)}, "inclusion 1 is not a probability"},
		{SpikeSlab{Inclusion: guess(0)}, "inclusion 0 is not a probability"},
		{SpikeSlab{Slab: held(0)}, "slab 0 is not a positive variance"},
		{SpikeSlab{Spike: held(-1)}, "spike -1 is not a variance"},
		{SpikeSlab{Spike: guess(0)}, "cannot be learned from"},
		{SpikeSlab{Slab: held(1), Spike: held(1)}, "no narrower than slab"},
	} {
		if err := c.prior.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: refusal reads %v, want %q", c.prior, err, c.want)
		}
	}
}

// TestInclusionPrior reads a Beta prior of the inclusion, writes it, and refuses what is none.
func TestInclusionPrior(t *testing.T) {
	read := func(text string) (Named, error) {
		call, err := spec.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		a := spec.NewArguments(call, text)
		p := readSpikeSlab(a)
		return p, a.Finish()
	}
	p, err := read("spikeslab(slab=2, inclusion_prior=[1, 9])")
	if err != nil || p.(SpikeSlab).InclusionPrior != [2]float64{1, 9} || p.String() != "spikeslab(slab=2, inclusion_prior=[1, 9])" {
		t.Error(p, err)
	}
	if again := p.(SpikeSlab).WithParameters([]float64{0.1, 2, 0}); again.(SpikeSlab).InclusionPrior != [2]float64{1, 9} {
		t.Error("a fit forgets it", again)
	}
	for _, text := range []string{
		"spikeslab(inclusion_prior=3)", "spikeslab(inclusion_prior=[1, 2, 3])", "spikeslab(inclusion_prior=[0, 1])", "spikeslab(inclusion_prior=~[1, 9])",
		"spikeslab(inclusion=0.1, inclusion_prior=[1, 9])",
	} {
		if p, err := read(text); err == nil {
			t.Errorf("%s is taken as %v", text, p)
		}
	}
}

// The data have to triple the odds of a learned inclusion, and a stated one is taken as it is.
func TestSelectedAbove(t *testing.T) {
	for _, c := range []struct {
		inclusion param.Parameter
		want      float64
	}{
		{held(0.9), 0.5},
		{param.Parameter{Value: 0.1}, 0.5},
		{param.Parameter{Value: 0.25}, 0.5}, // odds 1/3, tripled 1
		{param.Parameter{Value: 0.5}, 0.75},
		{param.From(0.9), 27.0 / 28},
	} {
		if got := (SpikeSlab{Inclusion: c.inclusion}).SelectedAbove(); !(math.Abs(got-c.want) <= 1e-15) {
			t.Errorf("inclusion %+v: selected above %v, want %v", c.inclusion, got, c.want)
		}
	}
}
