package exact

import (
	"cmp"
	"context"
	"math"
	"sync/atomic"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/task"
)

// stage is the rows that climbs go up on and the form that computes on them.
type stage struct {
	ws   *credence.Workspace
	rows *unitRows
	form form
}

// open prepares a stage on limit evenly spread rows (0 for all). It keeps the
// stage before if that had the same rows.
func (r *fit) open(ctx context.Context, limit int, tuned bool) error {
	total := r.data.Rows()
	if limit == 0 || limit > total {
		limit = total
	}
	if r.form != nil && r.rows.Count() == limit && tuned == r.tuned {
		return nil
	}
	r.form = nil // before the next one is made: they are large
	var err error
	if r.rows, err = r.openRows(ctx, r.data, limit, tuned); err != nil {
		return err
	}
	r.form, r.inputs = r.newForm(r.rows, r.ws, tuned), r.rows.Report().Inputs
	return nil
}

// own returns a variance in the target's own units, at the edge of what a number can
// hold if it is beyond.
func (s *stage) own(v float64) float64 {
	scale := s.form.base().summary.units.Scale
	return math.Max(math.SmallestNonzeroFloat64, math.Min(v*scale*scale, math.MaxFloat64))
}

// togetherBytes is the largest size of a form's matrices of which several are
// held at once. Kernels on larger ones spread over threads well by themselves.
const togetherBytes = 32 << 20

// together is the number of climbs that go on at once: their kernels are then too small for all threads.
func (r *fit) together(tasks int) int {
	n := min(r.rows.Count(), r.model.Features.Weights())
	if !r.rows.Kept() || 3*8*n*n > togetherBytes {
		return 1
	}
	return min(tasks, r.ws.Pool().Threads())
}

// fork returns count stages on the same rows, which share the fit's threads.
func (r *fit) fork(count int) []*stage {
	threads := r.ws.Pool().Threads()
	stages := make([]*stage, count)
	for k := range stages {
		shared := *r.rows // the kept blocks are only read
		s := &stage{ws: credence.NewWorkspace((threads + k) / count), rows: &shared}
		s.form = r.newForm(s.rows, s.ws, r.tuned)
		stages[k] = s
	}
	return stages
}

// climbAll climbs from every start on the rows of the fit's stage and calls each, from one
// goroutine at a time, with where a climb ended and the stage that has its values. Results do not depend
// on how many climbs go on at once: every one has a form of its own.
func (r *fit) climbAll(ctx context.Context, tasks []ascent, each func(k int, s *stage, end *outcome)) error {
	count := r.together(len(tasks))
	if count == 1 {
		for k, t := range tasks {
			end, err := r.climbBeyond(ctx, r.form, t)
			if err != nil {
				return err
			}
			each(k, &r.stage, end)
		}
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		next   atomic.Int64
		climbs []*task.Task
		calls  = make(chan func()) // run on this goroutine
		failed error
	)
	engine := *r.Engine
	engine.config.Progress = func(p credence.Progress) {
		calls <- func() {
			if ctx.Err() == nil {
				r.report(p)
			}
		}
	}
	for _, s := range r.fork(count) {
		climbs = append(climbs, task.Go(func() error {
			err := task.Do(func() error {
				for k := int(next.Add(1)) - 1; k < len(tasks); k = int(next.Add(1)) - 1 {
					end, err := engine.climbBeyond(ctx, s.form, tasks[k])
					if err != nil {
						return err
					}
					done := make(chan struct{})
					calls <- func() { each(k, s, end); close(done) }
					<-done
				}
				return nil
			})
			if err != nil {
				calls <- func() {
					failed = cmp.Or(failed, err) // a cancellation that it causes comes later
					cancel()
				}
			}
			return nil
		}))
	}
	task.Go(func() error {
		for _, climb := range climbs {
			climb.Wait()
		}
		close(calls)
		return nil
	})
	for call := range calls {
		call()
	}
	return failed
}
