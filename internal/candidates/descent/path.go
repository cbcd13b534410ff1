package descent

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/special"
)

// Problem is a penalised fit.
type Problem struct {
	*candidates.Table
	Classes bool
	// Target is √v(y − centre) of normal targets, and 0 or 1 of classes, length n.
	Target []float64
	// Out marks rows that are left out; nil leaves out none.
	Out []bool
	// Alpha is α: 1 is the lasso, 0 ridge regression.
	Alpha float64
	// Cap ends the penalty of a weight where it exceeds so many times its threshold λW/h, h the
	// curvature of the loss in it where it entered: λ min(|b|, Cap·λW/h). It goes with α = 1. 0 means
	// no end.
	Cap float64
	// Tolerance ends the descent when no step lowers the loss by more than this share of its start; 0
	// means 1e-9.
	Tolerance float64
	// Unscreened goes through all columns at every point.
	Unscreened bool
}

// Solution is a point of the path. Its slices change at the next one.
type Solution struct {
	Lambda  float64
	Weights []float64 // by column, the intercept at the columns' means, length d
	Active  []int     // columns whose weight is not 0, ascending, and the intercept
	Loss    float64   // of the rows that are in
	Null    float64   // that of the intercept alone
	Sweeps  int
}

// Limits of a path, and of the work at a point of it.
const (
	mostSweeps    = 1000
	mostReweights = 50
	defaultShare  = 1e-9
	ridgeAlpha    = 1e-3 // the least α for which a λ is known above which all weights are 0
)

// state is where the descent stands.
type state struct {
	*Problem
	Solution
	ws       *credence.Workspace
	total    float64   // W
	latent   []float64 // √v f
	residual []float64 // −∂loss/∂(√v f)
	slopes   []float64 // Xᵀresidual, length d
	inside   []bool    // columns gone through
	working  []int

	omega   []float64 // curvature of the rows, nil for ones
	model   []float64 // residual of the quadratic model, but for drift·ω⊙√v
	drift   float64
	sum     float64   // √vᵀ(model + drift·ω⊙√v)
	mass    float64   // Σ ω v
	unit    []float64 // s_jᵀ(ω⊙√v) by column, only where some are sparse
	bend    []float64 // curvature of the columns gone through
	entry   []float64 // and that when they entered
	squares []float64 // scratch
}

// Largest returns the least λ at which all weights but the intercept are 0; for α = 0 that of α = 0.001.
func (p *Problem) Largest(ctx context.Context, ws *credence.Workspace) (float64, error) {
	s, err := p.start(ctx, ws)
	if err != nil {
		return 0, err
	}
	return s.largest(), nil
}

func (s *state) largest() float64 {
	largest := 0.0
	for j, g := range s.slopes {
		if j != s.Intercept {
			largest = math.Max(largest, math.Abs(g))
		}
	}
	return largest / s.total / math.Max(s.Alpha, ridgeAlpha)
}

// start is the fit of the intercept alone.
func (p *Problem) start(ctx context.Context, ws *credence.Workspace) (*state, error) {
	n, d := p.Rows, p.Count()
	s := &state{
		Problem: p, ws: ws, latent: make([]float64, n), residual: make([]float64, n), slopes: make([]float64, d), inside: make([]bool, d),
		model: make([]float64, n), bend: make([]float64, d), entry: make([]float64, d), squares: make([]float64, n),
	}
	s.Weights = make([]float64, d)
	for i, u := range p.Unit() {
		if !p.out(i) {
			s.total += u * u
		}
	}
	if p.Intercept >= 0 {
		s.enter(p.Intercept)
	}
	err := s.solve(ctx, 0)
	s.Null = s.Loss
	s.gradient()
	return s, err
}

func (p *Problem) out(i int) bool { return p.Out != nil && p.Out[i] }

// Path minimises at every λ, which fall, and calls each with the solution; it ends where each returns false.
func (p *Problem) Path(ctx context.Context, ws *credence.Workspace, lambdas []float64, each func(k int, s *Solution) bool) error {
	s, err := p.start(ctx, ws)
	if err != nil {
		return err
	}
	before := math.Max(s.largest(), lambdas[0])
	for k, lambda := range lambdas {
		s.Lambda = lambda
		limit := s.Alpha * (2*lambda - before) * s.total
		for j, g := range s.slopes {
			if s.Unscreened || math.Abs(g) >= limit {
				s.enter(j)
			}
		}
		if err := s.point(ctx, lambda); err != nil {
			return err
		}
		before = lambda
		s.Active = s.Active[:0]
		for _, j := range s.working {
			if s.Weights[j] != 0 || j == s.Intercept {
				s.Active = append(s.Active, j)
			}
		}
		slices.Sort(s.Active)
		if !each(k, &s.Solution) {
			break
		}
	}
	return nil
}

// point minimises over all columns, from those gone through.
func (s *state) point(ctx context.Context, lambda float64) error {
	for {
		if err := s.solve(ctx, lambda); err != nil {
			return err
		}
		s.gradient()
		if !s.admit(lambda) {
			return nil
		}
	}
}

func (s *state) enter(j int) {
	if !s.inside[j] {
		s.inside[j] = true
		s.working = append(s.working, j)
	}
}

// gradient takes the slopes of all columns.
func (s *state) gradient() { s.MulTrans(s.ws, s.slopes, s.residual) }

// admit brings in the columns that fail the conditions of a minimum, and says whether there were any.
func (s *state) admit(lambda float64) (any bool) {
	limit := s.Alpha * lambda * s.total * (1 + 1e-9)
	for j, g := range s.slopes {
		if !s.inside[j] && math.Abs(g) > limit {
			s.enter(j)
			any = true
		}
	}
	return any
}

// solve minimises over the columns gone through.
func (s *state) solve(ctx context.Context, lambda float64) error {
	tolerance := cmp.Or(s.Tolerance, defaultShare)
	s.rows()
	last := append([]float64(nil), s.at(s.working)...)
	objective := s.objective(lambda)
	for range mostReweights {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.reweigh()
		moved := s.descend(lambda, tolerance*math.Max(s.Null, s.Loss))
		s.rows()
		if !s.Classes {
			return nil
		}
		next := s.objective(lambda)
		for range mostReweights { // a whole step of a quadratic model may go too far
			if !(next > objective) {
				break
			}
			for k, j := range s.working {
				s.Weights[j] = (s.Weights[j] + last[k]) / 2
			}
			s.rows()
			next = s.objective(lambda)
		}
		objective = next
		copy(last, s.at(s.working))
		if moved <= tolerance*math.Max(s.Null, s.Loss) {
			break
		}
	}
	return nil
}

func (s *state) at(columns []int) []float64 {
	values := make([]float64, len(columns))
	for k, j := range columns {
		values[k] = s.Weights[j]
	}
	return values
}

func (s *state) objective(lambda float64) float64 {
	sum := 0.0
	for _, j := range s.working {
		if b := s.Weights[j]; j != s.Intercept {
			sum += s.Alpha*math.Min(math.Abs(b), s.end(j, lambda)) + (1-s.Alpha)/2*b*b
		}
	}
	return s.Loss + lambda*s.total*sum
}

// end is the absolute weight at which the penalty ends.
func (s *state) end(j int, lambda float64) float64 {
	if s.Cap == 0 || !(s.entry[j] > 0) {
		return math.Inf(1)
	}
	return s.Cap * lambda * s.total / s.entry[j]
}

// rows takes f, loss and residual of the weights.
func (s *state) rows() {
	clear(s.latent)
	shift := 0.0
	for _, j := range s.working {
		if b := s.Weights[j]; b != 0 {
			s.AddStored(s.latent, j, b, nil)
			shift += b * s.Mean(j)
		}
	}
	s.Loss = 0
	for i, u := range s.Unit() {
		s.latent[i] -= shift * u
		s.residual[i] = 0
		switch {
		case s.out(i) || u == 0:
		case s.Classes:
			f := s.latent[i]/u + s.OffsetOf(i)
			s.residual[i] = u * (s.Target[i] - special.Sigmoid(f))
			s.Loss -= u * u * special.LogSigmoid((2*s.Target[i]-1)*f)
		default:
			s.residual[i] = s.Target[i] - s.latent[i]
			s.Loss += s.residual[i] * s.residual[i] / 2
		}
	}
}
