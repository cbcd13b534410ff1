package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/look"
)

func (p *program) lookCommand() *cobra.Command {
	var flags dataFlags
	var options look.Options
	output := ""
	cmd := &cobra.Command{
		Use:   "look DATA...",
		Short: "Say what is in a table before anyone fits it",
		Long: `Look reads a table and says what each column is, how its values range, how many rows lack one
and what levels there are; what is odd: columns that name the rows, that are the same in every
row, that copy another or tell the target, rows that are repeated, dates and numbers that are
read as texts, and codes that are read as numbers; and which family the likely targets look
like. Nothing is changed or left out.

-o writes how the table is read as a schema file, JSON that people can change: the kind, the
levels and the notation of each column, and the texts that mean missing. --schema, of every
command that reads data, reads other files so: what it states is not inferred, --types
overrides it, a column that a file lacks is an error, and one that it has more is said.`,
		Example: `  credence look houses.csv
  credence look houses.csv --target price --json | jq .findings
  credence look houses.csv -o houses.json && credence fit later.csv --schema houses.json --target price`,
		Args: takes(1, most, "data"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.look(cmd.Context(), args, &flags, options, output)
		},
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&options.Target, "target", "", "the column that is to be predicted (default: those that are called so, else the last and the first)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write how the table is read to this schema file, as houses.json")
	return cmd
}

func (p *program) look(ctx context.Context, paths []string, flags *dataFlags, options look.Options, output string) error {
	read, _, err := flags.options(p)
	if err != nil {
		return err
	}
	if err := checkOutputs(flags.inputs(paths...), output); err != nil {
		return err
	}
	useLargePages(paths)
	read.Progress = p.reading()
	table, err := dataset.Open(ctx, paths, read)
	if err != nil {
		return err
	}
	defer table.Close()
	result, err := look.At(ctx, table, options)
	if err != nil {
		return err
	}
	if err := writeFile(output, func(w io.Writer) error { return dataset.WriteSchema(w, result.Schema()) }); err != nil {
		return err
	}
	if p.json {
		return p.emit(result)
	}
	p.printLook(result, options.Target != "", filesText(table.Files()))
	if output != "" {
		p.say("saved   %s", output)
	}
	return nil
}

// mostLooked is the number of columns that are told.
const mostLooked = 60

// printLook writes a look for people.
func (p *program) printLook(r *look.Result, stated bool, files string) {
	p.say("data    %s: %s, %s", files, counted(r.Rows, "row"), counted(len(r.Columns), "column"))
	if r.Sparse > 0 {
		p.say("        and %d sparse columns", r.Sparse)
	}
	p.say("")
	w := p.columns(toLeft)
	fmt.Fprintln(w, "column\tkind\tmissing\tvalues")
	for _, c := range r.Columns[:min(len(r.Columns), mostLooked)] {
		missing := "-"
		if c.Missing > 0 {
			missing = fmt.Sprintf("%d (%.1f %%)", c.Missing, 100*float64(c.Missing)/float64(r.Rows))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", nameText(c.Name), c.Kind, missing, valuesText(&c))
	}
	w.Flush()
	if rest := len(r.Columns) - mostLooked; rest > 0 {
		p.say("… and %s more; --json tells all", counted(rest, "column"))
	}
	if len(r.Findings) > 0 {
		p.say("")
	}
	for _, f := range r.Findings {
		text := f.Text
		if f.Column != "" {
			text = f.Column + " " + text
		}
		if f.Remedy != "" {
			text += ": " + f.Remedy
		}
		p.say("odd     %s", text)
	}
	for k, t := range r.Targets {
		if k == 0 {
			p.say("")
		}
		p.say("target  %s: %s", t.Column, t.Look.String())
	}
	if len(r.Targets) > 0 && !stated {
		p.say("        guessed by name and place: --target names another")
	}
}

// valuesText says what a column holds.
func valuesText(c *look.Column) string {
	switch {
	case c.Levels > 0:
		var common []string
		for _, l := range c.Common {
			common = append(common, fmt.Sprintf("%s (%d)", printable(shortened(l.Name, 24)), l.Rows))
		}
		text := strings.Join(common, ", ")
		if c.Levels > len(common) {
			text += ", …"
		}
		return fmt.Sprintf("%s: %s", counted(c.Levels, "level"), text)
	case !c.Mean.Defined():
		return "none"
	case c.Date:
		day := func(days float64) string { return time.Unix(int64(days*86400), 0).UTC().Format("2006-01-02") }
		return fmt.Sprintf("%s to %s (%s)", day(float64(c.Low)), day(float64(c.High)), c.Notation)
	case c.Kind == "boolean":
		return fmt.Sprintf("%.1f %% true", 100*float64(c.Mean))
	case c.Low == 0 && c.High == 1 && c.Whole:
		return fmt.Sprintf("0 or 1, %.1f %% are 1", 100*float64(c.Mean))
	}
	text := fmt.Sprintf("%s to %s, mean %s", significant(float64(c.Low)), significant(float64(c.High)), significant(float64(c.Mean)))
	if c.Notation != "" {
		text += " (" + c.Notation + ")"
	}
	return text
}
