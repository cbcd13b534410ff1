package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/score"
)

// meaning is a row of the table "One file, one meaning": a file and a formula, and what every
// command and a Go program make of them.
type meaning struct {
	name, file, content, formula string
	missing                      string // --missing
	features                     string // names of the weights, sorted; "" to compare them alone
	rows                         int    // that are learned
	same                         string // content that means the same: equal weights
	sameFormula                  string // formula that means the same
	refused                      string // part of the refusal, where there is one
	streamRefuses                string // the same, under stream alone
}

// repeat returns a header and n rows.
func repeat(header string, n int, row func(i int) string) string {
	var b strings.Builder
	b.WriteString(header)
	for i := range n {
		b.WriteString(row(i))
	}
	return b.String()
}

// label is a class that depends on the row's number in no simple way.
func label(i int) int { return i * i % 7 % 2 }

func meanings() []meaning {
	libsvm := func(row func(i int) string) string {
		return repeat("", 60, func(i int) string { return fmt.Sprintf("%d %s\n", label(i), row(i)) })
	}
	csv := func(header string, row func(i int) string) string {
		return repeat(header+"\n", 60, func(i int) string { return fmt.Sprintf("%d,%s\n", label(i), row(i)) })
	}
	level := func(i int) string { return []string{"u", "v", "w"}[i%3] }
	number := func(i int) float64 { return float64(i*7%11) - 5.5 }
	mixed := csv("y,a,c", func(i int) string { return fmt.Sprintf("%g,%s", number(i), level(i)) })
	holes := func(hole string) string {
		return csv("y,a,b", func(i int) string {
			if i%10 == 3 {
				return fmt.Sprintf("%s,%g", hole, number(i+1))
			}
			return fmt.Sprintf("%g,%g", number(i), number(i+1))
		})
	}
	// late has nothing in a column for longer than the sample that tells kinds.
	late := func(value string) string {
		return repeat("y,a,x\n", 10100, func(i int) string {
			if i < 10050 {
				return fmt.Sprintf("%d,%g,\n", label(i), number(i))
			}
			return fmt.Sprintf("%d,%g,%s\n", label(i), number(i), value)
		})
	}
	return []meaning{
		{name: "libsvm, repeated and out of order", file: "t.svm", formula: "label ~ .", rows: 60, features: "(intercept) x1 x2",
			content: libsvm(func(i int) string { return fmt.Sprintf("2:%d 1:1 2:%d", i%5+1, i%3) }),
			same:    libsvm(func(i int) string { return fmt.Sprintf("1:1 2:%d", i%5+1+i%3) })},
		{name: "libsvm, index 0", file: "t.svm", formula: "label ~ .", rows: 60, features: "(intercept) x0 x1",
			content: libsvm(func(i int) string { return fmt.Sprintf("0:%g 1:1", number(i)) })},
		{name: "a cell that is no number", file: "t.csv", formula: "y ~ x", refused: `t.csv:7: column "x": "ten" is not a number`,
			content: csv("y,x", func(i int) string {
				if i == 5 {
					return "ten"
				}
				return fmt.Sprint(number(i))
			})},
		{name: "mostly words", file: "t.csv", formula: "y ~ x", rows: 60, features: "(intercept) x=1 x=2 x=u x=v",
			content: csv("y,x", func(i int) string { return []string{"1", "u", "2", "v"}[i%4] })},
		{name: "true and false", file: "t.csv", formula: "y ~ x + z", rows: 60, features: "(intercept) x z",
			content: csv("y,x,z", func(i int) string { return fmt.Sprintf("%v,%s", i%3 == 0, []string{"yes", "no"}[i%2]) }),
			same: csv("y,x,z", func(i int) string {
				return fmt.Sprintf("%d,%d", map[bool]int{true: 1}[i%3 == 0], 1-i%2)
			})},
		{name: "missing values refused", file: "t.csv", formula: "y ~ a + b", content: holes("NA"), refused: "--missing"},
		{name: "missing values dropped", file: "t.csv", formula: "y ~ a + b", missing: "drop", rows: 54, features: "(intercept) a b",
			content: holes("NA"), same: strings.Join(slices.DeleteFunc(strings.SplitAfter(holes("NA"), "\n"), func(line string) bool {
				return strings.Contains(line, "NA")
			}), "")},
		{name: "missing values indicated", file: "t.csv", formula: "y ~ a + b", missing: "indicator", rows: 60, features: "(intercept) a a_missing b", content: holes("")},
		{name: "missing values filled", file: "t.csv", formula: "y ~ a + b", missing: "mean", rows: 60, features: "(intercept) a b", content: holes("null")},
		{name: "own words for missing", file: "t.csv", formula: "y ~ a + b", missing: "?,drop", rows: 54, features: "(intercept) a b", content: holes("?"), same: holes("NA")},
		{name: "a term twice", file: "t.csv", formula: "y ~ a + a", rows: 60, features: "(intercept) a", content: mixed, sameFormula: "y ~ a"},
		{name: "a cross twice", file: "t.csv", formula: "y ~ a:c + c:a", rows: 60, features: "(intercept) a:c=u a:c=v a:c=w", content: mixed, sameFormula: "y ~ a:c"},
		{name: "offsets and transforms", file: "t.csv", formula: "y ~ exp(a) + offset(0.5) + offset(log(b))", rows: 60, features: "(intercept) exp(a)",
			content: csv("y,a,b", func(i int) string { return fmt.Sprintf("%g,%d", number(i)/5, 1+i%4) })},
		{name: "weights", file: "t.csv", formula: "y ~ a + weight(w)", features: "(intercept) a", rows: 60,
			content: csv("y,a,w", func(i int) string { return fmt.Sprintf("%g,%g", number(i), []float64{0.5, 1, 2}[i%3]) })},
		{name: "constants that are learned", file: "t.csv", formula: "y ~ center(a) + c", features: "(intercept) c=u c=v c=w center(a)", rows: 60, content: mixed,
			streamRefuses: "center"},
		{name: "hash", file: "t.csv", formula: "y ~ a + hash(c)", rows: 60, features: "(intercept) a c=u c=v c=w", content: mixed},
		{name: "hash of numbers", file: "t.csv", formula: "y ~ hash(a)", rows: 60, content: mixed,
			features: "(intercept) a=-0.5 a=-1.5 a=-2.5 a=-3.5 a=-4.5 a=-5.5 a=0.5 a=1.5 a=2.5 a=3.5 a=4.5"},
		{name: "semicolons and quotes", file: "t.csv", formula: "y ~ a + c", rows: 60, features: "(intercept) a c=u c=v;\nv c=w",
			content: strings.ReplaceAll(strings.ReplaceAll(mixed, ",", ";"), "v\n", "\"v;\nv\"\n"),
			same:    strings.ReplaceAll(mixed, "v\n", "\"v;\nv\"\n")},
		{name: "Vowpal Wabbit text", file: "t.vw", formula: "label ~ .", rows: 60,
			content: repeat("", 60, func(i int) string { return fmt.Sprintf("%d |a x:%g %s |b q\n", 2*label(i)-1, 1+float64(i%3), level(i)) }),
			same:    repeat("", 60, func(i int) string { return fmt.Sprintf("%d |b q |a %s x:%g\n", 2*label(i)-1, level(i), 1+float64(i%3)) })},
		{name: "numbers after a sample of nothing", file: "t.csv", formula: "y ~ a + x", missing: "mean", rows: 10100, features: "(intercept) a x", content: late("2.5")},
		{name: "words after a sample of nothing", file: "t.csv", formula: "y ~ a + x", missing: "drop", rows: 50, features: "(intercept) a x=u", content: late("u")},
		{name: "decimal commas, thousands, currencies and per cent", file: "t.csv", formula: "y ~ a + b + d", rows: 60, features: "(intercept) a b d",
			content: repeat("y;a;b;d\n", 60, func(i int) string {
				return fmt.Sprintf("%d;%s;1.%03d,5 €;%s %%\n", label(i), strings.ReplaceAll(fmt.Sprint(number(i)), ".", ","), i, strings.ReplaceAll(fmt.Sprint(number(i+1)), ".", ","))
			}),
			same: csv("y,a,b,d", func(i int) string { return fmt.Sprintf("%g,%g,%g", number(i), 1000.5+float64(i), number(i+1)) })},
		{name: "dates", file: "t.csv", formula: "y ~ t + weekday(t) + hour(t)", rows: 60, features: "(intercept) hour(t) t weekday(t)",
			content: csv("y,t", func(i int) string { return fmt.Sprintf("1970-01-%02d %02d:00", 1+i%28, i%24) }),
			same:    csv("y,t", func(i int) string { return fmt.Sprintf("%02d.01.1970 %02d:00:00", 1+i%28, i%24) })},
		{name: "parts of what is no date", file: "t.csv", formula: "y ~ month(a)", content: mixed, refused: "a is not a date, and month is a part of one"},
		{name: "an index column without a name", file: "t.csv", formula: "y ~ .", rows: 60, features: "(intercept) a c=u c=v c=w",
			content: repeat(",y,a,c\n", 60, func(i int) string { return fmt.Sprintf("%d,%d,%g,%s\n", i, label(i), number(i), level(i)) }), same: mixed},
		{name: "names given twice", file: "t.csv", formula: "y ~ a + a.2", rows: 60, features: "(intercept) a a.2",
			content: csv("y,a,a", func(i int) string { return fmt.Sprintf("%g,%g", number(i), number(i+3)) })},
		{name: "labels 1 and 2", file: "t.svm", formula: "label ~ .", rows: 60, features: "(intercept) x1",
			content: repeat("", 60, func(i int) string { return fmt.Sprintf("%d 1:%g\n", 1+label(i), number(i)) })},
	}
}

// understood is what one way of reading made of a file.
type understood struct {
	weights map[string]float64 // means by name
	rows    int
	err     string
}

// way is one way to read a file and learn from it.
type way struct {
	name  string
	keyed bool // it is stream's
	read  func(t *testing.T, path, formula, missing string) understood
}

// ways are the commands, and programs.
func ways() []way {
	return []way{
		{"fit", false, func(t *testing.T, path, formula, missing string) understood {
			return byCommand(t, "fit", path, formula, missing, "--raw", "--engine", "sep", "--family", "bernoulli(link=probit)", "--prior", "spikeslab")
		}},
		{"stream", true, func(t *testing.T, path, formula, missing string) understood {
			return byCommand(t, "stream", path, formula, missing)
		}},
		{"Go, fit", false, byTable},
		{"Go, learn", true, byLearner},
	}
}

func byCommand(t *testing.T, command, path, formula, missing string, args ...string) understood {
	model := filepath.Join(t.TempDir(), "m.safetensors")
	args = append([]string{command, path, "-f", formula, "-o", model, "--json"}, args...)
	if missing != "" {
		args = append(args, "--missing", missing)
	}
	o := invoke(t, "", args...)
	if o.code != exitDone {
		if o.code != exitFailed && o.code != exitMisuse {
			t.Errorf("%v: exit %d", args, o.code)
		}
		return understood{err: o.err}
	}
	var inspected struct {
		Rows  int
		Terms []score.Term
	}
	if err := json.Unmarshal([]byte(must(t, "inspect", model, "--json")), &inspected); err != nil {
		t.Fatal(err)
	}
	return understood{weights: means(inspected.Terms), rows: inspected.Rows}
}

func means(terms []score.Term) map[string]float64 {
	weights := map[string]float64{}
	for _, term := range terms {
		weights[term.Name] = term.Mean
	}
	return weights
}

func termsOf(t *testing.T, fitted *credence.Fitted) []score.Term {
	t.Helper()
	terms := sure(score.Terms(fitted, score.TermOptions{}))(t)
	return terms
}

// opened is a file as a program opens it, and its policy.
func opened(t *testing.T, path, missing string) (*dataset.Table, fit.Options) {
	var o dataset.Options
	options := fit.Options{Raw: true, Engine: "sep", Prior: "spikeslab"}
	for _, text := range strings.Split(missing, ",") {
		switch text {
		case "mean", "indicator", "drop":
			options.Missing = frame.Policy(text)
		case "":
		default:
			o.MissingTokens = append(o.MissingTokens, text)
		}
	}
	data := sure(dataset.Open(context.Background(), []string{path}, o))(t)
	t.Cleanup(func() { data.Close() })
	return data, options
}

func byTable(t *testing.T, path, formula, missing string) understood {
	data, options := opened(t, path, missing)
	options.Formula, options.Family = formula, "bernoulli(link=probit)"
	rows, err := data.Load(context.Background(), nil)
	if err != nil {
		return understood{err: err.Error()}
	}
	fitted, err := fit.Table(context.Background(), rows, options)
	if err != nil {
		return understood{err: err.Error()}
	}
	return understood{weights: means(termsOf(t, fitted)), rows: fitted.Report.Rows}
}

func byLearner(t *testing.T, path, formula, missing string) understood {
	data, options := opened(t, path, missing)
	options.Formula, options.Raw = formula, false
	learner, err := learn.New(options)
	if err != nil {
		return understood{err: err.Error()}
	}
	columns, err := learner.Columns(data.Schema())
	if err == nil {
		if classes := data.Classes(learner.Target()); len(classes) == 2 {
			learner.SetClasses(classes[0], classes[1])
		}
		err = data.Rows(context.Background(), columns, credence.Position{}, func(run *dataset.Run) error {
			_, err := learner.Learn(run.Rows)
			return err
		})
	}
	if err != nil {
		return understood{err: err.Error()}
	}
	learner.Finish()
	fitted, err := learner.Fitted()
	if err != nil {
		return understood{err: err.Error()}
	}
	return understood{weights: means(termsOf(t, fitted)), rows: fitted.Report.Rows}
}

// One file has one meaning, whichever command or program reads it.
func TestOneFileOneMeaning(t *testing.T) {
	for _, m := range meanings() {
		t.Run(m.name, func(t *testing.T) {
			path := file(t, m.file, m.content)
			var names []string // as the first way has them
			for _, w := range ways() {
				got := w.read(t, path, m.formula, m.missing)
				refused := m.refused
				if w.keyed && m.streamRefuses != "" {
					refused = m.streamRefuses
				}
				if refused != "" || got.err != "" {
					if got.err == "" || refused == "" || !strings.Contains(got.err, refused) {
						t.Errorf("%s: refusal %q, want %q", w.name, got.err, refused)
					}
					continue
				}
				var own []string
				for name := range got.weights {
					own = append(own, name)
				}
				slices.Sort(own)
				if names == nil {
					names = own
				}
				if m.features != "" && strings.Join(own, " ") != m.features || !slices.Equal(own, names) {
					t.Errorf("%s: weights %q, want %q", w.name, own, m.features)
				}
				if got.rows != m.rows {
					t.Errorf("%s: %d rows, want %d", w.name, got.rows, m.rows)
				}
				content, formula, missing := m.same, m.sameFormula, m.missing
				if content == "" && formula == "" {
					continue
				}
				if content == "" {
					content = m.content
				}
				if formula == "" {
					formula = m.formula
				}
				sameWeights(t, w.name, got, w.read(t, file(t, m.file, content), formula, missing))
			}
		})
	}
}

// sameWeights compares two readings that mean the same: the order of features may differ, and with it
// that of sums.
func sameWeights(t *testing.T, way string, got, want understood) {
	t.Helper()
	if want.err != "" || len(got.weights) != len(want.weights) {
		t.Errorf("%s: %d weights, otherwise written %d, %s", way, len(got.weights), len(want.weights), want.err)
	}
	for name, mean := range want.weights {
		if other, ok := got.weights[name]; !ok || !(math.Abs(other-mean) <= 1e-6*(1+math.Abs(mean))) {
			t.Errorf("%s: %s is %v, otherwise written %v", way, name, other, mean)
		}
	}
}

// What stops a fit is skipped and counted by stream as far as it may.
func TestStreamSkipsWhatFitRefuses(t *testing.T) {
	path := file(t, "t.csv", repeat("y,x\n", 40, func(i int) string { return fmt.Sprintf("%d,%d\n", label(i), i%7) })+"1,ten\n0,2\n")
	args := []string{"stream", path, "-f", "y ~ x", "-o", filepath.Join(t.TempDir(), "m"), "--json"}
	if o := invoke(t, "", args...); o.code != exitFailed || !strings.Contains(o.err, `t.csv:42: column "x": "ten" is not a number`) {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	o := invoke(t, "", append(args, "--max-bad", "1")...)
	if o.code != exitDone {
		t.Fatalf("exit %d: %s", o.code, o.err)
	}
	lines := strings.Split(strings.TrimSpace(o.out), "\n")
	last := decode(t, lines[len(lines)-1])
	if number(t, last, "rows") != 41 || number(t, last, "malformed") != 1 {
		t.Errorf("%s\n%s", lines[len(lines)-1], o.err)
	}
	// A cell of a third class is a fault as any other.
	path = file(t, "c.csv", repeat("y,x\n", 40, func(i int) string { return fmt.Sprintf("%s,%d\n", []string{"no", "yes"}[label(i)], i%7) })+"maybe,3\n")
	if o = invoke(t, "", "stream", path, "-f", "y ~ x", "-o", filepath.Join(t.TempDir(), "m"), "--max-bad", "1"); o.code != exitDone || !strings.Contains(o.err, "c.csv:42: ") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}
