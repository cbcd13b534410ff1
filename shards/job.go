// Package shards fits a model to files that lie apart: on several machines, in a bucket, behind a scheduler. A [Job]
// knows the options and the files; a [Part] answers for some of the files what the job asks; merging parts gives the
// next question, or the model, which is that of the fit on one machine, byte for byte, or of engine svi but for
// rounding.
//
//	job, err := shards.New(ctx, paths, fit.Options{Target: "y"}, dataset.Options{})
//	for more := true; more; {
//		part, err := job.Partial(ctx, 0, 1, 2, 3)          // anywhere, of any files
//		fitted, more, err = job.Merge(ctx, part, others...) // in one place
//	}
//
// Jobs and parts are values that files hold: nothing runs between rounds. A job of engine exact has a round that counts
// (one more for each nesting of center and scale) and one that adds up. Of engine svi a pass over the rows is a round:
// merge fits with the answers so far, and ends where one is lacking. Of every file a part has the sums of d×d products,
// levels, and up to 10,000 rows, of engine svi 65,536, evenly spread over all files, which the criticism looks at and
// steps begin on: rows leave their place by these alone, and [Job.KeepRows] keeps them there. [NewOnline] learns two
// classes row by row, and [NewSQL] asks a database.
package shards

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/internal/checkpoint"
	"github.com/credence-ml/credence/learn"
)

// Job is a fit of files that lie apart, as far as it has come.
type Job struct {
	// Folder is where files are looked for, by their names alone; "" takes the paths that [New] was given. Cache says
	// where rows are cached, and Threads how many parse and add up, 0 for all processors. They belong to this process,
	// and [Job.Write] does not keep them.
	Folder  string
	Cache   dataset.Options
	Threads int

	state   state
	vectors map[string][]float64 // of rows, and of engine svi
	fit     *fit.Job             // nil where files are learned online
	learned *learn.Learner       // of all files, once they are merged
	id      string
	twice   []int
}

// state is what a file of a job has, beside vectors.
type state struct {
	Version string          `json:"version"`
	Options fit.Options     `json:"options"`
	Online  bool            `json:"online,omitempty"`
	Classes []string        `json:"classes,omitempty"` // of the target of a job that is learned online
	Reading reading         `json:"reading"`
	Columns []string        `json:"columns"`           // that are read
	Outside []string        `json:"outside,omitempty"` // of the formula, that the criticism looks at
	Files   []File          `json:"files"`
	NoRows  bool            `json:"no_rows,omitempty"`
	SQL     *database       `json:"sql,omitempty"` // that forms the sums, of one table in the place of files
	Round   int             `json:"round"`         // questions that are answered
	Census  json.RawMessage `json:"census,omitempty"`
	Frame   *frame.Frame    `json:"frame,omitempty"`
	Counts  []counts        `json:"counts,omitempty"` // of every file
	// First is the schema of the first rows, whose targets tell the units of sums once the frame is known.
	First *credence.Schema `json:"first,omitempty"`
	Units *exact.Units     `json:"units,omitempty"` // of engine exact alone
	// Inquiries are what the round asks of files, and Told is what those of the first told; of engine svi alone.
	Inquiries []inquiry   `json:"inquiries,omitempty"`
	Told      *beginnings `json:"told,omitempty"`
	Asked     int         `json:"asked,omitempty"` // rounds of inquiries that are answered
}

// reading says how files are read, which no part finds out anew.
type reading struct {
	Format    string              `json:"format,omitempty"`
	Encoding  string              `json:"encoding,omitempty"`
	Delimiter byte                `json:"delimiter,omitempty"`
	Decimal   string              `json:"decimal,omitempty"`
	Missing   []string            `json:"missing,omitempty"`
	MaxLevels int                 `json:"max_levels,omitempty"`
	Schema    *credence.Schema    `json:"schema"`          // of all columns, without levels
	Words     map[string][]string `json:"words,omitempty"` // of boolean columns
}

// counts are the rows of a file.
type counts struct {
	Kept   int `json:"kept"`
	Source int `json:"source"` // those that are left out among them
}

// New reads the beginnings of the files at paths, as [dataset.Open] does, for what kinds their columns are, and returns
// a job whose first question is not answered. It refuses models whose rows have to be in one place.
func New(ctx context.Context, paths []string, options fit.Options, read dataset.Options) (*Job, error) {
	options.Threads, options.Memory, options.Progress, options.Registry = 0, 0, nil, nil
	switch name, _, _ := strings.Cut(options.Engine, "("); name {
	case "sep", "adpredictor":
		return nil, &fit.Misuse{Option: "engine", Err: fmt.Errorf("%s learns files apart row by row: add --online, or use --engine exact", name)}
	case "ftrl", "sgd":
		return nil, &fit.Misuse{Option: "engine", Err: fmt.Errorf("%s has no posterior, and learners of files apart cannot be brought together: use --engine exact, or --online --engine sep, or the command stream on one machine", name)}
	}
	fitJob, err := fit.New(options)
	if err != nil {
		return nil, err
	}
	j := &Job{fit: fitJob, state: state{Options: options}}
	if err := j.look(ctx, paths, read, func(table *dataset.Table) ([]string, error) { return fitJob.Columns(table.Schema()) }); err != nil {
		return nil, err
	}
	if err := fitJob.CheckApart(j.schema()); err != nil {
		return nil, err
	}
	if j.state.Outside, err = fitJob.Outside(j.state.Reading.Schema); err != nil {
		return nil, err
	}
	return j, j.name()
}

// look finds out what the files at paths are, of which a function says what columns are read.
func (j *Job) look(ctx context.Context, paths []string, read dataset.Options, columns func(*dataset.Table) ([]string, error)) error {
	if slices.Contains(paths, "-") {
		return &fit.Misuse{Err: errors.New("standard input lies nowhere else: give the files of the table")}
	}
	table, err := dataset.Open(ctx, paths, read)
	if err != nil {
		return err
	}
	defer table.Close()
	schema := *table.Schema()
	schema.Columns = slices.Clone(schema.Columns)
	s := &j.state
	s.Version, s.Reading = version(), reading{
		Format: read.Format, Encoding: read.Encoding, Delimiter: read.Delimiter, Decimal: read.Decimal, Missing: read.MissingTokens, MaxLevels: read.MaxLevels,
		Schema: &schema, Words: map[string][]string{},
	}
	for i := range schema.Columns {
		c := &schema.Columns[i]
		c.Levels = nil
		if words := table.Words(c.Name); c.Kind == credence.Boolean && words != nil {
			s.Reading.Words[c.Name] = words
		}
	}
	if s.Columns, err = columns(table); err != nil {
		return err
	}
	for _, name := range s.Columns {
		if of, _ := credence.CutText(name); table.Undecided(of) && of == name {
			return fmt.Errorf("column %q has no value in the first 10,000 rows, and each file would find a kind of its own: state it, as --types '%s=number'", name, name)
		}
	}
	for _, name := range table.Files() {
		f, err := fileOf(name)
		if err != nil {
			return err
		}
		s.Files = append(s.Files, f)
	}
	return nil
}

// KeepRows keeps all rows where they lie: parts have sums alone, and the model no criticism. It is for a job whose
// first question is not answered.
func (j *Job) KeepRows() error {
	if j.state.Round > 0 {
		return errors.New("shards: the job has begun: make it anew to keep rows where they lie")
	}
	j.state.NoRows = true
	return j.name()
}

// name gives the job the digest by which parts know it.
func (j *Job) name() (err error) {
	s := &j.state
	files := slices.Clone(s.Files)
	for i := range files {
		files[i].Path = ""
	}
	j.id, err = checkpoint.Fingerprint(s.Version, s.Options, s.Online, s.Classes, s.Reading, s.Columns, s.Outside, files, s.NoRows, s.SQL)
	return err
}

// version tells programs apart whose sums may differ: by the release of this module, or by the revision of a program
// of its own repository.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	const module = "github.com/credence-ml/credence"
	for _, m := range info.Deps {
		if m.Path == module && m.Replace == nil {
			return m.Version
		}
	}
	if strings.HasPrefix(info.Main.Path, module) {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				return setting.Value
			}
		}
		return info.Main.Version
	}
	return "(devel)"
}

// schema is that of the columns that are read.
func (j *Job) schema() *credence.Schema {
	all := j.state.Reading.Schema
	s := &credence.Schema{Reading: all.Reading, Label: all.Label, Sparse: all.Sparse}
	for _, name := range j.state.Columns {
		c := credence.Column{Name: name, Kind: credence.Category}
		if i := all.Index(name); i >= 0 {
			c.Kind = all.Columns[i].Kind
		}
		s.Columns = append(s.Columns, c)
	}
	for _, c := range all.Columns {
		if s.Index(c.Name) < 0 {
			s.Unread = append(s.Unread, c.Name)
		}
	}
	return s
}

// Round returns the number of the question that the job asks, from 1.
func (j *Job) Round() int { return j.state.Round + 1 }

// Left returns about how many rounds follow the one that the job asks: of engine svi, which goes on until it has
// converged, as many as it usually takes, and one at least.
func (j *Job) Left() (rounds int) {
	switch {
	case j.state.Inquiries != nil:
		return max(1, j.fit.Rounds()-1-j.state.Asked)
	case j.state.Frame != nil || j.state.Online:
		return 0
	}
	c, err := j.fit.NewCensus(j.schema(), j.schema(), 0)
	if err != nil {
		return 1
	}
	return c.Left() - j.state.Round + j.fit.Rounds()
}

// question is a digest of what the job asks.
func (j *Job) question() (string, error) {
	parts := []any{j.id, j.state.Round, j.state.Census, j.state.Frame, j.state.Inquiries}
	for _, name := range slices.Sorted(maps.Keys(j.vectors)) {
		if strings.HasPrefix(name, "ask.") {
			parts = append(parts, name, j.vectors[name])
		}
	}
	return checkpoint.Fingerprint(parts...)
}

var jobKind = checkpoint.Kind{Name: "job", Format: 1, Anew: "make the job anew by credence job"}

// Write replaces the file at path by the job.
func (j *Job) Write(path string) error { return jobKind.WriteAll(path, &j.state, j.vectors) }

// Read reads a job that Write wrote. Another version of this program than the one that made the job is refused.
func Read(path string) (j *Job, err error) {
	j = new(Job)
	if j.vectors, err = jobKind.ReadAll(path, &j.state); err != nil {
		return nil, said("job", err)
	}
	if s := &j.state; s.Version != version() || s.Reading.Schema == nil || len(s.Files) == 0 {
		return nil, fmt.Errorf("%s: version %s of credence made the job, and this is %s, whose sums may differ: use one for all rounds, or make the job anew", path, s.Version, version())
	}
	if err := j.check(); err != nil {
		return nil, fmt.Errorf("%s: its document is damaged: %w: %s", path, err, jobKind.Anew)
	}
	if !j.state.Online {
		if j.fit, err = fit.New(j.state.Options); err != nil {
			return nil, fmt.Errorf("%s: its options are damaged: %w: %s", path, err, jobKind.Anew)
		}
	}
	return j, j.name()
}

// check refuses a state whose parts do not fit together.
func (j *Job) check() error {
	s := &j.state
	switch files := len(s.Files); {
	case s.Frame != nil && len(s.Counts) != files:
		return fmt.Errorf("it counts %d files of %d", len(s.Counts), files)
	case s.Frame != nil && s.Frame.Target == nil:
		return errors.New("its frame has no target")
	case s.Frame != nil && s.Inquiries == nil && s.Units == nil:
		return errors.New("its sums have no units")
	case s.Classes != nil && len(s.Classes) != 2:
		return fmt.Errorf("its target has %d classes", len(s.Classes))
	case s.Round < 0:
		return errors.New("its round is below 0")
	}
	if s.First != nil && (len(s.First.Columns) == 0 || len(j.vectors["first"]) == 0 || len(j.vectors["first"])%len(s.First.Columns) != 0) {
		return errors.New("its first rows are no rows")
	}
	unnamed := func(c credence.Column) bool { return c.Name == "" }
	if slices.ContainsFunc(s.Reading.Schema.Columns, unnamed) || slices.Contains(s.Columns, "") {
		return errors.New("a column has no name")
	}
	for _, c := range s.Counts {
		if c.Kept < 0 || c.Source < c.Kept {
			return errors.New("a file has fewer rows than are learned")
		}
	}
	return nil
}

// said takes the word off the beginning of an error that stands for files of long computations, and names the command
// that makes the file where there is none.
func said(maker string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: make the file by credence %s, or name another", err, maker)
	}
	if text, found := strings.CutPrefix(err.Error(), "checkpoint "); found {
		return errors.New(text)
	}
	return err
}
