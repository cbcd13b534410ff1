package look_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/look"
)

// sheet is a table as texts, with columns that can be added.
type sheet struct {
	names []string
	cells [][]string // by column
}

func (s *sheet) add(name string, cell func(i int) string) *sheet {
	out := &sheet{slices.Clone(s.names), slices.Clone(s.cells)}
	var column []string
	for i := range s.cells[0] {
		column = append(column, cell(i))
	}
	out.names, out.cells = append(out.names, name), append(out.cells, column)
	return out
}

// plain has nothing odd: two numbers, a boolean, a category with missing cells, and a target.
func plain(rows int) *sheet {
	rng := rand.New(rand.NewPCG(1, 2))
	s := &sheet{names: []string{"size", "age", "sold", "city", "price"}, cells: make([][]string, 5)}
	for i := range rows {
		size, age := 50+30*rng.NormFloat64(), rng.IntN(80)
		city := []string{"Basel", "Bern", "Chur", "Bern"}[rng.IntN(4)]
		if i%10 == 3 {
			city = ""
		}
		for j, text := range []string{fmt.Sprintf("%.3f", size), fmt.Sprint(age), []string{"yes", "no"}[rng.IntN(2)], city, fmt.Sprintf("%.2f", math.Exp(3+.01*size+.4*rng.NormFloat64()))} {
			s.cells[j] = append(s.cells[j], text)
		}
	}
	return s
}

func (s *sheet) text() string {
	var out strings.Builder
	out.WriteString(strings.Join(s.names, ",") + "\n")
	for i := range s.cells[0] {
		for j := range s.cells {
			if j > 0 {
				out.WriteByte(',')
			}
			if text := s.cells[j][i]; strings.ContainsAny(text, ", ") {
				out.WriteString(`"` + text + `"`)
			} else {
				out.WriteString(text)
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// at looks at a text.
func at(t *testing.T, text string, options look.Options) *look.Result {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.csv")
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	table := must.Value(dataset.Open(t.Context(), []string{path}, dataset.Options{CacheDir: t.TempDir()}))(t)
	defer table.Close()
	return must.Value(look.At(t.Context(), table, options))(t)
}

// TestPlain: columns with their kinds, ranges, missing cells and levels, and nothing odd.
func TestPlain(t *testing.T) {
	s := plain(1000)
	r := at(t, s.text(), look.Options{})
	if r.Rows != 1000 || r.Compared != 1000 || len(r.Columns) != 5 || len(r.Findings) != 0 || r.Repeated != 0 {
		t.Fatalf("%+v", r)
	}
	low, high, sum := math.Inf(1), math.Inf(-1), 0.0
	for _, text := range s.cells[1] {
		var v float64
		fmt.Sscan(text, &v)
		low, high, sum = min(low, v), max(high, v), sum+v
	}
	if c := r.Columns[1]; c.Kind != "number" || !c.Whole || float64(c.Low) != low || float64(c.High) != high || !(math.Abs(float64(c.Mean)-sum/1000) <= 1e-9) || c.Missing != 0 {
		t.Errorf("%+v, want %g to %g, mean %g", c, low, high, sum/1000)
	}
	count := map[string]int{}
	for _, text := range s.cells[3] {
		count[text]++
	}
	if c := r.Columns[3]; c.Kind != "category" || c.Missing != count[""] || c.Levels != 3 || len(c.Common) != 3 || c.Common[0] != (look.Level{Name: "Bern", Rows: count["Bern"]}) || c.Low.Defined() {
		t.Errorf("%+v, want %v", c, count)
	}
	if c := r.Columns[2]; c.Kind != "boolean" || c.Levels != 0 || !(c.Mean > .4 && c.Mean < .6) {
		t.Errorf("%+v", c)
	}
	if c := r.Columns[0]; c.Whole || c.Kind != "number" {
		t.Errorf("%+v", c)
	}
	if len(r.Targets) != 1 || r.Targets[0].Column != "price" || !slices.Equal(r.Targets[0].Families, []string{"gamma"}) {
		t.Errorf("targets %+v", r.Targets)
	}
	for column, want := range map[string]string{"sold": "bernoulli", "city": "bernoulli", "size": "gaussian", "price": "gamma"} {
		if r := at(t, s.text(), look.Options{Target: column}); len(r.Targets) != 1 || r.Targets[0].Column != column || r.Targets[0].Families[0] != want ||
			column == "city" && !strings.HasPrefix(r.Targets[0].Remedy, "--positive Bern --family bernoulli ") {
			t.Errorf("%s: %+v", column, r.Targets)
		}
	}
}

// TestPlanted: each of these faults is found, in the column that has it, and nothing else is.
func TestPlanted(t *testing.T) {
	s := plain(600)
	number := func(j, i int) (v float64) {
		fmt.Sscan(s.cells[j][i], &v)
		return v
	}
	month := func(i int) time.Time { return time.Date(2020, 1, 1+i%700, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		what, text string
		column     string
		cell       func(i int) string
	}{
		{look.ID, "numbers the rows, from 1 to 600", "row", func(i int) string { return fmt.Sprint(i + 1) }},
		{look.ID, "numbers the rows", "shuffled", func(i int) string { return fmt.Sprint((i*7)%600 + 100) }},
		{look.ID, "another text in every row", "code", func(i int) string { return fmt.Sprintf("A-%04d", (i*7)%600) }},
		{look.ID, "590 different texts in 600 rows", "note", func(i int) string { return fmt.Sprintf("note %d", min(i, 589)) }},
		{look.ID, "291 different texts in 300 rows", "half", func(i int) string { return []string{fmt.Sprintf("note %d", min(i, 580)), ""}[i%2] }},
		{look.Constant, "is 7 in every row", "seven", func(int) string { return "7" }},
		{look.Constant, `is "x" in every row`, "same", func(i int) string { return []string{"x", ""}[i%2] }},
		{look.Constant, "has no value in any row", "empty", func(int) string { return "" }},
		{look.Copy, "has the same values as size", "copied", func(i int) string { return s.cells[0][i] }},
		{look.Copy, "has one value for each of city", "number of the city", func(i int) string {
			return map[string]string{"Basel": "3", "Bern": "1", "Chur": "2"}[s.cells[3][i]]
		}},
		{look.Copy, "has the same values as price", "paid", func(i int) string { return s.cells[4][i] }},
		{look.NearCopy, "orders the rows as price does (rank correlation 1.0000)", "log of the price", func(i int) string {
			return fmt.Sprintf("%.6f", math.Log(number(4, i))+1e-4*math.Sin(float64(i)))
		}},
		{look.NearCopy, "rank correlation -", "below the price", func(i int) string {
			return fmt.Sprintf("%.6f", -number(4, i)+.3*math.Sin(float64(i)))
		}},
		{look.NearCopy, "is told by price without a mistake in 600 rows", "dear", func(i int) string { return fmt.Sprint(number(4, i) > 30) }},
		{look.Copy, "is 2.54·size − 1", "in centimetres", func(i int) string { return fmt.Sprintf("%.5f", 2.54*number(0, i)-1) }},
		{look.Copy, "is size + age", "total", func(i int) string { return fmt.Sprintf("%.3f", number(0, i)+number(1, i)) }},
		{look.NearCopy, "is size − rest", "price", func(i int) string { return fmt.Sprintf("%.3f", number(0, i)-number(4, i)) }},
		{look.Reading, "a few values are far beyond all others of grams (from ", "", func(i int) string { return fmt.Sprint((40 + i*7%61) * []int{1000, 1}[min(1, i%250)]) }},
		{look.Reading, "one value is nearly all of rare (all but 2 of 600 rows)", "", func(i int) string { return fmt.Sprint(i%300 == 7) }},
		{look.Reading, "looks like dates or times, such as", "month", func(i int) string { return month(i).Format("Jan 2006") }},
		{look.Reading, "looks like times of day, such as", "clock", func(i int) string { return fmt.Sprintf("%02d:%02d", i%24, i*7%60) }},
		{look.Reading, `looks like numbers in "kg"`, "weight", func(i int) string { return fmt.Sprintf("%d kg", 40+i*7%300) }},
		{look.Reading, "all look like dates, such as 2020", "compact", func(i int) string { return month(i).Format("20060102") }},
		{look.Reading, "some begin with 0 as codes do", "zip", func(i int) string { return fmt.Sprintf("%05d", 1000+i*37%97000) }},
		{look.Reading, "looks like codes of 4 digits", "branch", func(i int) string { return fmt.Sprint(4000 + (i*i)%23*41) }},
		{look.Reading, "its name is that of codes", "customer id", func(i int) string { return fmt.Sprint(100 + (i*i)%331) }},
		{look.Reading, "day or the month first", "when", func(i int) string { return fmt.Sprintf("%02d/%02d/2021", 1+i%12, 1+i*5%12) }},
		{look.Reading, "looks like seconds since 1970", "stamp", func(i int) string { return fmt.Sprint(1_600_000_000 + i*7919%600*3600) }},
		{look.Reading, "is -999 in 50 of 600 rows", "rain", func(i int) string { return []string{"-999", fmt.Sprint(i * i % 89)}[min(1, i%12)] }},
		{look.Reading, `differ by case or spaces alone, such as "RED" and "Red"`, "colour", func(i int) string { return []string{"Red", "blue", "RED", "green"}[i*i%7%4] }},
		{look.Reading, "written in several ways", "mixed", func(i int) string { return month(i).Format([]string{"2006-01-02", "02.01.2006"}[i%2]) }},
	} {
		name := c.column
		if words := strings.Fields(c.text); name == "" { // the table's
			name = words[slices.Index(words, "of")+1]
		} else if name == "price" { // the target, which the last word tells
			name = words[len(words)-1]
		}
		r := at(t, s.add(name, c.cell).text(), look.Options{})
		if len(r.Findings) != 1 {
			t.Errorf("%s: %d findings %+v", c.column, len(r.Findings), r.Findings)
			continue
		}
		if f := r.Findings[0]; f.What != c.what || f.Column != c.column || !strings.Contains(f.Text, c.text) {
			t.Errorf("%s: %+v, want %s: %s", c.column, f, c.what, c.text)
		} else if f.Column == "customer id" && f.Remedy != "--types 'customer id=category', if they name groups" {
			t.Errorf("%s: the remedy %s cannot be typed", c.column, f.Remedy)
		}
	}
	// Of two targets each tells the other, whichever comes first.
	dear := func(i int) string { return fmt.Sprint(number(4, i) > 30) }
	priceless := &sheet{s.names[:4], s.cells[:4]}
	for _, both := range []*sheet{s.add("label", dear), priceless.add("label", dear).add("price", func(i int) string { return s.cells[4][i] })} {
		r := at(t, both.text(), look.Options{})
		if !slices.ContainsFunc(r.Findings, func(f look.Finding) bool {
			return f.Column == "label" && f.Text == "is told by price without a mistake in 600 rows, as what is made from it is"
		}) || !slices.ContainsFunc(r.Findings, func(f look.Finding) bool {
			return f.Column == "price" && f.Text == "tells label by itself in 600 of 600 rows"
		}) {
			t.Errorf("%v: %+v", both.names, r.Findings)
		}
	}
	// A copy with the same missing cells.
	holes := func(i int) string { return []string{"", fmt.Sprint(i * i % 13)}[min(1, i%7)] }
	if r := at(t, s.add("holes", holes).add("copied", holes).text(), look.Options{}); !slices.ContainsFunc(r.Findings, func(f look.Finding) bool {
		return f.What == look.Copy && f.Column == "copied" && strings.Contains(f.Text, "has the same values as holes")
	}) {
		t.Errorf("a copy with missing cells: %+v", r.Findings)
	}
	// A missing cell is no level: one that lacks some cells where the other has its first level is no copy.
	region := func(i int) string { return []string{"north", "south", "west"}[i*i%7%3] }
	torn := func(i int) string { return strings.Repeat(region(i), 1-i%2*min(1, strings.Count(region(i), "north"))) }
	if r := at(t, s.add("region", region).add("torn", torn).text(), look.Options{}); slices.ContainsFunc(r.Findings, func(f look.Finding) bool { return f.What == look.Copy }) {
		t.Errorf("a column with holes where the other has its first level: %+v", r.Findings)
	}
	// Rows that are equal, in a table that has more than a few whole numbers.
	lines := strings.SplitAfter(s.text(), "\n")
	r := at(t, strings.Join(lines[:601], "")+strings.Join(lines[5:17], ""), look.Options{})
	// missing values are equal
	if gaps := at(t, "a,b\n"+strings.Repeat("1.5,\n,2.5\n", 10), look.Options{}); gaps.Repeated != 18 {
		t.Errorf("%d repeated", gaps.Repeated)
	}
	if r.Repeated != 12 || len(r.Findings) != 1 || r.Findings[0].What != look.Repeated || !strings.Contains(r.Findings[0].Text, "12 of 612 rows") {
		t.Errorf("repeated: %d, %+v", r.Repeated, r.Findings)
	}
	// Numbers of which nothing tells where thousands end.
	r = at(t, "n;m\n"+strings.Repeat("\"1,300\";2\n\"2,450\";3\n17;4\n", 10), look.Options{})
	if len(r.Columns) != 1 || len(r.Findings) != 1 || r.Findings[0].Column != "n" || !strings.Contains(r.Findings[0].Text, "cannot be read: ") || !strings.Contains(r.Findings[0].Text, "--thousands") {
		t.Errorf("%+v", r)
	}
	dice := "a,b\n" + strings.Repeat("1,2\n2,1\n2,2\n", 30)
	if r := at(t, dice, look.Options{}); r.Repeated != 87 || len(r.Findings) != 0 {
		t.Errorf("dice: %d, %+v", r.Repeated, r.Findings)
	}
}

// TestHealthy: columns that look a little like those are not called odd.
func TestHealthy(t *testing.T) {
	s := plain(600)
	for name, cell := range map[string]func(i int) string{
		"year":    func(i int) string { return fmt.Sprint(1950 + i*7%70) },
		"hour":    func(i int) string { return fmt.Sprint(i % 24) },
		"debt":    func(i int) string { return fmt.Sprint(i*i%7 - 1) },
		"points":  func(i int) string { return []string{"99", fmt.Sprint(i * i % 89)}[min(1, i%12)] },
		"grade":   func(i int) string { return fmt.Sprint(1 + i%6) },
		"salary":  func(i int) string { return fmt.Sprint(30000 + (i*7919)%60000) },
		"words":   func(i int) string { return []string{"small red", "large blue", "may", "march"}[i%4] },
		"sizes":   func(i int) string { return []string{"S", "M", "L", "XL"}[i%4] },
		"date":    func(i int) string { return time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("2006-01-02") },
		"percent": func(i int) string { return fmt.Sprintf("%d %%", i%100) },
		"noisy": func(i int) string {
			var v float64
			fmt.Sscan(s.cells[4][i], &v)
			return fmt.Sprintf("%.4f", v*(1+.3*math.Sin(float64(i))))
		},
	} {
		if r := at(t, s.add(name, cell).text(), look.Options{}); len(r.Findings) != 0 {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
	r := at(t, s.add("date", func(i int) string { return time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("02.01.2006") }).text(), look.Options{})
	if c := r.Columns[5]; !c.Date || c.High-c.Low != 599 {
		t.Errorf("%+v", c)
	}
	for _, small := range []string{"a\n1\n", "a,b\n1,x\n", "a,b\n1,\n1,\n", "y,x\n1,2\n3,4\n"} {
		at(t, small, look.Options{})
	}
}

// TestRefused: what there is not, and what is stopped.
func TestRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	must.Succeed(t, os.WriteFile(path, []byte(plain(50).text()), 0o600))
	table := must.Value(dataset.Open(t.Context(), []string{path}, dataset.Options{}))(t)
	defer table.Close()
	if _, err := look.At(t.Context(), table, look.Options{Target: "cost"}); err == nil || !strings.Contains(err.Error(), `no column "cost"`) {
		t.Error(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := look.At(stopped, table, look.Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestAccounts: whole numbers of six digits that are all different name the rows, those of five may be amounts.
func TestAccounts(t *testing.T) {
	for first, want := range map[int]bool{100_000: true, 10_000: false} {
		s := plain(1200).add("points", func(i int) string { return fmt.Sprint(first + i*7919%1201*first/2000) })
		found := slices.ContainsFunc(at(t, s.text(), look.Options{}).Findings, func(f look.Finding) bool {
			return f.Column == "points" && strings.Contains(f.Text, "accounts or orders")
		})
		if found != want {
			t.Errorf("numbers from %d on: found %t", first, found)
		}
	}
}

// TestLargestNumbers: columns of the largest numbers have a mean that is one.
func TestLargestNumbers(t *testing.T) {
	text := "x,y\n"
	for i := range 60 {
		text += fmt.Sprintf("%v,%d\n", 1.7e308, i%7)
	}
	if c := at(t, text, look.Options{}).Columns[0]; float64(c.Low) != 1.7e308 || !(math.Abs(float64(c.Mean)/1.7e308-1) <= 1e-12) {
		t.Errorf("%+v", c)
	}
}

// TestEnds: a target ranges as its column does, though the row that has its end is none of those that are looked at.
func TestEnds(t *testing.T) {
	for end, want := range map[string]string{"77": "whole numbers from 0 to 77", "-8": "numbers"} {
		for far := range 2 { // of rows so near one at most is looked at
			s := plain(20_001).add("count", func(i int) string {
				if i == 10_006+2*far {
					return end
				}
				return fmt.Sprint((i * i) % 7 % 4)
			})
			found := at(t, s.text(), look.Options{Target: "count"})
			if text := found.Targets[0].Look.Text; !strings.HasPrefix(text, want) {
				t.Errorf("with one of %s: %s", end, text)
			}
		}
	}
}

// TestGuessedTargets: what people call targets is guessed wherever it stands; a name of codes and a column that is told
// to copy another are none, though they stand first and last.
func TestGuessedTargets(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	base := &sheet{names: []string{"id"}, cells: [][]string{nil}}
	for i := range 200 {
		base.cells[0] = append(base.cells[0], fmt.Sprint(9_000_000_000_000_000_000+uint64(i%150)))
	}
	part := base.add("zone", func(i int) string { return fmt.Sprint(1000 + i%10) }).add("size", func(int) string { return fmt.Sprint(rng.NormFloat64()) })
	for _, name := range []string{"click", "nclaims", "is_attributed"} {
		r := at(t, part.add(name, func(i int) string { return fmt.Sprint(rng.IntN(2)) }).add("far", func(i int) string { return fmt.Sprint(float64(i%10) / 7) }).text(), look.Options{})
		if len(r.Targets) != 1 || r.Targets[0].Column != name {
			t.Errorf("%s: %+v", name, r.Targets)
		}
	}
	if r := at(t, part.add("far", func(i int) string { return fmt.Sprint(float64(i%10) / 7) }).text(), look.Options{}); len(r.Targets) != 0 {
		t.Errorf("of %+v: %+v", r.Findings, r.Targets)
	}
}

// TestTells: a column that tells a target of few values, by its levels or by one bound, is a near copy; one that tells
// most of it is not, and neither is one that has another value in nearly every row.
func TestTells(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	visits := make([]int, 600)
	for i := range visits {
		visits[i] = rng.IntN(4)
	}
	bought := func(i int) bool { return visits[i] > 2 }
	noise := func(scale float64) func(i int) string {
		return func(i int) string {
			v := scale * rng.NormFloat64()
			if bought(i) {
				v += 10
			}
			return fmt.Sprintf("%.4f", v)
		}
	}
	s := plain(600).add("visits", func(i int) string { return fmt.Sprint(visits[i]) }).add("bought", func(i int) string { return []string{"no", "yes"}[min(1, visits[i]/3)] })
	for name, c := range map[string]struct {
		target, text string
		cell         func(i int) string
	}{
		"twice and one more at times":   {"visits", "rows", func(i int) string { return fmt.Sprint(2*visits[i] + max(0, i%50-48)) }},
		"other words":                   {"visits", "tells visits by itself in 600 of 600 rows", func(i int) string { return fmt.Sprintf("%c%d", 'a'+visits[i], i%2) }},
		"wrong in eight":                {"visits", "tells visits by itself in 59", func(i int) string { return fmt.Sprint((visits[i] + max(0, i%75-73)) % 4 * 3) }},
		"wrong in sixty":                {"visits", "", func(i int) string { return fmt.Sprint((visits[i] + max(0, i%10-8)) % 4 * 3) }},
		"an amount where it was bought": {"bought", "tells bought by itself in 600 of 600 rows", noise(.5)},
		"less where it was bought": {"bought", "tells bought by itself in 600 of 600 rows", func(i int) string {
			return "-" + fmt.Sprint(map[bool]float64{true: 100, false: 1}[bought(i)]+float64(i)/600)
		}},
		"more where it was bought": {"bought", "", noise(4)},
		"number of the row":        {"visits", "", func(i int) string { return fmt.Sprintf("%.2f", rng.NormFloat64()) }},
	} {
		found := []string{}
		for _, f := range at(t, s.add(name, c.cell).text(), look.Options{Target: c.target}).Findings {
			if f.Column == name && f.What == look.NearCopy {
				found = append(found, f.Text)
			}
		}
		if len(found) != min(1, len(c.text)) || c.text != "" && !strings.Contains(found[0], c.text) {
			t.Errorf("%s: %q, want %q", name, found, c.text)
		}
	}
}

// TestEnough: each of these is told of as many cells as it takes, and not of one less.
func TestEnough(t *testing.T) {
	levels := func(odd func(k int) string, of int) func(i int) string {
		return func(i int) string {
			if k := i % 10; k < of {
				return odd(k)
			}
			return fmt.Sprintf("word %c", 'a'+i%10)
		}
	}
	stamps := func(first, last int) func(i int) string {
		return func(i int) string {
			return fmt.Sprint(first + i*7919%600*((last-first)/599) + i*7919%600/599*((last-first)%599))
		}
	}
	day := func(k int) string { return fmt.Sprintf("%02d:15", k) }
	kilos := func(unit string) func(k int) string { return func(k int) string { return fmt.Sprint(40+k, unit) } }
	s := plain(600)
	for text, c := range map[string]struct{ enough, fewer func(i int) string }{
		"looks like times of day":             {levels(day, 8), levels(day, 7)},
		`looks like numbers in "kg"`:          {levels(kilos(" kg"), 8), levels(kilos(" kg"), 7)},
		`looks like numbers in "kilogrammess`: {levels(kilos(" kilogrammess"), 10), levels(kilos(" kilogrammesss"), 10)},
		`looks like numbers in "km"`:          {levels(kilos(" km"), 8), levels(kilos(" km2"), 10)},
		"is 999 in":                           {func(i int) string { return fmt.Sprint(max(500+i%89, i%100/99*999)) }, func(i int) string { return fmt.Sprint(max(500-i%30*20, i%100/99*999)) }},
		"different texts in 600 rows":         {func(i int) string { return fmt.Sprintf("note %d", min(i, 540)) }, func(i int) string { return fmt.Sprintf("note %d", min(i, 539)) }},
		"seconds since 1970":                  {stamps(600_000_001, 2_999_999_999), stamps(600_000_001, 3_000_000_000)},
		"looks like seconds":                  {stamps(600_000_001, 600_086_402), stamps(600_000_001, 600_086_401)},
		"like seconds":                        {stamps(600_000_001, 700_000_000), stamps(600_000_000, 700_000_000)},
		"may stand for what is missing":       {func(i int) string { return fmt.Sprint(max(i%89, i%100/99*999)) }, func(i int) string { return fmt.Sprint(max(i%89, i%101/100*999)) }},
	} {
		for told, cell := range map[bool]func(i int) string{true: c.enough, false: c.fewer} {
			r := at(t, s.add("odd", cell).text(), look.Options{})
			if is := slices.ContainsFunc(r.Findings, func(f look.Finding) bool { return f.Column == "odd" && strings.Contains(f.Text, text) }); is != told {
				t.Errorf("%s is told: %v, want %v; of %+v", text, is, told, r.Findings)
			}
		}
	}
}

// The mean of a column is that of the rows that have a value, and a boolean's their share, wherever others lack it.
func TestMeansOfKnownValues(t *testing.T) {
	s := plain(200).add("known", func(i int) string {
		if i%4 == 0 {
			return ""
		}
		return fmt.Sprint(3 + i%4*2)
	}).add("told", func(i int) string { return []string{"", "yes", "no", "no"}[i%4] })
	for _, c := range at(t, s.text(), look.Options{}).Columns {
		want, is := map[string]float64{"known": 7, "told": 1. / 3}[c.Name]
		if is && (!(math.Abs(float64(c.Mean)-want) <= 1e-12) || c.Missing != 50) {
			t.Errorf("%s: the mean is %v without %d rows, want %v without 50", c.Name, c.Mean, c.Missing, want)
		}
	}
}

// TestOrderOfColumns: what is found of a column is the same wherever it stands, though several columns have the same
// fault, and a line of many columns says how many there are in all.
func TestOrderOfColumns(t *testing.T) {
	s := plain(600)
	number := func(j, i int) (v float64) {
		fmt.Sscan(s.cells[j][i], &v)
		return v
	}
	cells := map[string]func(i int) string{
		"row": func(i int) string { return fmt.Sprint(i + 1) }, "back": func(i int) string { return fmt.Sprint(5000 + i*7%600) },
		"seven": func(int) string { return "7" }, "eight": func(i int) string { return []string{"8.5", ""}[i%2] }, "same": func(int) string { return "x" },
		"customer id": func(i int) string { return fmt.Sprint(100 + (i*i)%331) }, "account id": func(i int) string { return fmt.Sprint(200 + (i*i)%331*2%331) },
		"branch": func(i int) string { return fmt.Sprint(4000 + (i*i)%23*41) }, "postcode": func(i int) string { return fmt.Sprint(5000 + (i*i+i)%29*13) },
		"clock": func(i int) string { return fmt.Sprintf("%02d:%02d", i%24, i*7%60) }, "weight": func(i int) string { return fmt.Sprintf("%d kg", 40+i*7%300) },
		"dear": func(i int) string { return fmt.Sprint(number(4, i) > 30) }, "cheap": func(i int) string { return fmt.Sprint(number(4, i) < 15) },
		"rain": func(i int) string { return []string{"-999", fmt.Sprint(i * i % 89)}[min(1, i%12)] }, "snow": func(i int) string { return []string{"999", fmt.Sprint(i * i % 83)}[min(1, i%13)] },
		"grams": func(i int) string { return fmt.Sprint((40 + i*7%61) * []int{1000, 1}[min(1, i%250)]) },
		"metres": func(i int) string {
			return fmt.Sprint((20 + i*11%67) * []int{1, 100}[min(1, i%299)] * []int{10000, 1}[min(1, i%299)])
		},
		"colour": func(i int) string { return []string{"Red", "blue", "RED", "green"}[i*i%7%4] }, "tone": func(i int) string { return []string{"a b", "c", "a  b", "d"}[i*3%11%4] },
		"log of the price": func(i int) string { return fmt.Sprintf("%.6f", math.Log(number(4, i))+1e-4*math.Sin(float64(i))) },
	}
	for _, name := range slices.Sorted(maps.Keys(cells)) {
		s = s.add(name, cells[name])
	}
	for k := range 7 {
		s = s.add(fmt.Sprint("rare", k), func(i int) string { return fmt.Sprint(i%300 == 40*k+1) })
	}
	found := func(order []int) (texts []string) {
		moved := &sheet{}
		for _, j := range order {
			moved.names, moved.cells = append(moved.names, s.names[j]), append(moved.cells, s.cells[j])
		}
		r := at(t, moved.text(), look.Options{Target: "price"})
		for _, f := range r.Findings {
			text := f.Text
			if f.Column == "" { // names in the order of columns, of which some are told
				_, text, _ = strings.Cut(text, " of ")
				names := strings.Split(text, "), ")
				text = fmt.Sprint(len(names), strings.Contains(text, "… 7 in all"))
			}
			texts = append(texts, strings.Join([]string{f.Column, f.What, text, f.Remedy}, "|"))
		}
		slices.Sort(texts)
		return texts
	}
	order := make([]int, len(s.names))
	for j := range order {
		order[j] = j
	}
	want := found(order)
	for _, c := range []string{"row", "back", "seven", "eight", "same", "customer id", "account id", "branch", "postcode", "clock", "weight", "dear", "cheap", "rain", "snow", "colour", "tone", "log of the price"} {
		if !slices.ContainsFunc(want, func(text string) bool { return strings.HasPrefix(text, c+"|") }) {
			t.Errorf("nothing is found of %s", c)
		}
	}
	if len(want) != 20 || !slices.ContainsFunc(want, func(text string) bool { return strings.Contains(text, "|6 true|") }) {
		t.Errorf("%d findings: %s", len(want), strings.Join(want, "\n"))
	}
	slices.Reverse(order)
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2 {
		if got := found(order); !slices.Equal(got, want) {
			t.Errorf("in another order:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		rng.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	}
}

// TestTimesUntil: a target that is named as a time, beside a column of two values that is named as an event, is one of
// times of which some are too short, whether the event is a boolean, 0 and 1 or two words, and wherever it stands; of
// more values it is none.
func TestTimesUntil(t *testing.T) {
	for name, c := range map[string]struct {
		event func(i int) string
		is    bool
	}{
		"boolean": {func(i int) string { return fmt.Sprint(i*i%7 > 2) }, true}, "0 and 1": {func(i int) string { return fmt.Sprint(i * i % 7 / 3 % 2) }, true},
		"two words": {func(i int) string { return []string{"dead", "alive"}[i*i%7%2] }, true}, "0 to 2": {func(i int) string { return fmt.Sprint(i * i % 7 % 3) }, false},
		"1 and 2": {func(i int) string { return fmt.Sprint(1 + i*i%7%2) }, false}, "three words": {func(i int) string { return []string{"dead", "alive", "gone"}[i*i%7%3] }, false},
	} {
		s := plain(60)
		s.names[0], s.cells[0] = "status", s.add("", c.event).cells[5]
		late := &sheet{s.names[1:], s.cells[1:]}
		for _, both := range []*sheet{s, late.add("status", c.event)} {
			both = both.add("time", func(i int) string { return fmt.Sprintf("%.3f", 1+math.Abs(math.Sin(float64(i)))*9) })
			r := at(t, both.text(), look.Options{Target: "time"})
			if is := len(r.Targets) == 1 && strings.Contains(r.Targets[0].Text, "says whether it has happened"); is != c.is {
				t.Errorf("%s, %v: %+v", name, both.names, r.Targets)
			}
		}
	}
}

// TestLevelsOfOtherData: of a table that is read as another was, levels that the other lacked are counted together,
// beside its own, in each column, and are not missing.
func TestLevelsOfOtherData(t *testing.T) {
	const rows = 60
	s := plain(rows).add("kind", func(i int) string { return []string{"a", "b", "c"}[i%3] })
	first := at(t, s.text(), look.Options{})
	other := plain(rows).add("kind", func(i int) string { return []string{"b", "new", "c", "newer"}[i%4] })
	other.cells[3] = slices.Clone(other.cells[3])
	bern := 0
	for i, city := range other.cells[3] {
		if i%6 == 0 {
			other.cells[3][i] = "Genf"
		} else if city == "Bern" {
			bern++
		}
	}
	path := filepath.Join(t.TempDir(), "x.csv")
	must.Succeed(t, os.WriteFile(path, []byte(other.text()), 0o600))
	table := must.Value(dataset.Open(t.Context(), []string{path}, dataset.Options{Schema: first.Schema(), CacheDir: t.TempDir()}))(t)
	defer table.Close()
	r := must.Value(look.At(t.Context(), table, look.Options{}))(t)
	missing := 0
	for _, city := range other.cells[3] {
		if city == "" {
			missing++
		}
	}
	if c := r.Columns[3]; c.Missing != missing || c.Levels != 4 || !slices.Contains(c.Common, look.Level{Name: "(not in training)", Rows: rows / 6}) || !slices.Contains(c.Common, look.Level{Name: "Bern", Rows: bern}) {
		t.Errorf("%+v, want %d of Bern and %d missing", c, bern, missing)
	}
	if c := r.Columns[5]; c.Missing != 0 || c.Levels != 4 || c.Common[0] != (look.Level{Name: "(not in training)", Rows: rows / 2}) {
		t.Errorf("%+v", c)
	}
}

// TestNothingCanBeRead: a table of which no column can be read is refused, and of one that can the others are told.
func TestNothingCanBeRead(t *testing.T) {
	unclear := "\"1,300\";\"2,300\"\n\"2,450\";\"4,450\"\n17;18\n"
	path := filepath.Join(t.TempDir(), "x.csv")
	must.Succeed(t, os.WriteFile(path, []byte("n;k\n"+strings.Repeat(unclear, 10)), 0o600))
	table := must.Value(dataset.Open(t.Context(), []string{path}, dataset.Options{CacheDir: t.TempDir()}))(t)
	defer table.Close()
	if _, err := look.At(t.Context(), table, look.Options{}); err == nil || !strings.Contains(err.Error(), "no column of the table can be read as it is: --types says what columns are") {
		t.Error(err)
	}
	r := at(t, "n;m;k\n"+strings.Repeat("\"1,300\";2;\"2,300\"\n\"2,450\";3;\"4,450\"\n17;4;18\n", 10), look.Options{})
	if len(r.Columns) != 1 || r.Columns[0].Name != "m" || len(r.Findings) != 2 || r.Findings[0].Column == r.Findings[1].Column {
		t.Errorf("%+v: %+v", r.Columns, r.Findings)
	}
}
