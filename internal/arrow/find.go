package arrow

import (
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/linop"
)

// leastNested is the number of weights from which on a key that the head is nested in is eliminated too: the leaf's
// products are fast.
const leastNested = 64

// Weights returns how many weights the levels of the largest key have in sparse columns, and how many those of all
// keys.
func Weights(features credence.Features) (largest, all int) {
	for _, group := range keys(features, false) {
		all += weightsOf(group)
		largest = max(largest, weightsOf(group))
	}
	return largest, all
}

// Beside returns how many weights neither of the two largest keys has in sparse columns, or -1 with fewer than two
// keys.
func Beside(features credence.Features) int {
	list := keys(features, false)
	if len(list) < 2 {
		return -1
	}
	return features.Weights() - weightsOf(list[0]) - weightsOf(list[1])
}

// Head returns the runs of the key with the most weights, of several the first, in dense columns, too; nil without one.
func Head(features credence.Features) []ability.LevelRun {
	list := keys(features, true)
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func weightsOf(runs []ability.LevelRun) (count int) {
	for _, r := range runs {
		count += r.Levels * r.Columns
	}
	return count
}

// keys are the runs in sparse columns, or in all, by their keys, that with the most weights first.
func keys(features credence.Features, dense bool) (list [][]ability.LevelRun) {
	keyed, ok := features.(ability.Keyed)
	if !ok {
		return nil
	}
	for _, r := range keyed.LevelRuns() {
		if !dense && r.First < keyed.DenseWeights() || r.Levels < 1 {
			continue
		}
		k := slices.IndexFunc(list, func(of []ability.LevelRun) bool { return of[0].Key == r.Key && of[0].Levels == r.Levels })
		if k < 0 {
			k, list = len(list), append(list, nil)
		}
		list[k] = append(list[k], r)
	}
	slices.SortStableFunc(list, func(a, b []ability.LevelRun) int { return weightsOf(b) - weightsOf(a) })
	return list
}

// Finder finds the pattern that rows have.
type Finder struct {
	weights, dense int
	heads          [][]ability.LevelRun // the outermost, then the keys that may be further ones, largest first
	level          []int32              // of every sparse column in the outermost head, -1 for others
	last           []int32              // the last column of the level that a sparse column is of, in its run
	pairs          []uint64             // a level of the outermost head and a sparse column
	apart          []uint64             // two sparse columns of a row without such a level
	settled        int                  // pairs that are sorted and stand once
}

// NewFinder begins with features of which some weights are those of levels. The key with most of them is the outermost
// head, of several the first.
func NewFinder(features credence.Features) *Finder {
	f := &Finder{weights: features.Weights(), dense: features.(ability.Keyed).DenseWeights(), heads: keys(features, false)}
	for len(f.heads) > 1 && weightsOf(f.heads[len(f.heads)-1]) < leastNested {
		f.heads = f.heads[:len(f.heads)-1]
	}
	f.level, f.last = f.levels(f.heads[0]), make([]int32, f.weights-f.dense)
	for j := range f.last {
		f.last[j] = int32(j)
	}
	for _, r := range features.(ability.Keyed).LevelRuns() {
		for j := 0; j < r.Levels*r.Columns && r.First >= f.dense; j++ {
			f.last[r.First-f.dense+j] = int32(r.First - f.dense + j/r.Columns*r.Columns + r.Columns - 1)
		}
	}
	return f
}

// levels are those that a key has at every sparse column, -1 where it has none.
func (f *Finder) levels(runs []ability.LevelRun) []int32 {
	list := slices.Repeat([]int32{-1}, f.weights-f.dense)
	for _, r := range runs {
		for j := range r.Levels * r.Columns {
			list[r.First-f.dense+j] = int32(j / r.Columns)
		}
	}
	return list
}

// Known says that the pattern needs no rows: all sparse columns are the outermost head's.
func (f *Finder) Known() bool { return weightsOf(f.heads[0]) == f.weights-f.dense }

// Add looks at rows. A row that has a column of a level has all columns of it, if only as 0.
func (f *Finder) Add(phi *credence.Design) {
	var all []int32
	for i := range phi.Dense.Rows {
		columns, _ := phi.Sparse.Row(i)
		level := int32(-1)
		all = all[:0]
		for _, c := range columns {
			level = max(level, f.level[c])
			first := c
			for first > 0 && f.last[first-1] == f.last[c] {
				first--
			}
			if n := len(all); n > 0 && all[n-1] >= first {
				continue
			}
			for ; first <= f.last[c]; first++ {
				all = append(all, first)
			}
		}
		for k, c := range all {
			switch {
			case level >= 0 && f.level[c] < 0:
				f.pairs = append(f.pairs, uint64(level)<<32|uint64(c))
			case level < 0:
				for _, other := range all[:k] {
					f.apart = append(f.apart, uint64(c)<<32|uint64(other), uint64(other)<<32|uint64(c))
				}
			}
		}
	}
	if len(f.pairs) > max(1<<20, 2*f.settled) {
		f.pairs = once(f.pairs)
		f.settled = len(f.pairs)
	}
}

// once sorts pairs and leaves every one once.
func once(pairs []uint64) []uint64 {
	slices.Sort(pairs)
	return slices.Compact(pairs)
}

// Pattern returns that of the rows so far.
func (f *Finder) Pattern() (*Pattern, error) {
	f.pairs = once(f.pairs)
	heads, pairs := f.heads[:1:1], [][]uint64{f.pairs}
	used := slices.Clone(f.level) // ≥ 0 for columns of heads
	for _, runs := range f.heads[1:] {
		levels := f.levels(runs)
		next, nested := f.nest(pairs[len(pairs)-1], levels, used)
		if !nested {
			continue
		}
		heads, pairs = append(heads, runs), append(pairs, next)
		for j, l := range levels {
			used[j] = max(used[j], l)
		}
	}
	return f.pattern(heads, pairs)
}

// pattern returns that of heads, of whose levels the pairs are with columns.
func (f *Finder) pattern(heads [][]ability.LevelRun, pairs [][]uint64) (*Pattern, error) {
	places, err := New(f.weights, f.dense, heads, f.cells(heads, make([][]uint64, len(heads)), nil))
	if err != nil {
		return nil, err
	}
	return New(f.weights, f.dense, heads, f.cells(heads, pairs, places))
}

// Crossed returns that of the rows so far whose heads are the two largest keys, whatever rows have of both: it has no
// factor, and is for [Crossed]. Every level of the second meets all sparse columns of the leaf.
func (f *Finder) Crossed() (*Pattern, error) {
	heads, used := f.heads[:2:2], f.levels(f.heads[1])
	var leaf []uint64
	for c, l := range used {
		if l < 0 && f.level[c] < 0 {
			leaf = append(leaf, uint64(c))
		}
	}
	f.pairs = once(f.pairs)
	pairs := [][]uint64{f.pairs, nil}
	for l := range uint64(heads[1][0].Levels) {
		for _, c := range leaf {
			pairs[1] = append(pairs[1], l<<32|c)
		}
	}
	return f.pattern(heads, pairs)
}

// nest returns the pairs of a key's levels with columns when the levels of a head, whose pairs are given, have been
// eliminated, or false where a level of the head meets two of the key.
func (f *Finder) nest(pairs []uint64, levels, used []int32) (next []uint64, nested bool) {
	for from := 0; from < len(pairs); {
		to, level := from, int32(-1)
		for ; to < len(pairs) && pairs[to]>>32 == pairs[from]>>32; to++ {
			if l := levels[uint32(pairs[to])]; l >= 0 && level >= 0 && l != level {
				return nil, false
			} else if l >= 0 {
				level = l
			}
		}
		for _, pair := range pairs[from:to] {
			if c := uint32(pair); level >= 0 && levels[c] < 0 {
				next = append(next, uint64(level)<<32|uint64(c))
			}
		}
		from = to
	}
	for _, pair := range f.apart {
		if a, c := pair>>32, uint32(pair); levels[a] >= 0 && levels[c] < 0 && used[c] < 0 {
			next = append(next, uint64(levels[a])<<32|uint64(c))
		}
	}
	return once(next), true
}

// cells are those of all heads by the places of a pattern; none without.
func (f *Finder) cells(heads [][]ability.LevelRun, pairs [][]uint64, places *Pattern) linop.CSR {
	out := linop.CSR{Cols: f.weights, Start: []int{0}}
	for t, runs := range heads {
		k := 0
		for g := range runs[0].Levels {
			from := len(out.Index)
			for ; k < len(pairs[t]) && int(pairs[t][k]>>32) == g; k++ {
				out.Index = append(out.Index, places.place[f.dense+int(uint32(pairs[t][k]))])
			}
			slices.Sort(out.Index[from:])
			out.Start = append(out.Start, len(out.Index))
		}
		out.Rows += runs[0].Levels
	}
	return out
}
