package fit_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/selection"
)

// TestSelectFromCache: a selection from the row cache, written and read again, is that from memory to the byte of its model file, at
// one thread and at two, of numbers, categories and sparse columns.
func TestSelectFromCache(t *testing.T) {
	const n, p = 120, 12
	s := conform.NewSelection(n, p, 3, 0.3, 1, 0.5, true, 12)
	var csv, svm strings.Builder
	for j := range p {
		fmt.Fprintf(&csv, "x%d,", j)
	}
	csv.WriteString("zip,y\n")
	for i, y := range s.Target {
		class := 0
		if y > 0.7 {
			class = 1
		}
		fmt.Fprint(&svm, class)
		for j, x := range s.X.Row(i) {
			fmt.Fprintf(&csv, "%.6g,", x)
			if x != 0 {
				fmt.Fprintf(&svm, " %d:%.6g", j+1, x)
			}
		}
		fmt.Fprintf(&csv, "z%d,%.6g\n", i%3, y)
		svm.WriteString("\n")
	}
	for name, text := range map[string]string{"rows.csv": csv.String(), "rows.libsvm": svm.String()} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, engine := range []string{"gibbs(flips=400)", "ep", "laplace"} {
			var first []byte
			cache := t.TempDir()
			for _, limit := range []int64{0, -1, -1} { // in memory, written, read
				table, err := dataset.Open(t.Context(), []string{path}, dataset.Options{CacheDir: cache, MemoryLimit: limit})
				if err != nil {
					t.Fatal(err)
				}
				source, err := table.Load(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, threads := range []int{1, 2} {
					options := fit.Options{Engine: engine, Threads: threads, Seed: 4}
					if name == "rows.csv" {
						options.Target = "y"
					}
					fitted, err := fit.Select(context.Background(), source, options, selection.Options{Path: selection.PathNever})
					if err != nil {
						t.Fatal(err)
					}
					saved := filepath.Join(t.TempDir(), "m.safetensors")
					if err := modelfile.Save(saved, fitted); err != nil {
						t.Fatal(err)
					}
					content, err := os.ReadFile(saved)
					if err != nil {
						t.Fatal(err)
					}
					if first == nil {
						first = content
					}
					if !bytes.Equal(content, first) {
						t.Errorf("%s by %s, memory limit %d, %d threads: other bytes than in memory", name, engine, limit, threads)
					}
				}
				table.Close()
			}
			if kept, err := os.ReadDir(filepath.Join(cache, "rows")); err != nil || len(kept) == 0 {
				t.Errorf("no rows were cached: %v", err)
			}
		}
	}
}
