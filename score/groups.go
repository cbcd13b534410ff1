package score

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/metric"
)

// Groups says what the terms of groups of a model came to, such as (1 | g): the first member's.
type Groups struct {
	Groups []Group `json:"groups,omitempty"`
	// R2Marginal and R2Conditional are the shares of the variance of the target on the latent scale, that of its noise
	// there included, which what does not vary by group explains, and that with the effects of groups (Nakagawa &
	// Schielzeth 2013, Nakagawa, Johnson & Schielzeth 2017); absent where the family has no variance there.
	R2Marginal    metric.Score `json:"r2_marginal,omitzero"`
	R2Conditional metric.Score `json:"r2_conditional,omitzero"`
}

// Group is a term of groups.
type Group struct {
	Term   string `json:"term"`   // as a formula writes it
	Levels int    `json:"levels"` // groups of training
	Rows   int    `json:"rows"`   // of training
	// what becomes of rows of other groups: "prior", drawn from the law of the groups, or "error"
	Unseen string      `json:"unseen"`
	SD     []Deviation `json:"sd"` // of the effects of each column that varies by group
	// Correlations are those of the effects of every two columns, by the rows of the lower triangle.
	Correlations []Deviation `json:"cor,omitempty"`
	// ICC is the share of the variance within equal fixed effects that the term has, on the latent scale: absent as
	// R2Marginal is.
	ICC metric.Score `json:"icc,omitzero"`
}

// Deviation is a standard deviation of effects over groups, of f for a unit of the column, or a correlation of two.
// Ends are absent where it is not known how uncertain it is.
type Deviation struct {
	Name  string       `json:"name"` // the column, "(intercept)" for effects themselves, or both: "(intercept), x"
	Mean  float64      `json:"mean"`
	Lower metric.Score `json:"lower,omitzero"` // end of the interval, which holds 90 % or --interval
	Upper metric.Score `json:"upper,omitzero"` // end of the interval
}

// GroupsOf tells about the terms of groups of a model, with intervals of a probability; 0 means 0.9. A model without
// such terms has none.
func GroupsOf(fitted *credence.Fitted, interval float64) (all Groups) {
	model := &fitted.Members[0].Model
	set, ok := model.Features.(*feature.Set)
	if !ok {
		return all
	}
	fr, _ := fitted.Frame.(*frame.Frame)
	blocks, tail := set.Blocks(), (1-cmp.Or(interval, 0.9))/2
	for _, c := range set.Covariances() {
		name := blocks[c.Block].Name
		g := Group{Term: name, Levels: c.Levels, Rows: fitted.Report.Rows, Unseen: string(frame.AtPrior)}
		if fr != nil && fr.Unseen == frame.RefuseUnseen {
			g.Unseen = "error"
		}
		k := len(c.Columns)
		for j, column := range c.Columns {
			of := "prior_variance." + name
			if k > 1 {
				of += "." + column
			}
			d, own := deviation(&fitted.Report, of, tail), c.Own[j*k+j]
			d.Name, d.Mean = column, d.Mean*own
			d.Lower, d.Upper = d.Lower*metric.Score(own), d.Upper*metric.Score(own)
			g.SD = append(g.SD, d)
		}
		if k > 1 {
			g.together(&fitted.Report, c, tail)
		}
		g.ICC = metric.Score(math.NaN())
		all.Groups = append(all.Groups, g)
	}
	all.R2Marginal, all.R2Conditional = metric.Score(math.NaN()), metric.Score(math.NaN())
	parts, noise := fitted.Report.Latent, likelihood.LatentNoise(model.Likelihood, fitted.TargetMean)
	if parts == nil || len(all.Groups) == 0 || !(noise >= 0) || math.IsInf(noise, 1) {
		return all
	}
	varying := 0.0
	for _, part := range parts.Groups {
		varying += part.Value
	}
	if total := parts.Fixed + varying + noise; total > 0 {
		all.R2Marginal, all.R2Conditional = metric.Score(parts.Fixed/total), metric.Score((parts.Fixed+varying)/total)
	}
	for i := range all.Groups {
		if part := parts.Groups.Of(all.Groups[i].Term, math.NaN()); part == part && varying+noise > 0 {
			all.Groups[i].ICC = metric.Score(part / (varying + noise))
		}
	}
	return all
}

// Residual is the standard deviation of the noise of a family whose f has the unit of the target, with its interval:
// the last row of the table that R's VarCorr prints. ok is false of other families.
func Residual(fitted *credence.Fitted, interval float64) (d Deviation, ok bool) {
	g, ok := fitted.Members[0].Model.Likelihood.(likelihood.Gaussian)
	if !ok {
		return d, false
	}
	const name = "noise_variance"
	d = deviation(&fitted.Report, name, (1-cmp.Or(interval, 0.9))/2)
	if sd := fitted.Report.HyperSD.Of(name, 0); g.StudentPredictive() { // the variance is its mean, above its median
		above := math.Exp(-sd * sd / 4)
		d.Mean, d.Lower, d.Upper = d.Mean*above, d.Lower*metric.Score(above), d.Upper*metric.Score(above)
	}
	d.Name = "residual"
	return d, true
}

// deviation is the root of a variance that a report has, with the quantiles of a tail: by its law where the report has
// that, and else its logarithm is normal.
func deviation(r *credence.Report, name string, tail float64) Deviation {
	none := metric.Score(math.NaN())
	d := Deviation{Mean: math.Sqrt(r.Hyper.Of(name, math.NaN())), Lower: none, Upper: none}
	for _, law := range r.HyperLaws {
		if law.Name == name {
			mean, lower, upper := moments(law, tail)
			return Deviation{Mean: mean, Lower: metric.Score(lower), Upper: metric.Score(upper)}
		}
	}
	if sd := r.HyperSD.Of(name, math.NaN()); sd == sd { // of the logarithm of the variance
		reach := special.NormalQuantile(1-tail) * sd / 2
		return Deviation{Mean: d.Mean * math.Exp(sd*sd/8), Lower: metric.Score(d.Mean * math.Exp(-reach)), Upper: metric.Score(d.Mean * math.Exp(reach))}
	}
	if r.Hyperparameters != "ml" && r.Hyperparameters != "mode" && !r.Heldout() { // stated
		d.Lower, d.Upper = metric.Score(d.Mean), metric.Score(d.Mean)
	}
	return d
}

// finer is how many points there are between two of a law's.
const finer = 24

// moments returns the mean of the root of what a law is of, and its quantiles of a tail at either side.
func moments(law credence.Law, tail float64) (mean, lower, upper float64) {
	c := curveOf(law)
	return c.mean, c.quantile(tail), c.quantile(1 - tail)
}

// curve is the distribution function of a root.
type curve struct {
	at, below   []float64 // roots, and the weight up to them
	total, mean float64
}

// curveOf adds up a law. Between points the log density is the cubic through four of them.
func curveOf(law credence.Law) *curve {
	n, top := len(law.At), slices.Max(law.LogDensity)
	c, first := &curve{}, 0.0
	for i := range (n-1)*finer + 1 {
		k := min(i/finer, n-2)
		x := float64(i)/finer - float64(k)
		log := math.Log(law.At[k])*(1-x) + math.Log(law.At[k+1])*x
		weight := math.Exp(cubic(law.LogDensity, k, x) - top)
		c.total += weight
		first += weight * math.Exp(log/2)
		c.at, c.below = append(c.at, math.Exp(log/2)), append(c.below, c.total-weight/2)
	}
	c.mean = first / c.total
	return c
}

// quantile is the root that has a probability below it.
func (c *curve) quantile(p float64) float64 {
	k, _ := slices.BinarySearch(c.below, p*c.total)
	if k = max(1, min(k, len(c.at)-1)); c.below[k] == c.below[k-1] {
		return c.at[k]
	}
	share := max(0, min((p*c.total-c.below[k-1])/(c.below[k]-c.below[k-1]), 1))
	return c.at[k-1] * math.Pow(c.at[k]/c.at[k-1], share)
}

// cubic interpolates evenly spaced values between the k-th and the next by the polynomial through the four about them.
func cubic(values []float64, k int, x float64) float64 {
	begin := max(0, min(k-1, len(values)-4))
	four := values[begin:min(begin+4, len(values))]
	x += float64(k - begin)
	sum := 0.0
	for i, v := range four {
		for j := range four {
			if j != i {
				v *= (x - float64(j)) / float64(i-j)
			}
		}
		sum += v
	}
	return sum
}

// canonical is the name of a term without spaces.
func canonical(term string) string { return strings.ReplaceAll(term, " ", "") }

// keepGroups returns the model with the effects of all groups at 0 but those of terms that are named, by the term or by
// its groups: "(1 | school)" or "school". The name none alone names no term.
func keepGroups(fitted *credence.Fitted, names []string) (*credence.Fitted, error) {
	var terms, keys []string
	set, ok := fitted.Members[0].Model.Features.(*feature.Set)
	if ok {
		for _, c := range set.Covariances() {
			terms, keys = append(terms, set.Blocks()[c.Block].Name), append(keys, c.Key)
		}
	}
	if len(terms) == 0 {
		return nil, fmt.Errorf("the model has no effects of groups, such as (1 | g): leave --groups out")
	}
	kept := map[string]bool{}
	for _, name := range names {
		found := name == "none" && len(names) == 1
		for k, term := range terms {
			if canonical(name) == canonical(term) || name == keys[k] {
				found, kept[term] = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("--groups %s is no term of the model: write none, or some of %s", name, strings.Join(terms, ", "))
		}
	}
	changed := *fitted
	changed.Members = slices.Clone(fitted.Members)
	for i := range changed.Members {
		m := &changed.Members[i].Model
		m.Features = m.Features.(*feature.Set).Replace(func(t feature.Term) feature.Term {
			group, ok := t.(*feature.Multilevel)
			if !ok || kept[t.Label()] {
				return nil
			}
			off := *group
			off.Off = true
			return &off
		})
	}
	return &changed, nil
}

// idleKeys returns inputs, those of them idle that are keys of groups whose effects are all left out.
func idleKeys(inputs []frame.Input, fitted *credence.Fitted) []frame.Input {
	looked := map[int]bool{}
	for _, term := range fitted.Members[0].Model.Features.(*feature.Set).Terms() {
		if groups, ok := term.(*feature.Multilevel); ok && !groups.Off {
			for _, key := range groups.Key {
				looked[key] = true
			}
		}
	}
	inputs = slices.Clone(inputs)
	for j := range inputs {
		inputs[j].Expr.Idle = inputs[j].Expr.Grouped && !looked[j]
	}
	return inputs
}
