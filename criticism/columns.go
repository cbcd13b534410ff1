package criticism

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
)

// trend looks for curves in the scores, against the prediction and against every column: squares, and the Legendre
// polynomials of degrees 3 and 4 in the ranks. What is linear in either is taken out, because a fit takes it out too. A
// family with another link has a check of its own for the prediction. Where smooth terms of the fit may be too stiff,
// that is asked first, and each question has half of the error.
func (s *sample) trend() *Finding {
	if smooths := s.smooths(); len(smooths) > 0 {
		defer func(share float64) { s.share = share }(s.share)
		s.share /= 2
		if f := s.stiff(smooths); f != nil {
			return f
		}
	}
	list := s.view.against
	if s.kind.other != nil {
		list = s.view.columns()
	}
	results := s.follow(len(list), func(k int) (names []string, curves, nuisance [][]float64) {
		a := list[k]
		return []string{a.name}, [][]float64{a.square, a.curves[1], a.curves[2]}, [][]float64{a.value}
	})
	if len(results) == 0 {
		return nil
	}
	with, remedy := "the prediction", s.surface()
	if names := bentWith(results); len(names) > 0 {
		with, remedy = namesOf(names), s.curve(names[0])
	} else if other := s.otherFamily(); other != "" {
		remedy += ", or " + other
	}
	return found(results, fmt.Sprintf("the residuals bend with %s, and a curve explains %.2g %% of their variance", with, 100*results[0].explains), remedy)
}

// bentWith names the columns of results, of which the first explains most: they stand before the prediction, which
// bends with them, unless it explains twice as much. There are none where the curve is one of the prediction.
func bentWith(results []scored) []string {
	var names []string
	for _, r := range results {
		if r.names[0] != "" && (results[0].names[0] != "" || results[0].explains < 2*r.explains) {
			names = append(names, r.names[0])
		}
	}
	return names
}

// interaction looks for products of two columns in the scores, of those that vary most with the prediction.
// What is linear in either is taken out.
func (s *sample) interaction() *Finding {
	columns := s.view.columns()
	var pairs [][2]*against
	for i, a := range columns[:min(len(columns), mostPairs)] {
		for _, b := range columns[:i] {
			pairs = append(pairs, [2]*against{b, a})
		}
	}
	results := s.follow(len(pairs), func(k int) (names []string, curves, nuisance [][]float64) {
		a, b := pairs[k][0], pairs[k][1]
		product := make([]float64, len(a.bounded))
		for i, u := range a.bounded {
			product[i] = u * b.bounded[i]
		}
		return []string{a.name, b.name}, [][]float64{product}, [][]float64{a.value, b.value}
	})
	if len(results) == 0 {
		return nil
	}
	a, b := results[0].names[0], results[0].names[1]
	return found(results, fmt.Sprintf("the effect of %s changes with %s, and their product explains %.2g %% of the variance of the residuals", a, b, 100*results[0].explains),
		fmt.Sprintf("add %s:%s to the formula", s.term(a), s.term(b)))
}

// link is another link of a family.
type link struct {
	family   family
	own, its func(mean float64) float64 // f of a mean under the family's own link, and under the other one
}

// otherLink returns the one that bends most against a family's own: logit and probit are the same to the rows that
// anyone has.
func otherLink(l family, own likelihood.Link) *link {
	inside := func(p float64) float64 { return max(1e-12, min(1-1e-12, p)) }
	logit := func(p float64) float64 { return special.Logit(inside(p)) }
	cloglog := func(p float64) float64 { return math.Log(-math.Log1p(-inside(p))) }
	probit := func(p float64) float64 { return special.NormalQuantile(inside(p)) }
	softplus := func(mean float64) float64 {
		if mean > 30 {
			return mean
		}
		return math.Log(math.Expm1(mean))
	}
	_, counts := l.(likelihood.Poisson)
	switch {
	case counts && own == likelihood.Softplus:
		return &link{likelihood.Poisson{}, softplus, math.Log}
	case counts:
		return &link{likelihood.Poisson{Link: likelihood.Softplus}, math.Log, softplus}
	case own == likelihood.Cloglog:
		return &link{likelihood.Bernoulli{}, cloglog, logit}
	case own == likelihood.Probit:
		return &link{likelihood.Bernoulli{Link: likelihood.Cloglog}, probit, cloglog}
	}
	return &link{likelihood.Bernoulli{Link: likelihood.Cloglog}, logit, cloglog}
}

// events says whether counts are 0 and 1 alone, as those of events within observed times: their rate has a log link by
// its meaning, and the times end with the events.
func (s *sample) events() bool {
	return s.kind.counts && !slices.ContainsFunc(s.target, func(y float64) bool { return y > 1 })
}

// link looks for a bend of the scores with the prediction, of a family that has another link. As in the test of
// Pregibon (1980) what is added to f is a curve in f, here the one that leads to the other link: what f is under the
// own link where the mean is that of a line in f under the other.
func (s *sample) link() *Finding {
	o, v := s.kind.other, &s.view
	its, curve := make([]float64, len(v.rows)), make([]float64, len(v.rows))
	for k, i := range v.rows {
		its[k] = v.weights[k] * o.its(s.family[i].Mean(s.mean[i]))
	}
	line := [][]float64{v.ones, v.prediction().value}
	products, sums := gram(line, v.weights, its)
	l := factor(products, 2)
	steps := solve(make([]float64, 2), l, sums)
	for k := range curve {
		z := solve(make([]float64, 2), l, []float64{1, line[1][k]})
		curve[k] = o.own(o.family.Mean(z[0]*steps[0] + z[1]*steps[1]))
	}
	results := s.follow(1, func(int) (names []string, curves, nuisance [][]float64) { return nil, [][]float64{curve}, nil })
	if len(results) == 0 {
		return nil
	}
	remedy := s.surface()
	if results[0].upwards {
		remedy = fmt.Sprintf("--family '%v', or %s", o.family, remedy)
	}
	return found(results, fmt.Sprintf("the residuals bend with the prediction, as under another link, which explains %.2g %% of their variance", 100*results[0].explains), remedy)
}

// odds looks for columns whose weight changes from cutpoint to cutpoint, of grades whose odds are said to be
// proportional (Brant 1990 asks the same by fits at every cutpoint). It is the score of γ in the log odds
// c_k − f − γ t_k u of a grade of k or less, for the standardised column u and t_k = k less its mean, whose covariances
// with the scores of f, of f times u and of the cutpoints are sums over grades under the model.
func (s *sample) odds() *Finding {
	columns := s.view.columns()
	grades := s.gradesOf()
	if grades == nil {
		return nil
	}
	results := s.test(len(columns), func(k int) scored {
		z := s.unequalOdds(columns[k].bounded, grades)
		return scored{names: []string{columns[k].name}, explains: z * z / float64(len(s.view.rows)), p: 2 * special.NormalCDF(-math.Abs(z))}
	})
	if len(results) == 0 {
		return nil
	}
	return found(results, fmt.Sprintf("the effect of %s is not the same on low grades and on high ones (odds are not proportional)", columnsOf(results)),
		"fit whether a row goes beyond a grade (bernoulli) for each grade apart, of the rows that reach it")
}

// grade is one that a row may have: its probability, and the slopes of its log probability in the log odds of its two
// cutpoints.
type grade struct{ probability, below, above float64 }

// gradesOf returns those of every row of the view.
func (s *sample) gradesOf() (all []grade) {
	for _, i := range s.view.rows {
		l, ok := s.family[i].(likelihood.Ordinal)
		if !ok {
			return nil
		}
		below := 0.0
		for g := range s.kind.grades {
			above, p := 0.0, math.Exp(l.LogDensity(float64(g), s.mean[i]))
			if g < s.kind.grades-1 {
				q := special.Sigmoid(l.Cutpoints.Values[g] - s.mean[i])
				above = q * (1 - q)
			}
			all = append(all, grade{p, -below / p, above / p})
			below = above
		}
	}
	return all
}

// unequalOdds returns the score of γ over its standard deviation.
func (s *sample) unequalOdds(u []float64, grades []grade) float64 {
	cuts := s.kind.grades - 1
	q := cuts + 3 // the scores of f, of f times u and of the cutpoints, then that of γ
	products, sums := make([]float64, q*q), make([]float64, q)
	for k, i := range s.view.rows {
		for g, at := range grades[k*(cuts+1) : (k+1)*(cuts+1)] {
			if !(at.probability > 1e-12) {
				continue
			}
			// The scores that are not 0, in the order of their places: of two cutpoints at most.
			var places [5]int
			var scores [5]float64
			count, last := 2, 0.0
			for side, slope := range [...]float64{at.below, at.above} {
				cut := g - 1 + side
				if cut < 0 || cut >= cuts {
					continue
				}
				scores[0] -= slope
				places[count], scores[count] = 2+cut, slope
				last -= slope * (float64(cut) - float64(cuts-1)/2) * u[k]
				count++
			}
			places[1], scores[1] = 1, scores[0]*u[k]
			places[count], scores[count] = q-1, last
			count++
			for r, v := range scores[:count] {
				row := products[places[r]*q:]
				for c, w := range scores[:r+1] {
					row[places[c]] += v * at.probability * w
				}
			}
			if float64(g) == s.target[i] {
				for r, v := range scores[:count] {
					sums[places[r]] += v
				}
			}
		}
	}
	return lastGiven(products, sums)
}

// spread looks for residuals that are larger in one place than in another.
func (s *sample) spread() *Finding {
	size := func(e float64) float64 { return math.Log1p(e * e) } // outliers count little
	v := &s.view
	sizes := make([]float64, len(v.rows))
	var expected []moment3
	if !s.kind.gaussian { // whose residuals have the same distribution everywhere
		expected = s.replicates(func(_, _, e float64) float64 { return size(e) })
	}
	for k, i := range v.rows {
		sizes[k] = size(s.residual[i])
		if expected != nil {
			sizes[k] -= expected[i].mean
		}
	}
	standardise(sizes)                                  // which the test does not depend on but for the mean
	list := append(slices.Clip(v.columns()), v.without) // a row is in its own prediction, with its size
	results := s.test(len(list), func(k int) scored {
		a := list[k]
		explains, p, _ := scoreTest([][]float64{a.bounded, a.curves[0], a.curves[1]}, [][]float64{v.ones}, v.ones, sizes, false)
		return scored{names: []string{a.name}, explains: explains, p: p}
	})
	if len(results) == 0 {
		return nil
	}
	return found(results, "the residuals spread more in some places than in others, with "+columnsOf(results), "intervals are too wide in one place and too narrow in another; "+s.wider())
}
