package effect

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
)

// f of a state by what differs from the first state is f of all features, with numbers, with ones, and where rows of
// the sparse part gain, lose and change entries.
func TestLatentByDifferences(t *testing.T) {
	const rows, dense, sparse, count = 5, 40, 60, 7
	rng := credence.Rand(1, credence.EffectDraws, 0)
	weights := make([]float64, (dense+sparse)*count)
	for i := range weights {
		weights[i] = rng.NormFloat64()
	}
	for _, ones := range []bool{false, true} {
		ws := credence.NewWorkspace(1)
		m := &member{draws: weights, count: count}
		for k, entries := range [][][]int32{
			{{0, 3, 59}, {7}, {}, {2}, {1, 2, 3}},
			{{0, 4, 59}, {}, {5}, {2}, {0, 2, 9}},
			{{1, 3}, {7, 8}, {}, {2}, {59}},
		} {
			m.phi.Dense.Reshape(rows, dense)
			m.phi.Sparse.Reset(sparse)
			for i, columns := range entries {
				for j := range dense {
					m.phi.Dense.Row(i)[j] = math.Sin(float64(i*dense + j))
				}
				m.phi.Dense.Row(i)[(k*i)%dense] = float64(k)
				var values []float64
				for _, j := range columns {
					values = append(values, float64(j)+float64(k)/2)
				}
				if ones {
					values = nil
				}
				m.phi.Sparse.AppendRow(columns, values)
			}
			got := make([]float64, rows*count)
			m.latent(ws, k, got)
			if changed := m.start.changed.Entries(); k > 0 && (changed == 0 || changed > rows*(dense+sparse)/16) {
				t.Fatalf("state %d: %d entries differ", k, changed)
			}
			want := make([]float64, rows*count)
			m.phi.MulColumns(ws, want, weights, count)
			for i := range want {
				if !(math.Abs(got[i]-want[i]) <= 1e-12*(1+math.Abs(want[i]))) {
					t.Fatalf("ones %v, state %d, place %d: %v, not %v", ones, k, i, got[i], want[i])
				}
			}
		}
	}
}
