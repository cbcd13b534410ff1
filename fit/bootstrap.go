package fit

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/selection"
)

// quick is the engine of fits beside a selection's own, where those are by chains.
const quick = "ep(hyper=mode)"

// bootstrap fits the model to as many rows drawn with replacement, and stores the share of fits that call each
// feature by the selection's rule (Meinshausen & Bühlmann 2010 draw half of the rows instead). Fits are those of the
// selection's engine, those of chains by expectation propagation.
func (p *Prepared) bootstrap(ctx context.Context, result *selection.Result, how selection.Options) error {
	engine := p.other
	if p.entry.Name == "gibbs" {
		entry, call, err := p.job.engine.registry.find(quick, false)
		if err != nil {
			return err
		}
		maker, err := (&choice{registry: p.job.engine.registry}).maker(Run{Seed: p.job.options.Seed, Threads: p.job.options.Threads}, entry, call)
		if err != nil {
			return err
		}
		if engine, err = maker(p.model); err != nil {
			return err
		}
	}
	rows, err := p.holdOut(1)
	if err != nil {
		return err
	}
	n, called := p.data.Rows(), map[int]float64{}
	for k := range how.Bootstrap {
		drawn := &reweighted{p.data, make([]float64, n)}
		rng := credence.Rand(p.job.options.Seed, credence.BootstrapRows, uint64(k))
		for range n {
			i := rng.IntN(n)
			drawn.weights[i] += rows.weights[i]
		}
		fitted, err := engine.Fit(ctx, drawn)
		if err != nil {
			return err
		}
		fitted.Frame = p.frame
		found, err := features(fitted, how)
		if err != nil {
			return err
		}
		found.Call(how)
		for _, f := range found.Features {
			if f.Selected {
				called[f.Weight] += 1 / float64(how.Bootstrap)
			}
		}
	}
	result.Bootstrap = how.Bootstrap
	for i := range result.Features {
		share := called[result.Features[i].Weight]
		result.Features[i].Frequency = &share
	}
	return nil
}
