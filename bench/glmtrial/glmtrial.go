// Package glmtrial fits a generalised linear model to one table and scores it on
// another, by the path that the command line takes: formula, frame, features,
// engine, with the product's defaults. Scores are in the target's own units.
package glmtrial

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/bench/process"
	"github.com/credence-ml/credence/bench/trial"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/metric"
)

// Options say what to fit and how.
type Options struct {
	Formula string
	Target  string
	Family  string // empty: the target decides
	Prior   string // empty: normal
	// Exact, if not nil, fits with the exact engine instead of svi.
	Exact *exact.Config
	SVI   svi.Config
	Seed  uint64
	// Threads below 1 means every processor; the result does not depend on it.
	Threads int
}

// Fit is a fitted model and what it cost.
type Fit struct {
	*credence.Fitted
	WallSeconds, CPUSeconds float64 // of the fit, from the table in memory on
	threads                 int
}

// Run fits a model as the command line does.
func Run(ctx context.Context, train credence.Source, options Options) (*Fit, error) {
	clock := process.Start()
	described := trial.Options{
		Formula: options.Formula, Target: options.Target, Family: options.Family, Prior: options.Prior,
		Seed: options.Seed, Threads: options.Threads,
	}
	fitted, err := trial.FitBy(ctx, train, described, func(model credence.Model) (credence.Engine, error) {
		return newEngine(model, options)
	})
	if err != nil {
		return nil, err
	}
	fit := &Fit{Fitted: fitted, threads: options.Threads}
	fit.WallSeconds, fit.CPUSeconds = clock.Seconds()
	return fit, nil
}

func newEngine(model credence.Model, options Options) (credence.Engine, error) {
	if options.Exact != nil {
		config := *options.Exact
		config.Seed, config.Threads = options.Seed, options.Threads
		return exact.New(model, config)
	}
	config := options.SVI
	config.Seed, config.Threads = options.Seed, options.Threads
	return svi.New(model, config)
}

// batchRows is how many rows are scored at a time.
const batchRows = 4096

// Each calls visit with the predictive distributions of the rows of a table, batch by batch.
func (f *Fit) Each(table credence.Source, visit func(ws *credence.Workspace, rows *credence.Batch, dist *credence.Distribution)) error {
	data, err := f.Frame.(*frame.Frame).Bind(table, frame.RequireTargets)
	if err != nil {
		return err
	}
	ws := credence.NewWorkspace(f.threads)
	var rows credence.Batch
	for first := 0; first < data.Rows(); first += batchRows {
		if err := data.Read(&rows, first, min(batchRows, data.Rows()-first)); err != nil {
			return err
		}
		dist, err := f.Distribution(ws, &rows)
		if err != nil {
			return err
		}
		visit(ws, &rows, dist)
	}
	return nil
}

// Regression scores means, log densities and central intervals of the given level; coverage
// is the share of targets inside, bounds included, as the command evaluate counts it.
func (f *Fit) Regression(test credence.Source, level float64) (result metric.RegressionResult, coverage float64, err error) {
	r := metric.Regression{TrainMean: f.TargetMean, TrainVariance: f.TargetVariance}
	covered, count := 0, 0
	err = f.Each(test, func(ws *credence.Workspace, rows *credence.Batch, dist *credence.Distribution) {
		inside := make([]bool, rows.Rows())
		dist.Each(ws, func(i int) {
			y := rows.Target[i]
			inside[i] = y >= dist.Quantile(i, (1-level)/2) && y <= dist.Quantile(i, (1+level)/2)
		})
		for i, y := range rows.Target {
			mean, _ := dist.Moments(i)
			r.Add(y, mean, dist.LogDensity(i, y), 1)
			count++
			if inside[i] {
				covered++
			}
		}
	})
	if err != nil {
		return result, 0, err
	}
	result, err = r.Result()
	return result, float64(covered) / float64(count), err
}

// Classification scores probabilities of two classes.
func (f *Fit) Classification(test credence.Source) (metric.ClassificationResult, error) {
	var c metric.Classification
	err := f.Each(test, func(_ *credence.Workspace, rows *credence.Batch, dist *credence.Distribution) {
		for i, y := range rows.Target {
			p, _ := dist.Moments(i)
			c.Add(y, p, 1)
		}
	})
	if err != nil {
		return metric.ClassificationResult{}, err
	}
	return c.Result()
}
