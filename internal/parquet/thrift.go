package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

const (
	// deepest is how many structures and lists stand within each other; the format has 7.
	deepest = 16
	// mostEntries bounds the structures in lists of a footer, for each of which the decoder takes memory: a million
	// columns of row groups, with what writers note of each.
	mostEntries = 1 << 21
)

// structure returns how many of the bytes the structure takes that they begin with (Apache Thrift, compact protocol).
// It refuses what the decoder would take memory or stack for: lists and texts of more elements than bytes are left. The
// error is io.ErrUnexpectedEOF where the bytes end within the structure.
func structure(from []byte) (int, error) {
	w := walker{left: from}
	w.value(thrift.STRUCT, false, 0)
	return len(from) - len(w.left), w.err
}

// walker walks over values without decoding them, until there is an error; then no bytes are left.
type walker struct {
	left    []byte
	entries uint64 // structures in lists
	err     error
}

func (w *walker) fail(err error) {
	if w.err == nil {
		w.err, w.left = err, nil
	}
}

// skip goes behind so many bytes.
func (w *walker) skip(n uint64) {
	if n > uint64(len(w.left)) {
		w.fail(io.ErrUnexpectedEOF)
		return
	}
	w.left = w.left[n:]
}

func (w *walker) byte() (b byte) {
	if len(w.left) > 0 {
		b = w.left[0]
	}
	w.skip(1)
	return b
}

func (w *walker) number() uint64 {
	v, n := binary.Uvarint(w.left)
	if n < 0 {
		w.fail(errors.New("a number of more than 64 bits"))
	}
	w.skip(uint64(max(1, n)))
	return v
}

// value goes behind a value, which is in a list or in a field of a structure.
func (w *walker) value(kind thrift.Type, listed bool, depth int) {
	if depth > deepest {
		w.fail(fmt.Errorf("more than %d structures within each other", deepest))
		return
	}
	switch kind {
	case thrift.TRUE, thrift.FALSE:
		if listed { // else the type is the value
			w.skip(1)
		}
	case thrift.I8:
		w.skip(1)
	case thrift.I16, thrift.I32, thrift.I64:
		w.number()
	case thrift.DOUBLE:
		w.skip(8)
	case thrift.UUID:
		w.skip(16)
	case thrift.BINARY:
		w.skip(w.number())
	case thrift.LIST, thrift.SET:
		head := w.byte()
		count := uint64(head >> 4)
		if count == 15 {
			count = w.number()
		}
		w.values(count, depth, thrift.Type(head&15))
	case thrift.MAP:
		if count := w.number(); count > 0 {
			kinds := w.byte()
			w.values(count, depth, thrift.Type(kinds>>4), thrift.Type(kinds&15))
		}
	case thrift.STRUCT:
		for head := w.byte(); head != 0; head = w.byte() {
			if head>>4 == 0 { // behind it is the field's number, which else is in it
				w.number()
			}
			w.value(thrift.Type(head&15), false, depth+1)
		}
	default:
		w.fail(fmt.Errorf("there is no type %d", kind))
	}
}

// values goes behind so many elements of a list, or of a map of keys and values; each takes a byte at least.
func (w *walker) values(count uint64, depth int, kinds ...thrift.Type) {
	if kinds[0] == thrift.STRUCT {
		w.entries += count
	}
	if count > uint64(len(w.left)) {
		w.fail(io.ErrUnexpectedEOF)
	} else if w.entries > mostEntries {
		w.fail(fmt.Errorf("more than %d entries in lists", mostEntries))
	}
	for ; count > 0 && w.err == nil; count-- {
		for _, kind := range kinds {
			w.value(kind, true, depth+1)
		}
	}
}
