package formula

import (
	"slices"
	"testing"
	"time"

	"github.com/credence-ml/credence"
)

// Compiling takes no time by the number of sparse columns, only by those named.
func TestWideSegment(t *testing.T) {
	schema := &credence.Schema{Columns: []credence.Column{{Name: "label"}}, Label: true, Sparse: 2_000_000_000}
	start := time.Now()
	for _, text := range []string{"", "label ~ . - x7 - x2000000000", "label ~ x1999999999", "label ~ rbf(x3, x1000000000) + x3"} {
		plan, err := Parse(text, schema, Options{})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if text == "label ~ . - x7 - x2000000000" && !slices.Equal(plan.without, []int32{6, 1_999_999_999}) {
			t.Errorf("%q leaves out %v", text, plan.without)
		}
	}
	if _, err := Parse("label ~ rbf(.)", schema, Options{}); err == nil {
		t.Error("rbf takes two billion columns")
	}
	// Going through the columns once takes minutes.
	if spent := time.Since(start); spent > 5*time.Second {
		t.Errorf("it took %v", spent)
	}
}
