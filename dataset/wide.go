package dataset

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// wideReader reads UTF-16 as UTF-8, or Windows-1252 where there is no order of bytes. A half of a pair that stands
// alone becomes U+FFFD, as everywhere.
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
		// what comes next may be long in coming
		if n > 0 && (r.from.Buffered() == 0 || r.order != nil && r.from.Buffered() < 4) {
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
	if r.order == nil {
		unit, err := r.from.ReadByte()
		c := charmap.Windows1252.DecodeByte(unit)
		if c == utf8.RuneError { // a byte that is not used: a control character, which no level may hold
			c = rune(unit)
		}
		return c, err
	}
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
