package exact_test

import (
	"context"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// line is a hundred rows of y = 1 + 2x and noise of standard deviation 0.1.
type line struct{}

func (line) Rows() int { return 100 }

func (line) Read(dst *credence.Batch, first, count int) error {
	dst.First, dst.X = first, linop.NewDense(count, 1)
	dst.Target = make([]float64, count)
	noise := credence.Rand(1, "example", 0)
	for range first {
		noise.NormFloat64()
	}
	for i := range count {
		x := float64(first+i)/50 - 1
		dst.X.Row(i)[0] = x
		dst.Target[i] = 1 + 2*x + 0.1*noise.NormFloat64()
	}
	return nil
}

func Example() {
	inputs := feature.Inputs{Dense: []feature.Input{{Column: credence.Column{Name: "x"}}}}
	features, err := feature.New(inputs, &feature.Intercept{}, &feature.Linear{Inputs: []int{0}})
	if err != nil {
		panic(err)
	}
	engine, err := exact.New(credence.Model{
		Features:   features,
		Likelihood: likelihood.Gaussian{},
		Prior:      prior.Normal{},
	}, exact.Config{})
	if err != nil {
		panic(err)
	}
	fitted, err := engine.Fit(context.Background(), line{})
	if err != nil {
		panic(err)
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	fitted.Members[0].Posterior.Marginals(mean, variance)
	fmt.Printf("intercept %.1f, slope %.1f, %s\n", mean[0], mean[1], fitted.Report.Status)
	fmt.Printf("%s %.2f\n", fitted.Report.Hyper[0].Name, fitted.Report.Hyper[0].Value)
	// Output:
	// intercept 1.0, slope 2.0, converged
	// noise_variance 0.01
}
