package spec

import (
	"fmt"
	"strings"
	"unicode"
)

// strange lists characters that start no token with what people type instead: other formula
// languages, programming, and text that a word processor has improved. %c is the character, and
// an empty message says only that it is unexpected.
var strange = []struct{ characters, message, remedy string }{
	{"^", "^ is not an operator here", "write square(x) or poly(x, 2) for powers, a:b for interactions"},
	{"|", "| is not an operator here", "of alternatives write one; for an effect of each group write onehot(group), for slopes by group x:group"},
	{"/", "/ is not an operator here", "write a + a:b for b within a; a ratio is a column of its own; a path is written @path, a column name with / in backquotes"},
	{"%", "", "write 5%% as 0.05; a column name with %% goes in backquotes"},
	{"<>!&?", "", "comparisons and conditions are columns to be made before; a column name with %c goes in backquotes"},
	{";", "", "arguments are separated by commas, terms by +"},
	{"{}", "", "group with ( ), list with [ ]"},
	{"\\", "", "a path is written @path; inside quotes, double the quote to mean itself"},
	{"$", "", "name the column alone, without its table; a column name with $ goes in backquotes"},
	{"#", "", "there are no comments; a column name with # goes in backquotes"},
	{"“”„«»″", "%c is a typographic quote", `write the plain "`},
	{"‘’‚′´", "%c is a typographic quote", "write the plain ', or ` around a column name"},
	{"−–—‐‑‒－", "%c is a dash, not a minus sign", "write the plain -; a column name with a dash goes in backquotes"},
	{"×·⋅∗＊", "%c is not an operator here", "write * for a product of terms, : for an interaction"},
	{"∼～˜∽", "%c only looks like the tilde", "write the plain ~"},
	{"∞", "", "write inf"},
	{"²³", "", "write square(x) or poly(x, 3); a column name with %c goes in backquotes"},
	{"…", "", "name every argument"},
	{"\ufeff", "an invisible byte order mark stands here", "delete it"},
	{"\ufffd", "unreadable character", "save or type the text as UTF-8"},
}

// strangeCharacter words the error for a character that starts no token. rest is the source from
// r on.
func strangeCharacter(r rune, rest string) (message, remedy string) {
	for _, s := range strange {
		if !strings.ContainsRune(s.characters, r) || r == '<' && strings.HasPrefix(rest, "<-") {
			continue
		}
		if s.message == "" {
			s.message = fmt.Sprintf("unexpected %q", r)
		}
		of := strings.NewReplacer("%c", string(r), "%%", "%")
		return of.Replace(s.message), of.Replace(s.remedy)
	}
	switch {
	case r == '<':
		return "<- does not separate target and terms", "write y ~ x"
	case strings.ContainsRune("（）［］，＝：＋．", r):
		return fmt.Sprintf("%c is a fullwidth character", r), fmt.Sprintf("write the plain %c", r-0xfee0)
	case unicode.Is(unicode.Cf, r) || unicode.IsControl(r):
		return fmt.Sprintf("an invisible character (%U) stands here", r), "delete it"
	case unicode.IsMark(r):
		return fmt.Sprintf("a combining mark (%U) stands alone", r), "a name starts with a letter; others go in backquotes"
	}
	return fmt.Sprintf("unexpected %q", r), "a column name that holds more than letters, digits, _ and . goes in backquotes, `like this`"
}
