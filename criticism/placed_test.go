package criticism

import (
	"fmt"
	"testing"

	"github.com/credence-ml/credence"
)

// lines is a source whose row i stands at line i + 2 of train.csv, and whose rows from 100 on stand nowhere.
type lines struct{ credence.Source }

func (lines) Place(row int) string {
	if row >= 100 {
		return fmt.Sprintf("row %d", row+1)
	}
	return fmt.Sprintf("train.csv:%d", row+2)
}

func TestRowsOfATextArePlaced(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"far (row 16, weight 2)", "far (row 16 at train.csv:17, weight 2)"},
		{"far (rows 16, 40, with weight 2)", "far (rows 16, 40 at train.csv:17, 41, with weight 2)"},
		{"one (row 1) and two (rows 2, 3)", "one (row 1 at train.csv:2) and two (rows 2, 3 at train.csv:3, 4)"},
		{"some (rows of weight 0) and (rows 2, 101)", "some (rows of weight 0) and (rows 2, 101)"},
		{"nothing", "nothing"},
		{"cut (row", "cut (row"},
	} {
		if got := Placed(lines{}, c.text); got != c.want {
			t.Errorf("%q is placed as %q, want %q", c.text, got, c.want)
		}
	}
	if got := Placed(nil, "far (row 16)"); got != "far (row 16)" {
		t.Error(got)
	}
}
