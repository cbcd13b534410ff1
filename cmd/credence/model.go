package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
)

// scoreFlags are those of the commands that apply a model to data.
type scoreFlags struct {
	dataFlags
	unseen string
}

func (f *scoreFlags) register(cmd *cobra.Command) {
	f.dataFlags.register(cmd)
	cmd.Flags().StringVar(&f.unseen, "unseen", "", "error or zero: what to do about categories that training did not see (default: as the model was fitted)")
}

// scored is a model applied to rows.
type scored interface {
	scorer() *score.Scorer
	// each scores all rows in order, and tells what was done to them.
	each(ctx context.Context, visit func(rows *score.Rows) error) error
	hasTargets() bool
	// kept appends the texts of the columns to copy in row i of the run that is being visited.
	kept(dst [][]byte, rows *score.Rows, i int) ([][]byte, error)
	close()
}

// application says how a model is applied.
type application struct {
	flags    *scoreFlags
	targets  score.Targets
	interval float64       // 0 means the default
	original bool          // the target's own units
	lacking  bool          // rows that lack a value are answered by empty cells where the model leaves them out
	live     bool          // rows are scored one by one, as they come
	keep     []string      // columns to copy
	kept     *dataset.Kept // pipes that other models read too; nil if none do
}

// apply binds a model to data.
func (p *program) apply(ctx context.Context, model string, paths []string, a application) (scored, error) {
	options, policy, err := a.flags.options(p)
	if err != nil {
		return nil, err
	}
	options.Kept = a.kept
	unseen := frame.Unseen(a.flags.unseen)
	if _, err := (frame.Options{Unseen: unseen}).Validate(); err != nil {
		return nil, misused(err)
	}
	if policy.Policy == frame.Refuse { // that of the model
		policy.Policy = ""
	}
	fitted, err := modelfile.Load(model)
	if err != nil {
		return nil, err
	}
	if policy.Policy == frame.Drop && a.targets != score.RequireTargets && !a.lacking {
		return nil, misused(fmt.Errorf("--missing drop leaves rows out, and every row is predicted: use --missing mean, which fills in the means of training"))
	}
	scorer, err := score.New(fitted, score.Options{Missing: policy.Policy, DropTarget: policy.dropTarget, Unseen: unseen, Interval: a.interval, Threads: p.threads, Original: a.original, Lacking: a.lacking})
	if err != nil {
		return nil, misused(fmt.Errorf("%s: %w", model, err))
	}
	if scorer.Keyed() {
		return p.applyKeys(ctx, scorer, paths, options, a)
	}
	if a.live && len(a.keep) == 0 {
		return p.applyLive(ctx, scorer, paths, options, a)
	}
	return p.applyTable(ctx, scorer, paths, options, a)
}

// lacksTarget warns that there are no targets to score.
func (p *program) lacksTarget(table *dataset.Table, of *score.Scorer) {
	p.warn("%s lacks the target %s: there is no log_density", strings.Join(table.Files(), ", "), of.Fitted().Frame.TargetName())
}

// tagColumn holds the tags of Vowpal Wabbit rows.
const tagColumn = "tag"

// checkKept refuses columns to be copied that the table does not have.
func checkKept(table *dataset.Table, keep []string) error {
	schema := table.Schema()
	var names []string
	for _, c := range schema.Columns {
		names = append(names, c.Name)
	}
	for _, name := range keep {
		if schema.Index(name) < 0 && !(name == tagColumn && table.Tagged()) {
			return fmt.Errorf("%s has no column %q to keep: its columns are %s", strings.Join(table.Files(), ", "), name, listed(names))
		}
	}
	return nil
}

// scoredTable is a model applied to a table.
type scoredTable struct {
	*score.Table
	program *program
	of      *score.Scorer
	table   *dataset.Table
	keeper  *keeper // nil without columns to copy
}

func (p *program) applyTable(ctx context.Context, of *score.Scorer, paths []string, options dataset.Options, a application) (scored, error) {
	s := &scoredTable{program: p, of: of}
	options.Schema = of.Schema()
	var err error
	if s.table, err = p.open(ctx, paths, options); err != nil {
		return nil, err
	}
	if err := s.load(ctx, a); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// load reads the columns of the model and binds it to them.
func (s *scoredTable) load(ctx context.Context, a application) error {
	files, schema := strings.Join(s.table.Files(), ", "), s.table.Schema()
	if a.targets == score.UseTargets && schema.Index(s.of.Target()) < 0 {
		s.program.lacksTarget(s.table, s.of)
	}
	if err := checkKept(s.table, a.keep); err != nil {
		return err
	}
	columns, err := s.of.Columns(schema, a.targets)
	if err != nil {
		return fmt.Errorf("%s: %w", files, err)
	}
	source, err := s.table.Load(ctx, columns)
	if err != nil {
		return err
	}
	s.program.tellNotes(s.table)
	if err := s.refuseUnseen(); err != nil {
		return err
	}
	if s.Table, err = s.of.Table(source, a.targets); err != nil {
		return err
	}
	if a.targets == score.RequireTargets && s.Rows() == 0 {
		return fmt.Errorf("%s: each of the %d rows lacks the target or another value that the model needs: there is nothing to score", files, source.Rows())
	}
	if len(a.keep) > 0 {
		s.keeper = newKeeper(ctx, s.table, a.keep)
	}
	return nil
}

func (s *scoredTable) scorer() *score.Scorer { return s.of }
func (s *scoredTable) hasTargets() bool      { return s.HasTargets() }

func (s *scoredTable) kept(dst [][]byte, rows *score.Rows, i int) ([][]byte, error) {
	return s.keeper.row(dst, rows.SourceRow(i))
}

// close gives back what the table holds outside memory.
func (s *scoredTable) close() {
	if s.keeper != nil {
		s.keeper.close()
	}
	s.table.Close()
}

// refuseUnseen says which categories training did not see, unless they may stay.
func (s *scoredTable) refuseUnseen() error {
	keyed := map[string]bool{} // columns whose other levels are unseen features
	for _, in := range s.of.Frame().Inputs {
		keyed[in.Expr.Column] = in.Expr.Keyed
	}
	found := slices.DeleteFunc(s.table.Unseen(), func(u dataset.Unseen) bool { return keyed[u.Column] })
	if len(found) == 0 || s.of.Frame().Unseen == frame.Zero {
		return nil
	}
	first := found[0]
	var examples []string
	for _, e := range first.Examples {
		examples = append(examples, fmt.Sprintf("%q at %s:%d", e.Value, e.File, e.Line))
	}
	column, _ := credence.CutText(first.Column)
	return fmt.Errorf("column %q: categories of %s were not seen in training (%s): correct them, or predict without them with --unseen zero",
		column, counted(first.Rows, "row"), strings.Join(examples, ", "))
}

func (s *scoredTable) each(ctx context.Context, visit func(rows *score.Rows) error) error {
	p := s.program
	bar := p.progress()
	defer bar.done()
	err := s.Each(ctx, func(rows *score.Rows) error {
		bar.set(int64(rows.First()), int64(s.Rows()), "scoring", "")
		return visit(rows)
	})
	if err != nil {
		return err
	}
	counts := s.Counts()
	if s.of.Frame().Sparse > 0 {
		counts.UnseenFeatures += s.table.Dropped()
	} else {
		counts.UnseenFeatures = 0
	}
	p.tellCounts(counts, s.Rows())
	return nil
}

// tellCounts warns about what was done to rows before they were scored.
func (p *program) tellCounts(counts frame.Counts, rows int) {
	if counts.Dropped > 0 {
		p.warn("%d of %d rows have missing values and are left out", counts.Dropped, counts.Dropped+rows)
	}
	if counts.Lacking > 0 {
		p.warn("%d of %s lack a value and have no prediction: their cells are empty; --missing mean fills in the means of training (for a model of stream: when it is learned)", counts.Lacking, counted(rows, "row"))
	}
	if counts.Filled > 0 {
		p.warn("%s filled with training means", counted(counts.Filled, "missing value"))
	}
	if counts.UnseenLevels > 0 {
		p.warn("%s not seen in training, treated as none of its levels", counted(counts.UnseenLevels, "category value"))
	}
	switch {
	case counts.UnseenFeatures == 1:
		p.warn("1 value of a feature unseen in training was scored at its prior")
	case counts.UnseenFeatures > 1:
		p.warn("%d values of features unseen in training were scored at their prior", counts.UnseenFeatures)
	}
}
