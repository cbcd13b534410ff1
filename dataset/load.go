package dataset

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/rowcache"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/linop"
)

// Load reads all rows with the named columns, in that order; nil means all
// columns, or those of training where Options.Schema is set. The sparse segment
// of a libsvm file is always kept. Levels of categories are complete and sorted:
// by value where all are numbers, else by bytes.
//
// Rows of up to 64 MB of text (Options.MemoryLimit) are held in memory, those of
// more in the row cache, where a later Load of the same files finds them. The
// source has a method Place(row int) string that says where a row stands, for
// example "train.csv:17".
func (t *Table) Load(ctx context.Context, columns []string) (credence.Source, error) {
	chosen, err := t.choose(columns)
	if err != nil {
		return nil, err
	}
	store, key, err := t.store(chosen)
	if err != nil {
		return nil, err
	}
	if key != "" {
		if s := t.cached(ctx, chosen, store, key); s != nil {
			t.noteLevels(s.Schema().Columns)
			return s, nil
		}
	}
	s, err := t.read(ctx, chosen, store, key)
	if err != nil {
		return nil, err
	}
	t.noteLevels(s.schema.Columns)
	return s, nil
}

// read parses the files into memory or, beyond the limit, into the store.
func (t *Table) read(ctx context.Context, chosen *selection, store *rowcache.Store, key string) (_ *source, err error) {
	var chunks []*credence.Chunk
	var writer *rowcache.Writer
	defer func() {
		if err != nil && writer != nil {
			writer.Abort()
		}
	}()
	bytes, limit := int64(0), t.options.memoryLimit()
	small := t.atLeast(chosen) <= limit
	build := newBuilder(chosen, func(c *credence.Chunk) (*credence.Chunk, error) {
		if small && bytes <= limit && writer == nil {
			chunks = append(chunks, c)
			return successor(c), nil
		}
		if writer == nil {
			if store == nil {
				_, err := t.options.cacheFolder()
				return nil, err
			}
			if writer, err = store.Create(key, chosen.width(), chosen.sparse); err != nil {
				return nil, err
			}
			for _, held := range chunks {
				if err := writer.Append(held); err != nil {
					return nil, err
				}
			}
			chunks = nil
		}
		return c, writer.Append(c)
	})
	err = t.pass(ctx, chosen, &t.outcome, func(b *text.Block) error {
		bytes += b.Bytes
		return build.add(&b.Rows, t.outcome.number)
	})
	if err == nil {
		err = build.flush()
	}
	if err != nil {
		return nil, err
	}
	s := &source{places: t.outcome.places, unseen: chosen.unseen, words: t.Words, names: t.Files()}
	s.schema, s.shift = t.finalSchema(chosen)
	if writer == nil {
		s.hold(chunks, t.order())
		return s, nil
	}
	return t.commit(ctx, chosen, s, writer, store, key)
}

// Unseen tells of category values in the last Load that training did not have, by
// column.
func (t *Table) Unseen() []Unseen {
	if t.outcome.unseen != nil {
		return t.outcome.unseen
	}
	var unseen []Unseen
	for _, d := range t.outcome.dictionaries {
		if d != nil && d.unseen.Rows > 0 {
			unseen = append(unseen, d.unseen)
		}
	}
	return unseen
}

// Dropped returns how many entries of sparse rows lay beyond the columns of
// training in the last Load.
func (t *Table) Dropped() int {
	if t.outcome.number == nil {
		return 0
	}
	return t.outcome.number.dropped
}

// atLeast returns how much there is to decode at the least, so that rows which
// will not stay in memory are not gathered there first.
func (t *Table) atLeast(chosen *selection) int64 {
	bytes := int64(0)
	for _, in := range t.inputs {
		if t.format != formatParquet {
			bytes += in.size // compressed text only grows
			continue
		}
		for _, rows := range in.groups {
			bytes += 8 * int64(rows) * int64(len(chosen.columns))
		}
	}
	return bytes
}

// successor returns the memory of the chunk after c, which is kept.
func successor(c *credence.Chunk) *credence.Chunk {
	next := &credence.Chunk{}
	next.Values.Data = make([]float64, 0, len(c.Values.Data))
	next.Sparse.Start = make([]int, 0, len(c.Sparse.Start))
	next.Sparse.Index = make([]int32, 0, len(c.Sparse.Index)+len(c.Sparse.Index)/8)
	return next
}

// hold makes s a source of chunks in memory, whose codes are put in their final
// order.
func (s *source) hold(chunks []*credence.Chunk, order [][]int32) {
	s.ones = true
	for _, c := range chunks {
		s.first = append(s.first, c.First)
		s.ones = s.ones && c.Sparse.Value == nil
		reorder(&c.Values, order)
		if s.shift != 0 {
			for k := range c.Sparse.Index {
				c.Sparse.Index[k] += s.shift
			}
		}
	}
	last := chunks[len(chunks)-1]
	s.first = append(s.first, last.First+last.Rows())
	s.chunk = func(i int) (*credence.Chunk, error) { return chunks[i], nil }
}

// reorder replaces codes by their final places; it reports a code that has none,
// which only a cache that was tampered with can hold.
func reorder(values *linop.Dense, order [][]int32) bool {
	for j, places := range order {
		if places == nil {
			continue
		}
		for i := j; i < len(values.Data); i += values.Stride {
			code := values.Data[i]
			if code != code || code < 0 {
				continue // missing, or not seen in training
			}
			if code >= float64(len(places)) {
				return false
			}
			values.Data[i] = float64(places[int(code)])
		}
	}
	return true
}

// finalSchema returns the schema of what the last pass kept, and what is to be added
// to its sparse columns.
func (t *Table) finalSchema(chosen *selection) (schema credence.Schema, shift int32) {
	schema = credence.Schema{Columns: append([]credence.Column(nil), chosen.columns...), Reading: t.reading(t.outcome.kinds.columns)}
	for i, c := range t.outcome.kinds.columns {
		schema.Columns[i].Kind = c.Kind
	}
	for i, d := range t.outcome.dictionaries {
		if d != nil {
			schema.Columns[i].Levels, _ = d.finish()
		}
	}
	for _, c := range t.Schema().Columns {
		if _, read := chosen.keep[c.Name]; !read {
			schema.Unread = append(schema.Unread, c.Name)
		}
	}
	if chosen.sparse {
		shift = t.outcome.number.describe(&schema)
		schema.Label = len(schema.Columns) > 0 && schema.Columns[0].Name == t.schema.Columns[0].Name
		t.noteZero(schema.ZeroBased)
	}
	return schema, shift
}

// order returns the final place of every code, by column.
func (t *Table) order() [][]int32 {
	places := make([][]int32, len(t.outcome.dictionaries))
	for i, d := range t.outcome.dictionaries {
		if d != nil {
			_, places[i] = d.finish()
		}
	}
	return places
}
