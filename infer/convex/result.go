package convex

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// fitted assembles the result.
func (f *fit) fitted(done int, converged bool) *credence.Fitted {
	q := f.posterior()
	out := f.rows.Fitted()
	out.Report.Status, out.Report.Iterations, out.Report.Warnings = credence.IterationLimit, done, f.warnings
	out.Report.Hyperparameters, out.Report.HyperEvaluations = string(f.treatment), f.evaluations
	if len(f.learned) == 0 && f.treatment != param.Heldout {
		out.Report.Hyperparameters = hyper.Held
	}
	for k, c := range f.learned {
		if f.treatment != param.MaximumLikelihood {
			unit := f.units.Scale
			if c.group < 0 {
				unit = f.units.Noise
			}
			value := math.Pow(c.prior.(hyper.BetaPrime).Scale*unit, c.log)
			out.Report.HyperPrior = append(out.Report.HyperPrior, credence.Value{Name: c.name, Value: value})
		}
		if f.integrated != nil {
			out.Report.HyperSD = append(out.Report.HyperSD, credence.Value{Name: c.name, Value: c.log * f.integrated.Mode.Axes.SD(k)})
		}
	}
	if converged {
		out.Report.Status = credence.Converged
	} else {
		out.Report.Warnings = append(out.Report.Warnings, fmt.Sprintf("the fit had not converged after %d outer loops: state convex(steps=%d)", done, min(4*done, problem.MostRepeats)))
	}
	family, noise := f.model.Likelihood, f.noise()
	a := f.summed()
	if g, ok := family.(likelihood.Gaussian); ok && a != nil {
		noise, g.PredictiveDF = a.Linear[len(a.Linear)-1], hyper.DF(a.Variance[f.d], a.Fourth[f.d])
		family = g
	}
	family = f.units.SetNoise(family, &out.Report, noise)
	model := credence.Model{Features: f.model.Features, Likelihood: family, Prior: f.learnedPrior(out)}
	out.Members = []credence.Member{{Model: model, Posterior: q}}
	counts := []credence.Value{{Name: "newton_steps", Value: float64(f.loop.newton)}}
	if f.free != nil {
		counts = append(counts, credence.Value{Name: "products", Value: float64(f.free.products)}, credence.Value{Name: "conjugate_steps", Value: float64(f.free.steps)})
	}
	out.Report.Counts = slices.DeleteFunc(counts, func(c credence.Value) bool { return c.Value == 0 })
	name := func(j int) string { return problem.WeightName(f.model.Features, j) }
	if f.exact == nil {
		name = nil
	}
	wider := "--prior normal needs no bounds for numbers"
	if f.classes {
		wider = "engine svi(covariance=full) is wider for classes under a normal prior"
	}
	diagnose.Narrow(&out.Report, f.spread, f.first, name, "the bounds of the factors are narrower than the factors", "predictions suffer less, and "+wider)
	f.reportBound(&out.Report)
	if f.free != nil {
		count := len(f.free.last)
		state := ""
		if f.config.Variances != LanczosMethod && f.config.Variances != XDiag && f.config.Variances != Combined {
			state = fmt.Sprintf(": state convex(k=%d) to halve it", 4*count)
		} else if f.free.relative > 0 {
			out.Report.Warnings = append(out.Report.Warnings, fmt.Sprintf("the variances by which the fit goes have a relative standard error of %.2g: state a larger k", f.free.relative))
		}
		out.Report.Warnings = append(out.Report.Warnings, fmt.Sprintf("variances are those of %d draws, with a relative standard error of %.2g%s", count, drawnError(count), state))
	}
	if p := f.model.Prior; f.heavy && !f.tails.convex() {
		out.Report.Warnings = append(out.Report.Warnings, fmt.Sprintf("under the prior %v the bound is not convex: another start may end elsewhere", p))
	}
	return out
}

// reportBound reports the bound over everything that was learned, and at the mode.
func (f *fit) reportBound(report *credence.Report) {
	bound := f.bound()
	switch {
	case f.integrated != nil:
		report.EvidenceBound, report.EvidenceBoundMode = &f.integrated.LogDensity, &f.integrated.Mode.At.State.(*place).bound
	case math.IsNaN(bound):
	case len(f.learned) > 0 && f.treatment != param.MaximumLikelihood:
		report.EvidenceBoundMode = &bound
	default:
		report.EvidenceBound = &bound
	}
}

// learnedPrior returns the prior at its values in the target's own units, and adds them to the report.
func (f *fit) learnedPrior(out *credence.Fitted) credence.Prior {
	value := func(k int) float64 { return math.Exp(f.logScale(k)) * f.units.Scale }
	if f.heavy {
		out.Report.Hyper = append(out.Report.Hyper, credence.Value{Name: "prior_scale", Value: value(0)})
		return f.tails.at(value(0))
	}
	p := f.model.Prior.(prior.Normal)
	p.Variances = make([]float64, f.d)
	variance := func(k int) float64 {
		if f.groups[k].Intercept {
			return f.interceptSD * f.interceptSD * f.units.Scale * f.units.Scale
		}
		return value(k-f.first) * value(k-f.first)
	}
	problem.Spread(p.Variances, f.groups, variance)
	if f.integrated != nil {
		for k, c := range f.learned {
			if c.group < 0 {
				continue
			}
			for j := f.groups[c.group].First; j < f.groups[c.group].End(); j++ {
				p.Variances[j] = f.integrated.Law[k] * f.units.Scale * f.units.Scale
			}
		}
	}
	out.Report.Hyper = append(out.Report.Hyper, problem.Values(f.groups, variance, f.model.Features)...)
	return p
}

// posterior is Q in the target's own units, with the intercept at zero of the columns.
func (f *fit) posterior() credence.Posterior {
	mean, root := append([]float64(nil), f.loop.u...), math.Sqrt(f.noise())
	a := f.summed()
	if a != nil {
		copy(mean, a.Mean[:f.d])
	}
	f.units.Own(mean)
	if a != nil {
		return f.full(mean, a)
	}
	if f.exact != nil {
		return f.exact.posterior(mean, root*f.units.Scale)
	}
	q := &posterior.Draws{Count: len(f.free.last), Mean: mean, Values: make([]float64, 0, len(f.free.last)*f.d)}
	for s, xi := range f.free.last {
		q.Values = append(q.Values, xi...)
		kernel.Scale(root, q.Values[s*f.d:])
		f.units.Deviation(q.Values[s*f.d:])
	}
	return q
}

// summed is the sum over all axes, nil where there is none.
func (f *fit) summed() *hyper.Integrated {
	if f.integrated == nil || f.integrated.Outcome != hyper.Summed {
		return nil
	}
	return f.integrated
}

// full is the posterior over all θ with a mean in the target's own units.
func (f *fit) full(mean []float64, a *hyper.Integrated) credence.Posterior {
	factor, positive := gauss.Repair(f.ws.Pool(), f.d, a.Linear[:f.d*f.d])
	if !positive {
		f.warnings = append(f.warnings, "the integration over hyper-parameters left a covariance with negative variances, which are set to nothing: state the prior, as in normal(variance=1), or compare with hyper=mode")
	}
	f.units.Factor(factor)
	return &posterior.Full{Mean: mean, Factor: factor, DF: hyper.MedianDF(a.Variance[:f.d], a.Fourth[:f.d])}
}

// bound is that of the log evidence in the target's own units, priors normalised; NaN where log|A| is
// not known.
func (f *fit) bound() float64 {
	noise, sum := f.noise(), -f.loop.phi/2
	if f.first == 1 {
		sum -= math.Log(f.interceptSD)
	}
	m := f.first // Gaussian measurements of X beside the rows
	for k, g := range f.groups[f.first:] {
		each := -f.logScale(k)
		if f.heavy {
			each += f.tails.constant()
		} else {
			m += g.Count
		}
		sum += float64(g.Count) * each
	}
	// Weights under a normal prior: N(0 | w σ/τ, σ²) σ/τ; the others have the constants of u alone.
	sum += float64(m) * math.Log(noise) / 2
	sum += float64(f.d-m) / 2 * math.Log(2*math.Pi*noise)
	if !f.classes {
		sum += f.units.Jacobian - f.rows.Sums.Weight/2*math.Log(2*math.Pi*noise)
	}
	return sum
}
