package exact

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// fourierSet returns an intercept, the linear block and random Fourier features
// of the given kernels, n frequencies each, all over p inputs.
func fourierSet(t testing.TB, p, n int, kernels ...feature.Kernel) *feature.Set {
	t.Helper()
	var in feature.Inputs
	all := make([]int, p)
	for j := range all {
		all[j] = j
		in.Dense = append(in.Dense, feature.Input{Column: credence.Column{Name: fmt.Sprintf("x%d", j+1)}})
	}
	terms := []feature.Term{&feature.Intercept{}, &feature.Linear{Inputs: all}}
	for k, kernel := range kernels {
		term := &feature.RandomFourier{Name: string(kernel) + "(.)", Kernel: kernel, Sampling: feature.Orthogonal, Inputs: all}
		term, err := term.Draw(&in, n, rand.New(rand.NewPCG(1, uint64(k))))
		must.Succeed(t, err)
		terms = append(terms, term)
	}
	set, err := feature.New(in, terms...)
	must.Succeed(t, err)
	return set
}

// live returns the bytes of live memory.
func live() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// BenchmarkEvaluation is one evidence and gradient with lengthscales, both passes, at
// several shapes; the first is the reference shape with 1,021 weights. It reports
// processor seconds, and the megabytes that the form holds: matrices, scratch, and the
// rows and features kept for the second pass.
func BenchmarkEvaluation(b *testing.B) {
	for _, s := range []struct{ rows, inputs, frequencies int }{{10000, 20, 490}, {8192, 8, 1000}, {1000, 8, 500}, {500, 13, 500}} {
		b.Run(fmt.Sprintf("n=%d,p=%d,d=%d", s.rows, s.inputs, 1+s.inputs+2*s.frequencies), func(b *testing.B) {
			features := fourierSet(b, s.inputs, s.frequencies, feature.RBF)
			data := randomTable(1, s.rows, s.inputs, 0)
			e := must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{}))(b)
			run := &fit{Engine: e, stage: stage{ws: credence.NewWorkspace(0)}, data: data}
			ctx := context.Background()
			before := live()
			must.Succeed(b, run.open(ctx, 0, true))
			at := values{noise: 0.1, prior: []float64{1, 0.05, 1}}
			slope := slopes{prior: make([]float64, 3), hyper: make([]float64, s.inputs)}
			evaluate := func() {
				must.Succeed(b, run.form.load(ctx, features))
				must.Value(run.form.evaluate(ctx, &at, &slope))(b)
			}
			evaluate()
			held := float64(live()-before) / 1e6
			b.ReportAllocs()
			begin := study.Processor()
			for b.Loop() {
				evaluate()
			}
			b.ReportMetric((study.Processor()-begin).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(held, "MB")
		})
	}
}

// BenchmarkLoad is the first pass over 100,000 rows of 20 inputs: 1,000 random features with a
// lengthscale for each input, and their Gram matrix. It reports the rate in Gram operations,
// ND² a processor second, beside that of the Gram kernel alone on the same shape (a block of
// features again and again), and their ratio. The two take turns, so that the machine's clock
// disturbs the ratio little.
func BenchmarkLoad(b *testing.B) {
	const rows, inputs, frequencies, d = 100_000, 20, 500, 2 * 500
	features := fourierSet(b, inputs, frequencies, feature.RBF)
	data := randomTable(1, rows, inputs, 0)
	e := must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{}))(b)
	run := &fit{Engine: e, stage: stage{ws: credence.NewWorkspace(0)}, data: data}
	ctx := context.Background()
	must.Succeed(b, run.open(ctx, 0, true))
	p := run.form.(*primal)
	must.Succeed(b, p.load(ctx, features))
	phi, width := &p.phi.Dense, features.Weights()
	gram := make([]float64, width*width)
	var whole, alone float64
	b.ReportAllocs()
	for b.Loop() {
		begin := study.Processor()
		must.Succeed(b, p.load(ctx, features))
		between := study.Processor()
		for range p.rows.Blocks() {
			p.ws.Pool().Gram(credence.BlockRows, width, phi.Data[:credence.BlockRows*phi.Stride], phi.Stride, nil, gram, width)
		}
		whole += (between - begin).Seconds()
		alone += (study.Processor() - between).Seconds()
	}
	blocks := float64(p.rows.Blocks()) * credence.BlockRows
	passRate := float64(b.N) * rows * d * d / whole * 1e-9
	gramRate := float64(b.N) * blocks * float64(width) * float64(width) / alone * 1e-9
	b.ReportMetric(passRate, "GF/s")
	b.ReportMetric(gramRate, "gram-GF/s")
	b.ReportMetric(passRate/gramRate, "ratio")
}

// BenchmarkFit is a default fit of 1,500 rows of 11 inputs with 300 frequencies.
func BenchmarkFit(b *testing.B) {
	features := fourierSet(b, 11, 300, feature.RBF)
	data := randomTable(1, 1500, 11, 0)
	begin := study.Processor()
	for b.Loop() {
		f := fitted(b, model(features, prior.Normal{}, likelihood.Gaussian{}), Config{}, data)
		b.ReportMetric(float64(f.Report.Iterations), "iterations")
	}
	b.ReportMetric((study.Processor()-begin).Seconds()/float64(b.N), "cpu-s/op")
}

// BenchmarkLinear is a fit of 500 rows of 10 columns.
func BenchmarkLinear(b *testing.B) {
	features := fourierSet(b, 10, 1)
	data := randomTable(1, 500, 10, 0)
	b.ReportAllocs()
	for b.Loop() {
		fitted(b, model(features, prior.Normal{}, likelihood.Gaussian{}), Config{}, data)
	}
}
