package criticism

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
)

// link is another link of a family.
type link struct {
	family   family
	own, its func(mean float64) float64 // f of a mean under the family's own link, and under the other one
}

// otherLink returns the one that bends most against a family's own: logit and probit are the same to the rows that
// anyone has.
func otherLink(l family, own likelihood.Link) *link {
	logit := func(p float64) float64 { return special.Logit(inside(p)) }
	cloglog := func(p float64) float64 { return math.Log(-math.Log1p(-inside(p))) }
	softplus := func(mean float64) float64 {
		if mean > 30 {
			return mean
		}
		return math.Log(math.Expm1(mean))
	}
	switch l.(type) {
	case likelihood.Poisson:
		if own == likelihood.Softplus {
			return &link{likelihood.Poisson{}, softplus, math.Log}
		}
		return &link{likelihood.Poisson{Link: likelihood.Softplus}, math.Log, softplus}
	case likelihood.Bernoulli:
		switch own {
		case likelihood.Cloglog:
			return &link{likelihood.Bernoulli{}, cloglog, logit}
		case likelihood.Probit:
			return &link{likelihood.Bernoulli{Link: likelihood.Cloglog}, func(p float64) float64 { return special.NormalQuantile(inside(p)) }, cloglog}
		}
		return &link{likelihood.Bernoulli{Link: likelihood.Cloglog}, logit, cloglog}
	}
	return nil
}

// inside keeps a probability off 0 and 1.
func inside(p float64) float64 { return math.Max(1e-12, math.Min(1-1e-12, p)) }

// link looks for a bend of the scores with the prediction, of a family that has another link. As in the test of Pregibon
// (1980) what is added to f is a curve in f, here the one that leads to the other link: what f is under the own link where the
// mean is that of a line in f under the other.
func (s *sample) link() *Finding {
	o := s.kind.other
	if o == nil {
		return nil
	}
	v := &s.view
	score, information := s.scoresOf()
	f, its := pick(s.mean, v.rows), make([]float64, len(v.rows))
	for k, i := range v.rows {
		its[k] = o.its(s.family[i].Mean(f[k]))
	}
	basis, kept := orthonormal([][]float64{v.ones(), v.prediction().value}, information)
	q := len(kept)
	steps, curve := make([]float64, q), make([]float64, len(f))
	for k, u := range its {
		for j := range steps {
			steps[j] += information[k] * u * basis[k*q+j]
		}
	}
	for k := range curve {
		line := 0.0
		for j, step := range steps {
			line += step * basis[k*q+j]
		}
		curve[k] = o.own(o.family.Mean(line))
	}
	results := s.test(1, func(int) scored {
		explains, p, towards := scoreTest([][]float64{curve}, [][]float64{v.ones(), v.prediction().value}, information, score, s.kind.classes)
		return scored{explains: explains, p: p, upwards: towards}
	})
	if len(results) == 0 {
		return nil
	}
	r := results[0]
	found := &Finding{
		Check: "link", Tone: s.toneOf(Remark, r.explains), Statistic: r.explains, P: r.p,
		Text:   fmt.Sprintf("the residuals bend with the prediction, as under another link, which explains %.2g %% of their variance", 100*r.explains),
		Remedy: "add products of columns or rbf(.) to the formula",
	}
	if r.upwards {
		found.Remedy = fmt.Sprintf("--family '%v', or %s", o.family, found.Remedy)
	}
	return s.of(found)
}
