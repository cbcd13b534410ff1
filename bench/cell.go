package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/bench/process"
	"github.com/credence-ml/credence/bench/synthetic"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// cellInputs is the number of inputs of generated data.
const cellInputs = 20

// runCell measures one cell and prints it as JSON. The engine is stopped after its first
// evaluation, which a watch on data and features sees from outside.
func runCell(ctx context.Context, args []string, out, _ io.Writer) error {
	f := flag.NewFlagSet("timing-cell", flag.ContinueOnError)
	rows := f.Int("rows", 10000, "rows")
	weights := f.Int("weights", 1000, "weights")
	threads := f.Int("threads", 0, "threads")
	seed := f.Uint64("seed", 0, "seed")
	if err := parse(f, args); err != nil {
		return err
	}
	data := synthetic.Data{Count: *rows, Inputs: cellInputs, Seed: *seed}
	features, err := fourier(*weights, *seed)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w := &watch{rows: *rows, stop: stop}
	model := credence.Model{Features: &watchedFeatures{features, w}, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}
	engine, err := exact.New(model, exact.Config{Starts: 1, PolishRows: *rows, Seed: *seed, Threads: *threads})
	if err != nil {
		return err
	}
	if _, err := engine.Fit(ctx, &watchedData{data, w}); !errors.Is(err, context.Canceled) || !w.done {
		return fmt.Errorf("timing: the first evaluation was not seen to end: %v", err)
	}
	pool := kernel.New(*threads)
	n, d := float64(*rows), float64(*weights)
	return json.NewEncoder(out).Encode(measured{
		// of them:
		"rows": *rows, "weights": *weights, "threads": pool.Threads(), "seconds": w.wall, "cpu_seconds": w.cpu,
		"data_seconds": w.data.Seconds(), "feature_seconds": w.feature.Seconds(), "pullback_seconds": w.pullback.Seconds(),
		"gflops": (3*n*d*d + d*d*d) / w.cpu / 1e9, "gram_gflops": gramRate(pool, *weights), "peak_bytes": float64(process.PeakMemory()),
	})
}

// fourier returns random Fourier features of d weights with a lengthscale for each input.
func fourier(d int, seed uint64) (*feature.Set, error) {
	inputs := feature.Inputs{}
	var all []int
	for j := range cellInputs {
		inputs.Dense = append(inputs.Dense, feature.Input{Column: credence.Column{Name: fmt.Sprintf("x%d", j+1)}, Scale: 1})
		all = append(all, j)
	}
	term := &feature.RandomFourier{Name: "rbf(.)", Kernel: feature.RBF, Inputs: all}
	drawn, err := term.Draw(&inputs, d/2, credence.Rand(seed, "bench.frequencies", 0))
	if err != nil {
		return nil, err
	}
	return feature.New(inputs, drawn)
}

// watch times the first evaluation: from the features of the first block under the lengthscales
// evaluated to the pull-back of the last. The engine may have seen the rows before, to choose
// where to start.
type watch struct {
	rows                    int
	stop                    context.CancelFunc
	started, done           bool
	clock                   process.Clock
	wall, cpu               float64
	data, feature, pullback time.Duration
}

// watchedData are data whose reading is timed.
type watchedData struct {
	credence.Data
	w *watch
}

// Read implements [credence.Data].
func (d *watchedData) Read(dst *credence.Batch, first, count int) error {
	start := process.CPU()
	err := d.Data.Read(dst, first, count)
	if d.w.started && !d.w.done {
		d.w.data += process.CPU() - start
	}
	return err
}

// watchedFeatures are features whose use is timed.
type watchedFeatures struct {
	credence.Tunable
	w *watch
}

// WithHyper implements [credence.Tunable]. An evaluation under other lengthscales begins anew.
func (f *watchedFeatures) WithHyper(values []float64) credence.Features {
	if w := f.w; !w.done {
		w.started, w.data, w.feature, w.pullback = false, 0, 0, 0
	}
	return &watchedFeatures{f.Tunable.WithHyper(values).(credence.Tunable), f.w}
}

// Transform implements [credence.Features].
func (f *watchedFeatures) Transform(ws *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	if !f.w.started {
		f.w.started, f.w.clock = true, process.Start()
	}
	start := process.CPU()
	f.Tunable.Transform(ws, phi, rows)
	if !f.w.done {
		f.w.feature += process.CPU() - start
	}
}

// Pullback implements [credence.Tunable].
func (f *watchedFeatures) Pullback(ws *credence.Workspace, grad []float64, rows *credence.Batch, phi *credence.Design, dPhi []float64) {
	start := process.CPU()
	f.Tunable.Pullback(ws, grad, rows, phi, dPhi)
	if f.w.done {
		return
	}
	f.w.pullback += process.CPU() - start
	if rows.First+rows.Rows() == f.w.rows {
		f.w.wall, f.w.cpu = f.w.clock.Seconds()
		f.w.done = true
		f.w.stop()
	}
}

// gramSeconds is how much processor time the Gram kernel alone is measured for.
const gramSeconds = 0.5

// gramRate returns the rate of the Gram kernel a processor second on blocks of rows, counting d²
// operations a row.
func gramRate(pool *kernel.Pool, d int) float64 {
	rng := credence.Rand(0, "bench.gram", 0)
	x, g := make([]float64, credence.BlockRows*d), make([]float64, d*d)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	pool.Gram(credence.BlockRows, d, x, d, nil, g, d) // buffers grow on the first call
	blocks, clock := 0, process.Start()
	for {
		pool.Gram(credence.BlockRows, d, x, d, nil, g, d)
		blocks++
		if _, cpu := clock.Seconds(); cpu >= gramSeconds {
			return float64(blocks) * credence.BlockRows * float64(d) * float64(d) / cpu / 1e9
		}
	}
}
