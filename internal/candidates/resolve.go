package candidates

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// PseudoNoise is the noise deviation of a row of classes near even odds, μ(1 − μ)/(dμ/df)² (Piironen &
// Vehtari 2017, section 3.5).
func PseudoNoise(link likelihood.Link) float64 {
	if link == likelihood.Probit {
		return math.Sqrt(math.Pi / 2)
	}
	return 2
}

// Resolves says whether the rows tell a weight of the slab from 0: its prior variance is at least that of
// its estimate by all rows, were it alone. Below, the likelihood hardly depends on which candidates are in, so that
// with a flat prior of π about half of them are: models with next to no slab and nearly all candidates, which rows
// without a signal do not rule out. A slab that is stated is taken at its word.
func (s *Setting) Resolves(t *Table, logSlab, logNoise float64) bool {
	if s.Classes {
		logNoise = math.Log(PseudoNoise(s.Link))
	}
	return !s.Slab.Learned || t.Total*s.Size*math.Exp(2*(logSlab-logNoise)) >= 1
}

// TakeResolved stores the probabilities that weights are not 0 under a slab that the rows resolve, and warns where they
// are less than half of the inclusions, and the rest is a candidate or more. Both are by the weights of the model.
func (s *Setting) TakeResolved(out *credence.Fitted, inclusion, resolved []float64) {
	expected, told := 0.0, 0.0
	for _, c := range s.Candidates {
		expected += inclusion[c.First]
		told += resolved[c.First]
	}
	out.Resolved = resolved
	if untold := expected - told; untold > told && untold >= 1 {
		Warn(out, "nothing is told apart: of %.1f features expected to be in, %.1f are with weights so near 0 that the rows cannot tell whether they are in or out, which is no sign that they matter, and counts for none in a selection; where fewer are expected, state so: --prior 'spikeslab(inclusion_prior=[1, 99])'",
			expected, untold)
	}
}

// centredShare is the share of the deviation of a column below which its mean is rounding.
const centredShare = 1e-12

// Independent is the posterior of weights that are independent in units, given their moments there, in the target's own
// units. The intercept stands at the means of the columns, unless all of these are 0.
func (t *Table) Independent(mean, variance, inclusion []float64) *posterior.SpikeSlab {
	q := &posterior.SpikeSlab{Mean: slices.Clone(mean), Variance: slices.Clone(variance), Probability: inclusion}
	t.Units.Own(q.Mean)
	kernel.Scale(t.Units.Scale*t.Units.Scale, q.Variance)
	squares := make([]float64, t.Count())
	t.Squares(squares, nil)
	for j, m := range t.Units.Means {
		if m*m*t.Total > centredShare*centredShare*squares[j] {
			q.Centre = slices.Clone(t.Units.Means)
			break
		}
	}
	return q
}

// Fitted is a fit of the prior, in the target's own units, with its posterior, at a noise variance and kept blocks'
// logarithms of deviations in units; values are those of the prior in reports.
func (s *Setting) Fitted(t *Table, model credence.Model, p credence.Prior, q credence.Posterior, noise float64, kept []float64, values ...credence.Value) *credence.Fitted {
	out := t.Held.Fitted()
	model.Likelihood, model.Prior = t.Units.SetNoise(model.Likelihood, &out.Report, noise), p
	out.Report.Status = credence.Converged
	out.Report.Hyper = append(append(out.Report.Hyper, values...), s.KeptValues(kept)...)
	out.Members = []credence.Member{{Model: model, Posterior: q}}
	law := make([]float64, len(kept))
	for k, u := range kept {
		law[k] = math.Exp(2 * u)
	}
	s.SetKeptLaw(out, law)
	return out
}

// SetKeptLaw gives the prior of a fit the variances, in units, that further weights of the kept blocks have; nil leaves
// them.
func (s *Setting) SetKeptLaw(out *credence.Fitted, law []float64) {
	model := &out.Members[0].Model
	keeping, ok := model.Prior.(interface {
		WithKept(kept prior.Kept) credence.Prior
	})
	if !ok || len(law) == 0 {
		return
	}
	kept := prior.Kept{}
	for k, b := range s.KeptBlocks {
		kept[b.Name] = law[k] * s.scale * s.scale
	}
	model.Prior = keeping.WithKept(kept)
}

// Warn adds a warning to a fit's report.
func Warn(out *credence.Fitted, format string, arguments ...any) {
	out.Report.Warnings = append(out.Report.Warnings, fmt.Sprintf(format, arguments...))
}
