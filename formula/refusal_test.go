package formula

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// named are the functions of formulas as messages list them.
var named = strings.Join(functionNames(), ", ")

func TestFormulaRefusals(t *testing.T) {
	files := func(path string) ([]byte, error) {
		switch path {
		case "wide.csv":
			return []byte("1,2\n"), nil
		case "words.csv":
			return []byte("a\n1\nb\n"), nil
		case "empty.csv":
			return nil, nil
		case "header.csv":
			return []byte("lat\n"), nil
		case "huge.csv":
			return []byte("1e999\n"), nil
		case "quote.csv":
			return []byte("1\n\"2\n"), nil
		}
		return nil, errors.New("no such file")
	}
	wide := &credence.Schema{Columns: []credence.Column{{Name: "label"}}, Sparse: 5000, Label: true}
	many := &credence.Schema{}
	for j := range 14 {
		many.Columns = append(many.Columns, credence.Column{Name: fmt.Sprint("c", j)})
	}
	single := func(name string) *credence.Schema { return &credence.Schema{Columns: []credence.Column{{Name: name}}} }
	for _, c := range []struct {
		text   string
		schema *credence.Schema // nil means houses
		at     string           // what the caret points at
		want   string           // without the column number
	}{
		{"y ~ x", many, "y", `there is no column "y": the columns are c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 and 3 others`},
		{"y ~ a", single("y a b c d"), "y", `there is no column "y": the file has one column, "y a b c d"; if it is several, name what stands between them, as in --delimiter ' '`},
		{"y ~ a", single("y\ta\tb"), "y", `there is no column "y": the file has one column, "y\ta\tb"; if it is several, name what stands between them, as in --delimiter $'\t'`},
		{"y ~ a", single("price"), "y", `there is no column "y": the columns are price`},
		{"price ~ romms", nil, "romms", `there is no column "romms": did you mean rooms? (the columns are price, lat, lon, rooms, new, zip, type)`},
		{"price ~ . - idd", nil, "idd", `there is no column "idd": the columns are price, lat, lon, rooms, new, zip, type`},
		{"prise ~ .", nil, "prise", `there is no column "prise": did you mean price? (the columns are price, lat, lon, rooms, new, zip, type)`},
		{"x9", libsvm(1).Schema(), "x9", `there is no column "x9": numbered columns go from x1 to x5`},
		{"x01", libsvm(1).Schema(), "x01", `there is no column "x01": numbered columns go from x1 to x5`},
		{"price ~ rbg(lat)", nil, "rbg", `there is no function "rbg": did you mean rbf? (the functions are ` + named + `)`},
		{"price ~ factor(zip, lat)", nil, "factor", `there is no function "factor": write onehot(zip, lat)`},
		{"price ~ I(lat + lon)", nil, "I", `there is no function "I": write x^2 or (x > 3) as they are; a sum or product of columns is a column of its own`},
		{"price ~ lag(lat)", nil, "lag", `there is no function "lag": write a column made before, because rows have no order here`},
		{"price ~ ifelse(lat, 0, 1)", nil, "ifelse", `there is no function "ifelse": write a comparison times a column, such as (x > 3):z`},
		{"price ~ log(lag(lat))", nil, "lag", `there is no function "lag": write a column made before, because rows have no order here`},
		{"price ~ lat^21", nil, "lat^21", "lat^21: a power is a whole number from 2 to 20; write sqrt(x) for a root"},
		{"price ~ lat^0.5", nil, "lat^0.5", "lat^0.5: a power is a whole number from 2 to 20; write sqrt(x) for a root"},
		{"price ~ lat > inf", nil, "lat > inf", "(lat > +Inf): its numbers must be finite"},
		{"price ~ zip > 3", nil, "zip", "zip is a category, and > needs numbers: use zip as a plain column"},
		{"price ~ price^2", nil, "price^2", "price is the target: leave it out of the terms"},
		{"price ~ clip(lat)", nil, "clip(lat)", "clip takes a column and 2 numbers: write such as clip(x, 0, 10)"},
		{"price ~ clip(lat, 1)", nil, "clip(lat, 1)", "clip takes a column and 2 numbers: write such as clip(x, 0, 10)"},
		{"price ~ clip(lat, 0, lon)", nil, "lon", "lon is not a number: write such as clip(x, 0, 10)"},
		{"price ~ clip(lat, 2, 2)", nil, "clip(lat, 2, 2)", "clip(lat, 2, 2): the first number must be below the second, as in clip(x, 0, 10)"},
		{"price ~ log1p(lat, lon)", nil, "log1p(lat, lon)", "log1p takes one column, not 2: write log1p(x)"},
		{"price ~ day(lat)", nil, "lat", "lat is not a date, and day is a part of one: declare what holds dates with --types lat=date"},
		{"price ~ month(log(when))", dated(), "log(when)", "log(when) is not a date, and month is a part of one: declare what holds dates with --types when=date"},
		{"price ~ lat + trials(lon)", nil, "trials", `there is no function "trials": write no term: --family 'binomial(trials=lon)' names the column`},
		{"price ~ te(lat, lon)", nil, "te", `there is no function "te": write hsgp(lat, lon)`},
		{"price ~ C()", nil, "C", `there is no function "C": write onehot(x)`},
		{"price ~ ns(lat, 5)", nil, "ns", `there is no function "ns": write s(lat)`},
		{"price ~ bs(lat)", nil, "bs", `there is no function "bs": write s(lat)`},
		{"price ~ cr(lat)", nil, "cr", `there is no function "cr": write s(lat)`},
		{"price ~ spline(lat)", nil, "spline", `there is no function "spline": write s(lat)`},
		{"price ~ cc(lat)", nil, "cc", `there is no function "cc": write s(lat, period=…), which states after how much of the column the curve repeats`},
		{"price ~ ti(lat, lon)", nil, "ti", `there is no function "ti": write hsgp(lat, lon)`},
		{"price ~ mo(zip)", nil, "mo", `there is no function "mo": write onehot(zip), a weight for every level`},
		{"price ~ s(lat, lon)", nil, "s(lat, lon)", "s takes one column: write s(x) + s(z) for a curve of each, or hsgp(x, z) for one function of both"},
		{"price ~ s(.)", nil, "s(.)", "s takes one column: write s(x) + s(z) for a curve of each, or hsgp(x, z) for one function of both"},
		{"price ~ s()", nil, "s()", "s needs a column: write s(x), or s(.) for every other column of numbers"},
		{"price ~ s(zip)", nil, "zip", "zip is a category, and s needs numbers: leave it out, or add onehot(zip) as a term"},
		{"price ~ s(lat, k=2)", nil, "2", "k cannot be 2: a curve needs 3 knots: write 3 or more, or the column itself for a line"},
		{"price ~ s(lat, k=1001)", nil, "1001", "k cannot be 1001: it must be between 1 and 1000"},
		{"price ~ s(lat, period=0)", nil, "0", "period cannot be 0: it must be positive and finite"},
		{"price ~ s(lat, period=-24)", nil, "-24", "period cannot be -24: it must be positive and finite"},
		{"price ~ s(lat, by=zip)", nil, "by", `s has no argument "by": write k or period`},
		{"price ~ s(lat):new", nil, "s(lat)", "s(…) cannot be part of an interaction: write s(x) + x:z for a curve and slopes that differ"},
		{"price ~ log(s(lat))", nil, "s(lat)", "s(…) is a term of its own, not a column: write a column, or one of log, log1p, sqrt, exp, expm1, square, abs, sign, clip, center, scale, year, month, day, weekday, yearday, hour of a column"},
		{"price ~ log(cube(lat))", nil, "cube", `there is no function "cube": the functions are ` + named},
		{"price ~ lat + keep(lat)", nil, "keep(lat)", "lat stands in a term of its own too: a column is selected in one way: leave it out of one of the two"},
		{"price ~ keep(lat, lon) + group(rooms, lon)", nil, "group(rooms, lon)", "lon stands in keep(lat, lon) too: a column is selected in one way: leave it out of one of the two"},
		{"price ~ onehot(zip) + group(onehot(zip), lat)", nil, "group(onehot(zip), lat)", "zip stands in onehot(zip) too: a column is selected in one way: leave it out of one of the two"},
		{"price ~ keep()", nil, "keep()", "keep needs a column: write keep(a, b)"},
		{"price ~ keep(.)", nil, ".", "one column is needed here, not every other: name it"},
		{"price ~ keep(price)", nil, "price", "price is the target: leave it out of the terms"},
		{"price ~ lat + price", nil, "price", "price is the target: leave it out of the terms"},
		{"price ~ log(price)", nil, "log(price)", "price is the target: leave it out of the terms"},
		{"log(price) ~ rbf(price)", nil, "price", "price is the target: leave it out of the terms"},
		{"price ~ offset(price)", nil, "price", "price is the target: leave it out of the terms"},
		{"x2 ~ .", libsvm(1).Schema(), "x2", "x2 is a column of the sparse segment, and cannot be the target: name a column that stands in every row"},
		{"price ~ log(zip)", nil, "zip", "zip is a category, and log needs numbers: use zip as a plain column"},
		{"log(zip) ~ .", nil, "zip", "zip is a category, and log needs numbers: use zip as a plain column"},
		{"price ~ rbf(zip)", nil, "zip", "zip is a category, and rbf needs numbers: leave it out, or add onehot(zip) as a term"},
		{"price ~ log(lat, lon)", nil, "log(lat, lon)", "log takes one column, not 2: write log(x)"},
		{"price ~ log(.)", nil, ".", "one column is needed here, not every other: name it"},
		{`price ~ log("lat")`, nil, `"lat"`, "quoted text is no column: write lat for a column of that name"},
		{"price ~ log(lat + lon)", nil, "lat + lon", "lat + lon is not a column: write a column, or one of log, log1p, sqrt, exp, expm1, square, abs, sign, clip, center, scale, year, month, day, weekday, yearday, hour of a column"},
		{"price ~ log(rbf(lat))", nil, "rbf(lat)", "rbf(…) is a term of its own, not a column: write a column, or one of log, log1p, sqrt, exp, expm1, square, abs, sign, clip, center, scale, year, month, day, weekday, yearday, hour of a column"},
		{"price ~ log(lat, base=2)", nil, "base", `log has no argument "base": it takes no key=value arguments`},
		{"rbf(lat) ~ .", nil, "rbf(lat)", "rbf(…) is a term of its own, not a column: write a column, or one of log, log1p, sqrt, exp, expm1, square, abs, sign, clip, center, scale, year, month, day, weekday, yearday, hour of a column"},
		{"price ~ rbf()", nil, "rbf()", "rbf needs a column: write rbf(x), or rbf(.) for every other column of numbers"},
		{"price ~ rbf(lat + lon)", nil, "lat + lon", "rbf takes columns one by one: separate them by commas, or make lat + lon a column of its own"},
		{"price ~ rbf(lat - lon)", nil, "lat - lon", "lat - lon is a difference of columns: make it a column of its own, or write rbf(. - lon) to leave one out"},
		{"price ~ rbf(. - log(lat))", nil, "log(lat)", "only columns can be taken out of .: write for example rbf(. - a - b)"},
		{"price ~ rbf(. - lat - lon - rooms - new)", nil, "rbf(. - lat - lon - rooms - new)", "rbf is left with no column of numbers: name one"},
		{"price ~ rbf(lat, n=0)", nil, "0", "n cannot be 0: it must be between 1 and 1048576"},
		{"price ~ rbf(lat, n=1.5)", nil, "1.5", "n cannot be 1.5: it must be a whole number"},
		{"price ~ cauchy(lat, kind=fastfood)", nil, "kind=fastfood", "fastfood frequencies are not defined for cauchy, a product over its columns: write kind=iid"},
		{"price ~ rbf(lat, kind=fastfood, frequencies=@wide.csv)", nil, "kind=fastfood", "kind= says how to draw frequencies, and frequencies= gives them: leave out one of the two"},
		{"price ~ laplacian(lat, kind=orthogonal)", nil, "kind=orthogonal", "orthogonal frequencies are not defined for laplacian, a product over its columns: write kind=iid"},
		{"price ~ rbf(lat, lon, lengthscale=[1, 2, 3])", nil, "[1, 2, 3]", "3 lengthscales are given for 2 columns: give 2, or a single one for all"},
		{"price ~ rbf(lat, lon, lengthscale=[1, 2], ard=false)", nil, "[1, 2]", "ard=false means one lengthscale, not 2: write a single number, or leave out ard=false"},
		{"price ~ rbf(lat, lengthscale=-1)", nil, "-1", "lengthscale cannot be -1: it must be positive and finite"},
		{"price ~ rbf(lat, widht=1)", nil, "widht", `rbf has no argument "widht": write n, kind, lengthscale, ard, lengthscale_prior or frequencies`},
		{"price ~ rbf(lat, frequencies=@no.csv)", nil, "frequencies=@no.csv", "the frequencies cannot be read: no such file: check the path"},
		{"price ~ rbf(lat, frequencies=@wide.csv)", nil, "frequencies=@wide.csv", "wide.csv:1: 2 numbers where 1 is needed: write one number in a line, with or without a header"},
		{"price ~ rbf(lat, frequencies=@words.csv)", nil, "frequencies=@words.csv", `words.csv:3: "b" is not a finite number: write one number in a line, with or without a header`},
		{"price ~ rbf(lat, frequencies=@huge.csv)", nil, "frequencies=@huge.csv", `huge.csv:1: "1e999" is not a finite number: write one number in a line, with or without a header`},
		{"price ~ rbf(lat, frequencies=@quote.csv)", nil, "frequencies=@quote.csv", `quote.csv:2: extraneous or missing " in quoted-field: write one number in a line, with or without a header`},
		{"price ~ rbf(lat, frequencies=@empty.csv)", nil, "frequencies=@empty.csv", "empty.csv: the file holds no frequency: write one number in a line, with or without a header"},
		{"price ~ rbf(lat, frequencies=@header.csv)", nil, "frequencies=@header.csv", "header.csv: the file holds no frequency: write one number in a line, with or without a header"},
		{"price ~ rbf(lat, n=2, frequencies=@wide.csv)", nil, "n=2", "n= is the number of rows of frequencies=: leave out n="},
		{"price ~ rbf(lat, kind=iid, frequencies=@wide.csv)", nil, "kind=iid", "kind= says how to draw frequencies, and frequencies= gives them: leave out one of the two"},
		{"price ~ spectral()", nil, "spectral()", "spectral needs a column: write spectral(x), or spectral(.) for every other column of numbers"},
		{"price ~ spectral(lat, components=21)", nil, "21", "components cannot be 21: it must be between 1 and 20"},
		{"price ~ spectral(lat, period=0)", nil, "0", "period cannot be 0: it must be positive and finite"},
		{"price ~ spectral(lat, components=1, period=[2, 3])", nil, "period=[2, 3]", "2 periods are given for 1 components: write components=2"},
		{"price ~ spectral(lat, lon, period=2)", nil, "period=2", "a component of several columns has a period in each: leave period= out, or write a term for each column"},
		{"price ~ spectral(zip)", nil, "zip", "zip is a category, and spectral needs numbers: leave it out, or add onehot(zip) as a term"},
		{"spectral(.)", libsvm(1).Schema(), "spectral(.)", "spectral takes columns by name, and . holds a sparse segment: name the columns"},
		{"price ~ hsgp(lat, lon, rooms, new)", nil, "hsgp(lat, lon, rooms, new)", "hsgp takes one to three columns: write rbf(…), whose number of weights does not grow with that of columns"},
		{"price ~ hsgp(lat, kernel=matern12)", nil, "kernel=matern12", "matern12 is too rough for a sum of few waves: write kernel=matern32, or matern12(…), which is of random features"},
		{"price ~ hsgp(lat, kernel=cauchy)", nil, "cauchy", `kernel cannot be "cauchy": write rbf, matern32 or matern52`},
		{"price ~ hsgp(lat, m=2001)", nil, "2001", "m cannot be 2001: it must be between 1 and 2000"},
		{"price ~ hsgp(lat, m=2.5)", nil, "2.5", "m cannot be 2.5: it must be a whole number"},
		{"price ~ hsgp(lat, lon, m=45)", nil, "m=45", "hsgp has more than 2000 functions in all: state fewer, or write rbf(…)"},
		{"price ~ hsgp(lat, lon, m=[5, 6, 7])", nil, "m=[5, 6, 7]", "3 numbers are given for 2 columns: give 2, or a single one for all"},
		{"price ~ hsgp(lat, boundary=0.9)", nil, "0.9", "boundary cannot be 0.9: it must be between 1 and 100"},
		{"price ~ hsgp(zip)", nil, "zip", "zip is a category, and hsgp needs numbers: leave it out, or add onehot(zip) as a term"},
		{"price ~ hsgp(lat):new", nil, "hsgp(lat)", "hsgp(…) cannot be part of an interaction: write hsgp(x) + x:z for a curve and slopes that differ"},
		{"price ~ periodic(lat)", nil, "periodic(lat)", "periodic needs a period: write such as periodic(hour, period=24)"},
		{"price ~ periodic(lat, period=-1)", nil, "-1", "period cannot be -1: it must be positive and finite"},
		{"price ~ periodic(lat, lon, period=1)", nil, "periodic(lat, lon, period=1)", "periodic takes one column: write a term for each"},
		{"price ~ periodic(lat, period=1, lengthscale=0)", nil, "0", "lengthscale cannot be 0: it must be positive and finite"},
		{"price ~ periodic(lat, period=1, lengthscale=1e-300)", nil, "1e-300", "lengthscale cannot be 1e-300: it must be between 0.0001 and 1000000"},
		{"price ~ hsgp(lat, lengthscale=1e300)", nil, "1e300", "lengthscale cannot be 1e300: it must be between 0.0001 and 1000000"},
		{"price ~ spectral(lat):new", nil, "spectral(lat)", "spectral(…) cannot be part of an interaction: write spectral(x) + x:z for a curve and slopes that differ"},
		{"price ~ lat:rbf(lon)", nil, "lat", "lat is no kernel, and kernels multiply with kernels alone: write a kernel of it, such as rbf(x):matern32(t), or a term of its own"},
		{"price ~ rbf(lat):hsgp(lon)", nil, "hsgp(lon)", "hsgp(lon) is no kernel, and kernels multiply with kernels alone: write a kernel of it, such as rbf(x):matern32(t), or a term of its own"},
		{"price ~ rbf(lat):spectral(lon)", nil, "spectral(lon)", "spectral(lon) is no kernel, and kernels multiply with kernels alone: write a kernel of it, such as rbf(x):matern32(t), or a term of its own"},
		{"price ~ . - lat:rbf(lon)", nil, "rbf(lon)", "rbf(…) is a kernel, and kernels multiply with kernels alone: write rbf(x):rbf(z) for a function of both, or rbf(x) + x:z for a curve and slopes that differ"},
		{"price ~ rbf(lat, n=9):matern32(lon, n=8)", nil, "n=8", "the kernels of a product have one number of frequencies: write n= in the first, or the same in both"},
		{"price ~ rbf(lat, kind=iid):matern32(lon, kind=orthogonal)", nil, "kind=orthogonal", "the kernels of a product are drawn in one way: write kind= in the first, or the same in both"},
		{"price ~ rbf(lat):matern32(lon, kind=fastfood)", nil, "matern32(lon, kind=fastfood)", "a product of kernels draws frequencies of its own: orthogonal ones, or those of kind=iid: leave out frequencies= and kind="},
		{".:x1 + rbf(x1):rbf(.)", libsvm(1).Schema(), ".", ". holds a sparse segment, which cannot be part of an interaction: name the columns"},
		{"rbf(x1):rbf(.)", libsvm(1).Schema(), "rbf(.)", "a product of kernels takes columns by name, and . holds a sparse segment: name the columns"},
		{"price ~ lat:poly(lon, 2)", nil, "poly(lon, 2)", "poly(…) cannot be part of an interaction: write columns or transforms of columns, such as a:b or log(a):b"},
		{"price ~ lat:lat", nil, "lat:lat", "lat:lat multiplies a column with itself: write square(x) or poly(x, 2) for powers"},
		{".:x1", libsvm(1).Schema(), ".", ". holds a sparse segment, which cannot be part of an interaction: name the columns"},
		{"rbf(.)", wide, "rbf(.)", "rbf of 5000 sparse columns is more than the 4096 that it can take: name the columns"},
		{"price ~ poly(lat)", nil, "poly(lat)", "poly needs columns and a degree: write such as poly(x, 3)"},
		{"price ~ poly(lat, lon)", nil, "lon", "the degree is missing: end with a number, such as poly(x, 3)"},
		{"price ~ poly(lat, 21)", nil, "21", "degree cannot be 21: it must be between 1 and 20"},
		{"price ~ radial(lat, centres=0)", nil, "0", "centres cannot be 0: it must be between 1 and 100000"},
		{"price ~ hash(zip, bits=9):lat", nil, "bits=9", "hash(zip, bits=9) is a factor of an interaction, whose keys are whole: leave out bits=, or write hash(a:b, bits=…) of levels alone"},
		{"price ~ hash():lat", nil, "hash()", "hash needs a column: write hash(c)"},
		{"price ~ onehot(hour(lat))", nil, "lat", "lat is not a date, and hour is a part of one: declare what holds dates with --types lat=date"},
		{"price ~ hash(zip):hash(zip)", nil, "hash(zip):hash(zip)", "hash(zip):hash(zip) multiplies a column with itself: write square(x) or poly(x, 2) for powers"},
		{"price ~ lat + hash(zip, bits=64)", nil, "64", "bits cannot be 64: it must be between 1 and 63"},
		{"price ~ hash(log(zip))", nil, "log(zip)", "levels are those of a column as it is, or of a part of a date, and log(zip) is neither: write such as onehot(zip) or onehot(hour(time)), once for each"},
		{"price ~ hash()", nil, "hash()", "hash needs a column: write hash(c), or hash(.) for every other column"},
		{"price ~ hash(zip:price)", nil, "price", "price is the target: leave it out of the terms"},
		{"price ~ onehot(zip, type)", nil, "onehot(zip, type)", "onehot takes one column, not 2: write onehot(zip), once for each column"},
		{"price ~ onehot(log(zip))", nil, "log(zip)", "levels are those of a column as it is, or of a part of a date, and log(zip) is neither: write such as onehot(zip) or onehot(hour(time)), once for each"},
		{"price ~ offset(zip)", nil, "zip", "zip is a category, and offset needs numbers: name a column of numbers"},
		{"price ~ offset(lat, lon)", nil, "offset(lat, lon)", "offset takes one column, not 2: write offset(x)"},
		{"price ~ offset(inf)", nil, "inf", "an offset cannot be inf: write a finite number"},
		{"price ~ weight(lat) + weight(lon)", nil, "weight(lon)", "there are two weights: make their product a column of its own"},
		{"price ~ precision(lat) + precision(lon)", nil, "precision(lon)", "there are two precisions: make their product a column of its own"},
		{"price ~ precision(center(lat))", nil, "center(lat)", "a precision cannot be centred: it is not negative: leave out center"},
		{"price ~ weight(scale(lat))", nil, "scale(lat)", "a weight cannot be centred: it is not negative: leave out scale"},
		{"price ~ 0", nil, "price ~ 0", "the formula has no terms: add a column, or 1 for the intercept"},
		{"price ~ 0 + lat - lat", nil, "price ~ 0 + lat - lat", "the formula has no terms: add a column, or 1 for the intercept"},
		{"label ~ .", &credence.Schema{Columns: []credence.Column{{Name: "label"}}}, ".", ". stands for no column: there is none besides those with another role: write 1 for a model of the intercept alone"},
	} {
		schema := c.schema
		if schema == nil {
			schema = houses(1).Schema()
		}
		_, err := Parse(c.text, schema, Options{ReadFile: files})
		var refused *spec.Error
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v, want a refusal", c.text, err)
			continue
		}
		_, message, _ := strings.Cut(refused.Error(), ": ")
		if message != c.want {
			t.Errorf("%s: refusal reads\n%s, want\n%s", c.text, message, c.want)
		}
		if at := refused.Text[refused.Offset : refused.Offset+refused.Length]; at != c.at {
			t.Errorf("%s: the caret points at %q, want %q", c.text, at, c.at)
		}
	}
}

// dated is a schema with a column of dates.
func dated() *credence.Schema {
	return &credence.Schema{Columns: []credence.Column{{Name: "price"}, {Name: "when"}}, Reading: credence.Reading{Notations: map[string]credence.Notation{"when": {Date: "dmy"}}}}
}

func TestTargetRefusals(t *testing.T) {
	for _, c := range []struct{ text, target, want string }{
		{"lat", "", "formula: no target: write target ~ terms, or name one with --target"},
		{"price ~ lat", "lon", "column 1: the target is price here and lon in --target: leave one out"},
		{"", "prices", `there is no column "prices": did you mean price? (the columns are price, lat, lon, rooms, new, zip, type)`},
		{"", "my price", `there is no column "my price": the columns are price, lat, lon, rooms, new, zip, type`},
		{"lat", "cube(price)", `there is no function "cube": the functions are ` + named},
	} {
		_, err := Parse(c.text, houses(1).Schema(), Options{Target: c.target})
		if err == nil || err.Error() != c.want {
			t.Errorf("%q with --target %q: refusal reads\n%v, want\n%s", c.text, c.target, err, c.want)
		}
	}
	for target, column := range map[string]string{"`x 1`": "x 1", "x 1": "x 1", "log(price)": "price", "price": "price"} {
		schema := houses(1).Schema()
		schema.Columns = append(schema.Columns, credence.Column{Name: "x 1"})
		text := strings.Replace(target, "x 1", "`x 1`", 1-strings.Count(target, "`")/2)
		if plan, err := Parse(text+" ~ lat", schema, Options{Target: target}); err != nil || plan.Frame.Target.Column != column {
			t.Errorf("%s ~ lat with --target %q: %v", text, target, err)
		}
	}
}

func TestFamilyAndPriorRefusals(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"gausian", `column 1: there is no family "gausian" in this version: did you mean gaussian? (write gaussian, bernoulli or binomial)`},
		{"gaussian(variance=0)", "column 19: variance cannot be 0: it must be positive and finite"},
		{"gaussian(sd=1)", `column 10: gaussian has no argument "sd": write variance`},
		{"gaussian(1)", "column 10: gaussian takes no argument without a key: write gaussian(variance=1)"},
		{"bernoulli(link=log)", `column 16: link cannot be "log": did you mean logit? (write logit, probit or cloglog)`},
		{"poisson(link=probit)", `column 14: link cannot be "probit": write log or softplus`},
		{"binomial(trials=0)", "column 17: trials cannot be 0: it must be 1 or more and finite"},
		{"binomial(trials=~n)", "column 10: trials are not learned, so they cannot be a starting guess: drop the ~"},
		{"ordinal(cutpoints=[2, 1])", "column 1: likelihood: ordinal: cutpoint 2, 1, does not ascend: state finite cutpoints in ascending order"},
		{"studentt(df=4", "column 9: the ( is never closed: add a )"},
	} {
		families := likelihood.All()
		if strings.HasPrefix(c.text, "gaus") {
			families = families[:3]
		}
		_, err := ParseFamily(c.text, families)
		if err == nil || err.Error() != c.want {
			t.Errorf("family %s: refusal reads\n%v, want\n%s", c.text, err, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"norml", `column 1: there is no prior "norml" in this version: did you mean normal? (write normal, spikeslab, laplace or studentt)`},
		{"finnish(scale=1)", `column 1: there is no prior "finnish" in this version: write normal, spikeslab, laplace or studentt`},
		{"laplace(scale=0)", "column 15: scale cannot be 0: it must be positive and finite"},
		{"normal(variance=-1)", "column 17: variance cannot be -1: it must be positive and finite"},
		{"normal(variance=1, ard=true)", "column 20: ard=true learns a variance for each weight, and variance= holds them all: leave out one of the two, or write such as variance=~1 for a starting guess"},
		{"normal(ard=yes)", `column 12: ard must be true or false, not "yes": write ard=true or ard=false`},
	} {
		_, err := ParsePrior(c.text, prior.All()[:4])
		if err == nil || err.Error() != c.want {
			t.Errorf("prior %s: refusal reads\n%v, want\n%s", c.text, err, c.want)
		}
	}
	for _, c := range []struct{ formula, family, want string }{
		{"price ~ lat", "binomial(trials=m)", `column 17: there is no column "m": the columns are price, lat, lon, rooms, new, zip, type`},
		{"price ~ lat", "binomial(trials=zip)", "column 17: zip is a category, and trials are numbers: name a column of numbers"},
		{"price ~ lat", "binomial(trials=price)", "column 17: price is the target: name the column that holds the number of trials"},
		{"price ~ lat", "binomial(trials=rbf(lat))", "column 17: rbf(…) is a term of its own, not a column: write a column, or one of log, log1p, sqrt, exp, expm1, square, abs, sign, clip, center, scale, year, month, day, weekday, yearday, hour of a column"},
	} {
		family, err := ParseFamily(c.family, likelihood.All())
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Parse(c.formula, houses(1).Schema(), Options{Family: family}); err == nil || err.Error() != c.want {
			t.Errorf("%s: refusal reads\n%v, want\n%s", c.family, err, c.want)
		}
	}
}

// A program that serves formulas of strangers opens no files for them.
func TestFilesAreRefusedWithoutAReader(t *testing.T) {
	const text = "price ~ rbf(lat, frequencies=@/etc/passwd)"
	_, err := Parse(text, houses(1).Schema(), Options{})
	_, checked := Check(text, Options{})
	for _, err := range []error{err, checked} {
		if err == nil || !strings.Contains(err.Error(), "the formula names a file, and no one opens it: pass a reader of files") || strings.Contains(err.Error(), "root") {
			t.Errorf("refusal reads %v", err)
		}
	}
}
