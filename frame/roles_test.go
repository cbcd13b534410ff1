package frame

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// roleRows are rows of several files in which a column has every role that there is, and the plan that gives the roles.
// Row lacks[name] alone lacks the value of the column of the name.
func roleRows(lacks map[string]int) (filedRows, *Plan) {
	names := []string{"y", "a", "g", "w", "p", "n", "o", "q"}
	source := numbers(names).with("g", "k", "l", "m")
	for i := range 1300 {
		v := float64(i)
		row := []float64{v / 7, float64(i * i % 23), float64(i % 3), 1 + float64(i%4), 0.5 + float64(i%5), float64(1 + i%6), v / 3, 5 - v}
		for j, name := range names {
			if at, lacking := lacks[name]; lacking && at == i {
				row[j] = nan
			}
		}
		source.rows = append(source.rows, row)
	}
	return filedRows{placed{source}, []int{0, 600, 600, 1000}}, &Plan{
		Target: target("y"), Inputs: []Expr{Column("a"), Column("g")}, Weight: target("w"), Precision: target("p"), Trials: target("n"),
		Offset: []Expr{Column("o"), Column("q").With(Square)},
	}
}

// TestRolesUnderDrop: a row that lacks the value of any role is left out of training, be it in whatever file or block,
// and counted; in the rows that stay every role has the value of its own row. Rows that are predicted all stay, need
// neither target nor weight, and those that lack another value are marked, each counted once.
func TestRolesUnderDrop(t *testing.T) {
	lacks := map[string]int{"a": 5, "g": 610, "o": 700, "p": 1023, "w": 1100, "y": 1200, "q": 1290, "n": 512}
	source, plan := roleRows(lacks)
	gone := map[int]bool{}
	for _, row := range lacks {
		gone[row] = true
	}
	f := must.Value(Fit(t.Context(), plan, source, Options{Missing: Drop, Raw: true}))(t)
	if f.Rows != 1292 || f.Dropped != 8 || !slices.Contains(f.Remarks, "8 of 1300 rows have missing values and are left out") {
		t.Errorf("%d rows, %d left out; %q", f.Rows, f.Dropped, f.Remarks)
	}
	var columns []string
	for _, c := range f.Columns() {
		columns = append(columns, c.Name)
	}
	if want := []string{"y", "a", "g", "o", "q", "w", "p", "n"}; !slices.Equal(columns, want) {
		t.Errorf("columns %q, want %q", columns, want)
	}
	for _, all := range []Roles{plan.Roles(), f.Roles()} {
		var roles []string
		for _, e := range all.Expressions() {
			roles = append(roles, e.String())
		}
		if want := []string{"y", "w", "p", "n", "o", "square(q)"}; !slices.Equal(roles, want) {
			t.Errorf("roles %q, want %q", roles, want)
		}
	}
	for what, targets := range map[string]Targets{"training": RequireTargets, "prediction": IgnoreTargets} {
		trained := targets == RequireTargets
		bound := must.Value(f.Bind(source, targets))(t)
		bound.MarkLacking()
		want := Counts{Dropped: 8}
		if !trained {
			want = Counts{Lacking: 6}
		}
		for range 2 {
			seen := 0
			for first, count := range credence.Blocks(bound.Rows()) {
				var batch credence.Batch
				must.Succeed(t, bound.Read(&batch, first, count))
				for i := range count {
					at := bound.SourceRow(first + i)
					row := source.rows[at]
					if seen++; gone[at] && trained {
						t.Fatalf("%s: row %d is not left out", what, at)
					}
					if lacking := gone[at] && at != lacks["w"] && at != lacks["y"]; bound.Lacks(i) != lacking {
						t.Fatalf("%s: row %d lacks a value: %v, want %v", what, at, bound.Lacks(i), lacking)
					} else if lacking {
						continue
					}
					if batch.X.Row(i)[0] != row[1] || batch.X.Row(i)[1] != row[2] || batch.Precision[i] != row[4] || batch.Trials[i] != row[5] || batch.Offset[i] != row[6]+row[7]*row[7] {
						t.Fatalf("%s: row %d is %v with precision %v, trials %v and offset %v; want those of %v", what, at, batch.X.Row(i), batch.Precision[i], batch.Trials[i], batch.Offset[i], row)
					}
					if trained && (batch.Target[i] != row[0] || batch.Weight[i] != row[3]) {
						t.Fatalf("row %d has target %v and weight %v, want those of %v", at, batch.Target[i], batch.Weight[i], row)
					}
				}
			}
			if seen != 1300-want.Dropped || bound.Counts() != want {
				t.Errorf("%s: %d rows, %+v, want %+v", what, seen, bound.Counts(), want)
			}
		}
	}
}

// TestRolesThatLackAValue: where no row may be left out, the message names the role and the row behind other blocks and
// files, in training and in rows that are bound; so it does for a weight below 0 and a precision of 0.
func TestRolesThatLackAValue(t *testing.T) {
	whole, plan := roleRows(nil)
	f := must.Value(Fit(t.Context(), plan, whole, Options{}))(t)
	for column, c := range map[string]struct {
		value float64
		want  string
	}{
		"a": {nan, `train.csv:1202: column "a" is missing`}, "o": {nan, "train.csv:1202: offset o is missing"},
		"q": {nan, "train.csv:1202: offset square(q) is missing"}, "n": {nan, "train.csv:1202: trials n is missing"},
		"p": {0, "train.csv:1202: precision p is 0"}, "w": {-1, "train.csv:1202: weight w is -1"}, "y": {nan, "train.csv:1202: target y is missing"},
	} {
		source, _ := roleRows(nil)
		source.rows[1200][source.schema.Index(column)] = c.value
		bound := must.Value(f.Bind(source, RequireTargets))(t)
		if err := bound.Read(&credence.Batch{}, 1024, 200); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("bound: %v, want %s", err, c.want)
		}
		want := c.want
		if c.value != c.value { // training counts them
			want = map[string]string{"a": "missing values in a (1)", "o": "o (1): leave", "q": "q (1): leave", "n": "n (1): leave", "y": "train.csv:1202: target y is missing in 1 row"}[column]
		}
		if _, err := Fit(t.Context(), plan, source, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("training: %v, want %s", err, want)
		}
	}
}

// TestEqualCategories: categories are the same where their texts are, whichever codes these have, and others are not
// whose codes are the same; the level that fills a gap is named.
func TestEqualCategories(t *testing.T) {
	source := numbers([]string{"y", "g", "h", "i"}).with("g", "a", "b").with("h", "c", "d").with("i", "b", "a")
	for i := range 700 {
		code := float64(min(i%3, 1))
		source.rows = append(source.rows, []float64{float64(i), code, code, 1 - code})
	}
	plan := &Plan{Target: target("y"), Inputs: []Expr{Column("g"), Column("h"), Column("i")}}
	f := must.Value(Fit(t.Context(), plan, source, Options{}))(t)
	if want := []string{"inputs g and i have the same values in every row"}; !reflect.DeepEqual(f.Warnings, want) {
		t.Errorf("warnings %q, want %q", f.Warnings, want)
	}
	source.rows[1][1], source.rows[600][1], source.rows[650][3] = nan, nan, nan
	f = must.Value(Fit(t.Context(), plan, source, Options{Missing: Mean}))(t)
	want := []string{"input g: 2 missing values are filled with level b", "input i: 1 missing value is filled with level b"}
	if f.Warnings != nil || !reflect.DeepEqual(f.Remarks, want) {
		t.Errorf("warnings %q, remarks %q, want %q", f.Warnings, f.Remarks, want)
	}
}

// TestIndicatorsHaveNamesOfTheirOwn: an indicator is named beside inputs that have its name, wherever they stand.
func TestIndicatorsHaveNamesOfTheirOwn(t *testing.T) {
	source := numbers([]string{"y", "b", "a", "a_missing", "a_missing_"}, []float64{1, nan, 1, 0, 5}, []float64{2, 3, nan, 2, 4}, []float64{3, 4, 7, 9, 6})
	plan := &Plan{Target: target("y")}
	for _, c := range source.schema.Columns[1:] {
		plan.Inputs = append(plan.Inputs, Column(c.Name))
	}
	f, batch := mustFit(t, plan, source, Options{Missing: Indicator})
	var names []string
	for _, in := range f.Inputs {
		names = append(names, in.Name)
	}
	if want := []string{"b", "a", "a_missing", "a_missing_", "b_missing", "a_missing__"}; !slices.Equal(names, want) {
		t.Errorf("inputs %q, want %q", names, want)
	}
	wantColumn(t, "b_missing", columnOf(&batch.X, 4), []float64{1, 0, 0})
	wantColumn(t, "a_missing__", columnOf(&batch.X, 5), []float64{0, 1, 0})
}

// TestUnseenByDefault: levels that training did not see are refused, unless some input is of drawn groups, where the
// frame leaves it open.
func TestUnseenByDefault(t *testing.T) {
	source := numbers([]string{"y", "g", "h"}, []float64{1, 0, 1}, []float64{2, 1, 0}, []float64{3, 0, 0}).with("g", "a", "b").with("h", "c", "d")
	grouped := Column("h")
	grouped.Grouped = true
	for want, inputs := range map[Unseen][]Expr{RefuseUnseen: {Column("g"), Column("h")}, "": {Column("g"), grouped}} {
		if f, _ := mustFit(t, &Plan{Target: target("y"), Inputs: inputs}, source, Options{}); f.Unseen != want {
			t.Errorf("%v: unseen %q, want %q", inputs, f.Unseen, want)
		}
	}
}

// TestNumbersOfNamedClasses: no number is a class whose name is no number.
func TestNumbersOfNamedClasses(t *testing.T) {
	for _, names := range [][]string{{"low", "5"}, {"5", "high"}, {"a", "b", "5"}} {
		l := NewLabels(names, credence.Numeric)
		for v, want := range map[float64]int{0: -1, 1: -1, 5: slices.Index(names, "5")} {
			if code, ok := l.OfNumber(v); ok != (want >= 0) || ok && code != float64(want) {
				t.Errorf("%s: %v is %v, %v, want %d", fmt.Sprint(names), v, code, ok, want)
			}
		}
	}
}

// TestRowsAreCountedOnce: what is done to the rows that are read is counted once for each row, in whatever runs they
// are read and however often, and each kind apart; the squares of what training did not see are those of the row.
func TestRowsAreCountedOnce(t *testing.T) {
	names := []string{"label", "x", "g", "h"}
	grouped := Column("h")
	grouped.Grouped = true
	training := numbers(names, []float64{1, 0, 0, 1}, []float64{2, 1, 1, 0}, []float64{3, nan, 0, 0}).with("g", "a", "b").with("h", "c", "d")
	training.schema.Sparse, training.schema.Label = 2, true
	training.sparse = []map[int]float64{{0: 1}, {1: 1}, {}}
	f := must.Value(Fit(t.Context(), &Plan{Target: target("label"), Inputs: []Expr{Column("x"), Column("g"), grouped}, Sparse: true}, training, Options{Missing: Mean, Unseen: AtPrior}))(t)
	later := numbers(names).with("g", "a", "z", "b").with("h", "e", "c", "d")
	later.schema.Sparse, later.schema.Label = 5, true
	var want Counts
	var squares []float64
	for i := range 1300 {
		row := []float64{1, float64(i), float64(i % 3), float64((i + 1) % 3)}
		sparse := map[int]float64{i % 5: 2, (i + 2) % 5: float64(1 + i%3)}
		if i%11 == 4 {
			row[1] = nan
			want.Filled++
		}
		if i%3 == 1 {
			want.UnseenLevels++
		}
		if (i+1)%3 == 0 {
			want.DrawnGroups++
		}
		square := 0.0
		for j, v := range sparse {
			if j >= 2 {
				want.UnseenFeatures++
				square += v * v
			}
		}
		squares = append(squares, square)
		later.rows, later.sparse = append(later.rows, row), append(later.sparse, sparse)
	}
	for _, runs := range [][]int{{0, 1300}, {0, 500, 300, 800, 900, 1000, 800, 1300}, {0, 400, 0, 400, 400, 800, 500, 900, 900, 1300, 0, 1300, 1299, 1300}} {
		bound := must.Value(f.Bind(later, IgnoreTargets))(t)
		for k := 0; k < len(runs); k += 2 {
			var batch credence.Batch
			must.Succeed(t, bound.Read(&batch, runs[k], runs[k+1]-runs[k]))
			for i := range batch.X.Rows {
				row := batch.X.Row(i)
				if at := runs[k] + i; batch.Unseen[i] != squares[at] || row[1] != []float64{0, -1, 1}[at%3] || row[2] != []float64{-1, 0, 1}[(at+1)%3] {
					t.Fatalf("row %d is %v, and the squares of what was not seen are %v, want %v", at, row, batch.Unseen[i], squares[at])
				}
			}
		}
		if bound.Counts() != want {
			t.Errorf("runs %v: %+v, want %+v", runs, bound.Counts(), want)
		}
	}
}

// TestShardsOfSparseWidths: shards whose sparse segments end with other columns make the frame of the whole, in either
// order; inputs say which of them come from the segment, whose columns are none of the table's.
func TestShardsOfSparseWidths(t *testing.T) {
	part := func(first, end, width int) *memory {
		source := numbers([]string{"label", "a"})
		source.schema.Sparse, source.schema.Label = width, true
		for i := first; i < end; i++ {
			sparse := map[int]float64{i % width: float64(1 + i%7), (2*i + 1) % width: 3}
			source.rows, source.sparse = append(source.rows, []float64{float64(i % 5), float64(i)}), append(source.sparse, sparse)
		}
		return source
	}
	plan := func() *Plan {
		return &Plan{Target: target("label"), Inputs: []Expr{Column("a"), Column("x1"), Column("x3").With(Square)}, Offset: []Expr{Column("x1"), Column("x2")}, Sparse: true}
	}
	narrow, wide := part(0, 300, 3), part(300, 700, 5)
	both := part(0, 0, 5)
	both.rows, both.sparse = slices.Concat(narrow.rows, wide.rows), slices.Concat(narrow.sparse, wide.sparse)
	whole := must.Value(Fit(t.Context(), plan(), filedSource{both, []int{0, 300}}, Options{}))(t)
	for _, swapped := range []bool{false, true} {
		a := must.Value(NewCensus(plan(), narrow.Schema(), 0, Options{}))(t)
		b := must.Value(NewCensus(plan(), wide.Schema(), 1, Options{}))(t)
		must.Succeed(t, a.AddAll(t.Context(), narrow))
		must.Succeed(t, b.AddAll(t.Context(), wide))
		if swapped {
			a, b = b, a
		}
		must.Succeed(t, a.Merge(b))
		f := must.Value(a.Frame())(t)
		if f.Fingerprint() != whole.Fingerprint() || f.Sparse != 5 || f.SegmentWidth != 5 {
			t.Errorf("merged\n%+v, want\n%+v", f, whole)
		}
	}
	var segment []bool
	for _, in := range whole.Inputs {
		segment = append(segment, in.Segment)
	}
	var columns []string
	for _, c := range whole.Columns() {
		columns = append(columns, c.Name)
	}
	if !slices.Equal(segment, []bool{false, true, true}) || !slices.Equal(columns, []string{"label", "a"}) {
		t.Errorf("inputs of the segment %v, columns %q", segment, columns)
	}
}
