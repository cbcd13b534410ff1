package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/credence-ml/credence/bench/data"
	"github.com/credence-ml/credence/fit"
)

// part is a table of the benchmark of generalised linear models.
type part struct {
	name, heading, notes string
	left                 int // columns of text
	columns              []column
	tasks                func(ctx context.Context, b *bench, splits string) ([]*task, error)
}

func glmParts() []part {
	return slices.Concat([]part{peersPart, classesPart, exactPart, countsPart}, bikeParts())
}

func runGLM(ctx context.Context, args []string, out, progress io.Writer) error {
	var names []string
	for _, p := range glmParts() {
		if !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	b := &bench{name: "glm", out: out, progress: progress}
	f := flag.NewFlagSet("glm", flag.ContinueOnError)
	b.register(f)
	wanted := f.String("parts", strings.Join(names, ","), "what to run")
	f.IntVar(&b.runs, "runs", 1, "fits of each task, of which the least CPU seconds count")
	splits := f.String("splits", "5", "splits on which svi is set beside exact: a number, a range such as 5-9, or all")
	if err := parse(f, args); err != nil {
		return err
	}
	for _, name := range list(*wanted, ",") {
		if !slices.Contains(names, name) {
			return fmt.Errorf("glm has no part %q: take some of %s", name, strings.Join(names, ", "))
		}
		for _, p := range glmParts() {
			if p.name != name {
				continue
			}
			tasks, err := p.tasks(ctx, b, *splits)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			rows, err := b.run(ctx, tasks)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if err := b.table(p.heading, rows, p.left, p.columns, p.notes); err != nil {
				return err
			}
		}
	}
	return nil
}

// full is svi with all correlations.
const full = "svi(covariance=full)"

// options are those of a fit of the benchmark.
func (b *bench) options(formula, target, family, engine string) fit.Options {
	return fit.Options{Formula: formula, Target: target, Family: family, Engine: engine, Seed: b.seed, Threads: b.threads}
}

// file is a task on a set that is one file.
func (b *bench) file(set, name string, test func(row int) bool, model string, o fit.Options) *task {
	return &task{result: result{Set: set, Model: model, Formula: o.Formula, Engine: o.Engine, Seed: b.seed}, options: o,
		load: func(ctx context.Context) (train, others *data.Table, err error) {
			all, err := data.Load(ctx, b.path(set, name), nil, nil)
			if err != nil || test == nil {
				return all, all, err
			}
			train, others = all.Divide(test)
			return train, others, nil
		}}
}

// everyFifth says which rows are for testing where a set has no test rows of its own.
func everyFifth(row int) bool { return row%5 == 4 }
