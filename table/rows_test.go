package table

import (
	"bytes"
	"testing"

	"github.com/credence-ml/credence"
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

// TestTextsInPlace: what is kept as it is written is found again, to the longest length that fits beside its place, and
// behind it.
func TestTextsInPlace(t *testing.T) {
	text := make([]byte, 3<<lengthBits)
	for i := range text {
		text[i] = byte(i * 7 / 5)
	}
	var r Rows
	r.Reset("f", []Column{{Name: "a"}, {Name: "b"}})
	r.Text, r.InPlace = text, true
	for _, c := range []struct{ from, length int }{{0, 0}, {0, 1}, {5, 3}, {1 << lengthBits, 1<<lengthBits - 1}, {7, 1 << lengthBits}, {8, 1<<lengthBits + 9}, {7, 1 << lengthBits}} {
		value := r.Written(1, c.from, c.from+c.length)
		if (value < 0) != (c.length >= 1<<lengthBits) {
			t.Errorf("a text of %d bytes is %v", c.length, value)
		}
		if got := r.TextOf(1, value); !bytes.Equal(got, text[c.from:c.from+c.length]) || cap(got) != len(got) && value >= 0 {
			t.Errorf("%d bytes from %d on are found as %d", c.length, c.from, len(got))
		}
	}
	if len(r.Levels[1].List) != 2 || len(r.Levels[0].List) != 0 {
		t.Errorf("%d and %d texts are numbered, want 0 and 2", len(r.Levels[0].List), len(r.Levels[1].List))
	}
	r.Tokens = []Span{{3, 5}, {5, 6}}
	if got := r.Token(1); !bytes.Equal(got, text[5:6]) {
		t.Errorf("token 1 is %q", got)
	}
}

// TestRowsWithoutLines: rows have no lines where none was noted, nor before the first that was, nor where their lines
// are not known.
func TestRowsWithoutLines(t *testing.T) {
	var r Rows
	if got := r.Line(3); got != 0 {
		t.Errorf("a row of no file stands on line %d", got)
	}
	r.Places = []Place{{Row: 2, Line: 10}, {Row: 4}}
	for i, want := range []int{0, 0, 10, 11, 0, 0} {
		if got := r.Line(i); got != want {
			t.Errorf("row %d stands on line %d, want %d", i, got, want)
		}
	}
}

// TestResetLeavesNothing: rows that were filled and reset are as new ones, whatever they held.
func TestResetLeavesNothing(t *testing.T) {
	columns := []Column{{Name: "a"}, {Name: "g", Kind: credence.Category}, {Name: "h", Kind: credence.Category}}
	var r Rows
	r.Reset("f", columns)
	for j := 1; j < 3; j++ {
		r.Levels[j].Find([]byte("first"), 1)
		r.Levels[j].Find([]byte("second"), 2)
	}
	r.Values, r.Start, r.Keys, r.Value, r.Ones = []float64{1, 0, 1}, []int{0, 1}, []uint64{4}, []float64{2}, false
	r.Spaces.Find([]byte("space"), 1)
	r.Space, r.Tokens, r.Text, r.InPlace, r.Merged, r.Count = []int32{0}, []Span{{0, 1}}, []byte("text"), true, 3, 1
	r.Ends, r.Places, r.Faults = []int64{9}, []Place{{0, 2}}, []Fault{{Row: 1}}
	r.Reset("g", columns[:2])
	r.Reset("g", columns)
	if r.File != "g" || r.Count+r.Merged+len(r.Values)+len(r.Start)+len(r.Keys)+len(r.Value)+len(r.Space)+len(r.Tokens)+len(r.Text)+len(r.Ends)+len(r.Places)+len(r.Faults)+len(r.Spaces.List) != 0 || !r.Ones || r.InPlace {
		t.Errorf("%+v", r)
	}
	for j := range columns {
		if code, isNew := r.Levels[j].Find([]byte("second"), 1); code != 0 || !isNew || len(r.Levels[j].List) != 1 {
			t.Errorf("column %d has levels %v", j, r.Levels[j].List)
		}
	}
}
