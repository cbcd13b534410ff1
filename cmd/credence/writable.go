package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// checkWritable refuses a file that could not be written, before work is done that
// could not be saved: it makes a file in its folder and takes it away again.
func checkWritable(path string) error {
	if path == "-" {
		return misused(fmt.Errorf("a file is written beside the old one and takes its place, which standard output cannot: name a file"))
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("cannot write %s: it is a folder: name a file", path)
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("cannot write %s: it is a device or a pipe: name a file", path)
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
