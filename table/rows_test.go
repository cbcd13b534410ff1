package table

import (
	"bytes"
	"testing"
)

// Rows know their lines, whatever malformed rows and empty lines stand between them.
func TestLines(t *testing.T) {
	var r Rows
	r.Reset("f", []Column{{Name: "a"}})
	for _, line := range []int{2, 3, 5, 0, 7, 8, 12} { // 0: the row on line 6 is malformed
		if line == 0 {
			r.At(6)
			r.Faults = append(r.Faults, Fault{Row: r.Count})
			continue
		}
		r.At(line)
		r.Count++
	}
	for i, want := range []int{2, 3, 5, 7, 8, 12} {
		if got := r.Line(i); got != want {
			t.Errorf("row %d stands on line %d, want %d", i, got, want)
		}
	}
	if len(r.Places) != 4 {
		t.Errorf("%d places, want 4 runs of consecutive lines", len(r.Places))
	}
}

// Texts that differ in a byte are different levels, whatever their length and the byte.
func TestLevelsDifferByAByte(t *testing.T) {
	for length := 1; length <= 20; length++ {
		text := bytes.Repeat([]byte("x"), length)
		for place := range text {
			var l Levels
			for c := range 256 {
				other := bytes.Clone(text)
				other[place] = byte(c)
				if code, isNew := l.Find(other, 1); !isNew || code != c {
					t.Fatalf("%q is taken for %q", other, l.List[code].Text)
				}
			}
		}
	}
}

func TestLevelsAreNumberedInOrder(t *testing.T) {
	var l Levels
	for range 2 {
		for i := range 100 {
			text := []byte{byte(i), byte(i * i)}
			if code, isNew := l.Find(text, i); code != i || !isNew {
				t.Fatalf("text %d is number %d, new %v", i, code, isNew)
			}
			if code, isNew := l.Find(append([]byte(nil), text...), i); code != i || isNew {
				t.Fatalf("text %d is found as number %d, new %v", i, code, isNew)
			}
		}
		l.Reset()
	}
}
