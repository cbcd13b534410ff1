package criticism

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/spec"
)

// smooth is a term of one column, as the formula has it, which could have more functions.
type smooth struct {
	term, finer spec.Call
	along       *against
}

// smooths returns the smooth terms of columns with so many values that a row has others close by, of which a file is
// not sorted by any: there the check of the order speaks. In other rows than those of the fit there are none, for there
// the error of the curve itself, which more functions would not lessen, makes residuals go together.
func (s *sample) smooths() (all []smooth) {
	if !s.options.Fitted {
		return nil
	}
	for _, a := range s.view.columns() {
		for _, call := range s.calls {
			if a.name == s.time || call.Args[0].String() != s.term(a.name) {
				continue
			}
			values := distinct(a.value)
			if finer, ok := s.finer(call, values); ok && 2*values >= len(a.value) {
				all = append(all, smooth{call, finer, a})
			}
		}
	}
	return all
}

// smoothsOf returns the smooth terms of one column of a formula.
func smoothsOf(formula string) (calls []spec.Call) {
	tree, err := spec.ParseFormula(formula)
	if err != nil { // of a model that was made of features, without a formula
		return nil
	}
	for _, term := range tree.Terms {
		if call, ok := term.Expr.(spec.Call); ok && !term.Minus && len(call.Args) == 1 && (call.Name == "s" || call.Name == "hsgp") {
			calls = append(calls, call)
		}
	}
	return calls
}

// finer returns a smooth term with three times as many functions and [manyKnots] at the least, as far as there are two
// values for each and splines take knots; false where it has as many already.
func (s *sample) finer(call spec.Call, values int) (spec.Call, bool) {
	const mostKnots = 1000
	named := func(key string) int {
		return slices.IndexFunc(call.Named, func(a spec.Argument) bool { return a.Key == key })
	}
	weights := 0
	if at := slices.IndexFunc(s.blocks, func(b credence.Block) bool {
		return strings.HasPrefix(b.Name, fmt.Sprintf("%s(%s", call.Name, call.Args[0]))
	}); at >= 0 {
		weights = s.blocks[at].Count
	}
	key, has := "k", weights+2 // a spline has a line beside it
	switch {
	case call.Name == "hsgp":
		key, has = "m", weights
	case named("period") >= 0: // harmonics of two weights each
		has = weights / 2
	}
	at := named(key)
	if at >= 0 {
		if stated, ok := call.Named[at].Value.(spec.Number); ok {
			has = int(stated.Value)
		}
	}
	most := min(max(3*has, manyKnots), values/2, mostKnots)
	more := spec.Argument{Key: key, Value: spec.Number{Value: float64(most)}}
	if call.Named = slices.Clone(call.Named); at >= 0 {
		call.Named[at] = more
	} else {
		call.Named = append(call.Named, more)
	}
	return call, most > has
}

// stiff looks for smooth terms that have too few functions: the residuals of rows whose values are next to each other
// go together, as mgcv's check of k asks (Wood 2017, section 5.9), there by permutations. What they share is the share
// of the variance that a finer curve would explain.
func (s *sample) stiff(smooths []smooth) *Finding {
	e := s.bounded(s.view.rows)
	results := s.test(len(smooths), func(k int) scored {
		m := smooths[k]
		sorted := order.By(len(m.along.value), func(a, b int) int { return cmp.Compare(m.along.value[a], m.along.value[b]) })
		along := pick(e, sorted)
		shared, z := slope(along[:len(along)-1], along[1:])
		return scored{names: []string{m.along.name, m.term.String(), m.finer.String()}, explains: shared, p: special.NormalCDF(-z)}
	})
	if len(results) == 0 {
		return nil
	}
	names := results[0].names
	f := found(results, fmt.Sprintf("the residuals go with %s more finely than %s follows it, and a finer curve explains about %.2g %% of their variance",
		names[0], names[1], 100*results[0].explains), "give it more functions: "+names[2])
	f.finer = true
	return f
}
