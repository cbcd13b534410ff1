package text

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/credence-ml/credence/internal/task"
)

// counted sends the numbers below n.
func counted(n int, failure error) func(func() (*int, bool), func(*int) bool) error {
	return func(take func() (*int, bool), send func(*int) bool) error {
		for i := range n {
			item, more := take()
			if !more {
				return nil
			}
			*item = i
			if !send(item) {
				return nil
			}
		}
		return failure
	}
}

func fresh() *int { return new(int) }

func TestOrderedKeepsTheOrder(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		next := 0
		err := Ordered(context.Background(), threads, fresh, counted(500, nil),
			func(i *int) {
				if *i%7 == 0 {
					time.Sleep(100 * time.Microsecond) // overtaken by others
				}
				*i *= 2
			},
			func(i *int) error {
				if *i != 2*next {
					return fmt.Errorf("item %d came in place of %d", *i, 2*next)
				}
				next++
				return nil
			})
		if err != nil || next != 500 {
			t.Errorf("%d threads: %d items, %v", threads, next, err)
		}
	}
}

// A producer that takes an item and has nothing to send, as at the end of every
// file, loses none: there are 2·threads+2 of them, whatever the number of files.
func TestOrderedLosesNoItem(t *testing.T) {
	for _, threads := range []int{1, 2} {
		for _, files := range []int{1, 2*threads + 2, 2*threads + 3, 1000} {
			consumed := 0
			err := Ordered(t.Context(), threads, fresh, func(take func() (*int, bool), send func(*int) bool) error {
				for range files {
					for row := range 2 {
						item, more := take()
						if !more {
							return errors.New("stopped")
						}
						if row == 0 {
							send(item)
						}
					}
				}
				return nil
			}, func(*int) {}, func(*int) error { consumed++; return nil })
			if err != nil || consumed != files {
				t.Errorf("%d threads, %d files: %d items, %v", threads, files, consumed, err)
			}
		}
	}
}

func TestOrderedErrorsComeInOrder(t *testing.T) {
	late, early := errors.New("late"), errors.New("early")
	for _, threads := range []int{1, 4} {
		// The producer fails behind item 19, item 5 before it: 5 counts.
		consumed := 0
		err := Ordered(context.Background(), threads, fresh, counted(20, late), func(*int) {}, func(i *int) error {
			if consumed++; *i == 5 {
				return early
			}
			return nil
		})
		if err != early || consumed != 6 {
			t.Errorf("%d threads: error is %v after %d items, want the first in order", threads, err, consumed)
		}
		consumed = 0
		err = Ordered(context.Background(), threads, fresh, counted(20, late), func(*int) {}, func(*int) error { consumed++; return nil })
		if err != late || consumed != 20 {
			t.Errorf("%d threads: error is %v after %d items", threads, err, consumed)
		}
		ctx, cancel := context.WithCancel(context.Background())
		consumed = 0
		err = Ordered(ctx, threads, fresh, counted(20, late), func(*int) {}, func(*int) error { consumed++; cancel(); return nil })
		if !errors.Is(err, context.Canceled) || consumed != 1 {
			t.Errorf("%d threads: error is %v after %d items and the end of the context", threads, err, consumed)
		}
	}
}

// A panic of work, of whatever item, or of the producer is the error of Ordered, and what stands before it is consumed.
func TestOrderedReturnsPanics(t *testing.T) {
	for _, faulty := range []int{0, 7, 199} {
		consumed := 0
		err := Ordered(t.Context(), 3, fresh, counted(200, nil), func(i *int) {
			if *i == faulty {
				panic("no such item")
			}
		}, func(*int) error { consumed++; return nil })
		var fault *task.Panic
		if !errors.As(err, &fault) || fault.Value != "no such item" || consumed != faulty {
			t.Errorf("item %d panics: %d consumed, %v", faulty, consumed, err)
		}
	}
	err := Ordered(t.Context(), 2, fresh, func(func() (*int, bool), func(*int) bool) error { panic("no items") }, func(*int) {}, func(*int) error { return nil })
	if fault := (*task.Panic)(nil); !errors.As(err, &fault) || fault.Value != "no items" {
		t.Errorf("a producer that panics ends in %v", err)
	}
}

func TestOrderedStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	stuck := make(chan struct{})
	defer close(stuck)
	done := make(chan error)
	go func() {
		done <- Ordered(ctx, 2, fresh,
			func(take func() (*int, bool), send func(*int) bool) error {
				item, _ := take()
				send(item)
				<-stuck // a read that does not return
				return nil
			},
			func(*int) {}, func(*int) error { cancel(); return nil })
	}()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("still running")
	}
}
