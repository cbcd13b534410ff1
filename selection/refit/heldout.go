package refit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/score"
)

// Fitter fits other data.
type Fitter func(context.Context, credence.Data) (*credence.Fitted, error)

// HeldOut fits to all rows but those of a fold, for each fold, and visits the rows of the fold as that fit scores them;
// rows are valid until visit returns. Columns and their scaling are those of all rows. Folds may be dealt by another
// model of the same table, so that models are compared in pairs of rows.
func (b *Base) HeldOut(ctx context.Context, f *Folds, fit Fitter, visit func(*score.Rows) error) error {
	if f == nil || fit == nil || visit == nil {
		return errors.New("there are no folds, or nothing fits and visits their rows: deal them by Prepared.Folds")
	}
	if len(f.of) != b.Source.Rows() {
		return fmt.Errorf("the folds are of %d rows and the table has %d: deal them from the same table", len(f.of), b.Source.Rows())
	}
	weights, _, err := b.weighed(ctx)
	if err != nil {
		return err
	}
	for out := range f.fits() {
		if b.Progress != nil {
			b.Progress(credence.Progress{Stage: "fits without a fold", Done: out, Total: f.fits(), Sure: true})
		}
		fitted, err := fit(ctx, &reweighted{b.Data, f.without(out, weights, b.row)})
		if err != nil {
			return fmt.Errorf("the fit without fold %d of %d: %w", out+1, f.fits(), err)
		}
		fitted.Frame = b.Frame
		scorer, err := score.New(fitted, score.Options{Threads: b.Threads})
		if err != nil {
			return err
		}
		rows, err := scorer.Table(b.Source, score.RequireTargets)
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

// Densities returns the log densities of all rows of the table under fits of an engine to all folds but theirs.
func (b *Base) Densities(ctx context.Context, f *Folds, engine credence.Engine) ([]float64, error) {
	densities := make([]float64, len(f.of))
	err := b.HeldOut(ctx, f, engine.Fit, func(rows *score.Rows) error {
		for i := range rows.Len() {
			at := rows.SourceRow(i)
			if densities[at] = rows.LogDensity(i, rows.Target(i)); math.IsNaN(densities[at]) {
				return fmt.Errorf("row %d has no density", at+1)
			}
		}
		return nil
	})
	return densities, err
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
