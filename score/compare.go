package score

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/metric"
)

// Scores are a model's predictions of rows with targets, for [Compare].
type Scores struct {
	Name   string // of the model, for messages
	fitted *credence.Fitted

	mean, sd, logDensity, target, weight []float64
	rows                                 []int // of the table, which may have others that the model leaves out
}

// NewScores returns the scores of no rows yet.
func NewScores(name string, fitted *credence.Fitted) *Scores {
	return &Scores{Name: name, fitted: fitted}
}

// Add takes scored rows with targets.
func (s *Scores) Add(rows *Rows) error {
	n, known := rows.Len(), len(s.mean)
	for _, column := range []*[]float64{&s.mean, &s.sd, &s.logDensity, &s.target, &s.weight} {
		*column = append(*column, make([]float64, n)...)
	}
	for i := range n {
		s.rows = append(s.rows, rows.SourceRow(i))
	}
	rows.Each(func(i int) {
		mean, variance := rows.Moments(i)
		s.mean[known+i], s.sd[known+i] = mean, math.Sqrt(variance)
		s.target[known+i], s.weight[known+i] = rows.Target(i), rows.Weight(i)
		s.logDensity[known+i] = rows.LogDensity(i, rows.Target(i))
	})
	return nil
}

// Comparison sets models beside each other.
type Comparison struct {
	Rows     int        `json:"rows"`
	Models   []Compared `json:"models"`
	Warnings []string   `json:"warnings"`
}

// Compared is what a comparison says about one model. A figure that is no number, because a target
// is beyond what a model thinks possible, is absent in JSON.
type Compared struct {
	Model    string       `json:"model"`
	Engine   string       `json:"engine"`
	Evidence *float64     `json:"evidence,omitempty"`
	ELBO     *float64     `json:"elbo,omitempty"`
	NLPD     metric.Score `json:"nlpd,omitzero"`
	RMSE     metric.Score `json:"rmse,omitzero"`
	// Gain is the mean log density per row less that of the first model, GainError its
	// standard error over rows.
	Gain      metric.Score `json:"gain,omitzero"`
	GainError metric.Score `json:"gain_error,omitzero"`
	// MeanDifference is the root mean square difference of predictive means from
	// the first model's, SDRatio the geometric mean ratio of predictive standard deviations.
	MeanDifference metric.Score `json:"mean_difference,omitzero"`
	SDRatio        metric.Score `json:"sd_ratio,omitzero"`
}

// Compare sets models beside the first of them by their scores of the same rows. It refuses scores of
// other rows or targets, and warns of what cannot be read from them.
func Compare(models ...*Scores) (*Comparison, error) {
	out := &Comparison{Warnings: []string{}}
	for _, s := range models {
		first := models[0]
		warnings, err := s.comparable(first)
		if err != nil {
			return nil, err
		}
		out.Rows = len(first.mean)
		out.Warnings = append(out.Warnings, warnings...)
		out.Models = append(out.Models, s.against(first))
	}
	return out, nil
}

// against measures s beside the scores of the first model. Rows count by their
// weights: one of weight 2 is the same row twice.
func (s *Scores) against(first *Scores) Compared {
	report := &s.fitted.Report
	out := Compared{Model: s.Name, Engine: report.Engine, Evidence: report.Evidence, ELBO: report.ELBO}
	total := 0.0
	for _, weight := range first.weight {
		total += weight
	}
	var density, square, gain, apart, ratio float64
	for i, weight := range first.weight {
		if weight == 0 {
			continue
		}
		share := weight / total
		density += share * s.logDensity[i]
		square += share * (s.target[i] - s.mean[i]) * (s.target[i] - s.mean[i])
		gain += share * (s.logDensity[i] - first.logDensity[i])
		apart += share * (s.mean[i] - first.mean[i]) * (s.mean[i] - first.mean[i])
		ratio += share * math.Log(s.sd[i]/first.sd[i])
	}
	variance, rows := 0.0, 0
	for i, weight := range first.weight {
		if weight > 0 {
			rows++
			gap := s.logDensity[i] - first.logDensity[i] - gain
			variance += weight / total * gap * gap
		}
	}
	out.NLPD, out.RMSE = metric.Score(-density), metric.Score(math.Sqrt(square))
	out.Gain, out.GainError = metric.Score(gain), metric.Score(math.Sqrt(variance/total))
	if rows == 1 { // it tells nothing of how others differ
		out.GainError = metric.Score(math.NaN())
	}
	out.MeanDifference, out.SDRatio = metric.Score(math.Sqrt(apart)), metric.Score(math.Exp(ratio))
	return out
}

// comparable refuses scores of other rows or targets than those of the first model,
// and says what cannot be read from the comparison.
func (s *Scores) comparable(first *Scores) (warnings []string, err error) {
	target, firstTarget := s.fitted.Frame.TargetName(), first.fitted.Frame.TargetName()
	if target != firstTarget {
		return nil, fmt.Errorf("%s predicts %s and %s predicts %s: densities of different targets cannot be compared",
			first.Name, firstTarget, s.Name, target)
	}
	if !slices.Equal(s.rows, first.rows) {
		return nil, fmt.Errorf("%s and %s leave out different rows for missing values (%d and %d rows are scored): give complete rows, or fill them with --missing mean",
			first.Name, s.Name, len(first.mean), len(s.mean))
	}
	for i, y := range s.target {
		if y != first.target[i] {
			return nil, fmt.Errorf("%s and %s read target %s differently (row %d is %s for the one and %s for the other): fit both with the same --positive",
				first.Name, s.Name, target, i+1, text(first.target[i]), text(y))
		}
	}
	if !slices.Equal(s.weight, first.weight) {
		warnings = append(warnings, fmt.Sprintf("%s weighs rows otherwise than %s, whose weights count here", s.Name, first.Name))
	}
	if rows, firstRows := s.fitted.Report.Rows, first.fitted.Report.Rows; rows != firstRows {
		warnings = append(warnings, fmt.Sprintf("%s was fitted to %d rows and %s to %d: their evidence is not comparable",
			first.Name, firstRows, s.Name, rows))
	}
	if s.discrete() != first.discrete() {
		one, other := first, s
		if s.discrete() {
			one, other = s, first
		}
		warnings = append(warnings, fmt.Sprintf("%s gives probabilities of whole numbers and %s a density: they can be compared where the density is spread over several numbers, and not otherwise",
			one.Name, other.Name))
	}
	return warnings, nil
}

// discrete says whether densities are probabilities.
func (s *Scores) discrete() bool {
	family, ok := s.fitted.Members[0].Model.Likelihood.(interface{ Discrete() bool })
	return ok && family.Discrete()
}

// text writes a number as short as can be read back.
func text(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
