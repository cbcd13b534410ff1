package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// TestEffectsOfStream: effects of a model of stream are sums of the weights that inspect tells, averaged over rows, and
// differences of what predict tells of rows changed by hand; levels are those that training had, as they are written.
func TestEffectsOfStream(t *testing.T) {
	devices, sites, zips := []string{"phone", "phone", "desktop", "tablet"}, []string{"1", "2", "c"}, []string{"01", "02", "10"}
	const head = "click,price,device,site,zip,new,shop\n"
	rows := func(count int, edit func(i int, cells []string)) string {
		text := head
		for i := range count {
			device, site := devices[i*7%4], sites[i*5%11%3]
			y := map[string]int{"phone": 3, "desktop": 1, "tablet": 2}[device] + i*13%5
			cells := []string{fmt.Sprint(y / 4), fmt.Sprintf("%.3f", math.Sin(float64(i))+float64(y)/4), device, site, zips[i*3%7%3], fmt.Sprint(i%3 == 0), fmt.Sprint("s", i*17%101)}
			edit(i, cells)
			text += strings.Join(cells, ",") + "\n"
		}
		return text
	}
	same := func(int, []string) {}
	train := file(t, "train.csv", rows(2000, same))
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "stream", train, "--formula", "click ~ square(price) + price + device*site + hash(zip) + new + hash(shop)", "--types", "site=text", "-o", model, "-q")
	const n = 120
	data := file(t, "data.csv", rows(n, same))
	list := func(args ...string) map[string]map[string]any {
		t.Helper()
		found := map[string]map[string]any{}
		for _, e := range decode(t, must(t, append([]string{"effects", model}, append(args, "--json")...)...))["effects"].([]any) {
			o := e.(map[string]any)
			found[fmt.Sprint(o["term"], " ", o["contrast"])] = o
		}
		return found
	}
	weights := map[string][2]float64{}
	for _, w := range decode(t, must(t, "inspect", model, "--json"))["terms"].([]any) {
		o := w.(map[string]any)
		weights[o["name"].(string)] = [2]float64{number(t, o, "mean"), number(t, o, "sd")}
	}
	check := func(what string, got map[string]any, want, within float64, key string) {
		t.Helper()
		if v := number(t, got, key); !(math.Abs(v-want) <= within) {
			t.Errorf("%s: %s is %v, want %v", what, key, v, want)
		}
	}
	// By weights: of f, all levels with their crosses.
	link := list(data, "--link")
	count := map[string]float64{}
	for i := range n {
		count[sites[i*5%11%3]]++
	}
	for _, level := range []string{"desktop", "tablet"} {
		mean, variance := 0.0, 0.0
		add := func(name string, factor float64) {
			w, known := weights[name]
			if !known {
				t.Fatalf("there is no weight %s", name)
			}
			mean, variance = mean+factor*w[0], variance+factor*factor*w[1]*w[1]
		}
		for sign, of := range map[float64]string{1: level, -1: "phone"} {
			add("device="+of, sign)
			for _, site := range sites {
				add("device="+of+":site="+site, sign*count[site]/n)
			}
		}
		got := link["device "+level+" - phone"]
		check(level, got, mean, 1e-9, "estimate")
		check(level, got, math.Sqrt(variance), 1e-9, "std_error")
	}
	for contrast, names := range map[string][2]string{"zip 02 - 01": {"zip=02", "zip=01"}, "zip 10 - 01": {"zip=10", "zip=01"}, "new true - false": {"new"}} {
		check(contrast, link[contrast], weights[names[0]][0]-weights[names[1]][0], 1e-9, "estimate")
	}
	if _, told := link["shop s1 - s0"]; told || len(link) != 2+2+2+1+1 {
		t.Errorf("effects %v", link)
	}
	if shops := list(data, "--comparisons", "shop", "--link"); len(shops) != 100 {
		t.Errorf("%d shops", len(shops))
	}
	// By predictions of rows that are changed by hand.
	predicted := func(edit func(i int, cells []string)) (mean float64) {
		t.Helper()
		out := strings.Split(strings.TrimSpace(must(t, "predict", model, file(t, "changed.csv", rows(n, edit)), "--types", "site=text")), "\n")
		for _, line := range out[1:] {
			var v float64
			fmt.Sscan(strings.Split(line, ",")[0], &v)
			mean += v / n
		}
		return mean
	}
	effects := list(data, "--draws", "4000")
	base := predicted(same)
	more := predicted(func(_ int, cells []string) {
		var v float64
		fmt.Sscan(cells[1], &v)
		cells[1] = fmt.Sprint(v + 1)
	})
	check("price", effects["price +1"], more-base, 4*number(t, effects["price +1"], "mcse")+1e-9, "estimate")
	tablet := predicted(func(_ int, cells []string) { cells[2] = "tablet" }) - predicted(func(_ int, cells []string) { cells[2] = "phone" })
	check("tablet", effects["device tablet - phone"], tablet, 4*number(t, effects["device tablet - phone"], "mcse"), "estimate")
	zip := list(data, "--predictions", "zip", "--at", "device=phone")["zip 02"]
	check("zip 02", zip, predicted(func(_ int, cells []string) { cells[2], cells[4] = "phone", "02" }), 4*number(t, zip, "mcse"), "estimate")
	// Levels that are numbers in these rows alone are levels.
	coded := func(site string) func(int, []string) {
		return func(i int, cells []string) {
			if cells[3] = site; site == "" {
				cells[3] = fmt.Sprint(1 + i%2)
			}
		}
	}
	codes := list(file(t, "coded.csv", rows(n, coded(""))), "--comparisons", "site")
	if len(codes) != 1 {
		t.Fatalf("effects %v", codes)
	}
	check("site", codes["site 2 - 1"], predicted(coded("2"))-predicted(coded("1")), 4*number(t, codes["site 2 - 1"], "mcse"), "estimate")
	// A level that training did not have is none of the model's.
	if devices := list(file(t, "other.csv", rows(n, func(i int, cells []string) {
		if i%5 == 0 {
			cells[2] = "fridge"
		}
	})), "--comparisons", "device"); len(devices) != 2 {
		t.Errorf("effects %v", devices)
	}
	first := func(i int, cells []string) { // of several blocks
		if i < n {
			cells[3] = "x"
		}
	}
	if rare := fmt.Sprint(decode(t, must(t, "effects", model, file(t, "rare.csv", rows(10*n, first)), "--comparisons", "device", "--json"))["remarks"]); !strings.Contains(rare, "that training did not have: effects are averaged") {
		t.Errorf("remarks %s", rare)
	}
	none := file(t, "none.csv", rows(n, coded("x")))
	if told := must(t, "effects", model, none, "--json"); !strings.Contains(told, "site is left out: no row has a level of it that training had") {
		t.Errorf("%s", told)
	}
	// Too many draws of too many weights, and the delta method.
	delta := list(data, "--comparisons", "price", "--draws", "100000", "--seed", "3")["price +1"]
	if delta["method"] == "delta" {
		check("price by delta", delta, number(t, effects["price +1"], "std_error"), 0.1*number(t, effects["price +1"], "std_error"), "std_error")
	}
	told := decode(t, must(t, "effects", model, data, "--json"))["remarks"]
	if text := fmt.Sprint(told); !strings.Contains(text, "the 101 levels of shop are left out") || !strings.Contains(text, "intervals are too narrow") || strings.Contains(text, "that training did not have") {
		t.Errorf("remarks %v", told)
	}
	svm := filepath.Join(t.TempDir(), "svm.safetensors")
	numbered := file(t, "x.svm", strings.Repeat("1 1:2 3:1\n-1 2:1\n", 60))
	must(t, "stream", numbered, "-o", svm, "-q")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"knows no means of its columns: give data", []string{model}},
		{"knows no means of its columns: give data, and leave --grid out", []string{model, data, "--grid", "balanced"}},
		{"training has no level \"fridge\" of column device: it has", []string{model, data, "--at", "device=fridge"}},
		{"the model does not use a column \"prize\", so that nothing changes with it: did you mean price?", []string{model, data, "--comparisons", "prize"}},
		{"no row has a level of column site that training had", []string{model, none, "--comparisons", "site"}},
		{"column device is a category, which has no slope", []string{model, data, "--slopes", "device"}},
		{"there is no column \"device\", which the model needs", []string{model, file(t, "few.csv", "click,price\n1,2\n")}},
		{"rows of numbered features have no columns to change", []string{svm, numbered}},
	} {
		if o := invoke(t, "", append([]string{"effects"}, c.args...)...); o.code != exitFailed || !strings.Contains(o.err, c.want) || strings.Count(o.err, "\n") != 1 {
			t.Errorf("%v: %d, %q, want %q", c.args[1:], o.code, o.err, c.want)
		}
	}
	// Of a column that is a number and a level both are replaced, whichever stands first; rows that lack a value count
	// nowhere.
	for _, formula := range []string{"click ~ zip + hash(zip) + price", "click ~ hash(zip) + zip + price"} {
		must(t, "stream", train, "--formula", formula, "--missing", "drop", "-o", model, "-q")
		got := list(data, "--comparisons", "zip", "--draws", "4000")["zip 02 - 01"]
		to := func(zip string) float64 { return predicted(func(_ int, cells []string) { cells[4] = zip }) }
		check(formula, got, to("02")-to("01"), 4*number(t, got, "mcse"), "estimate")
		holes := file(t, "holes.csv", head+strings.Repeat("0,,phone,1,10,true,s1\n", 9)+strings.TrimPrefix(rows(n, same), head))
		check(formula, list(holes, "--comparisons", "zip", "--draws", "4000")["zip 02 - 01"], number(t, got, "estimate"), 1e-12, "estimate")
	}
}
