package spec

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is a complaint about one place in a text: by the parser, by a reader
// of arguments, or by a later stage through [Errorf].
type Error struct {
	Text           string // the whole source; "" when the tree was built by hand
	Offset, Length int    // the place, in bytes; Length may be 0
	Message        string // what is wrong
	Remedy         string // what to do; may be ""
}

// Errorf returns an error at the place of node in source. Add what to do with
// [Error.WithRemedy].
func Errorf(source string, node Node, format string, args ...any) *Error {
	at := Position{}
	if node != nil {
		at = node.At()
	}
	return &Error{Text: source, Offset: at.Offset, Length: at.Length, Message: fmt.Sprintf(format, args...)}
}

// Errorf returns an error at the place of node in the formula.
func (f Formula) Errorf(node Node, format string, args ...any) *Error {
	return Errorf(f.Source, node, format, args...)
}

// WithRemedy sets what the user should do, and returns e.
func (e *Error) WithRemedy(format string, args ...any) *Error {
	e.Remedy = fmt.Sprintf(format, args...)
	return e
}

// Error is one line: "column 12: what is wrong: what to do". Columns count
// characters from 1; a text of several lines adds the line.
func (e *Error) Error() string {
	var out strings.Builder
	if e.Text != "" {
		start, _ := e.line()
		if strings.Contains(e.Text, "\n") {
			fmt.Fprintf(&out, "line %d, ", strings.Count(e.Text[:start], "\n")+1)
		}
		fmt.Fprintf(&out, "column %d: ", utf8.RuneCountInString(e.Text[start:e.offset()])+1)
	}
	out.WriteString(e.Message)
	if e.Remedy != "" {
		out.WriteString(": " + e.Remedy)
	}
	return strings.Map(oneLine, out.String())
}

// oneLine keeps names that hold line breaks from breaking the message.
func oneLine(r rune) rune {
	if r == '\n' || r == '\r' {
		return ' '
	}
	return visible(r)
}

// caretWidth is how many terminal cells of the source Caret shows at most.
const caretWidth = 100

// Caret is two lines without a final newline: the line of the source, and
// carets below the offending place as a terminal shows it (wide characters
// take two cells, combining marks none). Only the surroundings of the place
// are shown when the line is long. It is "" when the source is not known.
func (e *Error) Caret() string {
	if e.Text == "" {
		return ""
	}
	start, end := e.line()
	offset := e.offset()
	stop := min(max(offset+e.Length, offset), end) // a place may run past its line

	from, to := start, end
	if cells(e.Text[start:end]) > caretWidth {
		from = back(e.Text, start, offset, caretWidth/2)
		to = forth(e.Text, offset, end, caretWidth/2)
	}
	var out strings.Builder
	if from > start {
		out.WriteString("…")
	}
	out.WriteString(strings.Map(visible, e.Text[from:to]))
	if to < end {
		out.WriteString("…")
	}
	pad := cells(e.Text[from:offset])
	if from > start {
		pad++
	}
	out.WriteByte('\n')
	out.WriteString(strings.Repeat(" ", pad))
	out.WriteString(strings.Repeat("^", max(1, cells(e.Text[offset:max(offset, min(stop, to))]))))
	return out.String()
}

// offset is Offset, made safe against places that are not of this text.
func (e *Error) offset() int { return min(max(e.Offset, 0), len(e.Text)) }

// line returns the bounds of the line that holds the offset.
func (e *Error) line() (start, end int) {
	offset := e.offset()
	start = strings.LastIndexByte(e.Text[:offset], '\n') + 1
	end = len(e.Text)
	if i := strings.IndexByte(e.Text[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	return start, end
}

// back moves from offset towards start over at most width cells.
func back(s string, start, offset, width int) int {
	for offset > start {
		r, size := utf8.DecodeLastRuneInString(s[start:offset])
		if width -= cellWidth(r); width < 0 {
			break
		}
		offset -= size
	}
	return offset
}

// forth moves from offset towards end over at most width cells.
func forth(s string, offset, end, width int) int {
	for offset < end {
		r, size := utf8.DecodeRuneInString(s[offset:end])
		if width -= cellWidth(r); width < 0 {
			break
		}
		offset += size
	}
	return offset
}

func cells(s string) int {
	n := 0
	for _, r := range s {
		n += cellWidth(r)
	}
	return n
}

// visible replaces what would move the terminal's cursor: tabs by a space, so
// that the caret line can be padded with spaces, and other controls by a mark.
func visible(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsControl(r), r == '\u2028', r == '\u2029', unicode.Is(unicode.Bidi_Control, r):
		return utf8.RuneError
	}
	return r
}

// cellWidth is the number of terminal cells of one character: 0 for combining
// marks and invisible format characters, 2 for the wide and fullwidth ranges
// of Unicode Standard Annex 11, else 1.
func cellWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.Is(unicode.Bidi_Control, r): // shown as a mark, see visible
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0x303e, r >= 0x3041 && r <= 0xa4cf,
		r >= 0xa960 && r <= 0xa97f, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff01 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1f64f, r >= 0x1f680 && r <= 0x1f6ff, r >= 0x1f900 && r <= 0x1f9ff,
		r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// show quotes what the user wrote for a message: on one line, and clipped.
func show(s string) string {
	return strconv.Quote(Clip(s))
}

// backquoted is show for column names, as the grammar wants them.
func backquoted(s string) string { return quote(Clip(s), '`') }

// Clip is a text for a message, cut off where it is long.
func Clip(s string) string {
	const most = 40
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most-1]) + "…"
	}
	return s
}
