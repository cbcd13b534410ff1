// Package keyhash gives sparse features their 64-bit keys.
package keyhash

import (
	"encoding/binary"
	"math/bits"
)

// The constants of a folded-multiply hash: odd 64-bit numbers from the binary
// expansions of π and e, so nothing is hidden in them.
const (
	hashFirst  = 0x243f6a8885a308d3
	hashSecond = 0x13198a2e03707345
	hashThird  = 0xb7e151628aed2a6b
)

// Text returns the key of a text within a space: a namespace or a column, itself
// a hash. It is a fixed function, the same on every machine, because keys are
// stored in model files. Two of n different texts share a key with probability
// n²/2⁶⁵: 3·10⁻⁶ for ten million features.
func Text(space uint64, text []byte) uint64 {
	h := space ^ hashFirst
	n := len(text)
	for ; len(text) >= 16; text = text[16:] {
		h = fold(binary.LittleEndian.Uint64(text)^hashSecond, binary.LittleEndian.Uint64(text[8:])^h)
	}
	var a, b uint64
	switch {
	case len(text) >= 8:
		a = binary.LittleEndian.Uint64(text)
		b = binary.LittleEndian.Uint64(text[len(text)-8:])
	case len(text) >= 4:
		a = uint64(binary.LittleEndian.Uint32(text))
		b = uint64(binary.LittleEndian.Uint32(text[len(text)-4:]))
	default:
		for i := range len(text) {
			a = a<<8 | uint64(text[i])
		}
	}
	return join(h, a, b, n)
}

// Short is Text of the n bytes of which Parts made a and b: two calls, since each is small enough to stand in the
// loop of its caller.
func Short(space, a, b uint64, n int) uint64 { return join(space^hashFirst, a, b, n) }

// Parts takes apart the first n bytes of a word, seven at most, the first byte the lowest. There is no branch on n,
// for lengths of tokens cannot be foreseen.
func Parts(word uint64, n int) (a, b uint64) {
	long := uint64(int64(3-n) >> 63) // all ones from four bytes on
	few := bits.ReverseBytes64(word) >> 8 >> (uint(56-8*n) & 63)
	return few&^long | word&(long>>32), word >> (uint(8*n-32) & 63) & (long >> 32)
}

// join ends the hash of a text of n bytes.
func join(h, a, b uint64, n int) uint64 { return fold(hashThird^uint64(n), fold(a^hashSecond, b^h)) }

// Cross returns the key of the combination of two features, in this order.
func Cross(a, b uint64) uint64 { return fold(a^hashSecond, bits.RotateLeft64(b, 32)^hashThird) }

// fold mixes two words into one: the halves of their product, added without carry.
func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// Shorten keeps the given number of bits of a key, 0 meaning all. The bits come
// from the top, which the multiplication mixes best.
func Shorten(key uint64, width int) uint64 {
	if width == 0 {
		return key
	}
	return fold(key^hashFirst, hashThird) >> (64 - width)
}

// Space returns the space of a column or namespace.
func Space(name string) uint64 { return Text(0, []byte(name)) }

// Number returns the key of a column of numbers.
func Number(space uint64) uint64 { return Cross(space, hashThird) }

// Mix returns a hash of a key, for tables of keys.
func Mix(key uint64) uint64 { return fold(key^hashFirst, hashSecond) }
