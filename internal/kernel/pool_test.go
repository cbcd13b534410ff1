package kernel

import (
	"sync/atomic"
	"testing"
	"time"
)

// Every task runs once, whatever the shares: empty ones, all in one, and with
// workers that stay awake between short runs.
func TestRunShares(t *testing.T) {
	for _, threads := range []int{2, 3, 5} {
		p := New(threads)
		for _, held := range []bool{false, true} {
			if held {
				p.hold()
			}
			for round := range 300 {
				n := round % 17
				bounds := make([]int, threads+1)
				for w := 1; w < threads; w++ {
					bounds[w] = max(bounds[w-1], n*((round+w)%3)/2)
				}
				bounds[threads] = max(n, bounds[threads-1])
				count := make([]atomic.Int32, bounds[threads])
				p.runShares(bounds, func(i, worker int) {
					if worker < 0 || worker >= threads {
						t.Errorf("worker %d of %d", worker, threads)
					}
					count[i].Add(1)
				})
				for i := range count {
					if v := count[i].Load(); v != 1 {
						t.Fatalf("threads=%d held=%v shares %v: task %d ran %d times", threads, held, bounds, i, v)
					}
				}
			}
			if held {
				p.release()
			}
			if p.awake != 0 {
				t.Fatalf("%d workers were left awake", p.awake)
			}
		}
	}
}

// A worker that has nothing of its own takes over what another has not begun.
func TestRunStealsFromASlowWorker(t *testing.T) {
	p := New(2)
	const n = 20
	var taken [2]atomic.Int32
	p.runShares([]int{0, n, n}, func(i, worker int) {
		taken[worker].Add(1)
		time.Sleep(2 * time.Millisecond) // long enough for the other to wake
	})
	if taken[0].Load() == 0 || taken[1].Load() == 0 {
		t.Errorf("the workers took %d and %d tasks of the first one's share", taken[0].Load(), taken[1].Load())
	}
}

func TestHeldPoolPassesOnPanics(t *testing.T) {
	p := New(3)
	for range 5 {
		func() {
			p.hold()
			defer p.release()
			p.Run(50, func(i, _ int) {})
			defer func() {
				if r := recover(); r != "boom" {
					t.Fatalf("recovered %v", r)
				}
				var ran atomic.Int32
				p.Run(50, func(i, _ int) { ran.Add(1) })
				if ran.Load() != 50 {
					t.Fatalf("%d of 50 tasks ran after a panic", ran.Load())
				}
			}()
			p.Run(50, func(i, _ int) {
				if i == 20 {
					panic("boom")
				}
			})
		}()
	}
}
