package dataset

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/cell"
)

const (
	// offendingTexts of a column are named in an error; more make it a category.
	offendingTexts = 8
	// mostOffending texts of a column are gathered.
	mostOffending = 1000
)

// offending is what cannot be read in a column of numbers or booleans.
type offending struct {
	column string
	texts  []string // distinct, in the order of the rows
	rows   int
}

// allOffending words the failure of a pass at a cell: it names every text in the columns chosen that cannot be
// read, so that one command mends all. Where the rows cannot be read again the failure stays as it is.
func (t *Table) allOffending(ctx context.Context, chosen *selection, failure error) error {
	var first *text.Error
	if !errors.As(failure, &first) || first.Column == "" {
		return failure
	}
	bare, is := cell.WithoutRemedy(first.What)
	if !is {
		return failure
	}
	if t.format == formatParquet || slices.ContainsFunc(t.inputs, func(in *input) bool { return in.pipe != nil }) {
		return failure
	}
	found, err := t.gatherOffending(ctx, chosen)
	if err != nil || len(found) == 0 || len(found) == 1 && len(found[0].texts) == 1 && !t.begun(found[0].column) {
		return failure
	}
	at := max(0, slices.IndexFunc(found, func(o offending) bool { return o.column == first.Column }))
	found[0], found[at] = found[at], found[0]
	worded := *first
	worded.What = bare + t.others(found)
	return &worded
}

// gatherOffending reads the rows once more, the columns of numbers and booleans as texts.
func (t *Table) gatherOffending(ctx context.Context, chosen *selection) ([]offending, error) {
	again := *chosen
	again.columns, again.sparse, again.unknown = slices.Clone(chosen.columns), false, nil
	read := make([]func(text []byte) string, len(again.columns)) // what is wrong with a text
	rules := t.cells()
	for i := range again.columns {
		c := &again.columns[i]
		notation := chosen.notations[c.Name]
		if k := &t.outcome.kinds.columns[i]; chosen.unknown[i] {
			c.Kind, notation = k.Kind, k.Notation // since its first value
		}
		switch {
		case c.Kind == credence.Numeric:
			read[i] = func(text []byte) string { _, fault := rules.Number(text, &notation); return fault }
		case c.Kind == credence.Boolean:
			read[i] = func(text []byte) string { _, fault := rules.Boolean(text); return fault }
		}
		if read[i] != nil {
			c.Kind = credence.Category
		}
	}
	found := make([]offending, len(again.columns))
	err := t.passText(ctx, &again, 0, credence.Position{}, func(b *text.Block) error {
		if b.Err != nil {
			return b.Err
		}
		for j := range found {
			if read[j] != nil {
				found[j].add(b, j, read[j])
			}
		}
		return nil
	})
	for j := range found {
		found[j].column = again.columns[j].Name
	}
	return slices.DeleteFunc(found, func(o offending) bool { return o.rows == 0 }), err
}

// add adds the texts of a block.
func (o *offending) add(b *text.Block, column int, read func(text []byte) string) {
	levels := b.Levels[column].List
	bad := make([]bool, len(levels))
	some := false
	for k := range levels {
		if bad[k] = read(levels[k].Text) != ""; !bad[k] {
			continue
		}
		some = true
		if name := string(levels[k].Text); len(o.texts) < mostOffending && !slices.Contains(o.texts, name) {
			o.texts = append(o.texts, name)
		}
	}
	for i := 0; some && i < b.Count; i++ {
		if code := b.Row(i)[column]; code == code && bad[int(code)] {
			o.rows++
		}
	}
}

// begun says whether a column has too little in the sample to tell its kind by.
func (t *Table) begun(name string) bool {
	i, known := t.index[name]
	return known && t.columns[i].unknown
}

// others names the texts behind the first, and what to do about all.
func (t *Table) others(found []offending) string {
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
		switch names := strings.Join(shown, ", "); {
		case len(shown) == 0:
		case k == 0 && rest > 0:
			fmt.Fprintf(&what, ", nor are %s and %d other texts (%s)", names, rest, countRows(o.rows))
		case k == 0 && len(shown) == 1:
			fmt.Fprintf(&what, ", nor is %s (%s)", names, countRows(o.rows))
		case k == 0:
			fmt.Fprintf(&what, ", nor are %s (%s)", names, countRows(o.rows))
		case rest > 0:
			fmt.Fprintf(&what, "; column %q: %s and %d other texts (%s)", o.column, names, rest, countRows(o.rows))
		default:
			fmt.Fprintf(&what, "; column %q: %s (%s)", o.column, names, countRows(o.rows))
		}
		missing = append(missing, o.texts...)
		types = append(types, o.column+"=category")
		if i, known := t.index[o.column]; known {
			trained = trained || t.columns[i].trained
		}
	}
	remedies := make([]string, 0, 2)
	if flags := cell.Missing(missing...); flags != "" && !many {
		remedies = append(remedies, "declare them missing with "+flags)
	}
	if argument := listArgument(types); argument != "" && !trained {
		remedies = append(remedies, map[bool]string{true: "read the columns as categories with --types ", false: "read the column as a category with --types "}[len(types) > 1]+argument)
	}
	if len(remedies) == 0 {
		remedies = append(remedies, "correct them")
	}
	return what.String() + ": " + strings.Join(remedies, ", or ")
}

// listArgument is a list as an argument of a flag; "" where it cannot be typed.
func listArgument(items []string) string {
	var line strings.Builder
	w := csv.NewWriter(&line)
	if w.Write(slices.Compact(slices.Sorted(slices.Values(items)))) != nil {
		return ""
	}
	w.Flush()
	if strings.ContainsFunc(strings.TrimSuffix(line.String(), "\n"), unicode.IsControl) {
		return ""
	}
	return cell.Shell(strings.TrimSuffix(line.String(), "\n"))
}
