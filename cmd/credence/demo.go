package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// The data of the demonstration; demo/README.md says where they come from.
var (
	//go:embed demo/concrete.csv.gz
	concrete []byte
	//go:embed demo/bikes.csv.gz
	bikes []byte
	//go:embed demo/mushrooms.csv.gz
	mushrooms []byte
)

func (p *program) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Every engine on data embedded in the binary",
		Long: `Demo fits real data that the binary holds, the way you would fit your own: it prints
each command before its output. Nothing is left behind.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.demo(cmd.Context()) },
	}
}

// demo runs the tour in a temporary folder.
func (p *program) demo(ctx context.Context) (err error) {
	folder, err := os.MkdirTemp("", "credence-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	d := &demonstration{program: p, ctx: ctx, folder: folder, text: p.out}
	if p.json {
		d.text = io.Discard
	}
	d.concrete()
	d.bikes()
	d.mushrooms()
	if d.err == nil && p.json {
		d.err = p.emit(map[string]any{"steps": d.steps})
	}
	return d.err
}

// concrete fits and predicts numbers with the exact engine.
func (d *demonstration) concrete() {
	d.data(concrete, "train.csv", "test.csv")
	fmt.Fprintf(d.text, "The strength of 1,030 mixtures of concrete (Yeh 1998): every fifth is kept for testing.\n")
	d.step("A linear model: noise, prior variances and weights from one pass over the data.",
		"fit", "train.csv", "--target", "strength", "-o", "linear.safetensors")
	d.step("", "evaluate", "linear.safetensors", "test.csv")
	d.step("The same plus a Gaussian process by random features, whose lengthscales the evidence chooses.",
		"fit", "train.csv", "--formula", "strength ~ . + rbf(., n=200)", "-o", "gp.safetensors")
	d.step("", "evaluate", "gp.safetensors", "test.csv")
	d.step("Which is better, and by how much more than chance?",
		"compare", "linear.safetensors", "gp.safetensors", "test.csv")
	d.step("Predictions with 90 % intervals.",
		"predict", "gp.safetensors", "test.csv", "--keep", "age,strength", "-o", "predictions.csv")
	d.step("What the linear model found.", "inspect", "linear.safetensors")
}

// bikes fits counts with the variational engine.
func (d *demonstration) bikes() {
	if d.err != nil {
		return
	}
	d.data(bikes, "hours.csv", "later.csv")
	fmt.Fprintf(d.text, "\n\nBikes rented in 17,379 hours (Fanaee-T & Gama 2014): every fifth hour is kept for testing.\n")
	const types = "hour=category,month=category,weekday=category,season=category"
	d.step("Counts have a family of their own. The hour of the day is a category, not a number.",
		"fit", "hours.csv", "--target", "count", "--types", types, "--family", "poisson", "-o", "poisson.safetensors")
	d.step("Poisson intervals are too narrow: these counts vary more than that.", "evaluate", "poisson.safetensors", "later.csv")
	d.step("The negative binomial learns by how much more.",
		"fit", "hours.csv", "--target", "count", "--types", types, "--family", "negbinomial", "-o", "negbinomial.safetensors")
	d.step("", "evaluate", "negbinomial.safetensors", "later.csv")
}

// mushrooms learns classes online.
func (d *demonstration) mushrooms() {
	if d.err != nil {
		return
	}
	d.data(mushrooms, "seen.csv", "new.csv")
	fmt.Fprintf(d.text, "\n\n8,124 mushrooms, edible or poisonous (Schlimmer 1981): every fifth is kept for testing.\n")
	d.step("A stream is learned in one pass, each row scored before it is learned from.",
		"stream", "seen.csv", "--formula", "class ~ .", "--report", "2000", "-o", "mushrooms.safetensors")
	d.step("", "evaluate", "mushrooms.safetensors", "new.csv")
	d.step("Which properties tell them apart?", "inspect", "mushrooms.safetensors", "--top", "8", "--sort", "inclusion")
}

// data writes a table's training and test rows to the folder.
func (d *demonstration) data(compressed []byte, train, test string) {
	if d.err == nil {
		d.err = splitDemo(compressed, filepath.Join(d.folder, train), filepath.Join(d.folder, test))
	}
}

// demonstration runs commands one after the other until one fails.
type demonstration struct {
	program *program
	ctx     context.Context
	folder  string
	text    io.Writer // what people read
	steps   []demoStep
	err     error
}

// demoStep is a command and its result, for --json.
type demoStep struct {
	Command []string        `json:"command"`
	Result  json.RawMessage `json:"result"`
}

// step explains a command, prints it and runs it.
func (d *demonstration) step(why string, args ...string) {
	if d.err != nil {
		return
	}
	p := d.program
	if why != "" {
		fmt.Fprintf(d.text, "\n%s\n", why)
	}
	shown := make([]string, len(args))
	actual := make([]string, len(args))
	for i, arg := range args {
		shown[i], actual[i] = arg, arg
		if strings.ContainsAny(arg, " ~*()") {
			shown[i] = "'" + arg + "'"
		}
		if extension := filepath.Ext(arg); extension == ".csv" || extension == ".safetensors" {
			actual[i] = filepath.Join(d.folder, arg)
		}
	}
	fmt.Fprintf(d.text, "\n$ credence %s\n", strings.Join(shown, " "))
	// Paths in the output are those of the commands shown, not of the temporary folder.
	var out bytes.Buffer
	sub := &program{streams: streams{p.in, &out, p.err}}
	actual = append(actual, "--threads", fmt.Sprint(p.threads), "--seed", fmt.Sprint(p.seed))
	if p.json {
		actual = append(actual, "--json")
	}
	root := sub.root()
	root.SetArgs(actual)
	d.err = root.ExecuteContext(d.ctx)
	printed := strings.ReplaceAll(out.String(), d.folder+string(filepath.Separator), "")
	fmt.Fprint(d.text, printed)
	if d.err == nil && p.json {
		// Of JSON Lines the last is the result.
		lines := strings.Split(strings.TrimSpace(printed), "\n")
		d.steps = append(d.steps, demoStep{args, json.RawMessage(lines[len(lines)-1])})
	}
}

// splitDemo writes four fifths of the rows to train and every fifth to test.
func splitDemo(compressed []byte, train, test string) error {
	reader, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return err
	}
	var parts [2]bytes.Buffer
	lines := bufio.NewScanner(reader)
	for n := -1; lines.Scan(); n++ {
		for k := range parts {
			if n < 0 || (n%5 == 4) == (k == 1) {
				parts[k].Write(lines.Bytes())
				parts[k].WriteByte('\n')
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	for k, path := range []string{train, test} {
		if err := os.WriteFile(path, parts[k].Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}
