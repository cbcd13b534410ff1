package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/frame"
)

// dataFlags say how files are read; every command that reads data has them.
type dataFlags struct {
	format    string
	delimiter string
	types     string
	missing   []string
	cache     string
	limit     string
}

// register adds the flags to a command.
func (f *dataFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "csv, tsv, libsvm, vw or parquet; detected by extension and content by default")
	flags.StringVar(&f.delimiter, "delimiter", "", `what separates fields of text, such as ";" or tab; detected by default`)
	flags.StringVar(&f.types, "types", "", "override inferred types: age=category,zip=text,flag=boolean,code=number")
	flags.StringSliceVar(&f.missing, "missing", nil, "mean, indicator or drop: what to do about missing values (refused by default); anything else is a text that means missing, such as n/a")
	flags.StringVar(&f.cache, "cache", "", "folder of the row cache (default: the user's cache folder)")
	flags.StringVar(&f.limit, "cache-limit", "", "most that the cache may take, such as 500MB or 40GB (default: 20GB, or half of what is free on the disk)")
}

// options returns what the flags say to package dataset, and the policy for
// missing values.
func (f *dataFlags) options(p *program) (dataset.Options, frame.Policy, error) {
	options := dataset.Options{Format: f.format, CacheDir: f.cache, Threads: p.threads, Stdin: p.in}
	switch f.format {
	case "", "csv", "tsv", "libsvm", "svm", "vw", "parquet":
	case "arrow", "feather":
		return options, "", misused(fmt.Errorf("--format %s: Arrow files are not read: write Parquet or CSV", f.format))
	default:
		return options, "", misused(fmt.Errorf("--format %s is unknown: use csv, tsv, libsvm, vw or parquet", f.format))
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
		return options, "", misused(fmt.Errorf("--delimiter %q is not one character that can stand between fields: use for example --delimiter ';' or --delimiter tab", f.delimiter))
	}
	var err error
	if options.Types, err = dataset.ParseTypes(f.types); err != nil {
		return options, "", misused(err)
	}
	if options.CacheLimit, err = parseBytes(f.limit); err != nil {
		return options, "", misused(fmt.Errorf("--cache-limit %s: %w", f.limit, err))
	}
	policy := frame.Refuse
	for _, item := range f.missing {
		switch named := frame.Policy(strings.TrimSpace(item)); named {
		case frame.Refuse, frame.Mean, frame.Indicator, frame.Drop:
			if policy != frame.Refuse && policy != named {
				return options, "", misused(fmt.Errorf("--missing %s and --missing %s contradict each other: keep one", policy, named))
			}
			policy = named
		default:
			options.MissingTokens = append(options.MissingTokens, item)
		}
	}
	return options, policy, nil
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
	bar := p.progress()
	options.Progress = func(done dataset.Progress) { bar.set(done.Bytes, done.Total, "reading") }
	table, err := dataset.Open(ctx, paths, options)
	if err != nil {
		return nil, err
	}
	p.tellNotes(table)
	return table, nil
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
