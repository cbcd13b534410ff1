package text

import (
	"context"

	"github.com/credence-ml/credence/internal/task"
)

// Ordered runs work on the items of produce on several goroutines and hands
// them to consume, on the caller's goroutine, in the order of production.
//
// produce calls take for an empty item and send to pass it on; both report false
// when it should stop; an item that is not sent is the next that take gives. At most 2·threads+2 items exist, made by
// fresh, and they are used again after consume. The error is the first in the order of items: that of consume, a panic
// of work, or that of produce once all that was sent before is consumed. On cancellation Ordered returns without
// waiting for produce, which may be stuck in a read; it stops at its next take or send.
//
// One thread does everything on the caller's goroutine with one item, which stays in the cache of its core, and
// waits for produce.
func Ordered[T any](ctx context.Context, threads int, fresh func() T,
	produce func(take func() (T, bool), send func(T) bool) error,
	work func(T), consume func(T) error) error {
	type job struct {
		item T
		done chan error
	}
	if threads == 1 {
		return inOrder(ctx, fresh(), produce, work, consume)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	count := 2*threads + 2
	empty := make(chan job, count)
	for range count {
		empty <- job{fresh(), make(chan error, 1)}
	}
	waiting, order := make(chan job, count), make(chan job, count)

	producer := task.Go(func() error {
		defer close(waiting)
		defer close(order)
		var current job
		held := false // current is taken and not sent
		take := func() (T, bool) {
			if held { // produce had nothing to put into it: the end of a file
				return current.item, ctx.Err() == nil
			}
			select {
			case current = <-empty:
				held = true
				return current.item, ctx.Err() == nil
			case <-ctx.Done():
				return current.item, false
			}
		}
		send := func(item T) bool {
			current.item, held = item, false
			order <- current // never blocks: there are count jobs
			waiting <- current
			return ctx.Err() == nil
		}
		return produce(take, send)
	})

	for range threads {
		task.Go(func() error {
			for j := range waiting {
				j.done <- task.Do(func() error {
					if ctx.Err() == nil {
						work(j.item)
					}
					return nil
				})
			}
			return nil
		})
	}

	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case j, more := <-order:
			if !more {
				return producer.Wait()
			}
			select {
			case err := <-j.done:
				if err != nil {
					return err
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			if err := consume(j.item); err != nil {
				return err
			}
			empty <- j
		}
	}
}

// inOrder is Ordered on one thread.
func inOrder[T any](ctx context.Context, item T, produce func(take func() (T, bool), send func(T) bool) error, work func(T), consume func(T) error) error {
	var failure error
	failed := func() bool {
		if failure == nil && ctx.Err() != nil {
			failure = context.Cause(ctx)
		}
		return failure != nil
	}
	take := func() (T, bool) { return item, !failed() }
	send := func(item T) bool {
		if failed() {
			return false
		}
		if work(item); !failed() {
			failure = consume(item)
		}
		return !failed()
	}
	err := produce(take, send)
	if failed() {
		return failure
	}
	return err
}
