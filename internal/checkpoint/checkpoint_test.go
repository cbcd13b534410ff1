package checkpoint

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/safetensors"
)

type document struct {
	Step int     `json:"step"`
	Rate float64 `json:"rate"`
}

var kind = Kind{Name: "test", Format: 2, Fingerprint: "abc"}

// written writes a checkpoint of a document, two vectors, of which one is nil, and a tensor in
// pieces.
func written(t *testing.T) (path string, doc document, mean []float64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state")
	doc, mean = document{7, 0.1}, []float64{1, math.Inf(-1), math.Copysign(0, -1), 1e-310}
	var absent []float64
	pieces := safetensors.Tensor{Name: "keys", DType: safetensors.I64, Shape: []int{4}, Data: func(w io.Writer) error {
		if err := safetensors.Encode(w, []int64{1, 2}); err != nil {
			return err
		}
		return safetensors.Encode(w, []int64{3, 4})
	}}
	vectors := Vectors{"mean": &mean, "absent": &absent}
	must.Succeed(t, kind.Write(path, doc, append(vectors.Tensors(), pieces)))
	return path, doc, mean
}

func TestRoundTrip(t *testing.T) {
	path, doc, mean := written(t)
	var gotDoc document
	r := must.Value(kind.Read(path, &gotDoc))(t)
	defer r.Close()
	var got []float64
	absent := []float64{1}
	must.Succeed(t, (Vectors{"mean": &got, "absent": &absent}).Read(r))
	if gotDoc != doc || !reflect.DeepEqual(got, mean) || math.Signbit(got[2]) != true || absent != nil {
		t.Errorf("read %v, %v, %v", gotDoc, got, absent)
	}
	keys, err := safetensors.Read[int64](r, "keys")
	if err != nil || !reflect.DeepEqual(keys, []int64{1, 2, 3, 4}) {
		t.Errorf("keys %v, %v", keys, err)
	}
}

func TestRefusals(t *testing.T) {
	path, _, _ := written(t)
	whole := must.Value(os.ReadFile(path))(t)
	refused := func(k Kind, path, want string) {
		t.Helper()
		r, err := k.Read(path, &document{})
		if err == nil {
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	other := kind
	other.Name, other.Anew = "learn", "begin anew without --resume"
	refused(other, path, `it was written by "test", not by learn: begin anew without --resume`)
	other = kind
	other.Format = 3
	refused(other, path, "it has format 2, and this version reads format 3: name another file, or remove this one to begin anew")
	other = kind
	other.Fingerprint = "abd"
	refused(other, path, "it is of other data, another model or other options: name another file, or remove this one to begin anew")
	if _, err := kind.Read(path+".none", &document{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	// A damage of any single byte is found.
	for i := range whole {
		damaged := append([]byte{}, whole...)
		damaged[i] ^= 1
		must.Succeed(t, os.WriteFile(path, damaged, 0o600))
		if r, err := kind.Read(path, &document{}); err == nil {
			r.Close()
			t.Errorf("byte %d is damaged and the checkpoint is read", i)
		}
	}
	must.Succeed(t, os.WriteFile(path, whole[:len(whole)-1], 0o600))
	refused(kind, path, "remove this one to begin anew")
}

// TestFailedWriteKeepsTheOld: a write that fails leaves the checkpoint before it.
func TestFailedWriteKeepsTheOld(t *testing.T) {
	path, doc, _ := written(t)
	broken := errors.New("broken")
	err := kind.Write(path, document{8, 0}, []safetensors.Tensor{{Name: "x", DType: safetensors.F64, Shape: []int{1}, Data: func(io.Writer) error { return broken }}})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if err := kind.Write(path, math.NaN(), nil); err == nil {
		t.Error("a document of NaN is written")
	}
	var got document
	r, err := kind.Read(path, &got)
	if err != nil || got != doc {
		t.Fatalf("%v, %v", got, err)
	}
	r.Close()
}

// TestFingerprint: every part, every length and every bit counts, and where one part ends.
func TestFingerprint(t *testing.T) {
	of := func(parts ...any) string {
		t.Helper()
		return must.Value(Fingerprint(parts...))(t)
	}
	all := [][]any{
		{}, {1}, {"1"}, {1.5}, {"a", "b"}, {"ab"}, {[]float64{1}}, {[]float64{1, 2}}, {[]float64{1}, []float64{2}},
		{[]float64{math.Copysign(0, -1)}}, {[]float64{0}}, {[]float64{math.NaN()}}, {[]int32{1, 2}}, {[]float64(nil)},
		{document{1, 2}}, {document{1, 3}},
	}
	seen := map[string]int{}
	for i, parts := range all {
		text := of(parts...)
		if text != of(parts...) {
			t.Errorf("%v has two fingerprints", parts)
		}
		if k, found := seen[text]; found {
			t.Errorf("%v and %v have one fingerprint", parts, all[k])
		}
		seen[text] = i
	}
	if _, err := Fingerprint(math.NaN()); err == nil {
		t.Error("NaN outside a slice is taken")
	}
}
