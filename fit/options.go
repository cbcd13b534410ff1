package fit

import (
	"errors"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
)

// Options say what to fit. They are plain data, read from JSON.
type Options struct {
	Formula string `json:"formula,omitempty"` // "" is every column but the target
	Family  string `json:"family,omitempty"`  // "" is decided by the engine, else by the target
	Prior   string `json:"prior,omitempty"`   // "" is decided by the engine, most often normal
	Engine  string `json:"engine,omitempty"`  // "" is auto
	Seed    uint64 `json:"seed,omitempty"`    // of every random draw, see [credence.Purpose]; 0 is one like any other

	Target   string       `json:"target,omitempty"`   // of a formula that names none
	Positive string       `json:"positive,omitempty"` // the class that counts as 1, against all the rest
	Missing  frame.Policy `json:"missing,omitempty"`  // "" refuses missing values
	// DropTarget leaves rows without a target out, whatever Missing says of inputs.
	DropTarget bool         `json:"drop_target,omitempty"`
	Unseen     frame.Unseen `json:"unseen,omitempty"` // "" refuses levels that training did not see, but of groups
	Raw        bool         `json:"raw,omitempty"`    // do not centre and scale columns
	// Types are the kinds of columns that the reader of the table was told, as dataset.ParseTypes reads them, for the
	// recipe: a table has its kinds already.
	Types string `json:"types,omitempty"`

	// PriorOdds are prior odds of inclusion of some features, with a prior that selects; the others share the
	// inclusion of the prior.
	PriorOdds []Odds `json:"prior_odds,omitempty"`

	// HoldOut is, of rows learned online, every which is scored in each pass and learned in none; 0 is none.
	HoldOut int64 `json:"hold_out,omitempty"`

	// Time is, of rows learned online, the column that says when they came, for sep(half_life=); the
	// formula has it as an input only where it names it.
	Time string `json:"time,omitempty"`

	// HalfLife is, of rows learned online, the time after which the evidence of a row counts half: 7d, 12h or 30m for a
	// column of dates, or a number in the unit of the column. It is sep(half_life=), in days of dates.
	HalfLife string `json:"half_life,omitempty"`

	Threads int   `json:"threads,omitempty"` // 0 means every processor; the result does not depend on it
	Memory  int64 `json:"memory,omitempty"`  // bytes that a fit may take; 0 means what the machine has free
	// Checkpoint is a file that a long fit writes, and goes on from where it is of the same engine, data, model and
	// options; another is refused. Rows learned online have a file of another kind, see learn.Resume.
	Checkpoint string `json:"checkpoint,omitempty"`

	ReadFile func(path string) ([]byte, error) `json:"-"` // opens the files that a formula names; nil refuses them
	Progress func(credence.Progress)           `json:"-"` // called between steps, on the caller's goroutine
	Registry *Registry                         `json:"-"` // the parts that texts may name; nil means Default
}

// ErrMisuse is what errors.Is finds in every error that no data could mend: the grammar of a text,
// the name of a part, a value out of range, a model that the engine refuses.
var ErrMisuse = errors.New("misuse")

// Misuse is an error that no data could mend.
type Misuse struct {
	Option string // the option that is wrong, as JSON names it; "" if several do not go together
	Err    error
}

// Error names the option first.
func (m *Misuse) Error() string {
	if m.Option == "" {
		return m.Err.Error()
	}
	return m.Option + ": " + m.Err.Error()
}

// Unwrap returns what is wrong.
func (m *Misuse) Unwrap() error { return m.Err }

// Is reports whether target is [ErrMisuse].
func (m *Misuse) Is(target error) bool { return target == ErrMisuse }

// validate refuses numbers out of range.
func (o *Options) validate() error {
	switch {
	case o.Threads < 0 || o.Threads > credence.MostThreads:
		return &Misuse{"threads", fmt.Errorf("there cannot be %d: use 1 to %d, or 0 for all processors", o.Threads, credence.MostThreads)}
	case o.HoldOut < 0 || o.HoldOut == 1:
		return &Misuse{"hold_out", fmt.Errorf("one row in %d cannot be held out: use 10 for one in ten, or 0 for none", o.HoldOut)}
	case o.Memory < 0:
		return &Misuse{"memory", fmt.Errorf("%d bytes is negative: use 0 for what the machine has free", o.Memory)}
	}
	return nil
}
