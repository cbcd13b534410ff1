package ep

import (
	"math"

	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/special"
)

// firstSweeps pass before anything is learned: the first sites mean little.
const firstSweeps = 3

// Classes tell little of slab and inclusion, and what sites that have not settled say of them leads
// astray: steps wait for a change of inclusions and of means of f below nearlySettled, and are short. So are
// those of normal targets once they ran away.
const (
	nearlySettled = 0.05
	longestStep   = 0.2
)

// pace is the length of steps that keep their direction and grow, or turn back and shrink: expectation
// maximisation is slow where the data tell little, and its steps then shrink by a hundredth each.
type pace struct{ length, last, turns float64 }

const (
	quicken = 1.3
	slacken = 0.5
)

func (p *pace) stretch(step float64) float64 {
	switch {
	case step*p.last > 0:
		p.length *= quicken
	case step*p.last < 0:
		p.length *= slacken
	default:
		p.length = math.Abs(step)
	}
	p.last, p.length = step, math.Min(math.Max(p.length, 0), longestStep)
	return math.Copysign(p.length, step)
}

// damped is a step of what normal targets tell. Slab, noise and inclusion may go round with sites that have a least
// precision, there and back again: steps are a half once one of them has turned back often, then a quarter.
func (f *fit) damped(p *pace, step float64) float64 {
	if step*p.last < 0 {
		p.turns++
	}
	p.last = step
	turns := 0.0
	for _, other := range f.paces {
		turns = math.Max(turns, other.turns)
	}
	switch {
	case turns >= quarterTurns:
		return step / 4
	case turns >= halfTurns:
		return step / 2
	}
	return step
}

// Turns of what is learned from which on steps are a half and a quarter: before it settles without damping there are
// two or three.
const halfTurns, quarterTurns = 4, 12

// expectations are what the slopes of the log evidence in the learned values are made of.
type expectations struct {
	residual float64   // E ‖y − f‖²
	included float64   // Σ α over candidates without prior odds of their own
	members  float64   // and over their weights
	square   float64   // Σ α E[w²|slab]
	kept     []float64 // Σ E w² of every kept block
}

func (f *fit) expectations() expectations {
	var e expectations
	for _, c := range f.Candidates {
		if _, own := f.OddsOf(c.First, 0); !own {
			e.included += f.tilted[c.First].inclusion
		}
		for _, t := range f.tilted[c.First:c.End()] {
			e.members += t.inclusion
			e.square += t.inclusion * t.slabSquare
		}
	}
	for _, b := range f.KeptBlocks {
		sum := 0.0
		for j := b.First; j < b.First+b.Count; j++ {
			sum += f.q.mean[j]*f.q.mean[j] + f.q.variance[j]
		}
		e.kept = append(e.kept, sum)
	}
	if f.Noise.Learned {
		for i, y := range f.Setting.Target {
			gap := y - f.q.rowMean[i]
			e.residual += gap * gap
		}
		e.residual += f.q.trace(f.q, math.Exp(-2*f.logNoise))
	}
	return e
}

// learn takes one step of expectation maximisation under the hyper-priors, and returns how far it went.
func (f *fit) learn(iteration int, changed float64) float64 {
	if iteration <= firstSweeps || (f.Classes || f.patient) && changed > nearlySettled {
		return 1
	}
	e, moved := f.expectations(), 0.0
	set := func(x *float64, to float64) {
		if f.paces[x] == nil {
			f.paces[x] = new(pace)
		}
		if f.Classes {
			to = *x + f.paces[x].stretch(to-*x)
		} else if to = *x + f.damped(f.paces[x], to-*x); f.patient {
			to = math.Max(*x-longestStep, math.Min(to, *x+longestStep))
		}
		moved = math.Max(moved, math.Abs(to-*x))
		*x = to
	}
	if f.Noise.Learned {
		set(&f.logNoise, math.Max(hyper.ScaleMode(f.Total, e.residual, f.NoisePrior, f.logNoise), hyper.LeastLogNoise))
	}
	if f.Slab.Learned {
		set(&f.logSlab, hyper.ScaleMode(e.members, e.square, f.SlabPrior, f.logSlab))
	}
	if f.Odds.Learned {
		a, b := f.OddsA+e.included, f.OddsB+float64(f.Shared)-e.included
		set(&f.logOdds, math.Log(a/b))
	}
	for k, b := range f.KeptBlocks {
		set(&f.logKept[k], hyper.ScaleMode(float64(b.Count), e.kept[k], b.Prior, f.logKept[k]))
	}
	f.takeKept()
	f.factors.setRows(f)
	return moved
}

// coordinate is a learned value as an unconstrained number: log σ, log √r₁, logit π, or the logarithm of a kept block's
// prior standard deviation.
type coordinate struct {
	value *float64
	slope float64                                           // of the log evidence, at settled sites
	prior func(x float64) (value, slope, curvature float64) // its log density
}

// coordinates are all learned values, with slopes where there are expectations.
func (f *fit) coordinates(e *expectations) (list []coordinate) {
	if e == nil {
		e = &expectations{kept: make([]float64, len(f.logKept))}
	}
	if f.Noise.Learned {
		list = append(list, coordinate{&f.logNoise, e.residual*math.Exp(-2*f.logNoise) - f.Total, f.NoisePrior.At})
	}
	if f.Slab.Learned {
		list = append(list, coordinate{&f.logSlab, e.square*math.Exp(-2*f.logSlab) - e.members, f.SlabPrior.At})
	}
	if f.Odds.Learned {
		list = append(list, coordinate{&f.logOdds, e.included - float64(f.Shared)*special.Sigmoid(f.logOdds), f.oddsPrior})
	}
	for k, u := range f.logKept {
		b := f.KeptBlocks[k]
		list = append(list, coordinate{&f.logKept[k], e.kept[k]*math.Exp(-2*u) - float64(b.Count), b.Prior.At})
	}
	return list
}

// oddsPrior is the log density of logit π and its slope.
func (f *fit) oddsPrior(x float64) (value, slope, _ float64) {
	a, b := f.OddsA, f.OddsB
	return a*special.LogSigmoid(x) + b*special.LogSigmoid(-x) - special.LogBeta(a, b), a - (a+b)*special.Sigmoid(x), 0
}

// theta are the learned values.
func (f *fit) theta() (x []float64) {
	for _, c := range f.coordinates(nil) {
		x = append(x, *c.value)
	}
	return x
}

func (f *fit) setTheta(x []float64) {
	for k, c := range f.coordinates(nil) {
		*c.value = x[k]
	}
	f.takeKept()
	f.factors.setRows(f)
}

// gradient is that of the log evidence and the log priors at settled sites, of which it returns the log priors, too.
func (f *fit) gradient() (gradient []float64, logPrior float64) {
	e := f.expectations()
	for _, c := range f.coordinates(&e) {
		v, slope, _ := c.prior(*c.value)
		gradient, logPrior = append(gradient, c.slope+slope), logPrior+v
	}
	return gradient, logPrior
}
