package online

// Weight is what a learner knows of one weight.
type Weight struct {
	Mean, Variance float64
	Included       bool // the weight is not exactly 0
}

// Weight returns the weight of a slot, and that of a feature not met for a slot
// without memory.
func (f *FTRL) Weight(slot int) Weight {
	if slot >= f.state.slots {
		return Weight{}
	}
	w, _ := f.weight(f.state.at(int32(slot)), f.cfg.L1)
	return Weight{Mean: w, Included: w != 0}
}

// Bias returns the bias.
func (f *FTRL) Bias() Weight {
	w, _ := f.weight(&f.bias, 0)
	return Weight{Mean: w, Included: true}
}

// Selected returns the number of weights that are not 0.
func (f *FTRL) Selected() int { return f.selected }

// Config returns the options in force.
func (f *FTRL) Config() FTRLConfig { return f.cfg }

// Weight returns the weight of a slot in units of the noise, for which
// P(y=1|x) = Φ(xᵀw): the prior for a slot without memory.
func (a *AdPredictor) Weight(slot int) Weight {
	p := a.state.start
	if slot < a.state.slots {
		p = *a.state.at(int32(slot))
	}
	return a.scaled(p)
}

// Bias returns the bias in units of the noise.
func (a *AdPredictor) Bias() Weight { return a.scaled(a.bias) }

func (a *AdPredictor) scaled(p pair) Weight {
	return Weight{Mean: p[0] / a.cfg.Beta, Variance: p[1] / (a.cfg.Beta * a.cfg.Beta), Included: true}
}

// Config returns the options in force.
func (a *AdPredictor) Config() AdPredictorConfig { return a.cfg }

// Weight returns the weight of a slot.
func (s *SGD) Weight(slot int) Weight {
	if slot >= s.state.slots {
		return Weight{Included: true}
	}
	return Weight{Mean: s.state.at(int32(slot))[0], Included: true}
}

// Bias returns the bias.
func (s *SGD) Bias() Weight { return Weight{Mean: s.bias[0], Included: true} }

// Config returns the options in force.
func (s *SGD) Config() SGDConfig { return s.cfg }
