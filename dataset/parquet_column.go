package dataset

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/bitpack/unsafecast"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/parquet"
)

// columnReader writes the values of one column of a row group into the rows of
// blocks, piece by piece.
type columnReader struct {
	leaf  *leaf
	field text.Field
	rules *text.Rules
	pages *parquet.Pages

	rows    int            // of the page that are left
	values  parquet.Values // a piece of the page's
	value   int            // next of them
	indexed bool           // they are places in the dictionary

	numbers []float64 // of the dictionary
	codes   []int32   // of the dictionary's entries in the present block, -1 if none yet
	block   *text.Block
	faults  []fault // of the present block
	// exact notes integers beyond 2⁵³ among what was stored; nil where there are none.
	exact   func(b *text.Block, dst []float64, stride, count int)
	scratch []byte
}

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
		if c.rows == 0 {
			if err := c.next(); err != nil {
				return err
			}
			continue
		}
		run, there, err := c.pages.Run(min(n-done, c.rows))
		if err != nil {
			return err
		}
		dst := b.Values[done*stride+c.field.Keep:]
		if c.rows, done = c.rows-run, done+run; !there {
			for i := range run {
				dst[i*stride] = math.NaN()
			}
			continue
		}
		for first := 0; first < run; {
			if c.value == c.values.Len() {
				if c.values, err = c.pages.Values(); err != nil {
					return err
				}
				c.value = 0
			}
			to, count := dst[first*stride:], min(run-first, c.values.Len()-c.value)
			stored, what := c.spread(to, stride, c.value, count)
			if what != "" { // this value is none; go on behind it
				to[stored*stride] = math.NaN()
				c.faults = append(c.faults, fault{done - run + first + stored, c.field.Name, what})
				count = stored + 1
			}
			c.value += count
			if c.exact != nil {
				c.exact(b, to, stride, count)
			}
			first += count
		}
	}
	return nil
}

// noteInexact is the exact of columns of 64-bit integers.
func (c *columnReader) noteInexact(b *text.Block, dst []float64, stride, count int) {
	for i := range count {
		if v := dst[i*stride]; v >= 1<<53 || v <= -(1<<53) { // to which 2⁵³ + 1 is rounded
			b.Inexact = append(b.Inexact, text.Inexact{Column: c.field.Keep, Text: strconv.AppendFloat(nil, v, 'f', 0, 64)})
			c.exact = nil
			return
		}
	}
}

// next goes to the next page.
func (c *columnReader) next() (err error) {
	if c.rows, c.indexed, err = c.pages.Next(); err != nil {
		return err
	}
	c.values, c.value = parquet.Values{}, 0
	if dictionary := c.pages.Dictionary(); c.indexed && c.numbers == nil && c.codes == nil {
		count := dictionary.Len()
		if err := c.pages.Take(8 * count); err != nil {
			return err
		}
		if c.ofNumbers() {
			c.numbers = make([]float64, count) // infinities are checked where they are used
			c.leaf.spread(dictionary, c.numbers, 1, 0, count)
			return nil
		}
		c.codes = slices.Repeat([]int32{-1}, count)
	}
	return nil
}

// ofNumbers reports whether values become numbers as they are stored, not as texts.
func (c *columnReader) ofNumbers() bool {
	return c.leaf.physical != format.ByteArray && (c.field.Kind == credence.Numeric || c.field.Kind == credence.Boolean && c.leaf.physical == format.Boolean)
}

const outsideDictionary = "the value is not in the dictionary: the file is damaged, write it again"

// spread stores values [first, first+count) of the piece in dst[0], dst[stride] …
// It returns how many it stored, and what is wrong with the next one.
func (c *columnReader) spread(dst []float64, stride, first, count int) (done int, what string) {
	switch {
	case c.indexed:
		return c.spreadIndices(dst, stride, c.values.Int32s[first:first+count])
	case c.ofNumbers() && c.leaf.physical == format.Double:
		return spreadFinite(dst, stride, c.values.Float64s[first:first+count])
	case c.ofNumbers() && c.leaf.physical == format.Float:
		return spreadFinite(dst, stride, c.values.Float32s[first:first+count])
	case c.ofNumbers():
		c.leaf.spread(&c.values, dst, stride, first, count)
		return count, ""
	}
	for i := range count {
		v, what := c.cell(c.textOf(&c.values, first+i))
		if what != "" {
			return i, what
		}
		dst[i*stride] = v
	}
	return count, ""
}

// spreadIndices stores the dictionary's values at these places.
func (c *columnReader) spreadIndices(dst []float64, stride int, places []int32) (int, string) {
	if c.numbers != nil {
		for i, k := range places {
			if uint(k) >= uint(len(c.numbers)) {
				return i, outsideDictionary
			}
			v := c.numbers[k]
			if v-v != 0 && v == v {
				return i, infiniteFault
			}
			dst[i*stride] = v
		}
		return len(places), ""
	}
	for i, k := range places {
		if uint(k) >= uint(len(c.codes)) {
			return i, outsideDictionary
		}
		if code := c.codes[k]; code >= 0 {
			dst[i*stride] = float64(code)
			continue
		}
		v, what := c.cell(c.textOf(c.pages.Dictionary(), int(k)))
		if what != "" {
			return i, what
		}
		if c.field.Kind == credence.Category && v == v {
			c.codes[k] = int32(v)
		}
		dst[i*stride] = v
	}
	return len(places), ""
}

// cell reads a text by the kind of the column.
func (c *columnReader) cell(value []byte) (float64, string) {
	levels := &c.block.Levels[c.field.Keep]
	known := len(levels.List)
	v, what := c.block.Cell(c.rules, c.field.Kind, c.field.Keep, value)
	if n := len(levels.List); n > known { // the page may go before the block does
		levels.List[n-1].Text = bytes.Clone(value)
	}
	if text, is := strings.CutSuffix(what, cell.NotUTF8); is { // no option reads these bytes in another way
		what = text + "is not UTF-8, as texts of Parquet are: decode it where the file is written, or leave the column out"
	}
	return v, what
}

const infiniteFault = "the value is not a finite number: correct it, or write it as missing"

// spread stores values [first, first+count) in dst[0], dst[stride] …, as numbers in the leaf's unit, unchecked.
func (l *leaf) spread(v *parquet.Values, dst []float64, stride, first, count int) {
	last := first + count
	switch {
	case l.physical == format.Int96:
		spreadMoments(dst, stride, v.Int96s[first:last])
	case l.physical == format.Double:
		spreadOf(dst, stride, v.Float64s[first:last])
	case l.physical == format.Float:
		spreadOf(dst, stride, v.Float32s[first:last])
	case l.physical == format.Int64 && l.unsigned:
		spreadOf(dst, stride, unsafecast.Slice[uint64](v.Int64s[first:last]))
	case l.physical == format.Int64:
		spreadOf(dst, stride, v.Int64s[first:last])
	case l.physical == format.Int32 && l.unsigned:
		spreadOf(dst, stride, unsafecast.Slice[uint32](v.Int32s[first:last]))
	default: // truth values, too
		spreadOf(dst, stride, v.Int32s[first:last])
	}
	if l.unit != 0 && l.unit != 1 {
		for i := range count {
			dst[i*stride] /= l.unit
		}
	}
}

func spreadOf[T int32 | int64 | uint32 | uint64 | float32 | float64](dst []float64, stride int, values []T) {
	for i, v := range values {
		dst[i*stride] = float64(v)
	}
}

// spreadMoments spreads times of old programs: nanoseconds of a Julian day.
func spreadMoments(dst []float64, stride int, values []deprecated.Int96) {
	const epoch = 2440588 // Julian day of 1970-01-01
	for i, v := range values {
		nanoseconds := uint64(v[1])<<32 | uint64(v[0])
		dst[i*stride] = float64(int64(int32(v[2]))-epoch) + float64(int64(nanoseconds))/float64(24*time.Hour)
	}
}

// spreadFinite stops at an infinity; NaN is missing.
func spreadFinite[T float32 | float64](dst []float64, stride int, values []T) (int, string) {
	for i, v := range values {
		if v-v != 0 && v == v {
			return i, infiniteFault
		}
		dst[i*stride] = float64(v)
	}
	return len(values), ""
}

// textOf returns value i as text, valid until its next call.
func (c *columnReader) textOf(values *parquet.Values, i int) []byte {
	bits := 64
	switch l := c.leaf; {
	case l.physical == format.ByteArray:
		return values.Texts[i]
	case l.physical == format.Boolean:
		return strconv.AppendBool(c.scratch[:0], values.Int32s[i] == 1)
	case l.physical == format.Int64 && l.unit == 0 && l.unsigned: // exact beyond 2^53, for identifiers
		return strconv.AppendUint(c.scratch[:0], uint64(values.Int64s[i]), 10)
	case l.physical == format.Int64 && l.unit == 0:
		return strconv.AppendInt(c.scratch[:0], values.Int64s[i], 10)
	case l.physical == format.Int64 && l.scale > 0:
		return appendDecimal(c.scratch[:0], values.Int64s[i], l.scale)
	case l.scale > 0:
		return appendDecimal(c.scratch[:0], int64(values.Int32s[i]), l.scale)
	case l.physical == format.Float:
		bits = 32
	}
	var v [1]float64
	c.leaf.spread(values, v[:], 1, i, 1)
	switch {
	case v[0] != v[0]:
		return nil // missing
	case c.leaf.date:
		return cell.DateText(c.scratch[:0], v[0])
	}
	return cell.AppendLevel(c.scratch[:0], v[0], bits)
}

// appendDecimal appends an integer with a point before so many of its digits.
func appendDecimal(dst []byte, integer int64, scale int) []byte {
	first := len(dst)
	if dst = strconv.AppendInt(dst, integer, 10); integer < 0 {
		first++ // behind the sign
	}
	zeros := max(0, scale+1-(len(dst)-first))
	dst = slices.Insert(dst, first, bytes.Repeat([]byte{'0'}, zeros)...)
	return slices.Insert(dst, len(dst)-scale, '.')
}
