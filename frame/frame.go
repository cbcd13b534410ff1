package frame

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/credence-ml/credence"
)

// Frame repeats on any table what [Fit] did to the training table. It is plain
// data: a model file stores it as JSON.
type Frame struct {
	Target *Target `json:"target,omitempty"`
	Inputs []Input `json:"inputs"` // the columns of Batch.X
	// Sparse is the width of Batch.Sparse, SegmentWidth that of the training table's
	// segment, which names such as x7 also reach when Sparse is 0.
	Sparse       int `json:"sparse,omitempty"`
	SegmentWidth int `json:"segment_width,omitempty"`
	credence.SparseNames
	Offset    []Expr `json:"offset,omitempty"`
	Weight    *Expr  `json:"weight,omitempty"`
	Precision *Expr  `json:"precision,omitempty"`
	Trials    *Expr  `json:"trials,omitempty"`

	Missing Policy `json:"missing"`
	Unseen  Unseen `json:"unseen"`
	Raw     bool   `json:"raw,omitempty"`
	// DropTarget leaves rows without a target out, whatever Missing says of inputs.
	DropTarget bool `json:"drop_target,omitempty"`
	// Reading says how the texts of the training table became values.
	Reading credence.Reading `json:"reading,omitzero"`

	Rows      int      `json:"rows"`                // training rows
	Dropped   int      `json:"dropped,omitempty"`   // rows left out of training
	WeightSum float64  `json:"weight_sum"`          // Rows where there are no weights
	Fractions int      `json:"fractions,omitempty"` // rows whose weight is no whole number
	Warnings  []string `json:"warnings,omitempty"`
	Remarks   []string `json:"remarks,omitempty"` // on what was done as was asked, or does no harm
}

// Input is a column of Batch.X: (value−Center)/Scale, a 0/1 value, or the code of a
// level.
type Input struct {
	Name   string        `json:"name"` // "log(price)", "zip", "age_missing"
	Expr   Expr          `json:"expr"`
	Kind   credence.Kind `json:"kind"`             // with transforms Category only where Expr is a level
	Levels []string      `json:"levels,omitempty"` // of a Category: level i has code i
	Center float64       `json:"center,omitempty"`
	Scale  float64       `json:"scale"`
	// Fill stands for a missing value, before centring and scaling: a number, or a level's code.
	Fill float64 `json:"fill,omitempty"`
	// Ends are the least and the largest value of a number in the training rows, before centring and scaling.
	Ends *[2]float64 `json:"ends,omitempty"`
	// Indicates says that the input is 1 where Expr's column is missing and 0 elsewhere.
	Indicates bool `json:"indicates,omitempty"`
	// Segment says that the column comes from the sparse segment.
	Segment bool `json:"segment,omitempty"`
}

// Target is how the target becomes the number that the likelihood sees.
type Target struct {
	Expr Expr          `json:"expr"`
	Mode Mode          `json:"mode"` // Numbers, Classes or Grades
	Kind credence.Kind `json:"kind"` // of the training column
	// Levels of Classes are what counts as 0, "" for everything else than the other,
	// and what counts as 1; of Grades, all grades ascending.
	Levels []string `json:"levels,omitempty"`
	// Words are the levels of a boolean as the training data write them, "yes" for "true"; none where that is not
	// known.
	Words []string `json:"words,omitempty"`
	// Mean and Variance are weighted, over the training rows, of what the likelihood sees.
	Mean     float64 `json:"mean"`
	Variance float64 `json:"variance"`
	// LogSlope is Σ w log |dy/dx| over the training rows, where the target y is an invertible transform of
	// its column x: the log evidence of x is that of y plus LogSlope. It is nil without a transform, and
	// where it is no number, as for sqrt(x) at x = 0.
	LogSlope *float64 `json:"log_slope,omitempty"`
}

// Positive returns the class that counts as 1, "" for other targets.
func (t *Target) Positive() string {
	if t == nil || t.Mode != Classes {
		return ""
	}
	return t.Classes()[1]
}

// Classes names what counts as 0 and as 1, or all grades, as the training data write them.
func (t *Target) Classes() []string {
	if t.Words != nil {
		return t.Words
	}
	return t.Levels
}

// TargetName is the target as the formula writes it, "log(price)", or "".
func (f *Frame) TargetName() string {
	if f.Target == nil {
		return ""
	}
	return f.Target.Expr.String()
}

// Lenient reports whether the levels of an expression may be others than those of training.
func (f *Frame) Lenient(e *Expr) bool {
	return f.Unseen == AtPrior || e.Keyed || e.Idle || e.Grouped && f.Unseen == ""
}

// drops says which columns a row is left out for that lacks their value; nil where none is left out.
func (f *Frame) drops() func(column string) bool {
	if roles := f.Roles(); roles.Missing == Drop || roles.DropTarget && f.Target != nil {
		return roles.Drops
	}
	return nil
}

// Roles returns what columns are beside inputs, and what is done about missing values.
func (f *Frame) Roles() Roles {
	roles := Roles{Weight: f.Weight, Offset: f.Offset, Precision: f.Precision, Trials: f.Trials, Missing: f.Missing, DropTarget: f.DropTarget}
	if f.Target != nil {
		roles.Target = &f.Target.Expr
	}
	return roles
}

// ModelInputs describes the batches that the frame makes.
func (f *Frame) ModelInputs() credence.Inputs {
	inputs := credence.Inputs{Segment: f.Sparse}
	if f.Sparse > 0 {
		inputs.SparseNames = f.SparseNames
	}
	for i := range f.Inputs {
		in := &f.Inputs[i]
		inputs.Dense = append(inputs.Dense, credence.Input{
			Column: credence.Column{Name: in.Name, Kind: in.Kind, Levels: in.Levels},
			Center: in.Center, Scale: in.Scale,
		})
	}
	return inputs
}

// Schema describes the columns of the training table that the frame uses, so that a later table is read
// in the same way.
func (f *Frame) Schema() *credence.Schema {
	return &credence.Schema{Columns: f.Columns(), Sparse: f.SegmentWidth, SparseNames: f.SparseNames, Reading: f.Reading}
}

// Fingerprint names the frame by its contents: equal frames have equal fingerprints, on every machine.
func (f *Frame) Fingerprint() string {
	text, err := json.Marshal(f)
	if err != nil { // a number that JSON lacks, which no frame that was fitted or validated has
		text = fmt.Append(nil, f)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// Columns returns the columns of the training table that the frame uses, with
// their kinds and the levels that it knows, so that a later table can be read in
// the same way. Columns of the sparse segment are not among them.
func (f *Frame) Columns() []credence.Column {
	var columns []credence.Column
	known := map[string]bool{}
	add := func(e *Expr, kind credence.Kind, levels []string) {
		if e == nil || e.Column == "" || known[e.Column] {
			return
		}
		known[e.Column] = true
		columns = append(columns, credence.Column{Name: e.Column, Kind: kind, Levels: levels})
	}
	number := func(e *Expr) {
		if e != nil && f.SparseIndex(f.SegmentWidth, e.Column) < 0 {
			add(e, credence.Numeric, nil)
		}
	}
	if f.Target != nil {
		levels := f.Target.Levels
		if f.Target.Kind != credence.Category || len(levels) == 0 || levels[0] == "" {
			levels = nil
		}
		add(&f.Target.Expr, f.Target.Kind, levels)
	}
	for i := range f.Inputs {
		in := &f.Inputs[i]
		if in.Segment {
			continue
		}
		kind, levels := in.Kind, in.Levels
		if in.Indicates || len(in.Expr.Steps) > 0 {
			kind, levels = credence.Numeric, nil
		}
		add(&in.Expr, kind, levels)
	}
	for i := range f.Offset {
		number(&f.Offset[i])
	}
	number(f.Weight)
	number(f.Precision)
	number(f.Trials)
	return columns
}
