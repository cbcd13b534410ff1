package plot

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/spec"
)

// of says whether a column can have a panel, or a row, of such a picture.
func (p *picture) of(c *effect.Column) bool {
	n := len(c.Values)
	varies := n > 1 && c.Values[0] < c.Values[n-1]
	switch {
	case p.kind == Slopes:
		return c.Kind == credence.Numeric && varies
	case c.Kind != credence.Numeric:
		return true
	case p.kind == Forest: // of what does not vary, a standard deviation is no step
		return n < 2 || varies
	}
	return n > 0
}

func refuseColumns(p *picture) string {
	columns, err := effect.Columns(p.Scorer, nil)
	switch {
	case err == nil && len(columns) == 0:
		return "the model has no input that is a column of its own, as those of sparse files and parts of dates are none"
	case err == nil && p.kind == Slopes && !slices.ContainsFunc(columns, func(c effect.Column) bool { return c.Kind == credence.Numeric }):
		return "no column of the model is a number"
	}
	return ""
}

// inputs returns the columns that suit, of very many levels those alone that are named, and says which are left out.
func (p *picture) inputs() (list []effect.Column, names []string, left string, err error) {
	known, err := effect.Columns(p.Scorer, p.rows())
	for _, c := range known {
		switch {
		case !p.of(&c):
		case c.Many && len(p.Columns) == 0:
			left += fmt.Sprintf("; without the %d levels of %s", len(c.Levels), c.Name)
		default:
			list, names = append(list, c), append(names, c.Name)
		}
	}
	return list, names, left, err
}

// columns returns those that the picture has panels of: those that are named, or those that move the predictions most.
func (p *picture) columns(ctx context.Context) (chosen []effect.Column, under string, err error) {
	list, names, under, err := p.inputs()
	if err != nil {
		return nil, "", err
	}
	for _, name := range p.Columns {
		k := slices.Index(names, name)
		if k < 0 {
			hint := "it has " + strings.Join(names, ", ")
			if near := spec.Suggest(name, names); near != "" {
				hint = fmt.Sprintf("did you mean %s?", near)
			}
			return nil, "", fmt.Errorf("%s of a column %q cannot be drawn: %s", p.kind, name, hint)
		}
		chosen = append(chosen, list[k])
	}
	switch {
	case len(chosen) > 0:
		return chosen, "", nil
	case len(list) == 0 && under != "":
		return nil, "", fmt.Errorf("the columns of the model are groups or have very many levels, which --columns draws some of%s", under)
	case len(list) == 0:
		return nil, "", fmt.Errorf("the model has no column of which %s could be drawn: its inputs are those of a sparse segment, or are the same in every row: choose another kind", p.kind)
	case len(list) <= mostPanels:
		return list, under, nil
	}
	all, moving := len(names), ""
	if names, moving, err = p.narrow(names); err != nil {
		return nil, "", err
	}
	effects, err := p.effects(ctx, effect.Options{Columns: names, Step: effect.MinMax})
	if err != nil {
		return nil, "", err
	}
	moved := map[string]float64{}
	for _, e := range effects {
		moved[e.Term] = max(moved[e.Term], math.Abs(float64(e.Estimate)))
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(moved[b], moved[a]) })
	chosen = slices.DeleteFunc(list, func(c effect.Column) bool { return !slices.Contains(names[:mostPanels], c.Name) })
	return chosen, fmt.Sprintf("; %d of %d columns, those that move it most%s%s", mostPanels, all, under, moving), nil
}

// mostMoved is the number of columns whose effects are estimated.
const mostMoved = 60

// narrow returns the columns whose weights move f most, where there are so many columns that the effects of all would
// take minutes.
func (p *picture) narrow(names []string) (_ []string, moving string, err error) {
	if len(names) <= 2*mostMoved {
		return names, "", nil
	}
	largest, err := effect.Widest(p.Scorer, names, mostMoved)
	if err != nil {
		return nil, "", err
	}
	some := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(largest, name) })
	return some, fmt.Sprintf("; of %d columns the %d that move f most", len(names), len(some)), nil
}
