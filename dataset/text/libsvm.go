package text

import (
	"encoding/binary"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
)

// maxIndex bounds the indices of libsvm text: all below 2⁵³.
const maxIndex = 1<<53 - 1

// LibSVM parses blocks of libsvm text: `label index:value … # comment`, an
// optional qid:n behind the label. Indices are whole numbers below 2⁵³; where a
// row repeats one or has them out of order the entries are summed and sorted. The
// layout has one field, the label. It is safe for concurrent use on different
// blocks.
type LibSVM struct{ Rules Rules }

// Parse turns the text of b into rows.
func (l *LibSVM) Parse(b *Block) {
	data := b.Data
	b.Start = append(b.Start, 0)
	for i, line := 0, b.Line; i < len(data); line++ {
		for blank(data[i]) {
			i++
		}
		if data[i] == '\n' || data[i] == '#' {
			i = lineEnd(data, i) + 1
			continue
		}
		b.At(line)
		what, column := "", ""
		if i, column, what = l.label(b, i, line); what == "" {
			i, what = l.entries(b, i)
		}
		i = lineEnd(data, i) + 1
		if what != "" {
			b.fail(i, line, column, what)
			continue
		}
		if first, n := b.Start[b.Count], len(b.Keys); n > first {
			if b.MinIndex > b.MaxIndex {
				b.MinIndex = b.Keys[first]
			}
			b.MinIndex, b.MaxIndex = min(b.MinIndex, b.Keys[first]), max(b.MaxIndex, b.Keys[n-1])
		}
		b.Start = append(b.Start, len(b.Keys))
		b.end(i)
	}
}

// label reads the label at data[i] into the row, and returns where it ends and
// what is wrong with which column.
func (l *LibSVM) label(b *Block, i, line int) (next int, column, fault string) {
	data, target := b.Data, &b.Layout.Fields[0]
	value, end, ok := cell.ScanNumber(data, i)
	if !ok || target.Text >= 0 || target.Written >= 0 || target.Kind != credence.Numeric || !blank(data[end]) && data[end] != '\n' && data[end] != '#' {
		end = i
		for !blank(data[end]) && data[end] != '\n' && data[end] != '#' && data[end] != ':' {
			end++
		}
		text := data[i:end:end]
		if data[end] == ':' {
			return i, "", "the row begins with " + cell.Quote(token(data, i)) + ", not with a label: put one in front (0 where it is unknown)"
		}
		if fault := b.field(&l.Rules, target, text, line); fault != "" {
			return end, target.Name, fault
		}
		return end, "", ""
	}
	if target.Keep >= 0 {
		b.Values = append(b.Values, value)
	}
	return end, "", ""
}

// field appends the values of a field to those of the open row, for which fields
// must come in the order of the kept columns; fault says what is wrong.
func (b *Block) field(rules *Rules, target *Field, text []byte, line int) (fault string) {
	for len(b.Values) < b.Count*len(b.Columns)+max(target.Keep, target.Text, target.Written)+1 {
		b.Values = append(b.Values, 0)
	}
	row := b.Values[b.Count*len(b.Columns):]
	if target.Text >= 0 {
		row[target.Text], fault = b.level(rules, target.Text, text, line)
	}
	if target.Written >= 0 {
		row[target.Written], _ = b.level(&AsWritten, target.Written, text, line)
	}
	if target.Keep >= 0 && fault == "" {
		row[target.Keep], fault = b.value(rules, target.Kind, target.Keep, text, line)
	}
	return fault
}

// entries reads the entries of a row from data[i] on; what says what is wrong, in
// which case none are kept.
func (l *LibSVM) entries(b *Block, i int) (next int, what string) {
	data := b.Data
	keys, values, ones := b.Keys, b.Value, b.Ones
	least, ordered := uint64(0), true // the least index in order
	for {
		for blank(data[i]) {
			i++
		}
		if ones && ordered {
			keys = slices.Grow(keys, plainMost)
			next, count := plainEntries(data, i, least, keys[len(keys):len(keys)+plainMost])
			if i, keys = next, keys[:len(keys)+count]; count > 0 {
				least = keys[len(keys)-1] + 1
			}
			if blank(data[i]) {
				continue
			}
		}
		if data[i] == '\n' || data[i] == '#' {
			break
		}
		first := i
		index, count := uint64(0), 0
		if i+8 <= len(data) {
			index, count = cell.Digits(data[i : i+8])
			i += count
		}
		for count == 0 || count == 8 { // the rest of a long index, or the end of the text is near
			digit := data[i] - '0'
			if digit > 9 {
				break
			}
			if index <= maxIndex {
				index = index*10 + uint64(digit)
			}
			i++
		}
		if data[i] != ':' || i == first {
			if isQuery(token(data, first)) {
				i = tokenEnd(data, i)
				b.Queries++
				continue
			}
			return i, cell.Quote(token(data, first)) + " is not index:value" + oneLabel(data[first])
		}
		if index > maxIndex {
			return i, cell.Quote(token(data, first)) + " has an index of 2⁵³ or more: renumber the columns"
		}
		if index < least {
			ordered = false
		}
		least = index + 1
		i++
		keys = append(keys, index)
		if data[i] == '1' && (data[i+1] == ' ' || data[i+1] == '\n') {
			i++
			if !ones {
				values = append(values, 1)
			}
			continue
		}
		start := i
		value, end, ok := cell.ScanNumber(data, i)
		if i = end; !ok || !blank(data[i]) && data[i] != '\n' && data[i] != '#' {
			i = tokenEnd(data, start)
			var finite bool
			if value, finite, ok = cell.ParseNumber(data[start:i]); !ok || !finite {
				return i, cell.Quote(token(data, first)) + " has no finite number as its value: correct it, or leave the entry out where the value is 0"
			}
		}
		if ones && value != 1 {
			ones, values = false, AppendOnes(values[:0], len(keys)-1)
		}
		if !ones {
			values = append(values, value)
		}
	}
	b.Keys, b.Value, b.Ones = keys, values, ones
	if !ordered {
		if !b.order() {
			return i, notFinite
		}
		b.Merged++
	}
	return i, ""
}

// plainEntries stores the indices of the entries from i on: those that have the value 1, an index of at most seven
// digits, least or above it and above that before it, and one blank or the end of the row behind them, which nearly
// all have. It returns where it stopped and how many there are, as far as there is room.
func plainEntries(data []byte, i int, least uint64, keys []uint64) (next, count int) {
	for count < len(keys) && i+16 <= len(data) {
		word := binary.LittleEndian.Uint64(data[i : i+8 : i+8]) // with a bound of its own a slice costs nothing
		digits := cell.DigitCount(word)
		end := i + digits
		index, behind := cell.DigitValue(word, digits), binary.LittleEndian.Uint32(data[end:end+4:end+4])&0xffffff
		if digits == 0 || index < least || behind != ':'|'1'<<8|' '<<16 && behind != ':'|'1'<<8|'\n'<<16 {
			break
		}
		keys[count], least = index, index+1
		count++
		if i = end + 2; behind>>16 == '\n' {
			break
		}
		i++
	}
	return i, count
}

// plainMost is how many entries there is room for at a time.
const plainMost = 128

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// lineEnd returns the position of the next line feed.
func lineEnd(data []byte, i int) int {
	for data[i] != '\n' {
		i++
	}
	return i
}

// tokenEnd returns the position behind the token at i.
func tokenEnd(data []byte, i int) int {
	for !blank(data[i]) && data[i] != '\n' && data[i] != '#' {
		i++
	}
	return i
}

func token(data []byte, i int) []byte { return data[i:tokenEnd(data, i)] }

// isQuery reports whether a token is qid, a colon, and something.
func isQuery(text []byte) bool { return len(text) > 4 && string(text[:4]) == "qid:" }

func oneLabel(c byte) string {
	if c == ',' {
		return ": only one label a row is read"
	}
	return ": correct it, or name the format with --format"
}
