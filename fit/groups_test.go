package fit_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// crossed is a table of 60 rows, 6 levels of g and 4 of h, with y of an effect of each and of slopes of x by g.
func crossed(t *testing.T, class bool) credence.Source {
	t.Helper()
	var g, h []string
	var x, y []float64
	for i := range 60 {
		a, b := i%6, i*5%4
		g, h, x = append(g, string(rune('a'+a))), append(h, string(rune('p'+b))), append(x, 3+2*math.Sin(float64(7*i)))
		f := math.Cos(float64(a)) + 0.5*math.Sin(float64(3*b)) + (0.5+0.3*math.Cos(float64(5*a)))*x[i] + 0.3*math.Cos(float64(i*i))
		if class {
			f = math.Round(1 / (1 + math.Exp(2-f)))
		}
		y = append(y, f)
	}
	return must.Value(table.New().Categories("g", g).Categories("h", h).Numbers("x", x).Numbers("y", y).Source())(t)
}

// law returns the posterior of the weights of a block, and its prior variance.
func law(t *testing.T, fitted *credence.Fitted, block string) (mean, variance []float64, prior float64) {
	t.Helper()
	m := &fitted.Members[0]
	for _, b := range m.Model.Features.Blocks() {
		if b.Name == block {
			d := m.Model.Features.Weights()
			mean, variance = make([]float64, d), make([]float64, d)
			m.Posterior.Marginals(mean, variance)
			return mean[b.First : b.First+b.Count], variance[b.First : b.First+b.Count], m.Model.Prior.(credence.UnseenPrior).UnseenVariance(b)
		}
	}
	t.Fatalf("there is no block %s", block)
	return nil, nil, 0
}

// Effects of groups are the weights of onehot(g), slopes by group those of g:x, to the bit, whatever the engine.
func TestGroupsAreLevels(t *testing.T) {
	for _, c := range []struct {
		groups, levels, blocks string // blocks: one of each formula, in pairs
		family                 string
	}{
		{"y ~ x + (1|g)", "y ~ x + onehot(g)", "(1 | g)=onehot(g)", "gaussian"},
		{"y ~ (0+x|g)", "y ~ g:x", "(0 + x | g)=g:x", "gaussian"},
		{"y ~ x + (1|g/h)", "y ~ x + onehot(g) + g:h", "(1 | g)=onehot(g), (1 | g:h)=g:h", "gaussian"},
		{"y ~ x + (1|g)", "y ~ x + onehot(g)", "(1 | g)=onehot(g)", "bernoulli"},
	} {
		rows := crossed(t, c.family == "bernoulli")
		var both [2]*credence.Fitted
		for k, text := range []string{c.groups, c.levels} {
			both[k] = must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: text, Family: c.family, Threads: 1}))(t)
		}
		for _, pair := range splitPairs(c.blocks) {
			mean, variance, prior := law(t, both[0], pair[0])
			otherMean, otherVariance, other := law(t, both[1], pair[1])
			if strings.Contains(c.groups, "/") { // of the combinations some are in no row, and have no weight
				mean, otherMean = mean[:1], otherMean[:1]
				if !(math.Abs(mean[0]-otherMean[0]) <= 1e-6*math.Sqrt(variance[0])) || !(math.Abs(prior/other-1) <= 1e-6) {
					t.Errorf("%s: %s has mean %v and prior variance %v, %v and %v", c.groups, pair[0], mean, prior, otherMean, other)
				}
				continue
			}
			if !slices.Equal(mean, otherMean) || !slices.Equal(variance, otherVariance) || prior != other {
				t.Errorf("%s: %s has means %v, %v", c.groups, pair[0], mean, otherMean)
			}
		}
	}
}

func splitPairs(text string) (pairs [][2]string) {
	for rest := text; rest != ""; {
		left, after, _ := strings.Cut(rest, "=")
		right, more, _ := strings.Cut(after, ", ")
		pairs, rest = append(pairs, [2]string{left, right}), more
	}
	return pairs
}

// Stated standard deviations are held, others begin at theirs, and the prior of the model is about neither.
func TestStatedDeviationsOfGroups(t *testing.T) {
	rows := crossed(t, false)
	run := func(formula, prior, engine string) *credence.Fitted {
		t.Helper()
		return must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: formula, Prior: prior, Engine: engine, Threads: 1}))(t)
	}
	for _, engine := range []string{"exact", "svi(covariance=full)", "laplace"} {
		if _, _, v := law(t, run("y ~ x + (1|g, sd=0.5)", "", engine), "(1 | g)"); !(math.Abs(v-0.25) <= 1e-12) {
			t.Errorf("%s: the held prior variance is %v", engine, v)
		}
		fitted := run("y ~ x + (1|g)", "normal(variance=3)", engine)
		if _, _, v := law(t, fitted, "linear"); v != 3 {
			t.Errorf("%s: the stated prior variance is %v", engine, v)
		}
		_, _, v := law(t, fitted, "(1 | g)")
		if v == 3 || !(v > 0.05 && v < 5) {
			t.Errorf("%s: the prior variance of groups is %v", engine, v)
		}
		if _, _, begun := law(t, run("y ~ x + (1|g, sd=~0.1)", "normal(variance=3)", engine), "(1 | g)"); !(math.Abs(begun/v-1) <= 0.02) {
			t.Errorf("%s: begun elsewhere the prior variance of groups is %v, and %v", engine, begun, v)
		}
		relevant := run("y ~ x + (1|g)", "normal(ard=true)", engine)
		ard := relevant.Members[0].Model.Prior.(prior.Normal).Variances
		for _, scale := range fitted.Report.HyperPrior { // of the groups' own prior, which hangs on no common scale
			if !slices.Contains(relevant.Report.HyperPrior, scale) && scale.Name == "prior_variance.(1 | g)" {
				t.Errorf("%s: %v is not among the scales under ard, %v", engine, scale, relevant.Report.HyperPrior)
			}
		}
		if ard[2] != ard[7] {
			t.Errorf("%s: under ard groups have prior variances %v", engine, ard)
		}
	}
	held := run("y ~ x + (1|g, sd=0.5)", "", "exact")
	onehot := run("y ~ x + onehot(g)", "normal(variance=0.25)", "exact")
	mean, _, _ := law(t, held, "(1 | g)")
	other, _, _ := law(t, onehot, "onehot(g)")
	if !(math.Abs(mean[0]-other[0]) <= 0.02) {
		t.Errorf("held at 0.5 the first effect is %v, and by the prior %v", mean[0], other[0])
	}
}

// What fits no effects of groups is refused before any row is read.
func TestGroupsAreRefused(t *testing.T) {
	use := "use --engine exact for the family gaussian and --engine 'svi(covariance=full)' for others, or write onehot(g)"
	for _, engine := range []string{"convex", "svi", "svi(batch=8)", "lasso", "ridge"} {
		_, err := fit.New(fit.Options{Formula: "y ~ x + (1|g)", Engine: engine})
		if err == nil || !strings.HasSuffix(err.Error(), "does not fit effects of groups, (1 | g): "+use) {
			t.Errorf("%s: %v", engine, err)
		}
	}
	for _, engine := range []string{"ep", "gibbs", "sep", "laplace"} {
		_, err := fit.New(fit.Options{Formula: "y ~ x + (1|g)", Prior: "spikeslab", Engine: engine, Family: "bernoulli(link=probit)"})
		if err == nil || !strings.Contains(err.Error(), "effects of groups, (1 | g), are normal") || !strings.HasSuffix(err.Error(), use) {
			t.Errorf("%s: %v", engine, err)
		}
	}
	if _, err := fit.New(fit.Options{Formula: "y ~ (1|g:h)", Engine: "convex"}); err == nil || !strings.HasSuffix(err.Error(), "or write g:h") {
		t.Error(err)
	}
}

// A group that training did not have, or none, is drawn from the law of groups, and counted; --unseen error refuses it.
func TestUnseenGroups(t *testing.T) {
	rows := crossed(t, false)
	for _, c := range []struct {
		unseen, asked string
		refused       string
	}{
		{"", "", ""}, {"prior", "", ""}, {"error", "", `level "new" was not seen`}, {"", "error", `level "new" was not seen`}, {"error", "prior", ""},
	} {
		fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x + (1|g)", Unseen: frame.Unseen(c.unseen), Threads: 1}))(t)
		_, _, variance := law(t, fitted, "(1 | g)")
		fresh := must.Value(table.New().Categories("g", []string{"a", "new", ""}).Numbers("x", []float64{3, 3, 3}).Source())(t)
		scored := must.Value(must.Value(score.New(fitted, score.Options{Unseen: frame.Unseen(c.asked)}))(t).Table(fresh, score.IgnoreTargets))(t)
		var sd []float64
		err := scored.Each(t.Context(), func(rows *score.Rows) error {
			for i := range rows.Len() {
				_, v := rows.Latent(i)
				sd = append(sd, v)
			}
			return nil
		})
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("unseen %q, asked %q: %v", c.unseen, c.asked, err)
			}
			continue
		}
		if err != nil || sd[1] != sd[2] || sd[1] < variance || sd[0] > sd[1]/2 || scored.Counts().DrawnGroups != 2 {
			t.Errorf("unseen %q, asked %q: variances %v under a law of %v, %d counted, %v", c.unseen, c.asked, sd, variance, scored.Counts().DrawnGroups, err)
		}
	}
}

// TestGroupsAgainstLme4: at the standard deviations that lme4 finds, fixed effects, effects of groups and their
// standard errors are those of lme4 1.1-31, up to what the prior of the intercept, of 80 times its standard error,
// pulls. The figures are of
//
//	m <- lmer(Reaction ~ Days + (1|Subject) + (0+Days|Subject), sleepstudy, control=lmerControl(optimizer="bobyqa", optCtrl=list(rhoend=1e-10)))
//	VarCorr(m); fixef(m); sqrt(diag(vcov(m))); ranef(m)
func TestGroupsAgainstLme4(t *testing.T) {
	rows := sleepstudy(t)
	fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{
		Formula: "Reaction ~ Days + (Days || Subject, sd=[25.051329643, 5.988171825])", Family: "gaussian(variance=653.58380489)",
		Prior: "normal(variance=1e9)", Engine: "exact", Raw: true, Threads: 1,
	}))(t)
	want := map[string][2]float64{ // NaN: lme4 has the standard deviation at known fixed effects
		"(intercept)": {251.40510485, 6.885381508}, "Days": {10.46728596, 1.559565996},
		"Subject=308": {1.512695994, math.NaN()}, "Subject=309": {-40.373898275, math.NaN()}, "Days:Subject=308": {9.323489366, math.NaN()}, "Days:Subject=310": {-5.387790481, math.NaN()},
	}
	for _, term := range must.Value(score.Terms(fitted, score.TermOptions{}))(t) {
		w, told := want[term.Name]
		if !told {
			continue
		}
		delete(want, term.Name)
		if !(math.Abs(term.Mean-w[0]) <= 2e-4*math.Abs(w[0])) || w[1] == w[1] && !(math.Abs(float64(term.SD)-w[1]) <= 2e-4*w[1]) {
			t.Errorf("%s is %.8g ± %.8g, in lme4 %v", term.Name, term.Mean, float64(term.SD), w)
		}
	}
	if len(want) > 0 {
		t.Errorf("there are no weights %v", want)
	}
	for _, g := range score.GroupsOf(fitted, 0).Groups {
		if sd := g.SD[0]; float64(sd.Lower) != sd.Mean || float64(sd.Upper) != sd.Mean || g.Levels != 18 || g.Rows != 180 {
			t.Errorf("%+v, of a stated standard deviation", g)
		}
	}
}

func sleepstudy(t *testing.T) credence.Source {
	b, _ := columnsOfFile(t, "testdata/sleepstudy.csv", "Subject")
	return must.Value(b.Source())(t)
}

// TestDeviationsOfGroups: the law of a standard deviation of six groups is that of a grid over it and the noise, which
// has the closed form of the evidence at every point and the priors that the report tells. Mean and quantiles differ by
// what the others' regression along its line misses.
func TestDeviationsOfGroups(t *testing.T) {
	const tolerance = 0.02 // 0.012 is the most of six
	for _, spread := range []float64{0.1, 1.5} {
		const groups, each = 6, 5
		rng := rand.New(rand.NewPCG(7, 33))
		var g []string
		var y []float64
		for a := range groups {
			effect := spread * rng.NormFloat64()
			for range each {
				g, y = append(g, string(rune('a'+a))), append(y, 3+effect+rng.NormFloat64())
			}
		}
		rows := must.Value(table.New().Categories("g", g).Numbers("y", y).Source())(t)
		fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ (1|g)", Engine: "exact", Threads: 1}))(t)
		scale := map[string]float64{}
		for _, v := range fitted.Report.HyperPrior {
			scale[v.Name] = math.Sqrt(v.Value)
		}
		const name = "prior_variance.(1 | g)"
		noise, effects := hyper.HalfCauchy(scale["noise_variance"]), hyper.BetaPrime{A: 1, B: 0.5, Scale: scale[name]}
		// Σ log p(y): the means of the groups about their mean, which the wide prior of the intercept leaves free, and
		// what is within.
		within, between, mean := 0.0, 0.0, 0.0
		means := make([]float64, groups)
		for i, v := range y {
			means[i/each] += v / each
			mean += v / float64(len(y))
		}
		for i, v := range y {
			within += (v - means[i/each]) * (v - means[i/each])
		}
		for _, m := range means {
			between += each * (m - mean) * (m - mean)
		}
		var at, density []float64
		for u := -8.0; u < 4; u += 0.02 {
			sum := 0.0
			for s := -3.0; s < 2; s += 0.02 {
				tau, sigma := math.Exp(2*u), math.Exp(2*s)
				both := sigma + each*tau
				value := -(groups*(each-1)*2*s + within/sigma + (groups-1)*math.Log(both) + between/both) / 2
				one, _, _ := noise.At(s)
				two, _, _ := effects.At(u)
				sum += math.Exp(value + one + two)
			}
			at, density = append(at, math.Exp(u)), append(density, sum)
		}
		total, first := 0.0, 0.0
		for i, d := range density {
			total, first = total+d, first+d*at[i]
		}
		quantile := func(p float64) float64 {
			below := 0.0
			for i, d := range density {
				if below += d / total; below > p {
					return at[i]
				}
			}
			return math.Inf(1)
		}
		got := score.GroupsOf(fitted, 0.9).Groups[0].SD[0]
		for what, pair := range map[string][2]float64{"mean": {got.Mean, first / total}, "lower": {float64(got.Lower), quantile(0.05)}, "upper": {float64(got.Upper), quantile(0.95)}} {
			if !(math.Abs(pair[0]/pair[1]-1) <= tolerance) {
				t.Errorf("spread %v: %s of the standard deviation is %.4g, on the grid %.4g", spread, what, pair[0], pair[1])
			}
		}
	}
}

// Predictions without the effects of groups are those of the weights that are left.
func TestPredictionsWithoutGroups(t *testing.T) {
	rows := crossed(t, false)
	fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x + (1|g) + (1|h)", Threads: 1}))(t)
	latent := func(groups []string, g, h string) (mean, variance float64) {
		t.Helper()
		fresh := must.Value(table.New().Categories("g", []string{g}).Categories("h", []string{h}).Numbers("x", []float64{4}).Source())(t)
		scored := must.Value(must.Value(score.New(fitted, score.Options{Groups: groups}))(t).Table(fresh, score.IgnoreTargets))(t)
		must.Succeed(t, scored.Each(t.Context(), func(rows *score.Rows) error {
			mean, variance = rows.Latent(0)
			return nil
		}))
		return mean, variance
	}
	_, _, g := law(t, fitted, "(1 | g)")
	_, _, h := law(t, fitted, "(1 | h)")
	mean, variance := latent([]string{"none"}, "a", "p")
	near := func(what string, a, b float64) {
		t.Helper()
		if !(math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b))) {
			t.Errorf("%s: %.12g, want %.12g", what, a, b)
		}
	}
	bothMean, bothVariance := latent(nil, "new", "new") // whose effects have mean 0
	near("mean of none", mean, bothMean)
	near("variance of none", variance+g+h, bothVariance)
	_, other := latent([]string{"none"}, "new", "new") // without the variance of the law
	near("variance of none, of a new group", other, variance)
	for _, c := range []struct {
		groups []string
		drawn  int // values of the two columns
	}{{nil, 2}, {[]string{"none"}, 0}, {[]string{"g"}, 1}} {
		fresh := must.Value(table.New().Categories("g", []string{"new"}).Categories("h", []string{"new"}).Numbers("x", []float64{4}).Source())(t)
		scored := must.Value(must.Value(score.New(fitted, score.Options{Groups: c.groups}))(t).Table(fresh, score.IgnoreTargets))(t)
		must.Succeed(t, scored.Each(t.Context(), func(*score.Rows) error { return nil }))
		if drawn := scored.Counts().DrawnGroups; drawn != c.drawn {
			t.Errorf("groups %q: %d values of groups are drawn from their law, want %d", c.groups, drawn, c.drawn)
		}
	}
	some, someVariance := latent([]string{"(1|g)"}, "a", "p")
	beside, otherVariance := latent(nil, "a", "new")
	near("mean of g", some, beside)
	near("variance of g", someVariance+h, otherVariance)
	if same, _ := latent([]string{"g"}, "b", "q"); same == some {
		t.Error("the effects of g are not in predictions that keep them")
	}
	once := fitted
	twice := *fitted
	twice.Members = append(slices.Clone(fitted.Members), fitted.Members...)
	fitted = &twice
	same, sameVariance := latent([]string{"none"}, "a", "p")
	near("mean of none, of two members", same, mean)
	near("variance of none, of two members", sameVariance, variance)
	fitted = once
	sloped := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x + (x||g)", Threads: 1}))(t)
	fitted, mean = sloped, 0
	for _, term := range must.Value(score.Terms(sloped, score.TermOptions{}))(t) { // in the units of the data
		mean += map[string]float64{"(intercept)": 1, "x": 4, "g=b": 1, "x:g=b": 4}[term.Name] * term.Mean
	}
	got, _ := latent(nil, "b", "q")
	near("f by its weights", got, mean)
	for _, g := range score.GroupsOf(sloped, 0).Groups {
		if _, _, v := law(t, sloped, g.Term); g.SD[0].Name == "x" {
			scale := sloped.Frame.(*frame.Frame).Inputs[0].Scale
			if ratio := g.SD[0].Mean * scale / math.Sqrt(v); !(ratio > 0.8 && ratio < 1) { // E sd² is above (E sd)²
				t.Errorf("the standard deviation of slopes is %v, the root of the mean variance %v", g.SD[0].Mean*scale, math.Sqrt(v))
			}
		}
	}
	fitted = must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x + (1|g) + (1|h)", Threads: 1}))(t)
	for _, names := range [][]string{{"x"}, {"none", "g"}, {"(1 | k)"}} {
		if _, err := score.New(fitted, score.Options{Groups: names}); err == nil || !strings.Contains(err.Error(), "write none, or some of (1 | g), (1 | h)") {
			t.Errorf("%v: %v", names, err)
		}
	}
	pairs := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x + (1|g:h)", Threads: 1}))(t)
	if _, err := score.New(pairs, score.Options{Groups: []string{"g"}}); err == nil || !strings.Contains(err.Error(), "or some of (1 | g:h)") {
		t.Errorf("g, which is half of a key: %v", err)
	}
	plain := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x + onehot(g)", Threads: 1}))(t)
	if _, err := score.New(plain, score.Options{Groups: []string{"none"}}); err == nil || !strings.Contains(err.Error(), "no effects of groups") {
		t.Error(err)
	}
}

// What is told of variances: shares of the fixed part and of the terms by hand, and what rows say little of.
func TestSharesOfGroups(t *testing.T) {
	rows := crossed(t, false)
	fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ x + (1|g) + (0+x|h)", Threads: 1}))(t)
	all := score.GroupsOf(fitted, 0)
	_, _, g := law(t, fitted, "(1 | g)")
	_, _, h := law(t, fitted, "(0 + x | h)")
	slope, square, sum, count := 0.0, 0.0, 0.0, 60.0
	for _, term := range must.Value(score.Terms(fitted, score.TermOptions{}))(t) {
		if term.Block == "linear" {
			slope = term.Mean
		}
	}
	for i := range 60 {
		x := 3 + 2*math.Sin(float64(7*i))
		square, sum = square+x*x, sum+x
	}
	spread := square/count - sum/count*sum/count
	noise := fitted.Members[0].Model.Likelihood.Variance(0)
	slopes := h / spread * square / count // of the scaled column, by the mean of its square
	total := slope*slope*spread + g + slopes + noise
	for what, pair := range map[string][2]float64{
		"marginal": {float64(all.R2Marginal), slope * slope * spread / total}, "conditional": {float64(all.R2Conditional), 1 - noise/total},
		"icc of g": {float64(all.Groups[0].ICC), g / (g + slopes + noise)}, "icc of h": {float64(all.Groups[1].ICC), slopes / (g + slopes + noise)},
	} {
		if !(math.Abs(pair[0]-pair[1]) <= 1e-9) {
			t.Errorf("%s is %.10g, want %.10g", what, pair[0], pair[1])
		}
	}
	if w := strings.Join(fitted.Report.Warnings, "\n"); !strings.Contains(w, "(0 + x | h) has 4 levels, so few") || strings.Contains(w, "(1 | g) has 6 levels") {
		t.Error(w)
	}
	each := make([]string, 60)
	for i := range each {
		each[i] = strconv.Itoa(i)
	}
	own := must.Value(table.New().Categories("id", each).Numbers("n", slices.Repeat([]float64{1, 0, 4}, 20)).Numbers("z", slices.Repeat([]float64{1, 2}, 30)).Categories("k", slices.Repeat([]string{"a", "b", "c", "d", "e", "f"}, 10)).Source())(t)
	for family, warned := range map[string]bool{"gaussian": true, "poisson": false} {
		fitted := must.Value(fit.Table(t.Context(), own, fit.Options{Formula: "n ~ (1|id)", Family: family, Threads: 1}))(t)
		if got := strings.Contains(strings.Join(fitted.Report.Warnings, "\n"), "cannot be told apart"); got != warned {
			t.Errorf("%s: %v", family, fitted.Report.Warnings)
		}
	}
	constant := must.Value(fit.Table(t.Context(), own, fit.Options{Formula: "n ~ (0+z|k)", Threads: 1}))(t)
	if remarks := strings.Join(constant.Report.Remarks, "\n"); !strings.Contains(remarks, "(0 + z | k): z is the same within every k") {
		t.Error(remarks)
	}
}

// A missing group of training is a group of its own where missing values are filled, and then none that is drawn.
func TestMissingGroups(t *testing.T) {
	rows := must.Value(table.New().Categories("g", slices.Repeat([]string{"a", "b", "c", "d", "e", ""}, 5)).Numbers("y", slices.Repeat([]float64{1, 2, 3, 4, 5, 9}, 5)).Source())(t)
	if _, err := fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ (1|g)", Threads: 1}); err == nil || !strings.Contains(err.Error(), "missing values in g (5)") {
		t.Error(err)
	}
	fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ (1|g)", Missing: frame.Mean, Family: "gaussian(variance=0.01)", Threads: 1}))(t)
	if g := score.GroupsOf(fitted, 0).Groups[0]; g.Levels != 6 {
		t.Errorf("%+v", g)
	}
	fresh := must.Value(table.New().Categories("g", []string{"", "a"}).Source())(t)
	scored := must.Value(must.Value(score.New(fitted, score.Options{}))(t).Table(fresh, score.IgnoreTargets))(t)
	must.Succeed(t, scored.Each(t.Context(), func(rows *score.Rows) error {
		if mean, _ := rows.Latent(0); !(math.Abs(mean-9) <= 0.1) || scored.Counts().DrawnGroups != 0 {
			t.Errorf("f of a missing group is %v, %d are drawn", mean, scored.Counts().DrawnGroups)
		}
		return nil
	}))
}

// Variational Bayes of a gaussian family tells the laws of standard deviations that the closed form does, near by.
func TestDeviationsOfGroupsByEngine(t *testing.T) {
	var both [2]score.Deviation
	for k, engine := range []string{"exact", "svi(covariance=full)"} {
		fitted := must.Value(fit.Table(t.Context(), crossed(t, false), fit.Options{Formula: "y ~ x + (1|g)", Engine: engine, Threads: 1}))(t)
		if both[k] = score.GroupsOf(fitted, 0).Groups[0].SD[0]; len(fitted.Report.HyperLaws) != 1 {
			t.Errorf("%s tells %d laws", engine, len(fitted.Report.HyperLaws))
		}
	}
	for what, pair := range map[string][2]float64{"mean": {both[0].Mean, both[1].Mean}, "lower": {float64(both[0].Lower), float64(both[1].Lower)}, "upper": {float64(both[0].Upper), float64(both[1].Upper)}} {
		if !(math.Abs(pair[0]/pair[1]-1) <= 0.03) {
			t.Errorf("%s: exact %v, svi %v", what, pair[0], pair[1])
		}
	}
}

// The standard deviation of slopes, and both ends of its interval, are an eighth where the column is eight times as
// large.
func TestDeviationsInOwnUnits(t *testing.T) {
	var sizes [2]score.Deviation
	for k, by := range []float64{1, 8} {
		var g []string
		var x, y []float64
		for i := range 60 {
			v := 3 + 2*math.Sin(float64(7*i))
			g, x = append(g, string(rune('a'+i%6))), append(x, by*v)
			y = append(y, math.Cos(float64(i%6))+(0.5+0.3*math.Cos(float64(5*(i%6))))*v+0.3*math.Cos(float64(i*i)))
		}
		source := must.Value(table.New().Categories("g", g).Numbers("x", x).Numbers("y", y).Source())(t)
		fitted := must.Value(fit.Table(t.Context(), source, fit.Options{Formula: "y ~ x + (0 + x | g)", Threads: 1}))(t)
		sizes[k] = score.GroupsOf(fitted, 0).Groups[0].SD[0]
	}
	for _, pair := range [][2]float64{{sizes[0].Mean, sizes[1].Mean}, {float64(sizes[0].Lower), float64(sizes[1].Lower)}, {float64(sizes[0].Upper), float64(sizes[1].Upper)}} {
		if ratio := pair[0] / pair[1]; !(math.Abs(ratio-8) < 1e-6) {
			t.Errorf("%v of x, %v of 8x", pair[0], pair[1])
		}
	}
	if a := sizes[0]; !(float64(a.Lower) < a.Mean && a.Mean < float64(a.Upper)) {
		t.Errorf("%+v", a)
	}
}

// TestCrossedGroups: more levels of two columns than have a factor are solved for by conjugate gradients, and said so;
// the evidence is told with its standard error, within which models are not compared.
func TestCrossedGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	var g, h []string
	var x, noise, y []float64
	a, b := make([]float64, 2600), make([]float64, 2100)
	for j := range a {
		a[j] = 0.6 * rng.NormFloat64()
	}
	for j := range b {
		b[j] = 0.9 * rng.NormFloat64()
	}
	for i := range 16_000 {
		k, l := i%len(a), rng.IntN(len(b))
		g, h = append(g, "g"+strconv.Itoa(k)), append(h, "h"+strconv.Itoa(min(l, i)%len(b)))
		x, noise = append(x, rng.NormFloat64()), append(noise, rng.NormFloat64())
		y = append(y, 1+0.3*x[i]+a[k]+b[min(l, i)%len(b)]+0.5*rng.NormFloat64())
	}
	rows := must.Value(table.New().Categories("g", g).Categories("h", h).Numbers("x", x).Numbers("noise", noise).Numbers("y", y).Source())(t)
	var all []*score.Scores
	for _, formula := range []string{"y ~ x + (1 | g) + (1 | h)", "y ~ x + onehot(g) + onehot(h)"} {
		fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: formula, Threads: 1, Seed: uint64(len(all))}))(t)
		if r := fitted.Report; r.Engine != "exact" || r.EvidenceStandardError == nil || *r.EvidenceStandardError > 1 || !strings.Contains(strings.Join(r.Remarks, " "), "conjugate gradients") {
			t.Fatalf("engine %s, evidence ± %v, remarks %q", r.Engine, r.EvidenceStandardError, r.Remarks)
		}
		for _, v := range fitted.Report.Hyper {
			want, ok := map[string]float64{"(1 | g)": 0.6, "(1 | h)": 0.9, "onehot(g)": 0.6, "onehot(h)": 0.9}[strings.TrimPrefix(v.Name, "prior_variance.")]
			if ok && math.Abs(math.Sqrt(v.Value)-want) > 0.06 { // four standard errors
				t.Errorf("%s: %s is %v", formula, v.Name, v.Value)
			}
		}
		scores := score.NewScores(formula, fitted)
		must.Succeed(t, must.Value(must.Value(score.New(fitted, score.Options{}))(t).Table(rows, score.RequireTargets))(t).Each(t.Context(), scores.Add))
		all = append(all, scores)
	}
	c := must.Value(score.Compare(all...))(t)
	if c.Models[0].Evidence == nil || c.Models[1].Evidence != nil || !strings.Contains(strings.Join(c.Warnings, " "), "does not tell them apart") {
		t.Errorf("evidence %v %v: %q", c.Models[0].Evidence, c.Models[1].Evidence, c.Warnings)
	}
}
