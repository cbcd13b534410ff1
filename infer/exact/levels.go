package exact

import (
	"context"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/arrow"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/posterior"
)

// levels is the d×d form where many weights go by the levels of a category: its matrices have the numbers of an arrow
// alone, and the weights of levels are eliminated one level after the other. Under an intercept the dense columns are
// centred, and those of levels and other sparse ones are not: the prior of the intercept, whose standard deviation is
// ten times that of the target, stands at another place.
type levels struct {
	*primal
	engine  *Engine
	pattern *arrow.Pattern
	solver  scaler

	crossed *gauss.Crossed // where conjugate gradients are the solver
}

// scaler is a system whose inverse is that of an arrow.
type scaler interface {
	gauss.System
	Scale(inverse []float64)
}

func (e *Engine) newLevels(p *primal) *levels { return &levels{primal: p, engine: e} }

// patternOf returns the layout of the rows that a finder has seen.
func patternOf(f *arrow.Finder) (gauss.Arrow, error) {
	pattern, err := f.Pattern()
	return gauss.Arrow{Pattern: pattern, Definite: true}, err
}

func (p *levels) load(ctx context.Context, features credence.Features) error {
	if p.pattern == nil {
		finder := arrow.NewFinder(features)
		for k := 0; k < p.rows.Blocks() && !finder.Known(); k++ {
			b, err := p.rows.Block(ctx, k)
			if err != nil {
				return err
			}
			features.Transform(p.ws, &p.phi, b)
			finder.Add(&p.phi)
		}
		layout, err := patternOf(finder)
		if err == nil && p.engine.crossed && layout.Rest() > p.engine.most {
			layout.Pattern, err = finder.Crossed()
			p.crossed = gauss.NewCrossed(p.ws, layout, func(set uint64) *rand.Rand { return credence.Rand(p.engine.config.Seed, credence.ExactProbes, set) })
			p.system = p.crossed
		}
		if err != nil {
			return err
		}
		p.take(layout)
	}
	return p.primal.load(ctx, features)
}

// take makes a layout the form's.
func (p *levels) take(l gauss.Arrow) {
	p.pattern, p.layout = l.Pattern, l
	p.primal.products = func(precision float64, _, first, end int) func(*credence.Design, []float64) {
		p.covariance(p.inverse)
		leaf, size := p.inverse[l.Len()-l.Rest()*l.Rest():], l.Rest()
		for j := first; p.intercept && j < end; j++ {
			for i, mean := range p.means[:l.Dense] {
				leaf[j] -= mean * leaf[i*size+j]
			}
		}
		return func(phi *credence.Design, dst []float64) {
			p.pattern.TimesDense(p.ws, dst, -precision, phi, p.inverse)
		}
	}
	p.allocate()
	p.solver = p.system.(scaler)
	p.together = problem.NewMixer(p.engine.together, p.pattern)
}

// bends has formulas where conjugate gradients solve: the average of observed and expected information (Gilmour,
// Thompson & Cullis 1995), which needs no trace. With Z = A⁻¹, z = S⁻¹m and q_bc = z_bᵀ Z_bc z_c it is, in the
// logarithms of standard deviations,
//
//	I_bc = 2 (δ_bc ‖z_b‖² − q_bc)   I_bσ = 2 Σ_c q_bc   I_σσ = 2 (‖y−Φm‖²/σ² − Σ_bc q_bc)
//
// in one solution for as many vectors as there are groups. Elsewhere the curvature is that of differences.
func (p *levels) bends(at *values) *bend {
	if p.crossed == nil || p.together != nil {
		return nil
	}
	groups := len(p.groups)
	out, list := &bend{hessian: mat.NewSymDense(groups+1, nil)}, make([][]float64, groups)
	for b, g := range p.groups {
		list[b] = make([]float64, p.d)
		for j := g.First; j < g.End(); j += g.Step() {
			list[b][j] = p.q[j]
		}
	}
	p.crossed.Inverses(list)
	total := p.residual() / at.noise
	for b, g := range p.groups {
		for c := range p.groups {
			form, norm := 0.0, 0.0
			for j := g.First; j < g.End(); j += g.Step() {
				form += p.q[j] * list[c][j]
				norm += p.q[j] * p.q[j]
			}
			total -= form
			out.hessian.SetSym(0, b+1, out.hessian.At(0, b+1)-2*form)
			if c > b {
				out.hessian.SetSym(b+1, c+1, 2*form)
			} else if c == b {
				out.hessian.SetSym(b+1, b+1, 2*(form-norm))
			}
		}
	}
	out.hessian.SetSym(0, 0, -2*total)
	return out
}

// The linear numbers are those of the pattern of C, and σ²; mean and variances are as in the d×d form.

func (p *levels) moments(at *values, dst *hyper.Point) {
	d, size := p.d, p.pattern.Len()
	resize(&dst.Mean, d+1)
	resize(&dst.Variance, d+1)
	resize(&dst.Linear, size+1)
	copy(dst.Mean, p.m)
	copy(dst.Linear, p.inverse[:size])
	p.covariance(dst.Linear[:size])
	p.pattern.Diagonal(dst.Variance[:d], dst.Linear[:size])
	trace := 0.0
	for _, v := range p.traces {
		trace += v
	}
	dst.Linear[size] = at.noise
	dst.Variance[d] = at.noise * (p.summary.weight/p.summary.precise + (float64(d)-trace)/p.summary.precise)
}

// covariance turns A⁻¹ into the covariance of the weights.
func (p *levels) covariance(inverse []float64) {
	p.solver.Scale(inverse)
	p.together.Back(inverse)
}

func (p *levels) spread(linear []float64, scale float64, difference []float64) {
	p.pattern.AddOuter(linear, scale, difference[:p.d])
}

func (p *levels) integrated(mean, linear []float64, df float64) (credence.Posterior, bool) {
	size, rest := p.pattern.Len(), p.pattern.Rest()
	leaf := linear[size-rest*rest : size]
	factor, ok := gauss.Repair(p.ws.Pool(), rest, leaf)
	if !ok {
		gauss.Root(factor).Covariance(p.ws, leaf, rest)
	}
	return p.arrow(mean, linear[:size], df), ok
}

func (p *levels) posterior() credence.Posterior {
	covariance := make([]float64, p.pattern.Len())
	if p.crossed != nil {
		p.crossed.Selected(covariance)
	} else {
		p.solver.Inverse(covariance)
	}
	p.covariance(covariance)
	return p.arrow(p.m, covariance, 0)
}

// arrow returns the posterior, by the target's own units, with a mean and a covariance in units.
func (p *levels) arrow(mean, covariance []float64, df float64) credence.Posterior {
	own, out := p.own(), slices.Clone(covariance)
	kernel.Scale(own.Scale*own.Scale, out)
	if p.intercept {
		p.pattern.Uncentre(out, p.means)
	}
	q := posterior.NewArrow(slices.Clone(mean[:p.d]), p.pattern, out, df)
	own.Own(q.Mean)
	return q
}

// tooLarge never says so: what sums take is a few times the values of the pattern.
func (p *levels) tooLarge(int) string { return "" }
