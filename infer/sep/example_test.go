package sep_test

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/sep"
	"github.com/credence-ml/credence/linop"
)

// Rows come in batches over slots: every row is scored before it is learned.
// Here feature 0 decides the label.
func ExampleLearner() {
	learner, err := sep.NewLearner(sep.Config{}, sep.Hyper{})
	if err != nil {
		panic(err)
	}
	batch := &credence.Batch{Sparse: linop.CSR{Cols: 2}}
	batch.Sparse.Reset(2)
	for i := range 2000 {
		label := float64(i % 2)
		var columns []int32
		if label == 1 {
			columns = append(columns, 0)
		}
		if i/2%2 == 1 {
			columns = append(columns, 1)
		}
		batch.Sparse.AppendRow(columns, nil)
		batch.Target = append(batch.Target, label)
	}
	probability := make([]float64, 2000)
	learner.Learn(batch, probability)
	learner.Finish()
	fmt.Printf("first row %.2f, last row above 0.9: %v\n", probability[0], probability[1999] > 0.9)
	fmt.Println("feature 0 selected:", learner.Weight(0).Inclusion > 0.5)
	// Output:
	// first row 0.50, last row above 0.9: true
	// feature 0 selected: true
}
