package criticism

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/internal/special"
)

// smooth is a term of one column.
type smooth struct {
	term   string // as the formula has it
	block  *credence.Block
	column *column
	along  *against
}

// smooths returns the smooth terms of columns with so many values that a row has others close by, of which a file is
// not sorted by any: there the check of the order speaks.
func (s *sample) smooths() (all []smooth) {
	for _, a := range s.view.columns() {
		at := slices.IndexFunc(s.inputs, func(in column) bool { return in.name == a.name })
		if at < 0 || a.name == s.time || 2*distinct(a.value) < len(a.value) {
			continue
		}
		for _, call := range []string{"s(", "hsgp("} {
			if block, term := s.smoothOf(call, s.term(a.name)), called(s.formula, call+s.term(a.name)); block != nil && term != "" {
				all = append(all, smooth{term, block, &s.inputs[at], a})
			}
		}
	}
	return all
}

// smoothOf returns the block of a term that calls so a column as formulas write it, nil where there is none.
func (s *sample) smoothOf(call, name string) *credence.Block {
	at := slices.IndexFunc(s.blocks, func(b credence.Block) bool {
		rest, is := strings.CutPrefix(b.Name, call+name)
		return is && (strings.HasPrefix(rest, ")") || strings.HasPrefix(rest, ","))
	})
	if at < 0 {
		return nil
	}
	return &s.blocks[at]
}

// stiff looks for smooth terms that have too few functions: the residuals of rows whose values are next to each other
// go together, as mgcv's check of k asks (Wood 2017, section 5.9), there by permutations. What they share is the share
// of the variance that a finer curve would explain.
func (s *sample) stiff(smooths []smooth) *Finding {
	e := pick(s.residual, s.view.rows)
	for i, v := range e {
		e[i] = max(-largestResidual, min(largestResidual, v))
	}
	standardise(e)
	results := s.test(len(smooths), func(k int) scored {
		values := smooths[k].along.value
		sorted := order.By(len(values), func(a, b int) int { return cmp.Compare(values[a], values[b]) })
		along := pick(e, sorted)
		shared, z := slope(along[:len(along)-1], along[1:])
		return scored{names: []string{strconv.Itoa(k)}, explains: max(0, shared), p: special.NormalCDF(-z)}
	})
	if len(results) == 0 {
		return nil
	}
	k, _ := strconv.Atoi(results[0].names[0])
	f := found(results, fmt.Sprintf("the residuals go with %s more finely than %s follows it, and a finer curve explains about %.2g %% of their variance",
		smooths[k].column.name, smooths[k].term, 100*results[0].explains), "give it more functions: "+smooths[k].finer())
	f.finer = true
	return f
}

// called returns the text of a call in a formula that begins so, "" where there is none.
func called(formula, begins string) string {
	for from := 0; ; {
		at := strings.Index(formula[from:], begins)
		if at < 0 {
			return ""
		}
		text := formula[from+at:]
		from += at + 1
		if rest := strings.TrimLeft(text[len(begins):], " "); !strings.HasPrefix(rest, ")") && !strings.HasPrefix(rest, ",") {
			continue
		}
		depth := 0
		for i, c := range text {
			if c == '(' {
				depth++
			} else if c == ')' {
				if depth--; depth == 0 {
					return text[:i+1]
				}
			}
		}
		return ""
	}
}

// finer is the term with three times as many functions and [manyKnots] at the least, as far as there are values and
// splines take knots.
func (m *smooth) finer() string {
	const mostKnots = 1000
	name, has := "k", m.block.Count+2 // a spline has a line beside it
	switch {
	case strings.HasPrefix(m.term, "hsgp("):
		name, has = "m", m.block.Count
	case strings.Contains(m.term, "period="): // harmonics of two weights each
		has = m.block.Count / 2
	}
	_, rest, is := strings.Cut(m.term, ", "+name+"=")
	stated := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if is {
		has, _ = strconv.Atoi(stated)
	}
	more := fmt.Sprintf("%s=%d", name, max(has+1, min(max(3*has, manyKnots), distinct(m.column.values)/2, mostKnots)))
	if is {
		return strings.Replace(m.term, name+"="+stated, more, 1)
	}
	return strings.TrimSuffix(m.term, ")") + ", " + more + ")"
}
