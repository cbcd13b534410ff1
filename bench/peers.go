package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence/bench/layout"
	"github.com/credence-ml/credence/bench/protocol"
	"github.com/credence-ml/credence/bench/published"
	"github.com/credence-ml/credence/bench/trial"
)

func runPeers(ctx context.Context, args []string, out, progress io.Writer) error {
	var flags common
	var models formulas
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	flags.register(f)
	f.Var(&models, "formula", "the model; may be repeated (default '. + rbf(.)' and '. + rbf(.) + matern32(.)')")
	sets := f.String("sets", strings.Join(published.PeerSets(), ","), "data sets")
	folds := f.Int("folds", published.RevrandFolds, "how many folds of revrand's own task on boston; 0 leaves it out")
	if err := parse(f, args); err != nil {
		return err
	}
	if len(models) == 0 {
		models = formulas{". + rbf(.)", ". + rbf(.) + matern32(.)"}
	}
	b := &peerBench{flags: flags, models: models, out: out, progress: progress}
	if err := b.firstSplits(ctx, list(*sets)); err != nil {
		return err
	}
	if *folds < 1 {
		return nil
	}
	return b.revrandTask(ctx, min(*folds, published.RevrandFolds))
}

// peerBench is one run of the benchmark.
type peerBench struct {
	flags         common
	models        formulas
	out, progress io.Writer
}

// load returns a set, or nil with a message where it is missing.
func (b *peerBench) load(ctx context.Context, name string) (*protocol.Set, error) {
	if protocol.Missing(b.flags.folder, name) {
		fmt.Fprintf(b.progress, "peers: %s is not in %s: skipped\n", name, b.flags.folder)
		return nil, nil
	}
	return protocol.Load(ctx, b.flags.folder, name)
}

// fit runs one model on one division of a set.
func (b *peerBench) fit(ctx context.Context, set *protocol.Set, model string, testRows []int, seed uint64) (*trial.Result, error) {
	train, test := set.Divide(testRows)
	r, err := trial.Run(ctx, train, test, trial.Options{
		Formula: set.Formula(model), Target: set.Target, Seed: seed, Threads: b.flags.threads,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", set.Name, err)
	}
	fmt.Fprintf(b.progress, "%s %q: SMSE %.5f, NLPD %.5f, %.1f CPU s\n", set.Name, model, r.SMSE, -r.LogDensity, r.CPUSeconds)
	if b.flags.json {
		err = json.NewEncoder(b.out).Encode(struct {
			Set     string `json:"set"`
			Formula string `json:"formula"`
			*trial.Result
		}{set.Name, model, r})
	}
	return r, err
}

// firstSplits sets the first split of every set beside the peers' runs on it.
func (b *peerBench) firstSplits(ctx context.Context, names []string) error {
	table := layout.Table{Left: 2, Head: []string{"set", "what", "rows", "SMSE", "NLPD", "MSLL", "CPU s"}}
	row := func(set, what string, rows int, smse, nlpd, msll, cpu float64) {
		table.Add(set, what, strconv.Itoa(rows), layout.Number(smse, 5), layout.Number(nlpd, 4), layout.Number(msll, 4), layout.Number(cpu, 1))
	}
	for _, name := range names {
		if !slices.Contains(published.PeerSets(), name) {
			return fmt.Errorf("peers were not run on %q: take some of %s", name, strings.Join(published.PeerSets(), ", "))
		}
		set, err := b.load(ctx, name)
		if err != nil {
			return err
		}
		if set == nil {
			continue
		}
		for _, model := range b.models {
			r, err := b.fit(ctx, set, model, set.Splits[0], b.flags.seed)
			if err != nil {
				return err
			}
			row(name, "**credence** `"+model+"`", r.TrainRows, r.SMSE, -r.LogDensity, r.MSLL, r.CPUSeconds)
		}
		for _, p := range published.Peers(name) {
			row(name, p.Name, p.Rows, p.SMSE, p.NLPD, p.MSLL, p.CPUSeconds)
		}
	}
	if b.flags.json || table.Rows() == 0 {
		return nil
	}
	if _, err := table.WriteTo(b.out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(b.out, "\n%s\n", published.PeersSource)
	return err
}

// revrandTask repeats the cross-validation of revrand's notebook on boston, on the
// same folds.
func (b *peerBench) revrandTask(ctx context.Context, folds int) error {
	set, err := b.load(ctx, "boston")
	if err != nil || set == nil {
		return err
	}
	table := layout.Table{Left: 1, Head: []string{"boston, five folds", "folds", "R²", "SMSE", "MSLL"}}
	for _, model := range b.models {
		var r2, smse, msll []float64
		for k, testRows := range protocol.Folds(set.Rows(), published.RevrandFolds, published.RevrandSeed)[:folds] {
			r, err := b.fit(ctx, set, model, testRows, b.flags.seed+uint64(k))
			if err != nil {
				return err
			}
			r2, smse, msll = append(r2, r.R2), append(smse, r.SMSE), append(msll, r.MSLL)
		}
		cell := func(values []float64) string {
			mean, standardError := meanAndError(values)
			return layout.PlusMinus(mean, standardError, 4)
		}
		table.Add("**credence** `"+model+"`", strconv.Itoa(folds), cell(r2), cell(smse), cell(msll))
	}
	if b.flags.json {
		return nil
	}
	nan := math.NaN()
	table.Add("revrand slm, as published", strconv.Itoa(published.RevrandFolds),
		layout.PlusMinus(published.RevrandR2, nan, 4), layout.PlusMinus(1-published.RevrandR2, nan, 4), layout.PlusMinus(published.RevrandMSLL, nan, 4))
	fmt.Fprintln(b.out)
	if _, err := table.WriteTo(b.out); err != nil {
		return err
	}
	_, err = fmt.Fprintf(b.out, "\n%s\n", published.RevrandSource)
	return err
}
