package rowcache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/linop"
)

// randomChunk returns rows with NaN, infinities and any bits among them.
func randomChunk(rng *rand.Rand, rows, width, columns int, ones bool) *credence.Chunk {
	c := &credence.Chunk{Values: linop.NewDense(rows, width)}
	for i := range c.Values.Data {
		c.Values.Data[i] = math.Float64frombits(rng.Uint64())
	}
	c.Sparse.Reset(columns)
	for range rows {
		var index []int32
		var values []float64
		for j := range columns {
			if rng.IntN(3) == 0 {
				index = append(index, int32(j))
				values = append(values, rng.NormFloat64())
			}
		}
		if ones {
			values = nil
		} else if values == nil {
			values = []float64{}
		}
		c.Sparse.AppendRow(index, values)
	}
	return c
}

// fill writes chunks and returns the reader.
func fill(t testing.TB, store *Store, key string, width int, sparse bool, chunks []*credence.Chunk) *Reader {
	t.Helper()
	w, err := store.Create(key, width, sparse)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chunks {
		must.Succeed(t, w.Append(c))
	}
	r, err := w.Commit([]byte("text of "+key), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func requireChunks(t testing.TB, r *Reader, chunks []*credence.Chunk, sparse bool) {
	t.Helper()
	var got credence.Chunk
	var buffer []byte
	row := 0
	for i, want := range chunks {
		must.Succeed(t, r.ReadBlock(&got, &buffer, i))
		if got.First != row || got.Rows() != want.Rows() {
			t.Fatalf("block %d: %d rows from %d, want %d from %d", i, got.Rows(), got.First, want.Rows(), row)
		}
		row += want.Rows()
		for k, v := range want.Values.Data {
			if math.Float64bits(got.Values.Data[k]) != math.Float64bits(v) {
				t.Fatalf("block %d: value %d is %x, want %x", i, k, math.Float64bits(got.Values.Data[k]), math.Float64bits(v))
			}
		}
		if !sparse {
			continue
		}
		if !reflect.DeepEqual(got.Sparse.Start, want.Sparse.Start) || len(got.Sparse.Index) != len(want.Sparse.Index) ||
			(got.Sparse.Value == nil) != (want.Sparse.Value == nil) {
			t.Fatalf("block %d: sparse part is %+v, want %+v", i, got.Sparse, want.Sparse)
		}
		for k, j := range want.Sparse.Index {
			if got.Sparse.Index[k] != j || want.Sparse.Value != nil && got.Sparse.Value[k] != want.Sparse.Value[k] {
				t.Fatalf("block %d: entry %d differs", i, k)
			}
		}
	}
	if first := r.First(); first[len(first)-1] != row || len(first) != len(chunks)+1 {
		t.Fatalf("blocks begin at %v", first)
	}
}

func TestRowsComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, sparse := range []bool{false, true} {
		for _, width := range []int{0, 1, 7} {
			store := &Store{Folder: filepath.Join(t.TempDir(), "new", "folder")}
			var chunks []*credence.Chunk
			columns := 0
			if sparse {
				columns = 20
			}
			for range 5 {
				chunks = append(chunks, randomChunk(rng, 1+rng.IntN(50), width, columns, rng.IntN(2) == 0))
			}
			requireChunks(t, fill(t, store, "key", width, sparse, chunks), chunks, sparse)
			again := store.Open("key")
			if again == nil || string(again.Text()) != "text of key" || again.Width() != width || again.Sparse() != sparse {
				t.Fatalf("the cache opens again as %+v", again)
			}
			requireChunks(t, again, chunks, sparse)
			again.Close()
			if store.Open("another key") != nil {
				t.Error("a key that was never written opens")
			}
		}
	}
}

// TestEveryDamageIsFound flips every bit of a small file, and cuts it at every
// length: each must be found when the file is opened or a block is read.
func TestEveryDamageIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	chunks := []*credence.Chunk{randomChunk(rng, 3, 2, 6, false), randomChunk(rng, 2, 2, 6, true)}
	store := &Store{Folder: t.TempDir()}
	fill(t, store, "key", 2, true, chunks)
	content, err := os.ReadFile(store.path("key"))
	if err != nil {
		t.Fatal(err)
	}
	readable := func(content []byte) error {
		r, err := NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return err
		}
		var chunk credence.Chunk
		var buffer []byte
		for i := range len(r.First()) - 1 {
			if err := r.ReadBlock(&chunk, &buffer, i); err != nil {
				return err
			}
		}
		return nil
	}
	must.Succeed(t, readable(content))
	for i := len(magic); i < len(content); i++ { // the magic in front is for people
		for bit := range 8 {
			damaged := bytes.Clone(content)
			damaged[i] ^= 1 << bit
			if err := readable(damaged); !errors.Is(err, ErrDamaged) {
				t.Fatalf("bit %d of byte %d of %d: error is %v", bit, i, len(content), err)
			}
		}
		if err := readable(content[:i]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut to %d of %d bytes: error is %v", i, len(content), err)
		}
	}
	must.Succeed(t, os.WriteFile(store.path("key"), content[:len(content)-1], 0o600))
	if store.Open("key") != nil {
		t.Error("a cut file opens")
	}
	if _, err := os.Stat(store.path("key")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a damaged file stays: %v", err)
	}
}

// TestContradictionsAreFound: an index whose checksums are right and whose blocks are not those of the file is damaged,
// and memory is never asked for by what it promises.
func TestContradictionsAreFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	store := &Store{Folder: t.TempDir()}
	fill(t, store, "key", 2, true, []*credence.Chunk{randomChunk(rng, 3, 2, 6, false), randomChunk(rng, 2, 2, 6, true)})
	content := must.Value(os.ReadFile(store.path("key")))(t)
	whole := must.Value(decodeTrailer(content[len(content)-trailerBytes:]))(t)
	read := func(change func(t *trailer, index []entry, blocks []byte)) error {
		tr, blocks := whole, bytes.Clone(content[:whole.footer])
		index := []entry{decodeEntry(content[whole.footer+whole.text:]), decodeEntry(content[whole.footer+whole.text+entryBytes:])}
		change(&tr, index, blocks)
		for k := range index { // right sums of what stands there
			if e := &index[k]; e.offset >= 0 && e.length >= 0 && e.offset+e.length <= int64(len(blocks)) {
				e.sum = checksum(blocks[e.offset : e.offset+e.length])
			}
		}
		footer := bytes.Clone(content[whole.footer : whole.footer+whole.text])
		for k := range index {
			footer = index[k].encode(footer)
		}
		tr.footerSum = checksum(footer)
		file := append(append(blocks, footer...), tr.encode()...)
		r, err := NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return err
		}
		var chunk credence.Chunk
		var buffer []byte
		return errors.Join(r.ReadBlock(&chunk, &buffer, 0), r.ReadBlock(&chunk, &buffer, 1))
	}
	const sizes, index, fill, entries = "its sizes contradict each other", "its index contradicts itself", "its blocks do not fill it", "the rows of a block have"
	for k, c := range []struct {
		change func(t *trailer, index []entry, blocks []byte)
		want   string
	}{
		{func(*trailer, []entry, []byte) {}, ""},
		{func(t *trailer, _ []entry, _ []byte) { t.width = -1 }, sizes},
		{func(t *trailer, _ []entry, _ []byte) { t.width = maxWidth + 1 }, sizes},
		{func(t *trailer, _ []entry, _ []byte) { t.width = maxWidth }, index},
		{func(t *trailer, _ []entry, _ []byte) { t.width = 1 }, index},
		{func(t *trailer, _ []entry, _ []byte) { t.sparse = false }, index},
		{func(t *trailer, _ []entry, _ []byte) { t.footer = int64(len(magic)) - 1 }, sizes},
		{func(t *trailer, _ []entry, _ []byte) { t.footer = 1 << 40 }, sizes},
		{func(t *trailer, _ []entry, _ []byte) { t.text = -1 }, sizes},
		{func(t *trailer, _ []entry, _ []byte) { t.text++ }, sizes},
		{func(t *trailer, _ []entry, _ []byte) { t.blocks = 1 << 60 }, sizes},
		{func(t *trailer, _ []entry, _ []byte) { t.blocks-- }, sizes},
		{func(t *trailer, _ []entry, _ []byte) { t.blocks, t.text = t.blocks-1, t.text+entryBytes }, index},
		{func(_ *trailer, e []entry, _ []byte) { e[0].rows = 0 }, index},
		{func(_ *trailer, e []entry, _ []byte) { e[1].rows, e[1].entries, e[1].length = 0, 0, 0 }, index},
		{func(_ *trailer, e []entry, _ []byte) { e[0].rows = maxRows + 1 }, index},
		{func(_ *trailer, e []entry, _ []byte) { e[0].entries++ }, index},
		{func(_ *trailer, e []entry, _ []byte) { e[0].ones = true }, index},
		{func(_ *trailer, e []entry, _ []byte) { e[0].offset-- }, index},
		{func(_ *trailer, e []entry, _ []byte) { e[1].offset = e[0].offset }, index},
		{func(_ *trailer, e []entry, _ []byte) { e[1].rows, e[1].length = 3, e[1].length+2*8+4 }, index},
		{func(t *trailer, e []entry, _ []byte) { e[1].rows, e[1].length = 1, e[1].length-2*8-4 }, fill},
		{func(_ *trailer, e []entry, blocks []byte) { blocks[e[0].offset+3*2*8]++ }, entries},
		{func(_ *trailer, e []entry, blocks []byte) { // one entry fewer in the first row that has some
			at := e[0].offset + 3*2*8
			for blocks[at] == 0 {
				at += 4
			}
			blocks[at]--
		}, entries},
	} {
		err := read(c.change)
		if (err == nil) != (c.want == "") || err != nil && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("change %d: %v, want %q", k, err, c.want)
		}
	}
	if _, err := NewReader(nil, 1000); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("no file: %v", err)
	}
	if _, err := NewReader(bytes.NewReader(content[:100]), int64(len(content))); !errors.Is(err, ErrDamaged) {
		t.Errorf("a file that has become shorter: %v", err)
	}
}

// TestCachesThatCannotBeMade: what no cache can hold and where none can be is refused with what to change, and leaves
// nothing behind.
func TestCachesThatCannotBeMade(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	must.Succeed(t, os.WriteFile(file, nil, 0o600))
	for _, of := range []string{file, filepath.Join(file, "below")} {
		if _, err := (&Store{Folder: of}).Create("key", 2, false); err == nil || !strings.Contains(err.Error(), "the folder cannot be made") || !strings.Contains(err.Error(), "--cache") {
			t.Errorf("%s: %v", of, err)
		}
	}
	store := &Store{Folder: filepath.Join(folder, "new"), Limit: 100}
	if _, err := (&Store{Folder: store.Folder, Limit: 1}).Create("key", 2, false); err == nil || !strings.Contains(err.Error(), "the rows take more than the 0 MB that the cache in "+store.Folder) {
		t.Errorf("room for less than the beginning: %v", err)
	}
	w := must.Value(store.Create("key", 2, false))(t)
	rng := rand.New(rand.NewPCG(3, 6))
	for what, c := range map[string]*credence.Chunk{
		"a block of 3 rows and 1 columns in a cache of 2 columns": randomChunk(rng, 3, 1, 0, true),
		"a block of 0 rows and 2 columns in a cache of 2 columns": randomChunk(rng, 0, 2, 0, true),
	} {
		if err := w.Append(c); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %s", err, what)
		}
	}
	must.Succeed(t, w.Append(randomChunk(rng, 2, 2, 0, true)))
	if _, err := w.Commit([]byte("too long with the index"), false); err == nil || !strings.Contains(err.Error(), "free some disk space") {
		t.Errorf("beyond the limit by the index: %v", err)
	}
	if left := must.Value(os.ReadDir(store.Folder))(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestOnesAndRemove: a cache knows whether all its entries are 1, and is gone once it is removed.
func TestOnesAndRemove(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	store := &Store{Folder: t.TempDir()}
	ones, numbers := randomChunk(rng, 4, 1, 6, true), randomChunk(rng, 4, 1, 6, false)
	for key, c := range map[string]struct {
		chunks []*credence.Chunk
		want   bool
	}{"all": {[]*credence.Chunk{ones, ones}, true}, "first": {[]*credence.Chunk{ones, numbers}, false}, "last": {[]*credence.Chunk{numbers, ones}, false}} {
		if r := fill(t, store, key, 1, true, c.chunks); r.Ones() != c.want {
			t.Errorf("%s: ones %t", key, r.Ones())
		}
	}
	store.Remove("first")
	if list := store.List(); store.Open("first") != nil || len(list) != 2 {
		t.Errorf("a cache that was removed is there, among %d", len(list))
	}
	store.Remove("first")
}

func FuzzReader(f *testing.F) {
	store := &Store{Folder: f.TempDir()}
	fill(f, store, "key", 1, true, []*credence.Chunk{randomChunk(rand.New(rand.NewPCG(5, 6)), 2, 1, 4, false)})
	content, err := os.ReadFile(store.path("key"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, content []byte) {
		// With the sums put right, the checks behind them are reached.
		if n := len(content); n >= trailerBytes {
			body := bytes.Clone(content[n-trailerBytes : n-4-len(magic)])
			if footer := binary.LittleEndian.Uint64(body); footer <= uint64(n-trailerBytes) {
				binary.LittleEndian.PutUint32(body[36:], checksum(content[footer:n-trailerBytes]))
			}
			sealed := append(bytes.Clone(content[:n-trailerBytes]), body...)
			sum := checksum(body)
			sealed = append(sealed, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
			content = append(sealed, magic...)
		}
		r, err := NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return
		}
		var chunk credence.Chunk
		var buffer []byte
		for i := range len(r.First()) - 1 {
			if err := r.ReadBlock(&chunk, &buffer, i); err == nil && chunk.Sparse.Start[chunk.Rows()] != len(chunk.Sparse.Index) {
				t.Fatal("rows and entries disagree")
			}
		}
	})
}

func TestLeastRecentlyUsedGoFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	store := &Store{Folder: t.TempDir()}
	chunks := []*credence.Chunk{randomChunk(rng, 100, 10, 0, true)} // 8,000 bytes
	for _, key := range []string{"a", "b", "c"} {
		fill(t, store, key, 10, false, chunks)
	}
	// a is the oldest, but used last.
	for i, key := range []string{"a", "b", "c"} {
		when := time.Now().Add(time.Duration(i-10) * time.Minute)
		os.Chtimes(store.path(key), when, when)
	}
	if r := store.Open("a"); r == nil {
		t.Fatal("a does not open")
	} else {
		r.Close()
	}
	crashed := store.path("x") + ".tmp-1-0"
	os.WriteFile(crashed, []byte(magic+"half"), 0o600)
	old := time.Now().Add(-time.Hour)
	os.Chtimes(crashed, old, old)

	store.Limit = 26_000 // three of them
	fill(t, store, "d", 10, false, chunks)
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		r := store.Open(key)
		if (r != nil) != want {
			t.Errorf("%s is there: %v, want %v", key, r != nil, want)
		}
		if r != nil {
			r.Close()
		}
	}
	if _, err := os.Stat(crashed); err == nil {
		t.Error("what a crash left behind stays")
	}

	bytes := int64(0)
	for i, key := range []string{"c", "a", "d"} {
		when := time.Now().Add(time.Duration(-i) * time.Minute)
		os.Chtimes(store.path(key), when, when)
	}
	list := store.List() // the one used last first
	for i, key := range []string{"c", "a", "d"} {
		info, err := os.Stat(store.path(key))
		if err != nil || len(list) != 3 || list[i].Name != filepath.Base(store.path(key)) || list[i].Bytes != info.Size() {
			t.Fatalf("the store lists %v: %v", list, err)
		}
		bytes += info.Size()
	}
	if freed, err := store.Clean(); err != nil || freed != bytes || len(store.List()) != 0 {
		t.Errorf("%d of %d bytes are freed: %v", freed, bytes, err)
	}

	store.Limit = 5_000
	w, err := store.Create("e", 10, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(chunks[0]); err == nil || !strings.Contains(err.Error(), "free some disk space, or name another folder with --cache") {
		t.Errorf("error beyond the limit is %v", err)
	}
	w.Abort()
	if left, _ := filepath.Glob(filepath.Join(store.Folder, "*.tmp-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A cache may take what it may take, however much of it is taken.
func TestHalf(t *testing.T) {
	for taken := int64(0); taken <= 6<<30; taken += 3 << 30 {
		if got := half(6<<30-taken, taken); got != 3<<30 {
			t.Errorf("of 6 GB, %d of them taken, %d", taken, got)
		}
	}
	if got := half(1<<40, 0); got != defaultLimit {
		t.Errorf("of a large disk %d", got)
	}
}

// TestWritersOfOneKey lets several write and read the same key at once.
func TestWritersOfOneKey(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	store := &Store{Folder: t.TempDir()}
	chunks := []*credence.Chunk{randomChunk(rng, 200, 5, 0, true), randomChunk(rng, 100, 5, 0, true)}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 5 {
				requireChunks(t, fill(t, store, "key", 5, false, chunks), chunks, false)
				if r := store.Open("key"); r != nil {
					requireChunks(t, r, chunks, false)
					r.Close()
				}
			}
		})
	}
	group.Wait()
}

func TestTemporaryCacheLeavesNothing(t *testing.T) {
	store := &Store{Folder: t.TempDir()}
	chunks := []*credence.Chunk{randomChunk(rand.New(rand.NewPCG(1, 1)), 10, 3, 0, true)}
	w, err := store.Create("key", 3, false)
	if err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, w.Append(chunks[0]))
	r, err := w.Commit(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	requireChunks(t, r, chunks, false)
	r.Close()
	if left, _ := os.ReadDir(store.Folder); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
