package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/plot"
	"github.com/credence-ml/credence/score"
)

// plotFlags are the flags of plot.
type plotFlags struct {
	scoreFlags
	plot.Input
	kind, rows, output string
}

// plotResult is the JSON object of plot.
type plotResult struct {
	Kind plot.Kind `json:"kind"`           // of the picture
	Plot string    `json:"plot,omitempty"` // path of the file that was drawn
	*plot.Picture
}

func (p *program) plotCommand() *cobra.Command {
	var flags plotFlags
	names, texts := plot.Kinds()
	var list strings.Builder
	for k, name := range names {
		fmt.Fprintf(&list, "  %-16s %s\n", name, texts[k])
	}
	cmd := &cobra.Command{
		Use:   "plot MODEL [DATA...]",
		Short: "Draw a picture of a model and of its checks",
		Long: `Plot draws one picture of a model as SVG, which browsers open, light and dark, and which
holds a title and a description for those who do not see it. The kinds have ArviZ's names:

` + list.String() + `
Those that compare predictions with targets need DATA with the target: held-out rows,
but for loo_pit and khat, which take the training rows. Without DATA, predictions, slopes
and forest are of a row at the training means. Checks look at 10,000 evenly spread rows at
most, and say so; --rows all looks at all. --json tells the data of the picture, for what
draws by itself, and needs no -o.`,
		Example: `  credence plot m.safetensors test.csv --kind predictions -o predictions.svg
  credence plot m.safetensors test.csv --kind predictions --columns age,income -o age.svg
  credence plot m.safetensors train.csv --kind loo_pit -o calibration.svg
  credence plot m.safetensors --kind forest -o effects.svg
  credence plot m.safetensors test.csv --kind residuals --json | jq '.panels[0].marks'`,
		Args: takes(1, most, "a model"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.plot(cmd.Context(), args[0], args[1:], &flags)
		},
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.kind, "kind", "", "kind of picture: see above")
	f.StringSliceVar(&flags.Columns, "columns", nil, "columns of predictions and slopes (default: the nine that move the predictions most)")
	f.Float64Var(&flags.Interval, "interval", 0.9, "probability of the intervals")
	f.StringVar(&flags.rows, "rows", "", "all: look at all rows, and not at 10,000 evenly spread ones")
	f.StringVarP(&flags.output, "output", "o", "", "file to draw, as x.svg")
	return cmd
}

// checkPicture refuses a file that is no SVG.
func checkPicture(flag, path string) error {
	switch kind := strings.ToLower(filepath.Ext(path)); {
	case path == "" || kind == ".svg":
		return nil
	case kind == ".png" || kind == ".pdf":
		svg := strings.TrimSuffix(path, filepath.Ext(path)) + ".svg"
		return misused(fmt.Errorf("%s %s: pictures are SVG: write %s, and print the SVG from a browser, or by rsvg-convert -f %s -o %s %s", flag, path, svg, kind[1:], path, svg))
	}
	return misused(fmt.Errorf("%s %s: the picture is SVG: name it with .svg at the end", flag, path))
}

func (p *program) plot(ctx context.Context, model string, paths []string, flags *plotFlags) error {
	kind := plot.Kind(flags.kind)
	switch {
	case flags.kind == "":
		names, _ := plot.Kinds()
		return misused(fmt.Errorf("--kind says what to draw: one of %v", names))
	case flags.output == "" && !p.json:
		return misused(fmt.Errorf("-o names the file to draw: -o %s.svg", kind))
	case flags.rows != "" && flags.rows != "all":
		return misused(fmt.Errorf("--rows %s is unknown: it is all, or left out", flags.rows))
	}
	if _, err := flags.Input.Validate(kind); err != nil {
		return misused(err)
	}
	if err := checkInterval(flags.Interval); err != nil { // to a program 0 is the usual one
		return err
	}
	if err := checkPicture("-o", flags.output); err != nil {
		return err
	}
	if err := checkOutputs(append(flags.inputs(paths...), model), flags.output); err != nil {
		return err
	}
	scorer, read, err := p.scorer(model, application{flags: &flags.scoreFlags, targets: score.UseTargets, lacking: true})
	if err != nil {
		return err
	}
	flags.Scorer, flags.Seed, flags.Threads, flags.All = scorer, p.seed, p.threads, flags.rows == "all"
	if len(paths) > 0 && !scorer.Keyed() {
		table, source, err := p.load(ctx, scorer, paths, read, score.UseTargets, nil)
		if err != nil {
			return err
		}
		defer table.Close()
		flags.Rows = source
	}
	bar := p.progress()
	bar.set(0, 0, flags.kind)
	picture, err := plot.Of(ctx, kind, flags.Input)
	bar.done()
	if err != nil {
		return err
	}
	if err := writeFile(flags.output, func(w io.Writer) error { _, err := picture.WriteTo(w); return err }); err != nil {
		return err
	}
	if p.json {
		return p.emit(plotResult{kind, flags.output, picture})
	}
	p.say("drawn   %s", flags.output)
	return nil
}
