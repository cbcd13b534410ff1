package dataset

import (
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/table"
)

// TestSettle: the first value of a column that had none decides its kind.
func TestSettle(t *testing.T) {
	for text, want := range map[string]credence.Kind{"1.5": credence.Numeric, "red": credence.Category, "1,300": credence.Category, "true": credence.Boolean} {
		c := table.Column{Name: "x", Unknown: true}
		if settle(&c, []byte(text), &cell.Setting{Name: "x"}); c.Kind != want || c.Unknown || c.Notation != (credence.Notation{}) {
			t.Errorf("%s: %+v", text, c)
		}
	}
}
