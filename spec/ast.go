package spec

// Position is where a node stands in its source text, in bytes. Nodes built by
// hand have the zero Position.
type Position struct {
	Offset int // of the first byte
	Length int // may be 0: a place between two characters
}

// At returns the position itself; every node has the method by embedding.
func (p Position) At() Position { return p }

// end is the offset just behind the node.
func (p Position) end() int { return p.Offset + p.Length }

// between is the position from the first byte of a to the last of b.
func between(a, b Position) Position {
	return Position{Offset: a.Offset, Length: b.end() - a.Offset}
}

// Node is any part of a tree: a [Formula], [Term], [Argument] or [Expr].
type Node interface {
	// At is where the node stands in the source.
	At() Position
	// String is the text form; parsing it gives an [Equal] tree.
	String() string
}

// Expr is an expression: a [Column], [Dot], [Number], [Text], [File], [List],
// [Call], [Binary] or [Negative], always as a value, never as a pointer.
// Parentheses leave no node of their own.
type Expr interface {
	Node
	expression()
}

// Formula is "target ~ terms", or terms alone.
type Formula struct {
	Position
	Source string // the text it was read from
	Target Expr   // Column or Call; nil when the formula is terms alone
	Terms  []Term // at least one after parsing, in the order written
}

// Term is one summand of a formula. A Number here is 1 or 0, the intercept.
type Term struct {
	Position
	Minus bool // taken out rather than put in; see the package comment
	Expr  Expr
}

// Column is a bare or backquoted name: a column, or a word such as true.
type Column struct {
	Position
	Name string // without backquotes; never empty
}

// Dot is ".", every column not named elsewhere.
type Dot struct{ Position }

// Number is a literal; inside calls it may be negative or infinite, never NaN.
type Number struct {
	Position
	Value float64
}

// Text is a quoted string.
type Text struct {
	Position
	Value string // without quotes
}

// File is a reference to a file, @path. The path is as written: nothing is
// expanded or opened.
type File struct {
	Position
	Path string // without @ and quotes; never empty
}

// List is [a, b, …].
type List struct {
	Position
	Items []Expr
}

// Call is name(argument, …, key=value, …), and the whole of a spec. A power x^2 and a comparison x > 3 are calls of
// an operator, with a number for the second argument, and (columns | key, key=value, …) is one of [Bar] or [Bars].
type Call struct {
	Position
	Name  string // a plain name, or an operator
	Args  []Expr // positional
	Named []Argument

	// nested: read as part of an expression, where name() without its
	// parentheses would be a column.
	nested bool
}

// Argument is key=value or key=~value.
type Argument struct {
	Position
	Key   string // a plain name
	Guess bool   // written with ~: a starting guess, not a held value
	Value Expr
}

// Operator is the sign of a [Binary].
type Operator byte

// The operators, from the tightest binding to the loosest. All associate to
// the left.
const (
	Interaction Operator = ':' // a:b
	Nested      Operator = '/' // a/b, behind a bar: a and a:b
	Cross       Operator = '*' // a + b + a:b of columns; the product of kernels
	Plus        Operator = '+'
	Minus       Operator = '-'
)

// The names of terms that vary by the levels of a key: (x | g), and (x || g) whose columns vary independently.
const (
	Bar  = "|"
	Bars = "||"
)

// IsBar reports whether the call is a term that varies by the levels of a key.
func (c Call) IsBar() bool { return c.Name == Bar || c.Name == Bars }

// String is the sign.
func (o Operator) String() string { return string(rune(o)) }

// Binary is Left Op Right.
type Binary struct {
	Position
	Op          Operator
	Left, Right Expr
}

// Negative is a leading minus before anything but a number literal: -log(x).
type Negative struct {
	Position
	Operand Expr
}

func (Column) expression()   {}
func (Dot) expression()      {}
func (Number) expression()   {}
func (Text) expression()     {}
func (File) expression()     {}
func (List) expression()     {}
func (Call) expression()     {}
func (Binary) expression()   {}
func (Negative) expression() {}
