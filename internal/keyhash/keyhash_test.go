package keyhash

import (
	"encoding/binary"
	"testing"
)

// Keys are stored in model files, so that they never change: the values are those of the
// models written so far.
func TestKeysAreFixed(t *testing.T) {
	space := Space("site")
	for _, c := range []struct {
		what      string
		key, want uint64
	}{
		{"a namespace", space, 0x7769f92e6a8fdff9},
		{"an empty text", Text(space, nil), 0xf79e85f2da5eb4c},
		{"a short text", Text(space, []byte("a")), 0x5b63c7b1b93f0b22},
		{"eight bytes and more", Text(space, []byte("category-7")), 0xa78d2a609f2dd498},
		{"a long text", Text(space, []byte("https://example.org/a/long/path")), 0xedefa3a071538f08},
		{"a number", Number(space), 0x94b4384052a4b594},
		{"a cross", Cross(Text(space, []byte("a")), Number(space)), 0xa050f89da769c300},
		{"22 bits", Shorten(Text(space, []byte("a")), 22), 0x2b3867},
		{"all bits", Shorten(7, 0), 7},
	} {
		if c.key != c.want {
			t.Errorf("%s: %#x, want %#x", c.what, c.key, c.want)
		}
	}
}

// The parts of a short text have its key.
func TestShort(t *testing.T) {
	text := []byte("\xff\x00a|7\x80zend")
	for first := range 3 {
		word := binary.LittleEndian.Uint64(text[first:])
		for n := range 8 {
			for _, space := range []uint64{0, Space("site")} {
				a, b := Parts(word, n)
				if got, want := Short(space, a, b, n), Text(space, text[first:first+n]); got != want {
					t.Errorf("%d bytes of %q: key %#x, want %#x", n, text[first:], got, want)
				}
			}
		}
	}
}
