package look

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/order"
)

func (l *looking) find(column, what, remedy, format string, args ...any) {
	l.Findings = append(l.Findings, Finding{column, what, fmt.Sprintf(format, args...), remedy})
}

// judge says what is odd about the columns.
func (l *looking) judge(stated string) {
	odd := make([]bool, len(l.Columns)) // constants and ids, which are no targets and copies of nothing
	for j := range l.Columns {
		odd[j] = l.constant(j) || l.id(j)
		l.disguised(j)
		l.standIn(j)
		l.spellings(j)
	}
	l.copies(odd)
	targets := l.targets(stated, odd)
	l.few(targets, odd)
	l.sums(targets, odd)
	for _, t := range targets {
		l.nearCopies(t, odd)
	}
	fractions := slices.ContainsFunc(l.Columns, func(c Column) bool { return c.Kind == credence.Numeric.String() && !c.Whole })
	if l.Repeated > 0 && fractions { // rows of a few whole numbers are equal by chance
		l.find("", Repeated, "leave copies out, unless rows were counted so: rows in both training and test make the test too good", "%d of %d rows are equal to an earlier one", l.Repeated, l.Rows)
	}
}

// constant says whether a column is the same in every row.
func (l *looking) constant(j int) bool {
	c := &l.Columns[j]
	switch {
	case l.Rows < 2:
		return false
	case c.Missing == l.Rows:
		l.find(c.Name, Constant, "leave it out: - "+cell.Column(c.Name), "has no value in any row")
	case c.Levels == 1:
		l.find(c.Name, Constant, "leave it out: - "+cell.Column(c.Name), "is %q in every row that has a value", c.Common[0].Name)
	case c.Levels == 0 && l.ends[j][0] == l.ends[j][1]:
		l.find(c.Name, Constant, "leave it out: - "+cell.Column(c.Name), "is %.15g in every row that has a value", l.ends[j][0])
	default:
		return false
	}
	return true
}

// fewestNamed is the number of rows from which values that are all different are names of rows.
const fewestNamed = 20

// id says whether a column names the rows.
func (l *looking) id(j int) bool {
	c := &l.Columns[j]
	n := l.Rows - c.Missing
	// something is said of its texts
	if n < fewestNamed || slices.ContainsFunc(l.Findings, func(f Finding) bool { return f.Column == c.Name }) {
		return false
	}
	remedy := "leave it out: - " + cell.Column(c.Name)
	if c.Kind == credence.Category.String() {
		switch {
		case c.Levels == n:
			l.find(c.Name, ID, remedy, "has another text in every row: it names them, or is free text")
			return true
		case n >= 5*fewestNamed && float64(c.Levels) > .9*float64(n):
			l.find(c.Name, ID, remedy, "has %d different texts in %d rows: it names them, or is free text", c.Levels, n)
			return true
		}
		return false
	}
	if c.Date || c.Kind != credence.Numeric.String() {
		return false
	}
	code := l.files.Codes(c.Name) == "identifiers"
	if sorted := l.sorted[j]; !c.Whole || len(slices.Compact(slices.Clone(sorted))) < len(sorted) {
		if code {
			l.find(c.Name, Reading, cell.Types(c.Name+"=category")+", if they name groups", "is read as numbers, and its name is that of codes such as postcodes")
		}
		return code
	}
	rising := slices.IsSorted(slices.DeleteFunc(slices.Clone(l.values[j]), math.IsNaN))
	span, digits := l.ends[j][1]-l.ends[j][0], 1+math.Floor(math.Log10(max(1, l.ends[j][0])))
	switch {
	case rising && span < 1.5*float64(n), span < float64(n):
		l.find(c.Name, ID, remedy, "numbers the rows, from %.0f to %.0f", l.ends[j][0], l.ends[j][1])
	case l.ends[j][0] > 6e8 && l.ends[j][1] < 3e9 && span > 86400: // from 1989 on
		l.find(c.Name, Reading, "write dates as 2024-12-31T23:59:59, for "+cell.Types(c.Name+"=date"), "is read as numbers, and looks like seconds since 1970")
	case code, n >= 1000 && digits >= 6 && l.ends[j][1] < math.Pow(10, digits):
		l.find(c.Name, ID, remedy, "has another whole number in every row, as of accounts or orders")
	default:
		return false
	}
	return true
}

// layouts are dates and times that are not read as such.
var layouts = []string{"2 Jan 2006", "2-Jan-2006", "Jan 2, 2006", "2 January 2006", "January 2, 2006", "Jan 2006", "January 2006", "2006-Jan-2", "Mon, 2 Jan 2006", "Monday, January 2, 2006",
	"2006-01-02 15:04:05 -0700", "Jan-06", "2-Jan-06", "02Jan2006", "15:04", "15:04:05", "2006-01", "2006/01", "01/2006"}

// disguised looks for dates and numbers with units among the levels of a category, and for codes among numbers.
func (l *looking) disguised(j int) {
	c, levels := &l.Columns[j], l.schema.Columns[j].Levels
	if c.Kind == credence.Numeric.String() {
		told := slices.ContainsFunc(l.Findings, func(f Finding) bool { return f.Column == c.Name })
		if !told && l.files.Codes(c.Name) == "codes" && l.ends[j][0] >= 1000 && math.Floor(math.Log10(l.ends[j][0])) == math.Floor(math.Log10(l.ends[j][1])) {
			l.find(c.Name, Reading, cell.Types(c.Name+"=category"), "is read as numbers, and looks like codes of %d digits that come again and again", int(math.Log10(l.ends[j][0]))+1)
		}
		return
	}
	if len(levels) < 3 {
		return
	}
	levels = levels[:min(len(levels), 1000)]
	dates, numbers, units := map[string]int{}, map[string]int{}, 0
	for _, level := range levels {
		for _, layout := range layouts {
			if _, err := time.Parse(layout, strings.TrimSpace(level)); err == nil {
				dates[layout]++
				break
			}
		}
		if unit, is := unitOf(level); is {
			numbers[unit]++
			units++
		}
	}
	enough := .8 * float64(len(levels))
	dated := 0
	for _, count := range dates {
		dated += count
	}
	switch {
	case float64(dated) >= enough:
		remedy, what := "write dates as 2024-12-31, for ", "dates or times"
		if dates["15:04"]+dates["15:04:05"] == dated {
			remedy, what = "write hours as numbers, 13.5 for 13:30, or a date before each time, as 2024-12-31T13:30, for ", "times of day"
		}
		l.find(c.Name, Reading, remedy+cell.Types(c.Name+"=date"), "is read as texts, and looks like %s, such as %q", what, levels[0])
	case float64(units) >= enough && len(numbers) == 1:
		for unit := range numbers {
			l.find(c.Name, Reading, fmt.Sprintf("write the numbers without %q", unit), "is read as texts, and looks like numbers in %q, such as %q", unit, levels[0])
		}
	}
}

// standIns are what files write for a value that is missing.
var standIns = []float64{-1, -9, -99, -999, -9999, -99999, 99, 999, 9999, 99999}

// standIn looks for a number that stands for a missing one: the least or the largest, of a hundredth of the rows or
// more, farther from all others than these are from each other.
func (l *looking) standIn(j int) {
	if l.Columns[j].Kind != credence.Numeric.String() || l.Columns[j].Date {
		return
	}
	sorted := l.sorted[j]
	for _, v := range standIns {
		first, _ := slices.BinarySearch(sorted, v)
		end, _ := slices.BinarySearchFunc(sorted, v, func(a, b float64) int { return cmp.Compare(a, math.Nextafter(b, math.Inf(1))) })
		if end-first < max(5, len(sorted)/100) || 2*(end-first) > len(sorted) || first > 0 && end < len(sorted) {
			continue
		}
		rest := slices.Concat(sorted[:first], sorted[end:])
		low, high := rest[0], rest[len(rest)-1]
		if gap := max(low-v, v-high); high > low && gap > high-low {
			l.find(l.Columns[j].Name, Reading, fmt.Sprintf("--missing %g, if it does", v), "is %g in %d of %d rows, far from all others: it may stand for what is missing", v, end-first, len(sorted))
		}
	}
}

// spellings looks for levels that differ by case and spaces alone.
func (l *looking) spellings(j int) {
	first := map[string]string{}
	for _, level := range l.schema.Columns[j].Levels {
		key := strings.Join(strings.Fields(strings.ToLower(level)), " ")
		if other, known := first[key]; known {
			l.find(l.Columns[j].Name, Reading, "write each level in one way", "has levels that differ by case or spaces alone, such as %q and %q", other, level)
			return
		}
		first[key] = level
	}
}

// unitOf returns what stands behind a number, such as the kg of 12.5 kg.
func unitOf(level string) (unit string, is bool) {
	level = strings.TrimSpace(level)
	number := strings.TrimLeft(level, "+-")
	unit = strings.TrimLeftFunc(number, func(r rune) bool { return unicode.IsDigit(r) || r == '.' || r == ',' })
	if digits := len(number) - len(unit); digits == 0 || !unicode.IsDigit(rune(number[0])) {
		return "", false
	}
	unit = strings.TrimSpace(unit)
	return unit, unit != "" && len(unit) <= 12 && !strings.ContainsFunc(unit, unicode.IsDigit)
}

// codesOf returns the values of a column by their first appearance, 0, 1, …: columns that tell the same apart have the
// same.
func codesOf(values []float64) (codes []int, distinct int) {
	at := map[float64]int{}
	for _, v := range values {
		if v != v {
			codes = append(codes, -1)
			continue
		}
		k, known := at[v]
		if !known {
			k = len(at)
			at[v] = k
		}
		codes = append(codes, k)
	}
	return codes, len(at)
}

// copies finds columns that have the same values as another, or one level for each of its.
func (l *looking) copies(odd []bool) {
	first := map[uint64]int{}
	for j, values := range l.values {
		if odd[j] || len(values) < fewestNamed {
			continue
		}
		codes, distinct := codesOf(values)
		key, same := hash(values), "has the same values as %s"
		if l.schema.Columns[j].Kind == credence.Category || distinct <= len(values)/10 {
			// What is different in most rows is no other column's relabelling.
			coded := make([]float64, len(codes))
			for i, c := range codes {
				coded[i] = float64(c)
			}
			key, same = hash(coded)+1, "has one value for each of %s"
		}
		if k, known := first[key]; known {
			if l.schema.Columns[j].Kind != credence.Category && slices.EqualFunc(l.values[j], l.values[k], func(a, b float64) bool { return a == b || a != a && b != b }) {
				same = "has the same values as %s"
			}
			l.find(l.Columns[j].Name, Copy, "leave one of them out; if one is the target, the other tells it", same, l.Columns[k].Name)
			continue
		}
		first[key] = j
	}
}

// commonTargets are what people call targets.
var commonTargets = []string{"y", "target", "label", "class", "outcome", "response", "survived", "price", "sales", "count", "claims", "churn", "default", "diagnosis",
	"click", "clicks", "clicked", "conversion", "converted", "visits", "nclaims", "fraud", "spam", "died", "death", "rating", "salary"}

// targets returns the columns that may be to be predicted, with what their values look like.
func (l *looking) targets(stated string, odd []bool) (places []int) {
	likely := func(j int) bool {
		// a code, or another column's copy
		told := slices.ContainsFunc(l.Findings, func(f Finding) bool { return f.Column == l.Columns[j].Name })
		return !odd[j] && !told && !l.Columns[j].Date && l.Columns[j].Levels <= 20
	}
	known := func(name string) bool {
		return slices.Contains(commonTargets, name) || strings.HasPrefix(name, "is_") || strings.HasPrefix(name, "has_")
	}
	for j, c := range l.Columns {
		if c.Name == stated || stated == "" && likely(j) && known(strings.ToLower(c.Name)) {
			places = append(places, j)
		}
	}
	if last := len(l.Columns) - 1; len(places) == 0 && last >= 0 {
		for _, j := range slices.Compact([]int{last, 0}) {
			if likely(j) {
				places = append(places, j)
			}
		}
	}
	for _, j := range places {
		c := &l.Columns[j]
		t := Target{Column: c.Name}
		var look *credence.Look
		if c.Kind == credence.Numeric.String() {
			values := l.values[j] // of some rows, and the ends of all
			for _, end := range []float64{float64(c.Low), float64(c.High)} {
				if end == end && !slices.Contains(values, end) {
					values = append(slices.Clip(values), end)
				}
			}
			look = criticism.LookAt(c.Name, values)
		}
		switch {
		case c.Kind == credence.Boolean.String() || c.Levels == 2:
			t.Look = credence.Look{Like: criticism.LookClasses, Text: "two classes", Families: []string{"bernoulli"}, Remedy: "--family bernoulli, which is the default"}
		case c.Levels > 2:
			t.Look = credence.Look{Like: criticism.LookClasses, Text: fmt.Sprintf("%d classes", c.Levels), Families: []string{"bernoulli"},
				Remedy: "--positive " + cell.Shell(c.Common[0].Name) + " --family bernoulli tells one from all the rest"}
		case look != nil:
			t.Look = *look
		default:
			t.Look = credence.Look{Like: criticism.LookNumbers, Text: "numbers", Families: []string{"gaussian"}, Remedy: "--family gaussian, which is the default; studentt where a few are far out"}
		}
		for i := range l.Columns {
			two := l.Columns[i].Kind == credence.Boolean.String() || l.Columns[i].Levels == 2 || l.Columns[i].Whole && l.ends[i] == [2]float64{0, 1}
			if times := criticism.Censored(c.Name, l.Columns[i].Name); times != nil && two {
				t.Look = *times
			}
		}
		l.Targets = append(l.Targets, t)
	}
	return places
}

// nearly is the rank correlation from which on a column is as good as the target.
const nearly = 0.995

// nearCopies finds columns that tell a target as good as exactly.
func (l *looking) nearCopies(target int, odd []bool) {
	t := l.Columns[target].Name
	values := len(slices.Compact(slices.Clone(l.sorted[target])))
	for j, x := range l.values {
		if j == target || odd[j] {
			continue
		}
		var a, b []float64
		for i, y := range l.values[target] {
			if x[i] == x[i] && y == y {
				a, b = append(a, x[i]), append(b, y)
			}
		}
		if len(a) < fewestNamed || slices.Equal(a, b) { // equal ones are copies
			continue
		}
		found := func(format string, args ...any) {
			l.find(l.Columns[j].Name, NearCopy, "leave it out if "+t+" is predicted before it is known: - "+cell.Column(l.Columns[j].Name), format, args...)
		}
		numbers := l.schema.Columns[j].Kind == credence.Numeric && l.schema.Columns[target].Kind == credence.Numeric
		if values <= fewestNamed { // of more, levels times values would be counted
			if wrong, all := mistakes(a, b); all >= 2*fewestNamed && 50*wrong <= all {
				found("tells %s by itself in %d of %d rows", t, len(a)-wrong, len(a))
				continue
			}
		}
		switch {
		case values > 2 && l.flag(j) && toldBy(b, a):
			found("is told by %s without a mistake in %d rows, as what is made from it is", t, len(a))
		case numbers && values > 2:
			if r := stat.Correlation(criticism.Ranks(a), criticism.Ranks(b), nil); math.Abs(r) > nearly {
				found("orders the rows as %s does (rank correlation %.4f)", t, r)
			}
		}
	}
}

// flag says whether a column has two values.
func (l *looking) flag(j int) bool {
	sorted := l.sorted[j]
	last, _ := slices.BinarySearch(sorted, sorted[len(sorted)-1])
	return last > 0 && sorted[last-1] == sorted[0]
}

// toldBy says whether a flag, with one of two values in twenty rows or more, is the same wherever y is.
func toldBy(y, flag []float64) bool {
	wrong, all := mistakes(y, flag)
	return all >= fewestNamed && wrong == 0
}

// mistakes returns in how many rows x does not tell y, which has few values, at best: by the most common y of each
// value of x where these are few, or by one bound between those of x that go with the one and the other of two y; all
// is in how many rows y is not the most common one.
func mistakes(x, y []float64) (wrong, all int) {
	codes, values := codesOf(y)
	_, levels := codesOf(x)
	total := make([]int, values)
	for _, c := range codes {
		total[c]++
	}
	all = len(x) - slices.Max(total)
	byLevel, byBound := 0, all
	here, below := make([]int, values), make([]int, values)
	places := order.By(len(x), func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	for from, to := range order.Runs(len(x), func(a, b int) bool { return x[places[a]] == x[places[b]] }) {
		clear(here)
		for _, i := range places[from:to] {
			here[codes[i]]++
			below[codes[i]]++
		}
		byLevel += to - from - slices.Max(here)
		if values == 2 {
			swapped := below[0] + total[1] - below[1] // wrong, if what is below is the second
			byBound = min(byBound, swapped, len(x)-swapped)
		}
	}
	if levels > len(x)/10 {
		return byBound, all
	}
	return min(byLevel, byBound), all
}
