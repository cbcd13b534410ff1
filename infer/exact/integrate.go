package exact

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/param"
)

// settled is what a fit knows of the weights where a climb ended, hyper-parameters included as the
// treatment has it.
type settled struct {
	posterior credence.Posterior
	treatment string
	// The mean of σ², and the exponentials of the means of the logarithms of the others; in units.
	at           values
	law          []float64 // the means of the prior variances, in units; nil where nothing is integrated
	predictiveDF float64
	evidence     float64 // integrated
	learned      []learned
	laws         []credence.Law // in units
	joint        *credence.JointLaw
	evaluations  int // after the climb
	warnings     []string
}

// learned is a hyper-parameter under a prior: the standard deviation of its logarithm, and the scale of the prior in
// units, 0 for that of a lengthscale.
type learned struct {
	name      string
	sd, scale float64
}

const (
	polishSteps    = 30
	polished       = 1e-8      // of the whitened gradient
	probed         = 1e-3      // and of one that is an average over random vectors
	chord          = 0.2       // below which Newton's method keeps its curvature
	curvatureWidth = 0.02      // half that of differences
	dualShare      = 4         // sums of the n×n form take at most so many times the fit's own memory,
	dualAlways     = 256 << 20 // or so many bytes
	sumsOfOneShape = 4         // sets of linear numbers that are held at once
)

// settle goes on from where a climb ended to the mode, and from there integrates over noise and prior variances if the
// treatment says so. The form has the outcome's features loaded, and is left evaluated anywhere.
func (e *Engine) settle(ctx context.Context, f form, t ascent, end *outcome) error {
	s := &settled{treatment: string(e.config.Hyper), at: end.values}
	if end.settled = s; end.status == credence.Closed {
		s.treatment = hyper.Held
	}
	if !e.priors() || end.status == credence.Closed {
		s.posterior, s.evidence = f.posterior(), end.evidence
		return nil
	}
	m := &density{engine: e, ascent: t, end: end}
	from, err := m.begin(ctx, f)
	if err != nil {
		return err
	}
	all, rules := &hyper.Integrated{}, m.rules()
	if all.Mode, err = rules.Mode(ctx, hyper.Each(m.evaluate), from); err == nil && e.config.Hyper == param.Integrate {
		if reason := f.tooLarge(len(m.places)); reason != "" {
			all.Why = "hyper-parameters stand at their mode, not integrated: " + reason
		} else {
			all, err = rules.Integrate(ctx, hyper.Each(m.evaluate), all.Mode)
		}
	}
	if err != nil {
		return err
	}
	return m.finish(all)
}

// density is the log posterior in noise and prior variances, as far as they are not at a bound.
type density struct {
	engine      *Engine
	ascent      ascent
	end         *outcome // of the last climb
	o           *objective
	places      []int // variables that are coordinates of θ
	node        hyper.Point
	evaluations int
	curved      *curved // by differences
}

// curved is a curvature of the evidence, and slopes of moments, where differences of slopes were taken.
type curved struct {
	theta   []float64
	hessian *mat.SymDense
	slopes  hyper.Slopes
}

// near reports whether θ lies within the differences: what is measured there is measured already.
func (b *curved) near(theta []float64) bool {
	if b == nil {
		return false
	}
	for k, v := range theta {
		if !(math.Abs(v-b.theta[k]) <= curvatureWidth) {
			return false
		}
	}
	return true
}

// place is where the form was evaluated.
type place struct {
	x                           []float64 // logarithms of all variables
	point                       point
	evidence, penalised, jitter float64
}

func (m *density) rules() hyper.Rules {
	f := m.o.form
	rules := hyper.Rules{
		Weights: f.base().d, Steps: polishSteps, Width: curvatureWidth, Near: chord, Enough: polished, Curvature: m.curvature, Climb: m.climb, Spread: f.spread,
		Tell: func(stage string, done, total int, objective float64) {
			m.engine.report(credence.Progress{Stage: m.ascent.stage + ", " + stage, Done: done, Total: total, Objective: objective, Sure: true})
		},
	}
	if l, ok := f.(*levels); ok && l.crossed != nil {
		rules.Enough = probed
	}
	if !m.engine.prior.ARD { // whose further weights have variances that no row tells of
		rules.Law = func(theta []float64) []float64 {
			p := m.o.current
			p.prior, p.hyper = slices.Clone(p.prior), slices.Clone(p.hyper)
			m.set(&p, theta)
			return p.prior
		}
	}
	rules.Marginals = m.covaried
	return rules
}

// covaried are the coordinates of variances and correlations of groups: the law of few groups is far from log-normal.
func (m *density) covaried() (places []int) {
	for k, i := range m.places {
		if v := m.o.variables[i]; v.plain || v.group >= 0 && m.engine.groups[v.group].Covaried {
			places = append(places, k)
		}
	}
	return places
}

// begin evaluates where a climb ended.
func (m *density) begin(ctx context.Context, f form) (*hyper.Evaluation, error) {
	var err error
	if m.o, err = m.engine.objective(ctx, f, ascent{features: m.end.features, before: m.end, loaded: true}); err != nil {
		return nil, err
	}
	x, theta := m.o.coordinates(), []float64(nil)
	m.places, m.curved = nil, nil
	for i, v := range m.o.variables {
		if _, flat := v.prior.(hyper.Flat); flat && v.own { // which has no posterior to integrate over
			continue
		}
		if x[i] > v.lower+1e-9 && x[i] < v.upper-1e-9 {
			m.places, theta = append(m.places, i), append(theta, v.unit*x[i])
		}
	}
	at, err := m.at(x)
	if err == nil {
		at.Theta = theta
	}
	return at, err
}

// at evaluates at the logarithms of the variables.
func (m *density) at(x []float64) (*hyper.Evaluation, error) {
	m.evaluations++
	all := make([]float64, len(x))
	if _, err := m.o.at(x, all); err != nil {
		return nil, err
	}
	now := &place{x, m.o.current, m.o.evidence, m.o.penalised, m.o.form.base().jitter}
	now.point.prior, now.point.hyper = slices.Clone(now.point.prior), slices.Clone(now.point.hyper)
	at := &hyper.Evaluation{Point: hyper.Point{LogDensity: m.o.penalised}, State: now}
	for _, i := range m.places {
		at.Gradient = append(at.Gradient, -all[i]/m.o.variables[i].unit)
	}
	return at, nil
}

// returnTo evaluates where it was evaluated before, unless that is where it was last.
func (m *density) returnTo(at *hyper.Evaluation) (err error) {
	if x := at.State.(*place).x; !slices.Equal(m.o.last, x) {
		_, err = m.at(x)
	}
	return err
}

// evaluate is a [hyper.Each]. Of differences it returns the slopes of the evidence: its priors have a curvature in
// closed form.
func (m *density) evaluate(_ context.Context, from *hyper.Evaluation, theta []float64, to hyper.Precision) (at *hyper.Evaluation, err error) {
	x := slices.Clone(from.State.(*place).x)
	for k, i := range m.places {
		x[i] = theta[k] / m.o.variables[i].unit
	}
	// or it is the mode
	if at = (&hyper.Evaluation{Point: hyper.Point{LogDensity: m.o.penalised}}); !slices.Equal(m.o.last, x) {
		if at, err = m.at(x); err != nil {
			return nil, err
		}
	}
	switch {
	case to == hyper.ForDifferences:
		for k, i := range m.places {
			at.Gradient[k] = m.o.variables[i].slope(&m.o.slopes) / m.o.variables[i].unit
		}
	case to == hyper.ForNode && m.o.form.base().failed == nil:
		m.o.form.moments(&m.o.current.values, &m.node)
		at.Mean, at.Variance, at.Linear = m.node.Mean, m.node.Variance, m.node.Linear
	}
	return at, nil
}

// curvature is that of the priors, in closed form, and of the evidence: in closed form in the d×d form, else by
// differences.
func (m *density) curvature(ctx context.Context, at *hyper.Evaluation) (hessian *mat.SymDense, slopes hyper.Slopes, err error) {
	if err := m.returnTo(at); err != nil {
		return nil, slopes, err
	}
	o, p := m.o, len(m.places)
	hessian = mat.NewSymDense(p, nil)
	all := mat.NewSymDense(len(o.variables), nil)
	o.joint.AddTo(0, o.theta, nil, all)
	var b *bend
	if !m.engine.apart { // whose hyper-parameters have no formulas
		b = o.form.bends(&o.current.values)
	}
	_, eliminated := o.form.(*levels)
	many := eliminated && o.form.base().d > problem.FullWeights
	switch {
	case b != nil:
		hessian, slopes = b.of(o.variables, m.places)
	case many && m.curved.near(at.Theta):
		hessian.CopySym(m.curved.hessian)
		slopes = m.curved.slopes
	default:
		counted := m.evaluations // the report has those of steps and nodes
		if hessian, slopes, err = m.rules().Differences(ctx, hyper.Each(m.evaluate), at); err == nil {
			m.curved = &curved{slices.Clone(at.Theta), mat.NewSymDense(p, nil), slopes}
			m.curved.hessian.CopySym(hessian)
			err = m.returnTo(at)
		}
		m.evaluations = counted
	}
	for k := range p {
		for l := range k + 1 {
			hessian.SetSym(k, l, hessian.At(k, l)-all.At(m.places[k], m.places[l]))
		}
	}
	return hessian, slopes, err
}

// climb goes on from a θ.
func (m *density) climb(ctx context.Context, _ *hyper.Evaluation, theta []float64) (*hyper.Evaluation, error) {
	from, t, f := *m.end, m.ascent, m.o.form
	m.set(&m.o.current, theta)
	from.point = m.o.current
	t.before, t.loaded, t.tune = &from, true, false
	better, err := m.engine.climb(ctx, f, t)
	if err != nil {
		return nil, err
	}
	better.settled = m.end.settled
	*m.end = *better
	return m.begin(ctx, f)
}

// set moves a point to θ.
func (m *density) set(p *point, theta []float64) {
	for k, i := range m.places {
		v := m.o.variables[i]
		*v.value(p) = math.Exp(theta[k] / v.unit)
	}
}

// finish stores the mode and what is known over all θ. The last moment is that of y.
func (m *density) finish(all *hyper.Integrated) error {
	end, s, f := m.end, m.end.settled, m.o.form
	mode := all.Mode.At.State.(*place)
	end.point, end.evidence, end.penalised, end.jitter = mode.point, mode.evidence, mode.penalised, mode.jitter
	s.at, s.evidence, s.law = end.values, end.evidence, all.Law
	var coordinates []gauss.Coordinate
	for k, i := range m.places {
		v := m.o.variables[i]
		several := v.plain || v.group >= 0 && m.engine.groups[v.group].Stride > 0
		coordinates = append(coordinates, gauss.Coordinate{Name: v.name, Together: several, Odds: v.plain})
		l := learned{name: v.name, sd: all.Mode.Axes.SD(k) / v.unit}
		if v.plain {
			l.sd = all.Mode.Axes.SD(k)
		} else if scaled, ok := v.prior.(hyper.BetaPrime); ok {
			l.scale = scaled.Scale
		}
		if v.hung {
			l.scale *= math.Sqrt(end.common)
		}
		s.learned = append(s.learned, l)
	}
	s.joint, s.laws = gauss.Laws(all.Mode.Axes, coordinates, all.Marginals)
	if all.Outcome != hyper.AtMode {
		s.evidence = all.LogDensity
	}
	if all.Why != "" {
		s.warnings, s.treatment = append(s.warnings, all.Why), string(param.Mode)
	}
	if all.Fourth == nil {
		if err := m.returnTo(all.Mode.At); err != nil {
			return err
		}
		s.posterior, s.evaluations = f.posterior(), m.evaluations
		return nil
	}
	weights, df, mean := len(all.Variance)-1, 0.0, end.point
	if weights > 0 {
		df = hyper.MedianDF(all.Variance[:weights], all.Fourth[:weights])
	}
	var ok bool
	if s.posterior, ok = f.integrated(all.Mean, all.Linear, df); !ok {
		s.warnings = append(s.warnings, "the integrated covariance of the weights had negative eigenvalues, which were set to 0: there are few rows for so many weights, and standard deviations are estimates")
	}
	mean.prior, mean.hyper = slices.Clone(mean.prior), slices.Clone(mean.hyper)
	m.set(&mean, all.Theta)
	if m.engine.apart {
		end.features = end.features.(credence.Tunable).WithHyper(mean.hyper)
	}
	s.at, s.evaluations, s.predictiveDF = mean.values, m.evaluations, hyper.DF(all.Variance[weights], all.Fourth[weights])
	s.at.noise = all.Linear[len(all.Linear)-1]
	return nil
}
