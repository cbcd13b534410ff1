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
	// mostEntries bounds the structures in lists of a footer, for each of which the decoder takes memory: a million columns
	// of row groups, with what writers note of each.
	mostEntries = 1 << 21
)

// structure returns how many of the bytes the structure takes that they begin with (Apache Thrift, compact protocol). It
// refuses what the decoder would take memory or stack for: lists and texts of more elements than bytes are left. The error is
// io.ErrUnexpectedEOF where the bytes end within the structure.
func structure(from []byte) (int, error) {
	w := walker{left: from}
	err := w.value(thrift.STRUCT, false, 0)
	return len(from) - len(w.left), err
}

// walker walks over values without decoding them.
type walker struct {
	left    []byte
	entries uint64 // structures in lists
}

// value goes behind a value, which is in a list or in a field of a structure.
func (w *walker) value(kind thrift.Type, listed bool, depth int) error {
	if depth > deepest {
		return fmt.Errorf("more than %d structures within each other", deepest)
	}
	switch kind {
	case thrift.TRUE, thrift.FALSE:
		if listed { // else the type is the value
			return w.bytes(1)
		}
		return nil
	case thrift.I8:
		return w.bytes(1)
	case thrift.I16, thrift.I32, thrift.I64:
		_, err := w.number()
		return err
	case thrift.DOUBLE:
		return w.bytes(8)
	case thrift.UUID:
		return w.bytes(16)
	case thrift.BINARY:
		length, err := w.number()
		if err != nil {
			return err
		}
		return w.bytes(length)
	case thrift.LIST, thrift.SET:
		head, err := w.byte()
		if err != nil {
			return err
		}
		count := uint64(head >> 4)
		if count == 15 {
			if count, err = w.number(); err != nil {
				return err
			}
		}
		return w.values(count, depth, thrift.Type(head&15))
	case thrift.MAP:
		count, err := w.number()
		if err != nil || count == 0 {
			return err
		}
		kinds, err := w.byte()
		if err != nil {
			return err
		}
		return w.values(count, depth, thrift.Type(kinds>>4), thrift.Type(kinds&15))
	case thrift.STRUCT:
		for {
			head, err := w.byte()
			if err != nil || head == 0 {
				return err
			}
			if head>>4 == 0 { // behind it is the field's number, which else is in it
				if _, err := w.number(); err != nil {
					return err
				}
			}
			if err := w.value(thrift.Type(head&15), false, depth+1); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("there is no type %d", kind)
}

// values goes behind so many elements of a list, or of a map of keys and values; each takes a byte at least.
func (w *walker) values(count uint64, depth int, kinds ...thrift.Type) error {
	if count > uint64(len(w.left)) {
		return io.ErrUnexpectedEOF
	}
	if kinds[0] == thrift.STRUCT {
		if w.entries += count; w.entries > mostEntries {
			return fmt.Errorf("more than %d entries in lists", mostEntries)
		}
	}
	for range count {
		for _, kind := range kinds {
			if err := w.value(kind, true, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) bytes(n uint64) error {
	if n > uint64(len(w.left)) {
		return io.ErrUnexpectedEOF
	}
	w.left = w.left[n:]
	return nil
}

func (w *walker) byte() (byte, error) {
	if len(w.left) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	b := w.left[0]
	w.left = w.left[1:]
	return b, nil
}

func (w *walker) number() (uint64, error) {
	v, n := binary.Uvarint(w.left)
	if n == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	if n < 0 {
		return 0, errors.New("a number of more than 64 bits")
	}
	w.left = w.left[n:]
	return v, nil
}
