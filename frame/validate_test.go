package frame

import (
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
