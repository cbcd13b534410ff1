package spec

import "slices"

// same reports whether two trees say the same thing: same shape, names and
// values, wherever they stand and whatever their source. The order of
// arguments counts.
func same(a, b Node) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case Formula:
		b, ok := b.(Formula)
		return ok && same(a.Target, b.Target) && slices.EqualFunc(a.Terms, b.Terms, alike)
	case Term:
		b, ok := b.(Term)
		return ok && a.Minus == b.Minus && same(a.Expr, b.Expr)
	case Argument:
		b, ok := b.(Argument)
		return ok && a.Key == b.Key && a.Guess == b.Guess && same(a.Value, b.Value)
	case Column:
		b, ok := b.(Column)
		return ok && a.Name == b.Name
	case Dot:
		_, ok := b.(Dot)
		return ok
	case Number:
		b, ok := b.(Number)
		return ok && a.Value == b.Value
	case Text:
		b, ok := b.(Text)
		return ok && a.Value == b.Value
	case File:
		b, ok := b.(File)
		return ok && a.Path == b.Path
	case List:
		b, ok := b.(List)
		return ok && slices.EqualFunc(a.Items, b.Items, alike)
	case Call:
		b, ok := b.(Call)
		return ok && a.Name == b.Name && slices.EqualFunc(a.Args, b.Args, alike) &&
			slices.EqualFunc(a.Named, b.Named, alike)
	case Binary:
		b, ok := b.(Binary)
		return ok && a.Op == b.Op && same(a.Left, b.Left) && same(a.Right, b.Right)
	case Negative:
		b, ok := b.(Negative)
		return ok && same(a.Operand, b.Operand)
	}
	return false
}

func alike[N Node](a, b N) bool { return same(a, b) }

// walk calls visit on n and then, if visit returned true, on everything below
// it, in the order of the text form.
func walk(n Node, visit func(Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	switch n := n.(type) {
	case Formula:
		if n.Target != nil {
			walk(n.Target, visit)
		}
		walkAll(n.Terms, visit)
	case Term:
		walk(n.Expr, visit)
	case Argument:
		walk(n.Value, visit)
	case List:
		walkAll(n.Items, visit)
	case Call:
		walkAll(n.Args, visit)
		walkAll(n.Named, visit)
	case Binary:
		walk(n.Left, visit)
		walk(n.Right, visit)
	case Negative:
		walk(n.Operand, visit)
	}
}

func walkAll[N Node](nodes []N, visit func(Node) bool) {
	for _, n := range nodes {
		walk(n, visit)
	}
}
