package criticism

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
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
	seen := map[float64]bool{}
	for _, v := range values {
		if v == v {
			seen[v] = true
		}
	}
	return len(seen)
}

// leak looks for a column that is the target, or a function of it that rises or falls with it to rounding: no two
// rows are in another order. Of two classes it has two values, each of which goes with a class: a number
// that happens to part them is not the target.
func (s *sample) leak() *Finding {
	y := pick(s.target, s.compared)
	if len(y) < fewestRows {
		return nil
	}
	order, values := ascending(floatBits(y)), distinct(y)
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
			if n := distinct(in.values); n == values || values > 2 && n >= min(values, fewestValues) {
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
	order := ascending(s.hash)
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && s.hash[order[to]] == s.hash[order[from]] {
			to++
		}
		rows := order[from:to]
		from = to
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

// inOrder says that the rows stand in the order of their targets, whatever the model.
func (s *sample) inOrder() bool {
	up, down := 0.0, 0.0
	for i, y := range s.target[1:] {
		if y > s.target[i] {
			up++
		} else if y < s.target[i] {
			down++
		}
	}
	all := float64(len(s.target)-1) / 2
	if min(up, down) > sortedShare*all {
		return false
	}
	expected := all * (1 - s.equalPairs())
	return expected > 10 && min(up, down) <= sortedShare*expected
}

// unordered says that the order of the rows was not looked at.
func (s *sample) unordered() *Finding {
	return &Finding{Check: unorderedCheck, Tone: Remark, P: 1,
		Text: "whether neighbouring rows go together is not known: the file is sorted by " + cmp.Or(s.name, "the target")}
}

// bounded returns the residuals of the rows used, large ones cut off, standardised.
func (s *sample) bounded() []float64 {
	e := pick(s.residual, s.used)
	for i, v := range e {
		e[i] = max(-largestResidual, min(largestResidual, v))
	}
	standardise(e)
	return e
}

// order looks for residuals that go with those of the rows before them, or that drift over the file.
func (s *sample) order() *Finding {
	e, place := s.bounded(), make([]float64, len(s.used))
	var before, after []float64
	for k, i := range s.used {
		place[k] = float64(s.place[i])
		if k > 0 && s.place[i] == s.place[s.used[k-1]]+1 {
			before, after = append(before, e[k-1]), append(after, e[k])
		}
	}
	standardise(place)
	lag, z := slope(before, after)
	drift, along := slope(place, e)
	near, far := min(1, 2*special.NormalCDF(-z)), min(1, 4*special.NormalCDF(-math.Abs(along))) // each of two
	f := &Finding{
		Statistic: lag, P: near, Remedy: "add a function of what says when or where they were taken, such as hsgp(time)",
		Text: fmt.Sprintf("neighbouring rows go together (the residuals of one and the next correlate by %.2g), so that intervals are too narrow", lag),
	}
	if far < near {
		f.Statistic, f.P = drift, far
		f.Text = fmt.Sprintf("the residuals drift from the first row to the last (correlation %.2g), so that rows to come will be farther off", drift)
	}
	if s.time != "" {
		f.Remedy = fmt.Sprintf("add hsgp(%s) to the formula, by which the file is sorted", s.term(s.time))
	}
	explains := f.Statistic * f.Statistic
	if f.explains = &explains; explains < s.error()*s.error() {
		return nil
	}
	return f
}

// ascends says that values never fall, and rise often enough to say where a row stands.
func ascends(values []float64) bool {
	rises := 0
	for i, v := range values[min(1, len(values)):] {
		if !(v >= values[i]) {
			return false
		}
		if v > values[i] {
			rises++
		}
	}
	return rises >= fewestValues
}

// groups looks for residuals that go together within groups of rows that a column beside the model shows, and no column
// of the model does: the sum of products of two of them, which is that of squares of sums less that of squares.
func (s *sample) groups() *Finding {
	e := s.bounded()
	skew := 0.0
	for _, v := range e {
		skew += v * v * v / float64(len(e))
	}
	var best *Finding
	for _, key := range s.keys {
		sums, counts := map[float64]float64{}, map[float64]float64{}
		products, pairs, third := 0.0, 0.0, 0.0
		for k, i := range s.used {
			g := key.values[i]
			products += 2 * sums[g] * e[k] // with those before it
			sums[g] += e[k]
			m := counts[g]
			pairs += 2 * m
			third += 24*m*(m-1) + 8*m*skew*skew // of 8 m(m−1)(m−2) and 4 m(m−1) skew², what the row adds
			counts[g]++
		}
		if pairs == 0 {
			continue
		}
		products += pairs / float64(len(e)-1) // residuals less their mean have products of −1/(n−1)
		p := min(1, moment3{variance: 2 * pairs, third: third}.above(products)*float64(len(s.keys)))
		shared := products / pairs
		if p > s.share || shared < s.error() || best != nil && best.Statistic >= shared || s.known(key) {
			continue
		}
		best = &Finding{
			Statistic: shared, P: p, explains: &shared, Remedy: "add " + s.effects(key, len(counts)) + " to the formula",
			Text: fmt.Sprintf("rows with the same %s go together (%.2g %% of the variance of the residuals is that of %d groups), so that intervals are too narrow", key.name, 100*shared, len(counts)),
		}
	}
	return best
}

// known says that a key is a function of the target or of an input, such as the decade of an age.
func (s *sample) known(key column) bool {
	if follows(key, column{values: s.target}) {
		return true
	}
	key.values = pick(key.values, s.compared)
	return slices.ContainsFunc(s.inputs, func(in column) bool { return follows(key, in) })
}

// follows says whether a key is a function of a column of the same rows that is none by chance: of a category, or of
// whole numbers with two values at least for each of the key's, where these stand for two rows or more on average; of
// other numbers one that goes up or down, or by steps. A number that each group has one of, such as the age of a
// patient whose rows are many, does not take the place of the group.
func follows(key, of column) bool {
	r := relate(of.values, key.values, ascending(floatBits(of.values)))
	if !r.function {
		return false
	}
	keys, often := distinct(key.values), 2*r.values <= len(of.values)
	whole := !slices.ContainsFunc(of.values, func(v float64) bool { return v != math.Trunc(v) })
	return of.category && often || !key.category && (r.up || r.down) || r.values >= 2*keys && (r.steps == keys-1 || whole && often)
}
