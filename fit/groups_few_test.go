package fit_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// Of classes of two rows a group the mean standard deviation of the groups is within half a per cent of that by
// trapezium rules over everything: every effect, intercept and slope, whose prior is stated, and the standard
// deviation. Without quadrature in the groups it is 5 % less.
func TestFewRowsAGroup(t *testing.T) {
	const groups, each, sd = 200, 2, 1.5
	rng := rand.New(rand.NewPCG(3, 33))
	var g []string
	var x, y []float64
	family := likelihood.Bernoulli{}
	for a := range groups {
		effect := sd * rng.NormFloat64()
		for range each {
			g, x = append(g, strconv.Itoa(a)), append(x, rng.NormFloat64())
			y = append(y, family.Sample(rng, 0.3+0.8*x[len(x)-1]+effect))
		}
	}
	rows := must.Value(table.New().Categories("g", g).Numbers("x", x).Numbers("y", y).Source())(t)
	fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x + (1|g)", Family: "bernoulli", Prior: "normal(variance=1)", Raw: true, Threads: 1}))(t)
	var mean, spread [2]float64
	scale := 0.0
	for _, v := range fitted.Report.HyperPrior {
		scale = math.Sqrt(v.Value)
	}
	m := &fitted.Members[0]
	means, variances := make([]float64, m.Model.Features.Weights()), make([]float64, m.Model.Features.Weights())
	m.Posterior.Marginals(means, variances)
	for k := range mean {
		mean[k], spread[k] = means[k], math.Sqrt(variances[k])
	}
	prior := hyper.BetaPrime{A: 1, B: 1.5, Scale: scale}
	const step = 0.15 // of 81 places from −6 to 6
	var normal [81]float64
	for k := range normal {
		z := step*float64(k) - 6
		normal[k] = math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	}
	odds, fixed := make([]float64, len(normal)), make([]float64, len(x))
	at := func(tau, b, slope float64) float64 {
		for k := range odds {
			odds[k] = math.Exp(tau * (step*float64(k) - 6))
		}
		for i, v := range x {
			fixed[i] = math.Exp(b + slope*v)
		}
		total := -slope*slope/2 - b*b/(2*625)
		for a := range groups {
			sum := 0.0
			for k, of := range odds {
				p := normal[k]
				for i := a * each; i < (a+1)*each; i++ {
					f := of * fixed[i]
					if p /= 1 + f; y[i] == 1 {
						p *= f
					}
				}
				sum += p
			}
			total += math.Log(step * sum)
		}
		return total
	}
	var taus, logs []float64
	for k := range 21 {
		u := -1 + 0.1*float64(k)
		var inner []float64
		for i := -4.0; i <= 4; i++ {
			for j := -4.0; j <= 4; j++ {
				inner = append(inner, at(math.Exp(u), mean[0]+1.1*i*spread[0], mean[1]+1.1*j*spread[1]))
			}
		}
		value, _, _ := prior.At(u)
		taus, logs = append(taus, math.Exp(u)), append(logs, special.LogSumExp(inner)+value)
	}
	total, want := special.LogSumExp(logs), 0.0
	for k, tau := range taus {
		want += tau * math.Exp(logs[k]-total)
	}
	got := score.GroupsOf(fitted, 0.9).Groups[0].SD[0]
	if !(math.Abs(got.Mean/want-1) <= 0.005) {
		t.Errorf("the standard deviation is %.4f, by all integrals %.4f", got.Mean, want)
	}
	if c := fitted.Report.EvidenceCorrection; c == nil || *c < 0.1 {
		t.Error("there is no correction")
	}
}
