package gibbs

import (
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/checkpoint"
)

// A checkpoint holds the records of the chains that have ended: chains have random streams of their own, and
// do not know of each other.
type ended struct {
	Chains []int `json:"chains"` // their numbers, in the order in which they ended
	of     map[int]*stored
}

// stored is a chain that has ended: its record, and what its rows came to.
type stored struct {
	sums, inclusion, mean, square []float64
	states, active, y, noise      []float64
}

// stateNumbers is how many numbers a state has without those of kept blocks.
const stateNumbers = 6

func store(c *chain, r *record) *stored {
	s := &stored{sums: []float64{r.total}, inclusion: r.inclusion, mean: r.mean, square: r.square, y: c.y, noise: c.noise}
	for _, at := range r.states {
		s.states = append(s.states, at.weight, float64(at.from), float64(at.to), at.logNoise, at.logSlab, at.logDensity)
		s.states = append(s.states, at.logKept...)
	}
	for _, j := range r.active {
		s.active = append(s.active, float64(j))
	}
	return s
}

// record is the inverse of store; kept is the number of kept blocks.
func (s *stored) record(kept int) *record {
	r := &record{total: s.sums[0], inclusion: s.inclusion, mean: s.mean, square: s.square}
	for x := s.states; len(x) > 0; x = x[stateNumbers+kept:] {
		at := state{weight: x[0], from: int(x[1]), to: int(x[2]), logNoise: x[3], logSlab: x[4], logDensity: x[5]}
		if kept > 0 {
			at.logKept = x[stateNumbers : stateNumbers+kept]
		}
		r.states = append(r.states, at)
	}
	for _, j := range s.active {
		r.active = append(r.active, int32(j))
	}
	return r
}

// fits says whether the numbers are those of a chain of so many rows, columns and kept blocks.
func (s *stored) fits(rows, columns, kept int) bool {
	if len(s.sums) != 1 || len(s.y) != rows || len(s.noise) != rows || len(s.inclusion) != columns ||
		len(s.mean) != columns || len(s.square) != columns || len(s.states)%(stateNumbers+kept) != 0 {
		return false
	}
	for x := s.states; len(x) > 0; x = x[stateNumbers+kept:] {
		if from, to := x[1], x[2]; !(from >= 0 && from <= to && to <= float64(len(s.active))) {
			return false
		}
	}
	return !slices.ContainsFunc(s.active, func(j float64) bool { return !(j >= 0 && j < float64(columns)) })
}

// vectors are all that is not in the JSON.
func (e *ended) vectors() checkpoint.Vectors {
	list := checkpoint.Vectors{}
	for k, s := range e.of {
		for name, of := range map[string]*[]float64{
			"sums": &s.sums, "inclusion": &s.inclusion, "mean": &s.mean, "square": &s.square,
			"states": &s.states, "active": &s.active, "y": &s.y, "noise": &s.noise,
		} {
			list[fmt.Sprint("chain.", k, ".", name)] = of
		}
	}
	return list
}

func (f *fit) checkpoint() checkpoint.File {
	return f.Table.Checkpoint(f.config.Checkpoint, "gibbs", 1, f.model, []any{f.config, f.config.Start})
}

// save adds a chain to the checkpoint, if there is to be one.
func (f *fit) save(k int, c *chain, r *record) error {
	if f.config.Checkpoint == "" {
		return nil
	}
	f.saving.Lock()
	defer f.saving.Unlock()
	f.ended.Chains = append(f.ended.Chains, k)
	f.ended.of[k] = store(c, r)
	return f.checkpoint().Save(&f.ended, f.ended.vectors())
}

// resume takes the chains of the checkpoint, if there is one.
func (f *fit) resume() error {
	f.ended.of = map[int]*stored{}
	found, err := f.checkpoint().Resume(&f.ended, func() checkpoint.Vectors {
		for _, k := range f.ended.Chains {
			f.ended.of[k] = &stored{}
		}
		return f.ended.vectors()
	})
	if err != nil || !found {
		return err
	}
	for k, s := range f.ended.of {
		if k < 0 || k >= len(f.chains) || !s.fits(f.Rows, f.Table.Count(), len(f.KeptBlocks)) {
			return fmt.Errorf("gibbs: checkpoint %s has chains of another fit: name another file, or remove this one to begin anew", f.config.Checkpoint)
		}
		c := newChain(f.Table, f.Setting, credence.NewWorkspace(1), nil)
		copy(c.y, s.y)
		copy(c.noise, s.noise)
		f.chains[k], f.records[k] = c, s.record(len(f.KeptBlocks))
	}
	return nil
}
