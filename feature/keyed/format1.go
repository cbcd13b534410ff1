package keyed

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/credence-ml/credence/frame"
)

// firstPlan is a plan of format 1, whose own format is that of the text it was learned from.
type firstPlan struct {
	Format   string      `json:"format"`
	Target   string      `json:"target"`
	Positive string      `json:"positive"`
	Negative string      `json:"negative"`
	Weight   string      `json:"weight"`
	Offset   firstTerm   `json:"offset"`
	All      bool        `json:"all"`
	Tokens   bool        `json:"tokens"`
	Bits     int         `json:"bits"`
	Except   []string    `json:"except"`
	Terms    []firstTerm `json:"terms"`
	Numbers  []string    `json:"numbers"`
}

type firstTerm struct {
	Columns    []string         `json:"columns"`
	Transforms []frame.Function `json:"transforms"`
	Tokens     bool             `json:"tokens"`
	Bits       int              `json:"bits"`
}

func (t *firstTerm) expr() frame.Expr {
	e := frame.Column(t.Columns[0])
	for _, f := range t.Transforms {
		e = e.With(f)
	}
	return e
}

// UnmarshalJSON reads plans of this format and of format 1.
func (p *Plan) UnmarshalJSON(text []byte) error {
	type plain Plan
	var format struct {
		Format json.RawMessage `json:"format"`
	}
	if err := json.Unmarshal(text, &format); err != nil {
		return err
	}
	if len(format.Format) == 0 || format.Format[0] != '"' {
		return json.Unmarshal(text, (*plain)(p))
	}
	var first firstPlan
	if err := json.Unmarshal(text, &first); err != nil {
		return err
	}
	*p = Plan{Format: 1}
	return p.takeFirst(&first)
}

// takeFirst gives a plan the meaning of one of format 1: levels are hashed as they stand, and
// crossed in the order written.
func (p *Plan) takeFirst(first *firstPlan) error {
	p.Target, p.Positive, p.Negative = frame.Column(first.Target), first.Positive, first.Negative
	table := first.Format == "csv" || first.Format == "tsv"
	if !table {
		p.Target = frame.Column("label")
		if first.All {
			p.Bags = []Bag{{Except: slices.Clone(first.Except), Bits: first.Bits}}
		}
	}
	if first.Format == "vw" {
		first.Weight, first.Offset = "weight", firstTerm{Columns: []string{"offset"}}
	}
	if first.Weight != "" {
		weight := frame.Column(first.Weight)
		p.Weight = &weight
	}
	if len(first.Offset.Columns) > 0 {
		p.Offset = []frame.Expr{first.Offset.expr()}
	}
	places := Places{}
	for i := range first.Terms {
		t := &first.Terms[i]
		if len(t.Columns) == 0 || len(t.Transforms) > 0 && len(t.Columns) > 1 {
			return fmt.Errorf("keyed: term %d of the plan has %d columns: the file is damaged", i, len(t.Columns))
		}
		term := Term{Bits: t.Bits}
		for k, name := range t.Columns {
			in := Input{Expr: frame.Column(name), Role: AsLevel}
			switch {
			case !table:
				in.Role = AsNamespace
			case len(t.Transforms) > 0:
				in = Input{Expr: t.expr()}
			case !t.Tokens && slices.Contains(first.Numbers, name):
				in.Role = AsValue
			}
			term.Inputs, term.Order = append(term.Inputs, places.Add(p, in)), append(term.Order, k)
		}
		if !table && len(t.Columns) == 1 && len(p.Bags) > 0 { // it stands by itself, not in "."
			p.Bags[0].Except = append(p.Bags[0].Except, t.Columns[0])
		}
		p.Terms = append(p.Terms, term)
	}
	if table && first.All {
		p.Rest = &Rest{Except: first.Except, Bits: first.Bits}
		if !first.Tokens {
			p.Rest.Numbers = first.Numbers
		}
	}
	return nil
}
