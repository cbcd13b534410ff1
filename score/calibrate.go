package score

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/calibration"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
)

// Calibration gathers held-out rows, by which a model is calibrated.
type Calibration struct {
	scorer *Scorer
	rows   []calibration.Row // each as often as its weight says, where weights are whole
	once   []calibration.Row // each once
	whole  bool              // all weights so far are whole, and not too many rows
	sums   trainingSums
}

// trainingSums tell rows from those of training: by their weights, the sums of the targets, of their squares and of the
// inputs.
type trainingSums struct {
	scorer                 *Scorer // whose rows they are
	rows                   int
	weight, target, square float64
	inputs                 []float64
}

// addAll adds rows.
func (c *trainingSums) addAll(rows *Rows) {
	for i := range rows.Len() {
		c.add(rows, i)
	}
}

func (c *trainingSums) add(rows *Rows, i int) {
	w, y := rows.Weight(i), rows.batch.Target[i]
	c.scorer = rows.scorer
	if c.rows++; w == 0 {
		return
	}
	for len(c.inputs) < rows.batch.X.Cols {
		c.inputs = append(c.inputs, 0)
	}
	c.weight, c.target, c.square = c.weight+w, c.target+w*y, c.square+w*y*y
	for j := range rows.batch.X.Cols {
		c.inputs[j] += w * rows.batch.X.Row(i)[j]
	}
}

// Training reports whether the rows of a table are those that the model was fitted to, and not others of the same
// number.
func Training(ctx context.Context, scorer *Scorer, rows credence.Source) (bool, error) {
	if scorer == nil || rows == nil {
		return false, errors.New("there is no scorer or there are no rows: give both")
	}
	table, err := scorer.Table(rows, RequireTargets)
	if err != nil || table.Rows() != scorer.fitted.Report.Rows {
		return false, err
	}
	var sums trainingSums
	err = table.Each(ctx, func(rows *Rows) error {
		sums.addAll(rows)
		return nil
	})
	return err == nil && sums.training(), err
}

// NewCalibration returns a calibration by no rows yet, for rows of a scorer of [Options].Calibrating.
func NewCalibration(s *Scorer) (*Calibration, error) {
	if s == nil || !s.options.Calibrating {
		return nil, errors.New("there is no scorer that calibrates: make one by score.New with Options.Calibrating")
	}
	return &Calibration{scorer: s, whole: true}, nil
}

// Calibrate returns the model calibrated by held-out rows with targets, see package [calibration]: rows of each value
// of the column by have a calibration of their own, unless by is "".
func Calibrate(ctx context.Context, fitted *credence.Fitted, rows credence.Source, by string) (*credence.Fitted, error) {
	scorer, err := New(fitted, Options{Calibrating: true, By: by})
	if err != nil {
		return nil, err
	}
	table, err := scorer.Table(rows, RequireTargets)
	if err != nil {
		return nil, err
	}
	c, err := NewCalibration(scorer)
	if err != nil {
		return nil, err
	}
	if err := table.Each(ctx, c.Add); err != nil {
		return nil, err
	}
	return c.Fitted()
}

// mostRepeated is the largest number of rows that weights stand for.
const mostRepeated = 10_000_000

// Add takes scored rows with targets. Rows of a whole weight count as so many rows, whose discrete targets are spread
// evenly over their probability. Where a weight is not whole, or they stand for more than 10⁷ rows, all rows that have
// a weight count once.
func (c *Calibration) Add(rows *Rows) error {
	n, s := rows.Len(), c.scorer
	total := c.sums.weight
	for i := range n {
		w := rows.Weight(i)
		total += w
		c.whole = c.whole && w == math.Floor(w) && total <= mostRepeated
	}
	once, all := make([]calibration.Row, n), make([][]calibration.Row, n)
	rows.Each(func(i int) {
		row := &once[i]
		if rows.texts != nil {
			row.Group = rows.texts[i]
		}
		if row.One = s.binary && rows.batch.Target[i] == 1; s.binary {
			row.Score, _ = rows.dist.Moments(i)
		}
		place := credence.Rand(s.fitted.Recipe.Seed, credence.CalibrationDraws, uint64(rows.SourceRow(i))).Float64()
		if !s.binary {
			row.Score = rows.normalScore(i, place)
		}
		for k, times := 0.0, rows.Weight(i); c.whole && k < times; k++ {
			all[i] = append(all[i], *row)
			if !s.binary && s.Discrete() && times > 1 {
				all[i][len(all[i])-1].Score = rows.normalScore(i, (k+place)/times)
			}
		}
	})
	for i := range n {
		w, y := rows.Weight(i), rows.batch.Target[i]
		if w == 0 {
			c.sums.add(rows, i)
			continue
		}
		if supported, ok := s.fitted.Members[0].Model.Likelihood.(interface{ CheckTarget(y float64) error }); ok && !s.binary {
			if err := supported.CheckTarget(y); err != nil {
				return fmt.Errorf("%s: %w", rows.Place(i), err)
			}
		}
		if v := once[i].Score; math.IsNaN(v) || math.IsInf(v, 0) {
			return rows.tooFar(i, "the probability of its target is no number")
		}
		c.once, c.rows = append(c.once, once[i]), append(c.rows, all[i]...)
		c.sums.add(rows, i)
	}
	return nil
}

// Fitted returns the calibrated model, which shares all else with the one that was given.
func (c *Calibration) Fitted() (*credence.Fitted, error) {
	same, alike := c.sums.resemble()
	if same {
		return nil, fmt.Errorf("these are the %d rows that the model was fitted to, on which it is surer than on others: calibrate by rows that it has not seen, split off before the fit", c.sums.rows)
	}
	rows := c.rows
	if !c.whole {
		rows = c.once
	}
	result, err := calibration.Fit(c.scorer.options.By, c.scorer.binary, rows)
	if err != nil {
		return nil, err
	}
	out := *c.scorer.fitted
	out.Calibration = result
	if alike {
		result.Warning = fmt.Sprintf("the calibration is by %d rows, as many as the model was learned from, with the same mean target: if they are the same rows, on which it is surer than on others, calibrate by rows that it has not seen", c.sums.rows)
	}
	return &out, nil
}

func (c *trainingSums) training() bool { same, _ := c.resemble(); return same }

// resemble says whether the rows are those that the model was fitted to: by their number, the moments of their targets,
// and the means of the columns that the fit centred. Without such columns classes and counts of other rows might be the
// same, and they are only alike.
func (c *trainingSums) resemble() (same, alike bool) {
	s := c.scorer
	if s == nil || c.rows != s.fitted.Report.Rows {
		return false, false
	}
	f, mean := s.fitted, c.target/c.weight
	variance := c.square/c.weight - mean*mean
	if math.Abs(mean-f.TargetMean) > 1e-9*math.Sqrt(f.TargetVariance) || math.Abs(variance-f.TargetVariance) > 1e-6*f.TargetVariance {
		return false, false
	}
	centred := false
	for j := range c.inputs {
		if s.frame == nil || j >= len(s.frame.Inputs) || s.frame.Inputs[j].Center == 0 {
			continue
		}
		if centred = true; math.Abs(c.inputs[j]) > 1e-7*c.weight {
			return false, false
		}
	}
	same = centred || s.frame != nil && s.frame.Target != nil && s.frame.Target.Mode == frame.Numbers && !s.binary
	return same, !same
}

// Calibrated says in a line what is calibrated, "" where nothing is.
func (s *Scorer) Calibrated() string {
	c := s.fitted.Calibration
	switch {
	case c == nil:
		return ""
	case c.Classes:
		return fmt.Sprintf("probability is calibrated by %d held-out rows; mean, sd and densities are the model's", c.Rows)
	}
	return fmt.Sprintf("lower, upper, coverage, crps and draws of the target are calibrated by %d held-out rows; mean, sd and densities are the model's", c.Rows)
}

// groupOf returns the calibration of row i, which is all rows' where its group has none.
func (r *Rows) groupOf(i int) int {
	if r.texts == nil {
		return 0
	}
	k, _ := r.scorer.fitted.Calibration.Index(r.texts[i])
	return k
}

// readGroups takes the texts of the column by which rows are calibrated.
func (r *Rows) readGroups() error {
	s := r.scorer
	if r.texts = r.texts[:0]; s.by == "" || r.source == nil || r.Len() == 0 {
		return nil
	}
	schema := r.source.Schema()
	place := schema.Index(credence.TextOf(s.by))
	if place < 0 {
		place = schema.Index(s.by)
	}
	if place < 0 {
		return fmt.Errorf("there is no column %q, by which the model is calibrated: add it to the table", s.by)
	}
	column := &schema.Columns[place]
	first := r.SourceRow(0) - r.before
	if err := r.source.Read(&r.chunk, first, r.SourceRow(r.Len()-1)-r.before-first+1); err != nil {
		return err
	}
	for i := range r.Len() {
		text := ""
		switch v := r.chunk.Values.Row(r.SourceRow(i) - r.before - first)[place]; {
		case v != v:
		case column.Kind != credence.Category:
			text = fmt.Sprint(v)
		case v >= 0:
			text = column.Levels[int(v)]
		}
		if r.texts = append(r.texts, text); s.fitted.Calibration != nil {
			if _, known := s.fitted.Calibration.Index(text); !known {
				r.unseenGroups++
			}
		}
	}
	return nil
}

// Normal scores beyond farScore go on along the line through the quantiles of the model at it and at nearScore: no
// distribution function tells how far out a target is where it rounds to 1, or was integrated to 1e-9.
const farScore, nearScore = 5, 4

// ends returns how far out in row i a target is at a far score of a sign, and how much farther another unit of the
// score is. A discrete target y lies from y − 1 to y.
func (r *Rows) ends(i int, sign float64) (far, step float64) {
	var at [2]float64
	r.dist.Quantiles(at[:], i, []float64{special.NormalCDF(sign * nearScore), special.NormalCDF(sign * farScore)})
	far, step = at[1], math.Max(math.Abs(at[1]-at[0]), 1e-9*math.Abs(at[1]))
	if r.scorer.Discrete() {
		step = math.Max(step, 1)
		if sign < 0 {
			far--
		}
	}
	return far, step
}

// support returns the least and the largest target of row i.
func (r *Rows) support(i int) (lower, upper float64) {
	lower, upper, _ = likelihood.Support(r.batch.LikelihoodOf(r.scorer.fitted.Members[0].Model.Likelihood, i))
	return lower, upper
}

// scoreAt returns the normal score of row i where the model's distribution function is u, as it is at y.
func (r *Rows) scoreAt(i int, u, y float64) float64 {
	z := special.NormalQuantile(math.Max(0, math.Min(u, 1)))
	if math.Abs(z) <= farScore || z != z {
		return z
	}
	sign := math.Copysign(1, z)
	if lower, upper := r.support(i); y <= lower-1 || y >= upper {
		return math.Inf(int(sign))
	}
	far, step := r.ends(i, sign)
	return sign * math.Max(farScore, farScore+sign*(y-far)/step)
}

// normalScore returns the normal score of the target of row i, at a place from 0 to 1 in the probability of a discrete
// one.
func (r *Rows) normalScore(i int, place float64) float64 {
	discrete, y := r.scorer.Discrete(), r.batch.Target[i]
	below, upTo := r.modelTransform(i, discrete)
	if !discrete {
		return r.scoreAt(i, upTo, y)
	}
	return r.scoreAt(i, below+place*(upTo-below), y-1+place)
}

// placed returns the calibrated transform of the discrete target of row i at a random place in the probability that the
// model gives it, as rows of the calibration are placed: it is even where they are alike. Places that are even in the
// calibrated probability of the target are not, where that is another in some rows of the target than in others.
func (r *Rows) placed(i int) float64 {
	rng := credence.Rand(r.scorer.fitted.Recipe.Seed, credence.CalibrationDraws, uint64(r.SourceRow(i))|1<<40)
	return r.scorer.fitted.Calibration.Probability(r.groupOf(i), r.normalScore(i, rng.Float64()))
}

// atScores stores in dst the quantiles of the model in row i at normal scores.
func (r *Rows) atScores(dst []float64, i int, scores []float64) {
	var memory [16]float64
	levels := memory[:0]
	for _, z := range scores {
		levels = append(levels, special.NormalCDF(math.Max(-farScore, math.Min(z, farScore))))
	}
	r.dist.Quantiles(dst, i, levels)
	for k, z := range scores {
		if math.Abs(z) <= farScore {
			continue
		}
		sign := math.Copysign(1, z)
		far, step := r.ends(i, sign)
		dst[k] = far + sign*(math.Abs(z)-farScore)*step
		if r.scorer.Discrete() {
			dst[k] = math.Ceil(dst[k])
		}
		lower, upper := r.support(i)
		dst[k] = math.Max(lower, math.Min(dst[k], upper))
	}
}

// quantiles stores in dst the calibrated quantiles of row i, as the likelihood counts targets.
func (r *Rows) quantiles(dst []float64, i int, probabilities []float64) {
	c := r.scorer.fitted.Calibration
	if c == nil {
		r.dist.Quantiles(dst, i, probabilities)
		return
	}
	var memory [16]float64
	scores, group := memory[:0], r.groupOf(i)
	for _, p := range probabilities {
		scores = append(scores, c.Quantile(group, p))
	}
	r.atScores(dst, i, scores)
}

// calibrated returns the calibrated probability up to y in row i, where the model's is u.
func (r *Rows) calibrated(i int, u, y float64) float64 {
	if c := r.scorer.fitted.Calibration; c != nil && !c.Classes {
		return c.Probability(r.groupOf(i), r.scoreAt(i, u, y))
	}
	return u
}

// calibratedCRPS is CRPS of the calibrated distribution of a target that the likelihood counts so: of whole numbers the
// sum, of others
//
//	2∫ (1{y ≤ Q(p)} − p)(Q(p) − y) dp
//
// over quantiles Q (Laio & Tamea 2007), in units of the column where there is a way back, by the midpoint rule after
// p = t²(3 − 2t), which is dense in the tails.
func (r *Rows) calibratedCRPS(i int, y float64, back *original) (score float64) {
	c, group := r.scorer.fitted.Calibration, r.groupOf(i)
	if mean, _ := r.dist.Moments(i); mean != mean { // whose tails are the model's
		return mean
	}
	if r.scorer.Discrete() {
		var ends [2]float64
		r.atScores(ends[:], i, []float64{c.Score(group, 1e-7), c.Score(group, 1-1e-7)})
		if ends[1]-ends[0] <= mostSteps {
			for k := math.Min(ends[0], y); k < math.Max(ends[1], y); k++ {
				p := r.calibrated(i, math.Min(r.dist.CDF(i, k), 1), k)
				if k >= y {
					p = 1 - p
				}
				score += p * p
			}
			return score
		}
	}
	var at, weights, scores [crpsPoints]float64
	for j := range at {
		t := (float64(j) + 0.5) / crpsPoints
		at[j], weights[j] = t*t*(3-2*t), 12*t*(1-t)/crpsPoints
		scores[j] = c.Score(group, at[j])
	}
	var quantiles [crpsPoints]float64
	r.atScores(quantiles[:], i, scores[:])
	own := r.own
	if back != nil { // which rows that are compared need not have
		own = back.expr.Invert
	}
	y = own(y)
	for j, q := range quantiles {
		if q = own(q); y <= q {
			score += weights[j] * (1 - at[j]) * (q - y)
		} else {
			score += weights[j] * at[j] * (y - q)
		}
	}
	return score
}

// crpsPoints is how many quantiles a score is taken of, and mostSteps how many whole numbers are added up instead.
const crpsPoints, mostSteps = 200, 1000

// chance returns the probability of the second of two classes in row i, and the two between which a calibrated one
// lies.
func (r *Rows) chance(i int) (probability, lower, upper float64) {
	mean, _ := r.dist.Moments(i)
	return r.calibratedChance(i, mean)
}

// calibratedChance is chance where the model's own probability is known.
func (r *Rows) calibratedChance(i int, mean float64) (probability, lower, upper float64) {
	if c := r.scorer.fitted.Calibration; c != nil {
		return c.Class(r.groupOf(i), mean)
	}
	return mean, mean, mean
}
