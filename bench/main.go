// Bench measures Credence: the quality of its predictions on the regression sets
// of the literature, beside published figures and those of other programs, and
// what it costs.
//
//	go run -C bench .                     short versions of all, a few minutes
//	go run -C bench . uci                 test RMSE and log-likelihood by the usual splits
//	go run -C bench . peers               beside revrand and scikit-learn
//	go run -C bench . timing              the exact engine, files, whole processes
//	go run -C bench . glm                 generalised linear models: counts, classes, beside other programs
//
// Every fit is the product's default unless a flag says otherwise. Figures but
// seconds depend on data and seed alone. Tables are Markdown; -json prints one
// JSON object a line instead.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case errors.Is(err, context.Canceled):
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run executes one benchmark, or the short versions of all.
func run(ctx context.Context, args []string, out, progress io.Writer) error {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		for _, c := range commands() {
			if c.name == args[0] {
				return c.run(ctx, args[1:], out, progress)
			}
		}
		return fmt.Errorf("there is no benchmark %q: use uci, peers, timing or glm, or none for the short versions of all", args[0])
	}
	for k, c := range commands() {
		if c.short == nil {
			continue
		}
		if k > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "## %s\n\n", strings.Join(append([]string{c.name}, c.short...), " "))
		if err := c.run(ctx, append(append([]string{}, c.short...), args...), out, progress); err != nil {
			return err
		}
	}
	return nil
}

// command is one benchmark.
type command struct {
	name  string
	short []string // flags of its short version; nil where it has none
	run   func(ctx context.Context, args []string, out, progress io.Writer) error
}

func commands() []command {
	return []command{
		{"uci", []string{"-sets", "boston,concrete,energy", "-splits", "1"}, runUCI},
		{"peers", []string{"-sets", "boston,concrete", "-folds", "1"}, runPeers},
		{"timing", []string{"-rows", "10000", "-weights", "200,1000", "-file-rows", "200000"}, runTiming},
		{"glm", []string{"-parts", "peers"}, runGLM},
		{"timing-cell", nil, runCell},
		{"timing-process", nil, runProcess},
	}
}

// common are the flags of every benchmark.
type common struct {
	folder  string
	threads int
	seed    uint64
	json    bool
}

func (c *common) register(f *flag.FlagSet) {
	f.StringVar(&c.folder, "data", filepath.Join("..", "..", "shared", "data"), "the folder of the data sets")
	f.IntVar(&c.threads, "threads", 0, "worker threads; 0 means all processors (figures do not depend on it)")
	f.Uint64Var(&c.seed, "seed", 0, "seed; split k is fitted with seed + k")
	f.BoolVar(&c.json, "json", false, "JSON Lines instead of tables")
}

// parse reads the flags and refuses arguments that are none.
func parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%s takes no argument %q", f.Name(), f.Arg(0))
	}
	return nil
}

// list splits a list.
func list(text, separator string) []string {
	items := strings.Split(text, separator)
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return slices.DeleteFunc(items, func(item string) bool { return item == "" })
}
