package effect

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence/internal/kernel"
)

// combination is a linear combination of effects, less a number.
type combination struct {
	text   string
	factor map[int]float64 // of each effect, from 0
	less   float64
}

// hypotheses returns the combinations that are asked for in the place of the quantities.
func (r *runner) hypotheses(quantities []*quantity) ([]*quantity, error) {
	var wanted []combination
	difference := func(i, k int) {
		wanted = append(wanted, combination{fmt.Sprintf("b%d - b%d", i+1, k+1), map[int]float64{i: 1, k: -1}, 0})
	}
	n := len(quantities)
	for _, text := range r.options.Hypotheses {
		switch text {
		case "pairwise":
			if n > 50 {
				return nil, fmt.Errorf("%d effects have %d pairs: name fewer columns, or take --hypothesis reference or sequential", n, n*(n-1)/2)
			}
			for k := range n {
				for i := k + 1; i < n; i++ {
					difference(i, k)
				}
			}
		case "reference":
			for i := 1; i < n; i++ {
				difference(i, 0)
			}
		case "sequential":
			for i := 1; i < n; i++ {
				difference(i, i-1)
			}
		default:
			c, err := readHypothesis(text, n)
			if err != nil {
				return nil, err
			}
			wanted = append(wanted, c)
		}
	}
	if len(r.options.Hypotheses) == 0 {
		return quantities, nil
	}
	linear := !slices.ContainsFunc(quantities, func(q *quantity) bool { return q.vectors == nil || q.log })
	if !linear {
		if err := r.drawn(quantities); err != nil {
			return nil, err
		}
	}
	var out []*quantity
	for _, c := range wanted {
		q := &quantity{Effect: Effect{Term: "hypothesis", Contrast: c.text}, method: draws}
		if linear {
			q.method = quantities[0].method
			for place := range r.members {
				v := vector{-c.less, make([]float64, len(quantities[0].vectors[place].gradient))}
				for k, of := range quantities { // in their order
					v.value += c.factor[k] * of.vectors[place].value
					kernel.Axpy(c.factor[k], of.vectors[place].gradient, v.gradient)
				}
				q.vectors = append(q.vectors, v)
			}
			out = append(out, q)
			continue
		}
		q.values = make([]float64, r.total)
		for s := range q.values {
			q.values[s] = -c.less
			for k, of := range quantities {
				if v := of.values[s]; c.factor[k] != 0 && of.log {
					q.values[s] += c.factor[k] * math.Exp(v)
				} else if c.factor[k] != 0 {
					q.values[s] += c.factor[k] * v
				}
			}
		}
		out = append(out, q)
	}
	return out, nil
}

// A term of a hypothesis is a sign, a number and the place of an effect, as in "- 2*b3".
var hypothesisTerm = regexp.MustCompile(`^\s*([+-]?)\s*(?:([0-9.eE]+)\s*\*?\s*)?(?:b([0-9]+))?`)

// readHypothesis reads a linear combination of n effects, "b2 - b1 = 0".
func readHypothesis(text string, n int) (c combination, err error) {
	c = combination{text: strings.TrimSpace(text), factor: map[int]float64{}}
	wrong := func(at string) (combination, error) {
		return c, fmt.Errorf("hypothesis %q is no sum of effects at %q: write for example b2 - b1 = 0, or pairwise, reference, sequential", text, at)
	}
	for side, part := range strings.Split(text, "=") {
		if side > 1 || strings.TrimSpace(part) == "" {
			return wrong(part)
		}
		sign := 1 - 2*float64(side) // the right side is taken off the left
		for first := true; strings.TrimSpace(part) != ""; first = false {
			m := hypothesisTerm.FindStringSubmatch(part)
			if m == nil || m[2] == "" && m[3] == "" || !first && m[1] == "" {
				return wrong(part)
			}
			factor := sign
			if m[2] != "" {
				v, err := strconv.ParseFloat(m[2], 64)
				if err != nil {
					return wrong(part)
				}
				factor *= v
			}
			if m[1] == "-" {
				factor = -factor
			}
			if part = part[len(m[0]):]; m[3] == "" {
				c.less -= factor
				continue
			}
			k, err := strconv.Atoi(m[3])
			if err != nil || k < 1 || k > n {
				return c, fmt.Errorf("hypothesis %q names b%s, and the effects are b1 to b%d", text, m[3], n)
			}
			c.factor[k-1] += factor
		}
	}
	if len(c.factor) == 0 {
		return wrong(text)
	}
	return c, nil
}
