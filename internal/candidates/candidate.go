package candidates

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/checkpoint"
	"github.com/credence-ml/credence/internal/hyper"
)

// Candidate is a run of columns that are in the model or out of it together: one column, or a group.
type Candidate struct{ First, Count int }

// End returns the column after the last one.
func (c Candidate) End() int { return c.First + c.Count }

// KeptBlock is a run of columns that are always in, under a normal prior whose variance is learned.
type KeptBlock struct {
	Name         string
	First, Count int
	Start        float64 // log of the prior standard deviation, in units
	Prior        hyper.BetaPrime
}

// takeKept takes the blocks that are always in, each with the hyper-prior of a block under a normal prior.
func (s *Setting) takeKept(t *Table, features credence.Features, latent, tail float64) {
	for k, g := range t.groups {
		b := features.Blocks()[g.Block]
		if !b.Kept {
			continue
		}
		scale := latent
		if c := t.scales.C[k]; c > 0 {
			scale = latent / c
		}
		k := KeptBlock{Name: b.Name, First: b.First, Count: b.Count, Start: math.Log(scale), Prior: hyper.BetaPrime{A: 1, B: tail, Scale: scale}}
		s.KeptBlocks = append(s.KeptBlocks, k)
		s.SetKept(len(s.KeptBlocks)-1, k.Start)
	}
}

// SetKept gives a kept block its prior standard deviation, by the logarithm.
func (s *Setting) SetKept(block int, logSD float64) {
	b := &s.KeptBlocks[block]
	for j := b.First; j < b.First+b.Count; j++ {
		s.Kept[j] = math.Exp(2 * logSD)
	}
}

// KeptValues names the prior variances of the kept blocks, in the target's own units.
func (s *Setting) KeptValues(logSD []float64) []credence.Value {
	var list []credence.Value
	for k, b := range s.KeptBlocks {
		list = append(list, credence.Value{Name: "prior_variance." + b.Name, Value: math.Exp(2*logSD[k]) * s.scale * s.scale})
	}
	return list
}

// Checkpoint is the checkpoint at path of an engine's fit, told from others by model, options and data; of the data by
// targets, offsets and weights, and by mean and square of every column.
func (t *Table) Checkpoint(path, engine string, format int, model credence.Model, options any) checkpoint.File {
	return checkpoint.File{Path: path, Kind: func() (checkpoint.Kind, error) {
		squares := make([]float64, t.Count())
		t.Squares(squares, nil)
		print, err := checkpoint.Fingerprint(options, fmt.Sprint(model.Likelihood), model.Prior, model.Features.Blocks(),
			t.Held.Target, t.Held.Offset, t.Held.Weight, t.Held.Precision, t.Means, squares)
		return checkpoint.Kind{Name: engine, Format: format, Fingerprint: print}, err
	}}
}
