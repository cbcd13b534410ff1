package cell

import "testing"

// Names of columns in remedies can be typed: in a formula, and in a shell.
func TestNamesAreTyped(t *testing.T) {
	for name, want := range map[string][2]string{
		"zip":     {"zip", "--types zip=category"},
		"my zip":  {"`my zip`", "--types 'my zip=category'"},
		"größe":   {"größe", "--types 'größe=category'"},
		"a`b":     {"`a``b`", "--types 'a`b=category'"},
		"a,b":     {"`a,b`", `--types '"a,b=category"'`},
		"it's":    {"`it's`", `--types 'it'\''s=category'`},
		"1st":     {"`1st`", "--types 1st=category"},
		"inf":     {"`inf`", "--types inf=category"},
		"a\tb":    {"`a\tb`", ""},
		"x.1":     {"x.1", "--types x.1=category"},
		"a:b":     {"`a:b`", "--types 'a:b=category'"},
		"\u00e9 ": {"`\u00e9 `", "--types '\u00e9 =category'"},
	} {
		if got := [2]string{Column(name), Types(name + "=category")}; got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
