package hyper

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/internal/conform/must"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
		t.Errorf("%s is %.12g, want %.12g", what, got, want)
	}
}

// TestPriors integrates every density by the trapezoid rule and differentiates it by differences.
func TestPriors(t *testing.T) {
	for name, p := range map[string]Prior{
		"BetaPrime(1, ½)":   BetaPrime{1, 0.5, 3},
		"BetaPrime(1, 3/2)": BetaPrime{1, 1.5, 0.2},
		"half-Cauchy":       HalfCauchy(7),
		"Normal":            Normal{math.Ln2, 1.5},
		"Cauchy":            Cauchy{Scale: 4},
		"Cauchy above 2":    Cauchy{4, 2},
	} {
		total := 0.0
		const step = 0.01
		for u := -60.0; u < 60; u += step {
			v, _, _ := p.At(u)
			total += step * math.Exp(v)
		}
		near(t, name+": total", total, 1, 1e-9)
		for _, u := range []float64{-3, 0.3, 1.5, 4} {
			const h = 1e-5
			up, slopeUp, _ := p.At(u + h)
			down, slopeDown, _ := p.At(u - h)
			_, slope, curvature := p.At(u)
			near(t, name+": slope", slope, (up-down)/(2*h), 1e-8)
			near(t, name+": curvature", curvature, (slopeUp-slopeDown)/(2*h), 1e-8)
		}
	}
	cutpoints, bend := func(u, slope []float64) float64 { return Cutpoints{}.At(u, slope, nil) }, make([]float64, 9)
	at := []float64{-0.4, 0.3, -0.7}
	Cutpoints{}.At(at, make([]float64, 3), bend)
	for k := range at {
		const h = 1e-5
		up, down := make([]float64, 3), make([]float64, 3)
		at[k] += h
		above := cutpoints(at, up)
		at[k] -= 2 * h
		below := cutpoints(at, down)
		at[k] += h
		slope := make([]float64, 3)
		cutpoints(at, slope)
		near(t, "cutpoints: slope", slope[k], (above-below)/(2*h), 1e-8)
		for l := range at {
			near(t, "cutpoints: bend", bend[k*3+l], (up[l]-down[l])/(2*h), 1e-8)
		}
	}
	total := 0.0
	const wide = 0.05
	for c := -25.0; c < 25; c += wide {
		for v := -25.0; v < 6; v += wide {
			total += wide * wide * math.Exp(cutpoints([]float64{c, v}, nil))
		}
	}
	near(t, "cutpoints: total", total, 1, 1e-8)
	// One over x is half-Cauchy(¼) below ½: P(1/x > δ) = 1 − arctan(4δ)/arctan(2).
	total = 0
	for u := math.Log(3); u < 40; u += 1e-3 { // 1/x < 1/5
		v, _, _ := Cauchy{4, 2}.At(u)
		total += 1e-3 * math.Exp(v)
	}
	near(t, "P(1/x < 1/5)", total, math.Atan(0.8)/math.Atan(2), 1e-3)
	// P(τ < t) = 1 − (1 + t²/A²)^−b for a = 1.
	total = 0.0
	for u := -40.0; u < math.Log(5); u += 1e-3 {
		v, _, _ := BetaPrime{1, 1.5, 2}.At(u)
		total += 1e-3 * math.Exp(v)
	}
	near(t, "P(τ < 5)", total, 1-math.Pow(1+25.0/4, -1.5), 1e-3)
}

// TestJoint compares the joint prior's derivatives with differences, with a common scale.
func TestJoint(t *testing.T) {
	j := Joint{Priors: []Prior{BetaPrime{1, 0.5, 2}, HalfCauchy(0.3), HalfCauchy(2), HalfCauchy(1)}, Hung: []bool{false, true, true, false}, Common: 3}
	theta := []float64{0.3, -1, 2, 0.7}
	at := func(theta []float64) (float64, []float64) {
		g := make([]float64, 4)
		return j.AddTo(5, theta, g, nil), g
	}
	value, gradient := at(theta)
	one, _, _ := j.Priors[0].At(0.3)
	two, _, _ := HalfCauchy(0.3 * math.Exp(0.7)).At(-1)
	three, _, _ := HalfCauchy(2 * math.Exp(0.7)).At(2)
	four, _, _ := HalfCauchy(1).At(0.7)
	near(t, "value", value, 5+one+two+three+four, 1e-14)
	hessian := mat.NewSymDense(4, nil)
	j.AddTo(0, theta, nil, hessian)
	const h = 1e-5
	for i := range theta {
		up, down := append([]float64(nil), theta...), append([]float64(nil), theta...)
		up[i] += h
		down[i] -= h
		above, slopesAbove := at(up)
		below, slopesBelow := at(down)
		near(t, "slope", gradient[i], (above-below)/(2*h), 1e-8)
		for k := range theta {
			near(t, "curvature", hessian.At(i, k), (slopesAbove[k]-slopesBelow[k])/(2*h), 1e-8)
		}
	}
}

// linear is a model whose log posterior is quadratic and whose means are linear in θ: axis sums are exact.
type linear struct {
	theta   []float64
	hessian *mat.SymDense
	jacobi  *mat.Dense // d×p
	spread  []float64  // variances given θ
}

func newLinear(p, d int) *linear {
	rng := rand.New(rand.NewPCG(uint64(p), uint64(d)))
	l := &linear{theta: make([]float64, p), hessian: mat.NewSymDense(p, nil), jacobi: mat.NewDense(d, p, nil)}
	root := mat.NewDense(p, p, nil)
	for i := range p {
		l.theta[i] = rng.NormFloat64()
		for j := range p {
			root.Set(i, j, rng.NormFloat64())
		}
		root.Set(i, i, root.At(i, i)+3)
	}
	l.hessian.SymOuterK(1, root)
	for j := range d {
		l.spread = append(l.spread, 0.5+rng.Float64())
		for k := range p {
			l.jacobi.Set(j, k, rng.NormFloat64())
		}
	}
	return l
}

// at is the point at θ; the linear numbers are the covariance, row-major, and Σ θ + θ².
func (l *linear) at(theta []float64) Point {
	p, d := len(theta), len(l.spread)
	gap := mat.NewVecDense(p, nil)
	sum := 0.0
	for k := range p {
		gap.SetVec(k, theta[k]-l.theta[k])
		sum += theta[k] + theta[k]*theta[k]
	}
	var mean mat.VecDense
	mean.MulVec(l.jacobi, gap)
	out := Point{LogDensity: 1.5 - mat.Inner(gap, l.hessian, gap)/2, Variance: l.spread, Linear: make([]float64, d*d+1)}
	for j := range d {
		out.Mean = append(out.Mean, 7+mean.AtVec(j))
		out.Linear[j*d+j] = l.spread[j]
	}
	out.Linear[d*d] = sum
	return out
}

func spreadOuter(d int) func([]float64, float64, []float64) {
	return func(linear []float64, scale float64, difference []float64) {
		for i := range d {
			for j := range d {
				linear[i*d+j] += scale * difference[i] * difference[j]
			}
		}
	}
}

func (l *linear) sums(t *testing.T, axes *Axes) *sums {
	t.Helper()
	s := newSums(&Maximum{Axes: axes}, l.at(l.theta), spreadOuter(len(l.spread)))
	for _, theta := range axes.points() {
		if !s.add(l.at(theta)) {
			t.Fatal("a point is higher than the mode")
		}
	}
	return s
}

// TestGrid: under a normal law of θ a grid is exact for products of several coordinates, of which sums over axes know
// nothing, and under a bent law, as far off as that of a slab and an inclusion, it is near quadrature where they are
// not.
func TestGrid(t *testing.T) {
	for _, c := range []struct {
		name         string
		p            int
		bend         float64
		within, axes float64 // of log E of the function: how near the grid is, and how far the axes are at least
	}{{"normal, two", 2, 0, 1e-9, 0.1}, {"normal, three", 3, 0, 1e-9, 0.2}, {"bent, two", 2, 0.25, 0.06, 0.09}, {"one", 1, 0, 1e-9, 0}} {
		density := func(x []float64) float64 {
			value, bent := 0.0, x[0]
			if c.p > 1 {
				bent += c.bend * (x[1]*x[1] - 1)
			}
			for k, v := range x {
				if k == 0 {
					v = bent
				}
				value -= v * v / 2
			}
			return value
		}
		function := func(x []float64) float64 { // of degree two in each
			value := 1.0
			for _, v := range x {
				value *= 1 + v/2 + v*v/2
			}
			return value
		}
		want, total, step := 0.0, 0.0, 0.1
		var add func(x []float64)
		add = func(x []float64) {
			if len(x) == c.p {
				w := math.Exp(density(x))
				total, want = total+w, want+w*function(x)
				return
			}
			for v := -7.0; v <= 7; v += step {
				add(append(slices.Clone(x), v))
			}
		}
		add(nil)
		want /= total
		for _, grid := range []bool{true, false} {
			r := Rules{Steps: 20, Width: 1e-3, Enough: 1e-6, Grid: grid}
			each := Each(func(_ context.Context, _ *Evaluation, x []float64, _ Precision) (*Evaluation, error) {
				e := &Evaluation{Theta: slices.Clone(x)}
				e.LogDensity, e.Linear, e.Mean, e.Variance = density(x), []float64{function(x)}, []float64{0}, []float64{1}
				for k := range x { // differences
					up, down := slices.Clone(x), slices.Clone(x)
					up[k] += 1e-4
					down[k] -= 1e-4
					e.Gradient = append(e.Gradient, (density(up)-density(down))/2e-4)
				}
				return e, nil
			})
			begin := must.Value(each(t.Context(), nil, make([]float64, c.p), ForNode))(t)
			top := must.Value(r.Mode(t.Context(), each, begin))(t)
			all := must.Value(r.Integrate(t.Context(), each, top))(t)
			off := math.Abs(math.Log(all.Linear[0] / want))
			if grid && off > c.within+1e-4 || !grid && off < c.axes {
				t.Errorf("%s, grid %v: %v, want %v, off by %.3f", c.name, grid, all.Linear[0], want, off)
			}
			points := map[bool]int{true: int(math.Pow(3, float64(c.p))) - 1, false: 4 * c.p}[grid && c.p > 1]
			if top.Axes.Points() != points {
				t.Errorf("%s, grid %v: %d points", c.name, grid, top.Axes.Points())
			}
		}
	}
}

func TestLinearModelIsExact(t *testing.T) {
	for _, coarse := range []bool{false, true} {
		for _, p := range []int{1, 2, 5} {
			const d = 3
			l := newLinear(p, d)
			axes := must.Value(NewAxes(l.theta, 1.5, l.hessian, coarse))(t)
			if want := map[bool]int{true: 2, false: 4}[coarse]; len(axes.Nodes()) != want {
				t.Errorf("coarse %t: %d nodes", coarse, len(axes.Nodes()))
			}
			s := l.sums(t, axes)
			var inverse mat.SymDense
			var cholesky mat.Cholesky
			if !cholesky.Factorize(l.hessian) || cholesky.InverseTo(&inverse) != nil {
				t.Fatal("no inverse")
			}
			var want mat.Dense
			want.Product(l.jacobi, &inverse, l.jacobi.T())
			sum := 0.0
			for j := range d {
				near(t, "mean", s.Mean[j], 7, 1e-12)
				near(t, "variance", s.Variance[j], l.spread[j]+want.At(j, j), 1e-12)
				for i := range d {
					v := want.At(i, j)
					if i == j {
						v += l.spread[j]
					}
					near(t, "covariance", s.Linear[i*d+j], v, 1e-12)
				}
			}
			for k, v := range l.theta {
				sum += v + v*v + inverse.At(k, k)
			}
			near(t, "linear number", s.Linear[d*d], sum, 1e-12)
			near(t, "log evidence", s.LogDensity, 1.5+float64(p)*math.Log(2*math.Pi)/2-cholesky.LogDet()/2, 1e-12)
			if !coarse { // a normal has no fourth cumulant; three nodes are exact to degree 5 alone
				for j := range d {
					near(t, "fourth cumulant", s.Fourth[j], 0, 1e-10)
				}
			}
			near(t, "Laplace", axes.Laplace(), s.LogDensity, 1e-12)
			near(t, "log evidence without corrections, of which there are none", s.uncorrected, s.LogDensity, 1e-12)
			near(t, "SD", axes.SD(0), math.Sqrt(inverse.At(0, 0)), 1e-12)
		}
	}
}

// TestScaleMixture integrates one weight w|u ~ N(0, e^{2u}) with u = log τ, τ² inverse-gamma: a
// Student-t with 12 degrees of freedom, whose variance, fourth cumulant and evidence are known.
func TestScaleMixture(t *testing.T) {
	const df = 12.0
	// log p(u) of τ² ~ Inverse-Gamma(df/2, df/2), unnormalised: −df u − (df/2) e^{−2u}; its mode is u = 0.
	at := func(u float64) Point {
		v := math.Exp(2 * u)
		return Point{LogDensity: -df*u - df/2/v, Mean: []float64{0}, Variance: []float64{v}, Linear: []float64{v}}
	}
	axes := must.Value(NewAxes([]float64{0}, -df/2, mat.NewSymDense(1, []float64{2 * df}), false))(t)
	s := newSums(&Maximum{Axes: axes}, at(0), nil)
	for _, theta := range axes.points() {
		if !s.add(at(theta[0])) {
			t.Fatal("a point is higher than the mode")
		}
	}
	variance := df / (df - 2)
	near(t, "variance", s.Variance[0], variance, 0.01) // five nodes: accurate to one or two per cent
	near(t, "linear", s.Linear[0], s.Variance[0], 1e-15)
	near(t, "fourth cumulant", s.Fourth[0], 6/(df-4)*variance*variance, 0.15)
	near(t, "degrees of freedom", MedianDF(s.Variance, s.Fourth), df, 0.1)
	lgamma, _ := math.Lgamma(df / 2)
	// ∫ exp(−df u − (df/2)e^{−2u}) du = ½ Γ(df/2) (df/2)^{−df/2}
	near(t, "log evidence", s.LogDensity, math.Log(0.5)+lgamma-df/2*math.Log(df/2), 1e-3)
}

func TestDF(t *testing.T) {
	near(t, "of a t with 10", DF(10.0/8, 6.0/6*(10.0/8)*(10.0/8)), 10, 1e-12)
	near(t, "of a normal", DF(2, 0), 204, 1e-12)
	near(t, "of heavy tails", DF(1, 1e9), 4.2, 1e-12)
	near(t, "of no variance", DF(0, 0), 204, 1e-12)
}

// A point above the mode is not added; one without a number weighs nothing.
func TestPointsOutOfPlace(t *testing.T) {
	l := newLinear(1, 1)
	axes, _ := NewAxes(l.theta, 1.5, l.hessian, false)
	s := newSums(&Maximum{Axes: axes}, l.at(l.theta), nil)
	p := l.at(l.theta)
	p.LogDensity += 0.11
	if s.add(p) {
		t.Error("a point that is 0.11 nats higher was added")
	}
	for range axes.points() {
		if !s.add(Point{LogDensity: math.NaN(), Mean: []float64{math.NaN()}, Variance: []float64{1}, Linear: make([]float64, 2)}) {
			t.Error("a point without a density is higher")
		}
	}
	near(t, "mean", s.Mean[0], 7, 1e-12)
	near(t, "variance", s.Variance[0], l.spread[0], 1e-12)
}

// Along a direction in which nothing is known, θ moves by 2.6 units and no more.
func TestLeastCurvature(t *testing.T) {
	axes := must.Value(NewAxes([]float64{0}, 0, mat.NewSymDense(1, []float64{-3}), false))(t)
	near(t, "SD", axes.SD(0), 1/math.Sqrt(0.15), 1e-12)
	if _, err := NewAxes([]float64{0}, 0, mat.NewSymDense(1, []float64{math.NaN()}), false); err == nil {
		t.Error("NaN was taken")
	}
}

func TestSkipAndSteps(t *testing.T) {
	axes, _ := NewAxes([]float64{0, 0}, 0, mat.NewSymDense(2, []float64{4, 0, 0, 100}), false)
	for _, c := range []struct {
		mean, variance float64 // slopes of one weight of variance 1 in the first coordinate
		skip           bool
	}{{0.19, 0.11, true}, {0.21, 0.11, false}, {0.19, 0.13, false}} {
		skip, share, slope := axes.Skip([]float64{1}, Slopes{Mean: []float64{c.mean, 0}, Variance: []float64{c.variance, 0}})
		if skip != c.skip {
			t.Error(c)
		}
		near(t, "share", share, c.mean*c.mean/4, 1e-12)
		near(t, "slope", slope, c.variance/4, 1e-12)
	}
	_, share, slope := axes.Skip([]float64{0, 5}, Slopes{Mean: []float64{9, 2, 9, 0}, Variance: []float64{9, 2, 9, 0}})
	near(t, "share of a variance of 5", share, 4.0/4/5, 1e-12)
	near(t, "slope of a variance of 5", slope, 2.0/(2*5)/2, 1e-12)
	near(t, "degrees of freedom of what has a variance", MedianDF([]float64{0, 0, 2}, []float64{0, 0, 4}), 10, 1e-12)
	step := make([]float64, 2)
	axes.NewtonStep(step, []float64{2, 10})
	near(t, "step", step[0], 0.5, 1e-12)
	near(t, "step", step[1], 0.1, 1e-12)
	near(t, "whitened gradient", axes.Whitened([]float64{2, 10}), math.Sqrt(2), 1e-12)
}

// TestScaleMode compares with a search of the objective.
func TestScaleMode(t *testing.T) {
	for _, c := range [][2]float64{{5, 12}, {0.3, 1e-4}, {1000, 2}, {0, 0}} {
		prior := BetaPrime{1, 0.5, 2}
		objective := func(u float64) float64 {
			v, _, _ := prior.At(u)
			return -c[0]*u - c[1]*math.Exp(-2*u)/2 + v
		}
		u := ScaleMode(c[0], c[1], prior, 0)
		for _, h := range []float64{-0.01, 0.01} {
			if objective(u+h) > objective(u) {
				t.Errorf("%v: %g is higher than %g", c, u+h, u)
			}
		}
	}
}

// TestDistance: a point of the quadrature is as far from the mode as its z is long, whatever the curvature.
func TestDistance(t *testing.T) {
	a := must.Value(NewAxes([]float64{0.3, -2, 5}, 0, mat.NewSymDense(3, []float64{4, 1, 0, 1, 90, 2, 0, 2, 0.5}), false))(t)
	for _, part := range a.parts() {
		for _, s := range part {
			near(t, "distance", a.Distance(a.at(s)), math.Sqrt(s.z[0]*s.z[0]+s.z[1]*s.z[1]+s.z[2]*s.z[2]), 1e-12)
		}
	}
	near(t, "distance of the mode", a.Distance(a.Theta), 0, 1e-12)
	near(t, "distance without hyper-parameters", must.Value(NewAxes(nil, 0, nil, false))(t).Distance(nil), 0, 0)
}
