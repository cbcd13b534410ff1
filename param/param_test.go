package param

import "testing"

// What is stated is held, what is a guess is learned from there on, and another value leaves the state as it was.
func TestStates(t *testing.T) {
	for _, c := range []struct {
		p    Parameter
		want Parameter
		text string
	}{
		{Parameter{}, Parameter{0, Learned}, "learned"},
		{From(3), Parameter{3, Guess}, "guess"},
		{Hold(3), Parameter{3, Held}, "held"},
		{From(3).At(2), Parameter{2, Guess}, "guess"},
		{Hold(3).At(0), Parameter{0, Held}, "held"},
		{Parameter{}.At(5), Parameter{5, Learned}, "learned"},
	} {
		if c.p != c.want || c.p.State.String() != c.text {
			t.Errorf("%+v is %v, want %+v", c.p, c.p.State, c.want)
		}
	}
	if got := (Parameter{}).Or(7); got != 7 {
		t.Errorf("what is not known is %v, want 7", got)
	}
	if got := From(3).Or(7); got != 3 {
		t.Errorf("a guess of 3 is %v", got)
	}
}
