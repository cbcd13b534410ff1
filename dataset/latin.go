package dataset

import (
	"bufio"
	"io"
	"sync/atomic"
	"unicode/utf8"
)

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
