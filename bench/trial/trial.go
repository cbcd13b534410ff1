// Package trial fits a model to one table and scores it on another, by the path
// that the command line takes: formula, frame, features, exact engine, with the
// product's own defaults. Scores are in the target's own units.
package trial

import (
	"context"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/bench/process"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// Options say what to fit and how.
type Options struct {
	Formula string
	Target  string
	Family  string // empty: the target decides
	Prior   string // empty: normal
	Engine  string // "exact" with its options; empty means their defaults
	Seed    uint64
	Threads int // below 1 means every processor; the result does not depend on it

	Progress func(credence.Progress) // called after every iteration; or nil
}

// Result is what a trial measured.
type Result struct {
	TrainRows   int             `json:"train_rows"`
	TestRows    int             `json:"test_rows"`
	Weights     int             `json:"weights"`
	RMSE        float64         `json:"rmse"`
	LogDensity  float64         `json:"log_density"` // mean test log density
	SMSE        float64         `json:"smse"`
	MSLL        float64         `json:"msll"`
	R2          float64         `json:"r2"`
	Coverage90  float64         `json:"coverage_90"` // share of test targets in their 90 % intervals
	Evidence    float64         `json:"evidence"`
	Penalised   float64         `json:"evidence_penalised"`
	Status      credence.Status `json:"status"`
	Iterations  int             `json:"iterations"`
	WallSeconds float64         `json:"seconds"`     // of the fit
	CPUSeconds  float64         `json:"cpu_seconds"` // of the fit, user and system
	Warnings    []string        `json:"warnings,omitempty"`

	Hyper []credence.Value `json:"-"`
}

// Run fits and scores.
func Run(ctx context.Context, train, test credence.Source, options Options) (*Result, error) {
	clock := process.Start()
	fitted, err := Fit(ctx, train, options)
	if err != nil {
		return nil, err
	}
	report := fitted.Report
	result := &Result{
		TrainRows: report.Rows, Weights: report.Weights, Status: report.Status,
		Iterations: report.Iterations, Warnings: report.Warnings, Hyper: report.Hyper,
		Evidence: *report.Evidence, Penalised: *report.EvidencePenalised,
	}
	result.WallSeconds, result.CPUSeconds = clock.Seconds()
	return result, score(result, fitted, test, options.Threads)
}

// Fit fits a model as the command line does, by the exact engine.
func Fit(ctx context.Context, train credence.Source, options Options) (*credence.Fitted, error) {
	config, err := engineConfig(options)
	if err != nil {
		return nil, err
	}
	return FitBy(ctx, train, options, func(model credence.Model) (credence.Engine, error) { return exact.New(model, config) })
}

// FitBy fits a model as the command line does, by the engine that newEngine
// makes; Options.Engine does not count.
func FitBy(ctx context.Context, train credence.Source, options Options, newEngine func(credence.Model) (credence.Engine, error)) (*credence.Fitted, error) {
	family, err := formula.ParseFamily(options.Family, likelihood.All())
	if err != nil {
		return nil, err
	}
	plan, err := formula.Parse(options.Formula, train.Schema(), formula.Options{Target: options.Target, Family: family})
	if err != nil {
		return nil, err
	}
	fr, err := frame.Fit(&plan.Frame, train, family.Options(frame.Options{}))
	if err != nil {
		return nil, err
	}
	likelihood, err := family.Likelihood(fr)
	if err != nil {
		return nil, err
	}
	data, err := fr.Bind(train, frame.RequireTargets)
	if err != nil {
		return nil, err
	}
	features, err := plan.Features(fr, data, options.Seed)
	if err != nil {
		return nil, err
	}
	prior, err := formula.ParsePrior(options.Prior, prior.All())
	if err != nil {
		return nil, err
	}
	engine, err := newEngine(credence.Model{Features: features, Likelihood: likelihood, Prior: prior})
	if err != nil {
		return nil, err
	}
	fitted, err := engine.Fit(ctx, data)
	if err != nil {
		return nil, err
	}
	fitted.Frame = fr
	fitted.TargetMean, fitted.TargetVariance = fr.Target.Mean, fr.Target.Variance
	fitted.Report.Warnings = append(append([]string{}, fr.Warnings...), fitted.Report.Warnings...)
	return fitted, nil
}

// engineConfig reads the engine's options by the names that the command line gives them.
func engineConfig(options Options) (exact.Config, error) {
	text := options.Engine
	if text == "" {
		text = "exact"
	}
	call, err := spec.ParseSpec(text)
	if err != nil {
		return exact.Config{}, err
	}
	if call.Name != "exact" {
		return exact.Config{}, fmt.Errorf("trial: engine %s is not measured here: use exact", call.Name)
	}
	a := spec.NewArguments(call, text)
	config := exact.Config{
		Starts:        a.Int("starts", 0, spec.AtLeast(1)),
		Draws:         a.Int("draws", 0, spec.AtLeast(1)),
		MaxIterations: a.Int("iterations", 0, spec.AtLeast(1)),
		Tolerance:     a.Float("tolerance", 0, spec.Positive()),
		ScreenRows:    a.Int("screen", 0, spec.AtLeast(1)),
		PolishRows:    a.Int("polish", 0, spec.AtLeast(1)),
		Seed:          options.Seed,
		Threads:       options.Threads,
		Progress:      options.Progress,
	}
	return config, a.Finish()
}

// batchRows is how many test rows are scored at a time.
const batchRows = 4096

// score measures the predictions of the test rows.
func score(result *Result, fitted *credence.Fitted, test credence.Source, threads int) error {
	data, err := fitted.Frame.(*frame.Frame).Bind(test, frame.RequireTargets)
	if err != nil {
		return err
	}
	ws := credence.NewWorkspace(threads)
	regression := metric.Regression{TrainMean: fitted.TargetMean, TrainVariance: fitted.TargetVariance}
	covered := 0
	var rows credence.Batch
	for first := 0; first < data.Rows(); first += batchRows {
		if err := data.Read(&rows, first, min(batchRows, data.Rows()-first)); err != nil {
			return err
		}
		dist, err := fitted.Distribution(ws, &rows)
		if err != nil {
			return err
		}
		for i, y := range rows.Target {
			mean, _ := dist.Moments(i)
			regression.Add(y, mean, dist.LogDensity(i, y), 1)
			if p := dist.CDF(i, y); p >= 0.05 && p <= 0.95 {
				covered++
			}
		}
	}
	r, err := regression.Result()
	if err != nil {
		return err
	}
	result.TestRows = int(r.Rows)
	result.RMSE, result.LogDensity = float64(r.RMSE), -float64(r.NLPD)
	result.SMSE, result.MSLL, result.R2 = float64(r.SMSE), float64(r.MSLL), float64(r.R2)
	result.Coverage90 = float64(covered) / float64(r.Rows)
	return nil
}
