package active

import (
	"cmp"
	"fmt"
	"slices"
)

// Stop is advice to stop asking for labels.
type Stop struct {
	Labels int    `json:"labels"` // 0: more are worth asking for
	Reason string `json:"reason"`
}

// The advice is to stop when, twice in a row, the model classes the pool as the one before it did
// (Cohen's kappa), and what the labels since then told is a small share of what all of them did.
const (
	steadyKappa = 0.97
	smallShare  = 0.05
	steadyTimes = 2
)

// advisor follows a run.
type advisor struct {
	stop            Stop
	gained, earlier float64 // nats, by the predicted information of every pick; at the last judgement
	classes         []bool  // of the pool, at the last judgement
	steady          int
}

func newAdvisor() *advisor {
	return &advisor{stop: Stop{Reason: "the models still change: more labels are worth asking for"}}
}

// gain adds the information that a label was predicted to give.
func (a *advisor) gain(mean, variance float64) {
	if a != nil && variance > 0 {
		a.gained += informationTable().at(mean, variance)
	}
}

// judge compares the model of so many labels with the one judged before it.
func (a *advisor) judge(labels int, mean []float64) {
	if a == nil || a.stop.Labels > 0 {
		return
	}
	classes := make([]bool, len(mean))
	for i, m := range mean {
		classes[i] = m > 0
	}
	before, earlier := a.classes, a.earlier
	a.classes, a.earlier = classes, a.gained
	if before == nil {
		return
	}
	agreement, share := kappa(before, classes), (a.gained-earlier)/a.gained
	if !(agreement >= steadyKappa && share <= smallShare) {
		a.steady = 0
		return
	}
	if a.steady++; a.steady == steadyTimes {
		a.stop = Stop{labels, fmt.Sprintf("the last labels added %.1f %% of the information of all, and the models agree (kappa %.3f)", 100*share, agreement)}
	}
}

// kappa is the agreement of two classifications beyond chance (Cohen 1960), 1 where both put all rows
// in the same class.
func kappa(a, b []bool) float64 {
	same, onesA, onesB, n := 0.0, 0.0, 0.0, float64(len(a))
	for i := range a {
		if a[i] == b[i] {
			same++
		}
		if a[i] {
			onesA++
		}
		if b[i] {
			onesB++
		}
	}
	chance := (onesA*onesB + (n-onesA)*(n-onesB)) / (n * n)
	if chance == 1 {
		return 1
	}
	return (same/n - chance) / (1 - chance)
}

// middle is the middle advice of several runs, where most of them stop; nil where there was none.
func middle(advices []Stop) *Stop {
	if len(advices) == 0 {
		return nil
	}
	slices.SortStableFunc(advices, func(a, b Stop) int {
		if (a.Labels == 0) != (b.Labels == 0) {
			return cmp.Compare(b.Labels, a.Labels) // those that do not stop come last
		}
		return cmp.Compare(a.Labels, b.Labels)
	})
	return &advices[len(advices)/2]
}
