package plot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/internal/chart"
)

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
	if options.Columns, moving, err = p.narrow(options.Columns); err != nil {
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
		panel.Y.Levels = append(panel.Y.Levels, e.Term+": "+e.Change())
		description = fmt.Sprintf(" %s, %s: %s (%s to %s).", e.Term, e.Change(), number(float64(e.Estimate)), number(float64(e.Low)), number(float64(e.High))) + description
	}
	outer.X, outer.Y = nil, inner.Y
	panel.Marks = []chart.Mark{outer, inner}
	return &chart.Chart{
		Title: fmt.Sprintf("Effects: what a change of a column changes of %s", p.expected()), Under: under, Panels: []chart.Panel{panel},
		Description: "One row for each change, the largest on top, with intervals; those that do not reach 0 have a sure sign." + description,
	}, list, moved + left, nil
}
