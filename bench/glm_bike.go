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
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/internal/special"
)

// bikeModel is one way to model the hourly counts.
type bikeModel struct {
	name, formula, family string
	logarithm             bool // the target is the logarithm of the count
}

func bikeModels() []bikeModel {
	const inputs = " ~ . - dateday"
	return []bikeModel{
		{"poisson", "count" + inputs, "poisson", false},
		{"negbinomial", "count" + inputs, "negbinomial", false},
		{"exact, log(count)", "log(count)" + inputs + " - count", "gaussian", true},
		{"negbinomial, hour:workingday", "count" + inputs + " + onehot(hour):workingday", "negbinomial", false},
	}
}

// bikeResult is what a model came to on one division.
type bikeResult struct {
	Division   string  `json:"division"`
	Model      string  `json:"model"`
	TestRows   int     `json:"test_rows"`
	LogDensity float64 `json:"log_density"` // mean log probability of the count
	Continuous float64 `json:"continuous,omitempty"`
	Coverage90 float64 `json:"coverage_90"`
	Coverage50 float64 `json:"coverage_50"`
	Width90    float64 `json:"width_90"`
	Ratio      float64 `json:"ratio"` // Σ mean over Σ count
	CPUSeconds float64 `json:"cpu_seconds"`
}

// bike sets families of counts beside a Gaussian of the logarithm, on the next year and on every
// fifth hour.
func (b *glmBench) bike(ctx context.Context) error {
	const name = "bike_hour"
	if protocol.Missing(b.folder, name) {
		fmt.Fprintf(b.progress, "glm: %s is not in %s: skipped\n", name, b.folder)
		return nil
	}
	types := map[string]credence.Kind{}
	for _, column := range []string{"hour", "month", "season", "weekday", "weathersit"} {
		types[column] = credence.Category
	}
	data, err := glmdata.Load(ctx, b.path(name, name+".csv.gz"), nil, types)
	if err != nil {
		return err
	}
	year := data.Column("year")
	for _, division := range []struct {
		name, without string
		test          func(row int) bool
	}{
		{"2011 to 2012", " - year", func(row int) bool { return year[row] == 1 }},
		{"every fifth hour", "", func(row int) bool { return row%5 == 4 }},
	} {
		train := data.Part(func(row int) bool { return !division.test(row) })
		test := data.Part(division.test)
		table := &layout.Table{Left: 1, Head: []string{"model", "test rows", "log density", "90 % covers", "50 % covers", "mean width", "Σ mean / Σ count", "CPU s"}}
		for _, model := range bikeModels() {
			model.formula += division.without
			r, err := b.bikeFit(ctx, train, test, model)
			if err != nil {
				return fmt.Errorf("%s: %w", model.name, err)
			}
			r.Division = division.name
			fmt.Fprintf(b.progress, "bike, %s, %s: log density %.4f (continuous %.4f), 90 %% covers %.3f\n", r.Division, r.Model, r.LogDensity, r.Continuous, r.Coverage90)
			table.Add(r.Model, strconv.Itoa(r.TestRows), layout.Number(r.LogDensity, 4), layout.Number(100*r.Coverage90, 1)+" %", layout.Number(100*r.Coverage50, 1)+" %",
				layout.Number(r.Width90, 0), layout.Number(r.Ratio, 3), layout.Number(r.CPUSeconds, 2))
			if err := b.record(r); err != nil {
				return err
			}
		}
		notes := "Log density: mean log probability of the count. That of the Gaussian of log(count) is of the interval from count − ½ to count + ½, " +
			"which is a probability as the others are; its density p(log y)/y, the change of variables, differs by less than 0.01 a row."
		if division.without != "" {
			notes += " **The second year is busier by six tenths, and no model of the first can know: intervals that cover 90 % of other hours of the same years cover far fewer there, and the fewer the closer the model follows the first year.**"
		}
		if err := b.table("Bike hours, "+division.name, table, notes); err != nil {
			return err
		}
	}
	return nil
}

// bikeFit fits and scores one model.
func (b *glmBench) bikeFit(ctx context.Context, train, test *glmdata.Table, model bikeModel) (*bikeResult, error) {
	options := glmtrial.Options{Formula: model.formula, Family: model.family, Seed: b.seed, Threads: b.threads, SVI: svi.Config{Covariance: svi.Full}}
	if model.logarithm {
		options.Exact = &exact.Config{}
	}
	fit, err := glmtrial.Run(ctx, train, options)
	if err != nil {
		return nil, err
	}
	r := &bikeResult{Model: model.name, TestRows: test.Rows(), CPUSeconds: fit.CPUSeconds}
	n := float64(test.Rows())
	means, counts := 0.0, 0.0
	err = fit.Each(test, func(ws *credence.Workspace, rows *credence.Batch, dist *credence.Distribution) {
		type row struct{ density, continuous, mean, count, width, in90, in50 float64 }
		computed := make([]row, rows.Rows())
		dist.Each(ws, func(i int) {
			y := rows.Target[i]
			c := &computed[i]
			low, high := dist.Quantile(i, 0.05), dist.Quantile(i, 0.95)
			if y >= low && y <= high {
				c.in90 = 1
			}
			if y >= dist.Quantile(i, 0.25) && y <= dist.Quantile(i, 0.75) {
				c.in50 = 1
			}
			mean, variance := dist.Moments(i)
			c.count, c.mean, c.width, c.density = y, mean, high-low, dist.LogDensity(i, y)
			if model.logarithm {
				c.count = math.Round(math.Exp(y))
				c.mean, c.width = math.Exp(mean+variance/2), math.Exp(high)-math.Exp(low)
				c.continuous = c.density - y
				c.density = logInterval((math.Log(c.count-0.5)-mean)/math.Sqrt(variance), (math.Log(c.count+0.5)-mean)/math.Sqrt(variance))
			}
		})
		for _, c := range computed {
			r.LogDensity += c.density / n
			r.Continuous += c.continuous / n
			r.Coverage90 += c.in90 / n
			r.Coverage50 += c.in50 / n
			r.Width90 += c.width / n
			means += c.mean
			counts += c.count
		}
	})
	r.Ratio = means / counts
	return r, err
}

// logInterval is the log probability of (a, b) under the standard normal, from the side on which it
// does not cancel.
func logInterval(a, b float64) float64 {
	if a > 0 {
		a, b = -b, -a
	}
	high, low := special.LogNormalCDF(b), special.LogNormalCDF(a)
	return high + math.Log(-math.Expm1(low-high))
}
