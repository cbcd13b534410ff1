package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// slopesByGroup are rows of 40 groups with intercepts and slopes of standard deviations .7 and .4 and correlation −.5; x has mean 0 and standard deviation 1.
func slopesByGroup(t *testing.T) credence.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 4))
	const groups, each = 40, 8
	var names []string
	var x, y []float64
	mean, square := 0.0, 0.0
	for range groups * each {
		x = append(x, rng.NormFloat64())
		mean += x[len(x)-1] / (groups * each)
	}
	for i := range x {
		x[i] -= mean
		square += x[i] * x[i] / (groups * each)
	}
	for g := range groups {
		a := 0.7 * rng.NormFloat64()
		b := -0.5*0.4/0.7*a + 0.4*math.Sqrt(0.75)*rng.NormFloat64()
		for i := range each {
			row := g*each + i
			x[row] /= math.Sqrt(square)
			names, y = append(names, fmt.Sprint("g", g)), append(y, 1+x[row]+a+b*x[row]+0.5*rng.NormFloat64())
		}
	}
	return must.Value(table.New().Categories("g", names).Numbers("x", x).Numbers("y", y).Source())(t)
}

// TestSlopesByGroup: with nothing correlated (1 + x | g) is two terms, to the evidence; learned it finds what the rows were drawn from, in
// its own words; a further group has the law of all of them.
func TestSlopesByGroup(t *testing.T) {
	rows := slopesByGroup(t)
	run := func(formula string) *credence.Fitted {
		return must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: formula}))(t)
	}
	apart, held := run("y ~ 0 + x + (1 | g, sd=.7) + (0 + x | g, sd=.4)"), run("y ~ 0 + x + (1 + x | g, sd=[.7, .4], cor=0)")
	if a, b := *apart.Report.Evidence, *held.Report.Evidence; math.Abs(a-b) > 1e-6*math.Abs(a) {
		t.Errorf("evidence %v of two terms, %v of one without correlation", a, b)
	}
	fitted := run("y ~ x + (1 + x | g)")
	for _, v := range fitted.Report.Hyper {
		want := map[string][2]float64{"correlation.(1 + x | g).(intercept).x": {-0.85, -0.1}, "prior_variance.(1 + x | g).(intercept)": {0.25, 0.9}, "prior_variance.(1 + x | g).x": {0.08, 0.35}}
		if between, told := want[v.Name]; told && !(v.Value > between[0] && v.Value < between[1]) {
			t.Errorf("%s is %v", v.Name, v.Value)
		}
	}
	law := fitted.Members[0].Model.Prior.(prior.Normal)
	if len(law.Correlations) != 1 || law.Correlations[0].Values[0] > -0.1 {
		t.Fatalf("%v", law.Correlations)
	}
	variance := func(x float64) float64 {
		sd := must.Value(score.Row(fitted, map[string]any{"x": x, "g": "unknown"}))(t).SD // of y: the noise is the same
		return sd * sd
	}
	// f of a further group has the law's form beside what is not known of the line: as much at x and at −x but for the correlation.
	first := law.Correlations[0].First
	cross := 4 * law.Correlations[0].Values[0] * math.Sqrt(law.Variances[first]*law.Variances[first+1])
	if gap := variance(1) - variance(-1); !(math.Abs(gap/cross-1) < 0.25) {
		t.Errorf("variances at 1 and at −1 differ by %v, want about %v", gap, cross)
	}
	_, err := fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x + (1 + x | g)", Family: "studentt"})
	if err == nil || !strings.Contains(err.Error(), "write || in the place of |") {
		t.Errorf("another family: %v", err)
	}
}
