package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence/shards"
)

// TestJobs: the loop of the help ends with the bytes of fit, whatever was killed or is left of an earlier round on the
// way; exit codes say how far it is.
func TestJobs(t *testing.T) {
	folder, rng := t.TempDir(), rand.New(rand.NewPCG(1, 5))
	var files []string
	for k := range 5 {
		text := "a,g,y,key\n"
		for range 40 + 300*k {
			a, g := rng.NormFloat64(), rng.IntN(2+k)
			text += fmt.Sprintf("%.4f,l%d,%.4f,%d\n", a, g, 1+2*a+float64(g)+rng.NormFloat64(), rng.IntN(30))
		}
		files = append(files, filepath.Join(folder, fmt.Sprintf("f%d.csv", k)))
		if err := os.WriteFile(files[k], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(folder, name) }
	must(t, append([]string{"fit", "--formula", "y ~ center(a):g + a", "-o", in("fit")}, files...)...)
	out := must(t, append([]string{"job", "--formula", "y ~ center(a):g + a", "-o", in("job")}, files...)...)
	if !strings.Contains(out, "asks round 1 of about 3: credence partial ") || !strings.Contains(out, "for files 0-4") {
		t.Errorf("job says %q", out)
	}
	merge := func() outcome {
		return invoke(t, "", "merge", in("job"), in("a"), in("b"), "-o", in("model"))
	}
	for round := 1; ; round++ {
		must(t, "partial", in("job"), "0,3-4", "-o", in("a"), "-q")
		if o := merge(); o.code != exitAgain || !strings.Contains(o.err, fmt.Sprintf("no part answers round %d for files 1-2", round)) && !strings.Contains(o.err, "which asks round") {
			if o.code != exitFailed || !strings.Contains(o.err, fmt.Sprintf("b answers round %d of the job, which asks round %d", round-1, round)) {
				t.Fatalf("without files 1 and 2 merge ends with %d: %s", o.code, o.err)
			}
		}
		must(t, "partial", in("job"), "1/5,2", "-o", in("b"), "--data", folder, "--threads", fmt.Sprint(round))
		o := merge()
		if o.code == exitDone {
			if round != 3 || !strings.Contains(o.out, "saved") {
				t.Errorf("round %d: %s", round, o.out)
			}
			break
		}
		if o.code != exitAgain || o.err != "" || !strings.Contains(o.out, fmt.Sprintf("asks round %d of about 3", round+1)) {
			t.Fatalf("merge ends with %d: %s%s", o.code, o.out, o.err)
		}
	}
	if !bytes.Equal(sure(os.ReadFile(in("fit")))(t), sure(os.ReadFile(in("model")))(t)) {
		t.Error("the model is another than that of fit")
	}
	must(t, "job", files[0], "--target", "y", "-o", in("job"), "-q")
	if told := decode(t, must(t, "job", files[0], files[1], "--target", "y", "--no-rows", "-o", in("other"), "--json")); number(t, told, "round") != 1 || told["files"] != "0-1" {
		t.Errorf("%v", told)
	}
	if o := invoke(t, "", "merge", in("job"), in("nothing*"), "-o", in("model"), "--json"); o.code != exitAgain || decode(t, o.out)["files"] != "0" {
		t.Errorf("merge without parts ends with %d: %s", o.code, o.out)
	}
	defer sure(shards.Lock(in("other")))(t)()
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitMisuse, "-o is needed", []string{"job", files[0], "--target", "y"}},
		{exitMisuse, "-o is needed", []string{"partial", in("job"), "0"}},
		{exitMisuse, "-o is needed", []string{"merge", in("job")}},
		{exitMisuse, "is read, and would be overwritten", []string{"partial", in("job"), "0", "-o", in("job")}},
		{exitMisuse, "is read, and would be overwritten", []string{"merge", in("job"), in("a"), "-o", in("a")}},
		{exitMisuse, `"7" names no files of a job that has 1`, []string{"partial", in("job"), "7", "-o", in("c")}},
		{exitMisuse, "--engine: ftrl has no posterior", []string{"job", files[0], "--target", "y", "--engine", "ftrl", "-o", in("c")}},
		{exitFailed, "has it: wait for that", []string{"merge", in("other"), in("a"), "-o", in("model")}},
		{exitFailed, "run credence partial again", []string{"merge", in("job"), files[0], "-o", in("model")}},
		{exitFailed, "select reads a job and its parts with --products", []string{"select", in("job"), in("a")}},
	} {
		if o := invoke(t, "", c.args...); o.code != c.code || !strings.Contains(o.err, c.want) {
			t.Errorf("%v ends with %d: %s, want %d and %q", c.args, o.code, o.err, c.code, c.want)
		}
	}
	if _, err := os.Stat(in("c")); err == nil {
		t.Error("a part that was refused is there")
	}
}

// TestKilledMerge: wherever merge is killed, the job is as before or asks what comes next, and the loop goes on to the
// bytes of fit.
func TestKilledMerge(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	folder, rng := t.TempDir(), rand.New(rand.NewPCG(6, 2))
	in := func(name string) string { return filepath.Join(folder, name) }
	wide := file(t, "wide.csv", wideTable(3000, 60))
	must(t, "fit", wide, "--formula", "y ~ . + center(x1):x2", "--family", "gaussian", "-o", in("fit"), "-q")
	must(t, "job", wide, "--formula", "y ~ . + center(x1):x2", "--family", "gaussian", "-o", in("job"), "-q")
	for round := 1; ; round++ {
		must(t, "partial", in("job"), "0", "-o", in("part"), "-q")
		before := sureText(t, in("job"))
		begin := func() *exec.Cmd {
			c := exec.Command(os.Args[0], "merge", in("job"), in("part"), "-o", in("model"), "-q")
			c.Env = append(os.Environ(), commandVariable+"=1")
			return c
		}
		begun := time.Now()
		begin().Run()
		took, after := time.Since(begun), sureText(t, in("job"))
		whole, _ := os.ReadFile(in("model"))
		for range 6 {
			os.Remove(in("model"))
			if err := os.WriteFile(in("job"), []byte(before), 0o644); err != nil {
				t.Fatal(err)
			}
			c := begin()
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rng.Int64N(int64(took))))
			c.Process.Kill()
			c.Wait()
			if now := sureText(t, in("job")); now != before && now != after {
				t.Fatalf("round %d: a merge that was killed left a job of %d bytes", round, len(now))
			}
			if model, err := os.ReadFile(in("model")); err == nil && !bytes.Equal(model, whole) {
				t.Fatalf("round %d: a merge that was killed left a model of %d bytes", round, len(model))
			}
		}
		if err := os.WriteFile(in("job"), []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		if o := invoke(t, "", "merge", in("job"), in("part"), "-o", in("model"), "-q"); o.code == exitDone {
			break
		} else if o.code != exitAgain || round > 3 {
			t.Fatalf("round %d: after the kills merge ends with %d: %s", round, o.code, o.err)
		}
	}
	if !bytes.Equal(sure(os.ReadFile(in("fit")))(t), sure(os.ReadFile(in("model")))(t)) {
		t.Error("the model is another than that of fit")
	}
}

// TestSQLJobs: the loop of the help asks a database twice, and its answers are the model of fit.
func TestSQLJobs(t *testing.T) {
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("there is no sqlite3 on this machine")
	}
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	rows := file(t, "rows.csv", repeat("y,a,g\n", 900, func(i int) string { return fmt.Sprintf("%d,%d,l%d\n", i*i%23+3*(i%7), i%7, i%3) }))
	ask := func(text string) string {
		c := exec.Command("sqlite3", "-csv", in("t.db"))
		c.Stdin = strings.NewReader(text)
		return string(sure(c.Output())(t))
	}
	ask("CREATE TABLE t(y REAL, a REAL, g TEXT);\n.import --skip 1 " + rows + " t\n")
	args := []string{"--formula", "y ~ a*g", "-o"}
	if out := must(t, append([]string{"job", "--sql", "sqlite", "--table", "t", "--types", "g=category"}, append(args, in("job"))...)...); !strings.Contains(out, "asks round 1 of about 2: credence partial "+in("job")+" --print") {
		t.Errorf("job says %q", out)
	}
	merge := func() outcome { return invoke(t, "", "merge", in("job"), in("part"), "-o", in("model")) }
	if o := merge(); o.code != exitAgain || !strings.Contains(o.err, "no part answers round 1: run the query") {
		t.Errorf("merge ends with %d: %s", o.code, o.err)
	}
	for range 2 {
		answer := ask(must(t, "partial", in("job"), "--print"))
		if o := invoke(t, answer, "partial", in("job"), "-", "-o", in("part")); o.code != exitDone {
			t.Fatal(o.err)
		}
		if err := os.WriteFile(in("answer.csv"), []byte(answer), 0o644); err != nil {
			t.Fatal(err)
		}
		must(t, "partial", in("job"), in("answer.csv"), "-o", in("part"), "-q")
		if o := merge(); o.code != exitDone && o.code != exitAgain {
			t.Fatal(o.err)
		}
	}
	must(t, append([]string{"fit", rows, "--family", "gaussian"}, append(args, in("fit"))...)...)
	evidence := func(model string) float64 {
		return number(t, decode(t, must(t, "inspect", in(model), "--json")), "evidence")
	}
	if a, b := evidence("model"), evidence("fit"); !(math.Abs(a-b) <= 1e-7) {
		t.Errorf("the evidence is %v, want %v", a, b)
	}
	for want, args := range map[string][]string{
		"say which by --sql":             {"job", "--table", "t", "-o", in("c")},
		"name files, or a table":         {"job", "--target", "y", "-o", in("c")},
		"neither files nor --online":     {"job", "--sql", "sqlite", "--table", "t", rows, "-o", in("c")},
		"none of bigquery, duckdb":       {"job", "--sql", "oracle", "--table", "t", "--formula", "y ~ a", "-o", in("c")},
		"or --print in their place":      {"partial", in("job"), "-o", in("c")},
		"--table: \"\" is no table":      {"job", "--sql", "sqlite", "--formula", "y ~ a", "-o", in("c")},
		"is read, and would be overwrit": {"partial", in("job"), in("answer.csv"), "-o", in("answer.csv")},
	} {
		if o := invoke(t, "", args...); o.code != exitMisuse || !strings.Contains(o.err, want) {
			t.Errorf("%v ends with %d: %s", args, o.code, o.err)
		}
	}
}

// TestOnlineJobs: files are learned apart by --online, in one round; the model is scored, and learning goes on from it
// with other files and not with the next row.
func TestOnlineJobs(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	files := []string{file(t, "mon.vw", day(1, 5000)), file(t, "tue.vw", day(2, 3000)), file(t, "wed.vw", day(3, 4000))}
	must(t, append([]string{"job", "--online", "-o", in("job"), "-q"}, files...)...)
	must(t, "partial", in("job"), "0-1", "-o", in("a"), "-q")
	must(t, "partial", in("job"), "2", "-o", in("b"), "-q")
	told := decode(t, must(t, "merge", in("job"), in("b"), in("a"), "-o", in("model"), "--json"))
	if told["engine"] != "sep" || number(t, told, "rows") != 12000 {
		t.Errorf("%v", told)
	}
	must(t, "stream", "-o", in("once"), "-q", files[0], files[1], files[2])
	apart, once := decode(t, must(t, "evaluate", in("model"), files[2], "--json")), decode(t, must(t, "evaluate", in("once"), files[2], "--json"))
	if a, b := number(t, apart, "log_loss"), number(t, once, "log_loss"); a > b+0.03 { // days differ
		t.Errorf("the log loss is %v, and %v of one pass", a, b)
	}
	if out := must(t, "stream", files[0], "--from", in("model"), "-o", in("next")); !strings.Contains(out, "which learned 12000 rows") || !strings.Contains(out, "17000 rows") {
		t.Errorf("the next day tells %s", out)
	}
	for want, args := range map[string][]string{
		"3 files that were learned apart":           {"stream", files[0], "-o", in("model"), "--resume"},
		"leave --raw, --checkpoint and --unseen":    {"job", "--online", "--raw", files[0], "-o", in("c")},
		"--engine: ftrl: it has no posterior":       {"job", "--online", "--engine", "ftrl", files[0], "-o", in("c")},
		"--engine: sep learns files apart row by":   {"job", "--engine", "sep", "--target", "y", files[0], "-o", in("c")},
		"state it, as adpredictor(variance=0.01)":   {"job", "--online", "--engine", "adpredictor", files[0], "-o", in("c")},
		"leave such rows out by drop, or learn on ": {"job", "--online", "--missing", "mean", files[0], "-o", in("c")},
	} {
		if o := invoke(t, "", args...); o.code != exitMisuse || !strings.Contains(o.err, want) {
			t.Errorf("%v ends with %d: %s", args, o.code, o.err)
		}
	}
}
