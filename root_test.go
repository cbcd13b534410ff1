package credence

import "testing"

func TestRandomStreamsDifferAndRepeat(t *testing.T) {
	first := Rand(1, "draw", 0).Uint64()
	if again := Rand(1, "draw", 0).Uint64(); again != first {
		t.Fatalf("the same stream began with %d and %d", first, again)
	}
	for _, other := range []uint64{Rand(2, "draw", 0).Uint64(), Rand(1, "start", 0).Uint64(), Rand(1, "draw", 1).Uint64()} {
		if other == first {
			t.Fatalf("streams of different keys begin alike: %d", first)
		}
	}
}

func TestScratchIsReusedAndNeverShared(t *testing.T) {
	ws := NewWorkspace(1)
	a := ws.Floats(10)
	a[9] = 1
	mark := ws.Mark()
	b := ws.Floats(1000)
	clear(b)
	if a[9] != 1 {
		t.Fatal("growing the arena overwrote memory that was still held")
	}
	ws.Release(mark)
	c := ws.Floats(5)
	if &c[0] != &b[0] {
		t.Fatal("released memory was not reused")
	}
}
