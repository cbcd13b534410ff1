package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/credence-ml/credence/bench/data"
	"github.com/credence-ml/credence/bench/published"
	"github.com/credence-ml/credence/metric"
)

var peerColumns = []column{
	setColumn, {"what", modelColumn("").text}, trainColumn, smseColumn, nlpdColumn, msllColumn,
	number("CPU s", 1, func(r *result) float64 { return r.CPUSeconds }),
}

var foldColumns = []column{
	{"boston, five folds", modelColumn("").text}, {"folds", func(row *row) string { return count(max(len(row.results), int(row.theirs["folds"]))) }},
	spread("R²", 4, func(r *result) float64 { return float64(r.R2) }),
	spread("SMSE", 4, func(r *result) float64 { return float64(r.SMSE) }),
	spread("MSLL", 4, func(r *result) float64 { return float64(r.MSLL) }),
}

func runPeers(ctx context.Context, args []string, out, progress io.Writer) error {
	b := &bench{name: "peers", out: out, progress: progress}
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	b.register(f)
	models := f.String("formula", ". + rbf(.); . + rbf(.) + matern32(.)", "the models, with a semicolon between them")
	sets := f.String("sets", strings.Join(published.PeerSets(), ","), "data sets")
	folds := f.Int("folds", published.RevrandFolds, "how many folds of revrand's own task on boston; 0 leaves it out")
	if err := parse(f, args); err != nil {
		return err
	}
	names := list(*sets, ",")
	for _, name := range names {
		if !slices.Contains(published.PeerSets(), name) {
			return fmt.Errorf("peers were not run on %q: take some of %s", name, strings.Join(published.PeerSets(), ", "))
		}
	}
	// tasks returns those of a set, one for each model and list of test rows.
	tasks := func(name string, tests func(set *data.Set) [][]int) ([]*task, error) {
		if b.missing(name) {
			return nil, nil
		}
		set, err := data.LoadSet(ctx, b.folder, name)
		if err != nil {
			return nil, err
		}
		var all []*task
		for _, model := range list(*models, ";") {
			for k, test := range tests(set) {
				t := b.split(set, model, k, func() (train, others *data.Table) { return set.Divide(test) })
				t.Model, t.options.Seed = "**credence** `"+model+"`", t.Seed
				all = append(all, t)
			}
		}
		return all, nil
	}
	var rows []*row
	for _, name := range names {
		first, err := tasks(name, func(set *data.Set) [][]int { return set.Splits[:1] })
		if err != nil {
			return err
		}
		ours, err := b.run(ctx, first)
		if err != nil {
			return err
		}
		rows = append(rows, ours...)
		if len(ours) == 0 {
			continue
		}
		for _, p := range published.Peers(name) {
			rows = append(rows, quoted(result{Set: name, Model: p.Name, TrainRows: p.Rows, SMSE: metric.Score(p.SMSE), LogDensity: -metric.Score(p.NLPD),
				MSLL: metric.Score(p.MSLL), CPUSeconds: p.CPUSeconds}))
		}
	}
	if err := b.table("", rows, 2, peerColumns, published.PeersSource); err != nil || *folds < 1 {
		return err
	}
	own, err := tasks("boston", func(set *data.Set) [][]int {
		return data.Folds(set.Rows(), published.RevrandFolds, published.RevrandSeed)[:min(*folds, published.RevrandFolds)]
	})
	if err != nil {
		return err
	}
	if rows, err = b.run(ctx, own); err != nil || len(rows) == 0 {
		return err
	}
	theirs := quoted(result{Model: "revrand slm, as published", R2: published.RevrandR2, SMSE: 1 - published.RevrandR2, MSLL: published.RevrandMSLL})
	theirs.theirs = map[string]float64{"folds": published.RevrandFolds}
	return b.table("", append(rows, theirs), 1, foldColumns, published.RevrandSource)
}

// quoted is a row of figures of others.
func quoted(r result) *row {
	return &row{task: &task{result: r}, results: []*result{&r}}
}
