package problem

import (
	"math"

	"github.com/credence-ml/credence"
)

// Moments are those of targets, taken row by row so that nothing cancels. The zero value has none.
type Moments struct {
	Weight, Mean float64
	Low, High    float64
	square       float64 // Σ w (y − mean)²
}

// AddTargets adds the targets of a batch, by their weights.
func (m *Moments) AddTargets(b *credence.Batch) {
	for i, y := range b.Target {
		m.Add(y, b.WeightOf(i))
	}
}

// Add adds a target of weight w.
func (m *Moments) Add(y, w float64) {
	if w == 0 {
		return
	}
	if m.Weight == 0 {
		m.Low, m.High = y, y
	}
	m.Weight += w
	gap := y - m.Mean
	m.Mean += gap * w / m.Weight
	m.square += w * gap * (y - m.Mean)
	m.Low, m.High = math.Min(m.Low, y), math.Max(m.High, y)
}

// Merge adds the targets of other moments.
func (m *Moments) Merge(other Moments) {
	switch {
	case other.Weight == 0:
		return
	case m.Weight == 0:
		*m = other
		return
	}
	total, gap := m.Weight+other.Weight, other.Mean-m.Mean
	m.square += other.square + gap*gap*m.Weight*(other.Weight/total)
	m.Mean += gap * (other.Weight / total)
	m.Weight, m.Low, m.High = total, math.Min(m.Low, other.Low), math.Max(m.High, other.High)
}

// Variance returns the weighted variance, 0 without weight.
func (m *Moments) Variance() float64 {
	if m.Weight == 0 {
		return 0
	}
	return m.square / m.Weight
}

// Square returns the weighted mean square about the mean, or about 0.
func (m *Moments) Square(centred bool) float64 {
	if centred {
		return m.Variance()
	}
	return m.Variance() + m.Mean*m.Mean
}

// Constant says whether there is a target and every one is the same.
func (m *Moments) Constant() bool { return m.Weight > 0 && m.Low == m.High }
