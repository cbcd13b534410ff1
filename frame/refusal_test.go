package frame

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

func TestFitRefusals(t *testing.T) {
	inf := math.Inf(1)
	x, y := Column("x"), target("y")
	for _, c := range []struct {
		what    string
		plan    Plan
		source  credence.Source
		options Options
		want    string
	}{
		{"lacking columns", Plan{Target: y, Inputs: []Expr{Column("a"), Column("b")}}, numbers([]string{"y"}, []float64{1}), Options{},
			"frame: the table lacks a and b, which the model uses: add the columns, under the same name as in training"},
		{"no rows", Plan{Target: y}, numbers([]string{"y"}), Options{},
			"frame: the table has no rows: check that the file holds more than a header"},
		{"log of zero", Plan{Inputs: []Expr{x.With(Log)}}, placed{numbers([]string{"x"}, []float64{1}, []float64{0})}, Options{},
			"frame: train.csv:3: log(x): x is 0, and log needs a number above 0: correct the row, leave it out, or use x without log"},
		{"sqrt of a negative number", Plan{Inputs: []Expr{x.With(Center).With(Sqrt)}}, numbers([]string{"x"}, []float64{1}, []float64{3}), Options{},
			"frame: row 1: sqrt(center(x)): center(x) is -1, and sqrt needs a number of at least 0: correct the row, leave it out, or use center(x) without sqrt"},
		{"overflow", Plan{Inputs: []Expr{x.With(Exp)}}, numbers([]string{"x"}, []float64{800}), Options{},
			"frame: row 1: exp(x): x is 800, and the result overflows: correct the row, leave it out, or use x without exp"},
		{"infinity", Plan{Inputs: []Expr{x}}, numbers([]string{"x"}, []float64{1}, []float64{inf}), Options{},
			`frame: row 2: column "x" is infinite: correct the value or leave the row out`},
		{"missing inputs", Plan{Inputs: []Expr{x, Column("y"), x.With(Square)}}, numbers([]string{"x", "y"}, []float64{nan, nan}, []float64{nan, 1}), Options{},
			"frame: missing values in x (2), y (1): fill them with --missing mean or --missing indicator, or leave such rows out with --missing drop"},
		{"missing offset", Plan{Inputs: []Expr{x}, Offset: []Expr{*y}}, numbers([]string{"x", "y"}, []float64{1, nan}, []float64{nan, 1}), Options{Missing: Mean},
			"frame: missing values in y (1): leave such rows out with --missing drop"},
		{"missing target", Plan{Target: y}, numbers([]string{"y"}, []float64{1}, []float64{nan}), Options{Missing: Indicator},
			"frame: row 2: target y is missing in 1 row: leave such rows out with --missing drop-target"},
		{"missing targets", Plan{Target: y}, placed{numbers([]string{"y"}, []float64{1}, []float64{nan}, []float64{2}, []float64{nan})}, Options{},
			"frame: train.csv:3: target y is missing in 2 rows: leave such rows out with --missing drop-target"},
		{"missing both", Plan{Target: y, Inputs: []Expr{x}}, numbers([]string{"x", "y"}, []float64{1, nan}, []float64{nan, 1}), Options{},
			"frame: missing values in x (1), target y (1): fill those of inputs and leave rows without a target out with --missing mean,drop-target, or leave all such rows out with --missing drop"},
		{"everything dropped", Plan{Inputs: []Expr{x}}, numbers([]string{"x"}, []float64{nan}), Options{Missing: Drop},
			"frame: every row has a missing value: fill them with --missing mean or --missing indicator"},
		{"negative weight", Plan{Inputs: []Expr{x}, Weight: y}, numbers([]string{"x", "y"}, []float64{1, -2}), Options{},
			"frame: row 1: weight y is -2: weights must be 0 or more; correct the row or leave it out"},
		{"no precision", Plan{Inputs: []Expr{x}, Precision: y}, numbers([]string{"x", "y"}, []float64{1, 0}), Options{},
			"frame: row 1: precision y is 0: precisions must be above 0; correct the row or leave it out"},
		{"missing precision", Plan{Inputs: []Expr{x}, Precision: y}, numbers([]string{"x", "y"}, []float64{1, math.NaN()}), Options{},
			"frame: missing values in y (1): leave such rows out with --missing drop"},
		{"no weight", Plan{Inputs: []Expr{x}, Weight: y}, numbers([]string{"x", "y"}, []float64{1, 0}), Options{},
			"frame: every weight is 0: leave out weight(y), or correct it"},
		{"centred weight", Plan{Inputs: []Expr{x}, Weight: &Expr{Column: "y", Steps: []Step{{Function: Center}}}}, numbers([]string{"x", "y"}, []float64{1, 0}), Options{},
			"frame: center(y) takes its mean from the data: weights, precisions and trials cannot be centred"},
		{"log of a category", Plan{Inputs: []Expr{x.With(Log)}}, numbers([]string{"x"}, []float64{1}).with("x", "a", "b"), Options{},
			`frame: log(x): column "x" is a category (a and b), not numbers: use it as a plain column, or declare what stands for a missing value`},
		{"one class", Plan{Target: y}, numbers([]string{"y"}, []float64{1}, []float64{1}).with("y", "no", "yes"), Options{},
			"frame: target y is yes in every row: two classes are needed: add rows of the other class, or name another target"},
		{"three classes", Plan{Target: y}, numbers([]string{"y"}, []float64{2}, []float64{1}, []float64{0}).with("y", "c", "b", "a"), Options{},
			"frame: target y has 3 classes, a, b and c: pick one against the rest with --positive a"},
		{"classes of several words", Plan{Target: y}, numbers([]string{"y"}, []float64{2}, []float64{1}, []float64{0}).with("y", "so so", "very good", "bad luck"), Options{},
			"frame: target y has 3 classes, bad luck, so so and very good: pick one against the rest with --positive 'bad luck'"},
		{"no such class", Plan{Target: y}, numbers([]string{"y"}, []float64{0}, []float64{1}).with("y", "no", "yes"), Options{Positive: "ja"},
			`frame: no row has y = "ja": choose the positive class among no and yes`},
		{"a category as number", Plan{Target: y}, numbers([]string{"y"}, []float64{0}, []float64{1}).with("y", "no", "yes"), Options{Mode: Numbers},
			"frame: target y is a category (no and yes), and the family needs numbers: choose --family bernoulli, or another target"},
		{"a half grade", Plan{Target: y}, numbers([]string{"y"}, []float64{0}, []float64{1.5}), Options{Mode: Grades},
			"frame: target y holds 1.5, which is no grade: number the grades 0, 1, 2, …"},
		{"the family's check", Plan{Target: y}, placed{numbers([]string{"y"}, []float64{0}, []float64{1.5})},
			Options{Mode: Numbers, CheckTarget: func(y, _ float64) error {
				if y > 1 {
					return errors.New("too large")
				}
				return nil
			}},
			`frame: train.csv:3: column "y": too large`},
		{"a constant input", Plan{Inputs: []Expr{x, {Value: 2.5}}}, numbers([]string{"x"}, []float64{1}), Options{}, "frame: input 2 is the constant 2.5: name a column"},
		{"a constant target", Plan{Inputs: []Expr{x}, Target: &Expr{Value: 1}}, numbers([]string{"x"}, []float64{1}), Options{}, "frame: the target is the constant 1: name a column"},
		{"an offset of texts", Plan{Inputs: []Expr{x}, Offset: []Expr{x, *y}}, numbers([]string{"x", "y"}, []float64{1, 0}).with("y", "a", "b"), Options{},
			`frame: y: column "y" is a category (a and b), not numbers: use it as a plain column, or declare what stands for a missing value`},
		{"trials of texts", Plan{Inputs: []Expr{x}, Trials: y}, numbers([]string{"x", "y"}, []float64{1, 0}).with("y", "a"), Options{},
			`frame: y: column "y" is a category (a), not numbers: use it as a plain column, or declare what stands for a missing value`},
		{"the log of classes", Plan{Target: &Expr{Column: "y", Steps: []Step{{Function: Log}}}}, numbers([]string{"y"}, []float64{0}, []float64{1}).with("y", "no", "yes"), Options{},
			`frame: log(y): column "y" is a category (no and yes), not numbers: use it as a plain column, or declare what stands for a missing value`},
		{"grades of texts", Plan{Target: y}, numbers([]string{"y"}, []float64{0}, []float64{1}).with("y", "no", "yes"), Options{Mode: Grades},
			"frame: target y is a category (no and yes), whose order is unknown: number the grades 0, 1, 2, …"},
		{"texts that are all missing", Plan{Inputs: []Expr{x, Column("y")}}, numbers([]string{"x", "y"}, []float64{1, nan}, []float64{2, nan}).with("y", "a"), Options{Missing: Mean},
			`frame: column "y" has no value in any row: leave it out of the formula with - y`},
		{"a code beyond the levels", Plan{Inputs: []Expr{x, Column("y")}}, placed{numbers([]string{"x", "y"}, []float64{1, 1}, []float64{2, 2}).with("y", "a", "b")}, Options{},
			`frame: train.csv:3: column "y" holds code 2, and has 2 levels: the source is broken`},
		{"a code below the levels", Plan{Inputs: []Expr{x, Column("y")}}, numbers([]string{"x", "y"}, []float64{1, 0}, []float64{2, -1}).with("y", "a", "b"), Options{},
			`frame: row 2: column "y" holds code -1, and has 2 levels: the source is broken`},
		{"eleven columns that lack", Plan{Inputs: many(11)}, numbers([]string{"x"}, []float64{1}), Options{},
			"frame: the table lacks c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and c10, which the model uses: add the columns, under the same name as in training"},
		{"twelve columns that lack", Plan{Inputs: many(12)}, numbers([]string{"x"}, []float64{1}), Options{},
			"frame: the table lacks c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 2 others, which the model uses: add the columns, under the same name as in training"},
		{"no table", Plan{Inputs: []Expr{x}}, nil, Options{}, "frame: there is no table: give a credence.Source, as table.Structs or dataset.Open make"},
		{"unknown policy", Plan{Target: y}, numbers([]string{"y"}, []float64{1}), Options{Missing: "median"},
			`frame: missing values cannot be treated by "median": use error, mean, indicator or drop`},
		{"positive number", Plan{Target: y}, numbers([]string{"y"}, []float64{1}), Options{Mode: Numbers, Positive: "1"},
			"frame: a positive class (1) makes no sense for a target of numbers: leave out --positive or choose --family bernoulli"},
		{"too large a target", Plan{Inputs: []Expr{x}, Target: target("y")}, numbers([]string{"x", "y"}, []float64{1, 1e300}, []float64{2, -1e300}), Options{},
			"frame: target y reaches from -1e+300 to 1e+300, and no number holds its variance: divide it by a constant"},
	} {
		_, err := Fit(t.Context(), &c.plan, c.source, c.options)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: refusal reads\n%v, want\n%s", c.what, err, c.want)
		}
	}
}

// TestFarRefusals: a row behind many, of which some are left out, is told by its own number.
func TestFarRefusals(t *testing.T) {
	const far = 2*credence.BlockRows + 50
	x, y := Column("x"), Column("y")
	for _, c := range []struct {
		plan Plan
		bad  float64
		want string
	}{
		{Plan{Inputs: []Expr{y.With(Log)}}, 0, "frame: row 1074: log(y): y is 0, and log needs a number above 0: correct the row, leave it out, or use y without log"},
		{Plan{Inputs: []Expr{y}}, math.Inf(1), `frame: row 1074: column "y" is infinite: correct the value or leave the row out`},
		{Plan{Weight: &y}, -2, "frame: row 1074: weight y is -2: weights must be 0 or more; correct the row or leave it out"},
		{Plan{Precision: &y}, 0, "frame: row 1074: precision y is 0: precisions must be above 0; correct the row or leave it out"},
	} {
		rows := make([][]float64, far)
		for i := range rows {
			if rows[i] = []float64{1, 1}; i%7 == 3 {
				rows[i][0] = nan
			}
		}
		rows[far-1][1] = c.bad
		c.plan.Inputs = append(c.plan.Inputs, x)
		_, err := Fit(t.Context(), &c.plan, numbers([]string{"x", "y"}, rows...), Options{Missing: Drop})
		if err == nil || err.Error() != c.want {
			t.Errorf("refusal reads\n%v, want\n%s", err, c.want)
		}
	}
}

func TestBindRefusals(t *testing.T) {
	training := numbers([]string{"x", "zip", "b", "y"}, []float64{1, 0, 0, 0}, []float64{2, 1, 1, 1}).with("zip", "p", "q").with("b")
	f := must.Value(Fit(t.Context(), &Plan{Target: target("y"), Inputs: []Expr{Column("x"), Column("zip"), Column("b")}}, training, Options{}))(t)
	names := []string{"x", "zip", "b", "y"}
	for _, c := range []struct {
		what    string
		source  *memory
		targets Targets
		want    string
	}{
		{"lacking", numbers([]string{"x", "zip"}), IgnoreTargets,
			"frame: the table lacks b, which the model uses: add the column, under the same name as in training"},
		{"a number for a category", numbers(names), IgnoreTargets,
			`frame: column "zip" holds numbers but was a category in training: declare it with --types zip=category`},
		{"a category for a number", numbers(names).with("zip", "p").with("x", "n/a"), IgnoreTargets,
			`frame: column "x" is a category (n/a) but was a number in training: declare what stands for a missing value, or correct the column`},
		{"missing", numbers(names, []float64{nan, 0, 0, 0}).with("zip", "p"), IgnoreTargets,
			`frame: row 1: column "x" is missing: fill in the value, or let --missing mean fill in the mean of training`},
		{"infinite", numbers(names, []float64{math.Inf(-1), 0, 0, 0}).with("zip", "p"), IgnoreTargets,
			`frame: row 1: column "x" is infinite: correct the value or leave the row out`},
		{"no boolean", numbers(names, []float64{1, 0, 2, 0}).with("zip", "p"), IgnoreTargets,
			`frame: row 1: column "b" is 2, and was true or false in training: correct the value`},
		{"missing target", numbers(names, []float64{1, 0, 0, nan}).with("zip", "p"), RequireTargets,
			"frame: row 1: target y is missing: leave such rows out with --missing drop-target, or predict instead"},
		{"unknown class", numbers(names, []float64{1, 0, 0, 2}).with("zip", "p"), RequireTargets,
			"frame: row 1: target y is 2, which training did not see: it must be one of 0, 1"},
	} {
		data, err := f.Bind(c.source, c.targets)
		if err == nil {
			_, err = readAll(data)
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: refusal reads\n%v, want\n%s", c.what, err, c.want)
		}
	}
	plain := must.Value(Fit(t.Context(), &Plan{Inputs: []Expr{Column("x")}}, training, Options{}))(t)
	if _, err := plain.Bind(training, RequireTargets); err == nil || err.Error() != "frame: the model has no target: name one in the formula" {
		t.Errorf("a target that is not there: %v", err)
	}
}

// many are so many columns.
func many(count int) (list []Expr) {
	for k := range count {
		list = append(list, Column(fmt.Sprint("c", k)))
	}
	return list
}

// TestSparseRefusals: a value of the sparse segment that is no number is told by its row and column, in training and in
// rows that are bound, and so is a table whose segment is another.
func TestSparseRefusals(t *testing.T) {
	libsvm := func(value float64) *memory {
		source := numbers([]string{"label"}, []float64{1}, []float64{-1}, []float64{1})
		source.schema.Sparse, source.schema.Label = 4, true
		source.sparse = []map[int]float64{{0: 1, 2: 5}, {3: 2}, {2: 7, 3: value}}
		return source
	}
	plan := &Plan{Target: target("label"), Sparse: true}
	f := must.Value(Fit(t.Context(), plan, libsvm(1), Options{}))(t)
	for value, text := range map[float64]string{math.Inf(1): "+Inf", math.Inf(-1): "-Inf"} {
		want := `frame: row 3: column "x4" is ` + text + ": correct the value or leave it out of the row"
		if _, err := Fit(t.Context(), plan, libsvm(value), Options{}); err == nil || err.Error() != want {
			t.Errorf("trained: %v, want %s", err, want)
		}
		if _, err := readAll(must.Value(f.Bind(libsvm(value), RequireTargets))(t)); err == nil || err.Error() != want {
			t.Errorf("bound: %v, want %s", err, want)
		}
	}
	if _, err := Fit(t.Context(), plan, libsvm(nan), Options{}); err == nil || !strings.Contains(err.Error(), `row 3: column "x4" is `) {
		t.Errorf("no number: %v", err)
	}
	plain := numbers([]string{"label"}, []float64{1})
	if _, err := f.Bind(plain, IgnoreTargets); err == nil || err.Error() != "frame: the table has no numbered sparse columns, which the model uses: give a libsvm file" {
		t.Errorf("a table of columns: %v", err)
	}
	plain.schema.Label = true // rows of libsvm that have no entries
	must.Value(f.Bind(plain, IgnoreTargets))(t)
	for _, change := range []func(s *credence.Schema){
		func(s *credence.Schema) { s.ZeroBased = true }, func(s *credence.Schema) { s.Features = []credence.SparseFeature{{Key: 1}, {}, {}, {}} },
	} {
		other := libsvm(1)
		change(&other.schema)
		if _, err := f.Bind(other, IgnoreTargets); err == nil || err.Error() != "frame: the sparse columns of the table are named otherwise than those of training: read it with the schema of the model" {
			t.Errorf("%+v: %v", other.schema, err)
		}
	}
}
