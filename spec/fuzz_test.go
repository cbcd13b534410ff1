package spec

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkError holds for every text: one line, inside the text, drawn in two lines.
func checkError(t *testing.T, text string, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%q: error of type %T", text, err)
	}
	if e.Offset < 0 || e.Length < 0 || e.Offset+e.Length > len(text) {
		t.Fatalf("%q: place %d+%d is outside the text", text, e.Offset, e.Length)
	}
	if message := e.Error(); strings.ContainsAny(message, "\n\r") || e.Message == "" || e.Remedy == "" {
		t.Fatalf("%q: error %q", text, message)
	}
	if len(text) > 0 && len(text) <= MaxLength && strings.Count(e.Caret(), "\n") != 1 {
		t.Fatalf("%q: caret %q", text, e.Caret())
	}
}

// checkPlaces requires every position to lie inside its parent's.
func checkPlaces(t *testing.T, text string, n Node) {
	t.Helper()
	walk(n, func(n Node) bool {
		at := n.At()
		if at.Offset < 0 || at.Length <= 0 || at.Offset+at.Length > len(text) || !utf8.ValidString(text[at.Offset:at.Offset+at.Length]) {
			t.Fatalf("%q: %T at %+v", text, n, at)
		}
		return true
	})
}

func FuzzFormula(f *testing.F) {
	for _, r := range formulaRefusals {
		f.Add(r.text)
	}
	f.Add("log(price) ~ . - id + rbf(lat, lon, n=400) * matern32(`a``b`) + size:rooms + offset(log(exposure))")
	f.Add("A\nA0")
	f.Add("(n > 0) ~ x^2 + x>=-1.5:c - (x^2)^3*z!=0 + f((x == 3) < 1, x<=2)")
	f.Add("y ~ (0 + x:z || g/(h/k):l, sd=~[0.5, 1], cor=0) + (((1|a)|b*c/d))")
	f.Add(`y ~ f(-(2), -2 * a - -b, [1e-9, inf], w=~@"a b", s='it''s') - (a + b:c)`)
	f.Fuzz(func(t *testing.T, text string) {
		formula, err := ParseFormula(text)
		if err != nil {
			checkError(t, text, err)
			return
		}
		checkPlaces(t, text, formula)
		printed := formula.String()
		again, err := ParseFormula(printed)
		if err != nil && len(printed) > MaxLength {
			return
		}
		if err != nil || !same(formula, again) || again.String() != printed {
			t.Fatalf("%q prints as %q, which reads back as %q (%v)", text, printed, again, err)
		}
	})
}

func FuzzSpec(f *testing.F) {
	for _, r := range specRefusals {
		f.Add(r.text)
	}
	f.Add("gaussian(variance=~0.1)")
	f.Add("hsgp(x, kernel=matern32(), m=[1, -2.5e-7], f=@x)")
	f.Fuzz(func(t *testing.T, text string) {
		call, err := ParseSpec(text)
		if err != nil {
			checkError(t, text, err)
			return
		}
		checkPlaces(t, text, call)
		again, err := ParseSpec(call.String())
		if err != nil && len(call.String()) > MaxLength {
			return
		}
		if err != nil || !same(call, again) || again.String() != call.String() {
			t.Fatalf("%q prints as %q, which reads back as %q (%v)", text, call, again, err)
		}
		a := NewArguments(call, text)
		for _, argument := range call.Named {
			a.Float(argument.Key, 0, Positive())
			a.Settings(argument.Key)
			a.Int(argument.Key, 0)
			a.Bool(argument.Key, false)
			a.Word(argument.Key, "", "lbfgs")
			a.File(argument.Key)
		}
		if err := a.Finish(); err != nil {
			checkError(t, text, err)
		}
	})
}

// Trees made directly, not by the parser, must survive print and parse: this
// is the oracle for the printer's parentheses and quotes.
func TestRandomTreesRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"x", "Sepal.Length", "my col (€)", "a`b", ".", "..", "1", "inf", "2x", ".5", ".a", "_", "気温", "e\u0301", "\u0301e", " ", "true", "a\nb", "x²"}
	texts := []string{"", "a", `say "hi"`, "it's", "a\\b", "@x", "a b,c", "(", "né"}
	numbers := []float64{0, 1, -1, 2.5, 1e-9, -1e300, math.Inf(1), math.Inf(-1), 0.1 + 0.2, 5e-324}
	pick := func(words []string) string { return words[rng.IntN(len(words))] }

	var argument func(depth int) Expr
	operand := func(depth int) Expr { // what an operator may combine
		for {
			switch e := argument(depth).(type) {
			case Text, File, List:
			default:
				return e
			}
		}
	}
	call := func(depth int) Call {
		c := Call{Name: pick([]string{"f", "rbf", "log"})}
		for range rng.IntN(3) {
			c.Args = append(c.Args, argument(depth-1))
		}
		for _, key := range []string{"n", "w"}[:rng.IntN(3)] {
			c.Named = append(c.Named, Argument{Key: key, Guess: rng.IntN(2) == 0, Value: argument(depth - 1)})
		}
		return c
	}
	argument = func(depth int) Expr {
		kinds := 9
		if depth <= 0 {
			kinds = 5
		}
		switch rng.IntN(kinds) {
		case 0:
			return Column{Name: pick(names)}
		case 1:
			return Dot{}
		case 2:
			return Number{Value: numbers[rng.IntN(len(numbers))]}
		case 3:
			return Text{Value: pick(texts)}
		case 4:
			return File{Path: pick(texts[1:])}
		case 5:
			l := List{}
			for range rng.IntN(3) {
				l.Items = append(l.Items, argument(depth-1))
			}
			return l
		case 6:
			return call(depth)
		case 7:
			return Negative{Operand: operand(depth - 1)}
		}
		return Binary{Op: Operator(":*+-"[rng.IntN(4)]), Left: operand(depth - 1), Right: operand(depth - 1)}
	}
	var term func(depth int) Expr
	term = func(depth int) Expr {
		switch rng.IntN(4) {
		case 0:
			return Dot{}
		case 1:
			return call(depth)
		case 2:
			if depth > 0 {
				return Binary{Op: Operator(":*+"[rng.IntN(3)]), Left: term(depth - 1), Right: term(depth - 1)}
			}
		}
		return Column{Name: pick(names)}
	}
	for range 20_000 {
		f := Formula{}
		if rng.IntN(2) == 0 {
			f.Target = Column{Name: pick(names)}
		}
		for range 1 + rng.IntN(3) {
			f.Terms = append(f.Terms, Term{Expr: term(3)})
		}
		if rng.IntN(2) == 0 {
			removed := Expr(Column{Name: pick(names)})
			if rng.IntN(2) == 0 {
				removed = Binary{Op: Plus, Left: removed, Right: Number{Value: 1}}
			}
			f.Terms = append(f.Terms, Term{Minus: true, Expr: removed})
		}
		again, err := ParseFormula(f.String())
		if err != nil || !same(f, again) {
			t.Fatalf("%s reads back as %s (%v)", f, again, err)
		}
		c := call(4)
		if again, err := ParseSpec(c.String()); err != nil || !same(c, again) {
			t.Fatalf("%s reads back as %s (%v)", c, again, err)
		}
	}
}
