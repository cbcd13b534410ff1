package frame_test

import (
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/table"
)

// A service binds once and reads row after row into one batch without allocating.
func TestOneRowAtATime(t *testing.T) {
	type house struct {
		Area, Age, Years float64
		Zip              string
		Sold             bool
	}
	training := []house{{50, 3, 1, "a", true}, {80, 4, 2, "b", false}, {65, 20, 3, "a", false}}
	source, err := table.Structs(training)
	if err != nil {
		t.Fatal(err)
	}
	plan := &frame.Plan{
		Inputs: []frame.Expr{frame.Column("Area"), frame.Column("Age").With(frame.Log), frame.Column("Zip"), frame.Column("Sold")},
		Offset: []frame.Expr{frame.Column("Years")},
	}
	f, err := frame.Fit(t.Context(), plan, source, frame.Options{Missing: frame.Mean, Unseen: frame.AtPrior})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := f.Bind(source, frame.IgnoreTargets)
	if err != nil {
		t.Fatal(err)
	}
	var want credence.Batch
	if err := whole.Read(&want, 0, len(training)); err != nil {
		t.Fatal(err)
	}

	schema := &credence.Schema{Columns: f.Columns()}
	binding, err := table.Bind[house](table.LayoutOf(schema))
	if err != nil {
		t.Fatal(err)
	}
	run := table.NewRun(schema)
	bound, err := f.Bind(run, frame.IgnoreTargets)
	if err != nil {
		t.Fatal(err)
	}
	var rows table.Rows
	var batch credence.Batch
	read := func(h house) {
		binding.Reset(&rows)
		err := binding.Append(&rows, h)
		if err == nil {
			err = run.Set(&rows)
		}
		if err == nil {
			err = bound.Read(&batch, 0, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, h := range training {
		read(h)
		for j, v := range batch.X.Row(0) {
			if v != want.X.Row(i)[j] || batch.Offset[0] != want.Offset[i] {
				t.Fatalf("row %d alone is %v, among others %v", i, batch.X.Row(0), want.X.Row(i))
			}
		}
	}
	read(house{Zip: "elsewhere", Age: 1})
	if batch.X.Row(0)[2] != -1 {
		t.Errorf("a level that training did not see has code %v", batch.X.Row(0)[2])
	}
	if allocated := testing.AllocsPerRun(100, func() { read(training[1]) }); allocated != 0 {
		t.Errorf("a row allocates %v times", allocated)
	}
}
