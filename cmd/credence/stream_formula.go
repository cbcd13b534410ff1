package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence/dataset/stream"
	"github.com/credence-ml/credence/spec"
)

// streamPlan compiles a formula to the plan of a stream. Streams know columns,
// crosses, hash, onehot, transforms of one column, weight and offset; nothing is
// centred or scaled.
func streamPlan(text string, plan *stream.Plan) error {
	if strings.TrimSpace(text) == "" {
		plan.All = true
		return nil
	}
	f, err := spec.ParseFormula(text)
	if err != nil {
		return err
	}
	c := streamCompiler{formula: f, plan: plan}
	if f.Target != nil {
		column, ok := f.Target.(spec.Column)
		if !ok {
			return f.Errorf(f.Target, "the target of a stream is a column").WithRemedy("write its name, and --positive for the class that counts")
		}
		plan.Target = column.Name
	}
	for _, t := range f.Terms {
		if err := c.term(t); err != nil {
			return err
		}
	}
	return nil
}

// streamCompiler turns the terms of a formula into those of a plan.
type streamCompiler struct {
	formula spec.Formula
	plan    *stream.Plan
}

func (c *streamCompiler) term(t spec.Term) error {
	if n, ok := t.Expr.(spec.Number); ok {
		if (n.Value == 1) == t.Minus {
			return c.formula.Errorf(t, "a stream keeps its intercept").WithRemedy("leave %q out", t.String())
		}
		return nil
	}
	if t.Minus {
		column, ok := t.Expr.(spec.Column)
		if !ok {
			return c.formula.Errorf(t, "a stream takes out columns alone").WithRemedy("write - name")
		}
		c.plan.Except = append(c.plan.Except, column.Name)
		return nil
	}
	return c.add(t.Expr, options{})
}

// options are those of the hash that a term stands in.
type options struct {
	tokens bool
	bits   int
}

// add adds an expression as a term.
func (c *streamCompiler) add(e spec.Expr, o options) error {
	switch e := e.(type) {
	case spec.Dot:
		if c.plan.All {
			return c.formula.Errorf(e, "every other column is taken twice").WithRemedy("write one .")
		}
		c.plan.All, c.plan.Tokens, c.plan.Bits = true, o.tokens, o.bits
		return nil
	case spec.Column:
		return c.put(stream.Term{Columns: []string{e.Name}, Tokens: o.tokens, Bits: o.bits})
	case spec.Binary:
		return c.binary(e, o)
	case spec.Call:
		return c.call(e, o)
	}
	return c.formula.Errorf(e, "a stream has no such term").WithRemedy("write columns, a:b, hash(…), log(x), weight(w), offset(e)")
}

// put adds a term once.
func (c *streamCompiler) put(t stream.Term) error {
	for _, other := range c.plan.Terms {
		if other.String() == t.String() {
			return fmt.Errorf("the formula has %s twice: write it once", t)
		}
	}
	c.plan.Terms = append(c.plan.Terms, t)
	return nil
}

func (c *streamCompiler) binary(e spec.Binary, o options) error {
	switch e.Op {
	case spec.Plus:
		if err := c.add(e.Left, o); err != nil {
			return err
		}
		return c.add(e.Right, o)
	case spec.Cross:
		if err := c.add(e.Left, o); err != nil {
			return err
		}
		if err := c.add(e.Right, o); err != nil {
			return err
		}
	case spec.Interaction:
	default:
		return c.formula.Errorf(e, "a stream has no difference of columns").WithRemedy("make the column before")
	}
	columns, err := c.crossed(e)
	if err != nil {
		return err
	}
	return c.put(stream.Term{Columns: columns, Tokens: o.tokens, Bits: o.bits})
}

// crossed returns the columns of a:b:c.
func (c *streamCompiler) crossed(e spec.Expr) ([]string, error) {
	switch e := e.(type) {
	case spec.Column:
		return []string{e.Name}, nil
	case spec.Binary:
		if e.Op != spec.Interaction && e.Op != spec.Cross {
			break
		}
		left, err := c.crossed(e.Left)
		if err != nil {
			return nil, err
		}
		right, err := c.crossed(e.Right)
		return append(left, right...), err
	}
	return nil, c.formula.Errorf(e, "a stream crosses columns alone").WithRemedy("write a:b")
}

func (c *streamCompiler) call(e spec.Call, o options) error {
	a := spec.NewArguments(e, c.formula.Source)
	switch e.Name {
	case "hash", "onehot":
		inner := options{tokens: true, bits: o.bits}
		if e.Name == "hash" {
			inner.bits = a.Int("bits", o.bits, spec.Between(1, stream.MaxBits))
		}
		arguments := a.Positional()
		if err := a.Finish(); err != nil {
			return err
		}
		if len(arguments) == 0 {
			return c.formula.Errorf(e, "%s has no columns", e.Name).WithRemedy("write %s(.) or name columns", e.Name)
		}
		for _, argument := range arguments {
			if err := c.add(argument, inner); err != nil {
				return err
			}
		}
		return nil
	case "weight":
		t, err := c.single(e, a)
		if err != nil {
			return err
		}
		if len(t.Transforms) > 0 || c.plan.Weight != "" {
			return c.formula.Errorf(e, "a stream has one weight, which is a column").WithRemedy("write weight(column) once")
		}
		c.plan.Weight = t.Columns[0]
		return nil
	case "offset":
		t, err := c.single(e, a)
		if err != nil {
			return err
		}
		if len(c.plan.Offset.Columns) > 0 {
			return c.formula.Errorf(e, "a stream has one offset").WithRemedy("add the offsets before")
		}
		c.plan.Offset = t
		return nil
	case "log", "sqrt", "exp", "square":
		t, err := c.transformed(e)
		if err != nil {
			return err
		}
		if o.tokens {
			return c.formula.Errorf(e, "a transform is a number, which is not hashed").WithRemedy("write hash(%s)", t.Columns[0])
		}
		return c.put(t)
	}
	names := []string{"hash", "onehot", "log", "sqrt", "exp", "square", "weight", "offset"}
	return c.formula.Errorf(e, "a stream has no function %q", e.Name).
		WithRemedy("use %s, or fit for the others", strings.Join(names, ", ")).DidYouMean(e.Name, names)
}

// single reads the one argument of weight or offset.
func (c *streamCompiler) single(e spec.Call, a *spec.Arguments) (stream.Term, error) {
	arguments := a.Positional()
	if err := a.Finish(); err != nil {
		return stream.Term{}, err
	}
	if len(arguments) != 1 {
		return stream.Term{}, c.formula.Errorf(e, "%s has one argument", e.Name).WithRemedy("write %s(column)", e.Name)
	}
	return c.transformed(arguments[0])
}

// transformed reads a column under transforms.
func (c *streamCompiler) transformed(e spec.Expr) (stream.Term, error) {
	switch e := e.(type) {
	case spec.Column:
		return stream.Term{Columns: []string{e.Name}}, nil
	case spec.Call:
		if !slices.Contains([]string{"log", "sqrt", "exp", "square"}, e.Name) {
			break
		}
		a := spec.NewArguments(e, c.formula.Source)
		arguments := a.Positional()
		if err := a.Finish(); err != nil {
			return stream.Term{}, err
		}
		if len(arguments) != 1 {
			return stream.Term{}, c.formula.Errorf(e, "%s has one argument", e.Name).WithRemedy("write %s(column)", e.Name)
		}
		t, err := c.transformed(arguments[0])
		t.Transforms = append(t.Transforms, e.Name)
		return t, err
	}
	return stream.Term{}, c.formula.Errorf(e, "a stream transforms single columns").WithRemedy("write log, sqrt, exp or square of a column")
}

// streamFormula is the formula in words that mean the plan.
func streamFormula(plan *stream.Plan) string {
	target := plan.Target
	if target == "" {
		target = "label"
	}
	var terms []string
	hashed := func(text string, tokens bool, bits int) string {
		switch {
		case bits > 0:
			return fmt.Sprintf("hash(%s, bits=%d)", text, bits)
		case tokens:
			return "hash(" + text + ")"
		}
		return text
	}
	if plan.All {
		terms = append(terms, hashed(".", plan.Tokens, plan.Bits))
	}
	quoted := func(name string) string { return spec.Column{Name: name}.String() }
	written := func(t stream.Term) string {
		u := t
		u.Columns = nil
		for _, name := range t.Columns {
			u.Columns = append(u.Columns, quoted(name))
		}
		return u.String()
	}
	for _, t := range plan.Terms {
		terms = append(terms, hashed(written(t), t.Tokens, t.Bits))
	}
	if plan.Weight != "" {
		terms = append(terms, "weight("+quoted(plan.Weight)+")")
	}
	if len(plan.Offset.Columns) > 0 {
		terms = append(terms, "offset("+written(plan.Offset)+")")
	}
	text := quoted(target) + " ~ " + strings.Join(terms, " + ")
	for _, name := range plan.Except {
		text += " - " + quoted(name)
	}
	return text
}
