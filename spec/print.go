package spec

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/credence-ml/credence/internal/cell"
)

// The text of a node is in canonical spacing, with the parentheses and the quotes that it needs, and
// reads back as the same tree. Numbers are the shortest decimals of their float64, and positional
// arguments stand first. A spec without arguments is its bare name.

// String is the text of the formula.
func (f Formula) String() string { return text(f) }

// String is the text of the term, with its minus sign.
func (t Term) String() string { return text(t) }

// String is key=value or key=~value.
func (a Argument) String() string { return text(a) }

func (c Column) String() string   { return text(c) }
func (Dot) String() string        { return "." }
func (n Number) String() string   { return formatNumber(n.Value) }
func (t Text) String() string     { return quote(t.Value, '"') }
func (f File) String() string     { return text(f) }
func (l List) String() string     { return text(l) }
func (b Binary) String() string   { return text(b) }
func (n Negative) String() string { return text(n) }
func (c Call) String() string {
	if len(c.Args) == 0 && len(c.Named) == 0 && !c.nested {
		return c.Name
	}
	return text(c)
}

// operator reports whether the call is that of an operator with a number.
func (c Call) operator() bool {
	return (c.Name == "^" || comparison(c.Name) != "") && len(c.Args) == 2
}

func text(n Node) string {
	var out strings.Builder
	write(&out, n, 0)
	return out.String()
}

// Binding strengths. A Negative binds like a sum: -a:b is -(a:b), and it needs
// parentheses everywhere but at the start of a sum.
const (
	bindsSum = iota + 1
	bindsProduct
	bindsInteraction
	bindsPower
	bindsAtom
)

func strength(n Node) int {
	switch n := n.(type) {
	case Binary:
		return n.Op.strength()
	case Negative:
		return bindsSum
	case Call:
		switch {
		case !n.operator():
		case n.Name == "^":
			return bindsPower
		default: // looser than it is read, for whoever reads it
			return bindsSum
		}
	}
	return bindsAtom
}

func (o Operator) strength() int {
	switch o {
	case Interaction:
		return bindsInteraction
	case Cross, Nested:
		return bindsProduct
	}
	return bindsSum
}

// write appends n, in parentheses if it binds more loosely than least.
func write(out *strings.Builder, n Node, least int) {
	if strength(n) < least {
		out.WriteByte('(')
		defer out.WriteByte(')')
	}
	switch n := n.(type) {
	case Formula:
		writeFormula(out, n)
	case Term:
		if n.Minus {
			out.WriteByte('-')
		}
		write(out, n.Expr, bindsProduct)
	case Argument:
		out.WriteString(n.Key)
		out.WriteByte('=')
		if n.Guess {
			out.WriteByte('~')
		}
		write(out, n.Value, 0)
	case Column:
		out.WriteString(cell.Column(n.Name))
	case File:
		out.WriteByte('@')
		if n.Path == "" || strings.ContainsFunc(n.Path, endsPath) {
			out.WriteString(quote(n.Path, '"'))
		} else {
			out.WriteString(n.Path)
		}
	case List:
		out.WriteByte('[')
		for i, item := range n.Items {
			separate(out, i)
			write(out, item, 0)
		}
		out.WriteByte(']')
	case Call:
		if n.operator() {
			least, sign := bindsPower, " "+n.Name+" "
			if n.Name == "^" {
				least, sign = bindsAtom, n.Name
			}
			write(out, n.Args[0], least)
			out.WriteString(sign)
			write(out, n.Args[1], 0)
			return
		}
		if n.IsBar() && len(n.Args) == 2 {
			out.WriteByte('(')
			write(out, n.Args[0], 0)
			out.WriteString(" " + n.Name + " ")
			write(out, n.Args[1], 0)
			for _, arg := range n.Named {
				out.WriteString(", ")
				write(out, arg, 0)
			}
			out.WriteByte(')')
			return
		}
		out.WriteString(n.Name)
		out.WriteByte('(')
		for i, arg := range n.Args {
			separate(out, i)
			write(out, arg, 0)
		}
		for i, arg := range n.Named {
			separate(out, len(n.Args)+i)
			write(out, arg, 0)
		}
		out.WriteByte(')')
	case Binary:
		write(out, n.Left, n.Op.strength())
		if n.Op == Interaction || n.Op == Nested {
			out.WriteString(n.Op.String())
		} else {
			out.WriteString(" " + n.Op.String() + " ")
		}
		write(out, n.Right, n.Op.strength()+1)
	case Negative:
		out.WriteByte('-')
		switch n.Operand.(type) {
		case Column, Dot, Call:
			write(out, n.Operand, 0)
		default: // -2 would read back as a literal, -2 * a as (-2) * a
			out.WriteByte('(')
			write(out, n.Operand, 0)
			out.WriteByte(')')
		}
	case nil:
	default:
		out.WriteString(n.String())
	}
}

func writeFormula(out *strings.Builder, f Formula) {
	if f.Target != nil {
		write(out, f.Target, bindsProduct)
		out.WriteString(" ~ ")
	}
	for i, term := range f.Terms {
		if i > 0 {
			if term.Minus {
				out.WriteString(" - ")
				term.Minus = false
			} else {
				out.WriteString(" + ")
			}
		}
		write(out, term, 0)
	}
}

func separate(out *strings.Builder, i int) {
	if i > 0 {
		out.WriteString(", ")
	}
}

func quote(s string, mark byte) string {
	q := string(rune(mark))
	return q + strings.ReplaceAll(s, q, q+q) + q
}

// formatNumber writes shortest round-trip decimals, positional where a person
// would: 1e-3 prints as 0.001, 1e6 as 1000000, 1e-9 as 1e-9.
func formatNumber(v float64) string {
	switch size := math.Abs(v); {
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case size == 0 || size >= 1e-4 && size < 1e15:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	s := strconv.FormatFloat(v, 'e', -1, 64)
	s = strings.Replace(s, "e+", "e", 1)
	return strings.Replace(s, "e-0", "e-", 1)
}

// endsPath reports the characters that end a file path written without quotes.
func endsPath(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune(",()[]\"'`", r)
}
