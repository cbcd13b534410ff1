package hyper

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// leastCurvature bounds the eigenvalues of H from below: along no direction is θ taken to be less
// certain than a standard deviation of 2.6 units of a logarithm.
const leastCurvature = 0.15

// Axes are the lines along which θ is integrated.
type Axes struct {
	Theta      []float64 // θ̂, length p
	LogDensity float64   // ĝ
	root       *mat.SymDense
	covariance *mat.SymDense // H⁻¹
	logDet     float64       // log|H|
	nodes      []node
	grid       bool // there is a point for every set of nodes of all axes, not of one
}

// node is a point of the quadrature on an axis other than the mode: z and its weight ω.
type node struct{ z, weight float64 }

// The Gauss–Hermite rules with five and three nodes (probabilists' weight); the rest of the weight
// belongs to the mode.
var (
	fiveNodes = func() []node {
		near, far := math.Sqrt(5-math.Sqrt(10)), math.Sqrt(5+math.Sqrt(10))
		wNear, wFar := (7+2*math.Sqrt(10))/60, (7-2*math.Sqrt(10))/60
		return []node{{-far, wFar}, {-near, wNear}, {near, wNear}, {far, wFar}}
	}()
	threeNodes = []node{{-math.Sqrt(3), 1.0 / 6}, {math.Sqrt(3), 1.0 / 6}}
)

// FiveNodeLimit and ThreeNodeLimit are the largest numbers of hyper-parameters that are integrated
// with five and with three nodes on an axis.
const (
	FiveNodeLimit  = 30
	ThreeNodeLimit = 100
)

// ErrCurvature says that there are no axes.
var ErrCurvature = errors.New("hyper: the curvature of the evidence in the hyper-parameters is not finite: scale the columns, or state the prior variance or a noise variance")

// NewAxes returns the axes at a mode with the Hessian H = −∇²g, p×p and symmetric. There are five
// nodes on each up to [FiveNodeLimit] hyper-parameters, three above, or where coarse is wanted. It
// fails with [ErrCurvature] where H is no matrix of finite numbers.
func NewAxes(theta []float64, logDensity float64, hessian *mat.SymDense, coarse bool) (*Axes, error) {
	p := len(theta)
	a := &Axes{Theta: append([]float64(nil), theta...), LogDensity: logDensity, nodes: fiveNodes}
	if p > FiveNodeLimit || coarse {
		a.nodes = threeNodes
	}
	if p == 0 {
		return a, nil
	}
	var eigen mat.EigenSym
	if norm := mat.Norm(hessian, 1); math.IsNaN(norm) || math.IsInf(norm, 0) || !eigen.Factorize(hessian, true) {
		return nil, ErrCurvature
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	for k, v := range values {
		values[k] = math.Max(v, leastCurvature)
		a.logDet += math.Log(values[k])
	}
	a.root, a.covariance = power(&vectors, values, -0.5), power(&vectors, values, -1)
	return a, nil
}

// power returns Q diag(values^exponent) Qᵀ.
func power(q *mat.Dense, values []float64, exponent float64) *mat.SymDense {
	p := len(values)
	scaled := mat.DenseCopyOf(q)
	for k, v := range values {
		for i := range p {
			scaled.Set(i, k, q.At(i, k)*math.Pow(v, exponent))
		}
	}
	var product mat.Dense
	product.Mul(scaled, q.T())
	out := mat.NewSymDense(p, nil)
	for i := range p {
		for j := i; j < p; j++ {
			out.SetSym(i, j, (product.At(i, j)+product.At(j, i))/2)
		}
	}
	return out
}

// Count returns the number p of axes.
func (a *Axes) Count() int { return len(a.Theta) }

// Nodes returns the places z of the points on an axis besides the mode, ascending.
func (a *Axes) Nodes() []float64 {
	list := make([]float64, len(a.nodes))
	for i, n := range a.nodes {
		list[i] = n.z
	}
	return list
}

// spot is a point of the quadrature other than the mode, θ̂ + H^(−½) z, and its weight.
type spot struct {
	z      []float64
	weight float64
}

// parts are the points of which sums are added up, the rest of each sum's weight being the mode's: those of every axis,
// or of a grid with three nodes to an axis.
func (a *Axes) parts() (list [][]spot) {
	p := a.Count()
	if !a.grid {
		for k := range p {
			var axis []spot
			for _, n := range a.nodes {
				z := make([]float64, p)
				z[k] = n.z
				axis = append(axis, spot{z, n.weight})
			}
			list = append(list, axis)
		}
		return list
	}
	all := []spot{{make([]float64, p), 1}}
	for k := range p {
		for i := len(all) - 1; i >= 0; i-- {
			for _, n := range threeNodes {
				z := slices.Clone(all[i].z)
				z[k] = n.z
				all = append(all, spot{z, all[i].weight * n.weight})
			}
			all[i].weight *= 2.0 / 3
		}
	}
	return [][]spot{all[1:]}
}

// Points returns the number of points besides the mode.
func (a *Axes) Points() (count int) {
	for _, part := range a.parts() {
		count += len(part)
	}
	return count
}

// at returns θ of a point.
func (a *Axes) at(s spot) []float64 {
	theta := slices.Clone(a.Theta)
	for k, z := range s.z {
		for j := range theta {
			theta[j] += z * a.root.At(j, k)
		}
	}
	return theta
}

// points are θ of all points, part by part.
func (a *Axes) points() (list [][]float64) {
	for _, part := range a.parts() {
		for _, s := range part {
			list = append(list, a.at(s))
		}
	}
	return list
}

// expect returns the expectations of functions of θ under N(θ̂, H⁻¹), to the precision of the nodes.
func (a *Axes) expect(f func(theta []float64) []float64) []float64 {
	centre := f(a.Theta)
	total := slices.Clone(centre)
	for _, part := range a.parts() {
		for _, s := range part {
			for i, v := range f(a.at(s)) {
				total[i] += s.weight * (v - centre[i])
			}
		}
	}
	return total
}

// SD returns the standard deviation of coordinate j under N(θ̂, H⁻¹).
func (a *Axes) SD(j int) float64 { return math.Sqrt(a.covariance.At(j, j)) }

// Covariance returns H⁻¹, p×p; nil for p = 0.
func (a *Axes) Covariance() *mat.SymDense { return a.covariance }

// Correlations returns those of some coordinates under N(θ̂, H⁻¹), by the rows of the lower triangle.
func (a *Axes) Correlations(places []int) (list []float64) {
	for r, i := range places {
		for _, j := range places[:r] {
			list = append(list, a.covariance.At(i, j)/(a.SD(i)*a.SD(j)))
		}
	}
	return list
}

// Laplace is the log evidence by Laplace's approximation: ĝ + ½p log 2π − ½ log|H|.
func (a *Axes) Laplace() float64 {
	return a.LogDensity + (float64(len(a.Theta))*math.Log(2*math.Pi)-a.logDet)/2
}

// Whitened is the length of a gradient of g in units in which H is the identity: what is left to
// gain is half its square.
func (a *Axes) Whitened(gradient []float64) float64 {
	if len(gradient) == 0 {
		return 0
	}
	g := mat.NewVecDense(len(gradient), gradient)
	return math.Sqrt(math.Max(0, mat.Inner(g, a.covariance, g)))
}

// Distance is that of θ from the mode in the same units.
func (a *Axes) Distance(theta []float64) float64 {
	p, square := a.Count(), 0.0
	if p == 0 {
		return 0
	}
	var inverse mat.Cholesky
	inverse.Factorize(a.covariance) // positive definite, since the curvature is finite
	step, along := mat.NewVecDense(p, nil), mat.VecDense{}
	for j, v := range theta {
		step.SetVec(j, v-a.Theta[j])
	}
	if inverse.SolveVecTo(&along, step) == nil {
		square = mat.Dot(step, &along)
	}
	return math.Sqrt(math.Max(0, square))
}

// Root returns H^(−½), p×p, whose columns are the axes; nil for p = 0.
func (a *Axes) Root() *mat.SymDense { return a.root }

// NewtonStep stores H⁻¹ gradient in dst: the step from θ̂ to the maximum of the quadratic.
func (a *Axes) NewtonStep(dst, gradient []float64) {
	var step mat.VecDense
	step.MulVec(a.covariance, mat.NewVecDense(len(gradient), gradient))
	copy(dst, step.RawVector().Data)
}

// MoveTo moves the axes to a mode near by, where the curvature is the same.
func (a *Axes) MoveTo(theta []float64, logDensity float64) {
	copy(a.Theta, theta)
	a.LogDensity = logDensity
}

// Integration is skipped where it changes next to nothing: where no weight's variance grows by more
// than skipShare of itself, and no standard deviation moves by more than skipSlope of itself over a
// standard deviation of θ. The share alone is not enough: for a block of one weight it is small where
// the mean is off by a twentieth of a standard deviation.
const (
	skipShare = 0.01
	skipSlope = 0.03
)

// Slopes are derivatives of the moments of the d weights, or of the first d moments, in the p coordinates of θ, p×d
// row-major.
type Slopes struct {
	Mean     []float64 // ∂m_j/∂θ_k
	Variance []float64 // ∂V_jj/∂θ_k
	// Correction are those of [Point.Correction], p; nil where there is none.
	Correction []float64
}

// Skip reports whether the integration may be left out, and the two figures it goes by: share =
// max_j (JΣJᵀ)_jj/V_jj with J = ∂m/∂θ and Σ = H⁻¹, slope = max_j ‖½ Σ^½ ∂log V_jj/∂θ‖.
func (a *Axes) Skip(variance []float64, s Slopes) (skip bool, share, slope float64) {
	p := a.Count()
	if p == 0 {
		return true, 0, 0
	}
	d := len(s.Variance) / p
	mean, spread := make([]float64, p), make([]float64, p)
	for j, v := range variance[:d] {
		if !(v > 0) {
			continue
		}
		for k := range p {
			mean[k], spread[k] = s.Mean[k*d+j], s.Variance[k*d+j]/(2*v)
		}
		share = math.Max(share, quadratic(a.covariance, mean)/v)
		slope = math.Max(slope, math.Sqrt(math.Max(0, quadratic(a.covariance, spread))))
	}
	return share < skipShare && slope < skipSlope, share, slope
}

func quadratic(a *mat.SymDense, x []float64) float64 {
	v := mat.NewVecDense(len(x), x)
	return mat.Inner(v, a, v)
}
