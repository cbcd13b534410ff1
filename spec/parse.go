package spec

import "unicode/utf8"

// Limits on what is read. A formula that names ten thousand columns one by one
// fits many times over; deeper or longer ones are mistakes or attacks.
const (
	MaxLength    = 1 << 20 // bytes of a text
	MaxDepth     = 100     // brackets within brackets
	MaxOperators = 1000    // in one sum or product inside brackets, or one term
	MaxKeys      = 100     // key=value arguments of one call
)

// ParseFormula reads "target ~ terms", or terms alone. An error is an [*Error].
func ParseFormula(text string) (Formula, error) { return parse(text, "formula", (*parser).formula) }

// ParseSpec reads name or name(argument, …, key=value, …): a family, prior or
// engine. An error is an [*Error].
func ParseSpec(text string) (Call, error) { return parse(text, "text", (*parser).spec) }

// parse reads a text, which messages call noun, by a rule.
func parse[T any](text, noun string, rule func(*parser) (T, *Error)) (tree T, err error) {
	p, err := newParser(text, noun)
	if err != nil {
		return tree, err
	}
	read, problem := rule(p)
	if problem != nil { // a nil *Error must not become a non-nil error
		return tree, problem
	}
	return read, nil
}

// context says what an expression may hold: a term holds columns, calls and
// the intercept; an argument holds any value, and -2 is a number.
type context bool

const (
	inTerm     context = false
	inArgument context = true
)

// parser is a recursive descent over the grammar of the package comment, one
// method a rule, with one token of look-ahead.
type parser struct {
	scanner
	noun     string // what the whole text is called in messages
	previous token  // the last one consumed; endToken at the start
	current  token
	ahead    token
	depth    int
	key      bool // it reads what stands behind a bar
}

func newParser(text, noun string) (*parser, error) {
	whole := Position{Length: len(text)}
	if len(text) > MaxLength {
		// The text itself is left out of the error: it is the problem.
		return nil, Errorf("", nil, "the %s is %d bytes long, the limit is %d", noun, len(text), MaxLength).
			WithRemedy("use . for every other column, or name fewer")
	}
	if !utf8.ValidString(text) {
		for i, r := range text {
			if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
				whole = Position{Offset: i, Length: 1}
				break
			}
		}
		return nil, Errorf(text, Dot{whole}, "the %s is not valid UTF-8 here", noun).WithRemedy("save or type it as UTF-8")
	}
	p := &parser{scanner: scanner{source: text}, noun: noun}
	p.advance()
	p.advance()
	p.previous = token{}
	return p, nil
}

// advance consumes the current token.
func (p *parser) advance() token {
	p.previous, p.current, p.ahead = p.current, p.ahead, p.scanner.token()
	return p.previous
}

// accept consumes the current token if it is the sign.
func (p *parser) accept(sign string) bool {
	if p.current.is(sign) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) fail(at Position, format string, args ...any) *Error {
	return Errorf(p.source, Dot{at}, format, args...)
}

func (p *parser) formula() (Formula, *Error) {
	f := Formula{Position: Position{Length: len(p.source)}, Source: p.source}
	if p.current.kind == endToken {
		return f, p.fail(Position{}, "the formula is empty").
			WithRemedy("write one such as y ~ . (every other column) or y ~ x1 + x2")
	}
	if p.current.is("~") {
		return f, p.fail(p.current.at(), "no target stands before ~").
			WithRemedy("write target ~ terms, or the terms alone without ~")
	}
	terms, err := p.terms()
	if err != nil {
		return f, err
	}
	if p.current.is("~") {
		if f.Target, err = p.target(terms); err != nil {
			return f, err
		}
		p.advance()
		if terms, err = p.terms(); err != nil {
			return f, err
		}
	}
	f.Terms = terms
	if p.current.kind != endToken {
		return f, p.afterTerm(f.Target != nil)
	}
	return f, nil
}

// target checks that what stood before ~ can be one.
func (p *parser) target(before []Term) (Expr, *Error) {
	if len(before) > 1 {
		return nil, p.fail(between(before[0].Position, before[len(before)-1].Position), "the target is one column, or one function of a column").
			WithRemedy("make the sum a column of its own")
	}
	switch e := before[0].Expr.(type) {
	case Column, Call:
		if call, ok := e.(Call); !before[0].Minus && !(ok && call.IsBar()) {
			return e, nil
		}
	case Dot:
		return nil, p.fail(e.Position, "the target cannot be . (every other column)").WithRemedy("name one column before ~")
	}
	return nil, p.fail(before[0].Position, "the target is one column, or one function of a column").
		WithRemedy("write for example y ~ x or log(y) ~ x")
}

// terms reads [ + | - ] term { ( + | - ) term }.
func (p *parser) terms() ([]Term, *Error) {
	var terms []Term
	start := p.current.offset
	minus := p.accept("-")
	if !minus {
		p.accept("+")
	}
	for {
		e, err := p.product(inTerm)
		if err != nil {
			return nil, err
		}
		term := Term{Position: Position{start, p.previous.end - start}, Minus: minus, Expr: e}
		if minus {
			if err := p.removable(e); err != nil {
				return nil, err
			}
		}
		terms = append(terms, term)
		start = p.current.offset
		switch {
		case p.accept("+"):
			minus = false
		case p.accept("-"):
			minus = true
		default:
			return terms, nil
		}
	}
}

// removable checks what stands behind a minus sign between terms.
func (p *parser) removable(e Expr) *Error {
	switch e := e.(type) {
	case Column:
		return nil
	case Number:
		if e.Value == 1 {
			return nil
		}
		return p.fail(e.Position, "there is nothing to take out in - 0").
			WithRemedy("write + 0 or - 1 for no intercept; with one is the default")
	case Dot:
		return p.fail(e.Position, "- . would take out every column").WithRemedy("leave . out of the formula instead")
	case Binary:
		switch e.Op {
		case Interaction, Cross: // any operands: a * log(b) - a:log(b)
			return nil
		case Plus:
			if err := p.removable(e.Left); err != nil {
				return err
			}
			return p.removable(e.Right)
		}
	case Call:
		what := e.Name + "(…)"
		if e.operator() || e.IsBar() {
			what = e.String()
		}
		err := p.fail(e.Position, "only columns, interactions and the intercept can be taken out, not %s", what)
		if len(e.Args) == 1 {
			if c, ok := e.Args[0].(Column); ok {
				return err.WithRemedy("write - %s, or leave the term out", c)
			}
		}
		return err.WithRemedy("leave the term out instead")
	}
	return p.fail(e.At(), "a minus sign within what is taken out has no clear meaning").
		WithRemedy("write the terms out one by one, such as . - a - b")
}

func (p *parser) spec() (Call, *Error) {
	first := p.current
	switch first.kind {
	case nameToken:
	case badToken:
		return Call{}, first.err
	case endToken:
		return Call{}, p.fail(Position{}, "the text is empty").WithRemedy("write a name, alone or with arguments: name(key=value)")
	default:
		return Call{}, p.fail(first.at(), "a name is expected here, not %s", p.shown(first)).
			WithRemedy("write a name, alone or with arguments: name(key=value)")
	}
	c := Call{Position: first.at(), Name: first.text}
	p.advance()
	if p.current.is("(") {
		var err *Error
		if c, err = p.call(first); err != nil {
			return Call{}, err
		}
		c.nested = false
	}
	switch t := p.current; {
	case t.kind == endToken:
		return c, nil
	case t.kind == badToken:
		return Call{}, t.err
	case t.is("="):
		return Call{}, p.fail(t.at(), "key=value belongs inside the parentheses of a name").WithRemedy("write name(%s=…)", first.text)
	case t.is(")"):
		return Call{}, p.fail(t.at(), `unexpected ")"`).WithRemedy("no ( is open here: delete it")
	default:
		return Call{}, p.fail(t.at(), "%s follows the end of %s", p.shown(t), first.text).
			WithRemedy("write one name, with its arguments in parentheses: name(key=value)")
	}
}
