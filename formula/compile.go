package formula

import (
	"path/filepath"
	"slices"
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
	// ReadFile opens the files that a formula names; nil refuses formulas that name one.
	ReadFile func(path string) ([]byte, error)
	// Namespaces says that a name that is no column is a namespace of Vowpal Wabbit text.
	Namespaces bool
	// Time is a column that is read beside the formula: "." leaves it out.
	Time string
}

// Plan is a compiled formula.
type Plan struct {
	// Frame is what the formula needs of a table, for [frame.Fit].
	Frame frame.Plan
	// Intercept says whether the model has one.
	Intercept bool

	// Warnings are about what the formula says in vain.
	Warnings []string

	formula spec.Formula // with its target
	family  Family
	linear  []int    // inputs of the linear block, in the order written
	segment bool     // the sparse segment is in it
	without []int32  // but for these columns, ascending
	except  []string // and what else of its names
	// What names that are no columns mean.
	namespaces   bool
	segmentWidth int
	files        []string        // that it names
	functions    []function      // the other blocks, in the order written
	read         *spec.Arguments // of the last function
}

// String is the formula with its target, in canonical spacing. Files that it names are named without
// their folders: a model tells nothing of the machine that it was fitted on.
func (p *Plan) String() string {
	text := p.formula.String()
	for _, path := range p.files {
		text = strings.ReplaceAll(text, spec.File{Path: path}.String(), spec.File{Path: filepath.Base(path)}.String())
	}
	return text
}

// Parse compiles the text of a formula. An empty one is every other column.
func Parse(text string, schema *credence.Schema, options Options) (*Plan, error) {
	tree, err := parse(text)
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

	index    map[string]int  // dense column → place in the schema
	inputs   map[string]int  // key of an expression → input
	target   string          // column of the target
	aside    map[string]bool // columns that "." leaves out, for whatever reason but a minus sign
	removed  map[string]bool // columns taken out by a minus sign
	removing bool            // the expression at hand stands behind a minus sign
	cut      map[string]bool // keys of interactions taken out
	inside   map[int]bool    // inputs in the linear block
	product  map[string]bool // keys of interactions in the formula
	written  map[string]bool // keys of columns and interactions that are terms of their own
	open     bool            // nothing is known of the table
	dot      []string        // what "." stands for among the dense columns; nil before the first pass
	block    bool            // "." has put the sparse segment into the linear block
	spaces   map[string]bool // namespaces that are terms
}

// Compile gives a formula its meaning for tables of a schema, or for a table of which nothing is known where schema is
// nil, see [Check]. An error is a [*spec.Error], but for a table that has no target by itself.
func Compile(tree spec.Formula, schema *credence.Schema, options Options) (*Plan, error) {
	c := &compiler{
		formula: tree, schema: schema, options: options, plan: &Plan{Intercept: true, family: options.Family}, open: schema == nil,
		inputs: map[string]int{}, aside: map[string]bool{}, removed: map[string]bool{},
		cut: map[string]bool{}, inside: map[int]bool{}, product: map[string]bool{}, written: map[string]bool{},
	}
	if c.open {
		c.schema, c.dot = &credence.Schema{}, unknownColumns()
	}
	c.formula = plain(c.formula)
	c.index = c.schema.Places()
	for j := range c.schema.Columns { // a column may be there by its texts alone
		if name, text := credence.CutText(c.schema.Columns[j].Name); text && c.dense(name) < 0 {
			c.index[name] = j
		}
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
	if c.options.Time != "" {
		c.aside[c.options.Time] = true
	}
	for _, term := range c.formula.Terms {
		if err := c.setAside(term); err != nil {
			return err
		}
	}
	if c.schema.Label {
		c.takeImportance()
	}
	for j := range c.schema.Columns {
		name, _ := credence.CutText(c.schema.Columns[j].Name)
		if !c.aside[name] && !c.removed[name] && c.index[name] == j && !c.besideFeatures(name) {
			c.dot = append(c.dot, name)
		}
	}
	for _, term := range c.formula.Terms {
		if term.Minus {
			// Once more, now that it is known what "." stands for.
			if err := eachTerm(term.Expr, c.remove); err != nil {
				return err
			}
		}
	}
	for _, term := range c.formula.Terms {
		var err error
		if !term.Minus {
			err = eachTerm(term.Expr, c.term)
		} else {
			err = eachTerm(term.Expr, func(e spec.Expr) error {
				if _, ok := e.(spec.Number); ok {
					c.plan.Intercept = false
				}
				return nil
			})
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
	p.namespaces, p.segmentWidth = c.options.Namespaces, c.schema.Sparse
	if p.segment {
		p.without, p.except = c.segmentWithout(c.removed, c.aside), c.names(c.removed, c.aside)
		if !c.block {
			p.without = c.namespaceColumns(func(space string) bool { return !c.spaces[space] || c.removed[space] })
		}
		if len(p.without) == c.schema.Sparse && !p.namespaces {
			p.segment, p.without = false, nil
		}
	}
	if !p.Intercept && len(p.linear) == 0 && !p.segment && len(p.functions) == 0 {
		return c.formula.Errorf(c.formula, "the formula has no terms").WithRemedy("add a column, or 1 for the intercept")
	}
	c.checkBars()
	if err := c.nameBlocks(); err != nil {
		return err
	}
	return c.checkTogether()
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
			f.label = f.node.String() + f.suffix
		}
		if f.again = known[f.label]; f.again {
			c.warnTwice(f.label)
		}
		known[f.label] = true
	}
	c.plan.functions = slices.DeleteFunc(c.plan.functions, func(f function) bool { return f.again })
	return nil
}

// warnTwice says that a term is written twice.
func (c *compiler) warnTwice(term string) {
	if text := term + " stands twice in the formula: it is one term"; !slices.Contains(c.plan.Warnings, text) {
		c.plan.Warnings = append(c.plan.Warnings, text)
	}
}

// setAside is the first pass: what "." leaves out, and offset, weight and precision.
func (c *compiler) setAside(term spec.Term) error {
	if term.Minus {
		return eachTerm(term.Expr, c.remove)
	}
	return eachTerm(term.Expr, func(e spec.Expr) error {
		call, ok := e.(spec.Call)
		if !ok {
			return nil
		}
		switch call.Name {
		case "offset", "weight", "precision":
			return c.besides(call)
		case "keep", "group":
			return c.setTogether(call)
		case spec.Bar, spec.Bars:
			return c.asideKey(call)
		case "onehot", "hash":
			for _, arg := range call.Args {
				if column, ok := arg.(spec.Column); ok {
					c.aside[column.Name] = true
				}
			}
		}
		return nil
	})
}

// takeImportance makes the importance of Vowpal Wabbit text the weight of a row, and the base an
// offset, where the formula has none.
func (c *compiler) takeImportance() {
	if c.dense("weight") >= 0 && c.plan.Frame.Weight == nil {
		weight := frame.Column("weight")
		c.plan.Frame.Weight = &weight
	}
	if c.dense("offset") >= 0 && len(c.plan.Frame.Offset) == 0 {
		c.plan.Frame.Offset = []frame.Expr{frame.Column("offset")}
	}
}

// besideFeatures says whether Vowpal Wabbit text has the column beside its features. A namespace may
// have the same name.
func (c *compiler) besideFeatures(name string) bool {
	return c.schema.Label && (name == "weight" || name == "offset" || name == "tag")
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

// leftOut refuses what is no column behind a minus sign, which one that was not read may be.
func (c *compiler) leftOut(node spec.Column) error {
	before := c.removing
	c.removing = true
	_, err := c.columnIn(c.formula.Source, node)
	c.removing = before
	return err
}

// remove notes what a minus sign takes out, which may be a column that was not read.
func (c *compiler) remove(e spec.Expr) error {
	c.removing = true
	defer func() { c.removing = false }()
	switch e := e.(type) {
	case spec.Number:
		return nil // see compile: the last of 1, 0 and - 1 counts
	case spec.Column:
		if err := c.leftOut(e); err != nil {
			return err
		}
		c.removed[e.Name] = true
		return nil
	case spec.Binary:
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
