package formula

import (
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/spec"
)

// segmentIndex returns the column of the sparse segment that has the name, or -1.
func (c *compiler) segmentIndex(name string) int { return c.schema.SparseIndex(c.schema.Sparse, name) }

// segmentWithout returns the columns of the segment among the names, ascending. The
// segment may be too wide to go through.
func (c *compiler) segmentWithout(names ...map[string]bool) []int32 {
	var columns []int32
	for _, set := range names {
		for name, is := range set {
			if !is {
				continue
			}
			if k := c.segmentIndex(name); k >= 0 {
				columns = append(columns, int32(k))
			}
			columns = append(columns, c.namespaceColumns(func(space string) bool { return space == name })...)
		}
	}
	slices.Sort(columns)
	return slices.Compact(columns)
}

// isNamespace reports whether columns of the sparse segment are features of a namespace.
func (c *compiler) isNamespace(name string) bool {
	return slices.ContainsFunc(c.schema.Features, func(f credence.SparseFeature) bool { return f.Token != "" && f.Namespace == name })
}

// namespaceColumns returns the columns of the sparse segment whose namespace is chosen, ascending.
func (c *compiler) namespaceColumns(chosen func(space string) bool) []int32 {
	var columns []int32
	for k, f := range c.schema.Features {
		if f.Token != "" && chosen(f.Namespace) {
			columns = append(columns, int32(k))
		}
	}
	return columns
}

// takeNamespace puts the features of a namespace into the linear block.
func (c *compiler) takeNamespace(name string) {
	if c.spaces == nil {
		c.spaces = map[string]bool{}
	}
	c.spaces[name] = true
	c.plan.segment, c.plan.Frame.Sparse = true, true
}

// separators may stand between the columns of a file that was read as one column.
const separators = " ;\t|:,"

// columnIn returns the kind of a column that a node of a text names.
func (c *compiler) columnIn(source string, node spec.Column) (credence.Kind, error) {
	if j, ok := c.index[node.Name]; ok {
		return c.schema.Columns[j].Kind, nil
	}
	if c.open || c.options.Namespaces || c.schema.Features != nil && len(c.schema.Features) == 0 || c.removing && slices.Contains(c.schema.Unread, node.Name) {
		return AnyKind, nil
	}
	if c.segmentIndex(node.Name) >= 0 || c.isNamespace(node.Name) {
		return credence.Numeric, nil
	}
	const most = 12 // names in a message
	err := spec.Errorf(source, node, "there is no column %q", node.Name)
	names := c.schema.Names()
	switch {
	case c.schema.Sparse == 0 && len(names) == 1 && strings.ContainsAny(names[0], separators):
		separator := names[0][strings.IndexAny(names[0], separators)]
		argument := "'" + string(rune(separator)) + "'"
		if separator == '\t' {
			argument = `$'\t'`
		}
		return credence.Numeric, err.WithRemedy("the file has one column, %q; if it is several, name what stands between them, as in --delimiter %s", names[0], argument)
	case c.schema.Sparse > 0:
		err.WithRemedy("numbered columns go from %s to %s", c.schema.SparseName(0), c.schema.SparseName(c.schema.Sparse-1))
	case len(names) <= most:
		err.WithRemedy("the columns are %s", strings.Join(names, ", "))
	default:
		err.WithRemedy("the columns are %s and %d others", strings.Join(names[:most-1], ", "), len(names)-most+1)
	}
	return credence.Numeric, err.DidYouMean(node.Name, names)
}

// transform returns the frame's function of that name.
func transform(name string) (frame.Function, bool) {
	_, known := frame.Function(name).Known()
	return frame.Function(name), known
}

// level compiles what is taken as levels: the cells of a column, which is itself where it is a category and otherwise
// that of its texts, or a part of a date.
func (c *compiler) level(node spec.Expr) (frame.Expr, error) {
	column, plain := node.(spec.Column)
	if call, ok := node.(spec.Call); !plain && (!ok || !frame.Function(call.Name).Part()) {
		return frame.Expr{}, c.formula.Errorf(node, "levels are those of a column as it is, or of a part of a date, and %s is neither", spec.Clip(node.String())).
			WithRemedy("write such as onehot(zip) or onehot(hour(time)), once for each")
	}
	e, kind, err := c.column(node)
	if !plain {
		return e.AsLevel(), err
	}
	if text := credence.TextOf(column.Name); c.dense(text) >= 0 || kind != credence.Category {
		e.Column = text
	}
	return e, err
}

// expressionIn compiles a column of a text under any number of transforms.
func (c *compiler) expressionIn(source string, e spec.Expr) (frame.Expr, credence.Kind, error) {
	switch e := e.(type) {
	case spec.Column:
		kind, err := c.columnIn(source, e)
		return frame.Column(e.Name), kind, err
	case spec.Call:
		f, ok := transform(e.Name)
		if !ok {
			if known(e.Name) {
				return frame.Expr{}, 0, spec.Errorf(source, e, "%s(…) is a term of its own, not a column", e.Name).
					WithRemedy("write a column, or one of %s of a column", functionList())
			}
			return frame.Expr{}, 0, unknownFunction(source, e)
		}
		a := spec.NewArguments(e, source)
		args := a.Positional()
		if err := a.Finish(); err != nil {
			return frame.Expr{}, 0, err
		}
		count, _ := f.Known()
		if count == 0 && len(args) != 1 {
			return frame.Expr{}, 0, spec.Errorf(source, e, "%s takes one column, not %d", e.Name, len(args)).WithRemedy("write %s(x)", e.Name)
		}
		if len(args) != 1+count {
			return frame.Expr{}, 0, spec.Errorf(source, e, "%s takes a column and %d numbers", e.Name, count).WithRemedy("write such as clip(x, 0, 10)")
		}
		var numbers [2]float64
		for k, arg := range args[1:] {
			n, ok := arg.(spec.Number)
			if !ok {
				return frame.Expr{}, 0, spec.Errorf(source, arg, "%s is not a number", spec.Clip(arg.String())).WithRemedy("write such as clip(x, 0, 10)")
			}
			numbers[k] = n.Value
		}
		inner, kind, err := c.expressionIn(source, args[0])
		if err != nil {
			return frame.Expr{}, 0, err
		}
		if kind == credence.Category {
			return frame.Expr{}, 0, spec.Errorf(source, args[0], "%s is a category, and %s needs numbers", args[0], e.Name).
				WithRemedy("use %s as a plain column", args[0])
		}
		if f.Part() && !c.open && kind != AnyKind && (len(inner.Steps) > 0 || c.schema.Reading.Notations[inner.Column].Date == "") {
			return frame.Expr{}, 0, spec.Errorf(source, args[0], "%s is not a date, and %s is a part of one", args[0], e.Name).
				WithRemedy("declare what holds dates with %s", cell.Types(inner.Column+"=date"))
		}
		x, wrong := inner.WithNumbers(f, numbers[0], numbers[1])
		if wrong != nil {
			return frame.Expr{}, 0, spec.Errorf(source, e, "%v", wrong)
		}
		return x, credence.Numeric, nil
	case spec.Dot:
		return frame.Expr{}, 0, spec.Errorf(source, e, "one column is needed here, not every other").WithRemedy("name it")
	case spec.Text:
		return frame.Expr{}, 0, spec.Errorf(source, e, "quoted text is no column").WithRemedy("write %s for a column of that name", spec.Column{Name: e.Value})
	}
	return frame.Expr{}, 0, spec.Errorf(source, e, "%s is not a column", spec.Clip(e.String())).
		WithRemedy("write a column, or one of %s of a column", functionList())
}

func functionList() string {
	names := make([]string, 0, len(frame.Functions()))
	for _, f := range frame.Functions() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// key identifies an expression: column names may hold any character but none
// is a NUL.
func key(e frame.Expr) string {
	var text strings.Builder
	text.WriteString(e.Column)
	if e.Keyed {
		text.WriteString("\x00\x00")
	}
	if e.Level {
		text.WriteString("\x00\x00\x00")
	}
	if e.Grouped {
		text.WriteString("\x00\x00\x00\x00")
	}
	for _, step := range e.Steps {
		fmt.Fprintf(&text, "\x00%s %g %g", step.Function, step.At, step.To)
	}
	return text.String()
}

// input returns the input of an expression, which it adds to the plan if need be.
func (c *compiler) input(e frame.Expr) int {
	k := key(e)
	i, ok := c.inputs[k]
	if !ok {
		i = len(c.plan.Frame.Inputs)
		c.inputs[k] = i
		c.plan.Frame.Inputs = append(c.plan.Frame.Inputs, e)
	}
	return i
}

// addLinear puts an expression into the linear block.
func (c *compiler) addLinear(e frame.Expr) {
	if len(e.Steps) == 0 && c.removed[e.Column] {
		return
	}
	if k := c.segmentIndex(e.Column); k >= 0 && len(e.Steps) == 0 && c.dense(e.Column) < 0 && c.block {
		return // "." brought it
	}
	i := c.input(e)
	if !c.inside[i] {
		c.inside[i] = true
		c.plan.linear = append(c.plan.linear, i)
	}
}

// dense returns the place of a column among the dense ones, or -1.
func (c *compiler) dense(name string) int {
	if j, ok := c.index[name]; ok {
		return j
	}
	return -1
}

// besides compiles offset, weight and precision.
func (c *compiler) besides(call spec.Call) error {
	a := spec.NewArguments(call, c.formula.Source)
	args := a.Positional()
	if err := a.Finish(); err != nil {
		return err
	}
	if len(args) != 1 {
		return c.formula.Errorf(call, "%s takes one column, not %d", call.Name, len(args)).WithRemedy("write %s(x)", call.Name)
	}
	if n, ok := args[0].(spec.Number); ok && call.Name == "offset" {
		if !special.Finite(n.Value) {
			return c.formula.Errorf(n, "an offset cannot be %s", n).WithRemedy("write a finite number")
		}
		c.plan.Frame.Offset = append(c.plan.Frame.Offset, frame.Constant(n.Value))
		return nil
	}
	e, kind, err := c.column(args[0])
	if err != nil {
		return err
	}
	if kind == credence.Category {
		return c.formula.Errorf(args[0], "%s is a category, and %s needs numbers", args[0], call.Name).WithRemedy("name a column of numbers")
	}
	c.aside[e.Column] = true
	if call.Name == "offset" {
		c.plan.Frame.Offset = append(c.plan.Frame.Offset, e)
		return nil
	}
	for _, step := range e.Steps {
		if step.Function == frame.Center || step.Function == frame.Scale {
			return c.formula.Errorf(args[0], "a %s cannot be centred", call.Name).WithRemedy("it is not negative: leave out %s", step.Function)
		}
	}
	place, kindOf := &c.plan.Frame.Weight, "weights"
	if call.Name == "precision" && c.options.Family.dispersed() {
		place, kindOf = &c.plan.Frame.Precision, "precisions"
	}
	if *place != nil {
		return c.formula.Errorf(call, "there are two %s", kindOf).WithRemedy("make their product a column of its own")
	}
	*place = &e
	return nil
}
