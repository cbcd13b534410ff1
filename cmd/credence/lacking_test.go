package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A model whose policy leaves rows out predicts without a flag: each row has its line, and one that lacks a
// value has empty cells, is counted, and is filled where that is asked for.
func TestPredictAfterDrop(t *testing.T) {
	row := func(i int) string {
		x, c, e := fmt.Sprint(i%10), fmt.Sprintf("u%d", i%3), fmt.Sprint(i%4)
		switch i % 20 {
		case 3:
			x = ""
		case 8:
			c = "NA"
		case 14:
			e = ""
		}
		return fmt.Sprintf("%s,%s,%s,%d\n", x, c, e, (i*i)%7%2)
	}
	data := file(t, "t.csv", repeat("x,c,e,y\n", 120, row))
	folder := t.TempDir()
	for _, command := range []string{"fit", "stream"} {
		model := filepath.Join(folder, command)
		must(t, command, data, "-f", "y ~ x + c + offset(e)", "--missing", "drop", "-q", "-o", model)
		all := invoke(t, "", "predict", model, data, "--latent")
		live := invoke(t, repeat("x,c,e,y\n", 120, row), "predict", model, "-", "--latent")
		if all.code != exitDone || live.code != exitDone || all.out != live.out || !strings.Contains(all.err, "18 of 120 rows lack a value") || !strings.Contains(live.err, "18 of 120 rows lack a value") {
			t.Fatalf("%s: exit %d and %d: %s%s\n%s", command, all.code, live.code, all.err, live.err, live.out)
		}
		lines := strings.Split(strings.TrimSpace(all.out), "\n")[1:]
		if len(lines) != 120 {
			t.Fatalf("%s: %d predictions", command, len(lines))
		}
		for i, line := range lines {
			lacks := i%20 == 3 || i%20 == 8 || i%20 == 14
			if strings.Contains(line, "NaN") || lacks != (strings.Trim(line, ",") == "") || strings.Count(line, ",") != 6 {
				t.Errorf("%s: row %d: %q", command, i, line)
			}
		}
		if o := invoke(t, "", "evaluate", model, data, "--json"); o.code != exitDone || !strings.Contains(o.out, `"rows":102`) {
			t.Errorf("%s: %s%s", command, o.out, o.err)
		}
	}
	// An input is filled, an offset is not.
	filled := invoke(t, "", "predict", filepath.Join(folder, "fit"), data, "--missing", "mean", "-q")
	if filled.code != exitFailed || !strings.Contains(filled.err, "offset e is missing") {
		t.Errorf("exit %d: %s", filled.code, filled.err)
	}
}
