package feature

import (
	"sync"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// taskRows is the number of rows that one worker takes at a time.
const taskRows = 32

// job is the work on one block of rows in tasks of taskRows rows. Its closures are made once,
// because a closure made for each call would be allocated for each call.
type job struct {
	rows, stride          int
	x, phi, dPhi, z, sums []float64
	scratch               []float64 // equal parts for all workers
	forward, backward     func(task, worker int)
}

// block sets the job to the rows of phi from first on.
func (j *job) block(phi linop.Dense, first int) {
	j.rows, j.stride, j.phi = min(credence.BlockRows, phi.Rows-first), phi.Stride, phi.Data[first*phi.Stride:]
}

// tasks is the number of tasks.
func (j *job) tasks() int { return (j.rows + taskRows - 1) / taskRows }

// jobs keeps the jobs of a map that no call is using. Jobs own closures and are
// made once for each call at the same time; unlike a sync.Pool the list never
// drops one, so that a warm map allocates nothing.
type jobs struct {
	mutex sync.Mutex
	free  []*job
}

// take returns a free job, or where every one is in use a new one with the closures of fresh.
func (l *jobs) take(fresh func(*job)) *job {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if last := len(l.free) - 1; last >= 0 {
		j := l.free[last]
		l.free = l.free[:last]
		return j
	}
	j := &job{}
	fresh(j)
	return j
}

// give takes a job back, without the memory of its call.
func (l *jobs) give(j *job) {
	j.x, j.phi, j.dPhi, j.z, j.sums, j.scratch = nil, nil, nil, nil, nil, nil
	l.mutex.Lock()
	l.free = append(l.free, j)
	l.mutex.Unlock()
}
