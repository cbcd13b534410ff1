package keyed

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence/internal/keyhash"
)

// Keys of every size get the slots of a map, one by one and many at once.
func TestIndexIsAMap(t *testing.T) {
	for name, draw := range map[string]func(*rand.Rand) uint64{
		"hashes":        func(r *rand.Rand) uint64 { return r.Uint64() >> (r.IntN(2) * r.IntN(64)) },
		"small indices": func(r *rand.Rand) uint64 { return r.Uint64N(1 << 14) },
		"both":          func(r *rand.Rand) uint64 { return r.Uint64N(2)<<40 ^ r.Uint64N(3*directKeys) },
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		var x Index
		want, keys := map[uint64]int32{}, make([]uint64, 0, 1<<10)
		slots, added := make([]int32, cap(keys)), []uint64{}
		for range 60 {
			keys = keys[:0]
			for range cap(keys) {
				keys = append(keys, draw(rng))
			}
			x.lookUp(slots, keys, nil, true)
			for k, key := range keys {
				if _, known := want[key]; !known {
					want[key] = int32(len(want))
					added = append(added, key)
				}
				if slots[k] != want[key] || x.Find(key) != int(want[key]) {
					t.Fatalf("%s: key %d has slots %d and %d, want %d", name, key, slots[k], x.Find(key), want[key])
				}
			}
		}
		for range 1000 {
			if key := draw(rng) + 1<<60; x.Find(key) >= 0 {
				if _, known := want[key]; !known {
					t.Fatalf("%s: key %d was never added", name, key)
				}
			}
		}
		if x.Len() != len(want) || !slices.Equal(x.Keys(x.Len()), added) {
			t.Fatalf("%s: the keys are others than those that were added", name)
		}
		again, err := IndexOf(added)
		if err != nil || again.Find(added[len(added)-1]) != len(added)-1 {
			t.Errorf("%s: %v", name, err)
		}
		found := make([]int32, len(added)+1)
		if x.lookUp(found, append(slices.Clone(added), 1<<61+12345), nil, false); found[len(added)] != -1 || !slices.IsSorted(found[:len(added)]) || found[len(added)-1] != int32(len(added)-1) {
			t.Fatalf("%s: many keys at once are found elsewhere", name)
		}
		x.Keep([]int32{1, 3, int32(x.Len() - 1)})
		if x.Len() != 3 || x.Find(added[3]) != 1 || x.Find(added[0]) >= 0 || x.Add(added[0]) != 3 {
			t.Errorf("%s: what is kept is not found", name)
		}
	}
}

// Indices beyond those that are always direct become so where they are many, and those that stand apart do not.
func TestManyIndicesAreDirect(t *testing.T) {
	var x Index
	const count, step, apart = 1_400_000, 4, 1 << 50
	keys, slots := make([]uint64, 1000), make([]int32, 1000)
	for first := 0; first < count; first += len(keys) {
		for k := range keys {
			keys[k] = uint64(first+k) * step
		}
		keys[7] += apart
		x.lookUp(slots, keys, nil, true)
		x.lookUp(slots, keys, nil, true)
		for k, slot := range slots {
			if int(slot) != first+k {
				t.Fatalf("key %d has slot %d, want %d", keys[k], slot, first+k)
			}
		}
	}
	for i := range count {
		key := uint64(i) * step
		if i%1000 == 7 {
			key += apart
		}
		if x.Find(key) != i {
			t.Fatalf("key %d has slot %d, want %d", key, x.Find(key), i)
		}
	}
	if len(x.direct) <= directKeys || x.used > 2*count/1000 {
		t.Errorf("%d keys are in the table, and %d places direct", x.used, len(x.direct))
	}
	var few Index
	for i := range uint64(100_000) {
		few.Add(i * 100)
	}
	if len(few.direct) > directKeys {
		t.Errorf("100,000 keys take %d direct places", len(few.direct))
	}
}

// What is folded is found again, and features keep their keys whatever becomes of the index.
func TestFoldedIndex(t *testing.T) {
	var x Index
	const count = 3*keyChunk + 5
	key := func(i int) uint64 { return uint64(i)*7 + uint64(i%2)<<50 }
	for i := range count {
		x.Add(key(i))
	}
	f := FeaturesOf(&x, count-1, nil, false)
	x.Fold()
	if x.direct != nil || x.table != nil || x.Key(5) != key(5) {
		t.Fatal("what is folded takes memory")
	}
	for i := range count + keyChunk {
		if slot := x.Add(key(i)); slot != i {
			t.Fatalf("key %d has slot %d", i, slot)
		}
	}
	if x.rename(key(2), 99<<52) != 2 {
		t.Fatal("not renamed")
	}
	x.Keep([]int32{3, 7})
	for i := range f.Keys {
		if f.Keys[i] != key(i) {
			t.Fatalf("feature %d has key %d", i, f.Keys[i])
		}
	}
	if len(f.Keys) != count-1 || f.Validate() != nil {
		t.Error(len(f.Keys), f.Validate())
	}
	var empty Index
	empty.Fold()
	if empty.Find(3) >= 0 || empty.Add(3) != 0 {
		t.Error("an empty index that was folded")
	}
}

// An entry whose part of the hash agrees is of another key all the same.
func TestIndexLooksAtTheKey(t *testing.T) {
	var x Index
	const key, other = 1 << 50, 1<<50 + 1
	x.Add(other)
	hash := keyhash.Mix(key)
	if x.table[hash&uint64(len(x.table)-1)] != 0 {
		t.Fatal("the two stand at one place: choose another key")
	}
	x.table[hash&uint64(len(x.table)-1)] = newEntry(hash, 0) // as if other had this hash
	slots := []int32{-1}
	sought := x.seek(nil, []uint64{key})
	if len(sought) != 1 || sought[0] != 0 {
		t.Fatalf("the hash tells %v, want the slot of the other", sought)
	}
	if x.lookUp(slots, []uint64{key}, sought, true); slots[0] != 1 || x.Find(key) != 1 {
		t.Errorf("the key has slot %d, the other 0", slots[0])
	}
}

// Slots that were sought before other keys came, or before features were dropped, are those of the keys all the same.
func TestSoughtAhead(t *testing.T) {
	var x Index
	rng := rand.New(rand.NewPCG(1, 2))
	row := func() []uint64 {
		keys := make([]uint64, 1+rng.IntN(30))
		for k := range keys {
			keys[k] = rng.Uint64N(2000)
			if k%3 > 0 {
				keys[k] += 1 << 50
			}
		}
		return keys
	}
	known, slots := map[uint64]int32{}, make([]int32, 30)
	next := row()
	var sought []int32
	for i := range 3000 {
		keys := next
		x.prefetch(keys)
		x.lookUp(slots, keys, sought, true)
		for k, key := range keys {
			want, seen := known[key]
			if !seen {
				want = int32(len(known))
				known[key] = want
			}
			if slots[k] != want {
				t.Fatalf("row %d: key %d has slot %d, want %d", i, key, slots[k], want)
			}
		}
		next = row()
		sought = x.seek(sought[:0], next)
		for k, key := range next[:len(sought)] {
			if slot, seen := known[key]; key >= uint64(len(x.direct)) && (seen && sought[k] != slot || !seen && sought[k] >= 0) {
				t.Fatalf("row %d: key %d is sought at %d, and has %d", i, key, sought[k], slot)
			}
		}
		if i%500 == 499 { // every other feature goes
			var kept []int32
			before := x.Keys(x.Len())
			clear(known)
			for slot := 0; slot < len(before); slot += 2 {
				known[before[slot]] = int32(len(kept))
				kept = append(kept, int32(slot))
			}
			x.Keep(kept)
		}
	}
}
