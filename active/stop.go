package active

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Stop is advice to stop asking for labels.
type Stop struct {
	Labels int    `json:"labels"` // 0: more are worth asking for
	Reason string `json:"reason"`
}

// advisor follows the models of a run over the rows of a pool, and says when most of what all labels would gain
// is gained. It needs no labels but those asked for, and no probabilities, which rows that were not chosen by chance
// have put out.
//
// Near its end the boundary of a model of n labels is off by a random distance of variance c/n, which later labels
// take away step by step, so that two models of m < n labels are apart by c(1/m − 1/n). The share of rows that change
// class follows the distance, and excess errors its square. With d(m) the share that changed since m labels,
//
//	left / gained = d(m)²/(1/m − 1/n)/n / d(first)² = (d(m)/d(first))² m/(n − m),   m = ¾n.
//
// The advice comes when that is leftOver for so long that the labels grew by steadyGrowth. Where classes go on
// changing at one rate, it stays at 3/16 or above, and there is no advice.
type advisor struct {
	stop   Stop
	judged []judgement
	since  int // labels from which on little was left; 0 where more is
}

// judgement is the classes that the model of so many labels gives the pool.
type judgement struct {
	labels   int
	positive []bool
}

// The three were settled on recorded runs (docs/convex.md).
const (
	leftOver     = 0.18
	steadyGrowth = 1.1
	comparedAt   = 0.75
)

func newAdvisor() *advisor {
	return &advisor{stop: Stop{Reason: "the models still change: more labels are worth asking for"}}
}

// judge takes the mean of f in every row of the pool under the model of so many labels, and what rows by chance told.
func (a *advisor) judge(labels int, mean []float64, audit Audit) {
	if a.stop.Labels > 0 {
		return
	}
	positive := make([]bool, len(mean))
	for i, m := range mean {
		positive[i] = m > 0
	}
	now := judgement{labels, positive}
	a.judged = append(a.judged, now)
	before, last, all, left := a.left(now)
	if !(left <= leftOver) { // the first model is not apart from itself
		a.since = 0
		return
	}
	if a.since == 0 {
		a.since = labels
	}
	if float64(labels) < steadyGrowth*float64(a.since) {
		return
	}
	reason := fmt.Sprintf("the labels beyond %d changed the classes of %.2g %% of the rows and those beyond the first %d of %.2g %%: all those to come would gain about %.0f %% of what was gained",
		before.labels, 100*last, a.judged[0].labels, 100*all, 100*left)
	if audit.Rows > 0 {
		share := audit.Error / float64(audit.Rows)
		reason += fmt.Sprintf("; of %d random rows the models had %.1f ± %.1f %% wrong", audit.Rows, 100*share, 100*math.Sqrt(share*(1-share)/float64(audit.Rows)))
	}
	a.stop = Stop{labels, reason}
}

// left returns the model of three quarters of the labels, the share of rows that changed class since then and since the
// first model, and what is left to gain over what was gained.
func (a *advisor) left(now judgement) (before judgement, last, all, left float64) {
	before = a.judged[0]
	for _, j := range a.judged {
		if float64(j.labels) <= comparedAt*float64(now.labels) {
			before = j
		}
	}
	last, all = now.changed(before), now.changed(a.judged[0])
	return before, last, all, last * last / (all * all) * float64(before.labels) / float64(now.labels-before.labels)
}

// changed is the share of rows that two models put into different classes.
func (j judgement) changed(other judgement) float64 {
	count := 0
	for i, p := range j.positive {
		if p != other.positive[i] {
			count++
		}
	}
	return float64(count) / float64(len(j.positive))
}

// middle is the middle advice of several runs, where most of them stop; nil where there was none.
func middle(advices []Stop) *Stop {
	if len(advices) == 0 {
		return nil
	}
	sorted := slices.SortedStableFunc(slices.Values(advices), func(a, b Stop) int {
		if (a.Labels == 0) != (b.Labels == 0) {
			return cmp.Compare(b.Labels, a.Labels) // those that do not stop come last
		}
		return cmp.Compare(a.Labels, b.Labels)
	})
	return &sorted[len(sorted)/2]
}
