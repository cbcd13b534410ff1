package fit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
)

// Select fits a spike-and-slab model to a table and says which features matter: fit.Table with the
// prior spikeslab unless another is stated, and the selection in the fit. Options.Prior must be one
// under which weights may be 0.
func Select(ctx context.Context, rows credence.Source, options Options, how selection.Options) (*credence.Fitted, error) {
	job, err := NewSelection(options, how)
	if err != nil {
		return nil, err
	}
	prepared, err := job.Prepare(ctx, rows)
	if err != nil {
		return nil, err
	}
	return prepared.Select(ctx, how)
}

// NewSelection is New for a selection: the prior is spikeslab unless stated, and refuses, as
// [ErrMisuse], whatever is wrong whatever the data.
func NewSelection(options Options, how selection.Options) (*Job, error) {
	if err := how.Validate(); err != nil {
		return nil, &Misuse{"", err}
	}
	options.Prior = cmp.Or(options.Prior, "spikeslab")
	job, err := newJob(options, true)
	if err != nil {
		return nil, err
	}
	if _, ok := job.prior.(prior.SpikeSlab); !ok {
		return nil, &Misuse{"prior", fmt.Errorf("%v leaves no weight at 0: use spikeslab, or leave it out", job.prior)}
	}
	return job, nil
}

// Select fits the model and says which features matter.
func (p *Prepared) Select(ctx context.Context, how selection.Options) (*credence.Fitted, error) {
	fitted, err := p.Fit(ctx)
	if err != nil {
		return nil, err
	}
	result, err := features(fitted, how)
	if err != nil {
		return nil, err
	}
	if err := p.sets(ctx, fitted, result, cmp.Or(how.Coverage, 0.95)); err != nil {
		return nil, err
	}
	result.Call(how)
	result.Path = []selection.Step{}
	if result.Explained, err = p.explained(ctx, fitted, cmp.Or(how.Interval, 0.9)); err != nil {
		return nil, err
	}
	if e := result.Explained; e != nil && e.Lower > spreadShare && result.Selected == 0 && how.FDR == 0 && len(result.Features) > 0 {
		fitted.Report.Warnings = append(fitted.Report.Warnings, spread(result, how.Check > 0))
	}
	if how.Path == selection.PathAlways || how.Path == "" && p.job.engine.entry == nil && p.size() <= pathSize {
		if err := p.path(ctx, result, how.Check); err != nil {
			return nil, err
		}
	}
	if how.NullCheck > 0 {
		if result.Null, err = p.null(ctx, how); err != nil {
			return nil, err
		}
	}
	if how.Bootstrap > 0 {
		if err := p.bootstrap(ctx, result, how); err != nil {
			return nil, err
		}
	}
	if how.Check > 0 {
		if result.Check, err = p.check(ctx, how.Check); err != nil {
			return nil, err
		}
	}
	fitted.Selection = result
	return fitted, nil
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

// features are the weights of a fit that may be 0; none of a fit that tells no inclusion.
func features(fitted *credence.Fitted, how selection.Options) (*selection.Result, error) {
	if _, selects := score.Selected(fitted); !selects {
		return nil, fmt.Errorf("prior %v leaves no weight at 0: use --prior spikeslab", fitted.Members[0].Model.Prior)
	}
	terms, err := score.Terms(fitted, score.TermOptions{Interval: how.Interval})
	if err != nil {
		return nil, err
	}
	out := &selection.Result{Sets: []selection.Set{}, Features: make([]selection.Feature, 0, len(terms))}
	groups := map[int]string{}
	for c := range credence.EachCandidate(fitted.Members[0].Model.Features, fitted.Report.Together) {
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
func (p *Prepared) sets(ctx context.Context, fitted *credence.Fitted, result *selection.Result, coverage float64) error {
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
	between, err := p.correlations(ctx, fitted.Members[0].Model.Features, weights)
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
func (p *Prepared) correlations(ctx context.Context, features credence.Features, weights []int) (func(a, b int) float64, error) {
	m := len(weights)
	place := make(map[int]int, m)
	for k, j := range weights {
		place[j] = k
	}
	ws := credence.NewWorkspace(p.job.options.Threads)
	var phi credence.Design
	sums, gram := make([]float64, m), make([]float64, m*m)
	row, total := make([]float64, m), 0.0
	for batch, err := range credence.Batches(ctx, p.data) {
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

// null fits the model to permuted targets, and calls features as the selection does.
func (p *Prepared) null(ctx context.Context, how selection.Options) (*selection.Null, error) {
	out := &selection.Null{Permutations: how.NullCheck}
	data := &permuted{Data: p.data}
	if err := data.load(ctx); err != nil {
		return nil, err
	}
	for k := range how.NullCheck {
		data.shuffle(credence.Rand(p.job.options.Seed, credence.NullCheck, uint64(k)))
		found, err := p.called(ctx, p.other, data, how)
		if err != nil {
			return nil, err
		}
		out.Called = append(out.Called, found.Selected)
		count, _ := found.Candidates()
		out.Share += float64(found.Selected) / float64(max(1, count)) / float64(how.NullCheck)
	}
	return out, nil
}

// called fits other data, and calls features as the selection does.
func (p *Prepared) called(ctx context.Context, engine credence.Engine, data credence.Data, how selection.Options) (*selection.Result, error) {
	fitted, err := engine.Fit(ctx, data)
	if err != nil {
		return nil, err
	}
	fitted.Frame = p.frame
	found, err := features(fitted, how)
	if err == nil {
		found.Call(how)
	}
	return found, err
}

// permuted is data whose targets, offsets and weights have changed places together: their rows have no
// part in them.
type permuted struct {
	credence.Data
	order   []int
	targets credence.Batch // target, offset, weight and trials of all rows
}

func (d *permuted) load(ctx context.Context) error {
	for b, err := range credence.Batches(ctx, d.Data) {
		if err != nil {
			return err
		}
		for to, from := range d.roles(b) {
			*to = append(*to, *from...)
		}
	}
	return nil
}

func (d *permuted) roles(b *credence.Batch) map[*[]float64]*[]float64 {
	return map[*[]float64]*[]float64{
		&d.targets.Target: &b.Target, &d.targets.Offset: &b.Offset, &d.targets.Weight: &b.Weight, &d.targets.Trials: &b.Trials,
		&d.targets.Precision: &b.Precision,
	}
}

func (d *permuted) shuffle(rng *rand.Rand) { d.order = rng.Perm(d.Rows()) }

// Read implements [credence.Data].
func (d *permuted) Read(dst *credence.Batch, first, count int) error {
	if err := d.Data.Read(dst, first, count); err != nil {
		return err
	}
	for from, to := range d.roles(dst) {
		if len(*from) == 0 {
			continue
		}
		list := make([]float64, count) // what a reader keeps in memory stays as it is
		for i := range list {
			list[i] = (*from)[d.order[first+i]]
		}
		*to = list
	}
	return nil
}
