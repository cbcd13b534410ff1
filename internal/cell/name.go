package cell

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Column writes the name of a column as formulas read it: in backquotes where it needs them.
func Column(name string) string {
	if PlainName(name) {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// PlainName reports whether a name can stand without backquotes; it is the
// printing twin of the scanner's rule for names.
func PlainName(s string) bool {
	first, width := utf8.DecodeRuneInString(s)
	if s == "inf" || !NameStart(first) && first != '.' {
		return false
	}
	if first == '.' && len(s) > width && s[width] >= '0' && s[width] <= '9' {
		return false
	}
	foreign := func(r rune) bool { return !NameRune(r) || r == utf8.RuneError }
	return !strings.ContainsFunc(s, foreign) && strings.ContainsFunc(s, NameStart)
}

// NameStart reports whether a name that stands without backquotes may begin so.
func NameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

// NameRune reports whether such a name may go on so. Combining marks are among them, so that decomposed accents are
// letters.
func NameRune(r rune) bool {
	return NameStart(r) || r == '.' || unicode.IsDigit(r) || unicode.IsMark(r)
}

// Types is the flag that declares what columns are, "--types 'my zip=category'"; "" where it cannot be typed.
func Types(pairs ...string) string {
	fields := slices.Compact(slices.Sorted(slices.Values(pairs)))
	for i, field := range fields { // a field of CSV, whose writer programs that only score do without
		if strings.ContainsAny(field, ",\"") || strings.TrimSpace(field) != field {
			fields[i] = `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
		}
	}
	list := strings.Join(fields, ",")
	if strings.ContainsFunc(list, unicode.IsControl) {
		return ""
	}
	return "--types " + Shell(list)
}
