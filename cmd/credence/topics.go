package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/active"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/spec"
)

// topics are pages of help about the parts that texts may name, made from the registry.
func topics() []*cobra.Command {
	stated := "What you state is held, what you leave out is learned, and ~ before a value makes it a starting guess.\n"
	return []*cobra.Command{
		topic("engines", "Engines and their options", "Engines for --engine, as in --engine 'exact(starts=5, draws=5)'. auto, the default, chooses by family, prior and size.\n", func(p *page) {
			registry := fit.Default()
			for i := range registry.Engines {
				e := &registry.Engines[i]
				p.add(e.Name, e.About, e.Options())
			}
		}),
		topic("families", "Families of targets and their parameters", "Families for --family, as in --family 'studentt(df=4)'. "+stated, func(p *page) {
			for _, f := range fit.Default().Families {
				p.add(f.Zero.Name(), "", options(f))
			}
		}),
		topic("priors", "Priors and their parameters", "Priors for --prior, as in --prior 'normal(variance=1)'. normal is the default, but of engines that have another. "+stated, func(p *page) {
			for _, prior := range fit.Default().Priors {
				p.add(prior.Zero.Name(), "", options(prior))
			}
		}),
		topic("terms", "Terms of formulas and their options", `Terms for --formula, as in 'log(price) ~ . - id + rbf(lat, lon, n=400) + size:rooms'.
A name is a column, . every other column, - takes out, a:b is a product, a*b is a + b + a:b, 0 leaves the intercept out.
`, func(p *page) {
			for _, f := range formula.Functions() {
				p.add(f.Name, f.About, f.Options)
			}
		}),
	}
}

// topic is a page of the help, which is written when it is asked for.
func topic(use, short, intro string, write func(*page)) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short}
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		p := &page{}
		write(p)
		c.Long = intro + p.String()
		c.Parent().HelpFunc()(c, args)
	})
	return c
}

// options are the arguments of a part.
func options[T interface{ Name() string }](entry spec.Entry[T]) []spec.Option {
	a := spec.NewArguments(spec.Call{Name: entry.Zero.Name()}, "")
	entry.Read(a)
	return a.Options()
}

// complete registers the values that the shell may complete, for the flags that have a few.
func complete(commands []*cobra.Command) {
	registry := fit.Default()
	batch, online, families, priors := []string{"auto"}, []string{}, []string{}, []string{}
	for _, e := range registry.Engines {
		if e.Batch != nil {
			batch = append(batch, e.Name)
		}
		if e.Online != nil {
			online = append(online, e.Name)
		}
	}
	for _, f := range registry.Families {
		families = append(families, f.Zero.Name())
	}
	for _, p := range registry.Priors {
		priors = append(priors, p.Zero.Name())
	}
	scores := []string{string(active.Information), string(active.Uncertainty), string(active.BALD), string(active.Random)}
	values := map[string][]string{
		"engine": batch, "family": families, "prior": priors, "format": {"csv", "tsv", "libsvm", "vw", "parquet"},
		"missing": {"mean", "indicator", "drop", "drop-target"}, "unseen": {"error", "prior"}, "sort": {"inclusion", "abs", "name"},
		"score": scores, "scores": scores,
	}
	for _, command := range commands {
		for name, list := range values {
			if name == "engine" && command.Name() == "stream" {
				list = online
			}
			if command.Flags().Lookup(name) != nil {
				_ = command.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
			}
		}
	}
}

// page is help about parts of one role.
type page struct{ strings.Builder }

func (p *page) add(name, about string, options []spec.Option) {
	fmt.Fprintf(p, "\n%s", name)
	if about != "" {
		fmt.Fprintf(p, "  %s", about)
	}
	p.WriteString("\n")
	w := tabwriter.NewWriter(p, 0, 0, 2, ' ', 0)
	for _, o := range options {
		what := o.Takes
		if o.Means != "" {
			what = o.Means + ": " + what
		}
		for k, line := range wrapped(what, pageWidth) {
			key := o.Key + "="
			if k > 0 {
				key = ""
			}
			fmt.Fprintf(w, "    %s\t%s\n", key, line)
		}
	}
	w.Flush()
}

// pageWidth is the width of what stands beside a key, with which most terminals show a page without breaks of their
// own.
const pageWidth = 90

// wrapped breaks a text between words into lines of a width.
func wrapped(text string, width int) (lines []string) {
	for _, word := range strings.Fields(text) {
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(word) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
