package exact_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// waves are rows [first, end) of a table of y = 1 + 2x and noise, with x spread over (−1, 1).
type waves struct{ first, end int }

func (w waves) Rows() int { return w.end - w.first }

func (w waves) Read(dst *credence.Batch, first, count int) error {
	dst.First, dst.X, dst.Target = first, linop.NewDense(count, 1), make([]float64, count)
	for i := range count {
		bits := uint64(w.first+first+i) * 0x9e3779b97f4a7c15 >> 40
		x := float64(bits)/(1<<23) - 1
		dst.X.Row(i)[0] = x
		dst.Target[i] = 1 + 2*x + 0.1*(float64(bits%1000)/500-1)
	}
	return nil
}

// table is all waves, in files.
type table struct {
	waves
	begins []int
}

func (t table) Files() []int { return t.begins }

// Two machines sum up a file each; a third one fits the model.
func ExampleSums() {
	ctx := context.Background()
	files := []waves{{0, 1234}, {1234, 150_000}}
	inputs := feature.Inputs{Dense: []feature.Input{{Column: credence.Column{Name: "x"}}}}
	features, err := feature.New(inputs, &feature.Intercept{}, &feature.Linear{Inputs: []int{0}})
	if err != nil {
		panic(err)
	}
	engine, err := exact.New(credence.Model{Features: features, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}, exact.Config{})
	if err != nil {
		panic(err)
	}
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	units, err := engine.Units(ctx, files[0])
	if err != nil {
		panic(err)
	}
	for k, file := range files {
		sums, err := engine.NewSums("y ~ x", units, k)
		if err == nil {
			err = sums.Add(ctx, file)
		}
		if err == nil {
			err = sums.Write(filepath.Join(folder, fmt.Sprint(k)))
		}
		if err != nil {
			panic(err)
		}
	}
	all, err := engine.ReadSums(filepath.Join(folder, "0"), "y ~ x")
	if err != nil {
		panic(err)
	}
	rest, err := engine.ReadSums(filepath.Join(folder, "1"), "y ~ x")
	if err == nil {
		err = all.Merge(rest)
	}
	if err != nil {
		panic(err)
	}
	merged, err := engine.FitSums(ctx, all)
	if err != nil {
		panic(err)
	}
	whole, err := engine.Fit(ctx, table{waves{0, 150_000}, []int{0, 1234}})
	if err != nil {
		panic(err)
	}
	fmt.Println(all.Rows(), "rows, the same evidence:", *merged.Report.Evidence == *whole.Report.Evidence)
	// Output: 150000 rows, the same evidence: true
}
