package dataset

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/linop"
)

// Load reads all rows with the named columns, in that order; nil means all
// columns, or those of training where Options.Schema is set. The sparse segment
// of a libsvm file is always kept. Levels of categories are complete and sorted:
// by value where all are numbers, else by bytes.
func (t *Table) Load(ctx context.Context, columns []string) (credence.Source, error) {
	chosen, err := t.choose(columns)
	if err != nil {
		return nil, err
	}
	var chunks []*credence.Chunk
	build := newBuilder(chosen, func(c *credence.Chunk) (*credence.Chunk, error) {
		chunks = append(chunks, trimmed(c))
		return c, nil
	})
	if err := t.pass(ctx, chosen, &t.outcome, func(b *text.Block) error { return build.add(b) }); err != nil {
		return nil, err
	}
	if err := build.flush(); err != nil {
		return nil, err
	}
	s := &source{schema: t.finalSchema(chosen)}
	s.hold(chunks, t.places())
	return s, nil
}

// trimmed returns a copy of a chunk that takes no more memory than it needs.
func trimmed(c *credence.Chunk) *credence.Chunk {
	held := *c
	held.Values.Data = append(make([]float64, 0, len(c.Values.Data)), c.Values.Data...)
	held.Sparse.Start = append(make([]int, 0, len(c.Sparse.Start)), c.Sparse.Start...)
	held.Sparse.Index = append(make([]int32, 0, len(c.Sparse.Index)), c.Sparse.Index...)
	if c.Sparse.Value != nil {
		held.Sparse.Value = append(make([]float64, 0, max(1, len(c.Sparse.Value))), c.Sparse.Value...)
	}
	return &held
}

// hold makes s a source of chunks in memory, whose codes are put in their final
// places.
func (s *source) hold(chunks []*credence.Chunk, places [][]int32) {
	s.ones = true
	for _, c := range chunks {
		s.first = append(s.first, c.First)
		s.ones = s.ones && c.Sparse.Value == nil
		place(&c.Values, places)
	}
	last := chunks[len(chunks)-1]
	s.first = append(s.first, last.First+last.Rows())
	s.chunk = func(i int) (*credence.Chunk, error) { return chunks[i], nil }
}

// place replaces codes by their final places.
func place(values *linop.Dense, places [][]int32) {
	for j, order := range places {
		if order == nil {
			continue
		}
		for i := j; i < len(values.Data); i += values.Stride {
			if code := values.Data[i]; code >= 0 {
				values.Data[i] = float64(order[int(code)])
			}
		}
	}
}

// finalSchema returns the schema of what the last pass kept.
func (t *Table) finalSchema(chosen *selection) credence.Schema {
	schema := credence.Schema{Columns: append([]credence.Column(nil), chosen.columns...)}
	for i, d := range t.outcome.dictionaries {
		if d != nil {
			schema.Columns[i].Levels, _ = d.finish()
		}
	}
	if chosen.sparse {
		schema.Sparse = t.outcome.sparse
		if t.options.Schema != nil {
			schema.Sparse = t.options.Schema.Sparse
		}
		schema.Label = len(schema.Columns) > 0 && schema.Columns[0].Name == t.schema.Columns[0].Name
	}
	return schema
}

// places returns the final place of every code, by column.
func (t *Table) places() [][]int32 {
	places := make([][]int32, len(t.outcome.dictionaries))
	for i, d := range t.outcome.dictionaries {
		if d != nil {
			_, places[i] = d.finish()
		}
	}
	return places
}
