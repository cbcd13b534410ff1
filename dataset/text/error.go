package text

import (
	"strconv"
	"strings"

	"github.com/credence-ml/credence/internal/cell"
)

// Error is a fault of the data at a place in a file.
type Error struct {
	File   string
	Line   int      // from 1; 0 where no line is to blame
	Column string   // empty where no column is to blame
	Text   string   // of a cell that is no number or no boolean; empty of other faults
	What   string   // what is wrong: what to do
	Also   []*Error // other cells of the row that are none
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
		b.WriteString(cell.Quote(e.Column))
		b.WriteString(": ")
	}
	b.WriteString(e.What)
	return b.String()
}
