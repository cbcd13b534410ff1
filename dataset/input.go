package dataset

import (
	"bufio"
	"bytes"
	"context"
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

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that a zstd file may ask for.
const maxWindow = 128 << 20

// input is one file of a table.
type input struct {
	name      string // for people
	original  string // the path as given
	path      string // what is opened: the original, or a spool of it
	temporary bool   // path is ours and goes with the table
	live      *liveInput
	size      int64 // as stored, 0 if unknown
	modified  time.Time
	delimiter byte
	groups    []int // Parquet: rows of each row group
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

// newInput looks at a file.
func newInput(name string) (*input, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", name, err)
	}
	in := &input{name: name, original: name, path: name, size: info.Size(), modified: info.ModTime()}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a regular file: read it through standard input (-)", name)
	}
	return in, nil
}

// stream is the decoded content of an input.
type stream struct {
	*bufio.Reader
	count      *atomic.Int64 // bytes read as stored
	compressed bool
	closers    []func()
}

func newStream() *stream { return &stream{count: &atomic.Int64{}} }

func (s *stream) close() {
	for _, closer := range slices.Backward(s.closers) {
		closer()
	}
}

// countingReader counts what is read and stops when the context ends.
type countingReader struct {
	ctx    context.Context
	reader io.Reader
	count  *atomic.Int64
}

func (r countingReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.reader.Read(p)
	r.count.Add(int64(n))
	return n, err
}

var (
	gzipMagic    = []byte{0x1f, 0x8b}
	zstdMagic    = []byte{0x28, 0xb5, 0x2f, 0xfd}
	parquetMagic = []byte("PAR1")
	utf8Mark     = []byte{0xef, 0xbb, 0xbf}
)

// open returns the content of the input, decompressed and without a byte order
// mark. Live input can be opened as final once, and not after that.
func (in *input) open(ctx context.Context, final bool) (*stream, error) {
	if in.live != nil {
		if in.live.opened == nil {
			s := newStream()
			if err := s.decode(context.WithoutCancel(ctx), in.live.raw); err != nil {
				return nil, fmt.Errorf("%s: %w", in.name, err)
			}
			in.live.opened = s
		}
		return in.live.stream(final)
	}
	file, err := os.Open(in.path)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", in.name, err)
	}
	s := newStream()
	s.closers = append(s.closers, func() { file.Close() })
	if err := in.unchanged(file); err != nil {
		s.close()
		return nil, err
	}
	if err := s.decode(ctx, file); err != nil {
		s.close()
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	return s, nil
}

// unchanged refuses a file that is not as it was when the table was opened.
func (in *input) unchanged(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("%s: cannot be read: %w", in.name, err)
	}
	if !in.temporary && (info.Size() != in.size || !info.ModTime().Equal(in.modified)) {
		return fmt.Errorf("%s: the file changed while it was being read: start again once it is complete", in.name)
	}
	return nil
}

// decode sets the reader of s to the decoded form of raw.
func (s *stream) decode(ctx context.Context, raw io.Reader) error {
	stored := bufio.NewReaderSize(countingReader{ctx, raw, s.count}, 64<<10)
	head, _ := stored.Peek(4) // a failure shows again on reading
	s.compressed = true
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		decoder, err := gzip.NewReader(stored)
		if deflated := len(head) < 3 || head[2] == 8; deflated && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
			return fmt.Errorf("%s: %w", endsEarly, io.ErrUnexpectedEOF)
		}
		if err != nil {
			return fmt.Errorf("begins like gzip but is not: %w: fetch the file again", err)
		}
		s.Reader = bufio.NewReaderSize(decoder, 64<<10)
	case bytes.HasPrefix(head, zstdMagic):
		// One goroutine: what comes out is the same, and memory is bounded.
		decoder, err := zstd.NewReader(stored, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return fmt.Errorf("begins like zstd but is not: %w: fetch the file again", err)
		}
		s.closers = append(s.closers, decoder.Close)
		s.Reader = bufio.NewReaderSize(decoder, 64<<10)
	default:
		s.Reader, s.compressed = stored, false
	}
	if mark, _ := s.Peek(3); bytes.Equal(mark, utf8Mark) {
		s.Discard(3)
	}
	return nil
}
