package exact

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/posterior"
)

// keepDesignBytes is how much of Φ stays in memory from the first pass to the second.
const keepDesignBytes = 4 << 20

// primal is the d×d form, with S = Λ^½ and
//
//	A = I + S ΦᵀWΦ S/σ²     C = S A⁻¹ S     m = C ΦᵀW y/σ²
//	log p(y) = −½ [N log 2πσ² + log|A| + ‖y−Φm‖²/σ² + mᵀΛ⁻¹m]
//
// where N = Σw. A is as well conditioned as the problem itself: no prior
// variance, however small, is ever inverted. Under an intercept all of these are of centred
// columns, ΦT for Φ, and of targets less their mean; see gauss.Layout.
type primal struct {
	common
	rowSums *Sums
	layout  gauss.Values
	gram    []float64 // ΦᵀWΦ, in the layout
	cross   []float64 // ΦᵀW y
	square  float64   // yᵀW y
	system  gauss.System
	// A⁻¹, in the layout; in backward C, which may be packed, with the sparse columns' rows at the end
	inverse []float64
	s, q, m []float64 // √λ; S⁻¹m; m
	traces  []float64 // diag A⁻¹
	// together mixes columns that vary together by level; nil without.
	together *problem.Mixer
	mixed    []float64   // XᵀΦᵀWΦX
	sums     [][]float64 // of its terms
	// products returns what stores −ΦC/σ² of a block, at least of C's columns [first, end), all dense, once A⁻¹ is
	// there; see backward.
	products func(precision float64, dense, first, end int) func(phi *credence.Design, dst []float64)
	kept     []credence.Design
	y        []float64
	fitted   []float64
	slab     []float64 // dPhi of a block
	narrow   narrow
}

func (p *primal) allocate() {
	if p.inverse != nil {
		return
	}
	d := p.d
	if p.layout == nil {
		p.layout, p.products = gauss.Dense{Weights: d, Definite: true}, p.timesCovariance
	}
	if p.rowSums.layout = p.layout; p.system == nil {
		p.system = p.layout.Solver(p.ws)
	}
	size := p.layout.Len()
	if p.tuned {
		size = max(size, p.ws.Pool().PackedLen(d, d))
	}
	p.inverse = make([]float64, size)
	p.squares, p.traces = make([]float64, d), make([]float64, d)
	p.s, p.q, p.m = make([]float64, d), make([]float64, d), make([]float64, d)
	if p.tuned {
		block := min(credence.BlockRows, p.rows.Count())
		p.fitted = make([]float64, block)
		p.kept = make([]credence.Design, min(p.rows.Blocks(), keepDesignBytes/(8*max(1, block*d))))
	}
}

// design returns Φ of block k, from memory in a second pass if it was kept.
func (p *primal) design(k int, b *credence.Batch, again bool) *credence.Design {
	phi := &p.phi
	if k < len(p.kept) {
		phi = &p.kept[k]
		if again {
			return phi
		}
	}
	p.features.Transform(p.ws, phi, b)
	return phi
}

func (p *primal) load(ctx context.Context, features credence.Features) error {
	p.allocate()
	p.features = features
	all, err := p.addRows(ctx, features)
	if err != nil {
		return err
	}
	p.summary, p.gram, p.cross, p.square = all.summary, all.gram, all.cross, all.square
	p.layout.Diagonal(p.squares, p.gram)
	if err := (&problem.Sums{Weight: p.summary.weight, Squares: p.squares}).Check("exact", p.features); err != nil {
		return err
	}
	if p.intercept {
		totals := p.gram[:min(p.d, len(p.gram))]
		l, levels := p.layout.(gauss.Arrow)
		if levels {
			totals = make([]float64, p.d)
			totals[0] = 1
			l.Mul(totals, p.gram, slices.Clone(totals))
		}
		if p.centre(totals); levels {
			clear(p.means[l.Dense:])
		}
		for j, total := range totals {
			p.cross[j] -= p.means[j]*p.summary.sum + p.location*(total-p.means[j]*p.summary.precise)
		}
		p.square -= p.location * p.summary.sum
		p.layout.Centre(p.gram, p.means)
	}
	return nil
}

// freeze has nothing to keep: the sums are.
func (p *primal) freeze(bool) {}

// addRows forms the sums over all rows, unless they were given.
func (p *primal) addRows(ctx context.Context, features credence.Features) (*partial, error) {
	if p.rows == nil {
		all := new(partial)
		return all, p.rowSums.total(all)
	}
	p.rowSums.restart(p.d, p.rows.units)
	if p.tuned { // features that move have no sums to be merged
		for k := range p.rows.Blocks() {
			b, err := p.rows.Block(ctx, k)
			if err != nil {
				return nil, err
			}
			p.rowSums.add(p.ws, p.design(k, b, false), b)
		}
	} else if err := p.rowSums.addFiles(ctx, p.ws, p.rows.Rows, features); err != nil {
		return nil, err
	}
	err := p.rowSums.finish()
	p.rows.units = p.rowSums.open.units
	return &p.rowSums.open, err
}

func (p *primal) evaluate(ctx context.Context, at *values, slope *slopes) (float64, error) {
	problem.Spread(p.s, p.groups, func(k int) float64 { return math.Sqrt(at.prior[k]) })
	floats.Mul(p.s[:len(p.deviation)], p.deviation)
	precision := 1 / at.noise
	gram := p.gram
	copy(p.m, p.cross)
	if p.together != nil {
		p.together.Take(p.s, at.prior[len(p.groups):])
		gram = append(p.mixed[:0], p.gram...)
		p.mixed = gram
		p.together.Mix(gram)
		p.together.Cross(p.m)
	}
	if err := p.system.Set(gram, precision, p.s); !p.factored(err, p.system.Jitter()) {
		return math.NaN(), nil
	}
	kernel.Scale(precision, p.m)
	p.system.Whiten(p.m, p.q, p.m)
	p.together.Weights(p.m)
	penalty := 0.0 // mᵀΛ⁻¹m
	for _, v := range p.q {
		penalty += v * v
	}
	evidence := func(residual float64) float64 {
		return -0.5*(p.summary.weight*math.Log(2*math.Pi*at.noise)+p.system.LogDet()+residual*precision+penalty) -
			p.summary.weight*math.Log(p.summary.units.Scale) + p.summary.logPrecision
	}
	if slope == nil {
		return evidence(p.residual()), nil
	}
	p.system.Inverse(p.inverse)
	p.layout.Diagonal(p.traces, p.inverse)
	trace := 0.0
	for k, g := range p.groups {
		sum := 0.0
		for j := g.First; j < g.End(); j += g.Step() {
			v := p.q[j]
			trace += p.traces[j]
			sum += p.traces[j] + v*v
		}
		slope.prior[k] = (sum - float64(g.Count)) / 2
	}
	for j := range slope.weights {
		slope.weights[j] = p.traces[j] + p.q[j]*p.q[j] - 1
	}
	if p.together != nil {
		for _, sum := range p.sums {
			clear(sum)
		}
		p.sums = p.together.Moments(p.sums, p.inverse, p.q)
		p.together.Slopes(slope.prior, slope.prior[len(p.groups):], p.sums)
	}
	var residual float64
	if slope.hyper != nil && p.tuned {
		var err error
		if residual, err = p.backward(ctx, precision, slope.hyper); err != nil {
			return 0, err
		}
	} else {
		residual = p.residual()
	}
	// tr(ΦᵀWΦC)/σ² = tr(A⁻¹(A−I)) = d − tr A⁻¹.
	slope.noise = (residual*precision + float64(p.d) - trace - p.summary.weight) / 2
	return evidence(residual), nil
}

// residual returns ‖y'−Φm'‖² from the sums.
func (p *primal) residual() float64 {
	product := make([]float64, p.d)
	p.layout.Mul(product, p.gram, p.m)
	return math.Max(p.square-2*kernel.Dot(p.m, p.cross)+kernel.Dot(p.m, product), 0)
}

// posterior returns N(m, C).
func (p *primal) posterior() credence.Posterior {
	return p.ownUnits(p.m, slices.Clone(p.system.(gauss.Factor).Root()), 0)
}

// ownUnits returns the posterior, by the target's own units, with a mean and a factor of the covariance that it takes.
func (p *primal) ownUnits(mean, factor []float64, df float64) *posterior.Full {
	full := &posterior.Full{Mean: slices.Clone(mean[:p.d]), Factor: factor, DF: df}
	p.own().Own(full.Mean)
	p.own().Factor(full.Factor)
	return full
}
