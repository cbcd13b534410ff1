package keyed

import (
	"fmt"
	"slices"
	"sync"
)

// Names keeps the texts of features by slot, for people: a key is a hash and
// does not tell. One goroutine may append while others read names that they know of.
type Names struct {
	mu   sync.Mutex
	text []byte
	ends []int64 // of the name of every slot in text
}

// Len returns the number of names.
func (n *Names) Len() int { return len(n.ends) }

// Bytes returns the memory of the names, which is counted apart from that of
// the learner.
func (n *Names) Bytes() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return int64(cap(n.text)) + 8*int64(cap(n.ends))
}

func (n *Names) append(name []byte) {
	n.mu.Lock()
	n.text = append(n.text, name...)
	n.ends = append(n.ends, int64(len(n.text)))
	n.mu.Unlock()
}

// Name returns the name of a slot.
func (n *Names) Name(slot int) string {
	n.mu.Lock()
	text, ends := n.text, n.ends
	n.mu.Unlock()
	return string(nameAt(text, ends, slot))
}

// Arena returns the texts of the first count slots, one after the other, and
// their ends: how names are stored in files.
func (n *Names) Arena(count int) (text []byte, ends []int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if count == 0 {
		return nil, nil
	}
	return n.text[:n.ends[count-1]], n.ends[:count]
}

// NamesOf returns the names that Arena returned.
func NamesOf(text []byte, ends []int64) (*Names, error) {
	last, err := checkEnds(text, ends)
	if err == nil && last != int64(len(text)) {
		err = fmt.Errorf("keyed: %d bytes of names, %d are used: the file is damaged", len(text), last)
	}
	return &Names{text: text, ends: ends}, err
}

// checkEnds refuses ends of names that are not in order within their text, and returns the last.
func checkEnds(text []byte, ends []int64) (last int64, err error) {
	for i, end := range ends {
		if end < last || end > int64(len(text)) {
			return 0, fmt.Errorf("keyed: the name of key %d ends at %d of %d bytes: the file is damaged", i, end, len(text))
		}
		last = end
	}
	return last, nil
}

// nameAt returns one of names that stand one after the other, by their ends.
func nameAt(text []byte, ends []int64, i int) []byte {
	first := int64(0)
	if i > 0 {
		first = ends[i-1]
	}
	return text[first:ends[i]]
}

// rename gives a slot another name.
func (n *Names) rename(slot int, name string) {
	old := n.Name(slot)
	n.mu.Lock()
	defer n.mu.Unlock()
	end, ends := int(n.ends[slot]), slices.Clone(n.ends)
	n.text = slices.Concat(n.text[:end-len(old)], []byte(name), n.text[end:])
	for i := slot; i < len(ends); i++ {
		ends[i] += int64(len(name) - len(old))
	}
	n.ends = ends
}

// Keep drops all names but those of the given slots, as Index.Keep does.
func (n *Names) Keep(slots []int32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var text []byte
	ends := make([]int64, 0, len(slots))
	for _, slot := range slots {
		text = append(text, nameAt(n.text, n.ends, int(slot))...)
		ends = append(ends, int64(len(text)))
	}
	n.text, n.ends = text, ends
}
