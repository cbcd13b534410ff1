package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/stream"
)

// day is Vowpal Wabbit text of a day's clicks.
func day(seed, rows int) string {
	return repeat("", rows, func(i int) string {
		k := (i*i + seed*i) % 97
		return fmt.Sprintf("%d |ad a%d |site s%d\n", 2*(k%3/2)-1, k%13, k%7)
	})
}

// The next day starts from the model of the day before, without a word about formula and engine, and is the
// model of both days.
func TestTheNextDay(t *testing.T) {
	folder := t.TempDir()
	monday, tuesday, both := file(t, "mon.vw", day(1, 5000)), file(t, "tue.vw", day(2, 5000)), file(t, "both.vw", day(1, 5000)+day(2, 5000))
	model, next, whole := filepath.Join(folder, "m"), filepath.Join(folder, "n"), filepath.Join(folder, "w")
	must(t, "stream", monday, "-o", model, "--engine", "ftrl(alpha=0.3)", "-q")
	if out := must(t, "stream", tuesday, "--from", model, "-o", next); !strings.Contains(out, "start   from the posterior of "+model+", which learned 5000 rows") || !strings.Contains(out, "10000 rows") {
		t.Errorf("the next day tells %s", out)
	}
	must(t, "stream", both, "-o", whole, "--engine", "ftrl(alpha=0.3)", "-q")
	if a, b := must(t, "predict", next, tuesday, "-q"), must(t, "predict", whole, tuesday, "-q"); a != b {
		t.Error("two days in turn predict otherwise than both at once")
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if o := invoke(t, "", append([]string{"stream"}, args...)...); o.code == exitDone || !strings.Contains(o.err, want) {
			t.Errorf("%v: exit %d: %s", args, o.code, o.err)
		}
	}
	refused("start from the model with --from", tuesday, "-o", model, "--resume", "--engine", "ftrl(alpha=0.3)")
	refused("the checkpoint has engine ftrl(alpha=0.3), not sep", tuesday, "--from", model, "--engine", "sep")
	refused("there is no such file", tuesday, "--from", filepath.Join(folder, "none"))
	refused("write to another model", tuesday, "--from", model, "-o", model, "--resume")
	refused("the checkpoint has engine ftrl(alpha=0.3), not sep", monday, "-o", model, "--engine", "sep", "--resume")
	refused("add --from MODEL", tuesday, "--discount", "0.5")
	refused("is not above 0", tuesday, "--from", model, "--discount", "0")
	if err := os.Remove(stream.Checkpoint(model)); err != nil {
		t.Fatal(err)
	}
	refused("has no checkpoint", tuesday, "--from", model)
	// A model that knows more is not replaced without a word, and what is not resumed is said.
	if o := invoke(t, "", "stream", tuesday, "-o", next, "-q"); o.code != exitDone || !strings.Contains(o.err, "which learned 10000 rows, is replaced by a model that does not know them") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	if o := invoke(t, "", "stream", tuesday, "-o", filepath.Join(folder, "typo"), "-q", "--resume"); o.code != exitDone || !strings.Contains(o.err, "nothing is resumed") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}

// One command line begins a run and goes on with it, from the model of another day too: formula, engine and policies
// are those that it began with, the malformed row at which it stopped may be corrected or left out, and its files may
// have other names and times. It ends in the bytes of a run that did not stop.
func TestTheSameCommandLineGoesOn(t *testing.T) {
	folder := t.TempDir()
	rows := strings.SplitAfter(clicksCSV(clicks(50, 4)), "\n")
	good := strings.Join(rows, "")
	bad := strings.Join(rows[:21], "") + "1,good\n" + strings.Join(rows[22:], "") // row 21
	base := filepath.Join(folder, "base")
	must(t, "stream", file(t, "base.csv", clicksCSV(clicks(900, 5))), "-f", "click ~ hash(site) + user", "--engine", "ftrl(alpha=0.3)", "-o", base, "-q")
	begin := map[string][]string{
		"": {"-f", "click ~ hash(.) - user", "--engine", "sgd(rate=0.1)", "--positive", "1", "--missing", "drop"}, base: {"--from", base},
	}
	for from, options := range begin {
		for name, c := range map[string]struct {
			again []string // what the second command has in the place of the options of the first
			then  string   // the rows that it finds
			rows  float64
		}{
			"the same": {options, good, 50}, "the row is corrected": {nil, good, 50}, "the row is left out": {[]string{"--max-bad", "1"}, bad, 49},
		} {
			whole, parts := filepath.Join(t.TempDir(), "m"), filepath.Join(t.TempDir(), "m")
			args := func(path, model string, more ...string) []string {
				return append([]string{"stream", path, "-o", model, "--resume", "--json", "--report", "0"}, more...)
			}
			o := invoke(t, "", args(file(t, "rows.csv", bad), parts, options...)...)
			if before := map[string]int{"": 20, base: 920}[from]; o.code != exitFailed || !strings.Contains(o.err, "rows.csv:22: the row has 2 fields") ||
				!strings.Contains(o.err, fmt.Sprintf("(%d rows learned and saved; --resume continues after them)", before)) {
				t.Fatalf("exit %d: %s", o.code, o.err)
			}
			result := decode(t, must(t, args(file(t, "other.csv", c.then), parts, c.again...)...))
			if from != "" {
				c.rows += 900
			}
			if number(t, result, "rows") != c.rows {
				t.Errorf("%s, from %q: %v", name, from, result)
			}
			must(t, args(file(t, "rows.csv", c.then), whole, append([]string{"--max-bad", "1"}, options...)...)...)
			sameFile(t, name+", from "+from, whole, parts)
		}
	}
}

// A followed pipe that nobody writes to any more ends.
func TestFollowEndsWithThePipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		fmt.Fprint(w, day(1, 300))
		w.Close()
	}()
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"stream", "-", "--format", "vw", "--follow"}, streams{r, &out, &errs}); code != exitDone {
		t.Errorf("exit %d: %s", code, errs.String())
	}
}

// The model knows how its table was read: no flag is repeated, and the class behind the probability is told.
func TestModelsRememberTheirTable(t *testing.T) {
	rows := func(target bool) string {
		return repeat(map[bool]string{true: "x|t|ok\n", false: "x|t\n"}[target], 60, func(i int) string {
			x := fmt.Sprintf("1.%03d,%d", i*i%7, i%10)
			if i%9 == 4 {
				x = "?"
			}
			row := fmt.Sprintf("%s|%d/%d/2024", x, 1+i%12, 1+i%12)
			if target {
				row += "|" + []string{"ja", "nein", "ja"}[i*i%3]
			}
			return row + "\n"
		})
	}
	train, data, model := file(t, "t.txt", rows(true)), file(t, "u.txt", rows(false)), filepath.Join(t.TempDir(), "m")
	args := []string{"--missing", "?,mean", "--delimiter", "|", "--types", "t=mdy", "--target", "ok", "--positive", "nein", "-o", model, "-q"}
	must(t, append([]string{"fit", train, "--decimal", ","}, args...)...)
	o := invoke(t, "", "predict", model, data)
	if o.code != exitDone || strings.Count(o.out, "\n") != 61 || !strings.Contains(o.err, "target  ok: probability is that of nein") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	out := filepath.Join(t.TempDir(), "p.csv")
	if object := decode(t, must(t, "predict", model, data, "-o", out, "--json")); object["positive"] != "nein" {
		t.Errorf("predict --json tells %v", object)
	}
	must(t, "evaluate", model, train)
	must(t, append([]string{"stream", train}, args...)...)
	if o := invoke(t, "", "predict", model, data); o.code != exitDone || strings.Count(o.out, "\n") != 61 || !strings.Contains(o.err, "probability is that of nein") {
		t.Errorf("after stream: exit %d: %s", o.code, o.err)
	}
}

// Every pass is reported, beside the loss of rows held out.
func TestPassesAreReported(t *testing.T) {
	path := file(t, "t.vw", day(1, 3000))
	out := must(t, "stream", path, "--engine", "sgd(passes=3)", "--holdout", "10")
	if strings.Count(out, "of rows before this pass learned them, 0.") != 3 || !strings.Contains(out, "pass 3  log loss 0.") || !strings.Contains(out, "2700 rows") {
		t.Errorf("stream tells %s", out)
	}
	lines := strings.Split(must(t, "stream", path, "--engine", "sgd(passes=2)", "--json", "--report", "0"), "\n")
	if first := decode(t, lines[0]); first["pass"] != 1.0 || first["held_out"] != nil || decode(t, lines[2])["engine"] != "sgd" {
		t.Errorf("stream --json tells %q", lines)
	}
	if o := invoke(t, "", "stream", path, "--holdout", "1"); o.code != exitMisuse {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}
