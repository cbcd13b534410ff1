package credence

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Predictive is the ability of a likelihood to give the distribution of y when
// f ~ N(mean, variance). Every family of package likelihood has it.
type Predictive interface {
	Likelihood
	PredictiveMean(mean, variance float64) float64
	PredictiveVariance(mean, variance float64) float64
	// TiltedMoments returns log E p(y|f) and its derivatives in mean and variance, for y in the
	// support.
	TiltedMoments(y, mean, variance float64) (logDensity, dMean, dVariance float64)
	PredictiveCDF(y, mean, variance float64) float64
	PredictiveQuantile(p, mean, variance float64) float64
}

// MixturePosterior is a posterior with several components of equal weight, under
// each of which f is Gaussian.
type MixturePosterior interface {
	Posterior
	Components() int
	// LatentComponent is Latent under component k alone.
	LatentComponent(ws *Workspace, k int, mean, variance []float64, phi *Design)
}

// Distribution is the predictive distribution of every row of a batch: an equal
// mixture over members and posterior components, in each of which f is Gaussian.
// Its y are those of a Batch: classes are 0 and 1, and the grades of an ordinal
// family count from 0 in ascending order. It is safe for concurrent reads.
//
// It holds two numbers for each row and component. Many rows are therefore taken in
// batches of [BlockRows], into one Distribution whose memory is used again.
type Distribution struct {
	rows   int
	parts  []part
	phi    Design
	latent []float64 // the means and variances of all parts
}

// part is one component of the mixture.
type part struct {
	likelihood     Predictive
	perRow         []Predictive // of each row, where the rows state their own trials or precisions
	mean, variance []float64    // of f, offset included
}

// at returns the likelihood of row i.
func (p *part) at(i int) Predictive {
	if p.perRow != nil {
		return p.perRow[i]
	}
	return p.likelihood
}

// Distribution returns the predictive distribution of the rows.
func (f *Fitted) Distribution(ws *Workspace, rows *Batch) (*Distribution, error) {
	dist := &Distribution{}
	return dist, f.DistributionTo(ws, dist, rows)
}

// DistributionTo stores the predictive distribution of the rows in dst, reusing its
// memory: where dst has held as many rows before, nothing is allocated, but for a
// likelihood of each row where rows state their trials or precisions.
func (f *Fitted) DistributionTo(ws *Workspace, dst *Distribution, rows *Batch) error {
	n := rows.Rows()
	dst.rows, dst.parts = n, dst.parts[:0]
	for i := range f.Members {
		likelihood, err := predictive(f.Members[i].Model.Likelihood)
		if err != nil {
			return err
		}
		perRow, err := likelihoods(likelihood, rows)
		if err != nil {
			return err
		}
		for range components(f.Members[i].Posterior) {
			dst.parts = append(dst.parts, part{likelihood: likelihood, perRow: perRow})
		}
	}
	if len(dst.parts) == 0 {
		return fmt.Errorf("predict: the fit has no members: fit the model first")
	}
	if need := 2 * n * len(dst.parts); cap(dst.latent) < need {
		dst.latent = make([]float64, need)
	}
	next := 0
	for i := range f.Members {
		member := &f.Members[i]
		member.Model.Features.Transform(ws, &dst.phi, rows)
		mixture, isMixture := member.Posterior.(MixturePosterior)
		for k := range components(member.Posterior) {
			p, memory := &dst.parts[next], dst.latent[2*n*next:2*n*(next+1)]
			p.mean, p.variance = memory[:n], memory[n:]
			if isMixture {
				mixture.LatentComponent(ws, k, p.mean, p.variance, &dst.phi)
			} else {
				member.Posterior.Latent(ws, p.mean, p.variance, &dst.phi)
			}
			for i, offset := range rows.Offset {
				p.mean[i] += offset
			}
			addUnseen(p.variance, rows, member.Model)
			next++
		}
	}
	return nil
}

// predictive narrows a likelihood. It does without [Require], which lists methods by reflection, so
// that linkers would keep every method of every type in a program that only scores.
func predictive(likelihood any) (Predictive, error) {
	if p, ok := likelihood.(Predictive); ok {
		return p, nil
	}
	return nil, fmt.Errorf("predict: likelihood %T has no predictive distribution: give it the methods of credence.Predictive", likelihood)
}

// components returns how many Gaussians the distribution of f is a mixture of.
func components(posterior Posterior) int {
	if mixture, ok := posterior.(MixturePosterior); ok {
		return mixture.Components()
	}
	return 1
}

// UnseenFeatures is the ability of features to have sparse columns that training did not have.
type UnseenFeatures interface {
	// AddUnseen adds, for each row and each block that would have a weight for them, the sum of squares
	// of their entries times the prior variance of such a weight: of [Batch].Unseen, and of what the
	// features find themselves.
	AddUnseen(variance []float64, rows *Batch, prior UnseenPrior)
}

// UnseenPrior is the ability of a prior to be that of weights which training did not have.
type UnseenPrior interface {
	// UnseenVariance is the prior variance, after the fit, of a further weight of the block.
	UnseenVariance(block Block) float64
}

// addUnseen adds what sparse columns that training did not have contribute to the
// variance of f: their weights are independent draws of the prior, with mean 0.
func addUnseen(variance []float64, rows *Batch, model Model) {
	features, ok := model.Features.(UnseenFeatures)
	prior, known := model.Prior.(UnseenPrior)
	if ok && known {
		features.AddUnseen(variance, rows, prior)
	}
}

// AddUnseenSquares adds squares, one for each row or nil, times the variance of a further weight of a
// block. Sums beyond all numbers are the largest number, so that quantiles stay numbers.
func AddUnseenSquares(variance, squares []float64, prior UnseenPrior, block Block) {
	if squares == nil {
		return
	}
	v := prior.UnseenVariance(block)
	for i, square := range squares {
		if square > 0 {
			variance[i] = math.Min(variance[i]+v*square, math.MaxFloat64)
		}
	}
}

// likelihoods returns the likelihood of every row where rows state their trials or precisions.
func likelihoods(likelihood Predictive, rows *Batch) ([]Predictive, error) {
	if rows.Trials == nil && rows.Precision == nil {
		return nil, nil
	}
	perRow := make([]Predictive, rows.Rows())
	same := func(x []float64, i int) bool { return x == nil || x[i] == x[i-1] }
	for i := range perRow {
		if i > 0 && same(rows.Trials, i) && same(rows.Precision, i) {
			perRow[i] = perRow[i-1]
			continue
		}
		narrowed, err := predictive(rows.LikelihoodOf(likelihood, i))
		if err != nil {
			return nil, err
		}
		perRow[i] = narrowed
	}
	return perRow, nil
}

// Rows returns the number of rows.
func (d *Distribution) Rows() int { return d.rows }

// Latent returns the mean and the variance of f for row i.
func (d *Distribution) Latent(i int) (mean, variance float64) {
	for k := range d.parts {
		mean += d.parts[k].mean[i]
	}
	mean /= float64(len(d.parts))
	for k := range d.parts {
		gap := d.parts[k].mean[i] - mean
		variance += d.parts[k].variance[i] + gap*gap
	}
	return mean, variance / float64(len(d.parts))
}

// stackParts is how many components a row's scratch memory has room for without
// allocating.
const stackParts = 64

// Moments returns E y and Var y of row i.
func (d *Distribution) Moments(i int) (mean, variance float64) {
	if len(d.parts) == 1 {
		p := &d.parts[0]
		l := p.at(i)
		return l.PredictiveMean(p.mean[i], p.variance[i]), l.PredictiveVariance(p.mean[i], p.variance[i])
	}
	var memory [stackParts]float64
	means := memory[:0]
	for k := range d.parts {
		p := &d.parts[k]
		means = append(means, p.at(i).PredictiveMean(p.mean[i], p.variance[i]))
		mean += means[k]
	}
	mean /= float64(len(d.parts))
	for k := range d.parts {
		p := &d.parts[k]
		gap := means[k] - mean
		variance += p.at(i).PredictiveVariance(p.mean[i], p.variance[i]) + gap*gap
	}
	return mean, variance / float64(len(d.parts))
}

// LogDensity returns the logarithm of the predictive density of y in row i: the
// log of the average density, never the average of logs. Outside the support it is −Inf.
func (d *Distribution) LogDensity(i int, y float64) float64 {
	support, ok := d.parts[0].at(i).(interface{ CheckTarget(y float64) error })
	if ok && support.CheckTarget(y) != nil {
		return math.Inf(-1)
	}
	var memory [stackParts]float64
	logs := memory[:0]
	largest := math.Inf(-1)
	for k := range d.parts {
		p := &d.parts[k]
		logDensity, _, _ := p.at(i).TiltedMoments(y, p.mean[i], p.variance[i])
		logs = append(logs, logDensity)
		largest = math.Max(largest, logs[k])
	}
	if len(logs) == 1 || math.IsInf(largest, -1) || math.IsNaN(largest) {
		return largest
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - largest)
	}
	return largest + math.Log(sum/float64(len(logs)))
}

// CDF returns P(Y ≤ y) of row i.
func (d *Distribution) CDF(i int, y float64) float64 {
	sum := 0.0
	for k := range d.parts {
		p := &d.parts[k]
		sum += p.at(i).PredictiveCDF(y, p.mean[i], p.variance[i])
	}
	return sum / float64(len(d.parts))
}

// Sample returns a draw of y for row i.
func (d *Distribution) Sample(i int, rng *rand.Rand) (float64, error) {
	p := &d.parts[rng.IntN(len(d.parts))]
	sampler, ok := p.at(i).(interface {
		Sample(rng *rand.Rand, f float64) float64
	})
	if !ok {
		return 0, fmt.Errorf("predict: likelihood %T has no method Sample: give it one", p.at(i))
	}
	return sampler.Sample(rng, p.mean[i]+math.Sqrt(p.variance[i])*rng.NormFloat64()), nil
}

// Each calls do for every row, on the threads of the workspace; calls for
// different rows may run at once and must write to different memory.
func (d *Distribution) Each(ws *Workspace, do func(i int)) {
	ws.InRuns(d.rows, func(from, to int) {
		for i := from; i < to; i++ {
			do(i)
		}
	})
}
