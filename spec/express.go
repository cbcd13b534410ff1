package spec

// sum reads [ + | - ] product { ( + | - ) product }, inside brackets.
func (p *parser) sum(in context) (Expr, *Error) {
	start := p.current
	negative := false
	switch {
	case p.accept("+"):
	case p.current.is("-") && (in == inTerm || p.ahead.kind != numberToken):
		p.advance()
		negative = true
	}
	left, err := p.product(in)
	if err != nil {
		return nil, err
	}
	if negative {
		if in == inTerm {
			if err := p.removable(left); err != nil {
				return nil, err
			}
		}
		if err := p.operand(left); err != nil {
			return nil, err
		}
		left = Negative{Position: Position{start.offset, p.previous.end - start.offset}, Operand: left}
	}
	return p.chain(start.offset, left, in, (*parser).product, Plus, Minus)
}

// product reads interaction { * interaction }.
func (p *parser) product(in context) (Expr, *Error) {
	start := p.current.offset
	left, err := p.interaction(in)
	if err != nil {
		return nil, err
	}
	if p.key {
		return p.chain(start, left, in, (*parser).interaction, Cross, Nested)
	}
	return p.chain(start, left, in, (*parser).interaction, Cross)
}

// interaction reads compared { : compared }.
func (p *parser) interaction(in context) (Expr, *Error) {
	start := p.current.offset
	left, err := p.compared(in)
	if err != nil {
		return nil, err
	}
	return p.chain(start, left, in, (*parser).compared, Interaction)
}

// compared reads primary [ ^ number ] [ comparison number ]: calls whose names are the operators.
func (p *parser) compared(in context) (Expr, *Error) {
	start := p.current.offset
	e, err := p.primary(in)
	if err == nil && p.current.is("^") {
		e, err = p.withNumber(start, e, in)
	}
	if err == nil && p.current.kind == signToken && comparison(p.current.text) != "" {
		e, err = p.withNumber(start, e, in)
	}
	return e, err
}

// withNumber reads an operator and the number behind it; its operand began at start.
func (p *parser) withNumber(start int, e Expr, in context) (Expr, *Error) {
	sign := p.advance()
	first := p.current
	if p.current.is("-") && p.ahead.kind == numberToken {
		p.advance()
	}
	t := p.current
	switch b, sum := e.(Binary); {
	case t.kind == badToken:
		return nil, t.err
	case t.kind != numberToken && sign.text == "==" && in == inTerm && p.depth == 0:
		return nil, p.fail(sign.at(), "== is not a formula separator").WithRemedy("write y ~ x, or x == 3 with a number")
	case t.kind != numberToken && sign.text == "^":
		return nil, p.fail(sign.at(), "a power is a number").WithRemedy("write such as x^2")
	case t.kind != numberToken:
		return nil, p.fail(sign.at(), "%s compares a column with a number", sign.text).WithRemedy("write such as x %s 3; make a column of two that are compared", sign.text)
	case sum && sign.text == "^":
		return nil, p.fail(between(b.Position, t.at()), "%s is no power of a column", show("("+b.String()+")^"+t.text)).WithRemedy("write (a + b)*(a + b) for a, b and their product")
	case sum:
		return nil, p.fail(b.Position, "%s is compared, which is not one column", show(b.String())).WithRemedy("make it a column of its own")
	}
	if err := p.operand(e); err != nil {
		return nil, err
	}
	p.advance()
	value := t.value
	if first.is("-") {
		value = -value
	}
	number := Number{between(first.at(), t.at()), value}
	return Call{Position: Position{start, t.end - start}, Name: sign.text, Args: []Expr{e, number}, nested: true}, nil
}

// chain reads { op operand } behind left, which began at start, associating to the
// left.
func (p *parser) chain(start int, left Expr, in context, next func(*parser, context) (Expr, *Error), ops ...Operator) (Expr, *Error) {
	for n := 0; ; n++ {
		var op Operator
		for _, o := range ops {
			if p.current.is(o.String()) {
				op = o
			}
		}
		if op == 0 {
			return left, nil
		}
		sign := p.advance()
		if n == MaxOperators {
			return nil, p.fail(sign.at(), "more than %d operators in one expression", MaxOperators).
				WithRemedy("write the terms one by one, outside brackets, or use .")
		}
		right, err := next(p, in)
		if err != nil {
			return nil, err
		}
		for _, e := range []Expr{left, right} {
			if err := p.operand(e); err != nil {
				return nil, err
			}
			if number, ok := e.(Number); ok && in == inTerm && (op == Interaction || op == Cross) {
				return nil, p.fail(number.Position, "a number cannot stand beside %s in a term", op).
					WithRemedy("weights are learned, so drop it; the intercept, 1 or 0, is a term of its own")
			}
		}
		if op == Minus && in == inTerm {
			if err := p.removable(right); err != nil {
				return nil, err
			}
		}
		left = Binary{Position: Position{start, p.previous.end - start}, Op: op, Left: left, Right: right}
	}
}

// operand refuses values that no operator combines.
func (p *parser) operand(e Expr) *Error {
	switch e := e.(type) {
	case Text:
		return p.fail(e.Position, "quoted text cannot be combined with an operator").
			WithRemedy("a column of that name is written %s", backquoted(e.Value))
	case List:
		return p.fail(e.Position, "a list cannot be combined with an operator").WithRemedy("write a single column or number")
	case File:
		return p.fail(e.Position, "a file cannot be combined with an operator").WithRemedy("quote a path that holds special characters: @%s", quote(e.Path, '"'))
	}
	return nil
}

func (p *parser) primary(in context) (Expr, *Error) {
	t := p.current
	switch t.kind {
	case nameToken, quotedToken:
		p.advance()
		if !p.current.is("(") {
			return Column{Position: t.at(), Name: t.text}, nil
		}
		if t.kind == quotedToken {
			return nil, p.fail(t.at(), "a backquoted name is a column and cannot be called").
				WithRemedy("write the function's name without backquotes")
		}
		c, err := p.call(t)
		if err != nil {
			return nil, err
		}
		return c, nil
	case dotToken:
		p.advance()
		if p.current.is("(") {
			return nil, p.fail(t.at(), ". is every other column and cannot be called").WithRemedy("write the function's name, such as rbf(.)")
		}
		return Dot{t.at()}, nil
	case numberToken:
		p.advance()
		if in == inTerm && t.value != 0 && t.value != 1 {
			return nil, p.fail(t.at(), "the number %s is not a term", t.text).
				WithRemedy("1 and 0 stand for the intercept; a column called %s is written %s", t.text, backquoted(t.text))
		}
		return Number{t.at(), t.value}, nil
	case textToken, fileToken:
		return p.value(in)
	case signToken:
		switch {
		case t.text == "(":
			return p.group(in)
		case t.text == "[":
			return p.list(in)
		case t.text == "-" && in == inArgument && p.ahead.kind == numberToken:
			p.advance()
			n := p.advance()
			return Number{between(t.at(), n.at()), -n.value}, nil
		}
	}
	return nil, p.noOperand()
}

// value reads a quoted text or a file, which stand inside calls alone.
func (p *parser) value(in context) (Expr, *Error) {
	t := p.advance()
	switch {
	case t.kind == textToken && in == inArgument:
		return Text{t.at(), t.text}, nil
	case t.kind == fileToken && in == inArgument:
		return File{t.at(), t.text}, nil
	case t.kind == textToken && t.text != "":
		return nil, p.fail(t.at(), "quoted text is not a column").WithRemedy("write a column name in backquotes, %s", backquoted(t.text))
	case t.kind == textToken:
		return nil, p.fail(t.at(), "quoted text is not a column").WithRemedy("write a column name, in backquotes if need be")
	}
	return nil, p.fail(t.at(), "a file is not a term").WithRemedy("files are arguments, such as frequencies=@file.csv")
}

// enter counts a bracket opened by t.
func (p *parser) enter(t token) *Error {
	if p.depth++; p.depth > MaxDepth {
		return p.fail(t.at(), "more than %d brackets within brackets", MaxDepth).WithRemedy("write it flatter")
	}
	return nil
}

func (p *parser) group(in context) (Expr, *Error) {
	open := p.advance()
	if err := p.enter(open); err != nil {
		return nil, err
	}
	if p.current.is(")") {
		return nil, p.fail(between(open.at(), p.current.at()), "nothing stands between the parentheses").WithRemedy("write a term in them, or delete them")
	}
	if p.current.kind == endToken {
		return nil, p.neverClosed(open)
	}
	e, err := p.sum(in)
	if err != nil {
		return nil, err
	}
	if in == inTerm && (p.current.is(Bar) || p.current.is(Bars)) {
		return p.bar(open, e)
	}
	if !p.accept(")") {
		return nil, p.inBrackets(open)
	}
	p.depth--
	return e, nil
}

// bar reads what stands behind the columns that vary: | key, and arguments.
func (p *parser) bar(open token, columns Expr) (Expr, *Error) {
	c := Call{Name: p.advance().text, nested: true}
	within := p.key
	p.key = true
	key, err := p.sum(inTerm)
	p.key = within
	if err != nil {
		return nil, err
	}
	c.Args = []Expr{columns, key}
	if p.accept(",") {
		if err := p.arguments(open, &c); err != nil {
			return nil, err
		}
		if len(c.Args) > 2 {
			return nil, p.fail(c.Args[2].At(), "%s stands behind a comma, where key=value does", show(c.Args[2].String())).
				WithRemedy("write such as (1 | g, sd=0.5); the key of two columns is g:h")
		}
	}
	if !p.accept(")") {
		return nil, p.inBrackets(open)
	}
	p.depth--
	c.Position = between(open.at(), p.previous.at())
	return c, nil
}

func (p *parser) list(in context) (Expr, *Error) {
	if in == inTerm {
		if p.previous.kind == nameToken || p.previous.kind == quotedToken {
			return nil, p.fail(p.current.at(), "columns are not indexed").WithRemedy("name the column itself")
		}
		return nil, p.fail(p.current.at(), "a list is not a term").WithRemedy("join terms with +; lists are arguments, such as lengthscale=[0.9, 1.4]")
	}
	open := p.advance()
	if err := p.enter(open); err != nil {
		return nil, err
	}
	l := List{}
	for !p.current.is("]") || len(l.Items) > 0 {
		if p.current.is("~") {
			return nil, p.fail(p.current.at(), "~ stands inside a list").WithRemedy("write it once, before the list: key=~[…]")
		}
		item, err := p.item(open)
		if err != nil {
			return nil, err
		}
		l.Items = append(l.Items, item)
		if !p.accept(",") {
			break
		}
	}
	if !p.accept("]") {
		return nil, p.inBrackets(open)
	}
	p.depth--
	l.Position = between(open.at(), p.previous.at())
	return l, nil
}

// call reads the arguments of name, which is consumed; "(" is current.
func (p *parser) call(name token) (Call, *Error) {
	open := p.advance()
	if err := p.enter(open); err != nil {
		return Call{}, err
	}
	c := Call{Name: name.text, nested: true}
	if err := p.arguments(open, &c); err != nil {
		return Call{}, err
	}
	if !p.accept(")") {
		return Call{}, p.inBrackets(open)
	}
	p.depth--
	c.Position = between(name.at(), p.previous.at())
	return c, nil
}

// arguments reads [ argument { "," argument } ].
func (p *parser) arguments(open token, c *Call) *Error {
	seen := map[string]bool{}
	for !p.current.is(")") || len(c.Args)+len(c.Named) > 0 {
		switch {
		case p.current.kind == nameToken && p.ahead.is("="):
			argument, err := p.named(open)
			if err != nil {
				return err
			}
			if seen[argument.Key] {
				return p.fail(argument.Position, "%s= is given twice", argument.Key).WithRemedy("keep one of the two")
			}
			if len(c.Named) == MaxKeys {
				return p.fail(argument.Position, "more than %d key=value arguments in one call", MaxKeys).WithRemedy("no function knows so many: drop some")
			}
			seen[argument.Key] = true
			c.Named = append(c.Named, argument)
		case p.current.is("~"):
			return p.fail(p.current.at(), "~ marks the starting guess of a named value").WithRemedy("write key=~value")
		default:
			arg, err := p.item(open)
			if err != nil {
				return err
			}
			if equal, is := arg.(Call); is && equal.Name == "==" && len(c.Args) > 0 {
				if column, is := equal.Args[0].(Column); is { // also where a + or parentheses stand before it
					return p.fail(equal.Position, "== is not used here").WithRemedy("write %s=value with one =", column.Name)
				}
			}
			c.Args = append(c.Args, arg)
		}
		if !p.accept(",") {
			break
		}
	}
	return nil
}

// item reads one positional argument or list item.
func (p *parser) item(open token) (Expr, *Error) {
	if p.current.kind == endToken {
		return nil, p.neverClosed(open)
	}
	return p.sum(inArgument)
}

// named reads key=value or key=~value.
func (p *parser) named(open token) (Argument, *Error) {
	key := p.advance()
	p.advance()
	a := Argument{Key: key.text}
	a.Guess = p.accept("~")
	if p.current.is("~") {
		return a, p.fail(p.current.at(), "one ~ is enough").WithRemedy("write %s=~value", key.text)
	}
	if p.current.kind == endToken || p.current.is(",") || p.current.is(")") || p.current.is("]") {
		return a, p.fail(between(key.at(), p.previous.at()), "%s= has no value", key.text).
			WithRemedy("write %s=value, or leave it out for the default", key.text)
	}
	value, err := p.item(open)
	if err != nil {
		return a, err
	}
	a.Value = value
	a.Position = Position{key.offset, p.previous.end - key.offset}
	return a, nil
}
