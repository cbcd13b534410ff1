package feature_test

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
)

// The features of price ~ size + zip + rbf(size), with two frequencies drawn for
// rbf and its lengthscale held at 0.5.
func ExampleNew() {
	inputs := feature.Inputs{Dense: []feature.Input{
		{Column: credence.Column{Name: "size"}, Center: 80, Scale: 20},
		{Column: credence.Column{Name: "zip", Kind: credence.Category, Levels: []string{"2000", "2600"}}},
	}}
	rbf := &feature.RandomFourier{
		Name: "rbf(size)", Kernel: feature.RBF, Inputs: []int{0},
		Lengthscale: feature.Lengthscale{Values: []float64{0.5}, State: param.Held},
	}
	rbf, err := rbf.Draw(&inputs, 2, credence.Rand(1, "frequencies", 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := feature.New(inputs, &feature.Intercept{}, &feature.Linear{Inputs: []int{0, 1}}, rbf)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, block := range set.Blocks() {
		for j := block.First; j < block.First+block.Count; j++ {
			fmt.Printf("%-12s %s\n", block.Name, set.WeightName(j))
		}
	}

	rows := &credence.Batch{X: linop.NewDense(1, 2)}
	copy(rows.X.Row(0), []float64{0.25, 1}) // size 85, zip 2600
	var phi credence.Design
	set.Transform(credence.NewWorkspace(0), &phi, rows)
	fmt.Println(phi.Dense.Row(0)[:1])
	// Output:
	// (intercept)  (intercept)
	// rbf(size)    cos 1
	// rbf(size)    cos 2
	// rbf(size)    sin 1
	// rbf(size)    sin 2
	// linear       size
	// linear       zip=2000
	// linear       zip=2600
	// [1]
}
