package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// hostile is a column name with an escape sequence, a C1 control and a right-to-left override.
const hostile = "a\x1b]0;pwned\x07\u009bb\u202ec"

// What a terminal obeys is escaped, whatever prints it.
func TestNamesDoNotReachTheTerminal(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("y," + hostile + ",k\n")
	for i := range 40 {
		rows.WriteString([]string{"1.5,2,u\n", "2.5,3,v\n", "4,5,u\n"}[i%3])
	}
	data := file(t, "t.csv", rows.String())
	model := filepath.Join(t.TempDir(), "m.safetensors")
	stream := filepath.Join(t.TempDir(), "s.safetensors")
	long := file(t, "long.csv", strings.ReplaceAll(rows.String(), hostile, strings.Repeat("long", 50_000)))
	for _, args := range [][]string{
		{"fit", long, "--target", "y", "-o", model}, {"inspect", model}, {"fit", long, "-f", "y ~ " + strings.Repeat("longer", 50_000)},
		{"stream", long, "--target", "k", "-o", stream}, {"inspect", stream}, {"select", long, "--target", "y"},
	} {
		if o := invoke(t, "", args...); len(o.out)+len(o.err) > 10_000 {
			t.Errorf("%.20v prints %d bytes", args, len(o.out)+len(o.err))
		}
	}
	for _, args := range [][]string{
		{"fit", data, "--target", "y", "-o", model},
		{"fit", data, "--target", "y", "--json"},
		{"inspect", model}, {"inspect", model, "--json"},
		{"evaluate", model, data}, {"compare", model, model, data},
		{"stream", data, "--target", "k", "-o", stream}, {"inspect", stream},
	} {
		o := invoke(t, "", args...)
		if o.code != exitDone {
			t.Fatalf("%v: exit %d: %s", args, o.code, o.err)
		}
		if text := o.out + o.err; strings.ContainsAny(text, "\x1b\x07\u009b\u202e") {
			t.Errorf("%v prints %q", args, text)
		}
		if args[0] == "inspect" && !strings.Contains(o.out, `a\u001b]0;pwned\u0007\u009bb\u202ec`) {
			t.Errorf("%v does not show the name: %s", args, o.out)
		}
	}
	fit := decode(t, must(t, "inspect", model, "--json"))
	found := false
	for _, term := range fit["terms"].([]any) {
		found = found || term.(map[string]any)["name"] == hostile
	}
	if !found {
		t.Error("JSON does not give the name back")
	}
}
