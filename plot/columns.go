package plot

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/spec"
)

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
	if names, moving, err = p.narrow(names); err != nil {
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

// without says that levels are left out.
func without(c *effect.Column) string {
	return fmt.Sprintf("; without the %d levels of %s", len(c.Levels), c.Name)
}
