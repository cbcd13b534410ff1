package feature_test

import (
	"errors"
	"fmt"
	"math"

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

// circle is a term of a program's own: the sine and cosine of an hour of the day. As data it is stored with a model, by
// its kind: see modelfile.SaveWith.
type circle struct {
	Input int `json:"input"`
}

func (circle) Kind() string  { return "circle" }
func (circle) Label() string { return "circle(hour)" }

func (c circle) Bind(in *feature.Inputs) (feature.Map, error) {
	if c.Input < 0 || c.Input >= len(in.Dense) || in.Dense[c.Input].Column.Kind != credence.Numeric {
		return nil, errors.New("circle needs a column of numbers")
	}
	return bound{c.Input, in.Dense[c.Input]}, nil
}

// bound is the term with the scale by which its input enters the fit.
type bound struct {
	at int
	in feature.Input
}

func (bound) Columns() (dense, sparse int) { return 2, 0 }
func (bound) WeightName(j int) string      { return []string{"sin", "cos"}[j] }

func (b bound) Fill(_ *credence.Workspace, dst linop.Dense, rows *credence.Batch) {
	for i := range rows.Rows() {
		hour := b.in.Center + b.in.Scale*rows.X.Row(i)[b.at]
		dst.Row(i)[0], dst.Row(i)[1] = math.Sin(hour*math.Pi/12), math.Cos(hour*math.Pi/12)
	}
}

// A term of a program's own stands in a model beside those of this package.
func ExampleTerm() {
	inputs := feature.Inputs{Dense: []feature.Input{{Column: credence.Column{Name: "hour"}, Center: 12, Scale: 6}}}
	set, err := feature.New(inputs, &feature.Intercept{}, circle{Input: 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := &credence.Batch{X: linop.NewDense(2, 1)}
	rows.X.Row(0)[0], rows.X.Row(1)[0] = -1, 1 // 6 and 18 o'clock
	var phi credence.Design
	set.Transform(credence.NewWorkspace(1), &phi, rows)
	for j := range set.Weights() {
		fmt.Printf("%s %.0f %.0f\n", set.WeightName(j), phi.Dense.Row(0)[j], phi.Dense.Row(1)[j])
	}
	// Output:
	// (intercept) 1 1
	// sin 1 -1
	// cos 0 -0
}
