package newton

import (
	"fmt"
	"math"
	"slices"

	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/checkpoint"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
)

// Point is a q and the values of everything else that is learned.
type Point struct {
	Mean   []float64 // m, in centred coordinates
	Prior  []float64 // prior variance of each group, then the odds of correlations
	Free   []float64 // learned likelihood parameters, unconstrained
	Sites  []float64 // H, in the layout; nil means V = 0
	Family *problem.Family
	Bound  float64   // with the log density of the hyper-parameters, where they have priors
	Psi    []float64 // diag V; nil before the first step
	logDet float64   // log|V|, of standard weights: see levels
	inner  inner
}

// Begin returns the point of starting values.
func Begin(s *problem.Start) *Point {
	return &Point{Mean: s.Mean, Prior: s.Prior, Free: s.Family.Free(), Family: s.Family}
}

// Clone returns a copy with memory of its own.
func (p *Point) Clone() *Point {
	c := *p
	c.Mean, c.Prior, c.Free = slices.Clone(p.Mean), slices.Clone(p.Prior), slices.Clone(p.Free)
	c.Sites, c.Psi = slices.Clone(p.Sites), slices.Clone(p.Psi)
	return &c
}

// GoOn moves the point to where a climb on other rows came to; times is how many times theirs the
// rows are, and the curvature with them. Where the learned prior variances there are others, some block was constant in
// those rows, of whose weights they tell no curvature: the point is then without sites.
func (n *Newton) GoOn(at, from *Point, times float64, learned []int) {
	for _, k := range n.LearnedPriors() {
		at.Prior[k] = n.References[k].Bounded(from.Prior[k])
	}
	at.Mean, at.Free, at.Family = slices.Clone(from.Mean), slices.Clone(from.Free), from.Family
	if at.Sites = nil; slices.Equal(learned, n.LearnedPriors()) {
		at.Sites = slices.Clone(from.Sites)
		kernel.Scale(times, at.Sites)
	}
}

// Sampled makes a point where a climb on some rows ended one to begin from on times as many: with as many times their
// sites, or without sites where those rows have told little of a weight, whose variance would be far too wide for all.
func (n *Newton) Sampled(at *Point, times float64) {
	for k, g := range n.Groups {
		for j := g.First; j < g.End(); j += g.Step() {
			if at.Psi[j] > at.Prior[k]/2 {
				at.Sites = nil
				return
			}
		}
	}
	kernel.Scale(times, at.Sites)
}

// factorise makes n.factor the F of V = (Λ⁻¹ + H)⁻¹ = FFᵀ, see [gauss.Factor]. It reports whether the matrix is
// positive definite, and log|I + ΛH|.
func (n *Newton) factorise(sites, prior []float64) (logDet float64, ok bool) {
	base.Spread(n.deviation, n.Groups, func(k int) float64 { return math.Sqrt(prior[k]) })
	if n.system.Set(n.levels.mixed(sites, prior), 1, n.deviation) != nil {
		return 0, false
	}
	if n.factor, logDet = n.system.Spread(), n.system.LogDet(); n.levels != nil {
		n.levels.form()
		n.factor = n.levels
	}
	return logDet, problem.Finite(logDet)
}

// solve stores V x = F Fᵀ x in dst, which may be x, and Fᵀ x in n.work[3].
func (n *Newton) solve(dst, x []float64) { n.factor.Mul(n.Workspace, dst, n.work[3], x) }

// Spread gives the point a V that its sites do not say, FFᵀ for an upper triangular F in centred coordinates.
func (n *Newton) Spread(p *Point, factor []float64) {
	n.factor = gauss.Root(slices.Clone(factor))
	p.logDet = 0
	for j := range n.Dims {
		p.logDet += 2 * math.Log(math.Abs(factor[j*n.Dims+j]))
	}
}

// Place factorises the point's V and takes its diagonal and determinant. It reports whether V⁻¹ is
// positive definite, and log|I + ΛH|.
func (n *Newton) Place(p *Point) (logDet float64, ok bool) {
	logDet, ok = n.factorise(p.Sites, p.Prior)
	if !ok {
		return 0, false
	}
	p.Psi = order.Resized(p.Psi, n.Dims)
	p.inner = n.diagonal(p.Psi)
	p.logDet = -logDet
	for _, s := range n.deviation {
		p.logDet += 2 * math.Log(s)
	}
	return logDet, true
}

// Normal moves the point to the posterior of a normal likelihood with the precision H = p.Sites and
// the natural mean h, and returns its log evidence ½ hᵀVh − ½ log|I + ΛH|. ok is false where the
// precision is not positive definite.
func (n *Newton) Normal(p *Point, h []float64) (evidence float64, ok bool) {
	logDet, ok := n.Place(p)
	if !ok {
		return 0, false
	}
	n.solve(p.Mean, h)
	return (kernel.Dot(h, p.Mean) - logDet) / 2, true
}

// Covariance stores the covariance of the weights at the last point in dst, in the layout.
func (n *Newton) Covariance(dst []float64) {
	if n.levels != nil {
		copy(dst, n.levels.own())
		return
	}
	defer n.Intercept.WeightFactor(n.factor.(gauss.Root))()
	n.Centred(dst)
}

// Centred stores V of the last point, in centred coordinates, in dst, in the layout.
func (n *Newton) Centred(dst []float64) {
	if n.levels != nil {
		copy(dst, n.levels.values)
		return
	}
	n.factor.(gauss.Root).Covariance(n.Workspace, dst, n.Dims)
}

// PriorSlope returns the slope of the bound in the logarithm of the prior variance of group k, for a
// mean and variances of the weights: (Σ (ψ + m²)/λ − 1)/2.
func (n *Newton) PriorSlope(k int, prior float64, mean, psi []float64) float64 {
	g, sum := n.Groups[k], 0.0
	for j := g.First; j < g.End(); j += g.Step() {
		sum += (psi[j]+mean[j]*mean[j])/prior - 1
	}
	return sum / 2
}

// PriorSlopes returns the slopes in the logarithms of all prior variances and odds at a point.
func (n *Newton) PriorSlopes(p *Point) []float64 { return n.slopes(p, nil) }

// divergence is KL[q‖p(w)].
func (n *Newton) divergence(p *Point) float64 {
	sum, mean, psi := -float64(n.Dims)-p.logDet, n.levels.standard(p.Mean, p.Prior), p.standardPsi()
	for k, g := range n.Groups {
		squares := 0.0
		for j := g.First; j < g.End(); j += g.Step() {
			squares += mean[j]*mean[j] + psi[j]
		}
		sum += squares/p.Prior[k] + float64(g.Count)*math.Log(p.Prior[k])
	}
	return sum / 2
}

// State is where a climb stands between iterations: all that the next one depends on.
type State struct {
	Iteration int `json:"iteration"`
	Failures  int `json:"failures"`  // steps in a row that did not raise the bound
	Quiet     int `json:"quiet"`     // steps in a row that gained nothing but rounding
	Separable int `json:"separable"` // steps in a row that gained little on separated classes
	at        Point
	rho       float64   // length of the next step
	numbers   []float64 // rho and the gain of the last step as they are stored: the gain may be infinite
	about     []float64 // of the sums of a Gaussian family
	mixed     mixture
}

// Vectors are the parts of the state that are not in its JSON.
func (s *State) Vectors() checkpoint.Vectors {
	vectors := checkpoint.Vectors{
		"newton.mean": &s.at.Mean, "newton.prior": &s.at.Prior, "newton.parameters": &s.at.Free,
		"newton.sites": &s.at.Sites, "newton.about": &s.about, "newton.step": &s.numbers,
	}
	for len(s.mixed) < deepest { // room to read into
		s.mixed = append(s.mixed, natural{})
	}
	for k := range s.mixed {
		p, name := &s.mixed[k], fmt.Sprintf("newton.mixed.%d.", k)
		vectors[name+"sites"], vectors[name+"curvature"], vectors[name+"shift"], vectors[name+"pull"] = &p.sites, &p.curvature, &p.shift, &p.pull
	}
	return vectors
}

// Fits says whether a state that was read is one of this problem, with so many parameters of a family.
func (n *Newton) Fits(s *State, parameters int) bool {
	d, size, priors := n.Dims, n.Layout.Len(), len(n.Groups)+len(n.Odds)
	if len(s.at.Free) != parameters || s.about != nil && len(s.about) != d || len(s.at.Mean) != d || len(s.at.Sites) != size || len(s.at.Prior) != priors || len(s.numbers) != 2 {
		return false
	}
	return !slices.ContainsFunc(s.mixed, func(p natural) bool {
		return p.sites != nil && (len(p.sites) != size || len(p.curvature) != size || len(p.shift) != d || len(p.pull) != d)
	})
}

// saved returns the state of a climb at a point, sharing the point's memory.
func (n *Newton) saved(state *State, at *Point) *State {
	saved := *state
	saved.mixed = slices.Clone(state.mixed)
	saved.at, saved.numbers = *at, []float64{state.rho, n.Gain}
	if n.sums != nil {
		saved.about = n.sums.about
	}
	return &saved
}

// resume moves the point to a state, which it returns.
func (n *Newton) resume(from *State, at *Point) *State {
	state := *from
	state.mixed = slices.DeleteFunc(slices.Clone(from.mixed), func(p natural) bool { return p.sites == nil })
	state.rho, n.Gain, n.about = from.numbers[0], from.numbers[1], from.about
	family := at.Family.At(from.at.Free)
	*at = Point{
		Mean: slices.Clone(from.at.Mean), Prior: slices.Clone(from.at.Prior), Free: slices.Clone(from.at.Free),
		Sites: slices.Clone(from.at.Sites), Family: family,
	}
	return &state
}
