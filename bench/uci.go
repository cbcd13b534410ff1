package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/bench/data"
	"github.com/credence-ml/credence/bench/layout"
	"github.com/credence-ml/credence/bench/process"
	"github.com/credence-ml/credence/bench/published"
)

// split is a task on some rows of a regression set by the exact engine.
func (b *bench) split(set *data.Set, formula string, k int, divide func() (train, test *data.Table)) *task {
	return &task{result: result{Set: set.Name, Model: formula, Formula: formula, Split: k, Seed: b.seed + uint64(k)},
		options: b.options(set.Formula(formula), set.Target, "", "exact"),
		load: func(context.Context) (train, test *data.Table, err error) {
			train, test = divide()
			return train, test, nil
		}}
}

func runUCI(ctx context.Context, args []string, out, progress io.Writer) error {
	b := &bench{name: "uci", out: out, progress: progress}
	f := flag.NewFlagSet("uci", flag.ContinueOnError)
	b.register(f)
	models := f.String("formula", ". + rbf(.)", "the models, with a semicolon between them")
	sets := f.String("sets", "boston,concrete,energy", "data sets, or all")
	splits := f.String("splits", "5", "how many splits, a range such as 5-9, all, or recorded for those that -results has")
	validate := f.Bool("validate", false, "score on a tenth of every split's training rows, fitted on the others; test rows stay unread")
	results := f.String("results", "", "a file that keeps results: what it has is not measured again, what is measured is added")
	climbs := f.Bool("climbs", false, "print every iteration and the processor seconds so far")
	engine := f.String("engine", "", "the engine's options, such as 'exact(starts=10)' (default: its defaults)")
	if err := parse(f, args); err != nil {
		return err
	}
	names := list(*sets, ",")
	if *sets == "all" {
		names = data.Names()
	}
	b.recorded = *splits == recorded
	var err error
	if b.kept, err = openRecord(*results); err != nil {
		return err
	}
	var tasks []*task
	for _, name := range names {
		if b.missing(name) {
			continue
		}
		set, err := data.LoadSet(ctx, b.folder, name)
		if err != nil {
			return err
		}
		first, end, err := splitRange(*splits, len(set.Splits))
		if err != nil {
			return err
		}
		for _, model := range list(*models, ";") {
			for k := first; k < end; k++ {
				divide := set.Split
				if *validate {
					divide = set.Validation
				}
				t := b.split(set, model, k, func() (train, test *data.Table) { return divide(k) })
				t.Model, t.Engine, t.Validate = "", *engine, *validate
				t.options.Seed = t.Seed
				if *engine != "" {
					t.options.Engine = *engine
				}
				if *climbs {
					t.options.Progress = func(p credence.Progress) {
						fmt.Fprintf(progress, "%8.2f  %-34s %4d  %.4f\n", process.CPU().Seconds(), p.Stage, p.Done, p.Objective)
					}
				}
				tasks = append(tasks, t)
			}
		}
	}
	rows, err := b.run(ctx, tasks)
	if err != nil {
		return err
	}
	scored := "test rows"
	if *validate {
		scored = "held-out training rows, which the published figures are not about"
	}
	return b.table("", rows, 2, uciColumns, fmt.Sprintf("Mean ± standard error over splits, on %s; log-likelihood is the mean log density; both in the target's own units.\n%s\n%s",
		scored, published.BackpropagationSource, published.DropoutSource))
}

var uciColumns = []column{
	setColumn, {"formula", func(row *row) string { return "`" + row.Formula + "`" }}, splitColumn, {"n", trainColumn.text},
	{"RMSE", func(row *row) string {
		mean, standardError := row.mean(func(r *result) float64 { return float64(r.RMSE) })
		return layout.PlusMinus(mean, standardError, digits(mean))
	}},
	spread("log-likelihood", 3, func(r *result) float64 { return float64(r.LogDensity) }),
	number("CPU s a fit", 1, func(r *result) float64 { return r.CPUSeconds }),
	number("wall s", 1, func(r *result) float64 { return r.WallSeconds }),
	{"PBP", func(row *row) string { return published.Backpropagation(row.Set).RMSE }},
	{"", func(row *row) string { return published.Backpropagation(row.Set).LogLikelihood }},
	{"dropout", func(row *row) string { return published.Dropout(row.Set).RMSE }},
	{"", func(row *row) string { return published.Dropout(row.Set).LogLikelihood }},
}

// spread is a column with the mean of a figure and its standard error.
func spread(head string, digits int, figure func(r *result) float64) column {
	return column{head, func(row *row) string {
		mean, standardError := row.mean(figure)
		return layout.PlusMinus(mean, standardError, digits)
	}}
}

// recorded is the value of -splits for no other than those on file.
const recorded = "recorded"

// splitRange reads -splits for a set of the given number of splits; it
// returns the first and one past the last.
func splitRange(text string, count int) (first, end int, err error) {
	if text == "all" || text == recorded {
		return 0, count, nil
	}
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		from, to = "0", text
	}
	first, err = strconv.Atoi(from)
	if err == nil {
		end, err = strconv.Atoi(to)
	}
	if isRange {
		end++
	}
	if err != nil || first < 0 || end <= first {
		return 0, 0, fmt.Errorf("-splits %s: give a number from 1 up, a range such as 5-9, or all", text)
	}
	return min(first, count), min(end, count), nil
}

// digits returns how many digits after the point show three significant ones.
func digits(x float64) int {
	if !(x > 0) {
		return 3
	}
	return max(0, min(9, 2-int(math.Floor(math.Log10(x)))))
}

// meanAndError returns the mean and its standard error, which is NaN for a
// single value.
func meanAndError(values []float64) (mean, standardError float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if n < 2 {
		return mean, math.NaN()
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(squares / (n - 1) / n)
}
