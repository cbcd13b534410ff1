package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// weightNames returns the names of a model's weights, in the order of the alphabet.
func weightNames(t *testing.T, model string) []string {
	t.Helper()
	var names []string
	for _, term := range decode(t, must(t, "inspect", model, "--json"))["terms"].([]any) {
		names = append(names, term.(map[string]any)["name"].(string))
	}
	slices.Sort(names)
	return names
}

// One file and one formula are one model by fit and by stream: the same features by name, a log loss
// within 0.02, and predictions that compare puts side by side.
func TestFitAndStreamAreOneModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var csv, svm, vw strings.Builder
	csv.WriteString("y,x,site,ad,flag,code,w,o,at\n")
	for i := range 2000 {
		x, site, ad := math.Round(100*rng.NormFloat64())/100, rng.IntN(4), rng.IntN(5)
		f := x - 0.5 + float64(site%2)
		if site == ad {
			f++
		}
		y := 0
		if rng.NormFloat64() < f {
			y = 1
		}
		text := fmt.Sprintf("s%d", site)
		if i%50 == 7 {
			text = "NA"
		}
		fmt.Fprintf(&csv, "%d,%g,%s,a%d,%t,%d,%d,%g,2024-02-%02d %02d:30\n", y, 2+x, text, ad, i%3 == 0, i%7, 1+i%2, 0.1*float64(i%3), 1+i%28, i%5)
		fmt.Fprintf(&svm, "%d %d:1 %d:%g\n", y, 1+site, 5+ad, 1+0.1*float64(ad))
		fmt.Fprintf(&vw, "%d |s u%d |a v%d:%g\n", 2*y-1, site, ad, 1+0.1*float64(ad))
	}
	table, sparse, bags := file(t, "rows.csv", csv.String()), file(t, "rows.libsvm", svm.String()), file(t, "rows.vw", vw.String())
	for _, c := range []struct{ path, formula, missing string }{
		{table, "y ~ x + ad + flag", ""},
		{table, "y ~ x + hash(site) + hash(site:ad)", ""},
		{table, "y ~ x + hash(hour(at)) + hash(site):x", ""},
		{table, "y ~ hash(ad)*x + hash(weekday(at)):flag + hash(site)", ""},
		{table, "y ~ x + onehot(hour(at)) + onehot(hour(at)):ad", ""},
		{table, "y ~ hash(. - at)", ""},
		{table, "y ~ hash(. - at, bits=20)", ""},
		{table, "y ~ hash(code, bits=2) + x", ""},
		{table, "y ~ x + site:ad + onehot(code) + weight(w) + offset(o) + offset(0.25)", "indicator"},
		{table, "y ~ . - w - o - at", "drop"},
		{table, "y ~ 0 + poly(x, 2) + site + log(w)", "mean"},
		{sparse, "", ""},
		{sparse, ". - x3", ""},
		{sparse, "hash(., bits=20)", ""},
		{bags, "", ""},
		{bags, "hash(.)", ""},
		{bags, ". - a", ""},
		{bags, "s + hash(a, bits=18)", ""},
	} {
		one, other := filepath.Join(t.TempDir(), "fit"), filepath.Join(t.TempDir(), "stream")
		args := []string{c.path, "--formula", c.formula, "--quiet", "-o"}
		if c.missing != "" {
			args = append([]string{"--missing", c.missing}, args...)
		}
		fit := append([]string{"fit", "--raw", "--family", "bernoulli(link=probit)", "--prior", "spikeslab", "--engine", "sep"}, args...)
		must(t, append(fit, one)...)
		must(t, append(append([]string{"stream"}, args...), other)...)
		if a, b := weightNames(t, one), weightNames(t, other); !slices.Equal(a, b) {
			t.Errorf("%s: fit has the weights %q, stream %q", c.formula, a, b)
		}
		loss := func(model string) float64 {
			return number(t, decode(t, must(t, "evaluate", model, c.path, "--json")), "log_loss")
		}
		if c.missing == "drop" {
			continue // evaluate leaves out other rows
		}
		if a, b := loss(one), loss(other); !(math.Abs(a-b) <= 0.02) || a > 0.69 {
			t.Errorf("%s: log loss %.4f by fit, %.4f by stream", c.formula, a, b)
		}
		must(t, "compare", one, other, c.path)
	}
}
