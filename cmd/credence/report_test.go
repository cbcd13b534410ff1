package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReportCommand: a page of one model and of two, from files and pipes, the same bytes each time; what can have none
// leaves no file.
func TestReportCommand(t *testing.T) {
	data, folder := file(t, "claims.csv", claims()), t.TempDir()
	model, page := filepath.Join(folder, "m.safetensors"), filepath.Join(folder, "r.html")
	must(t, "fit", data, "--formula", "claims ~ age + region + offset(log(expo))", "--family", "poisson", "-o", model)
	out := decode(t, must(t, "report", model, data, "-o", page, "--json"))
	text := sure(os.ReadFile(page))(t)
	if lights := out["lights"].([]any); len(lights) != 3 || out["report"] != page || out["bytes"] != float64(len(text)) || out["form"] != true {
		t.Errorf("%v", out)
	}
	told := must(t, "report", model, data, "-o", page, "--threads", "1")
	if again := sure(os.ReadFile(page))(t); string(again) != string(text) {
		t.Error("another page on one thread")
	}
	if !strings.HasPrefix(told, "verdict  ") || !strings.Contains(told, "good     Converged: ") || !strings.HasSuffix(told, "kB: open it in a browser\n") {
		t.Errorf("%s", told)
	}
	evaluation := decode(t, must(t, "evaluate", model, data, "--json"))
	if got := out["evaluation"].(map[string]any); got["nlpd"] != evaluation["nlpd"] {
		t.Errorf("nlpd %v, want %v", got["nlpd"], evaluation["nlpd"])
	}
	other := filepath.Join(folder, "other.safetensors")
	must(t, "fit", data, "--formula", "claims ~ region + offset(log(expo))", "--family", "poisson", "-o", other)
	both := decode(t, invoke(t, claims(), "report", model, other, "-", "-o", page, "--json").out)
	compared := decode(t, must(t, "compare", model, other, data, "--json"))
	if a, b := both["comparison"].(map[string]any)["models"].([]any)[1].(map[string]any), compared["models"].([]any)[1].(map[string]any); a["gain"] != b["gain"] || a["nlpd"] != b["nlpd"] {
		t.Errorf("%v, want %v", a, b)
	}
	bare, none := file(t, "bare.csv", "age,region,expo\n30,north,1\n"), filepath.Join(folder, "none.html")
	online := filepath.Join(folder, "online.safetensors")
	must(t, "stream", data, "--formula", "(claims > 0) ~ region", "-o", online, "--report", "0")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitFailed, "the data lack the target claims, with which predictions are compared", []string{model, bare, "-o", none}},
		{exitFailed, "the model was learned online, whose columns are keys", []string{online, data, "-o", none}},
		{exitMisuse, "is read, and would be overwritten", []string{model, filepath.Join(folder, "r.html"), "-o", filepath.Join(folder, "r.html")}},
		{exitMisuse, "--interval", []string{model, data, "-o", none, "--interval", "2"}},
	} {
		if o := invoke(t, "", append([]string{"report"}, c.args...)...); o.code != c.code || !strings.Contains(o.err, c.want) {
			t.Errorf("%v: exit %d, %q; want %d, %q", c.args, o.code, o.err, c.code, c.want)
		}
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("what can have no report left a file")
	}
}
