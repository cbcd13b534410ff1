package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
)

// A row that cannot be taken ends the answers: standard output has those of the rows before it, a file is not left
// behind, and what else there is of the kind is named with it, however the rows come.
func TestFaultyRowEndsTheAnswers(t *testing.T) {
	train := repeat("x,c,y\n", 40, func(i int) string { return fmt.Sprintf("%d,%s,%d\n", i, []string{"u", "v"}[i%2], i*i%11) })
	model := fitted(t, file(t, "t.csv", train), "-f", "y ~ x + c")
	const good = credence.BlockRows + 90
	rows := repeat("x,c\n", good, func(i int) string { return fmt.Sprintf("%d,%s\n", i%50, []string{"v", "u"}[i%2]) })
	want := must(t, "predict", model, file(t, "good.csv", rows), "-q")
	if strings.Count(want, "\n") != good+1 {
		t.Fatalf("%d lines", strings.Count(want, "\n"))
	}
	line := good + 2 // of the first row at fault
	for name, c := range map[string]struct{ rows, first, behind string }{
		"texts": {"low,u\n1,u\nhigh,v\nlow,u\n", fmt.Sprintf(`:%d: column "x": "low" is not a number`, line),
			`, nor is "high" (3 rows): declare them missing with --missing`},
		"many texts": {repeat("", 20, func(i int) string { return fmt.Sprintf("t%d,u\n", i) }), fmt.Sprintf(`:%d: column "x": "t0" is not a number`, line),
			`, nor are "t1", "t2", "t3"`},
		"levels": {"1,w\n1,u\n1,z\n2,w\n", `column "c": `,
			fmt.Sprintf(`categories of 3 rows were not seen in training ("w" at FILE:%d, "z" at FILE:%d): correct them`, line, line+2)},
		"many levels": {repeat("", 20, func(i int) string { return fmt.Sprintf("1,w%d\n", i) }), `column "c": `,
			fmt.Sprintf(`categories of 5 rows or more were not seen in training ("w0" at FILE:%d, `, line)},
		"far":    {"1e300,u\n1e301,u\n", fmt.Sprintf(`:%d: x is 1e+300, so far from the rows of training`, line), ""},
		"ragged": {"1,u,2\n1,u\n", fmt.Sprintf(`:%d: the row has 3 fields`, line), ""},
	} {
		bad := rows + c.rows + strings.Repeat("1,u\n", 30_000) // of another block of text, too
		path := file(t, "bad.csv", bad)
		out := filepath.Join(t.TempDir(), "out.csv")
		for way, o := range map[string]outcome{
			"file": invoke(t, "", "predict", model, path), "file to file": invoke(t, "", "predict", model, path, "-o", out),
			"pipe to file": invoke(t, bad, "predict", model, "-", "-o", out), "pipe": invoke(t, bad, "predict", model, "-"),
		} {
			behind := strings.ReplaceAll(c.behind, "FILE", map[bool]string{true: path, false: "standard input"}[way[0] == 'f'])
			if way == "pipe" { // whose sender may wait
				behind = ""
			}
			if o.code != exitFailed || !strings.Contains(o.err, c.first) || !strings.Contains(o.err, behind) || strings.Contains(o.out+o.err, "NaN") {
				t.Errorf("%s, %s: exit %d: %s, want %s%s", name, way, o.code, o.err, c.first, behind)
			}
			if !strings.HasSuffix(way, "to file") && o.out != want {
				t.Errorf("%s, %s: %d lines are answered, want %d", name, way, strings.Count(o.out, "\n"), good+1)
			}
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: a file is left behind", name)
		}
	}
}
