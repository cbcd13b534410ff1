package plot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// checked are rows with their probability integral transforms u, drawn between the probabilities below and up to a
// discrete target.
type checked struct {
	Checked
	row     []int // of the data, from 1
	mean, u []float64
	weight  []float64
	k       []float64 // Pareto-k̂, of rows that are left out
}

// Checked are the figures of ppc_pit, or of loo_pit where rows are left out.
type Checked struct {
	Rows       int     // that were looked at
	PValue     float64 // of the test that P(Y ≤ y) is uniform
	Coverage   float64 // share of the targets in 90 % intervals
	Unreliable int     // of rows that are left out: those badly, of a Pareto-k̂ above [score.GoodK]
}

// Check compares the targets of the rows with what the model predicts of them, with leave from the other rows alone.
func Check(ctx context.Context, input Input, leave bool) (*Checked, error) {
	kind := PPCPIT
	if leave {
		kind = LOOPIT
	}
	p, err := open(kind, input)
	if err != nil {
		return nil, err
	}
	c, err := p.check(ctx, leave)
	if err != nil {
		return nil, err
	}
	return &c.Checked, nil
}

// check scores the rows that are looked at, once for all pictures; with leave, each given the others.
func (p *picture) check(ctx context.Context, leave bool) (c *checked, err error) {
	kept := &p.Shared.checked[boolean(leave)]
	if *kept == nil {
		if c, err = p.score(ctx, leave); err != nil {
			return nil, err
		}
		*kept = c
	}
	return *kept, nil
}

func (p *picture) score(ctx context.Context, leave bool) (*checked, error) {
	source := p.rows()
	bound, err := p.Scorer.Table(source, score.RequireTargets)
	if err != nil {
		return nil, err
	}
	c, leaver, from := &checked{}, score.NewLeaver(p.Scorer.Fitted()), 0
	var pit metric.PIT
	var held metric.Intervals // of continuous targets, which calibration may round to ends of intervals
	leaver.KeepPIT()
	err = bound.Each(ctx, func(rows *score.Rows) error {
		n := rows.Len()
		mean, below, upTo, ends := make([]float64, n), make([]float64, n), make([]float64, n), make([][2]float64, n)
		if leave {
			if err := leaver.Add(rows); err != nil {
				return err
			}
		}
		rows.Each(func(i int) {
			mean[i], _ = rows.Latent(i)
			if leave {
				return
			}
			if below[i], upTo[i] = rows.PIT(i); !p.Scorer.Discrete() {
				rows.Quantiles(ends[i][:], i, []float64{.05, .95})
			}
		})
		for i := range n {
			if rows.Weight(i) == 0 {
				continue
			}
			if leave {
				below[i], upTo[i] = leaver.PIT(from + i)
				c.k = append(c.k, leaver.ParetoK(from+i))
				c.Unreliable += boolean(c.k[len(c.k)-1] > score.GoodK)
			}
			row := rows.SourceRow(i)
			if part, is := source.(*table.Spread); is {
				row = part.SourceRow(row)
			}
			place := credence.Rand(p.Seed, credence.PlotDraws, uint64(row)).Float64()
			u := below[i] + place*(upTo[i]-below[i])
			if math.IsNaN(u) {
				return fmt.Errorf("%s: the probability of targets up to this one is no number: run credence evaluate, which tells what is wrong with the row", rows.Place(i))
			}
			c.row, c.mean, c.u, c.weight = append(c.row, row+1), append(c.mean, mean[i]), append(c.u, u), append(c.weight, rows.Weight(i))
			if pit.Add(below[i], upTo[i], place, rows.Weight(i)); !leave && !p.Scorer.Discrete() {
				held.Add(.9, rows.Target(i), ends[i][0], ends[i][1], rows.Weight(i))
			}
		}
		from += n
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(c.u) == 0:
		return nil, errNoTarget
	}
	uniform, err := pit.Result()
	if err != nil {
		return nil, err
	}
	of, err := held.Result()
	if err != nil {
		return nil, err
	}
	c.Rows, c.PValue, c.Coverage = len(c.u), uniform.PValue, uniform.Coverage["0.9"]
	if share, is := of.Coverage["0.9"]; is {
		c.Coverage = share
	}
	return c, nil
}

var errNoTarget = errors.New("no row has a target and a weight above 0: give rows that have them, to compare with")

// coverage says how many targets 90 % intervals hold.
func (c *checked) coverage() string {
	return fmt.Sprintf("90 %% intervals hold %.1f %% of the targets", 100*c.Coverage)
}

// drawPIT draws the empirical distribution function of the transforms less the uniform one.
func drawPIT(ctx context.Context, p *picture) (*chart.Chart, error) {
	lies, transform := "lies in its predictions", "P(Y ≤ y)"
	if p.kind == LOOPIT {
		lies, transform = "lies when predicted from the other rows", "P(Y ≤ y | all other rows)"
	}
	c, err := p.check(ctx, p.kind == LOOPIT)
	if err != nil {
		return nil, err
	}
	u := slices.Sorted(slices.Values(c.u))
	n := float64(len(u))
	at, low, high := metric.Envelope(len(u))
	envelope := chart.Mark{Shape: chart.Band, Colour: chart.Grey, Name: "99 % envelope of a model that is right", X: at, Low: low, High: high}
	line := chart.Mark{Name: "targets", X: []float64{0}, Y: []float64{0}}
	const points = 4 * metric.EnvelopePoints
	for k, below := 1, 0; k <= points; k++ {
		z := float64(k) / points
		for below < len(u) && u[below] <= z {
			below++
		}
		line.X, line.Y = append(line.X, z), append(line.Y, float64(below)/n-z)
	}
	first, last, outside := 0.0, 0.0, 0
	for k, z := range at {
		if gap := line.Y[4*k]; gap < low[k]-1e-9 || gap > high[k]+1e-9 {
			if last = z; outside == 0 {
				first = z
			}
			outside++
		}
	}
	verdict := "the line stays inside the envelope: no sign that predictions are too wide, too narrow or off"
	if outside > 0 {
		verdict = fmt.Sprintf("the line leaves the envelope between %.2f and %.2f: %s", first, last, c.shape(u))
	}
	return &chart.Chart{
		Title: fmt.Sprintf("Calibration: where %s %s", p.Scorer.Frame().TargetName(), lies),
		Under: p.looked(len(u)) + "; " + c.coverage(),
		Description: fmt.Sprintf("The share of rows whose %s is up to each value, less that value: flat at 0 where predictions are calibrated. %s.",
			transform, strings.ToUpper(verdict[:1])+verdict[1:]),
		Panels: []chart.Panel{{
			X: chart.Axis{Name: "P(Y ≤ y) of a row", From: -.02, To: 1.02}, Y: chart.Axis{Name: "share of rows up to there, less the share that should be"},
			Marks: []chart.Mark{envelope, line}, Rules: []chart.Rule{{At: 0}}, Title: verdict,
		}},
	}, nil
}

// shape says what transforms that are not uniform look like.
func (c *checked) shape(u []float64) string {
	n := float64(len(u))
	mean, square := 0.0, 0.0
	for _, v := range u {
		mean += v / n
		square += (v - .5) * (v - .5) / n
	}
	off, wide := (mean-.5)*math.Sqrt(12*n), (square-1./12)*math.Sqrt(180*n) // standard normal where u is uniform
	least := min(3, max(math.Abs(off), math.Abs(wide)))
	var words []string
	for _, w := range []struct {
		z          float64
		more, less string
	}{{off, "too low", "too high"}, {wide, "too narrow", "too wide"}} {
		if w.z >= least {
			words = append(words, w.more)
		} else if -w.z >= least {
			words = append(words, w.less)
		}
	}
	return "predictions are " + strings.Join(words, " and ")
}

// curvePoints is the number of windows of rows whose quantiles are told, each a sixth of the rows.
const curvePoints = 25

func drawResiduals(ctx context.Context, p *picture) (*chart.Chart, error) {
	c, err := p.check(ctx, false)
	if err != nil {
		return nil, err
	}
	repeat := newCopier(floats.Sum(c.weight), len(c.u))
	var order []int // of the rows, each as often as its weight says
	for i, w := range c.weight {
		order = append(order, slices.Repeat([]int{i}, repeat.of(w))...)
	}
	n := len(order)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.mean[a], c.mean[b]) })
	points := chart.Mark{Shape: chart.Points, Colour: chart.Grey, Faint: n > 500, Name: "rows"}
	for rank, i := range order {
		points.X, points.Y = append(points.X, (float64(rank)+.5)/float64(n)), append(points.Y, c.u[i])
	}
	// Points are shown evenly spread over the rows, and not over their ranks, so that all parts of the picture are as
	// dense.
	panel := chart.Panel{X: chart.Axis{Name: "rank of the prediction, lowest to highest", From: -.02, To: 1.02}, Y: chart.Axis{Name: "P(Y ≤ y) of the row", From: -.02, To: 1.02}, Marks: []chart.Mark{points}}
	window := max(min(n, 20), n/6)
	most, worst := 0.0, 0.5
	for k, level := range []float64{.25, .5, .75} {
		m := chart.Mark{Colour: 1, Thick: k == 1}
		if k == 0 {
			m.Name = "quartiles of the rows near by"
		}
		for at := range curvePoints {
			from := at * (n - window) / (curvePoints - 1)
			near := slices.Sorted(slices.Values(points.Y[from : from+window]))
			m.X, m.Y = append(m.X, (float64(from)+float64(window)/2)/float64(n)), append(m.Y, special.Quantile(near, level))
			if gap := math.Abs(m.Y[at] - level); gap > most {
				most, worst = gap, level
			}
		}
		panel.Marks = append(panel.Marks, m)
		panel.Rules = append(panel.Rules, chart.Rule{At: level})
	}
	panel.Title = fmt.Sprintf("the curves belong on the dashed lines; the farthest is %.2f from that at %g", most, worst)
	return &chart.Chart{
		Title: fmt.Sprintf("Residuals: where %s lies in its predictions, from low to high ones", p.Scorer.Frame().TargetName()),
		Under: p.looked(len(c.u)) + repeat.told() + "; " + c.coverage(), Panels: []chart.Panel{panel},
		Description: fmt.Sprintf("P(Y ≤ y) of each row against the rank of its prediction. Where the model is right the points fill the square evenly, and the curves of the quartiles lie on the dashed lines; the farthest is %.2f from that at %g.", most, worst),
	}, nil
}

// refuseLeft says why rows cannot be left out.
func refuseLeft(p *picture) string {
	fitted := p.Scorer.Fitted()
	if why := score.NewLeaver(fitted).NotMade(); why != "" {
		return why
	}
	bound, err := p.Scorer.Table(p.Rows, score.RequireTargets)
	if err != nil {
		return "" // which drawing says better
	}
	if n := bound.Rows(); n != fitted.Report.Rows {
		return fmt.Sprintf("rows are left out that the model was fitted to, which are %d, and these are %d: give the training rows", fitted.Report.Rows, n)
	}
	return ""
}

func refuseKHat(p *picture) string {
	fitted := p.Scorer.Fitted()
	if _, gaussian := fitted.Members[0].Model.Likelihood.(likelihood.Gaussian); gaussian && fitted.Family == nil {
		return "rows of a gaussian family are left out in closed form, which needs no Pareto-k̂"
	}
	return refuseLeft(p)
}

func drawKHat(ctx context.Context, p *picture) (*chart.Chart, error) {
	c, err := p.check(ctx, true)
	if err != nil {
		return nil, err
	}
	good, bad := chart.Mark{Shape: chart.Points, Name: "reliable"}, chart.Mark{Shape: chart.Points, Colour: 1, Thick: true, Name: "left out badly"}
	var rows []string
	for i, k := range c.k {
		to := &good
		if k > score.GoodK {
			to, rows = &bad, append(rows, fmt.Sprint(c.row[i]))
		}
		to.X, to.Y = append(to.X, float64(c.row[i])), append(to.Y, k)
	}
	verdict := "every row can be left out"
	if len(rows) > 0 {
		verdict = fmt.Sprintf("%d of %s are above %.2g: row %s", len(rows), p.looked(len(c.k)), score.GoodK, strings.Join(rows[:min(len(rows), 6)], ", "))
		if len(rows) > 6 {
			verdict += ", …"
		}
	}
	return &chart.Chart{
		Title: "Leaving out each row: Pareto-k̂", Under: fmt.Sprintf("%s; %s", p.looked(len(c.k)), verdict),
		Description: fmt.Sprintf("One point for each training row. Up to %.2g the row can be left out without another fit; above, the row changes the model so much that what the others predict of it is not known so. The largest is %.2f; %s.", score.GoodK, slices.Max(c.k), verdict),
		Panels: []chart.Panel{{X: chart.Axis{Name: "row", Whole: true}, Y: chart.Axis{Name: "Pareto-k̂"}, Marks: []chart.Mark{good, bad},
			Rules: []chart.Rule{{At: 0}, {Name: fmt.Sprintf("%.2g", score.GoodK), At: score.GoodK}, {Name: "1", At: 1}}}},
	}, nil
}
