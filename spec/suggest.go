package spec

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Suggest returns the candidate a person most likely meant by word, or "" if
// none is near: the smallest edit distance (insertion, deletion, substitution,
// swap of neighbours; case is ignored) up to a third of the word's length,
// at least one; failing that, the only candidate that word abbreviates. The
// first of equally near candidates wins. A word that is a candidate itself needs
// no suggestion.
func Suggest(word string, candidates []string) string {
	typed := []rune(strings.ToLower(word))
	if len(typed) == 0 || len(typed) > 100 {
		return ""
	}
	best, bestDistance := "", max(1, len(typed)/3)+1
	extended, extensions := "", 0
	for _, candidate := range candidates {
		if candidate == word {
			return ""
		}
		lower := strings.ToLower(candidate)
		if len(typed) > 1 && strings.HasPrefix(lower, string(typed)) {
			extended = candidate
			extensions++
		}
		length := utf8.RuneCountInString(lower)
		// The distance is at least the difference in length, and a word
		// that shares no character with the candidate is not near it.
		if abs(length-len(typed)) >= bestDistance {
			continue
		}
		d := editDistance(typed, []rune(lower))
		if d < bestDistance && d < max(len(typed), length) {
			best, bestDistance = candidate, d
		}
	}
	if best == "" && extensions == 1 {
		return extended
	}
	return best
}

// editDistance is the optimal string alignment distance.
func editDistance(a, b []rune) int {
	before, previous, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return previous[len(b)]
}

func abs(i int) int { return max(i, -i) }

// DidYouMean puts the candidate nearest to word, if there is one, before the
// remedy: for unknown columns, functions and names of parts.
func (e *Error) DidYouMean(word string, candidates []string) *Error {
	e.Remedy = suggested(word, candidates, e.Remedy)
	return e
}

// suggested is a remedy behind the candidate nearest to word, as the grammar wants it: in backquotes if need be.
func suggested(word string, candidates []string, remedy string) string {
	near := Suggest(word, candidates)
	if near == "" {
		return remedy
	}
	near = "did you mean " + Column{Name: near}.String() + "?"
	if remedy != "" {
		near += " (" + remedy + ")"
	}
	return near
}

// strange lists characters that start no token with what people type instead: other formula
// languages, programming, and text that a word processor has improved. %c is the character, and
// an empty message says only that it is unexpected.
var strange = []struct{ characters, message, remedy string }{
	{"|", "%c is not an operator here", "of alternatives write one; effects of each group stand in parentheses, (1 | group), and slopes by group, (x | group)"},
	{"/", "/ is not an operator here", "write a + a:b for b within a, (1 | a/b) for effects of groups within groups; a ratio is a column of its own; a path is written @path, a column name with / in backquotes"},
	{"%", "", "write 5%% as 0.05; a column name with %% goes in backquotes"},
	{"!&?<", "", "conditions are columns to be made before, but for comparisons with a number, such as x > 3 or x != 0; a column name with %c goes in backquotes"},
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
	{"²³", "", "write x^2 or poly(x, 3); a column name with %c goes in backquotes"},
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
