package shards_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/shards"
)

// Two files, which two processes answer for, have the model of one table.
func Example() {
	folder, err := os.MkdirTemp("", "shards")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	var paths []string
	for k := range 2 {
		rows := "x,y\n"
		for i := range 400 {
			rows += fmt.Sprintf("%d,%d\n", i, 3*i+i%7+k)
		}
		paths = append(paths, filepath.Join(folder, fmt.Sprintf("f%d.csv", k)))
		if err := os.WriteFile(paths[k], []byte(rows), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	ctx, at := context.Background(), filepath.Join(folder, "y.job")
	job, err := shards.New(ctx, paths, fit.Options{Target: "y"}, dataset.Options{})
	if err == nil {
		err = job.Write(at)
	}
	var fitted *credence.Fitted
	for more := true; more && err == nil; {
		var parts []*shards.Part
		for k := range paths { // each anywhere, from the job's file
			var there *shards.Job
			var part *shards.Part
			if there, err = shards.Read(at); err == nil {
				part, err = there.Partial(ctx, k)
			}
			parts = append(parts, part)
		}
		if err == nil {
			fitted, more, err = job.Merge(ctx, parts...)
		}
		if err == nil && more {
			err = job.Write(at)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	y, err := score.Row(fitted, map[string]any{"x": 100})
	fmt.Printf("%d rows: %.0f ± %.0f; %v\n", fitted.Report.Rows, y.Mean, y.SD, err)
	// Output: 800 rows: 303 ± 2; <nil>
}
