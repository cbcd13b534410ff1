package svi

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
)

// TestInterceptStandsAtTheMeans: the origin of the columns, of the target and of an exposure is
// nothing to a fit but the value of its intercept, dense or sparse columns, learned parameters or not.
func TestInterceptStandsAtTheMeans(t *testing.T) {
	for _, lik := range families() {
		for _, sparse := range []int{0, 1} {
			data := draw(t, lik, 60, 2, 5)
			data.weight = make([]float64, 60)
			for i := range data.weight {
				data.weight[i] = 0.5 + float64(i%2)
			}
			model := credence.Model{Features: plain{p: 2, sparse: sparse, intercept: true}, Likelihood: lik, Prior: normal}
			cfg := Config{Covariance: Full, Tolerance: 1e-7, Diagnostics: -1, MaxIterations: 1000}
			want := fitted(t, model, cfg, data)
			moved := *data
			moved.x.Data = append([]float64{}, data.x.Data...)
			for i := range moved.x.Data {
				moved.x.Data[i] += []float64{5, -7}[i%2]
			}
			shift := 0.0
			if _, additive := lik.(likelihood.Additive); additive {
				shift = 100
				moved.y = append([]float64{}, data.y...)
				for i := range moved.y {
					moved.y[i] += shift
				}
			} else if link, kind := likelihood.Describe(lik); link == likelihood.Log || kind == likelihood.Classes {
				shift = -3
				moved.offset = make([]float64, 60)
				for i := range moved.offset {
					moved.offset[i] = 3
				}
			}
			got := fitted(t, model, cfg, &moved)
			name := fmt.Sprintf("%v, %d sparse: ", lik, sparse)
			closeTo(t, name+"bound", *got.Report.ELBO, *want.Report.ELBO, 1e-7*(1+math.Abs(*want.Report.ELBO)))
			a, b := want.Members[0].Posterior.(*posterior.Full), got.Members[0].Posterior.(*posterior.Full)
			for j := 1; j < 3; j++ {
				closeTo(t, name+"weight", b.Mean[j], a.Mean[j], 1e-5)
			}
			at := func(q *posterior.Full, x1, x2 float64) float64 { return q.Mean[0] + x1*q.Mean[1] + x2*q.Mean[2] }
			closeTo(t, name+"f", at(b, 5.5, -7.2)-shift, at(a, 0.5, -0.2), 1e-4)
		}
	}
}

// TestInterceptPrior: with everything held, the bound of a gaussian family is its log evidence under
// b0 + x̄ᵀw ~ N(ȳ, (10 sd y)²) and the weights' prior, from the covariance of y alone.
func TestInterceptPrior(t *testing.T) {
	const n, variance, noise = 30, 0.5, 0.8
	data := draw(t, likelihood.Gaussian{}, n, 2, 6)
	for i := range data.x.Data {
		data.x.Data[i] += 4
	}
	model := credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(noise)}, Prior: held(variance)}
	mean, centre := 0.0, make([]float64, 2)
	for i, y := range data.y {
		mean += y / n
		for j, x := range data.x.Row(i) {
			centre[j] += x / n
		}
	}
	square := 0.0
	for _, y := range data.y {
		square += (y - mean) * (y - mean) / n
	}
	covariance, gap := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		gap.SetVec(i, data.y[i]-mean)
		for k := i; k < n; k++ {
			v := 100 * square
			if i == k {
				v += noise
			}
			for j := range centre {
				v += variance * (data.x.Row(i)[j] - centre[j]) * (data.x.Row(k)[j] - centre[j])
			}
			covariance.SetSym(i, k, v)
		}
	}
	var chol mat.Cholesky
	var solved mat.VecDense
	if !chol.Factorize(covariance) || chol.SolveVecTo(&solved, gap) != nil {
		t.Fatal("the covariance is not positive definite")
	}
	want := -(n*math.Log(2*math.Pi) + chol.LogDet() + mat.Dot(gap, &solved)) / 2
	full := fitted(t, model, Config{Covariance: Full}, data)
	closeTo(t, "bound", *full.Report.ELBO, want, 1e-8)
	closeTo(t, "Pareto-k weights' gap", *full.Report.EvidenceGap, 0, 1e-6)
	// of many rows, of which some stand for all, too
	closeTo(t, "gap of many rows", *fitted(t, model, Config{Covariance: Full}, draw(t, likelihood.Gaussian{}, 5000, 2, 6)).Report.EvidenceGap, 0, 1e-6)
	diagonal := fitted(t, model, Config{Diagnostics: 1000}, data)
	if gap := want - *diagonal.Report.ELBO; gap < 0 || gap > 20 {
		t.Errorf("the bound of independent weights is %g below the evidence", gap)
	}
}
