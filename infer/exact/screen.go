package exact

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/order"
)

// rounds are the iterations that starts are given before the worse half is left
// (successive halving, Jamieson & Talwalkar 2016). Evidence after fifteen tells hopeless
// starts from others, but not the best of the good ones. On few of many rows all of them are
// made even so: the evidence of few rows is the smoother one, and climbs that go up on it before they
// go on on all rows end higher (a set of 7,749 rows: by 500 nats).
var rounds = [...]int{15, 30}

// search climbs from several starts where it is cheap and returns the best, to go on from.
func (r *fit) search(ctx context.Context) ([]ascent, error) {
	starts := r.starts(max(r.config.Starts, r.draws(r.data.Rows())))
	if r.dear() {
		return r.searchThinly(ctx, starts)
	}
	return r.screen(ctx, starts)
}

// screen climbs from the starts on few rows, and looks beyond the maxima of the best.
func (r *fit) screen(ctx context.Context, alive []ascent) ([]ascent, error) {
	draws := r.draws(r.data.Rows())
	if len(alive) == 1 || len(alive) == draws && r.data.Rows() <= r.config.ScreenRows {
		return alive, nil // there is nothing to choose, and no fewer rows to begin on
	}
	if err := r.open(ctx, min(r.config.ScreenRows, r.config.PolishRows), true); err != nil {
		return nil, err
	}
	for round, iterations := range rounds {
		for k := range alive {
			t := &alive[k]
			t.stage, t.tune = fmt.Sprintf("round %d, start %d of %d", round+1, k+1, len(alive)), true
			t.maxIterations, t.tolerance = min(iterations, r.config.MaxIterations), 10*r.climbTolerance()
		}
		ends := make([]*outcome, len(alive))
		if err := r.climbAll(ctx, alive, func(k int, _ *stage, end *outcome) { ends[k] = end }); err != nil {
			return nil, err
		}
		keep := draws
		if round+1 < len(rounds) {
			keep = max(keep, (len(alive)+1)/2)
		}
		var next []ascent
		for _, k := range byPenalised(ends)[:keep] {
			next = append(next, ascent{features: alive[k].features, before: ends[k]})
		}
		alive = next
		if len(alive) == draws && r.rows.Count() == r.data.Rows() {
			break // nothing left to choose
		}
	}
	for k := range alive {
		t := &alive[k]
		t.stage, t.tune = fmt.Sprintf("start %d of %d", k+1, len(alive)), true
		t.maxIterations, t.tolerance = min(rounds[len(rounds)-1], r.config.MaxIterations), 10*r.climbTolerance()
		end, err := r.jump(ctx, r.form, *t, t.before)
		if err != nil {
			return nil, err
		}
		t.before = end
	}
	return alive, nil
}

// byPenalised returns the indices of outcomes, best penalised evidence first.
func byPenalised(ends []*outcome) []int {
	return order.By(len(ends), func(a, b int) int { return worse(ends[a], ends[b]) })
}

// worse is above 0 where the first outcome has less penalised evidence.
func worse(a, b *outcome) int { return cmp.Compare(b.penalised, a.penalised) }

// starts returns the starting points. The first is the features' own draw and starts;
// the second has kernel blocks' lengthscales the other way round (three times longer,
// or not); further ones are a Latin hypercube around and above. Different kernel
// blocks never start alike: the climb could not tell them apart.
func (r *fit) starts(count int) []ascent {
	infos := r.model.Features.(credence.Tunable).Hyper()
	kernel := kernelOf(infos)
	tasks := make([]ascent, count)
	jitter := latinHypercube(credence.Rand(r.config.Seed, credence.ExactStarts, 0), max(0, count-2), len(infos)+1)
	for k := range tasks {
		t := &tasks[k]
		t.features = r.model.Features
		if redrawable, ok := t.features.(ability.Redrawable); ok {
			t.features = redrawable.Redraw(r.config.Seed, k)
		}
		t.hyper = make([]float64, len(infos))
		for h, info := range infos {
			value := info.Start
			if info.Held || !(value > 0) {
				t.hyper[h] = info.Value
				continue
			}
			switch {
			case len(info.Starts) > 0:
				value = info.Starts[k%len(info.Starts)]
			case k == 0 && info.PriorSD > 0 && math.Abs(math.Log(value)-info.PriorMean) > 1e-9:
				// The user's own guess is tried as it is.
			case k < 2:
				if (kernel[h]+k)%2 == 1 {
					value *= 3
				}
			default:
				// Centred between the first two starts, spread as in the study of starts.
				value *= math.Sqrt(3) * math.Exp(0.7*jitter[k-2][h])
			}
			value = math.Max(value, info.Lower)
			if info.Upper > 0 {
				value = math.Min(value, info.Upper)
			}
			t.hyper[h] = value
		}
		if k >= 2 {
			t.noiseFactor = math.Exp(jitter[k-2][len(infos)])
		}
	}
	return tasks
}

// kernelOf numbers, for every hyper-parameter, the block that it belongs to among those that have
// any.
func kernelOf(infos []credence.Hyper) []int {
	seen := map[int]int{}
	out := make([]int, len(infos))
	for h, info := range infos {
		if _, ok := seen[info.Block]; !ok {
			seen[info.Block] = len(seen)
		}
		out[h] = seen[info.Block]
	}
	return out
}

// latinHypercube returns count points of standard normal coordinates, in each of which
// every one of count equally likely intervals has one point (McKay, Beckman & Conover 1979).
func latinHypercube(rng *rand.Rand, count, coordinates int) [][]float64 {
	points := make([][]float64, count)
	for k := range points {
		points[k] = make([]float64, coordinates)
	}
	for c := range coordinates {
		for k, cell := range rng.Perm(count) {
			u := (float64(cell) + rng.Float64()) / float64(count)
			u = math.Max(1e-3, math.Min(u, 1-1e-3))
			points[k][c] = math.Sqrt2 * math.Erfinv(2*u-1)
		}
	}
	return points
}

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
	return r.model.Features.(ability.Redrawable).Thin(thinParts).Weights() <= weights/2
}

// searchThinly climbs from all starts with few frequencies, first on few rows and then, beyond the
// maxima, on all up to Config.PolishRows. It returns the best, to go on from with all frequencies,
// and the curvature there.
func (r *fit) searchThinly(ctx context.Context, starts []ascent) ([]ascent, error) {
	tasks := make([]ascent, len(starts))
	for k, t := range starts {
		t.features = t.features.(ability.Redrawable).Thin(thinParts)
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
	var best []ascent
	for _, k := range byPenalised(ends)[:r.draws(r.data.Rows())] {
		if err := few.measureCurvature(ctx, few.form, tasks[k], ends[k]); err != nil {
			return nil, err
		}
		best = append(best, ascent{features: starts[k].features, before: ends[k]})
	}
	return best, nil
}
