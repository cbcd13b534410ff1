package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/stream"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/modelfile"
)

// streamRun is a run of the stream command.
type streamRun struct {
	program *program
	flags   *streamFlags
	plan    stream.Plan
	engine  *fit.Online
	paths   []string
	stdin   io.Reader

	categories, numbers map[string]bool // columns of stated types

	started time.Time

	learner     credence.Online
	index       *stream.Index
	names       *stream.Names // nil where none are kept
	progressive *metric.Progressive
	position    stream.Position // behind the last row learned
	slots       int             // features of the rows learned
	pass        int
	rows        int64 // learned in all passes
	positives   float64
	weight      float64 // of the rows of the first pass
	skippedRows int64   // rows of earlier runs, for the speed
	tooLarge    int64   // rows that the learner refused

	mu     sync.Mutex    // of told
	told   int64         // malformed rows reported one by one
	saved  time.Time     // the last checkpoint
	saving time.Duration // what it took: at most a tenth of the time goes into saving
}

// collectAt is the garbage, in percent of what is alive, at which it is collected.
const collectAt = 15

// toldRows is how many malformed rows are reported one by one.
const toldRows = 10

// open opens the data, and takes up a checkpoint.
func (s *streamRun) open(ctx context.Context, paths []string) error {
	s.stdin = s.program.in
	if err := checkDistinct([]string{s.flags.output, s.flags.writeSelected}, paths...); err != nil {
		return err
	}
	for _, path := range []string{s.flags.output, s.flags.writeSelected} {
		if path == "" {
			continue
		}
		if err := checkWritable(path); err != nil {
			return err
		}
	}
	var err error
	if s.paths, err = streamPaths(paths); err != nil {
		return err
	}
	s.progressive, s.index = &metric.Progressive{}, &stream.Index{}
	if s.flags.resume {
		resumed, err := s.restore()
		if err != nil || resumed {
			return err
		}
		s.program.warn("there is no %s: beginning with the first row", s.checkpointPath())
	}
	if s.plan.Format, s.stdin, err = streamFormat(s.flags.format, s.paths[0], s.stdin); err != nil {
		return err
	}
	if err := checkTarget(&s.plan); err != nil {
		return misused(err)
	}
	if err := s.infer(ctx); err != nil {
		return err
	}
	if err := s.plan.Validate(); err != nil {
		return misused(err)
	}
	if s.flags.names && s.plan.Format != stream.FormatLibSVM {
		s.names = &stream.Names{}
	}
	s.learner, err = s.engine.New()
	return err
}

// run learns until the data end.
func (s *streamRun) run(ctx context.Context) error {
	// What a run keeps grows slowly and what it drops is little: collecting often
	// costs nothing and keeps memory near the stated bound.
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	s.saved = time.Now()
	s.program.say("model   %s   engine %s", streamFormula(&s.plan), s.engine.Call)
	for ; s.pass < s.engine.Passes; s.pass++ {
		if err := s.learnPass(ctx); err != nil {
			return err
		}
		if s.pass+1 < s.engine.Passes {
			s.learner.EndPass()
			s.position = stream.Position{}
		}
	}
	if s.rows == 0 {
		return fmt.Errorf("the data hold no rows: there is nothing to learn from")
	}
	if malformed := s.position.Malformed; malformed > toldRows {
		s.program.warn("%d malformed rows were skipped", malformed)
	}
	return s.finish(true)
}

// learnPass learns the rest of one pass.
func (s *streamRun) learnPass(ctx context.Context) error {
	parser, err := s.plan.NewParser(true, s.names != nil)
	if err != nil {
		return err
	}
	reader := stream.Open(ctx, stream.Config{
		Paths: s.paths, Stdin: s.stdin, Parser: parser, Follow: s.flags.follow,
		MaxMalformed: s.flags.maxBad, OnMalformed: s.skipped, Start: s.position,
		Index: s.index, Names: s.names, Pause: s.pruneEvery(),
	})
	defer reader.Close()
	probability := make([]float64, 0, credence.BlockRows)
	for b := reader.Next(); b != nil; b = reader.Next() {
		if ctx.Err() != nil {
			break
		}
		n := b.Rows()
		probability = slices.Grow(probability[:0], n)[:n]
		refused := s.learner.Learn(&b.Batch, probability)
		if err := s.refuse(b.First, refused); err != nil && b.Err == nil {
			b.Err = err
		}
		s.slots = b.Sparse.Cols
		s.measure(&b.Batch, probability)
		s.position = b.End
		failed, paused := b.Err, b.Paused
		reader.Recycle(b)
		if failed != nil {
			return s.stop(failed)
		}
		if paused {
			s.prune()
			reader.Resume()
		}
		if s.flags.output != "" && s.flags.checkpoint > 0 && time.Since(s.saved) >= max(s.flags.checkpoint, 10*s.saving) {
			begun := time.Now()
			if err := s.save(s.flags.follow); err != nil {
				return err
			}
			s.saved = time.Now()
			s.saving = s.saved.Sub(begun)
		}
	}
	if ctx.Err() != nil {
		return s.interrupt(ctx.Err())
	}
	return nil
}

// pruneEvery is the number of rows between prunings; 0 means never.
func (s *streamRun) pruneEvery() int64 {
	if p, ok := s.learner.(credence.Pruner); ok {
		return p.PruneEvery()
	}
	return 0
}

// refuse counts rows that the learner could not learn from as malformed.
func (s *streamRun) refuse(first int, rows []int) error {
	for _, i := range rows {
		err := fmt.Errorf("row %d: its values, weight or offset are too large to learn from: correct the row, or skip it by --max-bad", first+i+1)
		if s.tooLarge++; s.position.Malformed+s.tooLarge > s.flags.maxBad {
			return err
		}
		s.skipped(err)
	}
	return nil
}

// prune drops what the learner gives up; the reader stands still.
func (s *streamRun) prune() {
	kept := s.learner.(credence.Pruner).Prune()
	if kept == nil {
		return
	}
	s.index.Keep(kept)
	if s.names != nil {
		s.names.Keep(kept)
	}
	s.slots = len(kept)
}

// measure takes the scores of a batch and prints progress.
func (s *streamRun) measure(b *credence.Batch, probability []float64) {
	for i, p := range probability {
		weight := 1.0
		if b.Weight != nil {
			weight = b.Weight[i]
		}
		if s.pass == 0 {
			s.progressive.Add(b.Target[i], p, weight)
			s.positives += weight * b.Target[i]
			s.weight += weight
		}
		s.rows++
		if s.flags.report > 0 && s.rows%s.flags.report == 0 {
			s.report()
		}
	}
}

// streamProgress is a progress line.
type streamProgress struct {
	Rows          int64        `json:"rows"`
	LogLoss       metric.Score `json:"log_loss,omitzero"`
	AUC           metric.Score `json:"auc,omitzero"`
	Features      int          `json:"features"`
	Selected      int          `json:"selected"`
	RowsPerSecond float64      `json:"rows_per_second"`
}

func (s *streamRun) report() {
	measured, err := s.progressive.Result()
	if err != nil {
		return // the end reports it
	}
	line := streamProgress{s.rows, measured.LogLoss, measured.AUC, s.slots, s.learner.Selected(s.slots), s.speed()}
	if s.program.json {
		s.program.emit(line)
		return
	}
	s.program.say("%10d rows   log loss %.5f%s   %d features, %d selected   %.0f rows/s",
		line.Rows, float64(line.LogLoss), areaText(line.AUC), line.Features, line.Selected, line.RowsPerSecond)
}

// areaText is the area under the curve in words, which one class alone does not have.
func areaText(area metric.Score) string {
	if math.IsNaN(float64(area)) {
		return ""
	}
	return fmt.Sprintf("   AUC %.4f", float64(area))
}

// speed is in rows a second since this run began.
func (s *streamRun) speed() float64 {
	return float64(s.rows-s.skippedRows) / time.Since(s.started).Seconds()
}

// skipped is told of a malformed row, on the reader's goroutine.
func (s *streamRun) skipped(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told++; s.told <= toldRows {
		s.program.warn("skipped: %v", err)
	}
}

// stop ends a run whose data cannot be read further: what has been learned is saved.
func (s *streamRun) stop(cause error) error {
	if s.flags.output == "" {
		return cause
	}
	if err := s.finish(false); err != nil {
		return errors.Join(cause, err)
	}
	return fmt.Errorf("%w (the %d rows before are learned and saved; --resume goes on behind it)", cause, s.rows)
}

// interrupt ends a run that a signal has ended.
func (s *streamRun) interrupt(cause error) error {
	if s.flags.output == "" {
		return interrupted{cause, fmt.Sprintf("%d rows were learned, and without -o nothing is saved", s.rows)}
	}
	if err := s.finish(false); err != nil {
		return err
	}
	return interrupted{cause, fmt.Sprintf("%d rows are learned and saved in %s; --resume goes on behind them", s.rows, s.checkpointPath())}
}

// finish saves the state and the model, and prints the fit where the data have
// been read to their end.
func (s *streamRun) finish(complete bool) error {
	if s.flags.output != "" {
		if err := s.save(false); err != nil {
			return err
		}
	}
	s.learner.Finish() // behind the checkpoint: to go on is to go on without it
	fitted := s.fitted()
	if s.flags.output != "" {
		if err := modelfile.Save(s.flags.output, fitted); err != nil {
			return err
		}
	}
	if s.flags.writeSelected != "" {
		if err := s.writeSelected(fitted); err != nil {
			return err
		}
	}
	if !complete {
		return nil
	}
	measured, err := s.progressive.Result()
	if err != nil {
		return err
	}
	return s.printResult(fitted, measured)
}

// writeSelected writes the names of the selected features, one a line.
func (s *streamRun) writeSelected(fitted *credence.Fitted) error {
	return atomicfile.Write(s.flags.writeSelected, func(w io.Writer) error {
		var text []byte
		for slot := range s.slots {
			if s.learner.Weight(slot).Inclusion > 0.5 {
				text = append(append(text, s.featureName(fitted, slot)...), '\n')
			}
		}
		_, err := w.Write(text)
		return err
	})
}

// exists says whether there is a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
