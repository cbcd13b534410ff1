package newton

import (
	"context"
	"fmt"

	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
)

// apart says whether a pass over the rows is one over all of them where they lie apart.
func (n *Newton) apart(rows *problem.Rows) bool { return n.Asker != nil && !rows.Sampled() }

// ask is pass for rows that lie apart.
func (n *Newton) ask(s *Statistics, m []float64, factor gauss.Spread, f *problem.Family) error {
	q := &base.Question{What: base.AskPass, Mean: m, Spread: n.told(factor), Fixed: n.fixed, Sloped: n.sloped, Valued: n.valued, Clamp: n.clamp}
	f.Tell(q)
	x, err := n.Asker.Ask(q)
	if err != nil {
		return err
	}
	s.reset()
	s.Value, s.Trace, s.Separated = x[0], x[1], x[2] == 0
	x = x[3:]
	for _, run := range n.runsOf(s, q, f.Count()) {
		x = x[copy(run, x):]
	}
	n.Targets.Take(x)
	n.counted = nil
	return nil
}

// runsOf are the parts of statistics of which an answer to a question consists, behind value and trace.
func (n *Newton) runsOf(s *Statistics, q *base.Question, p int) (list [][]float64) {
	if q.Valued {
		return nil
	}
	list = append(list, s.Gradient, s.Slope[:p], s.Bend[:p*p], s.Cross[:p*n.Dims], s.Third)
	return append(list, n.upperOf(s.Curvature)...)
}

// upperOf are the runs of a matrix in the layout: of a dense one the rows of its upper triangle.
func (n *Newton) upperOf(values []float64) (list [][]float64) {
	for _, r := range n.runs {
		list = append(list, r.of(values))
	}
	return list
}

// told is a covariance as a question has it, nil for none.
func (n *Newton) told(factor gauss.Spread) (x []float64) {
	var values []float64
	switch f := factor.(type) {
	case gauss.Root:
		values = f
	case *levels:
		values = f.own()
	}
	if values != nil {
		for _, run := range n.upperOf(values) {
			x = append(x, run...)
		}
	}
	return x
}

// heard is a covariance that a question has.
func (n *Newton) heard(x []float64) (gauss.Spread, error) {
	if len(x) == 0 {
		return nil, nil
	}
	values, length := make([]float64, n.Layout.Len()), 0
	for _, run := range n.upperOf(values) {
		copy(run, x[min(length, len(x)):])
		length += len(run)
	}
	if len(x) != length {
		return nil, fmt.Errorf("%d numbers stand for a covariance of %d", len(x), length)
	}
	if n.levels != nil {
		n.levels.rows, n.levels.ofRows = values, true
		return n.levels, nil
	}
	return gauss.Root(values), nil
}

// Length is how many numbers answer a question.
func (n *Newton) Length(q *base.Question) int {
	d, p := n.Dims, problem.NewFamily(n.Likelihood).Count()
	if q.Held {
		p = 0
	}
	upper := 0
	for _, r := range n.runs {
		upper += r.length()
	}
	switch {
	case q.What == base.AskSizes:
		return 3*d + base.SumNumbers
	case q.What == base.AskDraws:
		return 2 * (len(q.Drawn) / d)
	case q.What == base.AskGram:
		return 3 + d + upper + base.MomentNumbers
	case q.Valued:
		return 3 + base.MomentNumbers
	}
	return 3 + d + p + p*p + p*d + d + upper + base.MomentNumbers
}

// Answer answers a question by the rows that are here.
func (n *Newton) Answer(ctx context.Context, q *base.Question) ([]float64, error) {
	if q.What == base.AskSizes {
		return n.Measured(ctx)
	}
	if len(q.Mean) != n.Dims || len(q.Drawn)%n.Dims != 0 {
		return nil, fmt.Errorf("the question is about %d weights, and the model has %d", len(q.Mean), n.Dims)
	}
	rows := n.All()
	if q.What == base.AskGram {
		u, err := n.addUp(ctx, rows, q.Mean)
		if err != nil {
			return nil, err
		}
		return n.gram(u), nil
	}
	family, err := problem.NewFamily(n.Likelihood).Asked(q)
	if err != nil {
		return nil, err
	}
	factor, err := n.heard(q.Spread)
	if err != nil {
		return nil, err
	}
	if q.What == base.AskDraws {
		count := len(q.Drawn) / n.Dims
		draws := &diagnose.Draws{Count: count, Dims: n.Dims, Weights: q.Drawn, LogLikelihood: make([]float64, count)}
		if q.Rows == 0 {
			err = n.densities(ctx, rows, draws, family)
			return append(draws.LogLikelihood, make([]float64, count)...), err
		}
		sums, squares, err := n.rests(ctx, rows, q.Mean, factor, family, draws)
		return append(sums, squares...), err
	}
	n.fixed, n.sloped, n.valued, n.clamp = q.Fixed, q.Sloped, q.Valued, q.Clamp
	s := n.NewStatistics(family.Count())
	if err := n.passBlocks(ctx, rows, s, q.Mean, factor, family); err != nil {
		return nil, err
	}
	x := []float64{s.Value, s.Trace, 1}
	if s.Separated {
		x[2] = 0
	}
	for _, run := range n.runsOf(s, q, family.Count()) {
		x = append(x, run...)
	}
	return append(x, n.Targets.Numbers()...), nil
}

// gram are the sums of a Gaussian family as an answer has them.
func (n *Newton) gram(u *sums) []float64 {
	x := append([]float64{u.weight, u.square, u.logPrecision}, u.product...)
	for _, run := range n.upperOf(u.gram) {
		x = append(x, run...)
	}
	return append(x, u.targets.Numbers()...)
}

// askGram is addUp for rows that lie apart.
func (n *Newton) askGram(u *sums) error {
	x, err := n.Asker.Ask(&base.Question{What: base.AskGram, Mean: u.about})
	if err != nil {
		return err
	}
	u.weight, u.square, u.logPrecision = x[0], x[1], x[2]
	x = x[3:]
	x = x[copy(u.product, x):]
	for _, run := range n.upperOf(u.gram) {
		x = x[copy(run, x):]
	}
	u.targets.Take(x)
	kernel.Symmetrize(n.Dims, u.gram, n.Dims)
	return nil
}

// askDraws asks for the log densities of rows under draws, or for what [Newton.rests] makes of about so many of them.
func (n *Newton) askDraws(mean []float64, factor gauss.Spread, draws *diagnose.Draws, f *problem.Family, rows int) (sums, squares []float64, err error) {
	q := &base.Question{What: base.AskDraws, Rows: rows, Mean: mean, Spread: n.told(factor), Drawn: draws.Weights}
	f.Tell(q)
	x, err := n.Asker.Ask(q)
	if err != nil {
		return nil, nil, err
	}
	return x[:draws.Count], x[draws.Count:], nil
}
