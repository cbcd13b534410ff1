package score

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/metric"
)

// Scores are a model's predictions of rows with targets, for [Compare].
type Scores struct {
	Name   string // of the model, for messages
	fitted *credence.Fitted
	back   *original // nil where the target is a column as it is
	// Figures of the target as the formula writes it, and of its column where there is a way back.
	written, own figures
	weight       []float64
	rows         []int // of the table, which may have others that the model leaves out
	sums         trainingSums
	leaver       *Leaver // nil where rows are not left out
	refits       bool    // rows are scored by fits that do not know them
	every        int     // one of so many rows has its CRPS taken; 0 means each
	group        []int   // of each row, where those of one are left out together; nil for rows by themselves
}

// figures are those of rows in the units of one target.
type figures struct{ mean, sd, logDensity, crps, target []float64 }

// NewScores returns the scores of no rows yet.
func NewScores(name string, fitted *credence.Fitted) *Scores {
	s := &Scores{Name: name, fitted: fitted}
	s.back, _ = originalOf(fitted) // an error means that there is no way back
	return s
}

// LeaveOneOut asks for the density of each row given the others too: the rows to come are those that
// the model was fitted to.
func (s *Scores) LeaveOneOut() { s.leaver = NewLeaver(s.fitted) }

// Expect says how many rows are to come, of which the CRPS is taken of about 10,000 evenly spread ones.
func (s *Scores) Expect(rows int) { s.every = everyOf(rows) }

// Add takes scored rows with targets.
func (s *Scores) Add(rows *Rows) error {
	if s.leaver != nil {
		if err := s.leaver.Add(rows); err != nil {
			return err
		}
	}
	s.sums.addAll(rows)
	n, known := rows.Len(), len(s.weight)
	grow := func(columns ...*[]float64) {
		for _, column := range columns {
			*column = append(*column, make([]float64, n)...)
		}
	}
	w, o := &s.written, &s.own
	grow(&w.mean, &w.sd, &w.logDensity, &w.crps, &w.target, &s.weight)
	if s.back != nil {
		grow(&o.mean, &o.sd, &o.logDensity, &o.crps, &o.target)
	}
	for i := range n {
		s.rows = append(s.rows, rows.SourceRow(i))
	}
	rows.Each(func(i int) {
		at := known + i
		mean, variance := rows.Moments(i)
		w.mean[at], w.sd[at] = mean, math.Sqrt(variance)
		w.target[at], s.weight[at] = rows.Target(i), rows.Weight(i)
		w.logDensity[at] = rows.LogDensity(i, rows.Target(i))
		scored := at%max(1, s.every) == 0
		if w.crps[at] = math.NaN(); scored {
			w.crps[at] = rows.CRPS(i, w.target[at])
		}
		if s.back == nil {
			return
		}
		mean, variance = s.back.moments(mean, variance)
		o.mean[at], o.sd[at] = mean, math.Sqrt(variance)
		o.target[at] = s.back.expr.Invert(w.target[at])
		o.logDensity[at] = w.logDensity[at] + s.back.expr.LogSlope(w.target[at])
		if o.crps[at] = math.NaN(); scored {
			o.crps[at] = rows.crps(i, w.target[at], s.back)
		}
	})
	return nil
}

// of returns the figures of the target's column, or of the target as the formula writes it.
func (s *Scores) of(column bool) *figures {
	if column && s.back != nil {
		return &s.own
	}
	return &s.written
}

// Comparison sets models beside each other.
type Comparison struct {
	Rows   int        `json:"rows"`   // scored by every model
	Models []Compared `json:"models"` // in the order given
	// Baselines are what predictions without columns come to, of each kind of the models.
	Baselines []Baseline `json:"baselines,omitempty"`
	Warnings  []string   `json:"warnings"`
}

// Compared is what a comparison says about one model. A figure that is no number, because a target
// is beyond what a model thinks possible, is absent in JSON.
type Compared struct {
	Model  string `json:"model"`  // path of the file
	Engine string `json:"engine"` // that made the fit
	// of its figures: densities, or probabilities of whole numbers and classes
	Kind     string   `json:"kind"`
	Evidence *float64 `json:"evidence,omitempty"` // log evidence, where it is comparable
	ELBO     *float64 `json:"elbo,omitempty"`     // lower bound of it
	// EvidenceGap is an estimate of the evidence less the ELBO, which differ by that at least where EvidenceGapLeast is
	// true.
	EvidenceGap      *float64 `json:"evidence_gap,omitempty"`
	EvidenceGapLeast bool     `json:"evidence_gap_least,omitempty"`
	// EvidenceEstimate and EvidenceBound are those of engines that give no other evidence.
	EvidenceEstimate *float64     `json:"evidence_estimate,omitempty"`
	EvidenceBound    *float64     `json:"evidence_bound,omitempty"`
	NLPD             metric.Score `json:"nlpd,omitzero"` // mean of −log p(y|data)
	RMSE             metric.Score `json:"rmse,omitzero"` // of the predictive means
	// mean continuous ranked probability score, of at most about 10,000 evenly spread rows
	CRPS metric.Score `json:"crps,omitzero"`
	// Gain is the mean log density per row less that of the first model of its kind, GainError its
	// standard error over rows.
	Gain      metric.Score `json:"gain,omitzero"`
	GainError metric.Score `json:"gain_error,omitzero"`
	// MeanDifference is the root mean square difference of predictive means from
	// the first model's of its kind, SDRatio the geometric mean ratio of predictive standard deviations.
	MeanDifference metric.Score `json:"mean_difference,omitzero"`
	SDRatio        metric.Score `json:"sd_ratio,omitzero"`
	// LOO is the leave-one-out density of the training rows, LOOGain and LOOGainError are its gain per
	// row over the first model's of its kind, where they are asked for.
	LOO          *metric.LeaveOneOut `json:"loo,omitempty"`
	LOOGain      metric.Score        `json:"loo_gain,omitzero"`
	LOOGainError metric.Score        `json:"loo_gain_error,omitzero"`
}

// The kinds of figures that models give of a target, which are not ranked beside each other: a density of 3 says
// nothing of whether 0.2 is a good probability.
const (
	Densities     = "densities"
	Probabilities = "probabilities"
)

// Compare sets models beside the first of them of their kind, densities or probabilities, by their scores of the same
// rows. It refuses scores of other rows or targets, and warns of what cannot be read from them. Targets that are
// transforms of one column are compared in the units of the column, evidence with its Jacobian.
func Compare(models ...*Scores) (*Comparison, error) {
	if len(models) == 0 || slices.Contains(models, nil) {
		return nil, errors.New("there are no scores to compare, or some are nil: make them by NewScores")
	}
	out := &Comparison{Warnings: []string{}}
	first, across := models[0], false
	for _, s := range models {
		other, err := s.otherTransform(first)
		if err != nil {
			return nil, err
		}
		across = across || other
	}
	if across {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the models predict different transforms of %s: every figure is of %s itself, evidence with its Jacobian", first.column(), first.column()))
	}
	out.Rows = len(first.weight)
	// the first of each kind, and the first with evidence that the others are set beside
	leaders := map[string]*Scores{}
	known := map[string]*Scores{}
	for _, s := range slices.Backward(models) {
		leaders[s.kind()] = s
		if s.hasEvidence() || known[s.kind()] == nil {
			known[s.kind()] = s
		}
	}
	if len(leaders) > 1 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s gives probabilities of whole numbers and %s densities, and neither ranks beside the other: gains are over the first model of each kind; set crps and rmse side by side",
			leaders[Probabilities].Name, leaders[Densities].Name))
	}
	for _, s := range models {
		warnings, err := s.comparable(first, across)
		if err != nil {
			return nil, err
		}
		for _, warning := range warnings { // of which all models may have the same
			if !slices.Contains(out.Warnings, warning) {
				out.Warnings = append(out.Warnings, warning)
			}
		}
		leader := leaders[s.kind()]
		compared := s.against(leader, across)
		if unknown := s.unscored(across); unknown > 0 {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s has no crps: %s", s.Name, WithoutCRPS(unknown)))
		}
		out.Warnings = append(out.Warnings, s.setEvidence(&compared, known[s.kind()], across)...)
		if s.leaver != nil && first.leaver != nil {
			if err := s.setLeft(&compared, leader, across); err != nil {
				return nil, err
			}
		}
		out.Models = append(out.Models, compared)
	}
	for _, kind := range []string{Probabilities, Densities} {
		if leader := leaders[kind]; leader != nil && len(leader.weight) > 0 {
			if b := leader.baseline(across); b != nil {
				out.Baselines = append(out.Baselines, *b)
			}
		}
	}
	if first.leaver == nil && !first.refits && first.sums.training() {
		out.Warnings = append(out.Warnings, fmt.Sprintf("these are the rows that %s was fitted to, which it predicts too well: --loo leaves each row out", first.Name))
	}
	return out, nil
}

// column is the column of the target.
func (s *Scores) column() string {
	if s.back != nil {
		return s.back.expr.Column
	}
	return s.fitted.Frame.TargetName()
}

// otherTransform says whether the model predicts another transform of the target of the first model, and
// refuses another target.
func (s *Scores) otherTransform(first *Scores) (bool, error) {
	target, firstTarget := s.fitted.Frame.TargetName(), first.fitted.Frame.TargetName()
	if target == firstTarget {
		return false, nil
	}
	if s.column() != first.column() || discrete(s.fitted) || discrete(first.fitted) {
		return false, fmt.Errorf("%s predicts %s and %s predicts %s: densities of different targets cannot be compared: name models of one target",
			first.Name, firstTarget, s.Name, target)
	}
	return true, nil
}

// Beside refuses a target that cannot be compared with that of the first model, as [Compare] does, before any row is
// scored. It refuses nothing where first is nil.
func (s *Scores) Beside(first *Scores) error {
	if first == nil {
		return nil
	}
	_, err := s.otherTransform(first)
	return err
}

// against measures s beside the scores of the first model. Rows count by their
// weights: one of weight 2 is the same row twice.
func (s *Scores) against(first *Scores, across bool) Compared {
	none := metric.Score(math.NaN())
	out := Compared{Model: s.Name, Engine: s.fitted.Report.Engine, Kind: s.kind(), LOOGain: none, LOOGainError: none}
	f, o := s.of(across), first.of(across)
	total := 0.0
	for _, weight := range first.weight {
		total += weight
	}
	var density, square, apart, ratio float64
	var crps mean
	for i, weight := range first.weight {
		if weight == 0 {
			continue
		}
		if i%max(1, s.every) == 0 {
			crps.add(f.crps[i], weight)
		}
		share := weight / total
		density += share * f.logDensity[i]
		square += share * (f.target[i] - f.mean[i]) * (f.target[i] - f.mean[i])
		apart += share * (f.mean[i] - o.mean[i]) * (f.mean[i] - o.mean[i])
		ratio += share * math.Log(f.sd[i]/o.sd[i])
	}
	out.NLPD, out.RMSE, out.CRPS = metric.Score(-density), metric.Score(math.Sqrt(square)), metric.Score(crps.value())
	out.Gain, out.GainError = gain(f.logDensity, o.logDensity, first.weight, first.group)
	out.MeanDifference, out.SDRatio = metric.Score(math.Sqrt(apart)), metric.Score(math.Exp(ratio))
	return out
}

// unscored returns how many rows have no CRPS.
func (s *Scores) unscored(across bool) (rows int64) {
	crps := s.of(across).crps
	for i, weight := range s.weight {
		if i%max(1, s.every) == 0 && weight > 0 && math.IsNaN(crps[i]) {
			rows++
		}
	}
	return rows
}

// WithoutCRPS says why so many rows have no CRPS.
func WithoutCRPS(rows int64) string {
	return fmt.Sprintf("in %d row%s it is infinite, or beyond what is known there; of counts fitted to few rows a stated prior variance bounds it, as --prior 'normal(variance=1)'", rows, cell.Plural(int(rows), "", "s"))
}

// comparable refuses scores of other rows or targets than those of the first model,
// and says what cannot be read from the comparison.
func (s *Scores) comparable(first *Scores, across bool) (warnings []string, err error) {
	if !slices.Equal(s.rows, first.rows) {
		return nil, fmt.Errorf("%s and %s leave out different rows for missing values (%d and %d rows are scored): give complete rows, or fill them with --missing mean",
			first.Name, s.Name, len(first.rows), len(s.rows))
	}
	own := s.of(across).target
	for i, y := range first.of(across).target {
		// A value that was taken back has the rounding of its transform.
		if gap := math.Abs(own[i] - y); gap > 0 && !(across && gap <= 1e-9*math.Abs(y)) {
			return nil, fmt.Errorf("%s and %s read target %s differently (row %d is %s for the one and %s for the other): fit both with the same --positive",
				first.Name, s.Name, s.fitted.Frame.TargetName(), i+1, text(y), text(own[i]))
		}
	}
	if !slices.Equal(s.weight, first.weight) {
		warnings = append(warnings, fmt.Sprintf("%s weighs rows otherwise than %s, whose weights count here", s.Name, first.Name))
	}
	return warnings, nil
}

// kind is that of the figures of s.
func (s *Scores) kind() string {
	if discrete(s.fitted) { // densities are probabilities
		return Probabilities
	}
	return Densities
}

// text writes a number as short as can be read back.
func text(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// LeftOut says that the rows, all of them known by now, were scored by fits that did not know them, and which were left
// out together: standard errors are over groups of the rows of the table, or over rows where groupOf is nil.
func (s *Scores) LeftOut(groupOf func(row int) int) {
	if s.refits, s.group = true, nil; groupOf != nil {
		for _, row := range s.rows {
			s.group = append(s.group, groupOf(row))
		}
	}
}

// NLPD returns the mean of −log p(y|data) and its standard error.
func (s *Scores) NLPD() (mean, standardError metric.Score) {
	mean, standardError = gain(s.written.logDensity, make([]float64, len(s.weight)), s.weight, s.group)
	return -mean, standardError
}

// Gain returns the weighted mean over rows of the differences of log densities from those of a first model, and its
// standard error; without rows of a weight above 0 both are no number.
func Gain(logDensity, first, weights []float64) (mean, standardError metric.Score) {
	return gain(logDensity, first, weights, nil)
}

// gain is Gain, whose standard error is over groups of rows where they are not nil: the sums of G groups count as the
// independent ones, of which one mean is estimated (CR1 of Cameron & Miller 2015). A row of weight w is w rows by
// themselves.
func gain(logDensity, first, weights []float64, groups []int) (mean, standardError metric.Score) {
	sum, total, variance := 0.0, 0.0, 0.0
	for i, weight := range weights {
		if weight > 0 {
			total += weight
			sum += weight * (logDensity[i] - first[i])
		}
	}
	independent, sums := 0, map[int]float64{}
	for i, weight := range weights {
		if !(weight > 0) {
			continue
		}
		gap := logDensity[i] - first[i] - sum/total
		if groups == nil {
			independent++
			variance += weight / total * gap * gap
			continue
		}
		sums[groups[i]] += weight * gap
	}
	if groups != nil {
		independent = len(sums)
	}
	for _, g := range slices.Sorted(maps.Keys(sums)) {
		variance += sums[g] * sums[g] / total * float64(independent) / float64(independent-1)
	}
	mean, standardError = metric.Score(sum/total), metric.Score(math.Sqrt(variance/total))
	if independent == 1 { // it tells nothing of how others differ
		standardError = metric.Score(math.NaN())
	}
	return mean, standardError
}
