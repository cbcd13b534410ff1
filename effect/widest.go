package effect

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/score"
)

// Where a model has more than mostColumns columns and none is named, the mostMoving are told that move f most: effects
// of all would take minutes, and tables of thousands of lines tell nothing.
const (
	mostColumns = 500
	mostMoving  = 60
)

// Widest returns so many of the columns named, those that move f most: by the mean of their weights, products
// included, for a standard deviation of a number and for a level. The one that moves f most comes first. Columns that
// stand in other functions alone, whose weights say nothing of one column, come before all others.
func Widest(scorer *score.Scorer, names []string, count int) ([]string, error) {
	if scorer == nil {
		return nil, errors.New("there is no scorer: make one by score.New")
	}
	terms, err := score.Terms(scorer.Fitted(), score.TermOptions{})
	if err != nil {
		return nil, err
	}
	columns, err := columnsOf(scorer, newAltered(&grid{schema: scorer.Frame().Schema()}), nil)
	if err != nil {
		return nil, err
	}
	unit, moved := map[string]float64{}, map[string]float64{} // of columns, what their weights are for
	for _, c := range columns {
		if unit[c.name] = 1; c.kind == credence.Numeric && c.sd == c.sd {
			unit[c.name] = c.sd
		}
	}
	for _, t := range terms {
		size := math.Abs(t.Mean)
		var in []string
		for part := range strings.SplitSeq(t.Name, ":") {
			name, _, _ := strings.Cut(part, "=")
			if by, known := unit[name]; known {
				in, size = append(in, name), size*by
			}
		}
		for _, name := range in {
			moved[name] += size
		}
	}
	far := func(name string) float64 {
		if v, known := moved[name]; known {
			return v
		}
		return math.Inf(1)
	}
	chosen := slices.Clone(names)
	slices.SortStableFunc(chosen, func(a, b string) int { return cmp.Compare(far(b), far(a)) })
	return chosen[:min(count, len(chosen))], nil
}

// narrow names in options the columns that move f most, where none is named and there are very many, and says so.
func narrow(scorer *score.Scorer, options *Options) (remarks []string, err error) {
	if len(options.Columns) > 0 || options.What == Predictions || scorer.Keyed() {
		return nil, nil
	}
	list, err := Columns(scorer, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range list {
		if !list[i].Many && (options.What != Slopes || list[i].Kind == credence.Numeric) {
			names = append(names, list[i].Name)
		}
	}
	if len(names) <= mostColumns {
		return nil, nil
	}
	chosen, err := Widest(scorer, names, mostMoving)
	if err != nil {
		return nil, err
	}
	options.Columns = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(chosen, name) })
	return []string{fmt.Sprintf("of %d columns the %d are told whose weights move f most; --%s NAME,NAME tells others", len(names), len(chosen), options.What)}, nil
}
