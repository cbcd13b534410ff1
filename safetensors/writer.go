package safetensors

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"unicode/utf8"
)

// Tensor is a tensor to be written.
type Tensor struct {
	Name  string
	DType DType
	Shape []int // row-major; empty for a single number

	// Data sends the elements to w, row by row, little-endian; see Encode. It may be
	// called twice and must send the same bytes both times.
	Data func(w io.Writer) error
}

// Of returns a tensor backed by a slice, which must not change until it is
// written. Without a shape it is a vector.
func Of[T Element](name string, values []T, shape ...int) Tensor {
	if len(shape) == 0 {
		shape = []int{len(values)}
	}
	return Tensor{
		Name:  name,
		DType: TypeOf[T](),
		Shape: slices.Clone(shape),
		Data:  func(w io.Writer) error { return Encode(w, values) },
	}
}

// rowsAtOnce is the number of rows that are encoded or decoded at a time.
const rowsAtOnce = 1 << 12

// RowsOf returns a tensor of rows × width, each row of which get fills when it is written.
func RowsOf[T Element](name string, rows, width int, get func(i int, row []T)) Tensor {
	return Tensor{
		Name: name, DType: TypeOf[T](), Shape: []int{rows, width},
		Data: func(w io.Writer) error {
			buffer := make([]T, min(rows, rowsAtOnce)*width)
			for first := 0; first < rows; first += rowsAtOnce {
				count := min(rowsAtOnce, rows-first)
				for i := range count {
					get(first+i, buffer[i*width:(i+1)*width])
				}
				if err := Encode(w, buffer[:count*width]); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// Finite returns the tensor, which is not written where a number of it is NaN or infinite.
func (t Tensor) Finite() Tensor {
	data := t.Data
	t.Data = func(w io.Writer) error { return data(&finite{w, t.DType}) }
	return t
}

// finite passes on whole elements of finite numbers.
type finite struct {
	out   io.Writer
	dtype DType
}

func (f *finite) Write(b []byte) (int, error) {
	size := f.dtype.Size()
	for i := size; (f.dtype == F64 || f.dtype == F32) && i <= len(b); i += size {
		high, exponent := binary.LittleEndian.Uint16(b[i-2:]), uint16(0x7ff0)
		if f.dtype == F32 {
			exponent = 0x7f80
		}
		if high&exponent == exponent {
			return 0, errors.New("a number of it is not finite")
		}
	}
	return f.out.Write(b)
}

// Write writes a file to w. The result depends on nothing but the content of
// the arguments; the order of tensors does not matter. An error of a Data
// function is wrapped. After an error w may hold a part of the file.
//
// The entry DigestKey is added to the metadata, which is not modified.
func Write(w io.Writer, metadata map[string]string, tensors []Tensor) error {
	if err := write(w, metadata, tensors); err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	return nil
}

func write(w io.Writer, metadata map[string]string, tensors []Tensor) error {
	h, sources, err := plan(metadata, tensors)
	if err != nil {
		return err
	}
	order, err := h.layOut()
	if err != nil {
		return err
	}
	hashes := make([][sha256.Size]byte, len(h.tensors))
	start := func() ([]byte, error) {
		h.metadata[DigestKey] = digest(h, hashes) // of one length, whatever the hashes
		return h.encode()
	}
	back, rewrites := w.(rewriter)
	if !rewrites { // the hashes stand in front of what is hashed
		for i, t := range h.tensors {
			if hashes[i], err = produce(io.Discard, t, sources[t.Name]); err != nil {
				return err
			}
		}
	}
	beginning, err := start()
	if err != nil {
		return err
	}
	if _, err := w.Write(beginning); err != nil {
		return err
	}
	for _, i := range order {
		t := h.tensors[i]
		hash, err := produce(w, t, sources[t.Name])
		if err != nil {
			return err
		}
		if !rewrites && hash != hashes[i] {
			return fmt.Errorf("tensor %q changed while it was written: Data must send the same bytes each time", t.Name)
		}
		hashes[i] = hash
	}
	if !rewrites {
		return nil
	}
	if beginning, err = start(); err != nil {
		return err
	}
	return back.Rewrite(beginning)
}

// rewriter is a writer whose first bytes can be replaced: what is written to it is produced once.
type rewriter interface {
	Rewrite(beginning []byte) error
}

// plan checks everything that can be checked before a tensor is produced.
func plan(metadata map[string]string, tensors []Tensor) (*header, map[string]func(io.Writer) error, error) {
	if len(tensors) > maxEntries || len(metadata) >= maxEntries {
		return nil, nil, fmt.Errorf("%d tensors and %d metadata entries: fewer than %d of each are allowed", len(tensors), len(metadata), maxEntries)
	}
	h := &header{metadata: map[string]string{}}
	maps.Copy(h.metadata, metadata)
	for _, key := range sortedKeys(metadata) {
		if err := checkName("metadata entry", key); err != nil {
			return nil, nil, err
		}
		if key == DigestKey {
			return nil, nil, fmt.Errorf("metadata %q is reserved for the digest: choose another key", key)
		}
		if !utf8.ValidString(metadata[key]) {
			return nil, nil, fmt.Errorf("metadata %q is not UTF-8: store bytes as a U8 tensor", key)
		}
	}
	sources := make(map[string]func(io.Writer) error, len(tensors))
	for _, t := range tensors {
		if err := checkName("tensor", t.Name); err != nil {
			return nil, nil, err
		}
		if t.Name == metadataKey {
			return nil, nil, fmt.Errorf("a tensor cannot be named %q: the format reserves it", t.Name)
		}
		if t.Data == nil {
			return nil, nil, fmt.Errorf("tensor %q has no Data", t.Name)
		}
		h.tensors = append(h.tensors, Info{Name: t.Name, DType: t.DType, Shape: slices.Clone(t.Shape)})
		sources[t.Name] = t.Data
	}
	return h, sources, nil
}

// produce sends a tensor to w and returns its hash. It fails unless the tensor
// has exactly the size of its shape.
func produce(w io.Writer, t Info, data func(io.Writer) error) ([sha256.Size]byte, error) {
	meter := &meter{out: w, hash: sha256.New(), left: t.Bytes()}
	err := data(meter)
	if errors.Is(err, errTooLong) || meter.overrun {
		return [sha256.Size]byte{}, fmt.Errorf("tensor %q: shape %v of %s is %d bytes, its Data sends more", t.Name, t.Shape, t.DType, t.Bytes())
	}
	if err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	if meter.left > 0 {
		return [sha256.Size]byte{}, fmt.Errorf("tensor %q: shape %v of %s is %d bytes, its Data sends %d", t.Name, t.Shape, t.DType, t.Bytes(), t.Bytes()-meter.left)
	}
	return [sha256.Size]byte(meter.hash.Sum(nil)), nil
}

var errTooLong = errors.New("more bytes than the shape has")

// A meter passes on at most left bytes, and hashes them.
type meter struct {
	out     io.Writer
	hash    hash.Hash
	left    int64
	overrun bool // remembered for Data functions that ignore errors
}

func (m *meter) Write(b []byte) (int, error) {
	if int64(len(b)) > m.left {
		m.overrun = true
		return 0, errTooLong
	}
	m.hash.Write(b) // never fails, by its contract
	n, err := m.out.Write(b)
	m.left -= int64(n)
	return n, err
}

// digest returns the digest of the content as the package comment defines it.
// hashes[i] is the SHA-256 of the bytes of h.tensors[i]; tensors are sorted by
// name. It hashes hashes, so that tensors may be read in any order.
func digest(h *header, hashes [][sha256.Size]byte) string {
	lines := sha256.New()
	for _, key := range sortedKeys(h.metadata) {
		if key != DigestKey {
			fmt.Fprintf(lines, "metadata %x %x\n", sha256.Sum256([]byte(key)), sha256.Sum256([]byte(h.metadata[key])))
		}
	}
	for i, t := range h.tensors {
		fmt.Fprintf(lines, "tensor %x %s %s %x\n", sha256.Sum256([]byte(t.Name)), t.DType, shapeText(t.Shape), hashes[i])
	}
	return hex.EncodeToString(lines.Sum(nil))
}
