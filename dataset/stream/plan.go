package stream

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence/internal/keyhash"
)

// Format is a text format of rows.
type Format string

// The formats.
const (
	FormatLibSVM Format = "libsvm"
	FormatVW     Format = "vw"
	FormatCSV    Format = "csv"
	FormatTSV    Format = "tsv"
)

// Plan says how rows of text become features. It is plain data: a model file
// stores it, so that prediction repeats what training did.
//
// Columns are those of a table, or the namespaces of Vowpal Wabbit text. libsvm
// text has none: only All and Bits concern it.
type Plan struct {
	Format   Format `json:"format"`
	Target   string `json:"target,omitempty"`   // column of a table
	Positive string `json:"positive,omitempty"` // the class that counts as 1
	Negative string `json:"negative,omitempty"` // the only other class; empty means all others
	Weight   string `json:"weight,omitempty"`   // column of row weights
	Offset   Term   `json:"offset,omitzero"`    // number added to the latent score
	// All takes every column that is not named by a term of its own, in Except,
	// or as target, weight or offset.
	All    bool     `json:"all,omitempty"`
	Tokens bool     `json:"tokens,omitempty"` // All takes numbers as tokens
	Bits   int      `json:"bits,omitempty"`   // of the keys of All; 0 means all 64
	Except []string `json:"except,omitempty"`
	Terms  []Term   `json:"terms,omitempty"`
	// Numbers are the columns of a table that are numbers where they are not
	// taken as tokens; the others are categories.
	Numbers []string `json:"numbers,omitempty"`
}

// Term is one column, or several crossed.
type Term struct {
	Columns []string `json:"columns,omitempty"`
	// Transforms of a single column of numbers, the innermost first: log, sqrt,
	// exp, square.
	Transforms []string `json:"transforms,omitempty"`
	Tokens     bool     `json:"tokens,omitempty"` // numbers are taken as tokens
	Bits       int      `json:"bits,omitempty"`   // of the keys; 0 means all 64
}

// String returns the term as a formula writes it.
func (t Term) String() string {
	s := strings.Join(t.Columns, ":")
	for _, transform := range t.Transforms {
		s = transform + "(" + s + ")"
	}
	return s
}

// MaxBits is the most bits that shorten a key; more would shorten nothing.
const MaxBits = 63

// Validate refuses what no parser can follow.
func (p *Plan) Validate() error {
	switch p.Format {
	case FormatLibSVM, FormatVW, FormatCSV, FormatTSV:
	default:
		return fmt.Errorf("stream: format %q: use %s, %s, %s or %s", p.Format, FormatLibSVM, FormatVW, FormatCSV, FormatTSV)
	}
	if !p.All && len(p.Terms) == 0 {
		return fmt.Errorf("stream: no column is a feature: name some")
	}
	bits := []int{p.Bits}
	for _, t := range append(slices.Clone(p.Terms), p.Offset) {
		bits = append(bits, t.Bits)
		for _, name := range t.Transforms {
			if _, known := transform(name); !known {
				return fmt.Errorf("stream: transform %q: a stream has log, sqrt, exp and square", name)
			}
		}
		if len(t.Transforms) > 0 && (len(t.Columns) != 1 || t.Tokens) {
			return fmt.Errorf("stream: %s: transforms are for single columns of numbers", t)
		}
	}
	for _, b := range bits {
		if b < 0 || b > MaxBits {
			return fmt.Errorf("stream: bits=%d: use 1 to %d", b, MaxBits)
		}
	}
	for _, t := range p.Terms {
		if len(t.Columns) == 0 || len(t.Columns) > maxCross {
			return fmt.Errorf("stream: a term of %d columns: cross up to %d", len(t.Columns), maxCross)
		}
	}
	if table := p.Format == FormatCSV || p.Format == FormatTSV; !table {
		if p.Weight != "" || len(p.Offset.Columns) > 0 {
			return fmt.Errorf("stream: %s text has no columns for weight and offset: use CSV", p.Format)
		}
		if p.Format == FormatLibSVM && (len(p.Terms) > 0 || len(p.Except) > 0) {
			return fmt.Errorf("stream: libsvm text has no columns to name: use . for all of it")
		}
		for _, t := range p.Terms {
			if len(t.Transforms) > 0 {
				return fmt.Errorf("stream: %s: namespaces are not transformed", t)
			}
		}
	}
	return nil
}

// maxCross is the most columns that are crossed.
const maxCross = 4

// NewParser returns a parser that follows the plan. requireTarget says that a
// row without a label is malformed. named says that the texts of features are wanted.
func (p *Plan) NewParser(requireTarget, named bool) (Parser, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	labels := Labels{Positive: p.Positive, Negative: p.Negative, Optional: !requireTarget}
	switch p.Format {
	case FormatLibSVM:
		return &LibSVM{Labels: labels, Bits: p.Bits}, nil
	case FormatVW:
		return newVW(p, labels, named), nil
	}
	return newTable(p, labels, named), nil
}

// transform returns the function of that name.
func transform(name string) (func(float64) float64, bool) {
	switch name {
	case "log":
		return math.Log, true
	case "sqrt":
		return math.Sqrt, true
	case "exp":
		return math.Exp, true
	case "square":
		return func(x float64) float64 { return x * x }, true
	}
	return nil, false
}

// space returns the key of a column or namespace.
func space(name string) uint64 { return keyhash.Space(name) }

// numberKey returns the key of a column of numbers.
func numberKey(space uint64) uint64 { return keyhash.Number(space) }
