package active

import "github.com/credence-ml/credence"

// appendRow appends row i of a batch of the same model.
func appendRow(dst, src *credence.Batch, i int) {
	if dst.Rows() == 0 {
		dst.X.Reshape(0, src.X.Cols)
		dst.Sparse.Reset(src.Sparse.Cols)
	}
	if src.X.Cols > 0 {
		dst.X.Data = append(dst.X.Data, src.X.Row(i)...)
	}
	dst.X.Rows++
	if src.Sparse.Cols > 0 {
		dst.Sparse.AppendRow(src.Sparse.Row(i))
	}
	n := dst.X.Rows
	extend := func(to *[]float64, from []float64, otherwise float64) {
		if from == nil && *to == nil {
			return
		}
		for len(*to) < n-1 { // rows from batches without
			*to = append(*to, otherwise)
		}
		if from != nil {
			otherwise = from[i]
		}
		*to = append(*to, otherwise)
	}
	extend(&dst.Target, src.Target, 0)
	extend(&dst.Offset, src.Offset, 0)
	extend(&dst.Weight, src.Weight, 1)
	extend(&dst.Precision, src.Precision, 1)
	extend(&dst.Trials, src.Trials, 1)
	extend(&dst.Unseen, src.Unseen, 0)
}

// subset is some rows of a batch as data, in the order given.
type subset struct {
	of     *credence.Batch
	places []int
}

// Rows implements [credence.Data].
func (s subset) Rows() int { return len(s.places) }

// Read implements [credence.Data].
func (s subset) Read(dst *credence.Batch, first, count int) error {
	*dst = credence.Batch{}
	for _, place := range s.places[first : first+count] {
		appendRow(dst, s.of, place)
	}
	dst.First = first
	return nil
}

// blocks returns the rows in blocks of the size in which rows are scored.
func (s subset) blocks() ([]credence.Batch, error) {
	var out []credence.Batch
	for first := 0; first < len(s.places); first += credence.BlockRows {
		var b credence.Batch
		if err := s.Read(&b, first, min(credence.BlockRows, len(s.places)-first)); err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}
