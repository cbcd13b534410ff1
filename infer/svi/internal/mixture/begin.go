package mixture

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/linop"
)

// begin stores the variables that a start begins with in state.X.
//
// One component begins at the starting values with the variances that the rows' curvature there
// implies; later starts begin at draws from the prior. Several components begin apart: around the
// optimum of one, at draws from the prior in odd starts, which finds distant modes, and in even ones
// at its standard deviation, which finds the shape of one mode.
func (f *Fit) begin(ctx context.Context, state *State) error {
	if state.Single == nil {
		single := New(NewBound(f.Problem, 1, f.Base), f.start, f.Options)
		single.Save = nil
		x, err := single.Initial(ctx)
		if err != nil {
			return err
		}
		if f.Components > 1 {
			if err := single.climb(ctx, &State{X: x, Start: state.Start}); err != nil {
				return err
			}
		}
		state.Single = x
	}
	rng := credence.Rand(f.Seed, credence.SVIStarts, uint64(state.Start))
	d := f.Dims
	m, logs := state.Single[:d], state.Single[d:2*d]
	x := make([]float64, f.Size())
	free, logHyper := f.Parameters(x)
	copy(free, state.Single[2*d:])
	for i, g := range f.Groups {
		sd := math.Sqrt(f.References[i].Wide)
		for j := g.First; j < g.End(); j++ {
			for k := range f.Components {
				mean, log := f.Component(x, k)
				mean[j], log[j] = m[j], logs[j]
				switch {
				case f.Components == 1 && state.Start == 0:
				case f.Components == 1:
					mean[j] += sd * rng.NormFloat64()
				case state.Start%2 == 0:
					mean[j] += math.Exp(logs[j]/2) * rng.NormFloat64()
				case !g.Intercept || len(f.Groups) == 1:
					mean[j] = sd * rng.NormFloat64()
				}
			}
		}
	}
	for l, i := range f.hypers {
		logHyper[l] = math.Log(f.Tunable.Hyper()[i].Value)
	}
	state.X = x
	return nil
}

// Initial returns variables of one component at the starting values: with β = −ℓ” there,
// Ψ_j = 1/(1/λ_j + Σ_n β_n φ_nj²), some rows standing for all.
func (f *Fit) Initial(ctx context.Context) ([]float64, error) {
	x := make([]float64, f.Size())
	m, logs := f.Component(x, 0)
	f.Intercept.Weights(m, f.start.Mean)
	free, _ := f.Parameters(x)
	copy(free, f.start.Family.Free())
	for j := range logs {
		logs[j] = math.Inf(-1) // Ψ = 0: derivatives at the mean
	}
	f.Begin(x)
	rows := f.Rows(problem.StartRows)
	err := f.EachCurvature(ctx, rows, x, func(b *problem.Block, beta []float64) {
		b.Phi.AddMulSquaresTrans(f.Workspace, f.DPsi, beta)
	})
	scale := rows.Scale()
	for i, g := range f.Groups {
		for j := g.First; j < g.End(); j++ {
			logs[j] = -math.Log(1/f.start.Prior[i] + scale*f.DPsi[j])
		}
	}
	return x, err
}

// metric is the variables z in which steps are taken, in place of the means m of every component: m = U⁻¹z, where
// UᵀU is the curvature of the bound in m. In these variables all directions are alike, whatever the correlations of
// the features, and the steps of an ascent are few. Nil is the means themselves.
//
// Of more weights those whose columns have most entries have variables together, and every other its mean: what takes
// many steps is what many rows have in common, such as a column far from 0 beside the intercept.
type metric struct {
	*Bound
	heavy []int     // the weights that have variables together; nil means all
	upper []float64 // U, square
	some  []float64 // room for the heavy ones
}

// The largest number of weights with a metric, whose memory is d², and its square for each row: more, and the
// curvature takes as long as the steps that it saves.
const (
	mostMetric   = 1000
	metricSquare = 100
	// mostHeavy is how many weights have variables together where all are too many.
	mostHeavy = 256
)

// alike is how many weights have a metric in an ascent over rows: all, or where they are too many and the ascent is
// slow the heaviest; 0 for none.
func (q *Bound) alike(rows *problem.Rows, slow bool) int {
	count := q.Dims
	if count > mostMetric {
		count = mostHeavy
	}
	if q.Dims > mostMetric && !slow || count*count > metricSquare*rows.Count() || q.Tunable != nil {
		return 0
	}
	return count
}

// metric returns the metric of so many weights, in an ascent over rows from x, by the curvature of some rows there.
func (q *Bound) metric(ctx context.Context, rows *problem.Rows, x []float64, d int) (*metric, error) {
	if d == 0 {
		return nil, nil
	}
	g := &metric{Bound: q}
	some := q.Rows(min(problem.StartRows, rows.Count()))
	if d < q.Dims {
		if err := g.choose(ctx, some, d); err != nil {
			return nil, err
		}
	}
	g.upper = make([]float64, d*d)
	q.Begin(x)
	q.SetPrior(x)
	dense, within := 0, true
	var part credence.Design
	scale := problem.Scale(rows.Count(), some.Count())
	err := q.EachCurvature(ctx, some, x, func(b *problem.Block, beta []float64) {
		if within = within && q.terms.WithinReach(b, q.Family.Likelihood); !within {
			return
		}
		kernel.Scale(scale, beta)
		phi := b.Phi
		if g.heavy != nil {
			phi = g.part(&part, phi)
		}
		phi.AddGram(q.Workspace, g.upper, beta)
		dense = phi.Dense.Cols
	})
	if err != nil || !within {
		return nil, err
	}
	linop.LiftGram(g.upper, d, dense)
	for k := range d {
		g.upper[k*d+k] += 1 / q.WeightPrior[g.place(k)]
	}
	if _, ok := q.Workspace.Pool().Cholesky(d, g.upper, d); !ok || !problem.Finite(g.upper...) {
		return nil, nil
	}
	return g, nil
}

// choose takes the weights whose columns have most entries in some rows, the first of equals.
func (g *metric) choose(ctx context.Context, some *problem.Rows, count int) error {
	entries := make([]int, g.Dims)
	err := some.Each(ctx, func(b *problem.Block) {
		for i := range b.Rows() {
			b.Phi.Each(i, func(j int, v float64) {
				if v != 0 {
					entries[j]++
				}
			})
		}
	})
	most := order.By(g.Dims, func(a, b int) int { return cmp.Compare(entries[b], entries[a]) })
	g.heavy, g.some = most[:count], make([]float64, count)
	slices.Sort(g.heavy)
	return err
}

// place is the weight of variable k.
func (g *metric) place(k int) int {
	if g.heavy == nil {
		return k
	}
	return g.heavy[k]
}

// part fills dst with the columns of the heavy weights.
func (g *metric) part(dst, phi *credence.Design) *credence.Design {
	dst.Dense.Reshape(phi.Dense.Rows, len(g.heavy))
	clear(dst.Dense.Data)
	at := make([]int32, g.Dims)
	for k, j := range g.heavy {
		at[j] = int32(k + 1)
	}
	for i := range phi.Dense.Rows {
		row := dst.Dense.Row(i)
		phi.Each(i, func(j int, v float64) {
			if k := at[j]; k > 0 {
				row[k-1] = v
			}
		})
	}
	return dst
}

// EachCurvature calls do for block after block with the curvature of every row under the first component, −2
// ∂e/∂variance, 0 where it is negative. The point is that of the last Begin.
func (q *Bound) EachCurvature(ctx context.Context, rows *problem.Rows, x []float64, do func(b *problem.Block, beta []float64)) error {
	m, _ := q.Component(x, 0)
	t := &q.terms
	return rows.Each(ctx, func(b *problem.Block) {
		t.Resize(b.Rows(), q.Base.Count())
		b.Means(q.Workspace, t.Mean, m)
		b.Phi.MulSquares(q.Workspace, t.Variance, q.Variances(0))
		t.Expect(q.Workspace, b, q.Family, false, nil)
		for i, v := range t.DVariance {
			t.DVariance[i] = math.Max(0, -2*v)
		}
		do(b, t.DVariance)
	})
}

// curvature stores in dst the curvature of the bound in the variables at x, that of the prior and the entropy where
// there is no metric: 1/Ψ for means, and ½ for log variances, over K.
func (g *metric) curvature(dst, x []float64, q *Bound) {
	share := 1 / float64(q.Components)
	for k := range q.Components {
		_, logs := q.Component(x, k)
		cm, cl := q.Component(dst, k)
		for j := range logs {
			cm[j], cl[j] = share*math.Exp(-logs[j]), share/2
		}
		if g != nil {
			g.together(cm, func(z []float64) {
				for j := range z {
					z[j] = share
				}
			})
		}
	}
}

// enter changes x from means to the variables: z = Um.
func (g *metric) enter(x []float64) {
	g.each(x, func(m []float64) {
		for i := range m {
			m[i] = kernel.Dot(g.upper[i*len(m)+i:(i+1)*len(m)], m[i:])
		}
	})
}

// leave changes x from the variables to means: m = U⁻¹z.
func (g *metric) leave(x []float64) {
	g.each(x, func(z []float64) { g.Workspace.Pool().TrsmLeft(false, len(z), 1, g.upper, len(z), z, 1) })
}

// pull changes a gradient in means to one in the variables: U⁻ᵀ∂m.
func (g *metric) pull(gradient []float64) {
	g.each(gradient, func(m []float64) { g.Workspace.Pool().TrsmLeft(true, len(m), 1, g.upper, len(m), m, 1) })
}

// each calls do with what x has for the means of every component.
func (g *metric) each(x []float64, do func(m []float64)) {
	if g == nil {
		return
	}
	for k := range g.Components {
		m, _ := g.Component(x, k)
		g.together(m, do)
	}
}

// together calls do with the numbers of the weights that have variables together.
func (g *metric) together(m []float64, do func(z []float64)) {
	if g.heavy == nil {
		do(m)
		return
	}
	for k, j := range g.heavy {
		g.some[k] = m[j]
	}
	do(g.some)
	for k, j := range g.heavy {
		m[j] = g.some[k]
	}
}
