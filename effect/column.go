package effect

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/spec"
)

// column is one that a model uses.
type column struct {
	name   string
	places []int // in the table: of the column, and of its texts where the table has both
	sparse int   // in the sparse segment, -1 of others
	kind   credence.Kind
	levels []string // of training
	base   string   // the most frequent of them
	mean   float64  // of training
	sd     float64
	ends   *[2]float64 // of training, nil where they are not known
	input  bool        // and not an offset, a weight or trials alone
	offset bool
	free   float64 // what stands for none: an exposure of 1, a weight of 1
	parts  bool    // of dates alone, of which a step means nothing
	many   bool    // levels, which are compared where the column is named alone
}

func (c *column) category() bool { return c.kind == credence.Category }

// missingText is the level that stands for a missing value.
const missingText = "(missing)"

// mostLevels is the largest number of levels of a category that is compared where no column is named.
const mostLevels = 100

// columnsOf returns the columns of a model in the order of its inputs, then those of offsets. Keys is nil of models of
// fit.
func columnsOf(scorer *score.Scorer, table *altered, keys *keyRows) (list []*column, err error) {
	f, at := scorer.Frame(), map[string]*column{}
	get := func(e *frame.Expr) *column {
		name, _ := credence.CutText(e.Column)
		c := at[name]
		if c == nil {
			c = &column{name: name, sparse: -1, mean: math.NaN(), sd: math.NaN(), parts: true}
			at[name], list = c, append(list, c)
		}
		for _, of := range []string{e.Column, name, credence.TextOf(name)} {
			if place := table.schema.Index(of); place >= 0 && !slices.Contains(c.places, place) {
				c.places = append(c.places, place)
			}
		}
		if len(c.places) == 0 && keys == nil {
			c.sparse = f.SparseIndex(f.SegmentWidth, name)
		}
		return c
	}
	others, offsets := []*frame.Expr(nil), []frame.Expr(nil)
	if keys != nil {
		if err = keys.columns(get); err != nil {
			return nil, err
		}
		others, offsets = []*frame.Expr{keys.plan.Weight}, keys.plan.Offset
	} else {
		framed(f, get)
		others, offsets = []*frame.Expr{f.Weight, f.Precision, f.Trials}, f.Offset
	}
	for _, e := range others {
		if e != nil && e.Column != "" {
			get(e).free = 1
		}
	}
	for i := range offsets {
		if e := &offsets[i]; e.Column != "" {
			c := get(e)
			if c.offset, c.free = !c.input, 0; e.Invertible() {
				c.free = e.Invert(0)
			}
		}
	}
	groups := ":" // of terms such as (1 | g)
	if set, ok := scorer.Fitted().Members[0].Model.Features.(ability.Covaried); ok {
		for _, of := range set.Covariances() {
			groups += of.Key + ":"
		}
	}
	for _, c := range list {
		c.many = c.category() && (len(c.levels) > mostLevels || strings.Contains(groups, ":"+c.name+":"))
	}
	return list, nil
}

// framed tells what the columns of inputs were in training.
func framed(f *frame.Frame, get func(e *frame.Expr) *column) {
	for i := range f.Inputs {
		in := &f.Inputs[i]
		if in.Indicates || in.Expr.Column == "" {
			continue
		}
		c := get(&in.Expr)
		c.input = true
		c.parts = c.parts && parts(&in.Expr)
		switch plain := len(in.Expr.Steps) == 0; {
		case in.Kind == credence.Category && plain:
			c.kind, c.base = credence.Category, in.Levels[int(in.Fill)]
			c.levels = slices.DeleteFunc(slices.Clone(in.Levels), func(l string) bool { return l == missingText })
			if c.base == missingText && len(c.levels) > 0 { // which tells no frequencies
				c.base = c.levels[0]
			} else if c.base == missingText {
				c.levels = in.Levels
			}
		case in.Kind == credence.Boolean && plain:
			c.kind, c.mean = credence.Boolean, in.Fill
		case in.Kind != credence.Category && plain:
			c.mean, c.ends = in.Fill, in.Ends
			if in.Scale != 1 || in.Center != 0 {
				c.sd = in.Scale
			}
		case in.Kind != credence.Category && math.IsNaN(c.mean) && in.Expr.Invertible():
			// The mean of log(x) is that of another number.
			c.mean = in.Expr.Invert(in.Fill)
		}
	}
}

// parts says whether an expression takes a part of a date.
func parts(e *frame.Expr) bool {
	return slices.ContainsFunc(e.Steps, func(s frame.Step) bool { return s.Function.Part() })
}

// find returns a column of the model by its name: of its sparse segment, too, which are too many to list.
func find(f *frame.Frame, columns []*column, name string) (*column, error) {
	var names []string
	for _, c := range columns {
		if c.name == name {
			return c, nil
		}
		names = append(names, c.name)
	}
	if place := f.SparseIndex(f.Sparse, name); place >= 0 {
		return &column{name: name, sparse: place, input: true, mean: math.NaN(), sd: math.NaN()}, nil
	}
	hint := "its columns are " + cell.List(names)
	if near := spec.Suggest(name, names); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return nil, fmt.Errorf("the model does not use a column %q, so that nothing changes with it: %s", name, hint)
}

// set returns what replaces a column by a number, or adds one to it.
func (c *column) set(value float64, add bool) (changes []change) {
	if c.sparse >= 0 {
		return []change{{column: c.sparse, sparse: true, add: add, value: value}}
	}
	for _, place := range c.places {
		changes = append(changes, change{column: place, add: add, value: value})
	}
	return changes
}

// setText returns what replaces a column by what a text stands for: a level of training, true or false, a number.
func (c *column) setText(table *altered, text string) ([]change, error) {
	if c.category() {
		if !slices.Contains(c.levels, text) {
			return nil, fmt.Errorf("training has no level %q of column %s: it has %s", text, c.name, cell.List(c.levels))
		}
		return c.setLevel(table, text)
	}
	value, ok := c.parse(text)
	if as := table.schema.Reading.Notations[c.name]; as.Date != "" && text != "" {
		if days, fault := new(cell.Rules).Number([]byte(text), &as); fault == "" {
			value, ok = days, true
		} else if !ok {
			fault, _ = cell.WithoutRemedy(fault)
			return nil, fmt.Errorf("column %s: %s", c.name, fault)
		}
	}
	if !ok {
		return nil, fmt.Errorf("%q is no number, and column %s was one in training", text, c.name)
	}
	return c.set(value, false), nil
}

// setLevel returns what replaces a category by a level of training: where the model takes the column as a number, too,
// by that number.
func (c *column) setLevel(table *altered, level string) (changes []change, err error) {
	for _, place := range c.places {
		if table.schema.Columns[place].Kind == credence.Category {
			changes = append(changes, change{column: place, value: table.code(place, level)})
		} else if value, ok := c.parse(level); ok {
			changes = append(changes, change{column: place, value: value})
		} else {
			return nil, fmt.Errorf("level %q of column %s is no number, and the model takes the column as a number, too: replace it in the data, and take --predictions of them", level, c.name)
		}
	}
	return changes, nil
}

// parse reads a number, or a boolean where the column is no number.
func (c *column) parse(text string) (float64, bool) {
	if truth, ok := cell.ParseBoolean([]byte(text)); ok && c.kind != credence.Numeric {
		return truth, true
	}
	value, finite, ok := cell.ParseNumber([]byte(text))
	return value, ok && finite
}

// number writes a number for people.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
