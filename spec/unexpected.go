package spec

import "strings"

// This file words the errors for tokens that are fine in themselves but stand
// in the wrong place.

// shown is the token as the user wrote it, quoted.
func (p *parser) shown(t token) string {
	if t.kind == endToken {
		return "the end"
	}
	return show(p.source[t.offset:t.end])
}

// doubled has the remedies for operators of other languages.
var doubled = map[string]string{
	"**": "write x^2 or poly(x, 2) for powers",
	"::": "write one : for an interaction; name a column alone, without its table",
	"--": "write one sign", "++": "write one sign", "~~": "write one ~", ":=": "write y ~ x",
}

// noOperand words the error for a current token that starts no expression.
func (p *parser) noOperand() *Error {
	t, before := p.current, p.previous
	behind := t.at()
	switch {
	case t.kind == badToken:
		return t.err
	case t.is(Nested.String()), t.is(Bar), t.is(Bars):
		return p.strangeSign(t)
	case t.kind == endToken && before.kind == signToken:
		// The caret stands directly behind the sign, not behind the spaces.
		behind = Position{Offset: before.end}
		if before.text == "~" {
			return p.fail(behind, "the %s ends after ~", p.noun).WithRemedy("add the terms, such as y ~ . for every other column")
		}
		return p.fail(behind, "the %s ends after %s", p.noun, before.text).WithRemedy("add a term, or drop the %s", before.text)
	case before.kind == signToken && before.end == t.offset && doubled[before.text+t.text] != "":
		return p.fail(between(before.at(), t.at()), "%s is not an operator", before.text+t.text).
			WithRemedy("%s", doubled[before.text+t.text])
	case t.is(")") && p.depth == 0:
		return p.fail(behind, `unexpected ")"`).WithRemedy("no ( is open here: delete it")
	case t.is(")"), t.is("]"), t.is(","):
		if before.is(",") || before.is("(") || before.is("[") {
			return p.fail(behind, "nothing stands between %q and %q", before.text, t.text).
				WithRemedy("delete the extra comma, or write what belongs there")
		}
		if before.kind == signToken {
			return p.fail(behind, "nothing stands between %q and %q", before.text, t.text).WithRemedy("add a term, or drop the %s", before.text)
		}
	case t.is("="):
		return p.fail(behind, `unexpected "="`).WithRemedy("inside a call write key=value; target and terms are separated by ~")
	case t.is("~"):
		return p.fail(behind, `unexpected "~"`).WithRemedy("between target and terms write one ~, inside a call key=~value")
	case before.kind == signToken && strings.Contains("+-*:", before.text) && strings.Contains("+-*:", t.text):
		return p.fail(between(before.at(), t.at()), "%s and %s stand side by side", before.text, t.text).WithRemedy("keep one of them")
	case strings.Contains("*:", t.text):
		return p.fail(behind, "nothing stands before %s", t.text).WithRemedy("write a term on both sides of it, such as a%sb", t.text)
	}
	return p.fail(behind, "unexpected %s", p.shown(t)).WithRemedy("a column, a number or name(…) is expected here")
}

// behindTerms has message and remedy for signs that no term may be followed by.
var behindTerms = map[string][2]string{
	"~": {"a formula has one ~", "join the terms behind it with +"},
	"=": {"= is not a formula separator", "write y ~ x"},
	")": {`unexpected ")"`, "no ( is open here: delete it"},
	"]": {`unexpected "]"`, "no [ is open here: delete it"},
	",": {`unexpected ","`, "join terms with +; commas separate arguments inside parentheses"},
	"[": {"columns are not indexed", "name the column itself"},
}

// afterTerm words the error for a current token behind complete terms.
func (p *parser) afterTerm(hasTarget bool) *Error {
	t, before := p.current, p.previous
	switch {
	case t.kind == badToken:
		return t.err
	case t.is(Nested.String()), t.is(Bar), t.is(Bars):
		return p.strangeSign(t)
	case t.is("=") && hasTarget:
		return p.fail(t.at(), "key=value belongs inside the parentheses of a term").WithRemedy("write it such as rbf(x, n=400)")
	}
	if words, known := behindTerms[t.text]; known && t.kind == signToken {
		return p.fail(t.at(), "%s", words[0]).WithRemedy("%s", words[1])
	}
	return p.missingOperator(before, t, "+")
}

// missingOperator is for two values side by side.
func (p *parser) missingOperator(before, t token, sign string) *Error {
	err := p.fail(t.at(), "%s directly follows %s", p.shown(t), p.shown(before))
	if before.kind == nameToken && (t.kind == nameToken || t.kind == numberToken) {
		both := p.source[before.offset:t.end]
		return err.WithRemedy("put %s between them, or write %s if it is one name", sign, backquoted(both))
	}
	return err.WithRemedy("put %s between them", sign)
}

func (p *parser) neverClosed(open token) *Error {
	closing := map[string]string{"(": ")", "[": "]"}[open.text]
	return p.fail(open.at(), "the %s is never closed", open.text).WithRemedy("add a %s", closing)
}

// inBrackets words the error for a current token where a comma or the closing
// bracket of open is expected.
func (p *parser) inBrackets(open token) *Error {
	t := p.current
	switch {
	case t.kind == badToken:
		return t.err
	case t.is(Nested.String()), t.is(Bar), t.is(Bars):
		return p.strangeSign(t)
	case t.kind == endToken:
		return p.neverClosed(open)
	case t.is(")"), t.is("]"):
		return p.fail(t.at(), "%s does not close the %s of column %d", t.text, open.text, p.column(open)).
			WithRemedy("write %s", map[string]string{"(": ")", "[": "]"}[open.text])
	case t.is("="):
		return p.fail(t.at(), "no plain key stands before =").WithRemedy("write key=value, the key a word of letters, digits and _")
	case t.is("~"):
		return p.fail(t.at(), `unexpected "~"`).WithRemedy("inside parentheses a guess is written key=~value")
	case t.is(","):
		return p.fail(t.at(), `unexpected ","`).WithRemedy("join terms with +; commas separate arguments of a function")
	}
	return p.missingOperator(p.previous, t, "a comma or an operator")
}

// strangeSign words the error for a sign that stands behind a bar, or between columns and key, alone.
func (p *parser) strangeSign(t token) *Error {
	message, remedy := strangeCharacter(rune(t.text[0]), t.text)
	return p.fail(t.at(), "%s", message).WithRemedy("%s", remedy)
}

// column counts the characters before t, from 1, on its line.
func (p *parser) column(t token) int {
	start := strings.LastIndexByte(p.source[:t.offset], '\n') + 1
	return len([]rune(p.source[start:t.offset])) + 1
}
