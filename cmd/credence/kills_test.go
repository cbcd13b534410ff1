//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence/internal/study"
)

// killed is a command that is killed and run again.
type killed struct {
	name   string
	args   []string // FOLDER is that of the run, and LOG a file that grows in it
	output string   // what it writes
	stdin  string
	log    string // whole text of LOG, which is followed while it grows
}

// begin starts the command in a folder, which follows LOG where that is asked for.
func (c *killed) begin(folder string, follow bool) *exec.Cmd {
	args := append([]string(nil), c.args...)
	for i := range args {
		args[i] = strings.NewReplacer("FOLDER", folder, "LOG", filepath.Join(folder, "log.csv")).Replace(args[i])
	}
	if follow {
		args = append(args, "--follow")
	}
	if c.name != "predict" {
		args = append(args, "--cache", filepath.Join(folder, "cache"))
	}
	option := "-o"
	if strings.HasSuffix(c.output, ".svg") {
		option = "--plot"
	}
	cmd := exec.Command(os.Args[0], append(args, "-q", option, filepath.Join(folder, c.output))...)
	cmd.Env = append(os.Environ(), commandVariable+"=1")
	if c.stdin != "" {
		cmd.Stdin, _ = os.Open(c.stdin)
	}
	return cmd
}

// whole runs the command to its end, on all of LOG.
func (c *killed) whole(t *testing.T, folder string) []byte {
	t.Helper()
	if c.log != "" {
		if err := os.WriteFile(filepath.Join(folder, "log.csv"), []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := c.begin(folder, false).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", c.name, err, text)
	}
	return sure(os.ReadFile(filepath.Join(folder, c.output)))(t)
}

// kill begins the command, has LOG grow by a piece that may end within a row, and kills it after the delay.
func (c *killed) kill(t *testing.T, folder string, delay time.Duration, rng *rand.Rand) {
	t.Helper()
	path := filepath.Join(folder, "log.csv")
	if c.log != "" {
		there, _ := os.ReadFile(path)
		if err := os.WriteFile(path, []byte(c.log[:max(len(there), len(c.log)/3)]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := c.begin(folder, c.log != "")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(delay / 2)
	if c.log != "" {
		file := sure(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))(t)
		begun := sure(file.Stat())(t).Size()
		file.WriteString(c.log[begun : begun+rng.Int64N(int64(len(c.log))-begun)])
		file.Close()
	}
	time.Sleep(delay / 2)
	cmd.Process.Kill()
	cmd.Wait()
}

// Wherever a command is killed, what it writes is whole or as it was, the same command, which goes on from a
// checkpoint where there is one, ends in the bytes of a run that nobody killed, and leaves nothing behind.
func TestKills(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	rows := func(from, to int) string {
		return "y,a,b\n" + repeat("", to-from, func(i int) string { i += from; return fmt.Sprintf("%d,u%d,v%d\n", label(i*i), i%9001, i%77) })
	}
	clicks, next := file(t, "clicks.csv", rows(0, 30_000)), file(t, "next.csv", rows(30_000, 60_000))
	wide, houses := file(t, "wide.csv", wideTable(200, 40)), file(t, "rows.csv", houses(6000))
	mails := file(t, "mail.csv", mail(300, 300))
	folder := t.TempDir()
	model, base := filepath.Join(folder, "m"), filepath.Join(folder, "base")
	must(t, "fit", file(t, "t.csv", strings.Join(strings.SplitAfterN(sureText(t, houses), "\n", 302)[:301], "")), "-f", "price ~ . + rbf(size, n=100)", "-o", model, "-q")
	must(t, "stream", clicks, "-f", "y ~ hash(.)", "--engine", "sep(batch=50)", "-o", base, "-q")
	stream := func(name string, more ...string) killed {
		return killed{name: name, args: append([]string{"stream", "--resume", "--checkpoint", "5ms"}, more...), output: "out"}
	}
	pipe, follow := stream("stream of a pipe", "-", "--format", "csv", "--target", "y"), stream("stream of a file that grows", "LOG", "--target", "y")
	pipe.stdin, follow.log = clicks, sureText(t, clicks)
	commands := []killed{
		stream("stream", clicks, "--target", "y"), stream("stream, baseline", clicks, "--target", "y", "--engine", "ftrl"),
		stream("stream in passes", clicks, "--target", "y", "--engine", "sgd(passes=2)"), stream("stream from a model", next, "--from", base, "--discount", "0.9"),
		stream("stream of two files", clicks, next, "--target", "y"), pipe, follow,
		{name: "fit of a pipe", args: []string{"fit", "-", "--target", "y", "--format", "csv"}, stdin: wide, output: "out"},
		{name: "fit in batches", args: []string{"fit", wide, "--target", "y", "--engine", "svi(batch=64, epochs=20)", "--checkpoint", "FOLDER/c"}, output: "out"},
		{name: "predict", args: []string{"predict", model, houses}, output: "out.csv"},
		{name: "select", args: []string{"select", wide, "--target", "y"}, output: "out"},
		{name: "select by chains", args: []string{"select", wide, "--target", "y", "--engine", "gibbs(flips=2000)", "--checkpoint", "FOLDER/c"}, output: "out"},
		{name: "active simulate", args: []string{"active", "simulate", mails, "-f", "spam ~ x + z", "--pool", "150", "--initial", "20", "--labels", "60", "--every", "20",
			"--repeats", "6", "--checkpoint", "FOLDER/c"}, output: "out.svg"},
	}
	kills := 2
	if hostileEverything() {
		kills = 24 // 312 commands, some of them killed twice
	}
	seed := study.Seed(28)
	count, rng := newTally(t), rand.New(rand.NewPCG(seed, 1))
	for i := range commands {
		c := &commands[i]
		fail := func(format string, values ...any) {
			t.Helper()
			count.failed++
			t.Errorf("%s, CREDENCE_SEED=%d: %s", c.name, seed, fmt.Sprintf(format, values...))
		}
		begun := time.Now()
		reference := c.whole(t, t.TempDir())
		took := time.Since(begun)
		for range kills {
			folder, failed := t.TempDir(), count.failed
			count.tried++
			for range 1 + rng.IntN(2) { // what goes on may be killed, too
				delay := time.Duration(rng.Int64N(int64(took)))
				c.kill(t, folder, delay, rng)
				written, err := os.ReadFile(filepath.Join(folder, c.output))
				// A model that is kept while a file grows is of the rows so far: it is whole where it loads.
				if whole := bytes.Equal(written, reference); err == nil && !whole && (c.log == "" || invoke(t, "", "inspect", filepath.Join(folder, c.output)).code != exitDone) {
					fail("killed after %v it left %d bytes that are not those of a whole run", delay, len(written))
				}
			}
			if !bytes.Equal(c.whole(t, folder), reference) {
				fail("what it ends in after a kill differs")
			}
			for _, pattern := range []string{".*.tmp-*", "cache/*spool*", "cache/*/*spool*", "cache/*.tmp-*", "cache/*/*.tmp-*"} {
				if left, _ := filepath.Glob(filepath.Join(folder, pattern)); len(left) > 0 {
					fail("it left behind %v", left)
				}
			}
			if count.failed == failed {
				count.right++
			}
		}
	}
}

// sureText is what is in a file.
func sureText(t *testing.T, path string) string { return string(sure(os.ReadFile(path))(t)) }

// What a stream cannot save it says once, in one line, whether it is a checkpoint on the way or the last one.
func TestStreamCannotSave(t *testing.T) {
	rows := "y,a,b\n" + repeat("", 20_000, func(i int) string { return fmt.Sprintf("%d,u%d,v%d\n", label(i*i), i%9001, i%77) })
	for _, c := range []struct{ text, every, want string }{
		{rows, "1ms", "cannot write "},
		{rows + "1,2,3,4,5\n", "1h", "; 20000 rows learned could not be saved: cannot write "},
	} {
		folder := t.TempDir()
		cmd := exec.Command("sh", "-c", `ulimit -f 8; exec "$0" "$@"`, os.Args[0], "stream", file(t, "rows.csv", c.text), "--target", "y", "--checkpoint", c.every, "-q",
			"--cache", filepath.Join(folder, "cache"), "-o", filepath.Join(folder, "m"))
		cmd.Env = append(os.Environ(), commandVariable+"=1")
		out, _ := cmd.CombinedOutput()
		text := string(out)
		if code := cmd.ProcessState.ExitCode(); code != exitFailed || strings.Count(text, "cannot write ") != 1 || !strings.Contains(text, c.want) || strings.Contains(text, "atomicfile") {
			t.Errorf("exit %d: %s", code, text)
		}
	}
}
