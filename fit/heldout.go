package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/score"
)

// HeldOut fits the model to all rows but those of a fold, for each fold, and visits the rows of the fold as that fit
// scores them; rows are valid until visit returns. Columns and their scaling are those of all rows. Folds may be dealt
// by another model of the same table, so that models are compared in pairs of rows.
func (p *Prepared) HeldOut(ctx context.Context, f *Folds, visit func(*score.Rows) error) error {
	if f == nil || visit == nil {
		return errors.New("there are no folds, or nothing visits their rows: deal them by Prepared.Folds")
	}
	if len(f.of) != p.rows.Rows() {
		return fmt.Errorf("the folds are of %d rows and the table has %d: deal them from the same table", len(f.of), p.rows.Rows())
	}
	return p.heldOut(ctx, f, func(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
		again := *p // doubling changes it
		again.data, again.engine = data, p.other
		return again.once(ctx)
	}, visit)
}

// heldOut is HeldOut by other fits.
func (p *Prepared) heldOut(ctx context.Context, f *Folds, fit func(context.Context, credence.Data) (*credence.Fitted, error), visit func(*score.Rows) error) error {
	weights, _, err := p.weighed(ctx)
	if err != nil {
		return err
	}
	for out := range f.fits() {
		if p.job.progress != nil {
			p.job.progress(credence.Progress{Stage: "fits without a fold", Done: out, Total: f.fits(), Sure: true})
		}
		fitted, err := fit(ctx, &reweighted{p.data, f.without(out, weights, p.row)})
		if err != nil {
			return fmt.Errorf("the fit without fold %d of %d: %w", out+1, f.fits(), err)
		}
		fitted.Frame = p.frame
		scorer, err := score.New(fitted, score.Options{Threads: p.job.options.Threads})
		if err != nil {
			return err
		}
		rows, err := scorer.Table(p.rows, score.RequireTargets)
		if err != nil {
			return err
		}
		rows.Only(func(row int) bool { return f.of[row] == out })
		if err := rows.Each(ctx, visit); err != nil {
			return err
		}
	}
	return nil
}

// densities returns the log densities of all rows of the table under fits of an engine to all folds but theirs.
func (p *Prepared) densities(ctx context.Context, f *Folds, engine credence.Engine) ([]float64, error) {
	densities := make([]float64, len(f.of))
	return densities, p.heldOut(ctx, f, engine.Fit, func(rows *score.Rows) error {
		for i := range rows.Len() {
			at := rows.SourceRow(i)
			if densities[at] = rows.LogDensity(i, rows.Target(i)); math.IsNaN(densities[at]) {
				return fmt.Errorf("row %d has no density", at+1)
			}
		}
		return nil
	})
}

// reweighted is data with weights of their own.
type reweighted struct {
	credence.Data
	weights []float64 // of all rows
}

// Read implements [credence.Data].
func (r *reweighted) Read(dst *credence.Batch, first, count int) error {
	err := r.Data.Read(dst, first, count)
	dst.Weight = slices.Clone(r.weights[first : first+count]) // what a reader keeps in memory stays as it is
	return err
}
