package formula

import "testing"

// TestMinusOne: what is taken out is out: the last of 1, 0 and - 1 counts.
func TestMinusOne(t *testing.T) {
	for text, intercept := range map[string]bool{"price ~ lat + lon - 1": false, "price ~ lat + lon - (1 + lon)": false} {
		plan, err := Parse(text, houses(10).Schema(), Options{})
		if err != nil {
			continue // a refusal is right too
		}
		if plan.Intercept != intercept {
			t.Errorf("%s: the intercept is in: %t", text, plan.Intercept)
		}
	}
	for text, label := range map[string]string{"price ~ (lat - 1 | zip)": "(0 + lat | zip)", "price ~ (1 + lat - 1 | zip)": "(0 + lat | zip)"} {
		plan, err := Parse(text, houses(10).Schema(), Options{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := plan.Bars()[0]; got != label {
			t.Errorf("%s is read as %s, want %s", text, got, label)
		}
	}
}
