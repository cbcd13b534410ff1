package exact

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/lbfgs"
)

// curvature returns what the climb learned of the curvature, for other rows: the evidence of
// as many more rows bends as many times more.
func (o *outcome) curvature(weight float64) []lbfgs.Pair {
	scaled := make([]lbfgs.Pair, len(o.pairs))
	for k, p := range o.pairs {
		change := append([]float64(nil), p.Change...)
		kernel.Scale(weight/o.weight, change)
		scaled[k] = lbfgs.Pair{Step: p.Step, Change: change}
	}
	return scaled
}

const (
	differenceStep = 1e-3 // of a logarithm
	leastCurvature = 1    // nats: a direction that bends less is taken to bend so much
)

// measureCurvature replaces what the climb of t that ended there learned of the curvature by the
// whole Hessian, from differences of the gradient, one evaluation for every variable. As one
// correction along each eigenvector it makes the first step of the next climb Newton's; directions
// in which the evidence bends upward count as bending downward by as much (saddle-free Newton,
// Dauphin et al. 2014).
func (e *Engine) measureCurvature(ctx context.Context, f form, t task, end *outcome) error {
	t.before = end
	o, err := e.objective(ctx, f, t)
	if err != nil {
		return err
	}
	hessian, err := o.differences(o.coordinates())
	if err != nil {
		return err
	}
	var eigen mat.EigenSym
	if norm := mat.Norm(hessian, 1); math.IsNaN(norm) || math.IsInf(norm, 1) || !eigen.Factorize(hessian, true) {
		return nil // beyond the edge of what can be evaluated: what the climb learned has to do
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	end.pairs = nil
	for k, value := range eigen.Values(nil) {
		p := lbfgs.Pair{Step: mat.Col(nil, k, &vectors)}
		p.Change = append([]float64(nil), p.Step...)
		kernel.Scale(math.Max(math.Abs(value), leastCurvature), p.Change)
		end.pairs = append(end.pairs, p)
	}
	return nil
}

// differences returns second derivatives of the objective at x, one evaluation for every variable.
func (o *objective) differences(x []float64) (*mat.SymDense, error) {
	n := len(x)
	base, moved := make([]float64, n), make([]float64, n)
	if _, err := o.at(x, base); err != nil {
		return nil, err
	}
	hessian := mat.NewSymDense(n, nil)
	for i := range n {
		trial := append([]float64(nil), x...)
		trial[i] += differenceStep
		if _, err := o.at(trial, moved); err != nil {
			return nil, err
		}
		for j := range n {
			change := (moved[j] - base[j]) / differenceStep / 2 // half of it for each of (i, j) and (j, i)
			if i == j {
				change *= 2
			}
			hessian.SetSym(i, j, hessian.At(i, j)+change)
		}
	}
	return hessian, nil
}
