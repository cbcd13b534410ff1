package formula

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// bar is what is compiled of a term such as (1 + x | g); its key is the inputs of the function.
type bar struct {
	columns      [][]int // inputs of each column that varies by group; none is 1
	split        bool    // of ||: what a category stands for is several terms
	sd           param.List
	correlations []float64
}

// bar compiles (columns | key, sd=, cor=), which may be several terms.
func (c *compiler) bar(call spec.Call) error {
	a := c.arguments(call)
	left, right := a.Positional()[0], a.Positional()[1]
	b := bar{split: call.Name == spec.Bars}
	b.sd = a.Means("standard deviation of the effects of groups, of columns as they enter the fit; a list has one for each", "").Settings("sd", spec.Positive())
	cor := a.Means("correlations of the effects, held: one for all, or those of the lower triangle by rows", "").Settings("cor", spec.Between(-1, 1))
	b.correlations = cor.Values
	if err := a.Finish(); err != nil {
		return err
	}
	names, several, err := c.varying(&b, left)
	if err != nil {
		return err
	}
	k := len(b.columns)
	if k > feature.MostColumns && !b.split {
		return c.formula.Errorf(left, "%d columns vary together by group, and up to %d can", k, feature.MostColumns).WithRemedy("write || in the place of |, which has no correlations, or fewer columns")
	}
	if n := len(b.sd.Values); n > 1 && n != k && !several {
		written, _ := a.Argument("sd")
		return c.formula.Errorf(written, "%d standard deviations are given for %d %s", n, k, cell.Plural(k, "column", "columns")).WithRemedy("give %d, or a single one for all", k)
	}
	if written, ok := a.Argument("cor"); ok {
		if several {
			k = 0
		}
		if err := c.checkCorrelations(written, cor, k, b.split); err != nil {
			return err
		}
	}
	keys, err := c.keys(right)
	if err != nil {
		return err
	}
	for _, key := range keys {
		for j, alone := range b.columns {
			if !b.split {
				err = c.addBar(call, b, names, key)
				break
			}
			one := bar{columns: [][]int{alone}, split: true, sd: b.sd}
			if len(b.sd.Values) > 1 {
				one.sd.Values = b.sd.Values[j : j+1]
			}
			if err = c.addBar(call, one, names[j:j+1], key); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// varying compiles the columns that vary by group, with their names; several says that a column may be a category,
// which is as many columns as it has levels.
func (c *compiler) varying(b *bar, e spec.Expr) (names []string, several bool, err error) {
	constant := true
	var add func(e spec.Expr) error
	add = func(e spec.Expr) error {
		switch e := e.(type) {
		case spec.Number:
			constant = e.Value == 1
			return nil
		case spec.Negative:
			if _, ok := e.Operand.(spec.Number); ok {
				constant = false
				return nil
			}
		case spec.Dot:
			return c.formula.Errorf(e, ". is every other column, and these vary by group by name").WithRemedy("name the columns, such as (x + z || g)")
		case spec.Call:
			if e.IsBar() {
				return c.formula.Errorf(e, "a | stands within another").WithRemedy("write groups within groups as (1 | g/h)")
			}
			if _, ok := transform(e.Name); !ok && known(e.Name) && !isOneHot(e) {
				return c.formula.Errorf(e, "%s(…) does not vary by group: columns and their transforms do", e.Name).WithRemedy("write such as (x | g) beside %s", spec.Clip(e.String()))
			}
		case spec.Binary:
			if _, ok := e.Right.(spec.Number); ok && e.Op == spec.Minus {
				err := add(e.Left)
				constant = false
				return err
			}
			if e.Op == spec.Plus {
				if err := add(e.Left); err != nil {
					return err
				}
				return add(e.Right)
			}
			if e.Op == spec.Minus {
				return c.formula.Errorf(e, "columns of a group are not taken out").WithRemedy("write those that vary, such as (x + z | g)")
			}
		}
		products, err := c.expand(e)
		for _, product := range products {
			var inputs []int
			var parts []string
			for _, x := range product {
				inputs, parts = append(inputs, c.input(x)), append(parts, x.String())
				several = several || c.isLevel(x)
			}
			if name := strings.Join(parts, ":"); !slices.Contains(names, name) {
				b.columns, names = append(b.columns, inputs), append(names, name)
			}
		}
		return err
	}
	if err := add(e); err != nil {
		return nil, false, err
	}
	levels := slices.ContainsFunc(b.columns, func(inputs []int) bool {
		return !slices.ContainsFunc(inputs, func(i int) bool { return !c.isLevel(c.plan.Frame.Inputs[i]) })
	})
	if constant && !levels { // a column for each level has the constant among them
		b.columns, names = append([][]int{nil}, b.columns...), append([]string{"1"}, names...)
	} else if len(b.columns) == 0 {
		return nil, false, c.formula.Errorf(e, "no column varies by group").WithRemedy("write (1 | g), or (0 + x | g)")
	}
	return names, several || c.open, nil
}

// isLevel reports whether an expression is a category.
func (c *compiler) isLevel(x frame.Expr) bool {
	if j := c.dense(x.Column); j >= 0 && len(x.Steps) == 0 {
		return c.schema.Columns[j].Kind == credence.Category
	}
	_, text := credence.CutText(x.Column)
	return x.Level || text
}

// checkCorrelations refuses what no correlations are of k columns, or of any number where k is 0.
func (c *compiler) checkCorrelations(written spec.Argument, cor param.List, k int, split bool) error {
	n, known := len(cor.Values), k
	if k == 0 || n > 1 {
		for k = 2; k*(k-1)/2 < n; k++ {
		}
	}
	factor := make([]float64, k*k) // Cholesky's
	possible := true
	for i, at := 0, 0; i < k && k*(k-1)/2 >= n; i++ {
		for j := range i + 1 {
			sum := 1.0
			if j < i {
				sum = cor.Values[min(at, n-1)]
				at++
			}
			for l := range j {
				sum -= factor[i*k+l] * factor[j*k+l]
			}
			if j < i {
				factor[i*k+j] = sum / factor[j*k+j]
				continue
			}
			possible = possible && sum > 0
			factor[i*k+i] = math.Sqrt(sum)
		}
	}
	switch {
	case cor.State == param.Guess:
		return c.formula.Errorf(written, "cor= is held, so it cannot be a starting guess").WithRemedy("drop the ~, or leave cor= out to have the correlations learned")
	case split || known == 1:
		return c.formula.Errorf(written, "there are no correlations of one column, nor of those of ||").WithRemedy("leave cor= out, or write such as (1 + x | g, cor=0)")
	case n > 1 && k*(k-1)/2 != n:
		return c.formula.Errorf(written, "%d correlations are those of no number of columns", n).WithRemedy("give the lower triangle by rows, 1 for 2 columns, 3 for 3, 6 for 4, or a single one for all")
	case n > 1 && known > 0 && known != k:
		return c.formula.Errorf(written, "%d correlations are those of %d columns, and %d vary by group", n, k, known).WithRemedy("give the lower triangle by rows, %d for %d columns, or a single one for all", known*(known-1)/2, known)
	case !possible:
		return c.formula.Errorf(written, "no columns have the correlations %s", spec.Clip(written.Value.String())).WithRemedy("each is above -1 and below 1, and so is each given the others: move them towards 0")
	}
	return nil
}

// keys compiles what stands behind a bar: g, g:h, or g/h, which is g and g:h.
func (c *compiler) keys(e spec.Expr) ([][]frame.Expr, error) {
	if nested, ok := e.(spec.Binary); ok && nested.Op == spec.Nested {
		outer, err := c.keys(nested.Left)
		if err != nil {
			return nil, err
		}
		inner, err := c.key(nested.Right)
		return append(outer, slices.Concat(outer[len(outer)-1], inner)), err
	}
	key, err := c.key(e)
	return [][]frame.Expr{key}, err
}

// key compiles g or g:h.
func (c *compiler) key(e spec.Expr) ([]frame.Expr, error) {
	switch e := e.(type) {
	case spec.Column, spec.Call:
		if call, ok := e.(spec.Call); ok && call.IsBar() {
			return nil, c.formula.Errorf(e, "a | stands within another").WithRemedy("write groups within groups as (1 | g/h)")
		}
		x, err := c.level(e)
		x.Grouped = true
		return []frame.Expr{x}, err
	case spec.Binary:
		if e.Op == spec.Interaction {
			left, right, err := both(e, c.key)
			return append(left, right...), err
		}
		if e.Op == spec.Plus || e.Op == spec.Cross {
			return nil, c.formula.Errorf(e, "%s are several groups", spec.Clip(e.String())).WithRemedy("write a term for each, such as (1 | g) + (1 | h), or (1 | g:h) for their combinations")
		}
	}
	return nil, c.formula.Errorf(e, "%s tells no groups", spec.Clip(e.String())).WithRemedy("write a column, g, the combinations of columns, g:h, or groups within groups, g/h")
}

// addBar adds a term for one key, named in its canonical form.
func (c *compiler) addBar(call spec.Call, b bar, names []string, key []frame.Expr) error {
	f := function{kind: "bar", node: call, bar: &b}
	var groups []string
	for _, x := range key {
		i := c.input(x)
		if slices.Contains(f.inputs, i) {
			return c.formula.Errorf(call, "%s has %s twice among its groups", spec.Clip(call.String()), x).WithRemedy("name it once")
		}
		f.inputs, groups = append(f.inputs, i), append(groups, x.String())
	}
	if b.columns[0] != nil {
		names = append([]string{"0"}, names...)
	}
	f.label = "(" + strings.Join(names, " + ") + " | " + strings.Join(groups, ":") + ")"
	if slices.ContainsFunc(c.plan.functions, func(other function) bool { return other.label == f.label }) {
		c.warnTwice(f.label)
		return nil
	}
	c.plan.functions = append(c.plan.functions, f)
	return nil
}

// asideKey takes the columns of groups out of ".".
func (c *compiler) asideKey(call spec.Call) error {
	keys, err := c.keys(call.Args[1])
	for _, key := range keys {
		for _, x := range key {
			name, _ := credence.CutText(x.Column)
			c.aside[name] = true
		}
	}
	return err
}

// checkBars makes one term of (1 | g) and onehot(g), and warns of a column that is a plain term and a group too.
func (c *compiler) checkBars() {
	p := c.plan
	used := func(k int) bool {
		return slices.Contains(p.linear, k) || slices.ContainsFunc(p.functions, func(f function) bool {
			return slices.Contains(f.inputs, k) || f.kind == "bar" && slices.ContainsFunc(f.bar.columns, func(inputs []int) bool { return slices.Contains(inputs, k) })
		})
	}
	for _, f := range slices.Clone(p.functions) { // which lose some as the loop goes
		if f.kind != "bar" || len(f.inputs) != 1 || len(f.bar.columns) != 1 || f.bar.columns[0] != nil {
			continue
		}
		plain := p.Frame.Inputs[f.inputs[0]]
		plain.Grouped = false
		for k, input := range p.Frame.Inputs {
			if key(input) != key(plain) {
				continue
			}
			p.functions = slices.DeleteFunc(p.functions, func(other function) bool {
				same := other.kind == "onehot" && other.inputs[0] == k
				if same {
					p.Warnings = append(p.Warnings, other.label+" and "+f.label+" are the same columns: they are one term, "+f.label)
				}
				return same
			})
			if !used(k) { // what is left of one term takes other levels too
				p.Frame.Inputs[k].Grouped = true
			}
			if slices.Contains(p.linear, k) {
				p.Warnings = append(p.Warnings, input.String()+" is a plain term and has effects of groups, "+f.label+": leave one of the two out")
			}
		}
	}
}

// Bars names the terms of groups, whose groups are written as formulas read them.
func (p *Plan) Bars() (labels []string) {
	for _, f := range p.functions {
		if f.kind == "bar" {
			left, _, _ := strings.Cut(f.label, " | ")
			groups := make([]string, len(f.inputs))
			for k, input := range f.inputs {
				groups[k] = p.Frame.Inputs[input].Written()
			}
			labels = append(labels, left+" | "+strings.Join(groups, ":")+")")
		}
	}
	return labels
}

// multilevel makes the features of a term of groups, several where a category is split into its levels.
func (f *function) multilevel(in *feature.Inputs, data credence.Data) (terms []feature.Term, err error) {
	t := &feature.Multilevel{
		Name: f.label, Key: f.inputs, Columns: f.bar.columns,
		SD: f.bar.sd.Values, Held: f.bar.sd.State == param.Held && len(f.bar.sd.Values) > 0, Correlations: f.bar.correlations,
	}
	var batches iter.Seq2[*credence.Batch, error]
	if len(t.Key) > 1 {
		batches = credence.Batches(context.Background(), data)
	}
	parts := []*feature.Multilevel{t}
	if f.bar.split {
		parts = t.Split(in)
	}
	if t, err = parts[0].OfRows(in, batches); err != nil {
		return nil, err
	}
	for _, part := range parts {
		part.Met = t.Met
		terms = append(terms, part)
	}
	return terms, nil
}
