package rowcache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/internal/order"
)

// Reader reads the rows of a file. It is safe for concurrent use with different
// buffers.
type Reader struct {
	file   io.ReaderAt
	close  func() error
	text   []byte
	index  []entry
	first  []int // first row of every block, and the number of rows
	width  int
	sparse bool
}

// NewReader reads the index of a cache of the given size. Whatever the content,
// it returns a reader that cannot fail but by ErrDamaged or input errors, or an
// error; memory is bounded by the size.
func NewReader(file io.ReaderAt, size int64) (*Reader, error) {
	if file == nil {
		return nil, errors.New("there is no file to read")
	}
	if size < int64(len(magic)+trailerBytes) {
		return nil, fmt.Errorf("%w: it is too short", ErrDamaged)
	}
	buffer := make([]byte, trailerBytes)
	if _, err := file.ReadAt(buffer, size-trailerBytes); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	t, err := decodeTrailer(buffer)
	if err != nil {
		return nil, err
	}
	length := size - trailerBytes - t.footer
	if t.footer < int64(len(magic)) || length < 0 || t.text < 0 || t.text > length ||
		t.blocks < 0 || t.blocks > length/entryBytes || t.text+t.blocks*entryBytes != length ||
		t.width < 0 || t.width > maxWidth {
		return nil, fmt.Errorf("%w: its sizes contradict each other", ErrDamaged)
	}
	footer := make([]byte, length)
	if _, err := file.ReadAt(footer, t.footer); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if checksum(footer) != t.footerSum {
		return nil, fmt.Errorf("%w: its index does not match its checksum", ErrDamaged)
	}
	r := &Reader{file: file, close: func() error { return nil }, text: footer[:t.text], width: int(t.width), sparse: t.sparse}
	offset, row := int64(len(magic)), 0
	for rest := footer[t.text:]; len(rest) > 0; rest = rest[entryBytes:] {
		e := decodeEntry(rest)
		if e.rows < 1 || e.rows > maxRows || e.offset != offset || e.length != e.size(r.width, r.sparse) || e.length > t.footer-offset {
			return nil, fmt.Errorf("%w: its index contradicts itself", ErrDamaged)
		}
		r.index = append(r.index, e)
		r.first = append(r.first, row)
		offset += e.length
		row += e.rows
	}
	if offset != t.footer {
		return nil, fmt.Errorf("%w: its blocks do not fill it", ErrDamaged)
	}
	r.first = append(r.first, row)
	return r, nil
}

// open reads a cache file.
func open(path string) (*Reader, error) {
	file, err := atomicfile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	r, err := NewReader(file, info.Size())
	if err != nil {
		file.Close()
		return nil, err
	}
	r.close = file.Close
	return r, nil
}

// Text returns what the maker of the file stored with it.
func (r *Reader) Text() []byte { return r.text }

// First returns the first row of every block, and after them the number of rows.
func (r *Reader) First() []int { return r.first }

// Width returns the number of dense columns.
func (r *Reader) Width() int { return r.width }

// Sparse reports whether rows have a sparse part.
func (r *Reader) Sparse() bool { return r.sparse }

// Ones reports whether every sparse value is 1.
func (r *Reader) Ones() bool {
	return !slices.ContainsFunc(r.index, func(e entry) bool { return !e.ones })
}

// ReadBlock fills dst with the rows of block i, reusing its memory and that of
// buffer. Sparse column indices are those of the file, unchecked.
func (r *Reader) ReadBlock(dst *credence.Chunk, buffer *[]byte, i int) error {
	e := &r.index[i]
	dst.Values.Reshape(e.rows, r.width)
	// Dense numbers are read where they stay, so that they are not copied.
	dense := order.Bytes(dst.Values.Data)
	*buffer = order.Resized(*buffer, int(e.length)-len(dense))
	sum, offset := uint32(0), e.offset
	for _, part := range [][]byte{dense, *buffer} {
		if _, err := r.file.ReadAt(part, offset); err != nil {
			return fmt.Errorf("%w: block %d: %w", ErrDamaged, i, err)
		}
		sum, offset = crc32.Update(sum, castagnoli, part), offset+int64(len(part))
	}
	if sum != e.sum {
		return fmt.Errorf("%w: block %d does not match its checksum", ErrDamaged, i)
	}
	if !order.LittleEndian {
		for k := range dst.Values.Data {
			dst.Values.Data[k] = math.Float64frombits(binary.LittleEndian.Uint64(dense[8*k:]))
		}
	}
	dst.First = r.first[i]
	return decodeSparse(&dst.Sparse, *buffer, e, r.sparse)
}

// Close closes the file.
func (r *Reader) Close() error { return r.close() }
