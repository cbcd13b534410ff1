package plot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/internal/chart"
)

const mostBars = 30 // effects of a forest

// forest is what changes of columns change.
type forest struct {
	effects []effect.Effect // the largest first
	moved   string          // how far numbers move, and what is left out
}

// Effects returns those of a forest, the largest first, and by what numbers move in them: "a standard deviation", or
// "1".
func Effects(ctx context.Context, input Input) (list []effect.Effect, moved string, err error) {
	p, err := open(Forest, input)
	if err != nil {
		return nil, "", err
	}
	f, err := p.changes(ctx)
	if err != nil {
		return nil, "", err
	}
	return f.effects, f.moved, nil
}

// changes returns the effects, which are estimated once for all pictures.
func (p *picture) changes(ctx context.Context) (*forest, error) {
	if p.Shared.forest != nil {
		return p.Shared.forest, nil
	}
	_, names, left, err := p.inputs()
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no column of the model varies over the rows, so that none has an effect to compare%s: give other rows, or columns to the formula", left)
	}
	names, moving, err := p.narrow(names)
	if err != nil {
		return nil, err
	}
	f := &forest{moved: "a standard deviation"}
	list, err := p.effects(ctx, effect.Options{Columns: names, Step: effect.SD})
	switch few := p.Rows == nil || p.Rows.Rows() < 2; {
	case err != nil && few: // columns that were not scaled have no standard deviation without rows
		f.moved = "1"
		list, err = p.effects(ctx, effect.Options{Columns: names})
	case err != nil:
		list, err = p.apart(ctx, names, f)
	}
	if err != nil {
		return nil, err
	}
	f.moved += left + moving
	for _, e := range list {
		if e.Estimate.Defined() && e.Low.Defined() {
			f.effects = append(f.effects, e)
		}
	}
	if len(f.effects) == 0 {
		return nil, errors.New("no effect of a column is a number: give credence effects the rows, which tells why, or another kind of picture")
	}
	size := func(e effect.Effect) float64 { return math.Abs(float64(e.Estimate)) }
	slices.SortStableFunc(f.effects, func(a, b effect.Effect) int { return cmp.Compare(size(b), size(a)) })
	p.Shared.forest = f
	return f, nil
}

// apart estimates column by column. One that cannot move by a standard deviation in some row, as the logarithm of a
// number near 0, goes from its first quartile to its third.
func (p *picture) apart(ctx context.Context, names []string, f *forest) (all []effect.Effect, err error) {
	for _, name := range names {
		list, err := p.effects(ctx, effect.Options{Columns: []string{name}, Step: effect.SD})
		if err != nil {
			f.moved += fmt.Sprintf(", %s from its first quartile to its third", name)
			list, err = p.effects(ctx, effect.Options{Columns: []string{name}, Step: effect.IQR})
		}
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

func drawForest(ctx context.Context, p *picture) (*chart.Chart, error) {
	f, err := p.changes(ctx)
	if err != nil {
		return nil, err
	}
	list, under := f.effects, fmt.Sprintf("%s; numbers move by %s", p.over(), f.moved)
	if all := len(list); all > mostBars {
		list = list[:mostBars]
		under += fmt.Sprintf("; the %d largest of %d", mostBars, all)
	}
	outer := chart.Mark{Shape: chart.Interval, Across: true, Name: fmt.Sprintf("%.6g %% interval", 100*p.Interval)}
	inner := chart.Mark{Shape: chart.Interval, Across: true, Thick: true, Name: "50 % interval"}
	panel := chart.Panel{X: chart.Axis{Name: "change of " + p.expected()}, Rules: []chart.Rule{{At: 0, Upright: true}}, Height: 40 + 24*len(list)}
	description := ""
	for _, e := range slices.Backward(list) { // the largest on top
		outer.Y, outer.Low, outer.High = append(outer.Y, float64(len(outer.Y))), append(outer.Low, float64(e.Low)), append(outer.High, float64(e.High))
		low, high := e.Half()
		inner.X, inner.Low, inner.High = append(inner.X, float64(e.Estimate)), append(inner.Low, low), append(inner.High, high)
		panel.Y.Levels = append(panel.Y.Levels, e.Term+": "+e.Change())
		description = fmt.Sprintf(" %s, %s: %s (%s to %s).", e.Term, e.Change(), number(float64(e.Estimate)), number(float64(e.Low)), number(float64(e.High))) + description
	}
	inner.Y = outer.Y
	panel.Marks = []chart.Mark{outer, inner}
	return &chart.Chart{
		Title: fmt.Sprintf("Effects: how far a change of a column moves %s", p.expected()), Under: under, Panels: []chart.Panel{panel},
		Description: "One row for each change, the largest on top, with intervals; those that do not reach 0 have a sure sign." + description,
	}, nil
}
