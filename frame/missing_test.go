package frame

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

func TestMissingPolicies(t *testing.T) {
	source := func() *memory {
		return numbers([]string{"age", "zip", "y"},
			[]float64{10, 0, 1}, []float64{nan, 1, 2}, []float64{30, 1, 3}, []float64{20, nan, 4}).with("zip", "a", "b")
	}
	age := Column("age")
	plan := &Plan{Target: target("y"), Inputs: []Expr{age, Column("zip"), age.With(Square)}}

	f, batch := mustFit(t, plan, source(), Options{Missing: Mean, Raw: true})
	wantColumn(t, "age", columnOf(&batch.X, 0), []float64{10, 20, 30, 20})
	wantColumn(t, "zip", columnOf(&batch.X, 1), []float64{0, 1, 1, 1})
	wantColumn(t, "square(age)", columnOf(&batch.X, 2), []float64{100, 1400. / 3, 900, 400})
	if want := "input age: 1 missing value is filled with the mean"; f.Remarks[0] != want || f.Warnings != nil {
		t.Errorf("remarks are %q, want first %q; warnings %q", f.Remarks, want, f.Warnings)
	}
	// Scaled, the mean is 0, also of a transform: what fills a gap is centred and scaled like the values beside it.
	f, batch = mustFit(t, plan, source(), Options{Missing: Mean})
	sd := math.Sqrt(200. / 3)
	wantColumn(t, "scaled age", columnOf(&batch.X, 0), []float64{-10 * (1 / sd), 0, 10 * (1 / sd), 0})
	squares := []float64{100 - 1400./3, 0, 900 - 1400./3, 400 - 1400./3}
	inverse := 1 / f.Inputs[2].Scale
	for i := range squares {
		squares[i] *= inverse
	}
	wantColumn(t, "scaled square(age)", columnOf(&batch.X, 2), squares)

	f, batch = mustFit(t, plan, source(), Options{Missing: Indicator, Raw: true})
	if len(f.Inputs) != 4 || f.Inputs[3].Name != "age_missing" {
		t.Fatalf("inputs are %+v", f.Inputs)
	}
	wantColumn(t, "age_missing", columnOf(&batch.X, 3), []float64{0, 1, 0, 0})
	wantColumn(t, "zip", columnOf(&batch.X, 1), []float64{0, 1, 1, 2})
	_, scaled := mustFit(t, plan, source(), Options{Missing: Indicator})
	wantColumn(t, "scaled age beside its indicator", columnOf(&scaled.X, 0), []float64{-10 * (1 / sd), 0, 10 * (1 / sd), 0})
	wantColumn(t, "the indicator, never scaled", columnOf(&scaled.X, 3), []float64{0, 1, 0, 0})
	if want := []string{"a", "b", "(missing)"}; !slices.Equal(f.Inputs[1].Levels, want) {
		t.Errorf("levels are %q, want %q", f.Inputs[1].Levels, want)
	}

	f, batch = mustFit(t, plan, source(), Options{Missing: Drop, Raw: true})
	_, scaled = mustFit(t, plan, source(), Options{Missing: Drop})
	wantColumn(t, "scaled age of whole rows", columnOf(&scaled.X, 0), []float64{-1, 1})
	wantColumn(t, "age", columnOf(&batch.X, 0), []float64{10, 30})
	wantColumn(t, "y", batch.Target, []float64{1, 3})
	if f.Rows != 2 || f.Dropped != 2 {
		t.Errorf("%d rows, %d dropped", f.Rows, f.Dropped)
	}
	data, err := f.Bind(source(), IgnoreTargets)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = readAll(data); err == nil || !strings.Contains(err.Error(), `frame: row 2: column "age" is missing`) {
		t.Errorf("prediction under drop: %v", err)
	}
}

// A value that hash() alone takes may be missing; one that is taken beside it may not, in either order of the two.
func TestHashedAndPlain(t *testing.T) {
	source := numbers([]string{"x", "y"}, []float64{0, 10}, []float64{1, 20}, []float64{nan, 30}).with("x", "a", "b")
	hashed, plain := Expr{Column: "x", Keyed: true}, Column("x")
	for _, c := range []struct {
		inputs []Expr
		rows   int
	}{{[]Expr{hashed}, 3}, {[]Expr{hashed, plain}, 2}, {[]Expr{plain, hashed}, 2}} {
		if f, _ := mustFit(t, &Plan{Target: target("y"), Inputs: c.inputs}, source, Options{Missing: Drop}); f.Rows != c.rows {
			t.Errorf("%v: %d rows of %d", c.inputs, f.Rows, c.rows)
		}
	}
}

func TestScoredRowsAllStay(t *testing.T) {
	training := numbers([]string{"x", "w", "y"}, []float64{1, 1, 10}, []float64{2, 2, 20}, []float64{nan, 1, 30})
	w := Column("w")
	f, _ := mustFit(t, &Plan{Target: target("y"), Inputs: []Expr{Column("x")}, Weight: &w}, training, Options{Missing: Drop, Raw: true})
	bound, err := f.Bind(numbers([]string{"y", "x"}, []float64{5, 1}, []float64{nan, 2}, []float64{7, 3}), UseTargets)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := readAll(bound)
	if err != nil {
		t.Fatal(err)
	}
	wantColumn(t, "x", columnOf(&batch.X, 0), []float64{1, 2, 3})
	wantColumn(t, "y", batch.Target, []float64{5, nan, 7})
	if batch.Weight != nil || bound.Counts().Dropped != 0 {
		t.Errorf("weights %v, %d rows dropped", batch.Weight, bound.Counts().Dropped)
	}
	// A class that is missing is no class that training did not see.
	f, _ = mustFit(t, &Plan{Target: target("y"), Inputs: []Expr{Column("x")}},
		numbers([]string{"x", "y"}, []float64{1, 0}, []float64{2, 1}), Options{Raw: true})
	if bound, err = f.Bind(numbers([]string{"x", "y"}, []float64{1, nan}, []float64{1, 1}), UseTargets); err == nil {
		batch, err = readAll(bound)
	}
	if err != nil {
		t.Fatal(err)
	}
	wantColumn(t, "classes", batch.Target, []float64{nan, 1})
	// A missing input has no prediction.
	if bound, err = f.Bind(numbers([]string{"x", "y"}, []float64{nan, 1}), UseTargets); err == nil {
		_, err = readAll(bound)
	}
	if err == nil || !strings.Contains(err.Error(), `column "x" is missing`) {
		t.Errorf("a missing input gave %v", err)
	}
}

func TestDroppingIsCuttingOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	holes, whole := numbers([]string{"x", "y"}), numbers([]string{"x", "y"})
	for i := range 3000 {
		row := []float64{rng.NormFloat64(), rng.NormFloat64()}
		if i > 600 && i < 1900 && i%7 != 0 || rng.IntN(10) == 0 { // a run longer than a block, and some more
			row[rng.IntN(2)] = nan
		} else {
			whole.rows = append(whole.rows, row)
		}
		holes.rows = append(holes.rows, row)
	}
	plan := &Plan{Target: target("y"), Inputs: []Expr{Column("x"), Column("x").With(Scale)}}
	want := must.Value(Fit(t.Context(), plan, whole, Options{Missing: Drop}))(t)
	got := must.Value(Fit(t.Context(), plan, holes, Options{Missing: Drop}))(t)
	if !reflect.DeepEqual(got.Inputs, want.Inputs) || !reflect.DeepEqual(got.Target, want.Target) {
		t.Errorf("with holes %+v, without %+v", got.Inputs, want.Inputs)
	}
	data := must.Value(got.Bind(holes, RequireTargets))(t)
	var batch credence.Batch
	for _, run := range [][2]int{{0, 700}, {590, 40}, {len(whole.rows) - 3, 3}, {5, 0}} {
		must.Succeed(t, data.Read(&batch, run[0], run[1]))
		for i := range run[1] {
			if batch.Target[i] != whole.rows[run[0]+i][1] {
				t.Fatalf("row %d has target %g, want %g", run[0]+i, batch.Target[i], whole.rows[run[0]+i][1])
			}
			if source := data.SourceRow(run[0] + i); &holes.rows[source][0] != &whole.rows[run[0]+i][0] {
				t.Fatalf("row %d is said to come from row %d", run[0]+i, source)
			}
		}
	}
}

func TestUnseenLevelsAndOtherOrders(t *testing.T) {
	training := numbers([]string{"zip", "x"}, []float64{0, 5}, []float64{2, 6}).with("zip", "a", "never", "b")
	plan := &Plan{Inputs: []Expr{Column("zip"), Column("x")}}
	later := numbers([]string{"more", "x", "zip"}, []float64{0, 6, 0}, []float64{0, 5, 1}, []float64{0, 5, 2}).with("zip", "b", "a", "c")

	f, err := Fit(t.Context(), plan, training, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b"}; !slices.Equal(f.Inputs[0].Levels, want) {
		t.Errorf("levels are %q, want %q", f.Inputs[0].Levels, want)
	}
	data, err := f.Bind(later, IgnoreTargets)
	if err != nil {
		t.Fatal(err)
	}
	_, err = readAll(data)
	want := `frame: row 3: column "zip": level "c" was not seen in training (this table has 1 such level): correct it, or let --unseen prior score it by the variance of the levels`
	if err == nil || err.Error() != want {
		t.Errorf("refusal reads %v, want %s", err, want)
	}

	if f, err = Fit(t.Context(), plan, training, Options{Unseen: AtPrior, Raw: true}); err != nil {
		t.Fatal(err)
	}
	bound, err := f.Bind(later, IgnoreTargets)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := readAll(bound)
	if err != nil {
		t.Fatal(err)
	}
	wantColumn(t, "zip", columnOf(&batch.X, 0), []float64{1, 0, -1})
	wantColumn(t, "x", columnOf(&batch.X, 1), []float64{6, 5, 5})
	if batch.Target != nil || batch.Weight != nil || batch.Offset != nil || batch.Trials != nil {
		t.Errorf("a batch without any has a target, weights, offsets or trials: %+v", batch)
	}
	if _, err = readAll(bound); err != nil || bound.Counts() != (Counts{UnseenLevels: 1}) {
		t.Errorf("after two readings the counts are %+v (%v)", bound.Counts(), err)
	}
}

// A source that was opened with the levels of training gives others the code -1.
func TestLevelsThatTheSourceDoesNotKnow(t *testing.T) {
	training := numbers([]string{"zip", "y"}, []float64{0, 0}, []float64{1, 1}, []float64{1, 2}).with("zip", "a", "b").with("y", "p", "q", "r")
	later := numbers([]string{"zip", "y"}, []float64{-1, -1}).with("zip", "a", "b").with("y", "p", "q", "r")
	f, err := Fit(t.Context(), &Plan{Target: target("y"), Inputs: []Expr{Column("zip")}}, training, Options{Positive: "q"})
	if err != nil {
		t.Fatal(err)
	}
	data, err := f.Bind(later, RequireTargets)
	if err != nil {
		t.Fatal(err)
	}
	_, err = readAll(data)
	if want := `frame: row 1: column "zip": its level was not seen in training: correct it, or let --unseen prior score it by the variance of the levels`; err == nil || err.Error() != want {
		t.Errorf("refusal reads %v, want %s", err, want)
	}
	f.Unseen = AtPrior
	if data, err = f.Bind(later, RequireTargets); err != nil {
		t.Fatal(err)
	}
	batch, err := readAll(data)
	if err != nil {
		t.Fatal(err)
	}
	wantColumn(t, "zip", columnOf(&batch.X, 0), []float64{-1})
	wantColumn(t, "y", batch.Target, []float64{0})

	// Where the source knows the text of such a level, that of its own row is told, wherever a batch begins.
	f.Unseen, f.Missing = RefuseUnseen, Drop
	gaps := numbers([]string{"zip", "y"}, []float64{0, 0}, []float64{1, 1}, []float64{nan, 0}, []float64{0, 1}, []float64{-1, 1}, []float64{1, 0}).with("zip", "a", "b").with("y", "p", "q", "r")
	if data, err = f.Bind(texted{gaps}, RequireTargets); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, data.Read(batch, 0, 2))
	err = data.Read(batch, 2, data.Rows()-2)
	if want := `frame: row 5: column "zip": level "zip 5" was not seen in training`; data.Rows() != 5 || err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("refusal of %d rows reads %v, want %s", data.Rows(), err, want)
	}

	training.rows = training.rows[:2]
	if f, err = Fit(t.Context(), &Plan{Target: target("y")}, training, Options{}); err != nil {
		t.Fatal(err)
	}
	if data, err = f.Bind(later, RequireTargets); err != nil {
		t.Fatal(err)
	}
	_, err = readAll(data)
	if want := "frame: row 1: target y has a class, which training did not see: it must be one of p, q"; err == nil || err.Error() != want {
		t.Errorf("refusal reads %v, want %s", err, want)
	}
}
