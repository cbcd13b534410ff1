package fit

import (
	"context"
	"strconv"

	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/selection/refit"
)

// pathCounts are the numbers of features that the path expects in the model beforehand.
var pathCounts = []float64{1, 2, 5, 10, 20, 50, 100}

// pathSize is the number of rows times weights up to which a path takes about a second or two.
const pathSize = 2e5

// size is the number of rows times weights.
func (p *Prepared) size() float64 {
	return float64(p.data.Rows()) * float64(p.model.Features.Weights())
}

// leastListed is the inclusion above which a feature's coefficient stands in a step of the path.
const leastListed = 0.01

// path fits the model at stated prior inclusion probabilities, and, where folds are given, to all rows but one
// fold as well, for each fold.
func (p *Prepared) path(ctx context.Context, result *selection.Result, folds int) error {
	count, _ := result.Candidates()
	var held *refit.Folds
	if folds > 0 {
		var err error
		if held, err = p.base().Deal(ctx, folds); err != nil {
			return err
		}
	}
	var densities [][]float64
	for _, expected := range pathCounts {
		if expected > float64(count)/2 {
			break
		}
		inclusion := expected / float64(count)
		o := p.job.options
		o.Checkpoint, o.Progress = "", nil
		o.Prior, o.Engine = "spikeslab(inclusion="+strconv.FormatFloat(inclusion, 'g', -1, 64)+")", quick
		job, err := New(o)
		if err != nil {
			return err
		}
		at, err := job.Prepare(ctx, p.rows)
		if err != nil {
			return err
		}
		fitted, err := at.Fit(ctx)
		if err != nil {
			return err
		}
		if fitted.Report.Stuck {
			continue
		}
		found, err := refit.Features(fitted, selection.Options{})
		if err != nil {
			return err
		}
		found.Call(selection.Options{})
		step := selection.Step{
			Inclusion: inclusion, Selected: found.Selected, Features: found.Names(), Evidence: fitted.Report.EvidenceEstimate,
			Coefficients: []selection.Coefficient{},
		}
		_, step.Expected = found.Candidates()
		for _, f := range found.Features {
			if f.Inclusion > leastListed {
				step.Coefficients = append(step.Coefficients, selection.Coefficient{Name: f.Name, Inclusion: f.Inclusion, Mean: f.Mean})
			}
		}
		if held != nil {
			of, err := at.base().Densities(ctx, held, at.engine)
			if err != nil {
				return err
			}
			densities = append(densities, of)
		}
		result.Path = append(result.Path, step)
	}
	if held != nil {
		refit.OneStandardError(result.Path, densities, held)
	}
	return nil
}
