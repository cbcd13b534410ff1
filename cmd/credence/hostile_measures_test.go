package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostileMeasures: numbers at the ends of what numbers hold, and targets that a family cannot have, lead to a
// table, to JSON or to one line.
func TestHostileMeasures(t *testing.T) {
	var train, huge, negative strings.Builder
	for _, b := range []*strings.Builder{&train, &huge, &negative} {
		b.WriteString("x,y,n\n")
	}
	for i := range 60 {
		x, n := float64(i*7%60)/10, i*5%7
		fmt.Fprintf(&train, "%g,%g,%d\n", x, 2*x+float64(i%3), n)
		fmt.Fprintf(&huge, "%g,%g,%d\n", x, 1e308*float64(1-i%2*2), n)
		fmt.Fprintf(&negative, "%g,%g,%d\n", x, 2*x, n-2)
	}
	data, far, below := file(t, "train.csv", train.String()), file(t, "huge.csv", huge.String()), file(t, "negative.csv", negative.String())
	numbers, counts := filepath.Join(t.TempDir(), "numbers.safetensors"), filepath.Join(t.TempDir(), "counts.safetensors")
	must(t, "fit", data, "-f", "y ~ x", "-o", numbers)
	must(t, "fit", data, "-f", "n ~ x", "--family", "poisson", "-o", counts)
	for _, args := range [][]string{
		{"evaluate", numbers, far, "--reliability", "--json"},
		{"evaluate", counts, below, "--reliability", "--json"},
	} {
		var found struct {
			Zero     int `json:"zero_density_rows"`
			Infinite int `json:"infinite_deviance_rows"`
		}
		if err := json.Unmarshal([]byte(must(t, args...)), &found); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		// n − 2 is below 0 where n is 0 or 1, in 18 of 60 rows.
		if args[1] == numbers && found.Zero != 60 || args[1] == counts && (found.Zero != 18 || found.Infinite != 18) {
			t.Errorf("%v: %+v", args, found)
		}
	}
	if text := must(t, "effects", numbers, data, "--comparisons", "x", "--step", "1e308"); strings.Contains(text, "Inf") {
		t.Errorf("an effect beyond numbers is no empty cell:\n%s", text)
	}
	picture := filepath.Join(t.TempDir(), "x.svg")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitFailed, "negative.csv:2: target -2 is negative: poisson needs counts", []string{"calibrate", counts, below, "-o", filepath.Join(t.TempDir(), "c.safetensors")}},
		{exitMisuse, "--split 0 is not a share of the rows", []string{"evaluate", numbers, data, "--split", "0"}},
		{exitMisuse, "--interval 0 is not a probability", []string{"effects", numbers, data, "--interval", "0"}},
		{exitMisuse, "--interval 0 is not a probability", []string{"plot", numbers, "--kind", "forest", "--interval", "0", "-o", picture}},
		{exitMisuse, "--interval 1 is not a probability", []string{"inspect", numbers, "--interval", "1"}},
		{exitMisuse, "--interval 0.9999999999999999 is so near to 1", []string{"predict", numbers, data, "--interval", "0.9999999999999999"}},
	} {
		o := invoke(t, "", c.args...)
		if lines := strings.Count(o.err, "\n"); o.code != c.code || !strings.Contains(o.err, c.want) || lines != 1 {
			t.Errorf("%v: exit %d, %d lines: %s, want exit %d: %s", c.args, o.code, lines, o.err, c.code, c.want)
		}
	}
}
