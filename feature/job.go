package feature

import "sync"

// jobs keeps the jobs of a map that no call is using. Jobs own closures and are
// made once for each call at the same time; unlike a sync.Pool the list never
// drops one, so that a warm map allocates nothing.
type jobs[T any] struct {
	mutex sync.Mutex
	free  []*T
}

// take returns a free job, or nil when every one is in use.
func (l *jobs[T]) take() *T {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	last := len(l.free) - 1
	if last < 0 {
		return nil
	}
	job := l.free[last]
	l.free = l.free[:last]
	return job
}

// give takes a job back.
func (l *jobs[T]) give(job *T) {
	l.mutex.Lock()
	l.free = append(l.free, job)
	l.mutex.Unlock()
}
