package newton

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
)

// levels is V where weights go by the levels of keys: the numbers of an arrow, see package arrow. Columns that vary
// together by level have weights w = Xu, of which the standard ones u have a diagonal prior: the posterior is found in
// terms of u, and told in terms of w. See [base.Mixer]. The methods of a nil levels are those of dense matrices, of
// which all weights are standard.
type levels struct {
	n       *Newton
	solver  *gauss.ArrowSolver
	placed  *base.Mixer // at the prior variances of the last factorise; nil where no columns vary together
	other   *base.Mixer // at others
	scales  []float64   // deviations of the other
	sites   []float64   // XᵀHX
	values  []float64   // of V, in centred coordinates
	rows    []float64   // of V in those of the weights, where ofRows says so
	ofRows  bool
	weights []float64
}

// inner is what a point has of standard weights, where columns vary together: the diagonal of their covariance, and
// over the levels of every term the sums of that of T⁻¹w.
type inner struct {
	psi  []float64
	sums [][]float64
}

func newLevels(n *Newton) *levels {
	return &levels{
		n: n, placed: base.NewMixer(n.Together, n.Pattern), other: base.NewMixer(n.Together, n.Pattern),
		scales: make([]float64, n.Dims), weights: make([]float64, n.Dims),
	}
}

// mixed returns the sites that standard weights have, with the prior deviations of which n.deviation has the squares'
// roots.
func (l *levels) mixed(sites, prior []float64) []float64 {
	if l == nil || l.placed == nil {
		return sites
	}
	l.placed.Take(l.n.deviation, prior[len(l.n.Groups):])
	l.sites = append(l.sites[:0], sites...)
	l.placed.Mix(l.sites)
	return l.sites
}

// form takes V from the solver.
func (l *levels) form() {
	l.solver = l.n.system.(*gauss.ArrowSolver)
	l.ofRows = false
	if l.values = l.solver.Values(); l.placed != nil {
		l.values = append([]float64(nil), l.values...)
		l.placed.Back(l.values)
	}
}

// own returns the numbers of V in the coordinates of the weights.
func (l *levels) own() []float64 {
	if !l.ofRows {
		l.ofRows = true
		l.rows = append(l.rows[:0], l.values...)
		p := l.n.Pattern
		if in := l.n.Intercept; in != nil {
			p.Uncentre(l.rows, in.Columns)
		}
		kernel.Symmetrize(p.Rest(), l.rows[p.Len()-p.Rest()*p.Rest():], p.Rest())
	}
	return l.rows
}

// ofWeights turns V into that of the weights themselves, and returns what takes it back.
func (n *Newton) ofWeights(v gauss.Spread) (gauss.Spread, func()) {
	if root, ok := v.(gauss.Root); ok {
		return v, n.Intercept.WeightFactor(root)
	}
	if n.levels != nil && v != nil {
		n.levels.own()
	}
	return v, func() {}
}

// Mul implements [gauss.Spread].
func (l *levels) Mul(ws *credence.Workspace, dst, half, x []float64) {
	copy(l.weights, x)
	l.placed.Cross(l.weights)
	l.solver.Mul(dst, half, l.weights)
	l.placed.Weights(dst)
}

// Draw implements [gauss.Spread].
func (l *levels) Draw(dst []float64, rng *rand.Rand) (square float64) {
	square = l.solver.Spread().Draw(dst, rng)
	l.placed.Weights(dst)
	return square
}

// RowVariances implements [gauss.Spread], of weights in their own coordinates.
func (l *levels) RowVariances(ws *credence.Workspace, dst []float64, phi *credence.Design) {
	p := l.n.Pattern
	p.RowVariances(ws, dst, l.rows, phi, func() []float64 { return p.Regression(ws, l.rows) })
}

// take moves the other mixer to prior variances and odds.
func (l *levels) take(prior []float64) {
	base.Spread(l.scales, l.n.Groups, func(k int) float64 { return math.Sqrt(prior[k]) })
	l.other.Take(l.scales, prior[len(l.n.Groups):])
}

// standard returns the standard weights of some, under prior variances and odds: they may be the same slice.
func (l *levels) standard(w, prior []float64) []float64 {
	if l == nil || l.other == nil {
		return w
	}
	u := slices.Clone(w)
	l.take(prior)
	l.other.White(u)
	for k, g := range l.n.Groups {
		for j := g.First; l.other.Has(k) && j < g.End(); j += g.Step() {
			u[j] *= l.scales[j]
		}
	}
	return u
}

// precision stores Λ⁻¹m under prior variances and odds.
func (n *Newton) precision(dst, m, prior []float64) {
	copy(dst, m)
	if l := n.levels; l != nil && l.other != nil {
		l.take(prior)
		l.other.Precision(dst)
	}
	for k, g := range n.Groups {
		if g.Stride > 0 {
			continue
		}
		for j := g.First; j < g.End(); j++ {
			dst[j] /= prior[k]
		}
	}
}

// standardPsi is the diagonal of the covariance of standard weights.
func (p *Point) standardPsi() []float64 {
	if p.inner.psi != nil {
		return p.inner.psi
	}
	return p.Psi
}

// variances1 stores the diagonal of V of the last factorise.
func (n *Newton) diagonal(psi []float64) (in inner) {
	if n.levels == nil {
		n.system.Variances(psi)
		return in
	}
	n.Pattern.Diagonal(psi, n.levels.values)
	if n.levels.placed != nil {
		in.psi = make([]float64, n.Dims)
		values := n.levels.solver.Values()
		n.Pattern.Diagonal(in.psi, values)
		in.sums = n.levels.placed.Moments(nil, values, make([]float64, n.Dims))
		for i, t := range n.Together {
			for r := range t.K {
				for c := range t.K {
					in.sums[i][r*t.K+c] /= n.deviation[t.First+r] * n.deviation[t.First+c]
				}
			}
		}
	}
	return in
}

// slopes returns the slopes of the bound in the logarithms of all prior variances and odds; those of columns that vary
// together with what the mode of an expansion adds that moves along moved, nil for none.
func (n *Newton) slopes(p *Point, moved []float64) []float64 {
	list := make([]float64, len(p.Prior))
	for k := range n.Groups {
		if n.Groups[k].Stride == 0 {
			list[k] = n.PriorSlope(k, p.Prior[k], p.Mean, p.Psi)
		}
	}
	l := n.levels
	if l == nil || l.other == nil {
		return list
	}
	l.take(p.Prior)
	u, sums := slices.Clone(p.Mean), [][]float64{}
	l.other.White(u)
	for i, t := range n.Together {
		sum := slices.Clone(p.inner.sums[i])
		addOuter(sum, t, u, u, 1)
		sums = append(sums, sum)
	}
	if moved != nil {
		along := slices.Clone(moved)
		l.other.White(along)
		for i, t := range n.Together {
			addOuter(sums[i], t, u, along, 1)
			addOuter(sums[i], t, along, u, 1)
		}
	}
	l.other.Slopes(list, list[len(n.Groups):], sums)
	return list
}

// addOuter adds scale Σ abᵀ over the levels of a term.
func addOuter(sum []float64, t base.Together, a, b []float64, scale float64) {
	for g := range t.Levels {
		first := t.First + g*t.K
		for r := range t.K {
			for c := range t.K {
				sum[r*t.K+c] += scale * a[first+r] * b[first+c]
			}
		}
	}
}

// metric is that of natural parameters, of every value: Σ ψ_i ψ_j R_ij². Nil is that of dense matrices.
func (l *levels) metric(psi []float64) []float64 {
	if l == nil {
		return nil
	}
	m := make([]float64, l.n.Pattern.Len())
	l.n.Pattern.AddOuter(m, 1, psi)
	return m
}

// run is a part of the natural parameters: values of H and numbers of b.
type run struct{ from, to, first, last int }

func (r run) length() int { return r.to - r.from }

func (r run) of(values []float64) []float64 { return values[r.from:r.to] }

// runLength is about the length of a run of an arrow.
const runLength = 4096

// runsOf are those of a layout, the longest first: the rows of an upper triangle, or parts of the values of an arrow.
func runsOf(layout gauss.Values, d int) (list []run) {
	if _, dense := layout.(gauss.Dense); dense {
		for i := range d {
			list = append(list, run{i*d + i, (i + 1) * d, i, i + 1})
		}
		return list
	}
	size := layout.Len()
	parts := max(1, (max(size, d)+runLength-1)/runLength)
	length, numbers := (size+parts-1)/parts, (d+parts-1)/parts
	for k := range parts {
		list = append(list, run{min(size, k*length), min(size, (k+1)*length), min(d, k*numbers), min(d, (k+1)*numbers)})
	}
	return list
}
