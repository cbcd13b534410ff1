package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/report"
	"github.com/credence-ml/credence/score"
)

// reportFlags are the flags of report.
type reportFlags struct {
	scoreFlags
	report.Input
	rows, output string
}

// reported is the JSON object of report.
type reported struct {
	Report string `json:"report"` // path of the file that was written
	Bytes  int    `json:"bytes"`  // that it has
	*report.Summary
}

func (p *program) reportCommand() *cobra.Command {
	var flags reportFlags
	cmd := &cobra.Command{
		Use:   "report MODEL [MODEL...] DATA",
		Short: "Write one page: whether to trust a model, what matters, and a form that predicts",
		Long: `Report writes one HTML file that opens by a double click, without a network. It says first
whether to trust the model, by three lights: whether the fit converged, how close its
posterior is to the exact one, and whether its predictions hold what they say. Then it shows
what matters most, pictures of the checks, the weights, what is in the data and the commands;
and it predicts: its form gives the numbers of credence predict, with a curve along any column.

DATA has the target: best rows that the model has not seen. Training rows are each predicted
from all others where that can be done, and it says so. Several models are compared; the first
has the pictures and the form. Checks look at 10,000 evenly spread rows, --rows all at all.

The form holds the posterior exactly up to 300 weights; beyond, factors of covariances are
rounded to 16 bits. Models of sparse files, of keys, and above 8 MB have no form, which is said.`,
		Example: `  credence report m.safetensors test.csv -o report.html
  credence report linear.safetensors gp.safetensors test.csv -o report.html`,
		Args: takes(2, most, "a model and data"),
		RunE: func(cmd *cobra.Command, args []string) error {
			last := len(args) - 1
			return p.report(cmd.Context(), args[:last], args[last], &flags)
		},
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.Float64Var(&flags.Interval, "interval", 0.9, "probability of the intervals")
	f.StringVar(&flags.rows, "rows", "", "all: look at all rows, and not at 10,000 evenly spread ones")
	f.StringVarP(&flags.output, "output", "o", "", "file to write, as report.html")
	return cmd
}

func (p *program) report(ctx context.Context, models []string, data string, flags *reportFlags) error {
	switch {
	case flags.output == "":
		return misused(fmt.Errorf("-o names the file to write: -o report.html"))
	case !strings.EqualFold(filepath.Ext(flags.output), ".html"):
		return misused(fmt.Errorf("-o %s: a report is a page: name it with .html at the end; browsers print it as PDF", flags.output))
	case flags.rows != "" && flags.rows != "all":
		return misused(fmt.Errorf("--rows %s is unknown: it is all, or left out", flags.rows))
	}
	if err := checkInterval(flags.Interval); err != nil {
		return err
	}
	if err := checkOutputs(append(flags.inputs(models...), data), flags.output); err != nil {
		return err
	}
	kept := &dataset.Kept{} // every model reads a pipe from its beginning
	defer kept.Close()
	a := application{flags: &flags.scoreFlags, targets: score.RequireTargets, kept: kept}
	flags.Seed, flags.Threads, flags.All, flags.Files, flags.ModelFile = p.seed, p.threads, flags.rows == "all", filepath.Base(data), filepath.Base(models[0])
	for k, path := range models {
		a.interval = flags.Interval
		scorer, read, err := p.scorer(path, a)
		if err != nil {
			return err
		}
		flags.Models = append(flags.Models, report.Model{Name: nameOf(path), Scorer: scorer})
		if k == 0 && !scorer.Keyed() {
			read.Kept = kept
			table, source, err := p.load(ctx, scorer, []string{data}, read, score.UseTargets, nil)
			if err != nil {
				return err
			}
			defer table.Close()
			flags.Rows, flags.Data = source, table
		}
	}
	for _, path := range models {
		if len(models) > 1 {
			if len(flags.Scores) > 0 {
				a.first = flags.Scores[0]
			}
			scores, err := p.scores(ctx, path, data, a, &refits{}, false)
			if err != nil {
				return err
			}
			flags.Scores = append(flags.Scores, scores)
		}
	}
	var page bytes.Buffer // so that no file is begun of what cannot be written
	bar := p.progress()
	flags.Progress = func(part string) { bar.set(0, 0, part) }
	summary, err := report.Write(ctx, &page, flags.Input)
	bar.done()
	if err != nil {
		return err
	}
	if err := writeFile(flags.output, func(w io.Writer) error { _, err := w.Write(page.Bytes()); return err }); err != nil {
		return err
	}
	if p.json {
		return p.emit(reported{flags.output, page.Len(), summary})
	}
	p.say("verdict  %s", summary.Verdict.Text)
	for _, l := range summary.Lights {
		p.say("%-8s %s: %s", l.State, l.Name, l.Text)
		if l.Remedy != "" {
			p.say("         %s", l.Remedy)
		}
	}
	if summary.NoForm != "" {
		p.say("no form  %s", summary.NoForm)
	}
	p.say("written  %s, %d kB: open it in a browser", flags.output, (page.Len()+999)/1000)
	return nil
}
