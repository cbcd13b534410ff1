package table

import (
	"testing"

	"github.com/credence-ml/credence"
)

// TestSettle: the first value of a column that had none decides its kind.
func TestSettle(t *testing.T) {
	for text, want := range map[string]credence.Kind{"1.5": credence.Numeric, "red": credence.Category, "true": credence.Boolean} {
		c := Column{Name: "x", Unknown: true}
		if c.Settle([]byte(text)); c.Kind != want || c.Unknown {
			t.Errorf("%s: %v, unknown %t", text, c.Kind, c.Unknown)
		}
	}
}
