package formula

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/table"
)

// ForRows compiles the text of a formula for rows of these columns, which are not kept: to keys.
// sparse says that rows have sparse entries, and namespaces that the entries have some.
func ForRows(text string, columns []table.Column, sparse, namespaces bool, options Options) (*Plan, *keyed.Plan, error) {
	schema := &credence.Schema{Columns: make([]credence.Column, 0, len(columns))}
	kinds := make(map[string]credence.Kind, len(columns))
	for _, column := range columns {
		if name, text := credence.CutText(column.Name); text && column.Text {
			if slices.ContainsFunc(columns, func(c table.Column) bool { return c.Name == name }) {
				continue
			}
			column = table.Column{Name: name, Kind: credence.Category} // known by its texts alone
		}
		kind := column.Kind
		if column.Unknown {
			kind = AnyKind
		}
		schema.Columns = append(schema.Columns, credence.Column{Name: column.Name, Kind: kind})
		kinds[column.Name] = kind
		if column.Notation != (credence.Notation{}) {
			schema.Reading.Set(column.Name, column.Notation)
		}
	}
	if sparse {
		schema.Label, schema.Sparse, options.Namespaces = true, anyIndex, namespaces
	}
	plan, err := Parse(text, schema, options)
	if err != nil {
		return nil, nil, err
	}
	keys, err := plan.Keyed(func(name string) (credence.Kind, bool) { kind, known := kinds[name]; return kind, known })
	return plan, keys, err
}

// anyIndex is the width of a sparse segment of which nothing is known.
const anyIndex = min(1<<53, math.MaxInt)

// Keyed lowers the formula to keys. kind returns the kind of a column, false for what is none. Terms
// whose value does not depend on one row alone are refused.
func (p *Plan) Keyed(kind func(name string) (credence.Kind, bool)) (*keyed.Plan, error) {
	l := lowering{plan: p, kind: kind, places: keyed.Places{}, keys: &keyed.Plan{Format: keyed.Format, NoIntercept: !p.Intercept}}
	k := l.keys
	k.Roles = p.Frame.Roles()
	k.Trials = nil
	if precision := k.Precision; precision != nil { // the families learned online have no dispersion
		if k.Weight != nil {
			return nil, fmt.Errorf("precision(%s) is a weight in a model learned online, and the formula has weight(%s): make their product a column of its own", precision.Written(), k.Weight.Written())
		}
		k.Weight, k.Precision = precision, nil
	}
	for _, e := range k.Expressions() {
		if err := l.row(*e); err != nil {
			return nil, err
		}
	}
	k.Inputs, k.Terms = make([]keyed.Input, 0, len(p.Frame.Inputs)), make([]keyed.Term, 0, len(p.linear))
	for _, input := range p.linear {
		if e := p.Frame.Inputs[input]; p.segment && len(e.Steps) == 0 && !slices.Contains(p.except, e.Column) {
			if _, known := kind(e.Column); !known {
				continue // "." brings it
			}
		}
		if err := l.term(keyed.Term{}, []int{input}, false); err != nil {
			return nil, err
		}
	}
	if p.segment {
		k.Bags = append(k.Bags, keyed.Bag{Except: p.except})
	}
	for i := range p.functions {
		if err := l.function(&p.functions[i]); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// lowering is the state of one Keyed.
type lowering struct {
	plan   *Plan
	kind   func(name string) (credence.Kind, bool)
	keys   *keyed.Plan
	places keyed.Places // of its inputs
}

// row refuses an expression that needs more than its row.
func (l *lowering) row(e frame.Expr) error {
	if err := e.ValidateRow(); err != nil {
		return fmt.Errorf("%w: center and scale take the mean of all rows, which nobody knows before the last: use fit, or make the column before", err)
	}
	return nil
}

func (l *lowering) function(f *function) error {
	switch f.kind {
	case "interaction", "onehot":
		return l.term(keyed.Term{}, f.inputs, f.kind == "onehot")
	case "bar":
		return fmt.Errorf("%s: effects of groups are learned with all rows at hand: use fit, with --engine exact or 'svi(covariance=full)', or write onehot(%s)", f.label, l.plan.Frame.Inputs[f.inputs[0]].Written())
	case "hash":
		for _, inputs := range f.crosses {
			if err := l.term(keyed.Term{Bits: f.bits}, inputs, false); err != nil {
				return err
			}
		}
		if f.segment {
			l.keys.Bags = append(l.keys.Bags, keyed.Bag{Except: f.except, Bits: f.bits})
		}
		return nil
	case "poly":
		for _, input := range f.inputs {
			for power := range f.degree {
				if err := l.term(keyed.Term{Power: power + 1}, []int{input}, false); err != nil {
					return err
				}
			}
		}
		return nil
	case "keep", "group":
		return l.plan.formula.Errorf(f.node, "%s says how columns are selected, and an engine that learns online selects each key by itself", f.kind).
			WithRemedy("name the columns without %s(…), or use select or fit", f.kind)
	}
	if taken := functionOf(f.kind).taken; taken != "" {
		return l.plan.formula.Errorf(f.node, "%s takes %s from all rows, which nobody has before the last", f.kind, taken).WithRemedy("use fit")
	}
	return l.plan.formula.Errorf(f.node, "%s is of drawn features, which no online engine learns", f.kind).WithRemedy("use fit")
}

// term adds a term of inputs of the frame, taken as levels or as they are.
func (l *lowering) term(t keyed.Term, inputs []int, level bool) error {
	var keys []string
	for _, input := range inputs {
		e := l.plan.Frame.Inputs[input]
		if err := l.row(e); err != nil {
			return err
		}
		in := keyed.Input{Expr: e}
		column, text := credence.CutText(e.Column)
		kind, known := l.kind(column)
		switch {
		case !known && l.plan.namespaces:
			in.Expr.Column, in.Role = column, keyed.AsNamespace
		case !known && l.plan.segmentWidth > 0 && !text:
			in.Role = keyed.AsIndex
		case text || level || e.Level:
			in.Expr.Column, in.Role = column, keyed.AsLevel
		case kind == AnyKind:
			in.Unknown = true
		default:
			in.Kind = kind
		}
		t.Inputs = append(t.Inputs, l.places.Add(l.keys, in))
		keys = append(keys, in.Expr.String())
	}
	t.Order = order.By(len(inputs), func(a, b int) int { return strings.Compare(keys[a], keys[b]) })
	l.keys.Terms = append(l.keys.Terms, t)
	return nil
}

// names lists what sets have, in order.
func (c *compiler) names(sets ...map[string]bool) []string {
	all := map[string]bool{}
	for _, set := range sets {
		maps.Copy(all, set)
	}
	delete(all, c.target)
	return slices.Sorted(maps.Keys(all))
}
