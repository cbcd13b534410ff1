package criticism

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
)

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

// bounded returns the residuals of some rows, large ones cut off, standardised.
func (s *sample) bounded(rows []int) []float64 {
	e := pick(s.residual, rows)
	for i, v := range e {
		e[i] = max(-largestResidual, min(largestResidual, v))
	}
	standardise(e)
	return e
}

// order looks for residuals that go with those of the rows before them, or that drift over the file.
func (s *sample) order() *Finding {
	e, place := s.bounded(s.used), make([]float64, len(s.used))
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
	explains := f.Statistic * f.Statistic
	if s.time != "" {
		f.Remedy = s.alongTime(explains)
	}
	if f.explains = &explains; explains < s.error()*s.error() {
		return nil
	}
	return f
}

// alongTime says what to do about residuals that go with the time by which the file is sorted, where that explains a
// share of their variance.
func (s *sample) alongTime(explains float64) string {
	term := s.term(s.time)
	switch {
	case s.clock && !s.has("s(hour("+s.time+")") && s.daily() > explains:
		return fmt.Sprintf("add s(hour(%s), period=24) to the formula: they go with the time of day", term)
	case s.has("hsgp(" + s.time):
		return fmt.Sprintf("hsgp(%s) does not follow them: add what else comes and goes with %[1]s, or a hsgp of more waves, m=200", term)
	}
	return fmt.Sprintf("add hsgp(%s) to the formula, by which the file is sorted", term)
}

// has says whether a term of the formula begins so.
func (s *sample) has(term string) bool {
	return slices.ContainsFunc(s.blocks, func(b credence.Block) bool { return strings.HasPrefix(b.Name, term) })
}

// daily is the share of the variance of residuals that waves of a day and of half a day explain, of a time in days; 0
// where it may be chance.
func (s *sample) daily() float64 {
	v := &s.view
	times := column{scale: 1}
	if s.beside != nil {
		times.values = pick(s.beside, v.rows)
	} else {
		times = s.inputs[slices.IndexFunc(s.inputs, func(in column) bool { return in.name == s.time })]
		times.values = pick(times.values, v.at)
	}
	e, waves := pick(s.residual, v.rows), make([][]float64, 4)
	standardise(e)
	for _, t := range times.values {
		t = t*times.scale + times.centre
		for k := range waves {
			sin, cos := math.Sincos(2 * math.Pi * float64(1+k/2) * t)
			waves[k] = append(waves[k], []float64{sin, cos}[k%2])
		}
	}
	explains, p, _ := scoreTest(waves, [][]float64{v.ones}, v.ones, e, false)
	if !(p <= s.share) {
		return 0
	}
	return explains
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
	e := s.bounded(s.used)
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

// known says that a key is a function of the target or of an input, such as the decade of an age, or puts the rows in
// the order of the target, as twice a count does, and one more at times: groups of such a key would give it away.
func (s *sample) known(key column) bool {
	if follows(key, column{values: s.target}) {
		return true
	}
	if r := relate(key.values, s.target, ascending(floatBits(key.values))); !key.category && (r.up || r.down) {
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
