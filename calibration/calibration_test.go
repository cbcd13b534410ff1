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
			if math.Abs(lower-told[0]) > 1e-12 || math.Abs(upper-told[1]) > 1e-12 || math.Abs(got-upper/(1-lower+upper)) > 1e-15 {
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
			if got := r.Probability(0, r.Score(0, p)); math.Abs(got-p) > 1e-12 {
				t.Fatalf("%d rows: the probability of the score at %v is %v", n, p, got)
			}
		}
		if tail := special.NormalQuantile(1e-9) - special.NormalQuantile(1/float64(n+1)); math.Abs(r.Score(0, 1e-9)-r.Scores[0]-tail) > 1e-12 {
			t.Errorf("%d rows: the score at 1e-9 is %v", n, r.Score(0, 1e-9))
		}
		if n%2 == 0 { // the middle is between two
			if want := (r.Scores[n/2-1] + r.Scores[n/2]) / 2; math.Abs(r.Quantile(0, 0.5)-want) > 1e-15 {
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
		if k != want.group || known != want.known || math.Abs(r.Quantile(k, 0.5)-want.score) > 1e-9 {
			t.Errorf("%q is group %d (%v) with the median %v, want %+v", value, k, known, r.Quantile(k, 0.5), want)
		}
	}
	if r.Groups[1].Rows != 40 || r.Groups[0].Rows != 120 || math.Abs(r.Groups[0].Coverage-2./3) > 1e-12 || r.Groups[2].Coverage != 1 {
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
