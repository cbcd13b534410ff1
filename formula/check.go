package formula

import (
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/spec"
)

// Check says what is wrong with the text of a formula whatever the table: its
// grammar, unknown functions and arguments, values out of range, the target among
// the terms, and what this version does not do. target is that of a formula that
// names none, as in [Options]. What Check passes may still not fit a table.
func Check(text, target string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	tree, err := spec.ParseFormula(text)
	if err != nil {
		return err
	}
	schema := obliging(tree, target)
	if tree.Target == nil && target == "" {
		target = "\x00" // that of the table, if it is libsvm
	}
	_, err = compileFor(tree, schema, Options{Target: target}, true)
	return err
}

// obliging is a schema that has every column that the formula names, of the kind
// that it needs, and three others for "." and the target, with names that no table has.
func obliging(tree spec.Formula, target string) *credence.Schema {
	schema := &credence.Schema{Columns: []credence.Column{{Name: "\x00"}, {Name: "\x00\x00"}, {Name: "\x00\x00\x00"}}}
	known := map[string]int{}
	add := func(name string, kind credence.Kind) {
		j, ok := known[name]
		if !ok {
			j = len(schema.Columns)
			known[name] = j
			schema.Columns = append(schema.Columns, credence.Column{Name: name})
		}
		if kind == credence.Category {
			schema.Columns[j].Kind = kind
		}
	}
	var visit func(e spec.Expr, kind credence.Kind)
	visit = func(e spec.Expr, kind credence.Kind) {
		switch e := e.(type) {
		case spec.Column:
			add(e.Name, kind)
		case spec.Call:
			inner := credence.Numeric
			if e.Name == "onehot" {
				inner = credence.Category
			}
			for _, arg := range e.Args {
				visit(arg, inner)
			}
		case spec.Binary:
			visit(e.Left, kind)
			visit(e.Right, kind)
		}
	}
	if tree.Target != nil {
		visit(tree.Target, credence.Numeric)
	}
	for _, term := range tree.Terms {
		visit(term.Expr, credence.Numeric)
	}
	if target != "" {
		add(target, credence.Numeric)
	}
	return schema
}
