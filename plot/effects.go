package plot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/spec"
	"github.com/credence-ml/credence/table"
)

const (
	mostPanels = 9  // columns of a picture
	gridPoints = 25 // values of a number
	mostLevels = 20 // of a category
	mostBars   = 30 // effects of a forest
	mostRug    = 150
)

// mostWork is the number of rows times draws above which effects are those of the delta method, which a picture cannot
// tell from those of draws.
const mostWork = 1_000_000

// effects estimates over the rows that are looked at.
func (p *picture) effects(ctx context.Context, options effect.Options) (*effect.Result, error) {
	options.Interval, options.Seed, options.Threads, options.Work = cmp.Or(options.Interval, p.Interval), p.Seed, p.Threads, mostWork
	return effect.Of(ctx, p.Scorer, p.rows(), options)
}

// over says which rows were averaged over.
func (p *picture) over() string {
	if p.Rows == nil {
		return "of a row at the training means"
	}
	return "averaged over " + p.looked(p.rows().Rows())
}

// expected names what is predicted on average.
func (p *picture) expected() string {
	name := p.Scorer.Frame().TargetName()
	if positive := p.Scorer.Frame().Target.Positive(); positive != "" && p.Scorer.Binary() {
		return fmt.Sprintf("P(%s = %s)", name, positive)
	}
	return "E " + name
}

// of says whether a column can have such a panel.
func (p *picture) of(c *effect.Column) bool {
	if p.kind == Slopes {
		return c.Kind == credence.Numeric && len(c.Values) > 1 && c.Values[0] < c.Values[len(c.Values)-1]
	}
	return c.Kind != credence.Numeric || len(c.Values) > 0
}

func refuseColumns(p *picture) string {
	if columns, err := effect.Columns(p.Scorer, nil); err == nil && len(columns) == 0 {
		return "the model has no input that is a column of its own, as those of sparse files and parts of dates are none"
	}
	return ""
}

func refuseSlopes(p *picture) string {
	columns, err := effect.Columns(p.Scorer, nil)
	if err == nil && !slices.ContainsFunc(columns, func(c effect.Column) bool { return c.Kind == credence.Numeric }) {
		return "no column of the model is a number"
	}
	return ""
}

// columns returns those that the picture has panels of: those that are named, or those that move the predictions most.
func (p *picture) columns(ctx context.Context) (chosen []effect.Column, under string, err error) {
	known, err := effect.Columns(p.Scorer, p.rows())
	if err != nil {
		return nil, "", err
	}
	var names []string
	for i := range known {
		switch {
		case !p.of(&known[i]):
		case known[i].Many && len(p.Columns) == 0:
			under += without(&known[i])
		default:
			chosen, names = append(chosen, known[i]), append(names, known[i].Name)
		}
	}
	if len(p.Columns) > 0 {
		var list []effect.Column
		for _, name := range p.Columns {
			k := slices.Index(names, name)
			if k < 0 {
				hint := fmt.Sprintf("it has %v", names)
				if near := spec.Suggest(name, names); near != "" {
					hint = fmt.Sprintf("did you mean %s?", near)
				}
				return nil, "", fmt.Errorf("%s of a column %q cannot be drawn: %s", p.kind, name, hint)
			}
			list = append(list, chosen[k])
		}
		return list, "", nil
	}
	if len(chosen) == 0 && under != "" {
		return nil, "", fmt.Errorf("the columns of the model are groups or have very many levels, which --columns draws some of%s", under)
	}
	if len(chosen) == 0 {
		return nil, "", fmt.Errorf("the model has no column of which %s could be drawn: its inputs are those of a sparse segment, or are the same in every row: choose another kind", p.kind)
	}
	if len(chosen) <= mostPanels {
		return chosen, under, nil
	}
	all, moving := len(names), ""
	if names, moving, err = p.narrow(ctx, names); err != nil {
		return nil, "", err
	}
	under += moving
	result, err := p.effects(ctx, effect.Options{Columns: names, Step: effect.MinMax})
	if err != nil {
		return nil, "", err
	}
	moved := map[string]float64{}
	for _, e := range result.Effects {
		if v := math.Abs(float64(e.Estimate)); v > moved[e.Term] {
			moved[e.Term] = v
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(moved[b], moved[a]) })
	chosen = slices.DeleteFunc(chosen, func(c effect.Column) bool { return !slices.Contains(names[:mostPanels], c.Name) })
	return chosen, fmt.Sprintf("; %d of %d columns, those that move it most%s", mostPanels, all, under), nil
}

const (
	mostMoved  = 60 // columns whose effects are estimated
	rowsNarrow = 20 // over which others are left out
)

// narrow returns the columns that move f most by a standard deviation, over a few rows, where there are so many columns
// that the effects of all would take minutes.
func (p *picture) narrow(ctx context.Context, names []string) (_ []string, moving string, err error) {
	if len(names) <= 2*mostMoved {
		return names, "", nil
	}
	if p.Shared == nil {
		p.Shared = new(Shared)
	}
	if kept := &p.Shared.largest; *kept == nil {
		options := effect.Options{Columns: names, Link: true, Interval: p.Interval, Seed: p.Seed, Threads: p.Threads}
		var rows credence.Source
		if p.Rows != nil && p.Rows.Rows() > 1 {
			rows, options.Step = table.SpreadOf(p.Rows, rowsNarrow), effect.SD
		}
		result, err := effect.Of(ctx, p.Scorer, rows, options)
		if err != nil {
			return nil, "", err
		}
		for _, k := range largest(result.Effects) {
			if name := result.Effects[k].Term; !slices.Contains(*kept, name) && len(*kept) < mostMoved {
				*kept = append(*kept, name)
			}
		}
	}
	some := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(p.Shared.largest, name) })
	return some, fmt.Sprintf("; of %d columns the %d that move f most", len(names), len(some)), nil
}

// without says that levels are left out.
func without(c *effect.Column) string {
	return fmt.Sprintf("; without the %d levels of %s", len(c.Levels), c.Name)
}

// grid returns the values of a number that it is taken at, evenly spread from the first to the 99th percentile.
func grid(sorted []float64) (values []float64) {
	low, high := percentile(sorted, .01), percentile(sorted, .99)
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

// percentile is a quantile of sorted numbers, by R's type 7.
func percentile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := int(at)
	if at == float64(low) { // the next may be farther away than any number
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[min(low+1, len(sorted)-1)]-sorted[low])
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
	result, err := p.effects(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	return x, result.Effects, nil
}

// panel draws estimates at each value of a column.
func (p *picture) panel(c *effect.Column, x []float64, list []effect.Effect) chart.Panel {
	m := chart.Mark{X: x}
	for _, e := range list {
		m.Y, m.Low, m.High = append(m.Y, float64(e.Estimate)), append(m.Low, float64(e.Low)), append(m.High, float64(e.High))
	}
	panel := chart.Panel{X: chart.Axis{Name: c.Name}}
	level := fmt.Sprintf("%g %% interval", 100*p.Interval)
	if c.Kind == credence.Numeric && len(x) > 1 {
		if c.Date {
			panel.X.Scale = chart.Time
		}
		band := m
		band.Shape, band.Name = chart.Band, level
		m.Name = "mean"
		panel.Marks = []chart.Mark{band, m}
		if p.Rows != nil {
			rug := chart.Mark{Shape: chart.Rug, Colour: chart.Grey, Name: "rows"}
			for k := range min(mostRug, len(c.Values)) {
				rug.X = append(rug.X, c.Values[k*len(c.Values)/min(mostRug, len(c.Values))])
			}
			panel.Marks = append(panel.Marks, rug)
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

// align gives all panels one axis Y, so that they can be compared.
func align(panels []chart.Panel) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, panel := range panels {
		for _, m := range panel.Marks {
			for _, values := range [][]float64{m.Low, m.High} {
				for _, v := range values {
					low, high = min(low, v), max(high, v)
				}
			}
		}
	}
	room := .05 * (high - low)
	for k := range panels {
		if panels[k].Y.From, panels[k].Y.To = low-room, high+room; !(high-low > 1e-9*math.Abs(high)) {
			panels[k].Y.From, panels[k].Y.To = 0, 0
		}
	}
}

func drawPredictions(ctx context.Context, p *picture) (*chart.Chart, error) {
	columns, some, err := p.columns(ctx)
	if err != nil {
		return nil, err
	}
	c := &chart.Chart{
		Title:       fmt.Sprintf("Predictions: %s over each column", p.expected()),
		Under:       fmt.Sprintf("%s, with the column replaced by each of its values%s", p.over(), some),
		Description: fmt.Sprintf("One panel for each column: how %s moves with it, with %g %% intervals.", p.expected(), 100*p.Interval),
	}
	for i := range columns {
		x, list, err := p.curve(ctx, &columns[i], effect.Options{What: effect.Predictions})
		if err != nil {
			return nil, err
		}
		panel := p.panel(&columns[i], x, list)
		panel.Y.Name = p.expected()
		c.Panels = append(c.Panels, panel)
		c.Description += fmt.Sprintf(" %s: %s.", columns[i].Name, told(&panel, list))
	}
	align(c.Panels)
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
	return fmt.Sprintf("from %s at %s to %s at %s", number(float64(low.Estimate)), at(low), number(float64(high.Estimate)), at(high))
}

func byEstimate(a, b effect.Effect) int { return cmp.Compare(a.Estimate, b.Estimate) }

func drawSlopes(ctx context.Context, p *picture) (*chart.Chart, error) {
	columns, some, err := p.columns(ctx)
	if err != nil {
		return nil, err
	}
	c := &chart.Chart{
		Title:       fmt.Sprintf("Slopes: what one more of a column adds to %s", p.expected()),
		Under:       fmt.Sprintf("derivatives, %s, with the column replaced by each of its values%s", p.over(), some),
		Description: fmt.Sprintf("One panel for each number: the derivative of %s in it, with %g %% intervals; above 0 it rises.", p.expected(), 100*p.Interval),
	}
	for i := range columns {
		x, list, err := p.curve(ctx, &columns[i], effect.Options{What: effect.Slopes, Columns: []string{columns[i].Name}})
		if err != nil {
			return nil, err
		}
		panel := p.panel(&columns[i], x, list)
		panel.Y.Name, panel.Rules = "slope", []chart.Rule{{At: 0}}
		c.Panels = append(c.Panels, panel)
		c.Description += fmt.Sprintf(" %s: %s.", columns[i].Name, told(&panel, list))
	}
	return c, nil
}

// DrawForest is Draw of a forest that also returns its effects, the largest first, and by what numbers move: "a
// standard deviation", or "1".
func DrawForest(ctx context.Context, w io.Writer, input Input) (list []effect.Effect, moved string, err error) {
	input, err = input.Validate(Forest)
	if err != nil {
		return nil, "", err
	}
	if input.Scorer == nil {
		return nil, "", errors.New("there is no scorer: make one by score.New")
	}
	p := &picture{Input: input, kind: Forest}
	if why := p.refusal(false, refuseColumns); why != "" {
		return nil, "", errors.New(why)
	}
	c, list, moved, err := p.forest(ctx)
	if err == nil {
		c.Inline = input.Inline
		_, err = c.WriteTo(w)
	}
	return list, moved, err
}

// moves says which columns move, how far, and which are left out.
func (p *picture) moves(ctx context.Context) (options effect.Options, moved, left string, err error) {
	columns, err := effect.Columns(p.Scorer, p.rows())
	if err != nil {
		return options, "", "", err
	}
	options.Step, moved = effect.SD, "a standard deviation"
	for _, c := range columns { // of a column that does not vary, a standard deviation is no step
		if n := len(c.Values); c.Many {
			left += without(&c)
		} else if c.Kind != credence.Numeric || n < 2 || c.Values[0] < c.Values[n-1] {
			options.Columns = append(options.Columns, c.Name)
		}
	}
	if len(options.Columns) == 0 {
		return options, "", "", fmt.Errorf("no column of the model varies over the rows, so that none has an effect to compare%s", left)
	}
	moving := ""
	if options.Columns, moving, err = p.narrow(ctx, options.Columns); err != nil {
		return options, "", "", err
	}
	left += moving
	if p.Rows == nil || p.Rows.Rows() < 2 { // columns that were not scaled have no standard deviation without rows
		if _, err := p.effects(ctx, options); err != nil {
			options.Step, moved = "", "1"
		}
	}
	return options, moved, left, nil
}

// largest are the places of effects that are numbers, the largest first.
func largest(effects []effect.Effect) (order []int) {
	for k, e := range effects {
		if e.Estimate.Defined() && e.Low.Defined() {
			order = append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(math.Abs(float64(effects[b].Estimate)), math.Abs(float64(effects[a].Estimate)))
	})
	return order
}

func drawForest(ctx context.Context, p *picture) (*chart.Chart, error) {
	c, _, _, err := p.forest(ctx)
	return c, err
}

// forest returns the picture, its effects, the largest first, and how numbers move.
func (p *picture) forest(ctx context.Context) (*chart.Chart, []effect.Effect, string, error) {
	options, moved, left, err := p.moves(ctx)
	if err != nil {
		return nil, nil, "", err
	}
	wide, err := p.effects(ctx, options)
	if err != nil {
		return nil, nil, "", err
	}
	options.Interval = .5
	narrow, err := p.effects(ctx, options)
	if err != nil {
		return nil, nil, "", err
	}
	order := largest(wide.Effects)
	if len(order) == 0 {
		return nil, nil, "", errors.New("no effect of a column is a number: effects tells them")
	}
	var list []effect.Effect
	for _, k := range order {
		list = append(list, wide.Effects[k])
	}
	under := fmt.Sprintf("%s; numbers move by %s", p.over(), moved) + left
	if all := len(order); all > mostBars {
		order = order[:mostBars]
		under += fmt.Sprintf("; the %d largest of %d", mostBars, all)
	}
	slices.Reverse(order) // the largest on top
	outer := chart.Mark{Shape: chart.Interval, Across: true, Name: fmt.Sprintf("%g %% interval", 100*p.Interval)}
	inner := chart.Mark{Shape: chart.Interval, Across: true, Thick: true, Name: "50 % interval"}
	panel := chart.Panel{X: chart.Axis{Name: "change of " + p.expected()}, Rules: []chart.Rule{{At: 0, Upright: true}}, Height: 40 + 24*len(order)}
	description := ""
	for at, k := range order {
		e := &wide.Effects[k]
		outer.Low, outer.High = append(outer.Low, float64(e.Low)), append(outer.High, float64(e.High))
		inner.X, inner.Y = append(inner.X, float64(e.Estimate)), append(inner.Y, float64(at))
		inner.Low, inner.High = append(inner.Low, float64(narrow.Effects[k].Low)), append(inner.High, float64(narrow.Effects[k].High))
		panel.Y.Levels = append(panel.Y.Levels, e.Term+": "+e.Contrast)
		description = fmt.Sprintf(" %s, %s: %s (%s to %s).", e.Term, e.Contrast, number(float64(e.Estimate)), number(float64(e.Low)), number(float64(e.High))) + description
	}
	outer.X, outer.Y = nil, inner.Y
	panel.Marks = []chart.Mark{outer, inner}
	return &chart.Chart{
		Title: fmt.Sprintf("Effects: what a change of a column changes of %s", p.expected()), Under: under, Panels: []chart.Panel{panel},
		Description: "One row for each change, the largest on top, with intervals; those that do not reach 0 have a sure sign." + description,
	}, list, moved + left, nil
}
