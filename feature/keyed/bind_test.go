package keyed

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/keyhash"
	"github.com/credence-ml/credence/table"
)

// rowsOf makes a run of rows from cells: numbers, booleans as 1 and 0, texts; NA is missing.
func rowsOf(columns []table.Column, cells ...string) *table.Rows {
	rows := &table.Rows{}
	rows.Reset("f.csv", columns)
	for _, line := range cells {
		rows.At(rows.Count + 2)
		for k, text := range strings.Split(line, ",") {
			v := math.NaN()
			if columns[k].Text || columns[k].Kind == credence.Category {
				if text != "NA" {
					code, _ := rows.Levels[k].Find([]byte(text), 0)
					v = float64(code)
				}
			} else if text != "NA" {
				v, _ = strconv.ParseFloat(text, 64)
			}
			rows.Values = append(rows.Values, v)
		}
		rows.Count++
	}
	return rows
}

func single(plan *Plan, in Input, bits int) {
	plan.Terms = append(plan.Terms, Term{Inputs: []int{len(plan.Inputs)}, Order: []int{0}, Bits: bits})
	plan.Inputs = append(plan.Inputs, in)
}

// named shows the entries of a batch by name, a row a line.
func named(b *credence.Batch, names *Names) string {
	var out strings.Builder
	for i := range b.Sparse.Rows {
		columns, values := b.Sparse.Row(i)
		fmt.Fprintf(&out, "%v", b.Target[i])
		if b.Weight != nil {
			fmt.Fprintf(&out, " w%v", b.Weight[i])
		}
		for k, slot := range columns {
			v := 1.0
			if values != nil {
				v = values[k]
			}
			fmt.Fprintf(&out, " %s:%v", names.Name(int(slot)), v)
		}
		out.WriteString("\n")
	}
	return out.String()
}

func clicksPlan(missing frame.Policy) *Plan {
	p := &Plan{Format: Format, Roles: frame.Roles{Target: new(frame.Column("y")), Missing: missing, Offset: []frame.Expr{frame.Constant(0)}}}
	p.Offset = nil
	single(p, Input{Expr: frame.Column("x")}, 0)
	single(p, Input{Expr: frame.Column("x").With(frame.Square)}, 0)
	single(p, Input{Expr: frame.Column("c"), Kind: credence.Category}, 0)
	single(p, Input{Expr: frame.Column("d"), Role: AsLevel}, 0)
	p.Terms = append(p.Terms, Term{Inputs: []int{3, 0}, Order: []int{1, 0}}, Term{Inputs: []int{0}, Order: []int{0}, Power: 3})
	return p
}

func clickColumns() []table.Column {
	return []table.Column{{Name: "y"}, {Name: "x"}, {Name: "c", Kind: credence.Category}, {Name: "d", Kind: credence.Numeric, Text: true}}
}

var clickCells = []string{"1,2,a,1.0", "0,NA,b,1", "1,0.5,NA,NA", "0,4,a,1.0", "1,NA,NA,7"}

// bindAll binds rows in runs of a size.
func bindAll(t *testing.T, plan *Plan, size int, cells []string) (text string, index *Index, faults []string, dropped int) {
	t.Helper()
	index, names := &Index{}, &Names{}
	b, err := NewLearning(plan, index, names)
	if err != nil {
		t.Fatal(err)
	}
	for first := 0; first < len(cells); first += size {
		run := rowsOf(clickColumns(), cells[first:min(first+size, len(cells))]...)
		must.Succeed(t, b.Begin(run))
		var batch credence.Batch
		if _, err := b.Bind(&batch, 0, run.Count, len(cells)); err != nil {
			t.Fatal(err)
		}
		text += named(&batch, names)
		for _, fault := range b.Faults {
			faults = append(faults, fault.Err.Error())
		}
		dropped += b.Dropped
	}
	return text, index, faults, dropped
}

// Missing numbers are the mean of the rows before, a missing category is its most frequent level so
// far or a level of its own, and a missing text in hash is a level whatever the policy.
func TestMissingCells(t *testing.T) {
	for _, c := range []struct {
		policy frame.Policy
		want   string
		faults int
		drops  int
	}{
		{"", `1 x:2 square(x):4 c=a:1 d=1.0:1 d=1.0:x:2 x^3:8
0 x:4 square(x):16 c=a:1 d=1.0:1 d=1.0:x:4 x^3:64
`, 3, 0},
		{frame.Drop, `1 x:2 square(x):4 c=a:1 d=1.0:1 d=1.0:x:2 x^3:8
0 x:4 square(x):16 c=a:1 d=1.0:1 d=1.0:x:4 x^3:64
`, 0, 3},
		{frame.Mean, `1 x:2 square(x):4 c=a:1 d=1.0:1 d=1.0:x:2 x^3:8
0 x:2 square(x):4 c=b:1 d=1:1 d=1:x:2 x^3:8
1 x:0.5 square(x):0.25 c=a:1 d=(missing):1 d=(missing):x:0.5 x^3:0.125
0 x:4 square(x):16 c=a:1 d=1.0:1 d=1.0:x:4 x^3:64
1 x:2.1666666666666665 square(x):6.75 c=a:1 d=7:1 d=7:x:2.1666666666666665 x^3:10.171296296296294
`, 0, 0},
		{frame.Indicator, `1 x:2 square(x):4 c=a:1 d=1.0:1 d=1.0:x:2 x^3:8
0 x:2 square(x):4 c=b:1 d=1:1 d=1:x:2 x^3:8 x_missing:1
1 x:0.5 square(x):0.25 c=(missing):1 d=(missing):1 d=(missing):x:0.5 x^3:0.125
0 x:4 square(x):16 c=a:1 d=1.0:1 d=1.0:x:4 x^3:64
1 x:2.1666666666666665 square(x):6.75 c=(missing):1 d=7:1 d=7:x:2.1666666666666665 x^3:10.171296296296294 x_missing:1
`, 0, 0},
	} {
		for size := 1; size <= 5; size++ { // no result depends on where a run ends
			text, index, faults, dropped := bindAll(t, clicksPlan(c.policy), size, clickCells)
			if text != c.want || len(faults) != c.faults || dropped != c.drops {
				t.Errorf("policy %q, runs of %d:\n%s%q, %d dropped, want\n%s%d faults, %d dropped", c.policy, size, text, faults, dropped, c.want, c.faults, c.drops)
			}
			if want := keyhash.Text(keyhash.Space("c"), []byte("a")); index.Find(want) < 0 {
				t.Error("level a of c has another key")
			}
			if want := keyhash.Cross(keyhash.Number(keyhash.Space("x")), keyhash.Text(keyhash.Space("d"), []byte("1.0"))); index.Find(want) < 0 {
				t.Error("d:x has another key: it is crossed in the order of the plan")
			}
		}
	}
	// A row to be scored that lacks a value stays at its place among those bound, behind one whose x^3 is no number.
	_, index, _, _ := bindAll(t, clicksPlan(frame.Drop), 5, clickCells)
	scoring := must.Value(NewBinder(clicksPlan(frame.Drop), &Features{Keys: index.Keys(index.Len())}, frame.IgnoreTargets))(t)
	scoring.MarkLacking = true
	run, batch := rowsOf(clickColumns(), "1,1e200,a,1.0", "0,2,b,1", "1,NA,a,1.0"), credence.Batch{}
	must.Succeed(t, scoring.Begin(run))
	if _, err := scoring.Bind(&batch, 0, 3, 3); err != nil || len(scoring.Faults) != 1 || !slices.Equal(scoring.Lacking, []int{1}) || !slices.Equal(scoring.From, []int{1, 2}) {
		t.Errorf("rows %v lack a value of those from %v, faults %v, %v", scoring.Lacking, scoring.From, scoring.Faults, err)
	}
	_, _, faults, _ := bindAll(t, clicksPlan(""), 5, clickCells)
	if want := `f.csv:3: column "x": the value is missing: leave such rows out with --missing drop, fill it with --missing mean or indicator, or take the column as text by hash(x)`; faults[0] != want {
		t.Errorf("the fault reads %q, want %q", faults[0], want)
	}
}

// A frozen binder makes of the same rows the same entries, and adds up the squares of unseen ones.
func TestScoringOfUnseenKeys(t *testing.T) {
	plan := clicksPlan(frame.Indicator)
	text, index, _, _ := bindAll(t, plan, 5, clickCells)
	mean := plan.Inputs[0].Mean
	b, err := NewBinder(plan, &Features{Keys: index.Keys(index.Len())}, frame.UseTargets)
	if err != nil {
		t.Fatal(err)
	}
	run := rowsOf(clickColumns(), "1,2,a,1.0", "0,3,new,other")
	must.Succeed(t, b.Begin(run))
	var batch credence.Batch
	if _, err := b.Bind(&batch, 0, 2, 0); err != nil {
		t.Fatal(err)
	}
	// c=new, d=other and d=other:x are unseen.
	if !slices.Equal(batch.Unseen, []float64{0, 1 + 1 + 9}) || b.Unknown != 3 || batch.Sparse.Cols != index.Len() {
		t.Errorf("unseen %v, %d entries, %d columns", batch.Unseen, b.Unknown, batch.Sparse.Cols)
	}
	columns, values := batch.Sparse.Row(0)
	if len(columns) != 6 || values[4] != 2 || plan.Inputs[0].Mean != mean || !strings.HasPrefix(text, "1 x:2 ") {
		t.Errorf("row 0 has %v %v", columns, values)
	}
}

// At one fault more than allowed the binder stops before it.
func TestBindStops(t *testing.T) {
	b, err := NewLearning(clicksPlan(""), &Index{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := rowsOf(clickColumns(), clickCells...)
	must.Succeed(t, b.Begin(run))
	var batch credence.Batch
	taken, err := b.Bind(&batch, 0, 5, 1)
	if err == nil || taken != 2 || len(b.Faults) != 1 || b.Faults[0].Row != 1 || batch.Rows() != 1 || !slices.Equal(b.From, []int{0}) {
		t.Errorf("%d taken, faults %v, rows %v, %v", taken, b.Faults, b.From, err)
	}
}

// Kinds are those of the plan, whatever a file has: texts are read as numbers, numbers taken as text.
func TestKindsOfOtherFiles(t *testing.T) {
	plan := &Plan{Format: Format, Roles: frame.Roles{Target: new(frame.Column("y"))}}
	single(plan, Input{Expr: frame.Column("n")}, 0)
	single(plan, Input{Expr: frame.Column("c"), Kind: credence.Category}, 0)
	single(plan, Input{Expr: frame.Column("b"), Kind: credence.Boolean}, 0)
	b, names := (*Binder)(nil), &Names{}
	b, err := NewLearning(plan, &Index{}, names)
	if err != nil {
		t.Fatal(err)
	}
	columns := []table.Column{{Name: "b", Kind: credence.Category}, {Name: "n", Kind: credence.Category}, {Name: "c"}, {Name: "y", Kind: credence.Category}}
	run := rowsOf(columns, "yes,2.5,94110,1", "no,-1,0.1,-1", "maybe,1,1,1", "no,x,1,0", "no,1,1,2")
	must.Succeed(t, b.Begin(run))
	var batch credence.Batch
	if _, err := b.Bind(&batch, 0, 5, 9); err != nil {
		t.Fatal(err)
	}
	if got, want := named(&batch, names), "1 n:2.5 c=94110:1 b:1\n0 n:-1 c=0.1:1\n"; got != want {
		t.Errorf("rows are\n%swant\n%s", got, want)
	}
	for i, want := range []string{`f.csv:4: column "b": "maybe" is not a boolean`, `f.csv:5: column "n": "x" is not a number`, `f.csv:6: label "2" is not 1, 0 or -1`} {
		if !strings.HasPrefix(b.Faults[i].Err.Error(), want) {
			t.Errorf("fault %d reads %v, want %s", i, b.Faults[i].Err, want)
		}
	}
}

// A constant offset is that of every file, whatever columns the files before had.
func TestOffsetOfOtherFiles(t *testing.T) {
	offset := []frame.Expr{{Value: 2}, frame.Column("o")}
	plan := &Plan{Format: Format, Roles: frame.Roles{Target: new(frame.Column("y")), Offset: offset}}
	single(plan, Input{Expr: frame.Column("n")}, 0)
	b := must.Value(NewLearning(plan, &Index{}, &Names{}))(t)
	for _, names := range []string{"y n o", "o n y", "n y o more"} {
		var columns []table.Column
		for _, name := range strings.Fields(names) {
			columns = append(columns, table.Column{Name: name})
		}
		var batch credence.Batch
		must.Succeed(t, b.Begin(rowsOf(columns, strings.Join(slices.Repeat([]string{"1"}, len(columns)), ","))))
		if _, err := b.Bind(&batch, 0, 1, 1); err != nil || !slices.Equal(batch.Offset, []float64{3}) {
			t.Errorf("columns %s: offset %v, want 3; %v", names, batch.Offset, err)
		}
	}
}

// Before its first level, a category under the policy mean is not there: it has no feature, and its crosses have none.
func TestMeanBeforeTheFirstLevel(t *testing.T) {
	plan := &Plan{Format: Format, Roles: frame.Roles{Target: new(frame.Column("y")), Missing: frame.Mean}}
	single(plan, Input{Expr: frame.Column("x")}, 0)
	single(plan, Input{Expr: frame.Column("c"), Kind: credence.Category}, 0)
	plan.Terms = append(plan.Terms, Term{Inputs: []int{1, 0}, Order: []int{0, 1}})
	text, _, _, _ := bindAll(t, plan, 2, []string{"1,2,NA,1", "0,3,NA,1", "1,5,b,1", "1,7,NA,1"})
	if want := "1 x:2\n0 x:3\n1 x:5 c=b:1 c=b:x:5\n1 x:7 c=b:1 c=b:x:7\n"; text != want {
		t.Errorf("%s, want\n%s", text, want)
	}
}

// Entries of one slot add up in rows of any length, and slots of the row before are not taken for those of this one.
func TestLongRows(t *testing.T) {
	plan := &Plan{Format: Format, Bags: []Bag{{Bits: 11}}}
	b, err := NewLearning(plan, &Index{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := credence.Rand(3, credence.SVIOrder, 0)
	rows := &table.Rows{Start: []int{0}}
	var want []map[uint64]float64
	for _, n := range []int{5000, 3, 300, 4000} {
		sums := map[uint64]float64{}
		for range n {
			key := rng.Uint64()
			rows.Keys, rows.Value = append(rows.Keys, key), append(rows.Value, float64(1+rng.IntN(8)))
			sums[keyhash.Shorten(key, 11)] += rows.Value[len(rows.Value)-1]
		}
		rows.Start, want = append(rows.Start, len(rows.Keys)), append(want, sums)
		rows.Count++
	}
	var batch credence.Batch
	must.Succeed(t, b.Begin(rows))
	if _, err := b.Bind(&batch, 0, rows.Count, 0); err != nil {
		t.Fatal(err)
	}
	for i, sums := range want {
		columns, values := batch.Sparse.Row(i)
		if len(columns) != len(sums) {
			t.Fatalf("row %d has %d entries of %d slots", i, len(columns), len(sums))
		}
		for k, slot := range columns {
			if key := b.index.Keys(b.index.Len())[slot]; sums[key] != values[k] {
				t.Fatalf("row %d: %v, want %v", i, values[k], sums[key])
			}
		}
	}
}

// Later passes take the means and the most frequent levels of the first one, and change neither.
func TestMeansStayAfterThePass(t *testing.T) {
	plan := clicksPlan(frame.Mean)
	b, err := NewLearning(plan, &Index{}, &Names{})
	if err != nil {
		t.Fatal(err)
	}
	bind := func(cells ...string) {
		t.Helper()
		var batch credence.Batch
		run := rowsOf(clickColumns(), cells...)
		must.Succeed(t, b.Begin(run))
		if _, err := b.Bind(&batch, 0, run.Count, 0); err != nil {
			t.Fatal(err)
		}
	}
	bind("1,2,a,1", "0,4,b,1", "1,NA,b,1")
	x, c := &plan.Inputs[0], &plan.Inputs[2]
	if x.Mean != 3 || c.Fill != "b" {
		t.Fatalf("the mean is %v and the level %q, want 3 and b", x.Mean, c.Fill)
	}
	bind("1,6,b,1")
	if b.observe(2); x.Mean != 4.8 || x.Seen != 5 { // the row once more, of weight 2
		t.Fatalf("the mean is %v of %v, want 4.8 of 5", x.Mean, x.Seen)
	}
	b.EndPass()
	bind("1,20,a,1", "0,40,a,1", "1,NA,a,1")
	if x.Mean != 4.8 || x.Seen != 5 || c.Fill != "b" || c.Seen != 6 {
		t.Errorf("after another pass the mean is %v of %v, and the level %q of %v", x.Mean, x.Seen, c.Fill, c.Seen)
	}
}

// Where all terms are single levels their keys are shortened as any others are, and a level that fills a gap has its
// name in a cross.
func TestLevelsAlone(t *testing.T) {
	plan := &Plan{Format: Format, Roles: frame.Roles{Target: new(frame.Column("y")), Missing: frame.Mean}}
	single(plan, Input{Expr: frame.Column("c"), Kind: credence.Category}, 0)
	single(plan, Input{Expr: frame.Column("d"), Role: AsLevel}, 9)
	for size := 1; size <= 3; size++ {
		_, index, _, _ := bindAll(t, plan, size, []string{"1,0,a,u", "0,0,b,u", "1,0,a,v"})
		for _, want := range []uint64{keyhash.Text(keyhash.Space("c"), []byte("a")), keyhash.Shorten(keyhash.Text(keyhash.Space("d"), []byte("v")), 9)} {
			if index.Find(want) < 0 || index.Len() != 4 {
				t.Errorf("runs of %d: a key is lacking among %x", size, index.Keys(index.Len()))
			}
		}
		b, err := NewBinder(plan, &Features{Keys: index.Keys(index.Len())}, frame.UseTargets)
		if err != nil {
			t.Fatal(err)
		}
		var batch credence.Batch
		must.Succeed(t, b.Begin(rowsOf(clickColumns(), "1,0,a,v", "0,0,b,u")))
		if _, err := b.Bind(&batch, 0, 2, 0); err != nil || b.Unknown != 0 || len(batch.Sparse.Index) != 4 {
			t.Errorf("%d entries are unknown in scoring, %d known, %v", b.Unknown, len(batch.Sparse.Index), err)
		}
		for level, want := range map[string][2]bool{"a": {true, false}, "v": {false, true}} {
			if got := [2]bool{b.Knows(0, level), b.Knows(1, level)}; got != want {
				t.Errorf("c and d know %s: %v, want %v", level, got, want)
			}
		}
	}
	bits := &Plan{Format: Format, Roles: frame.Roles{Target: new(frame.Column("y")), Missing: frame.Mean}}
	for _, n := range []int{0, 9, 9, 12, 0} {
		single(bits, Input{Expr: frame.Column("d"), Role: AsLevel}, n)
	}
	if text, index, _, _ := bindAll(t, bits, 1, []string{"1,0,a,u"}); index.Len() != 3 {
		t.Errorf("whole, of 9 and of 12 bits a level has %d features:\n%s", index.Len(), text)
	}
	plan = &Plan{Format: Format, Roles: frame.Roles{Target: new(frame.Column("y")), Missing: frame.Mean}, Terms: []Term{{Inputs: []int{0, 1}, Order: []int{0, 1}}},
		Inputs: []Input{{Expr: frame.Column("c"), Kind: credence.Category}, {Expr: frame.Column("d"), Role: AsLevel}}}
	if text, _, _, _ := bindAll(t, plan, 3, []string{"1,0,a,u", "0,0,NA,v"}); text != "1 c=a:d=u:1\n0 c=a:d=v:1\n" {
		t.Errorf("the crosses are\n%s", text)
	}
	b := must.Value(NewBinder(plan, &Features{Keys: []uint64{12}}, frame.UseTargets))(t)
	if !b.Knows(0, "new") { // of crosses alone
		t.Error("a level of a cross is taken to be new")
	}
	if name := (&Features{Keys: []uint64{12}}).WeightName(1); name != "x12" {
		t.Errorf("a key without a name is called %s", name)
	}
}

// Values that are 1 up to an entry are written out where one is not, which may be in a row behind one with a 0.
func TestValuesBehindOnes(t *testing.T) {
	plan := &Plan{Format: Format, Roles: frame.Roles{Target: new(frame.Column("label"))}, Bags: []Bag{{}}}
	binder, err := NewLearning(plan, &Index{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := &table.Rows{}
	rows.Reset("f", []table.Column{{Name: "label"}})
	rows.Values, rows.Count = []float64{1, 0, 1}, 3
	rows.Start, rows.Keys, rows.Value, rows.Ones = []int{0, 3, 5, 6}, []uint64{1, 2, 3, 1, 2, 7}, []float64{1, 0, 1, 1, 2.5, 1}, false
	must.Succeed(t, binder.Begin(rows))
	var b credence.Batch
	if _, err := binder.Bind(&b, 0, 3, 0); err != nil {
		t.Fatal(err)
	}
	if want := []float64{1, 1, 1, 2.5, 1}; !slices.Equal(b.Sparse.Value, want) {
		t.Errorf("values %v, want %v", b.Sparse.Value, want)
	}
	if _, err := binder.Bind(&b, 0, 1, 0); err != nil || b.Sparse.Value != nil {
		t.Errorf("ones alone are written out as %v, %v", b.Sparse.Value, err)
	}
}

// Values of one feature that multiply or add up to either infinity are refused.
func TestEntriesBeyondNumbers(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		rows := &table.Rows{Start: []int{0}}
		for _, values := range [][]float64{{1e308, 3}, {1.5e308, 1.5e308}, {2}} {
			for _, v := range values {
				rows.Keys, rows.Value = append(rows.Keys, 7), append(rows.Value, sign*v)
			}
			rows.Start = append(rows.Start, len(rows.Keys))
			rows.Count++
		}
		b := must.Value(NewLearning(&Plan{Format: Format, Bags: []Bag{{Bits: 11}}}, &Index{}, nil))(t)
		var batch credence.Batch
		must.Succeed(t, b.Begin(rows))
		if _, err := b.Bind(&batch, 0, rows.Count, 0); !errors.Is(err, errTooLarge) {
			t.Errorf("sign %v: %v, values %v", sign, err, batch.Sparse.Value)
		}
	}
	for _, cell := range []string{"1,1e200,a,1", "1,-1e200,a,1", "1,-1e120,a,1"} { // squared, and to the power of 3
		if _, _, faults, _ := bindAll(t, clicksPlan(frame.Refuse), 1, []string{cell}); len(faults) != 1 || !strings.Contains(faults[0], "overflows") && !strings.Contains(faults[0], "infinity") {
			t.Errorf("%s: faults are %q", cell, faults)
		}
	}
}

// TestOrderOfColumns: a row has the same features, target, weight and offset in whatever order a table has its columns;
// to be scored it has its target where that is asked for, and else none.
func TestOrderOfColumns(t *testing.T) {
	columns := []table.Column{
		{Name: "y", Kind: credence.Boolean}, {Name: "x"}, {Name: "c", Kind: credence.Category}, {Name: "d", Kind: credence.Numeric, Text: true}, {Name: "w"}, {Name: "o"}, {Name: "q"},
	}
	cells := []string{"1,2,a,1.0,1,0.5,3", "0,3,b,1,2,-1,2", "1,0.5,a,7,3,4,1", "0,4,a,1.0,0.5,0,7"}
	plan := func() *Plan {
		p := clicksPlan(frame.Mean)
		p.Positive, p.Negative, p.Weight, p.Offset = "yes", "no", new(frame.Column("w")), []frame.Expr{frame.Column("o"), frame.Constant(2), frame.Column("q").With(frame.Square)}
		return p
	}
	bound := func(order []int, of func() (*Binder, *Names)) string {
		var moved []table.Column
		for _, k := range order {
			moved = append(moved, columns[k])
		}
		lines := make([]string, len(cells))
		for i, line := range cells {
			var parts []string
			for _, k := range order {
				parts = append(parts, strings.Split(line, ",")[k])
			}
			lines[i] = strings.Join(parts, ",")
		}
		b, names := of()
		must.Succeed(t, b.Begin(rowsOf(moved, lines...)))
		var batch credence.Batch
		if _, err := b.Bind(&batch, 0, len(cells), 0); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintln(batch.Target, batch.Weight, batch.Offset)
		for i := range batch.Sparse.Rows {
			slots, values := batch.Sparse.Row(i)
			entries := map[string]float64{}
			for k, slot := range slots {
				entries[names.Name(int(slot))] = values[k]
			}
			text += fmt.Sprintln(entries)
		}
		return text
	}
	index, known := &Index{}, &Names{}
	learning := func() (*Binder, *Names) {
		names := &Names{}
		return must.Value(NewLearning(plan(), &Index{}, names))(t), names
	}
	first := bound([]int{0, 1, 2, 3, 4, 5, 6}, func() (*Binder, *Names) { return must.Value(NewLearning(plan(), index, known))(t), known })
	if want := "[1 0 1 0] [1 2 3 0.5] [11.5 5 7 51]\n"; !strings.HasPrefix(first, want) {
		t.Fatalf("rows are %s, want %s", first, want)
	}
	_, entries, _ := strings.Cut(first, "\n")
	for _, order := range [][]int{{2, 0, 1, 3, 4, 5, 6}, {6, 5, 4, 3, 2, 1, 0}, {3, 4, 0, 6, 1, 5, 2}, {1, 6, 3, 5, 0, 2, 4}} {
		if got := bound(order, learning); got != first {
			t.Errorf("columns %v:\n%s, want\n%s", order, got, first)
		}
		for targets, want := range map[frame.Targets]string{frame.IgnoreTargets: "[]", frame.UseTargets: "[1 0 1 0]", frame.RequireTargets: "[1 0 1 0]"} {
			got := bound(order, func() (*Binder, *Names) {
				return must.Value(NewBinder(plan(), &Features{Keys: index.Keys(index.Len())}, targets))(t), known
			})
			roles, of, _ := strings.Cut(got, "\n")
			if of != entries || !strings.HasPrefix(roles, want+" ") || !strings.HasSuffix(roles, "[11.5 5 7 51]") {
				t.Errorf("columns %v, targets %v:\n%s, want %s of\n%s", order, targets, got, want, first)
			}
		}
	}
}
