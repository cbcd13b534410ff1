package exact

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/lbfgs"
)

// objective is the negative penalised evidence of a form's rows as a function of the logarithms of
// the variables.
type objective struct {
	engine    *Engine
	ctx       context.Context // of the climb
	form      form
	variables []variable
	floor     float64 // of the noise variance
	joint     hyper.Joint

	// Where it was evaluated last.
	last, theta         []float64 // and its coordinates under the priors
	current             point
	features            credence.Features
	loaded              []float64 // hyper-parameters of the features that the form has loaded
	slopes              slopes
	evidence, penalised float64
	bySlope             []float64 // of the features' deviations in their hyper-parameters, where they are apart
}

// objective loads the rows at an ascent's starting point.
func (e *Engine) objective(ctx context.Context, f form, t ascent) (*objective, error) {
	o := &objective{engine: e, ctx: ctx, form: f, features: t.features}
	hyper := t.hyper
	if t.before != nil {
		hyper = t.before.hyper
	}
	if tunable, ok := o.features.(credence.Tunable); ok && hyper != nil {
		o.features = tunable.WithHyper(hyper)
	}
	if !t.loaded {
		if err := f.load(ctx, o.features); err != nil {
			return nil, err
		}
	}
	if f.base().scales == nil {
		if err := e.measure(ctx, f); err != nil {
			return nil, err
		}
	}
	o.loaded = append([]float64(nil), hyper...)
	o.current = point{hyper: append([]float64(nil), hyper...), unit: f.base().summary.units.Scale}
	o.deviate()
	o.floor = noiseFloor * referenceNoise(f)
	references := e.references(f)
	fine := e.fine(f, references)
	o.variables = e.variables(f, &o.current, t, o.floor, references, fine)
	if t.before == nil && !t.again {
		if err := e.begin(ctx, f, &o.current, references, fine); err != nil {
			return nil, err
		}
	}
	o.setJoint()
	o.slopes.prior = make([]float64, len(e.groups)+len(e.odds))
	if t.tune || e.apart {
		o.slopes.hyper = make([]float64, len(hyper))
	}
	if e.apart {
		o.slopes.weights = make([]float64, f.base().d)
		if t.before == nil && !t.again {
			return o, o.beginShorter()
		}
	}
	return o, nil
}

// deviate gives the form the deviations of features that are apart.
func (o *objective) deviate() {
	c := o.form.base()
	if !o.engine.apart {
		c.deviation = nil
		return
	}
	c.deviation = make([]float64, c.d)
	o.bySlope = make([]float64, c.d*len(o.loaded))
	o.features.(credence.Proportioned).Deviations(c.deviation, o.bySlope)
}

// beginShorter begins at the lengthscales, 1 to 32 times shorter, where the evidence is largest: where a long one
// explains nothing the slope knows of no shorter ones.
func (o *objective) beginShorter() error {
	x := o.coordinates()
	gradient := make([]float64, len(x))
	best, err := o.at(x, gradient)
	for i, v := range o.variables {
		if !v.own {
			continue
		}
		trial := slices.Clone(x)
		for trial[i] -= math.Ln2; err == nil && trial[i] > max(v.lower, x[i]-6*math.Ln2); trial[i] -= math.Ln2 {
			var value float64
			if value, err = o.at(trial, gradient); value < best { // false for NaN
				best, x = value, slices.Clone(trial)
			}
		}
	}
	if err == nil {
		_, err = o.at(x, gradient)
	}
	return err
}

// coordinates returns the logarithms of the variables where it was evaluated last, at first the
// starting point.
func (o *objective) coordinates() []float64 {
	x := make([]float64, len(o.variables))
	for i, v := range o.variables {
		x[i] = math.Log(*v.value(&o.current))
	}
	return x
}

// at is an lbfgs.Objective.
func (o *objective) at(x, gradient []float64) (float64, error) {
	o.last = append(o.last[:0], x...)
	for i, v := range o.variables {
		*v.value(&o.current) = math.Exp(x[i])
	}
	if !slices.Equal(o.current.hyper, o.loaded) {
		o.features = o.features.(credence.Tunable).WithHyper(o.current.hyper)
		copy(o.loaded, o.current.hyper)
		if o.engine.apart {
			o.deviate()
		} else if err := o.form.load(o.ctx, o.features); err != nil {
			return 0, err
		}
	}
	var err error
	if o.evidence, err = o.form.evaluate(o.ctx, &o.current.values, &o.slopes); err != nil {
		return 0, err
	}
	for h := range o.bySlope[:min(len(o.bySlope), len(o.slopes.hyper))] {
		d := len(o.slopes.weights)
		o.slopes.hyper[h] = kernel.Dot(o.slopes.weights, o.bySlope[h*d:(h+1)*d])
	}
	o.theta = o.theta[:0]
	for i, v := range o.variables {
		o.theta = append(o.theta, v.unit*x[i])
	}
	clear(gradient)
	o.penalised = o.joint.AddTo(o.evidence, o.theta, gradient, nil)
	for i, v := range o.variables {
		gradient[i] = -v.slope(&o.slopes) - v.unit*gradient[i]
	}
	return -o.penalised, nil
}

// setJoint puts the priors of the variables together.
func (o *objective) setJoint() {
	hung := make([]bool, len(o.variables))
	for i, v := range o.variables {
		o.joint.Priors = append(o.joint.Priors, v.prior)
		if hung[i] = v.hung; v.common {
			o.joint.Common, o.joint.Hung = i, hung
		}
	}
}

// curvature returns what the climb learned of the curvature, for other rows: the evidence of
// as many more rows bends as many times more.
func (o *outcome) curvature(weight float64) []lbfgs.Pair {
	scaled := make([]lbfgs.Pair, len(o.pairs))
	for k, p := range o.pairs {
		change := append([]float64(nil), p.Change...)
		kernel.Scale(weight/o.weight, change)
		scaled[k] = lbfgs.Pair{Step: p.Step, Change: change}
	}
	return scaled
}

const (
	differenceStep = 1e-3 // of a logarithm
	leastCurvature = 1    // nats: a direction that bends less is taken to bend so much
)

// measureCurvature replaces what the climb of t that ended there learned of the curvature by the
// whole Hessian, from differences of the gradient, one evaluation for every variable. As one
// correction along each eigenvector it makes the first step of the next climb Newton's; directions
// in which the evidence bends upward count as bending downward by as much (saddle-free Newton,
// Dauphin et al. 2014).
func (e *Engine) measureCurvature(ctx context.Context, f form, t ascent, end *outcome) error {
	t.before = end
	o, err := e.objective(ctx, f, t)
	if err != nil {
		return err
	}
	hessian, err := o.differences(o.coordinates())
	if err != nil {
		return err
	}
	var eigen mat.EigenSym
	if norm := mat.Norm(hessian, 1); math.IsNaN(norm) || math.IsInf(norm, 1) || !eigen.Factorize(hessian, true) {
		return nil // beyond the edge of what can be evaluated: what the climb learned has to do
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	end.pairs = nil
	for k, value := range eigen.Values(nil) {
		p := lbfgs.Pair{Step: mat.Col(nil, k, &vectors)}
		p.Change = append([]float64(nil), p.Step...)
		kernel.Scale(math.Max(math.Abs(value), leastCurvature), p.Change)
		end.pairs = append(end.pairs, p)
	}
	return nil
}

// differences returns second derivatives of the objective at x, one evaluation for every variable.
func (o *objective) differences(x []float64) (*mat.SymDense, error) {
	n := len(x)
	base, moved := make([]float64, n), make([]float64, n)
	if _, err := o.at(x, base); err != nil {
		return nil, err
	}
	hessian := mat.NewSymDense(n, nil)
	for i := range n {
		trial := append([]float64(nil), x...)
		step := differenceStep * cmp.Or(o.variables[i].step, 1)
		trial[i] += step
		if _, err := o.at(trial, moved); err != nil {
			return nil, err
		}
		for j := range n {
			change := (moved[j] - base[j]) / step / 2 // half of it for each of (i, j) and (j, i)
			if i == j {
				change *= 2
			}
			hessian.SetSym(i, j, hessian.At(i, j)+change)
		}
	}
	return hessian, nil
}

// bend holds second derivatives of the log evidence in the logarithms of standard deviations, log σ
// first and then that of every group, and the slopes of the moments in them; see moments.
type bend struct {
	hessian *mat.SymDense
	slopes  hyper.Slopes
}

// of returns −1 times the second derivatives in some variables, and the slopes in them; the common scale has none.
func (b *bend) of(variables []variable, places []int) (*mat.SymDense, hyper.Slopes) {
	p, groups := len(places), b.hessian.SymmetricDim()
	count := len(b.slopes.Mean) / groups
	hessian, slopes := mat.NewSymDense(p, nil), hyper.Slopes{Mean: make([]float64, p*count), Variance: make([]float64, p*count)}
	for k, i := range places {
		if variables[i].common {
			continue
		}
		bent := variables[i].group + 1
		copy(slopes.Mean[k*count:(k+1)*count], b.slopes.Mean[bent*count:])
		copy(slopes.Variance[k*count:(k+1)*count], b.slopes.Variance[bent*count:])
		for l, j := range places[:k+1] {
			if !variables[j].common {
				hessian.SetSym(k, l, -b.hessian.At(bent, variables[j].group+1))
			}
		}
	}
	return hessian, slopes
}

// bends returns the second derivatives where the form was evaluated last with slopes, by formulas: with Z = A⁻¹, z =
// S⁻¹m and
//
//	t_b = tr Z_bb     S_bc = ‖Z_bc‖²     q_bc = z_bᵀ Z_bc z_c
//
// the derivatives ∂m/∂log τ_b = 2 S Z_·b z_b and ∂C/∂log τ_b = 2 S Z_·b Z_b· S, and those in log σ, which
// are −2 S Z z and 2 S (Z − Z²) S, give
//
//	∂²L/∂log τ_b ∂log τ_c = 2 S_bc + 4 q_bc − 2 δ_bc (t_b + ‖z_b‖²)
//	∂²L/∂log τ_b ∂log σ   = 2 (t_b − Σ_c S_bc) − 4 Σ_c q_bc
//	∂²L/∂log²σ            = −2 ‖y−Φm‖²/σ² + Σ_bc (4 q_bc + 2 S_bc) − 2 Σ_b t_b
//
// in d² operations.
func (p *primal) bends(at *values) *bend {
	d, groups := p.d, len(p.groups)
	out := &bend{hessian: mat.NewSymDense(groups+1, nil)}
	size := d + 1 // of the moments that have variances
	mean, variance := make([]float64, (groups+1)*size), make([]float64, (groups+1)*size)
	out.slopes = hyper.Slopes{Mean: mean, Variance: variance}
	squares, forms := make([]float64, groups*groups), make([]float64, groups*groups)
	traces := make([]float64, groups)
	add := func(i, j int, v float64) { out.hessian.SetSym(i, j, out.hessian.At(i, j)+v) }
	for b, g := range p.groups {
		norm := 0.0
		for j := g.First; j < g.End(); j++ {
			row := p.inverse[j*d : (j+1)*d]
			traces[b] += row[j]
			norm += p.q[j] * p.q[j]
			for c, h := range p.groups {
				part, z := row[h.First:h.End()], p.q[h.First:h.End()]
				square, form := kernel.Dot(part, part), kernel.Dot(part, z)
				squares[b*groups+c] += square
				forms[b*groups+c] += p.q[j] * form
				mean[(c+1)*size+j] = 2 * p.s[j] * form
				variance[(c+1)*size+j] = 2 * p.s[j] * p.s[j] * square
				mean[j] -= mean[(c+1)*size+j]
				variance[j] -= variance[(c+1)*size+j]
			}
			variance[j] += 2 * p.s[j] * p.s[j] * row[j]
		}
		add(b+1, b+1, -2*(traces[b]+norm))
		add(0, b+1, 2*traces[b])
	}
	// The last moment is σ²(Σw + d − tr Z)/Σwp, and ∂ tr Z/∂log τ_b = 2 (Σ_c S_bc − t_b).
	share, total, trace := 2*at.noise/p.summary.precise, -2*p.residual()/at.noise, 0.0
	for b := range groups {
		all := 0.0
		for c := range groups {
			square, form := squares[b*groups+c], forms[b*groups+c]
			if c >= b {
				add(b+1, c+1, 2*square+4*form)
			}
			all += square
			add(0, b+1, -2*square-4*form)
			total += 2*square + 4*form
		}
		total -= 2 * traces[b]
		trace += traces[b]
		variance[(b+1)*size+d] = share * (traces[b] - all)
		variance[d] -= variance[(b+1)*size+d]
	}
	variance[d] += 2 * at.noise * (p.summary.weight/p.summary.precise + (float64(d)-trace)/p.summary.precise)
	add(0, 0, total)
	return out
}

// bends has no formulas: the curvature is that of differences. What sums about another mode left is forgotten.
func (p *dual) bends(*values) *bend {
	p.shares, p.differences = nil, nil
	return nil
}
