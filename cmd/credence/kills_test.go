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
)

// Wherever a command is killed, what it writes is whole or as it was, the same command, which goes on from a
// checkpoint where there is one, ends in the bytes of a run that nobody killed, and leaves nothing behind.
func TestKills(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts many processes")
	}
	clicks := file(t, "clicks.csv", "y,a,b\n"+repeat("", 30_000, func(i int) string { return fmt.Sprintf("%d,u%d,v%d\n", label(i*i), i%9001, i%77) }))
	wide, rows := file(t, "wide.csv", wideTable(200, 40)), file(t, "rows.csv", houses(6000))
	model := filepath.Join(t.TempDir(), "m")
	must(t, "fit", file(t, "t.csv", houses(300)), "-f", "price ~ . + rbf(size, n=100)", "-o", model, "-q")
	commands := map[string]struct {
		args  []string
		stdin string
		again []string // to go on
	}{
		"stream":           {args: []string{"stream", clicks, "--target", "y", "--checkpoint", "5ms"}, again: []string{"--resume"}},
		"stream, baseline": {args: []string{"stream", clicks, "--target", "y", "--engine", "ftrl", "--checkpoint", "5ms"}, again: []string{"--resume"}},
		"fit of a pipe":    {args: []string{"fit", "-", "--target", "y", "--format", "csv"}, stdin: wide},
		"fit in batches":   {args: []string{"fit", wide, "--target", "y", "--engine", "svi(batch=64, epochs=20)", "--checkpoint", "FOLDER/c"}},
		"predict":          {args: []string{"predict", model, rows}},
		"select":           {args: []string{"select", wide, "--target", "y"}},
	}
	kills := 3
	if hostileEverything() {
		kills = 17
	}
	count, rng := newTally(t), rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	for name, c := range commands {
		begin := func(folder string, more ...string) *exec.Cmd {
			args := append(append([]string(nil), c.args...), more...)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "FOLDER", folder)
			}
			output := "out"
			if name == "predict" {
				output = "out.csv"
			} else {
				args = append(args, "--cache", filepath.Join(folder, "cache"))
			}
			cmd := exec.Command(os.Args[0], append(args, "-q", "-o", filepath.Join(folder, output))...)
			cmd.Env = append(os.Environ(), commandVariable+"=1")
			if c.stdin != "" {
				cmd.Stdin, _ = os.Open(c.stdin)
			}
			return cmd
		}
		whole := func(folder string, more ...string) []byte {
			t.Helper()
			if text, err := begin(folder, more...).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", name, err, text)
			}
			found, _ := filepath.Glob(filepath.Join(folder, "out*"))
			written := sure(os.ReadFile(found[0]))(t)
			return written
		}
		begun := time.Now()
		reference := whole(t.TempDir())
		took := time.Since(begun)
		for range kills {
			folder := t.TempDir()
			count.tried++
			failed := count.failed
			for range 1 + rng.IntN(2) { // what goes on may be killed, too
				cmd := begin(folder, c.again...)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				delay := time.Duration(rng.Int64N(int64(took)))
				time.Sleep(delay)
				cmd.Process.Kill()
				cmd.Wait()
				for _, path := range []string{"out", "out.csv"} {
					if written, err := os.ReadFile(filepath.Join(folder, path)); err == nil && !bytes.Equal(written, reference) {
						count.failed++
						t.Errorf("%s, killed after %v, left %d bytes that are not those of a whole run", name, delay, len(written))
					}
				}
			}
			if !bytes.Equal(whole(folder, c.again...), reference) {
				count.failed++
				t.Errorf("%s: what it ends in after a kill differs", name)
			}
			for _, pattern := range []string{".*.tmp-*", "cache/*spool*", "cache/*/*spool*", "cache/*.tmp-*", "cache/*/*.tmp-*"} {
				if left, _ := filepath.Glob(filepath.Join(folder, pattern)); len(left) > 0 {
					count.failed++
					t.Errorf("%s left behind %v", name, left)
				}
			}
			if count.failed == failed {
				count.right++
			}
		}
	}
}
