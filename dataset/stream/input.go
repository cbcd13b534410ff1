package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Position is a place between two rows of an input. It is stored in checkpoints.
type Position struct {
	File   int   `json:"file"`   // index of the file in the list
	Offset int64 `json:"offset"` // bytes of its text, uncompressed, before the place
	Line   int   `json:"line"`   // lines before the place
	Rows   int64 `json:"rows"`   // rows before the place, in all files
	// Malformed is the number of malformed rows among the lines before the place.
	Malformed int64 `json:"malformed,omitempty"`
	// Header says that the header line of the file has been read.
	Header bool `json:"header,omitempty"`
}

const (
	readSize = 256 << 10 // bytes asked for at a time; stays in the second-level cache
	padding  = 16        // readable bytes behind the text for parsers that read words
	// MaxRow is the longest row, in bytes; a longer one is refused.
	MaxRow = 16 << 20
)

// followInterval is how often a followed file is asked for more.
const followInterval = 200 * time.Millisecond

// lines reads the lines of one file after another, decompressing as needed.
type lines struct {
	paths  []string
	stdin  io.Reader
	follow bool

	position Position // behind the line that next returned last
	file     io.ReadCloser
	unzip    *zstd.Decoder
	input    io.Reader // decompressed
	buffer   []byte    // with padding behind its capacity
	from, to int       // unread text
	ended    bool      // the file has no more text
	opened   bool      // file holds the file that position.File names
	// header, if wanted, is the first line of the file, also where reading begins
	// further on.
	wantHeader bool
	header     []byte

	reading atomic.Bool // inside a read that may wait for input
}

// name returns the name of the file being read.
func (l *lines) name() string {
	if l.position.File < len(l.paths) {
		if path := l.paths[l.position.File]; path != "-" {
			return path
		}
	}
	return "standard input"
}

// open opens the file that position names and goes to its offset: by seeking
// where the file can, else by reading over.
func (l *lines) open() error {
	l.reading.Store(true)
	defer l.reading.Store(false)
	path := l.paths[l.position.File]
	var raw io.Reader
	if path == "-" {
		raw = l.stdin
		l.file = nil
	} else {
		file, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("stream: %w", err)
		}
		if info, err := file.Stat(); err == nil && info.IsDir() {
			file.Close()
			return fmt.Errorf("stream: %s is a directory: name its files", path)
		}
		l.file, raw = file, file
	}
	if l.buffer == nil {
		l.buffer = make([]byte, 2*readSize, 2*readSize+padding)
	}
	l.from, l.to, l.ended, l.opened = 0, 0, false, true
	// The first bytes tell a compressed file.
	head := make([]byte, 0, 4)
	for len(head) < 4 {
		n, err := raw.Read(head[len(head):4])
		head = head[:len(head)+n]
		if err != nil {
			break
		}
	}
	raw = &prefixed{head, raw}
	seekable := false
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		unzipped, err := gzip.NewReader(raw)
		if err != nil {
			return fmt.Errorf("stream: %s: %w", l.name(), err)
		}
		l.input = unzipped
	case bytes.Equal(head, []byte("\x28\xb5\x2f\xfd")):
		unzipped, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow))
		if err != nil {
			return fmt.Errorf("stream: %s: %w", l.name(), err)
		}
		l.input, l.unzip = unzipped, unzipped
	default:
		l.input = raw
		seekable = true
	}
	l.header = l.header[:0]
	if l.position.Offset == 0 {
		return nil
	}
	skip := l.position.Offset
	if l.wantHeader {
		var one [1]byte
		for skip > 0 && len(l.header) <= MaxRow {
			if _, err := io.ReadFull(l.input, one[:]); err != nil {
				break
			}
			skip--
			if one[0] == '\n' {
				break
			}
			l.header = append(l.header, one[0])
		}
	}
	if file, ok := l.file.(*os.File); ok && seekable {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() >= l.position.Offset {
			if _, err := file.Seek(l.position.Offset, io.SeekStart); err == nil {
				l.input = file
				return nil
			}
		}
	}
	if skipped, err := io.CopyN(io.Discard, l.input, skip); err != nil {
		return fmt.Errorf("stream: %s has %d bytes, fewer than the %d that were read before: resume with the same data",
			l.name(), l.position.Offset-skip+skipped, l.position.Offset)
	}
	return nil
}

// prefixed is a reader with some bytes put back in front. Unlike io.MultiReader
// it reads on behind an end: a followed file may grow there.
type prefixed struct {
	head []byte
	rest io.Reader
}

func (p *prefixed) Read(dst []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(dst, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	return p.rest.Read(dst)
}

// maxWindow bounds the memory of a zstd file, which states how much it needs.
const maxWindow = 256 << 20

// next returns the next line without its line feed; the slice has padding bytes
// of capacity behind it and is valid until the next call. It returns io.EOF
// behind the last line of a file, after which advance goes to the next one, and
// an error that wraps ctx.Err() when the context ends while waiting.
func (l *lines) next(ctx context.Context) ([]byte, error) {
	if !l.opened {
		if err := l.open(); err != nil {
			return nil, err
		}
	}
	searched := l.from
	for {
		if k := bytes.IndexByte(l.buffer[searched:l.to], '\n'); k >= 0 {
			end := searched + k
			line := l.buffer[l.from : end : end+1+padding]
			l.position.Offset += int64(end + 1 - l.from)
			l.position.Line++
			l.from = end + 1
			return line, nil
		}
		searched = l.to
		if l.ended {
			if l.from == l.to {
				return nil, io.EOF
			}
			line := l.buffer[l.from : l.to : l.to+padding]
			l.position.Offset += int64(l.to - l.from)
			l.position.Line++
			l.from = l.to
			return line, nil
		}
		moved, err := l.fill(ctx)
		searched -= moved
		if err != nil {
			return nil, err
		}
	}
}

// fill reads more text, making room first; moved is how far unread text was moved down.
func (l *lines) fill(ctx context.Context) (moved int, err error) {
	if l.to+readSize > len(l.buffer) {
		if l.to-l.from > MaxRow {
			return 0, fmt.Errorf("%s:%d: a line of more than %d bytes: is this a text file?", l.name(), l.position.Line+1, MaxRow)
		}
		target := l.buffer
		if l.to-l.from+readSize > len(l.buffer) {
			target = make([]byte, 2*len(l.buffer), 2*len(l.buffer)+padding)
		}
		copy(target, l.buffer[l.from:l.to])
		moved = l.from
		l.buffer, l.from, l.to = target, 0, l.to-l.from
	}
	for {
		l.reading.Store(true)
		n, err := l.input.Read(l.buffer[l.to : l.to+readSize])
		l.reading.Store(false)
		l.to += n
		switch {
		case n > 0:
			return moved, nil
		case err == nil:
			continue
		case !errors.Is(err, io.EOF):
			return moved, fmt.Errorf("%s:%d: %w", l.name(), l.position.Line+1, err)
		case !l.follow || l.position.File < len(l.paths)-1:
			l.ended = true
			return moved, nil
		}
		select {
		case <-ctx.Done():
			return moved, ctx.Err()
		case <-time.After(followInterval):
		}
	}
}

// advance goes to the next file; false if there is none.
func (l *lines) advance() bool {
	l.close()
	if l.position.File+1 >= len(l.paths) {
		return false
	}
	l.position.File++
	l.position.Offset, l.position.Line, l.position.Header = 0, 0, false
	return true
}

// close closes the file that is open.
func (l *lines) close() {
	if l.unzip != nil {
		l.unzip.Close()
	}
	if l.file != nil {
		l.file.Close()
	}
	l.unzip = nil
	l.file, l.opened = nil, false
}
