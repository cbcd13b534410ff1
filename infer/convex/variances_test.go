package convex

import (
	"bufio"
	"context"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/conform/published"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/linop"
)

// TestEstimatedVariances: xdiag and combined variances are within their own error of exact ones, draws of the same
// budget are no better than combined ones, and each is exact where its vectors span everything.
func TestEstimatedVariances(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"logistic + normal", "logistic + Laplace", "fused"} {
		const n = 40
		p := problems(n, 4)[name]
		m := &measured{x: p.X, b: p.B, y: p.Y, noise: p.Noise}
		solved := must.Value(Solve(ctx, p, Options{Variances: Exact, Steps: 5}))(t)
		d := newDense(m, credence.NewWorkspace(1))
		must.Succeed(t, d.factor(ctx, solved.Precision))
		want := make([]float64, len(solved.Variance))
		must.Succeed(t, d.variances(ctx, want))
		off := func(way Variances, k int, seed uint64) (off, told float64) {
			f := &free{measured: m, ws: credence.NewWorkspace(2), seed: seed}
			s := f.by(way, k, 100)
			must.Succeed(t, s.factor(ctx, solved.Precision))
			z := make([]float64, len(want))
			must.Succeed(t, s.variances(ctx, z))
			gap := append([]float64(nil), z...)
			kernel.Axpy(-1, want, gap)
			if f.products == 0 || f.steps == 0 && !(way == Combined && k == n) { // all is known of n Lanczos vectors
				t.Errorf("%s: %d products, %d steps", way, f.products, f.steps)
			}
			return math.Sqrt(kernel.Dot(gap, gap) / kernel.Dot(want, want)), f.relative
		}
		for _, c := range []struct {
			way     Variances
			k, full int
			least   float64
		}{{XDiag, 20, n + 4, exactTolerance}, {Combined, 10, n, 1e-9}, {Combined, 30, n, 1e-9}} { // what solves leave
			mean, told := 0.0, 0.0
			const sets = 8
			for seed := range uint64(sets) {
				is, said := off(c.way, c.k, seed)
				mean += is * is / sets
				told += said * said / sets
			}
			if ratio := math.Sqrt(told / mean); !(ratio > 0.6 && ratio < 1.8) {
				t.Errorf("%s, %s: off by %.3g, said to be by %.3g", name, c.way, math.Sqrt(mean), math.Sqrt(told))
			}
			if is, _ := off(c.way, c.full, 1); is > c.least {
				t.Errorf("%s, %s with all vectors is off by %.3g", name, c.way, is)
			}
		}
		if _, with := off(Combined, 20, 1); !(with < drawnError(100)) {
			t.Errorf("%s: Lanczos vectors do not lower the error of draws: %.3g", name, with)
		}
	}
}

// TestFactoredLanczos: from products with the factor of A come the variances that come from products with the columns.
func TestFactoredLanczos(t *testing.T) {
	ctx, ws := context.Background(), credence.NewWorkspace(1)
	for _, dims := range [][2]int{{30, 7}, {7, 12}} {
		n, d := dims[0], dims[1]
		var phi credence.Design
		phi.Dense.Reshape(n, d)
		for i := range phi.Dense.Data {
			phi.Dense.Data[i] = math.Sin(float64(i * i))
		}
		for i := range n {
			phi.Dense.Row(i)[0] = 1
		}
		phi.Sparse.Reset(0)
		for range n {
			phi.Sparse.AppendRow(nil, nil)
		}
		means := make([]float64, d)
		for j := 1; j < d; j++ {
			means[j] = 0.1 * float64(j)
		}
		table := &columns{ws: ws, phi: &phi, means: means}
		normal, roots := make([]float64, d), make(linop.Diagonal, d)
		for j := range normal {
			normal[j] = 0.5 + float64(j)
			roots[j] = math.Sqrt(normal[j])
		}
		m := &measured{x: roots, b: table, y: make([]float64, d), noise: 1}
		precision := make([]float64, n)
		for i := range precision {
			precision[i] = 0.1 + 0.01*float64(i)
		}
		of := &beside{table: table, classes: true, normal: normal, first: 1}
		var a factored = newExact(diagonal{measured: m, beside: of})
		if n < d {
			a = newDual(diagonal{measured: m, beside: of}, problem.NewColumns(&phi, means, nil))
		}
		for _, steps := range []int{3, d} {
			products := &free{measured: m, ws: ws, seed: 5}
			by := []system{&lanczos{a, products, steps}, &lanczos{products, products, steps}}
			var got [2][]float64
			for k, s := range by {
				must.Succeed(t, s.factor(ctx, precision))
				got[k] = make([]float64, n)
				must.Succeed(t, s.variances(ctx, got[k]))
			}
			exact := make([]float64, n)
			must.Succeed(t, a.variances(ctx, exact))
			for i, v := range got[0] {
				if !(math.Abs(v-got[1][i]) <= 1e-9*v) || v > exact[i]*(1+1e-9) || steps == d && v < exact[i]*(1-1e-9) {
					t.Errorf("%d×%d, %d steps: variance %d is %v, by columns %v, exactly %v", n, d, steps, i, v, got[1][i], exact[i])
				}
			}
		}
	}
}

// TestRealVariances tells of the error of every way on rows of the size that it is for, in the norm of all
// variances together and as the root mean square of relative errors, with the products it took. Wide rows, whose exact
// variances take a minute, and what takes many products are for the night.
func TestRealVariances(t *testing.T) {
	study.Only(t)
	ctx, ws := context.Background(), credence.NewWorkspace(0)
	for _, name := range []string{"a9a", "reuters"} {
		if name == "reuters" && !study.Night() {
			continue
		}
		phi := svmRows(t, name)
		n, d := phi.Dims()
		table := &columns{ws: ws, phi: phi}
		normal, roots := make([]float64, d), make(linop.Diagonal, d)
		for j := range normal {
			normal[j], roots[j] = 1, 1
		}
		m := &measured{x: roots, b: table, y: make([]float64, d), noise: 1}
		precision := make([]float64, n)
		for i := range precision {
			precision[i] = 0.1 + 0.15*float64(i%10)/10
		}
		of := &beside{table: table, classes: true, normal: normal}
		var a factored = newExact(diagonal{measured: m, beside: of})
		if n < d {
			a = newDual(diagonal{measured: m, beside: of}, problem.NewColumns(phi, nil, nil))
		}
		want, z := make([]float64, n), make([]float64, n)
		must.Succeed(t, a.factor(ctx, precision))
		must.Succeed(t, a.variances(ctx, want))
		for _, c := range []struct {
			way      Variances
			k, draws int
		}{{LanczosMethod, 80, 1}, {LanczosMethod, 300, 1}, {Sampled, 50, 50}, {Sampled, 300, 300}, {XDiag, 40, 1}, {XDiag, 150, 1}, {Combined, 50, 50}, {Combined, 150, 100}} {
			if (c.k > 100 || c.way == XDiag) && !study.Night() {
				continue
			}
			f := &free{measured: m, ws: ws, seed: 1}
			s, start := f.by(c.way, c.k, c.draws), study.Processor()
			must.Succeed(t, s.factor(ctx, precision))
			must.Succeed(t, s.variances(ctx, z))
			off, size, relative := 0.0, 0.0, 0.0
			for i, w := range want {
				off += (z[i] - w) * (z[i] - w)
				size += w * w
				relative += (z[i]/w - 1) * (z[i]/w - 1) / float64(n)
			}
			is := math.Sqrt(off / size)
			t.Logf("%s, %s k=%d and %d draws: off by %.3f (told %.3f), relative %.3f, %d products, %.1f CPU s",
				name, c.way, c.k, f.draws, is, f.relative, math.Sqrt(relative), f.products, (study.Processor() - start).Seconds())
			if f.relative > 0 && !(is < 2*f.relative && is > f.relative/3) {
				t.Errorf("%s, %s: off by %.3f, said to be by %.3f", name, c.way, is, f.relative)
			}
		}
	}
}

// svmRows reads the rows of a published libsvm file, without their labels, after a column of ones.
func svmRows(t *testing.T, name string) *credence.Design {
	t.Helper()
	columns, values, cols := [][]int32{}, [][]float64{}, 0
	lines := bufio.NewScanner(published.Open(t, name, name+".gz"))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var row []int32
		var of []float64
		for _, entry := range strings.Fields(lines.Text())[1:] {
			index, value, _ := strings.Cut(entry, ":")
			j, _ := strconv.Atoi(index)
			v := must.Value(strconv.ParseFloat(value, 64))(t)
			row, of, cols = append(row, int32(j-1)), append(of, v), max(cols, j)
		}
		columns, values = append(columns, row), append(values, of)
	}
	var phi credence.Design
	phi.Dense.Reshape(len(columns), 1)
	phi.Sparse.Reset(cols)
	for i, row := range columns {
		phi.Dense.Data[i] = 1
		phi.Sparse.AppendRow(row, values[i])
	}
	return &phi
}
