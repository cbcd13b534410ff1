package svi_test

import (
	"context"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// claims is six policies with an exposure each.
type claims struct{}

func (claims) Rows() int { return 6 }

func (claims) Read(dst *credence.Batch, first, count int) error {
	dst.X = linop.Dense{Rows: count, Cols: 1, Stride: 1, Data: []float64{-1, -1, 0, 0, 1, 1}[first : first+count]}
	dst.Target = []float64{0, 1, 2, 1, 4, 3}[first : first+count]
	dst.Offset = []float64{0, 0, 0, -0.5, 0, -0.5}[first : first+count] // log exposures
	return nil
}

// line is an intercept and one input.
type line struct{}

func (line) Weights() int { return 2 }

func (line) Blocks() []credence.Block {
	return []credence.Block{{Name: "(intercept)", Count: 1, Intercept: true}, {Name: "linear", First: 1, Count: 1}}
}

func (line) Transform(_ *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	phi.Dense.Reshape(rows.Rows(), 2)
	for i := range rows.Rows() {
		phi.Dense.Row(i)[0], phi.Dense.Row(i)[1] = 1, rows.X.Row(i)[0]
	}
	phi.Sparse.Rows, phi.Sparse.Start = rows.Rows(), make([]int, rows.Rows()+1)
}

func ExampleNew() {
	model := credence.Model{
		Features: line{}, Likelihood: likelihood.Poisson{},
		Prior: prior.Normal{Variance: param.Parameter{Value: 1, State: param.Held}},
	}
	engine, err := svi.New(model, svi.Config{Covariance: svi.Full})
	if err != nil {
		fmt.Println(err)
		return
	}
	fitted, err := engine.Fit(context.Background(), claims{})
	if err != nil {
		fmt.Println(err)
		return
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	fitted.Members[0].Posterior.Marginals(mean, variance)
	fmt.Printf("%s: slope %.2f, variance %.2f, bound %.2f\n", fitted.Report.Status, mean[1], variance[1], *fitted.Report.ELBO)
	// Output:
	// converged: slope 0.90, variance 0.14, bound -12.12
}
