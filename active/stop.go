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

// advisor follows the models of a run over the rows of a pool, and says when four fifths of what all labels
// would gain are gained. It needs no labels but those asked for.
//
// By its own probabilities p the present model of n labels makes fewer errors than an earlier one of m,
//
//	gain(m) = mean |2p − 1| over the rows that the two put into different classes,
//
// and had E gain(m) = error(m) − error(n) where p is right: the beliefs of a model are a martingale. What the
// labels to come would gain is extrapolated: an excess error that falls as 1/n has as much left after n labels
// as the second half of these gained, gain(n/2). The advice comes when that is leftOver of gain(first) for so
// long that the labels grew by steadyGrowth.
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

// A remainder of a quarter of what was gained leaves four fifths gained.
const (
	leftOver     = 0.25
	steadyGrowth = 1.1
)

func newAdvisor() *advisor {
	return &advisor{stop: Stop{Reason: "the models still change: more labels are worth asking for"}}
}

// judge takes P(y=1) of every row of the pool under the model of so many labels, and what rows by chance told.
func (a *advisor) judge(labels int, probability []float64, audit Audit) {
	if a.stop.Labels > 0 {
		return
	}
	positive := make([]bool, len(probability))
	for i, p := range probability {
		positive[i] = p > 0.5
	}
	a.judged = append(a.judged, judgement{labels, positive})
	half := 0
	for k, j := range a.judged {
		if 2*j.labels <= labels {
			half = k
		}
	}
	all, left := a.judged[0].gain(probability), a.judged[half].gain(probability)
	if half == 0 || !(left <= leftOver*all) || all == 0 {
		a.since = 0
		return
	}
	if a.since == 0 {
		a.since = labels
	}
	if float64(labels) < steadyGrowth*float64(a.since) {
		return
	}
	reason := fmt.Sprintf("labels beyond %d lowered the error by about %.2g points and those beyond the first %d by %.2g: as many again would gain little more",
		a.judged[half].labels, 100*left, a.judged[0].labels, 100*all)
	if audit.Rows > 0 {
		share := audit.Error / float64(audit.Rows)
		reason += fmt.Sprintf("; of %d random rows the models had %.1f ± %.1f %% wrong", audit.Rows, 100*share, 100*math.Sqrt(share*(1-share)/float64(audit.Rows)))
	}
	a.stop = Stop{labels, reason}
}

// gain is by how much fewer errors a model of these probabilities expects to make than the classes judged.
func (j judgement) gain(probability []float64) float64 {
	sum := 0.0
	for i, p := range probability {
		if (p > 0.5) != j.positive[i] {
			sum += math.Abs(2*p - 1)
		}
	}
	return sum / float64(len(probability))
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
