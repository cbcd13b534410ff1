package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// assemble builds a file from its parts, by the description of the format alone.
func assemble(header string, data []byte) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(out, header...), data...)
}

func open(file []byte) (*Reader, error) {
	return NewReader(bytes.NewReader(file), int64(len(file)))
}

func mustOpen(t testing.TB, file []byte) *Reader {
	t.Helper()
	r, err := open(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustWrite(t testing.TB, metadata map[string]string, tensors ...Tensor) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, metadata, tensors); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The sample has every type, an empty tensor, a scalar, awkward names.
func sample() (map[string]string, []Tensor) {
	scalar := Of("scalar", []float64{math.Pi})
	scalar.Shape = nil
	return map[string]string{"model": `{"a":"<b>"}`, "é\n": "\x00\"\\\u2028"}, []Tensor{
		Of("w", []float64{1, -2.5, math.Inf(1), math.Copysign(0, -1), math.SmallestNonzeroFloat64, math.MaxFloat64}, 2, 3),
		Of("bytes", []uint8{1, 2, 3, 255, 0}),
		Of("f32", []float32{1.5, -math.MaxFloat32, float32(math.Inf(-1))}, 3, 1),
		Of("ids", []int64{math.MinInt64, 0, math.MaxInt64}),
		Of("small ids \"x\"\t", []int32{math.MinInt32, -1, math.MaxInt32}),
		Of("nothing", []float32{}, 4, 0, 2),
		scalar,
	}
}

// Both directions are checked against bytes put together by hand.
func TestKnownBytes(t *testing.T) {
	got := mustWrite(t, map[string]string{"k": "v\n\"\\"},
		Of("b", []float32{1, -2}, 2, 1), Of("a", []uint8{7, 8, 9}), Of("c", []int64{-1}))
	header := `{"__metadata__":{"k":"v\u000a\"\\","sha256":"` + knownDigest + `"},` +
		`"a":{"dtype":"U8","shape":[3],"data_offsets":[16,19]},` +
		`"b":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]},` +
		`"c":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}`
	header += strings.Repeat(" ", (8-len(header)%8)%8)
	data := []byte{
		255, 255, 255, 255, 255, 255, 255, 255, // -1
		0, 0, 0x80, 0x3f, // 1
		0, 0, 0, 0xc0, // -2
		7, 8, 9,
	}
	if want := assemble(header, data); !bytes.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}

	foreign := mustOpen(t, assemble(` {"x" :`[1:]+` { "shape":[ 2 , 1 ],"data_offsets":[0,8], "dtype":"F32"},`+
		"\t\"\\u0061\\ud83d\\ude00\\/\":\r\n"+`{"dtype":"U8","shape":[3],"data_offsets":[8,11]}}   `, data[8:]))
	if x, err := Read[float32](foreign, "x"); err != nil || !slices.Equal(x, []float32{1, -2}) {
		t.Errorf("x is %v, %v", x, err)
	}
	if a, err := Read[uint8](foreign, "a😀/"); err != nil || !slices.Equal(a, []uint8{7, 8, 9}) {
		t.Errorf("a is %v, %v", a, err)
	}
	if len(foreign.Metadata()) != 0 {
		t.Errorf("metadata is %v", foreign.Metadata())
	}
	if err := foreign.Verify(); !errors.Is(err, ErrNoDigest) {
		t.Errorf("Verify: %v", err)
	}
	mustOpen(t, assemble("{}", nil))
}

func TestRoundTrip(t *testing.T) {
	metadata, tensors := sample()
	file := mustWrite(t, metadata, tensors...)
	if headerLength := binary.LittleEndian.Uint64(file); headerLength%8 != 0 {
		t.Errorf("header has %d bytes: data is not aligned", headerLength)
	}
	r := mustOpen(t, file)
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	got := r.Metadata()
	delete(got, DigestKey)
	if fmt.Sprint(got) != fmt.Sprint(metadata) {
		t.Errorf("metadata is %q, want %q", got, metadata)
	}
	if len(r.Tensors()) != len(tensors) {
		t.Errorf("%d tensors, want %d", len(r.Tensors()), len(tensors))
	}
	for _, want := range tensors {
		info, found := r.Tensor(want.Name)
		if !found || info.DType != want.DType || !slices.Equal(info.Shape, want.Shape) {
			t.Errorf("%q is %v, %v; want %v", want.Name, info, found, want)
		}
		if info.begin%int64(info.DType.Size()) != 0 {
			t.Errorf("%q starts at %d: not aligned", want.Name, info.begin)
		}
		var stored, produced bytes.Buffer
		if _, err := io.Copy(&stored, r.section(info)); err != nil {
			t.Fatal(err)
		}
		if err := want.Data(&produced); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(stored.Bytes(), produced.Bytes()) {
			t.Errorf("%q holds %v, want %v", want.Name, stored.Bytes(), produced.Bytes())
		}
	}
	w, err := Read[float64](r, "w")
	if err != nil || w[1] != -2.5 || !math.IsInf(w[2], 1) || !math.Signbit(w[3]) || w[4] != math.SmallestNonzeroFloat64 {
		t.Errorf("w is %v, %v", w, err)
	}
	if ids, err := Read[int64](r, "ids"); err != nil || !slices.Equal(ids, []int64{math.MinInt64, 0, math.MaxInt64}) {
		t.Errorf("ids is %v, %v", ids, err)
	}
	if ids, err := Read[int32](r, "small ids \"x\"\t"); err != nil || !slices.Equal(ids, []int32{math.MinInt32, -1, math.MaxInt32}) {
		t.Errorf("small ids is %v, %v", ids, err)
	}
	if s, err := Read[float64](r, "scalar"); err != nil || !slices.Equal(s, []float64{math.Pi}) {
		t.Errorf("scalar is %v, %v", s, err)
	}
	if n, err := Read[float32](r, "nothing"); err != nil || len(n) != 0 {
		t.Errorf("nothing is %v, %v", n, err)
	}
}

func TestSameBytesInAnyOrder(t *testing.T) {
	metadata, tensors := sample()
	want := mustWrite(t, metadata, tensors...)
	for range len(tensors) {
		tensors = append(tensors[1:], tensors[0])
		if !bytes.Equal(mustWrite(t, metadata, tensors...), want) {
			t.Fatal("the bytes depend on the order of the tensors")
		}
	}
}

// A file larger than the conversion buffer, written in odd pieces, read whole
// and in windows, with a reader that never gives more than asked.
func TestLargeTensorsInPieces(t *testing.T) {
	const n = 3*chunkBytes/8 + 17
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Sin(float64(i))
	}
	pieces := Tensor{Name: "v", DType: F64, Shape: []int{n}, Data: func(w io.Writer) error {
		for piece := range slices.Chunk(values, 1001) {
			if err := Encode(w, piece); err != nil {
				return err
			}
		}
		return nil
	}}
	file := mustWrite(t, nil, pieces)
	if !bytes.Equal(file, mustWrite(t, nil, Of("v", values))) {
		t.Error("the bytes depend on how the tensor is produced")
	}
	path := filepath.Join(t.TempDir(), "v.safetensors")
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := Read[float64](r, "v"); err != nil || !slices.Equal(got, values) {
		t.Errorf("Read differs: %v", err)
	}
	for _, window := range [][2]int{{0, 1}, {0, 0}, {n, 0}, {n - 1, 1}, {1000, chunkBytes/8 + 1}, {0, n}} {
		dst := make([]float64, window[1])
		if err := ReadTo(r, dst, "v", window[0]); err != nil || !slices.Equal(dst, values[window[0]:window[0]+window[1]]) {
			t.Errorf("window %v differs: %v", window, err)
		}
	}
	for _, window := range [][2]int{{-1, 1}, {0, n + 1}, {n, 1}, {n + 1, 0}, {math.MaxInt, 1}} {
		err := ReadTo(r, make([]float64, window[1]), "v", window[0])
		if err == nil || !strings.Contains(err.Error(), "cannot read") {
			t.Errorf("window %v: error is %v", window, err)
		}
	}
	if err := r.Verify(); err != nil {
		t.Error(err)
	}

	// The file shrinks after it was opened.
	if err := os.Truncate(path, int64(len(file)-8)); err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(); err == nil || !strings.Contains(err.Error(), "truncated") {
		t.Errorf("Verify of a shrunk file: %v", err)
	}
	if _, err := Read[float64](r, "v"); err == nil || !strings.Contains(err.Error(), "truncated: 8 bytes are missing") {
		t.Errorf("Read of a shrunk file: %v", err)
	}
}

// A machine whose numbers lie the other way round converts them, in pieces when it writes and in place when it reads.
func TestConversionInPlace(t *testing.T) {
	const n = 2*chunkBytes/8 + 5
	wide, narrow := make([]float64, n), make([]int32, n)
	for i := range wide {
		wide[i], narrow[i] = math.Sin(float64(i)), int32(i*i)
	}
	want := mustWrite(t, nil, Of("wide", wide), Of("narrow", narrow))
	defer func(v bool) { littleEndian = v }(littleEndian)
	littleEndian = false
	if !bytes.Equal(mustWrite(t, nil, Of("wide", wide), Of("narrow", narrow)), want) {
		t.Error("the bytes depend on how numbers lie in memory")
	}
	r, err := NewReader(bytes.NewReader(want), int64(len(want)))
	if err != nil {
		t.Fatal(err)
	}
	gotWide, errWide := Read[float64](r, "wide")
	gotNarrow, errNarrow := Read[int32](r, "narrow")
	if errWide != nil || errNarrow != nil || !slices.Equal(gotWide, wide) || !slices.Equal(gotNarrow, narrow) {
		t.Errorf("Read differs: %v, %v", errWide, errNarrow)
	}
}

// Rows are read as they were written, in the last run of them as in the first.
func TestRowsOfSeveralRuns(t *testing.T) {
	const rows, width = 2*rowsAtOnce + 3, 3
	file := mustWrite(t, nil, RowsOf("v", rows, width, func(i int, row []float64) { row[0], row[1], row[2] = float64(i), float64(i*i), -1 }))
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	if err := ReadRows(r, "v", rows, width, func(i int, row []float64) {
		if i != next || !slices.Equal(row, []float64{float64(i), float64(i * i), -1}) {
			t.Fatalf("row %d is %v, behind %d others", i, row, next)
		}
		next++
	}); err != nil || next != rows {
		t.Errorf("%d rows: %v", next, err)
	}
}

// countingReader counts what is read, to show that tensors are not touched
// before they are asked for.
type countingReader struct {
	io.ReaderAt
	read int
}

func (c *countingReader) ReadAt(b []byte, offset int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, offset)
	c.read += n
	return n, err
}

func TestRandomAccessReadsNoMore(t *testing.T) {
	file := mustWrite(t, nil, Of("big", make([]float64, 100_000)), Of("small", []int32{1, 2}))
	counter := &countingReader{ReaderAt: bytes.NewReader(file)}
	r, err := NewReader(counter, int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	headerBytes := len(file) - 800_000 - 8
	if counter.read != headerBytes {
		t.Errorf("opening read %d bytes, the header has %d", counter.read, headerBytes)
	}
	if _, err := Read[int32](r, "small"); err != nil || counter.read != headerBytes+8 {
		t.Errorf("reading 8 bytes read %d (%v)", counter.read-headerBytes, err)
	}
	if err := ReadTo(r, make([]float64, 3), "big", 99_000); err != nil || counter.read != headerBytes+8+24 {
		t.Errorf("reading 24 more bytes read %d (%v)", counter.read-headerBytes-8, err)
	}
}

func TestReadRefuses(t *testing.T) {
	r := mustOpen(t, mustWrite(t, nil, Of("w", []float64{1})))
	if _, err := Read[float64](r, "v"); err == nil || err.Error() != `safetensors: there is no tensor "v"` {
		t.Errorf("error is %v", err)
	}
	if _, err := Read[float32](r, "w"); err == nil || err.Error() != `safetensors: tensor "w" is F64, not F32` {
		t.Errorf("error is %v", err)
	}
	if info, found := r.Tensor("v"); found || info.Len() != 0 {
		t.Errorf("found %v", info)
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("opening a folder: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("opening nothing: %v", err)
	}
}

func TestDescriptionsAreCopies(t *testing.T) {
	r := mustOpen(t, mustWrite(t, map[string]string{"k": "v"}, Of("w", []float64{1, 2}, 1, 2)))
	r.Metadata()["k"] = "changed"
	r.Tensors()[0].Shape[0] = 9
	one, _ := r.Tensor("w")
	one.Shape[0] = 9
	if again, _ := r.Tensor("w"); again.Shape[0] != 1 || r.Metadata()["k"] != "v" {
		t.Error("a caller can change what a Reader holds")
	}
}

// failing reads up to a byte of the file and then fails, or finds its end where err is nil.
type failing struct {
	file []byte
	end  int64
	err  error
}

func (f *failing) ReadAt(b []byte, offset int64) (int, error) {
	n := copy(b, f.file[min(offset, f.end):f.end])
	if n < len(b) {
		if f.err == nil {
			return n, io.EOF
		}
		return n, f.err
	}
	return n, nil
}

// TestReaderPassesErrorsOn: a source that fails is not called a damaged file, and one that has become shorter says how
// many bytes are missing and where, in every part of the file.
func TestReaderPassesErrorsOn(t *testing.T) {
	file := mustWrite(t, nil, Of("w", []float64{1, 2, 3}))
	header := len(file) - 24
	read := func(source io.ReaderAt) error {
		r, err := NewReader(source, int64(len(file)))
		if err != nil {
			return err
		}
		_, err = Read[float64](r, "w")
		rows := ReadRows(r, "w", 3, 1, func(int, []float64) {})
		if (err == nil) != (rows == nil) {
			t.Errorf("read at once %v, by rows %v", err, rows)
		}
		return err
	}
	gone := errors.New("the disk is gone")
	for end, want := range map[int]string{3: "5 bytes are missing at byte 3", 10: fmt.Sprintf("%d bytes are missing at byte 10", header-10), header: "", len(file) - 1: "", len(file): ""} {
		if err := read(&failing{file, int64(end), gone}); errors.Is(err, gone) != (end < len(file)) {
			t.Errorf("a disk that is gone at byte %d: %v", end, err)
		}
		err := read(&failing{file, int64(end), nil})
		if end < len(file) && (err == nil || !strings.HasPrefix(err.Error(), "safetensors: ")) || want != "" && !strings.Contains(err.Error(), "truncated: "+want) {
			t.Errorf("a file that ends at byte %d: %v, want %q", end, err, want)
		}
	}
	if _, err := NewReader(nil, 100); err == nil || !strings.Contains(err.Error(), "nothing to read from") {
		t.Errorf("no source: %v", err)
	}
	if _, found := (*Reader)(nil).Tensor("w"); found {
		t.Error("no reader has a tensor")
	}
}

// TestRangesEnd: the elements up to the last are read, and no further one, from no place before the first; rows are
// those of the shape that is asked for.
func TestRangesEnd(t *testing.T) {
	r := mustOpen(t, mustWrite(t, nil, Of("w", []float64{1, 2, 3, 4, 5, 6}, 2, 3)))
	for _, c := range []struct {
		count, offset int
		want          string
	}{
		{6, 0, ""}, {1, 5, ""}, {0, 6, ""}, {7, 0, "cannot read 7 from index 0"}, {2, 5, "cannot read 2 from index 5"},
		{0, 7, `tensor "w" has 6 elements: cannot read 0 from index 7`}, {1, -1, "cannot read 1 from index -1"},
	} {
		dst := make([]float64, c.count)
		err := ReadTo(r, dst, "w", c.offset)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || err == nil && c.count > 0 && dst[0] != float64(c.offset+1) {
			t.Errorf("%d from %d on: %v, %v", c.count, c.offset, dst, err)
		}
	}
	if err := ReadTo(r, make([]int32, 1), "w", 0); err == nil || err.Error() != `safetensors: tensor "w" is F64, not I32` {
		t.Errorf("of another type: %v", err)
	}
	for _, c := range []struct {
		name        string
		rows, width int
		want        string
	}{
		{"w", 2, 3, ""}, {"w", 6, 1, ""}, {"w", 2, 2, "tensor w does not hold 2×2 numbers: the file is damaged"}, {"w", 3, 3, "3×3"},
		{"v", 0, 3, "tensor v does not hold 0×3 numbers"}, {"w", -2, -3, "tensor w does not hold -2×-3 numbers"},
	} {
		count := 0
		err := ReadRows(r, c.name, c.rows, c.width, func(i int, row []float64) { count += len(row) })
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || err == nil && count != 6 {
			t.Errorf("%d×%d of %s: %d numbers, %v", c.rows, c.width, c.name, count, err)
		}
	}
	kept := []float64{7}
	if err := Load(r, &kept, "v"); err == nil || !slices.Equal(kept, []float64{7}) {
		t.Errorf("a tensor that there is none of was loaded: %v, %v", kept, err)
	}
	if err := Load(r, &kept, "w"); err != nil || !slices.Equal(kept, []float64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("loaded %v, %v", kept, err)
	}
}

// TestReason: an error of a file names it once, and Reason takes name and package off, for who names the file himself.
func TestReason(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.safetensors")
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path)
	const reason = "truncated: 5 bytes are less than the smallest file has"
	if err == nil || err.Error() != "safetensors: "+path+": "+reason || Reason(path, err) != reason || Reason("other", err) != path+": "+reason {
		t.Errorf("error is %v, its reason %q", err, Reason(path, err))
	}
}
