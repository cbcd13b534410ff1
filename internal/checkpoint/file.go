package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
)

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
