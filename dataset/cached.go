package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/rowcache"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/task"
)

// cacheVersion changes whenever the same file would be read otherwise.
const cacheVersion = 5

// sampleBytes at the beginning, in the middle and at the end of a file stand for
// its content.
const sampleBytes = 64 << 10

// maxRebuilds is how often a source makes a damaged cache again: a disk that goes
// on damaging it is beyond help.
const maxRebuilds = 3

// cacheKey is all that the rows of a cache depend on.
type cacheKey struct {
	Version   int
	Format    string
	Files     []fileKey
	Missing   []string
	Columns   []credence.Column // levels where they are those of training
	Notations map[string]credence.Notation
	Settings  []*cell.Setting // of columns without a value in the sample
	Sparse    bool
	Keyed     bool
	Trained   []bool
	First     int // sparse columns of training
	Width     int
	Features  []credence.SparseFeature
	MaxLevels int
}

type fileKey struct {
	Path      string
	Size      int64
	Modified  int64 // nanoseconds
	Sample    string
	Delimiter byte
	Latin     bool
}

// cacheText is what is stored beside the rows.
type cacheText struct {
	Key     string
	Schema  credence.Schema
	Order   [][]int32 // of each category column, the place of every stored code
	Shift   int32     // to be added to every sparse column
	Dropped int
	Merged  int
	Queries int
	Inexact []Note
	Unseen  []Unseen
	Places  places
}

// store returns the row cache and the key of the selection, which is empty where
// the rows cannot be found again: standard input, or where there is no cache folder.
func (t *Table) store(chosen *selection) (*rowcache.Store, string, error) {
	folder, err := t.options.cacheFolder()
	if err != nil {
		return nil, "", nil // whoever needs it will ask again
	}
	store := &rowcache.Store{Folder: filepath.Join(folder, "rows"), Limit: t.options.CacheLimit}
	key := cacheKey{
		Version: cacheVersion, Format: t.format,
		Columns: chosen.columns, Notations: chosen.notations, Trained: chosen.trained, Settings: chosen.unknown, Sparse: chosen.sparse, Keyed: chosen.keyed,
		MaxLevels: t.options.maxLevels(),
	}
	if trained := t.options.Schema; trained != nil && chosen.sparse {
		key.First, key.Width, key.Features = trained.SparseFirst(), trained.Sparse, trained.Features
	}
	if key.Missing = t.missing(); t.format != formatParquet { // whose texts are NA, too
		key.Missing = append(key.Missing, cell.StandardMissing()...)
	}
	slices.Sort(key.Missing)
	key.Missing = slices.Compact(key.Missing)
	for _, in := range t.inputs {
		if in.modified.IsZero() { // a pipe
			return store, "", nil
		}
		f, err := in.key()
		if err != nil {
			return nil, "", err
		}
		key.Files = append(key.Files, f)
	}
	encoded, err := json.Marshal(key)
	return store, string(encoded), err
}

// key identifies the content of a file without reading all of it.
func (in *input) key() (fileKey, error) {
	path, err := filepath.Abs(in.original)
	if err != nil {
		return fileKey{}, fmt.Errorf("%s: has no absolute path: %w", in.name, err)
	}
	file, err := os.Open(in.original)
	if err != nil {
		return fileKey{}, fmt.Errorf("%s: cannot be read: %w", in.name, err)
	}
	defer file.Close()
	hash := sha256.New()
	for _, offset := range []int64{0, max(0, in.size/2-sampleBytes/2), max(0, in.size-sampleBytes)} {
		if _, err := io.Copy(hash, io.NewSectionReader(file, offset, sampleBytes)); err != nil {
			return fileKey{}, fmt.Errorf("%s: cannot be read: %w", in.name, err)
		}
	}
	return fileKey{Path: path, Size: in.size, Modified: in.modified.UnixNano(), Sample: hex.EncodeToString(hash.Sum(nil)), Delimiter: in.delimiter, Latin: in.latin.Load()}, nil
}

// cached returns the source of a cache that is there and whole, else nil.
func (t *Table) cached(ctx context.Context, chosen *selection, store *rowcache.Store, key string) credence.Source {
	reader := store.Open(key)
	if reader == nil {
		return nil
	}
	var stored cacheText
	if err := json.Unmarshal(reader.Text(), &stored); err != nil || stored.Key != key ||
		len(stored.Schema.Columns) != len(chosen.columns) || len(stored.Order) != len(chosen.columns) ||
		reader.Width() != chosen.width() || len(reader.First()) < 2 || len(stored.Places.Begins) != len(stored.Places.Files) {
		reader.Close()
		store.Remove(key)
		return nil
	}
	t.outcome = outcome{number: &numbering{dropped: stored.Dropped}, unseen: stored.Unseen}
	t.noteEntries(stored.Merged, stored.Queries)
	t.noteZero(stored.Schema.ZeroBased)
	for _, n := range stored.Inexact {
		if i := t.index[n.Column]; !t.columns[i].inexact {
			t.columns[i].inexact = true
			t.notes = append(t.notes, n)
		}
	}
	s := &source{schema: stored.Schema, places: stored.Places, unseen: chosen.unseen, words: t.Words, names: t.Files()}
	s.readFrom(&cacheChunks{reader: reader, order: stored.Order, shift: stored.Shift, sparse: stored.Schema.Sparse, rebuild: t.rebuild(ctx, chosen, store, key)})
	return s
}

// commit completes the cache of what was just read.
func (t *Table) commit(ctx context.Context, chosen *selection, s *source, writer *rowcache.Writer, store *rowcache.Store, key string) (*source, error) {
	order := t.order()
	stored := cacheText{
		Key: key, Schema: s.schema, Order: order, Shift: s.shift, Dropped: t.Dropped(), Merged: t.outcome.merged,
		Queries: t.outcome.queries, Unseen: t.Unseen(), Places: s.places,
	}
	for _, n := range t.notes {
		if n.Column != "" {
			stored.Inexact = append(stored.Inexact, n)
		}
	}
	encoded, err := json.Marshal(stored)
	if err != nil {
		writer.Abort()
		return nil, err
	}
	reader, err := writer.Commit(encoded, key == "")
	if err != nil {
		return nil, err
	}
	var rebuild func() (*rowcache.Reader, error)
	if key != "" {
		rebuild = t.rebuild(ctx, chosen, store, key)
	}
	s.readFrom(&cacheChunks{reader: reader, order: order, shift: s.shift, sparse: s.schema.Sparse, rebuild: rebuild})
	return s, nil
}

// rebuild returns a function that writes a cache again that proved damaged.
func (t *Table) rebuild(ctx context.Context, chosen *selection, store *rowcache.Store, key string) func() (*rowcache.Reader, error) {
	return func() (*rowcache.Reader, error) {
		store.Remove(key)
		limited := *t
		limited.options.MemoryLimit = -1
		limited.options.Progress = nil
		s, err := limited.read(ctx, chosen, store, key)
		if err != nil {
			return nil, err
		}
		return s.cache.reader, nil
	}
}

// mostPlaces is how many consumers may go through the rows of a cache at once, each without losing its chunk to
// another: one a thread, and one that has just gone elsewhere.
func mostPlaces() int { return min(runtime.GOMAXPROCS(0)+1, 16) }

// cacheChunks reads the chunks of a cache, for every place where rows are read one ahead of the consumer.
type cacheChunks struct {
	reader  *rowcache.Reader
	order   [][]int32
	shift   int32
	sparse  int
	rebuild func() (*rowcache.Reader, error) // nil if that is impossible, or no help
	rebuilt int
	places  []*cachePlace // the last is the one that was used last
}

// cachePlace is where a consumer goes through the rows.
type cachePlace struct {
	current, spare chunkBuffer
	ahead          *task.Task // fills spare, nil if none does
}

type chunkBuffer struct {
	index  int // of the chunk that it holds, -1 if none
	chunk  credence.Chunk
	buffer []byte
	err    error
}

// readFrom makes s a source of the rows of a cache.
func (s *source) readFrom(c *cacheChunks) {
	s.cache = c
	s.first, s.ones = c.reader.First(), c.reader.Ones()
	s.chunk = c.chunk
}

// fill reads chunk i. That the buffer has it its owner notes.
func (c *cacheChunks) fill(b *chunkBuffer, i int) {
	if b.err = c.reader.ReadBlock(&b.chunk, &b.buffer, i); b.err != nil {
		return
	}
	if !reorder(&b.chunk.Values, c.order) {
		b.err = fmt.Errorf("%w: it holds the code of no level", rowcache.ErrDamaged)
	}
	for k := range b.chunk.Sparse.Index {
		b.chunk.Sparse.Index[k] += c.shift
		if j := b.chunk.Sparse.Index[k]; uint32(j) >= uint32(c.sparse) {
			b.err = fmt.Errorf("%w: it holds column %d of %d", rowcache.ErrDamaged, j, c.sparse)
			return
		}
	}
}

// settle waits for what is read ahead.
func (p *cachePlace) settle() {
	if p.ahead == nil {
		return
	}
	if err := p.ahead.Wait(); err != nil {
		p.spare.err = err
	}
	p.ahead = nil
}

// place returns where chunk i is, or is read ahead; else a further place, while there are few, or the one that was used
// longest ago.
func (c *cacheChunks) place(i int) *cachePlace {
	at := slices.IndexFunc(c.places, func(p *cachePlace) bool { return p.current.index == i || p.spare.index == i })
	switch {
	case at >= 0:
	case len(c.places) < mostPlaces():
		at = len(c.places)
		c.places = append(c.places, &cachePlace{current: chunkBuffer{index: -1}, spare: chunkBuffer{index: -1}})
	default:
		at = 0
	}
	p := c.places[at]
	c.places = append(slices.Delete(c.places, at, at+1), p)
	return p
}

// chunk returns chunk i and begins to read the one that a consumer going through
// all rows, again and again, will want next.
func (c *cacheChunks) chunk(i int) (*credence.Chunk, error) {
	p := c.place(i)
	if p.current.index == i && p.current.err == nil {
		return &p.current.chunk, nil
	}
	p.settle()
	if p.spare.index == i {
		p.current, p.spare = p.spare, p.current
	} else {
		p.current.index = i
		c.fill(&p.current, i)
	}
	if errors.Is(p.current.err, rowcache.ErrDamaged) && c.rebuild != nil {
		if c.rebuilt++; c.rebuilt == maxRebuilds {
			defer func() { c.rebuild = nil }()
		}
		reader, err := c.rebuild()
		if err != nil {
			return nil, fmt.Errorf("dataset: %w, and could not be made again: %w", p.current.err, err)
		}
		if !slices.Equal(reader.First(), c.reader.First()) {
			reader.Close()
			return nil, fmt.Errorf("dataset: %w, and the files have changed since: start again", p.current.err)
		}
		for _, other := range c.places {
			other.settle()
		}
		c.reader.Close()
		c.reader, c.places = reader, []*cachePlace{p}
		p.spare.index = -1
		c.fill(&p.current, i)
	}
	if p.current.err != nil {
		err := fmt.Errorf("dataset: %w: delete the cache folder and start again", p.current.err)
		p.current.index = -1
		return nil, err
	}
	if next := (i + 1) % (len(c.reader.First()) - 1); next != i {
		// Marked before it is there, so that who wants it next waits here.
		p.spare.index = next
		p.ahead = task.Go(func() error { c.fill(&p.spare, next); return nil })
	}
	return &p.current.chunk, nil
}
