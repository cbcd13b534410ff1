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
	threads  int
	workers  []func() // one per worker beyond the caller, built once: go p.workers[i]() allocates nothing
	group    sync.WaitGroup
	next     atomic.Int64
	last     int64
	task     func(i, worker int)
	failed   atomic.Pointer[failure]
	isa      ISA
	wide     *grid[float64]
	narrow   *grid[float32]
	triangle *triangle
	gemv     *gemv
}

// failure carries a panic from a worker to the caller of Run.
type failure struct{ value any }

// New returns a pool of the given number of workers; less than one means
// GOMAXPROCS. No goroutine outlives a call, so a Pool needs no closing. Its
// buffers grow with use, to 32 MB.
func New(threads int) *Pool { return NewISA(threads, detected) }

// NewISA is New for a chosen instruction set, which the processor must have: it
// is for tests and measurements.
func NewISA(threads int, isa ISA) *Pool {
	if isa < PureGo || isa > detected {
		panic("kernel: NewISA: this processor has no " + isa.String())
	}
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	p := &Pool{threads: threads, isa: isa}
	for w := 1; w < threads; w++ {
		p.workers = append(p.workers, func() {
			defer p.group.Done()
			p.work(w)
		})
	}
	return p
}

// float64s and float32s are the product engines, made when first needed.
func (p *Pool) float64s() *grid[float64] {
	if p.wide == nil {
		p.wide = newGrid(p, micro64(p.isa))
	}
	return p.wide
}

func (p *Pool) float32s() *grid[float32] {
	if p.narrow == nil {
		p.narrow = newGrid(p, micro32(p.isa))
	}
	return p.narrow
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
	p.task, p.last = task, int64(n)
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
			p.next.Store(p.last)
			p.failed.CompareAndSwap(nil, &failure{r})
		}
	}()
	for {
		i := p.next.Add(1) - 1
		if i >= p.last {
			return
		}
		p.task(int(i), worker)
	}
}
