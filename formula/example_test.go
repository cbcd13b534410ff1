package formula_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// houses is a table of four rows.
type houses struct{}

var rows = [][]float64{{100, 2, 0}, {250, 3, 1}, {320, 4, 1}, {170, 3, 0}}

func (houses) Schema() *credence.Schema {
	return &credence.Schema{Columns: []credence.Column{
		{Name: "price"}, {Name: "rooms"},
		{Name: "zip", Kind: credence.Category, Levels: []string{"94110", "94117"}},
	}}
}

func (houses) Rows() int { return len(rows) }

func (houses) Read(dst *credence.Chunk, first, count int) error {
	dst.First = first
	dst.Values.Reshape(count, 3)
	for i := range count {
		copy(dst.Values.Row(i), rows[first+i])
	}
	return nil
}

// From a text to a model.
func ExampleParse() {
	family, err := formula.ParseFamily("", likelihood.All())
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := formula.Parse("log(price) ~ . + poly(rooms, 2)", houses{}.Schema(), formula.Options{Family: family})
	if err != nil {
		fmt.Println(err)
		return
	}
	fr, err := frame.Fit(context.Background(), &plan.Frame, houses{}, family.Options(frame.Options{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	features, err := plan.Features(fr, nil, 0, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	likelihood, err := family.Likelihood(fr)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan, "|", likelihood)
	for _, block := range features.Blocks() {
		fmt.Print(block.Name, ":")
		for j := range block.Count {
			fmt.Print(" ", features.WeightName(block.First+j))
		}
		fmt.Println()
	}
	// Output:
	// log(price) ~ . + poly(rooms, 2) | gaussian
	// (intercept): (intercept)
	// poly(rooms, 2): rooms rooms^2
	// linear: rooms zip=94110 zip=94117
}

// What is wrong is told where it stands, before any data are read.
func ExampleParse_refusal() {
	_, err := formula.Parse("price ~ romms + onehot(zip)", houses{}.Schema(), formula.Options{})
	var refused *spec.Error
	if errors.As(err, &refused) {
		fmt.Println(refused)
		fmt.Println(refused.Caret())
	}
	// Output:
	// column 9: there is no column "romms": did you mean rooms? (the columns are price, rooms, zip)
	// price ~ romms + onehot(zip)
	//         ^^^^^
}

func ExampleParsePrior() {
	prior, err := formula.ParsePrior("normal(variance=~0.5)", prior.All())
	fmt.Println(prior, err)
	// Output: normal(variance=~0.5) <nil>
}
