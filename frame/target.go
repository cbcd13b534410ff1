package frame

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/spec"
)

// mostLevels is the largest number of different values at which a target of numbers is
// still counted value by value. Nobody picks a class out of more.
const mostLevels = 1000

// finish decides how the target is read and fixes its levels, mean and variance. levels are those
// of a category, or the words of a boolean. It returns a hint for the user, or "".
func (t *Target) finish(s *targetTally, levels []string, positive string) (hint string, err error) {
	if t.Mode == Automatic {
		t.Mode = Numbers
		if t.Kind != credence.Numeric || s.only(0, 1) || s.only(-1, 1) {
			t.Mode = Classes
		}
	}
	t.Mean, t.Variance = s.centre(), s.variance()
	if len(t.Expr.Steps) > 0 && t.Expr.Invertible() && s.Steep == 0 && t.Mode == Numbers {
		t.LogSlope = &s.Slope
	}
	switch t.Mode {
	case Numbers:
		if !special.Finite(t.Variance) {
			return "", fmt.Errorf("frame: target %s reaches from %s to %s, and no number holds its variance: divide it by a constant", t.Expr, number(s.Min), number(s.Max))
		}
		if s.constant() {
			hint = fmt.Sprintf("target %s is %s in every row", t.Expr, number(s.Min))
		}
		return hint, nil
	case Grades:
		return t.finishGrades(s)
	}
	return hint, t.finishClasses(s, levels, positive)
}

// Of more than manyGrades grades with fewer than fewAGrade rows each on average, their order tells little that their
// values do not, and each costs a cutpoint.
const manyGrades, fewAGrade = 20, 5

func (t *Target) finishGrades(s *targetTally) (hint string, err error) {
	for _, v := range s.Values {
		if v != math.Floor(v) {
			return "", fmt.Errorf("frame: target %s holds %s, which is no grade: number the grades 0, 1, 2, …", t.Expr, number(v))
		}
	}
	if s.Many {
		return "", fmt.Errorf("frame: target %s has more than %d grades: choose --family gaussian", t.Expr, mostLevels)
	}
	if len(s.Values) < 2 {
		return "", fmt.Errorf("frame: target %s has the one grade %s in every row: at least two are needed: add rows of another, or name another target", t.Expr, number(s.Min))
	}
	grades := slices.Sorted(slices.Values(s.Values))
	var codes moments
	for code, v := range grades {
		t.Levels = append(t.Levels, number(v))
		codes.add([]float64{float64(code)}, []float64{s.Weights[s.place(v)]})
	}
	t.Mean, t.Variance = codes.centre(), codes.variance()
	if n := len(grades); n > manyGrades && s.Weight < fewAGrade*float64(n) {
		hint = fmt.Sprintf("target %s has %d grades, %.2g rows each on average, and a cutpoint is learned between each two of them: if its values are numbers, --family gaussian needs none", t.Expr, n, s.Weight/float64(n))
	}
	return hint, nil
}

func (t *Target) finishClasses(s *targetTally, levels []string, positive string) error {
	if s.Many {
		return fmt.Errorf("frame: target %s has more than %d different values: choose --family gaussian for numbers, or another target", t.Expr, mostLevels)
	}
	names := make([]string, len(s.Values))
	order := make([]int, len(s.Values))
	for i, v := range s.Values {
		names[i], order[i] = t.label(v, levels), i
	}
	// Numbers in their order, names in that of the alphabet.
	slices.SortFunc(order, func(i, j int) int {
		if t.Kind == credence.Category {
			return cmp.Or(strings.Compare(strings.ToLower(names[i]), strings.ToLower(names[j])), strings.Compare(names[i], names[j]))
		}
		return cmp.Compare(s.Values[i], s.Values[j])
	})
	sorted := make([]string, len(order))
	for k, i := range order {
		sorted[k] = names[i]
	}
	if len(sorted) == 1 {
		only := sorted[0]
		if word := t.word(s.Values[0], levels); word != "" {
			only = word
		}
		return fmt.Errorf("frame: target %s is %s in every row: two classes are needed: add rows of the other class, or name another target", t.Expr, only)
	}
	one := -1 // position in values of the class that counts as 1
	switch {
	case positive != "":
		one = slices.IndexFunc(names, func(name string) bool { return sameLabel(name, positive) })
		if one < 0 { // as the file writes it
			one = slices.IndexFunc(s.Values, func(v float64) bool { return strings.EqualFold(t.word(v, levels), positive) })
		}
		if one < 0 {
			for k, i := range order {
				sorted[k] = cmp.Or(t.word(s.Values[i], levels), sorted[k])
			}
			remedy := "choose the positive class among " + list(sorted)
			if near := spec.Suggest(positive, sorted); near != "" {
				remedy = "did you mean " + near + "? " + remedy
			}
			return fmt.Errorf("frame: no row has %s = %q: %s", t.Expr, positive, remedy)
		}
		t.Levels = []string{"", names[one]}
	case len(sorted) == 2:
		one = order[1]
		t.Levels = sorted
	default:
		return TooManyClasses(t.Expr.String(), sorted)
	}
	if t.Kind == credence.Boolean && len(levels) == 2 {
		for _, name := range t.Levels {
			if truth, err := strconv.ParseBool(name); err != nil {
				t.Words = append(t.Words, name) // all the rest
			} else if truth {
				t.Words = append(t.Words, cmp.Or(levels[1], name))
			} else {
				t.Words = append(t.Words, cmp.Or(levels[0], name))
			}
		}
	}
	var codes moments
	for i := range s.Values {
		code := 0.0
		if i == one {
			code = 1
		}
		codes.add([]float64{code}, []float64{s.Weights[i]})
	}
	t.Mean, t.Variance = codes.centre(), codes.variance()
	return nil
}

// label is the text of a raw target value.
func (t *Target) label(v float64, levels []string) string {
	switch t.Kind {
	case credence.Category:
		return levels[int(v)]
	case credence.Boolean:
		return strconv.FormatBool(v != 0)
	}
	return number(v)
}

// word is the text of a boolean in the file, "" for other targets and where it is
// not known.
func (t *Target) word(v float64, words []string) string {
	if k := int(v); t.Kind == credence.Boolean && k < len(words) {
		return words[k]
	}
	return ""
}

// reader takes raw targets of a bound table to what the likelihood sees.
type reader struct {
	labels *Labels   // nil of numbers
	codes  []float64 // of a category: for each level of the table, -1 of what is none
}

func newReader(t *Target, kind credence.Kind, levels []string) *reader {
	if t.Mode == Numbers {
		return &reader{}
	}
	r := &reader{labels: NewLabels(t.Levels, t.Kind)}
	if kind == credence.Category {
		r.codes = make([]float64, len(levels))
		for k, level := range levels {
			r.codes[k] = r.labels.of(level)
		}
	}
	return r
}

// read maps values in place and returns the first that it does not know, or -1. NaN, a missing value, stays NaN. Of a
// level that the source does not know text returns the text, where it can.
func (r *reader) read(values []float64, text func(i int) (text string, ok bool)) int {
	if r.labels == nil {
		return -1
	}
	for i, v := range values {
		if v != v {
			continue
		}
		code, ok := 0.0, false
		switch k := int(v); {
		case r.codes == nil:
			code, ok = r.labels.OfNumber(v)
		case k == -1:
			if level, known := text(i); known {
				code, ok = r.labels.Of([]byte(level))
			} else {
				code, ok = 0, r.labels.names[0] == ""
			}
		case k >= 0 && k < len(r.codes):
			code = r.codes[k]
			ok = code >= 0
		}
		if !ok {
			return i
		}
		values[i] = code
	}
	return -1
}

// TooManyClasses refuses a target of more than two classes where none is chosen.
func TooManyClasses(target string, classes []string) error {
	if number := func(text string) bool { _, err := strconv.ParseFloat(text, 64); return err == nil }; len(classes) > mostNumberedClasses &&
		!slices.ContainsFunc(classes, func(text string) bool { return !number(text) }) {
		return fmt.Errorf("frame: target %s has %d values, %s, and two classes are to be learned: use --family gaussian for numbers, or pick one value against the rest with --positive %s",
			target, len(classes), list(classes), cell.Shell(classes[0]))
	}
	return fmt.Errorf("frame: target %s has %d classes, %s: pick one against the rest with --positive %s",
		target, len(classes), list(classes), cell.Shell(classes[0]))
}

// mostNumberedClasses is the most classes that are likely to go by numbers.
const mostNumberedClasses = 20
