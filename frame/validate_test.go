package frame

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// A frame that passes Validate is bound to any table without a panic; those here do not pass.
func TestValidateRefusals(t *testing.T) {
	input := func(change func(in *Input)) Frame {
		in := Input{Name: "a", Expr: Column("a"), Scale: 1}
		change(&in)
		return Frame{Inputs: []Input{in}, SegmentWidth: 3}
	}
	classes := func(change func(t *Target)) Frame {
		target := &Target{Expr: Column("y"), Mode: Classes, Kind: credence.Category, Levels: []string{"no", "yes"}}
		change(target)
		return Frame{Target: target}
	}
	for _, c := range []struct {
		what  string
		frame Frame
		want  string
	}{
		{"a name that is no sparse column", input(func(in *Input) { in.Segment = true }), `input a comes from column "a", which is none of the 3 sparse columns`},
		{"a sparse column beyond the segment", input(func(in *Input) { in.Segment, in.Expr = true, Column("x4") }), `column "x4"`},
		{"a transform of no sparse column", input(func(in *Input) { in.Segment, in.Expr = true, Column("a").With(Log) }), `column "a"`},
		{"a scale of 0", input(func(in *Input) { in.Expr = Column("a").With(Scale) }), "statistics of scale"},
		{"a category as number", classes(func(t *Target) { t.Mode, t.Levels = Numbers, nil }), "is a category that is read in mode numbers"},
		{"a category as grades", classes(func(t *Target) { t.Mode = Grades }), "is a category that is read in mode grades"},
		{"the log of a category", classes(func(t *Target) { t.Expr = Column("y").With(Log) }), "is a category that"},
	} {
		err := c.frame.Validate()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error about %q", c.what, err, c.want)
		}
	}
}

// Columns of a sparse segment, plain and under a transform, pass and are bound.
func TestValidateSegment(t *testing.T) {
	source := &memory{rows: [][]float64{{0}, {1}}, sparse: []map[int]float64{{1: 2}, {2: 3}}}
	source.schema = credence.Schema{Columns: []credence.Column{{Name: "y"}}, Sparse: 3, Label: true}
	f := must.Value(Fit(t.Context(), &Plan{Target: target("y"), Inputs: []Expr{Column("x2"), Column("x3").With(Square)}}, source, Options{Raw: true}))(t)
	must.Succeed(t, f.Validate())
	bound := must.Value(f.Bind(source, RequireTargets))(t)
	batch, err := readAll(bound)
	if err != nil || !slices.Equal(batch.X.Data, []float64{2, 0, 0, 9}) {
		t.Errorf("inputs %v, %v", batch.X.Data, err)
	}
}

// A file of a version that let levels pass without their variance is read as one that adds it, and the word is refused
// elsewhere.
func TestFormerZero(t *testing.T) {
	f := &Frame{Missing: Refuse, Unseen: "zero"}
	must.Succeed(t, f.Validate())
	if f.Unseen != AtPrior {
		t.Errorf("unseen is %q", f.Unseen)
	}
	if _, err := (Options{Unseen: "zero"}).Validate(); err == nil || !strings.Contains(err.Error(), "use prior") {
		t.Errorf("zero: %v", err)
	}
}

// A part of a date that is a level is a number in the table, of which no level is known; what cannot be one is refused.
func TestLevelsOfParts(t *testing.T) {
	days := numbers([]string{"t"}, []float64{0}, []float64{1.5}, []float64{7}, []float64{math.NaN()})
	f := must.Value(Fit(t.Context(), &Plan{Inputs: []Expr{Column("t").With(Weekday).AsLevel(), Column("t")}}, days, Options{Missing: Mean}))(t)
	if in := f.Inputs[0]; in.Kind != credence.Category || !slices.Equal(in.Levels, []string{"4", "5"}) || in.Name != "weekday(t)" {
		t.Errorf("%+v", in)
	}
	if c := f.Columns(); len(c) != 1 || c[0].Kind != credence.Numeric || c[0].Levels != nil {
		t.Errorf("columns %+v", c)
	}
	must.Succeed(t, f.Validate())
	bound := must.Value(f.Bind(numbers([]string{"t"}, []float64{15.2}, []float64{14}), IgnoreTargets))(t)
	rows := must.Value(readAll(bound))(t)
	if x := rows.X; x.Row(0)[0] != 1 || x.Row(1)[0] != 0 {
		t.Errorf("codes %v", x.Data)
	}
	_, err := readAll(must.Value(f.Bind(numbers([]string{"t"}, []float64{2}), IgnoreTargets))(t))
	if err == nil || !strings.Contains(err.Error(), "weekday(t) 6 was not seen in training") {
		t.Errorf("%v", err)
	}
	for _, e := range []Expr{Column("t").AsLevel(), Column("t").With(Scale).AsLevel()} {
		if _, err := Fit(t.Context(), &Plan{Inputs: []Expr{e}}, days, Options{Missing: Mean}); err == nil || !strings.Contains(err.Error(), "parts of dates") {
			t.Errorf("%v: %v", e, err)
		}
	}
	if _, err := f.Bind(numbers([]string{"t"}, []float64{0}).with("t", "a"), IgnoreTargets); err == nil {
		t.Error("a part of a category is taken")
	}
}
