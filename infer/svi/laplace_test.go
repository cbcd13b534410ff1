package svi

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// modeOf seeks the mode of rows without intercept under N(0, variance), by Newton's method with halved
// steps, and returns it with the covariance there and Laplace's approximation of the evidence.
func modeOf(t *testing.T, data *memory, lik credence.Likelihood, variance float64) (m []float64, covariance *mat.SymDense, evidence float64) {
	t.Helper()
	n, d := data.x.Dims()
	batch := credence.Batch{Trials: data.trials, Precision: data.precision}
	at := func(m []float64) (value float64, slope []float64, precision *mat.SymDense) {
		slope, precision = make([]float64, d), mat.NewSymDense(d, nil)
		for j, v := range m {
			value -= (v*v/variance + math.Log(2*math.Pi*variance)) / 2
			slope[j] = -v / variance
			precision.SetSym(j, j, 1/variance)
		}
		for i := range n {
			x, f, w := data.x.Row(i), 0.0, 1.0
			for j, v := range x {
				f += v * m[j]
			}
			if data.offset != nil {
				f, w = f+data.offset[i], data.weight[i]
			}
			l, first, second := batch.LikelihoodOf(lik, i).(likelihood.Differentiable).Derivatives(data.y[i], f)
			value += w * l
			for j, v := range x {
				slope[j] += w * first * v
				for k := j; k < d; k++ {
					precision.SetSym(j, k, precision.At(j, k)-w*second*v*x[k])
				}
			}
		}
		return value, slope, precision
	}
	m = make([]float64, d)
	var chol mat.Cholesky
	for range 200 {
		value, slope, precision := at(m)
		for ridge := 1e-3; !chol.Factorize(precision); ridge *= 10 {
			for j := range d {
				precision.SetSym(j, j, precision.At(j, j)+ridge)
			}
		}
		var step mat.VecDense
		must.Succeed(t, chol.SolveVecTo(&step, mat.NewVecDense(d, slope)))
		next := make([]float64, d)
		for length := 1.0; length > 1e-9; length /= 2 {
			for j := range next {
				next[j] = m[j] + length*step.AtVec(j)
			}
			if v, _, _ := at(next); v >= value {
				break
			}
		}
		copy(m, next)
	}
	value, _, precision := at(m)
	if !chol.Factorize(precision) {
		t.Fatalf("%v: no maximum", lik)
	}
	covariance = mat.NewSymDense(d, nil)
	must.Succeed(t, chol.InverseTo(covariance))
	return m, covariance, value + (float64(d)*math.Log(2*math.Pi)-chol.LogDet())/2
}

// TestLaplaceOfEveryFamily compares mean, covariance and evidence with those at a mode that the test
// seeks itself, at the values that were learned: algebra, to 1e-7 of a standard deviation. Weights,
// an offset and precisions take part.
func TestLaplaceOfEveryFamily(t *testing.T) {
	const n, d = 100, 3
	for i, lik := range families() {
		data := draw(t, lik, n, d, uint64(i))
		data.weight, data.offset = make([]float64, n), make([]float64, n)
		for k := range n {
			data.weight[k], data.offset[k] = float64(k%3)+0.5, 0.3*math.Sin(float64(k))
			if _, ok := lik.(likelihood.Dispersed); ok {
				data.precision = append(data.precision, 0.2+float64(k%5))
			}
		}
		for _, treatment := range []param.Treatment{param.Mode, param.MaximumLikelihood} {
			name := fmt.Sprint(lik, " ", treatment)
			f := fitted(t, credence.Model{Features: plain{p: d, sparse: 1}, Likelihood: lik, Prior: held(1.5)},
				Config{Approximation: Laplace, Hyper: treatment}, data)
			m, covariance, evidence := modeOf(t, data, f.Members[0].Model.Likelihood, 1.5)
			mean, variance := make([]float64, d), make([]float64, d)
			f.Members[0].Posterior.Marginals(mean, variance)
			for j := range d {
				closeTo(t, fmt.Sprint(name, ": mean in standard deviations"), (mean[j]-m[j])/math.Sqrt(variance[j]), 0, 1e-7)
				closeTo(t, name+": variance", variance[j]/covariance.At(j, j), 1, 1e-7)
			}
			closeTo(t, name+": evidence", *f.Report.EvidenceEstimate, evidence, 1e-7*math.Abs(evidence))
			if f.Report.Engine != "laplace" || f.Report.ELBO != nil || f.Report.ELBOMode != nil || f.Report.Status != credence.Converged {
				t.Errorf("%s: %+v", name, f.Report)
			}
		}
	}
}

// TestLaplaceSlopes: gradients of Laplace's evidence in the hyper-parameters, in which the mode moves, are
// its central differences in every family.
func TestLaplaceSlopes(t *testing.T) {
	ctx := context.Background()
	for i, lik := range append(families(), likelihood.Poisson{}) {
		data := draw(t, lik, 50, 2, 5)
		for k := range data.y {
			data.weight = append(data.weight, float64(k%3)+0.5)
		}
		p := normal
		p.ARD = i == len(families())
		r := newFit(t, credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: lik, Prior: p}, Config{Approximation: Laplace, Hyper: param.Mode}, data)
		rows := r.Rows(0)
		s, err := r.Start(ctx, rows, rows)
		must.Succeed(t, err)
		n, at := newton.New(r.Problem), newton.Begin(s)
		stats := n.NewStatistics(s.Family.Count())
		if _, _, err := n.Climb(ctx, rows, at, stats, r.task("climb", 1e-3)); err != nil {
			t.Fatal(err)
		}
		g := &integration{fit: r, newton: n, rows: rows, stats: stats}
		_, err = g.run(ctx, at)
		must.Succeed(t, err)
		closeTo(t, fmt.Sprintf("%v: slope at the mode in standard deviations", lik), g.top.Axes.Whitened(g.mode.Gradient), 0, 1e-5)
		theta := append([]float64{}, g.theta...)
		for k := range theta {
			theta[k] += 0.3
		}
		density := func(theta []float64) *newton.Given {
			given, err := g.at(ctx, theta, fineTolerance)
			must.Succeed(t, err)
			return given
		}
		off := density(theta)
		for k, slope := range off.Gradient {
			const h = 1e-3
			theta[k] += h
			above := density(theta).LogDensity
			theta[k] -= 2 * h
			below := density(theta).LogDensity
			theta[k] += h
			// Slopes in parameters of the family are differences to one side, good to about 1e-4.
			closeTo(t, fmt.Sprintf("%v: slope %d", lik, k), slope, (above-below)/(2*h), 5e-4*(1+math.Abs(slope)))
		}
	}
}

// TestLaplaceEvidence compares the evidence at a held prior variance with quadrature over one weight and
// over two, to the error of the approximation, O(1/n): 0.01 nats at 200 rows; and over the weight and its
// prior deviation together, which five nodes in the tail of its prior leave 0.06 nats off.
func TestLaplaceEvidence(t *testing.T) {
	for _, lik := range []credence.Likelihood{likelihood.Bernoulli{}, likelihood.Bernoulli{Link: likelihood.Probit}, likelihood.Poisson{}, likelihood.NegativeBinomial{Size: param.Hold(3)}, likelihood.Gamma{Shape: param.Hold(2)}} {
		for _, d := range []int{1, 2} {
			data := draw(t, lik, 200, d, 8)
			log := func(w []float64, variance float64) float64 {
				sum := 0.0
				for i := range data.y {
					f := 0.0
					for j, v := range data.x.Row(i) {
						f += v * w[j]
					}
					sum += lik.LogDensity(data.y[i], f)
				}
				for _, v := range w {
					sum -= (v*v/variance + math.Log(2*math.Pi*variance)) / 2
				}
				return sum
			}
			f := fitted(t, credence.Model{Features: plain{p: d}, Likelihood: lik, Prior: held(1.5)}, Config{Approximation: Laplace}, data)
			centre, variance := make([]float64, d), make([]float64, d)
			f.Members[0].Posterior.Marginals(centre, variance)
			integrate := func(prior float64) float64 { // trapezium rule on ±8 standard deviations
				top, sum, w := log(centre, prior), 0.0, make([]float64, d)
				const nodes = 64
				cell := 1.0
				for j := range d {
					cell *= 16 * math.Sqrt(variance[j]) / nodes
				}
				for k := range int(math.Pow(nodes, float64(d))) {
					for j, rest := 0, k; j < d; j, rest = j+1, rest/nodes {
						w[j] = centre[j] + (float64(rest%nodes)-nodes/2+0.5)*16/nodes*math.Sqrt(variance[j])
					}
					sum += math.Exp(log(w, prior) - top)
				}
				return top + math.Log(sum*cell)
			}
			closeTo(t, fmt.Sprintf("%v: evidence of %d weights", lik, d), *f.Report.EvidenceEstimate, integrate(1.5), 0.01)
			if d > 1 {
				continue
			}
			whole := fitted(t, credence.Model{Features: plain{p: d}, Likelihood: lik, Prior: normal}, Config{Approximation: Laplace, Hyper: param.Integrate}, data)
			scale := math.Sqrt(whole.Report.HyperPrior[len(whole.Report.HyperPrior)-1].Value)
			prior := hyper.BetaPrime{A: 1, B: likelihood.PriorTail(lik), Scale: scale}
			sum, top := 0.0, math.Inf(-1)
			var logs []float64
			const step = 0.1 // below e^−2.5 the weight is beyond five prior deviations
			for u := -2.5; u < 10; u += step {
				density, _, _ := prior.At(u)
				logs = append(logs, integrate(math.Exp(2*u))+density)
				top = math.Max(top, logs[len(logs)-1])
			}
			for _, v := range logs {
				sum += math.Exp(v-top) * step
			}
			closeTo(t, fmt.Sprintf("%v: evidence over the prior deviation", lik), *whole.Report.EvidenceEstimate, top+math.Log(sum), 0.08)
		}
	}
}
