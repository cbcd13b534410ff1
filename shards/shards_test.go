package shards

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/modelfile"
)

var ctx = context.Background()

// write writes files of so many rows each: numbers, a category whose levels come up file by file, a boolean, a column
// with missing values, a key outside the formula, and targets of several kinds.
func write(t *testing.T, rows ...int) (paths []string) {
	t.Helper()
	folder, rng, n := t.TempDir(), rand.New(rand.NewPCG(7, 1)), 0
	for k, count := range rows {
		var text strings.Builder
		text.WriteString("a,b,g,yes,hole,key,y,amount,flag\n")
		for range count {
			a, b, g := 10+3*rng.NormFloat64(), rng.NormFloat64(), (n/500+rng.IntN(3))%7
			key, hole := rng.IntN(40), fmt.Sprintf("%.3f", rng.NormFloat64())
			if rng.IntN(9) == 0 {
				hole = ""
			}
			y := 1 + a - 2*b + .5*float64(g) + float64(key%5) + rng.NormFloat64()
			fmt.Fprintf(&text, "%.6g,%.6g,l%d,%v,%s,k%d,%.6g,%d,%s\n", a, b, (g*5)%7, rng.IntN(3) == 0, hole, key, y, 1+rng.IntN(9), []string{"no", "yes"}[rng.IntN(2)])
			n++
		}
		paths = append(paths, filepath.Join(folder, fmt.Sprintf("f%02d.csv", k)))
		must.Succeed(t, os.WriteFile(paths[k], []byte(text.String()), 0o644))
	}
	return paths
}

// saved is the file of a model.
func saved(t *testing.T, fitted *credence.Fitted) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.safetensors")
	must.Succeed(t, modelfile.Save(path, fitted))
	return must.Value(os.ReadFile(path))(t)
}

// whole fits on one machine, as the command does.
func whole(t *testing.T, paths []string, options fit.Options) *credence.Fitted {
	t.Helper()
	job := must.Value(fit.New(options))(t)
	table := must.Value(dataset.Open(ctx, paths, dataset.Options{}))(t)
	defer table.Close()
	source := must.Value(table.Load(ctx, must.Value(job.Columns(table.Schema()))(t)))(t)
	prepared := must.Value(job.Prepare(ctx, source))(t)
	if source.Rows() <= fit.MostBeside {
		if outside := must.Value(job.Outside(table.Schema()))(t); len(outside) > 0 {
			prepared.Beside(must.Value(table.Load(ctx, outside))(t))
		}
	}
	return must.Value(prepared.Fit(ctx))(t)
}

// stored writes a job or a part and reads it.
func stored[T interface{ Write(string) error }](t *testing.T, v T, read func(string) (T, error)) T {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	must.Succeed(t, v.Write(path))
	return must.Value(read(path))(t)
}

// apart fits by parts, of which each has the files of a group, shuffled, and tells the number of rounds.
func apart(t *testing.T, job *Job, groups [][]int, seed uint64) (*credence.Fitted, int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 2))
	for round := 1; ; round++ {
		if left := job.Left(); round > 6 {
			t.Fatalf("round %d, and %d are left", round, left)
		}
		job = stored(t, job, Read)
		var parts []*Part
		for i, k := range rng.Perm(len(groups)) {
			if part := must.Value(job.Partial(ctx, groups[k]...))(t); i < 4 { // files wait for the disk
				parts = append(parts, stored(t, part, ReadPart))
			} else {
				parts = append(parts, part)
			}
		}
		fitted, more, err := job.Merge(ctx, parts...)
		must.Succeed(t, err)
		if !more {
			return fitted, round
		}
	}
}

// split makes groups of n files.
func split(n, groups int) [][]int {
	out := make([][]int, groups)
	for k := range n {
		out[k%groups] = append(out[k%groups], k)
	}
	return out
}

// TestPartsAreFit: files of any length, some without rows, in 1, 4 and all parts, in any order, give the bytes of the
// model of one machine, its warnings and all.
func TestPartsAreFit(t *testing.T) {
	many := make([]int, 64)
	for k := range many {
		many[k] = 40 + k*k%37
	}
	few := []int{700, 0, 90, 3000, 12, 513, 1024, 1}
	for _, c := range []struct {
		name    string
		rows    []int
		options fit.Options
		groups  []int
		rounds  int
	}{
		{"every column", many, fit.Options{Formula: "y ~ a + b + g + yes"}, []int{1, 4}, 2},
		{"nested", few, fit.Options{Formula: "y ~ center(a):b + scale(center(b)) + g + weight(amount)"}, []int{1, 3, 8}, 4},
		{"dropped rows", few, fit.Options{Formula: "y ~ a + hole + g", Missing: "drop"}, []int{1, 8}, 2},
		{"indicators", few, fit.Options{Formula: "y ~ hole + onehot(g) + offset(a)", Missing: "indicator"}, []int{2}, 2},
		{"boolean target", few, fit.Options{Formula: "flag ~ a + b", Family: "gaussian"}, []int{8}, 2},
		{"whole numbers", few, fit.Options{Formula: "amount ~ a + b"}, []int{1, 5}, 2},
		{"stated frequencies", few, fit.Options{Formula: "y ~ rbf(b, n=20, lengthscale=1)", Seed: 3}, []int{3}, 2},
		{"more than are looked at", []int{9000, 7000, 5, 12000}, fit.Options{Formula: "y ~ a + onehot(amount)"}, []int{1, 4}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths := write(t, c.rows...)
			want := whole(t, paths, c.options)
			for i, groups := range c.groups {
				job := must.Value(New(ctx, paths, c.options, dataset.Options{}))(t)
				got, rounds := apart(t, job, split(len(paths), groups), uint64(i))
				if rounds != c.rounds {
					t.Errorf("%d rounds, want %d", rounds, c.rounds)
				}
				if !bytes.Equal(saved(t, got), saved(t, want)) {
					t.Errorf("%d parts give another model: %+v, want %+v", groups, got.Report, want.Report)
				}
			}
			if len(want.Report.Warnings)+len(want.Report.Remarks) == 0 && slices.Contains([]string{"every column"}, c.name) {
				t.Error("the fit says nothing that could be lost")
			}
		})
	}
}
