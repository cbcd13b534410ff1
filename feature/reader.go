package feature

import (
	"fmt"
	"sync"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// farthest bounds scaled inputs and frequencies, so that products and sums of
// squares of them stay finite. No float64 sine is meaningful out there.
const farthest = 1e100

func limit(x float64) float64 { return max(-farthest, min(x, farthest)) }

// reader reads the d inputs of a term on several inputs, divided by their
// lengthscales: dense inputs first, then the chosen columns of the sparse segment.
type reader struct {
	d       int
	dense   []int
	inverse []float64 // 1/ℓ of each of the d inputs
	names   []string  // of the dense inputs
	segment segment
}

// newReader binds a term's inputs, which must be numbers.
func newReader(label string, in *Inputs, dense []int, useSegment bool, without []int32) (reader, error) {
	r := reader{dense: append([]int(nil), dense...)}
	for _, index := range dense {
		input, err := inputAt(in, label, index)
		if err != nil {
			return r, err
		}
		if input.Kind == credence.Category {
			return r, fmt.Errorf("feature: %s: %s is a category: leave it out or use onehot(%s)", label, input.Name, input.Name)
		}
		r.names = append(r.names, input.Name)
	}
	var err error
	if r.segment, err = newSegment(label, in, useSegment, without); err != nil {
		return r, err
	}
	r.d = len(dense) + r.segment.columns
	if r.d == 0 {
		return r, fmt.Errorf("feature: %s has no inputs: name a column", label)
	}
	return r, nil
}

// scaleBy sets the lengthscales.
func (r *reader) scaleBy(l *Lengthscale) {
	r.inverse = make([]float64, r.d)
	for j := range r.inverse {
		r.inverse[j] = limit(1 / l.of(j))
	}
}

// name returns the name of input j.
func (r *reader) name(j int) string {
	if j < len(r.dense) {
		return r.names[j]
	}
	return r.segment.name(j - len(r.dense))
}

// read stores x/ℓ of rows [first, first+count) in dst, count×d.
func (r *reader) read(dst []float64, rows *credence.Batch, first, count int) {
	p := len(r.dense)
	for i := range count {
		row := dst[i*r.d : (i+1)*r.d]
		if p > 0 {
			x := rows.X.Row(first + i)
			for j, index := range r.dense {
				row[j] = limit(x[index] * r.inverse[j])
			}
		}
		if r.segment.columns == 0 {
			continue
		}
		clear(row[p:])
		for c, v := range rows.Sparse.Each(first + i) {
			if j := int(r.segment.place(int32(c))); j >= 0 {
				row[p+j] = limit(v * r.inverse[p+j])
			}
		}
	}
}

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
