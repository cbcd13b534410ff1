package credence

import (
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Workspace holds the workers of a computation and its scratch memory, so that
// steady-state loops allocate nothing. It is for one goroutine at a time; the
// kernels it runs spread over its threads by themselves.
type Workspace struct {
	pool  *kernel.Pool
	arena []float64
	used  int
}

// MostThreads is the largest number of threads of a workspace.
const MostThreads = 1024

// NewWorkspace returns a workspace of the given number of threads; below 1 means
// every processor, and more than MostThreads means MostThreads. Results never depend on the number.
func NewWorkspace(threads int) *Workspace {
	return &Workspace{pool: kernel.New(min(threads, MostThreads))}
}

// Pool returns the dense kernels bound to the workspace's threads.
func (ws *Workspace) Pool() *linop.Pool { return ws.pool }

// Floats returns n numbers of scratch memory with undefined contents. They belong
// to the caller until Release is called with a mark taken before.
func (ws *Workspace) Floats(n int) []float64 {
	if ws.used+n > len(ws.arena) {
		// Slices handed out before keep the old arena alive until they are dropped.
		ws.arena = make([]float64, 2*(ws.used+n))
	}
	scratch := ws.arena[ws.used : ws.used+n : ws.used+n]
	ws.used += n
	return scratch
}

// Mark returns the present height of the scratch memory, for Release.
func (ws *Workspace) Mark() int { return ws.used }

// Release gives back all scratch memory taken since the mark.
func (ws *Workspace) Release(mark int) { ws.used = mark }

// rowsPerTask is how many rows a worker takes at a time: enough to outweigh the
// hand-over, few enough to balance.
const rowsPerTask = 64

// leastOperations is how many operations, such as a multiplication and an addition, are work for
// several threads: fewer are done before another has begun.
const leastOperations = 1 << 14

// run is the pool's for tasks of so many operations in all, which the caller does where they are few.
func (ws *Workspace) run(n, operations int, task func(i, worker int)) {
	if operations >= leastOperations {
		ws.pool.Run(n, task)
		return
	}
	for i := range n {
		task(i, 0)
	}
}

// inRuns is InRuns for work of so many operations in all.
func (ws *Workspace) inRuns(n, operations int, do func(from, to int)) {
	ws.run((n+rowsPerTask-1)/rowsPerTask, operations, func(i, _ int) {
		do(i*rowsPerTask, min(n, (i+1)*rowsPerTask))
	})
}

// InRuns calls do for runs of rows [from, to) of n on the workspace's threads. The bounds do not
// depend on the number of threads.
func (ws *Workspace) InRuns(n int, do func(from, to int)) {
	ws.inRuns(n, leastOperations, do)
}

// Each calls do for every i below n, on the workspace's threads; calls for different i may run at once and
// must write to different memory.
func (ws *Workspace) Each(n int, do func(i int)) {
	ws.InRuns(n, func(from, to int) {
		for i := from; i < to; i++ {
			do(i)
		}
	})
}
