package fit

import (
	"context"
	"fmt"
	"testing"

	"github.com/credence-ml/credence/internal/gauss"
)

// TestLost: sites beyond all numbers are told from interruptions and from faults of the data.
func TestLost(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, context.Canceled: false, fmt.Errorf("ep: %w", &gauss.Repeated{Pivot: 1, Count: 2, Twin: -1}): true, fmt.Errorf("row 3 has no target"): false,
	} {
		if lost(err) != want {
			t.Errorf("%v: %t", err, !want)
		}
	}
}
