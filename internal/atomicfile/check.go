package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Check refuses a path that Write could not write to, before work is done that could not be saved: it makes a file in
// the folder and takes it away again.
func Check(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("cannot write %s: it is a folder: name a file", path)
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("cannot write %s: it is a device or a pipe: name a file", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
		// A name that is too long, links in a circle.
		return fmt.Errorf("cannot write %s: %w: name another file", path, errors.Unwrap(err))
	}
	place := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		place = target
	}
	folder := filepath.Dir(place)
	switch info, err := os.Stat(folder); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot write %s: there is no folder %s: create it first", path, folder)
	case err == nil && !info.IsDir():
		return fmt.Errorf("cannot write %s: %s is not a folder", path, folder)
	}
	if guarded(place) {
		return fmt.Errorf("cannot write %s: folder %s lets nobody but its owner replace the file that is there: name another file", path, folder)
	}
	trial, err := os.CreateTemp(folder, ".credence-*")
	if err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return fmt.Errorf("cannot write %s: no file can be made in folder %s: %w", path, folder, err)
	}
	trial.Close()
	return os.Remove(trial.Name())
}
