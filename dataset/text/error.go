package text

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is a fault of the data at a place in a file.
type Error struct {
	File   string
	Line   int    // from 1; 0 where no line is to blame
	Column string // empty where no column is to blame
	What   string // what is wrong: what to do
}

// Error returns `file:line: column "name": what`.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(e.Line))
	}
	b.WriteString(": ")
	if e.Column != "" {
		b.WriteString("column ")
		b.WriteString(Quote(e.Column))
		b.WriteString(": ")
	}
	b.WriteString(e.What)
	return b.String()
}

// quotedLength is how many bytes of a value an error message repeats.
const quotedLength = 40

// Quote returns the text in double quotes, shortened so that a message stays a
// line however long and strange the text is.
func Quote[T string | []byte](text T) string {
	if len(text) <= quotedLength {
		return strconv.Quote(string(text))
	}
	cut := quotedLength
	for cut > quotedLength-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strconv.Quote(string(text[:cut])+"…") + " (" + strconv.Itoa(len(text)) + " bytes)"
}
