package candidates

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Precision is XᵀBX + diag λ, for the precisions B of the rows, as what it does to vectors.
type Precision struct {
	*Table
	WS           *credence.Workspace
	ByRow, Prior []float64 // B and λ
}

var _ linop.Matrix = (*Precision)(nil)

// Dims implements [linop.Matrix].
func (p *Precision) Dims() (rows, cols int) { return len(p.Prior), len(p.Prior) }

// MulVec implements [linop.Matrix].
func (p *Precision) MulVec(dst, x []float64) {
	defer p.WS.Release(p.WS.Mark())
	rows := p.WS.Floats(len(p.ByRow))
	p.Mul(p.WS, rows, x)
	for i, b := range p.ByRow {
		rows[i] *= b
	}
	p.MulTrans(p.WS, dst, rows)
	for j, l := range p.Prior {
		dst[j] += l * x[j]
	}
}

// MulVecTrans implements [linop.Matrix].
func (p *Precision) MulVecTrans(dst, x []float64) { p.MulVec(dst, x) }
