package gibbs

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// shrinkageOf is the state of a chain of n rows of p columns, the first kept of them in every model.
func shrinkageOf(t *testing.T, rows *credence.Batch, kept int, l credence.Likelihood, p prior.Horseshoe) *shrinkage {
	t.Helper()
	e := must.Value(New(credence.Model{Features: conform.Columns{Dense: rows.X.Cols, Kept: kept}, Likelihood: l, Prior: p}, Config{}))(t)
	f := fitOn(t, e, rows)
	return f.newShrinkage(newChain(f.Table, f.Setting, credence.NewWorkspace(1), rand.New(rand.NewPCG(1, 2))))
}

func regression(n, p int) *credence.Batch {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(p)))
	rows := &credence.Batch{X: linop.NewDense(n, p), Target: make([]float64, n)}
	for i := range n {
		for j := range p {
			rows.X.Row(i)[j] = rng.NormFloat64()
			rows.Target[i] += 0.5 * rows.X.Row(i)[j]
		}
		rows.Target[i] += rng.NormFloat64()
	}
	return rows
}

// TestDrawWeights: draws of the weights given all scales have the mean and the covariance of their normal law, in
// either form, where rows have variances of their own and a kept weight has a mean.
func TestDrawWeights(t *testing.T) {
	const draws = 40_000
	for _, size := range [][2]int{{7, 4}, {3, 5}} {
		n, p := size[0], size[1]
		rows := regression(n, p)
		s := shrinkageOf(t, rows, 1, likelihood.Gaussian{}, prior.Horseshoe{})
		s.Kept[0], s.KeptMean[0] = 0.8, 1.7
		s.global, s.slab = -0.4, 0.3
		for i := range n {
			s.y[i], s.noise[i] = rows.Target[i], 0.3+0.2*float64(i)
		}
		precision, shift := mat.NewSymDense(p, nil), make([]float64, p)
		for j := range p {
			s.local[j] = 0.5 * float64(j-2)
			tau := math.Exp(s.global + s.local[j])
			v := math.Exp(2*s.slab) * tau * tau / (math.Exp(2*s.slab) + tau*tau)
			if j == 0 {
				v = 0.8
				shift[j] = 1.7 / v
			}
			precision.SetSym(j, j, 1/v)
		}
		for i := range n {
			for j, x := range rows.X.Row(i) {
				shift[j] += x * s.y[i] / s.noise[i]
				for k := j; k < p; k++ {
					precision.SetSym(j, k, precision.At(j, k)+x*rows.X.Row(i)[k]/s.noise[i])
				}
			}
		}
		var covariance mat.Dense
		must.Succeed(t, covariance.Inverse(precision))
		var want mat.VecDense
		want.MulVec(&covariance, mat.NewVecDense(p, shift))
		mean, square := make([]float64, p), mat.NewDense(p, p, nil)
		for range draws {
			must.Succeed(t, s.drawWeights())
			for j, w := range s.weights {
				mean[j] += w / draws
				for k, u := range s.weights {
					square.Set(j, k, square.At(j, k)+(w-want.AtVec(j))*(u-want.AtVec(k))/draws)
				}
			}
		}
		for j := range p {
			sd := math.Sqrt(covariance.At(j, j))
			if math.Abs(mean[j]-want.AtVec(j)) > 5*sd/math.Sqrt(draws) { // five standard errors
				t.Errorf("%d rows, %d columns: the mean of weight %d is %v, want %v ± %v", n, p, j, mean[j], want.AtVec(j), sd)
			}
			for k := range p {
				both := sd * math.Sqrt(covariance.At(k, k))
				if got := square.At(j, k); !(math.Abs(got-covariance.At(j, k)) <= 5*both*math.Sqrt(2.0/draws)) {
					t.Errorf("%d rows, %d columns: the covariance of weights %d and %d is %v, want %v", n, p, j, k, got, covariance.At(j, k))
				}
			}
		}
	}
}

// TestShrunkKept: the scale of a kept weight beside a candidate that is held at nothing is that of quadrature over it.
func TestShrunkKept(t *testing.T) {
	const variance = 0.6
	rows, l := regression(14, 2), likelihood.Gaussian{NoiseVariance: param.Hold(variance)}
	p := prior.Horseshoe{Scale: param.Hold(1e-6)}
	s := shrinkageOf(t, rows, 1, l, p)
	xx, xy := 0.0, 0.0
	for i, y := range rows.Target {
		x := rows.X.Row(i)[0]
		xx, xy = xx+x*x/variance, xy+x*y/variance
	}
	total, mean, square := 0.0, 0.0, 0.0
	for u := -12.0; u < 8; u += 0.01 {
		density, _, _ := s.KeptBlocks[0].Prior.At(u)
		v := math.Exp(2*u) * s.Units.Scale * s.Units.Scale
		w := math.Exp(density - math.Log1p(v*xx)/2 + v*xy*xy/(1+v*xx)/2)
		total, mean, square = total+w, mean+w*u, square+w*u*u
	}
	mean /= total
	sd := math.Sqrt(square/total - mean*mean)
	e := must.Value(New(credence.Model{Features: conform.Columns{Dense: 2, Kept: 1}, Likelihood: l, Prior: p}, Config{Sweeps: 4000, Draws: 100, Chains: 2}))(t)
	fitted := must.Value(e.Fit(context.Background(), conform.Memory{All: rows}))(t)
	for _, v := range fitted.Report.Hyper {
		if v.Name != "prior_variance.kept" {
			continue
		}
		got := math.Log(v.Value)/2 - math.Log(s.Units.Scale)
		t.Logf("%.4f, want %.4f ± %.4f", got, mean, sd)
		if math.Abs(got-mean) > 0.12*sd { // of a thousand independent draws, nearly four standard errors
			t.Errorf("the mean logarithm of the kept scale is %.4f, by quadrature %.4f ± %.4f", got, mean, sd)
		}
		return
	}
	t.Error("no kept variance is reported:", fitted.Report.Hyper)
}

// TestHorseshoeOfLevels: a horseshoe selects no columns together, and those of a category have the draws of the same
// columns by themselves.
func TestHorseshoeOfLevels(t *testing.T) {
	rows := regression(40, 20)
	var fits [2]*credence.Fitted
	for k, together := range [][]credence.Block{nil, {{Name: "zip", Count: 20}}} {
		features := conform.Columns{Dense: 20, Intercept: true, Together: together}
		e := must.Value(New(credence.Model{Features: features, Likelihood: likelihood.Gaussian{}, Prior: prior.Horseshoe{}}, Config{Sweeps: 400, Draws: 20, Seed: 1}))(t)
		fits[k] = must.Value(e.Fit(t.Context(), conform.Memory{All: rows}))(t)
	}
	if !reflect.DeepEqual(fits[0].Members[0].Posterior, fits[1].Members[0].Posterior) {
		t.Errorf("draws differ: the scale is %v, of columns by themselves %v", fits[1].Report.Hyper.Of("scale", 0), fits[0].Report.Hyper.Of("scale", 0))
	}
}

// TestPseudoNoise: at even odds the variance of a class over the squared slope of its probability in f.
func TestPseudoNoise(t *testing.T) {
	for _, link := range []likelihood.Link{likelihood.Logit, likelihood.Probit} {
		one := func(f float64) float64 { return math.Exp(likelihood.Bernoulli{Link: link}.LogDensity(1, f)) }
		const step = 1e-4
		want := math.Sqrt(one(0)*(1-one(0))) / ((one(step) - one(-step)) / (2 * step))
		if got := candidates.PseudoNoise(link); !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("%v: %v, want %v", link, got, want)
		}
	}
}

// TestMoveNoise: draws of the noise given the weights and the global scale, whose prior is in units of it, follow their
// density, by quadrature.
func TestMoveNoise(t *testing.T) {
	const n, draws = 4, 20_000
	s := shrinkageOf(t, regression(n, 2), 0, likelihood.Gaussian{}, prior.Horseshoe{})
	s.weights[0], s.weights[1], s.global = 0.3, -0.2, 2
	s.setNoise()
	copy(s.y, s.Setting.Target)
	residual := 0.0
	s.Mul(s.ws, s.row, s.weights)
	for i, f := range s.row {
		residual += (s.y[i] - f) * (s.y[i] - f)
	}
	var want moments
	for u := -4.0; u < 5; u += 1e-3 {
		want.add(halfCauchy(u, 1)+halfCauchy(s.global, s.reach*math.Exp(u))-n*u-residual/2*math.Exp(-2*u), u, 0)
	}
	mean := want.mean / want.total
	sd := math.Sqrt(want.square/want.total - mean*mean)
	got, square := 0.0, 0.0
	for range draws {
		s.moveNoise()
		got, square = got+s.logNoise/draws, square+s.logNoise*s.logNoise/draws
	}
	// slices tell nearly as much as draws of their own
	if of := math.Sqrt(square - got*got); !(math.Abs(got-mean) <= 0.04*sd) || !(math.Abs(of/sd-1) <= 0.04) {
		t.Errorf("the log noise is %.4f ± %.4f, by quadrature %.4f ± %.4f", got, of, mean, sd)
	}
}

// TestMoveTogether: draws of the global scale that moves with the weights, at fixed standard weights, follow its
// density, by quadrature, of normal rows and of classes that count twice or not at all, with offsets.
func TestMoveTogether(t *testing.T) {
	const n, draws = 5, 20_000
	for _, family := range []credence.Likelihood{likelihood.Gaussian{}, likelihood.Bernoulli{}, likelihood.Bernoulli{Link: likelihood.Probit}} {
		rows := regression(n, 3)
		classes, isClasses := family.(likelihood.Bernoulli)
		for i, y := range rows.Target {
			if !isClasses {
				break
			}
			rows.Offset, rows.Weight = append(rows.Offset, 0.7*float64(i%3)), append(rows.Weight, float64((i+2)%3))
			if rows.Target[i] = 0; y > 0 {
				rows.Target[i] = 1
			}
		}
		s := shrinkageOf(t, rows, 1, family, prior.Horseshoe{})
		copy(s.weights, []float64{0.5, 0.8, -0.4})
		copy(s.local, []float64{0, 1.5, 0.3})
		if !isClasses {
			s.setNoise()
			copy(s.y, s.Setting.Target)
		}
		start, standard := s.global, []float64{0, s.weights[1] / math.Sqrt(s.variance(1)), s.weights[2] / math.Sqrt(s.variance(2))}
		var want moments
		for u := -10.0; u < 10; u += 1e-2 {
			s.global = u
			sum := halfCauchy(u, s.bound())
			for i := range n {
				f := s.weights[0] * rows.X.Row(i)[0]
				for j := 1; j < 3; j++ {
					f += standard[j] * math.Sqrt(s.variance(j)) * rows.X.Row(i)[j]
				}
				if isClasses {
					sum += rows.Weight[i] * classes.LogDensity(rows.Target[i], f+rows.Offset[i])
				} else {
					sum -= (s.y[i] - f) * (s.y[i] - f) / 2 * math.Exp(-2*s.logNoise)
				}
			}
			want.add(sum, u, 0)
		}
		s.global = start
		mean := want.mean / want.total
		sd := math.Sqrt(want.square/want.total - mean*mean)
		got, square := 0.0, 0.0
		for range draws {
			s.moveTogether()
			got, square = got+s.global/draws, square+s.global*s.global/draws
		}
		if w := standard[1] * math.Sqrt(s.variance(1)); !(math.Abs(s.weights[1]-w) <= 1e-12*math.Abs(w)) || s.weights[0] != 0.5 {
			t.Errorf("%T: weights are %v, of which the first is kept and the second %v", family, s.weights, w)
		}
		// slices tell nearly as much as draws of their own
		if of := math.Sqrt(square - got*got); !(math.Abs(got-mean) <= 0.04*sd) || !(math.Abs(of/sd-1) <= 0.04) {
			t.Errorf("%+v: the log scale is %.4f ± %.4f, by quadrature %.4f ± %.4f", family, got, of, mean, sd)
		}
	}
}

// TestStretch: the one factor by which the variables behind probit rows grow follows their law with the weights
// integrated out, by quadrature, in either form, with offsets and a kept weight that has a mean; rows of even count
// stay as they are.
func TestStretch(t *testing.T) {
	const draws = 10_000
	for _, size := range [][2]int{{7, 4}, {4, 5}} {
		n, p := size[0], size[1]
		rows := regression(n, p)
		for i, y := range rows.Target {
			rows.Offset = append(rows.Offset, 0.4*float64(i%3))
			rows.Target[i] = 0
			if y > 0 {
				rows.Target[i] = 1
			}
		}
		s := shrinkageOf(t, rows, 1, likelihood.Bernoulli{Link: likelihood.Probit}, prior.Horseshoe{})
		s.Kept[0], s.KeptMean[0] = 0.8, 1.7
		s.global, s.slab = -0.4, 0.3
		covariance, z, centre := mat.NewSymDense(n, nil), make([]float64, n), make([]float64, n)
		for i := range n {
			z[i], s.noise[i] = 2*rows.Target[i]-1+0.3*float64(i%2), 1
			centre[i] = s.KeptMean[0]*rows.X.Row(i)[0] + rows.Offset[i]
			for k := range i + 1 {
				v := 0.0
				for j := range p {
					v += s.variance(j) * rows.X.Row(i)[j] * rows.X.Row(k)[j]
				}
				if i == k {
					v++
				}
				covariance.SetSym(i, k, v)
			}
		}
		var inverse mat.Dense
		must.Succeed(t, inverse.Inverse(covariance))
		total, mean, square := 0.0, 0.0, 0.0
		for u := -6.0; u < 4; u += 1e-3 {
			gap := mat.NewVecDense(n, nil)
			for i := range n {
				gap.SetVec(i, math.Exp(u)*z[i]-centre[i])
			}
			w := math.Exp(float64(n)*u - mat.Inner(gap, &inverse, gap)/2)
			total, mean, square = total+w, mean+w*u, square+w*u*u
		}
		mean /= total
		sd := math.Sqrt(square/total - mean*mean)
		got, gotSquare := 0.0, 0.0
		for range draws {
			for i := range n {
				s.y[i] = z[i] - rows.Offset[i]
			}
			for range 3 { // slices depend on where they begin
				must.Succeed(t, s.drawWeights())
			}
			u := math.Log((s.y[1] + rows.Offset[1]) / z[1])
			for i := range n {
				if other := math.Log((s.y[i] + rows.Offset[i]) / z[i]); !(math.Abs(other-u) <= 1e-9) {
					t.Fatalf("variable %d grew by %v, and another by %v", i, other, u)
				}
			}
			got, gotSquare = got+u/draws, gotSquare+u*u/draws
		}
		if of := math.Sqrt(gotSquare - got*got); !(math.Abs(got-mean) <= 0.05*sd) || !(math.Abs(of/sd-1) <= 0.05) {
			t.Errorf("%d rows, %d columns: log g is %.4f ± %.4f, by quadrature %.4f ± %.4f", n, p, got, of, mean, sd)
		}
		rows.Weight = make([]float64, n)
		for i := range rows.Weight {
			rows.Weight[i] = 2
		}
		s = shrinkageOf(t, rows, 1, likelihood.Bernoulli{Link: likelihood.Probit}, prior.Horseshoe{})
		copy(s.y, z)
		for i := range s.noise {
			s.noise[i] = 1
		}
		if err := s.drawWeights(); err != nil || s.y[0] != z[0] {
			t.Errorf("rows that count twice: %v grew to %v, %v", z[0], s.y[0], err)
		}
	}
}
