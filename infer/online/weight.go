package online

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

var _ = []credence.Online{(*FTRL)(nil), (*AdPredictor)(nil), (*SGD)(nil)}

// Weight implements [credence.Online]. FTRL knows no variance.
func (f *FTRL) Weight(slot int) credence.Marginal {
	if slot == credence.InterceptSlot {
		w, _ := f.weight(&f.bias, 0, 0)
		return credence.Marginal{Mean: w, Inclusion: 1}
	}
	w := 0.0
	if slot < f.state.slots {
		w, _ = f.weight(f.state.at(int32(slot)), f.cfg.L1, f.cfg.L2)
	}
	if w == 0 {
		return credence.Marginal{}
	}
	return credence.Marginal{Mean: w, Inclusion: 1}
}

// Selected implements [credence.Online] by the weights that are not 0.
func (f *FTRL) Selected(int) int { return f.selected }

// Describe implements [credence.Online]. A weight that was never learned is 0.
func (f *FTRL) Describe(fitted *credence.Fitted) {
	fitted.Members[0].Model.Likelihood = likelihood.Bernoulli{}
	fitted.Members[0].Model.Prior = prior.Normal{}
	fitted.Report.Hyper = []credence.Value{
		{Name: "alpha", Value: f.cfg.Alpha}, {Name: "beta", Value: f.cfg.Beta}, {Name: "l1", Value: f.cfg.L1}, {Name: "l2", Value: f.cfg.L2},
	}
}

// Weight implements [credence.Online], in units of the noise, in which P(y=1|x) = Φ(xᵀw).
func (a *AdPredictor) Weight(slot int) credence.Marginal {
	p := a.state.start
	switch {
	case slot == credence.InterceptSlot:
		p = a.bias
	case slot < a.state.slots:
		p = *a.state.at(int32(slot))
	}
	return credence.Marginal{Mean: p[0] / a.cfg.Beta, Variance: p[1] / (a.cfg.Beta * a.cfg.Beta), Inclusion: 1}
}

// Describe implements [credence.Online]. The prior's variance is in units of the noise, as weights are.
func (a *AdPredictor) Describe(fitted *credence.Fitted) {
	fitted.Members[0].Model.Likelihood = likelihood.Bernoulli{Link: likelihood.Probit}
	fitted.Members[0].Model.Prior = prior.Normal{Variance: param.Parameter{Value: a.cfg.Variance / (a.cfg.Beta * a.cfg.Beta), State: param.Held}}
	fitted.Report.Hyper = []credence.Value{{Name: "variance", Value: a.cfg.Variance}, {Name: "beta", Value: a.cfg.Beta}}
}

// Weight implements [credence.Online]. SGD knows no variance.
func (s *SGD) Weight(slot int) credence.Marginal {
	w := credence.Marginal{Inclusion: 1}
	switch {
	case slot == credence.InterceptSlot:
		w.Mean = s.bias[0]
	case slot < s.state.slots:
		w.Mean = s.state.at(int32(slot))[0]
	}
	return w
}

// Describe implements [credence.Online]. A weight that was never learned is 0.
func (s *SGD) Describe(fitted *credence.Fitted) {
	fitted.Members[0].Model.Likelihood = likelihood.Bernoulli{}
	fitted.Members[0].Model.Prior = prior.Normal{}
	fitted.Report.Hyper = []credence.Value{{Name: "rate", Value: s.cfg.Rate}, {Name: "l2", Value: s.cfg.L2}}
}
