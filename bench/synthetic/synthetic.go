// Package synthetic makes regression data of any length, row by row: a smooth
// function of a few of the inputs and noise. A row depends on the seed and its
// index alone, so that data are read again and again without being kept.
package synthetic

import (
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence"
)

// noise is the standard deviation of the targets around the function, whose own is about 1.
const noise = 0.1

// Data is rows of independent uniform inputs of mean 0 and variance 1. It
// implements [credence.Data] and never holds more than the batch that it fills.
type Data struct {
	Count  int // rows
	Inputs int // at least 4
	Seed   uint64
}

// Rows implements [credence.Data].
func (d Data) Rows() int { return d.Count }

// Read implements [credence.Data]; first must begin a block of credence.BlockRows
// rows, as engines and writers read.
func (d Data) Read(dst *credence.Batch, first, count int) error {
	dst.First = first
	dst.X.Reshape(count, d.Inputs)
	dst.Sparse.Reset(0)
	dst.Sparse.Rows = count
	if cap(dst.Target) < count {
		dst.Target = make([]float64, count)
	}
	dst.Target = dst.Target[:count]
	for i := 0; i < count; i += credence.BlockRows {
		d.block(dst, i, min(credence.BlockRows, count-i), uint64((first+i)/credence.BlockRows))
	}
	return nil
}

// block fills rows of the batch from the stream of their block.
func (d Data) block(dst *credence.Batch, from, count int, number uint64) {
	rng := credence.Rand(d.Seed, "bench.synthetic", number)
	for i := from; i < from+count; i++ {
		x := dst.X.Row(i)
		for j := range x {
			x[j] = uniform(rng)
		}
		f := math.Sin(2*x[0]) + 0.5*x[1]*x[2] + 0.5*math.Cos(3*x[3])
		dst.Target[i] = f + noise*uniform(rng)
	}
}

// uniform returns a number of mean 0 and variance 1.
func uniform(rng *rand.Rand) float64 { return math.Sqrt(3) * (2*rng.Float64() - 1) }
