package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// slopesByGroup are rows of 40 groups with intercepts and slopes of standard deviations .7 and .4 and correlation −.5;
// x has mean 0 and standard deviation 1.
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

// TestSlopesByGroup: with nothing correlated (1 + x | g) is two terms, to the evidence; learned it finds what the rows
// were drawn from, in its own words; a further group has the law of all of them.
func TestSlopesByGroup(t *testing.T) {
	rows := slopesByGroup(t)
	run := func(formula string) *credence.Fitted {
		return must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: formula}))(t)
	}
	apart, held := run("y ~ 0 + x + (1 | g, sd=.7) + (0 + x | g, sd=.4)"), run("y ~ 0 + x + (1 + x | g, sd=[.7, .4], cor=0)")
	if a, b := *apart.Report.Evidence, *held.Report.Evidence; !(math.Abs(a-b) <= 1e-6*math.Abs(a)) {
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
	// f of a further group has the law's form beside what is not known of the line: as much at x and at −x but for the
	// correlation.
	first := law.Correlations[0].First
	cross := 4 * law.Correlations[0].Values[0] * math.Sqrt(law.Variances[first]*law.Variances[first+1])
	if gap := variance(1) - variance(-1); !(math.Abs(gap/cross-1) < 0.25) {
		t.Errorf("variances at 1 and at −1 differ by %v, want about %v", gap, cross)
	}
	heavy := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x + (1 + x | g)", Family: "studentt"}))(t)
	if of := heavy.Members[0].Model.Prior.(prior.Normal).Correlations; len(of) != 1 || !(math.Abs(of[0].Values[0]-law.Correlations[0].Values[0]) <= 0.15) {
		t.Errorf("of another family that is nearly normal the correlation is %v, want about %v", of, law.Correlations)
	}
	_, err := fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x + (1 + x | g)", Family: "studentt", Engine: "svi"})
	if err == nil || !strings.Contains(err.Error(), "svi(covariance=full)") {
		t.Errorf("an engine without covariances: %v", err)
	}
}

// shifted are rows of 18 groups at x of 0 to 9, far from its mean, with slopes that go with intercepts at 0 a little.
func shifted(t *testing.T) (rows credence.Source, x []float64) {
	t.Helper()
	var names []string
	var y []float64
	for i := range 180 {
		g, at := float64(i/10), float64(i%10)
		a, b := 30*math.Sin(3*g+1), 7*math.Cos(5*g+2)
		names, x = append(names, fmt.Sprint("g", g)), append(x, at)
		y = append(y, 250+10*at+a+(b+0.05*a)*at+35*math.Sin(float64(i*i)))
	}
	return must.Value(table.New().Categories("g", names).Numbers("x", x).Numbers("y", y).Source())(t), x
}

// withPrecision adds the column p to g, x and y.
func withPrecision(t *testing.T, rows credence.Source, p []float64) credence.Source {
	t.Helper()
	var chunk credence.Chunk
	must.Succeed(t, rows.Read(&chunk, 0, rows.Rows()))
	var names []string
	var x, y []float64
	for i := range p {
		row := chunk.Values.Row(i)
		names, x, y = append(names, rows.Schema().Columns[0].Levels[int(row[0])]), append(x, row[1]), append(y, row[2])
	}
	return must.Value(table.New().Categories("g", names).Numbers("x", x).Numbers("y", y).Numbers("p", p).Source())(t)
}

// TestOwnCovariance: what is told of a covariance that is held is AΣAᵀ by hand, x → (x − m)/s taken back, and so are
// shares of variance and the variance of an unseen group; of a learned one the intervals hold what lme4 estimates.
func TestOwnCovariance(t *testing.T) {
	rows, x := shifted(t)
	const a, b, rho = 20.0, 15.0, 0.4 // of x as it enters the fit
	fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x + (1 + x | g, sd=[20, 15], cor=.4)"}))(t)
	input := fitted.Frame.(*frame.Frame).Inputs[0]
	shift := input.Center / input.Scale
	intercept, slope := a*a-2*shift*rho*a*b+shift*shift*b*b, b*b/(input.Scale*input.Scale)
	cross := (rho*a*b - shift*b*b) / input.Scale
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) < 1e-6*math.Abs(want)) {
			t.Errorf("%s is %.10g, want %.10g", what, got, want)
		}
	}
	told := score.GroupsOf(fitted, 0)
	g := told.Groups[0]
	for what, pair := range map[string][2]any{
		"(intercept)": {g.SD[0], math.Sqrt(intercept)}, "x": {g.SD[1], math.Sqrt(slope)}, "(intercept), x": {g.Correlations[0], cross / math.Sqrt(intercept*slope)},
	} {
		d, want := pair[0].(score.Deviation), pair[1].(float64)
		near(what, d.Mean, want)
		near(what+", lower", float64(d.Lower), want)
		near(what+", upper", float64(d.Upper), want)
		if d.Name != what {
			t.Errorf("%s is called %s", what, d.Name)
		}
	}
	form := func(x float64) float64 { return intercept + 2*x*cross + x*x*slope }
	varying := 0.0
	for _, v := range x {
		varying += form(v) / float64(len(x))
	}
	noise := fitted.Members[0].Model.Likelihood.Variance(0)
	near("the variance of effects over the rows", fitted.Report.Latent.Groups[0].Value, varying)
	// Where rows have precisions they count by these.
	p := make([]float64, len(x))
	precise, total := 0.0, 0.0
	for i := range p {
		p[i] = 1 + float64(i%10)
		total += p[i]
	}
	again := must.Value(fit.Table(t.Context(), withPrecision(t, rows, p), fit.Options{Formula: "y ~ x + (1 + x | g, sd=[20, 15], cor=.4) + precision(p)", Raw: true}))(t)
	for i, v := range x {
		precise += p[i] / total * (a*a + 2*rho*a*b*v + b*b*v*v)
	}
	near("the variance of effects over rows of precisions", again.Report.Latent.Groups[0].Value, precise)
	near("ICC", float64(g.ICC), varying/(varying+noise))
	near("R²", float64(told.R2Conditional), (fitted.Report.Latent.Fixed+varying)/(fitted.Report.Latent.Fixed+varying+noise))
	for _, at := range []float64{0, 2, 9} {
		one := must.Value(table.New().Categories("g", []string{"unknown"}).Numbers("x", []float64{at}).Source())(t)
		variance := func(keep ...string) (v float64) {
			scored := must.Value(must.Value(score.New(fitted, score.Options{Groups: keep}))(t).Table(one, score.IgnoreTargets))(t)
			must.Succeed(t, scored.Each(t.Context(), func(rows *score.Rows) error {
				_, v = rows.Latent(0)
				return nil
			}))
			return v
		}
		near(fmt.Sprintf("the variance of an unseen group at %v", at), variance()-variance("none"), form(at))
	}

	learned := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x + (1 + x | g)"}))(t)
	if joint := learned.Report.HyperJoint; joint == nil || len(joint.Names) != 3 || len(joint.Correlations) != 3 || len(joint.Odds) != 1 {
		t.Fatalf("%+v", joint)
	}
	g = score.GroupsOf(learned, 0).Groups[0]
	// summary(lmer(y ~ x + (x | g))) by REML, lme4 1.1-31.
	for k, d := range append(g.SD, g.Correlations...) {
		want := []float64{14.29324, 4.71909, 0.1831}[k]
		if !(float64(d.Lower) < want && want < float64(d.Upper) && float64(d.Lower) < d.Mean && d.Mean < float64(d.Upper)) {
			t.Errorf("%+v does not hold %v", d, want)
		}
	}
}
