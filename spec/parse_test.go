package spec

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// shape writes a tree with every bracket and node kind spelled out, so that a
// table can state precedence and kinds without trusting the printer.
func shape(n Node) string {
	all := func(items []Expr) string {
		parts := make([]string, len(items))
		for i, item := range items {
			parts[i] = shape(item)
		}
		return strings.Join(parts, " ")
	}
	switch n := n.(type) {
	case Formula:
		s := ""
		if n.Target != nil {
			s = shape(n.Target) + " ~ "
		}
		parts := make([]string, len(n.Terms))
		for i, t := range n.Terms {
			parts[i] = shape(t)
		}
		return s + strings.Join(parts, " ")
	case Term:
		if n.Minus {
			return "-" + shape(n.Expr)
		}
		return "+" + shape(n.Expr)
	case Column:
		return "<" + n.Name + ">"
	case Dot:
		return "<<all>>"
	case Number:
		return fmt.Sprintf("#%g", n.Value)
	case Text:
		return "text:" + n.Value
	case File:
		return "file:" + n.Path
	case List:
		return "[" + all(n.Items) + "]"
	case Binary:
		return "(" + n.Op.String() + " " + shape(n.Left) + " " + shape(n.Right) + ")"
	case Negative:
		return "(neg " + shape(n.Operand) + ")"
	case Call:
		s := n.Name + "{" + all(n.Args)
		for _, a := range n.Named {
			s += " " + a.Key + "="
			if a.Guess {
				s += "~"
			}
			s += shape(a.Value)
		}
		return s + "}"
	}
	return "?"
}

func TestParseFormula(t *testing.T) {
	for _, test := range []struct{ text, shape, canonical string }{
		{"y ~ .", "<y> ~ +<<all>>", "y ~ ."},
		{"y~x1+x2", "<y> ~ +<x1> +<x2>", "y ~ x1 + x2"},
		{"a + b", "+<a> +<b>", "a + b"},
		{"y ~ . - id - name", "<y> ~ +<<all>> -<id> -<name>", "y ~ . - id - name"},
		{"y ~ - 1 + x", "<y> ~ -#1 +<x>", "y ~ -1 + x"},
		{"y ~ 0 + x", "<y> ~ +#0 +<x>", "y ~ 0 + x"},
		{"y ~ + x - 1", "<y> ~ +<x> -#1", "y ~ x - 1"},
		{"log(price) ~ size:rooms", "log{<price>} ~ +(: <size> <rooms>)", "log(price) ~ size:rooms"},
		{"log(sqrt(y)) ~ x", "log{sqrt{<y>}} ~ +<x>", "log(sqrt(y)) ~ x"},
		{"a*b:c*d", "+(* (* <a> (: <b> <c>)) <d>)", "a * b:c * d"},
		{"(a*b):c", "+(: (* <a> <b>) <c>)", "(a * b):c"},
		{"a:(b:c)", "+(: <a> (: <b> <c>))", "a:(b:c)"},
		{"(a + b) - (c + d)", "+(+ <a> <b>) -(+ <c> <d>)", "(a + b) - (c + d)"},
		{"(. - id):z + (-id + .)", "+(: (- <<all>> <id>) <z>) +(+ (neg <id>) <<all>>)", "(. - id):z + (-id + .)"},
		{"a*b - a:b", "+(* <a> <b>) -(: <a> <b>)", "a * b - a:b"},
		{"rbf(a) * matern32(b, lengthscale=~2)", "+(* rbf{<a>} matern32{<b> lengthscale=~#2})", "rbf(a) * matern32(b, lengthscale=~2)"},
		{"rbf(lat, lon, n=400) + poly(x, 3)", "+rbf{<lat> <lon> n=#400} +poly{<x> #3}", "rbf(lat, lon, n=400) + poly(x, 3)"},
		{"rbf(n=4, x)", "+rbf{<x> n=#4}", "rbf(x, n=4)"},
		{"rbf(. - id, a:b)", "+rbf{(- <<all>> <id>) (: <a> <b>)}", "rbf(. - id, a:b)"},
		{"offset(-log(e) - -2*x)", "+offset{(- (neg log{<e>}) (* #-2 <x>))}", "offset(-log(e) - -2 * x)"},
		{"f(-(2), -2, -(-2), -a:b, - .5)", "+f{(neg #2) #-2 (neg #-2) (neg (: <a> <b>)) #-0.5}", "f(-(2), -2, -(-2), -(a:b), -0.5)"},
		{"Sepal.Length ~ .x + _y + größe + 気温", "<Sepal.Length> ~ +<.x> +<_y> +<größe> +<気温>", "Sepal.Length ~ .x + _y + größe + 気温"},
		{"`my col (€)` ~ `a``b` + `2` + `.` + `inf`", "<my col (€)> ~ +<a`b> +<2> +<.> +<inf>", "`my col (€)` ~ `a``b` + `2` + `.` + `inf`"},
		{"`plain` + rbf(`x`)", "+<plain> +rbf{<x>}", "plain + rbf(x)"},
		{"rbf(x, frequencies=@dir/w.csv)", "+rbf{<x> frequencies=file:dir/w.csv}", "rbf(x, frequencies=@dir/w.csv)"},
		{`rbf(x, frequencies=@"a b.csv")`, "+rbf{<x> frequencies=file:a b.csv}", `rbf(x, frequencies=@"a b.csv")`},
		{`rbf(x, frequencies=@'C:\w.csv')`, `+rbf{<x> frequencies=file:C:\w.csv}`, `rbf(x, frequencies=@C:\w.csv)`},
		{"rbf(x, lengthscale=~[0.9,1.4], ard=true)", "+rbf{<x> lengthscale=~[#0.9 #1.4] ard=<true>}", "rbf(x, lengthscale=~[0.9, 1.4], ard=true)"},
		{"f([], [[1], [x]])", "+f{[] [[#1] [<x>]]}", "f([], [[1], [x]])"},
		{"f('it''s', \"say \"\"hi\"\"\")", "+f{text:it's text:say \"hi\"}", `f("it's", "say ""hi""")`},
		{"f() + g(h())", "+f{} +g{h{}}", "f() + g(h())"},
		{"y~(1|g)+(0+x||g:h,sd=~.5)", "<y> ~ +|{#1 <g>} +||{(+ #0 <x>) (: <g> <h>) sd=~#0.5}", "y ~ (1 | g) + (0 + x || g:h, sd=~0.5)"},
		{"(-1+a:b|g/h/(k:l), sd=[1,2], cor=.3)", "+|{(+ (neg #1) (: <a> <b>)) (/ (/ <g> <h>) (: <k> <l>)) sd=[#1 #2] cor=#0.3}", "(-(1) + a:b | g/h/k:l, sd=[1, 2], cor=0.3)"},
		{"((1|g)|a/(b/c)*d)", "+|{|{#1 <g>} (* (/ <a> (/ <b> <c>)) <d>)}", "((1 | g) | a/(b/c) * d)"},
		{"y ~\n  x1 +\u00a0x2\t- x3", "<y> ~ +<x1> +<x2> -<x3>", "y ~ x1 + x2 - x3"},
	} {
		f, err := ParseFormula(test.text)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		if got := shape(f); got != test.shape {
			t.Errorf("%q: got %s, want %s", test.text, got, test.shape)
		}
		if got := f.String(); got != test.canonical {
			t.Errorf("%q prints as %q, want %q", test.text, got, test.canonical)
		}
		again, err := ParseFormula(f.String())
		if err != nil || !same(f, again) {
			t.Errorf("%q: %q reads back as %s (%v)", test.text, f, shape(again), err)
		}
	}
}

func TestParseSpec(t *testing.T) {
	for _, test := range []struct{ text, shape, canonical string }{
		{"normal", "normal{}", "normal"},
		{" normal() ", "normal{}", "normal"},
		{"gaussian(variance=~0.1)", "gaussian{ variance=~#0.1}", "gaussian(variance=~0.1)"},
		{"spikeslab(inclusion=0.01, slab=1, spike=1e-3)", "spikeslab{ inclusion=#0.01 slab=#1 spike=#0.001}", "spikeslab(inclusion=0.01, slab=1, spike=0.001)"},
		{"convex(variances=xdiag, k=80)", "convex{ variances=<xdiag> k=#80}", "convex(variances=xdiag, k=80)"},
		{"binomial(trials=n)", "binomial{ trials=<n>}", "binomial(trials=n)"},
		{"f(a=inf, b=-inf, c=~-2, d=+3)", "f{ a=#+Inf b=#-Inf c=~#-2 d=#3}", "f(a=inf, b=-inf, c=~-2, d=3)"},
		{"hsgp(kernel=matern32(lengthscale=1))", "hsgp{ kernel=matern32{ lengthscale=#1}}", "hsgp(kernel=matern32(lengthscale=1))"},
	} {
		c, err := ParseSpec(test.text)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		if got := shape(c); got != test.shape {
			t.Errorf("%q: got %s, want %s", test.text, got, test.shape)
		}
		if got := c.String(); got != test.canonical {
			t.Errorf("%q prints as %q, want %q", test.text, got, test.canonical)
		}
		if again, err := ParseSpec(c.String()); err != nil || !same(c, again) {
			t.Errorf("%q does not read back: %v", c, err)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0.1: "0.1", 1e-3: "0.001", 1e-4: "0.0001", 1e-5: "1e-5", 1.5e-12: "1.5e-12", 1e6: "1000000", 1e15: "1e15",
		1.25e100: "1.25e100", -2: "-2", 5e-324: "5e-324", math.MaxFloat64: "1.7976931348623157e308", math.Inf(-1): "-inf",
	} {
		if got := (Number{Value: v}).String(); got != want {
			t.Errorf("%g prints as %s, want %s", v, got, want)
		}
		c, err := ParseSpec("f(" + want + ")")
		if err != nil || c.Args[0].(Number).Value != v { // exact: shortest digits identify the float64
			t.Errorf("%s does not read back as %g: %v", want, v, err)
		}
	}
}

// Every node's position must select text that is the node.
func TestPositions(t *testing.T) {
	const source = " log(`my y`) ~ . - id + (a + b):rbf( lat,lon , n = ~400, w=[ 1,-2 ], f=@x.csv, g='t') + (-a + b):c"
	f, err := ParseFormula(source)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	walk(f, func(n Node) bool {
		at := n.At()
		got = append(got, source[at.Offset:at.Offset+at.Length])
		return true
	})
	want := []string{source, "log(`my y`)", "`my y`", ".", ".", "- id", "id",
		"+ (a + b):rbf( lat,lon , n = ~400, w=[ 1,-2 ], f=@x.csv, g='t')", "(a + b):rbf( lat,lon , n = ~400, w=[ 1,-2 ], f=@x.csv, g='t')",
		"a + b", "a", "b", "rbf( lat,lon , n = ~400, w=[ 1,-2 ], f=@x.csv, g='t')", "lat", "lon", "n = ~400", "400",
		"w=[ 1,-2 ]", "[ 1,-2 ]", "1", "-2", "f=@x.csv", "@x.csv", "g='t'", "'t'", "+ (-a + b):c", "(-a + b):c", "-a + b", "-a", "a", "b", "c"}
	if len(got) != len(want) {
		t.Fatalf("%d nodes %q, want %d", len(got), got, len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("node %d is at %q, want %q", i, got[i], want[i])
		}
	}
}

func TestWalkStops(t *testing.T) {
	f, _ := ParseFormula("y ~ f(a) + b")
	var columns []string
	walk(f, func(n Node) bool {
		if c, ok := n.(Column); ok {
			columns = append(columns, c.Name)
		}
		_, call := n.(Call)
		return !call
	})
	if got := strings.Join(columns, " "); got != "y b" {
		t.Errorf("visited %s, want y b", got)
	}
}

func TestEqualTellsApart(t *testing.T) {
	texts := []string{"y ~ a", "a", "y ~ -a", "y ~ a + b", "y ~ `.`", "y ~ .", "y ~ f(a)", "y ~ f()", "y ~ f(a=1)", "y ~ f(a=~1)", "y ~ f(b=1)",
		"y ~ f(2)", "y ~ f(-(2))", "y ~ f(-2)", "y ~ f('a')", "y ~ f(@a)", "y ~ f([a])", "y ~ a:b", "y ~ a * b", "y ~ (a + b)", "y ~ (a - b)", "z ~ a"}
	for i, a := range texts {
		for j, b := range texts {
			x, errX := ParseFormula(a)
			y, errY := ParseFormula(b)
			if errX != nil || errY != nil {
				t.Fatal(errX, errY)
			}
			if same(x, y) != (i == j) {
				t.Errorf("same(%s, %s) is %v", a, b, i != j)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	long := strings.Repeat("x + ", 100_000) + "x"
	if f, err := ParseFormula(long); err != nil || len(f.Terms) != 100_001 {
		t.Errorf("100,001 terms: %v", err)
	}
	manyKeys := ""
	for i := range MaxKeys {
		manyKeys += fmt.Sprintf("k%d=1,", i)
	}
	for _, test := range []struct{ text, want string }{
		{strings.Repeat("x", MaxLength+1), "the formula is 1048577 bytes long, the limit is 1048576: use . for every other column, or name fewer"},
		{strings.Repeat("(", 500_000), "column 101: more than 100 brackets within brackets: write it flatter"},
		{strings.Repeat("f(", 500_000), "column 202: more than 100 brackets within brackets: write it flatter"},
		{"f(" + strings.Repeat("[", 500_000), "column 102: more than 100 brackets within brackets: write it flatter"},
		{"f(" + manyKeys + "z=1)", "column 593: more than 100 key=value arguments in one call: no function knows so many: drop some"},
		{strings.Repeat("x:", 500_000) + "x", "column 2002: more than 1000 operators in one expression: write the terms one by one, outside brackets, or use ."},
	} {
		_, err := ParseFormula(test.text)
		if err == nil || err.Error() != test.want {
			t.Errorf("%.20s…: got %v, want %s", test.text, err, test.want)
		}
	}
	deep := strings.Repeat("(", MaxDepth) + "x" + strings.Repeat(")", MaxDepth)
	if _, err := ParseFormula(deep + " + " + deep); err != nil {
		t.Errorf("%d brackets, twice: %v", MaxDepth, err)
	}
}

// The product's own description of the language must be readable.
func TestEveryPartOfTheLanguage(t *testing.T) {
	for _, text := range []string{
		"log(price) ~ . - id + rbf(lat, lon, n=400) + matern32(age) + onehot(zip) + size:rooms + offset(log(exposure))",
		"y ~ radial(a, b, centres=5) + sigmoid(a, centres=3) + hsgp(a, b, kernel=matern52, m=[10, 10]) + weight(e)",
		"y ~ rbf(., kind=fastfood, ard=false, lengthscale_prior=none, frequencies=@w.csv) + hash(a:b, c, bits=22)",
		"(n > 0) ~ x^2 + (x >= -1.5) + (x < 2):city + z * (z != 0) + log(x == 3) + (x^2)^3 + (x^2 <= 4) + ((x > 3) < 1) + clip(x, 0, 5)",
		"y ~ 0 + center(log(a)) + scale(sqrt(square(exp(b))))",
	} {
		if f, err := ParseFormula(text); err != nil || f.String() != text {
			t.Errorf("%s: %s, %v", text, f, err)
		}
	}
	for _, text := range []string{
		"gaussian", "gaussian(variance=0.1)", "bernoulli(link=probit)", "binomial(trials=n)", "studentt(df=4)", "laplace(scale=0.1)",
		"spikeslab(inclusion=0.01, slab=1, spike=0.001)", "auto", "exact(starts=10)", "svi(components=3, batch=512)",
		"laplace(method=gist, variances=nystrom)", "gibbs(chains=4)", "sep(batch=100, prior_every=15)", "convex(variances=xdiag, k=80)",
		"normal(ard=true)",
	} {
		if c, err := ParseSpec(text); err != nil || c.String() != text {
			t.Errorf("%s: %s, %v", text, c, err)
		}
	}
}

func BenchmarkParseFormula(b *testing.B) {
	for name, text := range map[string]string{
		"typical": "log(price) ~ . - id + rbf(lat, lon, n=400) + matern32(age) + onehot(zip) + size:rooms + offset(log(exposure))",
		"longest": strings.Repeat("x + ", MaxLength/4-1) + "x",
		"refused": strings.Repeat("気, ", MaxLength/5),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseFormula(text); err != nil {
					_ = err.Error() + err.(*Error).Caret()
				}
			}
		})
	}
}
