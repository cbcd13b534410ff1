package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/table"
)

const (
	// offendingTexts of a column are named in an error; more make it a category.
	offendingTexts = 8
	// mostOffending texts of a column are gathered.
	mostOffending = 1000
)

// Offending is a failure at a cell that is no number or no boolean, with what else cannot be read behind it: reading
// goes on, so that one command mends all.
type Offending struct {
	table *Table
	first *text.Error
	most  int // texts in all
	found []offending
	texts int
}

// offending is what cannot be read in a column of numbers or booleans.
type offending struct {
	column string
	texts  []string // distinct, in the order of the rows
	rows   int
}

// Offending returns the failure of a reading at a cell, to which [Offending.Add] adds what follows, up to so many
// different texts; nil of other failures.
func (t *Table) Offending(failure error) *Offending { return t.offending(failure, offendingTexts) }

func (t *Table) offending(failure error, most int) *Offending {
	var first *text.Error
	if !errors.As(failure, &first) || first.Column == "" || first.Text == "" || t.format == formatParquet {
		return nil
	}
	if _, is := cell.WithoutRemedy(first.What); !is {
		return nil
	}
	return &Offending{table: t, first: first, most: most}
}

// Add adds rows that cannot be read, the first of all among them. It reports whether there may be more to add.
func (o *Offending) Add(faults []table.Fault) bool {
	for _, f := range faults {
		if e, is := f.Err.(*text.Error); is && e.Text != "" && e.Column != "" {
			o.add(e)
			for _, also := range e.Also {
				o.add(also)
			}
		}
	}
	return o.texts <= o.most
}

func (o *Offending) add(e *text.Error) {
	at := slices.IndexFunc(o.found, func(c offending) bool { return c.column == e.Column })
	if at < 0 {
		at = len(o.found)
		o.found = append(o.found, offending{column: e.Column})
	}
	c := &o.found[at]
	c.rows++
	if !slices.Contains(c.texts, e.Text) && len(c.texts) < mostOffending {
		c.texts = append(c.texts, e.Text)
		o.texts++
	}
}

// Error names every text that cannot be read.
func (o *Offending) Error() string {
	worded, t := *o.first, o.table
	if len(o.found) > 0 && (len(o.found) > 1 || o.found[0].rows > 1 || t.Undecided(o.found[0].column)) {
		bare, _ := cell.WithoutRemedy(worded.What)
		worded.What = bare + t.others(o.found, o.texts > o.most)
	}
	return worded.Error()
}

// Unwrap returns the failure at the first cell.
func (o *Offending) Unwrap() error { return o.first }

// others names the texts behind the first, and what to do about all; more says that there may be others still.
func (t *Table) others(found []offending, more bool) string {
	var what strings.Builder
	var missing, types []string
	many, trained := false, false
	for k, o := range found {
		texts := o.texts
		if k == 0 {
			texts = texts[1:]
		}
		shown := make([]string, 0, offendingTexts)
		for _, name := range texts[:min(len(texts), offendingTexts)] {
			shown = append(shown, cell.Quote(name))
		}
		rest := len(texts) - len(shown)
		if len(o.texts) > offendingTexts {
			many = true
			rest = len(texts) - 3
			shown = shown[:3]
		}
		names, count := strings.Join(shown, ", "), " ("+countRows(o.rows)+")"
		if rest > 0 {
			names += fmt.Sprintf(" and %d other texts", rest)
		}
		if more {
			names, count = names+", among others", ""
		}
		switch {
		case len(shown) == 0 && o.rows > 1:
			what.WriteString(count)
		case len(shown) == 0:
		case k > 0:
			fmt.Fprintf(&what, "; column %q: %s%s", o.column, names, count)
		case len(shown) == 1:
			fmt.Fprintf(&what, ", nor is %s%s", names, count)
		default:
			fmt.Fprintf(&what, ", nor are %s%s", names, count)
		}
		missing = append(missing, o.texts...)
		types = append(types, o.column+"=category")
		if i, known := t.index[o.column]; known {
			trained = trained || t.columns[i].trained
		}
	}
	remedies := make([]string, 0, 2)
	if flags := cell.Missing(missing...); flags != "" && !many {
		remedies = append(remedies, cell.Plural(len(missing), "declare it missing with ", "declare them missing with ")+flags)
	}
	if flag := cell.Types(types...); flag != "" && !trained {
		remedies = append(remedies, cell.Plural(len(types), "read the column as a category with ", "read the columns as categories with ")+flag)
	}
	if len(remedies) == 0 {
		remedies = append(remedies, "correct them")
	}
	return what.String() + ": " + strings.Join(remedies, ", or ")
}
