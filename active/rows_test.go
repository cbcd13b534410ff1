package active

import (
	"reflect"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// TestRows: rows of a batch in another order keep their entries, and what only some batches have is filled in.
func TestRows(t *testing.T) {
	a := &credence.Batch{X: linop.Dense{Rows: 2, Cols: 1, Stride: 1, Data: []float64{10, 11}}, Sparse: linop.CSR{Cols: 3}, Target: []float64{0, 1}}
	a.Sparse.AppendRow([]int32{0, 2}, nil)
	a.Sparse.AppendRow([]int32{1}, nil)
	b := &credence.Batch{X: linop.Dense{Rows: 1, Cols: 1, Stride: 1, Data: []float64{12}}, Sparse: linop.CSR{Cols: 3}, Target: []float64{1}, Offset: []float64{0.5}, Weight: []float64{3}, Unseen: []float64{2}}
	b.Sparse.AppendRow([]int32{1, 2}, []float64{4, 5})
	var got credence.Batch
	got.Append(a, 1, 1)
	got.Append(b, 0, 1)
	got.Append(a, 0, 1)
	if !reflect.DeepEqual([][]float64{got.X.Data, got.Target, got.Offset, got.Weight, got.Unseen}, [][]float64{{11, 12, 10}, {1, 1, 0}, {0, 0.5, 0}, {1, 3, 1}, {0, 2, 0}}) {
		t.Errorf("%+v", got)
	}
	dense := linop.NewDense(3, 3)
	got.Sparse.AddTo(&dense)
	if want := []float64{0, 1, 0, 0, 4, 5, 1, 0, 1}; !reflect.DeepEqual(dense.Data, want) {
		t.Errorf("%v, want %v", dense.Data, want)
	}
	var read credence.Batch
	if err := (subset{a, []int{1, 0, 1}}).Read(&read, 1, 2); err != nil || read.First != 1 || !reflect.DeepEqual(read.Target, []float64{0, 1}) {
		t.Errorf("%v: %+v", err, read)
	}
	blocks, err := subset{a, make([]int, credence.BlockRows+3)}.blocks()
	if err != nil || len(blocks) != 2 || blocks[1].Rows() != 3 {
		t.Errorf("%v: %d blocks", err, len(blocks))
	}
}
