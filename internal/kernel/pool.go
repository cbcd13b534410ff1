package kernel

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Pool is a fixed number of workers and their packing buffers. Results never
// depend on the number of workers. A Pool is not safe for concurrent use by
// several callers, and a task given to Run must not use the same Pool.
//
// A line of memory that two processors write in turn takes about a microsecond
// to change hands. So every worker has its own share of the tasks, and looks at
// the share of another when its own is done.
type Pool struct {
	threads int
	workers []func() // one per worker beyond the caller, built once: go p.workers[i]() allocates nothing
	idle    func()   // one without work
	group   sync.WaitGroup
	awake   int         // workers that have been started and not yet waited for
	holds   int         // calls of hold without release
	staying atomic.Bool // workers without a task wait for the next Run

	task   func(i, worker int)
	even   []int // bounds of even shares
	shares []share
	turn   *line // the number of this Run
	done   *line // tasks of this Run that workers beside the caller have reported as ended
	failed atomic.Pointer[failure]

	isa      ISA
	wide     *grid[float64]
	narrow   *grid[float32]
	triangle *triangle
	factor   *factorisation
	inverse  *inversion
	gemv     *gemv
	row      []float64 // a block's share of a product with one row
}

// line is a number with two lines of memory for itself: processors fetch lines in pairs.
type line struct {
	_ [64]byte
	atomic.Int64
	_ [120]byte
}

// share is the tasks of a Run that one worker takes first: in the upper half
// of the number the first one not taken, in the lower the end.
type share struct{ line }

// take takes the first task of a worker's own share.
func (s *share) take() (i int, ok bool) {
	for {
		v := s.Load()
		first, end := v>>32, v&math.MaxUint32
		if first >= end {
			return 0, false
		}
		if s.CompareAndSwap(v, v+1<<32) {
			return int(first), true
		}
	}
}

// steal takes the last task of the share of another: what is next to the
// tasks that its owner has done stays with the owner.
func (s *share) steal() (i int, ok bool) {
	for {
		v := s.Load()
		first, end := v>>32, v&math.MaxUint32
		if first >= end {
			return 0, false
		}
		if s.CompareAndSwap(v, v-1) {
			return int(end) - 1, true
		}
	}
}

// cancel takes all tasks of a share and returns their number.
func (s *share) cancel() int64 {
	for {
		v := s.Load()
		if s.CompareAndSwap(v, 0) {
			return max(v&math.MaxUint32-v>>32, 0)
		}
	}
}

// failure carries a panic from a worker to the caller of Run.
type failure struct{ value any }

// New returns a pool of the given number of workers; less than one means
// GOMAXPROCS. No goroutine outlives a call, so a Pool needs no closing. Its
// buffers grow with use, to 40 MB and 8 MB a worker.
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
	p := &Pool{threads: threads, isa: isa, turn: new(line), done: new(line)}
	p.idle = p.group.Done
	p.even = make([]int, threads+1)
	p.shares = make([]share, threads)
	for w := 1; w < threads; w++ {
		p.workers = append(p.workers, func() { p.help(w) })
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
// done. Tasks must write disjoint memory, and are handed out to workers
// 0..Threads()-1 in as many contiguous shares, each in increasing order, as long
// as a worker has its own. With one worker or one task everything runs on the
// caller's goroutine. A panic in a task is passed on to the caller after the
// other workers have stopped.
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
	for w := range p.even {
		p.even[w] = w * n / p.threads
	}
	p.runShares(p.even, task)
}

// runShares is Run where worker w begins with the tasks from bounds[w] to
// bounds[w+1]; bounds[0] is 0. The first share, of the caller, is taken in
// increasing order from its beginning even if no other worker comes to run.
func (p *Pool) runShares(bounds []int, task func(i, worker int)) {
	n := bounds[p.threads]
	if n > math.MaxInt32 {
		panic("kernel: Run: too many tasks")
	}
	p.task = task
	p.done.Store(0)
	for w := range p.shares {
		p.shares[w].Store(int64(bounds[w])<<32 | int64(bounds[w+1]))
	}
	p.turn.Add(1)
	p.start(min(n, p.threads) - 1)
	own := p.work(0)
	if p.holds > 0 {
		for spin := 0; p.done.Load()+own < int64(n); spin++ {
			pause(spin)
		}
	} else {
		p.dismiss()
	}
	p.task = nil
	if f := p.failed.Swap(nil); f != nil {
		panic(f.value)
	}
}

// start sees to it that so many workers are awake beside the caller.
func (p *Pool) start(workers int) {
	if p.awake >= workers {
		return
	}
	for ; p.awake < workers; p.awake++ {
		p.group.Add(1)
		go p.workers[p.awake]()
	}
	// The goroutine started last is kept for this processor to run next, and others
	// may have it only after a sleep, several times as long as waking them
	// takes: let it be one without work.
	p.group.Add(1)
	go p.idle()
}

// Hold is hold for callers of many short runs, until the function that it returns is called. Workers that
// find nothing to do for as long as a short run takes sleep between looks.
func (p *Pool) Hold() (release func()) {
	p.hold()
	return p.release
}

// hold keeps the workers awake between one Run and the next, until release:
// waking a goroutine takes as long as many tiles. It starts none.
func (p *Pool) hold() {
	p.holds++
	p.staying.Store(true)
}

// release ends hold. Calls must be paired, also when a task panics.
func (p *Pool) release() {
	if p.holds--; p.holds == 0 {
		p.staying.Store(false)
		p.dismiss()
	}
}

// dismiss waits until the workers have ended.
func (p *Pool) dismiss() {
	p.group.Wait()
	p.awake = 0
}

// help is a worker beside the caller.
func (p *Pool) help(worker int) {
	defer p.group.Done()
	for {
		turn := p.turn.Load()
		if did := p.work(worker); did > 0 {
			p.done.Add(did)
		}
		for spin := 0; p.turn.Load() == turn; spin++ {
			if !p.staying.Load() {
				return
			}
			pause(spin)
		}
	}
}

// pause is one turn of a loop that waits for another worker. It keeps the
// processor for some 40 µs, longer than a task takes, unless the other has
// lost its own.
func pause(spin int) {
	const limit = 20_000
	switch {
	case spin > limit:
		time.Sleep(20 * time.Microsecond)
	case spin%64 == 63:
		runtime.Gosched()
	}
}

// work takes tasks until none is left, and returns how many it took. Whoever
// takes a task keeps its Run from ending: the task read after that is of the
// same Run.
func (p *Pool) work(worker int) (did int64) {
	defer func() {
		if r := recover(); r != nil {
			p.failed.CompareAndSwap(nil, &failure{r})
			for w := range p.shares {
				did += p.shares[w].cancel()
			}
		}
	}()
	for {
		i, ok := p.shares[worker].take()
		for w := 1; !ok && w < p.threads; w++ {
			i, ok = p.shares[(worker+w)%p.threads].steal()
		}
		if !ok {
			return did
		}
		did++
		p.task(i, worker)
	}
}
