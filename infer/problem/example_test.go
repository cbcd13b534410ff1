package problem_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/spec"
	"github.com/credence-ml/credence/table"
)

// thirty is an engine in thirty lines: normal targets of a known noise variance, with the prior deviation s/c of every
// block.
type thirty struct{ model credence.Model }

func (e thirty) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	model := e.model
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

// An engine of a program's own stands in the registry by a line. For this one a row of precision 4 is the row four
// times.
func ExampleHeld() {
	registry := fit.Default()
	registry.Engines = append(registry.Engines, fit.Engine{Name: "thirty", Batch: func(fit.Settings, *spec.Arguments) (fit.Maker, error) {
		return func(m credence.Model) (credence.Engine, error) { return thirty{m}, nil }, nil
	}})
	for _, copies := range []int{1, 4} {
		var x, y, precision []float64
		for i := range 50 * copies {
			k := float64(i / copies)
			x, y = append(x, k), append(y, 3+2*k+5*math.Sin(k*k))
			precision = append(precision, 4/float64(copies))
		}
		rows, err := table.New().Numbers("x", x).Numbers("y", y).Numbers("p", precision).Source()
		if err != nil {
			fmt.Println(err)
			return
		}
		fitted, err := fit.Table(context.Background(), rows, fit.Options{
			Formula: "y ~ x + precision(p)", Family: "gaussian(variance=9)", Engine: "thirty", Registry: registry,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		terms, err := score.Terms(fitted, score.TermOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d rows: %s %.4f ± %.4f\n", fitted.Report.Rows, terms[1].Name, terms[1].Mean, float64(terms[1].SD))
	}
	// Output:
	// 50 rows: x 2.0097 ± 0.0147
	// 200 rows: x 2.0097 ± 0.0147
}
