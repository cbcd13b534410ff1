package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/credence-ml/credence/internal/atomicfile"
)

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
		if output == "-" {
			return misused(errors.New("-o -: this cannot be written to standard output: give -o a file name"))
		}
		if err := atomicfile.Check(output); err != nil {
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
