package diagnose

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// Log densities are those of the family at Φw plus the offset, times the weight of the row; a row of
// weight 0 says nothing, whatever its target.
func TestLogDensitiesOfRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const count, dims = 19, 2
	var drawn []float64
	s := Draw(rng, count, dims, func(w []float64, rng *rand.Rand) float64 {
		for j := range w {
			w[j] = rng.NormFloat64()
		}
		drawn = append(drawn, w...)
		return 0
	}, func([]float64) float64 { return 0 })
	if len(drawn) != count*dims {
		t.Errorf("%d numbers drawn, want %d", len(drawn), count*dims)
	}
	for l, w := range slices.Collect(slices.Chunk(drawn, dims)) {
		got := make([]float64, dims)
		if s.Take(got, l); !slices.Equal(got, w) {
			t.Errorf("draw %d is %v, want %v", l, got, w)
		}
	}
	var phi credence.Design
	phi.Dense.Reshape(4, dims)
	for i := range phi.Dense.Data {
		phi.Dense.Data[i] = rng.NormFloat64()
	}
	rows := &credence.Batch{Target: []float64{1, -0.5, 2, math.NaN()}, Weight: []float64{1, 2.5, 0.25, 0}, Offset: []float64{0, 1, -3, 2}}
	rows.X.Reshape(4, 0)
	noise := 0.7
	family := likelihood.Gaussian{NoiseVariance: param.Hold(noise)}
	want := make([]float64, count)
	logs, _ := s.LogDensities(credence.NewWorkspace(1), family, &phi, rows)
	logs = slices.Clone(logs)
	for l := range count {
		for i, y := range rows.Target {
			f := rows.Offset[i]
			for j := range dims {
				f += phi.Dense.Row(i)[j] * s.Weights[j*count+l]
			}
			w := 0.0
			if rows.Weight[i] > 0 {
				w = rows.Weight[i] * (-(y-f)*(y-f)/(2*noise) - math.Log(2*math.Pi*noise)/2)
			}
			if got := logs[i*count+l]; !(math.Abs(got-w) <= 1e-12*(1+math.Abs(w))) {
				t.Errorf("draw %d of row %d: %v, want %v", l, i, got, w)
			}
			want[l] += w
		}
	}
	s.AddRows(credence.NewWorkspace(1), family, &phi, rows)
	for l, got := range s.LogWeights() {
		if !(math.Abs(got-want[l]) <= 1e-12*(1+math.Abs(want[l]))) {
			t.Errorf("weight of draw %d: %v, want %v", l, got, want[l])
		}
	}
}

// The smoothed tail is the quantiles (i − ½)/M of the distribution fitted to the excesses over the
// largest weight below the tail, none above the largest weight, and the rest stays (Vehtari and others 2024).
func TestSmoothedTail(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	logs := make([]float64, 400)
	for i := range logs {
		logs[i] = -0.6 * math.Log(rng.Float64())
	}
	before := slices.Clone(logs)
	slices.Sort(before)
	k := Smooth(logs)
	slices.Sort(logs)
	const tail = 60 // 3·√400
	rest := len(logs) - tail
	if !slices.Equal(logs[:rest], before[:rest]) {
		t.Error("weights below the tail change")
	}
	cut := math.Exp(before[rest-1])
	excess := make([]float64, tail)
	for i := range excess {
		excess[i] = math.Exp(before[rest+i]) - cut
	}
	shape, scale := Fit(excess)
	if !(math.Abs(shape-k) <= 1e-9) {
		t.Errorf("shape %v, want %v", k, shape)
	}
	for i := range excess {
		p := (float64(i) + 0.5) / tail
		want := math.Min(math.Log(cut+scale/shape*(math.Pow(1-p, -shape)-1)), before[len(before)-1])
		if !(math.Abs(logs[rest+i]-want) <= 1e-9) {
			t.Errorf("value %d of the tail: %v, want %v", i, logs[rest+i], want)
		}
	}
}
