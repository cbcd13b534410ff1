package plot

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/selection"
)

// priorOf returns the density of a weight under a prior, at what the fit learned, and the standard deviation: those of
// the prior times a deviation, see [ability.Deviations]. The density is nil where it is not drawn.
func priorOf(p credence.Prior, weight int, deviation float64) (density func(w float64) float64, sd float64) {
	known, ok := p.(prior.Dense)
	if !ok {
		return nil, 0
	}
	block := credence.Block{First: weight, Count: 1}
	return func(w float64) float64 { return math.Exp(known.LogDensity(block, w/deviation)) / deviation }, deviation * math.Sqrt(known.UnseenVariance(block))
}

// alike returns the members whose weights mean the same as those of the first.
func alike(fitted *credence.Fitted) (list []int) {
	for k := range fitted.Members {
		if fitted.Members[k].Model.Features == fitted.Members[0].Model.Features && fitted.Share(k) > 0 {
			list = append(list, k)
		}
	}
	return list
}

func refuseWeights(p *picture) string {
	fitted := p.Scorer.Fitted()
	m := &fitted.Members[0]
	selector, is := m.Posterior.(credence.Selector)
	_, named := m.Model.Features.(credence.Named)
	density, _ := priorOf(m.Model.Prior, 0, 1)
	switch {
	case is && selector.Selects():
		return "weights may be exactly 0, which has no density: inspect tells their inclusion probabilities"
	case density == nil:
		return fmt.Sprintf("the density of weights under the prior %v is not known", m.Model.Prior)
	case !named:
		return "the weights have no names"
	case len(candidates(fitted)) == 0:
		return "the model has no weights but its intercept, or is a single point without a posterior"
	}
	return ""
}

// weight is one of a model, as it was fitted: of columns that are centred and scaled.
type weight struct {
	place    int
	name     string
	mean, sd float64
}

// candidates returns the weights that have a posterior, but intercepts.
func candidates(fitted *credence.Fitted) (list []weight) {
	m := &fitted.Members[0]
	d := m.Posterior.Weights()
	mean, variance := make([]float64, d), make([]float64, d)
	m.Posterior.Marginals(mean, variance)
	for _, block := range m.Model.Features.Blocks() {
		for j := block.First; j < block.First+block.Count && !block.Intercept; j++ {
			if variance[j] > 0 {
				list = append(list, weight{j, m.Model.Features.(credence.Named).WeightName(j), mean[j], math.Sqrt(variance[j])})
			}
		}
	}
	return list
}

// posteriorOf returns the density of a weight under a member: normal, Student-t, or a smooth one of draws.
func posteriorOf(m *credence.Member, j int, mean, sd float64) func(w float64) float64 {
	if q, is := m.Posterior.(*posterior.Draws); is && q.Mean == nil {
		values := make([]float64, q.Count)
		for s := range values {
			values[s] = q.Values[s*q.Weights()+j]
		}
		bandwidth := .9 * stat.StdDev(values, nil) * math.Pow(float64(q.Count), -.2)
		return func(w float64) (sum float64) {
			for _, v := range values {
				sum += distuv.Normal{Mu: v, Sigma: bandwidth}.Prob(w) / float64(len(values))
			}
			return sum
		}
	}
	if t, is := m.Posterior.(credence.LatentDF); is && t.LatentDF() > 2 && !math.IsInf(t.LatentDF(), 1) {
		df := t.LatentDF()
		return distuv.StudentsT{Mu: mean, Sigma: sd * math.Sqrt((df-2)/df), Nu: df}.Prob
	}
	return distuv.Normal{Mu: mean, Sigma: sd}.Prob
}

const densityValues = 241

func drawWeights(_ context.Context, p *picture) (*chart.Chart, error) {
	fitted := p.Scorer.Fitted()
	list := candidates(fitted)
	all := len(list)
	slices.SortStableFunc(list, func(a, b weight) int { return cmp.Compare(math.Abs(b.mean)/b.sd, math.Abs(a.mean)/a.sd) })
	list = list[:min(len(list), mostPanels)]
	c := &chart.Chart{Title: "Weights before and after the data", Under: "as they were fitted, of columns that are centred and scaled; each is 1 at its highest",
		Description: "One panel for each weight, the surest first: its density under the prior, and under the posterior. Where the two are alike the data say little."}
	if all > len(list) {
		c.Under += fmt.Sprintf("; the %d surest of %d", len(list), all)
	}
	members := alike(fitted)
	d := fitted.Members[0].Posterior.Weights()
	means, variances := make([]float64, d), make([]float64, d)
	for _, w := range list {
		var before, after []func(float64) float64
		var shares []float64
		low, high, widest := math.Inf(1), math.Inf(-1), 0.0
		for _, k := range members {
			m := &fitted.Members[k]
			m.Posterior.Marginals(means, variances)
			mean, sd := means[w.place], math.Sqrt(variances[w.place])
			deviation := ability.Deviations(m.Model.Features)[w.place]
			density, prior := priorOf(m.Model.Prior, w.place, deviation)
			before, after, shares = append(before, density), append(after, posteriorOf(m, w.place, mean, sd)), append(shares, fitted.Share(k))
			low, high, widest = min(low, mean-4*sd), max(high, mean+4*sd), max(widest, prior)
		}
		// As much of a wide prior as leaves the posterior to be seen.
		reach := min(2.5*widest, 6*(high-low))
		low, high = min(low, -reach), max(high, reach)
		x := floats.Span(make([]float64, densityValues), low, high)
		prior := chart.Mark{Colour: chart.Grey, Name: "prior", Dashed: true, X: x, Y: make([]float64, len(x))}
		posterior := chart.Mark{Name: "posterior", X: x, Y: make([]float64, len(x))}
		for i, at := range x {
			for k, share := range shares {
				prior.Y[i] += share * before[k](at)
				posterior.Y[i] += share * after[k](at)
			}
		}
		floats.Scale(1/floats.Max(prior.Y), prior.Y)
		floats.Scale(1/floats.Max(posterior.Y), posterior.Y)
		area := chart.Mark{Shape: chart.Band, X: x, Low: make([]float64, len(x)), High: posterior.Y}
		c.Panels = append(c.Panels, chart.Panel{Title: w.name, X: chart.Axis{Name: "weight"}, Y: chart.Axis{From: -.02, To: 1.08}, Marks: []chart.Mark{area, prior, posterior}, Rules: []chart.Rule{{At: 0, Upright: true}}})
		c.Description += fmt.Sprintf(" %s: %s ± %s.", w.name, number(w.mean), number(w.sd))
	}
	return c, nil
}

func refusePath(p *picture) string {
	s := p.Scorer.Fitted().Selection
	switch {
	case s == nil:
		return "the model was not found by select"
	case len(s.Path) < 2:
		return "select fitted at no stated sparsities: select --path does"
	}
	return ""
}

// drawPath draws the weights of each step over what its prior expects of it.
func drawPath(_ context.Context, p *picture) (*chart.Chart, error) {
	return pathOf(p.Scorer.Fitted().Selection), nil
}

func pathOf(s *selection.Result) *chart.Chart {
	const coloured = 6
	lines := map[string]*chart.Mark{}
	var names []string
	largest := map[string]float64{}
	for _, step := range s.Path {
		for _, c := range step.Coefficients {
			if lines[c.Name] == nil {
				lines[c.Name], names = &chart.Mark{}, append(names, c.Name)
			}
			largest[c.Name] = max(largest[c.Name], math.Abs(c.Mean)*c.Inclusion)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(largest[b], largest[a]) })
	for _, step := range s.Path {
		for _, name := range names {
			m, value := lines[name], 0.0 // what is left out is as good as 0
			if k := slices.IndexFunc(step.Coefficients, func(c selection.Coefficient) bool { return c.Name == name }); k >= 0 {
				value = step.Coefficients[k].Mean
			}
			m.X, m.Y = append(m.X, step.Inclusion), append(m.Y, value)
		}
	}
	panel := chart.Panel{X: chart.Axis{Name: "prior inclusion of a feature", Scale: chart.Log}, Y: chart.Axis{Name: "mean weight"}, Rules: []chart.Rule{{At: 0}}}
	for k, name := range slices.Backward(names) { // the largest on top
		m := lines[name]
		if m.Name, m.Colour = name, k; k >= coloured {
			m.Name, m.Colour, m.Faint = "", chart.Grey, true
			if k == coloured {
				m.Name = "others"
			}
		}
		panel.Marks = append(panel.Marks, *m)
	}
	for _, step := range s.Path {
		if step.OneSE {
			panel.Rules = append(panel.Rules, chart.Rule{Name: "sparsest within one standard error", At: step.Inclusion, Upright: true})
		}
	}
	slices.SortStableFunc(panel.Marks, func(a, b chart.Mark) int { return cmp.Compare(boolean(b.Colour < 0), boolean(a.Colour < 0)) })
	first, last := s.Path[0], s.Path[len(s.Path)-1]
	return &chart.Chart{Title: "Path: weights as the prior lets more features in", Panels: []chart.Panel{panel},
		Under:       fmt.Sprintf("%d fits at stated sparsities, from %d features selected to %d", len(s.Path), first.Selected, last.Selected),
		Description: fmt.Sprintf("A line for each feature: the mean of its weight against the prior probability that it is in. Features that come in first matter most: %v.", names[:min(len(names), coloured)])}
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}
