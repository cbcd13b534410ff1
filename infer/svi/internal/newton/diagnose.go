package newton

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
)

const (
	// PilotRows are those on which it is first tried whether some rows can stand for all.
	PilotRows = 1024
	// diagnosticNoise is the standard error of a log weight above which more rows are taken.
	diagnosticNoise = 0.2
)

// LogWeights returns the logarithms of the importance weights of count draws from N(m, V) at the
// point that was placed last, with the statistics s of all rows there. Where rows are many, log
// densities of some of them stand for all, as differences from their second-order expansions about
// the optimum,
//
//	e_n + g_n (f−a) − ½ β_n ((f−a)² − v_n),
//
// whose sum over all rows is known: Σe + gᵀδ − ½(δᵀHδ − Σβv), δ = w − m (the difference estimator of
// Magnusson, Andersen, Jonasson & Vehtari 2019). More rows are taken, at least four times as many,
// until the sum has a standard error below a fifth of a nat.
func (n *Newton) LogWeights(ctx context.Context, whole *problem.Rows, at *Point, s *Statistics, rng *rand.Rand, count int) ([]float64, error) {
	d := n.Dims
	draws := diagnose.Draw(rng, count, d, func(w []float64, rng *rand.Rand) float64 {
		squares := n.factor.Draw(w, rng)
		kernel.Axpy(1, at.Mean, w)
		n.Intercept.Weights(w, w)
		return -(squares + at.logDet + float64(d)*math.Log(2*math.Pi)) / 2
	}, func(w []float64) float64 { return n.LogPrior(n.levels.standard(w, at.Prior), at.Prior) })
	for limit := PilotRows; ; {
		rows := whole
		if whole.Total() >= 2*max(limit, credence.BlockRows) {
			rows = n.Rows(limit)
		}
		if rows.Count() == whole.Total() || n.Asker != nil && n.Asker.Lacking() {
			if err := n.densities(ctx, whole, draws, at.Family); err != nil {
				return nil, err
			}
			return draws.LogWeights(), nil
		}
		noise, err := n.byDifference(ctx, at, s, draws, rows, limit)
		if err != nil {
			return nil, err
		}
		if noise <= diagnosticNoise {
			return draws.LogWeights(), nil
		}
		// The standard error falls with the square root of the rows.
		gap := math.Min(noise/diagnosticNoise, 100)
		limit = int(math.Max(4, 1.2*gap*gap) * float64(rows.Count()))
	}
}

// densities adds up the log densities of all rows.
func (n *Newton) densities(ctx context.Context, rows *problem.Rows, draws *diagnose.Draws, f *problem.Family) (err error) {
	if n.apart(rows) {
		draws.LogLikelihood, _, err = n.askDraws(make([]float64, n.Dims), nil, draws, f, 0)
		return err
	}
	clear(draws.LogLikelihood)
	return rows.Each(ctx, func(b *problem.Block) { draws.AddRows(n.Workspace, f.Likelihood, b.Phi, b.Batch) })
}

// rests adds up, for every draw, what log densities of rows are more than their expansions, and the squares.
func (n *Newton) rests(ctx context.Context, rows *problem.Rows, mean []float64, factor gauss.Spread, f *problem.Family, draws *diagnose.Draws) (sums, squares []float64, err error) {
	count := draws.Count
	sums, squares = make([]float64, count), make([]float64, count)
	terms := &n.whole.terms
	planned := false
	err = rows.Each(ctx, func(b *problem.Block) {
		if !planned {
			n.plan(b, factor)
			planned = true
		}
		logs, latent := draws.LogDensities(n.Workspace, f.Likelihood, b.Phi, b.Batch)
		n.latent(&n.whole, b, mean, factor, f.Count())
		terms.Expect(n.Workspace, b, f, false, nil)
		for i := range b.Rows() {
			g, beta, v := terms.DMean[i], -2*terms.DVariance[i], terms.Variance[i]
			for l := range count {
				gap := latent[i*count+l] - terms.Mean[i]
				rest := logs[i*count+l] - terms.Value[i] - g*gap + beta/2*(gap*gap-v)
				sums[l] += rest
				squares[l] += rest * rest
			}
		}
	})
	return sums, squares, err
}

// byDifference estimates log likelihoods from some rows, about so many, and returns the median standard error.
func (n *Newton) byDifference(ctx context.Context, at *Point, s *Statistics, draws *diagnose.Draws, rows *problem.Rows, limit int) (float64, error) {
	d, count := n.Dims, draws.Count
	mean := make([]float64, d)
	n.Intercept.Weights(mean, at.Mean)
	factor, back := n.ofWeights(n.factor)
	defer back()
	var sums, squares []float64
	var err error
	if n.Asker != nil && limit > PilotRows {
		sums, squares, err = n.askDraws(mean, factor, draws, at.Family, limit)
	} else {
		sums, squares, err = n.rests(ctx, rows, mean, factor, at.Family, draws)
	}
	if err != nil {
		return 0, err
	}
	m, scale := float64(rows.Count()), rows.Scale()
	noise := make([]float64, count)
	delta, product := make([]float64, d), make([]float64, d)
	for l := range count {
		draws.Take(delta, l)
		n.Intercept.Centre(delta, delta)
		kernel.Axpy(-1, at.Mean, delta)
		n.Layout.Mul(product, s.Curvature, delta)
		draws.LogLikelihood[l] = s.Value + kernel.Dot(s.Gradient, delta) - (kernel.Dot(product, delta)-s.Trace)/2 + scale*sums[l]
		noise[l] = scale * math.Sqrt(math.Max(0, squares[l]-sums[l]*sums[l]/m))
	}
	slices.Sort(noise)
	return noise[count/2], nil
}
