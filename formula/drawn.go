package formula

import (
	"context"
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
)

// Numbers of frequencies of random features whose n= is left out, by the columns that they take. Beyond two columns
// random frequencies cover space thinly, and more of them still gain where a closed form lets them be afforded.
const (
	ofOneColumn  = 50
	ofTwoColumns = 100
	ofMore       = 250  // under every family but gaussian
	ofMoreNormal = 500  // under gaussian
	ofManyRows   = 1000 // under gaussian above manyRows rows
	ofComponent  = 50   // of spectral, whatever the columns
	manyRows     = 5000
	// MostFrequencies is the largest number that is tried where n= is left out, for one column or two.
	MostFrequencies = 500
)

// Frequencies says how many frequencies a term of random features draws.
type Frequencies struct {
	Term   string // the name of its block
	Count  int
	Stated bool // by n=
	// Most is the number up to which more may be of use: Count where n= is stated, and beyond two columns. One function
	// of a column is known at its different values alone, so that Most is never above their number, of pairs for two.
	Most  int
	place int // of the function in the formula
}

// Frequencies returns the terms of the formula that draw frequencies, with what n= says or else the first number to
// try, for a frame that Fit made from the plan's. data are the frame's training rows, of which rows of weight 0 do not
// count; without them no number is bounded by that of different values.
func (p *Plan) Frequencies(fr *frame.Frame, data credence.Data) ([]Frequencies, error) {
	family, err := p.family.Likelihood(fr)
	if err != nil {
		family = likelihood.Gaussian{} // without a target nothing is fitted
	}
	var drawn []Frequencies
	var open []*different
	for i := range p.functions {
		f := &p.functions[i]
		if !f.draws() {
			continue
		}
		d := Frequencies{Term: f.label, Count: f.count, Stated: f.count > 0, Most: f.count, place: i}
		columns := f.dimension(fr.Sparse)
		switch _, normal := family.(likelihood.Gaussian); {
		case d.Stated:
		case f.kind == "spectral":
			d.Count, d.Most = ofComponent, ofComponent
		case columns <= 2:
			d.Count, d.Most = ofOneColumn, MostFrequencies
			if columns == 2 {
				d.Count = ofTwoColumns
			}
			if !f.segment {
				inputs := slices.Clone(f.inputs)
				for k := range f.times {
					inputs = append(inputs, f.times[k].inputs...)
				}
				open = append(open, &different{place: len(drawn), inputs: inputs, values: map[[2]float64]bool{}})
			}
		case !normal:
			d.Count, d.Most = ofMore, ofMore
		default:
			d.Count = ofMoreNormal
			if fr.Rows > manyRows {
				d.Count = ofManyRows
			}
			d.Most = d.Count
		}
		drawn = append(drawn, d)
	}
	if data == nil || len(open) == 0 {
		return drawn, nil
	}
	if err := countDifferent(data, open); err != nil {
		return nil, err
	}
	for _, o := range open {
		d := &drawn[o.place]
		d.Most = max(1, min(d.Most, len(o.values)))
		d.Count = min(d.Count, d.Most)
	}
	return drawn, nil
}

// different counts the values of a column, or the pairs of two, up to MostFrequencies.
type different struct {
	place  int
	inputs []int
	values map[[2]float64]bool
}

func countDifferent(data credence.Data, open []*different) error {
	for b, err := range credence.Batches(context.Background(), data) {
		if err != nil {
			return err
		}
		left := false
		for _, o := range open {
			for i := 0; i < b.Rows() && len(o.values) < MostFrequencies; i++ {
				if b.WeightOf(i) == 0 {
					continue
				}
				var value [2]float64
				for k, j := range o.inputs {
					value[k] = b.X.Row(i)[j]
				}
				o.values[value] = true
			}
			left = left || len(o.values) < MostFrequencies
		}
		if !left {
			break
		}
	}
	return nil
}

// Draw returns the features of the plan with other numbers of frequencies, those of [Plan.Frequencies] with other
// counts. Frequencies depend on the seed, on their number and on the place of their term alone.
func (p *Plan) Draw(set *feature.Set, drawn []Frequencies, seed uint64) (*feature.Set, error) {
	counts := map[string]Frequencies{}
	for _, d := range drawn {
		counts[d.Term] = d
	}
	in := set.Inputs()
	var failed error
	changed := set.Replace(func(term feature.Term) feature.Term {
		random, ok := term.(*feature.RandomFourier)
		if !ok {
			return nil
		}
		d, ok := counts[random.Name]
		if !ok || random.Given {
			return nil
		}
		again, err := p.functions[d.place].draw(&in, d, nil, seed)
		if err != nil {
			failed = err
			return nil
		}
		return again.WithLengthscales(random.Lengthscales())
	})
	if failed != nil {
		return nil, failed
	}
	return changed, nil
}

// draws says whether the function draws frequencies.
func (f *function) draws() bool {
	return (isKernel(f.kind) || f.kind == "product" || f.kind == "spectral") && f.frequencies == nil
}

// random is the function's term of random features, without frequencies.
func (f *function) random() *feature.RandomFourier {
	term := &feature.RandomFourier{
		Name: f.label, Kernel: feature.Kernel(f.kernel), Sampling: f.sampling,
		Inputs: f.inputs, Segment: f.segment, Without: f.without, Lengthscale: f.lengthscale,
	}
	for k := range f.times {
		t := &f.times[k]
		term.Times = append(term.Times, feature.Factor{Kernel: feature.Kernel(t.kernel), Inputs: t.inputs, Lengthscale: t.lengthscale})
	}
	return term
}

// draw draws the frequencies of a function. periods are those of all components of a spectral term, where they are
// known.
func (f *function) draw(in *feature.Inputs, d Frequencies, periods []feature.Lengthscale, seed uint64) (*feature.RandomFourier, error) {
	if d.Count < 1 {
		return nil, fmt.Errorf("formula: %s: %d frequencies: draw at least one", f.label, d.Count)
	}
	term := f.random()
	if f.kind == "spectral" {
		term.Times = []feature.Factor{{Kernel: feature.Cosine, Inputs: f.inputs}}
		if periods != nil {
			term.Times[0].Lengthscale = periods[f.component]
		}
	}
	return term.Draw(in, d.Count, credence.Rand(seed, credence.DrawFrequencies, uint64(d.place)))
}
