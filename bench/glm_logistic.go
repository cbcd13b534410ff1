package main

import (
	"math"

	"github.com/credence-ml/credence/bench/glmdata"
	"github.com/credence-ml/credence/internal/lbfgs"
)

// logistic is L2-regularised logistic regression: the mode of the posterior under N(0, I), the
// intercept's weight included, which is liblinear's -s 0 -c 1 -B 1.
type logistic struct {
	weights []float64 // the last is the intercept's
}

// fitLogistic minimises Σ log(1 + exp(−c f)) + ½‖w‖², c = ±1, to 1e-9 nats.
func fitLogistic(train *glmdata.Table, positive []bool) (*logistic, error) {
	columns := train.Schema().Sparse
	m := &logistic{weights: make([]float64, columns+1)}
	_, err := lbfgs.Minimise(m.weights, func(w, gradient []float64) (float64, error) {
		at := logistic{w}
		loss := 0.0
		for j, v := range w {
			loss += v * v / 2
			gradient[j] = v
		}
		for i, yes := range positive {
			f := at.latent(train, i)
			if yes {
				f = -f
			}
			// log(1+eᶠ), and its slope by the side that does not overflow
			e := math.Exp(-math.Abs(f))
			loss += math.Max(f, 0) + math.Log1p(e)
			slope := e / (1 + e)
			if f > 0 {
				slope = 1 / (1 + e)
			}
			if yes {
				slope = -slope
			}
			index, values := train.SparseRow(i)
			for k, j := range index {
				v := 1.0
				if values != nil {
					v = values[k]
				}
				gradient[j] += slope * v
			}
			gradient[columns] += slope
		}
		return loss, nil
	}, lbfgs.Config{MaxIterations: 2000, Tolerance: 1e-9})
	return m, err
}

// latent is f of a row.
func (m *logistic) latent(t *glmdata.Table, i int) float64 {
	intercept := len(m.weights) - 1
	f := m.weights[intercept]
	index, values := t.SparseRow(i)
	for k, j := range index {
		v := 1.0
		if values != nil {
			v = values[k]
		}
		f += v * m.weights[j]
	}
	return f
}

// probability is that of the positive class.
func (m *logistic) probability(t *glmdata.Table, i int) float64 {
	return 1 / (1 + math.Exp(-m.latent(t, i)))
}
