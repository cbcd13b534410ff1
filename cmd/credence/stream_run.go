package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/spec"
	"github.com/credence-ml/credence/stream"
)

// streamRun is a run of the stream command.
type streamRun struct {
	program *program
	flags   *streamFlags
	learned *stream.Learning
	learner *learn.Learner
	started time.Time
	before  int64 // rows of earlier runs, for the speed
	told    int   // malformed rows reported one by one
}

const (
	// collectAt is the garbage, in percent of what is alive, at which it is collected.
	collectAt = 15
	// toldRows is how many malformed rows are reported one by one.
	toldRows = 10
)

// prepare makes the learner, or takes up its checkpoint.
func (s *streamRun) prepare(options fit.Options) (err error) {
	path := stream.Checkpoint(s.flags.output)
	_, stat := os.Stat(path)
	resumed := s.flags.resume && !errors.Is(stat, fs.ErrNotExist)
	if !s.flags.resume {
		s.warnReplaced(path)
	} else if !resumed && s.flags.from == "" {
		s.program.warn("nothing is resumed, for there is no %s: beginning with the first row", path)
	}
	s.learned, err = stream.New(stream.Options{
		Options: options, Model: s.flags.output, Every: s.flags.every, Live: s.flags.follow,
		Resume: s.flags.resume, From: s.flags.from, Share: s.flags.keepShare,
	})
	if err != nil {
		return err
	}
	l := s.learned.Learner
	s.learner = l
	switch s.before = l.Rows(); {
	case s.flags.from != "" && !resumed:
		s.program.say("start   from the posterior of %s, which learned %s", s.flags.from, counted(s.before, "row"))
	case s.before > 0:
		s.program.say("resumed %s after row %d; it continues with the next", path, s.before)
	}
	l.MaxMalformed, l.Nameless, l.Every = s.flags.maxBad, !s.flags.names, s.flags.report
	l.OnMalformed, l.OnProgress = s.skipped, s.report
	return nil
}

// warnReplaced tells that a model which is there will be replaced by one that does not know what it knows.
func (s *streamRun) warnReplaced(path string) {
	if s.flags.output == "" || s.flags.from == s.flags.output {
		return
	}
	if rows, err := learn.Known(path); err == nil && rows > 0 {
		s.program.warn("%s, which learned %s, is replaced by a model that does not know them: --resume goes on with its files, --from %s starts from it", s.flags.output, counted(rows, "row"), s.flags.output)
	}
}

// run learns until the data end.
func (s *streamRun) run(ctx context.Context, table *dataset.Table) error {
	// What a run keeps grows slowly and what it drops is little: collecting often
	// costs nothing and keeps memory near the stated bound.
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	columns, err := s.learner.Columns(table.Schema())
	if err != nil {
		return err
	}
	if err := s.describe(table, columns); err != nil {
		return err
	}
	s.learner.OnPass = func(now learn.Pass) {
		s.noteColumns(table, columns) // what the pass has met
		if s.learner.Passes() > 1 || s.flags.HoldOut > 0 {
			s.passed(now)
		}
	}
	if err := s.learned.Learn(ctx, table, columns); err != nil {
		return s.stop(ctx, err)
	}
	return s.finish(true)
}

// describe tells how the data and the model were understood.
func (s *streamRun) describe(table *dataset.Table, columns []string) error {
	p := s.program
	schema := table.Schema() // which is made anew each time
	places := schema.Places()
	if k, known := places[s.learner.Target()]; known && s.flags.Positive == "" && s.flags.maxBad == 0 && s.before == 0 {
		if levels := schema.Columns[k].Levels; len(levels) > 2 {
			return frame.TooManyClasses(s.learner.Target(), levels)
		}
	}
	if classes := table.Classes(s.learner.Target()); classes != nil && s.learner.SetClasses(classes[0], classes[1]) {
		p.say("target  %s: the positive class is %s, the other %s; choose by --positive", s.learner.Target(), classes[1], classes[0])
	}
	var numbers []string
	for _, name := range columns {
		if k, known := places[name]; known && name != s.learner.Target() && s.learner.Takes(name) && !table.Undecided(name) && schema.Columns[k].Kind != credence.Category {
			numbers = append(numbers, name)
		}
	}
	if len(numbers) > 0 && !schema.Label {
		p.say("numbers %s (other columns are categories; override with --types, or take all as text by hash(.))", listed(numbers))
	}
	s.warnCodes(table, numbers)
	s.noteColumns(table, columns)
	p.say("model   %s   engine %s", s.learner.Formula(), s.learner.Engine())
	return nil
}

// warnCodes names the columns that "." takes for amounts and that look like names: each has one slope.
func (s *streamRun) warnCodes(table *dataset.Table, numbers []string) {
	if !slices.Contains(strings.Fields(s.learner.Formula()), ".") || s.flags.resume {
		return
	}
	var looks []string
	example := ""
	for _, kind := range []string{"codes", "years", "identifiers"} {
		var names []string
		for _, name := range numbers {
			if table.Codes(name) == kind {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			example = cmp.Or(example, names[0])
			looks = append(looks, fmt.Sprintf("%s %s like %s", listed(names), cell.Plural(len(names), "looks", "look"), kind))
		}
	}
	if len(looks) > 0 {
		target := spec.Column{Name: s.learner.Target()}
		s.program.warn("%s, and each is learned as an amount, with one slope: --formula '%s ~ hash(.)' gives every value of every column a weight of its own, and '%s ~ . + onehot(%s)' those of one column",
			strings.Join(looks, ", "), target, target, spec.Column{Name: example})
	}
}

// noteColumns tells what is odd about how columns were read: a column that only says when rows came is read as it is
// meant, as a time.
func (s *streamRun) noteColumns(table *dataset.Table, columns []string) {
	s.program.noteColumns(table, slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return !s.learner.Takes(name) }), nil)
}

// skipped is told of a malformed row.
func (s *streamRun) skipped(err error) {
	if s.told++; s.told <= toldRows {
		s.program.warn("skipped: %v", err)
	}
}

// streamProgress is a progress line.
type streamProgress struct {
	Rows          int64        `json:"rows"`              // scored so far
	LogLoss       metric.Score `json:"log_loss,omitzero"` // of their classes
	AUC           metric.Score `json:"auc,omitzero"`      // area under the ROC curve
	Features      int          `json:"features"`          // met so far
	Selected      int          `json:"selected"`          // of these
	RowsPerSecond float64      `json:"rows_per_second"`   // since this run began
}

func (s *streamRun) report(now learn.Progress) {
	line := streamProgress{now.Rows, now.LogLoss, now.AUC, now.Features, now.Selected, s.speed(now.Rows)}
	if s.program.json {
		s.program.emit(line)
		return
	}
	s.program.say("%10d rows   log loss %.5f%s   %s, %d selected   %.0f rows/s",
		line.Rows, float64(line.LogLoss), areaText(line.AUC), counted(line.Features, "feature"), line.Selected, line.RowsPerSecond)
}

// passed tells how a pass went.
func (s *streamRun) passed(now learn.Pass) {
	if s.program.json {
		s.program.emit(now)
		return
	}
	held := ""
	if s.flags.HoldOut > 0 {
		held = fmt.Sprintf(", %.5f of rows held out", float64(now.HeldOut))
	}
	s.program.say("pass %d  log loss %.5f of rows before this pass learned them%s", now.Pass, float64(now.LogLoss), held)
}

// areaText is the area under the curve in words, which one class alone does not have.
func areaText(area metric.Score) string {
	if math.IsNaN(float64(area)) {
		return ""
	}
	return fmt.Sprintf("   AUC %.4f", float64(area))
}

// speed is in rows a second since this run began.
func (s *streamRun) speed(rows int64) float64 {
	return float64(rows-s.before) / time.Since(s.started).Seconds()
}

// stop ends a run that cannot go on: what has been learned is saved.
func (s *streamRun) stop(ctx context.Context, cause error) error {
	rows, interruption := s.learner.Rows(), ctx.Err()
	switch {
	case interruption != nil && s.flags.output == "":
		return interrupted{interruption, fmt.Sprintf("%s learned, and nothing is saved without -o", counted(rows, "row"))}
	case interruption != nil && rows == 0:
		return interrupted{interruption, "no row was learned, and nothing is saved"}
	case interruption == nil && (s.flags.output == "" || rows == s.before):
		return cause
	}
	s.program.saving.Store(true)
	if err := s.finish(false); err != nil {
		lost := fmt.Sprintf("%s learned could not be saved: %s", counted(rows, "row"), withoutPackage(err.Error()))
		switch {
		case interruption != nil:
			return interrupted{interruption, lost}
		case err.Error() == cause.Error(): // of a checkpoint on the way
			return cause
		}
		return fmt.Errorf("%w; %s", cause, lost)
	}
	if interruption != nil {
		return interrupted{interruption, fmt.Sprintf("%s learned and saved in %s; --resume continues after them", counted(rows, "row"), stream.Checkpoint(s.flags.output))}
	}
	return fmt.Errorf("%w (%s learned and saved; --resume continues after them)", cause, counted(rows, "row"))
}

// finish saves the state and the model, and prints the fit where the data have been read to their end.
func (s *streamRun) finish(complete bool) error {
	fitted, err := s.learned.Finish()
	if err != nil {
		return err
	}
	if s.flags.writeSelected != "" {
		if err := writeSelected(s.flags.writeSelected, fitted); err != nil {
			return err
		}
	}
	if !complete {
		return nil
	}
	return s.print(fitted)
}

// writeSelected writes the names of the selected features, one a line.
func writeSelected(path string, fitted *credence.Fitted) error {
	line := strings.NewReplacer("\n", `\n`, "\r", `\r`)
	return atomicfile.Write(path, func(w io.Writer) error {
		for _, name := range score.SelectedNames(fitted) {
			if _, err := io.WriteString(w, line.Replace(name)+"\n"); err != nil {
				return err
			}
		}
		return nil
	})
}

// streamResult is the JSON object of a stream.
type streamResult struct {
	score.Summary
	LogLoss       metric.Score `json:"log_loss,omitzero"`    // of all rows
	AUC           metric.Score `json:"auc,omitzero"`         // area under the ROC curve
	Features      int          `json:"features"`             // met
	Malformed     int64        `json:"malformed,omitempty"`  // rows that were skipped
	RowsPerSecond float64      `json:"rows_per_second"`      // since this run began
	NameBytes     int64        `json:"name_bytes,omitempty"` // memory of the names of features
}

func (s *streamRun) print(fitted *credence.Fitted) error {
	now, err := s.learner.Progress()
	if err != nil {
		return err
	}
	result := streamResult{
		Summary: score.Summarise(fitted), LogLoss: now.LogLoss, AUC: now.AUC,
		Features: now.Features, Malformed: now.Malformed, RowsPerSecond: s.speed(now.Rows), NameBytes: now.NameBytes,
	}
	result.Selected = &now.Selected
	result.Seconds = time.Since(s.started).Seconds()
	result.Model = s.flags.output
	if s.program.json {
		return s.program.emit(result)
	}
	if now.Malformed > toldRows {
		s.program.warn("%d malformed rows were skipped", now.Malformed)
	}
	s.program.printFit(&result.Summary)
	s.program.say("        log loss %.5f%s   of rows scored before they were learned", float64(result.LogLoss), areaText(result.AUC))
	s.program.say("        %s, %d selected; %.0f rows a second", counted(result.Features, "feature"), now.Selected, result.RowsPerSecond)
	return nil
}
