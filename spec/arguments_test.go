package spec

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/param"
)

func reader(t *testing.T, text string) *Arguments {
	t.Helper()
	call, err := ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	return NewArguments(call, text)
}

func TestArguments(t *testing.T) {
	const text = `f(x, 3, float=-1e-3, whole=1e6, yes=true, no=false, word=lbfgs, text="a b", file=@d/x.csv,
		quoted=@"d/freq nohead.csv", marked="@d/freq nohead.csv", held=0.5, guess=~2, guesses=~[1, 2], trials=n)`
	a := reader(t, text)
	check := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	check("float", a.Float("float", 1), -1e-3)
	check("absent float", a.Float("absent", 7.5, Positive()), 7.5)
	check("whole", a.Int("whole", 1), 1_000_000)
	check("absent whole", a.Int("absent", 4, AtLeast(1)), 4)
	check("yes", a.Bool("yes", false), true)
	check("no", a.Bool("no", true), false)
	check("absent bool", a.Bool("absent", true), true)
	check("word", a.Word("word", "gist", "lbfgs", "gist"), "lbfgs")
	check("absent word", a.Word("absent", "gist", "lbfgs", "gist"), "gist")
	check("text", a.Word("text", ""), "a b")
	check("file", a.File("file"), "d/x.csv")
	check("quoted file", a.File("quoted"), "d/freq nohead.csv")
	check("file quoted with its mark", a.File("marked"), "d/freq nohead.csv")
	check("absent file", a.File("absent"), "")
	check("held", a.Setting("held", Positive()), param.Parameter{State: param.Held, Value: 0.5})
	check("guess", a.Setting("guess", Positive()), param.Parameter{State: param.Guess, Value: 2})
	check("learned", a.Setting("absent", Positive()), param.Parameter{State: param.Learned, Value: 0})
	check("guesses", a.Settings("guesses", Positive()), param.List{Values: []float64{1, 2}, State: param.Guess})
	check("one held", a.Settings("held"), param.List{Values: []float64{0.5}, State: param.Held})
	check("all learned", a.Settings("absent"), param.List{Values: nil, State: param.Learned})
	trials, ok := a.Argument("trials")
	check("trials", ok && same(trials.Value, Column{Name: "n"}), true)
	check("has", []bool{a.Has("held"), a.Has("absent")}, []bool{true, false})
	degree, ok := a.Whole("the degree", a.Positional()[1], AtLeast(1))
	check("degree", ok && degree == 3, true)
	check("finish", a.Finish(), nil)
}

func TestArgumentErrors(t *testing.T) {
	for _, test := range []struct {
		text  string
		read  func(*Arguments)
		want  string
		caret string // line 2 of the display
	}{
		{"gaussian(varience=1)", func(a *Arguments) { a.Setting("variance") },
			`column 10: gaussian has no argument "varience": did you mean variance?`, "         ^^^^^^^^"},
		{"studentt(foo=1)", func(a *Arguments) { a.Setting("df"); a.Setting("scale") },
			`column 10: studentt has no argument "foo": write df or scale`, "         ^^^"},
		{"poisson(a=1)", func(a *Arguments) {}, `column 9: poisson has no argument "a": it takes no key=value arguments`, "        ^"},
		{"normal(3)", func(a *Arguments) { a.Setting("variance") }, "column 8: normal takes no argument without a key: write normal(variance=3)", "       ^"},
		{"poisson(3)", func(a *Arguments) {}, "column 9: poisson takes no argument without a key: write poisson alone", "        ^"},
		{"f(v=-1)", func(a *Arguments) { a.Setting("v", Positive()) }, "column 5: v cannot be -1: it must be positive and finite", "    ^^"},
		{"f(v=~0)", func(a *Arguments) { a.Setting("v", Positive()) }, "column 6: v cannot be 0: it must be positive and finite", "     ^"},
		{"f(v=2)", func(a *Arguments) { a.Float("v", 0, Between(0, 1)) }, "column 5: v cannot be 2: it must be between 0 and 1", "    ^"},
		{"f(v=x)", func(a *Arguments) { a.Float("v", 0) }, `column 5: v must be a number, not "x": write such as v=0.5`, "    ^"},
		{"f(v=Inf)", func(a *Arguments) { a.Float("v", 0) }, `column 5: v must be a number, not "Inf": infinity is written inf`, "    ^^^"},
		{"f(v=[1])", func(a *Arguments) { a.Float("v", 0) }, `column 5: v must be a number, not "[1]": write such as v=0.5`, "    ^^^"},
		{"svi(batch=~512)", func(a *Arguments) { a.Int("batch", 1) },
			"column 5: batch is not learned, so it cannot be a starting guess: drop the ~", "    ^^^^^^^^^^"},
		{"f(n=2.5)", func(a *Arguments) { a.Int("n", 1) }, "column 5: n cannot be 2.5: it must be a whole number", "    ^^^"},
		{"f(n=1e16)", func(a *Arguments) { a.Int("n", 1) }, "column 5: n cannot be 1e16: it must be a whole number", "    ^^^^"},
		{"f(n=inf)", func(a *Arguments) { a.Int("n", 1) }, "column 5: n cannot be inf: it must be a whole number", "    ^^^"},
		{"f(n=0)", func(a *Arguments) { a.Int("n", 1, AtLeast(1)) }, "column 5: n cannot be 0: it must be 1 or more and finite", "    ^"},
		{"f(ard=yes)", func(a *Arguments) { a.Bool("ard", true) }, `column 7: ard must be true or false, not "yes": write ard=true or ard=false`, "      ^^^"},
		{"f(m=lbgfs)", func(a *Arguments) { a.Word("m", "", "lbfgs", "gist") },
			`column 5: m cannot be "lbgfs": did you mean lbfgs? (write lbfgs or gist)`, "    ^^^^^"},
		{"f(m=3)", func(a *Arguments) { a.Word("m", "", "lbfgs", "gist") }, `column 5: m cannot be "3": write lbfgs or gist`, "    ^"},
		{"f(m=3)", func(a *Arguments) { a.Word("m", "") }, `column 5: m must be a word, not "3": write a word, in "quotes" if it holds other characters`, "    ^"},
		{"f(w=x.csv)", func(a *Arguments) { a.File("w") }, `column 5: w must name a file, not "x.csv": write w=@x.csv`, "    ^^^^^"},
		{"f(w='a b')", func(a *Arguments) { a.File("w") }, `column 5: w must name a file, not "\"a b\"": write w=@"a b"`, "    ^^^^^"},
		{"f(v=[])", func(a *Arguments) { a.Settings("v") }, "column 5: v is an empty list: write at least one number in it", "    ^^"},
		{"f(v=[1, 0])", func(a *Arguments) { a.Settings("v", Positive()) }, "column 9: v cannot be 0: it must be positive and finite", "        ^"},
		// the first in the text, not the first read
		{"f(b=x, a=y)", func(a *Arguments) { a.Float("a", 0); a.Float("b", 0) },
			`column 5: b must be a number, not "x": write such as b=0.5`, "    ^"},
		{"poly(x, 0)", func(a *Arguments) { a.Whole("the degree", a.Positional()[1], AtLeast(1)) },
			"column 9: the degree cannot be 0: it must be 1 or more and finite", "        ^"},
	} {
		a := reader(t, test.text)
		test.read(a)
		err := a.Finish()
		var refused *Error
		if !errors.As(err, &refused) {
			t.Errorf("%s: no error", test.text)
			continue
		}
		if got := err.Error(); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.text, got, test.want)
		}
		if _, got, _ := strings.Cut(refused.Caret(), "\n"); got != test.caret {
			t.Errorf("%s: caret %q, want %q", test.text, got, test.caret)
		}
	}
}

func TestArgumentsByHand(t *testing.T) {
	one := Argument{Key: "n", Value: Number{Value: 1}}
	a := NewArguments(Call{Name: "f", Named: []Argument{one, one}}, "")
	a.Int("n", 0)
	if err := a.Finish(); err == nil || err.Error() != "n= is given twice: keep one of the two" {
		t.Errorf("a key given twice: %v", err)
	}
}

func TestRanges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, test := range []struct {
		r       Range
		words   string
		in, out []float64
	}{
		{Finite(), "finite", []float64{-1e308, 0, 1e308}, []float64{-inf, inf, nan}},
		{Positive(), "positive and finite", []float64{5e-324, 1e308}, []float64{0, -1, inf, nan}},
		{AtLeast(0), "0 or more and finite", []float64{0, 1}, []float64{-5e-324, inf}},
		{Above(2), "greater than 2 and finite", []float64{2.5}, []float64{2, inf}},
		{Fraction(), "between 0 and 1, both excluded", []float64{0.5}, []float64{0, 1}},
		{Between(-1, 2), "between -1 and 2", []float64{-1, 2}, []float64{-1.1, 2.1}},
	} {
		if got := test.r.String(); got != test.words {
			t.Errorf("got %q, want %q", got, test.words)
		}
		for _, v := range test.in {
			if !test.r.Contains(v) {
				t.Errorf("%s: refuses %g", test.r, v)
			}
		}
		for _, v := range test.out {
			if test.r.Contains(v) {
				t.Errorf("%s: accepts %g", test.r, v)
			}
		}
	}
}

// TestMeans: what an argument is for belongs to the one that is read next, and to no other; the default in words stands
// where the reader has none of its own.
func TestMeans(t *testing.T) {
	call, err := ParseSpec("part(draws=3)")
	if err != nil {
		t.Fatal(err)
	}
	a := NewArguments(call, "part(draws=3)")
	if got := a.Means("draws that are kept", "1,000").Int("draws", 0, AtLeast(1)); got != 3 {
		t.Errorf("draws %d", got)
	}
	a.Float("rate", 0, Positive())
	a.Means("how it starts", "").Word("start", "ep", "ep", "empty")
	want := []Option{
		{Key: "draws", Means: "draws that are kept", Takes: "a whole number, 1 or more (default 1,000)"},
		{Key: "rate", Takes: "a number, positive"},
		{Key: "start", Means: "how it starts", Takes: "ep or empty (default ep)"},
	}
	if got := a.Options(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
