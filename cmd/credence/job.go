package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/shards"
	"github.com/credence-ml/credence/stream"
)

// asked is what job and merge tell of a job.
type asked struct {
	Job   string `json:"job"`   // its file
	Round int    `json:"round"` // that it asks
	Left  int    `json:"left"`  // about how many rounds follow
	Files string `json:"files"` // that are to be answered for, as partial takes them
}

func (p *program) jobCommand() *cobra.Command {
	var flags fitFlags
	var how jobFlags
	cmd := &cobra.Command{
		Use:   "job DATA... -o JOB",
		Short: "Begin a fit of files that lie apart",
		Long: `Job writes a file that knows a fit, as the flags of fit state it, and its files: their order,
sizes and beginnings, and what kinds their columns are, from the first 10,000 rows of all.
Partial answers what the job asks, for any of the files, wherever they lie; merge takes the
answers, and writes the model or the next question. The model is that of fit, byte for byte:

  credence job data/*.csv --target y -o y.job
  mkdir y.parts
  until credence merge y.job y.parts/* -o y.safetensors; do
    for i in $(seq 0 63); do credence partial y.job $i -o y.parts/$i; done
  done

The loop's body is for any scheduler. Files may have any number of rows. Engine exact, for gaussian
targets, takes two rounds; 'svi(covariance=full)', for every family, one for each of its steps over
all rows, and its model is that of fit but for rounding. --no-rows keeps the rows that the criticism
looks at where they lie.

With --online files are learned as by stream, each apart, in one round: two classes, any number
of features, engine sep (the default) or adpredictor(variance=0.01). The model is the prior times what
every file says, close to that of one pass over all: give few large files, of 30,000 rows or more.

With --sql a database forms the sums of one table, and no row leaves it: partial JOB --print is
the query, which its own shell runs, and partial JOB RESULT.csv takes what the shell prints. Columns are
numbers, but for those that --types has as categories; the formula names them all.`,
		Example: `  credence job data/*.parquet --target price -o price.job
  credence job data/*.csv --formula 'claims ~ age + region + offset(log(years))' --family poisson -o claims.job
  credence job part1.csv part2.csv --formula 'y ~ a + log(b) + g' --missing drop -o y.job
  credence job --online clicks-*.csv.gz --formula 'click ~ hash(.)' -o ctr.job
  credence job --sql postgres --table sales --formula 'log(price) ~ area + rooms:zip' --types zip=category -o s.job`,
		Args: takes(0, most, "data"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.job(cmd.Context(), args, &flags, &how)
		},
	}
	flags.register(cmd, "", "normal, normal(variance=1), normal(ard=true)")
	cmd.Flags().BoolVar(&how.noRows, "no-rows", false, "parts carry sums and no rows: the model comes without a criticism")
	cmd.Flags().BoolVar(&how.online, "online", false, "learn every file row by row, as stream does, and bring them together: sep, adpredictor")
	cmd.Flags().StringVar(&how.sql, "sql", "", "have a database form the sums: bigquery, duckdb, postgres, snowflake or sqlite")
	cmd.Flags().StringVar(&how.table, "table", "", "the table or view of --sql, as a query names it")
	return cmd
}

// jobFlags are the flags of job that fit does not have.
type jobFlags struct {
	noRows, online bool
	sql, table     string
}

func (p *program) job(ctx context.Context, paths []string, flags *fitFlags, how *jobFlags) error {
	switch {
	case how.sql == "" && how.table != "":
		return misused(errors.New("--table is a table of a database: say which by --sql"))
	case how.sql == "" && len(paths) == 0:
		return misused(errors.New("the data are missing: name files, or a table of a database by --sql and --table"))
	case how.sql != "" && (len(paths) > 0 || how.online):
		return misused(errors.New("--sql has the table of a database, and neither files nor --online"))
	}
	o, read, err := flags.asked(p, flags.Options)
	if err != nil {
		return err
	}
	o.Threads = 0 // which are those of whoever answers
	if err := needed(flags.output, flags.inputs(paths...)); err != nil {
		return err
	}
	begin := shards.New
	if how.sql != "" {
		begin = func(_ context.Context, _ []string, o fit.Options, read dataset.Options) (*shards.Job, error) {
			return shards.NewSQL(how.sql, how.table, read.Types, o)
		}
	}
	if how.online {
		if flags.Raw || flags.Checkpoint != "" || flags.Unseen != "" {
			return misused(errors.New("--online centres nothing, has one pass, and knows keys alone: leave --raw, --checkpoint and --unseen out"))
		}
		begin = shards.NewOnline
		if o.Missing == frame.Refuse { // as stream has it
			o.Missing = ""
		}
	}
	job, err := begin(ctx, paths, o, read)
	if err == nil && how.noRows {
		err = job.KeepRows()
	}
	if err == nil {
		err = job.Write(flags.output)
	}
	if err != nil {
		return err
	}
	return p.tellJob(job, flags.output)
}

// needed refuses a command without an output, or with one that it reads.
func needed(output string, inputs []string) error {
	if output == "" {
		return misused(errors.New("-o is needed: name the file to be written"))
	}
	return checkOutputs(inputs, output)
}

// tellJob says what a job asks.
func (p *program) tellJob(job *shards.Job, path string) error {
	a := asked{path, job.Round(), job.Left(), shards.Ranges(order.Places(len(job.Files())))}
	if p.json {
		return p.emit(a)
	}
	if job.Asks() {
		p.say("%s asks round %d of about %d: credence partial %s --print is the query, and credence partial %s RESULT.csv -o PART takes the answer", path, a.Round, a.Round+a.Left, path, path)
		return nil
	}
	p.say("%s asks round %d of about %d: credence partial %s FILES -o PART, for files %s", path, a.Round, a.Round+a.Left, path, a.Files)
	return nil
}

// partFlags are the flags of partial.
type partFlags struct {
	folder, cache, limit, output string
	print                        bool
}

func (p *program) partialCommand() *cobra.Command {
	var flags partFlags
	cmd := &cobra.Command{
		Use:   "partial JOB FILES -o PART",
		Short: "Answer for some files what a job asks",
		Long: `Partial reads some files of a job and writes what the job asks of them: counts, sums, and the few
rows that the criticism looks at. FILES are their numbers in the job, from 0: 3, or 0-7, or
2/64 for each 64th from file 2 on, or several with commas between. A part appears as a whole or not
at all, so that a scheduler may repeat what was killed.

Of a job that asks a database --print prints the query, and RESULT.csv in the place of FILES is what
the database's shell printed, or - for standard input.`,
		Example: `  credence partial y.job 0-7 -o y.parts/a
  credence partial y.job $SLURM_ARRAY_TASK_ID/64 --data /scratch/y -o y.parts/$SLURM_ARRAY_TASK_ID
  credence partial s.job --print | psql --csv -q > s.csv && credence partial s.job s.csv -o s.part`,
		Args: takes(1, 2, "a job and the numbers of files"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.print != (len(args) == 1) {
				return misused(errors.New("partial takes a job and the numbers of files, or the answer of a database, or --print in their place"))
			}
			if flags.print {
				return p.printQuery(args[0])
			}
			return p.partial(cmd.Context(), args[0], args[1], &flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.folder, "data", "", "folder that has the files here, by the same names (default: the job's paths)")
	f.StringVar(&flags.cache, "cache", "", "folder of the row cache (default: the user's cache folder)")
	f.StringVar(&flags.limit, "cache-limit", "", "most that the cache may take, such as 500MB or 40GB (default: 20GB, or half of what is free on the disk)")
	f.StringVarP(&flags.output, "output", "o", "", "file of the part to write (needed)")
	f.BoolVar(&flags.print, "print", false, "print the query of a job that asks a database")
	return cmd
}

// printQuery prints what a job asks a database.
func (p *program) printQuery(path string) error {
	job, err := shards.Read(path)
	if err != nil {
		return err
	}
	query, err := job.Query()
	if err == nil {
		_, err = io.WriteString(p.out, query)
	}
	return err
}

// answered makes the part of what a database answered, in a file of CSV.
func (p *program) answered(job *shards.Job, path string) (*shards.Part, error) {
	if path == "-" {
		return job.Answer(p.in)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	part, err := job.Answer(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return part, nil
}

func (p *program) partial(ctx context.Context, path, which string, flags *partFlags) error {
	limit, err := parseBytes(flags.limit)
	if err != nil {
		return misused(fmt.Errorf("--cache-limit %s: %w", flags.limit, err))
	}
	if err := needed(flags.output, []string{path}); err != nil {
		return err
	}
	job, err := shards.Read(path)
	if err != nil {
		return err
	}
	job.Folder, job.Threads, job.Cache.CacheDir, job.Cache.CacheLimit = flags.folder, p.threads, flags.cache, limit
	var files []int
	inputs := []string{which}
	if !job.Asks() {
		if files, err = shards.ParseFiles(which, len(job.Files())); err != nil {
			return err
		}
		inputs = nil
		for k := range job.Files() {
			inputs = append(inputs, job.Path(k))
		}
	}
	if err := checkOutputs(inputs, flags.output); err != nil {
		return err
	}
	if err := os.Remove(flags.output); err != nil && !errors.Is(err, os.ErrNotExist) { // the answer of an earlier round
		return err
	}
	var part *shards.Part
	if job.Asks() {
		part, err = p.answered(job, which)
	} else {
		part, err = job.Partial(ctx, files...)
	}
	if err == nil {
		err = part.Write(flags.output)
	}
	if err != nil {
		return err
	}
	told := answers{flags.output, job.Round(), shards.Ranges(files)}
	switch {
	case p.json:
		return p.emit(told)
	case job.Asks():
		p.say("%s answers round %d", told.Part, told.Round)
	default:
		p.say("%s answers round %d for files %s", told.Part, told.Round, told.Files)
	}
	return nil
}

// answers is what partial tells of a part.
type answers struct {
	Part  string `json:"part"`            // its file
	Round int    `json:"round"`           // of the job that it answers
	Files string `json:"files,omitempty"` // that it answers for; none of a database
}

// again is how merge ends whose job asks another round, with what it lacks for that, if anything.
type again struct{ error }

func (p *program) mergeCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "merge JOB [PART...] -o MODEL",
		Short: "Take the parts of a job, and write the model or the next question",
		Long: `Merge takes what parts answer for all files of a job, in any order; a file that is answered for twice
in the same bytes counts once. It ends with 0 and writes the model, or with 3 where the
job asks another round, or files have no part yet: it then lists them, as partial takes them.
It alone writes the job, as a whole: after an error or a kill the job is as before.`,
		Example: `  credence merge y.job y.parts/* -o y.safetensors`,
		Args:    takes(1, most, "a job and its parts"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.merge(cmd.Context(), args[0], args[1:], output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "model file to write (needed)")
	return cmd
}

// readJob reads a job and its parts, as far as these are there.
func (p *program) readJob(path string, names []string) (*shards.Job, []*shards.Part, error) {
	job, err := shards.Read(path)
	if err != nil {
		return nil, nil, err
	}
	job.Threads = p.threads
	var parts []*shards.Part
	for _, name := range names {
		if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) { // a pattern that matches nothing yet
			continue
		}
		part, err := shards.ReadPart(name)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, part)
	}
	return job, parts, nil
}

func (p *program) merge(ctx context.Context, path string, names []string, output string) error {
	start := time.Now()
	if err := needed(output, append([]string{path}, names...)); err != nil {
		return err
	}
	if err := atomicfile.Check(path); err != nil {
		return err
	}
	unlock, err := shards.Lock(path)
	if err != nil {
		return err
	}
	defer unlock()
	job, parts, err := p.readJob(path, names)
	if err != nil {
		return err
	}
	fitted, more, err := job.Merge(ctx, parts...)
	if twice := job.Twice(); len(twice) > 0 {
		p.warn("answers for files %s came twice, in the same bytes, and count once", shards.Ranges(twice))
	}
	var lacking *shards.LackingError
	switch {
	case errors.As(err, &lacking):
		if p.json {
			if err := p.emit(asked{path, lacking.Round, job.Left(), shards.Ranges(lacking.Files)}); err != nil {
				return err
			}
		}
		return again{err}
	case err != nil:
		return err
	case more:
		if err := job.Write(path); err != nil {
			return err
		}
		if err := p.tellJob(job, path); err != nil {
			return err
		}
		return again{}
	}
	result, err := saved(fitted, output, start)
	if err == nil && job.Online() {
		err = job.Checkpoint(stream.Checkpoint(output))
	}
	if err != nil {
		return err
	}
	if p.json {
		return p.emit(result)
	}
	p.printFit(&result)
	return nil
}
