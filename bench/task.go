package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/bench/data"
	"github.com/credence-ml/credence/bench/layout"
	"github.com/credence-ml/credence/bench/process"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
)

// result is what one fit came to, and a line of JSON. Scores are of the test rows, in the target's own
// units; those that a family does not have are absent.
type result struct {
	Set      string `json:"set"`
	Model    string `json:"model,omitempty"`
	Formula  string `json:"formula,omitempty"`
	Engine   string `json:"engine"`
	Split    int    `json:"split"`
	Seed     uint64 `json:"seed"`
	Validate bool   `json:"validate,omitempty"` // the scores are on training rows held out

	TrainRows   int             `json:"train_rows"`
	TestRows    int64           `json:"test_rows"`
	Weights     int             `json:"weights"`
	RMSE        metric.Score    `json:"rmse,omitzero"`
	LogDensity  metric.Score    `json:"log_density,omitzero"` // mean
	SMSE        metric.Score    `json:"smse,omitzero"`
	MSLL        metric.Score    `json:"msll,omitzero"`
	R2          metric.Score    `json:"r2,omitzero"`
	Coverage90  float64         `json:"coverage_90,omitempty"` // share of targets in their 90 % intervals
	Coverage50  float64         `json:"coverage_50,omitempty"`
	Width90     float64         `json:"width_90,omitempty"`
	Accuracy    metric.Score    `json:"accuracy,omitzero"`
	LogLoss     metric.Score    `json:"log_loss,omitzero"`
	ECE         metric.Score    `json:"ece,omitzero"`
	Evidence    float64         `json:"evidence"` // or the bound
	Penalised   float64         `json:"evidence_penalised,omitempty"`
	Status      credence.Status `json:"status"`
	Iterations  int             `json:"iterations"`
	WallSeconds float64         `json:"seconds"`     // of the fit
	CPUSeconds  float64         `json:"cpu_seconds"` // of the fit, user and system
	PeakBytes   float64         `json:"peak_bytes,omitempty"`
	Warnings    []string        `json:"warnings,omitempty"`

	Extra map[string]float64 `json:"extra,omitempty"` // what a benchmark measures beside

	fitted *credence.Fitted
}

// task is one fit. Tasks of one set, model and formula are averaged in one row of a table.
type task struct {
	result
	load    func(ctx context.Context) (train, test *data.Table, err error)
	options fit.Options
	// changes the options by the first task of its set and split; or nil
	hold   func(o *fit.Options, first *result) error
	more   func(r *result, rows *score.Rows)              // measures scored rows; or nil
	beside func(r *result, train, test *data.Table) error // measures another method; or nil
	theirs map[string]float64                             // figures of others
}

// column is a column of a table: what to write of the results of a row.
type column struct {
	head string
	text func(row *row) string
}

// row is the results of one set, model and formula.
type row struct {
	*task
	results []*result
	first   *row // of the same set
}

// mean returns the mean of a figure over the results of a row, and its standard error.
func (r *row) mean(figure func(r *result) float64) (mean, standardError float64) {
	var values []float64
	for _, one := range r.results {
		values = append(values, figure(one))
	}
	return meanAndError(values)
}

// number is a column with the mean of a figure.
func number(head string, digits int, figure func(r *result) float64) column {
	return column{head, func(row *row) string {
		mean, _ := row.mean(figure)
		return layout.Number(mean, digits)
	}}
}

// percent is number for a share.
func percent(head string, digits int, figure func(r *result) float64) column {
	return column{head, func(row *row) string {
		mean, _ := row.mean(figure)
		if mean == 0 {
			return ""
		}
		return layout.Number(100*mean, digits) + " %"
	}}
}

// theirs is a column with a figure of others.
func theirs(head string, digits int) column {
	return column{head, func(row *row) string {
		if v := row.theirs[head]; v != 0 {
			return layout.Number(v, digits)
		}
		return ""
	}}
}

func count(n int) string { return strconv.Itoa(n) }

var (
	setColumn   = column{"set", func(row *row) string { return row.Set }}
	trainColumn = column{"rows", func(row *row) string { return count(row.results[0].TrainRows) }}
	testColumn  = column{"test rows", func(row *row) string { return count(int(row.results[0].TestRows)) }}
	splitColumn = column{"splits", func(row *row) string { return count(len(row.results)) }}
	cpuColumn   = number("CPU s", 2, func(r *result) float64 { return r.CPUSeconds })
	smseColumn  = number("SMSE", 5, func(r *result) float64 { return float64(r.SMSE) })
	nlpdColumn  = number("NLPD", 4, func(r *result) float64 { return -float64(r.LogDensity) })
	msllColumn  = number("MSLL", 4, func(r *result) float64 { return float64(r.MSLL) })
)

func modelColumn(head string) column {
	return column{head, func(row *row) string { return row.Model }}
}

// bench is one run of a benchmark that fits and scores.
type bench struct {
	common
	name          string
	runs          int // fits of each task, of which the least seconds count
	kept          *record
	recorded      bool // tasks that kept does not hold are left out
	out, progress io.Writer
	tables        int
}

// path is that of a file of a set.
func (b *bench) path(set, file string) string { return filepath.Join(b.folder, set, file) }

// missing says, and tells, that a set is not there.
func (b *bench) missing(set string) bool {
	if !data.Missing(b.folder, set) {
		return false
	}
	fmt.Fprintf(b.progress, "%s: %s is not in %s: skipped\n", b.name, set, b.folder)
	return true
}

// run runs the tasks, prints their results where JSON is wanted, and returns them by rows.
func (b *bench) run(ctx context.Context, tasks []*task) ([]*row, error) {
	var rows []*row
	for _, t := range tasks {
		var of, first *row
		for _, known := range rows {
			if known.Set != t.Set {
				continue
			}
			if first == nil {
				first = known
			}
			if known.Model == t.Model && known.Formula == t.Formula {
				of = known
			}
		}
		r, err := b.one(ctx, t, first)
		if err != nil {
			return nil, fmt.Errorf("%s, %s, split %d: %w", t.Set, t.Model, t.Split, err)
		}
		if r == nil {
			continue
		}
		if of == nil {
			of = &row{task: t, first: first}
			rows = append(rows, of)
		}
		of.results = append(of.results, r)
		fmt.Fprintf(b.progress, "%s %s split %d: RMSE %.5g, log density %.4f, evidence or bound %.2f (%.2f), %s after %d, %.2f CPU s\n",
			r.Set, r.Model, r.Split, r.RMSE, r.LogDensity, r.Evidence, r.Penalised, r.Status, r.Iterations, r.CPUSeconds)
		if b.json {
			if err := json.NewEncoder(b.out).Encode(r); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// one returns the result of a task, from the file of results if it is there; nil if it is to be left out.
func (b *bench) one(ctx context.Context, t *task, first *row) (*result, error) {
	if b.kept != nil {
		if old, ok := b.kept.results[t.key()]; ok {
			return &old, nil
		}
		if b.recorded {
			return nil, nil
		}
	}
	o := t.options
	if t.hold != nil {
		for _, f := range first.results {
			if f.Split == t.Split {
				if err := t.hold(&o, f); err != nil {
					return nil, err
				}
			}
		}
	}
	r := t.result
	train, test, err := t.load(ctx)
	if err != nil {
		return nil, err
	}
	for k := range max(1, b.runs) {
		again := t.result
		if err := again.fit(ctx, train, o); err != nil {
			return nil, err
		}
		if k == 0 || again.CPUSeconds < r.CPUSeconds {
			r = again
		}
	}
	if err := r.score(ctx, test, o.Threads, t.more); err != nil {
		return nil, err
	}
	if t.beside != nil {
		if err := t.beside(&r, train, test); err != nil {
			return nil, err
		}
	}
	if b.kept != nil {
		err = b.kept.add(r)
	}
	return &r, err
}

// fit fits a model as the command line does.
func (r *result) fit(ctx context.Context, train credence.Source, o fit.Options) error {
	clock := process.Start()
	fitted, err := fit.Table(ctx, train, o)
	if err != nil {
		return err
	}
	r.WallSeconds, r.CPUSeconds = clock.Seconds()
	report := &fitted.Report
	r.fitted, r.TrainRows, r.Weights, r.Warnings = fitted, report.Rows, report.Weights, report.Warnings
	r.Status, r.Iterations, r.PeakBytes = report.Status, report.Iterations, float64(process.PeakMemory())
	for _, evidence := range []*float64{report.ELBO, report.Evidence} {
		if evidence != nil {
			r.Evidence = *evidence
		}
	}
	if report.EvidencePenalised != nil {
		r.Penalised = *report.EvidencePenalised
	}
	return nil
}

// score measures the predictions of test rows.
func (r *result) score(ctx context.Context, test credence.Source, threads int, more func(r *result, rows *score.Rows)) error {
	scorer, err := score.New(r.fitted, score.Options{Threads: threads})
	if err != nil {
		return err
	}
	table, err := scorer.Table(test, score.RequireTargets)
	if err != nil {
		return err
	}
	evaluation := score.NewEvaluation(r.fitted)
	r.Extra = map[string]float64{}
	err = table.Each(ctx, func(rows *score.Rows) error {
		if more != nil {
			more(r, rows)
		}
		return evaluation.Add(rows)
	})
	if err != nil {
		return err
	}
	e, err := evaluation.Result()
	if err != nil {
		return err
	}
	r.TestRows = e.Rows
	if g := e.RegressionResult; g != nil {
		r.RMSE, r.LogDensity, r.SMSE, r.MSLL, r.R2 = g.RMSE, -g.NLPD, g.SMSE, g.MSLL, g.R2
	}
	if i := e.IntervalsResult; i != nil {
		r.Coverage90, r.Coverage50, r.Width90 = i.Coverage["0.9"], i.Coverage["0.5"], i.Width["0.9"]
	}
	if c := e.ClassificationResult; c != nil {
		r.Accuracy, r.LogLoss, r.ECE = c.Accuracy, c.LogLoss, c.ECE
	}
	return nil
}

// table prints rows under a heading, and notes under them. The first columns, left of them, hold text.
func (b *bench) table(heading string, rows []*row, left int, columns []column, notes string) error {
	if b.json || len(rows) == 0 {
		return nil
	}
	t := &layout.Table{Left: left}
	for _, c := range columns {
		t.Head = append(t.Head, c.head)
	}
	for _, row := range rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, c.text(row))
		}
		t.Add(cells...)
	}
	return b.print(heading, t, notes)
}

// print prints a table under a heading, if it has one.
func (b *bench) print(heading string, t *layout.Table, notes string) error {
	if b.tables++; b.tables > 1 {
		fmt.Fprintln(b.out)
	}
	if heading != "" {
		fmt.Fprintf(b.out, "### %s\n\n", heading)
	}
	if _, err := t.WriteTo(b.out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(b.out, "\n%s\n", notes)
	return err
}
