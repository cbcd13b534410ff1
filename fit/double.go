package fit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

const (
	// enoughGain is what twice as many frequencies have to gain, in nats of the evidence or of its bound.
	enoughGain = 3
	// trialGain is what they have to gain in a trial: enough of them differ from twice as many by less than a tenth of
	// a nat.
	trialGain = 0.5
	// trialRows are the evenly spread rows on which it is tried whether twice as many may gain, and surerRows those on
	// which what they say is tried again: a fit with twice as many costs what all trials do.
	trialRows, surerRows = 4000, 20_000
)

// trialEngine is the engine of trials.
const trialEngine = "exact(starts=1, hyper=mode)"

// double fits with twice as many frequencies, of those left out, while the evidence gains. Whether it may is tried on
// some of the rows first, at the lengthscales of the fit and at half of them: nothing but variances is learned there,
// so that a fit whose frequencies suffice costs three evaluations more. For rows of other families than the gaussian
// the normal likelihood stands that touches theirs at the fit: a trial is then one look at them, where a fit would be
// ten. A small gain of a trial will do, since lengthscales that are learned anew add to it; further fits go on from
// those learned. What fails on the way leaves the fit as it is.
func (p *Prepared) double(ctx context.Context, fitted *credence.Fitted) (*credence.Fitted, error) {
	_, normal := p.model.Prior.(prior.Normal)
	tried := p.entry.Name == "exact" || p.entry.Name == "svi"
	if more, _ := p.twice(p.drawn, nil); !normal || !tried || more == nil {
		return fitted, nil
	}
	rows, err := p.some(ctx, trialRows)
	if err != nil {
		return nil, err
	}
	surer := rows
	for {
		features, ok := fitted.Members[0].Model.Features.(*feature.Set)
		if !ok {
			return fitted, nil
		}
		d, err := p.doubling(fitted, rows)
		if err != nil {
			return nil, err
		}
		from, drawn, err := d.try(ctx, features)
		if err != nil || drawn == nil {
			return fitted, ctx.Err()
		}
		if rows.Rows() < p.data.Rows() {
			if surer == rows {
				if surer, err = p.some(ctx, surerRows); err != nil {
					return nil, err
				}
			}
			if d, err = p.doubling(fitted, surer); err != nil {
				return nil, err
			}
			if gained, err := d.gain(ctx, features, from, drawn); err != nil || !gained {
				return fitted, ctx.Err()
			}
		}
		more, err := p.plan.Draw(from, drawn, p.job.options.Seed)
		if err != nil {
			return nil, err
		}
		enough := evidence(&fitted.Report) + enoughGain
		again, err := p.with(ctx, more, func(again *credence.Fitted) bool { return evidence(&again.Report) > enough })
		if err != nil || again == nil {
			return fitted, err
		}
		fitted, p.drawn = again, drawn
	}
}

// with fits with other features, from the lengthscales that they have, and keeps the fit where it is better: nil where
// it is not, or where it fails.
func (p *Prepared) with(ctx context.Context, features *feature.Set, better func(again *credence.Fitted) bool) (*credence.Fitted, error) {
	model := p.model
	model.Features = features.Begun()
	engine, err := p.maker(model)
	if err != nil {
		return nil, err
	}
	again, err := engine.Fit(ctx, p.data)
	if err != nil || !better(again) {
		return nil, ctx.Err()
	}
	p.model, p.engine, p.other = model, engine, engine
	return again, nil
}

// evidence is the log evidence that a report tells, or its bound.
func evidence(r *credence.Report) float64 {
	for _, e := range []*float64{r.Evidence, r.ELBO, r.EvidenceMode, r.ELBOMode} {
		if e != nil {
			return *e
		}
	}
	return math.NaN()
}

// twice returns the numbers of frequencies with those doubled that may be and are wanted, nil meaning all, and their
// terms; nil where there are none, or where the weights would be more than have a full covariance.
func (p *Prepared) twice(drawn []formula.Frequencies, wanted func(term string) bool) (more []formula.Frequencies, terms []string) {
	more = slices.Clone(drawn)
	weights, _ := problem.Rest(p.model.Features, p.model.Prior)
	for k := range more {
		d := &more[k]
		if !d.Stated && d.Count < d.Most && (wanted == nil || wanted(d.Term)) {
			count := min(2*d.Count, d.Most)
			weights += 2 * (count - d.Count)
			d.Count, terms = count, append(terms, d.Term)
		}
	}
	if len(terms) == 0 || weights > problem.FullWeights {
		return nil, nil
	}
	return more, terms
}

// doubling tries numbers of frequencies.
type doubling struct {
	*Prepared
	rows   credence.Data
	family credence.Likelihood // of rows
}

// leastCurvature is the least precision of a row's normal likelihood, as a share of their mean: a row of heavy tails
// may have a negative one.
const leastCurvature = 0.1

// doubling prepares trials on rows from a fit.
func (p *Prepared) doubling(fitted *credence.Fitted, rows *problem.Memory) (*doubling, error) {
	d := &doubling{Prepared: p, rows: rows, family: p.model.Likelihood}
	if p.entry.Name != "svi" {
		return d, nil
	}
	main := 0
	for m := range fitted.Members {
		if fitted.Share(m) > fitted.Share(main) {
			main = m
		}
	}
	var at credence.Distribution
	if err := fitted.DistributionTo(credence.NewWorkspace(p.job.options.Threads), &at, &rows.All); err != nil {
		return nil, err
	}
	// exp(g (f − m) − ½ β (f − m)²), with g and −β the expected slopes of log p(y|f), is a normal density of the target
	// m + g/β with precision β.
	normal := &problem.Memory{All: rows.All}
	n := rows.Rows()
	target, precision, mean := make([]float64, n), make([]float64, n), 0.0
	for i := range n {
		l, ok := rows.All.LikelihoodOf(fitted.Members[main].Model.Likelihood, i).(likelihood.Expected)
		if !ok {
			return nil, fmt.Errorf("%T has no expected log density", fitted.Members[main].Model.Likelihood)
		}
		m, v := at.Latent(i)
		_, slope, bend := l.ExpectedLogDensity(rows.All.Target[i], m, v)
		target[i], precision[i] = slope, -2*bend
		mean += max(0, precision[i]) / float64(n)
	}
	for i := range n {
		m, _ := at.Latent(i)
		precision[i] = max(precision[i], leastCurvature*mean)
		target[i] = m + target[i]/precision[i]
	}
	normal.All.Target, normal.All.Precision, normal.All.Trials = target, precision, nil
	d.rows, d.family = normal, likelihood.Gaussian{NoiseVariance: param.Hold(1)}
	return d, nil
}

// try returns the numbers of frequencies with which the evidence may gain, nil if there are none, and features with the
// lengthscales at which it does. Terms are tried together first: where that gains nothing, none of them costs a trial
// of its own.
func (d *doubling) try(ctx context.Context, features *feature.Set) (from *feature.Set, drawn []formula.Frequencies, err error) {
	all, terms := d.twice(d.drawn, nil)
	if all == nil {
		return nil, nil, nil
	}
	now, err := d.evidence(ctx, features, d.drawn)
	if err != nil {
		return nil, nil, err
	}
	together, err := d.gains(ctx, features, all, now)
	if err != nil || together == nil {
		return nil, nil, err
	}
	if len(terms) == 1 {
		return together, all, nil
	}
	gained, from := map[string]bool{}, features
	for _, term := range terms {
		alone, _ := d.twice(d.drawn, func(t string) bool { return t == term })
		at, err := d.gains(ctx, features, alone, now)
		if err != nil {
			return nil, nil, err
		}
		gained[term] = at != nil
		if at != nil && at != features {
			from = d.halved(from, alone)
		}
	}
	if some, _ := d.twice(d.drawn, func(t string) bool { return gained[t] }); some != nil {
		return from, some, nil
	}
	return together, all, nil
}

// gain says whether the evidence gains by drawn at the lengthscales of from.
func (d *doubling) gain(ctx context.Context, features, from *feature.Set, drawn []formula.Frequencies) (bool, error) {
	now, err := d.evidence(ctx, features, d.drawn)
	if err != nil {
		return false, err
	}
	then, err := d.evidence(ctx, from, drawn)
	return then > now+trialGain, err
}

// gains returns features with the lengthscales at which the evidence gains by drawn, nil where it does not: those
// learned, or half of them, since too few frequencies reach only as far as lengthscales that are too long.
func (d *doubling) gains(ctx context.Context, features *feature.Set, drawn []formula.Frequencies, now float64) (*feature.Set, error) {
	for _, from := range []*feature.Set{features, d.halved(features, drawn)} {
		if then, err := d.evidence(ctx, from, drawn); err != nil || then > now+trialGain {
			return from, err
		}
	}
	return nil, nil
}

// halved halves the lengthscales, but those that are stated, of terms for which drawn has other numbers than there are.
func (d *doubling) halved(features *feature.Set, drawn []formula.Frequencies) *feature.Set {
	changed := map[string]bool{}
	for k := range drawn {
		changed[drawn[k].Term] = drawn[k] != d.drawn[k]
	}
	return features.Replace(func(term feature.Term) feature.Term {
		random, ok := term.(*feature.RandomFourier)
		if !ok || !changed[random.Name] {
			return nil
		}
		list := random.Lengthscales()
		for k := range list {
			if list[k].State == param.Held {
				continue
			}
			list[k].Values = slices.Clone(list[k].Values)
			for j, v := range list[k].Values {
				list[k].Values[j] = max(v/2, feature.ShortestLengthscale)
			}
		}
		return random.WithLengthscales(list)
	})
}

// evidence returns that of numbers of frequencies at the lengthscales of features.
func (d *doubling) evidence(ctx context.Context, features *feature.Set, drawn []formula.Frequencies) (float64, error) {
	if !slices.Equal(drawn, d.drawn) {
		var err error
		if features, err = d.plan.Draw(features, drawn, d.job.options.Seed); err != nil {
			return 0, err
		}
	}
	model := d.model
	model.Features, model.Likelihood = features.Held(), d.family
	engine, err := d.engineOf(trialEngine, model)
	if err != nil {
		return 0, err
	}
	fitted, err := engine.Fit(ctx, d.rows)
	if err != nil {
		return 0, err
	}
	return evidence(&fitted.Report), nil
}

// some reads about limit evenly spread rows into memory.
func (p *Prepared) some(ctx context.Context, limit int) (*problem.Memory, error) {
	const run = 8 // neighbouring rows
	all, err := problem.Open(p.entry.Name, p.model, p.data, problem.AllRoles)
	if err != nil {
		return nil, err
	}
	rows, s := all.Sample(limit, run), &problem.Memory{}
	for k := range rows.Blocks() {
		b, err := rows.Block(ctx, k)
		if err != nil {
			return nil, err
		}
		s.All.Append(b, 0, b.Rows())
	}
	return s, nil
}
