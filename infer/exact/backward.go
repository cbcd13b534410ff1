package exact

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/linop"
)

// hyperColumns is the ability of features to say which dense columns, [first, end),
// hyper-parameters act on: slopes in the others are not asked for.
type hyperColumns interface {
	HyperColumns() (first, end int)
}

// backward adds up the slopes in the features' hyper-parameters over a second pass, in which
// the residuals of the rows give ‖y−Φm‖² without cancellation. It turns
// p.inverse into C, packed for the products with the blocks of rows. Under an intercept C is T C: the columns
// that hyper-parameters act on are not centred, so that the rows' products are those of centred ones.
func (p *primal) backward(ctx context.Context, precision float64, gradient []float64) (residual float64, err error) {
	clear(gradient)
	dense := p.rowSums.dense
	first, end := 0, dense
	if h, ok := p.features.(hyperColumns); ok {
		first, end = h.HyperColumns()
	}
	multiply := p.products(precision, dense, first, end)
	tunable := p.features.(credence.Tunable)
	m := p.m
	if p.intercept {
		m = append([]float64(nil), m...)
		m[0] += p.location
		problem.Uncentre(p.means, m)
	}
	for k := range p.rows.Blocks() {
		b, err := p.rows.Block(ctx, k)
		if err != nil {
			return 0, err
		}
		phi := p.design(k, b, true)
		n := b.Rows()
		p.slab = order.Resized(p.slab, n*dense)
		slab := p.slab
		p.y = p.summary.units.targets(p.y, b)
		y, fitted, weights := p.y, p.fitted[:n], b.SquareWeights()
		phi.Mul(p.ws, fitted, m)
		if n > 0 && end > first {
			multiply(phi, slab)
		}
		p.ws.Each(n, func(i int) {
			row := slab[i*dense+first : i*dense+end]
			kernel.Axpy(precision*(y[i]-fitted[i]), p.m[first:end], row)
			if weights != nil {
				kernel.Scale(weights[i], row)
			}
		})
		for i, v := range y {
			gap := v - fitted[i]
			if weights != nil {
				gap *= math.Sqrt(weights[i])
			}
			residual += gap * gap
		}
		tunable.Pullback(p.ws, gradient, b, phi, slab)
	}
	return residual, nil
}

// timesCovariance turns A⁻¹ into C = S A⁻¹ S, or into T C, and returns what stores −ΦC/σ², for
// the columns [first, end) of C, in a block of as many columns as dense ones.
func (p *primal) timesCovariance(precision float64, dense, first, end int) func(phi *credence.Design, dst []float64) {
	rounded := p.roundsWell(precision)
	gauss.ScaleSides(p.ws, p.inverse, p.s)
	problem.UncentreFactor(p.means, p.inverse)
	var multiply func(phi *linop.Dense, dst []float64)
	var sparseRows linop.Dense
	if rounded {
		c, rows := p.narrow.pack(p, dense, first, end)
		sparseRows, multiply = rows, func(phi *linop.Dense, dst []float64) {
			p.ws.Pool().GemmPacked32(false, phi.Rows, -precision, p.narrow.rows(p, phi), dense, c, 0, dst, dense)
		}
	} else {
		c, rows := p.packCovariance(dense, first, end)
		sparseRows, multiply = rows, func(phi *linop.Dense, dst []float64) {
			p.ws.Pool().GemmPacked(false, phi.Rows, -precision, phi.Data, phi.Stride, c, 0, dst, dense)
		}
	}
	return func(phi *credence.Design, dst []float64) {
		multiply(&phi.Dense, dst[first:])
		p.ws.Each(phi.Dense.Rows, func(i int) {
			phi.Sparse.AddRowMul(dst[i*dense+first:i*dense+end], i, -precision, &sparseRows)
		})
	}
}

// packCovariance packs the dense columns' rows of C's columns [first, end) where they lie. It
// returns as well the sparse columns' rows.
func (p *primal) packCovariance(dense, first, end int) (c kernel.Packed[float64], sparseRows linop.Dense) {
	d := p.d
	sparseRows = p.sparseRows(dense, first, end)
	if sparseRows.Rows > 0 && p.ws.Pool().PackedLen(dense, end-first) > dense*d {
		// The panels reach into the rows: there are fewer of them than a panel has columns.
		sparseRows.Data = append([]float64(nil), sparseRows.Data...)
	}
	return p.ws.Pool().Pack(dense, end-first, p.inverse[first:], d, p.inverse), sparseRows
}

// sparseRows returns the sparse columns' rows of p.inverse, in the columns [first, end).
func (p *primal) sparseRows(dense, first, end int) linop.Dense {
	rows := linop.Dense{Rows: p.d - dense, Cols: end - first, Stride: p.d}
	if rows.Rows > 0 {
		rows.Data = p.inverse[dense*p.d+first : p.d*p.d]
	}
	return rows
}

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
	if size := max(p.ws.Pool().PackedLen32(dense, n), dense*n); len(r.covariance) < size {
		r.covariance = make([]float32, size)
	}
	p.ws.Each(dense, func(i int) {
		round(r.covariance[i*n:(i+1)*n], p.inverse[i*d+first:i*d+end])
	})
	return p.ws.Pool().Pack32(dense, n, r.covariance, n, r.covariance), p.sparseRows(dense, first, end)
}

// rows returns a block of dense columns rounded, without gaps between rows.
func (r *narrow) rows(p *primal, phi *linop.Dense) []float32 {
	if size := phi.Rows * phi.Cols; len(r.phi) < size {
		r.phi = make([]float32, size)
	}
	p.ws.Each(phi.Rows, func(i int) {
		round(r.phi[i*phi.Cols:(i+1)*phi.Cols], phi.Row(i))
	})
	return r.phi
}

func round(dst []float32, x []float64) {
	for i, v := range x[:len(dst)] {
		dst[i] = float32(v)
	}
}
