package selection

import (
	"cmp"
	"math"
	"slices"
)

// leastPurity is the least absolute correlation of two features in one set.
const leastPurity = 0.5

// Draws are draws of which features are in the model.
type Draws struct {
	Count int
	In    func(draw, feature int) bool
}

// CredibleSets returns disjoint sets of features of which, with at least the given probability, one is
// in. correlation is that of two features, both named by their places in inclusion. A set begins with
// the feature of highest inclusion that no set has, and takes in those correlated with all of its
// members, each time the one that most lowers the share of draws in which none is in. It is kept where
// the share of the others comes below 1 − coverage. Features in fewer than a hundredth of draws begin
// no set.
func CredibleSets(inclusion []float64, draws Draws, coverage float64, correlation func(a, b int) float64) (sets [][]int, covered, purity []float64) {
	order := make([]int, len(inclusion))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(inclusion[b], inclusion[a]) })
	taken := make([]bool, len(inclusion))
	mostLeft := (1 - coverage + 1e-12) * float64(draws.Count) // 1 − 0.9 of 400 would be less than 40
	for _, first := range order {
		if taken[first] || inclusion[first] < 0.01 {
			continue
		}
		set, none := []int{first}, make([]bool, draws.Count)
		left, pure := 0, 1.0
		for s := range none {
			if none[s] = !draws.In(s, first); none[s] {
				left++
			}
		}
		for float64(left) > mostLeft {
			best, gain, least := -1, 0, 0.0
			for _, j := range order {
				if taken[j] || slices.Contains(set, j) {
					continue
				}
				lowest := 1.0
				for _, k := range set {
					lowest = math.Min(lowest, math.Abs(correlation(j, k)))
				}
				if !(lowest >= leastPurity) {
					continue
				}
				count := 0
				for s, missing := range none {
					if missing && draws.In(s, j) {
						count++
					}
				}
				if count > gain {
					best, gain, least = j, count, lowest
				}
			}
			if best < 0 {
				break
			}
			set, pure = append(set, best), math.Min(pure, least)
			for s, missing := range none {
				if missing && draws.In(s, best) {
					none[s], left = false, left-1
				}
			}
		}
		if float64(left) > mostLeft {
			continue
		}
		for _, j := range set {
			taken[j] = true
		}
		sets, covered, purity = append(sets, set), append(covered, 1-float64(left)/float64(draws.Count)), append(purity, pure)
	}
	return sets, covered, purity
}

// LogBayesFactor is by what draws of which share have a member of a set of features in multiply its prior
// odds, 1 − Π(1−π_j) to Π(1−π_j) for the prior inclusions π_j of the features.
func LogBayesFactor(share float64, draws int, inclusion []float64) float64 {
	none := 0.0 // log Π(1−π_j)
	for _, pi := range inclusion {
		none += math.Log1p(-pi)
	}
	in := share * float64(draws)
	return math.Log((in+0.5)/(float64(draws)-in+0.5)) - (math.Log(-math.Expm1(none)) - none)
}
