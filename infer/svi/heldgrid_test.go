package svi

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/folds"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
)

// stepsOf are the steps of the choice with the least loss.
func stepsOf(r *fit) (steps []int) {
	for _, v := range r.averaged[0].Variances {
		k := slices.IndexFunc(r.Groups, func(g base.Group) bool { return priorVariance+g.Name == v.Name })
		steps = append(steps, int(math.Round(decade*math.Log10(v.Value/(r.Priors.Scales[k]*r.Priors.Scales[k])))))
	}
	return steps
}

// hugeRows are indicators that tell of the class beside a row number from a large origin and an identifier.
func hugeRows(n, p int, seed uint64) *memory {
	data := &memory{x: linop.NewDense(n, p+2), y: make([]float64, n)}
	rng := credence.Rand(seed, credence.SVIStarts, 0)
	for i := range n {
		row, f := data.x.Row(i), 0.0
		for j := range p {
			if rng.IntN(3) == 0 {
				row[j] = 1
				f += 3 * math.Sin(float64(j*j))
			}
		}
		row[p], row[p+1] = 1e6+float64(i), float64(rng.IntN(1e6))
		if rng.Float64() < special.Sigmoid(f) {
			data.y[i] = 1
		}
	}
	return data
}

// TestHeldOutHuge: the unit of a few columns does not decide how far the variances go. The choice is that of the least
// loss over refits with stated variances, however far from the scale of the prior, in one block and beside a block with
// columns of one size.
func TestHeldOutHuge(t *testing.T) {
	const n, p, seed = 150, 40, 5
	data := hugeRows(n, p, 3)
	model := credence.Model{Features: plain{p: p + 2}, Likelihood: likelihood.Bernoulli{}, Prior: normal}
	r := must.Value(must.Value(New(model, Config{Hyper: param.Heldout, Seed: seed}))(t).newFit(data))(t)
	must.Value(r.diagonal(context.Background(), nil))(t)
	fold, count := folds.Deal(credence.Rand(seed, credence.FoldRows, 2), slices.Repeat([]float64{1}, n), data.y, 5)
	best, variance := math.Inf(1), 0.0
	for v := 1e-12; v < 1e6; v *= 10 {
		if loss := slices.Min(lossBy(t, model, data, fold, count, v)); loss < best {
			best, variance = loss, v
		}
	}
	best0 := r.averaged[0]
	chosen := best0.Variances[0].Value
	if stepsOf(r)[0] <= gridSteps+1 || !(math.Abs(math.Log10(chosen/variance)) <= 1) || !(best0.Loss < best+0.01) {
		t.Errorf("variance %v at step %v with a loss of %v, refits have %v at %v", chosen, stepsOf(r), best0.Loss, best, variance)
	}
	losses := map[int]float64{}
	for _, first := range []int{0, 10} {
		model.Features = plain{p: p + 2, intercept: true}
		if first > 0 {
			model.Features = blocks{plain{p: p + 2, intercept: true}, first}
		}
		r = must.Value(must.Value(New(model, Config{Hyper: param.Heldout, Seed: seed}))(t).newFit(data))(t)
		must.Value(r.diagonal(context.Background(), nil))(t)
		losses[first] = r.averaged[0].Loss
	}
	if few, many := stepsOf(r)[0], stepsOf(r)[1]; few > gridSteps+1 || many <= gridSteps+1 || !(losses[10] < losses[0]+0.01) {
		t.Errorf("two blocks: steps %v, losses of one and of two %v", stepsOf(r), losses)
	}
}

// TestHeldOutEnds: a least loss at an end of the common steps is taken only after a larger one, or at the end of all.
func TestHeldOutEnds(t *testing.T) {
	about := func(top int) func(steps []int) float64 {
		return func(steps []int) float64 { return 100 + math.Abs(float64(steps[0]-top)) }
	}
	valley := func(steps []int) float64 { // elsewhere the loss hardly rises
		return 1 + 0.001*float64(steps[0]) - 0.5*math.Exp(-math.Abs(float64(steps[0]-20)))
	}
	for _, c := range []struct {
		name  string
		of    func(steps []int) float64
		tops  []int
		tried int
		best  []int
	}{
		{"within", about(5), []int{8}, 5 + 2, []int{5}},
		{"above, and 14", about(12), []int{8}, 5 + 3 + 2, []int{12}},
		{"below, and -4", about(-2), []int{8}, 5 + 2 + 2, []int{-2}},
		{"without end above", about(100), []int{8}, 5 + 4 + 2, []int{8 + beyond + 1}},
		{"without end below", about(-100), []int{8}, 5 + 2 + 2, []int{leastStep - 1}},
		{"far, behind what is level", valley, []int{22}, 12 + 2, []int{20}},
		{"far, beyond all that is looked at", valley, []int{8}, 5 + 2 + 2, []int{-5}},
		{"a steep rise", func(steps []int) float64 { return 1 + math.Pow(float64(steps[0]-6), 4)/100 }, []int{40}, 5 + 2, []int{6}},
		{"a density", func(steps []int) float64 { return valley(steps) - 500 }, []int{22}, 12 + 2, []int{20}},
		{"two", func(steps []int) float64 { return 100 + math.Abs(float64(steps[0]-6)) + math.Abs(float64(steps[1]-20)) }, []int{8, 18}, 0, []int{6, 20}},
		{"two, above", func(steps []int) float64 {
			return 100 + math.Abs(float64(steps[0]-12)) + math.Abs(float64(steps[1]-25))
		}, []int{8, 18}, 0, []int{12, 25}},
	} {
		s := &choice{state: new(tries), learned: make([]int, len(c.tops)), tops: c.tops, best: -1}
		s.look = func(_ context.Context, steps []int, _ bool) error {
			s.state.Tried = append(s.state.Tried, tried{Steps: slices.Clone(steps), Loss: c.of(steps)})
			return nil
		}
		must.Succeed(t, s.search(context.Background()))
		if got := s.state.Tried[s.best].Steps; !slices.Equal(got, c.best) || c.tried > 0 && c.tried != len(s.state.Tried) {
			t.Errorf("%s: %v of %v", c.name, got, s.state.Tried)
		}
		// the common steps go up to the top of a block, and beyond it that stands at its best
		for step := 0; len(c.tops) == 2 && step <= c.tops[1]; step += decade {
			if !slices.ContainsFunc(s.state.Tried, func(t tried) bool {
				return t.Steps[1] == step && (t.Steps[0] == step) == (step <= c.tops[0])
			}) {
				t.Errorf("%s: the common step %d is not among %v", c.name, step, s.state.Tried)
			}
		}
	}
}

// TestHeldOutSettled: decades end where many rows tell that larger variances are worse, few rows go on.
func TestHeldOutSettled(t *testing.T) {
	for _, c := range []struct {
		weight, rise float64
		want         []int
	}{
		{100, 0.1, []int{0, 2, 4, 1, 3}},
		{20, 0.1, []int{0, 2, 4, 6, 1, 3}},
		{1, 0.1, []int{0, 2, 4, 6, 8, 1, 3}},
		{1000, 0.01, []int{0, 2, 4, 6, 8, 1, 3}}, // as little as huge columns do on the way to theirs
	} {
		s := &choice{state: new(tries), learned: make([]int, 1), tops: []int{gridSteps}, best: -1, weight: c.weight}
		var order []int
		s.look = func(_ context.Context, steps []int, _ bool) error {
			order = append(order, steps[0])
			s.state.Tried = append(s.state.Tried, tried{Steps: slices.Clone(steps), Loss: 1 + c.rise*math.Abs(float64(steps[0]-2))})
			return nil
		}
		must.Succeed(t, s.search(context.Background()))
		if !slices.Equal(order, c.want) {
			t.Errorf("%v rows and %v a step: %v, want %v", c.weight, c.rise, order, c.want)
		}
	}
}

// TestHeldOutFine: of many rows half decades go on while the loss falls, past one that is little worse, and below.
func TestHeldOutFine(t *testing.T) {
	for _, c := range []struct {
		best, rise float64
		want       []int
	}{
		{2, 0.1, []int{0, 1, 2, 3}},
		{2, 0.001, []int{0, 1, 2, 3, 4}},
		{2.45, 0.002, []int{0, 1, 2, 3, 4}}, // 3 is worse than 2 by .2 nats, and 4 by 2
		{0, 0.1, []int{0, 1, -1}},
		{-2, 0.1, []int{0, 1, -1, -2, -3}},
		{100, 0.1, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
		{-100, 0.1, []int{0, 1, -1, -2, -3, -4}},
	} {
		s := &choice{state: new(tries), learned: make([]int, 1), tops: []int{gridSteps}, best: -1, weight: 100, fine: true}
		var order []int
		s.look = func(_ context.Context, steps []int, _ bool) error {
			order = append(order, steps[0])
			s.state.Tried = append(s.state.Tried, tried{Steps: slices.Clone(steps), Loss: 1 + c.rise*math.Abs(float64(steps[0])-c.best)})
			return nil
		}
		must.Succeed(t, s.search(context.Background()))
		if !slices.Equal(order, c.want) {
			t.Errorf("a least loss at %v and %v a step: %v, want %v", c.best, c.rise, order, c.want)
		}
	}
}

// TestHeldOutRules: half decades are for many rows, one block and columns of about one size.
func TestHeldOutRules(t *testing.T) {
	for _, c := range []struct {
		rows, first int
		huge        float64
		want        bool
	}{{2500, 0, 1, true}, {1500, 0, 1, false}, {2500, 0, 300, false}, {2500, 3, 1, false}} {
		data := draw(t, likelihood.Bernoulli{}, c.rows, 8, 4)
		for i := range data.x.Rows {
			data.x.Row(i)[7] *= c.huge
		}
		features := credence.Features(plain{p: 8, intercept: true})
		if c.first > 0 {
			features = blocks{plain{p: 8, intercept: true}, c.first}
		}
		r := must.Value(must.Value(New(credence.Model{Features: features, Likelihood: likelihood.Bernoulli{}, Prior: normal}, Config{Hyper: param.Heldout, Seed: 3}))(t).newFit(data))(t)
		r.start = must.Value(r.Start(context.Background(), r.All(), r.All()))(t)
		dealt := &choice{fit: r, learned: r.LearnedGroups()}
		must.Succeed(t, dealt.deal(context.Background()))
		dealt.begin()
		if dealt.fine != c.want || len(dealt.tops) != len(dealt.learned) || len(r.LearnedGroups()) > 0 {
			t.Errorf("%+v: half decades are %v, of %d folds and %d groups up to %v", c, dealt.fine, len(dealt.folds), len(dealt.learned), dealt.tops)
		}
	}
}
