package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/credence-ml/credence/bench/layout"
	"github.com/credence-ml/credence/bench/process"
	"github.com/credence-ml/credence/bench/synthetic"
)

// cost is what a whole process took.
type cost struct {
	WallSeconds float64 `json:"seconds"`
	CPUSeconds  float64 `json:"cpu_seconds"`
	PeakBytes   float64 `json:"peak_bytes"`
}

// runProcess runs the command line in its arguments and prints what it cost. It is a process
// between: a child's peak of memory counts from what its parent held when it was
// started, and this one holds little.
func runProcess(ctx context.Context, args []string, out, _ io.Writer) error {
	if len(args) == 0 {
		return errors.New("timing-process needs a command line")
	}
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	clock := process.Start()
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, text)
	}
	wall, _ := clock.Seconds()
	cpu, peak := process.Child(command.ProcessState)
	return json.NewEncoder(out).Encode(cost{wall, cpu.Seconds(), float64(peak)})
}

// measure runs a command line by way of runProcess.
func (b *timingBench) measure(ctx context.Context, args ...string) (cost, error) {
	var c cost
	self, err := os.Executable()
	if err != nil {
		return c, err
	}
	child := exec.CommandContext(ctx, self, append([]string{"timing-process"}, args...)...)
	child.Stderr = b.progress
	text, err := child.Output()
	if err != nil {
		return c, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return c, json.Unmarshal(text, &c)
}

// processes times whole runs of the command line, best of several.
func (b *timingBench) processes(ctx context.Context) error {
	program := filepath.Join(b.scratch, "credence")
	build := exec.CommandContext(ctx, "go", "build", "-C", "..", "-o", program, "./cmd/credence")
	if text, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(b.progress, "timing: whole processes are skipped, the command line was not built: %v\n%s", err, text)
		return nil
	}
	table := layout.Table{Left: 1, Head: []string{"whole process", "rows", "inputs", "runs", "wall s, best", "CPU s, best", "peak MB"}}
	for _, c := range []struct {
		rows, inputs, runs int
		formula            string
	}{
		{500, 10, 10, "."},
		{1500, 11, 3, ". + rbf(., n=300)"},
	} {
		path := filepath.Join(b.scratch, fmt.Sprintf("rows%d.csv", c.rows))
		if err := (synthetic.Data{Count: c.rows, Inputs: c.inputs, Seed: b.seed}).WriteFile(path, "csv"); err != nil {
			return err
		}
		var wall, cpu, peak float64
		for run := range c.runs {
			cost, err := b.measure(ctx, program, "fit", path, "--target", "y", "--formula", c.formula,
				"--threads", strconv.Itoa(b.threads), "-o", filepath.Join(b.scratch, "m.safetensors"))
			if err != nil {
				return err
			}
			if run == 0 || cost.WallSeconds < wall {
				wall = cost.WallSeconds
			}
			if run == 0 || cost.CPUSeconds < cpu {
				cpu = cost.CPUSeconds
			}
			peak = max(peak, cost.PeakBytes)
		}
		if b.json {
			err := b.encoder.Encode(map[string]any{"formula": c.formula, "rows": c.rows, "seconds": wall, "cpu_seconds": cpu, "peak_bytes": peak})
			if err != nil {
				return err
			}
		}
		table.Add("`credence fit -f '"+c.formula+"'`", strconv.Itoa(c.rows), strconv.Itoa(c.inputs), strconv.Itoa(c.runs),
			layout.Number(wall, 3), layout.Number(cpu, 3), layout.Number(peak/1e6, 0))
	}
	return b.write(&table, "From CSV text to a written model file.")
}
