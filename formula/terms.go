package formula

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/spec"
)

// term compiles one summand that is put in.
func (c *compiler) term(e spec.Expr) error {
	switch e := e.(type) {
	case spec.Number:
		c.plan.Intercept = e.Value == 1
		return nil
	case spec.Column:
		if c.dense(e.Name) < 0 && c.isNamespace(e.Name) {
			c.takeNamespace(e.Name)
			return nil
		}
		if c.removed[e.Name] { // and need not have been read
			return c.warnOut(e)
		}
		x, _, err := c.column(e)
		if err == nil {
			c.addWritten(x)
		}
		return err
	case spec.Dot:
		return c.addDot(e)
	case spec.Call:
		return c.call(e)
	case spec.Binary:
		if holds(e, isKernelCall) {
			return c.kernels(e)
		}
		return c.products(e)
	}
	return c.formula.Errorf(e, "%s is not a term", spec.Clip(e.String())).WithRemedy("write a column, a function of columns, or an interaction a:b")
}

// addWritten puts a term that stands by itself into the linear block, and warns if it did before.
func (c *compiler) addWritten(e frame.Expr) {
	if k := key(e); c.written[k] {
		c.warnTwice(e.String())
	} else {
		c.written[k] = true
	}
	c.addLinear(e)
}

// warnOut says that a column is written and taken out.
func (c *compiler) warnOut(e spec.Column) error {
	if text := e.String() + " is written and taken out by a minus sign: it is not in the model"; !slices.Contains(c.plan.Warnings, text) {
		c.plan.Warnings = append(c.plan.Warnings, text)
	}
	return c.leftOut(e)
}

// addDot puts every other column into the linear block.
func (c *compiler) addDot(e spec.Dot) error {
	if len(c.dot) == 0 && c.schema.Sparse == 0 && !c.schema.Label && !c.options.Namespaces {
		return c.formula.Errorf(e, ". stands for no column: there is none besides those with another role").
			WithRemedy("write 1 for a model of the intercept alone")
	}
	for _, name := range c.dot {
		c.addLinear(frame.Column(name))
	}
	if (c.schema.Sparse > 0 || c.options.Namespaces) && !c.block {
		c.block, c.plan.segment, c.plan.Frame.Sparse = true, true, true
		// Columns of the segment that were named before are in it twice otherwise.
		c.plan.linear = slices.DeleteFunc(c.plan.linear, func(i int) bool {
			input := c.plan.Frame.Inputs[i]
			return len(input.Steps) == 0 && c.dense(input.Column) < 0
		})
	}
	return nil
}

// Functions lists the functions of formulas with their options.
func Functions() []Function {
	list := functions()
	for i := range list {
		f := &list[i]
		text := "y ~ x + " + cmp.Or(f.example, f.Name+"(z)")
		if plan, err := Check(text, Options{}); err == nil && plan.read != nil {
			f.Options = plan.read.Options()
		}
	}
	return list
}

// functionNames are the names of functions, in the order of messages.
func functionNames() []string {
	names := make([]string, len(functions()))
	for i, f := range functions() {
		names[i] = f.Name
	}
	return names
}

// arguments returns a reader of a function's arguments, which the plan remembers for Functions.
func (c *compiler) arguments(call spec.Call) *spec.Arguments {
	c.plan.read = spec.NewArguments(call, c.formula.Source)
	return c.plan.read
}

func known(name string) bool { return slices.Contains(functionNames(), name) }

// elsewhere holds functions of formulas in R and patsy, with what they are called here.
var elsewhere = map[string]string{
	"factor": "onehot(%s)", "C": "onehot(%s)",
	"I": "x^2 or (x > 3) as they are; a sum or product of columns is a column of its own", "ifelse": "a comparison times a column, such as (x > 3):z", "lag": "a column made before, because rows have no order here", "mo": "onehot(%s), a weight for every level", "te": "hsgp(%s)", "ti": "hsgp(%s)",
	"spline": "s(%s)", "ns": "s(%s)", "bs": "s(%s)", "cr": "s(%s)", "cc": "s(%s, period=…), which states after how much of the column the curve repeats",
	"trials": "no term: --family 'binomial(trials=%s)' names the column", "cbind": "the column of successes as the target, and --family 'binomial(trials=…)'",
	"Surv": "event ~ … + offset(log(time)) with --family poisson, of events 0 and 1, for a constant hazard: censored times have no family of their own",
}

func unknownFunction(source string, call spec.Call) error {
	at := call
	at.Length = len(call.Name) // point at the name
	if here, ok := elsewhere[call.Name]; ok {
		if strings.Contains(here, "%") { // with the columns that were written
			var columns []string
			for _, arg := range call.Args {
				if column, ok := arg.(spec.Column); ok {
					columns = append(columns, column.String())
				}
			}
			here = fmt.Sprintf(here, cmp.Or(strings.Join(columns, ", "), "x"))
		}
		return spec.Errorf(source, at, "there is no function %q", call.Name).WithRemedy("write %s", here)
	}
	return spec.Errorf(source, at, "there is no function %q", call.Name).
		WithRemedy("the functions are %s", strings.Join(functionNames(), ", ")).DidYouMean(call.Name, functionNames())
}

// call compiles a function that is a term.
func (c *compiler) call(call spec.Call) error {
	if _, ok := transform(call.Name); ok {
		e, _, err := c.column(call)
		if err == nil {
			c.addWritten(e)
		}
		return err
	}
	switch call.Name {
	case "offset", "weight", "precision":
		return nil // the first pass did it
	case spec.Bar, spec.Bars:
		return c.bar(call)
	}
	if f := functionOf(call.Name); f.compile != nil {
		return f.compile(c, call)
	}
	return unknownFunction(c.formula.Source, call)
}

// isOneHot says whether a call is onehot of one argument.
func isOneHot(e spec.Call) bool { return e.Name == "onehot" && len(e.Args) == 1 && len(e.Named) == 0 }

// group compiles the columns that a function takes: names, transforms, ".", and ". - a".
func (c *compiler) group(call spec.Call, args []spec.Expr) (inputs []int, segment bool, without []int32, err error) {
	if len(args) == 0 {
		return nil, false, nil, c.formula.Errorf(call, "%s needs a column", call.Name).WithRemedy("write %s(x), or %s(.) for every other column of numbers", call.Name, call.Name)
	}
	var named []frame.Expr
	left := map[string]bool{} // of the segment
	for _, arg := range args {
		arg, out, err := c.takenOut(call.Name, arg)
		if err != nil {
			return nil, false, nil, err
		}
		switch arg := arg.(type) {
		case spec.Dot:
			for _, name := range c.dot {
				if j := c.dense(name); !out[name] && (j < 0 || c.schema.Columns[j].Kind != credence.Category) {
					named = append(named, frame.Column(name))
				}
			}
			segment = segment || c.schema.Sparse > 0
			maps.Copy(left, out)
		case spec.Binary:
			return nil, false, nil, c.formula.Errorf(arg, "%s takes columns one by one", call.Name).WithRemedy("separate them by commas, or make %s a column of its own", spec.Clip(arg.String()))
		default:
			e, kind, err := c.column(arg)
			if err != nil {
				return nil, false, nil, err
			}
			if kind == credence.Category {
				return nil, false, nil, c.formula.Errorf(arg, "%s is a category, and %s needs numbers", spec.Clip(arg.String()), call.Name).WithRemedy("leave it out, or add onehot(%s) as a term", spec.Clip(arg.String()))
			}
			named = append(named, e)
		}
	}
	seen := map[string]bool{}
	for _, e := range named {
		if k := key(e); !seen[k] {
			seen[k] = true
			inputs = append(inputs, c.input(e))
		}
	}
	if segment {
		without = c.segmentWithout(c.removed, c.aside, left, seen)
		if columns := c.schema.Sparse - len(without); columns > MostSegmentInputs {
			return nil, false, nil, c.formula.Errorf(call, "%s of %d sparse columns is more than the %d that it can take", call.Name, columns, MostSegmentInputs).
				WithRemedy("name the columns")
		}
		segment = len(without) < c.schema.Sparse
	}
	if len(inputs) == 0 && !segment {
		return nil, false, nil, c.formula.Errorf(call, "%s is left with no column of numbers", call.Name).WithRemedy("name one")
	}
	return inputs, segment, without, nil
}

// takenOut splits ". - a - b", an argument of a function, into what the columns are taken out of and these.
func (c *compiler) takenOut(function string, e spec.Expr) (rest spec.Expr, out map[string]bool, err error) {
	out = map[string]bool{}
	for {
		minus, ok := e.(spec.Binary)
		if !ok || minus.Op != spec.Minus {
			return e, out, nil
		}
		column, ok := minus.Right.(spec.Column)
		if !ok {
			return nil, nil, c.formula.Errorf(minus.Right, "only columns can be taken out of .").WithRemedy("write for example %s(. - a - b)", function)
		}
		if err := c.leftOut(column); err != nil {
			return nil, nil, err
		}
		out[column.Name], e = true, minus.Left
		if _, ok := e.(spec.Column); ok {
			return nil, nil, c.formula.Errorf(minus, "%s is a difference of columns", spec.Clip(minus.String())).WithRemedy("make it a column of its own, or write %s(. - %s) to leave one out", function, column)
		}
	}
}

// plain writes words of R as those that the language has: factor(c) and C(c) as onehot(c), and I(…) as what it holds.
func plain(f spec.Formula) spec.Formula {
	if f.Target != nil {
		f.Target = plainExpr(f.Target)
	}
	f.Terms = slices.Clone(f.Terms)
	for i := range f.Terms {
		f.Terms[i].Expr = plainExpr(f.Terms[i].Expr)
	}
	return f
}

func plainExpr(e spec.Expr) spec.Expr {
	switch e := e.(type) {
	case spec.Binary:
		e.Left, e.Right = plainExpr(e.Left), plainExpr(e.Right)
		return e
	case spec.Call:
		e.Args = slices.Clone(e.Args)
		for i := range e.Args {
			e.Args[i] = plainExpr(e.Args[i])
		}
		if len(e.Args) != 1 || len(e.Named) > 0 {
			return e
		}
		switch inner := e.Args[0].(type) {
		case spec.Column, spec.Call:
			if e.Name == "I" {
				return inner
			}
		}
		if e.Name == "factor" || e.Name == "C" {
			e.Name = "onehot"
		}
		return e
	}
	return e
}
