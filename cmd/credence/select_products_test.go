package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSelectProducts: tables of products of two shards, in either order, select what their rows do, and their model
// predicts.
func TestSelectProducts(t *testing.T) {
	names := []string{"(intercept)", "a", "b", "c", "d", "y"}
	var csv strings.Builder
	csv.WriteString("a,b,c,d,y\n")
	rng := rand.New(rand.NewPCG(4, 2))
	var shards [2][6][6]float64
	for i := range 50 {
		row := [6]float64{1}
		for j := 1; j < 5; j++ {
			row[j] = math.Round(1000*rng.NormFloat64()) / 1000
		}
		row[5] = math.Round(1000*(3+2*row[2]-row[4]+0.5*rng.NormFloat64())) / 1000
		fmt.Fprintln(&csv, strings.ReplaceAll(strings.Trim(fmt.Sprint(row[1:]), "[]"), " ", ","))
		for j, v := range row {
			for k, u := range row {
				shards[i/30][j][k] += v * u
			}
		}
	}
	rows := file(t, "rows.csv", csv.String())
	var paths []string
	for k, gram := range shards {
		text := "," + strings.Join(names, ",") + "\n"
		for j, row := range gram {
			text += names[j] + "," + strings.ReplaceAll(strings.Trim(fmt.Sprint(row), "[]"), " ", ",") + "\n"
		}
		paths = append(paths, file(t, fmt.Sprintf("shard%d.csv", k), text))
	}
	model := filepath.Join(t.TempDir(), "m.safetensors")
	one := must(t, "select", paths[0], paths[1], "--products", "--target", "y", "--engine", "ep", "-o", model)
	if !strings.Contains(one, "products of 50 rows") {
		t.Error(one)
	}
	read := func(paths ...string) map[string]any {
		e := decode(t, must(t, append([]string{"select", "--target", "y", "--engine", "ep", "--json"}, paths...)...))
		delete(e, "seconds")
		return e
	}
	e, other := read(paths[0], paths[1], "--products"), read(paths[1], paths[0], "--products")
	if fmt.Sprint(e) != fmt.Sprint(other) {
		t.Error("another order has other bytes")
	}
	want := read(rows)
	if number(t, e, "rows") != 50 || number(t, e, "selected") != 2 {
		t.Errorf("%v rows, %v selected", e["rows"], e["selected"])
	}
	for k, f := range e["features"].([]any) {
		f, w := f.(map[string]any), want["features"].([]any)[k].(map[string]any)
		if f["name"] != w["name"] || !(math.Abs(number(t, f, "inclusion")-number(t, w, "inclusion")) <= 1e-6) || !(math.Abs(number(t, f, "mean")-number(t, w, "mean")) <= 1e-6) {
			t.Errorf("%v, from the rows %v", f, w)
		}
	}
	must(t, "predict", model, rows)
	must(t, "evaluate", model, rows)
	bad := file(t, "bad.csv", "(intercept),x\n1,2\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{paths[0], "--products", "--target", "y", "--null-check", "2"}, exitMisuse, "--null-check needs the rows"},
		{[]string{paths[0], "--products", "--target", "y", "--write-selected", "s.csv"}, exitMisuse, "--products have none"},
		{[]string{paths[0], filepath.Join(filepath.Dir(paths[0]), ".", filepath.Base(paths[0])), "--products", "--target", "y"}, exitFailed, "the file is named twice, and its rows would count twice"},
		{[]string{paths[0], "--products", "--target", "y", "-o", ""}, exitMisuse, "--output names no file: name one, or leave --output out"},
		{[]string{bad, "--products", "--target", "x"}, exitFailed, "bad.csv has 2 names, and rows of products: 1"},
		{[]string{"-", "--products", "--target", "x"}, exitMisuse, "products are read from files, not from a pipe"},
		{[]string{model, "--products", "--target", "x"}, exitFailed, "products are a CSV table of numbers, or a job, named first, and its parts"},
		{[]string{paths[0], "--products", "--target", "z"}, exitFailed, `"z"`},
	} {
		if o := invoke(t, "", append([]string{"select"}, c.args...)...); o.code != c.code || !strings.Contains(o.err, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, o.code, o.err)
		}
	}
	if _, err := os.Stat("s.csv"); err == nil {
		t.Error("columns were written")
	}
}

// A table of products that is named twice would count its rows twice.
func TestProductsNamedTwice(t *testing.T) {
	path := file(t, "p.csv", "(intercept),x,y\n80,1,2\n1,80,40\n2,40,90\n")
	if o := invoke(t, "", "select", path, path, "--products", "--target", "y"); o.code != exitFailed || !strings.Contains(o.err, "is named twice, and its rows would count twice: name it once") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}
