package formula

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/spec"
)

// AnyKind is the kind of a column of which nothing is known.
const AnyKind = ^credence.Kind(0)

// Check says what is wrong with the text of a formula whatever the table: its
// grammar, unknown functions and arguments, values out of range, the target among
// the terms, files that no one opens, and what this version does not do. What Check passes may still
// not fit a table.
func Check(text string, options Options) error {
	_, err := CheckPlan(text, options)
	return err
}

// CheckPlan is Check for who asks more of the formula. The plan that it returns is of a table of which
// nothing is known: it has every column that the formula names, and "." stands for two columns.
func CheckPlan(text string, options Options) (*Plan, error) {
	tree, err := parse(text)
	if err != nil {
		return nil, err
	}
	return compile(tree, nil, options)
}

// unknownColumns are what "." stands for among unknown columns: names that no table has.
func unknownColumns() []string { return []string{"\x00", "\x00\x00"} }

// unknownTarget stands for the target of a table that has one by itself.
const unknownTarget = "\x00\x00\x00"

// parse reads the text of a formula. An empty one is every other column.
func parse(text string) (spec.Formula, error) {
	if isBlank(text) {
		return spec.Formula{Terms: []spec.Term{{Expr: spec.Dot{}}}}, nil
	}
	return spec.ParseFormula(text)
}

// Canonical is the text of a formula in canonical spacing, or as it stands where it is none.
func Canonical(text string) string {
	tree, err := parse(text)
	if err != nil {
		return text
	}
	return tree.String()
}
