package svi

import (
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
)

// windows is generated data of any number of rows, none of which is held: row i is a
// window at a random place of a strip of normal numbers.
type windows struct {
	n, p  int
	strip []float64
	w     []float64
}

func newWindows(n, p int) *windows {
	rng := rand.New(rand.NewPCG(1, 2))
	d := &windows{n: n, p: p, strip: make([]float64, 1<<20+p), w: make([]float64, p)}
	for i := range d.strip {
		d.strip[i] = rng.NormFloat64()
	}
	for j := range d.w {
		d.w[j] = rng.NormFloat64() / math.Sqrt(float64(p))
	}
	return d
}

func (d *windows) Rows() int { return d.n }

func (d *windows) Read(dst *credence.Batch, first, count int) error {
	dst.X.Reshape(count, d.p)
	dst.Target = order.Resized(dst.Target, count)
	dst.Sparse = linop.CSR{Rows: count, Start: make([]int, count+1)}
	for i := range count {
		hash := uint64(first+i+1) * 0x9e3779b97f4a7c15
		hash = (hash ^ hash>>31) * 0xbf58476d1ce4e5b9
		row := dst.X.Row(i)
		copy(row, d.strip[hash>>44:])
		f := -1.0
		for j, v := range row {
			f += v * d.w[j]
		}
		dst.Target[i] = 0
		if float64(hash&0xfffff)/0xfffff < 1/(1+math.Exp(-f)) {
			dst.Target[i] = 1
		}
	}
	return nil
}

// BenchmarkLogisticRegression is the case of 500 columns; CREDENCE_BENCH_ROWS=1500000
// gives the full size. It reports the memory of the process as MB.
func BenchmarkLogisticRegression(b *testing.B) {
	n := 50000
	if text := os.Getenv("CREDENCE_BENCH_ROWS"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	data := newWindows(n, 500)
	for b.Loop() {
		begin := time.Now()
		e, err := New(credence.Model{Features: plain{p: 500, intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: normal},
			Config{Covariance: Full, Progress: func(p credence.Progress) {
				b.Logf("%6.2f s  %s %d: %.3f", time.Since(begin).Seconds(), p.Stage, p.Done, p.Objective)
			}})
		must.Succeed(b, err)
		f := must.Value(e.Fit(b.Context(), data))(b)
		b.Logf("%s after %d iterations on all rows, k %.2f, effective share %.2f, gap %.3f", f.Report.Status, f.Report.Iterations, *f.Report.ParetoK, *f.Report.EffectiveShare, *f.Report.EvidenceGap)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "MB")
	b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds(), "rows/s")
}
