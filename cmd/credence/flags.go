package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/dataset/output"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/spec"
)

// dataFlags say how files are read; every command that reads data has them.
type dataFlags struct {
	format    string
	encoding  string
	delimiter string
	types     string
	schema    string
	missing   []string
	decimal   string
	thousands string
	cache     string
	limit     string
}

// register adds the flags to a command.
func (f *dataFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "csv, tsv, libsvm, vw or parquet; detected by extension and content by default")
	flags.StringVar(&f.encoding, "encoding", "", "utf-8 or windows-1252; detected by content by default")
	flags.StringVar(&f.delimiter, "delimiter", "", `what separates fields of text, such as ";" or tab; detected by default`)
	flags.StringVar(&f.types, "types", "", "override inferred types: age=category,zip=text,flag=boolean,code=number")
	flags.StringVar(&f.schema, "schema", "", "file of look -o that says what columns are, which is then not inferred; --types overrides it")
	flags.StringArrayVar(&f.missing, "missing", nil, "a `list` of mean, indicator or drop: what to do about missing values (refused by default), drop-target: leave rows without a target out, and texts that mean missing, as in 'n/a,mean,drop-target'; 'text=a, b' is one text, whatever it is, and repeated flags add up")
	flags.StringVar(&f.decimal, "decimal", "", `the decimal mark, "." or ",", of numbers that may have either; the default is the one that the data show`)
	flags.StringVar(&f.thousands, "thousands", "", `what separates thousands in such numbers: "," is --decimal . and "." is --decimal ,; spaces and ' may stand under either`)
	flags.StringVar(&f.cache, "cache", "", "folder of the row cache (default: the user's cache folder)")
	flags.StringVar(&f.limit, "cache-limit", "", "most that the cache may take, such as 500MB or 40GB (default: 20GB, or half of what is free on the disk)")
}

// inputs are the files that a command reads, with the schema, for what it writes is none of them.
func (f *dataFlags) inputs(paths ...string) []string { return append([]string{f.schema}, paths...) }

// manyFlags is the number of a command's own flags from which on its help tells them in groups.
const manyFlags = 20

// groupedFlags are the flags of a command as its help tells them: those of its own, those that say what to fit, and
// those that say how files are read.
func groupedFlags(cmd *cobra.Command) string {
	var model, data cobra.Command
	new(fitFlags).register(&model, "", "")
	new(dataFlags).register(&data)
	own, fits, reads := pflag.NewFlagSet("", 0), pflag.NewFlagSet("", 0), pflag.NewFlagSet("", 0)
	many := 0
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		many++
		switch {
		case data.Flags().Lookup(f.Name) != nil:
			reads.AddFlag(f)
		case model.Flags().Lookup(f.Name) != nil:
			fits.AddFlag(f)
		default:
			own.AddFlag(f)
		}
	})
	usages := func(title string, set *pflag.FlagSet) string {
		if !set.HasAvailableFlags() {
			return ""
		}
		return title + ":\n" + strings.TrimRight(set.FlagUsages(), "\n")
	}
	if many < manyFlags || !reads.HasAvailableFlags() {
		return usages("Flags", cmd.LocalFlags())
	}
	texts := []string{usages("Flags", own), usages("Flags of the model", fits), usages("Flags of the data", reads)}
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n\n")
}

// missingPolicy is what is done about missing values.
type missingPolicy struct {
	frame.Policy
	refusing   bool // that is asked for, and not what nothing asked for comes to
	dropTarget bool
}

// dropTarget is the word for leaving rows without a target out.
const dropTarget = "drop-target"

// asked returns the options of a fit with what the flags say of its data, and how the data are read.
func (f *dataFlags) asked(p *program, o fit.Options) (fit.Options, dataset.Options, error) {
	read, missing, err := f.options(p)
	o.Missing, o.DropTarget, o.Types, o.Seed, o.Threads, o.ReadFile = missing.Policy, missing.dropTarget, f.types, p.seed, p.threads, readFile
	return o, read, err
}

// options returns what the flags say to package dataset, and the policy for
// missing values.
func (f *dataFlags) options(p *program) (dataset.Options, missingPolicy, error) {
	options, policy, err := f.parse(p)
	if err != nil {
		return options, policy, misused(err)
	}
	return options, policy, nil
}

func (f *dataFlags) parse(p *program) (options dataset.Options, policy missingPolicy, err error) {
	switch f.encoding {
	case "", "utf-8", "windows-1252":
	default:
		return options, policy, fmt.Errorf("--encoding %s is unknown: use utf-8 or windows-1252, or convert the files with iconv", f.encoding)
	}
	options = dataset.Options{Format: f.format, Encoding: f.encoding, CacheDir: f.cache, Threads: p.threads, Stdin: p.in}
	switch f.format {
	case "", "csv", "tsv", "libsvm", "svm", "vw", "parquet":
	case "arrow", "feather":
		return options, policy, fmt.Errorf("--format %s: Arrow files are not read: write Parquet or CSV", f.format)
	default:
		return options, policy, fmt.Errorf("--format %s is unknown: use csv, tsv, libsvm, vw or parquet", f.format)
	}
	if f.format == "svm" {
		options.Format = "libsvm"
	}
	switch {
	case f.delimiter == "tab" || f.delimiter == `\t`:
		options.Delimiter = '\t'
	case len(f.delimiter) == 1 && !strings.ContainsAny(f.delimiter, "\"\r\n"):
		options.Delimiter = f.delimiter[0]
	case f.delimiter != "":
		return options, policy, fmt.Errorf("--delimiter %q is not one character that can stand between fields: use for example --delimiter ';' or --delimiter tab", f.delimiter)
	}
	if options.Decimal, err = f.decimalMark(); err != nil {
		return options, policy, err
	}
	if options.Types, options.Dates, err = dataset.ParseTypes(f.types); err != nil {
		return options, policy, err
	}
	if f.schema != "" {
		if options.Stated, err = readSchema(f.schema); err != nil {
			return options, policy, err
		}
	}
	if options.CacheLimit, err = parseBytes(f.limit); err != nil {
		return options, policy, fmt.Errorf("--cache-limit %s: %w", f.limit, err)
	}
	policy.Policy = frame.Refuse
	for _, value := range f.missing {
		if literal, is := strings.CutPrefix(value, cell.LiteralMissing); is {
			if strings.TrimSpace(literal) == "" {
				return options, policy, fmt.Errorf("--missing %s names no text, and an empty cell is missing as it is: leave it out", value)
			}
			options.MissingTokens = append(options.MissingTokens, literal)
			continue
		}
		texts, err := csv.NewReader(strings.NewReader(value)).Read()
		if err != nil && value != "" {
			return options, policy, fmt.Errorf("--missing %s is no list: write %s for one text", value, cell.Missing(value))
		}
		for _, item := range texts {
			if err := policy.add(p, &options, item); err != nil {
				return options, policy, err
			}
		}
	}
	return options, policy, nil
}

// readSchema reads a file of look -o.
func readSchema(path string) (*credence.Schema, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, unopened(path, err)
	}
	defer file.Close()
	schema, err := dataset.ReadSchema(file)
	if err != nil {
		return nil, fmt.Errorf("--schema %s: %s", path, withoutPackage(err.Error()))
	}
	return schema, nil
}

// add takes up an item of --missing: a policy, or a text that means missing.
func (m *missingPolicy) add(p *program, options *dataset.Options, item string) error {
	switch named := frame.Policy(strings.TrimSpace(item)); named {
	case frame.Refuse, "error":
		if m.refusing = true; m.Policy != frame.Refuse {
			return contradicted("error", m.Policy)
		}
	case dropTarget:
		m.dropTarget = true
	case frame.Mean, frame.Indicator, frame.Drop:
		if m.refusing {
			return contradicted("error", named)
		} else if m.Policy != frame.Refuse && m.Policy != named {
			return contradicted(m.Policy, named)
		}
		m.Policy = named
	default:
		options.MissingTokens = append(options.MissingTokens, item)
		if near := spec.Suggest(string(named), cell.Policies()[2:]); near != "" && len(named) > 2 {
			p.warn("--missing %s is taken for a text that means missing; if the policy is meant, write --missing %s", item, near)
		}
	}
	return nil
}

// contradicted refuses two policies for one value.
func contradicted(a, b frame.Policy) error {
	return fmt.Errorf("--missing %s and --missing %s contradict each other: keep one; with --missing %s,drop-target rows without a target are left out", a, b, frame.Mean)
}

// decimalMark is the one that the flags state, "" if none.
func (f *dataFlags) decimalMark() (string, error) {
	other := map[string]string{"": "", ",": ".", ".": ","}
	mark, known := other[f.thousands]
	known = known || slices.Contains(cell.GroupMarks(), f.thousands) // under either mark
	if _, is := other[f.decimal]; !is {
		return "", fmt.Errorf("--decimal %q is no decimal mark: use --decimal . or --decimal ,", f.decimal)
	}
	if !known {
		return "", fmt.Errorf("--thousands %q separates no digits: use --thousands . or --thousands ,, or a space or ' under either", f.thousands)
	}
	if f.decimal != "" && mark != "" && f.decimal != mark {
		return "", fmt.Errorf("--decimal %s and --thousands %s contradict each other: keep one", f.decimal, f.thousands)
	}
	return cmp.Or(f.decimal, mark), nil
}

// longestFile bounds a file that a formula names.
const longestFile = 64 << 20

// readFile reads a file that a formula names: one that ends.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > longestFile:
		return nil, fmt.Errorf("%s is longer than %d MB", path, longestFile>>20)
	}
	return os.ReadFile(path)
}

// unopened words why a file could not be opened.
func unopened(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such file: check the path", path)
	}
	return err
}

// parseBytes reads a number of bytes such as 500MB; an empty text is 0.
func parseBytes(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	text = strings.ToUpper(text)
	digits := strings.TrimRight(text, "KMGTB")
	shift, known := map[string]int{"": 0, "B": 0, "KB": 10, "MB": 20, "GB": 30, "TB": 40}[text[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 64)
	if !known || err != nil || n <= 0 || n > math.MaxInt64>>shift {
		return 0, errors.New("it is no size: write for example 500MB or 40GB")
	}
	return n << shift, nil
}

// open opens the data and tells how they were understood.
func (p *program) open(ctx context.Context, paths []string, options dataset.Options) (*dataset.Table, error) {
	useLargePages(paths)
	options.Progress = p.reading()
	table, err := dataset.Open(ctx, paths, options)
	if err != nil {
		return nil, err
	}
	p.tellNotes(table)
	return table, nil
}

// reading shows how far the reading of files is.
func (p *program) reading() func(dataset.Progress) {
	bar := p.progress()
	return func(done dataset.Progress) { bar.set(done.Bytes, done.Total, "reading") }
}

// tellNotes tells what is to be said of the data as a whole, each thing once: some is
// known only when all rows are read.
func (p *program) tellNotes(table *dataset.Table) {
	if p.noted == nil {
		p.noted = map[string]bool{}
	}
	for _, note := range table.Notes() {
		if note.Column == "" && !p.noted[note.Text] {
			p.noted[note.Text] = true
			p.say("note    %s", note.Text)
		}
	}
}

// checkTable refuses a file that no table can be written to, or that is one of the inputs; "" is standard output.
func checkTable(inputs []string, path string) error {
	if path == "" {
		return nil
	}
	if err := output.Check(path); err != nil {
		return misused(err)
	}
	return checkOutputs(inputs, path)
}

// writes takes note of a command whose answer is a table of rows, to a file or, with "", to standard output.
func (p *program) writes(command, rows string, inputs []string, path string) error {
	if p.table = path == ""; p.json && p.table {
		return misused(fmt.Errorf("%s --json tells about the run and needs a file for the %s: add -o %[2]s.csv", command, rows))
	}
	return checkTable(inputs, path)
}

// writeTable writes a table to a file, or with "" to standard output.
func (p *program) writeTable(path string, write func(io.Writer) error) error {
	if path == "" {
		return write(p.out)
	}
	return writeFile(path, write)
}

// writeFile writes a file, of which the old one stays until the new is whole; "" is none.
func writeFile(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	return atomicfile.Write(path, write)
}

// checkOutputs refuses an output that is also an input, or another output, since its old content would
// be lost, and one that cannot be written. Inputs may be globs; empty outputs are none.
func checkOutputs(inputs []string, outputs ...string) error {
	var files []string
	for _, input := range inputs {
		if matches, err := filepath.Glob(input); err == nil {
			files = append(files, matches...)
		}
		files = append(files, input)
	}
	for k, output := range outputs {
		if output == "" {
			continue
		}
		if slices.Contains(outputs[:k], output) {
			return misused(fmt.Errorf("%s is to be written twice: give each output a file of its own", output))
		}
		for _, input := range files {
			if input != "-" && isSameFile(output, input) {
				return misused(fmt.Errorf("%s is read, and would be overwritten: give the output another name", input))
			}
		}
		if output == "-" {
			return misused(errors.New("-o -: this cannot be written to standard output: give -o a file name"))
		}
		if err := atomicfile.Check(output); err != nil {
			return err
		}
	}
	return nil
}

// isSameFile says whether two paths lead to one file.
func isSameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false // it is not there yet
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// checkBy refuses a --by that names no column.
func checkBy(cmd *cobra.Command) error {
	if by := cmd.Flags().Lookup("by"); by.Changed && slices.Contains(strings.Split(strings.Trim(by.Value.String(), "[]"), ","), "") {
		return misused(errors.New("--by names no column: write --by COLUMN, or leave it out"))
	}
	return nil
}

// checkInterval refuses what is no probability of an interval with two ends.
func checkInterval(value float64) error {
	switch {
	case !(value > 0 && value < 1):
		return misused(fmt.Errorf("--interval %v is not a probability between 0 and 1", value))
	case value > 1-1e-12:
		return misused(fmt.Errorf("--interval %v is so near to 1 that the interval has no ends: state for example 0.999", value))
	}
	return nil
}
