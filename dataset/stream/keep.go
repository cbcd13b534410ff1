package stream

import "fmt"

// Keep makes the parser of a table keep the texts of columns; see Batch.Kept. Call it before
// reading begins.
func Keep(p Parser, columns []string) error {
	t, ok := p.(*table)
	if !ok {
		return fmt.Errorf("stream: only tables have columns to keep")
	}
	t.keep = columns
	return nil
}

// Kept appends the texts of row i in the columns that are kept, which are valid until the batch is
// recycled. Quotes are taken off, and spaces around a field.
func (b *Batch) Kept(dst [][]byte, i int) [][]byte {
	r := &b.rows
	width := len(r.keptEnds) / max(1, r.Len())
	for k := i * width; k < (i+1)*width; k++ {
		first := 0
		if k > 0 {
			first = r.keptEnds[k-1]
		}
		dst = append(dst, r.kept[first:r.keptEnds[k]])
	}
	return dst
}
