package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/folds"
)

// visits is a table with a number of everything that refits meet: columns, a level, weights, exposures, an id, a date,
// classes and counts.
func visits(n int) (rows []string, weights, classes, ids, days []float64) {
	rng := rand.New(rand.NewPCG(4, 9))
	for i := range n {
		// each day occurs
		x, z, w, id, day := rng.NormFloat64(), 2+3*rng.Float64(), float64(1+rng.IntN(3)), rng.IntN(17), i*27%40
		f := 0.5 + 0.7*x - 0.3*z + 0.4*float64(i%3)
		class := 0.0
		if f+rng.NormFloat64() > 0 {
			class = 1
		}
		weights, classes, ids, days = append(weights, w), append(classes, class), append(ids, float64(id)), append(days, float64(day))
		rows = append(rows, fmt.Sprintf("%.6g,%.6g,%c,%g,p%d,2024-%02d-%02d,%.6g,%g,%d,%.4g", x, z, "abc"[i%3], w, id, 1+day/28, 1+day%28,
			f+0.3*rng.NormFloat64(), class, int(5*math.Exp(0.3*f)+2*rng.Float64()), 1+rng.Float64()))
	}
	return rows, weights, classes, ids, days
}

const visitsHeader = "x,z,c,w,id,day,y,b,n,e\n"

// TestCrossValidationByHand: what --cv and --split tell is what refits by the command line tell, whose rows left out
// have the weight 0, and whose evaluations of those rows are added up. Folds are dealt here by the seed.
func TestCrossValidationByHand(t *testing.T) {
	const n = 90
	rows, weights, classes, ids, days := visits(n)
	data := file(t, "visits.csv", visitsHeader+strings.Join(rows, "\n")+"\n")
	each := slices.Repeat([]float64{1}, n)
	dealt := func(weights, classes []float64, count int) []int {
		fold, _ := folds.Deal(credence.Rand(5, credence.FoldRows, 1), weights, classes, count)
		return fold
	}
	grouped := func() []int { // whole ids, which are numbered as they come
		number, of := map[float64]int{}, make([]int, n)
		for i, id := range ids {
			if _, met := number[id]; !met {
				number[id] = len(number)
			}
			of[i] = number[id]
		}
		fold := dealt(slices.Repeat([]float64{1}, len(number)), nil, 4)
		for i := range of {
			of[i] = fold[of[i]]
		}
		return of
	}
	windows := func(cut ...float64) []int { // the rows from each day on
		of := make([]int, n)
		for i, day := range days {
			of[i] = -1
			for k, from := range cut {
				if day >= from {
					of[i] = k
				}
			}
		}
		return of
	}
	zeros := make([]float64, n) // class 0 counts as positive there
	for i, class := range classes {
		zeros[i] = 1 - class
	}
	for name, c := range map[string]struct {
		formula string
		fit     []string
		how     string
		fold    []int
		weights []float64
		ahead   bool
	}{
		"weights":  {"y ~ x + z + c", []string{"--engine", "exact"}, "--cv 5", dealt(weights, nil, 5), weights, false},
		"groups":   {"y ~ x + z + c + rbf(x, n=6, lengthscale=1)", []string{"--seed", "8"}, "--cv 4 --group id", grouped(), each, false},
		"windows":  {"n ~ x + z + offset(log(e))", []string{"--family", "negbinomial"}, "--cv 3 --time day", windows(10, 20, 30), each, true},
		"classes":  {"b ~ x + c", []string{"--family", "bernoulli", "--prior", "normal(variance=1)"}, "--cv 10", dealt(each, classes, 10), each, false},
		"share":    {"b ~ x + z", []string{"--positive", "0", "--engine", "laplace"}, "--split 0.25", folds.Split(credence.Rand(5, credence.FoldRows, 1), each, zeros, 0.25), each, false},
		"features": {"y ~ x + z + c", []string{"--prior", "spikeslab", "--engine", "ep"}, "--cv 3", dealt(each, nil, 3), each, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			weight := ""
			if name == "weights" {
				weight = " + weight(w)"
			}
			model := fitted(t, data, append([]string{"-f", c.formula + weight, "--raw"}, c.fit...)...)
			got := decode(t, must(t, append([]string{"evaluate", model, data, "--json", "--seed", "5"}, strings.Fields(c.how)...)...))
			// Means over rows are weighted, sums add.
			means := map[string]float64{"nlpd": 0, "mae": 0, "accuracy": 0, "log_loss": 0, "brier": 0, "coverage": 0}
			deviance, squares, total, left := 0.0, 0.0, 0.0, 0
			for out := range slices.Max(c.fold) + 1 {
				var training, held strings.Builder
				training.WriteString("u," + visitsHeader)
				held.WriteString("u," + visitsHeader)
				own, count := 0.0, 0
				for i, row := range rows {
					u := c.weights[i]
					if c.fold[i] == out {
						fmt.Fprintf(&held, "%g,%s\n", u, row)
						own, count, u = own+u, count+1, 0
					} else if c.ahead && c.fold[i] > out {
						u = 0
					}
					fmt.Fprintf(&training, "%g,%s\n", u, row)
				}
				again := fitted(t, file(t, "training.csv", training.String()), append([]string{"-f", c.formula + " + weight(u)", "--raw"}, c.fit...)...)
				e := decode(t, must(t, "evaluate", again, file(t, "held.csv", held.String()), "--json"))
				for key := range means {
					if key == "coverage" {
						means[key] += own * e[key].(map[string]any)["0.8"].(float64)
					} else if v, told := e[key].(float64); told {
						means[key] += own * v
					}
				}
				if v, told := e["deviance"].(float64); told {
					deviance += v
				}
				squares, total, left = squares+own*math.Pow(number(t, e, "rmse"), 2), total+own, left+count
			}
			near := func(key string, got, want float64) {
				if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
					t.Errorf("%s is %v, by hand %v", key, got, want)
				}
			}
			for key, sum := range means {
				switch v, told := got[key].(float64); {
				case key == "coverage":
					near(key, got[key].(map[string]any)["0.8"].(float64), sum/total)
				case told:
					near(key, v, sum/total)
				case sum != 0:
					t.Errorf("%s is not told", key)
				}
			}
			near("rmse", number(t, got, "rmse"), math.Sqrt(squares/total))
			near("rows", number(t, got, "rows"), float64(left))
			if v, told := got["deviance"].(float64); told {
				near("deviance", v, deviance)
			}
		})
	}
}

// TestRefitsReadAsTheModel: a table is read as the model read that of training, by no flag: types, texts that mean
// missing, policies.
func TestRefitsReadAsTheModel(t *testing.T) {
	var b strings.Builder
	b.WriteString("zip,x,y\n")
	for i := range 60 {
		x := fmt.Sprint(i * 7 % 11)
		if i%10 == 3 {
			x = "?"
		}
		fmt.Fprintf(&b, "%d,%s,%g\n", 8000+i%4*97, x, float64(i*7%11)+float64(i%4*i%3))
	}
	data := file(t, "zips.csv", b.String())
	model := fitted(t, data, "--target", "y", "--types", "zip=text", "--missing", "?,mean")
	plain := fitted(t, file(t, "plain.csv", strings.ReplaceAll(strings.ReplaceAll(b.String(), "?", ""), "80", "z80")), "--target", "y", "--missing", "mean")
	read := must(t, "evaluate", model, data, "--cv", "4")
	if want := must(t, "evaluate", plain, file(t, "plain.csv", strings.ReplaceAll(strings.ReplaceAll(b.String(), "?", ""), "80", "z80")), "--cv", "4"); read != want {
		t.Errorf("read as numbers or with holes:\n%s\n%s", read, want)
	}
	if !strings.Contains(read, "refits    4 fits, each without the rows that it predicts; levels and scaling are those of all rows\nleft out  nlpd ") || !strings.Contains(read, " over rows\n") {
		t.Error(read)
	}
	// What is stated now is beside it, and columns that the model does not need may be gone.
	dated := strings.Replace(b.String(), "zip,x,y\n", "zip,x,y,d\n", 1)
	lines := strings.Split(strings.TrimSpace(dated), "\n")
	for i := range lines[1:] {
		lines[i+1] += fmt.Sprintf(",%02d/03/2024", 1+i%12)
	}
	dated = strings.Join(lines, "\n") + "\n"
	first := fitted(t, file(t, "dated.csv", dated), "-f", "y ~ zip + x", "--types", "zip=text,d=dmy", "--missing", "?,mean")
	by := must(t, "evaluate", first, file(t, "dated.csv", dated), "--cv", "4", "--time", "d", "--types", "d=mdy", "--missing", "none")
	if want := must(t, "evaluate", model, file(t, "dated.csv", dated), "--cv", "4", "--time", "d", "--types", "zip=text,d=mdy"); by != want {
		t.Errorf("%s\n%s", by, want)
	}
	if got := must(t, "evaluate", first, data, "--cv", "4"); got != read {
		t.Errorf("without the column d:\n%s\n%s", got, read)
	}
	// A pipe is read once for all models, and the rows of all are left out together.
	other := fitted(t, data, "-f", "y ~ x", "--types", "zip=text", "--missing", "?,mean", "--family", "studentt")
	args := []string{"--cv", "3", "--group", "zip", "--types", "zip=text"}
	told := must(t, append([]string{"compare", model, other, data}, args...)...)
	if piped := invoke(t, b.String(), append([]string{"compare", model, other, "-"}, args...)...); piped.out != told || !strings.Contains(told, "with its standard error over 4 groups of zip") {
		t.Errorf("%s\n%s", told, piped.out)
	}
	alone := decode(t, must(t, append([]string{"evaluate", other, data, "--json"}, args...)...))
	beside := decode(t, must(t, append([]string{"compare", model, other, data, "--json"}, args...)...))
	if a, b := number(t, alone, "nlpd"), number(t, beside["models"].([]any)[1].(map[string]any), "nlpd"); !(math.Abs(a-b) <= 1e-12) {
		t.Errorf("nlpd %v by evaluate, %v by compare", a, b)
	}
	if got, want := fmt.Sprint(alone["refits"], beside["refits"]), "map[folds:3 group:zip groups:4] map[folds:3 group:zip groups:4]"; got != want {
		t.Errorf("refits %s", got)
	}
}

// TestRefitsShareFolds: models of classes and of numbers leave out the same rows, those of the first; groups of one row
// each are rows, whose standard error is that of rows but for the mean that is estimated.
func TestRefitsShareFolds(t *testing.T) {
	rows, _, _, _, _ := visits(60)
	for i := range rows {
		rows[i] += fmt.Sprintf(",r%d", i)
	}
	data := file(t, "visits.csv", strings.TrimSpace(visitsHeader)+",row\n"+strings.Join(rows, "\n")+"\n")
	classes, numbers := fitted(t, data, "-f", "b ~ x + z", "--family", "bernoulli", "--engine", "laplace"), fitted(t, data, "-f", "b ~ x + z", "--family", "gaussian")
	alone := decode(t, must(t, "evaluate", classes, data, "--cv", "6", "--json"))
	models := compared(t, classes, numbers, data, "--cv", "6")
	if got, want := number(t, models[0], "nlpd"), number(t, alone, "nlpd"); !(math.Abs(got-want) <= 1e-12) || number(t, models[1], "rmse") == number(t, models[0], "rmse") {
		t.Errorf("nlpd %v beside %v: %v", got, want, models)
	}
	first := decode(t, must(t, "evaluate", numbers, data, "--cv", "6", "--json"))
	each := decode(t, must(t, "evaluate", numbers, data, "--cv", "6", "--group", "row", "--json"))
	if a, b := number(t, first, "nlpd_error")*math.Sqrt(60./59), number(t, each, "nlpd_error"); !(math.Abs(a-b) <= 1e-12) || number(t, first, "nlpd") != number(t, each, "nlpd") {
		t.Errorf("standard errors %v and %v", a, b)
	}
}

// TestRefitsTellDroppedRows: rows that a model leaves out are told, and none of them is scored.
func TestRefitsTellDroppedRows(t *testing.T) {
	data := file(t, "holes.csv", strings.Replace(houses(40), "\n57,", "\n,", 1))
	model := fitted(t, data, "--target", "price", "--missing", "drop")
	o := invoke(t, "", "evaluate", model, data, "--cv", "3", "--group", "garden")
	if o.code == exitDone {
		t.Errorf("two gardens in three folds: %s", o.out)
	}
	if o = invoke(t, "", "evaluate", model, data, "--cv", "2", "--group", "garden"); o.code != exitDone || !strings.Contains(o.out, "rows      39\n") || o.err != "credence: warning: 1 of 40 rows have missing values and are left out\n" {
		t.Errorf("exit %d: %s\n%s", o.code, o.out, o.err)
	}
}

// TestRefitsAreNotCalibrated: the figures of a calibrated model are those of the model itself, and it is said.
func TestRefitsAreNotCalibrated(t *testing.T) {
	data := file(t, "houses.csv", houses(120))
	model := fitted(t, data, "--target", "price")
	calibrated := filepath.Join(t.TempDir(), "c.safetensors")
	must(t, "calibrate", model, file(t, "held.csv", houses(200)), "-o", calibrated, "-q")
	plain, o := must(t, "evaluate", model, data, "--cv", "3"), invoke(t, "", "evaluate", calibrated, data, "--cv", "3")
	if o.code != exitDone || o.out != plain || !strings.Contains(o.err, "is calibrated by rows held out, and fits without a fold are not") {
		t.Errorf("exit %d: %s%s\n%s", o.code, o.out, o.err, plain)
	}
}

func TestRefitRefusals(t *testing.T) {
	data := file(t, "houses.csv", houses(40))
	model := fitted(t, data, "--target", "price")
	learned := filepath.Join(t.TempDir(), "s.safetensors")
	must(t, "stream", data, "-f", "garden ~ size + zip", "-o", learned, "-q")
	for _, c := range []struct {
		code  int
		want  string
		model string
		args  string
	}{
		{exitMisuse, "--cv 1: rows are left out in 2 folds or more", model, "--cv 1"},
		{exitMisuse, "--cv 0", model, "--cv 0"},
		{exitMisuse, "--split 2 is not a share of the rows", model, "--split 2"},
		{exitMisuse, "--cv leaves every row out in turn and --split", model, "--cv 5 --split 0.2"},
		{exitMisuse, "--group and --time say how rows are left out: add --cv 10 or --split 0.2", model, "--group zip"},
		{exitMisuse, "--group keeps rows together and --time", model, "--cv 3 --group zip --time size"},
		{exitMisuse, "--loo leaves rows out without fits", model, "--cv 5 --loo"},
		{exitMisuse, "leave --unseen and the policies of --missing out", model, "--cv 5 --missing mean"},
		{exitMisuse, "leave --unseen and the policies of --missing out", model, "--cv 5 --unseen prior"},
		{exitMisuse, "the model was learned online, and rows are learned once: its progressive log_loss", learned, "--cv 5"},
		{exitMisuse, "is of an earlier version, whose files do not tell --missing", "../../score/testdata/houses.safetensors", "--cv 5"},
		{exitFailed, "41 folds take 41 rows that have a weight or more, and there are 40: state fewer", model, "--cv 41"},
		{exitFailed, "4 folds take 4 groups of zip or more, and there are 3: state fewer", model, "--cv 4 --group zip"},
		{exitFailed, `the column "who" is not in`, model, "--cv 4 --group who"},
		{exitFailed, `column "zip" is a category, and --time takes numbers or dates`, model, "--cv 4 --time zip"},
	} {
		for _, command := range []string{"evaluate", "compare"} {
			args := []string{command, c.model, data}
			if command == "compare" {
				args = []string{command, c.model, model, data}
			}
			if o := invoke(t, "", append(args, strings.Fields(c.args)...)...); o.code != c.code || !strings.Contains(o.err, c.want) || strings.Count(o.err, "\n") != 1 {
				t.Errorf("%s %s: exit %d: %s", command, c.args, o.code, o.err)
			}
		}
	}
}

// TestRefitsByGroups: --by and --reliability under --cv tell of each group of rows what refits by hand without them
// tell, whatever fold the rows are in.
func TestRefitsByGroups(t *testing.T) {
	regions := []string{"a", "b", "c"}
	without, alone := map[string]string{}, map[string]string{}
	all := "y,x,region,half\n"
	for i := range 60 {
		region := regions[i*7%3]
		line := fmt.Sprintf("%.4f,%.4f,%s,%d\n", math.Sin(float64(i))+float64(i%5), math.Cos(float64(i)*1.7), region, i%2)
		all += line
		for _, r := range regions {
			if r == region {
				alone[r] += line
			} else {
				without[r] += line
			}
		}
	}
	const head = "y,x,region,half\n"
	data := file(t, "all.csv", all)
	args := []string{"--formula", "y ~ x", "--raw", "--prior", "normal(variance=1)"}
	model := fitted(t, data, args...)
	got := decode(t, must(t, "evaluate", model, data, "--cv", "3", "--group", "region", "--by", "region", "--reliability", "--json"))
	groups := got["groups"].([]any)
	if len(groups) != 3 || len(got["reliability"].(map[string]any)["bins"].([]any)) == 0 {
		t.Fatalf("%v", got)
	}
	for k, r := range regions {
		g := groups[k].(map[string]any)
		own := decode(t, must(t, "evaluate", fitted(t, file(t, "without.csv", head+without[r]), args...), file(t, "alone.csv", head+alone[r]), "--json"))
		for _, key := range []string{"rows", "nlpd", "rmse", "mae", "crps", "wis"} {
			if v, want := number(t, g, key), number(t, own, key); !(math.Abs(v-want) <= 1e-9*(1+math.Abs(want))) || g["by"].(map[string]any)["region"] != r {
				t.Errorf("%s of %v is %v, by hand %v", key, g["by"], v, want)
			}
		}
	}
	// Rows of a group lie in several folds.
	by := decode(t, must(t, "evaluate", model, data, "--cv", "4", "--by", "half", "--json"))
	sum := 0.0
	for _, g := range by["groups"].([]any) {
		sum += number(t, g.(map[string]any), "nlpd") * number(t, g.(map[string]any), "rows") / 60
	}
	if want := number(t, by, "nlpd"); !(math.Abs(sum-want) < 1e-12*math.Abs(want)+1e-12) {
		t.Errorf("groups have the nlpd %v, and all rows %v", sum, want)
	}
	// Texts of two columns that read the same one after the other are two groups.
	pairs := file(t, "pairs.csv", strings.NewReplacer(",a,", ",1,1", ",b,", ",11,").Replace(all))
	if six := decode(t, must(t, "evaluate", model, pairs, "--cv", "4", "--by", "region,half", "--json"))["groups"].([]any); len(six) != 6 {
		t.Errorf("%d groups of 6: %v", len(six), six)
	}
	shown := must(t, "evaluate", model, data, "--cv", "3", "--by", "region", "--reliability")
	for _, want := range []string{"refits    3 fits", "\nregion  rows  nlpd", "observed  rows"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	if o := invoke(t, "", "evaluate", model, data, "--cv", "3", "--by", "who"); o.code != exitFailed || !strings.Contains(o.err, `has no column "who"`) {
		t.Errorf("%d, %s", o.code, o.err)
	}
}
