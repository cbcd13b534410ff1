package safetensors

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/credence-ml/credence/internal/order"
)

// A Reader gives access to the tensors of a file, one at a time. Its methods may
// be called concurrently if those of the underlying io.ReaderAt may, as is so
// for files.
type Reader struct {
	source io.ReaderAt
	closer io.Closer // nil when the source belongs to the caller
	start  int64     // of the data
	header *header
}

// ErrNotRegular is the error of a path that leads to no file: a folder, a pipe, a device.
var ErrNotRegular = errors.New("not a regular file")

// Reason is what an error says of the file at path, for a caller that names it.
func Reason(path string, err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "safetensors: "), path+": ")
}

// Open opens the file at path and checks its header; see NewReader. Close must
// be called.
func Open(path string) (*Reader, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	if !info.Mode().IsRegular() { // to open a pipe waits for who writes it
		return nil, fmt.Errorf("safetensors: %s: %w: copy it to a file first", path, ErrNotRegular)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	r, err := newReader(file, info.Size())
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("safetensors: %s: %w", path, err)
	}
	r.closer = file
	return r, nil
}

// NewReader reads and checks the header of the size bytes of source. It does not
// read the data.
func NewReader(source io.ReaderAt, size int64) (*Reader, error) {
	if source == nil {
		return nil, errors.New("safetensors: there is nothing to read from")
	}
	r, err := newReader(source, size)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	return r, nil
}

func newReader(source io.ReaderAt, size int64) (*Reader, error) {
	if size < prefixBytes+2 {
		return nil, fmt.Errorf("truncated: %d bytes are less than the smallest file has", size)
	}
	var prefix [prefixBytes]byte
	if err := readFull(source, prefix[:], 0); err != nil {
		return nil, err
	}
	// The limit first: what follows is then safe from overflow.
	length := binary.LittleEndian.Uint64(prefix[:])
	if length > maxHeader {
		return nil, fmt.Errorf("this is no safetensors file, or a damaged one (its header would have %d bytes, more than the %d the format allows)", length, maxHeader)
	}
	start := prefixBytes + int64(length)
	if start > size {
		return nil, fmt.Errorf("truncated: header says %d bytes, file has %d", length, size)
	}
	text := make([]byte, length)
	if err := readFull(source, text, prefixBytes); err != nil {
		return nil, err
	}
	h, err := parseHeader(text)
	if err != nil {
		return nil, err
	}
	if err := h.check(size - start); err != nil {
		return nil, err
	}
	return &Reader{source: source, start: start, header: h}, nil
}

// readFull fills b from offset. Running out of bytes means that the file is
// shorter than it was.
func readFull(source io.ReaderAt, b []byte, offset int64) error {
	n, err := source.ReadAt(b, offset)
	if n == len(b) {
		return nil // ReadAt may report the end of the file with the last bytes
	}
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("truncated: %d bytes are missing at byte %d", len(b)-n, offset+int64(n))
	}
	return err
}

// Close closes the file that Open opened. It does nothing after NewReader.
func (r *Reader) Close() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}

// Metadata returns a copy of the metadata, the digest included.
func (r *Reader) Metadata() map[string]string { return maps.Clone(r.header.metadata) }

// Tensors returns the description of every tensor, sorted by name.
func (r *Reader) Tensors() []Info {
	list := slices.Clone(r.header.tensors)
	for i := range list {
		list[i].Shape = slices.Clone(list[i].Shape)
	}
	return list
}

// Under returns a reader of the tensors whose names begin with a prefix, by the rest of their names. It reads the same
// file, and is closed with it.
func (r *Reader) Under(prefix string) *Reader {
	under := &Reader{source: r.source, start: r.start, header: &header{metadata: r.header.metadata}}
	for _, t := range r.header.tensors {
		if name, found := strings.CutPrefix(t.Name, prefix); found {
			t.Name = name
			under.header.tensors = append(under.header.tensors, t)
		}
	}
	return under
}

// Tensor returns the description of one tensor, and whether there is one.
func (r *Reader) Tensor(name string) (Info, bool) {
	if r == nil {
		return Info{}, false
	}
	i, found := slices.BinarySearchFunc(r.header.tensors, name, func(t Info, name string) int {
		return strings.Compare(t.Name, name)
	})
	if !found {
		return Info{}, false
	}
	t := r.header.tensors[i]
	t.Shape = slices.Clone(t.Shape)
	return t, true
}

// section returns the stored bytes of a tensor.
func (r *Reader) section(t Info) *io.SectionReader {
	return io.NewSectionReader(r.source, r.start+t.begin, t.Bytes())
}

// Read returns the elements of a tensor, row-major. T must be its type: nothing
// is converted. The length is at most that of the file.
func Read[T Element](r *Reader, name string) ([]T, error) {
	t, err := lookUp[T](r, name)
	if err != nil {
		return nil, err
	}
	values := make([]T, t.Len())
	if err := ReadTo(r, values, name, 0); err != nil {
		return nil, err
	}
	return values, nil
}

// Load is Read into a variable, which stays where there is an error.
func Load[T Element](r *Reader, dst *[]T, name string) error {
	values, err := Read[T](r, name)
	if err == nil {
		*dst = values
	}
	return err
}

// ReadTo fills dst with the elements of a tensor from index offset on, without
// reading the others.
func ReadTo[T Element](r *Reader, dst []T, name string, offset int) error {
	t, err := lookUp[T](r, name)
	if err != nil {
		return err
	}
	if offset < 0 || offset > t.Len() || len(dst) > t.Len()-offset {
		return fmt.Errorf("safetensors: tensor %q has %d elements: cannot read %d from index %d", name, t.Len(), len(dst), offset)
	}
	if err := decodeFrom(dst, r.section(t), int64(offset)*int64(t.DType.Size())); err != nil {
		return fmt.Errorf("safetensors: tensor %q: %w", name, err)
	}
	return nil
}

// ReadRows hands set the rows of a tensor of rows × width, one after the other.
func ReadRows[T Element](r *Reader, name string, rows, width int, set func(i int, row []T)) error {
	info, found := r.Tensor(name)
	if !found || rows < 0 || rows > math.MaxInt32 || info.Len() != rows*width {
		return fmt.Errorf("tensor %s does not hold %d×%d numbers: the file is damaged", name, rows, width)
	}
	buffer := make([]T, min(rows, rowsAtOnce)*width)
	for first := 0; first < rows; first += rowsAtOnce {
		count := min(rowsAtOnce, rows-first)
		if err := ReadTo(r, buffer[:count*width], name, first*width); err != nil {
			return err
		}
		for i := range count {
			set(first+i, buffer[i*width:(i+1)*width])
		}
	}
	return nil
}

func lookUp[T Element](r *Reader, name string) (Info, error) {
	t, found := r.Tensor(name)
	if !found {
		return t, fmt.Errorf("safetensors: there is no tensor %q", name)
	}
	if want := TypeOf[T](); t.DType != want {
		return t, fmt.Errorf("safetensors: tensor %q is %s, not %s", name, t.DType, want)
	}
	return t, nil
}

// decodeFrom fills dst from a place of a tensor's bytes.
func decodeFrom[T Element](dst []T, section *io.SectionReader, offset int64) error {
	stored := order.Bytes(dst)
	err := readFull(section, stored, offset)
	if err == nil && !littleEndian {
		_, err = binary.Decode(stored, binary.LittleEndian, dst)
	}
	return err
}

// ErrNoDigest is what Verify returns, wrapped, for a file without a digest: one
// that another program wrote.
var ErrNoDigest = errors.New("no digest is stored")

// Verify reads the whole file and compares its content with the stored digest.
func (r *Reader) Verify() error {
	stored, found := r.header.metadata[DigestKey]
	if !found {
		return fmt.Errorf("safetensors: cannot verify: %w", ErrNoDigest)
	}
	hashes := make([][sha256.Size]byte, len(r.header.tensors))
	buffer := make([]byte, 4*chunkBytes)
	for i, t := range r.header.tensors {
		sum := sha256.New()
		n, err := io.CopyBuffer(sum, r.section(t), buffer)
		if err == nil && n != t.Bytes() {
			err = fmt.Errorf("truncated: %d of %d bytes are there", n, t.Bytes())
		}
		if err != nil {
			return fmt.Errorf("safetensors: tensor %q: %w", t.Name, err)
		}
		hashes[i] = [sha256.Size]byte(sum.Sum(nil))
	}
	if computed := digest(r.header, hashes); computed != stored {
		return fmt.Errorf("safetensors: the file is damaged: its content has SHA-256 %s, but %.64q is stored: restore it from a copy", computed, stored)
	}
	return nil
}
