package learn

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/checkpoint"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/safetensors"
)

// kind is that of the checkpoints of this package.
var kind = checkpoint.Kind{Name: "learn", Format: 2, Anew: "begin anew without it"}

// document is the JSON of a checkpoint.
type document struct {
	Asked    asked             `json:"asked"`
	Formula  string            `json:"formula"` // as compiled
	Notes    []string          `json:"notes,omitempty"`
	Plan     *keyed.Plan       `json:"plan"`
	Position credence.Position `json:"position"`
	Counts   counts            `json:"counts"`
	Named    bool              `json:"named"`
	Learner  json.RawMessage   `json:"learner"`
}

// asked is what a learner was asked for: one that goes on must be asked for the same.
type asked struct {
	Formula    string `json:"formula"`
	Target     string `json:"target,omitempty"`
	Positive   string `json:"positive,omitempty"`
	Missing    string `json:"missing,omitempty"`
	DropTarget bool   `json:"drop_target,omitempty"`
	Engine     string `json:"engine"`
	HoldOut    int64  `json:"hold_out,omitempty"`
	Prior      string `json:"prior,omitempty"`
	Time       string `json:"time,omitempty"`
}

func (l *Learner) asked() asked {
	o := &l.options
	return asked{
		Formula: formula.Canonical(o.Formula), Target: o.Target, Positive: o.Positive,
		Missing: string(o.Missing), DropTarget: o.DropTarget, HoldOut: o.HoldOut, Engine: l.engine.Call, Prior: l.engine.Prior, Time: o.Time,
	}
}

// Checkpoint replaces the file at path by the state of the learner, which stands at a position of its
// rows.
func (l *Learner) Checkpoint(path string, at credence.Position) error {
	document, tensors, err := l.state(at)
	if err != nil {
		return err
	}
	return kind.Write(path, document, tensors)
}

// state returns what a checkpoint has.
func (l *Learner) state(at credence.Position) (*document, []safetensors.Tensor, error) {
	if err := l.whole(); err != nil {
		return nil, nil, err
	}
	state, tensors, err := l.online.State()
	if err != nil {
		return nil, nil, err
	}
	for k := range tensors {
		tensors[k] = tensors[k].Finite()
	}
	measured, err := l.measured.State()
	if err != nil {
		return nil, nil, err
	}
	tensors = append(tensors, l.keysTensor(), safetensors.Of("learn.progressive", measured))
	if l.names != nil {
		text, ends := l.names.Arena(l.counts.Slots)
		tensors = append(tensors, safetensors.Of("learn.names.text", text), safetensors.Of("learn.names.ends", ends))
	}
	return &document{
		Asked: l.asked(), Formula: l.formula, Notes: l.notes, Plan: l.plan, Position: at, Counts: l.counts,
		Named: l.names != nil, Learner: state,
	}, tensors, nil
}

// savedKeys is the number of keys that are written at a time.
const savedKeys = 1 << 12

// keysTensor is the keys of the features, made in pieces as it is written: copies of them all would
// be a tenth of the memory of a run.
func (l *Learner) keysTensor() safetensors.Tensor {
	count := l.counts.Slots
	return safetensors.Tensor{
		Name: "learn.keys", DType: safetensors.I64, Shape: []int{count},
		Data: func(w io.Writer) error {
			var keys []uint64
			for first := 0; first < count; first += savedKeys {
				keys = l.index.AppendKeys(keys[:0], first, min(savedKeys, count-first))
				if err := safetensors.Encode(w, keys); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// Resume returns a learner that goes on from the checkpoint at path, and the position at which its
// rows go on; where there is no such file it is a new one, and the position is the beginning.
// A formula, engine, prior, class or policy that is left out is that of the checkpoint, and another is refused.
func Resume(path string, options fit.Options) (l *Learner, at credence.Position, err error) {
	var doc document
	r, err := kind.Read(path, &doc)
	if errors.Is(err, fs.ErrNotExist) {
		l, err = New(options)
		return l, at, err
	}
	if err != nil {
		return nil, at, err
	}
	defer r.Close()
	doc.Asked.complete(&options)
	if l, err = New(options); err != nil {
		return nil, at, completed(path, err)
	}
	if err := l.restore(&doc, r); err != nil {
		return nil, at, fmt.Errorf("%s: %w", path, err)
	}
	return l, doc.Position, nil
}

// complete takes options that are left out from those of a checkpoint.
func (a *asked) complete(o *fit.Options) {
	o.Formula, o.Target = cmp.Or(o.Formula, a.Formula), cmp.Or(o.Target, a.Target)
	o.Positive, o.Missing = cmp.Or(o.Positive, a.Positive), cmp.Or(o.Missing, frame.Policy(a.Missing))
	if o.Prior = cmp.Or(o.Prior, a.Prior); o.HalfLife == "" { // which the engine's text has
		o.Engine = cmp.Or(o.Engine, a.Engine)
	}
	o.Time, o.HoldOut, o.DropTarget = cmp.Or(o.Time, a.Time), cmp.Or(o.HoldOut, a.HoldOut), o.DropTarget || a.DropTarget
}

// completed names the file that options which are left out were taken from in what is wrong with them all.
func completed(path string, err error) error {
	return fmt.Errorf("%s, from which options that are left out come: %w", path, err)
}

func (l *Learner) restore(doc *document, r *safetensors.Reader) error {
	if err := l.asked().same(&doc.Asked); err != nil {
		return &fit.Misuse{Err: err}
	}
	l.formula, l.notes, l.plan, l.counts = doc.Formula, doc.Notes, doc.Plan, doc.Counts
	if l.counts.Pass >= l.engine.Passes || l.counts.Files > 0 {
		l.finished = l.engine.Passes > 1 || l.counts.Files > 0
		l.counts.Pass = l.engine.Passes - 1 // what has come since is learned
	}
	var err error
	if l.online, err = l.engine.Restore(doc.Learner, r); err != nil {
		return err
	}
	if l.plan != nil && l.plan.NoIntercept {
		if err := l.pin(); err != nil {
			return err
		}
	}
	keys, err := safetensors.Read[uint64](r, "learn.keys")
	if err != nil {
		return err
	}
	if l.index, err = keyed.IndexOf(keys); err != nil {
		return err
	}
	if l.counts.Slots != len(keys) {
		return fmt.Errorf("%d keys of %d features: the file is damaged", len(keys), l.counts.Slots)
	}
	if doc.Named {
		if l.names, err = readNames(r, len(keys)); err != nil {
			return err
		}
	}
	measured, err := safetensors.Read[float64](r, "learn.progressive")
	if err != nil {
		return err
	}
	if l.measured, err = metric.ProgressiveOf(measured); err != nil || l.plan == nil {
		return err
	}
	if l.binder, err = keyed.NewLearning(l.plan, l.index, l.names); err == nil && l.counts.Pass > 0 {
		l.binder.EndPass()
	}
	return err
}

func readNames(r *safetensors.Reader, count int) (*keyed.Names, error) {
	var text []byte
	var ends []int64
	if err := cmp.Or(safetensors.Load(r, &text, "learn.names.text"), safetensors.Load(r, &ends, "learn.names.ends")); err != nil {
		return nil, err
	}
	if len(ends) != count {
		return nil, fmt.Errorf("%d names for %d features: the file is damaged", len(ends), count)
	}
	return keyed.NamesOf(text, ends)
}

// targets is the policy for rows without one, "" where they are refused.
func (a *asked) targets() string {
	if a.DropTarget {
		return "drop-target"
	}
	return ""
}

// same refuses what differs from a checkpoint.
func (a asked) same(stored *asked) error {
	for _, o := range []struct{ what, have, want string }{
		{"engine", a.Engine, stored.Engine}, {"prior", a.Prior, stored.Prior}, {"formula", a.Formula, stored.Formula},
		{"target", a.Target, stored.Target}, {"positive class", a.Positive, stored.Positive}, {"policy for missing values", a.Missing, stored.Missing},
		{"column of times", a.Time, stored.Time}, {"policy for missing targets", a.targets(), stored.targets()},
		{"hold-out of one row in", fmt.Sprint(a.HoldOut), fmt.Sprint(stored.HoldOut)},
	} {
		if o.have != o.want {
			return fmt.Errorf("the checkpoint has %s %s, not %s: go on with the same options, or begin anew", o.what, cmp.Or(o.want, "left open"), cmp.Or(o.have, "left open"))
		}
	}
	return nil
}

// From returns a learner of new rows for which the posterior of the checkpoint at path is the prior: its
// evidence counts share of what it did, 0 < share ≤ 1, and what the engine learns of its prior is learned on.
// Options that are left out are those of the checkpoint; others are refused where they differ.
func From(path string, options fit.Options, share float64) (*Learner, error) {
	if !(share > 0 && share <= 1) {
		return nil, &fit.Misuse{Err: fmt.Errorf("a share of %v is not above 0 and at most 1", share)}
	}
	var doc document
	r, err := kind.Read(path, &doc)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	doc.Asked.complete(&options)
	l, err := New(options)
	if err != nil {
		return nil, completed(path, err)
	}
	if able, ok := l.online.(interface{ Continues() error }); ok {
		if err := able.Continues(); err != nil {
			return nil, &fit.Misuse{Option: "engine", Err: fmt.Errorf("%s: %w", l.engine.Call, err)}
		}
	}
	c := &doc.Counts
	before := c.different(l.engine.Passes)
	*c = counts{Before: before, Rows: before, Slots: c.Slots, Positives: c.Positives, Weight: c.Weight}
	if err := l.restore(&doc, r); err != nil {
		return nil, fmt.Errorf("%s: %w; fetch it again, or begin anew without it", path, err)
	}
	l.measured = &metric.Progressive{}
	online, ok := l.online.(ability.Continuer)
	if !ok {
		return nil, &fit.Misuse{Err: fmt.Errorf("engine %s cannot start from what it knows: learn all rows at once", l.engine.Engine)}
	}
	online.Continue(share)
	return l, nil
}

// Known returns how many rows the run of the checkpoint at path has learned, with those it started from.
func Known(path string) (rows int64, err error) {
	var doc document
	if err := kind.Peek(path, &doc); err != nil {
		return 0, err
	}
	return doc.Counts.Rows, nil
}
