package parquet

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A row group that is read ahead of its turn waits where a quarter of the memory is taken, not those whose turn it is,
// and what is given back is there for others.
func TestBudget(t *testing.T) {
	f, budget := &File{groups: make([]rowGroup, 4)}, new(Budget)
	ctx, cancel := context.WithCancel(context.Background())
	open := func(i int) *Group { return f.Group(ctx, i, budget) }
	first, second, third := open(0), open(1), open(2)
	first.Turn()
	take := func(g *Group, bytes int) chan error {
		done := make(chan error, 1)
		go func() { done <- g.Take(bytes) }()
		return done
	}
	now := func(what string, done chan error) error {
		t.Helper()
		select {
		case err := <-done:
			return err
		case <-time.After(20 * time.Second):
			t.Fatal(what + " waits")
		}
		return nil
	}
	waits := func(what string, done chan error) {
		t.Helper()
		select {
		case err := <-done:
			t.Fatalf("%s does not wait: %v", what, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	if err := now("the first", take(first, memory/2)); err != nil {
		t.Fatal(err)
	}
	if err := now("the second", take(second, memory/8)); err != nil {
		t.Fatal(err)
	}
	waiting := take(third, memory/4)
	waits("the third", waiting)
	if err := now("the first, again", take(first, memory/4)); err != nil {
		t.Error(err)
	}
	if err := now("the first, beyond", take(first, 1)); !errors.Is(err, ErrUnread) {
		t.Errorf("more than three quarters: %v", err)
	}
	first.Close()
	second.Turn()
	if err := now("the second, in its turn", take(second, memory/2)); err != nil {
		t.Error(err)
	}
	waits("the third, out of its turn", waiting)
	second.Close()
	third.Turn()
	if err := now("the third, in its turn", waiting); err != nil || third.held != memory/4 || budget.ahead != 0 {
		t.Errorf("%d held, %d ahead: %v", third.held, budget.ahead, err)
	}
	last := open(3)
	waiting = take(last, memory)
	waits("the last", waiting)
	cancel()
	if err := now("the last, that nobody wants", waiting); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	large := (&File{groups: f.groups, size: memory}).Group(context.Background(), 0, budget)
	large.Turn()
	if err := large.Take(2 * memory); err != nil {
		t.Errorf("a large file: %v", err)
	}
}
