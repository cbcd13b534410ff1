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
	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/modelfile"
)

// streamScorer applies a model that was learned from a stream to rows of text.
type streamScorer struct {
	program *program
	fitted  *credence.Fitted
	index   *stream.Index
	plan    stream.Plan
	paths   []string
	stdin   io.Reader
	labels  bool     // rows must have one
	keep    []string // columns to copy
}

func (p *program) newStreamScorer(model string, paths []string, flags *scoreFlags, labels bool) (*streamScorer, error) {
	s := &streamScorer{program: p, stdin: p.in, labels: labels}
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
	if s.fitted, err = modelfile.Load(model); err != nil {
		return nil, err
	}
	frame, ok := s.fitted.Frame.(*keyed.Frame)
	features, also := s.fitted.Members[0].Model.Features.(*keyed.Features)
	if !ok || !also || len(s.fitted.Members) != 1 {
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
	return s, s.checkFormat(flags.format)
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
func (s *streamScorer) each(ctx context.Context, visit func(rows *stream.Batch, dist *predictive) error) error {
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
		Paths: s.paths, Stdin: s.stdin, Parser: parser, Step: scoringRows, Index: s.index, Frozen: true,
	})
	defer reader.Close()
	ws := s.program.workspace()
	unknown := 0
	for b := reader.Next(); b != nil; b = reader.Next() {
		dist, err := s.fitted.Distribution(ws, &b.Batch)
		if err == nil && b.Rows() > 0 {
			err = visit(b, &predictive{Distribution: dist})
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

// predictStream is predict for a model of a stream.
func (p *program) predictStream(ctx context.Context, model string, paths []string, flags *predictFlags) error {
	s, err := p.newStreamScorer(model, paths, &flags.scoreFlags, false)
	if err != nil {
		return err
	}
	if len(flags.keep) > 0 && !s.isTable() {
		return fmt.Errorf("--keep copies columns of a table, and %s text has none: leave it out, rows keep their order", s.plan.Format)
	}
	s.keep = flags.keep
	if flags.density {
		without := *flags
		if without.density, err = s.hasTarget(ctx); err != nil {
			return err
		}
		flags = &without
	}
	of := classesOf(s.fitted.Members[0].Model.Likelihood)
	names := flags.predicted(of)
	var columns []outputColumn
	for _, name := range flags.keep {
		columns = append(columns, outputColumn{name: name, text: true})
	}
	for _, name := range names {
		columns = append(columns, outputColumn{name: name})
	}
	total := 0
	write := func(w io.Writer) error {
		out, err := newTableWriter(w, flags.output, columns)
		if err != nil {
			return err
		}
		var cells []float64
		ws := p.workspace()
		var texts [][]byte
		err = s.each(ctx, func(rows *stream.Batch, dist *predictive) error {
			n := rows.Rows()
			texts = texts[:0]
			for i := range n {
				texts = rows.Kept(texts, i)
			}
			total += n
			cells = append(cells[:0], make([]float64, n*len(names))...)
			failed := make([]error, n)
			dist.Each(ws, func(i int) {
				row := cells[i*len(names) : i*len(names) : (i+1)*len(names)]
				_, failed[i] = flags.cells(row, &rows.Batch, dist, i, of, p.seed)
			})
			for _, err := range failed {
				if err != nil {
					return err
				}
			}
			return out.write(cells, texts...)
		})
		if err != nil {
			return err
		}
		return out.close()
	}
	if flags.output == "" {
		return write(p.out)
	}
	if err := atomicfile.Write(flags.output, write); err != nil {
		return err
	}
	if p.json {
		return p.emit(map[string]any{"rows": total, "output": flags.output})
	}
	p.say("%d predictions written to %s", total, flags.output)
	return nil
}

// evaluateStream is evaluate for a model of a stream.
func (p *program) evaluateStream(ctx context.Context, model string, paths []string, flags *scoreFlags) (*metric.Evaluation, error) {
	s, err := p.newStreamScorer(model, paths, flags, true)
	if err != nil {
		return nil, err
	}
	e := newEvaluator(s.fitted, s.fitted.Members[0].Model.Likelihood)
	err = s.each(ctx, func(rows *stream.Batch, dist *predictive) error {
		if i := e.add(p.workspace(), &rows.Batch, dist); i >= 0 {
			return unmeasurable(fmt.Sprintf("row %d", rows.First+i+1))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e.result()
}
