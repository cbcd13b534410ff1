package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/modelfile"
)

// scoringRows is how many rows are scored at a time.
const scoringRows = 4096

// scoreFlags are those of the commands that apply a model to data.
type scoreFlags struct {
	dataFlags
	unseen string
}

func (f *scoreFlags) register(cmd *cobra.Command) {
	f.dataFlags.register(cmd)
	cmd.Flags().StringVar(&f.unseen, "unseen", "", "error or zero: what to do about categories that training did not see (default: as the model was fitted)")
}

// scorer applies a model to the rows of a table.
type scorer struct {
	program *program
	fitted  *credence.Fitted
	frame   *frame.Frame
	table   *dataset.Table
	source  credence.Source
	use     targetUse
	bound   *frame.Bound
	grades  []float64 // see predictive
}

// targetUse is what a command does with the targets of the data.
type targetUse int

const (
	ignoreTargets  targetUse = iota
	scoreTargets             // every row is predicted, and scored where it has a target; ignored where the table has none
	requireTargets           // a row without a target is an error, or left out under drop
)

// newScorer binds a model to data.
func (p *program) newScorer(ctx context.Context, model string, paths []string, flags *scoreFlags, use targetUse) (*scorer, error) {
	options, policy, err := flags.options(p)
	if err != nil {
		return nil, err
	}
	unseen, err := parseUnseen(flags.unseen)
	if err != nil {
		return nil, err
	}
	s := &scorer{program: p}
	if s.fitted, err = modelfile.Load(model); err != nil {
		return nil, err
	}
	stored, ok := s.fitted.Frame.(*frame.Frame)
	if !ok {
		return nil, fmt.Errorf("%s holds no frame, so that it cannot be applied to a table: it was made by a program of its own", model)
	}
	switch {
	case policy == frame.Drop && use != requireTargets:
		return nil, misused(fmt.Errorf("--missing drop leaves rows out, and every row is predicted: use --missing mean, which fills in the means of training"))
	case policy == frame.Indicator && stored.Missing != frame.Indicator:
		return nil, fmt.Errorf("%s has no indicators of missing values, because it was fitted without: use --missing mean, which fills in the means of training", model)
	}
	changed := *stored
	s.frame = &changed
	s.grades = ownGrades(stored.Target)
	if unseen != "" {
		s.frame.Unseen = unseen
	}
	if policy != frame.Refuse {
		s.frame.Missing = policy
	}
	options.Schema = &credence.Schema{Columns: s.frame.Columns(), Sparse: s.frame.SegmentWidth}
	if s.table, err = p.open(ctx, paths, options); err != nil {
		return nil, err
	}
	if target := s.frame.Target; use == scoreTargets && (target == nil || s.table.Schema().Index(target.Expr.Column) < 0) {
		p.warn("%s lacks the target %s: there is no log_density", strings.Join(s.table.Files(), ", "), s.frame.TargetName())
		use = ignoreTargets
	}
	s.use = use
	columns, err := s.columns(use)
	if err == nil {
		s.source, err = s.table.Load(ctx, columns)
	}
	if err == nil {
		err = s.refuseUnseen()
	}
	if err == nil && use == scoreTargets {
		s.bound, err = s.frame.BindScored(s.source)
	} else if err == nil {
		s.bound, err = s.frame.Rebind(s.source, use == requireTargets)
	}
	if err == nil && use == requireTargets && s.bound.Rows() == 0 {
		err = fmt.Errorf("%s: each of the %d rows lacks the target or another value that the model needs: there is nothing to score",
			strings.Join(s.table.Files(), ", "), s.source.Rows())
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close gives back what the table holds outside memory.
func (s *scorer) close() { s.table.Close() }

// refuseUnseen says which categories training did not see, unless they may stay.
func (s *scorer) refuseUnseen() error {
	if s.frame.Unseen == frame.Zero {
		return nil
	}
	found := s.table.Unseen()
	if len(found) == 0 {
		return nil
	}
	first := found[0]
	var examples []string
	for _, e := range first.Examples {
		examples = append(examples, fmt.Sprintf("%q at %s:%d", e.Value, e.File, e.Line))
	}
	return fmt.Errorf("column %q: %d rows have categories that training did not see (%s): correct them, or predict without them with --unseen zero",
		first.Column, first.Rows, strings.Join(examples, ", "))
}

// columns returns the columns of the model, which the table must have.
func (s *scorer) columns(use targetUse) ([]string, error) {
	schema := s.table.Schema()
	columns := []string{}
	add := func(name string) {
		for _, c := range columns {
			if c == name {
				return
			}
		}
		columns = append(columns, name)
	}
	if use == scoreTargets {
		add(s.frame.Target.Expr.Column)
	}
	for _, name := range s.frame.Needs(use == requireTargets) {
		if schema.Index(name) < 0 {
			return nil, fmt.Errorf("%s has no column %q, which the model needs: its columns are %s",
				strings.Join(s.table.Files(), ", "), name, columnNames(schema))
		}
		add(name)
	}
	return columns, nil
}

// checkKept refuses columns to be kept that the table does not have.
func (s *scorer) checkKept(keep []string) error {
	schema := s.table.Schema()
	for _, name := range keep {
		if schema.Index(name) < 0 {
			return fmt.Errorf("%s has no column %q to keep: its columns are %s",
				strings.Join(s.table.Files(), ", "), name, columnNames(schema))
		}
	}
	return nil
}

// columnNames lists the columns of a table, the first few of many.
func columnNames(schema *credence.Schema) string {
	var names []string
	for i := range schema.Columns {
		if i == 12 {
			names = append(names, fmt.Sprintf("… (%d in all)", len(schema.Columns)))
			break
		}
		names = append(names, schema.Columns[i].Name)
	}
	return strings.Join(names, ", ")
}

// parseUnseen reads --unseen.
func parseUnseen(text string) (frame.Unseen, error) {
	switch text {
	case "":
		return "", nil
	case "error":
		return frame.RefuseUnseen, nil
	case "zero":
		return frame.Zero, nil
	}
	return "", misused(fmt.Errorf("--unseen %s is unknown: use error or zero", text))
}

// each scores all rows in order, in batches, calling visit with the batch and
// the predictive distribution of its rows.
func (s *scorer) each(ctx context.Context, visit func(rows *credence.Batch, dist *predictive) error) error {
	ws := s.program.workspace()
	bar := s.program.progress("scoring")
	defer bar.done()
	var batch credence.Batch
	n := s.bound.Rows()
	for first := 0; first < n; first += scoringRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.bound.Read(&batch, first, min(scoringRows, n-first)); err != nil {
			return err
		}
		dist, err := s.fitted.Distribution(ws, &batch)
		if err != nil {
			return err
		}
		if i := tooFar(dist); i >= 0 {
			return fmt.Errorf("%s: the row is so far from those of training that its prediction is no number: correct it or leave it out", s.bound.Place(first+i))
		}
		if err := visit(&batch, &predictive{dist, s.grades}); err != nil {
			return err
		}
		bar.set(int64(first), int64(n), "scoring")
	}
	counts := s.bound.Counts()
	if counts.Dropped > 0 {
		s.program.warn("%d of %d rows have missing values and are left out", counts.Dropped, counts.Dropped+n)
	}
	if counts.Filled > 0 {
		s.program.warn("missing values that were filled in as the model was fitted: %d", counts.Filled)
	}
	if counts.UnseenLevels > 0 {
		s.program.warn("%d values of categories were not seen in training and count as none of the levels", counts.UnseenLevels)
	}
	if unseen := counts.UnseenFeatures + s.table.Dropped(); unseen > 0 && s.frame.Sparse > 0 {
		s.program.warn("%d entries of features that training did not see were scored at their prior", unseen)
	}
	return nil
}
