// Package calibration makes predictions hold what they say on rows like those that it is fitted to, whatever the model:
// with n rows an interval from lower to upper at a level holds the target of a further row, exchangeable with them,
// with at least that probability and at most 2/(n+1) more, if the distribution of the target is continuous.
//
// It is a conformal predictive distribution (Vovk, Shen, Manokhin & Xie 2017) on the probability integral transform u
// of each row, of which it keeps the normal scores z = Φ⁻¹(u): the quantile at p is the model's at the score of rank
// (n+1)p, and so the calibrated distribution has the model's shape in every row, wider or narrower, or moved, as the
// scores ask for. The probability of two classes is that of an inductive Venn–Abers predictor (Vovk, Petej & Fedorova
// 2015). Rows of each group of a column have a calibration of their own where that was asked for.
//
// Scores are 8 bytes a row, twice with groups; a quantile or a probability is a binary search.
package calibration

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/internal/special"
)

// FewestRows is the least number of rows of a group: those that carry an interval of 95 %.
const FewestRows = 39

// Needed returns the number of rows that carry a central interval: of fewer, its ends would be beyond the outermost.
func Needed(interval float64) int { return int(math.Ceil(2/(1-interval) - 1 - 1e-9)) }

// Result is a calibration as model files hold it.
type Result struct {
	Rows    int    `json:"rows"`              // held-out rows that it was fitted to
	By      string `json:"by,omitempty"`      // column by whose values rows have calibrations of their own
	Classes bool   `json:"classes,omitempty"` // it is that of the probability of two classes
	// Warning says that the rows may be those that the model was learned from.
	Warning string `json:"warning,omitempty"`
	// the first is that of all rows, others those of a value of By in ascending order
	Groups []Group `json:"groups"`
	// Scores are those of one group after another, ascending: normal scores, or the probabilities of the model, each
	// once.
	Scores []float64 `json:"-" tensor:"scores,scores"`
	// Lower and Upper are the probabilities of class 1 by isotonic regression where a further row with the score is of
	// class 0, and of class 1.
	Lower []float64 `json:"-" tensor:"lower,scores,optional"`
	Upper []float64 `json:"-" tensor:"upper,scores,optional"`
}

// Group is what the rows of a value of the column have.
type Group struct {
	Value  string `json:"value,omitempty"` // of the column
	Rows   int    `json:"rows"`            // that it has
	Scores int    `json:"scores"`          // that differ, of two classes
	// Coverage is the share of the rows inside the 90 % intervals of the model as it was; of two classes it is absent.
	Coverage float64 `json:"coverage_before,omitzero"`
}

// Row is a held-out row.
type Row struct {
	Group string  // value of the column, "" where it is missing or there is none
	Score float64 // normal score of the target under the model, or the probability of class 1
	One   bool    // the class is 1
}

// Fit calibrates by rows, of groups where by names a column. Rows without a group count among all.
func Fit(by string, classes bool, rows []Row) (*Result, error) {
	r := &Result{Rows: len(rows), By: by, Classes: classes}
	if err := enough(len(rows), "there are"); err != nil {
		return nil, err
	}
	for i := range rows {
		if s := rows[i].Score; math.IsNaN(s) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("row %d has the score %v: correct its target or leave it out", i+1, s)
		}
	}
	sorted := slices.Clone(rows)
	slices.SortFunc(sorted, func(a, b Row) int { return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Score, b.Score)) })
	all := slices.Clone(sorted)
	slices.SortStableFunc(all, func(a, b Row) int { return cmp.Compare(a.Score, b.Score) })
	r.add("", all)
	for from, to := range order.Runs(len(sorted), func(first, other int) bool { return sorted[other].Group == sorted[first].Group }) {
		if value := sorted[from].Group; value != "" && by != "" {
			if err := enough(to-from, fmt.Sprintf("%s %s has", by, value)); err != nil {
				return nil, err
			}
			r.add(value, sorted[from:to])
		}
	}
	if by != "" && len(r.Groups) == 1 {
		return nil, fmt.Errorf("no row has a value of %s that the model knows: calibrate all rows alike, without --by, or give rows that have one", by)
	}
	return r, nil
}

// enough refuses too few rows.
func enough(rows int, who string) error {
	if rows >= FewestRows {
		return nil
	}
	return fmt.Errorf("%s %d rows to calibrate by, and intervals of 95 %% need %d: give more held-out rows, or group them by fewer values", who, rows, FewestRows)
}

// add adds a group of rows in the order of their scores.
func (r *Result) add(value string, rows []Row) {
	g, first, inside := Group{Value: value, Rows: len(rows)}, len(r.Scores), 0
	var ones, counts []float64
	for _, row := range rows {
		if math.Abs(row.Score) <= ninetieth {
			inside++
		}
		if last := len(r.Scores) - 1; !r.Classes || last < first || r.Scores[last] != row.Score {
			r.Scores, ones, counts = append(r.Scores, row.Score), append(ones, 0), append(counts, 0)
		}
		counts[len(counts)-1]++
		if row.One {
			ones[len(ones)-1]++
		}
	}
	if g.Scores = len(ones); r.Classes {
		r.Lower, r.Upper = append(r.Lower, lowers(ones, counts)...), append(r.Upper, uppers(ones, counts)...)
	} else {
		g.Coverage = float64(inside) / float64(len(rows))
	}
	r.Groups = append(r.Groups, g)
}

// ninetieth is Φ⁻¹(.95).
const ninetieth = 1.6448536269514722

// Validate refuses what Fit does not make.
func (r *Result) Validate() error {
	total, before := 0, ""
	for k, g := range r.Groups {
		if g.Rows < FewestRows || g.Scores < 1 || g.Scores > g.Rows || !r.Classes && g.Scores != g.Rows || k > 0 && g.Value <= before {
			return fmt.Errorf("calibration: group %d has %d scores of %d rows, or stands out of order", k+1, g.Scores, g.Rows)
		}
		before = g.Value
		if total += g.Scores; total > len(r.Scores) || !slices.IsSorted(r.Scores[total-g.Scores:total]) {
			return fmt.Errorf("calibration: the scores of group %d are not %d in order", k+1, g.Scores)
		}
	}
	if total == 0 || total != len(r.Scores) || (r.By == "") != (len(r.Groups) == 1) {
		return fmt.Errorf("calibration: %d scores of %d groups by %q", len(r.Scores), len(r.Groups), r.By)
	}
	for _, list := range [][]float64{r.Lower, r.Upper} {
		if r.Classes != (list != nil) || list != nil && len(list) != total || slices.ContainsFunc(list, func(p float64) bool { return !(p >= 0 && p <= 1) }) {
			return fmt.Errorf("calibration: %d scores have %d probabilities", total, len(list))
		}
	}
	return nil
}

// Carries refuses an interval that is wider than the rows of a group carry.
func (r *Result) Carries(interval float64) error {
	g, need := r.Groups[0], Needed(interval)
	for _, other := range r.Groups[1:] {
		if other.Rows < g.Rows {
			g = other
		}
	}
	if r.Classes || g.Rows >= need {
		return nil
	}
	who := ""
	if g.Value != "" {
		who = fmt.Sprintf(" of %s %s", r.By, g.Value)
	}
	most := math.Floor(1e4*(1-2/float64(g.Rows+1))) / 1e4
	return fmt.Errorf("interval %v needs %d rows to calibrate by, and the model has %d%s: calibrate by more rows, or ask for %v at most", interval, need, g.Rows, who, most)
}

// Index returns the group of a value, or 0, that of all rows, and whether it is known.
func (r *Result) Index(value string) (group int, known bool) {
	at, found := sort.Find(len(r.Groups)-1, func(k int) int { return cmp.Compare(value, r.Groups[k+1].Value) })
	if !found || value == "" {
		return 0, r.By == ""
	}
	return at + 1, true
}

// of returns the places of the scores of a group.
func (r *Result) of(group int) (first, end int) {
	for k := range group {
		first += r.Groups[k].Scores
	}
	return first, first + r.Groups[group].Scores
}

// Quantile returns the normal score at which the model has the quantile at p: that of rank ⌊(n+1)p⌋ below the middle
// and ⌈(n+1)p⌉ above, so that intervals hold at least what they say.
func (r *Result) Quantile(group int, p float64) float64 {
	first, end := r.of(group)
	rank := float64(end-first+1) * p
	near := math.Round(rank)
	switch {
	case math.Abs(rank-near) < 1e-9: // of p that is a decimal
		rank = near
	case p < 0.5:
		rank = math.Floor(rank)
	case p > 0.5:
		rank = math.Ceil(rank)
	}
	return r.at(first, end, rank, p)
}

// Score returns the normal score at probability p with scores in between ranks: the inverse of Probability.
func (r *Result) Score(group int, p float64) float64 {
	first, end := r.of(group)
	return r.at(first, end, float64(end-first+1)*p, p)
}

// at returns the score at a rank. Beyond the outermost the distribution has the tails of the model.
func (r *Result) at(first, end int, rank, p float64) float64 {
	n := float64(end - first)
	switch {
	case rank < 1:
		return r.Scores[first] + special.NormalQuantile(p) - special.NormalQuantile(1/(n+1))
	case rank > n:
		return r.Scores[end-1] + special.NormalQuantile(p) - special.NormalQuantile(n/(n+1))
	}
	below := math.Floor(rank)
	k := first + int(below) - 1
	if below == rank {
		return r.Scores[k]
	}
	return r.Scores[k] + (rank-below)*(r.Scores[k+1]-r.Scores[k])
}

// Probability returns the probability up to the model's quantile at a normal score.
func (r *Result) Probability(group int, z float64) float64 {
	first, end := r.of(group)
	n := float64(end - first)
	if lowest, highest := r.Scores[first], r.Scores[end-1]; z < lowest {
		return special.NormalCDF(special.NormalQuantile(1/(n+1)) + z - lowest)
	} else if z >= highest {
		return special.NormalCDF(special.NormalQuantile(n/(n+1)) + z - highest)
	}
	above := sort.Search(end-first, func(k int) bool { return r.Scores[first+k] > z }) // the number up to z
	k := first + above - 1
	return (float64(above) + (z-r.Scores[k])/(r.Scores[k+1]-r.Scores[k])) / (n + 1)
}

// Class returns the probability of class 1 where the model's is p, and the two between which it lies.
func (r *Result) Class(group int, p float64) (probability, lower, upper float64) {
	first, end := r.of(group)
	at, same := slices.BinarySearch(r.Scores[first:end], p)
	upper = 1
	if first+at < end {
		upper = r.Upper[first+at]
	}
	if same {
		lower = r.Lower[first+at]
	} else if at > 0 {
		lower = r.Lower[first+at-1]
	}
	return upper / (1 - lower + upper), lower, upper
}

// vertex is a point of a cumulative sum diagram.
type vertex struct{ x, y float64 }

func (a vertex) minus(b vertex) vertex { return vertex{a.x - b.x, a.y - b.y} }

// left says whether the way from a over b to c turns left: the slope rises.
func left(a, b, c vertex) bool {
	p, q := b.minus(a), c.minus(b)
	return p.x*q.y > q.x*p.y
}

// uppers returns, for each of some ascending scores with so many ones of so many rows, the isotonic regression at the
// score when a further row with it is a one: Algorithms 1 and 2 of Vovk, Petej & Fedorova (2015), in O(n). The further
// row stands before those of the score, which it joins, for no regression has less behind a one.
func uppers(ones, counts []float64) []float64 {
	n := len(ones)
	p := make([]vertex, n+2) // P₋₁, P₀, …, the sums up to every score
	p[0] = vertex{-1, -1}
	for i := range n {
		p[i+2] = vertex{p[i+1].x + counts[i], p[i+1].y + ones[i]}
	}
	corners := []vertex{p[0]} // of the greatest convex minorant, from the left
	for _, next := range p[1:] {
		for k := len(corners); k > 1 && !left(corners[k-2], corners[k-1], next); k-- {
			corners = corners[:k-1]
		}
		corners = append(corners, next)
	}
	slices.Reverse(corners) // the leftmost on top
	out := make([]float64, n)
	for i := range n {
		top, next := corners[len(corners)-1], corners[len(corners)-2]
		slope := next.minus(top)
		out[i] = slope.y / slope.x
		// the score comes before the further row
		moved := vertex{p[i].x + p[i+2].x - p[i+1].x, p[i].y + p[i+2].y - p[i+1].y}
		p[i+1] = moved
		if along := moved.minus(top); along.y*slope.x >= slope.y*along.x { // it is not below the minorant
			continue
		}
		corners = corners[:len(corners)-1]
		for k := len(corners); k > 1 && !left(moved, corners[k-1], corners[k-2]); k-- {
			corners = corners[:k-1]
		}
		corners = append(corners, moved)
	}
	return out
}

// lowers is uppers where the further row is a zero: that of zeros, from the other end.
func lowers(ones, counts []float64) []float64 {
	zeros, back := make([]float64, len(ones)), slices.Clone(counts)
	for i := range ones {
		zeros[i] = counts[i] - ones[i]
	}
	slices.Reverse(zeros)
	slices.Reverse(back)
	out := uppers(zeros, back)
	slices.Reverse(out)
	for i := range out {
		out[i] = 1 - out[i]
	}
	return out
}
