package rowcache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/linop"
)

// ErrDamaged says that a file does not hold what was written: it is to be made
// again.
var ErrDamaged = errors.New("the row cache is damaged")

const (
	magic        = "CRDROWS\x01"
	entryBytes   = 32
	trailerBytes = 64
	// maxRows and maxWidth of a block bound what a trailer can claim.
	maxRows  = 1 << 24
	maxWidth = 1 << 28
)

// checksums are CRC-32C, which processors compute at memory speed.
func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// entry describes a block.
type entry struct {
	offset  int64
	length  int64
	rows    int
	entries int // sparse entries, of which there are values unless ones is set
	ones    bool
	sum     uint32
}

// size returns how long a block of this shape is.
func (e *entry) size(width int, sparse bool) int64 {
	size := int64(e.rows) * int64(width) * 8
	if sparse {
		size += 4*int64(e.rows) + 4*int64(e.entries)
		if !e.ones {
			size += 8 * int64(e.entries)
		}
	}
	return size
}

func (e *entry) encode(to []byte) []byte {
	flags := uint32(0)
	if e.ones {
		flags = 1
	}
	to = binary.LittleEndian.AppendUint64(to, uint64(e.offset))
	to = binary.LittleEndian.AppendUint64(to, uint64(e.length))
	to = binary.LittleEndian.AppendUint32(to, uint32(e.rows))
	to = binary.LittleEndian.AppendUint32(to, uint32(e.entries))
	to = binary.LittleEndian.AppendUint32(to, flags)
	return binary.LittleEndian.AppendUint32(to, e.sum)
}

func decodeEntry(from []byte) entry {
	return entry{
		offset:  int64(binary.LittleEndian.Uint64(from)),
		length:  int64(binary.LittleEndian.Uint64(from[8:])),
		rows:    int(binary.LittleEndian.Uint32(from[16:])),
		entries: int(binary.LittleEndian.Uint32(from[20:])),
		ones:    binary.LittleEndian.Uint32(from[24:]) == 1,
		sum:     binary.LittleEndian.Uint32(from[28:]),
	}
}

// trailer is the end of a file.
type trailer struct {
	footer    int64 // offset of the footer
	text      int64 // length of the caller's text, which the index follows
	blocks    int64
	width     int64
	sparse    bool
	footerSum uint32
}

func (t *trailer) encode() []byte {
	to := make([]byte, 0, trailerBytes)
	sparse := uint32(0)
	if t.sparse {
		sparse = 1
	}
	to = binary.LittleEndian.AppendUint64(to, uint64(t.footer))
	to = binary.LittleEndian.AppendUint64(to, uint64(t.text))
	to = binary.LittleEndian.AppendUint64(to, uint64(t.blocks))
	to = binary.LittleEndian.AppendUint64(to, uint64(t.width))
	to = binary.LittleEndian.AppendUint32(to, sparse)
	to = binary.LittleEndian.AppendUint32(to, t.footerSum)
	to = append(to, make([]byte, trailerBytes-len(to)-4-len(magic))...)
	to = binary.LittleEndian.AppendUint32(to, checksum(to))
	return append(to, magic...)
}

func decodeTrailer(from []byte) (t trailer, err error) {
	body := trailerBytes - 4 - len(magic)
	if string(from[body+4:]) != magic || binary.LittleEndian.Uint32(from[body:]) != checksum(from[:body]) {
		return t, fmt.Errorf("%w: it has no whole trailer", ErrDamaged)
	}
	return trailer{
		footer:    int64(binary.LittleEndian.Uint64(from)),
		text:      int64(binary.LittleEndian.Uint64(from[8:])),
		blocks:    int64(binary.LittleEndian.Uint64(from[16:])),
		width:     int64(binary.LittleEndian.Uint64(from[24:])),
		sparse:    binary.LittleEndian.Uint32(from[32:]) == 1,
		footerSum: binary.LittleEndian.Uint32(from[36:]),
	}, nil
}

// encodeRows appends the rows of a chunk.
func encodeRows(to []byte, c *credence.Chunk, sparse bool) []byte {
	for i := range c.Values.Rows {
		for _, v := range c.Values.Row(i) {
			to = binary.LittleEndian.AppendUint64(to, math.Float64bits(v))
		}
	}
	if !sparse {
		return to
	}
	for i := range c.Sparse.Rows {
		to = binary.LittleEndian.AppendUint32(to, uint32(c.Sparse.Start[i+1]-c.Sparse.Start[i]))
	}
	for _, j := range c.Sparse.Index {
		to = binary.LittleEndian.AppendUint32(to, uint32(j))
	}
	for _, v := range c.Sparse.Value {
		to = binary.LittleEndian.AppendUint64(to, math.Float64bits(v))
	}
	return to
}

// decodeSparse fills s with the sparse part of a block whose length fits its entry.
func decodeSparse(s *linop.CSR, from []byte, e *entry, sparse bool) error {
	s.Rows = e.rows
	s.Start = append(s.Start[:0], 0)
	if !sparse {
		s.Index, s.Value = s.Index[:0], nil
		for range e.rows {
			s.Start = append(s.Start, 0)
		}
		return nil
	}
	total := 0
	for i := range e.rows {
		total += int(binary.LittleEndian.Uint32(from[4*i:]))
		s.Start = append(s.Start, total)
	}
	if total != e.entries {
		return fmt.Errorf("%w: the rows of a block have %d entries, not %d", ErrDamaged, total, e.entries)
	}
	from = from[4*e.rows:]
	s.Index = order.Resized(s.Index, e.entries)
	for i := range s.Index {
		s.Index[i] = int32(binary.LittleEndian.Uint32(from[4*i:]))
	}
	from = from[4*e.entries:]
	if e.ones {
		s.Value = nil
		return nil
	}
	s.Value = order.Resized(s.Value, e.entries)
	for i := range s.Value {
		s.Value[i] = math.Float64frombits(binary.LittleEndian.Uint64(from[8*i:]))
	}
	return nil
}
