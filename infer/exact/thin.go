package exact

import (
	"context"
	"fmt"

	"github.com/credence-ml/credence"
)

// Where rows and weights are many, lengthscales are searched for with one in thinParts of the
// frequencies: an evaluation costs a sixteenth, so that all starts can climb on all rows and look
// beyond their maxima there. The lengthscales where they end are near those of all frequencies,
// from where the climb with all of them takes a third of the iterations.
const (
	thinParts   = 4
	thinWeights = 1000 // with fewer, evaluations are cheap as they are
)

// dear says whether lengthscales are to be searched for with fewer frequencies: where most weights are
// those of frequencies. Under automatic relevance determination every weight has a
// variance of its own, which fewer weights do not tell.
func (r *fit) dear() bool {
	weights := r.model.Features.Weights()
	if !r.random() || r.prior.ARD || r.data.Rows() <= r.config.ScreenRows || weights < thinWeights {
		return false
	}
	return r.model.Features.(credence.Redrawable).Thin(thinParts).Weights() <= weights/2
}

// searchThinly climbs from all starts with few frequencies, first on few rows and then, beyond the
// maxima, on all up to Config.PolishRows. It returns the best, to go on from with all frequencies,
// and the curvature there.
func (r *fit) searchThinly(ctx context.Context, starts []task) ([]task, error) {
	tasks := make([]task, len(starts))
	for k, t := range starts {
		t.features = t.features.(credence.Redrawable).Thin(thinParts)
		t.tune, t.maxIterations, t.tolerance = true, min(rounds[0], r.config.MaxIterations), 10*r.climbTolerance()
		t.stage = fmt.Sprintf("few rows, start %d of %d", k+1, len(starts))
		tasks[k] = t
	}
	model := r.model
	model.Features = tasks[0].features
	e, err := New(model, r.config)
	if err != nil {
		return nil, err
	}
	few := &fit{Engine: e, data: r.data}
	few.ws = r.ws
	ends := make([]*outcome, len(tasks))
	for _, rows := range []int{r.config.ScreenRows, r.config.PolishRows} {
		if err := few.open(ctx, min(rows, r.config.PolishRows), true); err != nil {
			return nil, err
		}
		if err := few.climbAll(ctx, tasks, func(k int, _ *stage, end *outcome) { ends[k] = end }); err != nil {
			return nil, err
		}
		for k := range tasks {
			t := &tasks[k]
			t.before, t.beyond = ends[k], true
			t.maxIterations, t.tolerance = r.config.MaxIterations, r.climbTolerance()
			t.stage = fmt.Sprintf("few frequencies, start %d of %d", k+1, len(tasks))
		}
	}
	var best []task
	for _, k := range byPenalised(ends)[:r.draws(r.data.Rows())] {
		if err := few.measureCurvature(ctx, few.form, tasks[k], ends[k]); err != nil {
			return nil, err
		}
		best = append(best, task{features: starts[k].features, before: ends[k]})
	}
	return best, nil
}
