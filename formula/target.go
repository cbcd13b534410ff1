package formula

import (
	"errors"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/spec"
)

// column compiles a column of the formula under any number of transforms, and refuses the target.
func (c *compiler) column(node spec.Expr) (frame.Expr, credence.Kind, error) {
	e, kind, err := c.expressionIn(c.formula.Source, node)
	if err == nil && e.Column == c.target {
		err = c.formula.Errorf(node, "%s is the target", spec.Column{Name: e.Column}).WithRemedy("leave it out of the terms")
	}
	return e, kind, err
}

// setTarget finds the target and spells it out in the formula.
func (c *compiler) setTarget() error {
	if c.formula.Target == nil {
		if err := c.defaultTarget(); err != nil {
			return err
		}
	} else if c.options.Target != "" {
		same := c.formula.Target.String() == c.options.Target
		if column, ok := c.formula.Target.(spec.Column); ok {
			same = same || column.Name == c.options.Target
		}
		if !same {
			return c.formula.Errorf(c.formula.Target, "the target is %s here and %s in --target", c.formula.Target, c.options.Target).
				WithRemedy("leave one out")
		}
	}
	source := c.formula.Source
	if c.formula.Target.At() == (spec.Position{}) { // it stands in no text, or in another
		source = ""
	}
	e, _, err := c.expressionIn(source, c.formula.Target)
	if err != nil {
		return err
	}
	if c.dense(e.Column) < 0 && !c.open {
		return spec.Errorf(source, c.formula.Target, "%s is a column of the sparse segment, and cannot be the target", e.Column).
			WithRemedy("name a column that stands in every row")
	}
	c.target = e.Column
	c.aside[e.Column] = true
	c.plan.Frame.Target = &e
	return nil
}

// ErrNoTarget is the refusal of a formula without a target where no option and no format names one.
var ErrNoTarget = errors.New("formula: no target: write target ~ terms, or name one with --target")

// defaultTarget is that of the options, else the label of a libsvm table.
func (c *compiler) defaultTarget() error {
	name := c.options.Target
	switch {
	case name == "" && c.schema.Label && len(c.schema.Columns) > 0:
		c.formula.Target = spec.Column{Name: c.schema.Columns[0].Name}
	case name == "" && c.open:
		c.formula.Target = spec.Column{Name: unknownTarget}
	case name == "":
		return ErrNoTarget
	case c.dense(name) >= 0:
		c.formula.Target = spec.Column{Name: name}
	default:
		tree, err := spec.ParseFormula(name + " ~ 1")
		if err != nil && c.open { // the table may have a column of that name
			c.formula.Target = spec.Column{Name: name}
			return nil
		}
		if err != nil {
			_, err = c.columnIn("", spec.Column{Name: name})
			return err
		}
		if _, _, err := c.expressionIn("", tree.Target); err != nil {
			return err
		}
		c.formula.Target = unplaced(tree.Target)
	}
	return nil
}

// unplaced returns the target without its place, which is in another text.
func unplaced(e spec.Expr) spec.Expr {
	switch e := e.(type) {
	case spec.Column:
		e.Position = spec.Position{}
		return e
	case spec.Call:
		e.Position = spec.Position{}
		args := make([]spec.Expr, len(e.Args))
		for i := range args {
			args[i] = unplaced(e.Args[i])
		}
		e.Args = args
		return e
	}
	return e
}

// setTrials compiles the trials of the family, which is another text.
func (c *compiler) setTrials(e spec.Expr) error {
	source := c.options.Family.source
	trials, kind, err := c.expressionIn(source, e)
	if err != nil {
		return err
	}
	if kind == credence.Category {
		return spec.Errorf(source, e, "%s is a category, and trials are numbers", e).WithRemedy("name a column of numbers")
	}
	if trials.Column == c.target {
		return spec.Errorf(source, e, "%s is the target", e).WithRemedy("name the column that holds the number of trials")
	}
	c.aside[trials.Column] = true
	c.plan.Frame.Trials = &trials
	return nil
}
