package atomicfile_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/credence-ml/credence/internal/atomicfile"
)

func ExampleWrite() {
	folder, err := os.MkdirTemp("", "atomicfile")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "notes.txt")

	err = atomicfile.Write(path, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, "first version")
		return err
	})
	if err != nil {
		panic(err)
	}
	failure := errors.New("out of ideas")
	err = atomicfile.Write(path, func(w io.Writer) error {
		fmt.Fprintln(w, "half of the second ver")
		return failure
	})
	fmt.Println(errors.Is(err, failure))

	text, _ := os.ReadFile(path)
	fmt.Print(string(text))
	// Output:
	// true
	// first version
}
