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
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
)

// dual is the n×n form: with W the weights of the rows times their precisions
//
//	K = ΦΛΦᵀ + σ²W⁻¹     α = K⁻¹y
//	log p(y) = −½ [N log 2πσ² + log|B| + yᵀα],  B = I + √W ΦΛΦᵀ √W/σ²,  N = Σw
//	∂/∂log λ_j = ½ λ_j [(φ_jᵀα)² − φ_jᵀK⁻¹φ_j]
//	∂/∂Φ = (ααᵀ − K⁻¹) ΦΛ
//
// (Rasmussen & Williams 2006, eqs. 2.30 and 5.9), K⁻¹ as [gauss.Dual] has it. Φ stays in memory. Under an intercept
// columns are centred and targets less their mean: dense columns where they lie, sparse ones, which stay sparse, in
// what is formed of them.
type dual struct {
	common
	n        int
	held     *problem.Held
	design   *credence.Design // Φ, its dense columns centred
	dense    int              // its dense columns
	columns  linop.CSR        // its sparse columns, transposed
	roots    []float64        // √(w·precision); nil where all are 1
	y        []float64        // targets in units
	grams    [][]float64      // ΦΦᵀ of each group, n×n upper; nil when they are formed anew each time
	gramRoom [][]float64      // of grams, for the next features
	system   *gauss.Dual      // of the kernel and W
	// K⁻¹, n×n; before, in the same place, ΦΛΦᵀ/σ², of which the upper triangle is read. Such matrices are what limits
	// the rows of this form: there are three with one group of weights and one more with each other.
	inverse []float64
	alpha   []float64 // K⁻¹y
	lambda  []float64 // prior variances
	scales  []float64 // of the sparse columns, λ/σ²
	project []float64 // Φᵀα
	sums    []float64 // of the rows of K⁻¹
	slab    []float64 // a block of rows × dense
	part    []float64 // sums of the runs of a block, over dense columns
	last    values
	frozen  bool
	// What integration keeps: differences of the weights' means and their shares.
	shares, differences []float64
}

func (p *dual) load(ctx context.Context, features credence.Features) (err error) {
	p.features = features
	first := p.held == nil
	if first {
		if p.held, err = p.rows.Under(features).Held(ctx, p.ws); err != nil {
			return err
		}
		p.allocate()
	} else if err := p.held.Transform(ctx, p.ws, features); err != nil {
		return err
	}
	p.squares = p.held.Sums.Squares
	if p.intercept {
		p.centre(p.held.Sums.Totals)
		for i := range p.n {
			kernel.Axpy(-1, p.means[:p.dense], p.design.Dense.Row(i))
		}
	}
	if first {
		p.y = p.summary.units.targets(nil, &p.held.Batch)
		floats.AddConst(-p.location, p.y)
	}
	p.freeze(!p.tuned || p.frozen)
	return nil
}

// allocate makes room, and takes from the rows what stays whatever the features are.
func (p *dual) allocate() {
	n := p.rows.Count()
	p.n, p.design, p.dense, p.columns = n, &p.held.Design, p.held.Design.Dense.Cols, p.held.Design.Sparse.Transpose()
	p.system, p.inverse = gauss.NewDual(p.ws, n), make([]float64, n*n)
	p.alpha, p.project, p.lambda = make([]float64, n), make([]float64, p.d), make([]float64, p.d)
	p.part = make([]float64, (min(credence.BlockRows, n)+run-1)/run*p.dense)
	u, b := &p.summary.units, &p.held.Batch
	*u = p.rows.units
	p.summary.grow(b)
	p.summary.add(b, u.targets(nil, b))
	p.rows.units = *u
	for _, w := range p.held.Square {
		p.roots = append(p.roots, math.Sqrt(w))
	}
}

func (p *dual) freeze(frozen bool) {
	p.frozen = frozen
	switch {
	case frozen && len(p.groups)*p.n <= 4*p.d:
		p.setGrams()
	case p.tuned:
		p.grams = nil
	}
}

// setGrams forms ΦΦᵀ of every group.
func (p *dual) setGrams() {
	n, dense := p.n, &p.design.Dense
	if p.gramRoom == nil {
		p.gramRoom = make([][]float64, len(p.groups))
		for k := range p.gramRoom {
			p.gramRoom[k] = make([]float64, n*n)
		}
	}
	p.grams = p.gramRoom
	for k, g := range p.groups {
		m := p.grams[k]
		clear(m)
		if end := min(g.End(), p.dense); end > g.First {
			p.ws.Pool().Syrk(n, end-g.First, 1, dense.Data[g.First:], dense.Stride, 0, m, n)
		}
		if first, end := max(g.First, p.dense), g.End(); end > first {
			part := p.columns.Window(first-p.dense, end-first)
			p.addPairs(m, &part, first, nil)
		}
	}
}

// addPairs adds the scaled φφᵀ of sparse columns, of weights from first on, to the upper triangle of
// m; under an intercept (φ−x̄)(φ−x̄)ᵀ. Nil scales are 1.
func (p *dual) addPairs(m []float64, columns *linop.CSR, first int, scales []float64) {
	means := p.means
	if p.intercept {
		means = means[first:]
	}
	problem.AddOuter(p.ws, m, columns, means, scales, slices.Repeat([]float64{1}, p.n))
}

// setKernel forms ΦΛΦᵀ/σ², where K⁻¹ was.
func (p *dual) setKernel(at *values) {
	n, m, precision := p.n, p.inverse, 1/at.noise
	clear(m)
	if p.grams != nil {
		for k, g := range p.grams {
			p.ws.Each(n, func(i int) {
				kernel.Axpy(at.prior[k]*precision, g[i*n+i:(i+1)*n], m[i*n+i:(i+1)*n])
			})
		}
		return
	}
	problem.Spread(p.lambda, p.groups, func(k int) float64 { return at.prior[k] })
	if dense := &p.design.Dense; p.dense > 0 {
		p.ws.Pool().SyrkWeighted(n, p.dense, precision, dense.Data, dense.Stride, p.lambda, 0, m, n)
	}
	if p.columns.Rows > 0 {
		p.scales = append(p.scales[:0], p.lambda[p.dense:]...)
		kernel.Scale(precision, p.scales)
		p.addPairs(m, &p.columns, p.dense, p.scales)
	}
}

func (p *dual) evaluate(ctx context.Context, at *values, slope *slopes) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	p.last = values{noise: at.noise, prior: append(p.last.prior[:0], at.prior...)}
	p.setKernel(at)
	if err := p.system.Set(p.inverse, p.roots); !p.factored(err, p.system.Jitter()) {
		return math.NaN(), nil
	}
	quadratic := p.system.Solve(p.alpha, p.y) / at.noise // yᵀα
	evidence := -0.5*(p.summary.weight*math.Log(2*math.Pi*at.noise)+p.system.LogDet()+quadratic) -
		p.summary.weight*math.Log(p.summary.units.Scale) + p.summary.logPrecision
	if slope == nil {
		return evidence, nil
	}
	kernel.Scale(1/at.noise, p.alpha)
	p.system.Inverse(p.inverse)
	gaps := slices.Clone(p.alpha) // √W (y − f)/σ²
	for i, r := range p.roots {
		if r > 0 {
			gaps[i] /= r
		}
	}
	slope.noise = (p.system.Trace(p.inverse) + at.noise*kernel.Dot(gaps, gaps) - p.summary.weight) / 2
	p.ws.InRuns(p.n, func(from, to int) { kernel.Scale(1/at.noise, p.inverse[from*p.n:to*p.n]) })
	if p.grams != nil {
		p.slopesFromGrams(at, slope)
		return evidence, nil
	}
	return evidence, p.slopesFromDesign(ctx, at, slope)
}

// posterior returns the mean ΛΦᵀα, the intercept's for features that are not centred, and the
// factor √σ² U of K.
func (p *dual) posterior() credence.Posterior {
	u := p.own()
	q := &posterior.Dual{
		Mean: make([]float64, p.d), PriorVariance: make([]float64, p.d), Scale: u.Scale, Centre: u.Means,
		Design: p.raw(p.roots), Factor: slices.Clone(p.system.Upper()),
	}
	kernel.Scale(math.Sqrt(p.last.noise), q.Factor)
	p.projectTo(q.Mean)
	problem.Spread(q.PriorVariance, p.groups, func(k int) float64 { return p.last.prior[k] })
	floats.Mul(q.Mean, q.PriorVariance)
	u.Own(q.Mean)
	return q
}
