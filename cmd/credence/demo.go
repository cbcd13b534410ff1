package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// The data of the demonstration; demo/README.md says where they come from.
//
//go:embed demo/*.csv.gz
var demoData embed.FS

// demoPart is a table with what the demonstration does to it.
type demoPart struct {
	file, train, test string // every fifth row of the file is for testing
	about             string
	steps             []demoStep
}

// demoStep is a command, with why it is run.
type demoStep struct{ why, command string }

// demoTypes are the columns of bikes that are categories, though numbers stand in them.
const demoTypes = "--types hour=category,month=category,weekday=category,season=category"

var demoParts = []demoPart{
	{"concrete", "train.csv", "test.csv", "The strength of 1,030 mixtures of concrete (Yeh 1998): every fifth is kept for testing.", []demoStep{
		{"A linear model: noise, prior variances and weights from one pass over the data.", "fit train.csv --target strength -o linear.safetensors"},
		{"", "evaluate linear.safetensors test.csv"},
		{"The same plus a Gaussian process by random features, whose lengthscales the evidence chooses.", "fit train.csv --formula 'strength ~ . + rbf(., n=200)' -o gp.safetensors"},
		{"", "evaluate gp.safetensors test.csv"},
		{"Which is better, and by how much more than chance?", "compare linear.safetensors gp.safetensors test.csv"},
		{"Predictions with 90 % intervals.", "predict gp.safetensors test.csv --keep age,strength -o predictions.csv"},
		{"What the linear model found.", "inspect linear.safetensors"},
	}},
	{"bikes", "hours.csv", "later.csv", "Bikes rented in 17,379 hours (Fanaee-T & Gama 2014): every fifth hour is kept for testing.", []demoStep{
		{"Counts have a family of their own. The hour of the day is a category, not a number.", "fit hours.csv --target count " + demoTypes + " --family poisson -o poisson.safetensors"},
		{"Poisson intervals are too narrow: these counts vary more than that.", "evaluate poisson.safetensors later.csv"},
		{"The negative binomial learns by how much more.", "fit hours.csv --target count " + demoTypes + " --family negbinomial -o negbinomial.safetensors"},
		{"", "evaluate negbinomial.safetensors later.csv"},
	}},
	{"mushrooms", "seen.csv", "new.csv", "8,124 mushrooms, edible or poisonous (Schlimmer 1981): every fifth is kept for testing.", []demoStep{
		{"A stream is learned in one pass, each row scored before it is learned from.", "stream seen.csv --formula 'class ~ .' --report 2000 -o mushrooms.safetensors"},
		{"", "evaluate mushrooms.safetensors new.csv"},
		{"Which properties tell them apart?", "inspect mushrooms.safetensors --top 8 --sort inclusion"},
	}},
}

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
func (p *program) demo(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "credence-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	// Of a command and its result, for --json.
	type result struct {
		Command []string        `json:"command"`
		Result  json.RawMessage `json:"result"`
	}
	var results []result
	text := p.out // what people read
	if p.json {
		text = io.Discard
	}
	for k, part := range demoParts {
		if err := splitDemo(part.file, filepath.Join(folder, part.train), filepath.Join(folder, part.test)); err != nil {
			return err
		}
		fmt.Fprintf(text, "%s%s\n", strings.Repeat("\n", 2*min(k, 1)), part.about)
		for _, step := range part.steps {
			if step.why != "" {
				fmt.Fprintf(text, "\n%s\n", step.why)
			}
			fmt.Fprintf(text, "\n$ credence %s\n", step.command)
			args := demoArguments(step.command)
			printed, err := p.demoStep(ctx, folder, args)
			fmt.Fprint(text, printed)
			if err != nil {
				return err
			}
			lines := strings.Split(strings.TrimSpace(printed), "\n") // of JSON Lines the last is the result
			results = append(results, result{args, json.RawMessage(lines[len(lines)-1])})
		}
	}
	if p.json {
		return p.emit(map[string]any{"steps": results})
	}
	return nil
}

// demoArguments are the words of a command; a quote holds several.
func demoArguments(command string) (args []string) {
	for k, part := range strings.Split(command, "'") {
		if k%2 == 0 {
			args = append(args, strings.Fields(part)...)
		} else {
			args = append(args, part)
		}
	}
	return args
}

// demoStep runs a command on files of the folder. Paths in what it prints are those of the command.
func (p *program) demoStep(ctx context.Context, folder string, args []string) (string, error) {
	var out bytes.Buffer
	actual := []string{"--threads", fmt.Sprint(p.threads), "--seed", fmt.Sprint(p.seed), fmt.Sprintf("--json=%v", p.json)}
	for _, arg := range args {
		if extension := filepath.Ext(arg); extension == ".csv" || extension == ".safetensors" {
			arg = filepath.Join(folder, arg)
		}
		actual = append(actual, arg)
	}
	root := (&program{streams: streams{p.in, &out, p.err}}).root()
	root.SetArgs(actual)
	err := root.ExecuteContext(ctx)
	return strings.ReplaceAll(out.String(), folder+string(filepath.Separator), ""), err
}

// splitDemo writes four fifths of the rows of a table to train and every fifth to test.
func splitDemo(name, train, test string) error {
	file, err := demoData.Open("demo/" + name + ".csv.gz")
	if err != nil {
		return err
	}
	reader, err := gzip.NewReader(file)
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
	if err := os.WriteFile(train, parts[0].Bytes(), 0o600); err != nil {
		return err
	}
	return os.WriteFile(test, parts[1].Bytes(), 0o600)
}
