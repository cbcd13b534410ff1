package formula

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// pieces are what random formulas are made of.
var pieces = []string{
	"price", "lat", "lon", "rooms", "new", "zip", "type", "x1", "x5", "x6", "label", "`my col`", ".", "1", "0", "2", "-1", "0.5", "inf", "[1, 2]",
	"@w.csv", `"text"`, " + ", " - ", ":", " * ", " ~ ", "(", ")", ", ", "=", "~",
	"rbf(", "laplacian(", "matern32(", "poly(", "radial(", "sigmoid(", "onehot(", "offset(", "weight(", "log(", "sqrt(", "scale(", "hash(", "nope(",
	"n=", "kind=iid", "kind=fastfood", "lengthscale=", "ard=false", "degree=", "centres=", "frequencies=", "lengthscale_prior=none",
}

// randomFormula is a text that is more often right than random pieces would be.
func randomFormula(rng *rand.Rand) string {
	columns := []string{"price", "lat", "lon", "rooms", "new", "zip", "type", "x1", "x3", ".", "log(rooms)", "scale(lat)", "onehot(zip)", "I(lat^2)", "rooms > 3", "clip(lon, -1, 2)", "factor(type)"}
	column := func() string { return columns[rng.IntN(len(columns))] }
	list := func() string {
		names := make([]string, 1+rng.IntN(3))
		for i := range names {
			names[i] = column()
		}
		return strings.Join(names, ", ")
	}
	term := func() string {
		switch rng.IntN(14) {
		case 0:
			return "rbf(" + list() + ", n=2)"
		case 1:
			return "poly(" + list() + ", 2)"
		case 2:
			return "radial(" + list() + ", centres=2)"
		case 3:
			return column() + ":" + column()
		case 4:
			return column() + " * " + column()
		case 5:
			return "(" + column() + " + " + column() + ")"
		case 6:
			return "(" + column() + " + " + column() + "):" + column()
		case 7:
			return "offset(" + column() + ")"
		case 8:
			return "weight(" + column() + ")"
		case 9:
			return "matern12(" + column() + ", lengthscale=~[1, 2], n=1)"
		case 10:
			return "(. - " + column() + ")"
		case 11:
			return pieces[rng.IntN(len(pieces))]
		}
		return column()
	}
	text := ""
	if rng.IntN(3) > 0 {
		text = column() + " ~ "
	}
	text += term()
	for range rng.IntN(4) {
		text += []string{" + ", " - "}[rng.IntN(2)] + term()
	}
	return text
}

// check compiles a text for two schemas. Whatever compiles must print to a text that
// compiles to the same, and fit and transform; whatever does not must say where.
func check(t *testing.T, text string) (compiled bool) {
	t.Helper()
	options := Options{Target: "", ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist }}
	for _, source := range []*memory{houses(25), libsvm(25)} {
		plan, err := Parse(text, source.Schema(), options)
		if err != nil {
			var refused *spec.Error
			if !errors.As(err, &refused) && !strings.HasPrefix(err.Error(), "formula: no target") {
				t.Fatalf("%q: %v does not point into the text", text, err)
			}
			if refused != nil {
				_ = refused.Caret()
			}
			continue
		}
		compiled = true
		if _, err := Check(text, Options{ReadFile: os.ReadFile}); err != nil {
			t.Fatalf("%q compiles, and without a table is refused: %v", text, err)
		}
		again, err := Parse(plan.String(), source.Schema(), options)
		if err != nil || again.String() != plan.String() || len(again.functions) != len(plan.functions) || len(again.Frame.Inputs) != len(plan.Frame.Inputs) {
			t.Fatalf("%q prints as %q, which reads %v (%v)", text, plan, again, err)
		}
		weights := 0
		for _, f := range plan.functions {
			weights += max(f.count, 1) * max(f.degree, 1)
		}
		if weights > 1000 {
			continue // right, but slow
		}
		fr, err := frame.Fit(t.Context(), &plan.Frame, source, frame.Options{})
		if err != nil {
			continue // the logarithm of a negative number, for example
		}
		data, err := fr.Bind(source, frame.RequireTargets)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		set, err := plan.Features(fr, data, 1, nil)
		if err != nil {
			if !strings.Contains(err.Error(), "different rows were found") {
				t.Fatalf("%q compiles, but its features: %v", text, err)
			}
			continue
		}
		var batch credence.Batch
		if err := data.Read(&batch, 0, 25); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var phi credence.Design
		set.Transform(credence.NewWorkspace(1), &phi, &batch)
		if rows, d := phi.Dims(); rows != 25 || d != set.Weights() {
			t.Fatalf("%q: design %d×%d for %d weights", text, rows, d, set.Weights())
		}
	}
	return compiled
}

func TestRandomFormulas(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	compiled := 0
	const tries = 3000
	for range tries {
		if check(t, randomFormula(rng)) {
			compiled++
		}
	}
	if compiled < tries/20 {
		t.Errorf("only %d of %d random formulas were right: the test tests little", compiled, tries)
	}
	for range tries {
		var text strings.Builder
		for range 1 + rng.IntN(12) {
			text.WriteString(pieces[rng.IntN(len(pieces))])
		}
		check(t, text.String())
	}
}

func FuzzCompile(f *testing.F) {
	f.Add("log(price) ~ . - zip + rbf(lat, lon, n=4) + matern32(rooms, n=2) + onehot(zip) + lat:rooms + offset(log(rooms))")
	f.Add("label ~ . - x2 + poly(x1, 3) + radial(. - x1, centres=2)")
	f.Add("price ~ (lat + lon) * rooms - lat:rooms + weight(new)")
	f.Add("0 + rbf(x1, frequencies=@w.csv, lengthscale=~[0.9, 1.4], ard=false)")
	f.Fuzz(func(t *testing.T, text string) { check(t, text) })
}

func FuzzParts(f *testing.F) {
	f.Add("studentt(df=4, scale=~2)")
	f.Add("binomial(trials=log(n))")
	f.Add("ordinal(cutpoints=[1, 2])")
	f.Add("normal(variance=~1, ard=true)")
	f.Fuzz(func(t *testing.T, text string) {
		if family, err := ParseFamily(text, likelihood.All()); err == nil {
			again, err := ParseFamily(family.String(), likelihood.All())
			if err != nil || again.String() != family.String() {
				t.Fatalf("family %q prints as %q, which reads %v (%v)", text, family, again, err)
			}
		}
		if p, err := ParsePrior(text, prior.All()); err == nil {
			again, err := ParsePrior(p.String(), prior.All())
			if err != nil || again.String() != p.String() {
				t.Fatalf("prior %q prints as %q, which reads %v (%v)", text, p, again, err)
			}
		}
	})
}
