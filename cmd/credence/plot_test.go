package main

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/plot"
)

// TestPlotCommand: every kind that a model can have is drawn, from files, pipes and compressed files alike; what cannot
// be drawn is refused and leaves no file.
func TestPlotCommand(t *testing.T) {
	data, folder := file(t, "claims.csv", claims()), t.TempDir()
	model, picture := filepath.Join(folder, "m.safetensors"), filepath.Join(folder, "x.svg")
	must(t, "fit", data, "--formula", "claims ~ age + region + offset(log(expo))", "--family", "poisson", "-o", model)
	read := file(t, "claims.svg", claims())
	kinds, _ := plot.Kinds()
	for _, kind := range kinds {
		if kind == plot.Path {
			continue
		}
		out := decode(t, must(t, "plot", model, data, "--kind", string(kind), "-o", picture, "--json"))
		text := sure(os.ReadFile(picture))(t)
		if out["kind"] != string(kind) || out["plot"] != picture || xml.Unmarshal(text, new(struct{})) != nil {
			t.Errorf("%s: %v", kind, out)
		}
		if text := must(t, "plot", model, data, "--kind", string(kind), "-o", picture, "--threads", "1"); text != "drawn   "+picture+"\n" {
			t.Errorf("%s: %q", kind, text)
		}
		if again := sure(os.ReadFile(picture))(t); string(again) != string(text) {
			t.Errorf("%s: another picture on one thread", kind)
		}
	}
	// The data of a picture, without a file: the row whose effect is largest stands last.
	out := decode(t, must(t, "plot", model, data, "--kind", "forest", "--json"))
	panel := out["panels"].([]any)[0].(map[string]any)
	axis, marks := panel["y"].(map[string]any), panel["marks"].([]any)
	outer, inner := marks[0].(map[string]any), marks[1].(map[string]any)
	effects := decode(t, must(t, "effects", model, data, "--step", "sd", "--json"))["effects"].([]any)
	last, met := axis["levels"].([]any), false
	for _, e := range effects {
		e := e.(map[string]any)
		if e["term"] == "age" && last[len(last)-1] == "age: +17.1" { // by its standard deviation
			at := func(mark map[string]any, of string) any { return mark[of].([]any)[len(last)-1] }
			met = at(inner, "x") == e["estimate"] && at(outer, "low") == e["conf_low"] && at(outer, "high") == e["conf_high"] && outer["shape"] == "interval" && outer["across"] == true
		}
	}
	if _, drawn := out["plot"]; drawn || !met || axis["scale"] != "linear" || out["title"] == "" {
		t.Errorf("data of a forest: %v", out)
	}
	must(t, "plot", model, "--kind", "forest", "-o", picture)
	if text := string(sure(os.ReadFile(picture))(t)); !strings.Contains(text, "of a row at the training means") || !strings.Contains(text, "region: south - north") {
		t.Errorf("without data: %.2000s", text)
	}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitMisuse, "--kind says what to draw: one of [predictions slopes", []string{model, "-o", picture}},
		{exitMisuse, "did you mean residuals?", []string{model, "--kind", "residual", "-o", picture}},
		{exitMisuse, "-o names the file to draw: -o forest.svg", []string{model, "--kind", "forest"}},
		{exitMisuse, "pictures are SVG: write f.svg, and print the SVG from a browser, or by rsvg-convert -f png -o f.png f.svg", []string{model, "--kind", "forest", "-o", "f.png"}},
		{exitMisuse, "by rsvg-convert -f pdf -o f.PDF f.svg", []string{model, "--kind", "forest", "-o", "f.PDF"}},
		{exitMisuse, "name it with .svg at the end", []string{model, "--kind", "forest", "-o", "f.jpeg"}},
		{exitMisuse, "is read, and would be overwritten", []string{model, read, "--kind", "forest", "-o", read}},
		{exitMisuse, "--rows some is unknown", []string{model, data, "--kind", "residuals", "--rows", "some", "-o", picture}},
		{exitMisuse, "--interval", []string{model, "--kind", "forest", "--interval", "2", "-o", picture}},
		{exitMisuse, "--columns are of predictions and slopes", []string{model, "--kind", "forest", "--columns", "age", "-o", picture}},
		{exitFailed, "give data; there can be predictions, slopes, forest, prior_posterior", []string{model, "--kind", "ppc_pit", "-o", filepath.Join(folder, "none.svg")}},
		{exitFailed, "no picture path: the model was not found by select; there can be predictions, slopes, forest, ppc_dist, ppc_tstat, ppc_rootogram, ppc_pit, loo_pit, pava_calibration, residuals, khat, prior_posterior", []string{model, data, "--kind", "path", "-o", picture}},
	} {
		if o := invoke(t, "", append([]string{"plot"}, c.args...)...); o.code != c.code || !strings.Contains(o.err, c.want) {
			t.Errorf("%v: exit %d, %q; want %d, %q", c.args, o.code, o.err, c.code, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "none.svg")); err == nil {
		t.Error("what cannot be drawn left a file")
	}
}
