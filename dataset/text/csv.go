package text

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/table"
)

// CSV parses blocks of delimited text. It is safe for concurrent use on
// different blocks.
type CSV struct {
	Delimiter byte
	Rules     Rules
}

// field is one field of a row as it stands.
type field struct {
	text   []byte // without quotes and outer spaces
	from   int    // where it stands in the data, or in the scratch
	next   int    // position of the delimiter or of the line feed behind it
	breaks int    // line feeds within
	fault  string
}

// scanField reads the field that starts at data[i]; some line feed follows in
// data. With quotes false the block holds none. Doubled quotes are resolved into
// scratch, which the text then refers to.
func (c *CSV) scanField(data []byte, i int, quotes bool, scratch *[]byte) field {
	if quotes {
		start := i
		for data[start] == ' ' && c.Delimiter != ' ' {
			start++
		}
		if data[start] == '"' && c.Delimiter != 0 {
			return c.scanQuoted(data, start+1, scratch)
		}
	}
	first := i
	for data[i] != c.Delimiter && data[i] != '\n' {
		i++
	}
	last := i
	if data[i] == '\n' && last > first && data[last-1] == '\r' {
		last--
	}
	for last > first && data[last-1] == ' ' {
		last--
	}
	for first < last && data[first] == ' ' {
		first++
	}
	return field{text: data[first:last:last], from: first, next: i}
}

// plainEnd returns where the field at data[i] ends if it is short and all of its bytes are visible ASCII other
// than quotes, as nearly all are: it needs no further look then. Otherwise it returns i.
func (c *CSV) plainEnd(data []byte, i int) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for end := i; end+8 <= len(data) && end < i+plainBytes; end += 8 {
		word := binary.LittleEndian.Uint64(data[end:])
		delimiter := word ^ ones*uint64(c.Delimiter)
		// The lowest mark is right; those above may be due to the borrow of a subtraction.
		marks := (word | (word - ones*'#') | (delimiter-ones)&^delimiter) & high
		if marks == 0 {
			continue
		}
		if end += bits.TrailingZeros64(marks) / 8; data[end] == c.Delimiter || data[end] == '\n' {
			return end
		}
		return i
	}
	return i
}

// plainBytes bounds what plainEnd reads.
const plainBytes = 64

// scanQuoted reads the field whose content starts at data[i], behind its quote.
func (c *CSV) scanQuoted(data []byte, i int, scratch *[]byte) field {
	closing := closingQuote(data, i)
	if closing < 0 {
		return field{next: len(data) - 1, fault: "a double quote is never closed: close it"}
	}
	f := field{text: data[i:closing:closing], from: i}
	if f.breaks = bytes.Count(f.text, newline); f.breaks > 0 || bytes.IndexByte(f.text, '"') >= 0 {
		f.from = len(*scratch)
		f.text = unescape(f.text, scratch)
	}
	i = closing + 1
	for data[i] == ' ' && c.Delimiter != ' ' {
		i++
	}
	if data[i] == '\r' && data[i+1] == '\n' {
		i++
	}
	f.next = i
	if data[i] != c.Delimiter && data[i] != '\n' {
		f.fault = "text follows the closing double quote: double the quotes within a field (\"\")"
	}
	return f
}

// written returns the value of the field between data[i] and data[next] that keeps it as it is written, but without
// the quotes around it.
func (c *CSV) written(b *Block, column, i, next, line int, quotes bool) float64 {
	data, to := b.Data, next
	start := i
	for quotes && data[start] == ' ' && c.Delimiter != ' ' {
		start++
	}
	if quotes && data[start] == '"' {
		i = start + 1
		to = closingQuote(data, i)
		if content := data[i:to]; bytes.IndexByte(content, '"') >= 0 {
			i = len(b.Text)
			b.Text = append(b.Text, bytes.ReplaceAll(content, []byte(`""`), []byte(`"`))...)
			to = len(b.Text)
		}
	} else if data[next] == '\n' && next > i && data[next-1] == '\r' {
		to--
	}
	if i == to {
		return missing
	}
	if !b.InPlace {
		code, _ := b.level(&AsWritten, column, b.Text[i:to], line)
		return code
	}
	return b.Rows.Written(column, i, to)
}

// unescape appends text to scratch with doubled quotes made single and CR LF
// made LF, and returns what it appended.
func unescape(text []byte, scratch *[]byte) []byte {
	out := *scratch
	start := len(out)
	for i := 0; i < len(text); i++ {
		if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			continue
		}
		out = append(out, text[i])
		if text[i] == '"' {
			i++ // its twin
		}
	}
	*scratch = out
	return out[start:len(out):len(out)]
}

// Records calls visit with the fields of every row of the block, which are valid
// until it returns, or with what is wrong with the row; rows stop at the first
// error that visit returns. It is the plain way of reading, for headers and samples.
func (c *CSV) Records(b *Block, visit func(line int, fields [][]byte, fault error) error) error {
	var fields [][]byte
	quotes := bytes.IndexByte(b.Data, '"') >= 0
	line := b.Line
	for i := 0; i < len(b.Data); line++ {
		if i = skipEmpty(b.Data, i); b.Data[i] == '\n' {
			i++
			continue
		}
		fields = fields[:0]
		b.scratch = b.scratch[:0]
		first := line
		var fault error
		for {
			f := c.scanField(b.Data, i, quotes, &b.scratch)
			if f.fault != "" {
				fault = &Error{File: b.File, Line: line, What: fmt.Sprintf("field %d: %s", len(fields)+1, f.fault)}
				_, i, line = c.skipFields(b, i, line)
				break
			}
			fields = append(fields, f.text)
			line += f.breaks
			i = f.next + 1
			if b.Data[f.next] == '\n' {
				break
			}
		}
		b.position = i
		if err := visit(first, fields, fault); err != nil {
			return err
		}
	}
	return nil
}

// Header returns the fields of the first row, copied, and takes the row off the
// block. Without any row it returns nil.
func (c *CSV) Header(b *Block) (names []string, line int, err error) {
	end := errors.New("the header is read")
	err = c.Records(b, func(first int, fields [][]byte, fault error) error {
		if fault != nil {
			return fault
		}
		line = first
		for _, f := range fields {
			names = append(names, string(f))
		}
		return end
	})
	if err == end {
		b.Line += bytes.Count(b.Data[:b.position], newline)
		b.Data = b.Data[b.position:]
		b.Offset += int64(b.position)
		err = nil
	}
	return names, line, err
}

// SkipLine takes the first line off the block.
func (b *Block) SkipLine() {
	end := bytes.IndexByte(b.Data, '\n') + 1
	b.Line, b.Offset, b.Data = b.Line+1, b.Offset+int64(end), b.Data[end:]
}

// skipEmpty returns the position of the line feed of an empty line at i, or i.
func skipEmpty(data []byte, i int) int {
	if data[i] == '\r' && data[i+1] == '\n' {
		return i + 1
	}
	return i
}

// Parse turns the text of b into rows by b.Layout.
func (c *CSV) Parse(b *Block) {
	data, fields, width := b.Data, b.Layout.Fields, len(b.Columns)
	quotes := bytes.IndexByte(data, '"') >= 0
	line := b.Line
	b.Text, b.InPlace = data, c.Rules.InPlace // unescaped fields follow behind the data
rows:
	for i := 0; i < len(data); line++ {
		if i = skipEmpty(data, i); data[i] == '\n' {
			i++
			continue
		}
		if cap(b.Values)-len(b.Values) < width {
			b.growValues(len(data), i)
		}
		b.Values = b.Values[:len(b.Values)+width]
		row := b.Values[len(b.Values)-width:]
		first, count := line, 0
		b.At(line)
		for {
			if count == len(fields) {
				more := 0
				more, i, line = c.skipFields(b, i, line)
				b.fail(i, first, "", raggedFault(count+more, len(fields), b.Count == 0 && b.Line <= 2))
				continue rows
			}
			target := &fields[count]
			next := -1
			if target.Keep >= 0 && target.Kind == credence.Numeric && target.Text < 0 && target.Written < 0 && !target.Noted {
				value, end, ok := cell.ScanNumber(data, i)
				if ok && data[end] == '\r' && data[end+1] == '\n' {
					end++
				}
				if ok && (data[end] == c.Delimiter || data[end] == '\n') {
					row[target.Keep] = value
					next = end
					if beyondExact(value) {
						b.inexact(target.Keep, line, bytes.TrimRight(data[i:end:end], "\r"))
					}
				}
			}
			if b.InPlace && (target.Text >= 0 || target.Written >= 0) && target.Keep < 0 {
				if end := c.plainEnd(data, i); end > i {
					if target.Text >= 0 {
						row[target.Text] = missing
						if !c.Rules.cells.IsMissing(data[i:end]) {
							row[target.Text] = table.InText(i, end-i)
						}
					}
					if target.Written >= 0 {
						row[target.Written] = table.InText(i, end-i)
					}
					next = end
				}
			}
			if next < 0 {
				f := c.scanField(data, i, quotes, &b.Text)
				if f.fault == "" && target.Text >= 0 {
					row[target.Text], f.fault = c.category(b, target.Text, &f, line)
				}
				if f.fault == "" && target.Written >= 0 {
					row[target.Written] = c.written(b, target.Written, i, f.next, line, quotes)
				}
				if f.fault == "" && target.Keep >= 0 {
					if target.Kind == credence.Category {
						row[target.Keep], f.fault = c.category(b, target.Keep, &f, line)
					} else {
						row[target.Keep], f.fault = b.value(&c.Rules, target.Kind, target.Keep, f.text, line)
					}
				}
				if f.fault != "" {
					at, faulty := i, line
					_, i, line = c.skipFields(b, i, line)
					b.fail(i, faulty, target.Name, f.fault)
					c.failAlso(b, at, faulty, count)
					continue rows
				}
				next = f.next
				line += f.breaks
			}
			count++
			i = next
			if data[i] == '\n' {
				break
			}
			i++
			if count > b.Layout.Last && !quotes { // only unwanted fields are left
				rest := bytes.IndexByte(data[i:], '\n')
				count += 1 + bytes.Count(data[i:i+rest], []byte{c.Delimiter})
				i += rest
				break
			}
		}
		i++
		if count != len(fields) {
			b.fail(i, first, "", raggedFault(count, len(fields), b.Count == 0 && b.Line <= 2))
			continue
		}
		b.end(i)
	}
}

// category returns the value of a cell that is a text in a kept column, NaN where it is missing; fault says why it
// cannot be one.
func (c *CSV) category(b *Block, column int, f *field, line int) (value float64, fault string) {
	if !b.InPlace {
		return b.level(&c.Rules, column, f.text, line)
	}
	fault, none := c.Rules.text(f.text)
	if none {
		return missing, fault
	}
	return table.InText(f.from, len(f.text)), fault
}

// skipFields goes from the field at data[i], on the given line, to the end of the
// row. It returns how many fields that were, where the next row begins, and the
// line on which the row ends.
func (c *CSV) skipFields(b *Block, i, line int) (count, next, last int) {
	for count = 1; ; count++ {
		f := c.scanField(b.Data, i, true, &b.scratch)
		line += f.breaks
		if i = f.next; f.fault != "" { // text behind a closing quote
			for b.Data[i] != c.Delimiter && b.Data[i] != '\n' {
				i++
			}
		}
		if i++; b.Data[i-1] == '\n' {
			return count, i, line
		}
	}
}

// failAlso adds to the fault of the row that failed last, by its field at data[i], which other cells behind it are no
// values of their columns.
func (c *CSV) failAlso(b *Block, i, line, field int) {
	failed, is := b.Faults[len(b.Faults)-1].Err.(*Error)
	for count := field; is && failed.Text != "" && count < len(b.Layout.Fields); count++ {
		f := c.scanField(b.Data, i, true, &b.scratch)
		if f.fault != "" {
			return
		}
		if t := &b.Layout.Fields[count]; count > field && t.Keep >= 0 && t.Kind != credence.Category {
			if _, fault := b.value(&c.Rules, t.Kind, t.Keep, f.text, line); fault != "" {
				failed.Also = append(failed.Also, &Error{File: b.Layout.File, Line: line, Column: t.Name, Text: string(f.text), What: fault})
				b.faulty = nil
			}
		}
		line += f.breaks
		if i = f.next + 1; b.Data[f.next] == '\n' {
			return
		}
	}
}

// growValues makes room for as many rows as the rest of the text probably holds.
func (b *Block) growValues(length, position int) {
	rows := 64
	if b.Count > 0 {
		rows = (b.Count+1)*(length-position)/max(position, 1) + 16
	}
	need := len(b.Values) + rows*len(b.Columns)
	b.Values = append(make([]float64, 0, need), b.Values...)
}

// raggedFault refuses a row with count fields below a header of want; first says
// that it is the first row.
func raggedFault(count, want int, first bool) string {
	remedy := "correct the row, or quote the fields that hold a delimiter"
	if count == want+1 && first {
		remedy = "if every row begins with a row name, name that column in the header"
	}
	return fmt.Sprintf("the row has %d %s, the header %d: %s", count, cell.Plural(count, "field", "fields"), want, remedy)
}

// Ragged returns the error of a row with another number of fields than its header.
func Ragged(file string, line, count, want int, first bool) error {
	return &Error{File: file, Line: line, What: raggedFault(count, want, first)}
}
