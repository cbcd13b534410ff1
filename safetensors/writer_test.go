package safetensors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/study"
)

func TestWriteRefuses(t *testing.T) {
	ok := Of("w", []float64{1, 2})
	with := func(change func(*Tensor)) []Tensor {
		w := ok
		change(&w)
		return []Tensor{w}
	}
	calls := 0
	cases := map[string]struct {
		metadata map[string]string
		tensors  []Tensor
		message  string
	}{
		"two of a name":      {nil, []Tensor{ok, ok}, `two tensors are named "w"`},
		"no name":            {nil, with(func(w *Tensor) { w.Name = "" }), "a tensor has an empty name"},
		"long name":          {nil, with(func(w *Tensor) { w.Name = strings.Repeat("n", maxName+1) }), "4097 bytes: at most 4096"},
		"name not UTF-8":     {nil, with(func(w *Tensor) { w.Name = "\xff" }), `"\xff" is not UTF-8`},
		"reserved name":      {nil, with(func(w *Tensor) { w.Name = "__metadata__" }), "the format reserves it"},
		"no data":            {nil, with(func(w *Tensor) { w.Data = nil }), `tensor "w" has no Data`},
		"unknown type":       {nil, with(func(w *Tensor) { w.DType = "BF16" }), `tensor "w": unknown dtype "BF16"`},
		"negative dimension": {nil, with(func(w *Tensor) { w.Shape = []int{-2, -1} }), "shape [-2 -1] has a negative dimension"},
		"overflow":           {nil, with(func(w *Tensor) { w.Shape = []int{math.MaxInt / 2, 3} }), "overflows"},
		"too many dims":      {nil, with(func(w *Tensor) { w.Shape = make([]int, maxRank+1) }), "33 dimensions: at most 32"},
		"too short":          {nil, with(func(w *Tensor) { w.Shape = []int{3} }), `tensor "w": shape [3] of F64 is 24 bytes, its Data sends 16`},
		"too long":           {nil, with(func(w *Tensor) { w.Shape = []int{1} }), `tensor "w": shape [1] of F64 is 8 bytes, its Data sends more`},
		"too long, ignored": {nil, with(func(w *Tensor) {
			w.Data = func(w io.Writer) error { Encode(w, []float64{1, 2}); w.Write([]byte{1}); return nil }
		}), "its Data sends more"},
		"changing": {nil, with(func(w *Tensor) {
			w.Data = func(w io.Writer) error { calls++; return Encode(w, []float64{float64(calls), 2}) }
		}), `tensor "w" changed while it was written`},
		"reserved key":  {map[string]string{"sha256": "x"}, nil, `metadata "sha256" is reserved`},
		"key not UTF-8": {map[string]string{"\xff": "x"}, nil, "is not UTF-8"},
		"not UTF-8":     {map[string]string{"k": "\xff"}, nil, `metadata "k" is not UTF-8`},
		"huge metadata": {map[string]string{"k": strings.Repeat("x", maxHeader)}, nil, "the format allows 100000000"},
		"too many":      {nil, make([]Tensor, maxEntries+1), "100001 tensors"},
	}
	if !study.Long() { // a hundred megabytes
		delete(cases, "huge metadata")
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := Write(io.Discard, c.metadata, c.tensors)
			if err == nil || !strings.HasPrefix(err.Error(), "safetensors: ") || !strings.Contains(err.Error(), c.message) {
				t.Errorf("error is %v, want %q", err, c.message)
			}
		})
	}
}

// backwards is a writer whose beginning can be replaced.
type backwards struct{ bytes.Buffer }

func (b *backwards) Rewrite(beginning []byte) error {
	copy(b.Bytes(), beginning)
	return nil
}

// A writer that can go back gets the same bytes, each tensor being produced once.
func TestWriteOnce(t *testing.T) {
	calls := 0
	tensors := []Tensor{Of("a", []int32{1, 2, 3}), RowsOf("b", 3, 2, func(i int, row []float64) {
		calls++
		row[0], row[1] = float64(i), 7
	})}
	var twice bytes.Buffer
	var once backwards
	if err := Write(&twice, map[string]string{"k": "v"}, tensors); err != nil || calls != 6 {
		t.Fatal(err, calls)
	}
	if err := Write(&once, map[string]string{"k": "v"}, tensors); err != nil || calls != 9 {
		t.Fatal(err, calls)
	}
	if !bytes.Equal(once.Bytes(), twice.Bytes()) {
		t.Errorf("%q, want %q", once.Bytes(), twice.Bytes())
	}
}

type failingWriter struct{ left int }

var errFull = errors.New("disk full")

func (f *failingWriter) Write(b []byte) (int, error) {
	n := min(f.left, len(b))
	f.left -= n
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

// TestFinite: numbers that are none are refused where only numbers are asked for, wherever they stand.
func TestFinite(t *testing.T) {
	for _, at := range []int{0, 1, 4999} {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64} {
			wide, narrow := make([]float64, 5000), make([]float32, 5000)
			wide[at], narrow[at] = v, float32(min(v, math.MaxFloat32))
			for _, tensor := range []Tensor{Of("wide", wide), Of("narrow", narrow)} {
				err := Write(io.Discard, nil, []Tensor{tensor.Finite()})
				if number := v == math.MaxFloat64 || math.IsInf(v, 1) && tensor.Name == "narrow"; (err == nil) != number {
					t.Errorf("%v at %d of %s: %v", v, at, tensor.Name, err)
				}
			}
		}
	}
	if err := Write(io.Discard, nil, []Tensor{Of("keys", []int64{-1, math.MaxInt64}).Finite()}); err != nil {
		t.Error(err)
	}
}

func TestWritePassesErrorsOn(t *testing.T) {
	metadata, tensors := sample()
	size := len(mustWrite(t, metadata, tensors...))
	for room := range size {
		if err := Write(&failingWriter{room}, metadata, tensors); !errors.Is(err, errFull) {
			t.Fatalf("room for %d of %d bytes: error is %v", room, size, err)
		}
	}
	rows := RowsOf("v", rowsAtOnce+1, 1, func(i int, row []uint8) { row[0] = uint8(i) })
	size = len(mustWrite(t, nil, rows))
	for _, room := range []int{size - 1, size - 2, size - rowsAtOnce - 1} {
		if err := Write(&failingWriter{room}, nil, []Tensor{rows}); !errors.Is(err, errFull) {
			t.Errorf("room for %d of %d bytes of rows: error is %v", room, size, err)
		}
	}
	cancelled := Tensor{Name: "w", DType: U8, Shape: []int{1}, Data: func(io.Writer) error { return context.Canceled }}
	if err := Write(io.Discard, nil, []Tensor{cancelled}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// Names and texts of every ASCII character and some beyond survive.
func TestEveryCharacter(t *testing.T) {
	metadata, tensors := map[string]string{}, []Tensor{}
	for r := rune(0); r < 0x120; r++ {
		metadata["m"+string(r)] = string(r)
		tensors = append(tensors, Of("t"+string(r), []uint8{uint8(r)}))
	}
	r := mustOpen(t, mustWrite(t, metadata, tensors...))
	for c := rune(0); c < 0x120; c++ {
		if got := r.Metadata()["m"+string(c)]; got != string(c) {
			t.Errorf("metadata %q came back as %q", string(c), got)
		}
		if got, err := Read[uint8](r, "t"+string(c)); err != nil || got[0] != uint8(c) {
			t.Errorf("tensor %q holds %v, %v", "t"+string(c), got, err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	values := make([]float64, 1<<20)
	tensors := []Tensor{Of("v", values)}
	b.SetBytes(int64(8 * len(values)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Write(io.Discard, nil, tensors); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	values := make([]float64, 1<<20)
	r := mustOpen(b, mustWrite(b, nil, Of("v", values)))
	b.SetBytes(int64(8 * len(values)))
	b.ReportAllocs()
	for b.Loop() {
		if err := ReadTo(r, values, "v", 0); err != nil {
			b.Fatal(err)
		}
	}
}

// Opening a file of many tensors costs the parsing of its header.
func BenchmarkOpen(b *testing.B) {
	var tensors []Tensor
	for i := range 10_000 {
		tensors = append(tensors, Of(fmt.Sprintf("block/%d/weights", i), []uint8{1}))
	}
	file := mustWrite(b, nil, tensors...)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewReader(bytes.NewReader(file), int64(len(file))); err != nil {
			b.Fatal(err)
		}
	}
}
