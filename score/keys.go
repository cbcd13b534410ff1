package score

import (
	"fmt"
	"maps"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/table"
)

// Keys scores runs of rows by a model that was learned online, whose features are keys. It is for
// one goroutine at a time.
type Keys struct {
	features *keyed.Features
	targets  Targets
	binder   *keyed.Binder
	plan     *keyed.Plan
	rows     *Rows
	batch    credence.Batch
	earlier  int // rows of the runs before
	scored   int
	counts   frame.Counts
}

// Keyed says that the model was learned online, so that it scores by [Scorer.Keys] and not by
// [Scorer.Table].
func (s *Scorer) Keyed() bool { return s.frame == nil }

// Keys binds a model that was learned online.
func (s *Scorer) Keys(targets Targets) (*Keys, error) {
	f, ok := s.fitted.Frame.(*keyed.Frame)
	features, also := s.fitted.Members[0].Model.Features.(*keyed.Features)
	if !ok || !also || len(s.fitted.Members) != 1 {
		return nil, fmt.Errorf("the model was not learned online: bind it to a table")
	}
	k := &Keys{rows: s.NewRows(), plan: f.Plan, features: features, targets: targets}
	var err error
	if k.binder, err = keyed.NewBinder(k.plan, k.features, k.targets); err != nil {
		return nil, fmt.Errorf("%w: restore the model from a copy or learn it again", err)
	}
	k.binder.MarkLacking = k.rows.scorer.options.Lacking && k.targets != RequireTargets
	return k, nil
}

// Columns names the columns that the model needs of a table: text(c) for the texts of c. A target that
// is used and not required may be lacking, and weights count in learning alone.
func (k *Keys) Columns(schema *credence.Schema) ([]string, error) {
	have := map[string]bool{}
	for _, c := range schema.Columns {
		have[c.Name] = true
	}
	values, texts := k.plan.Needs()
	optional := []string{k.plan.Target.Column}
	if k.plan.Weight != nil {
		optional = append(optional, k.plan.Weight.Column)
	}
	if k.targets == RequireTargets {
		optional = optional[1:]
	}
	var columns []string
	for i, name := range append(values, texts...) {
		switch known := have[name]; {
		case k.targets == IgnoreTargets && name == k.plan.Target.Column && i == 0:
		case !known && slices.Contains(optional, name) && i < len(values):
		case !known:
			return nil, fmt.Errorf("there is no column %q, which the model needs: add it to the table, whose columns are %s", name, columnNames(schema))
		case i < len(values):
			columns = append(columns, name)
		default:
			columns = append(columns, credence.TextOf(name))
		}
	}
	return columns, nil
}

// Score scores a run of rows; what it hands to visit is valid until visit returns. The first
// malformed row is an error. Rows that the model's policy drops are left out.
func (k *Keys) Score(run *table.Rows, visit func(rows *Rows) error) error {
	if len(run.Faults) > 0 && run.Count == 0 {
		return run.Faults[0].Err
	}
	if err := k.binder.Begin(run); err != nil {
		return err
	}
	for first, count := range credence.Blocks(run.Count) {
		if len(run.Faults) > 0 {
			count = min(count, run.Faults[0].Row-first)
		}
		if _, err := k.binder.Bind(&k.batch, first, count, 0); err != nil {
			return err
		}
		k.batch.First = k.scored
		k.scored += len(k.binder.From)
		k.counts.UnseenFeatures += k.binder.Unknown
		k.counts.Dropped += k.binder.Dropped
		k.counts.Lacking += len(k.binder.Lacking)
		k.rows.keys = k
		if err := k.rows.Score(&k.batch); err != nil {
			return err
		}
		if k.rows.Len() > 0 {
			if err := visit(k.rows); err != nil {
				return err
			}
		}
		if len(run.Faults) > 0 && first+count == run.Faults[0].Row {
			return run.Faults[0].Err
		}
	}
	k.earlier += run.Count
	return nil
}

// Target returns the column of the target.
func (k *Keys) Target() string { return k.plan.Target.Column }

// Reading says how the texts of training became values.
func (k *Keys) Reading() credence.Reading { return k.plan.Reading }

// Types returns the kinds that columns of a table are to be read as, those that are stated or else of training, and
// whether any is another than the table has.
func (k *Keys) Types(schema *credence.Schema, stated map[string]credence.Kind) (types map[string]credence.Kind, other bool) {
	types = map[string]credence.Kind{}
	for i := range k.plan.Inputs {
		in := &k.plan.Inputs[i]
		place := schema.Index(in.Expr.Column)
		if _, is := stated[in.Expr.Column]; is || place < 0 || in.Role != keyed.AsValue || in.Unknown || len(in.Expr.Steps) > 0 {
			continue
		}
		types[in.Expr.Column] = in.Kind
		other = other || schema.Columns[place].Kind != in.Kind
	}
	maps.Copy(types, stated)
	return types, other
}

// Sparse says that rows have sparse entries, as those of training had.
func (k *Keys) Sparse() bool { return k.plan.Sparse() }

// Rows returns how many rows were scored so far.
func (k *Keys) Rows() int { return k.scored }

// Counts says what was done to the rows so far: which were left out, and how many entries of keys that
// training did not see were scored at their prior.
func (k *Keys) Counts() frame.Counts { return k.counts }

// RunRow returns the row of the run that row i of those being visited is.
func (k *Keys) RunRow(i int) int { return k.binder.From[i] }

// boundKeys scores values of a program by a model that was learned online.
type boundKeys[T any] struct {
	keys    *Keys
	binding *table.Binding[T]
	run     table.Rows
}

// bind finds the columns of the model in the first row.
func (b *boundKeys[T]) bind(row T) error {
	given, err := table.ColumnsOf(row)
	if err != nil {
		return err
	}
	schema := &credence.Schema{}
	kinds := map[string]table.Column{}
	for _, c := range given {
		schema.Columns = append(schema.Columns, credence.Column{Name: c.Name, Kind: c.Kind})
		kinds[c.Name] = c
	}
	names, err := b.keys.Columns(schema)
	if err != nil {
		return err
	}
	var layout table.Layout
	for _, name := range names {
		column := kinds[name]
		if _, text := credence.CutText(name); text && column.Name == "" {
			column = table.Column{Name: name, Kind: credence.Category, Text: true}
		}
		layout.Columns = append(layout.Columns, column)
	}
	b.binding, err = table.Bind[T](layout)
	return err
}

// score scores a few rows.
func (b *boundKeys[T]) score(rows []T) (*Rows, error) {
	if b.binding == nil {
		if err := b.bind(rows[0]); err != nil {
			return nil, err
		}
	}
	b.binding.Reset(&b.run)
	for _, row := range rows {
		if err := b.binding.Append(&b.run, row); err != nil {
			return nil, err
		}
	}
	err := b.keys.Score(&b.run, func(*Rows) error { return nil })
	return b.keys.rows, err
}
