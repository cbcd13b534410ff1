package spec

import (
	"strings"
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
	near := Suggest(word, candidates)
	switch {
	case near == "":
	case e.Remedy == "":
		e.Remedy = didYouMean(near)
	default:
		e.Remedy = didYouMean(near) + " (" + e.Remedy + ")"
	}
	return e
}

// didYouMean writes near as the grammar wants it, in backquotes if need be.
func didYouMean(near string) string { return "did you mean " + Column{Name: near}.String() + "?" }
