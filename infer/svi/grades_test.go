package svi

import (
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
)

// TestTwoGrades: two grades are two classes, with the cutpoint for the opposite of the intercept. The
// cutpoint begins at exactly 0. The intercept has a wide prior and a spread of its own, which the cutpoint
// has not: the means agree to a hundredth.
func TestTwoGrades(t *testing.T) {
	data := draw(t, likelihood.Bernoulli{}, 300, 2, 8)
	model := credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: held(1)}
	classes := fitted(t, model, Config{Covariance: Full}, data)
	model.Likelihood = likelihood.OrdinalGrades(2)
	grades := fitted(t, model, Config{Covariance: Full}, data)
	if grades.Report.Status != credence.Converged {
		t.Fatalf("the fit of grades ended %v", grades.Report.Status)
	}
	var mean, variance [2][3]float64
	for k, f := range []*credence.Fitted{classes, grades} {
		f.Members[0].Posterior.Marginals(mean[k][:], variance[k][:])
	}
	for j := 1; j <= 2; j++ {
		closeTo(t, "a slope", mean[1][j], mean[0][j], 0.01)
	}
	cut := grades.Members[0].Model.Likelihood.(likelihood.Ordinal).Cutpoints.Values[0] - mean[1][0]
	closeTo(t, "the cutpoint", cut, -mean[0][0], 0.01)
}
