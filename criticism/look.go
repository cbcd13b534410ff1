package criticism

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/spec"
)

// The kinds of targets that a [credence.Look] tells apart.
const (
	LookCounts  = "counts"  // 0, 1, 2, … of something
	LookGrades  = "grades"  // few whole numbers, in order
	LookClasses = "classes" // two values
	LookShares  = "shares"  // between 0 and 1
	LookAmounts = "amounts" // positive, and skewed as prices are
	LookNumbers = "numbers" // whole, and maybe measurements
	LookTimes   = "times"   // until something that has not happened yet in some rows
)

const (
	// mostGrades is the largest number that is taken for a grade.
	mostGrades = 10
	// lookedAt is at least how many values their quantiles are taken of, where there are as many.
	lookedAt = 10_000
	// fewestLooks is how many values tell how they look.
	fewestLooks = 8
	// counted is up to which whole number values are counted one by one.
	counted = 1024
	// lowDispersion is the ratio of variance and mean below which whole numbers vary less than counts
	// do, whatever columns explain of them, and manyDispersion that from which the negative binomial is named first.
	lowDispersion, manyDispersion = 0.5, 2
	// topShare is the share of rows with the largest value from which on the values end there, as grades do.
	topShare = 0.05
	// heaped is the share of values that are whole tens from which on they are prices or estimates: of counts it is a
	// tenth.
	heaped = 0.3
	// leastAmount is the whole number from which on all values are amounts, such as prices: of a count so large gamma
	// says what the families of counts do.
	leastAmount = 1000
	// narrow is the standard deviation, as a share of the mean, below which whole numbers far from 0 may as well be
	// ages or sizes.
	narrow = 0.5
	// skewed is the skewness by quantiles from which a logarithm is proposed: that of a gamma distribution of shape 8.
	skewed = 0.2
)

// Targets adds up how the values of a target look, in any number of pieces. The zero value has seen none.
// It takes 100 ns a value at most, and memory for 20,000 of them.
type Targets struct {
	rows           int
	low, high      float64
	broken, inside int // values that are not whole, and those from 0 to 1
	few            []float64
	counts         []int // of 0, 1, …, counted-1
	tens           int   // whole tens
	mean, squares  float64
	every          []float64 // each stride-th value
	stride         int
}

// LookAt is the look of the values of a target; see [Targets.Look].
func LookAt(name string, values []float64) *credence.Look {
	var t Targets
	t.Add(values)
	return t.Look(name)
}

// Add takes the next values. Those that are missing, NaN, are left out.
func (t *Targets) Add(values []float64) {
	if t.counts == nil {
		t.counts, t.low, t.high, t.stride = make([]int, counted), math.Inf(1), math.Inf(-1), 1
	}
	for _, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if t.rows%t.stride == 0 {
			if t.every = append(t.every, v); len(t.every) == 2*lookedAt {
				for i := range lookedAt {
					t.every[i] = t.every[2*i]
				}
				t.every, t.stride = t.every[:lookedAt], 2*t.stride
			}
		}
		t.rows++
		t.low, t.high = min(t.low, v), max(t.high, v)
		gap := v - t.mean
		t.mean += gap / float64(t.rows)
		t.squares += gap * (v - t.mean)
		if len(t.few) < 3 && !slices.Contains(t.few, v) {
			t.few = append(t.few, v)
		}
		whole := v == math.Trunc(v)
		if !whole {
			t.broken++
		}
		if v >= 0 && v <= 1 {
			t.inside++
		}
		if whole && v >= 0 && v < counted {
			t.counts[int(v)]++
		}
		if whole && math.Mod(v, 10) == 0 {
			t.tens++
		}
	}
}

// Merge adds the targets of the rows behind.
func (t *Targets) Merge(later *Targets) {
	if later.rows == 0 {
		return
	}
	if t.rows == 0 {
		*t = *later
		t.few, t.counts, t.every = slices.Clone(later.few), slices.Clone(later.counts), slices.Clone(later.every)
		return
	}
	every, stride := later.every, later.stride
	for thin := func(values []float64) (some []float64) {
		for i := 0; i < len(values); i += 2 {
			some = append(some, values[i])
		}
		return some
	}; t.stride != stride || len(t.every)+len(every) >= 2*lookedAt; {
		if t.stride <= stride {
			t.every, t.stride = thin(t.every), 2*t.stride
		}
		if stride < t.stride {
			every, stride = thin(every), 2*stride
		}
	}
	t.every = append(t.every, every...)
	for _, v := range later.few {
		if len(t.few) < 3 && !slices.Contains(t.few, v) {
			t.few = append(t.few, v)
		}
	}
	for v, count := range later.counts {
		t.counts[v] += count
	}
	total := float64(t.rows + later.rows)
	gap := later.mean - t.mean
	t.mean += gap * (float64(later.rows) / total)
	t.squares += later.squares + gap*gap*(float64(t.rows)*(float64(later.rows)/total))
	t.rows, t.broken, t.inside, t.tens = t.rows+later.rows, t.broken+later.broken, t.inside+later.inside, t.tens+later.tens
	t.low, t.high = min(t.low, later.low), max(t.high, later.high)
}

// targetsJSON is the file form of targets.
type targetsJSON struct {
	Rows, Broken, Inside, Tens, Stride int
	Low, High, Mean, Squares           float64
	Few, Every                         []float64
	Counts                             []int
}

// MarshalJSON writes what was seen.
func (t *Targets) MarshalJSON() ([]byte, error) {
	if t.rows == 0 { // whose ends are infinite
		return []byte("{}"), nil
	}
	return json.Marshal(targetsJSON{t.rows, t.broken, t.inside, t.tens, t.stride, t.low, t.high, t.mean, t.squares, t.few, t.every, t.counts})
}

// UnmarshalJSON reads what was seen.
func (t *Targets) UnmarshalJSON(text []byte) error {
	var s targetsJSON
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("criticism: the targets cannot be read: %w", err)
	}
	if s.Rows > 0 && (len(s.Counts) != counted || s.Stride < 1 || s.Stride&(s.Stride-1) != 0 || len(s.Few) > 3) {
		return errors.New("criticism: the targets are damaged")
	}
	*t = Targets{s.Rows, s.Low, s.High, s.Broken, s.Inside, s.Few, s.Counts, s.Tens, s.Mean, s.Squares, s.Every, s.Stride}
	return nil
}

// Look says which family the values look like that are not taken for measurements: nil where there is nothing to
// say, as of real numbers that are not skewed. It goes by the values alone: of counts and grades
// it cannot always tell which they are, and then names the families of both. name is that of the target.
func (t *Targets) Look(name string) *credence.Look {
	switch {
	case t.rows < fewestLooks || len(t.few) < 2:
		return nil
	case len(t.few) == 2:
		low, high := min(t.few[0], t.few[1]), max(t.few[0], t.few[1])
		return &credence.Look{Like: LookClasses, Text: fmt.Sprintf("only the values %s and %s: these look like classes", lookNumber(low), lookNumber(high)),
			Families: []string{"bernoulli"}, Remedy: fmt.Sprintf("--family bernoulli, for the probability of %s", lookNumber(high))}
	case t.broken == 0 && t.low >= 0:
		return t.whole(name)
	case t.inside == t.rows:
		return &credence.Look{Like: LookShares, Text: fmt.Sprintf("numbers from %s to %s: these look like shares", lookNumber(t.low), lookNumber(t.high)), Families: []string{"binomial"},
			Remedy: "of known totals, make the number of successes the target, with --family 'binomial(trials=TOTALS)'; of none, predictions may leave 0 to 1"}
	}
	return t.amounts(name)
}

// whole tells counts from grades and amounts.
func (t *Targets) whole(name string) *credence.Look {
	look := &credence.Look{Text: fmt.Sprintf("whole numbers from %s to %s", lookNumber(t.low), lookNumber(t.high))}
	if zero := t.share(0); zero >= 0.1 {
		look.Text += fmt.Sprintf(", %.0f %% of them 0", 100*zero)
	}
	ratio := t.squares / float64(t.rows) / t.mean
	counts, first := []string{"poisson", "negbinomial"}, "--family poisson, or negbinomial where counts vary more than it allows"
	if ratio > manyDispersion {
		counts, first = []string{"negbinomial", "poisson"}, "--family negbinomial, or poisson where the columns explain how much counts vary"
	}
	switch {
	case t.high <= mostGrades && t.graded(ratio):
		look.Like, look.Families = LookGrades, append([]string{"ordinal"}, counts...)
		look.Text += ": these look like grades, small counts or numbers of classes"
		look.Remedy = fmt.Sprintf("--family ordinal for grades in an order, --family %s for counts, --positive %s for one class against the rest", counts[0], lookNumber(t.low))
	case t.high <= mostGrades:
		look.Like, look.Families = LookCounts, append(slices.Clone(counts), "ordinal")
		look.Text += ": these look like counts"
		look.Remedy = first + "; --family ordinal if they are grades in an order"
	case ratio < lowDispersion:
		look.Like = LookNumbers
		look.Text += ": these vary less than counts do and are taken as measurements"
	case float64(t.tens) > heaped*float64(t.rows) && t.high >= 1000 && t.share(0) < heaped, t.low >= leastAmount:
		return t.amounts(name)
	case t.low > t.mean/3 && t.squares/float64(t.rows) < narrow*narrow*t.mean*t.mean:
		look.Like, look.Families = LookNumbers, []string{"negbinomial"}
		look.Text += ": these may be counts, or measurements in whole units"
		look.Remedy = "--family negbinomial for counts"
	default:
		look.Like, look.Families = LookCounts, counts
		look.Text += ": these look like counts"
		look.Remedy = first
	}
	return look
}

// share is that of a small whole number among the values.
func (t *Targets) share(v int) float64 { return float64(t.counts[v]) / float64(t.rows) }

// graded says whether small whole numbers are grades rather than counts: they vary less than counts do, or
// end at a value that many of them have, and do not fall from 0 on.
func (t *Targets) graded(ratio float64) bool {
	falling := t.low == 0
	for v := 1; v <= int(t.high); v++ {
		falling = falling && t.counts[v] <= t.counts[v-1]
	}
	return !falling && (ratio < lowDispersion || t.share(int(t.high)) > topShare)
}

// amounts tells positive and skewed values from all others.
func (t *Targets) amounts(name string) *credence.Look {
	if t.low < 0 || special.QuantileSkewness(t.every) <= skewed {
		return nil
	}
	if t.low == 0 {
		zero := t.share(0)
		if zero < 0.01 { // a few zeros are for the reader to judge, and have no logarithm
			return nil
		}
		return &credence.Look{Like: LookAmounts, Text: fmt.Sprintf("numbers from 0 to %s, %.0f %% of them 0: these look like amounts where there are any", lookNumber(t.high), 100*zero),
			Families: []string{"gamma"}, Remedy: "fit whether it is 0 (--family bernoulli), and the rows above 0 by --family gamma"}
	}
	logs := make([]float64, len(t.every))
	for i, v := range t.every {
		logs[i] = math.Log(v)
	}
	if math.Abs(special.QuantileSkewness(logs)) >= special.QuantileSkewness(t.every) {
		return nil
	}
	return &credence.Look{Like: LookAmounts, Text: fmt.Sprintf("positive numbers from %s to %s, skewed as prices and durations are", lookNumber(t.low), lookNumber(t.high)),
		Families: []string{"gamma"}, Remedy: fmt.Sprintf("fit log(%s), or --family gamma", spec.Column{Name: name})}
}

// timeWords and eventWords are what people call the time until something, and whether it has happened.
var (
	timeWords  = []string{"time", "times", "survival", "survtime", "survival_time", "futime", "followup", "follow_up", "duration", "lifetime", "tenure", "days", "weeks", "months", "years"}
	eventWords = []string{"died", "dead", "death", "event", "status", "censored", "cens", "delta", "failed", "failure", "relapse", "relapsed", "churn", "churned"}
)

// Censored says that a target is a time until something that a column of two values says has happened or not, by the
// names of both; nil where the names say nothing.
func Censored(target, column string) *credence.Look {
	if !slices.Contains(timeWords, strings.ToLower(target)) || !slices.Contains(eventWords, strings.ToLower(column)) {
		return nil
	}
	target, column = spec.Column{Name: target}.String(), spec.Column{Name: column}.String()
	return &credence.Look{Like: LookTimes, Text: fmt.Sprintf("times at which %s says whether it has happened: those at which it has not are too short, and no column explains that", column), Families: []string{"poisson"},
		Remedy: fmt.Sprintf("predict %s as a count of 0 or 1, by its rate a unit of time: '%[1]s ~ … + offset(log(%s))' --family poisson, for times above 0", column, target)}
}

// lookNumber writes a number for people.
func lookNumber(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}
