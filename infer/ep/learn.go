package ep

import (
	"math"

	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
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
type pace struct{ length, last float64 }

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
		if f.Classes {
			if f.paces[x] == nil {
				f.paces[x] = new(pace)
			}
			to = *x + f.paces[x].stretch(to-*x)
		} else if f.patient {
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

// theta are the learned values as unconstrained numbers: log σ, log √r₁, logit π, and the
// logarithms of the kept blocks' prior standard deviations.
func (f *fit) theta() []float64 {
	var x []float64
	for _, c := range f.coordinates() {
		x = append(x, *c)
	}
	return x
}

func (f *fit) coordinates() []*float64 {
	var list []*float64
	for _, c := range []struct {
		learned bool
		value   *float64
	}{{f.Noise.Learned, &f.logNoise}, {f.Slab.Learned, &f.logSlab}, {f.Odds.Learned, &f.logOdds}} {
		if c.learned {
			list = append(list, c.value)
		}
	}
	for k := range f.logKept {
		list = append(list, &f.logKept[k])
	}
	return list
}

func (f *fit) setTheta(x []float64) {
	for k, c := range f.coordinates() {
		*c = x[k]
	}
	f.takeKept()
	f.factors.setRows(f)
}

// logPrior is the log density of the learned values, and its slopes.
func (f *fit) logPrior() (value float64, slopes []float64) {
	add := func(v, s float64) { value, slopes = value+v, append(slopes, s) }
	if f.Noise.Learned {
		v, s, _ := f.NoisePrior.At(f.logNoise)
		add(v, s)
	}
	if f.Slab.Learned {
		v, s, _ := f.SlabPrior.At(f.logSlab)
		add(v, s)
	}
	if f.Odds.Learned {
		pi := special.Sigmoid(f.logOdds)
		la, _ := math.Lgamma(f.OddsA)
		lb, _ := math.Lgamma(f.OddsB)
		lab, _ := math.Lgamma(f.OddsA + f.OddsB)
		add(f.OddsA*special.LogSigmoid(f.logOdds)+f.OddsB*special.LogSigmoid(-f.logOdds)+lab-la-lb, f.OddsA-(f.OddsA+f.OddsB)*pi)
	}
	for k, b := range f.KeptBlocks {
		v, s, _ := b.Prior.At(f.logKept[k])
		add(v, s)
	}
	return value, slopes
}

// gradient is that of the log evidence and the log priors at settled sites.
func (f *fit) gradient() []float64 {
	e := f.expectations()
	_, slopes := f.logPrior()
	var out []float64
	if f.Noise.Learned {
		out = append(out, e.residual*math.Exp(-2*f.logNoise)-f.Total)
	}
	if f.Slab.Learned {
		out = append(out, e.square*math.Exp(-2*f.logSlab)-e.members)
	}
	if f.Odds.Learned {
		out = append(out, e.included-float64(f.Shared)*special.Sigmoid(f.logOdds))
	}
	for k, b := range f.KeptBlocks {
		out = append(out, e.kept[k]*math.Exp(-2*f.logKept[k])-float64(b.Count))
	}
	kernel.Axpy(1, slopes, out)
	return out
}
