package criticism

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
)

// TestTargetsMerge: targets that are looked at in pieces, which are written and read, have the sums and the look of all
// of them; of more values than are kept one by one, evenly spread ones are.
func TestTargetsMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for name, draw := range map[string]func() float64{
		"counts":  func() float64 { return math.Floor(5 * rng.ExpFloat64()) },
		"classes": func() float64 { return float64(1 + rng.IntN(2)) },
		"shares":  rng.Float64,
		"prices":  func() float64 { return 10 * math.Floor(200*rng.ExpFloat64()) },
		"numbers": func() float64 { return 1e6 + rng.NormFloat64() },
	} {
		for _, sizes := range [][]int{{7, 0, 300, 1}, {0, 15_000, 9_000, 40_000}} {
			var whole, merged Targets
			for _, n := range sizes {
				var piece, read Targets
				values := make([]float64, n)
				for i := range values {
					values[i] = draw()
				}
				whole.Add(values)
				piece.Add(values)
				must.Succeed(t, json.Unmarshal(must.Value(json.Marshal(&piece))(t), &read))
				merged.Merge(&read)
			}
			if a, b := merged.Look("y"), whole.Look("y"); !reflect.DeepEqual(a, b) {
				t.Errorf("%s in pieces of %v: %v, want %v", name, sizes, a, b)
			}
			if !(math.Abs(merged.mean/whole.mean-1) <= 1e-12) || !(math.Abs(merged.squares/whole.squares-1) <= 1e-9) {
				t.Errorf("%s: mean %v and squares %v, want %v and %v", name, merged.mean, merged.squares, whole.mean, whole.squares)
			}
			if len(merged.every) >= 2*lookedAt || len(merged.every) < min(whole.rows, lookedAt)*3/4 || whole.stride == 1 && !slices.Equal(merged.every, whole.every) {
				t.Errorf("%s: %d values are kept of %d", name, len(merged.every), whole.rows)
			}
			merged.mean, merged.squares, merged.every, merged.stride = whole.mean, whole.squares, whole.every, whole.stride
			if !reflect.DeepEqual(merged, whole) {
				t.Errorf("%s: %+v, want %+v", name, merged, whole)
			}
		}
	}
	var read Targets
	if err := json.Unmarshal([]byte(`{"Rows":3,"Stride":3,"Counts":[1]}`), &read); err == nil {
		t.Error("damaged targets are read")
	}
}
