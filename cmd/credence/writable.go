package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/credence-ml/credence/internal/atomicfile"
)

// checkWritable refuses a file that could not be written, before work is done that
// could not be saved: it makes a file in its folder and takes it away again.
func checkWritable(path string) error {
	if path == "-" {
		return misused(errors.New("-o -: this cannot be written to standard output: give -o a file name"))
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("cannot write %s: it is a folder: name a file", path)
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("cannot write %s: it is a device or a pipe: name a file", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission): // a name that is too long, links in a circle
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
	if atomicfile.Protected(place) {
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

// checkOutputs refuses an output that is also an input, or another output, since its old content would
// be lost, and one that cannot be written. Inputs may be globs; empty outputs are none.
func checkOutputs(inputs []string, outputs ...string) error {
	var files []string
	for _, input := range inputs {
		if matches, err := filepath.Glob(input); err == nil {
			files = append(files, matches...)
		}
		files = append(files, input)
	}
	for k, output := range outputs {
		if output == "" {
			continue
		}
		if slices.Contains(outputs[:k], output) {
			return misused(fmt.Errorf("%s is to be written twice: give each output a file of its own", output))
		}
		for _, input := range files {
			if input != "-" && isSameFile(output, input) {
				return misused(fmt.Errorf("%s is read, and would be overwritten: give the output another name", input))
			}
		}
		if err := checkWritable(output); err != nil {
			return err
		}
	}
	return nil
}

// isSameFile says whether two paths lead to one file.
func isSameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false // it is not there yet
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
