package output_test

import (
	"fmt"
	"log"
	"math"
	"os"

	"github.com/credence-ml/credence/dataset/output"
)

// Predictions of two rows beside the texts that name them; the second has none. Another extension of the path
// makes it Parquet.
func ExampleNew() {
	columns := []output.Column{{Name: "id", Text: true}, {Name: "mean"}, {Name: "sd"}}
	w, err := output.New(os.Stdout, "predictions.csv", columns)
	if err != nil {
		log.Fatal(err)
	}
	err = w.Write(nil, []float64{1.5, 0.25, math.NaN(), math.NaN()}, []byte("a, b"), []byte("c"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Close())
	// Output:
	// id,mean,sd
	// "a, b",1.5,0.25
	// c,,
	// <nil>
}
