package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// claims is a table of counts with exposures.
func claims() string {
	text := "region,age,expo,claims\n"
	for i := range 400 {
		region := []string{"north", "north", "south", "east"}[i%4]
		claims := i * i % 3
		if region == "south" {
			claims += i % 2 * (i % 5)
		}
		text += region + "," + string(rune('2'+i%6)) + "5," + []string{"1", "0.5", "0.25"}[i%3] + "," + string(rune('0'+claims)) + "\n"
	}
	return text
}

// TestEffectsCommand: verbs with and without columns, tables and files, what is said and what is refused.
func TestEffectsCommand(t *testing.T) {
	data := file(t, "claims.csv", claims())
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", data, "--formula", "claims ~ age + region + offset(log(expo))", "--family", "poisson", "-o", model)
	terms := func(args ...string) (list []string) {
		t.Helper()
		for _, e := range decode(t, must(t, append(append([]string{"effects", model}, args...), "--json")...))["effects"].([]any) {
			o := e.(map[string]any)
			list = append(list, o["term"].(string)+" "+o["contrast"].(string))
		}
		return list
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"age +1; region east - north; region south - north", []string{data}},
		{"age +1; region east - north; region south - north", []string{data, "--comparisons"}},
		{"region east - north; region south - north", []string{data, "--comparisons", "region"}},
		{"region east / north; region south / north", []string{"--ratio", "--comparisons=region"}},
		{"region north - south; region east - south", []string{data, "--comparisons", "region", "--base", "region=south"}},
		{"age dY/dX", []string{data, "--slopes"}},
		{"prediction ", []string{data, "--predictions", "--at", "age=30"}},
		{"prediction ; prediction ", []string{"--at", "age=30,40", "--predictions"}},
		{"region north; region south; region east", []string{"--predictions", "region"}},
		{"expo +1", []string{data, "--comparisons", "expo"}},
	} {
		got := terms(c.args...)
		for _, want := range strings.Split(c.want, "; ") {
			if !strings.Contains(strings.Join(got, "; ")+";", want) {
				t.Errorf("%v: %q, want %q", c.args, got, c.want)
			}
		}
		if n := len(strings.Split(c.want, "; ")); len(got) != n {
			t.Errorf("%v: %q, want %q", c.args, got, c.want)
		}
	}
	text := must(t, "effects", model, data, "--comparisons", "region", "--ratio")
	for _, want := range []string{"comparisons of E claims, averaged over 400 rows; conf_low and conf_high are 90 % intervals", "south / north", "exact"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
	out := filepath.Join(t.TempDir(), "effects.csv")
	must(t, "effects", model, data, "--slopes", "age", "--by", "region", "-o", out)
	if lines := strings.Split(string(sure(os.ReadFile(out))(t)), "\n"); lines[0] != "term,contrast,region,estimate,std_error,conf_low,conf_high,p_direction,mcse,method" || len(lines) != 5 || !strings.HasPrefix(lines[1], "age,dY/dX,east,") {
		t.Errorf("%q", lines)
	}
	for want, args := range map[string][]string{
		"--slopes and --predictions are two questions":               {"--slopes", "--predictions"},
		"--grid even is unknown":                                     {"--grid", "even"},
		"does not use a column \"regoin\"":                           {"--comparisons", "regoin"},
		"there is no column \"when\"":                                {data, "--by", "when"},
		"--interval 2 is not a probability between 0 and 1":          {"--interval", "2"},
		"--rows and --by are of the rows of data":                    {"--rows"},
		"a category, which has no slope: --comparisons region tells": {"--slopes", "region"},
	} {
		if o := invoke(t, "", append([]string{"effects", model}, args...)...); o.code == exitDone || !strings.Contains(o.err, want) {
			t.Errorf("%v: %d, %q, want %q", args, o.code, o.err, want)
		}
	}
	for _, c := range [][]string{ // whatever the model is
		{"--draws 0 are none", "effects", "--draws", "0"},
		{"\"age=NaN\" is no value", "effects", "--at", "age=NaN"},
		{"--by names no column", "effects", "--by", ""},
		{"--by names no column", "evaluate", "--by", "region,"},
		{"--by names no column", "calibrate", "--by", "", "-o", out},
	} {
		args := append([]string{c[1], model, data}, c[2:]...)
		if o := invoke(t, "", args...); o.code != exitMisuse || !strings.Contains(o.err, c[0]) {
			t.Errorf("%v: %d, %q, want %q", args, o.code, o.err, c[0])
		}
	}
}

// TestEffectsFlags: weights of the file, a balanced grid and the seed count in what is told.
func TestEffectsFlags(t *testing.T) {
	text, even := "", ""
	for i, line := range strings.Split(strings.TrimSpace(claims()), "\n") {
		weight := []string{"1", "1", "3"}[i%3]
		if i == 0 {
			weight = "w"
		}
		text, even = text+line+","+weight+"\n", even+line+","+strings.Replace(weight, "3", "1", 1)+"\n"
	}
	data, same := file(t, "claims.csv", text), file(t, "even.csv", even)
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", data, "--formula", "claims ~ age + region + weight(w)", "--family", "poisson", "-o", model)
	of := func(args ...string) []any {
		t.Helper()
		return decode(t, must(t, append(append([]string{"effects", model}, args...), "--json")...))["effects"].([]any)
	}
	first := func(args ...string) float64 {
		t.Helper()
		return number(t, of(args...)[0].(map[string]any), "estimate")
	}
	link := []string{"--predictions", "--link"}
	if first(append(link, data)...) == first(append(link, same)...) {
		t.Error("weights of the file do not count")
	}
	balanced := 0.0 // the mean of the levels in a row at the training means
	levels := of("--predictions", "region", "--link")
	for _, e := range levels {
		balanced += number(t, e.(map[string]any), "estimate") / float64(len(levels))
	}
	if got := first("--predictions", "--link", "--grid", "balanced"); !(math.Abs(got-balanced) < 1e-9) {
		t.Errorf("balanced is %v, want %v", got, balanced)
	}
	if a := first(data, "--slopes", "age"); a != first(data, "--slopes", "age") || a == first(data, "--slopes", "age", "--seed", "7") {
		t.Error("the seed does not count")
	}
}

// TestRelativities compares ratios with those of R 4.2.2: d <- read.csv("bemtpl97.csv", stringsAsFactors=TRUE), levels
// in the order of their frequencies by relevel, glm(nclaims ~ bm + ageph + coverage + fuel + sex + use +
// offset(log(expo)), poisson, d).
func TestRelativities(t *testing.T) {
	data := file(t, "be.csv", unzipped(t, "bemtpl97", "bemtpl97.csv.gz"))
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", data, "--formula", "nclaims ~ bm + ageph + coverage + fuel + sex + use + offset(log(expo))", "--family", "poisson", "--prior", "normal(variance=1e4)", "-o", model)
	want := map[string][2]float64{ // the exponential of the weight, and the weight's standard error
		"bm": {1.06476869, .00172985351}, "ageph": {.99233115, .00053631085}, "TPL+": {.93817627, .01653149057}, "TPL++": {.96391136, .02162630070},
		"diesel": {1.16496653, .01508142202}, "female": {.99486479, .01600683723}, "work": {.94653017, .03313692868},
	}
	effects := decode(t, must(t, "effects", model, data, "--ratio", "--json"))["effects"].([]any)
	for _, e := range effects {
		o := e.(map[string]any)
		level, _, _ := strings.Cut(o["contrast"].(string), " / ")
		w, known := want[level]
		if !known {
			w = want[o["term"].(string)]
		}
		estimate, sd := number(t, o, "estimate"), number(t, o, "std_error")
		if gap := math.Log(estimate/w[0]) / w[1]; !(math.Abs(gap) < 0.03) || !(math.Abs(sd/estimate/w[1]-1) < 0.01) {
			t.Errorf("%v %v is %v ± %v, and %v ± %v by R, %.3f standard errors apart", o["term"], o["contrast"], estimate, sd, w[0], w[1]*w[0], gap)
		}
	}
	if len(effects) != len(want) {
		t.Errorf("%d effects, want %d", len(effects), len(want))
	}
}

// TestEffectsByNewLevels: rows whose level of a group training did not see are a group of averages of their own.
func TestEffectsByNewLevels(t *testing.T) {
	model := fitted(t, file(t, "old.csv", "y,x,g\n"+repeat("", 30, func(i int) string {
		return string(rune('0'+i%7)) + "," + string(rune('0'+i%5)) + "," + "abc"[i%3:i%3+1] + "\n"
	})),
		"-f", "y ~ x + (1 | g)")
	out := must(t, "effects", model, file(t, "new.csv", "y,x,g\n1,2,a\n2,3,d\n3,1,e\n"), "--by", "g")
	if !strings.Contains(out, "not in training") {
		t.Error(out)
	}
}
