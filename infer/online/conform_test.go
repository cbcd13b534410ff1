package online

import (
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
)

func TestConformance(t *testing.T) {
	const rounding = 1e-12 // of some hundred steps in double precision
	for name, begin := range map[string]func(intercept float64) credence.Online{
		"ftrl": func(intercept float64) credence.Online {
			f := NewFTRL(FTRLConfig{Alpha: 0.2, Beta: 0.5, L1: 0.01, L2: 0.3})
			f.bias[0] = -intercept * f.cfg.Beta / f.cfg.Alpha // Algorithm 1's w at n = 0
			return f
		},
		"adpredictor": func(intercept float64) credence.Online {
			a := NewAdPredictor(AdPredictorConfig{Variance: 0.5, Beta: 1.5})
			a.bias[0] = a.cfg.Beta * intercept
			return a
		},
		"sgd": func(intercept float64) credence.Online {
			s := NewSGD(SGDConfig{L2: 1e-3})
			s.bias[0] = intercept
			return s
		},
	} {
		t.Run(name, func(t *testing.T) { conform.Online(t, begin, rounding) })
	}
}
