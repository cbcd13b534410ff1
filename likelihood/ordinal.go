package likelihood

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// Ordinal is a graded y ∈ {0, …, K} by the cumulative logit model
//
//	P(y ≤ k | f) = σ(Cutpoints[k] − f),   k = 0, …, K−1
//
// (proportional odds, McCullagh 1980). K ascending cutpoints make K+1 grades. A
// constant added to f and to every cutpoint changes nothing, so an intercept is
// identified by its prior only.
type Ordinal struct {
	Cutpoints param.List `json:"cutpoints,omitzero"` // without values one at 0: two grades, a Bernoulli
}

// OrdinalGrades returns an Ordinal of the given number of grades whose
// cutpoints are to be learned, starting where all grades are equally likely at
// f = 0. It panics for fewer than two grades.
func OrdinalGrades(grades int) Ordinal {
	if grades < 2 {
		panic("likelihood: ordinal needs at least two grades")
	}
	cutpoints := make([]float64, grades-1)
	for k := range cutpoints {
		cutpoints[k] = special.Logit(float64(k+1) / float64(grades))
	}
	return Ordinal{param.List{Values: cutpoints}}
}

// top is the highest grade K.
func (l Ordinal) top() int { return max(1, len(l.Cutpoints.Values)) }

// cut is cutpoint k, 0 ≤ k < K.
func (l Ordinal) cut(k int) float64 {
	if len(l.Cutpoints.Values) == 0 {
		return 0
	}
	return l.Cutpoints.Values[k]
}

// Name is "ordinal".
func (l Ordinal) Name() string { return "ordinal" }

// Describe implements [Described].
func (l Ordinal) Describe() (Link, TargetKind) { return Logit, Grades }

func readOrdinal(a *spec.Arguments) Named {
	return Ordinal{a.Means("values of f between the grades, ascending", "").Settings("cutpoints", spec.Finite())}
}

// Grades returns the number of grades, 0 without cutpoints.
func (l Ordinal) Grades() int {
	if len(l.Cutpoints.Values) == 0 {
		return 0
	}
	return len(l.Cutpoints.Values) + 1
}

// WithGrades is [OrdinalGrades].
func (l Ordinal) WithGrades(grades int) Family { return OrdinalGrades(grades) }

// String returns ordinal or ordinal(cutpoints=[…]).
func (l Ordinal) String() string {
	t := param.Text{Name: l.Name()}
	t.List("cutpoints", l.Cutpoints)
	return t.String()
}

// Validate refuses cutpoints that do not ascend.
func (l Ordinal) Validate() error {
	for k, c := range l.Cutpoints.Values {
		if math.IsNaN(c) || math.IsInf(c, 0) || k > 0 && c <= l.Cutpoints.Values[k-1] {
			return fmt.Errorf("likelihood: ordinal: cutpoint %d, %v, does not ascend: state finite cutpoints in ascending order", k+1, c)
		}
	}
	return nil
}

// grade returns y as a grade, or false.
func (l Ordinal) grade(y float64) (int, bool) {
	if !(y >= 0 && y <= float64(l.top())) || y != math.Floor(y) {
		return 0, false
	}
	return int(y), true
}

// logGap is log(1 − e^−gap) for the gap between the cutpoints on either side of
// grade k, 0 for the lowest and highest grades. With it the log probability is
// a sum of two log sigmoids,
//
//	σ(a) − σ(b) = σ(a) σ(−b) (1 − e^(b−a)),
//
// and no difference of probabilities is ever formed.
func (l Ordinal) logGap(k int) float64 {
	if k == 0 || k == l.top() {
		return 0
	}
	return special.Log1mExp(l.cut(k-1) - l.cut(k))
}

// LogDensity returns log P(y|f).
func (l Ordinal) LogDensity(y, f float64) float64 {
	k, ok := l.grade(y)
	if !ok {
		return math.Inf(-1)
	}
	sum := l.logGap(k)
	if k < l.top() {
		sum += special.LogSigmoid(l.cut(k) - f)
	}
	if k > 0 {
		sum += special.LogSigmoid(f - l.cut(k-1))
	}
	return sum
}

// Mean returns E[y|f] = Σ_k P(y > k).
func (l Ordinal) Mean(f float64) float64 { return l.PredictiveMean(f, 0) }

// Variance returns the sum of the covariances of the indicators 1[y > k], all of
// them positive, so that the tails keep their relative accuracy.
func (l Ordinal) Variance(f float64) float64 { return l.PredictiveVariance(f, 0) }

// Derivatives returns log P(y|f) and its derivatives in f.
func (l Ordinal) Derivatives(y, f float64) (value, first, second float64) {
	k, ok := l.grade(y)
	if !ok {
		return math.Inf(-1), math.NaN(), math.NaN()
	}
	value = l.logGap(k)
	if k < l.top() {
		t := l.cut(k) - f
		p := special.Sigmoid(-t)
		value += special.LogSigmoid(t)
		first -= p
		second -= p * special.Sigmoid(t)
	}
	if k > 0 {
		t := f - l.cut(k-1)
		p := special.Sigmoid(-t)
		value += special.LogSigmoid(t)
		first += p
		second -= p * special.Sigmoid(t)
	}
	return value, first, second
}

// Discrete returns true.
func (l Ordinal) Discrete() bool { return true }

// Support is 0, …, K.
func (l Ordinal) Support() (lower, upper float64) { return 0, float64(l.top()) }

// CheckTarget refuses what is no grade.
func (l Ordinal) CheckTarget(y float64) error {
	if _, ok := l.grade(y); !ok {
		return fmt.Errorf("target %v is not a grade 0, …, %d: number the grades from 0, or state one cutpoint fewer than there are grades", y, l.top())
	}
	return nil
}
