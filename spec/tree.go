package spec

import "slices"

// Equal reports whether two trees say the same thing: same shape, names and
// values, wherever they stand and whatever their source. The order of
// arguments counts.
func Equal(a, b Node) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case Formula:
		b, ok := b.(Formula)
		return ok && Equal(a.Target, b.Target) && slices.EqualFunc(a.Terms, b.Terms, equal)
	case Term:
		b, ok := b.(Term)
		return ok && a.Minus == b.Minus && Equal(a.Expr, b.Expr)
	case Argument:
		b, ok := b.(Argument)
		return ok && a.Key == b.Key && a.Guess == b.Guess && Equal(a.Value, b.Value)
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
		return ok && slices.EqualFunc(a.Items, b.Items, equal)
	case Call:
		b, ok := b.(Call)
		return ok && a.Name == b.Name && slices.EqualFunc(a.Args, b.Args, equal) &&
			slices.EqualFunc(a.Named, b.Named, equal)
	case Binary:
		b, ok := b.(Binary)
		return ok && a.Op == b.Op && Equal(a.Left, b.Left) && Equal(a.Right, b.Right)
	case Negative:
		b, ok := b.(Negative)
		return ok && Equal(a.Operand, b.Operand)
	}
	return false
}

func equal[N Node](a, b N) bool { return Equal(a, b) }

// Walk calls visit on n and then, if visit returned true, on everything below
// it, in the order of the text form.
func Walk(n Node, visit func(Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	switch n := n.(type) {
	case Formula:
		if n.Target != nil {
			Walk(n.Target, visit)
		}
		walkAll(n.Terms, visit)
	case Term:
		Walk(n.Expr, visit)
	case Argument:
		Walk(n.Value, visit)
	case List:
		walkAll(n.Items, visit)
	case Call:
		walkAll(n.Args, visit)
		walkAll(n.Named, visit)
	case Binary:
		Walk(n.Left, visit)
		Walk(n.Right, visit)
	case Negative:
		Walk(n.Operand, visit)
	}
}

func walkAll[N Node](nodes []N, visit func(Node) bool) {
	for _, n := range nodes {
		Walk(n, visit)
	}
}
