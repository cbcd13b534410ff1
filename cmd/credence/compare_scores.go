package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/stream"
	"github.com/credence-ml/credence/modelfile"
)

// scores are a model's predictions of every row of some data.
type scores struct {
	path   string
	fitted *credence.Fitted

	mean, sd, logDensity, target, weight []float64
	// rows are those of the data, which may have others that the model leaves out;
	// nil when it leaves none out.
	rows []int
}

// scoreModel predicts every row of the data.
func (p *program) scoreModel(ctx context.Context, model, data string, flags *scoreFlags) (*scores, error) {
	if modelfile.IsKeyed(model) {
		scorer, err := p.newStreamScorer(model, []string{data}, flags, true)
		if err != nil {
			return nil, err
		}
		s := &scores{path: model, fitted: scorer.fitted}
		add := s.adder(p)
		return s, scorer.each(ctx, func(rows *stream.Batch, dist *predictive) error { return add(&rows.Batch, dist) })
	}
	scorer, err := p.newScorer(ctx, model, []string{data}, flags, requireTargets)
	if err != nil {
		return nil, err
	}
	defer scorer.close()
	s := &scores{path: model, fitted: scorer.fitted}
	if err := scorer.each(ctx, s.adder(p)); err != nil {
		return nil, err
	}
	if scorer.bound.Counts().Dropped > 0 {
		for i := range s.mean {
			s.rows = append(s.rows, scorer.bound.SourceRow(i))
		}
	}
	return s, nil
}

// adder returns what appends the rows of a batch.
func (s *scores) adder(p *program) func(rows *credence.Batch, dist *predictive) error {
	ws := p.workspace()
	return func(rows *credence.Batch, dist *predictive) error {
		n, known := rows.Rows(), len(s.mean)
		for _, column := range []*[]float64{&s.mean, &s.sd, &s.logDensity, &s.target, &s.weight} {
			*column = append(*column, make([]float64, n)...)
		}
		dist.Each(ws, func(i int) {
			mean, variance := dist.Moments(i)
			s.mean[known+i], s.sd[known+i] = mean, math.Sqrt(variance)
			s.logDensity[known+i] = dist.LogDensity(i, rows.Target[i])
			s.target[known+i] = dist.target(rows.Target[i])
			s.weight[known+i] = 1
			if rows.Weight != nil {
				s.weight[known+i] = rows.Weight[i]
			}
		})
		return nil
	}
}

// comparable refuses scores of other rows or targets than those of the first model,
// and says what cannot be read from the comparison.
func (s *scores) comparable(first *scores) (warnings []string, err error) {
	target, firstTarget := s.fitted.Frame.TargetName(), first.fitted.Frame.TargetName()
	if target != firstTarget {
		return nil, fmt.Errorf("%s predicts %s and %s predicts %s: densities of different targets cannot be compared",
			first.path, firstTarget, s.path, target)
	}
	if len(s.mean) != len(first.mean) || !slices.Equal(s.rows, first.rows) {
		return nil, fmt.Errorf("%s and %s leave out different rows for missing values (%d and %d rows are scored): give complete rows, or fill them with --missing mean",
			first.path, s.path, len(first.mean), len(s.mean))
	}
	for i, y := range s.target {
		if y != first.target[i] {
			return nil, fmt.Errorf("%s and %s read target %s differently (row %d is %s for the one and %s for the other): fit both with the same --positive",
				first.path, s.path, target, i+1, text(first.target[i]), text(y))
		}
	}
	if !slices.Equal(s.weight, first.weight) {
		warnings = append(warnings, fmt.Sprintf("%s weighs rows otherwise than %s, whose weights count here", s.path, first.path))
	}
	if rows, firstRows := s.fitted.Report.Rows, first.fitted.Report.Rows; rows != firstRows {
		warnings = append(warnings, fmt.Sprintf("%s was fitted to %d rows and %s to %d: their evidence is not comparable",
			first.path, firstRows, s.path, rows))
	}
	if s.discrete() != first.discrete() {
		one, other := first, s
		if s.discrete() {
			one, other = s, first
		}
		warnings = append(warnings, fmt.Sprintf("%s gives probabilities of whole numbers and %s a density: they can be compared where the density is spread over several numbers, and not otherwise",
			one.path, other.path))
	}
	return warnings, nil
}

// discrete says whether densities are probabilities.
func (s *scores) discrete() bool {
	family, ok := s.fitted.Members[0].Model.Likelihood.(interface{ Discrete() bool })
	return ok && family.Discrete()
}

// text writes a number as short as can be read back.
func text(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
