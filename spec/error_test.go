package spec

import (
	"strings"
	"testing"
)

func TestCaret(t *testing.T) {
	long := strings.Repeat("abcdefgh + ", 30) + "?" + strings.Repeat(" + ijklmnop", 30)
	for _, test := range []struct {
		name string
		err  *Error
		want string
	}{
		{"wide characters take two cells", &Error{Text: "気温 + x", Offset: 9, Length: 1}, "気温 + x\n       ^"},
		{"wide characters are underlined by two carets", &Error{Text: "a 気温", Offset: 2, Length: 6}, "a 気温\n  ^^^^"},
		{"combining marks take none", &Error{Text: "e\u0301 + x", Offset: 6, Length: 1}, "e\u0301 + x\n    ^"},
		{"a place without length", &Error{Text: "y ~", Offset: 3}, "y ~\n   ^"},
		{"a mark of direction is shown as one cell", &Error{Text: "a\u202eb ?", Offset: 6, Length: 1}, "a\ufffdb ?\n    ^"},
		{"an invisible character takes none", &Error{Text: "a\u200bb ?", Offset: 6, Length: 1}, "a\u200bb ?\n   ^"},
		{"tabs become single spaces", &Error{Text: "y\t~\t)", Offset: 4, Length: 1}, "y ~ )\n    ^"},
		{"only the line concerned", &Error{Text: "y ~\nx + )\n", Offset: 8, Length: 1}, "x + )\n    ^"},
		{"a place over several lines ends with its line", &Error{Text: "f(a,\nb)", Offset: 0, Length: 7}, "f(a,\n^^^^"},
		{"controls cannot move the cursor", &Error{Text: "a\x1b[2Jb ?", Offset: 7, Length: 1}, "a\ufffd[2Jb ?\n       ^"},
		{"a place outside the text", &Error{Text: "ab", Offset: 99, Length: 3}, "ab\n  ^"},
		{"a negative place", &Error{Text: "ab", Offset: -1, Length: -3}, "ab\n^"},
		{"no text", &Error{Offset: 4, Length: 3}, ""},
		{"the surroundings in a long line", &Error{Text: long, Offset: 330, Length: 1},
			"…fgh + abcdefgh + abcdefgh + abcdefgh + abcdefgh + ? + ijklmnop + ijklmnop + ijklmnop + ijklmnop + ij…\n" + strings.Repeat(" ", 51) + "^"},
	} {
		if got := test.err.Caret(); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

func TestErrorf(t *testing.T) {
	f, err := ParseFormula("y ~ a +\n rbf(lot, n=4)")
	if err != nil {
		t.Fatal(err)
	}
	call := f.Terms[1].Expr.(Call)
	got := f.Errorf(call.Args[0], "there is no column %q", "lot").WithRemedy("the columns are a, y, lat").DidYouMean("lot", []string{"a", "y", "lat"})
	if want := `line 2, column 6: there is no column "lot": did you mean lat? (the columns are a, y, lat)`; got.Error() != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := " rbf(lot, n=4)\n     ^^^"; got.Caret() != want {
		t.Errorf("got %q, want %q", got.Caret(), want)
	}
	if got := f.Errorf(call.Args[0], "no").DidYouMean("my cool", []string{"my col"}).Error(); got != "line 2, column 6: no: did you mean `my col`?" {
		t.Error(got)
	}
	byHand := Errorf("", Column{Name: "x"}, "no column x")
	if byHand.Error() != "no column x" {
		t.Errorf("an error without a source reads %q", byHand)
	}
}

func TestSuggest(t *testing.T) {
	keys := []string{"variance", "scale", "inclusion", "slab", "spike", "df", "lengthscale"}
	for word, want := range map[string]string{
		"varience": "variance", "vraiance": "variance", "Variance": "variance", "var": "variance", "variances": "variance",
		"scal": "scale", "slabs": "slab", "spkie": "spike", "length_scale": "lengthscale", "dg": "df",
		"temperature": "", "n": "", "": "", "variance": "", "s": "", "sp": "spike",
		strings.Repeat("x", 5000): "",
	} {
		if got := Suggest(word, keys); got != want {
			t.Errorf("Suggest(%.20q) is %q, want %q", word, got, want)
		}
	}
	if got := Suggest("ba", []string{"bb", "bc"}); got != "bb" {
		t.Errorf("of two equally near, got %q, want the first", got)
	}
	if got := Suggest("mon", []string{"monday_sales", "month_number", "city"}); got != "" { // nobody knows which
		t.Errorf("the beginning of two is taken for %q", got)
	}
	if got := Suggest("größse", []string{"größe"}); got != "größe" {
		t.Errorf("letters of two bytes: got %q", got)
	}
}

// editDistance against its definition, by exhaustive recursion.
func TestEditDistance(t *testing.T) {
	var slow func(a, b []rune) int
	slow = func(a, b []rune) int {
		if len(a) == 0 || len(b) == 0 {
			return len(a) + len(b)
		}
		i, j := len(a)-1, len(b)-1
		d := min(slow(a[:i], b), slow(a, b[:j])) + 1
		if a[i] == b[j] {
			d = min(d, slow(a[:i], b[:j]))
		} else {
			d = min(d, slow(a[:i], b[:j])+1)
		}
		if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
			d = min(d, slow(a[:i-1], b[:j-1])+1)
		}
		return d
	}
	words := []string{"", "a", "ab", "ba", "abc", "cab", "acb", "bca", "aabb", "abab", "baba", "cabac", "caabc"}
	for _, a := range words {
		for _, b := range words {
			if got, want := editDistance([]rune(a), []rune(b)), slow([]rune(a), []rune(b)); got != want {
				t.Errorf("%q to %q: got %d, want %d", a, b, got, want)
			}
		}
	}
}
