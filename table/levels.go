package table

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// Level is a text as it first occurs in a run of rows.
type Level struct {
	Text []byte // valid as long as the run
	Line int    // where it stood
	// Fault says why the text cannot be a level; no row then has it.
	Fault string
}

// Levels numbers the distinct texts of a column within a run of rows. The zero
// value is empty.
type Levels struct {
	List []Level
	// Missing[i] says that level i is a text that means missing.
	Missing []bool
	digests []uint64 // of each level
	// slots hold codes plus 1 by digest, 0 where there is none; a power of two long. They are kept small: the tables
	// of all columns are in use at once.
	slots []int32
	shift uint // 64 less the logarithm of their number
}

// levelSeed is drawn per process. Numbers are given by order of occurrence, so
// nothing depends on it.
var levelSeed = maphash.MakeSeed()

// Reset empties the set, keeping its memory.
func (l *Levels) Reset() {
	if len(l.List) > 0 {
		clear(l.slots)
	}
	l.List, l.Missing, l.digests = l.List[:0], l.Missing[:0], l.digests[:0]
}

// Find returns the number of the text and whether it is new: a new text is
// kept as it is, without copying.
func (l *Levels) Find(text []byte, line int) (code int, isNew bool) {
	if 4*(len(l.List)+1) > 3*len(l.slots) {
		l.grow()
	}
	digest, short := digestOf(text)
	mask := len(l.slots) - 1
	i := l.place(digest)
	for ; l.slots[i&mask] != 0; i++ {
		if code = int(l.slots[i&mask] - 1); l.digests[code] == digest && (short || bytes.Equal(l.List[code].Text, text)) {
			return code, false
		}
	}
	code = len(l.List)
	l.slots[i&mask] = int32(code + 1)
	l.List = append(l.List, Level{Text: text, Line: line})
	l.Missing, l.digests = append(l.Missing, false), append(l.digests, digest)
	return code, true
}

// digestOf returns a number that stands for the text: of up to seven bytes the bytes themselves with
// their number in the top byte, so that equal digests are equal texts; of more a hash with a top byte
// that no number of bytes has.
func digestOf(text []byte) (digest uint64, short bool) {
	n := len(text)
	switch {
	case n > 7:
		return maphash.Bytes(levelSeed, text) | 0xff<<56, false
	case n >= 4: // two words that overlap
		digest = uint64(binary.LittleEndian.Uint32(text)) | uint64(binary.LittleEndian.Uint32(text[n-4:]))<<(8*(n-4))
	default:
		for i, c := range text {
			digest |= uint64(c) << (8 * i)
		}
	}
	return digest | uint64(n)<<56, true
}

// place returns where the table is looked at first: the top bits of a product that mixes all bits.
func (l *Levels) place(digest uint64) int {
	return int((digest ^ digest>>32) * 0x9e3779b97f4a7c15 >> l.shift)
}

func (l *Levels) grow() {
	l.slots = make([]int32, max(16, 2*len(l.slots)))
	l.shift = uint(64 - bits.TrailingZeros(uint(len(l.slots))))
	mask := len(l.slots) - 1
	for code, digest := range l.digests {
		i := l.place(digest)
		for ; l.slots[i&mask] != 0; i++ {
		}
		l.slots[i&mask] = int32(code + 1)
	}
}
