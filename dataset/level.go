package dataset

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/credence-ml/credence/dataset/text"
)

// Unseen tells of values of a category column that training did not have. Their
// code is -1.
type Unseen struct {
	Column   string
	Rows     int // rows with such a value
	Examples []Example
}

// Example is a value and where it stood first.
type Example struct {
	Value string
	File  string
	Line  int
}

// unseenExamples are remembered for each column.
const unseenExamples = 5

// dictionary gives the levels of a column their codes: in the order of first
// occurrence, or those of training.
type dictionary struct {
	column string
	frozen bool
	limit  int
	codes  map[string]int32
	levels []string
	unseen Unseen
	table  []float64 // codes of the levels of the present block
}

func newDictionary(column string, trained []string, frozen bool, limit int) *dictionary {
	d := &dictionary{column: column, unseen: Unseen{Column: column}, frozen: frozen, limit: limit, codes: make(map[string]int32, len(trained))}
	if frozen {
		d.levels = trained
		for i, level := range trained {
			d.codes[level] = int32(i)
		}
	}
	return d
}

// translate replaces the block's own codes in column position of its values by
// those of the dictionary.
func (d *dictionary) translate(b *text.Block, position int) error {
	levels := &b.Levels[position]
	d.table = d.table[:0]
	for i, level := range levels.List {
		code := math.NaN()
		if !levels.Missing[i] {
			known, err := d.code(b.Layout.File, level)
			if err != nil {
				return err
			}
			code = float64(known)
		}
		d.table = append(d.table, code)
	}
	width := b.Layout.Width
	for i := position; i < b.Rows*width; i += width {
		if own := b.Values[i]; own == own { // not missing
			code := d.table[int(own)]
			if code < 0 {
				d.unseen.Rows++
			}
			b.Values[i] = code
		}
	}
	return nil
}

// code returns the code of a level, -1 where training did not have it.
func (d *dictionary) code(file string, level text.Level) (int32, error) {
	if code, known := d.codes[string(level.Text)]; known {
		return code, nil
	}
	fail := func(format string, values ...any) error {
		return &text.Error{File: file, Line: level.Line, Column: d.column, What: fmt.Sprintf(format, values...)}
	}
	if !validText(level.Text) {
		if bytes.IndexByte(level.Text, 0) >= 0 {
			return 0, fail("%s holds a NUL byte, so it is not text: is the file damaged?", text.Quote(level.Text))
		}
		return 0, fail("%s is not UTF-8: convert the file with iconv -f LATIN1 -t UTF-8", text.Quote(level.Text))
	}
	if d.frozen {
		if known := slices.ContainsFunc(d.unseen.Examples, func(e Example) bool { return e.Value == string(level.Text) }); !known && len(d.unseen.Examples) < unseenExamples {
			d.unseen.Examples = append(d.unseen.Examples, Example{string(level.Text), file, level.Line})
		}
		return -1, nil
	}
	if len(d.levels) == d.limit {
		return 0, fail("the category has more than %d levels: leave the column out, or declare it a number", d.limit)
	}
	name := string(level.Text)
	code := int32(len(d.levels))
	d.codes[name] = code
	d.levels = append(d.levels, name)
	return code, nil
}

// finish returns the levels in their final order and, for every code so far, its
// place in it; nil where the codes are final already.
func (d *dictionary) finish() (levels []string, place []int32) {
	if d.frozen {
		return d.levels, nil
	}
	levels = slices.Clone(d.levels)
	sortLevels(levels)
	place = make([]int32, len(levels))
	for i, level := range levels {
		place[d.codes[level]] = int32(i)
	}
	return levels, place
}

// sortLevels sorts by value where all levels are numbers, else by bytes.
func sortLevels(levels []string) {
	values := make(map[string]float64, len(levels))
	for _, level := range levels {
		value, _, ok := text.ParseNumber([]byte(level))
		if !ok {
			slices.Sort(levels)
			return
		}
		values[level] = value
	}
	slices.SortFunc(levels, func(a, b string) int {
		return cmp.Or(cmp.Compare(values[a], values[b]), strings.Compare(a, b))
	})
}

// validText reports whether a name or level is UTF-8 without NUL bytes.
func validText[T string | []byte](value T) bool {
	return utf8.ValidString(string(value)) && !strings.Contains(string(value), "\x00")
}
