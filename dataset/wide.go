package dataset

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// wideReader reads UTF-16 as UTF-8. A half of a pair that stands alone becomes U+FFFD, as everywhere.
type wideReader struct {
	from  *bufio.Reader
	order binary.ByteOrder
	rest  []byte // of a character that did not fit
	text  [utf8.UTFMax]byte
}

// Read implements io.Reader.
func (r *wideReader) Read(dst []byte) (n int, err error) {
	for n < len(dst) {
		if len(r.rest) > 0 {
			copied := copy(dst[n:], r.rest)
			n, r.rest = n+copied, r.rest[copied:]
			continue
		}
		if n > 0 && r.from.Buffered() < 4 { // what comes next may be long in coming
			return n, nil
		}
		c, err := r.next()
		if err != nil {
			return n, err
		}
		if c < utf8.RuneSelf {
			dst[n] = byte(c)
			n++
			continue
		}
		r.rest = r.text[:utf8.EncodeRune(r.text[:], c)]
	}
	return n, nil
}

// next reads a character.
func (r *wideReader) next() (rune, error) {
	unit, err := r.from.Peek(2)
	if len(unit) < 2 {
		if len(unit) == 1 && err == io.EOF {
			err = errors.New("the UTF-16 text ends within a character")
		}
		return 0, err
	}
	c := rune(r.order.Uint16(unit))
	r.from.Discard(2)
	if !utf16.IsSurrogate(c) {
		return c, nil
	}
	if low, _ := r.from.Peek(2); len(low) == 2 {
		if pair := utf16.DecodeRune(c, rune(r.order.Uint16(low))); pair != utf8.RuneError {
			r.from.Discard(2)
			return pair, nil
		}
	}
	return utf8.RuneError, nil
}
