package gibbs

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
)

// shrink fits under a horseshoe.
func (f *fit) shrink(ctx context.Context) (*credence.Fitted, error) {
	traces, err := f.traces(ctx)
	if err != nil {
		return nil, err
	}
	if f.config.Progress != nil {
		f.config.Progress(credence.Progress{Stage: "chains", Done: f.config.Chains, Total: f.config.Chains})
	}
	return f.shrunk(traces), nil
}

// traces runs the chains.
func (f *fit) traces(ctx context.Context) ([]*trace, error) {
	traces, before := make([]*trace, f.config.Chains), func(k int) int { // draws of the chains before
		return k * f.config.Draws / f.config.Chains
	}
	return traces, f.together(func(k int) (err error) {
		c := newChain(f.Table, f.Setting, credence.NewWorkspace(1), credence.Rand(f.config.Seed, credence.GibbsChains, uint64(k)))
		if !c.Classes {
			copy(c.y, c.Setting.Target)
			c.setNoise()
		}
		traces[k], err = f.newShrinkage(c).run(ctx, f.config.Sweeps, before(k+1)-before(k))
		return err
	})
}

// shrunk assembles the result. Scales are those of the mean of their logarithm, the noise that of the
// variance.
func (f *fit) shrunk(traces []*trace) *credence.Fitted {
	d, h := f.Table.Count(), *f.horseshoe
	q := &posterior.Draws{Count: f.config.Draws}
	kept, law := make([]float64, len(f.KeptBlocks)), make([]float64, len(f.KeptBlocks))
	var globals, slabs, noises []float64
	var all [3][][]float64
	learned := [3]bool{h.Scale.State != param.Held, true, f.Noise.Learned}
	for _, t := range traces {
		for first := 0; first < len(t.draws); first += d {
			q.Values = append(q.Values, t.draws[first:first+d]...)
			f.Units.Own(q.Values[len(q.Values)-d:])
		}
		for k, u := range t.kept {
			kept[k] += mean(u) / float64(len(traces))
			for _, logSD := range u {
				law[k] += math.Exp(2*logSD) / float64(len(u)*len(traces))
			}
		}
		globals, slabs, noises = append(globals, t.global...), append(slabs, t.slab...), append(noises, t.noise...)
		for k, list := range [][]float64{t.global, t.slab, t.noise} {
			all[k] = append(all[k], list)
		}
	}
	h.Scale = h.Scale.At(math.Exp(mean(globals)) * f.Units.Scale)
	for i, u := range noises {
		noises[i] = math.Exp(2 * u)
	}
	out := f.Setting.Fitted(f.Table, f.model, h, q, mean(noises), kept, credence.Value{Name: "scale", Value: h.Scale.Value},
		credence.Value{Name: "slab", Value: math.Exp(2*mean(slabs)) * f.Units.Scale * f.Units.Scale})
	f.SetKeptLaw(out, law)
	out.Report.Iterations = f.config.Sweeps
	var moving [][][]float64
	for k, list := range all {
		if learned[k] {
			moving = append(moving, list)
		}
	}
	if worst := agreement(out, moving); worst > goodRHat {
		candidates.Warn(out, "the chains do not agree (R̂ = %.2f, above %.1f): state more sweeps, such as gibbs(sweeps=%d)", worst, goodRHat, 4*f.config.Sweeps)
	}
	f.remark(out)
	return out
}

// Weights of few standard errors are what a horseshoe tells worst: large ones are left as they are, and those near 0
// are about 0. From leastBetween to mostBetween posterior standard deviations from 0 a weight is neither.
const leastBetween, mostBetween = 1, 3

// remark says that there are such weights. The posterior is that of the prior, so this is no fault of the fit.
func (f *fit) remark(out *credence.Fitted) {
	d, between := f.Table.Count(), 0
	mean, variance := make([]float64, d), make([]float64, d)
	out.Members[0].Posterior.Marginals(mean, variance)
	for _, c := range f.Candidates {
		if far := math.Abs(mean[c.First]) / math.Sqrt(variance[c.First]); far >= leastBetween && far < mostBetween {
			between++
		}
	}
	if between > 0 {
		out.Report.Remarks = append(out.Report.Remarks, fmt.Sprintf("%d of %d weights under the horseshoe are %d to %d standard deviations from 0, neither clearly 0 nor clearly large: weights of about that size are drawn towards 0, and of true weights of 1 to 2 standard errors 90 %% intervals hold about half; take --prior normal, whose intervals hold more of these, or credence select for which columns matter",
			between, len(f.Candidates), leastBetween, mostBetween))
	}
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}
