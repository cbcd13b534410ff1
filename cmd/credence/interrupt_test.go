//go:build unix

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/credence-ml/credence/internal/study"
)

// commandVariable tells this test binary to be the program.
const commandVariable = "CREDENCE_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(commandVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

// process starts the program; errs is what it says on standard error.
func process(t *testing.T, args ...string) (cmd *exec.Cmd, errs *bytes.Buffer) {
	t.Helper()
	cmd, errs = exec.Command(os.Args[0], args...), &bytes.Buffer{}
	cmd.Env, cmd.Stderr = append(os.Environ(), commandVariable+"=1"), errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, errs
}

// end waits for a process, and kills it where it goes on for longer than the limit.
func end(cmd *exec.Cmd, limit time.Duration) (took time.Duration, ended bool) {
	begun, done := time.Now(), make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	select {
	case <-done:
		return time.Since(begun), true
	case <-time.After(limit):
		cmd.Process.Kill()
		<-done
		return limit, false
	}
}

// wideTable is a table of numbers whose target depends on two of the columns.
func wideTable(rows, columns int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("y")
	for j := range columns {
		fmt.Fprintf(&b, ",x%d", j)
	}
	for range rows {
		line, sum := []byte(nil), 0.0
		for j := range columns {
			x := rng.NormFloat64()
			if j < 2 {
				sum += x
			}
			line = strconv.AppendFloat(append(line, ','), x, 'f', 2, 64)
		}
		fmt.Fprintf(&b, "\n%.2f%s", sum+rng.NormFloat64(), line)
	}
	return b.String() + "\n"
}

// Wherever a command is, an interrupt ends it within a second, with exit code 130 and a line that says so,
// and leaves outputs whole or as they were. The system may take a while to run it at all: two seconds are
// let pass here, and make hostile counts those above one.
func TestInterrupts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	wide := file(t, "wide.csv", wideTable(600, 1000))
	classes := file(t, "classes.csv", strings.Replace(wideTable(3000, 40), "y", "price", 1))
	clicks := file(t, "clicks.csv", "y,a,b\n"+repeat("", 200_000, func(i int) string { return fmt.Sprintf("%d,u%d,v%d\n", label(i), i%90_001, i%77) }))
	model, keyed := filepath.Join(folder, "m.safetensors"), filepath.Join(folder, "k.safetensors")
	must(t, "fit", file(t, "t.csv", houses(300)), "-f", "price ~ . + rbf(size, n=200)", "-o", model, "-q")
	must(t, "stream", clicks, "--target", "y", "-o", keyed, "-q")
	rows := file(t, "rows.csv", houses(60_000))
	output := filepath.Join(folder, "out")
	selection := []string{"--prior", "spikeslab"}
	commands := [][]string{
		{"fit", wide, "--target", "y", "-o", output}, {"fit", wide, "-f", "y ~ rbf(x1, x2, n=3000)"},
		{"fit", wide, "--target", "y", "--engine", "svi(covariance=full)"}, {"fit", wide, "--target", "y", "--engine", "lasso"},
		{"fit", wide, "--target", "y", "--prior", "laplace"}, {"fit", clicks, "--target", "y", "--engine", "svi"},
		append([]string{"fit", wide, "--target", "y", "--engine", "ep"}, selection...), append([]string{"fit", wide, "--target", "y", "--engine", "gibbs"}, selection...),
		append([]string{"fit", wide, "--target", "y", "--engine", "laplace"}, selection...),
		{"select", wide, "--target", "y"}, {"select", pipe, "--target", "y"},
		{"stream", clicks, "--target", "y", "-o", filepath.Join(folder, "s")}, {"stream", pipe, "--target", "y"},
		{"predict", model, rows, "-o", output}, {"predict", model, pipe}, {"predict", keyed, clicks, "-o", output},
		{"evaluate", model, rows}, {"evaluate", keyed, clicks}, {"compare", model, model, rows}, {"inspect", keyed},
		{"active", "rank", model, rows, "-n", "5"}, {"active", "simulate", classes, "--target", "price", "--family", "gaussian"},
		{"demo"}, {"fit", pipe, "--target", "y"},
	}
	rounds, longest, share := 1, 250, 3
	if hostileEverything() {
		rounds, longest, share = 5, 3000, 1
	}
	seed := study.Seed(29)
	rng := rand.New(rand.NewPCG(seed, 0))
	tried, late, running := 0, 0, 0
	for range rounds {
		for k, args := range commands {
			if k%share != 0 {
				continue
			}
			delay := time.Duration(50+rng.IntN(longest)) * time.Millisecond
			cmd, errs := process(t, args...)
			time.Sleep(delay)
			if cmd.Process.Signal(os.Interrupt) != nil {
				cmd.Wait()
				continue
			}
			took, ended := end(cmd, 10*time.Second)
			code := cmd.ProcessState.ExitCode()
			// it had ended by itself
			if code == exitDone || code == exitFailed && !strings.Contains(errs.String(), "interrupt") {
				continue
			}
			tried++
			if took > time.Second {
				late++
			}
			// Before the program has begun to look, the system's own way of ending it counts.
			early := cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() && ended
			switch {
			case !ended || took > 2*time.Second:
				t.Errorf("credence %v, interrupted after %v, went on for %v", args, delay, took)
			case !early && (code != exitInterrupted || !strings.Contains(errs.String(), "credence: interrupted")):
				t.Errorf("credence %v, interrupted after %v: exit %d: %s", args, delay, code, errs)
			}
			if !early {
				running++
			}
			if left, _ := filepath.Glob(filepath.Join(folder, ".out.tmp-*")); len(left) > 1 {
				t.Errorf("files left behind: %v", left)
			}
		}
	}
	t.Logf("CREDENCE_SEED=%d", seed)
	t.Logf("hostile: %d tried, %d right, 0 refused with place and remedy, %d failed (later than a second)", tried, tried-late, late)
	if running == 0 {
		t.Error("no command was running when it was interrupted")
	}
}
