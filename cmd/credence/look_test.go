package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestLookCommand: what is told of a table, the schema file that keeps it, and that other commands read by it.
func TestLookCommand(t *testing.T) {
	text := "id,zip,flag,city,y\n"
	for i := range 60 {
		text += []string{"1", "2", "3"}[i%3] + ",0" + string(rune('1'+i%7)) + "00," + []string{"yes", "no"}[i%2] + "," + []string{"Bern", "Basel", "Bern"}[i%3] + "," + string(rune('1'+i%9)) + ".5\n"
	}
	text = strings.Replace(text, "\n1,", "\n,", 1)
	data, folder := file(t, "x.csv", text), t.TempDir()
	schema, model := filepath.Join(folder, "s.json"), filepath.Join(folder, "m.safetensors")
	out := must(t, "look", data, "-o", schema, "--types", "zip=category")
	for _, want := range []string{"60 rows, 5 columns", "1 (1.7 %)", "7 levels: 0100 (9)", "2 levels: Bern (40), Basel (20)", "50.0 % true", "target  y: ", "saved   " + schema} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nlacks %q", out, want)
		}
	}
	o := decode(t, must(t, "look", data, "--json"))
	if o["rows"] != 60.0 || len(o["columns"].([]any)) != 5 || !strings.Contains(o["findings"].([]any)[0].(map[string]any)["text"].(string), "begin with 0 as codes do") {
		t.Errorf("%v", o)
	}
	// As the schema says, zip is a category: in fit, and in a file whose codes look like numbers.
	if out := must(t, "fit", data, "--schema", schema, "--target", "y", "--missing", "mean", "-o", model); !strings.Contains(out, "2 categories: zip (7 levels), city (2 levels)") && !strings.Contains(out, "zip (7 levels)") {
		t.Errorf("fit by the schema: %s", out)
	}
	other := file(t, "other.csv", strings.ReplaceAll(text, ",0", ","))
	if o := decode(t, must(t, "look", other, "--schema", schema, "--json")); o["columns"].([]any)[1].(map[string]any)["kind"] != "category" {
		t.Errorf("%v", o["columns"])
	}
	// which lacks the target
	must(t, "predict", model, file(t, "new.csv", "id,zip,flag,city\n2,0100,yes,Bern\n"), "--schema", schema, "-o", filepath.Join(folder, "p.csv"))
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitMisuse, "the schema names no column", []string{"look", data, "--schema", file(t, "none.json", "{}")}},
		{exitMisuse, "none.json: it is no schema", []string{"fit", data, "--target", "y", "--schema", file(t, "none.json", "no")}},
		{exitMisuse, "there is no such file", []string{"look", data, "--schema", "gone.json"}},
		{exitMisuse, "--schema names no file", []string{"look", data, "--schema", ""}},
		{exitFailed, `--schema names the column "zip", which`, []string{"look", file(t, "less.csv", "id,flag\n1,yes\n"), "--schema", schema}},
		{exitFailed, `no column "cost" to be the target`, []string{"look", data, "--target", "cost"}},
		{exitMisuse, "is read, and would be overwritten", []string{"look", data, "-o", data}},
		{exitMisuse, "is read, and would be overwritten", []string{"look", data, "--schema", schema, "-o", schema}},
		{exitMisuse, "look has nothing else to tell", []string{"look", data, "--quiet"}},
	} {
		if o := invoke(t, "", c.args...); o.code != c.code || !strings.Contains(o.err, c.want) {
			t.Errorf("%v: exit %d, %q; want %d, %q", c.args, o.code, o.err, c.code, c.want)
		}
	}
}
