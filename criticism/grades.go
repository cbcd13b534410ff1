package criticism

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
)

// odds looks for columns whose weight changes from cutpoint to cutpoint, of grades whose odds are said to be
// proportional (Brant 1990 asks the same by fits at every cutpoint). It is the score of γ in the log odds
// c_k − f − γ t_k u of a grade of k or less, for the standardised column u and t_k = k less its mean, whose covariances
// with the scores of f, of f times u and of the cutpoints are sums over grades under the model.
func (s *sample) odds() *Finding {
	cuts := s.kind.grades - 1
	if cuts < 2 {
		return nil
	}
	v := &s.view
	columns := v.columns()
	results := s.test(len(columns), func(k int) scored {
		z := s.unequalOdds(columns[k].bounded, cuts)
		return scored{names: []string{columns[k].name}, explains: z * z / float64(len(v.rows)), p: 2 * special.NormalCDF(-math.Abs(z))}
	})
	if len(results) == 0 {
		return nil
	}
	var names []string
	for _, r := range results {
		names = append(names, r.names[0])
	}
	r := results[0]
	return s.of(&Finding{
		Check: "odds", Tone: s.toneOf(Remark, r.explains), Statistic: r.explains, P: r.p,
		Text:   fmt.Sprintf("the effect of %s is not the same on low grades and on high ones (odds are not proportional)", namesOf(names)),
		Remedy: "fit whether a row goes beyond a grade (bernoulli) for each grade apart, of the rows that reach it",
	})
}

// unequalOdds returns the score of γ over its standard deviation.
func (s *sample) unequalOdds(u []float64, cuts int) float64 {
	q := cuts + 3 // the scores of f, of f times u and of the cutpoints, then that of γ
	products, sums := make([]float64, q*q), make([]float64, q)
	scores := make([]float64, q)
	slopes, probabilities := make([]float64, cuts+2), make([]float64, cuts+1)
	for k, i := range s.view.rows {
		l, ok := s.family[i].(likelihood.Ordinal)
		if !ok {
			return 0
		}
		// slopes[g] is that of P(y < g) in its log odds, 0 at both ends.
		for g, c := range l.Cutpoints.Values {
			p := special.Sigmoid(c - s.mean[i])
			slopes[g+1] = p * (1 - p)
		}
		for g := range probabilities {
			probabilities[g] = math.Exp(l.LogDensity(float64(g), s.mean[i]))
		}
		for g, p := range probabilities {
			if !(p > 1e-12) {
				continue
			}
			clear(scores)
			for side, slope := range [...]float64{-slopes[g] / p, slopes[g+1] / p} {
				cut := g - 1 + side
				if cut < 0 || cut >= cuts {
					continue
				}
				scores[0] -= slope
				scores[2+cut] = slope
				scores[q-1] -= slope * (float64(cut) - float64(cuts-1)/2) * u[k]
			}
			scores[1] = scores[0] * u[k]
			for r, v := range scores {
				for c := range r + 1 {
					products[r*q+c] += p * v * scores[c]
				}
			}
			if float64(g) == s.target[i] {
				for r, v := range scores {
					sums[r] += v
				}
			}
		}
	}
	return lastGiven(products, sums)
}

// lastGiven returns the last of sums over its standard deviation, given the others, under the covariance of which
// products is the lower triangle.
func lastGiven(products, sums []float64) float64 {
	q := len(sums)
	factor, solved := make([]float64, q*q), make([]float64, q)
	for r := range q {
		for c := range r + 1 {
			v := products[r*q+c]
			for j := range c {
				v -= factor[r*q+j] * factor[c*q+j]
			}
			switch {
			case c == r && v > 1e-8*products[r*q+r]:
				factor[r*q+r] = math.Sqrt(v)
			case c < r && factor[c*q+c] > 0:
				factor[r*q+c] = v / factor[c*q+c]
			}
		}
		if factor[r*q+r] == 0 { // it goes with those before it
			continue
		}
		v := sums[r]
		for j := range r {
			v -= factor[r*q+j] * solved[j]
		}
		solved[r] = v / factor[r*q+r]
	}
	return solved[q-1]
}
