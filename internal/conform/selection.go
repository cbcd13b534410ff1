package conform

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Selection is a selection problem: n rows of p columns, of which some matter.
type Selection struct {
	credence.Batch
	Features credence.Features // an intercept and one block of all columns
	Weights  []float64         // the true ones, length p
	// KeptVariance is the prior variance of kept columns by which models are enumerated.
	KeptVariance float64
	// Odds are prior odds of columns by which models are enumerated, in the place of those of the inclusion; 0
	// leaves a column to it.
	Odds []float64
}

// NewSelection draws columns with pairwise correlation, relevant of which, at random places, have
// N(0, slab) weights, and normal targets about 0.7 + Xw. Of sparse columns
// a third of the entries are not 0.
func NewSelection(n, p, relevant int, correlation, slab, noise float64, sparse bool, seed uint64) *Selection {
	rng := rand.New(rand.NewPCG(seed, 77))
	s := &Selection{Weights: make([]float64, p)}
	for _, j := range rng.Perm(p)[:relevant] {
		s.Weights[j] = math.Sqrt(slab) * rng.NormFloat64()
	}
	x := linop.NewDense(n, p)
	for i := range n {
		row, common, f := x.Row(i), rng.NormFloat64(), 0.7
		for j := range row {
			row[j] = math.Sqrt(correlation)*common + math.Sqrt(1-correlation)*rng.NormFloat64()
			if sparse && rng.IntN(3) > 0 {
				row[j] = 0
			}
			f += row[j] * s.Weights[j]
		}
		s.Target = append(s.Target, f+math.Sqrt(noise)*rng.NormFloat64())
	}
	s.X = x
	s.Features = Columns{Dense: p, Intercept: true}
	if sparse {
		s.Features = Columns{Sparse: p, Intercept: true}
	}
	return s
}

// WeightOdds are Odds of the weights, of which the first is the intercept.
func (s *Selection) WeightOdds() []float64 { return append([]float64{0}, s.Odds...) }

// Divide makes classes of the targets: 1 above the limit and 0 below.
func (s *Selection) Divide(limit float64) {
	for i, y := range s.Target {
		s.Target[i] = 0
		if y > limit {
			s.Target[i] = 1
		}
	}
}

// Shift adds a number to all entries, which the intercept alone makes up for.
func (s *Selection) Shift(by float64) { floats.AddConst(by, s.X.Data) }

// LatentSD is the root of the mean variance of f over the rows.
func (s *Selection) LatentSD(q credence.Posterior) float64 {
	var phi credence.Design
	ws, mean, variance := credence.NewWorkspace(1), make([]float64, len(s.Target)), make([]float64, len(s.Target))
	s.Features.Transform(ws, &phi, &s.Batch)
	q.Latent(ws, mean, variance, &phi)
	return math.Sqrt(floats.Sum(variance) / float64(len(variance)))
}

// Enumerate returns the inclusion probabilities, the means of the weights and the log evidence of a
// problem under w_j ~ inclusion·N(0, slab) + (1−inclusion)·δ₀, noise variance and an intercept of
// N(mean, variance) at the columns' means, by going through all models: columns together are one, and kept
// ones are in each.
func (s *Selection) Enumerate(inclusion, slab, noise, mean, variance float64) (probability, weights []float64, evidence float64) {
	return s.EnumerateNormals(inclusion, slab, 0, noise, mean, variance)
}

// EnumerateNormals is Enumerate with N(0, spike) in place of δ₀. With V the prior variances of the columns and the
// intercept, W the weights of the rows and s² the noise variance, a model's log evidence is
//
//	−½ (Σ wᵢ log 2πs² + yᵀWy/s² + log |A| − bᵀA⁻¹b),   A = I + V½ XᵀWX V½/s²,   b = V½ XᵀWy/s²
//
// and the means of its weights are V½ A⁻¹b.
func (s *Selection) EnumerateNormals(inclusion, slab, spike, noise, mean, variance float64) (probability, weights []float64, evidence float64) {
	n, p := len(s.Target), len(s.Weights)
	total, square, constant := 0.0, 0.0, 0.0
	centre := make([]float64, p)
	for i := range n {
		total += s.WeightOf(i)
		for j, x := range s.X.Row(i) {
			centre[j] += s.WeightOf(i) * x
		}
	}
	gram, moments := mat.NewSymDense(p+1, nil), make([]float64, p+1) // the intercept last
	row := mat.NewVecDense(p+1, nil)
	for i := range n {
		w, y := s.WeightOf(i), s.Target[i]-s.OffsetOf(i)-mean
		for j, x := range s.X.Row(i) {
			row.SetVec(j, x-centre[j]/total)
		}
		row.SetVec(p, 1)
		gram.SymRankOne(gram, w, row)
		for j := range moments {
			moments[j] += w * y * row.AtVec(j)
		}
		square += w * y * y
		constant -= w / 2 * math.Log(2*math.Pi*noise)
	}
	prior := make([]float64, p+1)
	prior[p] = variance
	units, kept := s.units()
	logs := make([]float64, 1<<len(units))
	means := make([][]float64, len(logs))
	a, b, solved := mat.NewSymDense(p+1, nil), mat.NewVecDense(p+1, nil), mat.NewVecDense(p+1, nil)
	for model := range logs {
		for j := range p {
			if prior[j] = spike; j < kept {
				prior[j] = s.KeptVariance
			}
		}
		for u, unit := range units {
			inclusion := inclusion
			if s.Odds != nil && s.Odds[unit.First] > 0 {
				inclusion = s.Odds[unit.First] / (1 + s.Odds[unit.First])
			}
			if model>>u&1 == 1 {
				logs[model] += math.Log(inclusion)
				for j := unit.First; j < unit.First+unit.Count; j++ {
					prior[j] = slab
				}
			} else {
				logs[model] += math.Log(1 - inclusion)
			}
		}
		for j, vj := range prior {
			for l, vl := range prior[:j+1] {
				a.SetSym(j, l, math.Sqrt(vj*vl)*gram.At(j, l)/noise)
			}
			a.SetSym(j, j, 1+a.At(j, j))
			b.SetVec(j, math.Sqrt(vj)*moments[j]/noise)
		}
		var chol mat.Cholesky
		if !chol.Factorize(a) {
			panic("conform: not positive definite")
		}
		if err := chol.SolveVecTo(solved, b); err != nil {
			panic(err)
		}
		logs[model] += constant - (chol.LogDet()+square/noise-mat.Dot(b, solved))/2
		means[model] = make([]float64, p)
		for j := range p {
			means[model][j] = math.Sqrt(prior[j]) * solved.AtVec(j)
		}
	}
	evidence = floats.LogSumExp(logs)
	probability, weights = make([]float64, p), make([]float64, p)
	for model, l := range logs {
		share := math.Exp(l - evidence)
		for j := range p {
			weights[j] += share * means[model][j]
			if j < kept {
				probability[j] = 1
			}
		}
		for u, unit := range units {
			for j := unit.First; j < unit.First+unit.Count && model>>u&1 == 1; j++ {
				probability[j] += share
			}
		}
	}
	return probability, weights, evidence
}

// units are the runs of columns that are in or out together, and the number of kept columns before them.
func (s *Selection) units() (list []credence.Block, kept int) {
	count := map[int]int{}
	if f, ok := s.Features.(Columns); ok {
		kept = f.Kept
		for _, b := range f.Together {
			count[b.First] = b.Count
		}
	}
	for j := kept; j < len(s.Weights); j += max(1, count[j]) {
		list = append(list, credence.Block{First: j, Count: max(1, count[j])})
	}
	return list, kept
}

// EnumerateKept is Enumerate with the prior deviation of kept columns integrated over, by the trapezium rule in
// its logarithm. prior is its log density, centre about where it lies, and unit the standard deviation of 1
// there in the target's own units.
func (s *Selection) EnumerateKept(inclusion, slab, noise, mean, variance float64, prior func(u float64) float64, centre, unit float64) (probability, weights []float64, evidence float64) {
	const step, reach = 0.25, 7
	var logs []float64
	var probabilities, means [][]float64
	for u := centre - reach; u <= centre+reach; u += step {
		s.KeptVariance = math.Exp(2*u) * unit * unit
		p, w, l := s.Enumerate(inclusion, slab, noise, mean, variance)
		logs, probabilities, means = append(logs, l+prior(u)+math.Log(step)), append(probabilities, p), append(means, w)
	}
	evidence = floats.LogSumExp(logs)
	probability, weights = make([]float64, len(s.Weights)), make([]float64, len(s.Weights))
	for k, l := range logs {
		floats.AddScaled(probability, math.Exp(l-evidence), probabilities[k])
		floats.AddScaled(weights, math.Exp(l-evidence), means[k])
	}
	return probability, weights, evidence
}
