package keyed

import (
	"fmt"
	"math"
	"sync"

	"github.com/credence-ml/credence/internal/keyhash"
)

// Index numbers feature keys in the order in which they are first seen: the
// number is the slot in which a learner keeps the feature. Slots of rows read
// later are larger, so the features known after any row are those below a bound.
//
// Small keys (indices of libsvm, hashes of few bits) are looked up directly, the
// others in an open-addressing table at most ¾ full. Memory is 8 bytes a feature
// for its key, and 21 to 43 bytes in the table or at most 16 MB in all for direct keys.
//
// One goroutine may add keys while others read the slots they know of with Key.
type Index struct {
	count  int
	direct []uint32 // slot+1 by key, below directKeys
	table  []entry  // of the larger keys; a power of two long
	used   int      // entries of the table

	mu   sync.Mutex // guards the growth of the list of chunks
	keys []*[keyChunk]uint64
}

type entry struct {
	key  uint64
	slot uint32 // slot+1; 0 is free
}

const (
	directKeys = 1 << 22
	keyChunk   = 1 << 13 // 64 KB of keys
	// MaxFeatures is the most features that an Index holds.
	MaxFeatures = math.MaxInt32 - 1
)

// Len returns the number of features; it is for the goroutine that adds.
func (x *Index) Len() int { return x.count }

// Find returns the slot of a key, or -1.
func (x *Index) Find(key uint64) int {
	if key < uint64(len(x.direct)) {
		return int(x.direct[key]) - 1
	}
	if len(x.table) == 0 || key < directKeys {
		return -1
	}
	mask := uint64(len(x.table) - 1)
	for i := keyhash.Mix(key) & mask; ; i = (i + 1) & mask {
		e := &x.table[i]
		if e.slot == 0 || e.key == key {
			return int(e.slot) - 1
		}
	}
}

// Add returns the slot of a key, a new one if it has none.
func (x *Index) Add(key uint64) int {
	if key < uint64(len(x.direct)) {
		if slot := x.direct[key]; slot != 0 {
			return int(slot) - 1
		}
	}
	return x.addSlow(key)
}

// addAll is Add for many keys. The common case stands in the loop itself: its
// loads do not depend on each other, so that the processor has many under way.
func (x *Index) addAll(slots []int32, keys []uint64) {
	slots = slots[:len(keys)]
	direct := x.direct
	for k, key := range keys {
		if key < uint64(len(direct)) {
			if slot := direct[key]; slot != 0 {
				slots[k] = int32(slot) - 1
				continue
			}
		}
		slots[k] = int32(x.addSlow(key))
		direct = x.direct
	}
}

func (x *Index) addSlow(key uint64) int {
	if key < directKeys {
		if key >= uint64(len(x.direct)) {
			size := max(1024, len(x.direct))
			for uint64(size) <= key {
				size *= 2
			}
			x.direct = append(x.direct, make([]uint32, size-len(x.direct))...)
		}
		slot := x.newSlot(key)
		x.direct[key] = uint32(slot + 1)
		return slot
	}
	if 4*(x.used+1) > 3*len(x.table) {
		x.grow()
	}
	mask := uint64(len(x.table) - 1)
	for i := keyhash.Mix(key) & mask; ; i = (i + 1) & mask {
		e := &x.table[i]
		if e.slot == 0 {
			slot := x.newSlot(key)
			*e = entry{key, uint32(slot + 1)}
			x.used++
			return slot
		}
		if e.key == key {
			return int(e.slot) - 1
		}
	}
}

func (x *Index) newSlot(key uint64) int {
	slot := x.count
	if slot >= MaxFeatures {
		panic(fmt.Sprintf("keyed: more than %d features", MaxFeatures))
	}
	if slot/keyChunk == len(x.keys) {
		x.mu.Lock()
		x.keys = append(x.keys, new([keyChunk]uint64))
		x.mu.Unlock()
	}
	x.keys[slot/keyChunk][slot%keyChunk] = key
	x.count++
	return slot
}

func (x *Index) grow() {
	old := x.table
	x.table = make([]entry, max(1024, 2*len(old)))
	mask := uint64(len(x.table) - 1)
	for _, e := range old {
		if e.slot == 0 {
			continue
		}
		i := keyhash.Mix(e.key) & mask
		for x.table[i].slot != 0 {
			i = (i + 1) & mask
		}
		x.table[i] = e
	}
}

// Key returns the key of a slot.
func (x *Index) Key(slot int) uint64 {
	x.mu.Lock()
	chunk := x.keys[slot/keyChunk]
	x.mu.Unlock()
	return chunk[slot%keyChunk]
}

// Keys returns the keys of the first n slots in order.
func (x *Index) Keys(n int) []uint64 { return x.AppendKeys(make([]uint64, 0, n), 0, n) }

// AppendKeys appends the keys of count slots from first on.
func (x *Index) AppendKeys(dst []uint64, first, count int) []uint64 {
	x.mu.Lock()
	chunks := x.keys
	x.mu.Unlock()
	for count > 0 {
		part := chunks[first/keyChunk][first%keyChunk:]
		part = part[:min(count, len(part))]
		dst = append(dst, part...)
		first, count = first+len(part), count-len(part)
	}
	return dst
}

// IndexOf returns the index that gives keys[i] the slot i. Keys must be distinct.
func IndexOf(keys []uint64) (*Index, error) {
	x := &Index{}
	for i, key := range keys {
		if x.Add(key) != i {
			return nil, fmt.Errorf("keyed: feature key %d stands twice in the dictionary: the file is damaged", key)
		}
	}
	return x, nil
}

// Keep drops all features but those of the given slots, which are in increasing
// order and get the numbers of their places in the list. Nobody may use the
// index meanwhile.
func (x *Index) Keep(slots []int32) {
	keys := make([]uint64, len(slots))
	for i, slot := range slots {
		keys[i] = x.Key(int(slot))
	}
	x.replace(keys)
}

// rename gives the slot of a key another key, which has none yet. It returns -1 if the key has no slot, or
// the other has one. It takes time linear in the features.
func (x *Index) rename(key, to uint64) (slot int) {
	if slot = x.Find(key); slot < 0 || x.Find(to) >= 0 {
		return -1
	}
	keys := x.Keys(x.count)
	keys[slot] = to
	x.replace(keys)
	return slot
}

// replace puts other keys into all slots.
func (x *Index) replace(keys []uint64) {
	fresh, err := IndexOf(keys)
	if err != nil {
		panic(err)
	}
	x.mu.Lock()
	x.count, x.direct, x.table, x.used, x.keys = fresh.count, fresh.direct, fresh.table, fresh.used, fresh.keys
	x.mu.Unlock()
}
