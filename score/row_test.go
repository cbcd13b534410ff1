package score_test

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

type house struct {
	Size, Rooms float64
	Zip         string
	Garden      bool
	Price       float64
	note        string
	Agent       string `credence:"-"`
}

func houses(n int) []house {
	all := make([]house, n)
	for i := range all {
		h := &all[i]
		h.Size, h.Rooms = 50+float64(i*7%60), float64(1+i*3%5)
		h.Zip, h.Garden = []string{"a", "b", "c"}[i%3], i%4 == 0
		h.note = "not exported: no column"
		h.Price = 3*h.Size + 10*h.Rooms + float64(20*(i%3)) + 5*math.Sin(float64(i))
	}
	return all
}

func fitted(t testing.TB, rows any, o fit.Options) *credence.Fitted {
	t.Helper()
	var source credence.Source
	var err error
	switch rows := rows.(type) {
	case []house:
		source, err = table.Structs(rows)
	case credence.Source:
		source = rows
	}
	if err != nil {
		t.Fatal(err)
	}
	model, err := fit.Table(context.Background(), source, o)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// A row alone, a bound row, a map and a table give one answer.
func TestOneAnswer(t *testing.T) {
	all := houses(60)
	for _, o := range []fit.Options{
		{Formula: "Price ~ ."},
		{Formula: "Price ~ log(Size) + Zip:Rooms + Garden"},
		{Formula: "Price ~ . + rbf(Size, Rooms, n=8)", Engine: "exact(draws=2, starts=2)"},
		{Formula: "Garden ~ Size + Zip"},
		{Formula: "Rooms ~ Size + Zip", Family: "ordinal"},
	} {
		model := fitted(t, all, o)
		source, err := table.Structs(all)
		if err != nil {
			t.Fatal(err)
		}
		scorer, err := score.New(model, score.Options{Interval: 0.8})
		if err != nil {
			t.Fatal(err)
		}
		bound, err := score.Bind[house](scorer)
		if err != nil {
			t.Fatal(err)
		}
		pointers, err := score.Bind[*house](scorer)
		if err != nil {
			t.Fatal(err)
		}
		scored, err := scorer.Table(source, score.UseTargets)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		err = scored.Each(context.Background(), func(rows *score.Rows) error {
			for i := range rows.Len() {
				h := all[n]
				n++
				want := rows.Predict(i)
				got, err := bound.Score(h)
				if err != nil || got != want {
					t.Fatalf("%s: bound %v, %v; want %v", o.Formula, got, err, want)
				}
				if got, err = pointers.Score(&h); err != nil || got != want {
					t.Fatalf("%s: bound %v, %v; want %v", o.Formula, got, err, want)
				}
				values := map[string]any{"Size": h.Size, "Rooms": int(h.Rooms), "Zip": h.Zip, "Garden": h.Garden}
				narrow, err := score.Row(model, values)
				if wide, errWide := score.Row(model, h); err != nil || errWide != nil || narrow != wide || narrow.Mean != want.Mean || narrow.Lower > want.Lower {
					t.Fatalf("%s: row %v, %v; struct %v, %v; table %v", o.Formula, narrow, err, wide, errWide, want)
				}
			}
			return nil
		})
		if err != nil || n != len(all) {
			t.Fatal(n, err)
		}
	}
}

// What a row lacks is named.
func TestRowRefusals(t *testing.T) {
	model := fitted(t, houses(60), fit.Options{Formula: "Price ~ Size + Zip"})
	for _, c := range []struct {
		row  any
		want string
	}{
		{map[string]any{"Size": 3.0}, `table: the map lacks the column "Zip": give nil where the value is missing`},
		{struct{ Size float64 }{3}, `table: struct { Size float64 } has no field for the column "Zip": add one, or name it with the tag ` + "`credence:\"Zip\"`"},
		{map[string]any{"Size": "large", "Zip": "a"}, `table: column "Size": "large" is not a number; declare it with --missing large`},
		{map[string]any{"Size": nil, "Zip": "a"}, `frame: row 1: column "Size" is missing: fill in the value, or let --missing mean fill in the mean of training`},
		{map[string]any{"Size": 3.0, "Zip": "new"}, `frame: row 1: column "Zip": level "new" was not seen in training: correct it, or predict without it with --unseen zero`},
		{7, "table: a int is no row: give a struct, or a map[string]any"},
	} {
		if _, err := score.Row(model, c.row); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v", c.row, err)
		}
	}
}

// A bound row of a struct or of a map is scored without allocating.
func TestBoundRowAllocatesNothing(t *testing.T) {
	all := houses(60)
	for _, o := range []fit.Options{
		{Formula: "Price ~ ."},
		{Formula: "Garden ~ Size + Zip"},
		{Formula: "Price ~ . + rbf(Size, Rooms, n=8)", Engine: "exact(draws=2, starts=2)"},
	} {
		scorer, err := score.New(fitted(t, all, o), score.Options{})
		if err != nil {
			t.Fatal(err)
		}
		bound, err := score.Bind[*house](scorer)
		if err != nil {
			t.Fatal(err)
		}
		if allocated := testing.AllocsPerRun(100, func() {
			if _, err := bound.Score(&all[7]); err != nil {
				t.Fatal(err)
			}
		}); allocated != 0 {
			t.Errorf("%s: %v allocations a row", o.Formula, allocated)
		}
	}
}
