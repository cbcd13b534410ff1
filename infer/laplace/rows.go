package laplace

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// fit is one run.
type fit struct {
	*Engine
	*candidates.Table
	*candidates.Setting
	ws *credence.Workspace

	logNoise, logSlab, logOdds float64
	logKept                    []float64 // prior standard deviations of the kept blocks
	spike                      float64   // r₀, or its share of r₁ where none is stated
	stated                     bool
	split                      bool // there were groups, whose columns are selected one by one

	latent, residual []float64 // √v f, and −∂loss of rows in it, length n
	curvature        []float64 // of the rows' loss in √v f
}

// spikeShare is r₀ over r₁ where no spike is stated.
const spikeShare = 1e-3

func (e *Engine) newFit(ctx context.Context, data credence.Data) (*fit, error) {
	f := &fit{Engine: e, ws: credence.NewWorkspace(e.config.Threads)}
	var err error
	if f.Table, err = candidates.Load(ctx, f.ws, "laplace", e.model, data); err != nil {
		return nil, err
	}
	if f.Setting, err = f.Table.NewSetting("laplace", e.model, candidates.Flat, false); err != nil {
		return nil, err
	}
	f.split = len(ability.Candidates(e.model.Features, true)) < len(f.Candidates)
	if p := e.prior.InclusionPrior; p[0] > 0 { // of each feature's own probability, which leaves its mean
		f.Odds = candidates.Coordinate{Start: math.Log(p[0] / p[1])}
	}
	f.reset()
	if f.spike = spikeShare; e.prior.Spike.State != param.Learned {
		f.spike, f.stated = e.prior.Spike.Value/(f.Units.Scale*f.Units.Scale), true
	}
	n := f.Rows
	f.latent, f.residual, f.curvature = make([]float64, n), make([]float64, n), make([]float64, n)
	return f, nil
}

// reset takes what is learned to where it starts.
func (f *fit) reset() {
	f.logNoise, f.logSlab, f.logOdds = f.Noise.Start, f.Slab.Start, f.Odds.Start
	f.logKept = make([]float64, len(f.KeptBlocks))
	for k, b := range f.KeptBlocks {
		f.logKept[k] = b.Start
		f.SetKept(k, b.Start)
	}
}

// normals is the prior at what is learned.
func (f *fit) normals() normals {
	p := normals{logOdds: f.logOdds, slab: math.Exp(2 * f.logSlab)}
	if p.spike = f.spike; !f.stated {
		p.spike *= p.slab
	}
	p.spike = math.Min(p.spike, p.slab*(1-1e-6))
	return p
}

// of is the prior of column j, which may have odds of its own.
func (f *fit) of(p normals, j int) normals {
	p.logOdds, _ = f.OddsOf(j, p.logOdds)
	return p
}

// loss is −log p(y|w) but for constants of normal rows, with its gradient unless that is nil.
func (f *fit) loss(w, gradient []float64) float64 {
	f.Mul(f.ws, f.latent, w)
	sum := f.rowLoss()
	if gradient != nil {
		f.MulTrans(f.ws, gradient, f.residual)
		kernel.Scale(-1, gradient)
	}
	return sum
}

// rowLoss is the loss at f.latent; it takes the rows' residuals and curvatures.
func (f *fit) rowLoss() float64 {
	sum, classes := 0.0, likelihood.Bernoulli{Link: f.Link}
	precision := math.Exp(-2 * f.logNoise)
	for i, u := range f.Unit() {
		f.residual[i], f.curvature[i] = 0, precision
		switch {
		case !f.Setting.Classes:
			gap := f.Setting.Target[i] - f.latent[i]
			f.residual[i] = precision * gap
			sum += precision * gap * gap / 2
		case u > 0:
			value, first, second := classes.Derivatives(f.Setting.Target[i], f.latent[i]/u+f.OffsetOf(i))
			f.residual[i], f.curvature[i] = u*first, math.Max(-second, leastCurvature)
			sum -= u * u * value
		default:
			f.curvature[i] = leastCurvature
		}
	}
	return sum
}

// leastCurvature is that of a row that says next to nothing.
const leastCurvature = 1e-12

// objective is F(w) = −log p(y, w), the normalisers of normal rows left out, with its gradient unless that is nil.
func (f *fit) objective(p normals, w, gradient []float64) float64 {
	return f.loss(w, gradient) + f.summed(p, w, gradient, nil)
}

// run is the number of weights that are gone through at once.
const run = 512

// each calls do for the candidates of some columns, nil for all, with the probability of the spike given a weight, and
// log(1 + e^−odds).
func (f *fit) each(p normals, w []float64, columns []int, do func(k int, p normals, spike, lost float64)) {
	var against, spike [run]float64
	base, half := p.odds(0)-p.logOdds, (1/p.spike-1/p.slab)/2
	for first := 0; first < len(w); first += run {
		some := w[first:min(first+run, len(w))]
		for k, x := range some {
			against[k] = -(f.of(p, at(columns, first+k)).logOdds + base + x*x*half)
		}
		kernel.Logistic(spike[:len(some)], against[:len(some)])
		kernel.Log1pExp(against[:len(some)], against[:len(some)])
		for k := range some {
			if j := at(columns, first+k); f.Kept[j] == 0 {
				do(first+k, f.of(p, j), spike[k], against[k])
			}
		}
	}
}

// at is the column of weight k.
func at(columns []int, k int) int {
	if columns == nil {
		return k
	}
	return columns[k]
}

// summed is −log p(w), spike or slab summed over, of some columns, nil for all; its slopes it adds to gradient, unless
// that is nil.
func (f *fit) summed(p normals, w, gradient []float64, columns []int) (sum float64) {
	shared := p.constant()
	f.each(p, w, columns, func(k int, q normals, spike, lost float64) {
		constant := shared
		if q.logOdds != p.logOdds {
			constant = q.constant()
		}
		value, slope, _ := q.given(w[k], spike, lost)
		if sum += constant + value; gradient != nil {
			gradient[k] += slope
		}
	})
	for k, x := range w {
		if j := at(columns, k); f.Kept[j] > 0 {
			gap := x - f.KeptMean[j]
			if sum += (math.Log(2*math.Pi*f.Kept[j]) + gap*gap/f.Kept[j]) / 2; gradient != nil {
				gradient[k] += gap / f.Kept[j]
			}
		}
	}
	return sum
}

// constants are the normalisers of normal rows, in the target's own units.
func (f *fit) constants() float64 {
	if f.Setting.Classes {
		return 0
	}
	return f.Total*(math.Log(2*math.Pi)/2+f.logNoise) - f.Units.Jacobian
}

// bends are the curvatures of −log p(w) of some columns, nil for all.
func (f *fit) bends(p normals, w []float64, columns []int) []float64 {
	out := make([]float64, len(w))
	for k := range w {
		if v := f.Kept[at(columns, k)]; v > 0 {
			out[k] = 1 / v
		}
	}
	if f.config.Method == GIST {
		for k, x := range w {
			j := at(columns, k)
			if _, slab := f.of(p, j).joint(x); f.Kept[j] == 0 && slab {
				out[k] = 1 / p.slab
			} else if f.Kept[j] == 0 {
				out[k] = 1 / p.spike
			}
		}
		return out
	}
	f.each(p, w, columns, func(k int, q normals, spike, lost float64) { _, _, out[k] = q.given(w[k], spike, lost) })
	return out
}
