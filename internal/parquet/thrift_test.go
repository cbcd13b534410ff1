package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// Structures that are keys of a map count as those of a list do, and a map of more than the bytes hold is refused.
func TestMapsAreBounded(t *testing.T) {
	of := func(count uint64, entries []byte) error { // field 1, a map of empty structures to booleans
		_, err := structure(slices.Concat([]byte{0x1b}, binary.AppendUvarint(nil, count), []byte{0xc1}, entries, []byte{0}))
		return err
	}
	if err := of(3, bytes.Repeat([]byte{0, 1}, 3)); err != nil {
		t.Errorf("three entries: %v", err)
	}
	if err := of(mostEntries+1, bytes.Repeat([]byte{0, 1}, mostEntries+1)); err == nil || !strings.Contains(err.Error(), "entries in lists") {
		t.Errorf("more entries than are allowed: %v", err)
	}
	if err := of(1<<62, []byte{0, 1}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("more entries than bytes: %v", err)
	}
}
