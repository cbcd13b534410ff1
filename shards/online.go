package shards

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/safetensors"
)

// NewOnline is New for engines that learn row by row, as package learn does: each file is learned apart, in one pass
// from one prior, and the model is the prior times all that the files say. It has one round. Files need 30,000 rows
// each, or 50 of the rarer class.
func NewOnline(ctx context.Context, paths []string, options fit.Options, read dataset.Options) (*Job, error) {
	options.Threads, options.Memory, options.Progress, options.Registry = 0, 0, nil, nil
	learner, err := learn.New(options)
	if err == nil {
		err = learner.CheckApart()
	}
	if err != nil {
		return nil, err
	}
	j := &Job{state: state{Options: options, Online: true}}
	read.Keyed = true
	err = j.look(ctx, paths, read, func(table *dataset.Table) ([]string, error) {
		schema := table.Schema()
		columns, err := learner.Columns(schema)
		target := learner.Target()
		if classes := table.Classes(target); classes != nil {
			j.state.Classes = classes
		} else if k := schema.Index(target); err == nil && k >= 0 && options.Positive == "" && len(schema.Columns[k].Levels) > 2 {
			err = frame.TooManyClasses(target, schema.Columns[k].Levels)
		}
		return columns, err
	})
	if err != nil {
		return nil, err
	}
	return j, j.name()
}

// Online says that the files of the job are learned row by row.
func (j *Job) Online() bool { return j.state.Online }

// learn learns file k.
func (j *Job) learn(ctx context.Context, k int, states map[int][]byte) (*answer, error) {
	a, options := &answer{File: k}, j.state.Options
	options.Threads = j.Threads
	l, err := learn.New(options)
	if err != nil {
		return nil, err
	}
	table, err := j.open(ctx, k, nil)
	if err == nil {
		defer table.Close()
		var columns []string
		columns, err = l.Columns(table.Schema())
		if classes := j.state.Classes; classes != nil {
			l.SetClasses(classes[0], classes[1])
		}
		if err == nil {
			err = table.Rows(ctx, columns, credence.Position{}, func(run *dataset.Run) error {
				_, err := l.Learn(run.Rows)
				return err
			})
		}
	}
	if errors.Is(err, dataset.ErrNoRows) || err == nil && l.Rows() == 0 {
		return a, nil
	}
	if err == nil && len(j.state.Files) > 1 {
		if err = l.Enough(); err != nil {
			err = fmt.Errorf("%s: %w", j.state.Files[k].Path, err)
		}
	}
	if err == nil {
		err = l.Leave(k == 0 && !j.state.NoRows)
	}
	if err != nil {
		return nil, err
	}
	if states[k], err = l.Encode(); err != nil {
		return nil, err
	}
	digest := sha256.Sum256(states[k])
	a.Learned = hex.EncodeToString(digest[:])
	return a, nil
}

// learner returns the learner of the file.
func (g *given) learner(options fit.Options) (*learn.Learner, error) {
	state, err := g.part.states[g.File], error(nil)
	if state == nil { // it waits in the part's file
		var r *safetensors.Reader
		if r, err = partKind.Read(g.part.name, new(partState)); err == nil {
			state, err = safetensors.Read[uint8](r, prefix(g.File)+"learner")
			r.Close()
		}
	}
	if digest := sha256.Sum256(state); err == nil && hex.EncodeToString(digest[:]) != g.Learned {
		err = errors.New("it has changed while it was merged: merge again")
	}
	if err != nil {
		return nil, err
	}
	return learn.Decode(state, options)
}

// unite brings the learners of all files together.
func (j *Job) unite(answers []given) (*credence.Fitted, error) {
	var all *learn.Learner
	for i := range answers {
		a := &answers[i]
		if a.Learned == "" { // no rows
			continue
		}
		l, err := a.learner(j.state.Options)
		if err == nil && all != nil {
			err = all.Unite(l)
		} else if all == nil {
			all = l
		}
		if err != nil {
			return nil, a.damaged(err)
		}
	}
	if all == nil {
		return nil, errors.New("no file has a row, so that there is nothing to learn from: check the files")
	}
	if err := all.United(); err != nil {
		return nil, err
	}
	all.Finish()
	j.learned = all
	return all.Fitted()
}

// Checkpoint replaces the file at path by the state from which learning goes on, beside the model that Merge returned:
// the command stream starts from both. A job that is not learned online has none.
func (j *Job) Checkpoint(path string) error {
	if j.learned == nil {
		return errors.New("shards: only a job that is learned online, and is merged, has a state from which learning goes on")
	}
	return j.learned.Checkpoint(path, credence.Position{})
}
