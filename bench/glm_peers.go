package main

import (
	"context"
	"math"

	"github.com/credence-ml/credence/bench/data"
	"github.com/credence-ml/credence/bench/layout"
)

// peersPart fits the tasks that revrand's GeneralizedLinearModel was measured on, with as many bases and
// lengthscales learned.
var peersPart = part{
	name: "peers", heading: "Beside revrand", left: 1, tasks: peerTasks,
	columns: []column{
		modelColumn("task"), trainColumn, nlpdColumn, theirs("revrand", 4),
		{"SMSE", func(row *row) string {
			if row.theirs["SMSE"] == 0 && row.results[0].LogLoss != 0 {
				return "" // a class has neither a square to speak of nor an interval
			}
			return layout.Number(float64(row.results[0].SMSE), 4)
		}},
		{"revrand", theirs("SMSE", 4).text},
		{"90 % covers", func(row *row) string {
			if row.results[0].LogLoss != 0 {
				return ""
			}
			return percent("", 1, func(r *result) float64 { return r.Coverage90 }).text(row)
		}},
		cpuColumn, {"revrand", theirs("CPU s", 2).text},
		{"ratio", func(row *row) string { return "1/" + layout.Number(row.theirs["CPU s"]/row.results[0].CPUSeconds, 0) }},
	},
	notes: "Seconds are of the fit, from the table in memory on; NLPD and SMSE are those of test rows. " +
		"revrand: GeneralizedLinearModel, 100 RBF bases, ten components, 3,000 steps on minibatches of 10 (its defaults, with one random start), " +
		"run by us once on the same rows and standardised inputs, on another machine. Its NLPD is that at its mean where it is not of the mixture.",
}

// peerFigures are revrand's.
var peerFigures = []struct {
	name   string
	kind   data.Kind // of generated rows; empty for a set
	family string
	cpu    float64
	nlpd   float64 // at its mean; NaN where it is infinite
	smse   float64 // 0 where there is none
	mixed  float64 // NLPD of its whole mixture
}{
	{"smooth-real", data.Real, "gaussian", 8.239, 0.84516, 0.48594, 0.85172},
	{"smooth-class", data.Class, "bernoulli", 8.438, 0.29002, 0, 0.30051},
	{"smooth-count", data.Count, "poisson", 8.396, math.NaN(), 0, 2.62405},
	{"boston", "", "gaussian", 8.227, 2.93429, 0.31039, 3.01416},
	{"concrete", "", "gaussian", 8.061, 3.68430, 0.30285, 3.74928},
	{"sarcos_test", "", "gaussian", 9.310, 3.81114, 0.29789, 3.83199},
}

func peerTasks(ctx context.Context, b *bench, _ string) ([]*task, error) {
	var tasks []*task
	for _, p := range peerFigures {
		formula, target := "rbf(., n=100)", "y"
		load := func(context.Context) (train, test *data.Table, err error) { return data.Smooth(p.kind, 10000, 20, 1) }
		if p.kind == "" {
			if b.missing(p.name) {
				continue
			}
			set, err := data.LoadSet(ctx, b.folder, p.name)
			if err != nil {
				return nil, err
			}
			formula, target = set.Formula(formula), set.Target
			load = func(context.Context) (train, test *data.Table, err error) {
				train, test = set.Split(0)
				return train, test, nil
			}
		}
		better := p.mixed
		if p.nlpd < better {
			better = p.nlpd
		}
		o := b.options(formula, target, p.family, full)
		tasks = append(tasks, &task{result: result{Set: p.name, Model: p.name + " " + p.family, Formula: formula, Engine: full, Seed: b.seed},
			load: load, options: o, theirs: map[string]float64{"revrand": better, "SMSE": p.smse, "CPU s": p.cpu}})
	}
	return tasks, nil
}
