package diagnose

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/likelihood"
)

// Draws are weights w drawn from an approximate posterior q, with their log densities.
type Draws struct {
	Count, Dims   int
	Weights       []float64 // Dims×Count, so that an entry of a row goes to all draws at once
	LogDensity    []float64 // log q(w), constants included
	LogPrior      []float64 // log p(w)
	LogLikelihood []float64 // log p(y|w) of all rows

	latent, logs []float64 // of a block, rows×Count
}

// Draw returns count draws of dims weights. The function draw stores one in w and returns its log
// density under q; logPrior returns its log density under the prior.
func Draw(rng *rand.Rand, count, dims int, draw func(w []float64, rng *rand.Rand) (logDensity float64), logPrior func(w []float64) float64) *Draws {
	s := &Draws{
		Count: count, Dims: dims, Weights: make([]float64, count*dims), LogDensity: make([]float64, count),
		LogPrior: make([]float64, count), LogLikelihood: make([]float64, count),
	}
	room := make([]float64, together*dims)
	for from := 0; from < count; from += together {
		to := min(from+together, count)
		for i := from; i < to; i++ {
			w := room[(i-from)*dims:][:dims]
			s.LogDensity[i] = draw(w, rng)
			s.LogPrior[i] = logPrior(w)
		}
		for j := range dims {
			for i := from; i < to; i++ {
				s.Weights[j*count+i] = room[(i-from)*dims+j]
			}
		}
	}
	return s
}

// together is the number of draws whose weights are put in their places at once: they fill a line of the cache.
const together = 8

// Take stores the weights of draw i in dst.
func (s *Draws) Take(dst []float64, i int) {
	for j := range dst {
		dst[j] = s.Weights[j*s.Count+i]
	}
}

// LogDensities returns log p(y|f) of every row under every draw, row weights included, and f itself,
// offset included: both rows×Count and valid until the next call. phi are the features of the rows.
func (s *Draws) LogDensities(ws *credence.Workspace, family credence.Likelihood, phi *credence.Design, rows *credence.Batch) (logs, latent []float64) {
	return s.logDensities(ws, family, phi, rows, 0)
}

// logDensities is LogDensities of a window of rows, of which the features are those from first on.
func (s *Draws) logDensities(ws *credence.Workspace, family credence.Likelihood, phi *credence.Design, rows *credence.Batch, first int) (logs, latent []float64) {
	n := phi.Dense.Rows
	s.latent, s.logs = order.Resized(s.latent, n*s.Count), order.Resized(s.logs, n*s.Count)
	latent, logs = s.latent, s.logs
	phi.MulColumns(ws, latent, s.Weights, s.Count)
	ws.Each(n, func(i int) {
		s.row(family, rows, first+i, latent[i*s.Count:(i+1)*s.Count], logs[i*s.Count:(i+1)*s.Count])
	})
	return logs, latent
}

// row adds the offset of row i to its latent values, and stores its log densities.
func (s *Draws) row(family credence.Likelihood, rows *credence.Batch, i int, latent, logs []float64) {
	if rows.Offset != nil {
		floats.AddConst(rows.Offset[i], latent)
	}
	weight := rows.WeightOf(i)
	if weight == 0 {
		clear(logs)
		return
	}
	likelihood.LogDensities(rows.LikelihoodOf(family, i), logs, rows.Target[i], latent)
	if weight != 1 {
		kernel.Scale(weight, logs)
	}
}

// addedRows is how many rows a thread has at a time where their densities are added up: memory that is touched costs
// more than what is done in it.
const addedRows = 64

// AddRows adds the log densities of a block of rows to LogLikelihood.
func (s *Draws) AddRows(ws *credence.Workspace, family credence.Likelihood, phi *credence.Design, rows *credence.Batch) {
	at := addedRows * ws.Pool().Threads()
	for first := 0; first < phi.Dense.Rows; first += at {
		window := phi.Window(first, min(at, phi.Dense.Rows-first))
		logs, _ := s.logDensities(ws, family, &window, rows, first)
		for i := range window.Dense.Rows {
			kernel.Axpy(1, logs[i*s.Count:(i+1)*s.Count], s.LogLikelihood)
		}
	}
}

// LogWeights returns the logarithms of the importance weights p(w) p(y|w) / q(w). A draw without
// density has a weight of nothing.
func (s *Draws) LogWeights() []float64 {
	logs := make([]float64, s.Count)
	for i := range logs {
		logs[i] = s.LogPrior[i] + s.LogLikelihood[i] - s.LogDensity[i]
		if math.IsNaN(logs[i]) || math.IsInf(logs[i], 0) {
			logs[i] = -1e300
		}
	}
	return logs
}

// Chains say how well several Markov chains of equal length agree about one number: the potential
// scale reduction R̂ of their halves, and the effective sample size of all draws (Gelman et al. 2013,
// section 11.4–11.5; Vehtari et al. 2021). A number that never changes has R̂ = 1 and all draws.
func Chains(chains [][]float64) (rHat, effective float64) {
	var halves [][]float64
	for _, c := range chains {
		half := len(c) / 2
		halves = append(halves, c[:half], c[len(c)-half:])
	}
	m, n := float64(len(halves)), len(halves[0])
	means, within, grand := make([]float64, len(halves)), 0.0, 0.0
	for k, h := range halves {
		for _, v := range h {
			means[k] += v / float64(n)
		}
		for _, v := range h {
			within += (v - means[k]) * (v - means[k]) / float64(n-1) / m
		}
		grand += means[k] / m
	}
	between := 0.0 // variance of the means
	for _, v := range means {
		between += (v - grand) * (v - grand) / (m - 1)
	}
	total := within*float64(n-1)/float64(n) + between
	switch {
	case total == 0:
		return 1, m * float64(n)
	case within == 0:
		return math.Inf(1), m
	}
	rHat = math.Sqrt(total / within)
	// Geyer's initial positive sequence of the autocorrelations.
	sum, last := 0.0, math.Inf(1)
	for lag := 1; lag+1 < n; lag += 2 {
		pair := correlation(halves, means, lag, within, total) + correlation(halves, means, lag+1, within, total)
		if pair < 0 {
			break
		}
		last = math.Min(last, pair)
		sum += last
	}
	return rHat, math.Min(m*float64(n)/(1+2*sum), m*float64(n))
}

// correlation estimates that at a lag, from the variances within all halves and their spread.
func correlation(halves [][]float64, means []float64, lag int, within, total float64) float64 {
	covariance := 0.0
	for k, h := range halves {
		for i := range len(h) - lag {
			covariance += (h[i] - means[k]) * (h[i+lag] - means[k]) / float64(len(h)) / float64(len(halves))
		}
	}
	return 1 - (within-covariance)/total
}
