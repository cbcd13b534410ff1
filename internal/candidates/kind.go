package candidates

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/checkpoint"
)

// Kind tells the checkpoints of an engine's fits apart by model, options and data; of the data by targets,
// offsets and weights, and by mean and square of every column.
func (t *Table) Kind(engine string, format int, model credence.Model, options any) (checkpoint.Kind, error) {
	squares := make([]float64, t.Count())
	t.Squares(squares, nil)
	print, err := checkpoint.Fingerprint(options, fmt.Sprint(model.Likelihood), model.Prior, model.Features.Blocks(),
		t.Target, t.Offset, t.Weight, t.Means, squares)
	return checkpoint.Kind{Name: engine, Format: format, Fingerprint: print}, err
}
