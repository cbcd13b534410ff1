package formula

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/spec"
)

// NeedsData reports whether Features reads data: radial and sigmoid take their
// centres from it, smooths their knots and places, spectral its periods, hash its keys, and terms of groups the
// combinations of columns.
func (p *Plan) NeedsData() bool {
	return slices.ContainsFunc(p.functions, func(f function) bool {
		return functionOf(f.kind).needsData || f.kind == "bar" && len(f.inputs) > 1
	})
}

// Features makes the features of the formula for a frame that Fit made from the
// plan's. data are the frame's training rows; they may be nil unless NeedsData.
// Random parts depend on the seed and on the place of their term alone; drawn are those of [Plan.Frequencies], which
// nil stands for.
func (p *Plan) Features(fr *frame.Frame, data credence.Data, seed uint64, drawn []Frequencies) (*feature.Set, error) {
	in := fr.ModelInputs()
	if len(fr.Inputs) < len(p.Frame.Inputs) || fr.Sparse > 0 != p.Frame.Sparse {
		return nil, fmt.Errorf("formula: the frame has %d inputs and the formula %d: fit the frame to the formula's plan", len(fr.Inputs), len(p.Frame.Inputs))
	}
	var terms []feature.Term
	if p.Intercept {
		terms = append(terms, &feature.Intercept{})
	}
	linear := append([]int(nil), p.linear...)
	for i := len(p.Frame.Inputs); i < len(fr.Inputs); i++ { // indicators of missing values
		if !p.indicates(fr.Inputs[i].Expr.Column) {
			linear = append(linear, i)
		}
	}
	if len(linear) > 0 || p.segment {
		terms = append(terms, &feature.Linear{Inputs: linear, Segment: p.segment, Without: p.without})
	}
	if p.NeedsData() && data == nil {
		return nil, fmt.Errorf("formula: radial and sigmoid take their centres from the data, smooths their knots and places, spectral its periods, hash its keys, and (1 | g:h) its groups: give the training rows")
	}
	if drawn == nil {
		var err error
		if drawn, err = p.Frequencies(fr, data); err != nil {
			return nil, err
		}
	}
	var periods []feature.Lengthscale // of the components of the spectral term at hand
	for i := range p.functions {
		if p.functions[i].kind == "bar" {
			groups, err := p.functions[i].multilevel(&in, data)
			if err != nil {
				return nil, err
			}
			terms = append(terms, groups...)
			continue
		}
		var term feature.Term
		var err error
		if k := slices.IndexFunc(drawn, func(d Frequencies) bool { return d.place == i }); k >= 0 {
			if f := &p.functions[i]; f.kind == "spectral" && f.component == 0 {
				if periods, err = f.searched(fr, &in, data, credence.Rand(seed, credence.PeriodStarts, uint64(i))); err != nil {
					return nil, err
				}
			}
			term, err = p.functions[i].draw(&in, drawn[k], periods, seed)
		} else {
			term, err = p.functions[i].term(&making{&in, fr, data, seed, uint64(i)})
		}
		if err != nil {
			return nil, err
		}
		terms = append(terms, term)
	}
	set, err := feature.New(in, terms...)
	if err != nil {
		return nil, err
	}
	return set.Hierarchical(), nil
}

// term makes the feature of one function.
func (f *function) term(m *making) (feature.Term, error) {
	if f.kind != "interaction" {
		return functionOf(f.kind).feature(f, m)
	}
	term := &feature.Interaction{Name: f.label, Inputs: f.inputs}
	if m.data == nil {
		return term, nil
	}
	return term.OfRows(m.in, credence.Batches(context.Background(), m.data))
}

// AnyKind is the kind of a column of which nothing is known.
const AnyKind = ^credence.Kind(0)

// Check says what is wrong with the text of a formula whatever the table: its
// grammar, unknown functions and arguments, values out of range, the target among
// the terms, files that no one opens, and what this version does not do. What Check passes may still
// not fit a table. The plan that it returns is of a table of which nothing is known: it has every
// column that the formula names, and "." stands for two columns.
func Check(text string, options Options) (*Plan, error) {
	tree, err := parse(text)
	if err != nil {
		return nil, err
	}
	return Compile(tree, nil, options)
}

// unknownColumns are what "." stands for among unknown columns: names that no table has.
func unknownColumns() []string { return []string{"\x00", "\x00\x00"} }

// unknownTarget stands for the target of a table that has one by itself.
const unknownTarget = "\x00\x00\x00"

// parse reads the text of a formula. An empty one is every other column.
func parse(text string) (spec.Formula, error) {
	if strings.TrimSpace(text) == "" {
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
