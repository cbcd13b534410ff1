package plot

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/score"
)

const (
	mostPanels = 9  // columns of a picture
	gridPoints = 25 // values of a number
	mostLevels = 20 // of a category
	mostRug    = 100
)

// mostWork is the number of rows times draws above which effects are those of the delta method, which a picture cannot
// tell from those of draws.
const mostWork = 1_000_000

// effects estimates over the rows that are looked at.
func (p *picture) effects(ctx context.Context, options effect.Options) ([]effect.Effect, error) {
	options.Interval, options.Seed, options.Threads, options.Work = p.Interval, p.Seed, p.Threads, mostWork
	result, err := effect.Of(ctx, p.Scorer, p.rows(), options)
	if err != nil {
		return nil, err
	}
	return result.Effects, nil
}

// over says which rows were averaged over.
func (p *picture) over() string {
	if p.Rows == nil {
		return "of a row at the training means"
	}
	return "averaged over " + p.looked(p.rows().Rows())
}

// predicted names what is predicted: a target, or the probability of its class.
func (p *picture) predicted() string {
	name := p.Scorer.Frame().TargetName()
	if positive := p.Scorer.Frame().Target.Positive(); positive != "" && p.Scorer.Binary() {
		return fmt.Sprintf("P(%s = %s)", name, positive)
	}
	return name
}

// expected names what is predicted on average.
func (p *picture) expected() string { return Expected(p.Scorer) }

// Expected names what a model predicts on average: "expected price", "P(churn = yes)".
func Expected(scorer *score.Scorer) string {
	p := &picture{Input: Input{Scorer: scorer}}
	if scorer.Binary() {
		return p.predicted()
	}
	return "expected " + p.predicted()
}

// grid returns the values of a number that it is taken at, evenly spread from the first to the 99th percentile.
func grid(sorted []float64) (values []float64) {
	low, high := special.Quantile(sorted, .01), special.Quantile(sorted, .99)
	if !(low < high) {
		low, high = sorted[0], sorted[len(sorted)-1]
	}
	if !(low < high) {
		return []float64{low}
	}
	for k := range gridPoints {
		v := low + (high-low)*float64(k)/(gridPoints-1)
		if math.IsInf(v, 0) { // the product, where the value is none
			v = low + (high-low)*(float64(k)/(gridPoints-1))
		}
		values = append(values, v)
	}
	return values
}

// curve estimates a quantity at each value of a column: the averages over all rows with that value.
func (p *picture) curve(ctx context.Context, c *effect.Column, options effect.Options) (x []float64, list []effect.Effect, err error) {
	if n := len(c.Values); n > 0 && math.IsInf(c.Values[n-1]-c.Values[0], 0) {
		return nil, nil, fmt.Errorf("column %s reaches from %g to %g, farther than a picture holds: correct the values, or leave such rows out", c.Name, c.Values[0], c.Values[n-1])
	}
	switch c.Kind {
	case credence.Category:
		for k, level := range c.Levels[:min(len(c.Levels), mostLevels)] {
			x, options.At = append(x, float64(k)), append(options.At, c.Name+"="+level)
		}
	case credence.Boolean:
		x, options.At = []float64{0, 1}, []string{c.Name + "=false", c.Name + "=true"}
	default:
		x = grid(c.Values)
		for _, v := range x {
			options.At = append(options.At, c.Name+"="+strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	list, err = p.effects(ctx, options)
	return x, list, err
}

// panel draws estimates at each value of a column.
func (p *picture) panel(c *effect.Column, x []float64, list []effect.Effect) chart.Panel {
	m := chart.Mark{X: x}
	for _, e := range list {
		m.Y, m.Low, m.High = append(m.Y, float64(e.Estimate)), append(m.Low, float64(e.Low)), append(m.High, float64(e.High))
	}
	panel := chart.Panel{X: chart.Axis{Name: c.Name}}
	level := fmt.Sprintf("%.6g %% interval", 100*p.Interval)
	if c.Kind == credence.Numeric && len(x) > 1 {
		if c.Date {
			panel.X.Scale = chart.Time
		}
		band := m
		band.Shape, band.Name = chart.Band, level
		m.Name = "mean"
		panel.Marks = []chart.Mark{band, m}
		if p.Rows != nil {
			panel.Marks = append(panel.Marks, rugOf(c.Values))
		}
		panel.X.From, panel.X.To = x[0]-.02*(x[len(x)-1]-x[0]), x[len(x)-1]+.02*(x[len(x)-1]-x[0])
		return panel
	}
	m.Shape = chart.Interval
	panel.Marks = []chart.Mark{m}
	switch c.Kind {
	case credence.Category:
		if panel.X.Levels = c.Levels; len(c.Levels) > mostLevels {
			panel.X.Levels = c.Levels[:mostLevels]
			panel.X.Name += fmt.Sprintf(" (%d of %d levels)", mostLevels, len(c.Levels))
		}
	case credence.Boolean:
		panel.X.Levels = []string{"false", "true"}
	}
	return panel
}

// rugOf shows where sorted values lie, evenly spread ones of many.
func rugOf(sorted []float64) chart.Mark {
	rug := chart.Mark{Shape: chart.Rug, Colour: chart.Grey, Name: "rows"}
	for k := range min(mostRug, len(sorted)) {
		rug.X = append(rug.X, sorted[k*len(sorted)/min(mostRug, len(sorted))])
	}
	return rug
}

// align gives all panels one axis Y, so that they can be compared.
func align(panels []chart.Panel) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, panel := range panels {
		for _, m := range panel.Marks {
			for i := range m.Low {
				low, high = min(low, m.Low[i]), max(high, m.High[i])
			}
		}
	}
	if room := .05 * (high - low); high-low > 1e-9*math.Abs(high) {
		for k := range panels {
			panels[k].Y.From, panels[k].Y.To = low-room, high+room
		}
	}
}

// drawCurves draws predictions or slopes, a panel for each column.
func drawCurves(ctx context.Context, p *picture) (*chart.Chart, error) {
	columns, some, err := p.columns(ctx)
	if err != nil {
		return nil, err
	}
	c := &chart.Chart{
		Title:       fmt.Sprintf("Predictions: %s over each column", p.expected()),
		Under:       fmt.Sprintf("%s, with the column replaced by each of its values%s", p.over(), some),
		Description: fmt.Sprintf("One panel for each column: how %s moves with it, with %.6g %% intervals.", p.expected(), 100*p.Interval),
	}
	if p.kind == Slopes {
		c.Title, c.Under = fmt.Sprintf("Slopes: what one more of a column adds to %s", p.expected()), "derivatives, "+c.Under
		c.Description = fmt.Sprintf("One panel for each number: the derivative of %s in it, with %.6g %% intervals; above 0 it rises.", p.expected(), 100*p.Interval)
	}
	for i := range columns {
		options := effect.Options{What: effect.Predictions}
		if p.kind == Slopes {
			options = effect.Options{What: effect.Slopes, Columns: []string{columns[i].Name}}
		}
		x, list, err := p.curve(ctx, &columns[i], options)
		if err != nil {
			return nil, err
		}
		panel := p.panel(&columns[i], x, list)
		if panel.Y.Name = p.expected(); p.kind == Slopes {
			panel.Y.Name, panel.Rules = "slope", []chart.Rule{{At: 0}}
		}
		c.Panels = append(c.Panels, panel)
		c.Description += fmt.Sprintf(" %s: %s.", columns[i].Name, told(&panel, list))
	}
	if p.kind == Predictions {
		align(c.Panels)
	}
	return c, nil
}

// told says in words what a panel shows.
func told(panel *chart.Panel, list []effect.Effect) string {
	if len(list) == 0 {
		return "nothing"
	}
	low, high := slices.MinFunc(list, byEstimate), slices.MaxFunc(list, byEstimate)
	at := func(e effect.Effect) string {
		if len(e.By) > 0 {
			if v, err := strconv.ParseFloat(e.By[0].Value, 64); err == nil {
				return number(v)
			}
			return e.By[0].Value
		}
		return panel.X.Name
	}
	from, to := number(float64(low.Estimate)), number(float64(high.Estimate))
	if from == to {
		return from + " throughout"
	}
	return fmt.Sprintf("from %s at %s to %s at %s", from, at(low), to, at(high))
}

func byEstimate(a, b effect.Effect) int { return cmp.Compare(a.Estimate, b.Estimate) }
