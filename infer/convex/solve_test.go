package convex

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/linop"
)

// problems are small ones of every kind: n unknowns, sites.
func problems(n int, seed uint64) map[string]Problem {
	rng := rand.New(rand.NewPCG(seed, 9))
	design := func(rows int) *linop.Dense {
		d := linop.NewDense(rows, n)
		for i := range d.Data {
			d.Data[i] = rng.NormFloat64()
		}
		return &d
	}
	zeros := make([]float64, n)
	rows, features := 3*n, design(3*n)
	truth, y, shift := make([]float64, n), make([]float64, rows), make([]float64, rows)
	for j := range truth {
		truth[j] = rng.NormFloat64()
	}
	features.MulVec(y, truth)
	for i := range y {
		shift[i] = 0.5
		if y[i]+rng.NormFloat64() < 0 {
			shift[i] = -0.5
		}
		y[i] += 0.3 * rng.NormFloat64()
	}
	half := make([]float64, rows)
	for i := range half {
		half[i] = shift[i] * 0.25 // slope 1 with σ² = ¼: τ = σ, β = cσ²/2
	}
	return map[string]Problem{
		"logistic + normal":  {X: linop.Identity(n), Y: zeros, Noise: 1, B: features, Sites: []Group{{Count: rows, Potential: Logistic{1}, Shift: shift}}},
		"logistic, σ² = ¼":   {X: linop.Scaled{Factor: 0.5, A: linop.Identity(n)}, Y: zeros, Noise: 0.25, B: features, Sites: []Group{{Count: rows, Potential: Logistic{0.5}, Shift: half}}},
		"logistic + Laplace": {Noise: 1, B: linop.NewStack(features, linop.Identity(n)), Sites: []Group{{Count: rows, Potential: Logistic{1}, Shift: shift}, {Count: n, Potential: Laplace{2}}}},
		"sparse linear":      {X: features, Y: y, Noise: 0.09, B: linop.Identity(n), Sites: []Group{{Count: n, Potential: Laplace{0.6}}}},
		"fused":              {X: features, Y: y, Noise: 0.09, B: linop.NewStack(linop.NewDifference(1, n), linop.Identity(n)), Sites: []Group{{Count: n - 1, Potential: Laplace{0.5}}, {Count: n, Potential: Sech2{0.7}}}},
		"Student-t":          {X: features, Y: y, Noise: 0.09, B: linop.Identity(n), Sites: []Group{{Count: n, Potential: StudentT{1, 3}}}},
		"power 1.3":          {X: features, Y: y, Noise: 0.09, B: linop.Identity(n), Sites: []Group{{Count: n, Potential: ExponentialPower{0.5, 1.3}}}},
		"copies":             {X: linop.Identity(n), Y: zeros, Noise: 1, B: features, Sites: []Group{{Count: rows, Potential: Logistic{1}, Shift: shift, Copies: append(make([]float64, rows-1), 3)}}},
	}
}

// direct is φ(γ), its parts by dense algebra; h(γ) is the maximum of −x/γ − 2g(x), by golden section.
func direct(p Problem, gamma []float64) (phi float64, mean, z []float64) {
	b := written(p.B)
	q, n := b.Rows, b.Cols
	a, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	add := func(row []float64, weight, target float64) {
		for i := range n {
			right.SetVec(i, right.AtVec(i)+row[i]*target)
			for j := i; j < n; j++ {
				a.SetSym(i, j, a.At(i, j)+weight*row[i]*row[j])
			}
		}
	}
	if p.X != nil {
		x := written(p.X)
		for i := range x.Rows {
			add(x.Row(i), 1, p.Y[i])
		}
	}
	var copies, shifts []float64
	var potentials []Potential
	for _, g := range p.Sites {
		for k := range g.Count {
			c, s := 1.0, 0.0
			if g.Copies != nil {
				c = g.Copies[k]
			}
			if g.Shift != nil {
				s = g.Shift[k]
			}
			copies, shifts, potentials = append(copies, c), append(shifts, s), append(potentials, g.Potential)
		}
	}
	for i := range q {
		add(b.Row(i), copies[i]/gamma[i], copies[i]*shifts[i])
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		panic("not positive definite")
	}
	var u mat.VecDense
	if err := chol.SolveVecTo(&u, right); err != nil {
		panic(err)
	}
	phi = chol.LogDet()
	if p.X != nil {
		fit := make([]float64, len(p.Y))
		p.X.MulVec(fit, u.RawVector().Data)
		for i, v := range fit {
			phi += (v - p.Y[i]) * (v - p.Y[i]) / p.Noise
		}
	}
	z = make([]float64, q)
	for i := range q {
		row := mat.NewVecDense(n, b.Row(i))
		var solved mat.VecDense
		if err := chol.SolveVecTo(&solved, row); err != nil {
			panic(err)
		}
		z[i] = mat.Dot(row, &solved)
		s := mat.Dot(row, &u)
		h := func(x float64) float64 {
			g, _, _ := potentials[i].At(x)
			return -x/gamma[i] - 2*g
		}
		low, high := -40.0, 60.0 // of log x: the function is unimodal there
		for range 140 {
			m1, m2 := low+0.382*(high-low), low+0.618*(high-low)
			if h(math.Exp(m1)) < h(math.Exp(m2)) {
				low = m1
			} else {
				high = m2
			}
		}
		phi += copies[i] * (h(math.Exp(low)) + (s*s/gamma[i]-2*shifts[i]*s)/p.Noise)
	}
	return phi, u.RawVector().Data, z
}

// TestMinimum compares with φ by dense algebra: the value, that mean and variances belong to it, and that no
// step in log γ lowers it.
func TestMinimum(t *testing.T) {
	for name, p := range problems(4, 1) {
		rng := rand.New(rand.NewPCG(5, 5))
		solution, err := Solve(context.Background(), p, Options{Variances: Exact, Steps: 3000, Tolerance: 1e-13})
		if err != nil {
			t.Fatal(name, err)
		}
		gamma := make([]float64, len(solution.Precision))
		i := 0
		for _, g := range p.Sites {
			for k := range g.Count {
				c := 1.0
				if g.Copies != nil {
					c = math.Max(g.Copies[k], 1e-300)
				}
				if gamma[i] = c / solution.Precision[i]; g.Copies != nil && g.Copies[k] == 0 {
					gamma[i] = 1
				}
				i++
			}
		}
		phi, mean, z := direct(p, gamma)
		if !(math.Abs(phi-solution.Phi) <= 1e-5*(1+math.Abs(phi))) {
			t.Errorf("%s: φ = %.9g, directly %.9g", name, solution.Phi, phi)
		}
		for j := range mean {
			if !(math.Abs(mean[j]-solution.Mean[j]) <= 1e-5) {
				t.Errorf("%s: mean %d is %g, directly %g", name, j, solution.Mean[j], mean[j])
			}
		}
		for i := range z {
			if !(math.Abs(z[i]*p.Noise/solution.Variance[i]-1) <= 1e-4) {
				t.Errorf("%s: variance %d is %g, directly %g", name, i, solution.Variance[i], z[i]*p.Noise)
			}
		}
		for range 20 {
			moved := append([]float64(nil), gamma...)
			for i := range moved {
				moved[i] *= math.Exp(0.05 * rng.NormFloat64())
			}
			if other, _, _ := direct(p, moved); other < phi-1e-7*(1+math.Abs(phi)) {
				t.Errorf("%s: φ is %.10g at the end and %.10g nearby", name, phi, other)
			}
		}
	}
}

// TestConvexity: φ lies below its chords where sites are log-concave.
func TestConvexity(t *testing.T) {
	for name, p := range problems(3, 2) {
		rng := rand.New(rand.NewPCG(6, 5))
		concave := true
		count := 0
		for _, g := range p.Sites {
			concave = concave && g.Potential.LogConcave()
			count += g.Count
		}
		if !concave {
			continue
		}
		a, b, middle := make([]float64, count), make([]float64, count), make([]float64, count)
		for range 50 {
			for i := range a {
				a[i], b[i] = math.Exp(2*rng.NormFloat64()), math.Exp(2*rng.NormFloat64())
				middle[i] = (a[i] + b[i]) / 2
			}
			pa, _, _ := direct(p, a)
			pb, _, _ := direct(p, b)
			pm, _, _ := direct(p, middle)
			if pm > (pa+pb)/2+1e-6 {
				t.Errorf("%s: φ is %g in the middle of %g and %g", name, pm, pa, pb)
			}
		}
	}
}

// TestBound compares with the evidence by quadrature on a grid of two unknowns.
func TestBound(t *testing.T) {
	for name, p := range problems(2, 3) {
		solution, err := Solve(context.Background(), p, Options{Variances: Exact, Steps: 1000})
		if err != nil {
			t.Fatal(name, err)
		}
		q, _ := p.B.Dims()
		s := make([]float64, q)
		const step, reach = 0.05, 8.0
		sum, largest := 0.0, math.Inf(-1)
		for pass := range 2 {
			for a := -reach; a <= reach; a += step {
				for b := -reach; b <= reach; b += step {
					u := []float64{solution.Mean[0] + a, solution.Mean[1] + b}
					value := 0.0
					if p.X != nil {
						fit := make([]float64, len(p.Y))
						p.X.MulVec(fit, u)
						for i, v := range fit {
							value -= (v-p.Y[i])*(v-p.Y[i])/(2*p.Noise) + math.Log(2*math.Pi*p.Noise)/2
						}
					}
					p.B.MulVec(s, u)
					i := 0
					for _, g := range p.Sites {
						for k := range g.Count {
							v, _, _ := g.Potential.At(s[i] * s[i] / p.Noise)
							if g.Shift != nil {
								v += g.Shift[k] * s[i] / p.Noise
							}
							if g.Copies != nil {
								v *= g.Copies[k]
							}
							value += v
							i++
						}
					}
					if pass == 0 {
						largest = math.Max(largest, value)
					} else {
						sum += step * step * math.Exp(value-largest)
					}
				}
			}
		}
		evidence := largest + math.Log(sum)
		if gap := evidence - solution.Bound; gap < -1e-6 || gap > 1.5 {
			t.Errorf("%s: bound %.5f, log evidence %.5f", name, solution.Bound, evidence)
		}
	}
}

// TestSites compares derivatives with differences, and that g is convex and decreasing.
func TestSites(t *testing.T) {
	for _, p := range []Potential{Laplace{1.3}, Logistic{0.8}, StudentT{1.2, 4}, Gaussian{0.7}, ExponentialPower{0.9, 1.5}, Sech2{0.6}} {
		for _, x := range []float64{1e-6, 1e-3, 0.3, 2, 40} {
			_, first, second := p.At(x)
			h := 1e-4 * x
			up, firstUp, _ := p.At(x + h)
			down, firstDown, _ := p.At(x - h)
			if got := (up - down) / (2 * h); !(math.Abs(got-first) <= 1e-5*math.Abs(first)+1e-9/h*1e-6) {
				t.Errorf("%T at %g: slope %g, by differences %g", p, x, first, got)
			}
			if got := (firstUp - firstDown) / (2 * h); !(math.Abs(got-second) <= 1e-4*math.Abs(second)+1e-9) && x > 1e-5 {
				t.Errorf("%T at %g: curvature %g, by differences %g", p, x, second, got)
			}
			if first > 0 || second < 0 {
				t.Errorf("%T at %g: slope %g, curvature %g", p, x, first, second)
			}
		}
	}
}

// TestVariances: Lanczos is exact with as many steps as unknowns and never decreases; draws are within
// their own error.
func TestVariances(t *testing.T) {
	p := problems(12, 4)["logistic + normal"]
	exact := must.Value(Solve(context.Background(), p, Options{Variances: Exact, Steps: 5}))(t)
	last := make([]float64, len(exact.Variance))
	for _, k := range []int{3, 6, 9, 12} {
		products := &free{measured: &measured{x: p.X, b: p.B, y: p.Y, noise: 1}}
		l := &lanczos{products, products, k}
		must.Succeed(t, l.factor(context.Background(), exact.Precision))
		z := make([]float64, len(last))
		must.Succeed(t, l.variances(context.Background(), z))
		for i, v := range z {
			if v < last[i]-1e-12 {
				t.Errorf("variance %d falls from %g to %g with %d steps", i, last[i], v, k)
			}
		}
		last = z
	}
	// Where it is exact: A with the same precisions, by dense algebra.
	d := newDense(&measured{x: p.X, b: p.B, y: p.Y, noise: 1}, credence.NewWorkspace(1))
	must.Succeed(t, d.factor(context.Background(), exact.Precision))
	want := make([]float64, len(last))
	must.Succeed(t, d.variances(context.Background(), want))
	f := free{measured: &measured{x: p.X, b: p.B, y: p.Y, noise: 1}, ws: credence.NewWorkspace(2), draws: 4000}
	must.Succeed(t, f.factor(context.Background(), exact.Precision))
	drawn := make([]float64, len(last))
	must.Succeed(t, f.variances(context.Background(), drawn))
	square := 0.0
	for i, w := range want {
		if !(math.Abs(last[i]-w) <= 1e-9*w) {
			t.Errorf("variance %d by Lanczos is %.12g, exactly %.12g", i, last[i], w)
		}
		square += (drawn[i]/w - 1) * (drawn[i]/w - 1) / float64(len(want))
	}
	if root := math.Sqrt(square); root > 2*f.relative || f.relative > 0.05 {
		t.Errorf("draws are off by %.4f, their own error is %.4f", root, f.relative)
	}
	// Repeated eigenvalues exhaust the Krylov space at once.
	l := &lanczos{products: &free{measured: &measured{b: linop.Identity(5), noise: 1}, a: &normal{b: linop.Identity(5), precision: []float64{2, 2, 2, 2, 2}}}, steps: 5}
	z := make([]float64, 5)
	must.Succeed(t, l.variances(context.Background(), z))
	for i, v := range z {
		if !(math.Abs(v-0.5) <= 1e-12) {
			t.Errorf("variance %d of ½I is %g", i, v)
		}
	}
}
