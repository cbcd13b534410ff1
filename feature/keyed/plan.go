package keyed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
)

// Format is the version of plans.
const Format = 2

// Plan says which keys and values the rows of a table have. It is plain data: a model stores it, so
// that prediction repeats what training did.
type Plan struct {
	Format int `json:"format"`
	// Without a positive class 1 stands against 0 or -1, and true against false.
	frame.Roles
	// Reading says how the texts of training became values.
	Reading credence.Reading `json:"reading,omitzero"`
	// NoIntercept says that the model has none.
	NoIntercept bool    `json:"no_intercept,omitempty"`
	Inputs      []Input `json:"inputs,omitempty"`
	Terms       []Term  `json:"terms,omitempty"`
	Bags        []Bag   `json:"bags,omitempty"`
}

// Role says what an input is to a term.
type Role string

// The roles. AsValue is a number, or a level where its column is a category.
const (
	AsValue     Role = ""
	AsLevel     Role = "level"     // the trimmed text of the cell, whatever its column is, or a part of a date
	AsNamespace Role = "namespace" // every feature of a namespace of Vowpal Wabbit text
	AsIndex     Role = "index"     // one index of libsvm text, such as x7
)

// Input is what terms take from a row.
type Input struct {
	Expr frame.Expr    `json:"expr"`
	Role Role          `json:"role,omitempty"`
	Kind credence.Kind `json:"kind"` // of its column, of AsValue
	// Unknown says that no row has had a value yet, so that Kind is not known.
	Unknown bool `json:"unknown,omitempty"`
	// Mean is the weighted mean of the values in the rows learned so far, which stands for a missing
	// one under the policies mean and indicator, and Seen the weight of those rows.
	Mean float64 `json:"mean,omitempty"`
	Seen float64 `json:"seen,omitempty"`
	// Fill stands for a missing level under the policy mean: the most frequent so far.
	Fill string `json:"fill,omitempty"`
	// Counts are the weights of the levels, by which Fill is found; a model has none.
	Counts map[string]float64 `json:"counts,omitempty"`
}

// Term is one feature for each combination of levels of its inputs, whose value is the product of
// its numbers.
type Term struct {
	Inputs []int `json:"inputs"`          // as written, which names the features
	Order  []int `json:"order,omitempty"` // places in Inputs in the order in which keys are crossed
	Power  int   `json:"power,omitempty"` // of the one number; 0 means 1
	Bits   int   `json:"bits,omitempty"`  // of the keys; 0 means all 64
}

// Bag is the sparse entries of a row: all but those of the namespaces or indices Except.
type Bag struct {
	Except []string `json:"except,omitempty"`
	Bits   int      `json:"bits,omitempty"`
}

// Limits of terms.
const (
	MaxBits  = 63 // more bits would shorten nothing
	MaxCross = 8  // inputs of a term
)

// Places are those of the inputs of a plan that is being made.
type Places map[place]int

// place tells an input from others.
type place struct {
	role  Role
	steps int
	text  string
}

// Add returns the place of an input, which it adds to the plan if need be.
func (s Places) Add(p *Plan, in Input) int {
	key := place{in.Role, len(in.Expr.Steps), in.Expr.String()}
	place, known := s[key]
	if !known {
		place = len(p.Inputs)
		p.Inputs, s[key] = append(p.Inputs, in), place
	}
	return place
}

// text says whether the input is the text of a cell.
func (in *Input) text() bool { return in.Role == AsLevel && len(in.Expr.Steps) == 0 }

// Name returns the input as names of features have it.
func (in *Input) name() string { return in.Expr.String() }

// Validate refuses what no row can be read by.
func (p *Plan) Validate() error {
	if p == nil {
		return fmt.Errorf("keyed: there is no plan of how rows become keys: the file is damaged: learn again")
	}
	if p.Format != Format {
		return fmt.Errorf("keyed: the plan has format %d and this version reads format %d: learn again", p.Format, Format)
	}
	bits := make([]int, 0, len(p.Terms)+len(p.Bags)+1)
	for i := range p.Inputs {
		switch in := &p.Inputs[i]; {
		case in.Expr.Column == "" && in.Role != AsNamespace || in.Role != AsValue && in.Role != AsLevel && len(in.Expr.Steps) > 0:
			return fmt.Errorf("keyed: input %d, %s, is no column: the file is damaged", i, in.Expr)
		case !slices.Contains([]Role{AsValue, AsLevel, AsNamespace, AsIndex}, in.Role) || in.Kind > credence.Category:
			return fmt.Errorf("keyed: input %s is a %s %q: the file is damaged", in.Expr, in.Kind, in.Role)
		}
	}
	for i := range p.Terms {
		t := &p.Terms[i]
		bits = append(bits, t.Bits)
		if len(t.Inputs) == 0 || len(t.Inputs) > MaxCross || len(t.Order) != len(t.Inputs) || t.Power < 0 || t.Power > 1 && len(t.Inputs) > 1 {
			return fmt.Errorf("keyed: term %d has %d inputs: cross up to %d", i, len(t.Inputs), MaxCross)
		}
		order := slices.Sorted(slices.Values(t.Order))
		for k, input := range t.Inputs {
			if order[k] != k || input < 0 || input >= len(p.Inputs) {
				return fmt.Errorf("keyed: term %d crosses what is not there: the file is damaged", i)
			}
		}
	}
	for _, bag := range p.Bags {
		bits = append(bits, bag.Bits)
	}
	for _, b := range bits {
		if b < 0 || b > MaxBits {
			return fmt.Errorf("keyed: bits=%d: use 1 to %d", b, MaxBits)
		}
	}
	exprs := p.Expressions()
	for i := range p.Inputs {
		exprs = append(exprs, &p.Inputs[i].Expr)
	}
	for _, e := range exprs {
		if err := e.ValidateRow(); err != nil {
			return fmt.Errorf("keyed: %w", err)
		}
	}
	return nil
}

// Sparse says that the plan takes sparse entries, not named columns.
func (p *Plan) Sparse() bool {
	return len(p.Bags) > 0 || slices.ContainsFunc(p.Inputs, func(in Input) bool { return in.Role == AsNamespace || in.Role == AsIndex })
}

// Needs returns the columns that rows must have, and those whose texts are needed; a column may be
// among both.
func (p *Plan) Needs() (values, texts []string) {
	have := map[string]bool{"": true}
	add := func(list *[]string, name string) {
		if !have[name] {
			*list, have[name] = append(*list, name), true
		}
	}
	for _, e := range p.Expressions() {
		add(&values, e.Column)
	}
	for i := range p.Inputs {
		if in := &p.Inputs[i]; in.Role == AsValue || in.Role == AsLevel && !in.text() {
			add(&values, in.Expr.Column)
		}
	}
	have = map[string]bool{}
	for i := range p.Inputs {
		if in := &p.Inputs[i]; in.text() {
			add(&texts, in.Expr.Column)
		}
	}
	return values, texts
}

// Kinds returns the kinds of the columns whose texts are levels: another file may have nothing but numbers there, or
// yes and no, and its texts are levels nonetheless. Numbers are read from a column of any kind.
func (p *Plan) Kinds() map[string]credence.Kind {
	kinds := map[string]credence.Kind{}
	for i := range p.Inputs {
		if in := &p.Inputs[i]; in.Role == AsValue && in.Kind == credence.Category && !in.Unknown {
			kinds[in.Expr.Column] = in.Kind
		}
	}
	return kinds
}

// label names a term whose inputs are no levels.
func (p *Plan) label(t *Term) string {
	names := make([]string, len(t.Inputs))
	for k, i := range t.Inputs {
		names[k] = p.Inputs[i].name()
	}
	text := strings.Join(names, ":")
	if t.Power > 1 {
		text = fmt.Sprintf("%s^%d", text, t.Power)
	}
	return text
}

// Fills says whether missing values are filled by running means, which are those of the rows before.
func (p *Plan) Fills() bool { return p.Missing == frame.Mean || p.Missing == frame.Indicator }
