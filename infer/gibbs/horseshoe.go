package gibbs

import (
	"context"
	"math"

	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// shrinkage is the state of a chain under the regularised horseshoe (Piironen & Vehtari 2017), whose rows
// are those of a chain of flips:
//
//	w_j ~ N(0, v_j)   1/v_j = 1/(τλ_j)² + 1/c²   λ_j ~ t⁺_ν   τ ~ C⁺(0, τ₀)   c² ~ IG(2, 2·2.5²/mean square of a column)
//
// All scales move by slices. A weight's own scale, given the weight, is one number; the global scale,
// which many weights pin down, also moves with the weights, at fixed w_j/√v_j, and against the local
// ones, at fixed τλ_j.
type shrinkage struct {
	*chain
	df, reach float64 // ν, and τ₀ over the noise deviation of normal rows
	learned   bool    // τ
	width     float64 // scale of the prior of c
	weights   []float64
	local     []float64 // log λ
	global    float64   // log τ
	slab      float64   // log c

	prior, noisy []float64 // d and n
	square       []float64 // n×n or d×d
}

// Of the prior of c: its degrees of freedom, and its scale in units of the target (Piironen & Vehtari
// 2017, section 5; the scale is that of rstanarm). farthest bounds logarithms of scales.
const (
	slabDF    = 4.0
	slabScale = 2.5
	farthest  = 40.0
)

func (f *fit) newShrinkage(c *chain) *shrinkage {
	d, h := f.Table.Count(), f.horseshoe
	count := float64(len(f.Candidates))
	s := &shrinkage{chain: c, df: h.Degrees(), learned: h.Scale.State != param.Held, width: slabScale / math.Sqrt(f.Size),
		weights: make([]float64, d), local: make([]float64, d), prior: make([]float64, d), noisy: make([]float64, f.Rows)}
	s.reach = f.Expected / (count - f.Expected) / math.Sqrt(f.Size*f.Total)
	if f.Classes {
		s.reach *= candidates.PseudoNoise(f.Link)
	}
	s.global, s.slab = math.Log(s.bound()), math.Log(s.width)
	if h.Scale.Value > 0 {
		s.global = math.Log(h.Scale.Value / f.Units.Scale)
	}
	copy(s.weights, f.KeptMean)
	side := min(f.Rows, d)
	s.square = make([]float64, side*side)
	return s
}

// bound is τ₀.
func (s *shrinkage) bound() float64 {
	if s.Classes {
		return s.reach
	}
	return s.reach * math.Exp(s.logNoise)
}

// variance is v_j.
func (s *shrinkage) variance(j int) float64 {
	if v := s.Kept[j]; v > 0 {
		return v
	}
	return 1 / (math.Exp(-2*(s.global+s.local[j])) + math.Exp(-2*s.slab))
}

// logWeights is the log density of the candidates' weights given all scales, but for a constant.
func (s *shrinkage) logWeights() float64 {
	sum := 0.0
	for _, c := range s.Candidates {
		j := c.First
		v := s.variance(j)
		sum -= (math.Log(v) + s.weights[j]*s.weights[j]/v) / 2
	}
	return sum
}

// logLocal is the log density of u = log λ.
func (s *shrinkage) logLocal(u float64) float64 {
	return u - (s.df+1)/2*math.Log1p(math.Exp(2*u)/s.df)
}

// logGlobal is that of log τ.
func (s *shrinkage) logGlobal(u float64) float64 {
	v, _, _ := hyper.HalfCauchy(s.bound()).At(u)
	return v
}

// logRows is the log density of the rows given the weights, but for a constant: of classes that of the classes
// themselves.
func (s *shrinkage) logRows() float64 {
	s.Mul(s.ws, s.row, s.weights)
	sum := 0.0
	if s.Classes {
		family := likelihood.Bernoulli{Link: s.Link}
		for i, unit := range s.Unit() {
			if unit != 0 {
				sum += unit * unit * family.LogDensity(s.Setting.Target[i], s.row[i]/unit+s.OffsetOf(i))
			}
		}
		return sum
	}
	for i, f := range s.row {
		gap := s.y[i] - f
		sum -= gap * gap / s.noise[i] / 2
	}
	return sum
}

// at is a log density as a function of one number of the state.
func at(value *float64, logDensity func() float64) func(x float64) float64 {
	return func(x float64) float64 {
		if math.Abs(x) > farthest {
			return math.Inf(-1)
		}
		*value = x
		return logDensity()
	}
}

// sweep draws everything once. The global scale moves with the weights before the variables behind the rows of classes
// are drawn, so that these do not hold it.
func (s *shrinkage) sweep() error {
	if s.learned {
		s.moveTogether()
	}
	if s.Classes {
		if err := s.drawRows(s.weights); err != nil {
			return err
		}
	}
	if err := s.drawWeights(); err != nil {
		return err
	}
	move := func(value *float64, logDensity func() float64) {
		*value = slice(s.rng, *value, 1, at(value, logDensity))
	}
	for _, c := range s.Candidates {
		j := c.First
		square := s.weights[j] * s.weights[j]
		move(&s.local[j], func() float64 {
			v := s.variance(j)
			return s.logLocal(s.local[j]) - (math.Log(v)+square/v)/2
		})
	}
	if s.learned {
		move(&s.global, func() float64 { return s.logWeights() + s.logGlobal(s.global) })
		s.moveAgainst()
	}
	move(&s.slab, func() float64 {
		return s.logWeights() - slabDF*s.slab - slabDF/2*s.width*s.width*math.Exp(-2*s.slab)
	})
	for k, b := range s.KeptBlocks {
		sum := 0.0
		for j := b.First; j < b.First+b.Count; j++ {
			sum += s.weights[j] * s.weights[j]
		}
		move(&s.logKept[k], func() float64 {
			u := s.logKept[k]
			v, _, _ := b.Prior.At(u)
			return v - float64(b.Count)*u - sum/2*math.Exp(-2*u)
		})
		s.SetKept(k, s.logKept[k])
	}
	if s.Noise.Learned {
		s.moveNoise()
	}
	return nil
}

// moveTogether moves τ and the weights with it, at fixed w_j/√v_j: where the rows say little, the weights
// follow τ and would hold it.
func (s *shrinkage) moveTogether() {
	standard := make([]float64, len(s.weights))
	for _, c := range s.Candidates {
		standard[c.First] = s.weights[c.First] / math.Sqrt(s.variance(c.First))
	}
	density := at(&s.global, func() float64 {
		for _, c := range s.Candidates {
			s.weights[c.First] = standard[c.First] * math.Sqrt(s.variance(c.First))
		}
		return s.logRows() + s.logGlobal(s.global)
	})
	s.global = slice(s.rng, s.global, 1, density)
	density(s.global) // weights where it ended
}

// moveAgainst moves τ and all λ against it, which no weight notices.
func (s *shrinkage) moveAgainst() {
	from, by := s.global, 0.0
	density := func(by float64) float64 {
		if math.Abs(from+by) > farthest {
			return math.Inf(-1)
		}
		sum := s.logGlobal(from + by)
		for _, c := range s.Candidates {
			sum += s.logLocal(s.local[c.First] - by)
		}
		return sum
	}
	by = slice(s.rng, by, 0.3, density)
	s.global = from + by
	for _, c := range s.Candidates {
		s.local[c.First] -= by
	}
}

// moveNoise moves σ, of which τ₀ is a multiple.
func (s *shrinkage) moveNoise() {
	from := s.logNoise
	rest := s.Rest - 2*s.logRows()*math.Exp(2*from)
	s.logNoise = slice(s.rng, from, 1, at(&s.logNoise, func() float64 {
		if s.logNoise < hyper.LeastLogNoise {
			return math.Inf(-1)
		}
		v, _, _ := s.NoisePrior.At(s.logNoise)
		if s.learned {
			v += s.logGlobal(s.global)
		}
		return v - s.Total*s.logNoise - rest/2*math.Exp(-2*s.logNoise)
	}))
	s.setNoise()
}

// drawWeights draws all weights given their variances v and the rows, in the form of the smaller side: that of
// Bhattacharya, Chakraborty & Mallick (2016, algorithm 1) of fewer rows than columns,
//
//	u ~ N(m, V)   e ~ N(0, N)   w = u + VXᵀ (N + XVXᵀ)⁻¹ (y − Xu − e)
//
// and the Cholesky factor of the precision of more rows (Rue 2001).
func (s *shrinkage) drawWeights() error {
	n, d, pool := s.Rows, len(s.weights), s.ws.Pool()
	for j := range s.prior {
		s.prior[j] = s.variance(j)
	}
	if n > d {
		return s.drawByPrecision()
	}
	s.Outer(s.ws, s.square, s.prior)
	for i, v := range s.noise {
		s.square[i*n+i] += v
	}
	if _, ok := pool.Cholesky(n, s.square, n); !ok {
		return errDegenerate
	}
	s.stretch(func(v []float64) float64 {
		pool.TrsmLeft(true, n, 1, s.square, n, v, 1)
		return kernel.Dot(v, v)
	})
	for j, v := range s.prior {
		s.weights[j] = s.KeptMean[j] + math.Sqrt(v)*s.rng.NormFloat64()
	}
	s.Mul(s.ws, s.row, s.weights)
	for i, v := range s.noise {
		s.noisy[i] = s.y[i] - s.row[i] - math.Sqrt(v)*s.rng.NormFloat64()
	}
	pool.TrsmLeft(true, n, 1, s.square, n, s.noisy, 1)
	pool.TrsmLeft(false, n, 1, s.square, n, s.noisy, 1)
	s.MulTrans(s.ws, s.change, s.noisy)
	for j, v := range s.prior {
		s.weights[j] += v * s.change[j]
	}
	return nil
}

func (s *shrinkage) drawByPrecision() error {
	d, pool := len(s.weights), s.ws.Pool()
	for i, v := range s.noise {
		s.noisy[i] = 1 / v
	}
	s.Products(s.ws, s.square, s.noisy)
	for j, v := range s.prior {
		s.square[j*d+j] += 1 / v
	}
	if _, ok := pool.Cholesky(d, s.square, d); !ok {
		return errDegenerate
	}
	s.stretch(func(v []float64) float64 {
		sum := kernel.Dot(v, v)
		s.MulTrans(s.ws, s.change, v)
		pool.TrsmLeft(true, d, 1, s.square, d, s.change, 1)
		return sum - kernel.Dot(s.change, s.change)
	})
	for i, v := range s.noise {
		s.row[i] = s.y[i] / v
	}
	s.MulTrans(s.ws, s.change, s.row)
	for j, v := range s.prior {
		s.change[j] += s.KeptMean[j] / v
	}
	pool.TrsmLeft(true, d, 1, s.square, d, s.change, 1)
	for j := range s.change {
		s.change[j] += s.rng.NormFloat64()
	}
	pool.TrsmLeft(false, d, 1, s.square, d, s.change, 1)
	copy(s.weights, s.change)
	return nil
}

// trace is what a chain leaves behind.
type trace struct {
	global, slab, noise []float64 // logarithms, of every sweep that counts
	kept                [][]float64
	draws               []float64
}

// run makes sweeps, a quarter of which are forgotten, and keeps draws evenly spread over the others.
func (s *shrinkage) run(ctx context.Context, sweeps, draws int) (*trace, error) {
	out, warm := &trace{kept: make([][]float64, len(s.logKept))}, sweeps/4
	kept := 0
	for sweep := range sweeps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.sweep(); err != nil {
			return nil, err
		}
		done := sweep - warm + 1
		if done <= 0 {
			continue
		}
		out.global, out.slab, out.noise = append(out.global, s.global), append(out.slab, s.slab), append(out.noise, s.logNoise)
		for k, u := range s.logKept {
			out.kept[k] = append(out.kept[k], u)
		}
		for ; kept*(sweeps-warm) < done*draws && kept < draws; kept++ {
			out.draws = append(out.draws, s.weights...)
		}
	}
	return out, nil
}
