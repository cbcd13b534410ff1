package svi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
)

// repeated is sparse data of which many rows are equal, or differ only in what stands beside their columns.
func repeated(lik likelihood.Family, columns int, share float64, beside bool) *memory {
	const patterns, count = 300, 6000
	rng := rand.New(rand.NewPCG(8, 3))
	x := linop.NewDense(patterns, columns)
	for i := range x.Data {
		if j := i % columns; rng.Float64() < share*2*float64(columns-j)/float64(columns) {
			x.Data[i] = []float64{1, 1, 1, 0.5}[rng.IntN(4)]
		}
	}
	m := &memory{x: linop.NewDense(count, columns)}
	for i := range count {
		copy(m.x.Row(i), x.Row(rng.IntN(patterns)))
		if _, ok := lik.(likelihood.Binomial); ok {
			m.trials = append(m.trials, float64(2+i%2))
		}
		m.y = append(m.y, lik.(likelihood.Sampler).Sample(rng, m.x.Row(i)[0]-m.x.Row(i)[1]))
		if m.trials != nil {
			m.y[i] = float64(rng.IntN(3))
		}
		if beside {
			m.offset, m.weight = append(m.offset, float64(i%3)/4), append(m.weight, float64(i%4))
		}
		if _, ok := lik.(likelihood.StudentT); ok {
			m.precision = append(m.precision, float64(1+i%2))
			m.y[i] = 4 * math.Round(m.y[i]/4)
		}
	}
	return m
}

// TestPack: sums over packed rows are those over the rows themselves, with and without an intercept, offsets and
// weights, and the same with any number of threads. Equal rows are one.
func TestPack(t *testing.T) {
	if testing.Short() { // as the race detector has it: what runs at once is tested by others
		t.Skip("many fits")
	}
	ctx := context.Background()
	for _, c := range []struct {
		lik       likelihood.Family
		share     float64
		intercept bool
		beside    bool
	}{
		{likelihood.Bernoulli{}, 0.1, true, false}, {likelihood.Bernoulli{}, 0.1, false, true},
		{likelihood.NegativeBinomial{}, 0.1, true, true}, {likelihood.Binomial{}, 0.1, true, true}, {likelihood.StudentT{}, 0.1, true, false},
	} {
		name := fmt.Sprintf("%v, %g, %v, %v", c.lik, c.share, c.intercept, c.beside)
		const columns = 40
		data := repeated(c.lik, columns, c.share, c.beside)
		model := credence.Model{Features: plain{p: columns, sparse: columns, intercept: c.intercept}, Likelihood: c.lik, Prior: normal}
		var last *newton.Statistics
		for _, threads := range []int{1, 3} {
			r := newFit(t, model, Config{Covariance: Full, Threads: threads}, data)
			plain, packed := r.Rows(0), r.Rows(0)
			s := must.Value(r.Start(ctx, packed, packed))(t)
			if packed.Pack(); packed.Packed() == nil {
				t.Fatalf("%s: not packed", name)
			}
			n, at, d := newton.New(r.Problem), newton.Begin(s), r.Dims
			rng := rand.New(rand.NewPCG(1, 1))
			factor := make([]float64, d*d)
			for i := range d {
				at.Mean[i] = rng.NormFloat64() / 3
				for j := i; j < d; j++ {
					factor[i*d+j] = rng.NormFloat64() / 10
				}
			}
			sums := func(rows *problem.Rows) *newton.Statistics {
				sums := n.NewStatistics(at.Family.Count())
				must.Succeed(t, n.Pass(ctx, rows, sums, at.Mean, gauss.Root(factor), at.Family))
				for i := range d { // the other triangle is scratch
					clear(sums.Curvature[i*d : i*d+i])
				}
				return sums
			}
			want, targets := sums(plain), n.Targets
			moved := r.Rows(0)
			moved.Move(model.Features) // blocks are read at every pass, by all threads
			if again := sums(moved); again.Value != want.Value || !slices.Equal(again.Curvature, want.Curvature) || n.Targets != targets {
				t.Errorf("%s: sums over blocks that are read again are others than over those in memory", name)
			}
			got := sums(packed)
			for _, part := range []struct {
				name      string
				got, want []float64
			}{
				{"value", []float64{got.Value, got.Trace, n.Targets.Weight, n.Targets.Mean}, []float64{want.Value, want.Trace, targets.Weight, targets.Mean}},
				{"gradient", got.Gradient, want.Gradient}, {"curvature", got.Curvature, want.Curvature}, {"slope", got.Slope, want.Slope},
				{"bend", got.Bend, want.Bend}, {"cross", got.Cross, want.Cross},
			} {
				scale := 0.0
				for _, v := range part.want {
					scale = math.Max(scale, math.Abs(v))
				}
				for i, v := range part.want {
					if !(math.Abs(part.got[i]-v) <= 1e-10*scale) {
						t.Errorf("%s: %s %d is %v over packed rows and %v over all", name, part.name, i, part.got[i], v)
						break
					}
				}
			}
			if last != nil && (!slices.Equal(last.Curvature, got.Curvature) || last.Value != got.Value || !slices.Equal(last.Gradient, got.Gradient)) {
				t.Errorf("%s: the sums depend on the threads", name)
			}
			last = got
			count, weight := 0, 0.0
			for k := range packed.Packed().Blocks() {
				b := must.Value(packed.Packed().Read(ctx, k, nil))(t)
				count += b.Rows()
				for i := range b.Rows() {
					weight += b.WeightOf(i)
				}
			}
			if count > data.Rows()*2/3 {
				t.Errorf("%s: %d rows are left of %d", name, count, data.Rows())
			}
		}
	}
}

// Rows with many entries stay as they are, and those that are equal are one before there are features: the fit is that
// of the rows.
func TestEqualRowsAreOne(t *testing.T) {
	for _, lik := range []likelihood.Family{likelihood.Bernoulli{}, likelihood.Binomial{}, likelihood.StudentT{}} {
		data := repeated(lik, 6, 0.6, true)
		model := credence.Model{Features: plain{p: 6, intercept: true}, Likelihood: lik, Prior: normal}
		cfg := Config{Covariance: Full, Tolerance: 1e-9}
		e := must.Value(New(model, cfg))(t)
		merged := must.Value(e.merge(t.Context(), data))(t)
		if merged.Rows() > data.Rows()/2 {
			t.Fatalf("%d rows are left of %d", merged.Rows(), data.Rows())
		}
		whole := must.Value(e.newFit(data))(t)
		rows := whole.Rows(0)
		must.Value(whole.Start(t.Context(), rows, rows))(t)
		if rows.Pack(); rows.Packed() != nil {
			t.Error("rows with many entries were packed")
		}
		fitted := must.Value(e.Fit(t.Context(), data))(t)
		if fitted.Report.Rows != data.Rows() {
			t.Errorf("a report of %d rows", fitted.Report.Rows)
		}
		heldout := must.Value(New(credence.Model{Features: model.Features, Likelihood: likelihood.Bernoulli{}, Prior: normal}, Config{Hyper: param.Heldout}))(t)
		if all := must.Value(heldout.merge(t.Context(), data))(t); all.Rows() != data.Rows() {
			t.Error("rows that are left out are merged")
		}
	}
}
