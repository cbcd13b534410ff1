package conform

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Selection is a selection problem: n rows of p columns, of which some matter.
type Selection struct {
	credence.Batch
	Features credence.Features // an intercept and one block of all columns
	Weights  []float64         // the true ones, length p
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

// Divide makes classes of the targets: 1 above the limit and 0 below.
func (s *Selection) Divide(limit float64) {
	for i, y := range s.Target {
		s.Target[i] = 0
		if y > limit {
			s.Target[i] = 1
		}
	}
}

// Enumerate returns the inclusion probabilities, the means of the weights and the log evidence of a
// problem under w_j ~ inclusion·N(0, slab) + (1−inclusion)·δ₀, noise variance and an intercept of
// N(mean, variance) at the columns' means, by going through all 2^p models.
func (s *Selection) Enumerate(inclusion, slab, noise, mean, variance float64) (probability, weights []float64, evidence float64) {
	return s.EnumerateNormals(inclusion, slab, 0, noise, mean, variance)
}

// EnumerateNormals is Enumerate with N(0, spike) in place of δ₀.
func (s *Selection) EnumerateNormals(inclusion, slab, spike, noise, mean, variance float64) (probability, weights []float64, evidence float64) {
	n, p := len(s.Target), len(s.Weights)
	x := mat.NewDense(n, p, nil)
	for i := range n {
		for j := range p {
			x.Set(i, j, s.X.Row(i)[j])
		}
	}
	total := 0.0
	for i := range n {
		total += s.WeightOf(i)
	}
	for j := range p {
		centre := 0.0
		for i := range n {
			centre += s.WeightOf(i) / total * x.At(i, j)
		}
		for i := range n {
			x.Set(i, j, x.At(i, j)-centre)
		}
	}
	logs := make([]float64, 1<<p)
	means := make([][]float64, 1<<p)
	largest := math.Inf(-1)
	for model := range logs {
		k := mat.NewSymDense(n, nil)
		y := mat.NewVecDense(n, nil)
		constant := 0.0
		for i := range n {
			w := s.WeightOf(i) // a row w times is one row with the noise divided by w
			constant -= (w-1)/2*math.Log(2*math.Pi*noise) + math.Log(w)/2
			y.SetVec(i, s.Target[i]-s.OffsetOf(i)-mean)
			for l := range i + 1 {
				v := variance
				for j := range p {
					if model>>j&1 == 1 {
						v += slab * x.At(i, j) * x.At(l, j)
					} else {
						v += spike * x.At(i, j) * x.At(l, j)
					}
				}
				if i == l {
					v += noise / w
				}
				k.SetSym(i, l, v)
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(k) {
			panic("conform: not positive definite")
		}
		var solved mat.VecDense
		if err := chol.SolveVecTo(&solved, y); err != nil {
			panic(err)
		}
		logs[model] = constant - (float64(n)*math.Log(2*math.Pi)+chol.LogDet()+mat.Dot(y, &solved))/2
		means[model] = make([]float64, p)
		for j := range p {
			if model>>j&1 == 1 {
				logs[model] += math.Log(inclusion)
				means[model][j] = slab * mat.Dot(x.ColView(j), &solved)
			} else {
				logs[model] += math.Log(1 - inclusion)
				means[model][j] = spike * mat.Dot(x.ColView(j), &solved)
			}
		}
		largest = math.Max(largest, logs[model])
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - largest)
	}
	evidence = largest + math.Log(sum)
	probability, weights = make([]float64, p), make([]float64, p)
	for model, l := range logs {
		share := math.Exp(l - evidence)
		for j := range p {
			weights[j] += share * means[model][j]
			if model>>j&1 == 1 {
				probability[j] += share
			}
		}
	}
	return probability, weights, evidence
}
