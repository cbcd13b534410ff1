package penalised

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/candidates/descent"
	"github.com/credence-ml/credence/internal/folds"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
)

// fit is one run.
type fit struct {
	*Engine
	problem descent.Problem
	ws      *credence.Workspace
	lambdas []float64

	table   *candidates.Table                 // with the columns of the model
	back    func(weights []float64) []float64 // from the problem's columns where they are others, else nil
	largest float64                           // λ, where known
}

// rotatedRows is the largest number of rows for which ridge regression goes over to as many columns.
const rotatedRows = 3000

// Fit implements [credence.Engine].
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	f := &fit{Engine: e, ws: credence.NewWorkspace(e.config.Threads)}
	table, err := candidates.Load(ctx, f.ws, e.config.Name, e.model, data)
	if err != nil {
		return nil, err
	}
	f.problem = descent.Problem{Table: table, Alpha: e.config.Alpha, Cap: e.config.Cap}
	if _, f.problem.Classes = e.model.Likelihood.(likelihood.Bernoulli); f.problem.Classes {
		f.problem.Target = table.Held.Target
	} else {
		f.problem.Target = table.Units.Targets(table.Held, table.Unit())
	}
	f.table = table
	if e.config.Alpha == 0 && table.Rows < table.Count() && table.Rows <= rotatedRows {
		if rotated, back, ok := table.Rotate(f.ws); ok {
			largest, err := f.problem.Largest(ctx, f.ws) // of the columns as they are
			if err != nil {
				return nil, err
			}
			f.problem.Table, f.back, f.largest = rotated, back, largest
		}
	}
	points, err := f.wholePath(ctx)
	if err != nil {
		return nil, err
	}
	f.progress("path", 1)
	losses, spread, err := f.crossValidate(ctx)
	if err != nil {
		return nil, err
	}
	f.progress("folds", 2)
	return f.fitted(points, losses, spread), nil
}

func (f *fit) progress(stage string, done int) {
	if f.config.Progress != nil {
		f.config.Progress(credence.Progress{Stage: stage, Done: done, Total: 2})
	}
}

// solution is one that is kept: most weights are 0.
type solution struct {
	columns []int
	weights []float64
	sweeps  int
}

// A path ends where the fit leaves next to nothing of the loss, or, but for a capped penalty, where it
// no longer falls.
const (
	leastLeft       = 0.001
	leastLeftCapped = 0.05 // of classes: weights without a penalty part them at infinity
	leastGain       = 1e-5
	leastPoints     = 5
)

// span is the least λ in units of the largest.
func (f *fit) span() float64 {
	least := 1e-4
	if f.table.Rows < f.table.Count() {
		least = 0.01
	}
	if f.config.Alpha == 0 { // no λ is so large that all weights are 0
		least *= 0.01
	}
	return least
}

// wholePath fits all rows at all λ, and keeps as many as the path has.
func (f *fit) wholePath(ctx context.Context) (points []solution, err error) {
	largest := f.largest
	if largest == 0 {
		if largest, err = f.problem.Largest(ctx, f.ws); err != nil {
			return nil, err
		}
	}
	if largest == 0 {
		largest = 1 // no column says anything
	}
	least := largest * f.span()
	if f.config.Lambda > 0 {
		least = f.config.Lambda / f.table.Units.Scale
	}
	for k := range f.config.Points {
		f.lambdas = append(f.lambdas, largest*math.Pow(least/largest, float64(k)/float64(f.config.Points-1)))
	}
	if least >= largest {
		f.lambdas = []float64{least}
	}
	f.lambdas[len(f.lambdas)-1] = least
	before := math.Inf(1)
	err = f.problem.Path(ctx, f.ws, f.lambdas, func(_ int, s *descent.Solution) bool {
		p := solution{columns: append([]int(nil), s.Active...), sweeps: s.Sweeps}
		for _, j := range p.columns {
			p.weights = append(p.weights, s.Weights[j])
		}
		points = append(points, p)
		gained := before - s.Loss
		before = s.Loss
		if f.config.Lambda > 0 || len(points) < leastPoints {
			return true
		}
		left := leastLeft
		if f.config.Cap > 0 && f.problem.Classes {
			left = leastLeftCapped
		}
		return s.Loss > left*s.Null && (gained > leastGain*s.Null || f.config.Cap > 0)
	})
	f.lambdas = f.lambdas[:len(points)]
	return points, err
}

// fitted chooses λ by the losses, and takes the weights there.
func (f *fit) fitted(points []solution, losses, spread []float64) *credence.Fitted {
	best := len(points) - 1
	if f.config.Lambda == 0 {
		for k := range points {
			if losses[k] < losses[best] || losses[k] == losses[best] && k < best {
				best = k
			}
		}
		if f.config.Rule == OneStandard {
			limit := losses[best] + spread[best]
			for best > 0 && losses[best-1] <= limit {
				best--
			}
		}
	}
	u, chosen := f.table.Units, points[best]
	d := f.table.Count()
	mean, inclusion := make([]float64, f.problem.Count()), make([]float64, d)
	for k, j := range chosen.columns {
		mean[j] = chosen.weights[k]
	}
	if f.back != nil {
		mean = f.back(mean)
	}
	for j, w := range mean {
		if w != 0 || j == f.table.Intercept {
			inclusion[j] = 1
		}
	}
	u.Own(mean)
	lambda, loss := u.Scale*f.lambdas[best], u.Scale*u.Scale*losses[best]
	model, out := f.model, f.table.Held.Fitted()
	out.Report.Status, out.Report.Iterations = credence.Converged, chosen.sweeps
	out.Report.Hyper = credence.Values{{Name: "lambda", Value: lambda}, {Name: "cross_validated_loss", Value: loss}, {Name: "cross_validated_loss_se", Value: u.Scale * u.Scale * spread[best]}}
	noise := math.Max(losses[best], math.SmallestNonzeroFloat64)
	if g, ok := model.Likelihood.(likelihood.Gaussian); ok && g.NoiseVariance.State == param.Held {
		noise = g.NoiseVariance.Value / (u.Noise * u.Noise)
	}
	model.Likelihood = u.SetNoise(model.Likelihood, &out.Report, noise)
	var q credence.Posterior = &posterior.SpikeSlab{Mean: mean, Variance: make([]float64, d), Probability: inclusion}
	if f.config.Alpha == 0 {
		q = &posterior.Diagonal{Mean: mean, Variance: make([]float64, d)}
	}
	out.Members = []credence.Member{{Model: model, Posterior: q}}
	if f.config.Lambda == 0 && best == len(points)-1 && f.lambdas[best] <= f.lambdas[0]*f.span()*(1+1e-9) {
		out.Report.Warnings = append(out.Report.Warnings, fmt.Sprintf("the loss still falls at the least λ of the path, %.3g: state a smaller one by lambda=", lambda))
	}
	return out
}

// crossValidate returns the mean loss of rows that were left out at every λ, squared error of normal
// targets and −log p of classes, and its standard error over the folds.
func (f *fit) crossValidate(ctx context.Context) (losses, spread []float64, err error) {
	var classes []float64
	if f.problem.Classes {
		classes = f.problem.Target
	}
	fold, count := folds.Deal(credence.Rand(f.config.Seed, credence.FoldRows, 0), f.problem.Table.Unit(), classes, f.config.Folds)
	if count < 2 {
		return nil, nil, fmt.Errorf("%s: cross-validation needs two rows at the least: add rows", f.config.Name)
	}
	points := len(f.lambdas)
	sums, weights, failures := make([][]float64, count), make([]float64, count), make([]error, count)
	f.ws.Pool().Run(count, func(k, _ int) {
		p := f.problem
		p.Out = make([]bool, p.Rows)
		for i := range p.Out {
			p.Out[i] = fold[i] == k
		}
		sums[k] = make([]float64, points)
		failures[k] = p.Path(ctx, credence.NewWorkspace(1), f.lambdas, func(at int, s *descent.Solution) bool {
			sums[k][at], weights[k] = outside(&p, s)
			return true
		})
	})
	if err := errors.Join(failures...); err != nil {
		return nil, nil, err
	}
	losses, spread = make([]float64, points), make([]float64, points)
	for at := range points {
		total := 0.0
		for k := range count {
			losses[at] += sums[k][at]
			total += weights[k]
		}
		losses[at] /= total
		for k := range count {
			gap := sums[k][at]/weights[k] - losses[at]
			spread[at] += weights[k] / total * gap * gap / float64(count-1)
		}
		spread[at] = math.Sqrt(spread[at])
	}
	return losses, spread, nil
}

// outside is the loss of the rows that are left out, and their weight.
func outside(p *descent.Problem, s *descent.Solution) (sum, weight float64) {
	latent, shift := make([]float64, p.Rows), 0.0
	for _, j := range s.Active {
		p.AddStored(latent, j, s.Weights[j], nil)
		shift += s.Weights[j] * p.Mean(j)
	}
	for i, u := range p.Unit() {
		if !p.Out[i] {
			continue
		}
		f := latent[i] - shift*u
		weight += u * u
		if p.Classes {
			sum -= u * u * special.LogSigmoid((2*p.Target[i]-1)*(f/u+p.OffsetOf(i)))
			continue
		}
		sum += (p.Target[i] - f) * (p.Target[i] - f)
	}
	return sum, weight
}
