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
	"slices"
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

// demoProducts is a formula with more terms than matter.
const demoProducts = "strength ~ . + log(age) + cement:age + slag:age + ash:age + fine:coarse + log(age):water"

var demoParts = []demoPart{
	{"concrete", "train.csv", "test.csv", "The strength of 1,030 mixtures of concrete (Yeh 1998): every fifth is kept for testing.", []demoStep{
		{"A linear model: noise, prior variances and weights from one pass over the data.", "fit train.csv --target strength -o linear.safetensors"},
		{"", "evaluate linear.safetensors test.csv"},
		{"The same plus a Gaussian process by random features, whose lengthscales the evidence chooses.", "fit train.csv --formula 'strength ~ . + rbf(., n=200)' -o gp.safetensors"},
		{"", "evaluate gp.safetensors test.csv"},
		{"Which is better, and by how much more than chance?", "compare linear.safetensors gp.safetensors test.csv"},
		{"One page for people: whether to trust the model, what matters, and a form that predicts.", "report gp.safetensors linear.safetensors test.csv -o report.html"},
		{"Predictions with 90 % intervals.", "predict gp.safetensors test.csv --keep age,strength -o predictions.csv"},
		{"What the linear model found.", "inspect linear.safetensors"},
		{"Which columns and products matter, and how surely?", "select train.csv --formula '" + demoProducts + "' -o selected.safetensors"},
		{"The same by expectation propagation, beside the lasso and ridge regression on rows left out.", "select train.csv --formula '" + demoProducts + "' --engine ep --check 5 --top 5"},
		{"And by the Laplace approximation, for features by the million.", "select train.csv --formula '" + demoProducts + "' --engine laplace --top 5"},
		{"A Laplace prior shrinks as the lasso does, and has intervals.", "fit train.csv --formula '" + demoProducts + "' --prior laplace -o shrunk.safetensors"},
		{"", "compare linear.safetensors selected.safetensors shrunk.safetensors test.csv"},
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
		{"Were each label to be paid for: which rows should be labelled first?", "active simulate seen.csv --target class --pool 3000 --initial 50 --block 25 --labels 200 --repeats 2 --scores information,random"},
	}},
}

func (p *program) demoCommand() *cobra.Command {
	var keep string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Every engine on data embedded in the binary",
		Long: `Demo fits real data that the binary holds, the way you would fit your own: it prints
each command before its output. With --keep DIR the data and the models stay in DIR,
where each of the commands can be typed again; without it nothing is left behind.`,
		Example: `  credence demo
  credence demo --keep demo && cd demo && credence inspect linear.safetensors`,
		Args: takes(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, remove, err := demoFolder(keep)
			if err != nil {
				return err
			}
			defer remove()
			return p.demo(cmd.Context(), folder, keep)
		},
	}
	cmd.Flags().StringVar(&keep, "keep", "", "folder for the data and the models, which is made; they are removed otherwise")
	return cmd
}

// demoFolder makes the folder that the demonstration works in: one to keep, which must have been empty, or
// a temporary one.
func demoFolder(keep string) (folder string, remove func(), err error) {
	if keep == "" {
		if folder, err = os.MkdirTemp("", "credence-demo-"); err != nil {
			err = fmt.Errorf("the demonstration has nowhere to work: %w: name a new folder by --keep, or have TMPDIR name one that can be written to", err)
		}
		return folder, func() { os.RemoveAll(folder) }, err
	}
	if err := os.MkdirAll(keep, 0o777); err != nil {
		return "", nil, fmt.Errorf("--keep %s: the folder cannot be made: %w", keep, err)
	}
	entries, err := os.ReadDir(keep)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("--keep %s: the folder is not empty, and the demonstration replaces no files: name a new one", keep)
	}
	return keep, func() {}, err
}

// demo runs the tour in a folder, which stays if kept is not empty.
func (p *program) demo(ctx context.Context, folder, kept string) error {
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
	where := "credence demo --keep DIR leaves the files in DIR, where each command can be typed again."
	if kept != "" {
		where = "The files are in " + printable(kept) + ": go there, and each command can be typed again. Open report.html in a browser: it needs no network."
	}
	fmt.Fprintf(text, `

%s
Your own file: credence fit FILE --target COLUMN -o model.safetensors
Every option, with examples: credence help fit
`, where)
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
		if slices.Contains([]string{".csv", ".safetensors", ".html"}, filepath.Ext(arg)) {
			arg = filepath.Join(folder, arg)
		}
		actual = append(actual, arg)
	}
	inside := folder + string(filepath.Separator)
	root := (&program{streams: streams{p.in, &out, without{p.err, inside}}, messages: p.messages}).root()
	root.SetArgs(actual)
	err := root.ExecuteContext(ctx)
	return strings.ReplaceAll(out.String(), inside, ""), err
}

// without writes all but one text, which no write holds a part of.
type without struct {
	io.Writer
	text string
}

func (w without) Write(text []byte) (int, error) {
	_, err := w.Writer.Write(bytes.ReplaceAll(text, []byte(w.text), nil))
	return len(text), err
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
