package laplace

import (
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/kernel"
)

// GIST (Gong et al. 2013): Barzilai–Borwein steps, accepted where they lower the objective below the
// largest of the last few.
const (
	gistMemory    = 5
	gistDecrease  = 1e-5
	gistGrowth    = 2.0
	gistShortest  = 1e-20
	gistPatience  = 3
	mostGistSteps = 60
)

// gist minimises −log p(y|w) − log p(w, z) over w and z together.
func (f *fit) gist(ctx context.Context, p normals, m *mode, limit int, tolerance float64) error {
	d := len(m.weights)
	gradient, next, slopes := make([]float64, d), make([]float64, d), make([]float64, d)
	value := f.loss(m.weights, gradient) + f.penalty(p, m.weights)
	values := []float64{value}
	norm := kernel.Dot(gradient, gradient)
	step := 1.0
	if norm > 0 { // the curvature along the first gradient
		squares := f.along(gradient)
		step = norm / math.Max(squares, 1e-12*norm)
	}
	best, quiet := append([]float64(nil), m.weights...), 0
	m.objective, m.converged = value, false
	for range limit {
		if err := ctx.Err(); err != nil {
			return err
		}
		accepted, moved, change := false, 0.0, 0.0
		for range mostGistSteps {
			f.proximal(p, next, m.weights, gradient, step)
			moved = distance(next, m.weights)
			change = f.loss(next, slopes) + f.penalty(p, next)
			if change <= slices.Max(values)-gistDecrease/2/step*moved {
				accepted = true
				break
			}
			if step /= gistGrowth; step < gistShortest {
				break
			}
		}
		if !accepted || moved == 0 {
			m.converged = true
			break
		}
		m.iterations++
		along := 0.0
		for j, x := range next {
			along += (x - m.weights[j]) * (slopes[j] - gradient[j])
		}
		copy(m.weights, next)
		copy(gradient, slopes)
		if step = moved / math.Max(along, 1e-12*moved); !(step > gistShortest) {
			step = gistShortest
		}
		if quiet++; value-change > tolerance || change-value > tolerance {
			quiet = 0
		}
		value = change
		if values = append(values, value); len(values) > gistMemory {
			values = values[1:]
		}
		if value < m.objective {
			m.objective = value
			copy(best, m.weights)
		}
		if quiet == gistPatience {
			m.converged = true
			break
		}
	}
	copy(m.weights, best)
	return nil
}

// along is the curvature of the loss along v.
func (f *fit) along(v []float64) float64 {
	product, sum := make([]float64, f.Rows), 0.0
	f.Mul(f.ws, product, v)
	for i, x := range product {
		sum += f.curvature[i] * x * x
	}
	return sum
}

// proximal stores the step from w along the gradient of the loss, and then to the penalty's nearest.
func (f *fit) proximal(p normals, dst, w, gradient []float64, step float64) {
	for j, x := range w {
		u := x - step*gradient[j]
		if v := f.Kept[j]; v > 0 {
			dst[j] = (u + step/v*f.KeptMean[j]) / (1 + step/v)
			continue
		}
		dst[j] = f.of(p, j).proximal(u, step)
	}
}

// penalty is −log of the joint prior.
func (f *fit) penalty(p normals, w []float64) float64 {
	sum, shared := 0.0, p.constant()
	for j, x := range w {
		if v := f.Kept[j]; v > 0 {
			gap := x - f.KeptMean[j]
			sum += (math.Log(2*math.Pi*v) + gap*gap/v) / 2
			continue
		}
		q, constant := f.of(p, j), shared
		if q.logOdds != p.logOdds {
			constant = q.constant()
		}
		value, _ := q.joint(x)
		sum += constant + value
	}
	return sum
}

func distance(a, b []float64) float64 {
	sum := 0.0
	for j, x := range a {
		sum += (x - b[j]) * (x - b[j])
	}
	return sum
}
