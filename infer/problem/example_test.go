package problem_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// fit is an engine in thirty lines: normal targets of a known noise variance, with the prior deviation s/c of every
// block.
func fit(ctx context.Context, model credence.Model, data credence.Data) (*credence.Fitted, error) {
	rows, err := problem.Open("example", model, data, problem.Offset|problem.Weight|problem.Precision)
	if err != nil {
		return nil, err
	}
	held, err := rows.Held(ctx, credence.NewWorkspace(1))
	if err != nil {
		return nil, err
	}
	groups, err := problem.Groups("example", model.Features, prior.Normal{})
	if err != nil {
		return nil, err
	}
	scales := held.Sums.Scales(model, groups)
	columns := held.ByColumn()
	units := held.Units(scales, columns.Means)
	y, d := units.Targets(held, columns.Unit()), columns.Count()
	noise := model.Likelihood.(likelihood.Gaussian).NoiseVariance.Value / (units.Noise * units.Noise)

	// In units: precision XᵀX/σ² + Λ, mean its inverse times Xᵀy/σ².
	precision, right := mat.NewSymDense(d, nil), make([]float64, d)
	columns.Products(credence.NewWorkspace(1), precision.RawSymmetric().Data, nil)
	columns.MulTrans(credence.NewWorkspace(1), right, y)
	for k, g := range groups {
		variance := scales.Square / (units.Scale * units.Scale) / (scales.C[k] * scales.C[k])
		if g.Intercept {
			variance = scales.Intercept.Variance / (units.Scale * units.Scale)
		}
		for j := g.First; j < g.End(); j++ {
			precision.SetSym(j, j, precision.At(j, j)+noise/variance)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(precision) {
		return nil, fmt.Errorf("example: two columns may be equal")
	}
	mean, inverse := mat.NewVecDense(d, nil), mat.NewSymDense(d, nil)
	if err := chol.SolveVecTo(mean, mat.NewVecDense(d, right)); err != nil {
		return nil, err
	}
	if err := chol.InverseTo(inverse); err != nil {
		return nil, err
	}
	q := &posterior.Diagonal{Mean: mean.RawVector().Data, Variance: make([]float64, d)}
	covariance := mat.DenseCopyOf(inverse)
	covariance.Scale(noise, covariance)
	units.Own(q.Mean)
	units.Covariance(covariance.RawMatrix().Data)
	for j := range d {
		q.Variance[j] = covariance.At(j, j)
	}
	out := held.Fitted()
	model.Likelihood = units.SetNoise(model.Likelihood, &out.Report, noise)
	out.Members = []credence.Member{{Model: model, Posterior: q}}
	return out, nil
}

// An engine of a program's own: a row of precision 4 is the row four times.
func ExampleHeld() {
	rows := conform.Regression(likelihood.Gaussian{NoiseVariance: param.Hold(4)}, 50, 2, 1)
	four := new(credence.Batch)
	for i := range rows.Rows() {
		for range 4 {
			four.Append(rows, i, 1)
		}
	}
	rows.Precision = make([]float64, rows.Rows())
	for i := range rows.Precision {
		rows.Precision[i] = 4
	}
	model := credence.Model{Features: conform.Columns{Dense: 2, Intercept: true}, Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(4)}}
	for _, data := range []*credence.Batch{rows, four} {
		fitted, err := fit(context.Background(), model, conform.Memory{All: data})
		if err != nil {
			fmt.Println(err)
			return
		}
		q := fitted.Members[0].Posterior
		mean, variance := make([]float64, q.Weights()), make([]float64, q.Weights())
		q.Marginals(mean, variance)
		fmt.Printf("%d rows: %.4f ± %.4f\n", fitted.Report.Rows, mean[1], math.Sqrt(variance[1]))
	}
	// Output:
	// 50 rows: 0.9443 ± 0.1804
	// 200 rows: 0.9443 ± 0.1804
}
