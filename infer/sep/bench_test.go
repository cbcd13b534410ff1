package sep

import (
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/linop"
)

// clickRows are rows of 30 ones whose columns follow a power law over a million.
func clickRows(n int) *credence.Batch {
	rng := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(rng, 1.1, 1, 1<<20-1)
	b := &credence.Batch{X: linop.Dense{Rows: n}, Sparse: linop.CSR{Rows: n, Cols: 1 << 20, Start: []int{0}}}
	for range n {
		for range 30 {
			b.Sparse.Index = append(b.Sparse.Index, int32(zipf.Uint64()))
		}
		b.Sparse.Start = append(b.Sparse.Start, len(b.Sparse.Index))
		label := 0.0
		if rng.IntN(20) == 0 {
			label = 1
		}
		b.Target = append(b.Target, label)
	}
	return b
}

func benchmarkLearn(b *testing.B, cfg Config) {
	l := must.Value(NewLearner(cfg, Hyper{}))(b)
	const rows = 1 << 15
	batch, probability := clickRows(rows), make([]float64, rows)
	l.Learn(batch, probability)
	b.ReportAllocs()
	for b.Loop() {
		l.Learn(batch, probability)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

func BenchmarkSequential(b *testing.B) { benchmarkLearn(b, Config{}) }
func BenchmarkMiniBatch(b *testing.B)  { benchmarkLearn(b, Config{Batch: 100}) }
