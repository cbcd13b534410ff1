package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/stream"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
)

// streamScorer applies a model that was learned from a stream to rows of text.
type streamScorer struct {
	program *program
	of      *score.Scorer
	index   *stream.Index
	plan    stream.Plan
	paths   []string
	stdin   io.Reader
	labels  bool     // rows must have one
	targets bool     // rows may have one
	keep    []string // columns to copy
	current *stream.Batch
}

func (p *program) applyStream(ctx context.Context, model string, paths []string, a application) (*streamScorer, error) {
	flags := a.flags
	s := &streamScorer{program: p, stdin: p.in, labels: a.targets == score.RequireTargets, targets: a.targets != score.IgnoreTargets, keep: a.keep}
	switch {
	case len(flags.missing) > 0 || flags.types != "" || flags.delimiter != "" || flags.unseen != "":
		return nil, misused(fmt.Errorf("%s was learned from a stream, which reads rows as it did in training: leave --missing, --types, --delimiter and --unseen out", model))
	case flags.format != "" && flags.format != "svm" && flags.format != "libsvm" && flags.format != "vw" && flags.format != "csv" && flags.format != "tsv":
		return nil, misused(fmt.Errorf("--format %s is unknown: use libsvm, vw, csv or tsv", flags.format))
	}
	var err error
	if s.paths, err = streamPaths(paths); err != nil {
		return nil, err
	}
	fitted, err := modelfile.Load(model)
	if err != nil {
		return nil, err
	}
	frame, ok := fitted.Frame.(*keyed.Frame)
	features, also := fitted.Members[0].Model.Features.(*keyed.Features)
	if !ok || !also || len(fitted.Members) != 1 {
		return nil, fmt.Errorf("%s is no model of a stream", model)
	}
	if err := json.Unmarshal(frame.Plan, &s.plan); err != nil {
		return nil, fmt.Errorf("%s: the plan of the stream is damaged: %w", model, err)
	}
	if err := s.plan.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", model, err)
	}
	s.index, err = stream.IndexOf(features.Keys)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", model, err)
	}
	if s.of, err = score.New(fitted, score.Options{Interval: a.interval, Threads: p.threads}); err != nil {
		return nil, err
	}
	if err := s.checkFormat(flags.format); err != nil {
		return nil, err
	}
	if len(s.keep) > 0 && !s.isTable() {
		return nil, fmt.Errorf("--keep copies columns of a table, and %s text has none: leave it out, rows keep their order", s.plan.Format)
	}
	if a.targets == score.UseTargets {
		s.targets, err = s.hasTarget(ctx)
	}
	return s, err
}

// checkFormat lets a table be comma- or tab-separated whatever training had;
// otherwise formats have different keys.
func (s *streamScorer) checkFormat(stated string) error {
	format, stdin, err := streamFormat(stated, s.paths[0], s.stdin)
	if err != nil {
		return err
	}
	s.stdin = stdin
	switch {
	case isTable(format) && s.isTable():
		s.plan.Format = format
	case format != s.plan.Format:
		return fmt.Errorf("%s is %s text and the model was learned from %s text: give data of the same format, or state --format %s",
			s.paths[0], format, s.plan.Format, s.plan.Format)
	}
	return nil
}

// isTable says whether text of a format has columns.
func isTable(f stream.Format) bool { return f == stream.FormatCSV || f == stream.FormatTSV }

func (s *streamScorer) isTable() bool { return isTable(s.plan.Format) }

// hasTarget says whether the data have the target's column, and warns if not.
func (s *streamScorer) hasTarget(ctx context.Context) (bool, error) {
	if !s.isTable() {
		return true, nil
	}
	sample, err := stream.ReadSample(ctx, s.paths, s.stdin, s.plan.Format, "", false)
	if err != nil {
		return false, err
	}
	if sample.Replay != nil {
		s.stdin = sample.Replay
	}
	if slices.Contains(sample.Columns, s.plan.Target) {
		return true, nil
	}
	s.program.warn("%s lacks the target %s: there is no log_density", inputName(s.paths[0]), s.plan.Target)
	return false, nil
}

// each scores all rows in order.
func (s *streamScorer) each(ctx context.Context, visit func(rows *score.Rows) error) error {
	parser, err := s.plan.NewParser(s.labels, false)
	if err != nil {
		return err
	}
	if len(s.keep) > 0 {
		if err := stream.Keep(parser, s.keep); err != nil {
			return err
		}
	}
	reader := stream.Open(ctx, stream.Config{
		Paths: s.paths, Stdin: s.stdin, Parser: parser, Step: credence.BlockRows, Index: s.index, Frozen: true,
	})
	defer reader.Close()
	rows := s.of.NewRows()
	unknown := 0
	for b := reader.Next(); b != nil; b = reader.Next() {
		err := rows.Score(&b.Batch)
		s.current = b
		if err == nil && b.Rows() > 0 {
			err = visit(rows)
		}
		if err == nil {
			err = b.Err
		}
		unknown += b.Unknown
		reader.Recycle(b)
		if err != nil {
			return err
		}
	}
	if unknown > 0 {
		s.program.warn("%d entries of features that training did not see were scored at their prior", unknown)
	}
	return ctx.Err()
}

func (s *streamScorer) scorer() *score.Scorer { return s.of }
func (s *streamScorer) hasTargets() bool      { return s.targets }
func (s *streamScorer) close()                {}
func (s *streamScorer) kept(dst [][]byte, _ *score.Rows, i int) ([][]byte, error) {
	return s.current.Kept(dst, i), nil
}
