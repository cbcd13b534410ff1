package dataset

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// cacheFiles returns the files of the row cache.
func cacheFiles(t testing.TB, folder string) []string {
	t.Helper()
	files := must.Value(filepath.Glob(filepath.Join(folder, "rows", "*")))(t)
	return files
}

// TestCacheIsFoundAgain reads a table twice, the second time without parsing:
// the progress of parsing stays silent.
func TestCacheIsFoundAgain(t *testing.T) {
	content := randomCSV(rand.New(rand.NewPCG(1, 2)), 5000)
	path := write(t, "t.csv", content)
	cache := t.TempDir()
	parsed := 0
	options := Options{CacheDir: cache, MemoryLimit: -1, Progress: func(Progress) { parsed++ }}
	read := func(want int, columns []string, changes ...func(*Options)) [][]float64 {
		t.Helper()
		parsed = 0
		o := options
		for _, change := range changes {
			change(&o)
		}
		source, _, err := load(t, o, columns, path)
		if err != nil {
			t.Fatal(err)
		}
		if (parsed > 0) != (want > 0) {
			t.Errorf("parsed %d times, want %d", parsed, want)
		}
		return rowsOf(t, source, 512)
	}
	first := read(1, nil)
	if !sameRows(read(0, nil), first) {
		t.Error("the cache has other rows")
	}
	if !sameRows(read(0, nil, func(o *Options) { o.MemoryLimit = 0; o.Threads = 7 }), first) {
		t.Error("the cache has other rows at another limit")
	}
	// Whatever decides the rows makes another cache.
	read(1, []string{"x"})
	read(1, nil, func(o *Options) { o.MissingTokens = []string{"3"} })
	read(1, nil, func(o *Options) { o.Types = map[string]credence.Kind{"k": credence.Category} })
	read(1, nil, func(o *Options) {
		o.Schema = &credence.Schema{Columns: []credence.Column{{Name: "city", Kind: credence.Category, Levels: []string{"city 1"}}}}
	})
	unseen := options
	unseen.Schema = &credence.Schema{Columns: []credence.Column{{Name: "city", Kind: credence.Category, Levels: []string{"city 1"}}}}
	_, again, err := load(t, unseen, nil, path)
	unseen.CacheDir = t.TempDir()
	_, anew, err2 := load(t, unseen, nil, path)
	if err != nil || err2 != nil || len(anew.Unseen()) != 1 || !reflect.DeepEqual(again.Unseen(), anew.Unseen()) {
		t.Errorf("through the cache %+v are unseen, without %+v, %v, %v", again.Unseen(), anew.Unseen(), err, err2)
	}
	cafes := write(t, "e.csv", "a,b\ncafé,1\nbar,2\n")
	for encoding, want := range map[string]string{"windows-1252": "cafÃ©", "": "café", "utf-8": "café"} {
		other := Options{CacheDir: unseen.CacheDir, MemoryLimit: -1, Encoding: encoding}
		for range 2 {
			if source, _, err := load(t, other, nil, cafes); err != nil || source.Schema().Columns[0].Levels[1] != want {
				t.Errorf("under encoding %q: %v, want %q", encoding, err, want)
			}
		}
	}
	written := write(t, "w.csv", "when,price\n02/03/2021,\"1,300\"\n04/05/2021,\"2,500\"\n")
	for order, want := range map[string]float64{"dmy": 18688, "mdy": 18661} {
		for mark, price := range map[string]float64{",": 1.3, ".": 1300} {
			for range 2 {
				source, _, err := load(t, Options{CacheDir: unseen.CacheDir, MemoryLimit: -1, Decimal: mark, Dates: map[string]string{"when": order}}, nil, written)
				if row := rowsOf(t, source, 512)[0]; err != nil || row[0] != want || row[1] != price {
					t.Errorf("under %s and a decimal %s: %v, %v, want %g and %g", order, mark, row, err, want, price)
				}
			}
		}
	}
	if files := cacheFiles(t, cache); len(files) != 5 {
		t.Errorf("caches are %v", files)
	}
	info := must.Value(os.Stat(path))(t)
	// The same size and time, another content.
	changed := strings.Replace(content, "city 0", "city z", 1)
	os.WriteFile(path, []byte(changed), 0o600)
	os.Chtimes(path, info.ModTime(), info.ModTime())
	read(1, nil)
	// The same content at another time.
	os.Chtimes(path, info.ModTime(), info.ModTime().Add(time.Second))
	read(1, nil)
	read(0, nil)
}

// TestDamagedCacheIsMadeAgain damages the file before it is opened, and under
// the hands of a reader.
func TestDamagedCacheIsMadeAgain(t *testing.T) {
	t.Parallel()
	path := write(t, "t.csv", randomCSV(rand.New(rand.NewPCG(3, 4)), 60_000))
	cache := t.TempDir()
	options := Options{CacheDir: cache, MemoryLimit: -1}
	source, _, err := load(t, options, nil, path)
	if err != nil {
		t.Fatal(err)
	}
	want := rowsOf(t, source, 512)
	damage := func(at func(size int64) int64) {
		t.Helper()
		for _, name := range cacheFiles(t, cache) {
			file := must.Value(os.OpenFile(name, os.O_RDWR, 0))(t)
			info, _ := file.Stat()
			var b [1]byte
			file.ReadAt(b[:], at(info.Size()))
			b[0] ^= 4
			file.WriteAt(b[:], at(info.Size()))
			file.Close()
		}
	}
	for name, at := range map[string]func(int64) int64{
		"trailer": func(size int64) int64 { return size - 20 },
		"footer":  func(size int64) int64 { return size - 100 },
		"rows":    func(size int64) int64 { return size / 2 },
		"begin":   func(int64) int64 { return 30 },
	} {
		damage(at)
		again, _, err := load(t, options, nil, path)
		if err != nil {
			t.Fatal(err)
		}
		if !sameRows(rowsOf(t, again, 512), want) {
			t.Errorf("%s: other rows", name)
		}
		damage(func(size int64) int64 { return size * 9 / 10 })
		if !sameRows(rowsOf(t, again, 512), want) {
			t.Errorf("%s, then in the middle: other rows", name)
		}
	}
	// The file is gone as well: the reader says so.
	again, _, err := load(t, options, nil, path)
	if err != nil {
		t.Fatal(err)
	}
	damage(func(size int64) int64 { return size * 9 / 10 })
	os.Remove(path)
	var chunk credence.Chunk
	err = again.Read(&chunk, 0, 60_000)
	if err == nil || !strings.Contains(err.Error(), "the row cache is damaged") || !strings.Contains(err.Error(), "could not be made again") {
		t.Errorf("error is %v", err)
	}
}

func TestTwoReadersBuildOneCache(t *testing.T) {
	path := write(t, "t.csv", randomCSV(rand.New(rand.NewPCG(5, 6)), 10_000))
	want, _, err := load(t, Options{}, nil, path)
	if err != nil {
		t.Fatal(err)
	}
	wanted := rowsOf(t, want, 512)
	cache := t.TempDir()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			table, err := Open(context.Background(), []string{path}, Options{CacheDir: cache, MemoryLimit: -1})
			if err != nil {
				t.Error(err)
				return
			}
			source, err := table.Load(context.Background(), nil)
			if err != nil {
				t.Error(err)
				return
			}
			for range 3 {
				if !sameRows(rowsOf(t, source, 700), wanted) {
					t.Error("other rows")
				}
			}
		})
	}
	group.Wait()
	if files := cacheFiles(t, cache); len(files) != 1 {
		t.Errorf("caches are %v", files)
	}
}

func TestSparseRowsFromTheCache(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, ones := range []bool{true, false} {
		var content strings.Builder
		for range 20_000 {
			content.WriteString("1")
			index := 0
			for range rng.IntN(20) {
				index += 1 + rng.IntN(9)
				content.WriteString(" " + strconv.Itoa(index) + ":1")
				if !ones && rng.IntN(1000) == 0 { // many chunks are all ones, some are not
					content.WriteString(".5")
				}
			}
			content.WriteString("\n")
		}
		path := write(t, "t.svm", content.String())
		memory, _, err := load(t, Options{}, nil, path)
		if err != nil {
			t.Fatal(err)
		}
		cached, _, err := load(t, Options{MemoryLimit: -1}, nil, path)
		if err != nil {
			t.Fatal(err)
		}
		if memory.Schema().Sparse != cached.Schema().Sparse {
			t.Errorf("%d and %d columns", memory.Schema().Sparse, cached.Schema().Sparse)
		}
		var a, b credence.Chunk
		for first := 0; first < 20_000; first += 999 {
			n := min(999, 20_000-first)
			must.Succeed(t, memory.Read(&a, first, n))
			must.Succeed(t, cached.Read(&b, first, n))
			if (a.Sparse.Value == nil) != ones || !equalSparse(&a, &b) {
				t.Fatalf("rows from %d differ", first)
			}
		}
	}
}

func equalSparse(a, b *credence.Chunk) bool {
	if a.Sparse.Rows != b.Sparse.Rows || (a.Sparse.Value == nil) != (b.Sparse.Value == nil) {
		return false
	}
	for i := range a.Sparse.Rows {
		x, v := a.Sparse.Row(i)
		y, w := b.Sparse.Row(i)
		if len(x) != len(y) {
			return false
		}
		for k := range x {
			if x[k] != y[k] || v != nil && v[k] != w[k] {
				return false
			}
		}
	}
	return true
}

// TestMemoryStaysFlat reads a table of 40 MB of numbers several times from the
// cache: the heap holds a few chunks of 1 MB, whatever the number of rows.
func TestMemoryStaysFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("parses 40 MB")
	}
	rng := rand.New(rand.NewPCG(9, 10))
	var content []byte
	content = append(content, "a,b,c,d,e,f,g,h,i,j\n"...)
	const rows, width = 500_000, 10
	for range rows {
		for range width {
			content = strconv.AppendInt(content, rng.Int64N(1000), 10)
			content = append(content, ',')
		}
		content[len(content)-1] = '\n'
	}
	path := write(t, "t.csv", string(content))
	content = nil
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / 1e6
	}
	before := heap()
	most := 0.0
	source, _, err := load(t, Options{MemoryLimit: -1, Progress: func(p Progress) {
		if p.Rows%7 == 0 { // now and then: each look collects all garbage
			most = max(most, heap())
		}
	}}, nil, path)
	if err != nil {
		t.Fatal(err)
	}
	var chunk credence.Chunk
	for range 2 {
		for first := 0; first < rows; first += credence.BlockRows {
			must.Succeed(t, source.Read(&chunk, first, min(credence.BlockRows, rows-first)))
			if first%(100*credence.BlockRows) == 0 {
				most = max(most, heap())
			}
		}
	}
	// Blocks in flight: 6 of 256 KB of text and 1 MB of numbers; chunks: 3 of 1 MB.
	if most-before > 16 {
		t.Errorf("the heap grew by %.0f MB for a table of %d MB", most-before, rows*width*8/1_000_000)
	}
}

// Two consumers that go through the rows far apart find every chunk read ahead but their first ones.
func TestTwoPlacesOfCache(t *testing.T) {
	path := write(t, "t.csv", randomCSV(rand.New(rand.NewPCG(1, 2)), 60000))
	loaded, _, err := load(t, Options{CacheDir: t.TempDir(), MemoryLimit: -1}, nil, path)
	if err != nil {
		t.Fatal(err)
	}
	s := loaded.(*source)
	chunks, missed := len(s.first)-1, 0
	if chunks < 12 {
		t.Fatalf("%d chunks are too few", chunks)
	}
	for i := range chunks / 2 {
		for _, at := range []int{i, i + chunks/2} {
			if !slices.ContainsFunc(s.cache.places, func(p *cachePlace) bool { return p.current.index == at || p.spare.index == at }) {
				missed++
			}
			if c := must.Value(s.chunk(at))(t); c.First != s.first[at] {
				t.Errorf("chunk %d begins at row %d, not %d", at, c.First, s.first[at])
			}
		}
	}
	if missed > 2 || len(s.cache.places) > 2 {
		t.Errorf("%d of %d chunks were not read ahead, at %d places", missed, chunks, len(s.cache.places))
	}
	for i := range chunks { // places are bounded, and a chunk is the right one wherever it was
		if at := i * 7 % chunks; must.Value(s.chunk(at))(t).First != s.first[at] {
			t.Errorf("chunk %d is another", at)
		}
	}
	if len(s.cache.places) > mostPlaces() {
		t.Errorf("%d places are held", len(s.cache.places))
	}
}

// TestPlacesThatAreGivenUp: the place that was used longest ago is, however the others were made.
func TestPlacesThatAreGivenUp(t *testing.T) {
	c := &cacheChunks{}
	most := mostPlaces()
	for k := range most {
		c.place(10 * k).current.index = 10 * k
	}
	var kept []int // chunks in the order of their last use
	for k := range most - 1 {
		kept = append(kept, 10*((k+2)%most))
		c.place(kept[k])
	}
	c.place(1000).current.index = 1000
	for k, p := range c.places {
		if want := append(kept, 1000)[k]; p.current.index != want {
			t.Errorf("place %d has chunk %d, want %d", k, p.current.index, want)
		}
	}
}
