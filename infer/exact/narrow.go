package exact

import (
	"math"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// The product ΦC of the backward pass is two thirds of an evaluation, and enters nothing but the slopes
// in the features' hyper-parameters. From narrowWeights columns on it is computed from numbers
// rounded to float32, at twice the speed, as long as no variance of C is above narrowRatio noise
// variances. The errors of rows and columns are independent: on 10,000 rows and 1,000 columns they
// move a slope by 1e-4 nats at a ratio of 1e3, by 0.01 at 1e4 and by 1 at 1e6.
const (
	narrowWeights = 500
	narrowRatio   = 1e4
)

// narrow holds what is rounded to float32.
type narrow struct {
	covariance []float32 // of the dense columns, packed
	phi        []float32 // a block of rows
}

// roundsWell says whether the product may be of rounded numbers; p.inverse is A⁻¹.
func (p *primal) roundsWell(precision float64) bool {
	if p.d < narrowWeights {
		return false
	}
	largest := 0.0
	for j, s := range p.s {
		largest = math.Max(largest, s*s*p.inverse[j*p.d+j])
	}
	return largest*precision <= narrowRatio // false for NaN
}

// pack rounds and packs the dense columns' rows of C's columns [first, end), and returns as well the
// sparse columns' rows.
func (r *narrow) pack(p *primal, dense, first, end int) (c kernel.Packed[float32], sparseRows linop.Dense) {
	d, n := p.d, end-first
	if size := max(p.pool.PackedLen32(dense, n), dense*n); len(r.covariance) < size {
		r.covariance = make([]float32, size)
	}
	p.ws.InRuns(dense, func(from, to int) {
		for i := from; i < to; i++ {
			round(r.covariance[i*n:(i+1)*n], p.inverse[i*d+first:i*d+end])
		}
	})
	return p.pool.Pack32(dense, n, r.covariance, n, r.covariance), p.sparseRows(dense, first, end)
}

// rows returns a block of dense columns rounded, without gaps between rows.
func (r *narrow) rows(p *primal, phi *linop.Dense) []float32 {
	if size := phi.Rows * phi.Cols; len(r.phi) < size {
		r.phi = make([]float32, size)
	}
	p.ws.InRuns(phi.Rows, func(from, to int) {
		for i := from; i < to; i++ {
			round(r.phi[i*phi.Cols:(i+1)*phi.Cols], phi.Row(i))
		}
	})
	return r.phi
}

func round(dst []float32, x []float64) {
	for i, v := range x[:len(dst)] {
		dst[i] = float32(v)
	}
}
