package formula

import (
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/spec"
)

// togetherColumns are the expressions that keep(…) or group(…) names: columns, transforms and onehot(c).
func (c *compiler) togetherColumns(call spec.Call) ([]frame.Expr, error) {
	a := c.arguments(call)
	args := a.Positional()
	if err := a.Finish(); err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return nil, c.formula.Errorf(call, "%s needs a column", call.Name).WithRemedy("write %s(a, b)", call.Name)
	}
	var list []frame.Expr
	for _, arg := range args {
		if inner, ok := arg.(spec.Call); ok && isOneHot(inner) {
			e, err := c.level(inner.Args[0])
			if err != nil {
				return nil, err
			}
			list = append(list, e)
			continue
		}
		if column, ok := arg.(spec.Column); ok && c.dense(column.Name) < 0 && c.isNamespace(column.Name) {
			return nil, c.formula.Errorf(arg, "%s is a namespace, and %s takes columns", column, call.Name).WithRemedy("name the columns")
		}
		e, _, err := c.column(arg)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// setTogether takes the columns of keep(…) and group(…) out of ".".
func (c *compiler) setTogether(call spec.Call) error {
	list, err := c.togetherColumns(call)
	for _, e := range list {
		name, _ := credence.CutText(e.Column)
		c.aside[name] = true
	}
	return err
}

// together compiles keep(…) and group(…), a block of plain columns each.
func (c *compiler) together(call spec.Call) error {
	list, err := c.togetherColumns(call)
	if err != nil {
		return err
	}
	f := newFunction(call)
	for _, e := range list {
		if i := c.input(e); !slices.Contains(f.inputs, i) {
			f.inputs = append(f.inputs, i)
		}
	}
	c.plan.functions = append(c.plan.functions, f)
	return nil
}

// checkTogether refuses a column that stands both in keep(…) or group(…) and in a term of its own or another
// of the two: it would be selected in two ways. Products and functions of it are other features.
func (c *compiler) checkTogether() error {
	known := map[int]string{}
	for _, i := range c.plan.linear {
		known[i] = "a term of its own"
	}
	for _, f := range c.plan.functions {
		if f.kind == "onehot" {
			known[f.inputs[0]] = f.label
		}
	}
	for _, f := range c.plan.functions {
		if f.kind != "keep" && f.kind != "group" {
			continue
		}
		for _, i := range f.inputs {
			if other, twice := known[i]; twice {
				return c.formula.Errorf(f.node, "%s stands in %s too: a column is selected in one way", c.plan.Frame.Inputs[i], other).
					WithRemedy("leave it out of one of the two")
			}
			known[i] = f.label
		}
	}
	return nil
}

// indicates reports whether keep(…) or group(…) has the column, whose indicator of missing values then
// stands there too.
func (p *Plan) indicates(column string) bool {
	return slices.ContainsFunc(p.functions, func(f function) bool {
		return (f.kind == "keep" || f.kind == "group") &&
			slices.ContainsFunc(f.inputs, func(i int) bool { return p.Frame.Inputs[i].Column == column })
	})
}

// withIndicators are the inputs of f and the indicators of their missing values.
func (f *function) withIndicators(fr *frame.Frame) []int {
	inputs := slices.Clone(f.inputs)
	for i := range fr.Inputs {
		if in := &fr.Inputs[i]; in.Indicates && slices.ContainsFunc(f.inputs, func(k int) bool { return fr.Inputs[k].Expr.Column == in.Expr.Column }) {
			inputs = append(inputs, i)
		}
	}
	return inputs
}
