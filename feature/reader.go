package feature

import (
	"fmt"

	"github.com/credence-ml/credence"
)

// farthest bounds scaled inputs and frequencies, so that products and sums of
// squares of them stay finite. No float64 sine is meaningful out there.
const farthest = 1e100

func limit(x float64) float64 { return max(-farthest, min(x, farthest)) }

// reader reads the d inputs of a term on several inputs, divided by their
// lengthscales: dense inputs first, then the chosen columns of the sparse segment.
type reader struct {
	d       int
	dense   []int
	inverse []float64 // 1/ℓ of each of the d inputs
	names   []string  // of the dense inputs
	segment segment
}

// newReader binds a term's inputs, which must be numbers.
func newReader(label string, in *Inputs, dense []int, useSegment bool, without []int32) (reader, error) {
	r := reader{dense: append([]int(nil), dense...)}
	for _, index := range dense {
		input, err := inputAt(in, label, index)
		if err != nil {
			return r, err
		}
		if input.Kind == credence.Category {
			return r, fmt.Errorf("feature: %s: %s is a category: leave it out or use onehot(%s)", label, input.Name, input.Name)
		}
		r.names = append(r.names, input.Name)
	}
	var err error
	if r.segment, err = newSegment(label, in, useSegment, without); err != nil {
		return r, err
	}
	r.d = len(dense) + r.segment.columns
	if r.d == 0 {
		return r, fmt.Errorf("feature: %s has no inputs: name a column", label)
	}
	return r, nil
}

// scaleBy sets the lengthscales.
func (r *reader) scaleBy(l *Lengthscale) {
	r.inverse = make([]float64, r.d)
	for j := range r.inverse {
		r.inverse[j] = limit(1 / l.of(j))
	}
}

// name returns the name of input j.
func (r *reader) name(j int) string {
	if j < len(r.dense) {
		return r.names[j]
	}
	return r.segment.name(j - len(r.dense))
}

// read stores x/ℓ of rows [first, first+count) in dst, count×d.
func (r *reader) read(dst []float64, rows *credence.Batch, first, count int) {
	p := len(r.dense)
	for i := range count {
		row := dst[i*r.d : (i+1)*r.d]
		if p > 0 {
			x := rows.X.Row(first + i)
			for j, index := range r.dense {
				row[j] = limit(x[index] * r.inverse[j])
			}
		}
		if r.segment.columns == 0 {
			continue
		}
		clear(row[p:])
		for c, v := range rows.Sparse.Each(first + i) {
			if j := int(r.segment.place(int32(c))); j >= 0 {
				row[p+j] = limit(v * r.inverse[p+j])
			}
		}
	}
}
