package table

import (
	"bytes"
	"hash/maphash"
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
	hashes  []uint64
	table   []int32 // index into List plus 1, by hash; a power of two long
}

// levelSeed is drawn per process. Numbers are given by order of occurrence, so
// nothing depends on it.
var levelSeed = maphash.MakeSeed()

// Reset empties the set, keeping its memory.
func (l *Levels) Reset() {
	if len(l.List) > 0 {
		clear(l.table)
	}
	l.List, l.Missing, l.hashes = l.List[:0], l.Missing[:0], l.hashes[:0]
}

// Find returns the number of the text and whether it is new: a new text is
// kept as it is, without copying.
func (l *Levels) Find(text []byte, line int) (code int, isNew bool) {
	if 2*(len(l.List)+1) > len(l.table) {
		l.grow()
	}
	hash := maphash.Bytes(levelSeed, text)
	mask := uint64(len(l.table) - 1)
	i := hash & mask
	for l.table[i] != 0 {
		code = int(l.table[i] - 1)
		if l.hashes[code] == hash && bytes.Equal(l.List[code].Text, text) {
			return code, false
		}
		i = (i + 1) & mask
	}
	code = len(l.List)
	l.table[i] = int32(code + 1)
	l.List = append(l.List, Level{Text: text, Line: line})
	l.Missing = append(l.Missing, false)
	l.hashes = append(l.hashes, hash)
	return code, true
}

func (l *Levels) grow() {
	l.table = make([]int32, max(16, 2*len(l.table)))
	mask := uint64(len(l.table) - 1)
	for code, hash := range l.hashes {
		i := hash & mask
		for l.table[i] != 0 {
			i = (i + 1) & mask
		}
		l.table[i] = int32(code + 1)
	}
}
