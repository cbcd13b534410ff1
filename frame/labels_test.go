package frame

import (
	"fmt"
	"testing"

	"github.com/credence-ml/credence"
)

// A text has the code of the class that is the same text, number or boolean word, whatever brings the rows, and a
// number that of its text.
func TestLabels(t *testing.T) {
	for _, c := range []struct {
		names []string
		kind  credence.Kind
		codes map[string]float64 // -1 where it is none
		of    map[float64]float64
	}{
		{nil, credence.Numeric, map[string]float64{"1": 1, "1.0": 1, "0": 0, "-1": 0, "2": -1, "true": 1, "No": 0, "t": -1, "cat": -1, "inf": -1}, map[float64]float64{1: 1, 0: 0, -1: 0, 2: -1}},
		{[]string{"", "2"}, credence.Numeric, map[string]float64{"2": 1, "2.00": 1, "1": 0, "cat": 0}, map[float64]float64{2: 1, 1: 0, 0: 0}},
		{[]string{"1", "2"}, credence.Numeric, map[string]float64{"2": 1, "1e0": 0, "3": -1, "cat": -1}, map[float64]float64{2: 1, 1: 0, 3: -1}},
		{[]string{"no", "yes"}, credence.Category, map[string]float64{"YES": 1, "No": 0, "y": -1, "true": -1}, map[float64]float64{1: -1}},
		{[]string{"no", "yes"}, credence.Boolean, map[string]float64{"yes": 1, "no": 0}, map[float64]float64{1: 1, 0: 0, 2: -1}},
		{[]string{"no", "yes"}, credence.Numeric, map[string]float64{"yes": 1, "true": -1}, map[float64]float64{1: 1, 0: 0, 2: -1}},
		{[]string{"true", "false"}, credence.Boolean, map[string]float64{"FALSE": 1, "True": 0}, map[float64]float64{1: 0, 0: 1}},
		{[]string{"", "dog"}, credence.Category, map[string]float64{"dog": 1, "Dog": 0, "cat": 0}, map[float64]float64{1: 0}},
		{[]string{"0", "1", "5"}, credence.Numeric, map[string]float64{"5": 2, "0.0": 0, "2": -1}, map[float64]float64{5: 2, 0: 0, 4: -1}},
	} {
		l := NewLabels(c.names, c.kind)
		for range 2 { // the second time as they are remembered
			for text, want := range c.codes {
				if code, ok := l.Of([]byte(text)); ok != (want >= 0) || ok && code != want {
					t.Errorf("%q: %q is %v, %v, want %v", c.names, text, code, ok, want)
				}
			}
		}
		for v, want := range c.of {
			if code, ok := l.OfNumber(v); ok != (want >= 0) || ok && code != want {
				t.Errorf("%q: %v is %v, %v, want %v", c.names, v, code, ok, want)
			}
		}
	}
	l := NewLabels(nil, credence.Numeric)
	for i := range 10 * mostLately {
		l.Of(fmt.Append(nil, "odd", i))
	}
	if len(l.lately) > mostLately {
		t.Errorf("%d texts are remembered", len(l.lately))
	}
}
