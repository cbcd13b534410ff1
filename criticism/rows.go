package criticism

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/order"
)

const (
	// fewestValues is the number of values that make a monotone function of the target no chance, of a
	// column that has fewer of them than the target.
	fewestValues = 10
	// exactShare is the share of the target's variance below which what columns leave is rounding.
	exactShare = 1e-10
	// unorderedCheck is the check of a finding that no check of the order was made.
	unorderedCheck = "unordered"
	// sortedShare is the share of the ascents of a random order below which a target is sorted.
	sortedShare = 0.05
	// largestResidual is what residuals count at most where products of them are added up.
	largestResidual = 4
	// leastCopied is the share of pairs of rows with equal inputs, beyond chance, whose targets are equal too.
	leastCopied = 0.5
)

// relation is how the values of b stand to those of a.
type relation struct {
	function bool // equal values of a have equal ones of b
	up, down bool // b never falls, or never rises, where a rises
	values   int  // of a
	steps    int  // changes of b, in the order of a
}

// relate goes over the rows in the order of a, as far as b is a function of a, or goes up or down with it.
func relate(a, b []float64, order []int) relation {
	r := relation{function: true, up: true, down: true}
	low, high := math.Inf(1), math.Inf(-1) // of b, of smaller a
	lowest, highest := low, high           // of a that are no larger
	for k, i := range order {
		v := b[i]
		switch {
		case k == 0 || a[i] != a[order[k-1]]:
			r.values++
			low, high = lowest, highest
		case v != b[order[k-1]]:
			r.function = false
		}
		if k > 0 && v != b[order[k-1]] {
			r.steps++
		}
		r.up, r.down = r.up && v >= high, r.down && v <= low
		if !r.function && !r.up && !r.down {
			return r
		}
		lowest, highest = min(lowest, v), max(highest, v)
	}
	return r
}

// distinct is the number of values, NaN aside.
func distinct(values []float64) int {
	different, _ := tally(values)
	return different
}

// tally returns the number of values, NaN aside, and in how many places the commonest of them stands.
func tally(values []float64) (different, commonest int) {
	counts := map[float64]int{}
	for _, v := range values {
		if v == v {
			counts[v]++
			commonest = max(commonest, counts[v])
		}
	}
	return len(counts), commonest
}

// leak looks for a column that is the target, or a function of it that rises or falls with it to rounding: no two
// rows are in another order. Of two classes it has two values, each of which goes with a class: a number
// that happens to part them is not the target, and neither is a column that is 0 in nearly every row.
func (s *sample) leak() *Finding {
	y := pick(s.target, s.compared)
	if len(y) < fewestRows {
		return nil
	}
	order := ascending(floatBits(y))
	values, commonest := tally(y)
	if values < 2 {
		return nil
	}
	var names []string
	for j := range s.inputs {
		in := &s.inputs[j]
		if in.category && !s.kind.classes {
			continue
		}
		if in.category {
			if r := relate(in.values, y, ascending(floatBits(in.values))); r.function && r.values == values {
				names = append(names, in.name)
			}
		} else if r := relate(y, in.values, order); r.up || r.down {
			n, often := tally(in.values)
			if n == values && r.function || values > 2 && n >= min(values, fewestValues) && often <= max(len(y)/2, commonest) {
				names = append(names, in.name)
			}
		}
	}
	f := &Finding{Check: "target", Tone: Fault, Statistic: 1}
	switch {
	case len(names) > 0:
		is, it := "is", "it"
		if len(names) > 1 {
			is, it = "are", "them"
		}
		f.Text = fmt.Sprintf("%s %s the target in other words: of %d rows no two are in another order, so that nothing else is learned", namesOf(names), is, len(y))
		f.Remedy = "leave " + it + " out,"
		for _, name := range names[:min(3, len(names))] {
			f.Remedy += " - " + s.term(name)
		}
	case s.kind.gaussian && s.left() < exactShare && s.leverage() < 0.5:
		f.Text = "the columns together are the target to rounding: it is computed from them"
		f.Remedy = "leave out what is not known before the target is"
	default:
		return nil
	}
	return f
}

// left is the sum of squares about f over that about the mean of the targets.
func (s *sample) left() float64 {
	mean, left, total := 0.0, 0.0, 0.0
	for _, y := range s.target {
		mean += y / float64(len(s.target))
	}
	for i, y := range s.target {
		left += (y - s.mean[i]) * (y - s.mean[i])
		total += (y - mean) * (y - mean)
	}
	return left / max(total, math.SmallestNonzeroFloat64)
}

// leverage is that of the rows in the mean: what the model can bend by, for each of them.
func (s *sample) leverage() (mean float64) {
	for i, v := range s.variance {
		mean += v * s.information[i] / float64(len(s.variance))
	}
	return mean
}

// copied is what rows repeat.
type copied struct {
	later                     []int // rows that are as an earlier one in everything
	alike, equal, expected, p float64
}

// copies counts the pairs of rows with equal inputs whose targets are equal, too, beside what is expected: with
// equal inputs alone, targets would be equal as often as two draws of the model are, or as those of other rows.
func (s *sample) copies() copied {
	var c copied
	var often func(i int) float64
	var under moment3
	places := ascending(s.hash)
	for from, to := range order.Runs(len(places), func(first, other int) bool { return s.hash[places[other]] == s.hash[places[first]] }) {
		rows := places[from:to]
		if len(rows) < 2 {
			continue
		}
		if often == nil {
			often = s.coincidence()
		}
		counts := map[float64]float64{}
		q, m := 0.0, float64(len(rows))
		for _, i := range rows {
			if counts[s.target[i]] > 0 {
				c.later = append(c.later, i)
			}
			c.equal += counts[s.target[i]]
			counts[s.target[i]]++
			q = max(q, often(i))
		}
		pairs := m * (m - 1) / 2
		c.alike += pairs
		under.mean += pairs * q
		// Pairs that share a row go together: three draws are equal with a probability of q^1.5 at most.
		under.variance += pairs * (q*(1-q) + 2*(m-2)*(math.Pow(q, 1.5)-q*q))
	}
	under.third = 2 * under.variance * under.variance / max(under.mean, math.SmallestNonzeroFloat64)
	c.expected, c.p = under.mean, under.above(c.equal-0.5)
	slices.Sort(c.later)
	return c
}

// equalPairs is the share of the pairs of rows whose targets are equal.
func (s *sample) equalPairs() (share float64) {
	n := float64(len(s.target))
	counts := map[float64]float64{}
	for _, y := range s.target { // with those before it
		share += 2 * counts[y] / (n * (n - 1))
		counts[y]++
	}
	return share
}

// coincidence returns how often the targets of two rows are equal that have the inputs of row i.
func (s *sample) coincidence() func(i int) float64 {
	marginal := s.equalPairs()
	if !s.family[0].Discrete() {
		if s.kind.gaussian { // values are rounded, and the narrower they lie the more of them are equal
			marginal *= max(1, 1/math.Sqrt(max(s.left(), math.SmallestNonzeroFloat64)))
		}
		return func(int) float64 { return min(1, marginal) }
	}
	return func(i int) float64 {
		const draws = 20
		rng := credence.Rand(s.options.Seed, credence.CriticismDraws, uint64(s.place[i]))
		sum := 0.0
		for range draws {
			sum += math.Exp(s.family[i].LogDensity(s.family[i].Sample(rng, s.mean[i]), s.mean[i]))
		}
		return max(marginal, min(1, sum/draws))
	}
}

// repeats tells of rows that stand in the data several times.
func (s *sample) repeats() *Finding {
	c, n := s.copied, len(s.target)
	if float64(len(c.later)) < toldShare*float64(n) || len(c.later) == 0 || c.equal-c.expected < leastCopied*(c.alike-c.expected) {
		return nil
	}
	return &Finding{
		Statistic: c.equal, Expected: c.expected, P: c.p, Remedy: "keep one of each",
		Text: fmt.Sprintf("%d of %d rows repeat another one in all columns and the target, and each counts as evidence of its own, so that intervals are too narrow",
			len(c.later), n),
	}
}
