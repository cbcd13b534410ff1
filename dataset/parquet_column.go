package dataset

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/parquet"
)

// columnReader writes the values of one column of a row group into the rows of
// blocks, page by page.
type columnReader struct {
	leaf  *leaf
	field text.Field
	rules *text.Rules
	pages *parquet.Pages

	levels []byte // definition levels of the page, nil where nothing can be missing
	rows   int    // of the page
	row    int    // next row of the page
	value  int    // next value of the page, missing ones not counted
	spread spreader

	numbers []float64 // of the dictionary
	texts   [][]byte  // of the dictionary
	codes   []int32   // of the texts in the present block, -1 if none yet
	block   *text.Block
	faults  []fault // of the present block
	// exact notes integers beyond 2⁵³ among what was stored; nil where there are none.
	exact   func(b *text.Block, dst []float64, stride, count int)
	scratch []byte
}

// spreader stores values [first, first+count) of a page in dst[0], dst[stride] …
// It returns how many it stored, and what is wrong with the next one.
type spreader func(dst []float64, stride, first, count int) (done int, what string)

// read stores the next n rows in the field's column of the block.
func (c *columnReader) read(b *text.Block, n int) error {
	if c.block != b || len(b.Levels[c.field.Keep].List) == 0 {
		c.block = b
		for i := range c.codes {
			c.codes[i] = -1
		}
	}
	stride := len(b.Columns)
	for done := 0; done < n; {
		if c.row == c.rows {
			if err := c.next(); err != nil {
				return err
			}
			continue
		}
		run, missing := min(n-done, c.rows-c.row), false
		if c.levels != nil {
			missing = c.levels[c.row] != c.leaf.levels
			run = runLength(c.levels[c.row:c.row+run], c.leaf.levels)
		}
		dst := b.Values[done*stride+c.field.Keep:]
		if missing {
			for i := range run {
				dst[i*stride] = math.NaN()
			}
		} else {
			stored, what := c.spread(dst, stride, c.value, run)
			if what != "" { // this value is none; go on behind it
				dst[stored*stride] = math.NaN()
				c.faults = append(c.faults, fault{done + stored, c.field.Name, what})
				run = stored + 1
			}
			c.value += run
			if c.exact != nil {
				c.exact(b, dst, stride, run)
			}
		}
		c.row += run
		done += run
	}
	return nil
}

// noteInexact is the exact of columns of 64-bit integers.
func (c *columnReader) noteInexact(b *text.Block, dst []float64, stride, count int) {
	for i := range count {
		if v := dst[i*stride]; v > 1<<53 || v < -(1<<53) {
			b.Inexact = append(b.Inexact, text.Inexact{Column: c.field.Keep, Text: strconv.AppendFloat(nil, v, 'f', 0, 64)})
			c.exact = nil
			return
		}
	}
}

// runLength returns how many levels at the beginning agree on whether there is a
// value.
func runLength(levels []byte, there byte) int {
	if levels[0] == there {
		for i, level := range levels {
			if level != there {
				return i
			}
		}
		return len(levels)
	}
	if i := bytes.IndexByte(levels, there); i >= 0 {
		return i
	}
	return len(levels)
}

// next goes to the next page.
func (c *columnReader) next() error {
	page, err := c.pages.Next()
	if err != nil {
		return err
	}
	c.rows, c.row, c.value, c.levels = page.Rows, 0, 0, page.Levels
	if !page.Indexed {
		c.spread = c.spreadPlain(&page.Values)
		return nil
	}
	if c.numbers == nil && c.texts == nil {
		c.readDictionary()
	}
	c.spread = c.spreadIndices(page.Values.Int32())
	return nil
}

// readDictionary takes over the values that pages refer to.
func (c *columnReader) readDictionary() {
	data, count := c.pages.Dictionary()
	if c.field.Kind == credence.Numeric && c.leaf.physical != format.ByteArray {
		// Infinities are checked where they are used.
		c.numbers = make([]float64, count)
		plain(&data, c.leaf)(c.numbers, 1, 0, count)
		return
	}
	c.texts, c.codes = make([][]byte, count), make([]int32, count)
	at := c.textAt(&data)
	for i := range c.texts {
		c.texts[i], c.codes[i] = bytes.Clone(at(i)), -1
	}
}

const outsideDictionary = "the value is not in the dictionary: the file is damaged, write it again"

// spreadIndices returns the spreader of a page that refers to the dictionary.
func (c *columnReader) spreadIndices(indices []int32) spreader {
	if c.numbers != nil {
		return func(dst []float64, stride, first, count int) (int, string) {
			for i, k := range indices[first : first+count] {
				if uint(k) >= uint(len(c.numbers)) {
					return i, outsideDictionary
				}
				v := c.numbers[k]
				if v-v != 0 && v == v {
					return i, infiniteFault
				}
				dst[i*stride] = v
			}
			return count, ""
		}
	}
	return func(dst []float64, stride, first, count int) (int, string) {
		for i, k := range indices[first : first+count] {
			if uint(k) >= uint(len(c.texts)) {
				return i, outsideDictionary
			}
			if code := c.codes[k]; code >= 0 {
				dst[i*stride] = float64(code)
				continue
			}
			v, what := c.read1(c.texts[k])
			if what != "" {
				return i, what
			}
			if c.field.Kind == credence.Category && v == v {
				c.codes[k] = int32(v)
			}
			dst[i*stride] = v
		}
		return count, ""
	}
}

// read1 reads a text by the kind of the column.
func (c *columnReader) read1(value []byte) (float64, string) {
	levels := &c.block.Levels[c.field.Keep]
	known := len(levels.List)
	v, what := c.block.Cell(c.rules, c.field.Kind, c.field.Keep, value)
	if n := len(levels.List); n > known { // the page may go before the block does
		levels.List[n-1].Text = bytes.Clone(value)
	}
	return v, what
}

const infiniteFault = "the value is not a finite number: correct it, or write it as missing"

// spreadPlain returns the spreader of a page that holds values themselves.
func (c *columnReader) spreadPlain(data *encoding.Values) spreader {
	if c.field.Kind == credence.Boolean && c.leaf.physical == format.Boolean {
		return spreadBits(data.Boolean())
	}
	if c.field.Kind == credence.Numeric && c.leaf.physical != format.ByteArray {
		switch {
		case c.leaf.physical == format.Double:
			return spreadFinite(data.Double())
		case c.leaf.physical == format.Float:
			return spreadFinite(data.Float())
		}
		return plain(data, c.leaf)
	}
	at := c.textAt(data)
	return func(dst []float64, stride, first, count int) (int, string) {
		for i := range count {
			v, what := c.read1(at(first + i))
			if what != "" {
				return i, what
			}
			dst[i*stride] = v
		}
		return count, ""
	}
}

// plain returns the spreader of values that are numbers, unchecked.
func plain(data *encoding.Values, l *leaf) spreader {
	stored := storedNumbers(data, l)
	if l.unit == 0 || l.unit == 1 {
		return stored
	}
	return func(dst []float64, stride, first, count int) (int, string) {
		done, what := stored(dst, stride, first, count)
		for i := range done {
			dst[i*stride] /= l.unit
		}
		return done, what
	}
}

// storedNumbers returns the spreader of numbers as they are stored.
func storedNumbers(data *encoding.Values, l *leaf) spreader {
	switch {
	case l.physical == format.Int96:
		return spreadMoments(data.Int96())
	case l.physical == format.Double:
		return spreadOf(data.Double())
	case l.physical == format.Float:
		return spreadOf(data.Float())
	case l.physical == format.Int32 && l.unsigned:
		return spreadOf(data.Uint32())
	case l.physical == format.Int32:
		return spreadOf(data.Int32())
	case l.physical == format.Int64 && l.unsigned:
		return spreadOf(data.Uint64())
	case l.physical == format.Int64:
		return spreadOf(data.Int64())
	}
	return spreadBits(data.Boolean())
}

func spreadOf[T int32 | int64 | uint32 | uint64 | float32 | float64](values []T) spreader {
	return func(dst []float64, stride, first, count int) (int, string) {
		for i, v := range values[first : first+count] {
			dst[i*stride] = float64(v)
		}
		return count, ""
	}
}

// spreadMoments spreads times of old programs: nanoseconds of a Julian day.
func spreadMoments(values []deprecated.Int96) spreader {
	const epoch = 2440588 // Julian day of 1970-01-01
	return func(dst []float64, stride, first, count int) (int, string) {
		for i, v := range values[first : first+count] {
			nanoseconds := uint64(v[1])<<32 | uint64(v[0])
			dst[i*stride] = float64(int64(int32(v[2]))-epoch) + float64(int64(nanoseconds))/float64(24*time.Hour)
		}
		return count, ""
	}
}

// spreadFinite stops at an infinity; NaN is missing.
func spreadFinite[T float32 | float64](values []T) spreader {
	return func(dst []float64, stride, first, count int) (int, string) {
		for i, v := range values[first : first+count] {
			if v-v != 0 && v == v {
				return i, infiniteFault
			}
			dst[i*stride] = float64(v)
		}
		return count, ""
	}
}

func spreadBits(bits []byte) spreader {
	return func(dst []float64, stride, first, count int) (int, string) {
		for i := range count {
			dst[i*stride] = float64(bits[(first+i)/8] >> ((first + i) % 8) & 1)
		}
		return count, ""
	}
}

// textAt returns a function that gives value i as text, valid until its next call.
func (c *columnReader) textAt(data *encoding.Values) func(i int) []byte {
	if c.leaf.physical == format.ByteArray {
		content, offsets := data.ByteArray()
		return func(i int) []byte { return content[offsets[i]:offsets[i+1]:offsets[i+1]] }
	}
	if c.leaf.physical == format.Boolean {
		bits := data.Boolean()
		return func(i int) []byte { return strconv.AppendBool(c.scratch[:0], bits[i/8]>>(i%8)&1 == 1) }
	}
	if c.leaf.physical == format.Int64 && c.leaf.unit == 0 { // exact beyond 2^53, for identifiers
		if c.leaf.unsigned {
			values := data.Uint64()
			return func(i int) []byte { return strconv.AppendUint(c.scratch[:0], values[i], 10) }
		}
		values := data.Int64()
		return func(i int) []byte { return strconv.AppendInt(c.scratch[:0], values[i], 10) }
	}
	fill := plain(data, c.leaf)
	bits := 64
	if c.leaf.physical == format.Float {
		bits = 32
	}
	return func(i int) []byte {
		var v [1]float64
		fill(v[:], 1, i, 1)
		if v[0] != v[0] {
			return nil // missing
		}
		if c.leaf.date {
			return cell.DateText(c.scratch[:0], v[0])
		}
		if v[0] == math.Trunc(v[0]) && math.Abs(v[0]) < 1<<53 {
			return strconv.AppendFloat(c.scratch[:0], v[0], 'f', -1, bits)
		}
		return strconv.AppendFloat(c.scratch[:0], v[0], 'g', -1, bits)
	}
}
