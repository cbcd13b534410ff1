package criticism

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/special"
)

const (
	// unorderedCheck is the check of a finding that no check of the order was made.
	unorderedCheck = "unordered"
	// sortedShare is the share of the ascents of a random order below which a target is sorted.
	sortedShare = 0.05
	// largestResidual is what residuals count at most where products of them are added up.
	largestResidual = 4
	// MostKeys is the number of columns beside the model that are looked at.
	MostKeys = 10
	// leastCopied is the share of pairs of rows with equal inputs, beyond chance, whose targets are equal too.
	leastCopied = 0.5
)

// copied is what rows repeat.
type copied struct {
	later                     []int // rows that are as an earlier one in everything
	alike, equal, expected, p float64
}

// copies counts the pairs of rows with equal inputs whose targets are equal, too, beside what is expected: with
// equal inputs alone, targets would be equal as often as two draws of the model are, or as those of other rows.
func (s *sample) copies() copied {
	var c copied
	groups := map[uint64][]int{}
	var hashes []uint64
	for i, h := range s.hash {
		if groups[h] == nil {
			hashes = append(hashes, h)
		}
		groups[h] = append(groups[h], i)
	}
	if len(hashes) == len(s.hash) {
		return c
	}
	s.coincide = true
	often := s.coincidence()
	var under moment3
	for _, h := range hashes {
		rows := groups[h]
		m := float64(len(rows))
		if m < 2 {
			continue
		}
		counts := map[float64]float64{}
		q := 0.0
		for _, i := range rows {
			if counts[s.target[i]] > 0 {
				c.later = append(c.later, i)
			}
			c.equal += counts[s.target[i]]
			counts[s.target[i]]++
			q = math.Max(q, often(i))
		}
		pairs := m * (m - 1) / 2
		c.alike += pairs
		under.mean += pairs * q
		// Pairs that share a row go together: three draws are equal with a probability of q^1.5 at most.
		under.variance += pairs * (q*(1-q) + 2*(m-2)*(math.Pow(q, 1.5)-q*q))
	}
	under.third = 2 * under.variance * under.variance / math.Max(under.mean, math.SmallestNonzeroFloat64)
	c.expected, c.p = under.mean, under.above(c.equal-0.5)
	slices.Sort(c.later)
	return c
}

// coincidence returns how often the targets of two rows are equal that have the inputs of row i.
func (s *sample) coincidence() func(i int) float64 {
	n := float64(len(s.target))
	counts := map[float64]float64{}
	mean, total, left := 0.0, 0.0, 0.0
	for _, y := range s.target {
		counts[y]++
		mean += y / n
	}
	pairs := 0.0
	for _, y := range s.target { // in the order of the rows
		pairs += (counts[y] - 1) / 2
	}
	marginal := pairs / (n * (n - 1) / 2)
	for i, y := range s.target {
		total += (y - mean) * (y - mean)
		left += (y - s.mean[i]) * (y - s.mean[i])
	}
	if !s.family[0].Discrete() {
		if s.kind.gaussian { // values are rounded, and the narrower they lie the more of them are equal
			marginal *= math.Max(1, math.Sqrt(total/math.Max(left, math.SmallestNonzeroFloat64)))
		}
		return func(int) float64 { return math.Min(1, marginal) }
	}
	return func(i int) float64 {
		const draws = 20
		rng := credence.Rand(s.options.Seed, credence.CriticismDraws, uint64(s.place[i]))
		sum := 0.0
		for range draws {
			sum += math.Exp(s.family[i].LogDensity(s.family[i].Sample(rng, s.mean[i]), s.mean[i]))
		}
		return math.Max(marginal, math.Min(1, sum/draws))
	}
}

// repeats tells of rows that stand in the data several times.
func (s *sample) repeats(c copied) *Finding {
	n := float64(len(s.target))
	if len(c.later) == 0 || c.p > s.share || float64(len(c.later)) < toldShare*n || c.equal-c.expected < leastCopied*(c.alike-c.expected) {
		return nil
	}
	f := &Finding{
		Check: "repeats", Tone: Fault, Statistic: c.equal, Expected: c.expected, P: c.p,
		Text: fmt.Sprintf("%d of %d rows repeat another one in all columns and the target, and each counts as evidence of its own, so that intervals are too narrow",
			len(c.later), len(s.target)),
		Remedy: "keep one of each",
	}
	return f
}

// sorted says that the rows stand in the order of their targets, whatever the model.
func (s *sample) sorted() bool {
	n := float64(len(s.target))
	counts := map[float64]float64{}
	for _, y := range s.target {
		counts[y]++
	}
	equal := 0.0
	for _, y := range s.target {
		equal += (counts[y] - 1) / (n * (n - 1))
	}
	up, down := 0.0, 0.0
	for i, y := range s.target[1:] {
		if y > s.target[i] {
			up++
		} else if y < s.target[i] {
			down++
		}
	}
	expected := (n - 1) * (1 - equal) / 2
	return expected > 10 && math.Min(up, down) <= sortedShare*expected
}

// unordered says that the order of the rows was not looked at.
func (s *sample) unordered() *Finding {
	name := s.name
	if name == "" {
		name = "the target"
	}
	return &Finding{
		Check: unorderedCheck, Tone: Remark, P: 1,
		Text: fmt.Sprintf("whether neighbouring rows go together is not known: the file is sorted by %s", name),
	}
}

// bounded returns the residuals of the rows used, less their mean and over their standard deviation, large ones
// cut off.
func (s *sample) bounded() []float64 {
	e := pick(s.residual, s.used)
	for i, v := range e {
		e[i] = math.Max(-largestResidual, math.Min(largestResidual, v))
	}
	standardise(e)
	return e
}

// order looks for residuals that go with those of the rows before them, or that drift over the file. The variance of
// each sum is the larger of that under equal spreads and of that of its own terms after the step.
func (s *sample) order() *Finding {
	e := s.bounded()
	var before, after []float64
	for k := 1; k < len(e); k++ {
		if s.place[s.used[k]] == s.place[s.used[k-1]]+1 {
			before, after = append(before, e[k-1]), append(after, e[k])
		}
	}
	place := make([]float64, len(e))
	for k, i := range s.used {
		place[k] = float64(s.place[i])
	}
	standardise(place)
	lag, z := slope(before, after)
	drift, along := slope(place, e)
	near, far := 2*special.NormalCDF(-z), 4*special.NormalCDF(-math.Abs(along)) // each of two
	f := &Finding{Check: "order", Tone: Fault, Remedy: "add a column that says when or where they were taken, such as rbf(time)"}
	if s.time != "" {
		f.Remedy = fmt.Sprintf("add rbf(%s) to the formula, by which the file is sorted", s.time)
	}
	if near <= far {
		f.Statistic, f.P = lag, math.Min(1, near)
		f.Text = fmt.Sprintf("neighbouring rows go together (the residuals of one and the next correlate by %.2g), so that intervals are too narrow", lag)
	} else {
		f.Statistic, f.P = drift, math.Min(1, far)
		f.Text = fmt.Sprintf("the residuals drift from the first row to the last (correlation %.2g), so that rows to come will be farther off", drift)
	}
	if f.P > s.share || f.Statistic*f.Statistic < s.error()*s.error() {
		return nil
	}
	f.Tone = s.toneOf(Fault, f.Statistic*f.Statistic)
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

// slope returns the correlation of standardised values, and the slope of b on a over its standard error.
func slope(a, b []float64) (correlation, z float64) {
	var products, squares, others float64
	for i, x := range a {
		products += x * b[i]
		squares += x * x
		others += b[i] * b[i]
	}
	if !(squares > 0 && others > 0) {
		return 0, 0
	}
	step := products / squares
	own := 0.0
	for i, x := range a {
		left := x * (b[i] - step*x)
		own += left * left
	}
	return products / math.Sqrt(squares*others), products / math.Sqrt(math.Max(own, squares*others/float64(len(a))))
}

// groups looks for residuals that go together within groups of rows that a column beside the model shows, and no column
// of the model does: the sum of products of two of them, which is that of squares of sums less that of squares.
func (s *sample) groups() *Finding {
	e := s.bounded()
	n := len(e)
	skew := 0.0
	for _, v := range e {
		skew += v * v * v / float64(n)
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
		products += pairs / float64(n-1) // residuals less their mean have products of −1/(n−1)
		p := math.Min(1, moment3{variance: 2 * pairs, third: third}.above(products)*float64(len(s.keys)))
		shared := products / pairs
		if p > s.share || shared < s.error() || best != nil && best.Statistic >= shared || s.known(key) {
			continue
		}
		term := key.name
		if !key.category {
			term = "onehot(" + key.name + ")"
		}
		best = &Finding{
			Check: "groups", Tone: s.toneOf(Fault, shared), Statistic: shared, P: p,
			Text:   fmt.Sprintf("rows with the same %s go together (%.2g %% of the variance of the residuals is that of %d groups), so that intervals are too narrow", key.name, 100*shared, len(counts)),
			Remedy: "add " + term + " to the formula",
		}
	}
	return best
}

// readKeys reads the columns beside the model that may be keys of groups: categories and whole numbers with 3 to n/3
// values among the rows.
func (s *sample) readKeys(fitted *credence.Fitted, data credence.Data) error {
	fr, ok := fitted.Frame.(*frame.Frame)
	placed, placing := data.(interface{ SourceRow(i int) int })
	if !ok || !placing || s.options.Beside == nil {
		return nil
	}
	used := map[string]bool{}
	for _, c := range fr.Columns() {
		name, _ := credence.CutText(c.Name)
		used[name] = true
	}
	schema := s.options.Beside.Schema()
	var columns []int
	for j := range schema.Columns {
		c := &schema.Columns[j]
		if name, _ := credence.CutText(c.Name); !used[name] && c.Kind != credence.Boolean && len(columns) < MostKeys {
			columns = append(columns, j)
			s.keys = append(s.keys, column{name: c.Name, category: c.Kind == credence.Category, values: make([]float64, len(s.target))})
		}
	}
	if len(columns) == 0 {
		return nil
	}
	var chunk credence.Chunk
	for from := 0; from < len(s.place); {
		to, first := from+1, placed.SourceRow(s.place[from])
		for to < len(s.place) && placed.SourceRow(s.place[to]) < first+credence.BlockRows {
			to++
		}
		if err := s.options.Beside.Read(&chunk, first, placed.SourceRow(s.place[to-1])-first+1); err != nil {
			return err
		}
		for i := from; i < to; i++ {
			row := chunk.Values.Row(placed.SourceRow(s.place[i]) - first)
			for k, j := range columns {
				s.keys[k].values[i] = row[j]
			}
		}
		from = to
	}
	for _, key := range s.keys {
		if s.time == "" && !key.category && ascends(key.values) {
			s.time = key.name
		}
	}
	s.keys = slices.DeleteFunc(s.keys, func(key column) bool {
		values := map[float64]bool{}
		for _, v := range key.values {
			if !key.category && v != math.Trunc(v) {
				return true
			}
			if v == v {
				values[v] = true
			}
		}
		return len(values) < 3 || 3*len(values) > len(key.values)
	})
	return nil
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
// whole numbers with two values at least for each of the key's, where these stand for two rows or more on average; of other
// numbers one that goes up or down, or by steps. A number that each group has one of, such as the age of a patient whose
// rows are many, does not take the place of the group.
func follows(key, of column) bool {
	order := make([]int, len(of.values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(of.values[a], of.values[b]) })
	values, keys := 0, map[float64]bool{}
	steps, whole := 0, true
	up, down := !key.category, !key.category
	for k, i := range order {
		v, g := of.values[i], key.values[i]
		keys[g] = true
		whole = whole && v == math.Trunc(v)
		if k == 0 {
			values++
			continue
		}
		before := key.values[order[k-1]]
		if v != of.values[order[k-1]] {
			values++
		} else if g != before {
			return false
		}
		if g != before {
			steps++
		}
		up, down = up && g >= before, down && g <= before
	}
	coarse, often := values >= 2*len(keys), 2*values <= len(order)
	return of.category && often || up || down || coarse && (steps == len(keys)-1 || whole && often)
}
