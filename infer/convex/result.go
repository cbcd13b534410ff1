package convex

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/blocks"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// fitted assembles the result.
func (f *fit) fitted(done int, converged bool) *credence.Fitted {
	out := &credence.Fitted{TargetMean: f.targetMean, TargetVariance: f.targetSD * f.targetSD}
	out.Report = credence.Report{
		Engine: "convex", Status: credence.IterationLimit, Rows: f.n, Inputs: f.inputs, Weights: f.d, Iterations: done,
		Hyperparameters: string(cmp.Or(f.config.Hyper, hyper.Mode)),
	}
	if f.noisePrior == nil && !slices.ContainsFunc(f.priors, func(p hyper.Prior) bool { return p != nil }) {
		out.Report.Hyperparameters = hyper.Held
	}
	if converged {
		out.Report.Status = credence.Converged
	} else {
		out.Report.Warnings = append(out.Report.Warnings, fmt.Sprintf("the fit had not converged after %d outer loops: state convex(steps=%d)", done, 4*done))
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
		return f.exact.posterior(mean, root)
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

// bound is that of the log evidence in the target's own units, priors normalised; NaN where log|A| is
// not known.
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
