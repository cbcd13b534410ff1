package convex

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/blocks"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/rows"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// fit is one run.
type fit struct {
	*Engine
	ws                     *credence.Workspace
	phi                    credence.Design
	n, d, inputs           int
	target, offset, weight []float64
	total                  float64 // of the weights
	table                  *columns
	classes                bool
	centre, scale          float64 // of normal targets
	latent                 float64 // unit of f in units
	first                  int     // first weight that is no intercept
	interceptMean          float64
	interceptSD            float64
	targetMean, targetSD   float64

	// Learned values, in units: log of each block's prior standard deviation or of the scale, log σ.
	logPrior   []float64
	logNoise   float64
	priors     []hyper.Prior
	noisePrior hyper.Prior

	system system
	loop   *loop
	exact  *exactTable
	free   *free
}

// Fit implements [credence.Engine].
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	if data.Rows() == 0 {
		return nil, fmt.Errorf("convex: there are no rows to fit")
	}
	f := &fit{Engine: e, ws: credence.NewWorkspace(e.config.Threads), scale: 1, latent: 1}
	if err := f.read(ctx, data); err != nil {
		return nil, err
	}
	f.begin()
	done, converged, err := f.climb(ctx)
	if err != nil {
		return nil, err
	}
	return f.fitted(done, converged), nil
}

// read takes all rows into memory.
func (f *fit) read(ctx context.Context, data credence.Data) error {
	r := rows.Open("convex", f.model.Likelihood, data)
	var scratch credence.Design
	err := r.Transform(ctx, f.ws, &f.phi, &scratch, f.model.Features, func(_ int, b *credence.Batch) {
		f.inputs = b.X.Cols + b.Sparse.Cols
		f.target = append(f.target, b.Target...)
		f.offset = append(f.offset, b.Offset...)
		for i := range b.Rows() {
			w := b.WeightOf(i)
			if b.Weight != nil {
				f.weight = append(f.weight, w)
			}
			f.total += w
		}
	})
	if err != nil {
		return err
	}
	f.n, f.d = f.phi.Dims()
	if !(f.total > 0) {
		return fmt.Errorf("convex: the rows' weights add up to %v: at least one must be positive", f.total)
	}
	return nil
}

func at(values []float64, i int, otherwise float64) float64 {
	if values == nil {
		return otherwise
	}
	return values[i]
}

// begin takes units, priors and starting values.
func (f *fit) begin() {
	f.table = &columns{ws: f.ws, phi: &f.phi}
	totals, squares, weights := make([]float64, f.d), make([]float64, f.d), make([]float64, f.n)
	for i := range weights {
		weights[i] = at(f.weight, i, 1)
	}
	f.phi.AddMulTrans(f.ws, totals, weights)
	f.phi.AddMulSquaresTrans(f.ws, squares, weights)
	if f.groups[0].Intercept {
		f.first = 1
		f.table.means = blocks.Means(f.groups, totals, f.total)
		f.table.means[0] = 0
	}
	for i, y := range f.target {
		f.targetMean += weights[i] / f.total * y
	}
	for i, y := range f.target {
		f.targetSD += weights[i] / f.total * (y - f.targetMean) * (y - f.targetMean)
	}
	f.targetSD = math.Sqrt(f.targetSD)
	_, f.classes = f.model.Likelihood.(likelihood.Bernoulli)
	tail := 0.5
	if f.classes {
		ones := 0.5
		for i, y := range f.target {
			ones += weights[i] * y
		}
		f.latent, tail = likelihood.LatentScale(likelihood.Bernoulli{}), likelihood.PriorTail(likelihood.Bernoulli{})
		f.interceptMean = special.Logit(ones / (f.total + 1))
	} else {
		f.unitsOf(weights)
	}
	f.interceptSD = blocks.InterceptSpread * f.latent
	for _, g := range f.groups[f.first:] {
		size := 0.0
		for j := g.First; j < g.End(); j++ {
			mean := 0.0
			if f.table.means != nil {
				mean = f.table.means[j]
			}
			size += squares[j]/f.total - mean*mean
		}
		if g.Tuned || !(size > 0) {
			size = 1
		}
		f.take(f.latent/math.Sqrt(size), tail, g)
	}
}

// unitsOf puts normal targets in units of their standard deviation about their mean.
func (f *fit) unitsOf(weights []float64) {
	mean, square := 0.0, 0.0
	for i, y := range f.target {
		mean += weights[i] / f.total * (y - at(f.offset, i, 0))
	}
	if f.first == 0 {
		mean = 0
	}
	for i, y := range f.target {
		gap := y - at(f.offset, i, 0) - mean
		square += weights[i] / f.total * gap * gap
	}
	if f.centre = mean; square > 0 {
		f.scale = math.Sqrt(square)
	}
	if f.weight != nil {
		f.table.roots = make([]float64, f.n)
		for i, w := range weights {
			f.table.roots[i] = math.Sqrt(w)
		}
	}
	noise := f.model.Likelihood.(likelihood.Gaussian).NoiseVariance
	f.logNoise, f.noisePrior = math.Log(0.7), hyper.HalfCauchy(1)
	if noise.State != param.Learned {
		f.logNoise = math.Log(noise.Value)/2 - math.Log(f.scale)
	}
	if noise.State == param.Held {
		f.noisePrior = nil
	}
}

// take adds the scale of a block: a prior standard deviation, or the scale of heavier tails.
func (f *fit) take(size, tail float64, g blocks.Group) {
	stated := f.scaleOf()
	var p hyper.Prior = hyper.BetaPrime{A: 1, B: tail, Scale: size}
	start := math.Log(size / 2)
	if f.config.Hyper == hyper.MaximumLikelihood {
		p = hyper.Flat{}
	}
	switch stated.State {
	case param.Held:
		p = nil
		fallthrough
	case param.Guess:
		start = math.Log(stated.Value) - math.Log(f.scale)
		if _, normal := f.model.Prior.(prior.Normal); normal {
			start = math.Log(stated.Value)/2 - math.Log(f.scale)
		}
	}
	f.logPrior, f.priors = append(f.logPrior, start), append(f.priors, p)
}

// scaleOf returns the stated variance or scale of the weights.
func (f *fit) scaleOf() param.Parameter {
	switch p := f.model.Prior.(type) {
	case prior.Normal:
		return p.Variance
	case prior.Laplace:
		return p.Scale
	case prior.StudentT:
		return p.Scale
	}
	return param.Parameter{}
}

// heavy says whether weights are sites of their own.
func (f *fit) heavy() bool { _, normal := f.model.Prior.(prior.Normal); return !normal }

// noise is σ² in units, 1 for classes.
func (f *fit) noise() float64 {
	if f.classes {
		return 1
	}
	return math.Exp(2 * f.logNoise)
}

// storedDraws is the number of draws that a posterior of many weights is kept in.
const storedDraws = 100

// setSystem makes the system and the sites at the learned values, going on from where the loop was.
func (f *fit) setSystem() {
	noise := f.noise()
	normal := make([]float64, f.d) // prior precisions times σ²
	y := make([]float64, f.d)
	if f.first == 1 {
		normal[0] = noise / (f.interceptSD * f.interceptSD)
		y[0] = math.Sqrt(normal[0]) * f.interceptMean
	}
	for k, g := range f.groups[f.first:] {
		for j := g.First; j < g.End() && !f.heavy(); j++ {
			normal[j] = noise * math.Exp(-2*f.logPrior[k])
		}
	}
	roots := make(linop.Diagonal, f.d)
	for j, v := range normal {
		roots[j] = math.Sqrt(v)
	}
	var groups []Group
	var b []linop.Matrix
	m := measured{x: roots, y: y, noise: noise}
	var offset []float64
	if f.classes {
		shift := make([]float64, f.n)
		for i, t := range f.target {
			shift[i] = t - 0.5
		}
		groups, b, offset = append(groups, Group{Count: f.n, Potential: Logistic{1}, Shift: shift, Copies: f.weight}), append(b, f.table), f.offset
	} else {
		targets := make([]float64, f.n, f.n+f.d)
		for i, t := range f.target {
			targets[i] = (t - at(f.offset, i, 0) - f.centre) / f.scale * at(f.table.roots, i, 1)
		}
		m.x, m.y = linop.NewStack(f.table, roots), append(targets, y...)
	}
	if f.heavy() {
		places := make([]int, f.d-f.first)
		for k := range places {
			places[k] = f.first + k
		}
		b = append(b, &linop.Selection{Cols: f.d, Places: places})
		for k, g := range f.groups[f.first:] {
			groups = append(groups, Group{Count: g.Count, Potential: f.potential(f.logPrior[k], noise)})
		}
	} else if !f.classes {
		// Everything is normal: a row of no weight stands for the sites.
		b, groups = append(b, &linop.Selection{Cols: f.d}), nil
	}
	m.b = linop.NewStack(b...)
	count, _ := checkGroups(groups)
	before := f.loop
	way := cmp.Or(f.config.Variances, Auto)
	if way == Auto {
		if way = Exact; f.d > exactUnknowns {
			way = Sampled
		}
	}
	diagonal := f.table.diagonalOf(f.classes, normal, f.first)
	if way == Exact {
		if f.exact == nil {
			f.exact = &exactTable{table: f.table, classes: f.classes, sparse: f.first, upper: make([]float64, f.d*f.d)}
		}
		f.exact.measured, f.exact.offsets, f.exact.normal = m, offsets{offset}, normal
		f.system = f.exact
	} else {
		base := free{measured: m, seed: f.config.Seed, draws: cmp.Or(f.config.K, storedDraws), squares: diagonal}
		if f.free != nil {
			base.products = f.free.products
		}
		t := &freeTable{base, offsets{offset}}
		f.system, f.free = t, &t.free
		if way == LanczosMethod {
			base.draws = storedDraws
			l := &lanczosTable{lanczos{free: base, steps: cmp.Or(f.config.K, 80)}, offsets{offset}}
			f.system, f.free = l, &l.free
		}
	}
	f.loop = newLoop(f.system, groups, count, noise)
	switch {
	case before != nil:
		copy(f.loop.u, before.u)
		copy(f.loop.z, before.z)
		f.loop.newton, f.loop.phi = before.newton, before.phi
	case f.config.Start != nil:
		f.goOn(f.config.Start.Members[0].Posterior)
	case f.first == 1:
		f.loop.u[0] = f.interceptMean
	}
}

// goOn starts from the means and the variances that a posterior has of the weights and of the rows' f.
func (f *fit) goOn(q credence.Posterior) {
	variance, unit := make([]float64, f.d), 1/(f.noise()*f.scale*f.scale)
	u := f.loop.u
	q.Marginals(u, variance)
	if f.first == 1 {
		u[0] -= f.centre
		for j, mean := range f.table.means {
			u[0] += mean * u[j] // the intercept's own mean is 0
		}
	}
	kernel.Scale(1/f.scale, u)
	rows := 0
	if f.classes {
		rows = f.n
		q.Latent(f.ws, make([]float64, f.n), f.loop.z[:rows], &f.phi)
	}
	if f.heavy() {
		copy(f.loop.z[rows:], variance[f.first:])
	}
	kernel.Scale(unit, f.loop.z)
}

// potential is that of a weight at a scale, the noise being σ².
func (f *fit) potential(logScale, noise float64) Potential {
	scale := math.Exp(logScale)
	if p, ok := f.model.Prior.(prior.StudentT); ok {
		return StudentT{Rate: noise / (scale * scale), DF: p.Degrees()}
	}
	return Laplace{Rate: math.Sqrt(noise) / scale}
}

// learnedTolerance is the move of a learned logarithm in one step of expectation maximisation below which the steps end.
const learnedTolerance = 1e-4

// climb goes through outer loops, with a step of expectation maximisation after each where something is learned.
func (f *fit) climb(ctx context.Context) (done int, converged bool, err error) {
	steps := f.config.Steps
	if f.setSystem(); steps == 0 {
		if steps = 5; f.free == nil {
			steps = 100
		}
	}
	for done = 1; done <= steps; done++ {
		_, settled, err := f.loop.run(ctx, 1, cmp.Or(f.config.Tolerance, 1e-9), nil)
		if err != nil {
			return done, false, err
		}
		if f.config.Progress != nil {
			f.config.Progress(credence.Progress{Stage: "outer loop", Done: done, Total: steps, Objective: -f.loop.phi / 2})
		}
		moved, err := f.learn(ctx)
		if err != nil {
			return done, false, err
		}
		if moved < learnedTolerance && (settled || moved > 0 && f.loop.lastChange < 1e-6) {
			return done, true, nil
		}
		if moved > 0 {
			f.setSystem()
		}
	}
	return steps, false, nil
}

// learn moves what is learned to where the bound is highest at fixed Q, and returns how far the logarithms moved.
func (f *fit) learn(ctx context.Context) (moved float64, err error) {
	set := func(x *float64, to float64) {
		moved = math.Max(moved, math.Abs(to-*x))
		*x = to
	}
	noise := f.noise()
	variance, err := f.marginals(ctx)
	if err != nil {
		return 0, err
	}
	last := 0 // of the sites, that of the weight
	if f.classes {
		last = f.n
	}
	old := append([]float64(nil), f.logPrior...)
	for k, g := range f.groups[f.first:] {
		if f.priors[k] == nil {
			continue
		}
		square := 0.0
		for j := g.First; j < g.End(); j++ {
			s := f.loop.u[j]*f.loop.u[j] + variance[j]
			switch p := f.model.Prior.(type) {
			case prior.Normal:
				square += s
			case prior.Laplace: // E of the bound: h = τ²γ
				square += noise / f.loop.precision[last+j-f.first]
			case prior.StudentT:
				square += s * (p.Degrees() + 1) / (p.Degrees() + s*math.Exp(-2*old[k]))
			}
		}
		set(&f.logPrior[k], hyper.ScaleMode(float64(g.Count), square, f.priors[k], f.logPrior[k]))
	}
	if f.noisePrior != nil && !f.classes {
		residual := f.loop.residual(f.loop.u) * noise
		if f.exact != nil {
			residual += noise * f.exact.rowTrace(f.loop.precision)
		} else {
			residual += noise * f.drawnTrace()
		}
		set(&f.logNoise, math.Max(hyper.ScaleMode(f.total, residual, f.noisePrior, f.logNoise), math.Log(1e-6)/2))
	}
	return moved, nil
}

// marginals returns the variances of (b̃, w).
func (f *fit) marginals(ctx context.Context) ([]float64, error) {
	noise := f.noise()
	out := make([]float64, f.d)
	if f.exact != nil {
		f.exact.invert()
		for j := range out {
			row := f.exact.inverse[j*f.d : (j+1)*f.d]
			out[j] = noise * kernel.Dot(row, row)
		}
		return out, nil
	}
	if f.free.last == nil { // Lanczos: draws for the learned values, whose own variances are too small
		if err := f.free.variances(ctx, make([]float64, len(f.loop.z))); err != nil {
			return nil, err
		}
	}
	for _, xi := range f.free.last {
		for j, v := range xi {
			out[j] += noise * v * v / float64(len(f.free.last))
		}
	}
	return out, nil
}

// drawnTrace is tr ΦᵀWΦA⁻¹ by the draws.
func (f *fit) drawnTrace() float64 {
	sum, s := 0.0, make([]float64, f.n)
	for _, xi := range f.free.last {
		f.table.MulVec(s, xi)
		sum += kernel.Dot(s, s) / float64(len(f.free.last))
	}
	return sum
}

// lanczosTable is the system of a table of many columns with the paper's variances.
type lanczosTable struct {
	lanczos
	offsets
}

func (t *lanczosTable) sites(dst, u []float64) {
	t.lanczos.sites(dst, u)
	t.add(dst)
}

// fitted assembles the result.
func (f *fit) fitted(done int, converged bool) *credence.Fitted {
	out := &credence.Fitted{TargetMean: f.targetMean, TargetVariance: f.targetSD * f.targetSD}
	out.Report = credence.Report{
		Engine: "convex", Status: credence.IterationLimit, Rows: f.n, Inputs: f.inputs, Weights: f.d, Iterations: done,
		Hyperparameters: string(cmp.Or(f.config.Hyper, hyper.Mode)),
	}
	if converged || f.free != nil {
		out.Report.Status = credence.Converged
	}
	model := credence.Model{Features: f.model.Features, Likelihood: f.model.Likelihood}
	if g, ok := model.Likelihood.(likelihood.Gaussian); ok {
		g.NoiseVariance = g.NoiseVariance.At(f.noise() * f.scale * f.scale)
		model.Likelihood = g
		out.Report.Hyper = append(out.Report.Hyper, credence.Value{Name: "noise_variance", Value: g.NoiseVariance.Value})
	}
	model.Prior = f.learnedPrior(out)
	out.Members = []credence.Member{{Model: model, Posterior: f.posterior()}}
	if bound := f.bound(); !math.IsNaN(bound) {
		out.Report.EvidenceBound = &bound
	}
	if f.free != nil && f.free.relative > 0 {
		out.Report.Warnings = append(out.Report.Warnings, fmt.Sprintf("variances are those of %d draws, with a relative standard error of %.2g: state convex(k=%d) to halve it",
			len(f.free.last), f.free.relative, 4*len(f.free.last)))
	}
	if p, ok := f.model.Prior.(prior.StudentT); ok {
		out.Report.Warnings = append(out.Report.Warnings, fmt.Sprintf("under the prior %v the bound is not convex: another start may end elsewhere", p))
	}
	return out
}

// learnedPrior returns the prior at its values in the target's own units, and adds them to the report.
func (f *fit) learnedPrior(out *credence.Fitted) credence.Prior {
	value := func(k int) float64 { return math.Exp(f.logPrior[k]) * f.scale }
	switch p := f.model.Prior.(type) {
	case prior.Normal:
		p.Variances = make([]float64, f.d)
		variance := func(k int) float64 {
			if f.groups[k].Intercept {
				return f.interceptSD * f.interceptSD * f.scale * f.scale
			}
			v := value(k - f.first)
			return v * v
		}
		blocks.Spread(p.Variances, f.groups, variance)
		out.Report.Hyper = append(out.Report.Hyper, blocks.Values(f.groups, variance, f.model.Features)...)
		return p
	case prior.Laplace:
		p.Scale = p.Scale.At(value(0))
		out.Report.Hyper = append(out.Report.Hyper, credence.Value{Name: "prior_scale", Value: p.Scale.Value})
		return p
	case prior.StudentT:
		p.Scale = p.Scale.At(value(0))
		out.Report.Hyper = append(out.Report.Hyper, credence.Value{Name: "prior_scale", Value: p.Scale.Value})
		return p
	}
	return f.model.Prior
}

// posterior is Q in the target's own units, with the intercept at zero of the columns.
func (f *fit) posterior() credence.Posterior {
	mean, root := append([]float64(nil), f.loop.u...), math.Sqrt(f.noise())*f.scale
	own := func(u []float64, scale, centre float64) {
		if f.table.means != nil {
			blocks.Uncentre(f.table.means, u)
		}
		kernel.Scale(scale, u)
		if f.first == 1 {
			u[0] += centre
		}
	}
	own(mean, f.scale, f.centre)
	if f.exact != nil {
		f.exact.invert()
		factor := f.exact.inverse
		if f.table.means != nil {
			blocks.UncentreFactor(f.table.means, factor)
		}
		kernel.Scale(root, factor)
		return &posterior.Full{Mean: mean, Factor: factor}
	}
	q := &posterior.Draws{Count: 2 * len(f.free.last), Values: make([]float64, 2*len(f.free.last)*f.d)}
	for s := range q.Count { // every draw and its opposite, so that their mean is that of Q
		row := q.Values[s*f.d : (s+1)*f.d]
		copy(row, f.free.last[s/2])
		own(row, root, 0)
		if s%2 == 1 {
			kernel.Scale(-1, row)
		}
		kernel.Axpy(1, mean, row)
	}
	return q
}

// bound is that of the log evidence in the target's own units, priors normalised; NaN where log|A| is not known.
func (f *fit) bound() float64 {
	noise, sum := f.noise(), -f.loop.phi/2
	prior1 := func(count int, log float64) { sum += float64(count) * log }
	if f.first == 1 {
		prior1(1, -math.Log(f.interceptSD))
	}
	m := f.first // Gaussian measurements of X beside the rows
	for k, g := range f.groups[f.first:] {
		switch p := f.model.Prior.(type) {
		case prior.Normal:
			m += g.Count
			prior1(g.Count, -f.logPrior[k])
		case prior.Laplace:
			prior1(g.Count, -math.Log(2)-f.logPrior[k])
		case prior.StudentT:
			df := p.Degrees()
			half, _ := math.Lgamma((df + 1) / 2)
			whole, _ := math.Lgamma(df / 2)
			prior1(g.Count, half-whole-math.Log(df*math.Pi)/2-f.logPrior[k])
		}
	}
	// Weights under a normal prior: N(0 | w σ/τ, σ²) σ/τ; the others have the constants of u alone.
	sum += float64(m) * math.Log(noise) / 2
	sum += float64(f.d-m) / 2 * math.Log(2*math.Pi*noise)
	if !f.classes {
		sum -= f.total/2*math.Log(2*math.Pi*noise) + f.total*math.Log(f.scale)
	}
	return sum
}
