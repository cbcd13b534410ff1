package svi

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/arrow"
)

// Apart are the rows of a fit of which only some can be read, [Engine.Places] among them or none, while questions about
// all of them have answers, or none yet: [Engine.Fit] then ends with [base.ErrAsked], and is made again with the
// answers. It asks the same in the same order.
type Apart interface {
	credence.Data
	base.Asker
}

// ErrDiagonal refuses independent weights and minibatches for rows that lie apart.
var ErrDiagonal = errors.New("svi with independent weights takes hundreds of steps, each a round over all files: state 'svi(covariance=full)', for up to 2,000 weights, use --engine exact for a gaussian family, or fit on one machine")

const (
	// mostSampled is the number of rows up to which subsamples of rows that lie apart are climbed first, and
	// mostSampledCells that of their features.
	mostSampled, mostSampledCells = 65_536, 1 << 24
)

// CheckApart refuses what rows that lie apart cannot be asked for, where some of them are read or none.
func (e *Engine) CheckApart(lacking bool) error {
	name := e.config.name()
	if lacking && problem.NeedsRows(e.likelihood) {
		return fmt.Errorf("%s: family %v starts from the order of targets, which some of the rows tell: leave --no-rows out", name, e.likelihood)
	}
	if e.config.Covariance != Full {
		return ErrDiagonal
	}
	if d := e.model.Features.Weights(); d > base.FullWeights {
		return fmt.Errorf("%s of files apart is for up to %d weights, and the model has %d: use fewer columns, --engine exact for a gaussian family, or fit on one machine", name, base.FullWeights, d)
	}
	if _, learned := base.LearnedHypers(e.model.Features); len(learned) > 0 {
		return fmt.Errorf("%s: the features have hyper-parameters to learn, for which rows have to be in one place: state them, as in lengthscale=0.5, or fit on one machine", name)
	}
	if finder := e.finder(); finder != nil && !finder.Known() {
		return fmt.Errorf("%s of files apart is for one category of many levels, and which levels of two a row has together only all rows tell: fit on one machine", name)
	}
	return nil
}

// finder finds the pattern of levels; nil where there is none.
func (e *Engine) finder() *arrow.Finder {
	if _, levels := base.Rest(e.model.Features, e.prior); !levels || e.config.Covariance != Full {
		return nil
	}
	return arrow.NewFinder(e.model.Features)
}

// Places returns the rows of so many that a fit reads one by one, in their order.
func (e *Engine) Places(rows int) (places []int) {
	for i := range min(rows, credence.BlockRows) {
		places = append(places, i)
	}
	for _, limit := range append(climbed(rows, e.model.Features.Weights(), true), newton.PilotRows, problem.StartRows) {
		if limit != 0 {
			if rows < 2*max(limit, credence.BlockRows) {
				limit = 0
			}
			places = append(places, base.Evenly(rows, limit, problem.RunOf(limit))...)
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// First is the question that every fit begins with.
func (e *Engine) First() *base.Question { return &base.Question{What: base.AskSizes} }

// asked returns what answers questions by data, which may be nil where none are asked yet.
func (e *Engine) asked(data credence.Data) (*newton.Newton, error) {
	var of *problem.Problem
	if data != nil {
		r, err := e.newFit(data)
		if err != nil {
			return nil, err
		}
		of = r.Problem
	} else {
		of = &problem.Problem{Workspace: credence.NewWorkspace(1), Features: e.model.Features, Likelihood: e.likelihood, Dims: e.model.Features.Weights()}
	}
	if finder := e.finder(); finder != nil {
		var err error
		if of.Pattern, err = finder.Pattern(); err != nil {
			return nil, err
		}
	}
	return newton.New(of), nil
}

// aside does things that do not wait for each other, so that where rows lie apart all of them ask before the fit ends.
func (r *fit) aside(things int, do func(k int) error) (waits error) {
	r.asides++
	for k := range things {
		leave := func() {}
		if r.Asker != nil {
			leave = r.Asker.Branch(fmt.Sprintf("%d-%d", r.asides, k), false)
		}
		err := do(k)
		leave()
		switch {
		case errors.Is(err, base.ErrAsked):
			waits = err
		case err != nil:
			return err
		}
	}
	return waits
}

// Length is how many numbers answer a question.
func (e *Engine) Length(q *base.Question) (int, error) {
	if q == nil {
		return 0, errors.New("svi: there is no question: give one")
	}
	n, err := e.asked(nil)
	if err != nil {
		return 0, err
	}
	return n.Length(q), nil
}

// Answer answers a question by rows, which are those from first on of so many in all.
func (e *Engine) Answer(ctx context.Context, data credence.Data, q *base.Question, first, total int) ([]float64, error) {
	if data == nil || q == nil {
		return nil, errors.New("svi: there are no rows or no question: give both")
	}
	if q.Rows > 0 {
		some, err := chosen(data, q.Rows, first, total)
		if err != nil {
			return nil, err
		}
		if data = some; some.Rows() == 0 {
			length, err := e.Length(q)
			return make([]float64, max(0, length)), err
		}
	}
	n, err := e.asked(data)
	if err != nil {
		return nil, err
	}
	defer n.Workspace.Pool().Hold()()
	x, err := n.Answer(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("%s: the question is none of this model, %w: make the job anew by credence job", e.config.name(), err)
	}
	return x, nil
}

// chosen are the rows among about limit that are evenly spread over all.
func chosen(data credence.Data, limit, first, total int) (*base.Memory, error) {
	some := &base.Memory{}
	var batch credence.Batch
	for _, place := range base.Evenly(total, limit, problem.RunOf(limit)) {
		if i := place - first; i >= 0 && i < data.Rows() {
			if err := data.Read(&batch, i, 1); err != nil {
				return nil, err
			}
			some.All.Append(&batch, 0, 1)
		}
	}
	return some, nil
}
