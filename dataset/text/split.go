package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/credence-ml/credence/internal/cell"
)

const (
	// BlockBytes is how much text is parsed at a time: the text and its numbers
	// stay within the second-level cache of a core.
	BlockBytes = 256 << 10
	// MaxRow is the longest row in bytes. More is a lost quote or no table.
	MaxRow = 64 << 20
	// firstBytes of a block have memory before there are as many: of a thousand small files memory is most of the work.
	firstBytes = 16 << 10
)

// Splitter cuts a stream into blocks of whole rows.
type Splitter struct {
	// Delimiter separates fields; where it is 0 quotes mean nothing (libsvm).
	Delimiter byte
	File      string // for error messages

	reader  io.Reader
	block   int // bytes of a block: BlockBytes, but in tests
	longest int // bytes of a row: MaxRow, but in tests
	line    int
	offset  int64  // of the next block, in bytes
	idle    bool   // the reader told that it is
	tail    []byte // the beginning of the next block
	done    bool
}

// ErrIdle is what the reader beneath a splitter returns when the rows that have come
// are to be a block, since more may be long in coming.
var ErrIdle = errors.New("text: the rows so far are a block")

// NewSplitter returns a splitter of the rows of r, whose first line has the
// number line and begins at an offset of the file.
func NewSplitter(r io.Reader, file string, line int, offset int64, delimiter byte) *Splitter {
	return &Splitter{Delimiter: delimiter, File: file, reader: r, block: BlockBytes, longest: MaxRow, line: line, offset: offset}
}

// Next fills b.Data and b.Line with the next rows, reusing b's memory, or
// returns io.EOF. The last row may lack its line feed, which is added.
func (s *Splitter) Next(b *Block) error {
	if cap(b.Data) <= len(s.tail) {
		b.Data = make([]byte, 0, max(min(firstBytes, s.block), min(2*len(s.tail), s.longest))+1)
	}
	data := append(b.Data[:0], s.tail...)
	s.tail = s.tail[:0]
	for {
		var err error
		data, err = s.fill(data)
		if err != nil {
			return err
		}
		if len(data) == 0 && !s.idle {
			return io.EOF
		}
		end, open := s.lastRowEnd(data)
		lacking := 0 // line feeds that are added
		if s.done && end < len(data) {
			if open >= 0 {
				return &Error{File: s.File, Line: s.line + bytes.Count(data[:open], newline),
					What: `a field opens with a double quote that is never closed: close it, or double the quotes within a field ("")`}
			}
			data = append(data, '\n')
			end = len(data)
			lacking = 1
		}
		if end > 0 {
			s.tail = append(s.tail, data[end:]...)
			b.Before, b.Data, b.Line = nil, data[:end], s.line
			b.Offset = s.offset
			s.offset += int64(end - lacking)
			b.End = s.offset
			s.line += bytes.Count(b.Data, newline)
			return nil
		}
		if s.idle {
			continue
		}
		if len(data) >= s.longest {
			what := fmt.Sprintf("the row is longer than %d MB: is this a table of one row a line?", s.longest>>20)
			if open >= 0 {
				what = fmt.Sprintf("a field is longer than %d MB: is a double quote left open?", s.longest>>20)
			} else if bytes.IndexByte(data, '\r') >= 0 && bytes.IndexByte(data, '\n') < 0 {
				what = `lines end in bare carriage returns: convert them with tr '\r' '\n'`
			}
			return &Error{File: s.File, Line: s.line, What: what}
		}
		// a longer row than allowed is not waited for
		grown := make([]byte, len(data), min(2*cap(data), max(s.longest, len(data))+2))
		copy(grown, data)
		data = grown
	}
}

var newline = []byte{'\n'}

// fill reads until data is as long as a block, or its capacity where that is more, less the byte for a
// lacking line feed, the stream ends, or its reader is idle.
func (s *Splitter) fill(data []byte) ([]byte, error) {
	s.idle = false
	for !s.done {
		if len(data) == cap(data)-1 {
			if cap(data) > s.block {
				break
			}
			grown := make([]byte, len(data), min(2*cap(data), s.block+1))
			copy(grown, data)
			data = grown
		}
		n, err := s.reader.Read(data[len(data) : cap(data)-1])
		data = data[:len(data)+n]
		if err == io.EOF {
			s.done = true
		} else if err == ErrIdle {
			s.idle = true
			return data, nil
		} else if err != nil {
			place := Error{File: s.File, Line: s.line + bytes.Count(data, newline), What: "reading stopped: " + err.Error()}
			return data, &ReadError{Place: place, Err: err} // such as of a damaged gzip file
		}
	}
	return data, nil
}

// ReadError is a failure of the stream beneath the text.
type ReadError struct {
	Place Error
	Err   error
}

// Error words the failure and its place.
func (e *ReadError) Error() string { return e.Place.Error() }

// Unwrap returns the failure of the stream.
func (e *ReadError) Unwrap() error { return e.Err }

// lastRowEnd returns the position behind the last complete row of data, which
// begins at the start of a row, and where a quoted field stands open, or -1.
func (s *Splitter) lastRowEnd(data []byte) (end, open int) {
	if s.Delimiter == 0 || bytes.IndexByte(data, '"') < 0 {
		return bytes.LastIndexByte(data, '\n') + 1, -1
	}
	for position := 0; ; {
		quote := bytes.IndexByte(data[position:], '"')
		if quote < 0 {
			if last := bytes.LastIndexByte(data[position:], '\n'); last >= 0 {
				end = position + last + 1
			}
			return end, -1
		}
		quote += position
		if last := bytes.LastIndexByte(data[position:quote], '\n'); last >= 0 {
			end = position + last + 1
		}
		if !opensField(data, quote, s.Delimiter) {
			position = quote + 1
			continue
		}
		closing := closingQuote(data, quote+1)
		if closing < 0 || closing+1 == len(data) && !s.done {
			return end, quote // a quote at the very end may be one of two
		}
		position = closing + 1
	}
}

// opensField reports whether the quote stands at the beginning of a field,
// spaces apart.
func opensField(data []byte, quote int, delimiter byte) bool {
	for i := quote - 1; i >= 0; i-- {
		if c := data[i]; c == delimiter || c == '\n' {
			return true
		} else if c != ' ' {
			return false
		}
	}
	return true
}

// closingQuote returns the position of the quote that ends the field whose
// content starts at i, or -1.
func closingQuote(data []byte, i int) int {
	for {
		next := bytes.IndexByte(data[i:], '"')
		if next < 0 {
			return -1
		}
		i += next
		if i+1 == len(data) || data[i+1] != '"' {
			return i
		}
		i += 2
	}
}

// Error is a fault of the data at a place in a file.
type Error struct {
	File   string
	Line   int      // from 1; 0 where no line is to blame
	Column string   // empty where no column is to blame
	Text   string   // of a cell that is no number or no boolean; empty of other faults
	What   string   // what is wrong: what to do
	Also   []*Error // other cells of the row that are none
}

// Error returns `file:line: column "name": what`.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(e.Line))
	}
	b.WriteString(": ")
	if e.Column != "" {
		b.WriteString("column ")
		b.WriteString(cell.Quote(e.Column))
		b.WriteString(": ")
	}
	b.WriteString(e.What)
	return b.String()
}
