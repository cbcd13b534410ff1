package main

import (
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
)

// predictive is the predictive distribution of the rows of a batch in the target's
// own values: what an ordinal family knows are grades counted from 0.
type predictive struct {
	*credence.Distribution
	grades []float64 // the target's value of each grade; nil where they are the same
}

// tooFar returns the first row whose f has overflowed, or -1.
func tooFar(dist *credence.Distribution) int {
	for i := range dist.Rows() {
		if mean, variance := dist.Latent(i); math.IsNaN(mean) || math.IsInf(mean, 0) || math.IsNaN(variance) || math.IsInf(variance, 0) {
			return i
		}
	}
	return -1
}

// ownGrades returns the values of a target's grades, nil for other targets.
func ownGrades(target *frame.Target) []float64 {
	if target == nil || target.Mode != frame.Grades {
		return nil
	}
	grades := make([]float64, len(target.Levels))
	for k, level := range target.Levels {
		value, err := strconv.ParseFloat(level, 64)
		if err != nil {
			return nil
		}
		grades[k] = value
	}
	return grades
}

// target is the target's own value for y, which is what the likelihood sees.
func (p *predictive) target(y float64) float64 {
	if k := int(y); p.grades != nil && k >= 0 && k < len(p.grades) {
		return p.grades[k]
	}
	return y
}

// Moments returns E y and Var y of row i.
func (p *predictive) Moments(i int) (mean, variance float64) {
	if p.grades == nil {
		return p.Distribution.Moments(i)
	}
	probability := p.probabilities(make([]float64, 0, len(p.grades)), i)
	for k, grade := range p.grades {
		mean += probability[k] * grade
	}
	for k, grade := range p.grades {
		variance += probability[k] * (grade - mean) * (grade - mean)
	}
	return mean, variance
}

// probabilities appends those of the grades in row i.
func (p *predictive) probabilities(dst []float64, i int) []float64 {
	below := 0.0
	for k := range p.grades {
		upTo := 1.0
		if k < len(p.grades)-1 {
			upTo = p.CDF(i, float64(k))
		}
		dst, below = append(dst, upTo-below), upTo
	}
	return dst
}

// Quantile returns the smallest value with at least the probability q up to it.
func (p *predictive) Quantile(i int, q float64) float64 {
	return p.target(p.Distribution.Quantile(i, q))
}

// Sample returns a draw of y for row i.
func (p *predictive) Sample(i int, rng *rand.Rand) (float64, error) {
	draw, err := p.Distribution.Sample(i, rng)
	return p.target(draw), err
}
