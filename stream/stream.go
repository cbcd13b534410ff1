// Package stream learns files and pipes online, keeping the state of the learner beside the model, so that a run which
// stops goes on with the next row.
//
//	run, err := stream.New(stream.Options{
//		Options: fit.Options{Formula: "click ~ hash(.)"}, Model: "ctr.safetensors", Resume: true, Every: time.Minute,
//	})
//	data, err := run.Open(ctx, []string{"clicks.csv"}, dataset.Options{})
//	columns, err := run.Learner.Columns(data.Schema())
//	err = run.Learn(ctx, data, columns)
//	model, err := run.Finish() // and after an error, for what was learned
//
// Rows that do not come from files are for package learn.
package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/modelfile"
)

// Options say what is learned, where from, and what is kept.
type Options struct {
	fit.Options
	Model string // file to write, with its checkpoint beside it; "" keeps nothing
	// Every is the time between checkpoints, or more, so that a tenth of the time at most goes into them; 0 means one
	// at the end.
	Every  time.Duration
	Live   bool // write the model with every checkpoint
	Resume bool // go on from the checkpoint of Model, if there is one: what Options leaves out is its own
	// start from the posterior of another model, whose checkpoint is beside it, where nothing is resumed; "" means from
	// nothing
	From  string
	Share float64 // what the evidence of From counts, above 0 and at most 1
}

// Learning is a learner of files. The fields of the learner may be set before the first row.
type Learning struct {
	Learner *learn.Learner

	options Options
	at      credence.Position // behind the last row learned, once Learn has ended
	inside  bool              // that is known already, and not from the table
	saved   time.Time         // the last checkpoint
	saving  time.Duration     // what it took
}

// Checkpoint is the path of the state of the learner of a model.
func Checkpoint(model string) string { return model + ".checkpoint" }

// sameCheckpoint says whether models have one checkpoint, which is own where there is one, however they are spelled.
func sameCheckpoint(own fs.FileInfo, model, from string) bool {
	if from == "" {
		return false
	}
	if other, err := os.Stat(Checkpoint(from)); err == nil && own != nil {
		return os.SameFile(own, other)
	}
	a, aErr := filepath.Abs(model)
	b, bErr := filepath.Abs(from)
	return aErr == nil && bErr == nil && a == b
}

// New makes a learner, takes up its checkpoint, or starts from another model.
func New(o Options) (*Learning, error) {
	r := &Learning{options: o}
	own, err := os.Stat(Checkpoint(o.Model))
	switch {
	case o.Resume && o.Model == "":
		return nil, &fit.Misuse{Err: errors.New("a run goes on from the checkpoint beside its model: name the model")}
	case o.Resume && sameCheckpoint(own, o.Model, o.From):
		return nil, &fit.Misuse{Err: fmt.Errorf("%s cannot say whether it is the run to go on with or the one to start from: write to another model", Checkpoint(o.Model))}
	case o.Resume && (o.From == "" || !errors.Is(err, fs.ErrNotExist)):
		if r.Learner, r.at, err = learn.Resume(Checkpoint(o.Model), o.Options); err != nil {
			err = fmt.Errorf("%w; without --resume the run begins anew", err)
		}
	case o.From != "":
		r.Learner, err = learn.From(Checkpoint(o.From), o.Options, o.Share)
		if _, stat := os.Stat(o.From); stat == nil && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s has no checkpoint %s beside it, which holds what it knows: copy it there, or learn with stream -o", o.From, Checkpoint(o.From))
		} else if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: there is no such file: check the path", o.From)
		}
	default:
		r.Learner, err = learn.New(o.Options)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Open opens files for the learner, which reads them as it read those before. One of the threads learns.
func (r *Learning) Open(ctx context.Context, paths []string, read dataset.Options) (*dataset.Table, error) {
	read.Reading, read.Kinds, read.Once = r.Learner.Reading(), r.Learner.Kinds(), r.Learner.Passes() == 1
	read.Keyed, read.SkipMalformed = true, true
	read.Threads = max(1, cmp.Or(read.Threads, runtime.GOMAXPROCS(0))-1)
	table, err := dataset.Open(ctx, paths, read)
	if err != nil {
		return nil, err
	}
	if err := r.checkTime(table); err != nil {
		table.Close()
		return nil, err
	}
	return table, nil
}

// checkTime refuses a column of times that holds none, or cannot tell how long a day is.
func (r *Learning) checkTime(table *dataset.Table) error {
	name := r.options.Time
	if name == "" {
		return nil
	}
	schema := table.Schema()
	k := schema.Index(name)
	if k < 0 {
		return fmt.Errorf("time %s: there is no such column: name the column that says when rows came", name)
	}
	if err := table.Check([]string{name}); err != nil || table.Undecided(name) { // its dates may be read in two ways
		return err
	}
	if schema.Columns[k].Kind == credence.Category {
		remedy := "name a column of numbers, or of dates such as 2024-05-31"
		for _, c := range schema.Columns {
			if schema.Reading.Notations[c.Name].Date != "" {
				remedy = "name a column of dates, as " + c.Name
				break
			}
		}
		return fmt.Errorf("time %s: the column holds texts, which are no times: %s", name, remedy)
	}
	text := r.options.HalfLife
	if _, days, _ := fit.ParseHalfLife(text); days && schema.Reading.Notations[name].Date == "" {
		return fmt.Errorf("half-life %s: column %s holds numbers, whose unit is not known: write the half-life as a number in that unit, without %s", text, name, text[len(text)-1:])
	}
	return nil
}

// Learn learns these columns of a table to its end, in as many passes as the engine was asked for.
func (r *Learning) Learn(ctx context.Context, table *dataset.Table, columns []string) error {
	r.saved = time.Now()
	for {
		r.inside = false
		err := table.Rows(ctx, columns, r.at, r.learn)
		if !r.inside {
			r.at = table.Behind()
		}
		if err != nil {
			return err
		}
		if !r.Learner.EndPass() {
			return nil
		}
		r.at = credence.Position{}
	}
}

// learn learns a run of rows, and saves now and then.
func (r *Learning) learn(rows *dataset.Run) error {
	taken, err := r.Learner.Learn(rows.Rows)
	if r.inside = err != nil && taken > 0; r.inside {
		r.at = rows.After(taken - 1)
	}
	if o := &r.options; err != nil || o.Model == "" || o.Every == 0 || time.Since(r.saved) < max(o.Every, 10*r.saving) {
		return err
	}
	begun := time.Now()
	r.at, r.inside = rows.Finish(), true // should it fail
	if err = r.Learner.Checkpoint(Checkpoint(r.options.Model), r.at); err == nil && r.options.Live {
		_, err = r.save()
	}
	r.inside = err != nil
	r.saved = time.Now()
	r.saving = r.saved.Sub(begun)
	return err
}

// save writes the model as it stands, where it is kept.
func (r *Learning) save() (*credence.Fitted, error) {
	fitted, err := r.Learner.Fitted()
	if err == nil && r.options.Model != "" {
		err = modelfile.Save(r.options.Model, fitted)
	}
	return fitted, err
}

// Finish saves checkpoint and model, and returns the model. Nothing more can be learned.
func (r *Learning) Finish() (*credence.Fitted, error) {
	if r.options.Model != "" && r.Learner.Rows() > 0 {
		if err := r.Learner.Checkpoint(Checkpoint(r.options.Model), r.at); err != nil {
			return nil, err
		}
	}
	r.Learner.Finish() // behind the checkpoint: to go on is to go on without it
	var memory runtime.MemStats
	if runtime.ReadMemStats(&memory); memory.HeapInuse > muchMemory {
		debug.FreeOSMemory() // what learning alone needed, before the model takes its place
	}
	return r.save()
}

// muchMemory, in bytes, is what takes longer to be taken anew than it does to be given back.
const muchMemory = 64 << 20
