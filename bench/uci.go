package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/bench/layout"
	"github.com/credence-ml/credence/bench/process"
	"github.com/credence-ml/credence/bench/protocol"
	"github.com/credence-ml/credence/bench/published"
	"github.com/credence-ml/credence/bench/trial"
)

// uciResult is the trial of one split.
type uciResult struct {
	Set     string `json:"set"`
	Formula string `json:"formula"`
	Engine  string `json:"engine"`
	Split   int    `json:"split"`
	Seed    uint64 `json:"seed"`
	// Validate says that the score is on training rows held out.
	Validate bool `json:"validate,omitempty"`
	// Revision is that of the source it was measured by, empty where the build does not say.
	Revision string `json:"revision,omitempty"`
	*trial.Result
}

// revision returns the source's revision, with a + behind if files had changed since; go run knows
// of none.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	text, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			text = s.Value[:min(8, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	return text + changed
}

// formulas is a flag that may be given several times.
type formulas []string

func (f *formulas) String() string { return strings.Join(*f, "; ") }

func (f *formulas) Set(text string) error {
	*f = append(*f, text)
	return nil
}

func runUCI(ctx context.Context, args []string, out, progress io.Writer) error {
	var flags common
	var models formulas
	f := flag.NewFlagSet("uci", flag.ContinueOnError)
	flags.register(f)
	f.Var(&models, "formula", "the model; may be repeated (default '. + rbf(.)')")
	sets := f.String("sets", "boston,concrete,energy", "data sets, or all")
	splits := f.String("splits", "5", "how many splits, a range such as 5-9, all, or recorded for those that -results has")
	validate := f.Bool("validate", false, "score on a tenth of every split's training rows, fitted on the others; test rows stay unread")
	results := f.String("results", "", "a file that keeps results: what it has is not measured again, what is measured is added")
	climbs := f.Bool("climbs", false, "print every iteration and the processor seconds so far")
	engine := f.String("engine", "", "the engine's options, such as 'exact(starts=10)' (default: its defaults)")
	if err := parse(f, args); err != nil {
		return err
	}
	if len(models) == 0 {
		models = formulas{". + rbf(.)"}
	}
	names := list(*sets)
	if *sets == "all" {
		names = protocol.Names()
	}
	kept, err := openRecord(*results)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	var iterations func(credence.Progress)
	if *climbs {
		iterations = func(p credence.Progress) {
			fmt.Fprintf(progress, "%8.2f  %-34s %4d  %.4f\n", process.CPU().Seconds(), p.Stage, p.Done, p.Objective)
		}
	}
	table := layout.Table{Left: 2, Head: []string{"set", "formula", "splits", "n", "RMSE", "log-likelihood",
		"CPU s a fit", "wall s", "PBP", "", "dropout", ""}}
	for _, name := range names {
		if protocol.Missing(flags.folder, name) {
			fmt.Fprintf(progress, "uci: %s is not in %s: skipped\n", name, flags.folder)
			continue
		}
		set, err := protocol.Load(ctx, flags.folder, name)
		if err != nil {
			return err
		}
		first, last, err := splitRange(*splits, len(set.Splits))
		if err != nil {
			return err
		}
		for _, model := range models {
			var results []uciResult
			for k := first; k < last; k++ {
				r := uciResult{Set: name, Formula: model, Engine: *engine, Split: k, Seed: flags.seed + uint64(k), Validate: *validate, Revision: revision()}
				if old, ok := kept.results[r.key()]; ok {
					r = old
				} else if *splits == recorded {
					continue
				} else if err := r.measure(ctx, set, flags.threads, iterations); err != nil {
					return fmt.Errorf("%s, split %d: %w", name, k, err)
				} else if err := kept.add(r); err != nil {
					return err
				}
				fmt.Fprintf(progress, "%s %q split %d: RMSE %.5g, log-likelihood %.4f, evidence %.2f (%.2f), %s after %d, %.1f CPU s\n",
					name, model, k, r.RMSE, r.LogDensity, r.Evidence, r.Penalised, r.Status, r.Iterations, r.CPUSeconds)
				results = append(results, r)
				if flags.json {
					if err := encoder.Encode(r); err != nil {
						return err
					}
				}
			}
			addUCI(&table, results)
		}
	}
	if flags.json || table.Rows() == 0 {
		return nil
	}
	if _, err := table.WriteTo(out); err != nil {
		return err
	}
	rows := "test rows"
	if *validate {
		rows = "held-out training rows, which the published figures are not about"
	}
	_, err = fmt.Fprintf(out, "\nMean ± standard error over splits, on %s; log-likelihood is the mean log density; both in the target's own units.\n%s\n%s\n",
		rows, published.BackpropagationSource, published.DropoutSource)
	return err
}

// measure fits and scores the result's split.
func (r *uciResult) measure(ctx context.Context, set *protocol.Set, threads int, iterations func(credence.Progress)) error {
	divide := set.Split
	if r.Validate {
		divide = set.Validation
	}
	train, test := divide(r.Split)
	var err error
	r.Result, err = trial.Run(ctx, train, test, trial.Options{
		Formula: set.Formula(r.Formula), Target: set.Target, Engine: r.Engine, Seed: r.Seed, Threads: threads, Progress: iterations,
	})
	return err
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

// addUCI adds the row of one set and model.
func addUCI(table *layout.Table, results []uciResult) {
	if len(results) == 0 {
		return
	}
	take := func(value func(r *uciResult) float64) (mean, standardError float64) {
		values := make([]float64, len(results))
		for i := range results {
			values[i] = value(&results[i])
		}
		return meanAndError(values)
	}
	rmse, rmseError := take(func(r *uciResult) float64 { return r.RMSE })
	density, densityError := take(func(r *uciResult) float64 { return r.LogDensity })
	cpu, _ := take(func(r *uciResult) float64 { return r.CPUSeconds })
	wall, _ := take(func(r *uciResult) float64 { return r.WallSeconds })
	first := results[0]
	pbp, _ := published.Backpropagation(first.Set)
	dropout, _ := published.Dropout(first.Set)
	table.Add(first.Set, "`"+first.Formula+"`", strconv.Itoa(len(results)), strconv.Itoa(first.TrainRows),
		layout.PlusMinus(rmse, rmseError, digits(rmse)), layout.PlusMinus(density, densityError, 3),
		layout.Number(cpu, 1), layout.Number(wall, 1),
		pbp.RMSE, pbp.LogLikelihood, dropout.RMSE, dropout.LogLikelihood)
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
