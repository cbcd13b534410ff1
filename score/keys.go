package score

import (
	"fmt"
	"maps"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
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
	scored   int
	known    bool // rows have targets that are read
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
	k.known = k.targets != IgnoreTargets && have[k.plan.TargetColumn()]
	values, texts := k.plan.Needs()
	optional := []string{k.plan.TargetColumn()}
	if k.plan.Weight != nil {
		optional = append(optional, k.plan.Weight.Column)
	}
	if k.targets == RequireTargets {
		optional = optional[1:]
	}
	var columns []string
	for i, name := range append(values, texts...) {
		switch known := have[name]; {
		case k.targets == IgnoreTargets && name == k.plan.TargetColumn() && i == 0:
		case !known && slices.Contains(optional, name) && i < len(values):
		case !known:
			return nil, fmt.Errorf("there is no column %q, which the model needs: add it to the table, whose columns are %s", name, cell.List(schema.Names()))
		case i < len(values):
			columns = append(columns, name)
		default:
			columns = append(columns, credence.TextOf(name))
		}
	}
	return columns, nil
}

// Score implements [Binding]. Rows that the model's policy drops are left out.
func (k *Keys) Score(run *table.Rows, visit func(rows *Rows) error) error {
	if len(run.Faults) > 0 && run.Count == 0 {
		return run.Faults[0].Err
	}
	if err := k.binder.Begin(run); err != nil {
		return err
	}
	err := inBlocks(run, k.score, func() error {
		if k.rows.Len() == 0 {
			return nil
		}
		k.scored += k.rows.Len()
		return visit(k.rows)
	})
	k.rows.before += run.Count
	return err
}

// score scores rows [first, first+count) of the run.
func (k *Keys) score(first, count int) error {
	if _, err := k.binder.Bind(&k.batch, first, count, 0); err != nil {
		return err
	}
	k.batch.First = k.scored
	k.counts.UnseenFeatures += k.binder.Unknown
	k.counts.Dropped += k.binder.Dropped
	k.counts.Lacking += len(k.binder.Lacking)
	k.rows.keys = k
	return k.rows.Score(&k.batch)
}

// HasTargets implements [Binding], once Columns has found the target.
func (k *Keys) HasTargets() bool { return k.known }

// Target returns the column of the target.
func (k *Keys) Target() string { return k.plan.TargetColumn() }

// Reading says how the texts of training became values.
func (k *Keys) Reading() credence.Reading { return k.plan.Reading }

// Kinds returns the kinds of training that a file by itself may not tell.
func (k *Keys) Kinds() map[string]credence.Kind { return k.plan.Kinds() }

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
