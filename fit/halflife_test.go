package fit

import (
	"math"
	"testing"
)

// Units of a half-life are days, and a number without one stands as it is.
func TestHalfLives(t *testing.T) {
	for _, text := range []string{"1w", "7d", "168h", "10080m", "604800s", "7"} {
		if value, days, err := ParseHalfLife(text); err != nil || !(math.Abs(value-7) <= 1e-12) || days == (text == "7") {
			t.Errorf("%s is %v, days %t: %v", text, value, days, err)
		}
	}
	for _, text := range []string{"", "d", "-7d", "0", "7x", "inf", "nan"} {
		if value, _, err := ParseHalfLife(text); err == nil {
			t.Errorf("%s is %v", text, value)
		}
	}
}
