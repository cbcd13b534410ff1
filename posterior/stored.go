package posterior

import (
	"fmt"

	"github.com/credence-ml/credence"
)

// Stored is a posterior that a model file holds: plain data for encoding/json, and tensors in
// the fields that are tagged so, as package modelfile says.
type Stored interface {
	credence.Posterior
	// Kind names the type in the file.
	Kind() string
	// Validate refuses what is no posterior.
	Validate() error
}

// All returns an empty posterior of every kind of this package, for reading stored ones.
func All() []Stored {
	return []Stored{&Full{}, &Dual{}, &DualSum{}, &Arrow{}, &Diagonal{}, &Mixture{}, &SpikeSlab{}, &Draws{}}
}

// Kind implements [Stored].
func (*Full) Kind() string { return "full" }

// Kind implements [Stored].
func (*Dual) Kind() string { return "dual" }

// Kind implements [Stored].
func (*DualSum) Kind() string { return "dual_sum" }

// Kind implements [Stored].
func (*Diagonal) Kind() string { return "diagonal" }

// Kind implements [Stored].
func (*Mixture) Kind() string { return "mixture" }

// Kind implements [Stored].
func (*SpikeSlab) Kind() string { return "spikeslab" }

// Kind implements [Stored].
func (*Draws) Kind() string { return "draws" }

// Validate implements [Stored].
func (p *Full) Validate() error {
	d := len(p.Mean)
	if len(p.Factor) != d*d {
		return fmt.Errorf("posterior: a covariance factor of %d numbers for %d weights", len(p.Factor), d)
	}
	if err := checkDF(p.DF); err != nil {
		return err
	}
	return checkProbabilities(d, p.Probability)
}

// Validate implements [Stored].
func (p *Dual) Validate() error {
	n, d := p.Design.Dims()
	if d != len(p.Mean) || len(p.PriorVariance) != d || len(p.Factor) != n*n || n > d || !(p.Scale > 0) {
		return fmt.Errorf("posterior: %d rows of %d columns with %d means, %d prior variances and a factor of %d numbers at scale %v",
			n, d, len(p.Mean), len(p.PriorVariance), len(p.Factor), p.Scale)
	}
	if err := checkCentre(p.Centre, d, p.Design.Dense.Cols); err != nil {
		return err
	}
	for i := range n {
		if !(p.Factor[i*n+i] > 0) {
			return fmt.Errorf("posterior: pivot %d of the kernel factor is %v", i, p.Factor[i*n+i])
		}
	}
	return checkDF(p.DF)
}

// Validate implements [Stored].
func (p *DualSum) Validate() error {
	n, d := p.Design.Dims()
	covered := 0
	for b, count := range p.Blocks {
		if count < 1 || count > d {
			return fmt.Errorf("posterior: block %d has %d of %d weights", b+1, count, d)
		}
		covered += count
	}
	if d != len(p.Mean) || covered != d || len(p.PriorVariance) != d || n > d || len(p.Forms) != Forms(n, p.Blocks) ||
		len(p.Differences) != len(p.Shares)*d || !(p.Scale > 0) {
		return fmt.Errorf("posterior: %d rows of %d columns with %d means, %d blocks of %d weights, %d prior variances, %d numbers of forms and %d differences of %d numbers at scale %v",
			n, d, len(p.Mean), len(p.Blocks), covered, len(p.PriorVariance), len(p.Forms), len(p.Shares), len(p.Differences), p.Scale)
	}
	if err := checkCentre(p.Centre, d, p.Design.Dense.Cols); err != nil {
		return err
	}
	return checkDF(p.DF)
}

// Validate implements [Stored].
func (p *Diagonal) Validate() error { return checkVariances(p.Mean, p.Variance) }

// Validate implements [Stored].
func (p *Mixture) Validate() error {
	if p.Count < 1 || len(p.Means)%p.Count != 0 {
		return fmt.Errorf("posterior: %d means in %d components", len(p.Means), p.Count)
	}
	return checkVariances(p.Means, p.Variances)
}

// Validate implements [Stored].
func (p *SpikeSlab) Validate() error {
	if err := checkVariances(p.Mean, p.Variance); err != nil {
		return err
	}
	if err := checkCentre(p.Centre, len(p.Mean), len(p.Mean)); err != nil {
		return err
	}
	return checkProbabilities(len(p.Mean), p.Probability)
}

// Validate implements [Stored].
func (p *Draws) Validate() error {
	if p.Count < 1 || len(p.Values)%p.Count != 0 {
		return fmt.Errorf("posterior: %d numbers in %d draws", len(p.Values), p.Count)
	}
	if p.Mean != nil && len(p.Mean) != p.Weights() {
		return fmt.Errorf("posterior: a mean of %d numbers for draws of %d weights", len(p.Mean), p.Weights())
	}
	return checkProbabilities(p.Weights(), p.Probability)
}

// checkProbabilities refuses inclusion probabilities that are none. Nil is every weight included.
func checkProbabilities(weights int, probabilities []float64) error {
	if probabilities != nil && len(probabilities) != weights {
		return fmt.Errorf("posterior: %d inclusion probabilities for %d weights", len(probabilities), weights)
	}
	for j, p := range probabilities {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("posterior: weight %d has inclusion probability %v", j, p)
		}
	}
	return nil
}

// checkDF refuses degrees of freedom without a variance.
func checkDF(df float64) error {
	if df != 0 && !(df > 2) {
		return fmt.Errorf("posterior: %v degrees of freedom: a variance needs more than 2, and 0 stands for the normal distribution", df)
	}
	return nil
}

// checkVariances refuses variances that are none.
func checkVariances(means, variances []float64) error {
	if len(variances) != len(means) {
		return fmt.Errorf("posterior: %d means and %d variances", len(means), len(variances))
	}
	for j, v := range variances {
		if !(v >= 0) {
			return fmt.Errorf("posterior: weight %d has variance %v", j, v)
		}
	}
	return nil
}
