package spec

import (
	"fmt"
	"strings"
	"unicode"
)

// strangeCharacter words the error for a character that starts no token, from
// what people type instead: other formula languages, programming, and text
// that a word processor has improved. rest is the source from r on.
func strangeCharacter(r rune, rest string) (message, remedy string) {
	message = fmt.Sprintf("unexpected %q", r)
	switch r {
	case '^':
		return "^ is not an operator here", "write square(x) or poly(x, 2) for powers, a:b for interactions"
	case '|':
		return "| is not an operator here", "of alternatives write one; for an effect of each group write onehot(group), for slopes by group x:group"
	case '/':
		return "/ is not an operator here", "write a + a:b for b within a; a ratio is a column of its own; a path is written @path, a column name with / in backquotes"
	case '%':
		return message, "write 5% as 0.05; a column name with % goes in backquotes"
	case '<', '>', '!', '&', '?':
		if strings.HasPrefix(rest, "<-") {
			return "<- does not separate target and terms", "write y ~ x"
		}
		return message, "comparisons and conditions are columns to be made before; a column name with " + string(r) + " goes in backquotes"
	case ';':
		return message, "arguments are separated by commas, terms by +"
	case '{', '}':
		return message, "group with ( ), list with [ ]"
	case '\\':
		return message, `a path is written @path; inside quotes, double the quote to mean itself`
	case '$':
		return message, "name the column alone, without its table; a column name with $ goes in backquotes"
	case '#':
		return message, "there are no comments; a column name with # goes in backquotes"
	case '“', '”', '„', '«', '»', '″':
		return fmt.Sprintf("%c is a typographic quote", r), `write the plain "`
	case '‘', '’', '‚', '′', '´':
		return fmt.Sprintf("%c is a typographic quote", r), "write the plain ', or ` around a column name"
	case '−', '–', '—', '‐', '‑', '‒', '－':
		return fmt.Sprintf("%c is a dash, not a minus sign", r), "write the plain -; a column name with a dash goes in backquotes"
	case '×', '·', '⋅', '∗', '＊':
		return fmt.Sprintf("%c is not an operator here", r), "write * for a product of terms, : for an interaction"
	case '∼', '～', '˜', '∽':
		return fmt.Sprintf("%c only looks like the tilde", r), "write the plain ~"
	case '∞':
		return message, "write inf"
	case '²', '³':
		return message, "write square(x) or poly(x, 3); a column name with " + string(r) + " goes in backquotes"
	case '…':
		return message, "name every argument"
	case '（', '）', '［', '］', '，', '＝', '：', '＋', '．':
		return fmt.Sprintf("%c is a fullwidth character", r), fmt.Sprintf("write the plain %c", r-0xfee0)
	case '\ufeff':
		return "an invisible byte order mark stands here", "delete it"
	case '\ufffd':
		return "unreadable character", "save or type the text as UTF-8"
	}
	switch {
	case unicode.Is(unicode.Cf, r) || unicode.IsControl(r):
		return fmt.Sprintf("an invisible character (%U) stands here", r), "delete it"
	case unicode.IsMark(r):
		return fmt.Sprintf("a combining mark (%U) stands alone", r), "a name starts with a letter; others go in backquotes"
	}
	return message, "a column name that holds more than letters, digits, _ and . goes in backquotes, `like this`"
}
