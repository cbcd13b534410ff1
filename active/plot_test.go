package active

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// The picture has, in each of two panels, a line for the mean of every score and one for each of its repeats, the level
// of all labels and the advice.
func TestPlot(t *testing.T) {
	points := func(at ...float64) (out []Point) {
		for k, v := range at {
			out = append(out, Point{Labels: 100 * (k + 1), Error: v, LogLoss: 2 * v})
		}
		return out
	}
	s := &Simulation{
		Scores:  map[Score][]Point{Information: points(0.3, 0.2), Random: points(0.3, 0.25)},
		Repeats: map[Score][][]Point{Information: {points(0.3, 0.21), points(0.3, 0.19)}, Random: {points(0.3, 0.26), points(0.3, 0.24)}},
		Full:    Point{Labels: 900, Error: 0.1, LogLoss: 0.2}, Stop: &Stop{Labels: 150},
	}
	var first, second bytes.Buffer
	if err := s.WriteSVG(&first); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteSVG(&second); err != nil || first.String() != second.String() {
		t.Errorf("another picture of the same: %v", err)
	}
	text := first.String()
	for pattern, want := range map[string]int{
		`stroke-opacity=".25"`: 8, `class="s[01]" fill="none" [^>]*stroke-width="2" stroke-linejoin`: 4, `>all 900 labels<`: 2, `>stop<`: 2, `>information<`: 1, `>random<`: 1, `>log loss<`: 1, `2 repeats<`: 2,
	} {
		if got := len(regexp.MustCompile(pattern).FindAllString(text, -1)); got != want {
			t.Errorf("%s: %d times, want %d", pattern, got, want)
		}
	}
	s.Stop = &Stop{}
	second.Reset()
	if err := s.WriteSVG(&second); err != nil || strings.Contains(second.String(), ">stop<") {
		t.Errorf("advice that did not come is drawn: %v", err)
	}
}
