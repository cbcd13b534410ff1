package svi

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/hermite"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/lbfgs"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
)

// families are all families, with parameters to learn where they have any.
func families() []credence.Likelihood {
	return []credence.Likelihood{
		likelihood.Gaussian{},
		likelihood.Bernoulli{}, likelihood.Bernoulli{Link: likelihood.Probit}, likelihood.Bernoulli{Link: likelihood.Cloglog},
		likelihood.Binomial{Trials: 5},
		likelihood.Poisson{}, likelihood.Poisson{Link: likelihood.Softplus},
		likelihood.NegativeBinomial{}, likelihood.Gamma{}, likelihood.StudentT{}, likelihood.OrdinalGrades(4),
		likelihood.Quadrature{Likelihood: likelihood.Poisson{}},
	}
}

// oracle is the bound by Gauss–Hermite quadrature of Derivatives and
// ParameterGradient alone, for plain features without intercept.
type oracle struct {
	data     *memory
	model    likelihood.Differentiable
	variance float64
	full     bool
	rule     hermite.Rule
}

// evaluate returns −L and its gradient at m, the lower triangle of the Cholesky factor by
// rows (full) or the standard deviations, diagonal elements as logarithms, and the
// likelihood's parameters as the family has them free.
func (o *oracle) evaluate(x, gradient []float64) (float64, error) {
	d := o.data.x.Cols
	l := make([]float64, d*d) // covariance factor
	at := d
	for i := range d {
		for j := range i + 1 {
			if !o.full && i != j {
				continue
			}
			l[i*d+j] = x[at]
			if i == j {
				l[i*d+j] = math.Exp(x[at])
			}
			at++
		}
	}
	model, parameters := o.model, 0
	var parametric likelihood.Parametric
	if p, ok := o.model.(likelihood.Parametric); ok {
		values := make([]float64, 0, len(x)-at)
		for k, q := range p.Parameters() {
			v := x[at+k]
			if q.Positive {
				v = math.Exp(v)
			}
			values = append(values, v)
		}
		parametric = p.WithParameters(values).(likelihood.Parametric)
		model, parameters = parametric.(likelihood.Differentiable), len(values)
	}
	clear(gradient)
	spread := make([]float64, d*d) // Σ dVariance φφᵀ
	bound := 0.0
	slope := make([]float64, parameters)
	for i := range o.data.x.Rows {
		phi := o.data.x.Row(i)
		mean, variance := 0.0, 0.0
		for j, v := range phi {
			mean += v * x[j]
		}
		for c := range d {
			sum := 0.0
			for j, v := range phi {
				sum += v * l[j*d+c]
			}
			variance += sum * sum
		}
		w := 1.0
		if o.data.weight != nil {
			w = o.data.weight[i]
		}
		if o.data.offset != nil {
			mean += o.data.offset[i]
		}
		y, model, parametric := o.data.y[i], model, parametric
		if o.data.precision != nil {
			model = model.(likelihood.Dispersed).WithPrecision(o.data.precision[i]).(likelihood.Differentiable)
			parametric = model.(likelihood.Parametric)
		}
		dMean, dVariance := 0.0, 0.0
		for k, node := range o.rule.Nodes {
			f := mean + math.Sqrt(variance)*node
			value, first, second := model.Derivatives(y, f)
			share := w * o.rule.Weights[k]
			bound += share * value
			dMean += share * first
			dVariance += share * second / 2
			if parametric != nil {
				parametric.ExpectedParameterGradient(slope, y, f, 0)
				for p, g := range slope {
					gradient[at+p] += share * g
				}
			}
		}
		for j, v := range phi {
			gradient[j] += dMean * v
			for c, u := range phi {
				spread[j*d+c] += dVariance * v * u
			}
		}
	}
	// −KL[N(m, LLᵀ)‖N(0, λI)]
	at = d
	for i := range d {
		bound += 0.5 - x[i]*x[i]/(2*o.variance) - math.Log(o.variance)/2
		gradient[i] -= x[i] / o.variance
		for j := range i + 1 {
			if !o.full && i != j {
				continue
			}
			g := -l[i*d+j] / o.variance
			for c := range d {
				g += 2 * spread[i*d+c] * l[c*d+j]
			}
			bound -= l[i*d+j] * l[i*d+j] / (2 * o.variance)
			if i == j {
				bound += math.Log(l[i*d+j])
				g = g*l[i*d+j] + 1
			}
			gradient[at] = g
			at++
		}
	}
	for i := range gradient {
		gradient[i] = -gradient[i]
	}
	return -bound, nil
}

// maximise returns mean and variances of the weights, the bound, and free parameters.
func (o *oracle) maximise(t *testing.T, free []float64) (mean, variance []float64, bound float64, parameters []float64) {
	t.Helper()
	d := o.data.x.Cols
	var x []float64
	x = append(x, make([]float64, d)...)
	for i := range d {
		for j := range i + 1 {
			if i == j {
				x = append(x, -2)
			} else if o.full {
				x = append(x, 0)
			}
		}
	}
	cholesky := len(x)
	x = append(x, free...)
	gradient, value, steepest := make([]float64, len(x)), 0.0, math.Inf(1)
	for restart := 0; restart < 20 && steepest > 1e-7; restart++ { // restarts of the memory wring out the last digits
		must.Value(lbfgs.Minimise(x, o.evaluate, lbfgs.Config{Tolerance: 1e-15, MaxIterations: 500, Patience: 5}))(t)
		value, _ = o.evaluate(x, gradient)
		steepest = math.Max(slices.Max(gradient), -slices.Min(gradient))
	}
	if steepest > 1e-5 {
		t.Fatalf("the oracle stopped with slope %g", steepest)
	}
	mean = x[:d]
	variance = make([]float64, d)
	at := d
	for i := range d {
		for j := range i + 1 {
			switch {
			case i == j:
				variance[i] += math.Exp(2 * x[at])
			case o.full:
				variance[i] += x[at] * x[at]
			default:
				continue
			}
			at++
		}
	}
	return mean, variance, -value, x[cholesky:]
}

// logParameters are the parameters of a family, positive ones as logarithms.
func logParameters(l credence.Likelihood) (list []float64) {
	if parametric, ok := l.(likelihood.Parametric); ok {
		for _, p := range parametric.Parameters() {
			v := p.Value
			if p.Positive {
				v = math.Log(v)
			}
			list = append(list, v)
		}
	}
	return list
}

// TestOptimumOfEveryFamily compares fits with the bound by quadrature, maximised by
// L-BFGS over all its variables: means to 1e-6 posterior standard deviations and variances to 1e-6
// (the tolerance of the fit, and quadrature of 64 nodes, which the families'
// own integrals agree with to 1e-9), for both covariances, with weights, an offset, and precisions where a
// family takes them.
func TestOptimumOfEveryFamily(t *testing.T) {
	const n, d = 100, 3
	for i, lik := range families() {
		for _, covariance := range []Covariance{Full, Diagonal} {
			t.Run(fmt.Sprint(lik, " ", covariance), func(t *testing.T) {
				data := draw(t, lik, n, d, uint64(i))
				data.weight, data.offset = make([]float64, n), make([]float64, n)
				for k := range n {
					data.weight[k] = float64(k%3) + 0.5
					data.offset[k] = 0.3 * math.Sin(float64(k))
					if _, ok := lik.(likelihood.Dispersed); ok {
						data.precision = append(data.precision, 0.2+float64(k%5))
					}
				}
				f := fitted(t, credence.Model{Features: plain{p: d, sparse: 1}, Likelihood: lik, Prior: held(1.5)},
					Config{Covariance: covariance, Tolerance: 1e-7}, data)
				got := f.Members[0]
				start := logParameters(got.Model.Likelihood)
				o := &oracle{data: data, model: lik.(likelihood.Differentiable), variance: 1.5, full: covariance == Full, rule: hermite.New(64)}
				mean, variance, bound, parameters := o.maximise(t, start)
				m, v := make([]float64, d), make([]float64, d)
				got.Posterior.Marginals(m, v)
				for j := range d {
					closeTo(t, fmt.Sprint("mean ", j, " in posterior SDs"), m[j]/math.Sqrt(variance[j]), mean[j]/math.Sqrt(variance[j]), 1e-6)
					closeTo(t, fmt.Sprint("variance ", j, " over the oracle's"), v[j]/variance[j], 1, 1e-6)
				}
				closeTo(t, "bound", *f.Report.ELBO, bound, 1e-8*math.Abs(bound))
				for k, p := range start {
					closeTo(t, "free parameter", p, parameters[k], 1e-5) // its own standard deviation is about 0.1
				}
				if f.Report.Status != credence.Converged {
					t.Errorf("status %s", f.Report.Status)
				}
			})
		}
	}
}

// TestExactPosterior: for a Gaussian likelihood q is the posterior, and the bound the evidence:
// algebra, to 1e-10 of it.
func TestExactPosterior(t *testing.T) {
	const n, d = 60, 3
	lik := likelihood.Gaussian{NoiseVariance: param.Hold(0.7)}
	data := draw(t, lik, n, d, 5)
	f := fitted(t, credence.Model{Features: plain{p: d, sparse: 2}, Likelihood: lik, Prior: held(2)}, Config{Covariance: Full}, data)
	q := f.Members[0].Posterior.(*posterior.Full)
	// Precision and mean by elimination of [A | Φᵀy/σ²], and log|I + ΛΦᵀΦ/σ²| from pivots.
	a := make([][]float64, d)
	for i := range a {
		a[i] = make([]float64, d+1)
		a[i][i] = 1.0 / 2
		for r := range n {
			for j := range d {
				a[i][j] += data.x.Row(r)[i] * data.x.Row(r)[j] / 0.7
			}
			a[i][d] += data.x.Row(r)[i] * data.y[r] / 0.7
		}
	}
	right := make([]float64, d)
	for i := range d {
		right[i] = a[i][d]
	}
	logDet := float64(d) * math.Log(2)
	for i := range d {
		logDet += math.Log(a[i][i])
		for k := i + 1; k < d; k++ {
			f := a[k][i] / a[i][i]
			for c := i; c <= d; c++ {
				a[k][c] -= f * a[i][c]
			}
		}
	}
	m := make([]float64, d)
	for i := d - 1; i >= 0; i-- {
		m[i] = a[i][d]
		for c := i + 1; c < d; c++ {
			m[i] -= a[i][c] * m[c]
		}
		m[i] /= a[i][i]
	}
	evidence := -float64(n)/2*math.Log(2*math.Pi*0.7) - logDet/2
	for _, y := range data.y {
		evidence -= y * y / (2 * 0.7)
	}
	for i := range d {
		evidence += right[i] * m[i] / 2
		closeTo(t, "mean", q.Mean[i], m[i], 1e-10)
	}
	closeTo(t, "bound", *f.Report.ELBO, evidence, 1e-10*math.Abs(evidence))
	closeTo(t, "gap", *f.Report.EvidenceGap, 0, 1e-8)
}
