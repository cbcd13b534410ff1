package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/bench/layout"
	"github.com/credence-ml/credence/bench/process"
	"github.com/credence-ml/credence/bench/synthetic"
	"github.com/credence-ml/credence/dataset"
)

// timing is one run of the benchmark.
type timing struct {
	bench
	scratch string
}

// measured is what one computation cost, a line of JSON and a row of a table.
type measured map[string]any

// figure is a column of a table of measured computations; without a unit it is text.
type figure struct {
	head, key string
	digits    int
	unit      float64
}

var (
	wallFigure = figure{"wall s", "seconds", 2, 1}
	cpuFigure  = figure{"CPU s", "cpu_seconds", 2, 1}
	peakFigure = figure{"peak MB", "peak_bytes", 0, 1e6}
)

func runTiming(ctx context.Context, args []string, out, progress io.Writer) error {
	b := &timing{bench: bench{name: "timing", out: out, progress: progress}}
	f := flag.NewFlagSet("timing", flag.ContinueOnError)
	b.register(f)
	rows := f.String("rows", "10000,100000,1000000", "rows of the engine's data")
	weights := f.String("weights", "200,1000,2000", "weights of the engine's model")
	fileRows := f.Int("file-rows", 1_000_000, "rows of the files that are read; 0 leaves them out")
	processes := f.Bool("processes", true, "time whole processes of the command line")
	if err := parse(f, args); err != nil {
		return err
	}
	var err error
	if b.scratch, err = os.MkdirTemp("", "credence-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)
	if err := b.engine(ctx, list(*rows, ","), list(*weights, ",")); err != nil {
		return err
	}
	if *fileRows > 0 {
		if err := b.files(ctx, *fileRows); err != nil {
			return err
		}
	}
	if !*processes {
		return nil
	}
	return b.processes(ctx)
}

// print prints what was measured, and a note under the table.
func (b *timing) print(note string, left int, columns []figure, all []measured) error {
	t := &layout.Table{Left: left}
	for _, c := range columns {
		t.Head = append(t.Head, c.head)
	}
	for _, m := range all {
		if b.json {
			if err := json.NewEncoder(b.out).Encode(m); err != nil {
				return err
			}
		}
		var cells []string
		for _, c := range columns {
			if c.unit == 0 {
				cells = append(cells, fmt.Sprint(m[c.key]))
			} else {
				cells = append(cells, layout.Number(m[c.key].(float64)/c.unit, c.digits))
			}
		}
		t.Add(cells...)
	}
	if b.json {
		return nil
	}
	return b.bench.print("", t, note)
}

// child runs this program's own command in a process of its own, whose peak of memory is then its own,
// and returns what it measured.
func (b *timing) child(ctx context.Context, args ...string) (measured, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(b.progress, "timing: %s\n", strings.Join(args, " "))
	child := exec.CommandContext(ctx, self, args...)
	child.Stderr = b.progress
	text, err := child.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	var m measured
	return m, json.Unmarshal(text, &m)
}

// engine times one evaluation for every number of rows and weights.
func (b *timing) engine(ctx context.Context, rows, weights []string) error {
	var all []measured
	for _, n := range rows {
		for _, d := range weights {
			m, err := b.child(ctx, "timing-cell", "-rows", n, "-weights", d, "-threads", fmt.Sprint(b.threads), "-seed", fmt.Sprint(b.seed))
			if err != nil {
				return err
			}
			all = append(all, m)
		}
	}
	threads := b.threads
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	return b.print(fmt.Sprintf("One evidence-and-gradient evaluation of the exact engine: %d inputs, D/2 random frequencies with a lengthscale for each input, %d threads; "+
		"data are generated as they are read. Of the CPU seconds, so many went to making the data, the features and the slopes of the lengthscales. "+
		"GF/s counts 3ND² + D³ operations a CPU second, Gram GF/s ND² of the Gram kernel alone.", cellInputs, threads), 0, []figure{
		{"N", "rows", 0, 1}, {"D", "weights", 0, 1}, wallFigure, cpuFigure, {"data", "data_seconds", 2, 1}, {"features", "feature_seconds", 2, 1},
		{"pull-back", "pullback_seconds", 2, 1}, {"GF/s", "gflops", 1, 1}, {"Gram GF/s", "gram_gflops", 1, 1}, peakFigure,
	}, all)
}

// files times the reading of generated files.
func (b *timing) files(ctx context.Context, rows int) error {
	var all []measured
	for _, format := range synthetic.Formats() {
		path := filepath.Join(b.scratch, "rows."+format)
		fmt.Fprintf(b.progress, "timing: %s\n", format)
		if err := (synthetic.Data{Count: rows, Inputs: cellInputs, Seed: b.seed}).WriteFile(path, format); err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		clock := process.Start()
		read, err := readAll(ctx, path, b.threads)
		if err != nil {
			return err
		}
		wall, cpu := clock.Seconds()
		if read != rows {
			return fmt.Errorf("%s: %d rows were read of %d", path, read, rows)
		}
		all = append(all, measured{"format": format, "rows": rows, "bytes": float64(info.Size()), "seconds": wall, "cpu_seconds": cpu, "rows_per_cpu_second": float64(rows) / cpu})
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return b.print(fmt.Sprintf("One pass over every column of %d inputs and a target; text has six digits a value, Parquet doubles under Snappy. Opening (types from the first rows) is included.", cellInputs), 1,
		[]figure{{"file", "format", 0, 0}, {"rows", "rows", 0, 0}, {"MB", "bytes", 0, 1e6}, wallFigure, cpuFigure, {"M rows per CPU s", "rows_per_cpu_second", 2, 1e6}}, all)
}

// readAll reads all columns of a file once.
func readAll(ctx context.Context, path string, threads int) (rows int, err error) {
	table, err := dataset.Open(ctx, []string{path}, dataset.Options{Threads: threads})
	if err != nil {
		return 0, err
	}
	defer table.Close()
	err = table.Rows(ctx, nil, credence.Position{}, func(run *dataset.Run) error {
		rows += run.Count
		return nil
	})
	return rows, err
}

// processes times whole runs of the command line, best of several.
func (b *timing) processes(ctx context.Context) error {
	program := filepath.Join(b.scratch, "credence")
	if text, err := exec.CommandContext(ctx, "go", "build", "-C", "..", "-o", program, "./cmd/credence").CombinedOutput(); err != nil {
		fmt.Fprintf(b.progress, "timing: whole processes are skipped, the command line was not built: %v\n%s", err, text)
		return nil
	}
	var all []measured
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
		best := measured{"command": "`credence fit -f '" + c.formula + "'`", "rows": c.rows, "inputs": c.inputs, "runs": c.runs}
		for range c.runs {
			m, err := b.child(ctx, "timing-process", program, "fit", path, "--target", "y", "--formula", c.formula,
				"--threads", fmt.Sprint(b.threads), "-o", filepath.Join(b.scratch, "m.safetensors"))
			if err != nil {
				return err
			}
			for key, v := range m {
				if known, ok := best[key].(float64); !ok || v.(float64) < known {
					best[key] = v
				}
			}
		}
		all = append(all, best)
	}
	return b.print("From CSV text to a written model file.", 1, slices.Concat([]figure{{"whole process", "command", 0, 0}, {"rows", "rows", 0, 0}, {"inputs", "inputs", 0, 0}, {"runs", "runs", 0, 0}},
		[]figure{{"wall s, best", "seconds", 3, 1}, {"CPU s, best", "cpu_seconds", 3, 1}, peakFigure}), all)
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
	return json.NewEncoder(out).Encode(measured{"seconds": wall, "cpu_seconds": cpu.Seconds(), "peak_bytes": float64(peak)})
}
