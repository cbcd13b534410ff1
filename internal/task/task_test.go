package task

import (
	"errors"
	"strings"
	"testing"
)

func TestWaitReturnsTheError(t *testing.T) {
	want := errors.New("full")
	task := Go(func() error { return want })
	for range 2 {
		if err := task.Wait(); err != want {
			t.Errorf("Wait returned %v, not %v", err, want)
		}
	}
	<-task.Done()
	if err := Go(func() error { return nil }).Wait(); err != nil {
		t.Errorf("work without an error returned %v", err)
	}
}

// A panic, one of the runtime or one with a value, is an error that names the line which panicked.
func TestPanicsAreErrors(t *testing.T) {
	cause := errors.New("cause")
	for name, work := range map[string]func() error{
		"value":  func() error { panic("no such thing") },
		"index":  func() error { var none []int; return errors.New(strings.Repeat("a", none[len(name(1))])) },
		"map":    func() error { noMap()[name(1)] = 1; return nil },
		"size":   func() error { return errors.New(string(make([]byte, -len(name(1))))) },
		"closed": func() error { c := make(chan int); close(c); c <- 1; return nil },
		"wraps":  func() error { panic(cause) },
		"deeper": func() error { return Do(func() error { return Go(func() error { panic("deep") }).Wait() }) },
	} {
		err := Go(work).Wait()
		var fault *Panic
		if !errors.As(err, &fault) {
			t.Errorf("%s: %v is no panic", name, err)
			continue
		}
		if !strings.Contains(fault.Error(), "a fault of the program, at task_test.go:") {
			t.Errorf("%s: the place is not told: %v", name, fault)
		}
		if !strings.Contains(string(fault.Stack), "task_test.go") {
			t.Errorf("%s: the stack is not that of the work: %s", name, fault.Stack)
		}
		if name == "wraps" && !errors.Is(err, cause) {
			t.Errorf("%v does not wrap what the work panicked with", err)
		}
	}
}

func name(n int) string { return strings.Repeat("x", n) }

func noMap() map[string]int { return nil }
