package main

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/bench/glmdata"
	"github.com/credence-ml/credence/bench/glmtrial"
	"github.com/credence-ml/credence/bench/layout"
	"github.com/credence-ml/credence/bench/protocol"
	"github.com/credence-ml/credence/infer/svi"
)

// glmTask is one fit that revrand's GeneralizedLinearModel was measured on, and its
// figures there.
type glmTask struct {
	name   string
	kind   glmdata.Kind // of generated rows; empty for a set
	family string
	cpu    float64 // revrand's
	nlpd   float64
	smse   float64 // 0 where there is none
	mixed  float64 // NLPD of its whole mixture; 0 where there is none
}

// revrandSource says where the figures of glmTasks come from.
const revrandSource = "revrand: GeneralizedLinearModel, 100 RBF bases, ten components, 3,000 steps on minibatches of 10 (its defaults, with one random start), " +
	"run by us once on the same rows and standardised inputs, on another machine. Its NLPD is that at its mean where it is not of the mixture."

func glmTasks() []glmTask {
	return []glmTask{
		{"smooth-real", glmdata.Real, "gaussian", 8.239, 0.84516, 0.48594, 0.85172},
		{"smooth-class", glmdata.Class, "bernoulli", 8.438, 0.29002, 0, 0.30051},
		{"smooth-count", glmdata.Count, "poisson", 8.396, math.NaN(), 0, 2.62405},
		{"boston", "", "gaussian", 8.227, 2.93429, 0.31039, 3.01416},
		{"concrete", "", "gaussian", 8.061, 3.68430, 0.30285, 3.74928},
		{"sarcos_test", "", "gaussian", 9.310, 3.81114, 0.29789, 3.83199},
	}
}

// glmResult is what a task came to.
type glmResult struct {
	Task        string          `json:"task"`
	Rows        int             `json:"rows"`
	Status      credence.Status `json:"status"`
	Iterations  int             `json:"iterations"`
	NLPD        float64         `json:"nlpd"`
	SMSE        float64         `json:"smse"`
	Coverage90  float64         `json:"coverage_90"`
	ELBO        float64         `json:"elbo"`
	WallSeconds float64         `json:"seconds"`
	CPUSeconds  float64         `json:"cpu_seconds"`
}

// peers fits the tasks of revrand's GLM, with as many bases and lengthscales learned.
func (b *glmBench) peers(ctx context.Context) error {
	table := &layout.Table{Left: 1, Head: []string{"task", "rows", "NLPD", "revrand", "SMSE", "revrand", "90 % covers", "CPU s", "revrand", "ratio"}}
	for _, task := range glmTasks() {
		r, err := b.peerTask(ctx, task)
		if err != nil {
			return fmt.Errorf("%s: %w", task.name, err)
		}
		if r == nil {
			continue
		}
		theirs := task.nlpd
		if !(theirs <= task.mixed) {
			theirs = task.mixed
		}
		smse := ""
		if task.smse > 0 {
			smse = layout.Number(task.smse, 4)
		}
		ours, covers := layout.Number(r.SMSE, 4), layout.Number(100*r.Coverage90, 1)+" %"
		if task.kind == glmdata.Class {
			ours, covers = "", "" // a class has no interval to speak of
		}
		table.Add(task.name+" "+task.family, strconv.Itoa(r.Rows), layout.Number(r.NLPD, 4), layout.Number(theirs, 4), ours, smse,
			covers, layout.Number(r.CPUSeconds, 2), layout.Number(task.cpu, 2), "1/"+layout.Number(task.cpu/r.CPUSeconds, 0))
		if err := b.record(r); err != nil {
			return err
		}
	}
	return b.table("Beside revrand", table, "Seconds are of the fit, from the table in memory on; NLPD and SMSE are those of test rows. "+revrandSource)
}

// peerTask runs one task; nil where its data are missing.
func (b *glmBench) peerTask(ctx context.Context, task glmTask) (*glmResult, error) {
	var train, test credence.Source
	formula := "rbf(., n=100)"
	target := "y"
	if task.kind != "" {
		one, two, err := glmdata.Smooth(task.kind, 10000, 20, 1)
		if err != nil {
			return nil, err
		}
		train, test = one, two
	} else {
		if protocol.Missing(b.folder, task.name) {
			fmt.Fprintf(b.progress, "glm: %s is not in %s: skipped\n", task.name, b.folder)
			return nil, nil
		}
		set, err := protocol.Load(ctx, b.folder, task.name)
		if err != nil {
			return nil, err
		}
		train, test = set.Split(0)
		formula, target = set.Formula(formula), set.Target
	}
	r := &glmResult{Task: task.name, Rows: train.Rows()}
	for k := range max(1, b.runs) {
		fit, err := glmtrial.Run(ctx, train, glmtrial.Options{
			Formula: formula, Target: target, Family: task.family, SVI: svi.Config{Covariance: svi.Full}, Seed: b.seed, Threads: b.threads,
		})
		if err != nil {
			return nil, err
		}
		if k == 0 || fit.CPUSeconds < r.CPUSeconds {
			r.CPUSeconds, r.WallSeconds = fit.CPUSeconds, fit.WallSeconds
		}
		if k > 0 {
			continue
		}
		r.Status, r.Iterations, r.ELBO = fit.Report.Status, fit.Report.Iterations, *fit.Report.ELBO
		scores, coverage, err := fit.Regression(test, 0.9)
		if err != nil {
			return nil, err
		}
		r.NLPD, r.SMSE, r.Coverage90 = float64(scores.NLPD), float64(scores.SMSE), coverage
	}
	fmt.Fprintf(b.progress, "%s: NLPD %.4f, bound %.2f, %s after %d, %.2f CPU s, %.2f s\n", r.Task, r.NLPD, r.ELBO, r.Status, r.Iterations, r.CPUSeconds, r.WallSeconds)
	return r, nil
}
