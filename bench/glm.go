package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/credence-ml/credence/bench/layout"
)

// glmBench is one run of the benchmark of generalised linear models.
type glmBench struct {
	common
	runs          int
	splits        string
	out, progress io.Writer
	tables        int
}

// glmPart is a part of the benchmark.
type glmPart struct {
	name string
	run  func(b *glmBench, ctx context.Context) error
}

func glmParts() []glmPart {
	return []glmPart{
		{"peers", (*glmBench).peers},
		{"classes", (*glmBench).classes},
		{"exact", (*glmBench).exactly},
		{"counts", (*glmBench).counts},
		{"bike", (*glmBench).bike},
	}
}

func runGLM(ctx context.Context, args []string, out, progress io.Writer) error {
	var names []string
	for _, p := range glmParts() {
		names = append(names, p.name)
	}
	b := &glmBench{out: out, progress: progress}
	f := flag.NewFlagSet("glm", flag.ContinueOnError)
	b.register(f)
	parts := f.String("parts", strings.Join(names, ","), "what to run")
	f.IntVar(&b.runs, "runs", 1, "fits of each peers' task, of which the least CPU seconds count")
	f.StringVar(&b.splits, "splits", "5", "splits on which svi is set beside exact: a number, a range such as 5-9, or all")
	if err := parse(f, args); err != nil {
		return err
	}
	for _, name := range list(*parts) {
		known := false
		for _, p := range glmParts() {
			if p.name != name {
				continue
			}
			known = true
			if err := p.run(b, ctx); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if !known {
			return fmt.Errorf("glm has no part %q: take some of %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// path is that of a file of a set.
func (b *glmBench) path(set, file string) string { return filepath.Join(b.folder, set, file) }

// record prints a result as a line of JSON, where that is wanted.
func (b *glmBench) record(result any) error {
	if !b.json {
		return nil
	}
	return json.NewEncoder(b.out).Encode(result)
}

// table prints a table under a heading, and notes under it.
func (b *glmBench) table(heading string, t *layout.Table, notes string) error {
	if b.json || t.Rows() == 0 {
		return nil
	}
	if b.tables++; b.tables > 1 {
		fmt.Fprintln(b.out)
	}
	fmt.Fprintf(b.out, "### %s\n\n", heading)
	if _, err := t.WriteTo(b.out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(b.out, "\n%s\n", notes)
	return err
}
