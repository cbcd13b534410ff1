package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/credence-ml/credence/bench/layout"
	"github.com/credence-ml/credence/bench/process"
	"github.com/credence-ml/credence/bench/synthetic"
	"github.com/credence-ml/credence/dataset"

	"github.com/credence-ml/credence"
)

// timingBench is one run of the benchmark.
type timingBench struct {
	bench
	encoder *json.Encoder
	scratch string
}

func runTiming(ctx context.Context, args []string, out, progress io.Writer) error {
	b := &timingBench{bench: bench{out: out, progress: progress}, encoder: json.NewEncoder(out)}
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
	if err := b.engine(ctx, list(*rows), list(*weights)); err != nil {
		return err
	}
	if err := b.files(ctx, *fileRows); err != nil {
		return err
	}
	if !*processes {
		return nil
	}
	return b.processes(ctx)
}

// write prints a finished table with its note.
func (b *timingBench) write(table *layout.Table, note string) error {
	if b.json || table.Rows() == 0 {
		return nil
	}
	return b.print("", table, note)
}

// engine times one evaluation for every number of rows and weights, each in
// a process of its own, whose peak of memory is then its own.
func (b *timingBench) engine(ctx context.Context, rows, weights []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	table := layout.Table{Left: 0, Head: []string{"N", "D", "wall s", "CPU s", "data", "features", "pull-back", "GF/s", "Gram GF/s", "peak MB"}}
	for _, n := range rows {
		for _, d := range weights {
			fmt.Fprintf(b.progress, "timing: N = %s, D = %s\n", n, d)
			child := exec.CommandContext(ctx, self, "timing-cell", "-rows", n, "-weights", d,
				"-threads", strconv.Itoa(b.threads), "-seed", strconv.FormatUint(b.seed, 10))
			child.Stderr = b.progress
			text, err := child.Output()
			if err != nil {
				return fmt.Errorf("timing of N = %s, D = %s: %w", n, d, err)
			}
			var c cell
			if err := json.Unmarshal(text, &c); err != nil {
				return err
			}
			if b.json {
				if err := b.encoder.Encode(c); err != nil {
					return err
				}
			}
			table.Add(strconv.Itoa(c.Rows), strconv.Itoa(c.Weights), layout.Number(c.WallSeconds, 2), layout.Number(c.CPUSeconds, 2),
				layout.Number(c.DataSeconds, 2), layout.Number(c.FeatureSeconds, 2), layout.Number(c.PullbackSeconds, 2),
				layout.Number(c.Rate, 1), layout.Number(c.GramRate, 1), layout.Number(c.PeakBytes/1e6, 0))
		}
	}
	threads := b.threads
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	return b.write(&table, fmt.Sprintf("One evidence-and-gradient evaluation of the exact engine: %d inputs, D/2 random frequencies with a lengthscale for each input, %d threads; "+
		"data are generated as they are read. Of the CPU seconds, so many went to making the data, the features and the slopes of the lengthscales. "+
		"GF/s counts 3ND² + D³ operations a CPU second, Gram GF/s ND² of the Gram kernel alone.", cellInputs, threads))
}

// files times the reading of generated files.
func (b *timingBench) files(ctx context.Context, rows int) error {
	if rows < 1 {
		return nil
	}
	table := layout.Table{Left: 1, Head: []string{"file", "rows", "MB", "wall s", "CPU s", "M rows per CPU s"}}
	data := synthetic.Data{Count: rows, Inputs: cellInputs, Seed: b.seed}
	for _, format := range synthetic.Formats() {
		path := filepath.Join(b.scratch, "rows."+format)
		fmt.Fprintf(b.progress, "timing: %s\n", format)
		if err := data.WriteFile(path, format); err != nil {
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
		if b.json {
			err := b.encoder.Encode(map[string]any{"format": format, "rows": rows, "bytes": info.Size(), "seconds": wall, "cpu_seconds": cpu})
			if err != nil {
				return err
			}
		}
		table.Add(format, strconv.Itoa(rows), layout.Number(float64(info.Size())/1e6, 0),
			layout.Number(wall, 2), layout.Number(cpu, 2), layout.Number(float64(rows)/1e6/cpu, 2))
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return b.write(&table, fmt.Sprintf("One pass over every column of %d inputs and a target; text has six digits a value, Parquet doubles under Snappy. Opening (types from the first rows) is included.", cellInputs))
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
