package arrow

import "github.com/credence-ml/credence/internal/kernel"

// few is the length up to which a loop is faster than a kernel: most levels meet few dense columns.
const few = 8

func dot(x, y []float64) (sum float64) {
	if len(x) > few {
		return kernel.Dot(x, y)
	}
	y = y[:len(x)]
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

func axpy(by float64, x, y []float64) {
	if len(x) > few {
		kernel.Axpy(by, x, y)
		return
	}
	y = y[:len(x)]
	for i, v := range x {
		y[i] += by * v
	}
}
