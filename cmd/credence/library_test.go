package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/modelfile"
)

// A Go program makes the bytes of the model file that the command makes, of all columns or of those needed.
func TestGoProgramFitsTheSameModel(t *testing.T) {
	data := file(t, "t.csv", houses(60))
	for _, formula := range []string{"price ~ .", "price ~ size + garden + rbf(size, n=10)", "garden ~ size"} {
		command, library := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
		must(t, "fit", data, "-f", formula, "--seed", "5", "-o", command)
		files := sure(dataset.Open(context.Background(), []string{data}, dataset.Options{}))(t)
		defer files.Close()
		rows := sure(files.Load(context.Background(), nil))(t)
		fitted, err := fit.Table(context.Background(), rows, fit.Options{Formula: formula, Seed: 5})
		if err == nil {
			err = modelfile.Save(library, fitted)
		}
		if err != nil {
			t.Fatal(err)
		}
		want, _ := os.ReadFile(command)
		got, _ := os.ReadFile(library)
		if len(want) == 0 || !bytes.Equal(got, want) {
			t.Errorf("%s: the files differ", formula)
		}
	}
}
