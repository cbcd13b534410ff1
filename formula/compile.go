package formula

import (
	"os"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/spec"
)

// Limits that keep a short text from meaning too much.
const (
	MostProducts      = 100_000 // interactions that one term multiplies out to
	MostSegmentInputs = 4096    // columns of a sparse segment in one function
)

// Options are what Compile needs beside formula and schema.
type Options struct {
	// Target is the target of a formula that names none: a column, or a function
	// of one. Without it a libsvm table has its label.
	Target string
	// Family is the family, whose trials are no inputs. The zero value is that left out.
	Family Family
	// ReadFile opens the files that a formula names; nil means os.ReadFile.
	ReadFile func(path string) ([]byte, error)
}

// Plan is a compiled formula.
type Plan struct {
	// Frame is what the formula needs of a table, for [frame.Fit].
	Frame frame.Plan
	// Intercept says whether the model has one.
	Intercept bool

	formula   spec.Formula // with its target
	linear    []int        // inputs of the linear block, in the order written
	segment   bool         // the sparse segment is in it
	without   []int32      // but for these columns, ascending
	functions []function   // the other blocks, in the order written
}

// String is the formula with its target, in canonical spacing.
func (p *Plan) String() string { return p.formula.String() }

// Parse compiles the text of a formula. An empty one is every other column.
func Parse(text string, schema *credence.Schema, options Options) (*Plan, error) {
	if strings.TrimSpace(text) == "" {
		return Compile(spec.Formula{Terms: []spec.Term{{Expr: spec.Dot{}}}}, schema, options)
	}
	tree, err := spec.ParseFormula(text)
	if err != nil {
		return nil, err
	}
	return Compile(tree, schema, options)
}

// compiler is the state of one Compile.
type compiler struct {
	formula spec.Formula
	schema  *credence.Schema
	options Options
	plan    *Plan

	index   map[string]int  // dense column → place in the schema
	inputs  map[string]int  // key of an expression → input
	target  string          // column of the target
	aside   map[string]bool // columns that "." leaves out, for whatever reason but a minus sign
	removed map[string]bool // columns taken out by a minus sign
	cut     map[string]bool // keys of interactions taken out
	inside  map[int]bool    // inputs in the linear block
	product map[string]bool // keys of interactions in the formula
	open    bool            // the schema is made up: what "." and named files hold is unknown
	dot     []string        // what "." stands for among the dense columns; nil before the first pass
	block   bool            // "." has put the sparse segment into the linear block
}

// Compile gives a formula its meaning for tables of a schema. An error is a [*spec.Error],
// but for a table that has no target by itself.
func Compile(tree spec.Formula, schema *credence.Schema, options Options) (*Plan, error) {
	return compileFor(tree, schema, options, false)
}

func compileFor(tree spec.Formula, schema *credence.Schema, options Options, open bool) (*Plan, error) {
	if options.ReadFile == nil {
		options.ReadFile = os.ReadFile
	}
	c := &compiler{
		formula: tree, schema: schema, options: options, plan: &Plan{Intercept: true}, open: open,
		index: map[string]int{}, inputs: map[string]int{}, aside: map[string]bool{}, removed: map[string]bool{},
		cut: map[string]bool{}, inside: map[int]bool{}, product: map[string]bool{},
	}
	for j := len(schema.Columns) - 1; j >= 0; j-- { // of equal names the first counts
		c.index[schema.Columns[j].Name] = j
	}
	if err := c.setTarget(); err != nil {
		return nil, err
	}
	if err := c.compile(); err != nil {
		return nil, err
	}
	c.plan.formula = c.formula
	return c.plan, nil
}

func (c *compiler) compile() error {
	if e := c.options.Family.trials; e != nil {
		if err := c.setTrials(e); err != nil {
			return err
		}
	}
	for _, term := range c.formula.Terms {
		if err := c.setAside(term); err != nil {
			return err
		}
	}
	for j := range c.schema.Columns {
		if name := c.schema.Columns[j].Name; !c.aside[name] && !c.removed[name] && c.index[name] == j {
			c.dot = append(c.dot, name)
		}
	}
	for _, term := range c.formula.Terms {
		if term.Minus {
			// Once more, now that it is known what "." stands for.
			if err := c.remove(term.Expr); err != nil {
				return err
			}
		}
	}
	for _, term := range c.formula.Terms {
		var err error
		if !term.Minus {
			err = c.term(term.Expr)
		} else if _, ok := term.Expr.(spec.Number); ok {
			c.plan.Intercept = false
		}
		if err != nil {
			return err
		}
	}
	return c.finish()
}

// finish settles what the terms together decide.
func (c *compiler) finish() error {
	p := c.plan
	if p.segment {
		p.without = c.segmentWithout(c.removed, c.aside)
		if len(p.without) == c.schema.Sparse {
			p.segment, p.without = false, nil
		}
	}
	if !p.Intercept && len(p.linear) == 0 && !p.segment && len(p.functions) == 0 {
		return c.formula.Errorf(c.formula, "the formula has no terms").WithRemedy("add a column, or 1 for the intercept")
	}
	return c.nameBlocks()
}

// nameBlocks gives functions that differ in their key=value arguments alone
// their full text as a name.
func (c *compiler) nameBlocks() error {
	count := map[string]int{}
	for _, f := range c.plan.functions {
		count[f.label]++
	}
	known := map[string]bool{}
	for i := range c.plan.functions {
		f := &c.plan.functions[i]
		if count[f.label] > 1 {
			f.label = f.node.String()
		}
		if known[f.label] {
			return c.formula.Errorf(f.node, "%s stands twice in the formula", f.label).WithRemedy("leave one out")
		}
		known[f.label] = true
	}
	return nil
}

// setAside is the first pass: what "." leaves out, and offset and weight.
func (c *compiler) setAside(term spec.Term) error {
	if term.Minus {
		return c.remove(term.Expr)
	}
	return eachTerm(term.Expr, func(e spec.Expr) error {
		call, ok := e.(spec.Call)
		if !ok {
			return nil
		}
		switch call.Name {
		case "offset", "weight":
			return c.besides(call)
		case "onehot":
			if len(call.Args) == 1 {
				if column, ok := call.Args[0].(spec.Column); ok {
					c.aside[column.Name] = true
				}
			}
		}
		return nil
	})
}

// eachTerm visits the summands of a term that is a sum in parentheses.
func eachTerm(e spec.Expr, visit func(spec.Expr) error) error {
	if sum, ok := e.(spec.Binary); ok && sum.Op == spec.Plus {
		if err := eachTerm(sum.Left, visit); err != nil {
			return err
		}
		return eachTerm(sum.Right, visit)
	}
	return visit(e)
}

// remove notes what a minus sign takes out.
func (c *compiler) remove(e spec.Expr) error {
	switch e := e.(type) {
	case spec.Number:
		return nil // see compile: the last of 1, 0 and - 1 counts
	case spec.Column:
		if _, err := c.column(e); err != nil {
			return err
		}
		c.removed[e.Name] = true
		return nil
	case spec.Binary:
		if e.Op == spec.Plus {
			if err := c.remove(e.Left); err != nil {
				return err
			}
			return c.remove(e.Right)
		}
		products, err := c.expand(e)
		if err != nil {
			return err
		}
		for _, product := range products {
			if len(product) == 1 && len(product[0].Steps) == 0 {
				c.removed[product[0].Column] = true
			} else if len(product) > 1 {
				c.cut[productKey(product)] = true
			}
		}
		return nil
	}
	return c.formula.Errorf(e, "%s cannot be taken out", e).WithRemedy("leave the term out instead")
}
