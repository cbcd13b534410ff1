package fit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/relation"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/score"
)

// runFit is the [relation.Run] of a Go program: the commands fit, select and stream by packages fit and learn, and
// predictions by apply. Its answer is what the commands fit, select and inspect print, and the columns of predict with
// --latent, --density and --samples.
func runFit(ctx context.Context, j relation.Job) (relation.Answer, error) {
	folder, err := os.MkdirTemp("", "relation")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	fitted, err := fitIn(ctx, folder, j)
	if err != nil {
		return nil, err
	}
	answer := relation.Answer{}
	if err := answer.Value("", score.Summarise(fitted)); err != nil {
		return nil, err
	}
	terms, err := score.Terms(fitted, score.TermOptions{})
	if err != nil {
		return nil, err
	}
	if err := answer.Value("terms.", terms); err != nil {
		return nil, err
	}
	if err := answer.Value("blocks.", score.Blocks(fitted)); err != nil {
		return nil, err
	}
	if fitted.Selection != nil {
		if err := answer.Value("selection.", fitted.Selection); err != nil {
			return nil, err
		}
	}
	answer["target.mean"], answer["target.variance"] = fitted.TargetMean, fitted.TargetVariance
	return answer, predict(ctx, answer, folder, fitted, j)
}

// fitIn fits the rows of the job, with files in a folder.
func fitIn(ctx context.Context, folder string, j relation.Job) (*credence.Fitted, error) {
	if j.Command == "stream" {
		return learned(ctx, folder, j)
	}
	var rows credence.Source
	var err error
	if j.From == "" || j.From == relation.Memory {
		rows, err = j.Rows.Source()
	} else {
		data, failed := open(ctx, folder, "rows", j.Rows, j.From)
		if failed != nil {
			return nil, failed
		}
		defer data.Close()
		rows, err = data.Load(ctx, j.Rows.Names)
	}
	if err != nil {
		return nil, err
	}
	if !j.Interrupted {
		return fitRows(ctx, rows, j)
	}
	j.Options.Checkpoint = filepath.Join(folder, "checkpoint")
	for stops := 0; ; stops++ {
		before, _ := os.ReadFile(j.Options.Checkpoint)
		again, cancel := context.WithCancel(ctx)
		j.Options.Progress = func(credence.Progress) { // the first checkpoint may be that which it goes on from
			if now, err := os.ReadFile(j.Options.Checkpoint); err == nil && !bytes.Equal(before, now) && stops < mostStops {
				cancel()
			}
		}
		fitted, err := fitRows(again, rows, j)
		cancel()
		if !errors.Is(err, context.Canceled) || ctx.Err() != nil {
			if err == nil && stops == 0 {
				err = errors.New("relation: no checkpoint was written")
			}
			if err == nil {
				err = foreign(ctx, rows, j)
			}
			return fitted, err
		}
	}
}

// mostStops is how often a job is stopped, so that one of many steps ends soon.
const mostStops = 40

// foreign says so where a job of another seed goes on from the checkpoint of this one.
func foreign(ctx context.Context, rows credence.Source, j relation.Job) error {
	j.Options.Seed++
	j.Options.Progress = nil
	if _, err := fitRows(ctx, rows, j); err == nil || !strings.Contains(err.Error(), "other options") {
		return fmt.Errorf("relation: a fit of another seed took the checkpoint up: %v", err)
	}
	return nil
}

func fitRows(ctx context.Context, rows credence.Source, j relation.Job) (*credence.Fitted, error) {
	if j.Command == "select" {
		return fit.Select(ctx, rows, j.Options, j.Select)
	}
	return fit.Table(ctx, rows, j.Options)
}

// open opens a table in a file of a folder, or as standard input.
func open(ctx context.Context, folder, name string, t relation.Table, from string) (*dataset.Table, error) {
	if from == relation.Pipe {
		var text bytes.Buffer
		if err := t.CSV(&text); err != nil {
			return nil, err
		}
		return dataset.Open(ctx, []string{"-"}, dataset.Options{Stdin: &text})
	}
	path, err := t.Write(folder, name, from)
	if err != nil {
		return nil, err
	}
	o := dataset.Options{CacheDir: folder}
	if from == relation.File {
		o.MemoryLimit = -1 // rows come from the row cache
	}
	return dataset.Open(ctx, []string{path}, o)
}

// learned learns the rows of the job online, all at once or first a few and the others from the checkpoint behind them.
func learned(ctx context.Context, folder string, j relation.Job) (*credence.Fitted, error) {
	data, err := open(ctx, folder, "rows", j.Rows, j.From)
	if err != nil {
		return nil, err
	}
	defer data.Close()
	checkpoint, stopped := filepath.Join(folder, "checkpoint"), errors.New("stopped")
	for stop := int64(j.Later); ; stop = 0 {
		l, at, err := learn.Resume(checkpoint, j.Options)
		if err != nil {
			return nil, err
		}
		columns, err := l.Columns(data.Schema())
		if err != nil {
			return nil, err
		}
		for more := true; more && err == nil; {
			err = data.Rows(ctx, columns, at, func(run *dataset.Run) error {
				count := run.Rows.Count
				if left := stop - l.Rows(); stop > 0 && left < int64(count) {
					run.Rows.Count = int(left)
				}
				taken, err := l.Learn(run.Rows)
				if err != nil {
					return err
				}
				at = run.After(taken - 1)
				if l.Rows() != stop {
					return nil
				}
				return errors.Join(stopped, l.Checkpoint(checkpoint, at))
			})
			if err == nil {
				if more = l.EndPass(); more {
					at = credence.Position{}
				}
			}
		}
		switch {
		case errors.Is(err, stopped):
		case err != nil:
			return nil, err
		default:
			l.Finish()
			return l.Fitted()
		}
	}
}

// predict adds the predictions of the probe.
func predict(ctx context.Context, answer relation.Answer, folder string, fitted *credence.Fitted, j relation.Job) error {
	if j.Probe.Rows() == 0 {
		return nil
	}
	path, err := j.Probe.Write(folder, "probe", relation.File)
	if err != nil {
		return err
	}
	scorer, err := score.New(fitted, score.Options{Threads: j.Options.Threads})
	if err != nil {
		return err
	}
	file, err := apply.Open(ctx, scorer, []string{path}, apply.Options{Read: dataset.Options{CacheDir: folder}, Targets: score.UseTargets})
	if err != nil {
		return err
	}
	defer file.Close()
	var out bytes.Buffer
	if _, err := file.Write(ctx, &out, "probe.csv", apply.Answers{Latent: true, Density: true, Samples: 2, Seed: j.Options.Seed}); err != nil {
		return err
	}
	return answer.CSV(out.String(), j.Probe)
}
