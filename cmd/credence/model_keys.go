package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// scoredKeys is a model that was learned online, applied to rows as they are read.
type scoredKeys struct {
	program *program
	of      *score.Scorer
	keys    *score.Keys
	table   *dataset.Table
	columns []string
	targets bool
	keep    []string // columns to copy
	run     *dataset.Run
}

func (p *program) applyKeys(ctx context.Context, of *score.Scorer, paths []string, options dataset.Options, a application) (scored, error) {
	s := &scoredKeys{program: p, of: of, keep: a.keep}
	var err error
	if s.keys, err = of.Keys(a.targets); err != nil {
		return nil, err
	}
	options.Reading = s.keys.Reading()
	options.Once, options.Keyed, options.KindsKnown = true, true, true
	if s.table, err = p.open(ctx, paths, options); err != nil {
		return nil, err
	}
	if err := s.choose(a); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// choose finds the columns of the model and those to copy.
func (s *scoredKeys) choose(a application) error {
	schema, file := s.table.Schema(), s.table.Files()[0]
	if schema.Label != s.keys.Sparse() {
		return fmt.Errorf("%s and the data that the model was learned from are of different formats, one with named columns and one with numbered features: give data of the same format", file)
	}
	s.targets = a.targets == score.RequireTargets || a.targets == score.UseTargets && schema.Index(s.keys.Target()) >= 0
	if a.targets == score.UseTargets && !s.targets {
		s.program.lacksTarget(s.table, s.of)
	}
	var err error
	if s.columns, err = s.keys.Columns(schema); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if len(s.keep) > 0 && schema.Label && !s.table.Tagged() {
		return errors.New("--keep copies columns of a table, and this text has none: leave it out, rows keep their order")
	}
	if err := checkKept(s.table, s.keep); err != nil {
		return err
	}
	for _, name := range s.keep {
		s.columns = append(s.columns, credence.TextOf(name))
	}
	return nil
}

func (s *scoredKeys) each(ctx context.Context, visit func(rows *score.Rows) error) error {
	err := s.table.Rows(ctx, s.columns, credence.Position{}, func(run *dataset.Run) error {
		s.run = run
		return s.keys.Score(run.Rows, visit)
	})
	if err == nil {
		s.program.tellCounts(s.keys.Counts(), s.keys.Rows())
	}
	return err
}

func (s *scoredKeys) scorer() *score.Scorer { return s.of }
func (s *scoredKeys) hasTargets() bool      { return s.targets }
func (s *scoredKeys) close()                { s.table.Close() }

func (s *scoredKeys) kept(dst [][]byte, _ *score.Rows, i int) ([][]byte, error) {
	row := s.run.Row(s.keys.RunRow(i))
	for _, name := range s.keep {
		column := slices.IndexFunc(s.run.Columns, func(c table.Column) bool { return c.Name == credence.TextOf(name) })
		var text []byte
		if code := row[column]; code == code {
			text = s.run.Levels[column].List[int(code)].Text
		}
		dst = append(dst, text)
	}
	return dst, nil
}
