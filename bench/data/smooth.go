package data

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Kind is the family of generated targets.
type Kind string

// The kinds: with f nearly a Gaussian process of unit variance, y is f with normal
// noise of variance 0.01, a class of probability σ(3f), or a Poisson count of mean eᶠ.
const (
	Real  Kind = "real"
	Class Kind = "class"
	Count Kind = "count"
)

// waves is the number of cosines that make f.
const waves = 200

// Smooth returns training and test rows, 10,000 of these, of d standard normal
// inputs. f = √(2/200) Σ a_m cos(w_mᵀx + b_m), a ~ N(0, 1), w ~ N(0, 1/ℓ²): half of the inputs have
// lengthscales from 2 to 6, the others 50, which hardly matter.
func Smooth(kind Kind, rows, d int, seed uint32) (train, test *Table, err error) {
	rng := NewStream(seed, 2)
	lengthscales := make([]float64, d)
	for j := range lengthscales {
		lengthscales[j] = 50
		if half := d / 2; j < half {
			lengthscales[j] = 2 * math.Pow(3, float64(j)/math.Max(1, float64(half-1)))
		}
	}
	w := make([]float64, d*waves) // input by input
	for i := range w {
		w[i] = rng.Normal() / lengthscales[i/waves]
	}
	phase, size := make([]float64, waves), make([]float64, waves)
	for m := range phase {
		phase[m] = 2 * math.Pi * rng.Float64()
	}
	for m := range size {
		size[m] = rng.Normal()
	}
	part := func(n int, purpose uint32) (*Table, error) {
		rng := NewStream(seed, purpose)
		x, y := linop.NewDense(n, d+1), make([]float64, n)
		for i := range n {
			for j := range d {
				x.Row(i)[j] = rng.Normal()
			}
		}
		z := make([]float64, waves)
		for i := range n {
			copy(z, phase)
			for j, v := range x.Row(i)[:d] {
				for m := range z {
					z[m] += v * w[j*waves+m]
				}
			}
			for m, v := range z {
				y[i] += size[m] * math.Cos(v)
			}
			y[i] *= math.Sqrt(2.0 / waves)
		}
		for i, f := range y {
			switch kind {
			case Real:
				y[i] = f + 0.1*rng.Normal()
			case Count:
				y[i] = rng.Poisson(math.Exp(f))
			case Class:
				y[i] = 0
				if rng.Float64() < 1/(1+math.Exp(-3*f)) {
					y[i] = 1
				}
			default:
				return nil, fmt.Errorf("data: there is no kind %q", kind)
			}
			x.Row(i)[d] = y[i]
		}
		all := &credence.Chunk{Values: x}
		all.Sparse.Rows = n
		return newTable(credence.Schema{Columns: columnNames(d)}, all), nil
	}
	if train, err = part(rows, 0); err != nil {
		return nil, nil, err
	}
	test, err = part(10000, 1)
	return train, test, err
}

// columnNames are x1 to xd, and y.
func columnNames(d int) []credence.Column {
	var list []credence.Column
	for j := range d {
		list = append(list, credence.Column{Name: fmt.Sprintf("x%d", j+1), Kind: credence.Numeric})
	}
	return append(list, credence.Column{Name: "y", Kind: credence.Numeric})
}
