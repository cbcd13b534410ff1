package fit_test

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/conform/published"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/score"
)

// TestWideSets is the study of wide classes: published sets of two classes with 2,000 to 130,000 columns, in five
// folds, row i in fold i mod 5, under what fit does by itself. Its figures are in docs/glm.md.
func TestWideSets(t *testing.T) {
	study.OnlyCalibration(t)
	for _, c := range []struct {
		name, positive string
		files          []string // of a folder
	}{
		{"golub_leukemia", "AML", []string{"golub_leukemia.csv.gz"}},
		{"alon_colon", "t", []string{"alon_colon.csv.gz"}},
		{"shipp_dlbcl", "FL", []string{"shipp_dlbcl.csv.gz"}},
		{"singh_prostate", "Tumor", []string{"singh_prostate.csv.gz"}},
		{"rcv1_sample", "1", []string{"rcv1_small.gz", "rcv1_small.t.gz"}},
		{"mr_polarity", "1", []string{"mr_unigram.gz"}},
		{"reuters", "1", []string{"reuters.gz", "reuters.t.gz"}},
		{"cluto_k1b", "2", []string{"k1b.gz"}},
		{"cluto_classic", "3", []string{"classic.gz"}},
		{"cluto_hitech", "4", []string{"hitech.gz"}},
	} {
		header, rows := "", []string(nil)
		for _, name := range c.files {
			lines := bufio.NewScanner(published.Open(t, c.name, name))
			lines.Buffer(nil, 1<<24)
			for lines.Scan() {
				rows = append(rows, lines.Text())
			}
		}
		options, ending, cut := fit.Options{Family: "bernoulli"}, ".libsvm", " "
		if strings.Contains(c.files[0], ".csv") {
			header, rows, options.Target, ending, cut = rows[0]+"\n", rows[1:], "y", ".csv", ","
		}
		for i, row := range rows {
			label, rest, _ := strings.Cut(row, cut)
			class := "0"
			if strings.TrimPrefix(label, "+") == c.positive {
				class = "1"
			}
			rows[i] = class + cut + rest + "\n"
		}
		var losses []float64
		before := study.Processor()
		for fold := range 5 {
			var parts [2]strings.Builder
			for i, row := range rows {
				parts[min(1, (i+5-fold)%5)].WriteString(row) // the first is the fold
			}
			var paths [2]string
			for k := range paths {
				paths[k] = filepath.Join(t.TempDir(), fmt.Sprint("part", ending))
				must.Succeed(t, os.WriteFile(paths[k], []byte(header+parts[k].String()), 0o600))
			}
			table := must.Value(dataset.Open(t.Context(), paths[1:], dataset.Options{}))(t)
			job := must.Value(fit.New(options))(t)
			source := must.Value(table.Load(t.Context(), must.Value(job.Columns(table.Schema()))(t)))(t)
			model := must.Value(job.Fit(t.Context(), source))(t)
			table.Close()
			scorer := must.Value(score.New(model, score.Options{}))(t)
			file := must.Value(apply.Open(t.Context(), scorer, paths[:1], apply.Options{Targets: score.UseTargets}))(t)
			must.Succeed(t, file.Each(t.Context(), func(r *score.Rows) error {
				for i := range r.Len() {
					losses = append(losses, -r.LogDensity(i, r.Target(i)))
				}
				return nil
			}))
			file.Close()
		}
		mean, spread := study.MeanAndError(losses)
		if t.Logf("%s: log loss %.4f ± %.4f, %.1f CPU s a fold", c.name, mean, spread, (study.Processor()-before).Seconds()/5); len(losses) != len(rows) || math.IsInf(mean, 0) {
			t.Errorf("%s: %d of %d rows", c.name, len(losses), len(rows))
		}
	}
}
