package frame

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
)

// Plan says what of a table a model needs. It is what a formula compiles to
// before any data are read.
type Plan struct {
	Target *Expr  // nil: no target
	Inputs []Expr // distinct; in the order of the columns of Batch.X
	Sparse bool   // the table's sparse segment enters the model
	Offset []Expr // added up
	Weight *Expr
	// Precision divides the dispersion of a row.
	Precision *Expr
	Trials    *Expr
}

// Policy says what to do about missing values; see the package comment.
type Policy string

// The policies. The empty one is Refuse.
const (
	Refuse    Policy = "refuse"
	Mean      Policy = "mean"
	Indicator Policy = "indicator"
	Drop      Policy = "drop"
)

// Unseen says what to do about levels that training did not see.
type Unseen string

// The ways. The empty one is RefuseUnseen, but for groups, which have a law: AtPrior.
const (
	RefuseUnseen Unseen = "refuse"
	// AtPrior scores another level by the law of its block: mean 0, and the prior variance that was learned.
	AtPrior Unseen = "prior"
)

// formerZero is what model files of earlier versions have for AtPrior: the mean alone.
const formerZero Unseen = "zero"

// Mode says how a target is to be read.
type Mode string

// The modes. Automatic is decided by the training rows.
const (
	Automatic Mode = ""
	Numbers   Mode = "numbers"
	Classes   Mode = "classes" // 0 or 1
	Grades    Mode = "grades"  // whole numbers, numbered from 0 in ascending order
)

// Options are what a user may choose about a frame. The zero value refuses
// missing values and unseen levels, scales, and decides by the data how to read the target.
type Options struct {
	Missing Policy
	// DropTarget leaves rows without a target out, whatever Missing says of inputs.
	DropTarget bool
	Unseen     Unseen
	Raw        bool   // scale nothing
	Mode       Mode   // how to read the target
	Positive   string // the class that counts as 1, against all the rest; implies Classes
	// CheckTarget says what is wrong with a target in mode Numbers and its trials (0 where
	// the plan has none); nil accepts every number.
	CheckTarget func(target, trials float64) error
}

// Validate returns the options with defaults spelled out, or says which one is none. "error" is
// another word for refusing.
func (o Options) Validate() (Options, error) {
	if o.Missing == "" || o.Missing == "error" {
		o.Missing = Refuse
	}
	if !slices.Contains([]Policy{Refuse, Mean, Indicator, Drop}, o.Missing) {
		return o, fmt.Errorf("frame: missing values cannot be treated by %q: use error, mean, indicator or drop", o.Missing)
	}
	if o.Unseen == "error" {
		o.Unseen = RefuseUnseen
	}
	switch o.Unseen {
	case "", RefuseUnseen, AtPrior:
	case formerZero:
		return o, errors.New("frame: unseen levels are no longer treated by \"zero\", whose intervals were too narrow: use prior, which adds the variance of the levels to the prediction")
	default:
		return o, fmt.Errorf("frame: unseen levels cannot be treated by %q: use error or prior", o.Unseen)
	}
	if o.Positive != "" {
		if o.Mode == Numbers {
			return o, fmt.Errorf("frame: a positive class (%s) makes no sense for a target of numbers: leave out --positive or choose --family bernoulli", o.Positive)
		}
		o.Mode = Classes
	}
	return o, nil
}

// expressions returns all expressions, nil where there is none.
func (p *Plan) expressions() []*Expr {
	roles := p.Roles()
	all := roles.Expressions()
	for i := range p.Inputs {
		all = append(all, &p.Inputs[i])
	}
	return all
}

// Roles returns what columns are beside inputs.
func (p *Plan) Roles() Roles {
	return Roles{Target: p.Target, Weight: p.Weight, Offset: p.Offset, Precision: p.Precision, Trials: p.Trials}
}

func (p *Plan) validate() error {
	for i, input := range p.Inputs {
		if input.Column == "" {
			return fmt.Errorf("frame: input %d is the constant %s: name a column", i+1, number(input.Value))
		}
	}
	if p.Target != nil && p.Target.Column == "" {
		return fmt.Errorf("frame: the target is the constant %s: name a column", number(p.Target.Value))
	}
	for _, e := range []*Expr{p.Weight, p.Precision, p.Trials} {
		if e != nil && slices.ContainsFunc(e.Steps, func(s Step) bool { return s.Function.learned() }) {
			return fmt.Errorf("frame: %s takes its mean from the data: weights, precisions and trials cannot be centred", e)
		}
	}
	for _, e := range p.expressions() {
		if err := e.validate(false); err != nil {
			return err
		}
	}
	return nil
}

// Fit reads the training table and fixes everything that prediction must repeat: a [Census] of all its rows.
// Errors name the column and the row, and every column with missing values at once.
func Fit(ctx context.Context, plan *Plan, source credence.Source, options Options) (*Frame, error) {
	if source == nil {
		return nil, errors.New("frame: there is no table: give a credence.Source, as table.Structs or dataset.Open make")
	}
	c, err := NewCensus(plan, source.Schema(), 0, options)
	if err != nil {
		return nil, err
	}
	for {
		if err := c.AddAll(ctx, source); err != nil {
			return nil, err
		}
		more, err := c.Next()
		if err != nil {
			return nil, err
		}
		if !more {
			return c.Frame()
		}
	}
}

// newFrame returns a frame with everything that needs no data.
func newFrame(plan *Plan, options Options) *Frame {
	f := &Frame{Missing: options.Missing, DropTarget: options.DropTarget, Unseen: options.Unseen, Raw: options.Raw}
	if plan.Target != nil {
		f.Target = &Target{Expr: plan.Target.clone(), Mode: options.Mode}
	}
	if f.Unseen == "" && !slices.ContainsFunc(plan.Inputs, func(e Expr) bool { return e.Grouped }) {
		f.Unseen = RefuseUnseen
	}
	f.Inputs = make([]Input, len(plan.Inputs))
	for i, e := range plan.Inputs {
		f.Inputs[i] = Input{Name: e.String(), Expr: e.clone(), Scale: 1}
	}
	for _, e := range plan.Offset {
		f.Offset = append(f.Offset, e.clone())
	}
	if plan.Weight != nil {
		f.Weight = new(plan.Weight.clone())
	}
	if plan.Precision != nil {
		f.Precision = new(plan.Precision.clone())
	}
	if plan.Trials != nil {
		f.Trials = new(plan.Trials.clone())
	}
	return f
}

// expressions returns the frame's expressions, with or without those that only
// rows with a target need.
func (f *Frame) expressions(withTarget bool) []*Expr {
	var all []*Expr
	for i := range f.Inputs {
		all = append(all, &f.Inputs[i].Expr)
	}
	for i := range f.Offset {
		all = append(all, &f.Offset[i])
	}
	all = append(all, f.Precision, f.Trials)
	if withTarget {
		all = append(all, f.Weight)
		if f.Target != nil {
			all = append(all, &f.Target.Expr)
		}
	}
	return all
}
