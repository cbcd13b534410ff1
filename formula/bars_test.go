package formula

import (
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
)

// What terms of groups mean: their weights, by name, and what is told about them.
func TestBars(t *testing.T) {
	const intercept, zips = "(intercept): (intercept)", ": zip=94110 zip=94117 zip=94122"
	slopes := func(column string) string {
		return ": " + column + ":zip=94110 " + column + ":zip=94117 " + column + ":zip=94122"
	}
	rooms := ": rooms=1 rooms=2 rooms=3 rooms=4 rooms=5 rooms=6 rooms=7"
	pairs := ": type=flat:zip=94110 type=flat:zip=94117 type=flat:zip=94122 type=house:zip=94110 type=house:zip=94117 type=house:zip=94122"
	for _, c := range []struct{ formula, want, warning string }{
		{"price ~ lat + (1|zip)", intercept + "; linear: lat; (1 | zip)" + zips, ""},
		{"price ~ . + (1|zip)", intercept + "; linear: lat lon rooms new type=flat type=house; (1 | zip)" + zips, ""},
		{"price ~ (1|rooms)", intercept + "; (1 | rooms)" + rooms, ""}, // a number by its texts
		{"price ~ (0+lat|zip)", intercept + "; (0 + lat | zip)" + slopes("lat"), ""},
		{"price ~ (lat-1|zip)", intercept + "; (0 + lat | zip)" + slopes("lat"), ""},
		{"price ~ (-1+log(rooms)|zip)", intercept + "; (0 + log(rooms) | zip)" + slopes("log(rooms)"), ""},
		{"price ~ (lat+1|zip)", intercept + "; (1 + lat | zip): zip=94110 lat:zip=94110 zip=94117 lat:zip=94117 zip=94122 lat:zip=94122", ""},
		{"price ~ (lat+1||zip)", intercept + "; (1 | zip)" + zips + "; (0 + lat | zip)" + slopes("lat"), ""},
		{"price ~ (0+lat:lon|zip)", intercept + "; (0 + lat:lon | zip)" + slopes("lat:lon"), ""},
		{"price ~ (lat||zip)", intercept + "; (1 | zip)" + zips + "; (0 + lat | zip)" + slopes("lat"), ""},
		{"price ~ (lat+lon||zip) + (1|zip)", intercept + "; (1 | zip)" + zips + "; (0 + lat | zip)" + slopes("lat") + "; (0 + lon | zip)" + slopes("lon"),
			"(1 | zip) stands twice in the formula: it is one term"},
		{"price ~ (1|type:zip)", intercept + "; (1 | type:zip)" + pairs, ""},
		{"price ~ (1|type/zip)", intercept + "; (1 | type): type=flat type=house; (1 | type:zip)" + pairs, ""},
		{"price ~ (type||zip)", intercept + "; (0 + type=flat | zip)" + slopes("type=flat") + "; (0 + type=house | zip)" + slopes("type=house"), ""},
		{"price ~ (1|zip) + onehot(zip)", intercept + "; (1 | zip)" + zips, "onehot(zip) and (1 | zip) are the same columns: they are one term, (1 | zip)"},
		{"price ~ onehot(zip) + onehot(type) + (1|zip) + (1|type)", intercept + "; (1 | zip)" + zips + "; (1 | type): type=flat type=house",
			"onehot(zip) and (1 | zip) are the same columns: they are one term, (1 | zip); onehot(type) and (1 | type) are the same columns: they are one term, (1 | type)"},
		{"price ~ onehot(type) + (1|zip) + onehot(zip)", intercept + "; onehot(type): type=flat type=house; (1 | zip)" + zips,
			"onehot(zip) and (1 | zip) are the same columns: they are one term, (1 | zip)"},
		{"price ~ onehot(zip) + (1+lat|zip)", intercept + "; onehot(zip)" + zips + "; (1 + lat | zip): zip=94110 lat:zip=94110 zip=94117 lat:zip=94117 zip=94122 lat:zip=94122", ""},
		{"price ~ zip + (1|zip)", intercept + "; linear" + zips + "; (1 | zip)" + zips, "zip is a plain term and has effects of groups, (1 | zip): leave one of the two out"},
		{"price ~ ((1|zip) + (1|type))", intercept + "; (1 | zip)" + zips + "; (1 | type): type=flat type=house", ""},
	} {
		plan, fr, data := fit(t, c.formula, houses(60), frame.Options{})
		set, err := plan.Features(fr, data, 1, nil)
		if err != nil {
			t.Errorf("%s: %v", c.formula, err)
			continue
		}
		if got := describe(set); got != c.want {
			t.Errorf("%s: features\n%s, want\n%s", c.formula, got, c.want)
		}
		if got := strings.Join(plan.Warnings, "; "); got != c.warning {
			t.Errorf("%s: warnings %q, want %q", c.formula, got, c.warning)
		}
	}
}

// Only the combinations that training has are groups; a single group is refused.
func TestBarsOfOccurringPairs(t *testing.T) {
	plan, fr, data := fit(t, "price ~ (1|zip:rooms)", houses(10), frame.Options{})
	set, err := plan.Features(fr, data, 1, nil)
	if err != nil || set.Weights() != 1+10 { // of 21, all different in 10 rows
		t.Fatalf("%d weights, %v", set.Weights(), err)
	}
	plan, fr, data = fit(t, "price ~ (1|type)", houses(1), frame.Options{})
	if _, err = plan.Features(fr, data, 1, nil); err == nil || err.Error() != "(1 | type): type has one level in training, type=flat: leave the term out" {
		t.Error(err)
	}
}

func TestBarRefusals(t *testing.T) {
	nine := "lat + lon + rooms + new + log(rooms) + sqrt(rooms) + exp(lat) + square(lat)"
	for _, c := range []struct{ text, want string }{
		{"(1 | zip, sd=0)", "sd cannot be 0: it must be positive and finite"},
		{"(1 | zip, sd=-1)", "sd cannot be -1: it must be positive and finite"},
		{"(1 | zip, std=1)", `| has no argument "std": did you mean sd? (write sd or cor)`},
		{"(1 | zip, sd=[1, 2])", "2 standard deviations are given for 1 column: give 1, or a single one for all"},
		{"(1 + lat | zip, sd=[1, 2, 3])", "3 standard deviations are given for 2 columns: give 2, or a single one for all"},
		{"(1 | zip, cor=0)", "there are no correlations of one column, nor of those of ||: leave cor= out, or write such as (1 + x | g, cor=0)"},
		{"(lat || zip, cor=0)", "there are no correlations of one column, nor of those of ||: leave cor= out, or write such as (1 + x | g, cor=0)"},
		{"(lat | zip, cor=2)", "cor cannot be 2: it must be between -1 and 1"},
		{"(lat | zip, cor=1)", "no columns have the correlations 1: each is above -1 and below 1, and so is each given the others: move them towards 0"},
		{"(lat | zip, cor=~0.5)", "cor= is held, so it cannot be a starting guess: drop the ~, or leave cor= out to have the correlations learned"},
		{"(lat + lon | zip, cor=[.9, .9])", "2 correlations are those of no number of columns: give the lower triangle by rows, 1 for 2 columns, 3 for 3, 6 for 4, or a single one for all"},
		{"(lat + lon | zip, cor=[.9, .9, -.9])", "no columns have the correlations [0.9, 0.9, -0.9]: each is above -1 and below 1, and so is each given the others: move them towards 0"},
		{"(lat + lon | zip, cor=-.6)", "no columns have the correlations -0.6: each is above -1 and below 1, and so is each given the others: move them towards 0"},
		{"(" + nine + " | zip)", "9 columns vary together by group, and up to 8 can: write || in the place of |, which has no correlations, or fewer columns"},
		{"(rbf(lat) | zip)", "rbf(…) does not vary by group: columns and their transforms do: write such as (x | g) beside rbf(lat)"},
		{"(. | zip)", ". is every other column, and these vary by group by name: name the columns, such as (x + z || g)"},
		{"(lat - lon | zip)", "columns of a group are not taken out: write those that vary, such as (x + z | g)"},
		{"(0 | zip)", "no column varies by group: write (1 | g), or (0 + x | g)"},
		{"((1 | zip) | type)", "a | stands within another: write groups within groups as (1 | g/h)"},
		{"(1 | (1 | zip))", "a | stands within another: write groups within groups as (1 | g/h)"},
		{"(1 | zip + type)", "zip + type are several groups: write a term for each, such as (1 | g) + (1 | h), or (1 | g:h) for their combinations"},
		{"(1 | zip * type)", "zip * type are several groups: write a term for each, such as (1 | g) + (1 | h), or (1 | g:h) for their combinations"},
		{"(1 | .)", ". tells no groups: write a column, g, the combinations of columns, g:h, or groups within groups, g/h"},
		{"(1 | zip:zip)", "(1 | zip:zip) has zip twice among its groups: name it once"},
		{"(1 | log(lat))", "levels are those of a column as it is, or of a part of a date, and log(lat) is neither: write such as onehot(zip) or onehot(hour(time)), once for each"},
		{"(1 | price)", "price is the target: leave it out of the terms"},
		{"(1 | zap)", `there is no column "zap": did you mean zip? (the columns are price, lat, lon, rooms, new, zip, type)`},
		{"lat:(1 | zip)", "(1 | zip) cannot be part of an interaction: write what varies by group within it, such as (x | g)"},
	} {
		_, err := Parse("price ~ "+c.text, houses(1).Schema(), Options{})
		if err == nil {
			t.Errorf("%s is not refused", c.text)
			continue
		}
		if _, message, _ := strings.Cut(err.Error(), ": "); message != c.want {
			t.Errorf("%s: refusal reads\n%s, want\n%s", c.text, message, c.want)
		}
	}
	plan, fr, data := fit(t, "price ~ (lat + lon || zip, sd=[0.5, 1, 2])", houses(30), frame.Options{})
	set, err := plan.Features(fr, data, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, term := range set.Terms()[1:] { // behind the intercept
		if group := term.(*feature.Multilevel); !slices.Equal(group.SD, []float64{[]float64{0.5, 1, 2}[k]}) || !group.Held {
			t.Errorf("%s has the deviations %v, held %t", group.Name, group.SD, group.Held)
		}
	}
	if _, err := Parse("price ~ (lat + lon || zip, sd=[0.5, ~1])", houses(1).Schema(), Options{}); err == nil {
		t.Error("a guess within a list is taken")
	}
}
