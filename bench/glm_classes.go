package main

import (
	"context"

	"github.com/credence-ml/credence/bench/data"
)

// classesPart measures probabilities of two classes beside those of the mode.
var classesPart = part{
	name: "classes", heading: "Two classes", left: 2, tasks: classTasks,
	columns: []column{
		setColumn, modelColumn("covariance"), trainColumn, testColumn,
		percent("accuracy", 2, func(r *result) float64 { return float64(r.Accuracy) }),
		number("log loss", 5, func(r *result) float64 { return float64(r.LogLoss) }),
		number("of the mode", 5, func(r *result) float64 { return r.Extra["mode_log_loss"] }),
		number("ECE", 5, func(r *result) float64 { return float64(r.ECE) }),
		number("of the mode", 5, func(r *result) float64 { return r.Extra["mode_ece"] }), cpuColumn,
	},
	notes: "ECE: expected calibration error over 20 bins of equal count, on the test rows. " +
		"The mode: L2-regularised logistic regression with C = 1, that is the mode under N(0, 1), fitted here to 1e-9 nats. w8a: every fifth row is for testing.",
}

func classTasks(_ context.Context, b *bench, _ string) ([]*task, error) {
	var tasks []*task
	for _, set := range []struct {
		name     string
		fifth    bool // every fifth row is for testing, as there is no test file
		diagonal bool // too many weights for a full covariance
	}{{name: "a9a"}, {name: "w8a", fifth: true}, {name: "ijcnn1"}, {name: "mushrooms"}, {name: "reuters", diagonal: true}} {
		if b.missing(set.name) {
			continue
		}
		model, engine := "full", full
		if set.diagonal {
			model, engine = "diagonal", "svi"
		}
		t := b.file(set.name, set.name+".gz", everyFifth, model, b.options("", "", "bernoulli", engine))
		if !set.fifth {
			t.load = func(ctx context.Context) (train, test *data.Table, err error) {
				if train, err = data.Load(ctx, b.path(set.name, set.name+".gz"), nil, nil); err != nil {
					return nil, nil, err
				}
				test, err = data.Load(ctx, b.path(set.name, set.name+".t.gz"), train.Schema(), nil)
				return train, test, err
			}
		}
		t.beside = scoreMode
		tasks = append(tasks, t)
	}
	return tasks, nil
}
