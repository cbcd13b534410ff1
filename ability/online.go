package ability

import (
	"math"
	"slices"

	"github.com/credence-ml/credence"
)

// Pruner is the ability of an online engine to drop features.
type Pruner interface {
	credence.Online
	// PruneEvery is the number of rows between prunings; 0 means never.
	PruneEvery() int64
	// Prune returns the slots that stay, ascending, or nil if all do. Those that stay get the
	// numbers of their places in the list, and the owner of the slots has to follow.
	Prune() []int32
}

// Continuer is the ability of an online engine to take what it knows for the prior of other rows.
type Continuer interface {
	credence.Online
	// Continue says that the next rows are none of those learned, of any pass, whose evidence counts share
	// of what it did from now on, 0 < share ≤ 1.
	Continue(share float64)
}

// Uniter is the ability of an online engine to be brought together with learners of other rows that began as it did.
type Uniter interface {
	credence.Online
	// Unites says why learners with these options cannot be brought together, nil where they can.
	Unites() error
	// Leave ends learning before the learner is brought together with others. The first rows, where the engine keeps
	// some, stay where asked for.
	Leave(rows bool)
	// Unite adds the evidence of another learner, whose slot i is slots[i] here, so that the prior counts once.
	Unite(other credence.Online, slots []int32) error
	// United ends it: what is learned of the prior is learned from all evidence.
	United()
}

// Bounded says whether all numbers are at most 10¹⁰⁰ in size: a state of such numbers stays finite
// under ordinary rows.
func Bounded(numbers ...float64) bool {
	return !slices.ContainsFunc(numbers, func(v float64) bool { return !(math.Abs(v) <= 1e100) })
}
