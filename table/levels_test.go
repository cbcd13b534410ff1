package table

import (
	"fmt"
	"testing"
)

// Texts that share bytes, lengths or a beginning are told apart, and are found again.
func TestLevelsAreTold(t *testing.T) {
	texts := []string{"", "\x00", "\x00\x00", "a", "a\x00", "ab", "abc", "abcd", "abcda", "abcdab", "abcdabc", "abcdabcd", "abcdabcda",
		"\x01\x00\x00\x00\x00\x00\x00", "\x01", "\xff\xff\xff\xff\xff\xff\xff", "\xff\xff\xff\xff\xff\xff\xff\xff"}
	for i := range 3000 {
		texts = append(texts, fmt.Sprint("v", i*i))
	}
	var levels Levels
	for round := range 2 {
		for code, text := range texts {
			got, isNew := levels.Find([]byte(text), code)
			if got != code || isNew != (round == 0) {
				t.Fatalf("round %d: %q has number %d, new %v; want %d", round, text, got, isNew, code)
			}
		}
	}
	levels.Reset()
	if code, isNew := levels.Find([]byte("abc"), 1); code != 0 || !isNew {
		t.Fatalf("after Reset a text has number %d, new %v", code, isNew)
	}
}
