package refit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
)

// Describe says which features of a fit matter, which of them stand for each other, and what share of the variance they
// explain.
func (b *Base) Describe(ctx context.Context, fitted *credence.Fitted, how selection.Options) (*selection.Result, error) {
	result, err := Features(fitted, how)
	if err != nil {
		return nil, err
	}
	if err := b.sets(ctx, fitted, result, cmp.Or(how.Coverage, 0.95)); err != nil {
		return nil, err
	}
	result.Call(how)
	result.Path = []selection.Step{}
	if result.Explained, err = b.explained(ctx, fitted, cmp.Or(how.Interval, 0.9)); err != nil {
		return nil, err
	}
	if e := result.Explained; e != nil && e.Lower > spreadShare && result.Selected == 0 && how.FDR == 0 && len(result.Features) > 0 {
		fitted.Report.Warnings = append(fitted.Report.Warnings, spread(result, how.Check > 0))
	}
	return result, nil
}

// spreadShare is the least share of the variance that features surely explain for it to be said that none of them is
// called.
const spreadShare = 0.25

// spread says that features explain the target together and none by itself, and what to type; checked, that folds say
// how well they do.
func spread(r *selection.Result, checked bool) string {
	_, expected := r.Candidates()
	text := fmt.Sprintf("no single feature stands out: about %.0f of them matter, and the rows are too few to tell which. Predictions use all of them", expected)
	if !checked {
		text += "; how well they predict is untested: add --check 5 (five folds)"
	}
	first := slices.MaxFunc(r.Features, func(a, b selection.Feature) int { return cmp.Compare(a.Told(), b.Told()) })
	threshold, more := math.Floor(95*first.Told())/100, -1
	if threshold == 0 {
		return text
	}
	for _, f := range r.Features {
		if f.Told() > threshold {
			more++
		}
	}
	text += fmt.Sprintf(". --threshold %.2g would select %s", threshold, first.Name)
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Features are the weights of a fit that may be 0; none of a fit that tells no inclusion.
func Features(fitted *credence.Fitted, how selection.Options) (*selection.Result, error) {
	if fitted == nil || len(fitted.Members) == 0 {
		return nil, errors.New("there is no fit: make one by fit.Select")
	}
	if _, selects := score.Selected(fitted); !selects {
		return nil, fmt.Errorf("prior %v leaves no weight at 0: use --prior spikeslab", fitted.Members[0].Model.Prior)
	}
	terms, err := score.Terms(fitted, score.TermOptions{Interval: how.Interval})
	if err != nil {
		return nil, err
	}
	out := &selection.Result{Sets: []selection.Set{}, Features: make([]selection.Feature, 0, len(terms))}
	groups := map[int]string{}
	for c := range ability.EachCandidate(fitted.Members[0].Model.Features, fitted.Report.Together) {
		for j := c.First; j < c.First+c.Count && c.Count > 1; j++ {
			groups[j] = c.Name
		}
	}
	before, _ := fitted.Members[0].Model.Prior.(prior.SpikeSlab)
	for j, t := range terms {
		if t.Inclusion == nil {
			continue
		}
		f := selection.Feature{
			Block: t.Block, Name: t.Name, Inclusion: *t.Inclusion, Mean: t.Mean, SD: float64(t.SD), Lower: float64(t.Lower), Upper: float64(t.Upper), Group: groups[j], Weight: j,
		}
		if r := fitted.Resolved; r != nil && r[j] != *t.Inclusion {
			f.Resolved = &r[j]
		}
		if how.Moments {
			var beta [2]float64
			if own := j < len(before.Odds) && before.Odds[j] > 0; fitted.Report.Engine == "laplace" && !own {
				beta = before.InclusionPrior
			}
			f.TakeMoments(beta[0], beta[1])
		}
		out.Features = append(out.Features, f)
	}
	return out, nil
}

// setFeatures is the largest number of candidates that credible sets are looked for among: those of
// highest inclusion. setMembers is how many columns of a group stand for it in correlations.
const (
	setFeatures = 500
	setMembers  = 16
)

// sets finds the credible sets, where there are draws of which weights are 0.
func (b *Base) sets(ctx context.Context, fitted *credence.Fitted, result *selection.Result, coverage float64) error {
	if _, drawn := fitted.Members[0].Posterior.(*posterior.Draws); !drawn && fitted.Inclusions == nil || fitted.Report.Stuck {
		return nil
	}
	selector, _ := fitted.Members[0].Posterior.(credence.Selector)
	order := score.Candidates(fitted)
	slices.SortStableFunc(order, func(a, b credence.Block) int {
		return cmp.Compare(selector.InclusionProbability(b.First), selector.InclusionProbability(a.First))
	})
	order = order[:min(len(order), setFeatures)]
	draws := inclusionDraws(fitted, order)
	var weights []int
	first, inclusion := make([]int, len(order)+1), make([]float64, len(order))
	for k, c := range order {
		inclusion[k] = selector.InclusionProbability(c.First)
		for j := range min(c.Count, setMembers) {
			weights = append(weights, c.First+j)
		}
		first[k+1] = len(weights)
	}
	between, err := b.correlations(ctx, fitted.Members[0].Model.Features, weights)
	if err != nil {
		return err
	}
	correlation := func(a, b int) float64 { // of groups, the largest between their columns
		largest := 0.0
		for i := first[a]; i < first[a+1]; i++ {
			for k := first[b]; k < first[b+1]; k++ {
				largest = math.Max(largest, math.Abs(between(i, k)))
			}
		}
		return largest
	}
	places := map[int]int{} // of weights among the features
	for i, f := range result.Features {
		places[f.Weight] = i
	}
	before := fitted.Members[0].Model.Prior.(prior.SpikeSlab)
	sets, covered, purity := selection.CredibleSets(inclusion, draws, coverage, correlation)
	for id, members := range sets {
		prior := make([]float64, len(members))
		for i, k := range members {
			prior[i] = before.PriorInclusion(order[k].First)
		}
		set := selection.Set{ID: id + 1, Coverage: covered[id], Purity: purity[id],
			LogBayesFactor: selection.LogBayesFactor(covered[id], draws.Count, prior)}
		slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(inclusion[b], inclusion[a]) })
		for _, k := range members {
			c := order[k]
			for j := c.First; j < c.First+c.Count; j++ {
				f := &result.Features[places[j]]
				f.Set = set.ID
				if j == c.First {
					set.Features = append(set.Features, cmp.Or(f.Group, f.Name))
				}
			}
		}
		result.Sets = append(result.Sets, set)
	}
	return nil
}

// inclusionDraws are draws of which candidates are in, of a posterior in draws or beside it.
func inclusionDraws(fitted *credence.Fitted, order []credence.Block) selection.Draws {
	if draws, ok := fitted.Members[0].Posterior.(*posterior.Draws); ok {
		d := draws.Weights()
		return selection.Draws{Count: draws.Count, In: func(s, k int) bool { return draws.Values[s*d+order[k].First] != 0 }}
	}
	draws := fitted.Inclusions
	places := make([]int, len(order))
	for k, c := range order {
		places[k] = slices.Index(draws.Weights, c.First)
	}
	m := len(draws.Weights)
	return selection.Draws{Count: draws.Count, In: func(s, k int) bool { return places[k] >= 0 && draws.In[s*m+places[k]] }}
}

// correlations returns the correlation of columns of the design, named by their places in weights.
func (b *Base) correlations(ctx context.Context, features credence.Features, weights []int) (func(a, b int) float64, error) {
	m := len(weights)
	place := make(map[int]int, m)
	for k, j := range weights {
		place[j] = k
	}
	ws := credence.NewWorkspace(b.Threads)
	var phi credence.Design
	sums, gram := make([]float64, m), make([]float64, m*m)
	row, total := make([]float64, m), 0.0
	for batch, err := range credence.Batches(ctx, b.Data) {
		if err != nil {
			return nil, err
		}
		features.Transform(ws, &phi, batch)
		for i := range batch.Rows() {
			clear(row)
			phi.Each(i, func(j int, v float64) {
				if k, wanted := place[j]; wanted {
					row[k] = v
				}
			})
			w := batch.WeightOf(i)
			total += w
			for a, v := range row {
				if v == 0 {
					continue
				}
				sums[a] += w * v
				for b, u := range row[:a+1] {
					gram[a*m+b] += w * v * u
				}
			}
		}
	}
	covariance := func(a, b int) float64 {
		return gram[max(a, b)*m+min(a, b)]/total - sums[a]/total*sums[b]/total
	}
	return func(a, b int) float64 {
		if product := covariance(a, a) * covariance(b, b); product > 0 {
			return covariance(a, b) / math.Sqrt(product)
		}
		return 0
	}, nil
}
