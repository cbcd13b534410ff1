package laplace

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestOneNormal: where all candidates are in, the prior is one normal, and so are the evidence and the posterior: those
// of dense algebra over rows written out as often as they weigh, at the noise and the kept variance that are reported,
// in the target's own units: with offsets, precisions, an intercept about the means of the columns and kept columns, of
// few columns and of many.
func TestOneNormal(t *testing.T) {
	const n, slab, shift = 24, 900.0, 2000.0
	for _, columns := range []int{5, 40} {
		for _, learned := range []bool{false, true} {
			s := conform.NewSelection(n, columns, 3, 0.3, 1, 0.5, true, 4)
			for i := range n {
				s.Weight, s.Precision = append(s.Weight, float64(i%4)), append(s.Precision, 0.5+float64(i%3))
				s.Target[i], s.Offset = shift+30*s.Target[i], append(s.Offset, 5*float64(i%5))
			}
			s.Features = conform.Columns{Dense: columns - 2, Sparse: 2, Intercept: true, Kept: 2}
			lik := likelihood.Gaussian{NoiseVariance: param.Hold(400)}
			if learned {
				lik.NoiseVariance = param.Parameter{}
			}
			fitted := fitOf(t, s, lik, prior.SpikeSlab{Inclusion: param.Hold(1 - 1e-12), Slab: param.Hold(slab), Spike: param.Hold(slab / 2)}, Config{Tolerance: 1e-12, MaxIterations: 2000})
			values := map[string]float64{}
			for _, v := range fitted.Report.Hyper {
				values[v.Name] = v.Value
			}
			d := columns + 1
			means, total, centre, square := make([]float64, d), 0.0, 0.0, 0.0
			for i := range n {
				w := s.Weight[i] * s.Precision[i]
				total += w
				for j, x := range s.X.Row(i) {
					means[j+1] += w * x
				}
				centre += w * (s.Target[i] - s.Offset[i])
			}
			centre /= total
			for j := range means {
				means[j] /= total
			}
			var rows []int
			for i := range n {
				gap := s.Target[i] - s.Offset[i] - centre
				square += s.Weight[i] * s.Precision[i] * gap * gap / total
				for range int(s.Weight[i]) {
					rows = append(rows, i)
				}
			}
			// f = b̃ + (φ − x̄)ᵀw, b̃ ~ N(centre, 100·square): y − offset − centre has the covariance ZΛZᵀ + noise.
			z, y := mat.NewDense(len(rows), d, nil), mat.NewVecDense(len(rows), nil)
			lambda := mat.NewDiagDense(d, nil)
			for j := range d {
				lambda.SetDiag(j, []float64{100 * square, values["prior_variance.kept"], slab}[min(2, (j+1)/2)])
			}
			for k, i := range rows {
				y.SetVec(k, s.Target[i]-s.Offset[i]-centre)
				z.Set(k, 0, 1)
				for j, x := range s.X.Row(i) {
					z.Set(k, j+1, x-means[j+1])
				}
			}
			var scaled, covariance mat.Dense
			scaled.Mul(z, lambda)
			covariance.Mul(&scaled, z.T())
			whole := mat.NewSymDense(len(rows), nil)
			for a, i := range rows {
				for b := range a + 1 {
					whole.SetSym(a, b, covariance.At(a, b))
				}
				whole.SetSym(a, a, covariance.At(a, a)+values["noise_variance"]/s.Precision[i])
			}
			var chol mat.Cholesky
			if !chol.Factorize(whole) {
				t.Fatal("not positive definite")
			}
			var solved mat.VecDense
			must.Succeed(t, chol.SolveVecTo(&solved, y))
			evidence := -(mat.Dot(y, &solved) + chol.LogDet() + float64(len(rows))*math.Log(2*math.Pi)) / 2
			if got := *fitted.Report.EvidenceEstimate; !(math.Abs(got-evidence) < 1e-4*math.Abs(evidence)) {
				t.Errorf("%d columns, learned %v: the evidence is %.8g, want %.8g", columns, learned, got, evidence)
			}
			var gains, part, after mat.Dense // ΛZᵀ(ZΛZᵀ + noise)⁻¹
			must.Succeed(t, chol.SolveTo(&part, &scaled))
			gains.CloneFrom(part.T())
			after.Mul(&gains, &scaled)
			var mean mat.VecDense
			mean.MulVec(&gains, y)
			got, variance := make([]float64, d), make([]float64, d)
			fitted.Members[0].Posterior.Marginals(got, variance)
			for j := 1; j < d; j++ {
				want := lambda.At(j, j) - after.At(j, j)
				if sd := math.Sqrt(want); !(math.Abs(got[j]-mean.AtVec(j)) < 2e-3*sd) || !(math.Abs(variance[j]-want) < 1e-4*want) {
					t.Errorf("%d columns, learned %v: weight %d is %v ± %v, want %v ± %v", columns, learned, j, got[j], math.Sqrt(variance[j]), mean.AtVec(j), sd)
				}
			}
			own := centre + mean.AtVec(0)
			for j := 1; j < d; j++ {
				own -= means[j] * mean.AtVec(j)
			}
			if !(math.Abs(got[0]-own) < 1e-2) {
				t.Errorf("%d columns, learned %v: the intercept is %v, want %v", columns, learned, got[0], own)
			}
		}
	}
}
