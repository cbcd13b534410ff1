// Package layout prints tables that are read as they stand and are Markdown at
// the same time: columns padded to equal width between bars.
package layout

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is a table of text. Left says how many of the first columns are
// aligned to the left; the others, numbers, are aligned to the right.
type Table struct {
	Head []string
	Left int
	rows [][]string
}

// Add appends a row; missing cells are empty.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Rows returns the number of rows.
func (t *Table) Rows() int { return len(t.rows) }

// WriteTo prints the table.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	width := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.rows...) {
		for j, cell := range row {
			width[j] = max(width[j], utf8.RuneCountInString(cell), 3)
		}
	}
	var b strings.Builder
	line := func(row []string) {
		for j := range t.Head {
			cell := ""
			if j < len(row) {
				cell = row[j]
			}
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(cell))
			if j < t.Left {
				b.WriteString("| " + cell + pad + " ")
			} else {
				b.WriteString("| " + pad + cell + " ")
			}
		}
		b.WriteString("|\n")
	}
	line(t.Head)
	for j := range t.Head {
		rule := strings.Repeat("-", width[j]+1)
		if j < t.Left {
			b.WriteString("| " + rule[1:] + " ")
		} else {
			b.WriteString("| " + rule[:width[j]-1] + ": ")
		}
	}
	b.WriteString("|\n")
	for _, row := range t.rows {
		line(row)
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// PlusMinus formats a mean and its standard error with the given digits after the
// point; without a standard error (NaN) the mean alone.
func PlusMinus(mean, standardError float64, digits int) string {
	if standardError != standardError {
		return Number(mean, digits)
	}
	return fmt.Sprintf("%s ± %.*f", Number(mean, digits), digits, standardError)
}

// Number formats a number with the given digits after the point and a true minus sign;
// NaN is empty.
func Number(x float64, digits int) string {
	if x != x {
		return ""
	}
	return strings.Replace(fmt.Sprintf("%.*f", digits, x), "-", "−", 1)
}
