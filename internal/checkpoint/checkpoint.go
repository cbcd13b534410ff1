// Package checkpoint keeps the state of a long computation in a file, so that it can go on after an
// interruption and end with the same bytes.
//
// A checkpoint is a safetensors file: a JSON document with the small part of the state, tensors with
// the large part, and a digest of both. Replacing a checkpoint is atomic. A checkpoint that is
// damaged, of another kind, of another format or of another computation is refused: a computation
// that went on from it would end with numbers that nobody asked for.
package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/safetensors"
)

// key is the metadata entry that holds the header and the document.
const key = "credence_checkpoint"

// Kind says which computations can go on from a checkpoint.
type Kind struct {
	// Name is the program part that writes and reads the checkpoint, such as "svi".
	Name string
	// Format is the version of its document and tensors.
	Format int
	// Fingerprint tells model, options and data apart; see [Fingerprint]. It is empty where the reader
	// compares what the document says.
	Fingerprint string
	// Anew says in a message how to begin without the checkpoint; "" means to remove the file.
	Anew string
}

// envelope is the JSON of a checkpoint.
type envelope struct {
	Kind        string          `json:"kind"`
	Format      int             `json:"format"`
	Fingerprint string          `json:"fingerprint,omitempty"`
	Document    json.RawMessage `json:"document"`
}

// Write replaces the checkpoint at path. The document is encoded as JSON, which has no infinities
// and no NaN: such numbers belong in tensors. A tensor may be produced in pieces while it is
// written; its Data function is called once.
func (k Kind) Write(path string, document any, tensors []safetensors.Tensor) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		if err := k.Encode(w, document, tensors); err != nil {
			return fmt.Errorf("checkpoint %s: %w", path, err)
		}
		return nil
	})
}

// Encode writes the checkpoint that Write puts into a file.
func (k Kind) Encode(w io.Writer, document any, tensors []safetensors.Tensor) error {
	text, err := json.Marshal(document)
	if err == nil {
		text, err = json.Marshal(envelope{k.Name, k.Format, k.Fingerprint, text})
	}
	if err != nil {
		return err
	}
	return safetensors.Write(w, map[string]string{key: string(text)}, tensors)
}

// WriteAll is Write for vectors by their names, and other tensors.
func (k Kind) WriteAll(path string, document any, vectors map[string][]float64, tensors ...safetensors.Tensor) error {
	for _, name := range slices.Sorted(maps.Keys(vectors)) {
		tensors = append(tensors, safetensors.Of(name, vectors[name]))
	}
	return k.Write(path, document, tensors)
}

// ReadAll is Read for what WriteAll wrote, but for tensors of bytes.
func (k Kind) ReadAll(path string, document any) (map[string][]float64, error) {
	file, err := k.Read(path, document)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	vectors := map[string][]float64{}
	for _, t := range file.Tensors() {
		if t.DType == safetensors.U8 {
			continue
		}
		if vectors[t.Name], err = safetensors.Read[float64](file, t.Name); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// Read checks the checkpoint at path as a whole, decodes its document and returns its tensors, which
// are read on demand; the caller closes them. Where there is no file the error is fs.ErrNotExist,
// as errors.Is tells.
func (k Kind) Read(path string, document any) (*safetensors.Reader, error) {
	r, err := safetensors.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		if err = k.Decode(r, document); err == nil {
			return r, nil
		}
		r.Close()
	}
	return nil, fmt.Errorf("checkpoint %s: %s: %s", path, safetensors.Reason(path, err), k.anew())
}

func (k Kind) anew() string {
	if k.Anew == "" {
		return "name another file, or remove this one to begin anew"
	}
	return k.Anew
}

// Peek decodes the document of the checkpoint at path and leaves the tensors alone, so that it takes no time.
// Computations go on from what Read has checked.
func (k Kind) Peek(path string, document any) error {
	r, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	return k.describe(r, document)
}

// Decode is Read of a checkpoint that is open.
func (k Kind) Decode(r *safetensors.Reader, document any) error {
	if _, found := r.Metadata()[key]; found {
		if err := r.Verify(); err != nil {
			return err
		}
	}
	return k.describe(r, document)
}

func (k Kind) describe(r *safetensors.Reader, document any) error {
	text, found := r.Metadata()[key]
	if !found {
		return fmt.Errorf("the file is no checkpoint")
	}
	var e envelope
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return fmt.Errorf("its description is damaged: %w", err)
	}
	switch {
	case e.Kind == "":
		return fmt.Errorf("an earlier version wrote it")
	case e.Kind != k.Name:
		return fmt.Errorf("it was written by %q, not by %s", e.Kind, k.Name)
	case e.Format != k.Format:
		return fmt.Errorf("it has format %d, and this version reads format %d", e.Format, k.Format)
	case e.Fingerprint != k.Fingerprint:
		return fmt.Errorf("it is of other data, another model or other options")
	}
	if err := json.Unmarshal(e.Document, document); err != nil {
		return fmt.Errorf("its document is damaged, or of an earlier version: %w", err)
	}
	return nil
}

// Fingerprint is a digest of parts: numbers, strings, slices of numbers, and whatever JSON encodes.
// Slices of numbers may hold NaN.
func Fingerprint(parts ...any) (string, error) {
	h := sha256.New()
	for _, part := range parts {
		var err error
		switch v := part.(type) {
		case []float64:
			fmt.Fprintf(h, "float64 %d\n", len(v))
			err = binary.Write(h, binary.LittleEndian, v)
		case []int32:
			fmt.Fprintf(h, "int32 %d\n", len(v))
			err = binary.Write(h, binary.LittleEndian, v)
		default:
			var text []byte
			if text, err = json.Marshal(part); err == nil {
				fmt.Fprintf(h, "json %d\n%s", len(text), text)
			}
		}
		if err != nil {
			return "", fmt.Errorf("checkpoint: fingerprint: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Vectors are the slices of a state by the names of their tensors. The same value serves for
// writing and for reading a state.
type Vectors map[string]*[]float64

// Tensors returns the vectors that are not nil.
func (v Vectors) Tensors() []safetensors.Tensor {
	var tensors []safetensors.Tensor
	for name, values := range v {
		if *values != nil {
			tensors = append(tensors, safetensors.Of(name, *values))
		}
	}
	return tensors
}

// Read sets the vectors to the tensors of their names, and to nil where there is none.
func (v Vectors) Read(r *safetensors.Reader) error {
	for name, values := range v {
		*values = nil
		if _, found := r.Tensor(name); !found {
			continue
		}
		if err := safetensors.Load(r, values, name); err != nil {
			return err
		}
	}
	return nil
}

// File is the checkpoint of work that may be interrupted.
type File struct {
	Path string               // "" means that there is none
	Kind func() (Kind, error) // called where it is needed: a fingerprint goes through the data
}

// Save replaces the checkpoint, if there is to be one.
func (f File) Save(document any, vectors Vectors) error {
	if f.Path == "" {
		return nil
	}
	kind, err := f.Kind()
	if err != nil {
		return err
	}
	return kind.Write(f.Path, document, vectors.Tensors())
}

// Resume decodes the document and reads the vectors, for which it asks once the document is there. It says
// whether there is a checkpoint.
func (f File) Resume(document any, vectors func() Vectors) (found bool, err error) {
	if f.Path == "" {
		return false, nil
	}
	kind, err := f.Kind()
	if err != nil {
		return false, err
	}
	tensors, err := kind.Read(f.Path, document)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		defer tensors.Close()
		err = vectors().Read(tensors)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", kind.Name, err)
	}
	return true, nil
}
