package formula

import "strings"

// textOf names the texts of a column's cells as a column of their own.
func textOf(column string) string { return "text(" + column + ")" }

// cutText returns the column whose texts textOf names.
func cutText(name string) (column string, found bool) {
	if column, found = strings.CutPrefix(name, "text("); found {
		return strings.CutSuffix(column, ")")
	}
	return name, false
}
