package sep

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
)

// simulated is a probit spike-and-slab problem small enough for the oracles. The
// last column of x is the bias: always 1, prior N(0, biasVariance), no spike.
type simulated struct {
	x              [][]float64
	y              []int
	inclusion      float64
	slab           float64
	testX          [][]float64
	testTruth      []float64 // P(y=1) of the test rows under the true weights
	features, rows int
}

// draw labels rows with true weights: the bias is bias, the others nonzero with
// probability share.
func (p *simulated) draw(rng *rand.Rand, x, testX [][]float64, share, sd, bias float64) {
	d := len(x[0]) - 1
	w := make([]float64, d+1)
	for j := range d {
		if rng.Float64() < share {
			w[j] = sd * rng.NormFloat64()
		}
	}
	w[d] = bias
	p.x, p.testX, p.features, p.rows = x, testX, d, len(x)
	for _, row := range x {
		label := 0
		if rng.Float64() < special.NormalCDF(inner(row, w)) {
			label = 1
		}
		p.y = append(p.y, label)
	}
	for _, row := range testX {
		p.testTruth = append(p.testTruth, special.NormalCDF(inner(row, w)))
	}
	p.inclusion, p.slab = share, sd*sd
}

func inner(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// denseProblem has n rows of d standard normal inputs.
func denseProblem(n, d int, seed uint64) *simulated {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := func(n int) [][]float64 {
		x := make([][]float64, n)
		for i := range x {
			x[i] = make([]float64, d+1)
			for j := range d {
				x[i][j] = rng.NormFloat64()
			}
			x[i][d] = 1
		}
		return x
	}
	p := &simulated{}
	p.draw(rng, rows(n), rows(1000), 0.2, 0.4, -0.5)
	return p
}

// oneHotProblem has n rows with one level of each field, levels by a power law.
func oneHotProblem(n int, fields []int, seed uint64) *simulated {
	rng := rand.New(rand.NewPCG(seed, 2))
	d := 0
	for _, levels := range fields {
		d += levels
	}
	rows := func(n int) [][]float64 {
		x := make([][]float64, n)
		for i := range x {
			x[i] = make([]float64, d+1)
			first := 0
			for _, levels := range fields {
				// Ranks with density 1/(r+1), cut at the number of levels.
				level := int(math.Exp(rng.Float64()*math.Log(float64(levels+1)))) - 1
				x[i][first+level] = 1
				first += levels
			}
			x[i][d] = 1
		}
		return x
	}
	p := &simulated{}
	p.draw(rng, rows(n), rows(1000), 0.3, 0.7, -0.8)
	return p
}

// hyper holds the true ρ0 and τ0, so that only the inference is compared.
func (p *simulated) hyper() Hyper {
	return Hyper{
		Inclusion: param.Parameter{Value: p.inclusion, State: param.Held},
		Slab:      param.Parameter{Value: p.slab, State: param.Held},
	}
}

// batchOf makes the rows a batch, leaving out the bias column and zeros.
func batchOf(x [][]float64, y []int) *credence.Batch {
	b := &credence.Batch{X: linop.Dense{Rows: len(x)}}
	d := len(x[0]) - 1
	b.Sparse = linop.CSR{Rows: len(x), Cols: d, Start: []int{0}}
	for i, row := range x {
		for j, v := range row[:d] {
			if v != 0 {
				b.Sparse.Index = append(b.Sparse.Index, int32(j))
				b.Sparse.Value = append(b.Sparse.Value, v)
			}
		}
		b.Sparse.Start = append(b.Sparse.Start, len(b.Sparse.Index))
		label := 0.0
		if y != nil {
			label = float64(y[i])
		}
		b.Target = append(b.Target, label)
	}
	return b
}

// learned runs passes of the learner over the problem.
func (p *simulated) learned(cfg Config, passes int) *Learner {
	l, err := NewLearner(cfg, p.hyper())
	if err != nil {
		panic(err)
	}
	batch := batchOf(p.x, p.y)
	probability := make([]float64, p.rows)
	for pass := range passes {
		if pass > 0 {
			l.EndPass()
		}
		l.Learn(batch, probability)
	}
	l.EndPass()
	l.Refresh()
	return l
}

// answer is what an oracle says.
type answer struct {
	inclusion []float64
	test      []float64 // P(y=1) of the test rows
}

// logLoss is the expected log loss of the test rows under the true probabilities.
func (p *simulated) logLoss(probability []float64) float64 {
	sum := 0.0
	for i, q := range p.testTruth {
		sum -= q*math.Log(probability[i]) + (1-q)*math.Log1p(-probability[i])
	}
	return sum / float64(len(probability))
}

func (p *simulated) ofLearner(l *Learner) answer {
	a := answer{inclusion: make([]float64, p.features), test: make([]float64, len(p.testX))}
	for j := range a.inclusion {
		a.inclusion[j] = l.Weight(j).Inclusion
	}
	scoreOnly(l, batchOf(p.testX, nil), a.test)
	return a
}

// scoreOnly scores rows by taking their targets away.
func scoreOnly(l *Learner, b *credence.Batch, probability []float64) {
	rows := *b
	rows.Target = slices.Repeat([]float64{math.NaN()}, b.Sparse.Rows)
	l.Learn(&rows, probability)
}

func rmse(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum / float64(len(a)))
}

// gibbs is the truth up to Monte Carlo error: the latent normals of Albert &
// Chib (1993), and of each weight the inclusion given the others with the weight
// itself integrated out. Inclusion and predictions are Rao–Blackwellised.
func (p *simulated) gibbs(sweeps int, seed uint64) answer {
	rng := rand.New(rand.NewPCG(seed, 3))
	n, d := p.rows, p.features
	type entry struct {
		row int
		x   float64
	}
	columns := make([][]entry, d+1)
	norm := make([]float64, d+1)
	for i, row := range p.x {
		for j, v := range row {
			if v != 0 {
				columns[j] = append(columns[j], entry{i, v})
				norm[j] += v * v
			}
		}
	}
	w := make([]float64, d+1)
	f := make([]float64, n)
	residual := make([]float64, n) // z − f
	a := answer{inclusion: make([]float64, d), test: make([]float64, len(p.testX))}
	kept := 0
	priorLogit := math.Log(p.inclusion / (1 - p.inclusion))
	for sweep := range sweeps {
		for i := range f {
			residual[i] = truncated(rng, f[i], p.y[i]) - f[i]
		}
		for j := range d + 1 {
			q := norm[j] * w[j]
			for _, e := range columns[j] {
				q += e.x * residual[e.row]
			}
			slab, logit := p.slab, priorLogit
			if j == d {
				slab, logit = biasVariance, math.Inf(1)
			}
			grown := 1 + slab*norm[j]
			logit += -0.5*math.Log(grown) + 0.5*slab*q*q/grown
			alpha := 1 / (1 + math.Exp(-logit))
			next := 0.0
			if rng.Float64() < alpha {
				next = slab*q/grown + math.Sqrt(slab/grown)*rng.NormFloat64()
			}
			if change := next - w[j]; change != 0 {
				for _, e := range columns[j] {
					f[e.row] += e.x * change
					residual[e.row] -= e.x * change
				}
				w[j] = next
			}
			if j < d && sweep >= sweeps/5 {
				a.inclusion[j] += alpha
			}
		}
		if sweep >= sweeps/5 {
			kept++
			if sweep%5 == 0 {
				for i, row := range p.testX {
					a.test[i] += 5 * special.NormalCDF(inner(row, w))
				}
			}
		}
	}
	for j := range a.inclusion {
		a.inclusion[j] /= float64(kept)
	}
	for i := range a.test {
		a.test[i] = min(1-1e-9, a.test[i]/float64(kept))
	}
	return a
}

// truncated draws z ~ N(f, 1) given its sign.
func truncated(rng *rand.Rand, f float64, label int) float64 {
	m := f
	if label == 0 {
		m = -f
	}
	// P(N > −m) by inversion in the upper tail, which keeps its accuracy.
	u := rng.Float64() * special.NormalCDF(m)
	z := m - special.NormalQuantile(u)
	if label == 0 {
		return -z
	}
	return z
}

// fullEP is expectation propagation run to convergence with one factor a row, in
// the factorised family of the learner: the fixed point that SEP approximates.
// Sites are updated one after another, every cavity exact.
func (p *simulated) fullEP(sweeps int) answer {
	d := p.features
	lambda := make([]float64, d+1) // of q
	shift := make([]float64, d+1)
	priorLambda := make([]float64, d+1)
	priorShift := make([]float64, d+1)
	alpha := make([]float64, d)
	for j := range d {
		priorLambda[j] = 1 / (p.inclusion * p.slab)
	}
	priorLambda[d] = 1.0 / biasVariance
	copy(lambda, priorLambda)
	siteLambda := make([][]float64, p.rows)
	siteShift := make([][]float64, p.rows)
	for i := range siteLambda {
		siteLambda[i] = make([]float64, d+1)
		siteShift[i] = make([]float64, d+1)
	}
	for range sweeps {
		for i, row := range p.x {
			s, mean := 1.0, 0.0
			for j, x := range row {
				c := 1 / (lambda[j] - siteLambda[i][j])
				s += x * x * c
				mean += x * c * (shift[j] - siteShift[i][j])
			}
			sign := 1.0
			if p.y[i] == 0 {
				sign = -1
			}
			_, r, slope := special.LogNormalCDFDerivatives(sign * mean / math.Sqrt(s))
			for j, x := range row {
				if x == 0 {
					continue
				}
				cavity := lambda[j] - siteLambda[i][j]
				m := (shift[j] - siteShift[i][j]) / cavity
				a, b := sign*x*r/math.Sqrt(s), x*x*slope/s
				newLambda, newShift := b/(1-b/cavity), (a+m*b)/(1-b/cavity)
				lambda[j] += newLambda - siteLambda[i][j]
				shift[j] += newShift - siteShift[i][j]
				siteLambda[i][j], siteShift[i][j] = newLambda, newShift
			}
		}
		for j := range d {
			c := 1 / (lambda[j] - priorLambda[j])
			m := c * (shift[j] - priorShift[j])
			logOdds := math.Log(p.inclusion/(1-p.inclusion)) +
				0.5*math.Log(c/(c+p.slab)) + 0.5*m*m*(1/c-1/(c+p.slab))
			alpha[j] = 1 / (1 + math.Exp(-logOdds))
			slabMean, slabVariance := m*p.slab/(c+p.slab), c*p.slab/(c+p.slab)
			variance := alpha[j]*slabVariance + alpha[j]*(1-alpha[j])*slabMean*slabMean
			variance = max(variance, 1e-12)
			if next := 1/variance - 1/c; next > 0 {
				lambda[j], shift[j] = 1/c+next, alpha[j]*slabMean/variance
				priorLambda[j], priorShift[j] = next, shift[j]-m/c
			}
		}
	}
	a := answer{inclusion: alpha, test: make([]float64, len(p.testX))}
	for i, row := range p.testX {
		s, mean := 1.0, 0.0
		for j, x := range row {
			s += x * x / lambda[j]
			mean += x * shift[j] / lambda[j]
		}
		a.test[i] = special.NormalCDF(mean / math.Sqrt(s))
	}
	return a
}
