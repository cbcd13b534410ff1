package effect

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
)

// plan is what is computed of the rows: in which states they are read, with which changes, what is summed of each, and
// what is told of the sums.
type plan struct {
	states    [][]change
	sums      []sum
	contrasts []contrast
	remarks   []string
}

// sum is an average over the rows of a state that have a value of a column; of all rows where it is nil.
type sum struct {
	state int
	needs *column
}

// contrast is a difference of averages of sums, or a ratio, and what people are told that it is.
type contrast struct {
	term, label string
	at          Group
	high, low   []int // sums; low is empty for predictions
	per         float64
}

// planner makes a plan.
type planner struct {
	plan
	frame   *frame.Frame
	table   *altered
	columns []*column
	options *Options
	base    map[string]string
	at      setting // in which all is taken
	stateOf map[string]int
	sumOf   map[sum]int
}

// setting is a combination of values of columns that are replaced in every row.
type setting struct {
	changes []change
	group   Group
}

// newPlan returns the plan of some options.
func newPlan(f *frame.Frame, table *altered, columns []*column, options *Options) (*plan, error) {
	p := &planner{frame: f, table: table, columns: columns, options: options, base: map[string]string{}, stateOf: map[string]int{}, sumOf: map[sum]int{}}
	for _, pair := range options.Bases {
		name, level, _ := strings.Cut(pair, "=")
		c, err := find(f, columns, name)
		if err != nil {
			return nil, err
		}
		if !c.category() {
			return nil, fmt.Errorf("column %s has no levels, so that it has no base: --step says how far it moves", name)
		}
		if level != "mean" && !slices.Contains(c.levels, level) {
			return nil, fmt.Errorf("training has no level %q of column %s: it has %s", level, name, cell.List(c.levels))
		}
		p.base[name] = level
	}
	changed, err := p.changed()
	if err != nil {
		return nil, err
	}
	settings, err := p.settings()
	if err != nil {
		return nil, err
	}
	for _, p.at = range settings {
		if options.What == Predictions && len(changed) == 0 {
			p.add(contrast{term: "prediction", per: 1, high: []int{p.sum(nil, nil)}})
		}
		for _, c := range changed {
			if err := p.of(c); err != nil {
				return nil, err
			}
		}
	}
	return &p.plan, nil
}

// changed returns the columns that change.
func (p *planner) changed() (changed []*column, err error) {
	for _, name := range p.options.Columns {
		c, err := find(p.frame, p.columns, name)
		if err != nil {
			return nil, err
		}
		changed = append(changed, c)
	}
	if len(changed) > 0 || p.options.What == Predictions {
		return changed, nil
	}
	left := ""
	for _, c := range p.columns {
		switch {
		case !c.input || c.parts || p.options.What == Slopes && c.kind != credence.Numeric:
		case c.category() && len(c.levels) == 0: // of a model of stream
			p.remarks = append(p.remarks, fmt.Sprintf("%s is left out: no row has a level of it that training had", c.name))
		case c.many:
			left = c.name
			p.remarks = append(p.remarks, fmt.Sprintf("the %d levels of %s are left out: --comparisons %s compares each with %s", len(c.levels), c.name, cell.Shell(c.name), c.base))
		default:
			changed = append(changed, c)
		}
	}
	if len(changed) == 0 && p.frame.Sparse > 0 {
		return nil, fmt.Errorf("the model has %d sparse columns, of which those are told that are named, as --%s %s", p.frame.Sparse, p.options.What, p.frame.SparseName(0))
	}
	if len(changed) == 0 && left != "" {
		return nil, fmt.Errorf("the columns of the model are groups or have very many levels: name some, as --comparisons %s", cell.Shell(left))
	}
	if len(changed) == 0 {
		return nil, fmt.Errorf("the model has no column of which %s could be taken: --predictions averages what it predicts", p.options.What)
	}
	return changed, nil
}

// settings returns every combination of the values that rows are taken at.
func (p *planner) settings() ([]setting, error) {
	all := []setting{{}}
	var names []string
	values := map[string][]string{}
	for _, pair := range p.options.At {
		name, value, _ := strings.Cut(pair, "=")
		if values[name] == nil {
			names = append(names, name)
		}
		values[name] = append(values[name], value)
	}
	for _, name := range names {
		c, err := find(p.frame, p.columns, name)
		if err != nil {
			return nil, err
		}
		var more []setting
		for _, value := range values[name] {
			changes, err := c.setText(p.table, value)
			if err != nil {
				return nil, err
			}
			for _, s := range all {
				more = append(more, setting{slices.Concat(s.changes, changes), append(slices.Clip(s.group), Value{Column: name, Value: value})})
			}
		}
		all = more
	}
	return all, nil
}

// sum returns the place of a sum of rows under further changes.
func (p *planner) sum(changes []change, needs *column) int {
	all := slices.Concat(p.at.changes, changes)
	key := fmt.Sprint(all)
	k, known := p.stateOf[key]
	if !known {
		k = len(p.states)
		p.states, p.stateOf[key] = append(p.states, all), k
	}
	wanted := sum{k, needs}
	at, known := p.sumOf[wanted]
	if !known {
		at = len(p.sums)
		p.sums, p.sumOf[wanted] = append(p.sums, wanted), at
	}
	return at
}

func (p *planner) add(c contrast) {
	c.at = p.at.group
	p.contrasts = append(p.contrasts, c)
}

// of adds the quantities of a column that changes.
func (p *planner) of(c *column) error {
	switch {
	case p.options.What == Slopes:
		return p.slope(c)
	case c.category():
		return p.levels(c)
	case c.kind == credence.Boolean:
		yes, no := p.sum(c.set(1, false), c), p.sum(c.set(0, false), c)
		if p.options.What == Predictions {
			p.add(contrast{term: c.name, label: "false", per: 1, high: []int{no}})
			p.add(contrast{term: c.name, label: "true", per: 1, high: []int{yes}})
			return nil
		}
		p.add(contrast{term: c.name, label: p.between("true", "false"), per: 1, high: []int{yes}, low: []int{no}})
		return nil
	case p.options.What == Predictions:
		return fmt.Errorf("column %s is a number, which has no levels to predict at: state values, as --predictions --at %s", c.name, cell.Shell(c.name+"=1,2"))
	}
	return p.step(c)
}

// between words a contrast.
func (p *planner) between(high, low string) string {
	if p.options.Ratio {
		return high + " / " + low
	}
	return high + " - " + low
}

// levels compares levels with the base, or predicts at each.
func (p *planner) levels(c *column) error {
	if len(c.levels) == 0 {
		return fmt.Errorf("no row has a level of column %s that training had: give rows that have some", c.name)
	}
	sums := make([]int, len(c.levels))
	for k, level := range c.levels {
		changes, err := c.setLevel(p.table, level)
		if err != nil {
			return err
		}
		sums[k] = p.sum(changes, nil)
	}
	base, stated := p.base[c.name]
	if !stated {
		base = c.base
	}
	low := sums
	if base != "mean" {
		low = sums[slices.Index(c.levels, base):][:1]
	}
	for k, level := range c.levels {
		switch {
		case p.options.What == Predictions:
			p.add(contrast{term: c.name, label: level, per: 1, high: sums[k : k+1]})
		case level != base:
			p.add(contrast{term: c.name, label: p.between(level, base), per: 1, high: sums[k : k+1], low: low})
		}
	}
	return nil
}

// step compares a number with a larger one.
func (p *planner) step(c *column) error {
	text := p.options.Step
	add := func(label string, high, low []change) {
		if p.options.Ratio {
			label = "ratio " + label
		}
		p.add(contrast{term: c.name, label: label, per: 1, high: []int{p.sum(high, c)}, low: []int{p.sum(low, c)}})
	}
	if text != SD && text != TwoSD && text != IQR && text != MinMax {
		by, _ := strconv.ParseFloat(cmp.Or(text, "1"), 64)
		sign := "+"
		if by < 0 {
			sign = ""
		}
		add(sign+number(by), c.set(by, true), nil)
		return nil
	}
	values, err := p.table.numbers(c)
	if err != nil {
		return err
	}
	if len(values.values) < 2 && (text == IQR || text == SD && math.IsNaN(c.sd) || text == TwoSD && math.IsNaN(c.sd) || text == MinMax && c.ends == nil) {
		return fmt.Errorf("--step %s needs rows, from which it is taken: give data, or a number as --step 10", text)
	}
	switch text {
	case IQR:
		add("Q3 - Q1", c.set(values.quantile(.75), false), c.set(values.quantile(.25), false))
	case MinMax:
		ends := c.ends
		if n := len(values.values); n > 1 {
			ends = &[2]float64{values.values[0], values.values[n-1]}
		}
		add("max - min", c.set(ends[1], false), c.set(ends[0], false))
	default:
		half := c.sd / 2
		if len(values.values) > 1 {
			half = values.sd() / 2
		}
		label := "sd"
		if text == TwoSD {
			half, label = 2*half, "2 sd"
		}
		if !(half > 0) {
			return fmt.Errorf("column %s is the same in every row, so that it has no standard deviation to step by: state a number, as --step 1", c.name)
		}
		add(fmt.Sprintf("%s (%s)", label, number(2*half)), c.set(half, true), c.set(-half, true))
	}
	return nil
}

// slopeStep is how far a number moves for a derivative, as a share of its range.
const slopeStep = 1e-4

// slope takes the central difference of a number.
func (p *planner) slope(c *column) error {
	switch {
	case c.category():
		return fmt.Errorf("column %s is a category, which has no slope: --comparisons %s tells each level against the base", c.name, cell.Shell(c.name))
	case c.kind == credence.Boolean:
		return fmt.Errorf("column %s is true or false, which has no slope: --comparisons %s tells true against false", c.name, cell.Shell(c.name))
	}
	values, err := p.table.numbers(c)
	if err != nil {
		return err
	}
	span := c.sd
	if math.IsNaN(span) {
		span = max(1, math.Abs(c.mean))
	}
	if n := len(values.values); n > 1 && values.values[n-1] > values.values[0] {
		span = values.values[n-1] - values.values[0]
	}
	h := slopeStep * span
	p.add(contrast{term: c.name, label: "dY/dX", per: 1 / (2 * h), high: []int{p.sum(c.set(h, true), c)}, low: []int{p.sum(c.set(-h, true), c)}})
	return nil
}
