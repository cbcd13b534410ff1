package dataset

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"weak"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that a zstd file may ask for.
const maxWindow = 128 << 20

// zstandard is the decoder of the file that was read last, for the next pass: a window of that size is taken once. One
// goroutine: what comes out is the same, and memory is bounded.
var zstandard atomic.Value

// stream is the decoded content of an input.
type stream struct {
	io.Reader
	count      *atomic.Int64 // bytes read as stored
	compressed bool
	wide       bool // UTF-16, which is read as UTF-8
	latin      *atomic.Bool
	closers    []func()

	file  *os.File  // the stored content, where it is a file
	mark  int64     // bytes of its byte order mark
	plain io.Reader // its content from wherever it stands

	before *[]byte // the end of what is before the place it was opened at, once something is read
}

func newStream(closers ...func()) *stream {
	return &stream{count: &atomic.Int64{}, closers: closers}
}

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
	zipMagic     = []byte("PK\x03\x04")
	oleMagic     = []byte{0xd0, 0xcf, 0x11, 0xe0} // of Excel before 2007
	utf8Mark     = []byte{0xef, 0xbb, 0xbf}
	utf16Little  = []byte{0xff, 0xfe}
	utf16Big     = []byte{0xfe, 0xff}
	utf32Mark    = []byte{0xff, 0xfe, 0, 0}
)

// open returns the content of the input, decompressed, as UTF-8 and without a byte order
// mark. Content that is read once can be opened as final once, and not after that.
func (in *input) open(ctx context.Context, final bool) (*stream, error) {
	var raw io.Reader
	s := newStream()
	switch {
	case in.pipe != nil && final:
		content, err := in.pipe.all(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.name, err)
		}
		s.Reader = content
		return s, nil
	case in.pipe != nil:
		s.Reader = in.pipe.sample()
		return s, nil
	case in.content != nil:
		raw = in.content.reader()
	default:
		file, err := os.Open(in.path)
		if err != nil {
			return nil, fmt.Errorf("%s: cannot be read: %w", in.name, err)
		}
		s.closers = append(s.closers, func() { file.Close() })
		s.file = file
		if err := in.unchanged(); err != nil {
			s.close()
			return nil, err
		}
		raw = file
	}
	if err := s.decode(ctx, in, raw); err != nil {
		s.close()
		return nil, fmt.Errorf("%s: %w", in.name, err)
	}
	return s, nil
}

// unchanged refuses a file that is not as it was when the table was opened.
func (in *input) unchanged() error {
	if in.content != nil || in.pipe != nil {
		return nil
	}
	info, err := os.Stat(in.path)
	if err != nil {
		return fmt.Errorf("%s: cannot be read: %w", in.name, err)
	}
	if info.Size() != in.size || !info.ModTime().Equal(in.modified) {
		return fmt.Errorf("%s: the file changed while it was being read: start again once it is complete", in.name)
	}
	return nil
}

// decode sets the reader of s to the decoded form of raw, what an input stores.
func (s *stream) decode(ctx context.Context, in *input, raw io.Reader) error {
	s.plain = countingReader{ctx, raw, s.count}
	room := 64 << 10
	if in.size > 0 { // of many small files each would clear as much
		room = int(min(in.size, int64(room)))
	}
	stored := bufio.NewReaderSize(s.plain, room)
	decoded := stored
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
		decoder.Multistream(false)
		decoded = bufio.NewReaderSize(&members{decoder, stored}, 64<<10)
	case bytes.HasPrefix(head, zstdMagic):
		last, _ := zstandard.Swap(weak.Pointer[zstd.Decoder]{}).(weak.Pointer[zstd.Decoder])
		decoder := last.Value()
		if decoder == nil {
			decoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		}
		s.closers = append(s.closers, func() {
			decoder.Reset(nil)
			zstandard.Store(weak.Make(decoder))
		})
		if err := decoder.Reset(stored); err != nil {
			return fmt.Errorf("begins like zstd but is not: %w: fetch the file again", err)
		}
		decoded = bufio.NewReaderSize(decoder, 64<<10)
	default:
		s.compressed = false
	}
	mark, _ := decoded.Peek(4)
	wide := !bytes.Equal(mark, utf32Mark) && len(mark) > 1
	switch {
	case bytes.HasPrefix(mark, utf8Mark):
		decoded.Discard(len(utf8Mark))
		s.mark = int64(len(utf8Mark))
	case wide && bytes.HasPrefix(mark, utf16Little):
		s.Reader, s.wide = &wideReader{from: decoded, order: binary.LittleEndian}, true
	case wide && bytes.HasPrefix(mark, utf16Big):
		s.Reader, s.wide = &wideReader{from: decoded, order: binary.BigEndian}, true
	}
	if s.wide {
		decoded.Discard(len(utf16Little))
		return nil
	}
	s.Reader, s.latin = decoded, &in.latin
	if s.mark == 0 && !bytes.Equal(mark, parquetMagic) && bytes.IndexByte(mark, 0) < 0 {
		s.Reader = newLatinReader(decoded, in.encoding, &in.latin)
	}
	return nil
}

// members reads the members of a gzip file one after the other.
type members struct {
	*gzip.Reader
	stored *bufio.Reader
}

// errTrailing is met behind the last member.
var errTrailing = errors.New("bytes that are not gzip stand behind the compressed data")

// Read implements io.Reader.
func (m *members) Read(dst []byte) (int, error) {
	n, err := m.Reader.Read(dst)
	if err != io.EOF {
		return n, err
	}
	switch head, err := m.stored.Peek(len(gzipMagic)); {
	case len(head) == 0:
		return n, err
	case !bytes.Equal(head, gzipMagic):
		return n, errTrailing
	}
	if err := m.Reset(m.stored); err != nil {
		return n, err
	}
	m.Multistream(false)
	return n, nil
}
