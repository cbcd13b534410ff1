package calibration

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/special"
)

// isotonic is the least-squares fit that does not fall, by its min-max formula, at score k.
func isotonic(ones, counts []float64, k int) float64 {
	best := math.Inf(-1)
	for a := 0; a <= k; a++ {
		least := math.Inf(1)
		for b := k; b < len(ones); b++ {
			y, n := 0.0, 0.0
			for i := a; i <= b; i++ {
				y, n = y+ones[i], n+counts[i]
			}
			least = min(least, y/n)
		}
		best = max(best, least)
	}
	return best
}

// Venn–Abers probabilities are those of isotonic regressions with the row added, at every score and between.
func TestClassAgainstRefits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		rows := make([]Row, FewestRows+round)
		for i := range rows {
			rows[i].Score = float64(rng.IntN(4+round)) / 50
			rows[i].One = rng.Float64() < []float64{0.5, rows[i].Score, 0, 1}[round%4]
		}
		r, err := Fit("", true, rows)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		for at := -1.0; at < 60; at += 0.5 {
			p := at / 50
			var told [2]float64
			for class := range 2 {
				with := append(slices.Clone(rows), Row{Score: p, One: class == 1})
				slices.SortFunc(with, func(a, b Row) int { return int(math.Round(100 * (a.Score - b.Score))) })
				var ones, counts []float64
				place := 0
				for i, row := range with {
					if i == 0 || row.Score != with[i-1].Score {
						ones, counts = append(ones, 0), append(counts, 0)
					}
					if counts[len(counts)-1]++; row.One {
						ones[len(ones)-1]++
					}
					if row.Score == p {
						place = len(ones) - 1
					}
				}
				told[class] = isotonic(ones, counts, place)
			}
			got, lower, upper := r.Class(0, p)
			if !(math.Abs(lower-told[0]) <= 1e-12) || !(math.Abs(upper-told[1]) <= 1e-12) || !(math.Abs(got-upper/(1-lower+upper)) <= 1e-15) {
				t.Fatalf("round %d, %v: %v in [%v, %v], want %v", round, p, got, lower, upper, told)
			}
		}
	}
}

// Intervals of n rows hold a further one with the probability of the ranks between them: ⌈(n+1)(1+level)/2⌉ −
// ⌊(n+1)(1−level)/2⌋ of n + 1, by enumeration of the ranks that it may have; and Score is the inverse of Probability.
func TestQuantile(t *testing.T) {
	for _, n := range []int{39, 40, 100, 199, 999} {
		rows := make([]Row, n)
		for i := range rows {
			rows[i].Score = math.Sinh(4*float64(n-i)/float64(n) - 2)
		}
		r, err := Fit("", false, rows)
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range []float64{0.5, 0.8, 0.9, 0.95, 0.99} {
			if (r.Carries(level) == nil) != (float64(n) >= 2/(1-level)-1-1e-9) {
				t.Errorf("%d rows carry %v: %v", n, level, r.Carries(level))
			}
			if r.Carries(level) != nil {
				continue
			}
			lower, upper := r.Quantile(0, (1-level)/2), r.Quantile(0, (1+level)/2)
			held := 0
			for rank := range n + 1 { // of the further row, between two others
				z := r.Score(0, (float64(rank)+0.5)/float64(n+1))
				if z >= lower && z <= upper {
					held++
				}
			}
			share := float64(held) / float64(n+1)
			if share < level-1e-12 || share > level+2/float64(n+1)+1e-12 {
				t.Errorf("%d rows: %v holds %v", n, level, share)
			}
		}
		for p := 1e-6; p < 1; p += 0.000977 {
			if got := r.Probability(0, r.Score(0, p)); !(math.Abs(got-p) <= 1e-12) {
				t.Fatalf("%d rows: the probability of the score at %v is %v", n, p, got)
			}
		}
		if tail := special.NormalQuantile(1e-9) - special.NormalQuantile(1/float64(n+1)); !(math.Abs(r.Score(0, 1e-9)-r.Scores[0]-tail) <= 1e-12) {
			t.Errorf("%d rows: the score at 1e-9 is %v", n, r.Score(0, 1e-9))
		}
		if n%2 == 0 { // the middle is between two
			if want := (r.Scores[n/2-1] + r.Scores[n/2]) / 2; !(math.Abs(r.Quantile(0, 0.5)-want) <= 1e-15) {
				t.Errorf("the median of %d rows is %v, want %v", n, r.Quantile(0, 0.5), want)
			}
		}
	}
}

// TestCoverage: of scores on both sides, as many are within the 90 % interval as are between Φ⁻¹(.05) and Φ⁻¹(.95).
func TestCoverage(t *testing.T) {
	var rows []Row
	inside := 0.0
	for i := range 120 {
		score := float64(i-50) / 20
		rows = append(rows, Row{Score: score})
		if p := special.NormalCDF(score); p > .05 && p < .95 {
			inside++
		}
	}
	if r, err := Fit("", false, rows); err != nil || r.Groups[0].Coverage != inside/120 {
		t.Errorf("%+v, want a coverage of %v: %v", r, inside/120, err)
	}
}

// A column of which no row has a known value makes no groups, and is refused before a file is written that cannot be
// read.
func TestNoGroups(t *testing.T) {
	rows := make([]Row, 60)
	for i := range rows {
		rows[i].Score = float64(i) / 60
	}
	if r, err := Fit("g", false, rows); err == nil || !strings.Contains(err.Error(), "no row has a value of g") || !strings.Contains(err.Error(), "without --by") {
		t.Errorf("%+v, %v", r, err)
	}
	r, err := Fit("", false, rows)
	if err != nil || r.Validate() != nil {
		t.Errorf("without a column: %v, %v", err, r.Validate())
	}
}

// Groups have the scores of their rows alone, and others those of all.
func TestGroups(t *testing.T) {
	var rows []Row
	for i := range 120 {
		rows = append(rows, Row{Group: []string{"b", "a", ""}[i%3], Score: float64(i%3) + float64(i)/1000})
	}
	r, err := Fit("g", false, rows)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]struct {
		group int
		known bool
		score float64
	}{"a": {1, true, 1.0595}, "b": {2, true, 0.0585}, "c": {0, false, 1.0595}, "": {0, false, 1.0595}} {
		k, known := r.Index(value)
		if k != want.group || known != want.known || !(math.Abs(r.Quantile(k, 0.5)-want.score) <= 1e-9) {
			t.Errorf("%q is group %d (%v) with the median %v, want %+v", value, k, known, r.Quantile(k, 0.5), want)
		}
	}
	if r.Groups[1].Rows != 40 || r.Groups[0].Rows != 120 || !(math.Abs(r.Groups[0].Coverage-2./3) <= 1e-12) || r.Groups[2].Coverage != 1 {
		t.Errorf("%+v", r.Groups)
	}
	for want, given := range map[string][]Row{
		"there are 38 rows to calibrate by, and intervals of 95 % need 39": rows[:38],
		"g a has 33 rows": rows[:100],
		"row 5 has the score NaN": func() []Row {
			bad := slices.Clone(rows)
			bad[4].Score = math.NaN()
			return bad
		}(),
	} {
		if _, err := Fit("g", false, given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := r.Carries(0.99); err == nil || !strings.Contains(err.Error(), "interval 0.99 needs 199 rows to calibrate by, and the model has 40 of g a: calibrate by more rows, or ask for 0.9512 at most") {
		t.Error(err)
	}
	for k, damage := range []func(r *Result){
		func(r *Result) { r.Groups = r.Groups[:2] }, func(r *Result) { r.Scores[3] = 9 }, func(r *Result) { r.Groups[1].Value = "z" }, func(r *Result) { r.Groups[2].Rows = 3 },
		func(r *Result) { r.By = "" }, func(r *Result) { r.Lower = r.Scores }, func(r *Result) { r.Classes = true }, func(r *Result) { r.Groups = nil }, func(r *Result) { r.Groups[0].Scores = -1 },
	} {
		bad := *r
		bad.Groups, bad.Scores = slices.Clone(r.Groups), slices.Clone(r.Scores)
		if damage(&bad); bad.Validate() == nil {
			t.Errorf("damage %d is not seen", k)
		}
	}
}

func ExampleFit() {
	rows := make([]Row, 99) // whose targets vary twice as much as the model says
	for i := range rows {
		rows[i].Score = 2 * special.NormalQuantile(float64(i+1)/100)
	}
	r, err := Fit("", false, rows)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.3f\n", r.Quantile(0, 0.95)/special.NormalQuantile(0.95))
	// Output: 2.000
}

// TestGroupsAreFitsOfTheirRows: each group answers as a calibration of its rows alone, between its scores, at them, and
// beyond both ends, of numbers and of classes, wherever its scores stand among those of the others.
func TestGroupsAreFitsOfTheirRows(t *testing.T) {
	for _, classes := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(3, 4))
		rows := make([]Row, 260)
		for i := range rows {
			k := i % 4
			rows[i] = Row{Group: []string{"c", "a", "", "b"}[k], Score: float64(k) + rng.NormFloat64(), One: rng.IntN(k+2) > 0}
			if rng.IntN(5) == 0 { // of several rows
				rows[i].Score = float64(rng.IntN(4))
			}
		}
		r, err := Fit("g", classes, rows)
		if err != nil || r.Validate() != nil || r.Rows != len(rows) || len(r.Groups) != 4 {
			t.Fatal(err, r.Validate(), r.Rows)
		}
		for k, g := range r.Groups {
			own := slices.DeleteFunc(slices.Clone(rows), func(row Row) bool { return k > 0 && row.Group != g.Value })
			alone, err := Fit("", classes, own)
			if err != nil || alone.Groups[0].Rows != g.Rows || alone.Groups[0].Coverage != g.Coverage || alone.Groups[0].Scores != g.Scores {
				t.Fatal(err, g)
			}
			for z := -3.0; z < 8; z += 0.125 {
				p := special.NormalCDF(z - 2)
				a, al, au := class(r, k, z)
				b, bl, bu := class(alone, 0, z)
				if a != b || al != bl || au != bu || !classes && (r.Quantile(k, p) != alone.Quantile(0, p) || r.Score(k, p) != alone.Score(0, p) || r.Probability(k, z) != alone.Probability(0, z)) {
					t.Fatalf("group %q of %v at %v is not that of its rows", g.Value, classes, z)
				}
			}
		}
	}
}

// class is Class of classes, and nothing of numbers.
func class(r *Result, group int, p float64) (probability, lower, upper float64) {
	if !r.Classes {
		return 0, 0, 0
	}
	return r.Class(group, p)
}

// TestRanks: the probability up to a score is the number of scores up to it of n + 1, of which ties have one; and the
// quantile at p is the score of rank (n+1)p, of the rank below it under the middle and above it over the middle,
// however a decimal p is rounded.
func TestRanks(t *testing.T) {
	for _, n := range []int{39, 99, 100, 199} {
		rows := make([]Row, n)
		for i := range rows {
			rows[i].Score = math.Cbrt(float64(i - n/3))
		}
		rows[20].Score, rows[21].Score = rows[19].Score, rows[19].Score
		r, err := Fit("", false, rows)
		if err != nil || r.Validate() != nil {
			t.Fatal(err, r.Validate())
		}
		for k, z := range r.Scores {
			upTo := k + 1
			for upTo < n && r.Scores[upTo] == z {
				upTo++
			}
			if got, want := r.Probability(0, z), float64(upTo)/float64(n+1); !(math.Abs(got-want) <= 1e-14) {
				t.Errorf("%d rows: the probability up to the score of rank %d is %v, want %v", n, k+1, got, want)
			}
			if got := r.Quantile(0, float64(k+1)/float64(n+1)); got != z {
				t.Errorf("%d rows: the quantile at %d of %d is %v, want %v", n, k+1, n+1, got, z)
			}
		}
		for p := 0.031; p < 0.97; p += 0.0237 {
			rank := math.Floor(float64(n+1) * p)
			if p > 0.5 {
				rank = math.Ceil(float64(n+1) * p)
			}
			if got := r.Quantile(0, p); got != r.Scores[int(rank)-1] {
				t.Errorf("%d rows: the quantile at %v is %v, want that of rank %v", n, p, got, rank)
			}
		}
	}
	for interval, want := range map[float64]int{0.5: 3, 0.8: 9, 0.9: 19, 0.95: 39, 0.99: 199} {
		if got := Needed(interval); got != want {
			t.Errorf("%v needs %d rows, want %d", interval, got, want)
		}
	}
}

// TestDamageOfClasses: each way in which counts, scores and probabilities of classes contradict themselves is refused
// by itself, by the number of the group where there is one, and so is a score of either infinity.
func TestDamageOfClasses(t *testing.T) {
	rows := make([]Row, 100)
	for i := range rows {
		rows[i] = Row{Group: []string{"a", "b"}[i%2], Score: float64(i/4) / 40, One: i%3 == 0}
	}
	for want, damage := range map[string]func(r *Result){
		"group 2 has 51 scores of 50 rows": func(r *Result) { r.Groups[1].Scores = 51 },
		"group 3 has 0 scores of 50 rows": func(r *Result) {
			r.Groups[2].Scores, r.Scores, r.Lower, r.Upper = 0, r.Scores[:50], r.Lower[:50], r.Upper[:50]
		},
		"group 1 has 25 scores of 38 rows": func(r *Result) { r.Groups[0].Rows = 38 },
		"group 3 has 25 scores of 50 rows": func(r *Result) { r.Groups[2].Value = "a" },
		"the scores of group 2 are not 25": func(r *Result) { r.Scores[30] = -1 },
		"the scores of group 3 are not 26": func(r *Result) { r.Groups[2].Scores = 26 },
		"75 scores have 75 probabilities":  func(r *Result) { r.Lower[60] = -1e-9 },
		"75 scores have 75 probabilities ": func(r *Result) { r.Upper[60] = 1 + 1e-9 },
		"75 scores have 74 probabilities":  func(r *Result) { r.Upper = r.Upper[:74] },
		"75 scores have 0 probabilities":   func(r *Result) { r.Lower = nil },
	} {
		r, err := Fit("g", true, rows)
		if err != nil || r.Validate() != nil {
			t.Fatal(err, r.Validate())
		}
		if damage(r); r.Validate() == nil || !strings.Contains(r.Validate().Error(), strings.TrimSpace(want)) {
			t.Errorf("%v, want %q", r.Validate(), want)
		}
	}
	for _, infinite := range []float64{math.Inf(1), math.Inf(-1)} {
		rows[7].Score = infinite
		if _, err := Fit("", false, rows); err == nil || !strings.Contains(err.Error(), "row 8 has the score") {
			t.Errorf("a score of %v: %v", infinite, err)
		}
	}
}
