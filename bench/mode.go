package main

import (
	"github.com/credence-ml/credence/bench/data"
	"github.com/credence-ml/credence/internal/lbfgs"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/metric"
)

// logistic is L2-regularised logistic regression: the mode of the posterior under N(0, I), the
// intercept's weight included, which is liblinear's -s 0 -c 1 -B 1.
type logistic struct {
	weights []float64 // the last is the intercept's
}

// fitLogistic minimises Σ log(1 + exp(−c f)) + ½‖w‖², c = ±1, to 1e-9 nats.
func fitLogistic(train *data.Table) (*logistic, error) {
	labels := train.Column("label")
	columns := train.Schema().Sparse
	m := &logistic{weights: make([]float64, columns+1)}
	_, err := lbfgs.Minimise(m.weights, func(w, gradient []float64) (float64, error) {
		at := logistic{w}
		loss := 0.0
		for j, v := range w {
			loss += v * v / 2
			gradient[j] = v
		}
		for i, label := range labels {
			sign := -1.0
			if label <= 0 {
				sign = 1
			}
			f := sign * at.latent(train, i)
			loss += special.Softplus(f)
			slope := sign * special.Sigmoid(f)
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
func (m *logistic) latent(t *data.Table, i int) float64 {
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
func (m *logistic) probability(t *data.Table, i int) float64 {
	return special.Sigmoid(m.latent(t, i))
}

// scoreMode fits the mode to the training rows and scores it on the others.
func scoreMode(r *result, train, test *data.Table) error {
	mode, err := fitLogistic(train)
	if err != nil {
		return err
	}
	var c metric.Classification
	for i, label := range test.Column("label") {
		c.Add(max(label, 0), mode.probability(test, i), 1)
	}
	scores, err := c.Result()
	r.Extra["mode_log_loss"], r.Extra["mode_ece"] = float64(scores.LogLoss), float64(scores.ECE)
	return err
}
