package gauss

import (
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/arrow"
)

// Crossed is the [System] of an arrow of two keys that are crossed, by conjugate gradients; see [arrow.Crossed].
type Crossed struct {
	*arrow.Crossed
	layout Arrow
}

var _ System = (*Crossed)(nil)

// NewCrossed returns room for a matrix of a layout; signs returns the random numbers of a set of probes.
func NewCrossed(ws *credence.Workspace, l Arrow, signs func(set uint64) *rand.Rand) *Crossed {
	return &Crossed{Crossed: l.NewCrossed(ws, signs), layout: l}
}

// Set implements [System].
func (f *Crossed) Set(h []float64, scale float64, deviations []float64) error {
	if lost := f.Crossed.Set(h, scale, deviations); lost >= 0 {
		return &Repeated{Pivot: lost, Count: f.layout.Weights, Twin: -1}
	}
	return nil
}

// Jitter implements [System]: nothing is added.
func (f *Crossed) Jitter() float64 { return 0 }
