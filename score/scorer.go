package score

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/likelihood"
)

// Options say how a model is applied. They are plain data, read from JSON.
type Options struct {
	Missing frame.Policy `json:"missing,omitempty"` // "": as the model was fitted
	Unseen  frame.Unseen `json:"unseen,omitempty"`  // "": as the model was fitted
	// DropTarget leaves rows without a target out of an evaluation, as a model fitted so does by itself.
	DropTarget bool    `json:"drop_target,omitempty"`
	Interval   float64 `json:"interval,omitempty"` // probability from lower to upper; 0 means 0.9
	Threads    int     `json:"threads,omitempty"`  // 0 means every processor; the result does not depend on it
	// Lacking answers a row that lacks a value by no numbers, where the model leaves such rows out: to predict is
	// to answer every row. Otherwise it is an error.
	Lacking  bool `json:"lacking,omitempty"`
	Original bool `json:"original,omitempty"` // of log(price), predict price
	// Calibrating scores by the model as it was fitted, for a [Calibration] by the values of the column By, or by all
	// rows together.
	Calibrating bool   `json:"calibrating,omitempty"`
	By          string `json:"by,omitempty"`
	// Groups are the terms of groups whose effects are predicted, by their names or those of their groups: "(1 |
	// school)" or "school"; "none" alone is none, and rows are those of typical groups. Nil means all.
	Groups []string `json:"groups,omitempty"`
}

// Scorer applies a model to rows. It is immutable.
type Scorer struct {
	fitted  *credence.Fitted
	frame   *frame.Frame // nil for a model of keys
	grades  []float64    // values of an ordinal target, whose likelihood counts them from 0; else nil
	binary  bool
	options Options
	back    *original // nil where predictions are of the target as the formula writes it
	tables  *credence.Tables
	by      string // column by whose values rows are calibrated, or will be
}

// New returns a scorer of a model, or says which option does not fit it.
func New(fitted *credence.Fitted, options Options) (*Scorer, error) {
	if fitted == nil {
		return nil, errors.New("there is no model: fit one, or load one by modelfile.Load")
	}
	s := &Scorer{fitted: fitted, options: options, tables: &credence.Tables{}}
	s.options.Interval = cmp.Or(options.Interval, 0.9)
	if !(s.options.Interval > 0 && s.options.Interval < 1) {
		return nil, fmt.Errorf("interval %v is not a probability between 0 and 1", options.Interval)
	}
	if len(fitted.Members) == 0 {
		return nil, errors.New("the model has no members: fit it first")
	}
	if options.Groups != nil {
		kept, err := keepGroups(fitted, options.Groups)
		if err != nil {
			return nil, err
		}
		fitted, s.fitted = kept, kept
	}
	_, kind := likelihood.Describe(fitted.Members[0].Model.Likelihood)
	s.binary = kind == likelihood.Classes
	if options.Calibrating {
		model := *fitted
		model.Calibration = nil
		s.fitted, s.by = &model, options.By
	} else if c := fitted.Calibration; c != nil {
		s.by = c.By
		if c.Classes != s.binary {
			return nil, errors.New("the calibration is that of another family: calibrate again")
		}
		if err := c.Carries(s.options.Interval); err != nil {
			return nil, err
		}
	}
	if options.Original {
		back, err := originalOf(fitted)
		if err != nil {
			return nil, err
		}
		s.back = back
	}
	switch stored := fitted.Frame.(type) {
	case *frame.Frame:
		s.grades = gradesOf(stored.Target)
		return s, s.change(stored)
	case *keyed.Frame:
		if s.by != "" {
			return nil, errors.New("the model was learned online, whose rows are keys: leave --by out, for a calibration by all rows together")
		}
		if options.Missing != "" || options.Unseen != "" {
			return nil, errors.New("the model was learned online, and treats missing and unseen values as it did then: leave --missing and --unseen out")
		}
		return s, nil
	}
	return nil, errors.New("the model holds no frame, so that it cannot be applied to a table: set Fitted.Frame before modelfile.Save, or fit with package fit")
}

// change sets the frame, with the policies of the options.
func (s *Scorer) change(stored *frame.Frame) error {
	checked, err := frame.Options{
		Missing: cmp.Or(s.options.Missing, stored.Missing), Unseen: cmp.Or(s.options.Unseen, stored.Unseen),
	}.Validate()
	if err != nil {
		return err
	}
	if checked.Missing == frame.Indicator && stored.Missing != frame.Indicator {
		return errors.New("the model has no indicators of missing values, because it was fitted without: use --missing mean, which fills in the means of training")
	}
	changed := *stored
	changed.Missing, changed.Unseen = checked.Missing, checked.Unseen
	changed.DropTarget = stored.DropTarget || s.options.DropTarget
	if s.options.Groups != nil {
		changed.Inputs = idleKeys(stored.Inputs, s.fitted)
	}
	s.frame = &changed
	return nil
}

// gradesOf returns the values of a target's grades, nil for other targets.
func gradesOf(target *frame.Target) []float64 {
	if target == nil || target.Mode != frame.Grades {
		return nil
	}
	grades := make([]float64, len(target.Levels))
	for k, level := range target.Levels {
		value, err := strconv.ParseFloat(level, 64)
		if err != nil {
			return nil
		}
		grades[k] = value
	}
	return grades
}

// Fitted returns the model.
func (s *Scorer) Fitted() *credence.Fitted { return s.fitted }

// Frame returns the model's frame with the policies of the options, nil for a model of keys.
func (s *Scorer) Frame() *frame.Frame { return s.frame }

// Schema returns the columns of training that the model uses, so that a table is read as it was then.
func (s *Scorer) Schema() *credence.Schema {
	schema := s.frame.Schema()
	if name := credence.TextOf(s.by); s.by != "" && schema.Index(name) < 0 {
		column := credence.Column{Name: name, Kind: credence.Category}
		if c := s.fitted.Calibration; c != nil {
			for _, g := range c.Groups[1:] {
				column.Levels = append(column.Levels, g.Value)
			}
		}
		schema.Columns = append(schema.Columns, column)
	}
	return schema
}

// Target returns the column of the target, "" if the model has none.
func (s *Scorer) Target() string {
	if s.frame == nil || s.frame.Target == nil {
		return ""
	}
	return s.frame.Target.Expr.Column
}

// Classes names the classes of the target in the order of [Rows.Probabilities]: two, the second of
// which is the positive one, or all grades; nil for numbers. The first is "" where it is all the rest.
func (s *Scorer) Classes() []string {
	if keys, ok := s.fitted.Frame.(*keyed.Frame); s.binary && ok {
		return []string{keys.Plan.Negative, cmp.Or(keys.Plan.Positive, "1")}
	}
	if s.frame == nil || s.frame.Target == nil || !s.binary && s.grades == nil {
		return nil
	}
	return s.frame.Target.Classes()
}

// Grades returns the values of an ordinal target, ascending; nil for other targets.
func (s *Scorer) Grades() []float64 { return s.grades }

// Original says whether predictions are of the target's own column, price of log(price), with their median.
func (s *Scorer) Original() bool { return s.options.Original }

// SpreadsLevels says whether the model knows how far levels lie apart, so that one that training does not have adds to
// the variance: engines that keep one value of each weight know no such thing.
func (s *Scorer) SpreadsLevels() bool {
	m := &s.fitted.Members[0].Model
	law, ok := m.Prior.(credence.UnseenPrior)
	return ok && slices.ContainsFunc(m.Features.Blocks(), func(b credence.Block) bool { return !b.Intercept && law.UnseenVariance(b) > 0 })
}

// Discrete says that the target is a whole number: a count, a grade or a class.
func (s *Scorer) Discrete() bool { return discrete(s.fitted) }

func discrete(fitted *credence.Fitted) bool {
	_, _, whole := likelihood.Support(fitted.Members[0].Model.Likelihood)
	return whole
}

// By returns the column by whose values rows are calibrated, "" where there is none.
func (s *Scorer) By() string { return s.by }

// Binary says that the target has two classes.
func (s *Scorer) Binary() bool { return s.binary }

// Momentless says why predictions have no mean or no variance, and what to do; "" where they have both.
func (s *Scorer) Momentless() string {
	least := math.Inf(1) // degrees of freedom of a Student t
	for i := range s.fitted.Members {
		if t, ok := s.fitted.Members[i].Model.Likelihood.(likelihood.StudentT); ok {
			least = math.Min(least, t.DegreesOfFreedom.Value)
		}
	}
	lacks := ""
	switch {
	case least <= 1:
		lacks = "neither mean nor variance"
	case least <= 2:
		lacks = "no variance"
	case s.back != nil && s.back.heavy:
		return fmt.Sprintf("%s has tails so heavy that %s has neither mean nor variance: median, lower and upper hold", s.back.expr, s.back.expr.Column)
	default:
		return ""
	}
	return fmt.Sprintf("studentt with %.3g degrees of freedom has %s: lower and upper hold; fit with df above 2, as studentt(df=4), for both", least, lacks)
}

// Targets says what is done with the targets of rows.
type Targets = frame.Targets

// The ways to treat targets.
const (
	IgnoreTargets  = frame.IgnoreTargets
	UseTargets     = frame.UseTargets
	RequireTargets = frame.RequireTargets
)

// Columns names the columns that the model needs of a table, and refuses a table that lacks one. A
// target that is used and not required may be lacking.
func (s *Scorer) Columns(schema *credence.Schema, targets Targets) ([]string, error) {
	places := schema.Places()
	columns := s.frame.Needs(targets == RequireTargets)
	if by := credence.TextOf(s.by); s.by != "" && !slices.Contains(columns, by) {
		if _, known := places[by]; !known {
			if _, known = places[s.by]; !known {
				return nil, fmt.Errorf("there is no column %q, by which the model is calibrated: add it to the table, whose columns are %s", s.by, cell.List(schema.Names()))
			}
		}
		columns = append(columns, by)
	}
	for _, name := range columns {
		of, _ := credence.CutText(name)
		_, known := places[name]
		if _, texts := places[of]; !known && !texts {
			return nil, fmt.Errorf("there is no column %q, which the model needs: add it to the table, whose columns are %s", name, cell.List(schema.Names()))
		}
	}
	target := s.Target()
	if _, known := places[target]; known && targets == UseTargets && !slices.Contains(columns, target) {
		columns = append(columns, target)
	}
	return columns, nil
}
