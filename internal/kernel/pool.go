package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Pool is a fixed number of workers and their packing buffers. Results never
// depend on the number of workers. A Pool is not safe for concurrent use by
// several callers, and a task given to Run must not use the same Pool.
type Pool struct {
	threads int
	workers []func() // one per worker beyond the caller, built once: go p.workers[i]() allocates nothing
	group   sync.WaitGroup
	next    atomic.Int64
	count   int64
	task    func(i, worker int)
	failed  atomic.Pointer[failure]
}

// failure carries a panic from a worker to the caller of Run.
type failure struct{ value any }

// New returns a pool of the given number of workers; less than one means
// GOMAXPROCS. No goroutine outlives a call, so a Pool needs no closing.
func New(threads int) *Pool {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	p := &Pool{threads: threads}
	for w := 1; w < threads; w++ {
		p.workers = append(p.workers, func() {
			defer p.group.Done()
			p.work(w)
		})
	}
	return p
}

// Threads returns the number of workers.
func (p *Pool) Threads() int { return p.threads }

// Run calls task(i, worker) for every i in 0..n-1 and returns when all are
// done. Tasks are handed out in increasing order of i to workers
// 0..Threads()-1 and must write disjoint memory. With one worker or one task
// everything runs on the caller's goroutine. A panic in a task is passed on to
// the caller after the other workers have stopped.
func (p *Pool) Run(n int, task func(i, worker int)) {
	if n <= 0 {
		return
	}
	if p.threads == 1 || n == 1 {
		for i := range n {
			task(i, 0)
		}
		return
	}
	p.task, p.count = task, int64(n)
	p.next.Store(0)
	helpers := p.workers[:min(n, p.threads)-1]
	p.group.Add(len(helpers))
	for _, w := range helpers {
		go w()
	}
	p.work(0)
	p.group.Wait()
	p.task = nil
	if f := p.failed.Swap(nil); f != nil {
		panic(f.value)
	}
}

// work takes tasks until none is left.
func (p *Pool) work(worker int) {
	defer func() {
		if r := recover(); r != nil {
			p.next.Store(p.count)
			p.failed.CompareAndSwap(nil, &failure{r})
		}
	}()
	for {
		i := p.next.Add(1) - 1
		if i >= p.count {
			return
		}
		p.task(int(i), worker)
	}
}
