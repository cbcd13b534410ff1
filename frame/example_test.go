package frame_test

import (
	"context"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
)

// houses is a table of three rows.
type houses struct{}

var prices = [][]float64{{100, 0}, {200, 1}, {400, 0}}

func (houses) Schema() *credence.Schema {
	return &credence.Schema{Columns: []credence.Column{
		{Name: "price"},
		{Name: "zip", Kind: credence.Category, Levels: []string{"94110", "94117"}},
	}}
}

func (houses) Rows() int { return len(prices) }

func (houses) Read(dst *credence.Chunk, first, count int) error {
	dst.First = first
	dst.Values.Reshape(count, 2)
	for i := range count {
		copy(dst.Values.Row(i), prices[first+i])
	}
	return nil
}

func ExampleFit() {
	target := frame.Column("price").With(frame.Log)
	plan := &frame.Plan{Target: &target, Inputs: []frame.Expr{frame.Column("zip"), frame.Column("price").With(frame.Center)}}
	f, err := frame.Fit(context.Background(), plan, houses{}, frame.Options{Raw: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := f.Bind(houses{}, frame.RequireTargets)
	if err != nil {
		fmt.Println(err)
		return
	}
	var batch credence.Batch
	if err := data.Read(&batch, 0, data.Rows()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.TargetName(), f.Inputs[0].Levels)
	for i, y := range batch.Target {
		fmt.Printf("%.3f %.1f\n", y, batch.X.Row(i))
	}
	// Output:
	// log(price) [94110 94117]
	// 4.605 [0.0 -133.3]
	// 5.298 [1.0 -33.3]
	// 5.991 [0.0 166.7]
}
