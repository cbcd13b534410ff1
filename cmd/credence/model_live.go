package main

import (
	"context"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/score"
)

// scoredLive is a model applied to rows of standard input as they come.
type scoredLive struct {
	*score.Live
	program *program
	of      *score.Scorer
	table   *dataset.Table
	columns []string
}

func (p *program) applyLive(ctx context.Context, of *score.Scorer, paths []string, options dataset.Options, a application) (scored, error) {
	options.Schema, options.Once = of.Schema(), true
	table, err := p.open(ctx, paths, options)
	if err != nil {
		return nil, err
	}
	s := &scoredLive{program: p, of: of, table: table}
	if s.columns, err = of.Columns(table.Schema(), a.targets); err != nil {
		err = fmt.Errorf("%s: %w", table.Files()[0], err)
	} else {
		if len(s.columns) == 0 { // of none, the table reads all
			for _, c := range table.Schema().Columns {
				s.columns = append(s.columns, c.Name)
			}
		}
		targets := a.targets
		if targets == score.UseTargets && table.Schema().Index(of.Target()) < 0 {
			p.lacksTarget(table, of)
			targets = score.IgnoreTargets
		}
		s.Live, err = of.Live(s.columns, targets)
	}
	if err != nil {
		table.Close()
		return nil, err
	}
	return s, nil
}

func (s *scoredLive) scorer() *score.Scorer { return s.of }
func (s *scoredLive) hasTargets() bool      { return s.HasTargets() }
func (s *scoredLive) close()                { s.table.Close() }

func (s *scoredLive) kept(dst [][]byte, _ *score.Rows, _ int) ([][]byte, error) { return dst, nil }

func (s *scoredLive) each(ctx context.Context, visit func(rows *score.Rows) error) error {
	err := s.table.Rows(ctx, s.columns, credence.Position{}, func(run *dataset.Run) error {
		return s.Score(run.Rows, visit)
	})
	if err == nil {
		s.program.tellCounts(s.Counts(), s.Live.Rows())
	}
	return err
}
