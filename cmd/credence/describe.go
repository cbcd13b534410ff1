package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
)

// describeColumns tells how the data were understood: the columns that the model
// uses by kind, and how kinds that are not plain came about. Of parts it uses parts of dates alone.
func (p *program) describeColumns(table *dataset.Table, schema *credence.Schema, parts []string) {
	for kind, name := range []string{"number", "boolean", "category"} {
		var columns []string
		for _, c := range schema.Columns {
			switch {
			case c.Kind != credence.Kind(kind):
			case c.Kind == credence.Category:
				column, _ := credence.CutText(c.Name)
				columns = append(columns, fmt.Sprintf("%s (%s)", column, counted(len(c.Levels), "level")))
			default:
				columns = append(columns, withNotation(c.Name, schema))
			}
		}
		if len(columns) > 0 {
			p.say("        %s: %s", counted(len(columns), name), listed(columns))
		}
	}
	if schema.Sparse > 0 {
		p.say("        %d sparse columns, %s to %s", schema.Sparse, schema.SparseName(0), schema.SparseName(schema.Sparse-1))
	}
	p.noteColumns(table, schema.Names(), parts)
}

// withNotation is a column of numbers with how they are written.
func withNotation(name string, schema *credence.Schema) string {
	if text := schema.Reading.Notations[name].String(); text != "" {
		return fmt.Sprintf("%s (%s)", name, text)
	}
	return name
}

// noteColumns tells what is odd about how columns were read.
func (p *program) noteColumns(table *dataset.Table, columns, parts []string) {
	used := map[string]bool{}
	for _, name := range columns {
		used[name] = true
	}
	p.tellNotes(table)
	for _, note := range table.Notes() {
		key := note.Column + " " + note.Text
		switch {
		case note.Column == "" || !used[note.Column] || p.noted[key]:
			continue
		case note.Doubt && slices.Contains(parts, note.Column): // it is known to hold dates
			p.remark("column %s %s", note.Column, note.Text)
		case note.Doubt:
			p.warn("column %s %s", note.Column, note.Text)
		default:
			p.say("note    %s: %s", note.Column, note.Text)
		}
		p.noted[key] = true
	}
}

// filesText names files, the first few of many.
func filesText(files []string) string {
	const most = 6
	if len(files) <= most {
		return strings.Join(files, ", ")
	}
	return fmt.Sprintf("%s … %s (%d files)", strings.Join(files[:most-1], ", "), files[len(files)-1], len(files))
}

// listed joins names, the first few of many.
func listed(names []string) string {
	const most = 12
	var out strings.Builder
	for i, name := range names {
		if i > 0 {
			out.WriteString(", ")
		}
		if i == most {
			return out.String() + "…"
		}
		out.WriteString(shortened(name, longestName))
	}
	return out.String()
}
