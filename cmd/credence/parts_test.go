package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// A part of a date is a category as a column of its values is one, in a block, in products, hashed, kept and learned
// from a stream, and a part that training did not have is named. A number times hash(c) is the number times c.
func TestPartsOfDatesAreCategories(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("y,z,x,g,h,at\n")
	for i := range 300 {
		hour, x, at := i*7%6+2, math.Sin(float64(i)), "NA"
		if i%41 != 5 {
			at = fmt.Sprintf("2024-0%d-1%d 0%d:15", 1+i%9, i%10, hour)
		}
		h := fmt.Sprint(hour)
		if at == "NA" {
			h = at
		}
		y := math.Cos(float64(3*hour)) + x*float64(i%3) + 0.2*math.Sin(float64(i*i))
		fmt.Fprintf(&rows, "%g,%t,%g,g%d,%s,%s\n", y, y > 0.3, x, i%3, h, at)
	}
	data := file(t, "rows.csv", rows.String())
	known, other := "x,g,h,at\n0.5,g1,3,2025-01-01 03:59\n-1,g2,7,2020-02-29 07:00\n", "x,g,h,at\n0.5,g1,11,2025-01-01 11:59\n"
	model := filepath.Join(t.TempDir(), "m.safetensors")
	predict := func(args []string, rows string, options ...string) outcome {
		t.Helper()
		must(t, append(args, "-o", model, "-q")...)
		of, live := invoke(t, "", append([]string{"predict", model, file(t, "new.csv", rows), "--latent"}, options...)...), invoke(t, rows, append([]string{"predict", model, "-", "--latent"}, options...)...)
		if of.out != live.out || of.code != live.code {
			t.Errorf("%v: rows of a pipe have other answers:\n%s%s%s", args, live.out, of.out, live.err)
		}
		return of
	}
	for _, c := range []struct{ command, part, column string }{
		{"fit", "y ~ x + onehot(hour(at))", "y ~ x + onehot(h)"},
		{"fit", "y ~ x + hash(hour(at))", "y ~ x + hash(h)"},
		{"fit", "y ~ x + onehot(hour(at)):x + onehot(hour(at)):g", "y ~ x + onehot(h):x + onehot(h):g"},
		{"fit", "y ~ hash(g)*x + hash(hour(at)):x", "y ~ x + onehot(g) + g:x + hash(h):x"},
		{"fit", "y ~ x + hash(g):x", "y ~ x + g:x"},
		{"select", "y ~ x + g + keep(onehot(hour(at)))", "y ~ x + g + keep(onehot(h))"},
		{"stream", "z ~ x + hash(hour(at)):g", "z ~ x + hash(h):g"},
		{"stream", "z ~ onehot(hour(at)) + hash(hour(at)):x", "z ~ onehot(h) + hash(h):x"},
	} {
		missing := []string{"--missing", "indicator"}
		if c.command == "stream" || !strings.Contains(c.part, "at") {
			missing = []string{"--missing", "drop"}
		}
		var out [2][][]float64
		for k, formula := range []string{c.part, c.column} {
			o := predict(append([]string{c.command, data, "-f", formula}, missing...), known)
			if o.code != exitDone {
				t.Fatalf("%s: exit %d: %s", formula, o.code, o.err)
			}
			for _, line := range strings.Split(strings.TrimSpace(o.out), "\n")[1:] {
				var row []float64
				for _, cell := range strings.Split(line, ",") {
					row = append(row, parse(t, cell))
				}
				out[k] = append(out[k], row)
			}
		}
		for i, row := range out[1] {
			for j, want := range row {
				// The searches for the prior variances end apart where columns stand in another order.
				if got := out[0][i][j]; !(math.Abs(got-want) <= 1e-4*(math.Abs(want)+0.1)) {
					t.Errorf("%s %s: row %d has %v, with a column %v", c.command, c.part, i+1, out[0][i], row)
					break
				}
			}
		}
	}
	o := predict([]string{"fit", data, "-f", "y ~ x + onehot(hour(at))", "--missing", "drop"}, other)
	if o.code != exitFailed || !strings.Contains(o.err, `column "at": hour(at) 11 was not seen in training`) {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	if o = invoke(t, other, "predict", model, "-", "--unseen", "prior"); o.code != exitDone || !strings.Contains(o.err, "1 category value not seen") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	if o = predict([]string{"stream", data, "-f", "z ~ x + hash(hour(at))", "--missing", "drop"}, other); o.code != exitDone || !strings.Contains(o.err, "1 value of a feature unseen") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}
