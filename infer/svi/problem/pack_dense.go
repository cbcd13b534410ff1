package problem

import (
	"encoding/binary"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// mostDistinct is the share of rows that may differ for equal ones to be looked for on.
const mostDistinct = 0.5

// equal returns the rows that differ, with dense columns, in the order of their first places, each with the sum of the
// weights of those equal to it; nil where more than a share of the first rows, or of any number of rows, differ.
func equal(blocks []Block, d int) *Packed {
	p, known, seen, row := &Packed{}, map[string]int{}, 0, make([]float64, d)
	var key []byte
	for _, b := range blocks {
		for i := range b.Rows() {
			key = key[:0]
			number := func(v float64) { key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v)) }
			clear(row)
			b.Phi.Each(i, func(j int, v float64) { row[j] = v })
			for _, v := range row {
				number(v)
			}
			number(b.Target[i])
			for _, own := range [][]float64{b.Offset, b.Precision, b.Trials} {
				if own != nil {
					number(own[i])
				}
			}
			at, found := known[string(key)]
			if !found {
				at = len(known)
				known[string(key)] = at
				p.append(&b, i, row)
			}
			p.blocks[at/credence.BlockRows].Weight[at%credence.BlockRows] += b.WeightOf(i)
		}
		if seen += b.Rows(); seen >= fewestPacked && float64(len(known)) > mostDistinct*float64(seen) {
			return nil
		}
	}
	return p
}

// append adds row i of a block, without weight.
func (p *Packed) append(b *Block, i int, row []float64) {
	if n := len(p.blocks); n == 0 || p.blocks[n-1].Rows() == credence.BlockRows {
		p.blocks = append(p.blocks, Block{Batch: new(credence.Batch), Phi: &credence.Design{Dense: linop.NewDense(0, len(row))}})
	}
	to := &p.blocks[len(p.blocks)-1]
	dense := &to.Phi.Dense
	dense.Data = append(dense.Data, row...)
	dense.Rows++
	to.Target, to.Weight = append(to.Target, b.Target[i]), append(to.Weight, 0)
	for _, own := range []struct{ to, from *[]float64 }{{&to.Offset, &b.Offset}, {&to.Precision, &b.Precision}, {&to.Trials, &b.Trials}} {
		if *own.from != nil {
			*own.to = append(*own.to, (*own.from)[i])
		}
	}
}
