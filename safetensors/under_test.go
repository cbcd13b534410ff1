package safetensors

import (
	"bytes"
	"slices"
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
)

// TestUnder: a reader under a prefix knows the tensors of that prefix alone, by the rest of their names, and readers
// nest.
func TestUnder(t *testing.T) {
	var file bytes.Buffer
	must.Succeed(t, Write(&file, map[string]string{"a": "b"}, []Tensor{
		Of("v", []float64{1}), Of("x.v", []float64{2}), Of("x.y.v", []float64{3, 4}), Of("z.v", []int32{5}),
	}))
	r := must.Value(NewReader(bytes.NewReader(file.Bytes()), int64(file.Len())))(t)
	for _, c := range []struct {
		reader *Reader
		names  []string
		v      []float64
	}{
		{r.Under(""), []string{"v", "x.v", "x.y.v", "z.v"}, []float64{1}},
		{r.Under("x."), []string{"v", "y.v"}, []float64{2}},
		{r.Under("x.").Under("y."), []string{"v"}, []float64{3, 4}},
	} {
		var names []string
		for _, tensor := range c.reader.Tensors() {
			names = append(names, tensor.Name)
		}
		if v := must.Value(Read[float64](c.reader, "v"))(t); !slices.Equal(names, c.names) || !slices.Equal(v, c.v) || c.reader.Metadata()["a"] != "b" {
			t.Errorf("tensors %v of which v is %v, want %v and %v", names, v, c.names, c.v)
		}
	}
	if _, err := Read[float64](r.Under("none."), "v"); err == nil {
		t.Error("a tensor under a prefix that no name has was read")
	}
}
