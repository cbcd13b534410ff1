package credence

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// Distribution is the predictive distribution of every row of a batch: a mixture over members,
// posterior components and, where f is Student-t, the points of a scale mixture; in each part f is
// normal. Its y are those of a Batch: classes are 0 and 1, and the grades of an ordinal
// family count from 0 in ascending order. It is safe for concurrent
// reads, each goroutine with a workspace of its own.
//
// It holds two numbers for each row and component. Many rows are therefore taken in
// batches of [BlockRows], into one Distribution whose memory is used again.
type Distribution struct {
	rows   int
	parts  []part
	total  float64 // of the parts' shares
	phi    Design
	latent []float64                // the means and variances of all components
	scales map[float64][]quad.Scale // by degrees of freedom
	tables *Tables                  // nil where distribution functions are integrated
}

// part is one part of the mixture.
type part struct {
	likelihood     Predictive
	perRow         []Predictive // of each row, where the rows state their own trials or precisions
	mean, variance []float64    // of f, offset included
	factor         float64      // of the variance
	df             float64      // of a Student-t f that is one part; 0 of a normal one
	share          float64      // probability of the part, times the total of the shares
	// Of the first part of a component whose distribution function is in a table: how many parts it has, and their
	// share.
	table  knownTable
	scales int
	whole  float64
}

// at returns the likelihood of row i and the mean and variance of its f.
func (p *part) at(i int) (likelihood Predictive, mean, variance float64) {
	likelihood = p.likelihood
	if p.perRow != nil {
		likelihood = p.perRow[i]
	}
	return likelihood, p.mean[i], p.variance[i] * p.factor
}

// Rows returns the number of rows.
func (d *Distribution) Rows() int { return d.rows }

// Latent returns the mean and the variance of f for row i.
func (d *Distribution) Latent(i int) (mean, variance float64) {
	for k := range d.parts {
		mean += d.parts[k].share * d.parts[k].mean[i]
	}
	mean /= d.total
	for k := range d.parts {
		p := &d.parts[k]
		gap := p.mean[i] - mean
		variance += p.share * (p.variance[i] + gap*gap) // the mean factor of a component is 1
	}
	return mean, variance / d.total
}

// stackParts is how many parts a row's scratch memory has room for without allocating.
const stackParts = 128

// Moments returns E y and Var y of row i.
func (d *Distribution) Moments(i int) (mean, variance float64) {
	if len(d.parts) == 1 {
		return momentsOf(d.parts[0].at(i))
	}
	var memory [2][stackParts]float64
	means, variances := memory[0][:0], memory[1][:0]
	for k := range d.parts {
		m, v := momentsOf(d.parts[k].at(i))
		means, variances = append(means, m), append(variances, v)
		mean += d.parts[k].share * m
	}
	mean /= d.total
	for k := range d.parts {
		gap := means[k] - mean
		variance += d.parts[k].share * (variances[k] + gap*gap)
	}
	return mean, variance / d.total
}

// momentsOf returns E y and Var y where f ~ N(mean, variance).
func momentsOf(l Predictive, mean, variance float64) (float64, float64) {
	if both, ok := l.(interface {
		PredictiveMoments(mean, variance float64) (expected, spread float64)
	}); ok {
		return both.PredictiveMoments(mean, variance)
	}
	return l.PredictiveMean(mean, variance), l.PredictiveVariance(mean, variance)
}

// latentCDF returns the probability of f up to x in row i, under the part alone.
func (p *part) latentCDF(i int, x float64) float64 {
	_, mean, variance := p.at(i)
	switch {
	case variance == 0 && x == mean:
		return 1
	case p.df > 0:
		return special.StudentCDF((x-mean)/math.Sqrt(variance*(1-2/p.df)), p.df)
	}
	return special.NormalCDF((x - mean) / math.Sqrt(variance))
}

// MeanQuantiles stores in dst the quantiles of E[y|f] of row i, of which expected gives the increasing function of f
// for a likelihood. Where alike, the function is that of the first likelihood for all members.
func (d *Distribution) MeanQuantiles(dst []float64, i int, probabilities []float64, alike bool, expected func(l Likelihood, f float64) float64) {
	first, _, _ := d.parts[0].at(i)
	centre, variance := d.Latent(i)
	sd := math.Sqrt(variance)
	// The search adds ½ to a difference: it is in units of how much the first moves about x, lest ½ swallow it. Where
	// that is nothing, or beyond all numbers, x stands for what is sought.
	equal := func(l Likelihood, value, x float64) float64 {
		width := 0.0
		if expected(l, x) != value {
			width = expected(first, x+sd) - expected(first, x-sd)
		}
		if !(width > 0) || math.IsInf(width, 1) {
			return x
		}
		return quad.Quantile(func(f float64) float64 { return 0.5 + (expected(l, f)-value)/width }, 0.5, x, sd, math.Inf(-1), math.Inf(1))
	}
	cdf := func(x float64) (sum float64) {
		for k := range d.parts {
			p, at := &d.parts[k], x
			if l, _, _ := p.at(i); !alike && k > 0 { // the f of the part at which E y is that of the first at x
				at = equal(l, expected(first, x), x)
			}
			sum += p.share * p.latentCDF(i, at)
		}
		return sum / d.total
	}
	for k, p := range probabilities {
		if dst[k] = expected(first, centre); sd > 0 {
			dst[k] = expected(first, quad.Quantile(cdf, p, centre+sd*special.NormalQuantile(p), sd/8, math.Inf(-1), math.Inf(1)))
		}
	}
}

// LogDensity returns the logarithm of the predictive density of y in row i: the
// log of the average density, never the average of logs. Outside the support it is −Inf.
func (d *Distribution) LogDensity(i int, y float64) float64 {
	first, _, _ := d.parts[0].at(i)
	support, ok := first.(interface{ CheckTarget(y float64) error })
	if ok && support.CheckTarget(y) != nil {
		return math.Inf(-1)
	}
	var memory [stackParts]float64
	logs := memory[:0]
	largest := math.Inf(-1)
	for k := range d.parts {
		l, m, v := d.parts[k].at(i)
		logDensity, _, _ := l.TiltedMoments(y, m, v)
		logs = append(logs, logDensity)
		largest = math.Max(largest, logs[k])
	}
	if len(logs) == 1 || math.IsInf(largest, -1) || math.IsNaN(largest) {
		return largest
	}
	sum := 0.0
	for k, l := range logs {
		sum += d.parts[k].share * math.Exp(l-largest)
	}
	return largest + math.Log(sum/d.total)
}

// CDF returns P(Y ≤ y) of row i.
func (d *Distribution) CDF(i int, y float64) float64 {
	table := d.rowTable(i)
	c := table.at(y)
	d.release(table)
	if !math.IsNaN(c) {
		return c
	}
	sum := 0.0
	for k := range d.parts {
		l, m, v := d.parts[k].at(i)
		sum += d.parts[k].share * l.PredictiveCDF(y, m, v)
	}
	return sum / d.total
}

// Sample returns a draw of y for row i.
func (d *Distribution) Sample(i int, rng *rand.Rand) (float64, error) {
	l, m, v := d.draw(rng).at(i)
	if direct, ok := l.(interface {
		PredictiveSample(rng *rand.Rand, mean, variance float64) float64
	}); ok {
		return direct.PredictiveSample(rng, m, v), nil
	}
	sampler, ok := l.(interface {
		Sample(rng *rand.Rand, f float64) float64
	})
	if !ok {
		return 0, fmt.Errorf("predict: likelihood %T has no method Sample: give it one", l)
	}
	return sampler.Sample(rng, m+math.Sqrt(v)*rng.NormFloat64()), nil
}

// draw returns a part by its probability.
func (d *Distribution) draw(rng *rand.Rand) *part {
	if d.total == float64(len(d.parts)) { // equal shares
		return &d.parts[rng.IntN(len(d.parts))]
	}
	u := rng.Float64() * d.total
	for k := range d.parts {
		if u -= d.parts[k].share; u < 0 {
			return &d.parts[k]
		}
	}
	return &d.parts[len(d.parts)-1]
}

// Each calls do for every row, on the threads of the workspace; calls for
// different rows may run at once and must write to different memory.
func (d *Distribution) Each(ws *Workspace, do func(i int)) {
	ws.Each(d.rows, do)
}

// Parts returns the number of parts of the mixture.
func (d *Distribution) Parts() int { return len(d.parts) }

// Part returns part k of the distribution of row i: its probability, its likelihood, and the mean and
// the variance of f.
func (d *Distribution) Part(i, k int) (probability float64, likelihood Predictive, mean, variance float64) {
	likelihood, mean, variance = d.parts[k].at(i)
	return d.parts[k].share / d.total, likelihood, mean, variance
}
