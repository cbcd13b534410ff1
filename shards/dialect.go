package shards

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
)

// dialect is how a database writes what the queries need.
type dialect struct {
	quote        string // around a name, doubled within
	number, text string // types
	// untyped says that a column holds numbers and texts side by side, in the printf of C
	untyped bool
}

var dialects = map[string]dialect{
	"bigquery":  {quote: "`", number: "FLOAT64", text: "STRING"},
	"duckdb":    {quote: `"`, number: "DOUBLE", text: "VARCHAR"},
	"postgres":  {quote: `"`, number: "DOUBLE PRECISION", text: "TEXT"},
	"snowflake": {quote: `"`, number: "DOUBLE", text: "VARCHAR"},
	"sqlite":    {quote: `"`, text: "TEXT", untyped: true},
}

// dialectOf returns the dialect of a name.
func dialectOf(name string) (dialect, error) {
	d, known := dialects[name]
	if !known {
		return d, &fit.Misuse{Option: "sql", Err: fmt.Errorf("%q is none of bigquery, duckdb, postgres, snowflake and sqlite", name)}
	}
	return d, nil
}

// name quotes the name of a column.
func (d *dialect) name(column string) string {
	column, _ = credence.CutText(column)
	return d.quote + strings.ReplaceAll(column, d.quote, d.quote+d.quote) + d.quote
}

// literal is a number that is a double in every dialect.
func literal(v float64) string { return "(" + strconv.FormatFloat(v, 'e', -1, 64) + ")" }

// print has an aggregate printed with all its digits.
func (d *dialect) print(aggregate string) string {
	if d.untyped {
		return "printf('%!.17g', " + aggregate + ")"
	}
	return aggregate
}

// column is a column as a number.
func (d *dialect) column(name string) string {
	if d.untyped { // a cast would make 0 of a text
		return d.name(name)
	}
	return "CAST(" + d.name(name) + " AS " + d.number + ")"
}

// expression is a number of a row; it refuses transforms that databases do not share.
func (d *dialect) expression(e *frame.Expr) (string, error) {
	x := d.column(e.Column)
	for i := range e.Steps {
		s := &e.Steps[i]
		when := func(condition, then, other string) string {
			return "(CASE WHEN " + condition + " THEN " + then + " ELSE " + other + " END)"
		}
		switch s.Function {
		case frame.Log:
			x = "LN(" + x + ")"
		case frame.Log1p:
			x = "LN(1e0 + " + x + ")"
		case frame.Sqrt, frame.Exp, frame.Abs:
			x = strings.ToUpper(string(s.Function)) + "(" + x + ")"
		case frame.Expm1:
			x = "(EXP(" + x + ") - 1e0)"
		case frame.Square:
			x = "(" + x + " * " + x + ")"
		case frame.Power:
			x = "(" + strings.Join(slices.Repeat([]string{x}, int(s.At)), " * ") + ")"
		case frame.Above, frame.Below, frame.AtLeast, frame.AtMost, frame.Equal, frame.NotEqual:
			symbol := map[frame.Function]string{frame.Equal: "=", frame.NotEqual: "<>"}[s.Function]
			if symbol == "" {
				symbol = string(s.Function)
			}
			x = when(x+" "+symbol+" "+literal(s.At), "1e0", when(x+" IS NULL", "NULL", "0e0"))
		case frame.Clip:
			x = when(x+" < "+literal(s.At), literal(s.At), when(x+" > "+literal(s.To), literal(s.To), x))
		default:
			return "", fmt.Errorf("%s: databases have no %s in common: make a view that has it as a column, or fit on one machine", e, s.Function)
		}
	}
	return x, nil
}
