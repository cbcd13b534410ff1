package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/task"
)

// streams are the standard streams of a run.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// program is what every command shares: the streams and the flags that all take.
type program struct {
	streams
	messages  *messages // standard error
	json      bool
	quiet     bool
	seed      uint64
	threads   int
	noted     map[string]bool                   // notes on data that were told
	predicted string                            // the target as the formula has it, of what is evaluated
	placed    func(text string) string          // adds where the rows that a warning names stand; nil without rows
	table     bool                              // standard output has a table and nothing else
	every     time.Duration                     // between two lines of progress; 0 means tellEvery
	saving    atomic.Bool                       // an interrupted command saves its work, and is waited for
	stopped   atomic.Pointer[func(error) error] // says of an interruption what is saved
}

// grace is how long an interrupted command may take to end: what it computes then, a factorisation of
// many weights, say, is given up with the process. Files are replaced as a whole or not at all.
const grace = 500 * time.Millisecond

// zeroStated refuses the 0 of a number whose usage names a default: it would mean that in silence.
func zeroStated(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		_, otherwise, told := strings.Cut(f.Usage, " (default")
		if number := f.Value.Type() == "int" || f.Value.Type() == "float64"; told && number && f.Value.String() == "0" {
			err = misused(fmt.Errorf("--%s cannot be 0: write a number above 0, or leave it out for the default%s", f.Name, strings.TrimSuffix(otherwise, ")")))
		}
	})
	return err
}

// addGrouped names the function of the usage template, in a map of all commands of a process: once, for runs that go on
// side by side.
var addGrouped = sync.OnceFunc(func() { cobra.AddTemplateFunc("grouped", groupedFlags) })

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, s streams) int {
	out, errs := &stdout{to: s.out}, newMessages(s.err)
	p := &program{streams: streams{s.in, out, errs}, messages: errs}
	root := p.root()
	// cobra keeps for the whole process what it is told of completion
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		complete(everyCommand(root))
	}
	root.SetArgs(optionalValues(args))
	err := p.wait(ctx, task.Go(func() error { return root.ExecuteContext(ctx) }))
	if err == nil {
		err = out.err
	}
	if err != nil {
		tellError(errs, err)
	}
	return exitCode(err)
}

// wait returns how the command ended, or that it was interrupted, at most the grace after that. Until then
// it tells now and then how far the command is.
func (p *program) wait(ctx context.Context, command *task.Task) error {
	ticker := time.NewTicker(cmp.Or(p.every, tellEvery))
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-command.Done():
			return command.Wait()
		case now := <-ticker.C:
			if !p.quiet && !p.messages.terminal {
				io.WriteString(p.err, p.messages.line(now))
			}
		case <-ctx.Done():
		}
	}
	select {
	case <-command.Done():
		return command.Wait()
	case <-time.After(grace):
	}
	if p.saving.Load() {
		return command.Wait()
	}
	if stopped := p.stopped.Load(); stopped != nil {
		return (*stopped)(ctx.Err())
	}
	return ctx.Err()
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "credence",
		Short: "Bayesian linear and generalised linear modelling at scale",
		Long: `Credence fits Bayesian linear and generalised linear models to tables and streams,
and answers with probabilities: for predictions, and for which features matter.

    w ~ Prior      f = Φ(x) w      y ~ Family(f)            Model × Engine → Posterior

Start with:

    credence demo                                      every engine on data inside the binary
    credence look houses.csv                           what is in the table
    credence fit houses.csv --target price -o m.safetensors
    credence predict m.safetensors new.csv --interval 0.9
    credence evaluate m.safetensors test.csv
    credence inspect m.safetensors --top 10
    credence plot m.safetensors test.csv --kind ppc_pit -o calibration.svg
    credence job data/*.csv --target y -o y.job        a fit of files that lie apart
    credence select genes.csv --target relapse         which features matter
    credence active rank m.safetensors pool.csv -n 20  which rows to label next
    credence --version                                 of the program and of the model files it writes

Exit codes: 0 done; 1 failed; 2 misuse, which is found before the data are opened; 3 merge asks
another round; 130 interrupted.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		Version:       thisBuild().String(),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if outputs, summary := summaries[cmd.Name()]; summary && p.quiet && !p.json && !slices.ContainsFunc(outputs, cmd.Flags().Changed) {
			remedy := "leave --quiet out, or add --json"
			for _, name := range outputs {
				remedy += ", or a file by --" + name
			}
			return misused(fmt.Errorf("--quiet prints no summary, and %s has nothing else to tell: %s", cmd.CommandPath(), remedy))
		}
		// of a variable that is not set
		for _, name := range []string{"output", "checkpoint", "write-selected", "plot", "from", "schema"} {
			if f := cmd.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
				return misused(fmt.Errorf("--%s names no file: name one, or leave --%[1]s out", name))
			}
		}
		if err := zeroStated(cmd.Flags()); err != nil {
			return err
		}
		if p.threads < 0 || p.threads > credence.MostThreads {
			return misused(fmt.Errorf("--threads %d is not between 0, which means all processors, and %d", p.threads, credence.MostThreads))
		}
		return nil
	}
	addGrouped()
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{grouped .}}", 1))
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return misused(fmt.Errorf("%w: see %s --help", badFlag(cmd, err), cmd.CommandPath()))
	})
	flags := root.PersistentFlags()
	flags.BoolVar(&p.json, "json", false, "one JSON object on standard output and nothing else")
	flags.BoolVarP(&p.quiet, "quiet", "q", false, "no progress, and of the summary nothing but warnings")
	flags.Uint64Var(&p.seed, "seed", 0, "seed of every random draw: the same seed gives the same bytes")
	flags.IntVar(&p.threads, "threads", 0, "worker threads; 0 means all processors (the result does not depend on it)")
	root.AddCommand( // in the order of the help
		p.lookCommand(), p.fitCommand(), p.predictCommand(), p.evaluateCommand(), p.inspectCommand(), p.effectsCommand(), p.drawsCommand(), p.calibrateCommand(), p.plotCommand(), p.reportCommand(), p.selectCommand(), p.streamCommand(), p.jobCommand(), p.partialCommand(), p.mergeCommand(), p.compareCommand(), p.activeCommand(), p.demoCommand(), p.cacheCommand(), p.licensesCommand(), p.versionCommand(),
	)
	root.AddCommand(topics()...)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, command := range everyCommand(root) {
		switch command.Name() { // cobra's show help for any word
		case "help":
			command.Args = knownCommand
		case "completion":
			command.Args, command.RunE = cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
		// What is wrong with the arguments is known before any file is opened.
		if check := command.Args; check != nil {
			command.Args = func(cmd *cobra.Command, args []string) error {
				if err := check(cmd, args); err != nil {
					return misused(fmt.Errorf("%w: see %s --help", err, cmd.CommandPath()))
				}
				return nil
			}
		}
	}
	return root
}

// everyCommand returns root and what is below it, but for the shells of completion.
func everyCommand(root *cobra.Command) []*cobra.Command {
	commands := append(root.Commands(), root)
	for _, command := range root.Commands() {
		if command.Name() != "completion" {
			commands = append(commands, command.Commands()...)
		}
	}
	return commands
}

// summaries are the commands that print a summary and nothing else, with the flags by which they write files: of
// quiet ones without a file nothing would be left.
var summaries = map[string][]string{
	"fit": {"output", "checkpoint"}, "select": {"output", "write-selected", "checkpoint"}, "stream": {"output", "write-selected"}, "inspect": {"output"}, "effects": {"output"}, "look": {"output"}, "calibrate": {"output"},
	"evaluate": nil, "compare": nil, "simulate": {"plot", "checkpoint"},
}

// until writes until the context ends.
type until struct {
	ctx context.Context
	io.Writer
}

func (u until) Write(text []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Writer.Write(text)
}

// say prints a line of the summary, unless the output is JSON or quiet.
func (p *program) say(format string, args ...any) {
	to := p.out
	if p.table {
		to = p.err
	}
	if !p.json && !p.quiet {
		fmt.Fprintf(to, format+"\n", harmless(args)...)
	}
}

// Where the cells of a column are aligned.
const toLeft, toRight = 0, tabwriter.AlignRight

// columns returns a writer of the lines of a table for people, whose cells end with tabs. A quiet command has
// none.
func (p *program) columns(align uint) *tabwriter.Writer {
	to := p.out
	if p.quiet {
		to = io.Discard
	}
	return tabwriter.NewWriter(to, 0, 0, 2, ' ', align)
}

// warn prints a line to standard error.
func (p *program) warn(format string, args ...any) {
	fmt.Fprintf(p.err, "credence: warning: "+format+"\n", harmless(args)...)
}

// remark prints a line to standard error about what could be better, unless the output is quiet.
func (p *program) remark(format string, args ...any) {
	if !p.quiet {
		fmt.Fprintf(p.err, "credence: note: "+format+"\n", harmless(args)...)
	}
}

// emit prints v as one JSON object. What a terminal could obey is escaped, as JSON has it.
func (p *program) emit(v any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.out, escaped(strings.TrimSpace(text.String())))
	return err
}

// stdout is standard output. It remembers what went wrong, since few who print a
// line look: a full disk must not pass for success.
type stdout struct {
	to  io.Writer
	err error
}

// Write implements [io.Writer].
func (o *stdout) Write(text []byte) (int, error) {
	n, err := o.to.Write(text)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}
