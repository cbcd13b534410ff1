package laplace

import (
	"context"
	"math"

	"github.com/credence-ml/credence/internal/candidates/descent"
	"github.com/credence-ml/credence/internal/lbfgs"
)

// Starts lie on the paths of the capped lasso and of the lasso, from their beginnings to where they
// have as many weights as rows: the capped one's large weights are not shrunk, and its modes are the
// better ones by far where there are many more columns than rows.
const (
	pathPoints = 30
	pathSpan   = 0.01
	pathCap    = 2.0
	pathShare  = 1e-6 // of the loss, at which a point of a path is near enough
)

// starts are weights along the paths, length d each.
func (f *fit) starts(ctx context.Context) (list [][]float64, err error) {
	p := &descent.Problem{Table: f.Table, Classes: f.Setting.Classes, Target: f.Setting.Target, Alpha: 1, Tolerance: pathShare}
	largest, err := p.Largest(ctx, f.ws)
	if err != nil {
		return nil, err
	}
	nothing := [][]float64{make([]float64, f.Table.Count())}
	if largest == 0 {
		return nothing, nil
	}
	var lambdas []float64
	for k := range pathPoints {
		lambdas = append(lambdas, largest*math.Pow(pathSpan, float64(k)/(pathPoints-1)))
	}
	for _, p.Cap = range []float64{pathCap, 0} {
		err = p.Path(ctx, f.ws, lambdas, func(k int, s *descent.Solution) bool {
			// Starts are even in the logarithm of λ.
			if k*f.config.Starts/pathPoints != (k+1)*f.config.Starts/pathPoints {
				list = append(list, append([]float64(nil), s.Weights...))
			}
			return len(s.Active) < f.Rows && (!f.Setting.Classes || p.Cap == 0 || s.Loss > leastLoss*s.Null)
		})
		if err != nil {
			return nil, err
		}
	}
	if len(list) == 0 { // with two rows a path ends before its first start
		return nothing, nil
	}
	return list, nil
}

// leastLoss of classes is where a path without a penalty on large weights ends: beyond, they part the
// classes at infinity.
const leastLoss = 0.05

// mode is a local minimum of the objective.
type mode struct {
	weights    []float64
	objective  float64
	iterations int
	converged  bool
}

// A spike that narrows does so from widest times the slab, in so many steps.
const (
	widest     = 0.1
	narrowings = 4
)

// seek goes some way from a start, along a spike that narrows where that is asked for.
func (f *fit) seek(ctx context.Context, start []float64) (*mode, error) {
	p, m := f.normals(), &mode{weights: append([]float64(nil), start...)}
	ratio := widest * p.slab / p.spike
	for k := narrowings; f.config.Anneal && ratio > 1 && k > 0; k-- {
		wider := p
		wider.spike *= math.Pow(ratio, float64(k)/narrowings)
		if err := f.search(ctx, wider, m, true); err != nil {
			return nil, err
		}
	}
	return m, f.search(ctx, p, m, true)
}

// Searches on the way need not end at a minimum.
const (
	roughIterations = 40
	roughTolerance  = 1e-1
)

// A search remembers fewer corrections of the curvature where there are very many weights: each is two vectors
// as long as the weights, and a step reads all of them four times.
const (
	mostPairs   = 20
	fewestPairs = 4
	pairNumbers = 4e6
)

// search minimises from where m is.
func (f *fit) search(ctx context.Context, p normals, m *mode, rough bool) error {
	cfg := lbfgs.Config{
		MaxIterations: f.config.MaxIterations, Tolerance: f.config.Tolerance,
		Memory: min(mostPairs, max(fewestPairs, pairNumbers/(2*len(m.weights)))),
	}
	if rough {
		cfg.MaxIterations, cfg.Tolerance = min(roughIterations, cfg.MaxIterations), math.Max(roughTolerance, cfg.Tolerance)
	}
	if f.config.Method == GIST {
		return f.gist(ctx, p, m, cfg.MaxIterations, cfg.Tolerance)
	}
	if f.reducible() {
		return f.parabolas(p, len(m.weights)).minimise(ctx, m, cfg)
	}
	cfg.Curvature = f.metric(p, m.weights)
	result, err := lbfgs.Minimise(m.weights, func(w, gradient []float64) (float64, error) {
		return f.objective(p, w, gradient), ctx.Err()
	}, cfg)
	m.objective, m.converged = result.F, result.Converged
	m.iterations += result.Iterations
	return err
}

// metric is a guess of the diagonal of the Hessian, above 0.
func (f *fit) metric(p normals, w []float64) []float64 {
	f.loss(w, nil)
	squares := make([]float64, len(w))
	f.Squares(squares, nil)
	f.toMetric(p, squares, w, nil)
	return squares
}

// toMetric makes squares of some columns, nil for all, a guess of the diagonal of the Hessian, and returns the rows'
// mean curvature.
func (f *fit) toMetric(p normals, squares, w []float64, columns []int) (mean float64) {
	for _, v := range f.curvature {
		mean += v / float64(f.Rows)
	}
	for k, v := range f.bends(p, w, columns) {
		squares[k] = mean*squares[k] + math.Max(v, 1/p.slab)
	}
	return mean
}
