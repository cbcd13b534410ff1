package exact

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
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
// columns, ΦT for Φ, and of targets less their mean; see problem.CentreGram.
type primal struct {
	common
	rowSums *Sums
	all     *partial
	gram    []float64 // d×d, upper triangle of ΦᵀWΦ
	cross   []float64 // ΦᵀW y
	square  float64   // yᵀW y
	factor  []float64 // d×d, U with UᵀU = A
	inverse []float64 // A⁻¹, d×d; in backward C, which may be packed, with the sparse columns' rows at the end
	s, q, m []float64 // √λ; S⁻¹m; m
	kept    []credence.Design
	y       []float64
	fitted  []float64
	slab    []float64 // dPhi of a block
	narrow  narrow
}

func (p *primal) allocate() {
	if p.factor != nil {
		return
	}
	d := p.d
	p.factor = make([]float64, d*d)
	size := d * d
	if p.tuned {
		size = max(size, p.pool.PackedLen(d, d))
	}
	p.inverse = make([]float64, size)
	p.squares = make([]float64, d)
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
	if err := p.addRows(ctx); err != nil {
		return err
	}
	p.summary, p.gram, p.cross, p.square = p.all.summary, p.all.gram, p.all.cross, p.all.square
	for j := range p.d {
		p.squares[j] = p.gram[j*p.d+j]
	}
	if err := p.check(); err != nil {
		return err
	}
	if p.intercept {
		p.centre(p.gram[:p.d])
		for j, total := range p.gram[:p.d] {
			p.cross[j] -= p.means[j]*p.summary.sum + p.location*(total-p.means[j]*p.summary.precise)
		}
		p.square -= p.location * p.summary.sum
		problem.CentreGram(p.gram, p.means)
	}
	return nil
}

// freeze has nothing to keep: the sums are.
func (p *primal) freeze(bool) {}

// addRows forms the sums over all rows, unless they were given.
func (p *primal) addRows(ctx context.Context) error {
	if p.rows == nil {
		p.all = new(partial)
		return p.rowSums.total(p.all)
	}
	p.rowSums.restart(p.d, p.rows.units)
	for k := range p.rows.Blocks() {
		b, err := p.rows.Block(ctx, k)
		if err != nil {
			return err
		}
		p.rowSums.add(p.ws, p.design(k, b, false), b)
	}
	p.all = &p.rowSums.open
	if err := p.rowSums.finish(); err != nil {
		return err
	}
	p.rows.units = p.all.units
	return nil
}

func (p *primal) evaluate(ctx context.Context, at *values, slope *slopes) (float64, error) {
	d := p.d
	problem.Spread(p.s, p.groups, func(k int) float64 { return math.Sqrt(at.prior[k]) })
	precision := 1 / at.noise
	pivot := p.factorise(d, p.factor, func() { p.fill(precision) })
	if p.failed = nil; pivot >= 0 {
		p.failed = p.explain(pivot)
		return math.NaN(), nil
	}
	for j, s := range p.s {
		p.q[j] = s * p.cross[j] * precision
	}
	p.pool.TrsmLeft(true, d, 1, p.factor, max(1, d), p.q, 1)
	p.pool.TrsmLeft(false, d, 1, p.factor, max(1, d), p.q, 1)
	for j, s := range p.s {
		p.m[j] = s * p.q[j]
	}
	penalty := 0.0 // mᵀΛ⁻¹m
	for _, v := range p.q {
		penalty += v * v
	}
	evidence := func(residual float64) float64 {
		return -0.5*(p.summary.weight*math.Log(2*math.Pi*at.noise)+logDeterminant(d, p.factor)+residual*precision+penalty) -
			p.summary.weight*math.Log(p.summary.units.Scale) + p.summary.logPrecision
	}
	if slope == nil {
		return evidence(p.residual()), nil
	}
	p.pool.CholeskyInverse(d, p.factor, max(1, d), p.inverse, max(1, d))
	trace := 0.0
	for k, g := range p.groups {
		sum := 0.0
		for j := g.First; j < g.End(); j++ {
			v := p.q[j]
			trace += p.inverse[j*d+j]
			sum += p.inverse[j*d+j] + v*v
		}
		slope.prior[k] = (sum - float64(g.Count)) / 2
	}
	var residual float64
	if slope.hyper != nil {
		var err error
		if residual, err = p.backward(ctx, precision, slope.hyper); err != nil {
			return 0, err
		}
	} else {
		residual = p.residual()
	}
	// tr(ΦᵀWΦC)/σ² = tr(A⁻¹(A−I)) = d − tr A⁻¹.
	slope.noise = (residual*precision + float64(d) - trace - p.summary.weight) / 2
	return evidence(residual), nil
}

// fill stores the upper triangle of A.
func (p *primal) fill(precision float64) {
	d := p.d
	p.ws.InRuns(d, func(from, to int) {
		for i := from; i < to; i++ {
			scale := p.s[i] * precision
			row, source := p.factor[i*d:(i+1)*d], p.gram[i*d:(i+1)*d]
			for j := i; j < d; j++ {
				row[j] = scale * p.s[j] * source[j]
			}
			row[i]++
		}
	})
}

// residual returns ‖y'−Φm'‖² from the sums.
func (p *primal) residual() float64 {
	d := p.d
	sum := p.square - 2*kernel.Dot(p.m, p.cross)
	for i, m := range p.m {
		row := p.gram[i*d+i : (i+1)*d]
		sum += m * (2*kernel.Dot(row, p.m[i:]) - row[0]*m)
	}
	return math.Max(sum, 0)
}

// posterior returns N(m, C) with C = F Fᵀ, F = S U⁻¹.
func (p *primal) posterior() credence.Posterior {
	d, u := p.d, p.summary.units
	full := &posterior.Full{Mean: make([]float64, d), Factor: make([]float64, d*d)}
	for j, m := range p.m {
		full.Mean[j] = m * u.Scale
		full.Factor[j*d+j] = p.s[j] * u.Scale
	}
	p.pool.TrsmRight(false, d, d, p.factor, max(1, d), full.Factor, max(1, d))
	if p.intercept {
		full.Mean[0] += u.Centre + u.Scale*p.location
		problem.Uncentre(p.means, full.Mean)
		problem.UncentreFactor(p.means, full.Factor)
	}
	return full
}

// explain says which column a failed pivot stands for, and which earlier one it repeats.
func (p *primal) explain(pivot int) error {
	d := p.d
	twin, closest := -1, 0.0
	for i := range pivot {
		c := math.Abs(p.gram[i*d+pivot]) / math.Sqrt(p.gram[i*d+i]*p.gram[pivot*d+pivot])
		if c > closest {
			twin, closest = i, c
		}
	}
	which := ""
	if twin >= 0 {
		which = fmt.Sprintf(", most like %s", problem.WeightName(p.features, twin))
	}
	return fmt.Errorf("exact: Gram matrix is not positive definite (pivot %d of %d: %s%s): two feature columns may be equal; raise the noise variance, hold the prior variance or drop one",
		pivot+1, d, problem.WeightName(p.features, pivot), which)
}
