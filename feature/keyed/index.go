package keyed

import (
	"fmt"
	"math"
	"sync"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/keyhash"
)

// Index numbers feature keys in the order in which they are first seen: the
// number is the slot in which a learner keeps the feature. Slots of rows read
// later are larger, so the features known after any row are those below a bound.
//
// Small keys (indices of libsvm, hashes of few bits) are looked up directly, the
// others in an open-addressing table at most ¾ full. Memory is 8 bytes a feature
// for its key, and 11 to 21 bytes in the table, or for direct keys at most 16 MB in all
// or 32 bytes a feature.
//
// One goroutine may add keys while others read the slots they know of with Key.
type Index struct {
	count  int
	direct []uint32 // slot+1 by key, below limit
	limit  uint64   // keys below are direct; 0 means directKeys
	table  []entry  // of the larger keys; a power of two long
	used   int      // entries of the table
	folded bool     // direct and table are given up until they are needed

	// Where the pieces of the table begin, and places in it or slots, for prefetch.
	tableAt []*entry
	places  []int32

	mu   sync.Mutex // guards the growth of the list of chunks
	keys []*[keyChunk]uint64
}

// entry is slot+1, and above it the upper half of the hash of the key, of which the lower half says where the
// entry stands: entries of other keys agree so rarely that the key itself is looked at once. 0 is free.
type entry uint64

// entryTag is the part of the hash that an entry holds.
const entryTag = 0xffff_ffff << 32

func newEntry(hash uint64, slot int) entry { return entry(hash&entryTag | uint64(slot+1)) }

// slot returns the slot of an entry that is not free.
func (e entry) slot() int { return int(uint32(e)) - 1 }

// has says whether an entry may be that of the key with a hash.
func (e entry) has(hash uint64) bool { return (uint64(e)^hash)&entryTag == 0 && e != 0 }

const (
	directKeys = 1 << 22
	keyChunk   = kernel.PrefetchBytes >> keyShift
	// directShare is the least share of features among the keys below a limit beyond directKeys.
	directShare = 8
	// MaxFeatures is the most features that an Index holds.
	MaxFeatures = math.MaxInt32 - 1
)

// Len returns the number of features; it is for the goroutine that adds.
func (x *Index) Len() int { return x.count }

// of returns the key of a slot, for the goroutine that adds.
func (x *Index) of(slot int) uint64 { return x.keys[uint(slot)/keyChunk][uint(slot)%keyChunk] }

// Find returns the slot of a key, or -1.
func (x *Index) Find(key uint64) int {
	if key < uint64(len(x.direct)) {
		return int(x.direct[key]) - 1
	}
	if x.folded {
		x.unfold()
		return x.Find(key)
	}
	if len(x.table) == 0 || key < max(x.limit, directKeys) {
		return -1
	}
	hash, mask := keyhash.Mix(key), uint64(len(x.table)-1)
	for i := hash & mask; ; i = (i + 1) & mask {
		e := x.table[i]
		if e == 0 {
			return -1
		}
		if e.has(hash) && x.of(e.slot()) == key {
			return e.slot()
		}
	}
}

// Add returns the slot of a key, a new one if it has none.
func (x *Index) Add(key uint64) int {
	if slot := x.Find(key); slot >= 0 {
		return slot
	}
	return x.add(key)
}

// lookUp stores the slots of keys: those that have none get one, or -1. sought is what seek has found of them, as
// far as it was asked.
func (x *Index) lookUp(slots []int32, keys []uint64, sought []int32, add bool) {
	if x.folded {
		x.unfold()
	}
	slots = slots[:len(keys)]
	direct := x.direct
	for k, key := range keys {
		slot := -1
		if key < uint64(len(direct)) {
			slot = int(direct[key]) - 1
		} else if len(x.table) > 0 {
			if k < len(sought) {
				slot = int(sought[k])
			}
			// of another key whose hash has the same upper half, or a new key
			if slot < 0 || slot >= x.count || x.of(slot) != key {
				slot = x.Find(key)
			}
		}
		if slot < 0 && add {
			slot = x.add(key)
			direct = x.direct
		}
		slots[k] = int32(slot)
	}
}

const (
	entryShift = 3
	keyShift   = 3
)

// prefetch fetches what tells the slots of keys from memory.
func (x *Index) prefetch(keys []uint64) {
	if len(x.direct) > inCache {
		kernel.PrefetchNumbers(x.direct, keys)
	}
	if len(x.table) == 0 {
		return
	}
	x.places = x.places[:0]
	for _, key := range keys {
		if key >= uint64(len(x.direct)) {
			x.places = append(x.places, int32(keyhash.Mix(key)&uint64(len(x.table)-1)))
		}
	}
	kernel.Prefetch(x.tableAt, entryShift, x.places)
}

// inCache is how many direct keys stay in the second-level cache of a core.
const inCache = 1 << 18

// seek returns which slots keys have by the halves of their hashes in the table, -1 where they have none, and fetches
// the keys of these slots from memory: nothing waits for them until lookUp compares them.
func (x *Index) seek(slots []int32, keys []uint64) []int32 {
	table, mask := x.table, uint64(len(x.table)-1)
	if len(table) == 0 {
		return slots
	}
	x.places = x.places[:0]
	for _, key := range keys {
		slot := -1
		if key >= uint64(len(x.direct)) {
			hash := keyhash.Mix(key)
			for i := hash & mask; table[i] != 0; i = (i + 1) & mask {
				if table[i].has(hash) {
					slot = table[i].slot()
					x.places = append(x.places, int32(slot))
					break
				}
			}
		}
		slots = append(slots, int32(slot))
	}
	kernel.Prefetch(x.keys, keyShift, x.places)
	return slots
}

// add gives a key that has none a slot.
func (x *Index) add(key uint64) int {
	if key < max(x.limit, directKeys) {
		x.reach(key)
		slot := x.newSlot(key)
		x.direct[key] = uint32(slot + 1)
		return slot
	}
	if 4*(x.used+1) > 3*len(x.table) {
		if x.grow(); key < x.limit {
			return x.add(key)
		}
	}
	slot := x.newSlot(key)
	x.put(key, slot)
	return slot
}

// reach makes the direct part long enough for a key.
func (x *Index) reach(key uint64) {
	if key < uint64(len(x.direct)) {
		return
	}
	size := max(1024, len(x.direct))
	for uint64(size) <= key {
		size *= 2
	}
	x.direct = append(x.direct, make([]uint32, size-len(x.direct))...)
}

// put enters a key that the table does not have and has room for.
func (x *Index) put(key uint64, slot int) {
	hash, mask := keyhash.Mix(key), uint64(len(x.table)-1)
	i := hash & mask
	for x.table[i] != 0 {
		i = (i + 1) & mask
	}
	x.table[i] = newEntry(hash, slot)
	x.used++
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

// grow makes room in the table: keys below twice the limit become direct where they are many, else the table
// is twice as long.
func (x *Index) grow() {
	limit := 2 * max(x.limit, directKeys)
	below, small := 0, 0 // of all keys, and of those in the table
	for slot := range x.count {
		if key := x.of(slot); key < limit {
			if below++; key >= limit/2 {
				small++
			}
		}
	}
	moved := uint64(below) >= limit/directShare && 2*small >= x.used
	if moved {
		x.limit = limit
		x.reach(limit - 1)
	}
	old, size := x.table, len(x.table)
	if !moved {
		size *= 2
	}
	x.table, x.used = make([]entry, max(1024, size)), 0
	x.tableAt = x.tableAt[:0]
	for i := 0; i < len(x.table); i += kernel.PrefetchBytes >> entryShift {
		x.tableAt = append(x.tableAt, &x.table[i])
	}
	for _, e := range old {
		if e == 0 {
			continue
		}
		if key := x.of(e.slot()); key < x.limit {
			x.direct[key] = uint32(e.slot() + 1)
		} else {
			x.put(key, e.slot())
		}
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

// Unite adds the first count features of another index, with their names where they are kept, and returns their slots.
func (x *Index) Unite(names *Names, other *Index, texts *Names, count int) (slots []int32) {
	slots = make([]int32, count)
	for i, key := range other.Keys(count) {
		slot := x.Add(key)
		if names != nil && slot == names.Len() {
			names.append([]byte(texts.Name(i)))
		}
		slots[i] = int32(slot)
	}
	return slots
}

// Fold gives up the memory by which keys are found, until one is looked up.
func (x *Index) Fold() {
	x.direct, x.table, x.tableAt = nil, nil, nil
	x.used, x.folded = 0, x.count > 0
}

func (x *Index) unfold() { x.replace(x.Keys(x.count)) }

// shared returns the keys of the first count slots in memory that the index goes on to use: nobody may change them.
func (x *Index) shared(count int) []uint64 {
	chunks := (x.count + keyChunk - 1) / keyChunk
	all := x.AppendKeys(make([]uint64, 0, chunks*keyChunk), 0, x.count)
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range chunks {
		x.keys[i] = (*[keyChunk]uint64)(all[i*keyChunk : (i+1)*keyChunk : (i+1)*keyChunk])
	}
	return all[:count:count]
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
	x.count, x.direct, x.limit, x.table, x.used, x.folded, x.keys = fresh.count, fresh.direct, fresh.limit, fresh.table, fresh.used, false, fresh.keys
	x.tableAt = fresh.tableAt
	x.mu.Unlock()
}
