package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/credence-ml/credence/internal/cell"
)

// input is one file of a table.
type input struct {
	name      string // for people
	original  string // the path as given
	path      string // what is opened: the original, or a spool of it
	content   *spool // of a pipe or an unpacked file, nil of others
	pipe      *pipe  // content that is read once, nil of others
	size      int64  // as stored, 0 if unknown
	modified  time.Time
	encoding  string      // that is stated, or ""
	latin     atomic.Bool // it is Windows-1252
	delimiter byte
	preamble  bool     // its first line, "sep=;", names the delimiter
	header    []string // of delimited text, "" for columns that are left out
	groups    []int    // Parquet: rows of each row group
	ends      []int64  // and where in the file each ends
}

// expand turns paths, folders and patterns into files, in order.
func expand(paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, errors.New("dataset: no data named: give a path, a pattern, or - for standard input")
	}
	var files []string
	for _, path := range paths {
		if path == "-" {
			if slices.Contains(files, "-") {
				return nil, errors.New("dataset: standard input is named twice: name it once")
			}
			files = append(files, path)
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			inside, err := folderFiles(path)
			if err != nil {
				return nil, err
			}
			files = append(files, inside...)
		case err == nil:
			files = append(files, path)
		case strings.ContainsAny(path, "*?["):
			found, err := filepath.Glob(path)
			if err != nil {
				return nil, fmt.Errorf("dataset: pattern %q: %w: see the rules of shell patterns", path, err)
			}
			if len(found) == 0 {
				return nil, fmt.Errorf("dataset: no file matches %q: check the pattern and the folder", path)
			}
			files = append(files, found...) // in lexical order
		case errors.Is(err, fs.ErrNotExist):
			if strings.Contains(path, " ~ ") {
				return nil, fmt.Errorf("%s: there is no such file: a formula is stated by --formula %s", path, cell.Shell(path))
			}
			return nil, fmt.Errorf("%s: there is no such file: check the path", path)
		default:
			return nil, fmt.Errorf("%s: cannot be read: %w", path, err)
		}
	}
	return files, RefuseTwice(files)
}

// RefuseTwice refuses a file that is named twice, by whatever names: its rows would count twice.
func RefuseTwice(files []string) error {
	type same struct {
		size     int64
		modified time.Time
	}
	type named struct {
		name string
		info os.FileInfo
	}
	seen := make(map[same][]named, len(files)) // those that may be the same file
	for _, name := range files {
		info, err := os.Stat(name)
		if name == "-" || err != nil { // a failure shows again on opening
			continue
		}
		key := same{info.Size(), info.ModTime()}
		for _, other := range seen[key] {
			if !os.SameFile(info, other.info) {
				continue
			}
			if name == other.name {
				return fmt.Errorf("%s: the file is named twice, and its rows would count twice: name it once", name)
			}
			return fmt.Errorf("%s: is the same file as %s, and its rows would count twice: name it once", name, other.name)
		}
		seen[key] = append(seen[key], named{name, info})
	}
	return nil
}

// folderFiles returns the files of a folder whose extension names a format.
func folderFiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder) // in lexical order
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", folder, err)
	}
	var files []string
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || formatOf(name) == "" {
			continue
		}
		files = append(files, filepath.Join(folder, name))
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: the folder holds no .csv, .tsv, .libsvm, .svm or .parquet file: name the files", folder)
	}
	return files, nil
}

// The encodings, as they are named in Options.Encoding.
const (
	encodingUTF8  = "utf-8"
	encodingLatin = "windows-1252"
)

// latinReader reads text that is UTF-8 as it is, and Windows-1252, which spreadsheets write in Western Europe, as
// UTF-8. The first character that is none of ASCII tells which it is, if it is one of the first [headBytes]: hardly any
// text in the one encoding is such a character in the other. So a live pipe is not waited for, and is read as a file
// is.
type latinReader struct {
	*wideReader
	latin *atomic.Bool // the text is Windows-1252
	left  int          // bytes until it is taken for UTF-8
}

// Read implements io.Reader.
func (r *latinReader) Read(dst []byte) (int, error) {
	switch {
	case r.latin.Load():
		return r.wideReader.Read(dst)
	case r.left <= 0:
		return r.from.Read(dst)
	case len(dst) == 0:
		return 0, nil
	}
	if _, err := r.from.Peek(1); err != nil {
		return 0, err
	}
	ready, _ := r.from.Peek(min(r.from.Buffered(), len(dst), r.left))
	n := 0
	for n < len(ready) && ready[n] < utf8.RuneSelf {
		n++
	}
	if n > 0 {
		r.left -= n
		return r.from.Read(dst[:n])
	}
	character, err := r.from.Peek(1)
	for k := 2; err == nil && !utf8.FullRune(character); k++ {
		character, err = r.from.Peek(k)
	}
	if _, size := utf8.DecodeRune(character); size > 1 {
		r.left = 0
	} else {
		r.latin.Store(true)
	}
	return r.Read(dst)
}

// newLatinReader returns a reader of text in the encoding that the option states, or that the text shows.
func newLatinReader(from *bufio.Reader, encoding string, latin *atomic.Bool) io.Reader {
	switch encoding {
	case encodingUTF8:
		return from
	case encodingLatin:
		latin.Store(true)
	}
	return &latinReader{&wideReader{from: from}, latin, headBytes}
}
