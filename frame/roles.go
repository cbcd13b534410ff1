package frame

import (
	"fmt"
	"slices"
)

// Roles say what columns of a table are beside inputs, for models of columns and of keys alike, and what is done about
// rows that lack a value.
type Roles struct {
	Target *Expr `json:"target,omitempty"` // nil: none
	// Positive is the class that counts as 1, and Negative the only other; without it, all others. Without both the
	// data say what the classes are.
	Positive  string `json:"positive,omitempty"`
	Negative  string `json:"negative,omitempty"`
	Weight    *Expr  `json:"weight,omitempty"`    // how many times a row counts
	Offset    []Expr `json:"offset,omitempty"`    // added up
	Precision *Expr  `json:"precision,omitempty"` // divides the dispersion of a row
	Trials    *Expr  `json:"trials,omitempty"`
	Time      *Expr  `json:"time,omitempty"` // when a row came; nil where nobody asks
	Missing   Policy `json:"missing,omitempty"`
	// DropTarget leaves rows without a target out, whatever Missing says of inputs.
	DropTarget bool `json:"drop_target,omitempty"`
}

// TargetColumn returns the column of the target, "" where there is none.
func (r *Roles) TargetColumn() string {
	if r.Target == nil {
		return ""
	}
	return r.Target.Column
}

// Drops says whether a row that lacks the value of a column is left out.
func (r *Roles) Drops(column string) bool {
	return r.Missing == Drop || r.DropTarget && r.Target != nil && column == r.Target.Column
}

// Labels returns what reads the classes of the target: those that are named, or 1 against 0 or -1.
func (r *Roles) Labels() []string {
	if r.Positive == "" {
		return nil
	}
	return []string{r.Negative, r.Positive}
}

// Expressions returns all that is read in the roles, in their order.
func (r *Roles) Expressions() []*Expr {
	all := []*Expr{r.Target, r.Weight, r.Precision, r.Trials, r.Time}
	for i := range r.Offset {
		all = append(all, &r.Offset[i])
	}
	return slices.DeleteFunc(all, func(e *Expr) bool { return e == nil })
}

// BadWeight refuses what is no weight of a row, by the expression that says it.
func BadWeight(e string, w float64) error {
	return fmt.Errorf("weight %s is %s: weights must be 0 or more; correct the row or leave it out", e, number(w))
}

func badPrecision(e *Expr, p float64) error {
	return fmt.Errorf("precision %s is %s: precisions must be above 0; correct the row or leave it out", e, number(p))
}
