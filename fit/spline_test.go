package fit_test

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/table"
)

// madeRows are rows that R makes with the same arithmetic: curves in x and h with noise that is normal enough.
func madeRows() (x, h, y, cycle, b, n []float64) {
	frac := func(v float64) float64 { return v - math.Floor(v) }
	for k := range 2000 {
		i := float64(k + 1)
		u := func(k float64) float64 { return frac(math.Sin(i*12.9898+k*78.233) * 43758.5453) }
		v := math.Round(100*10*math.Pow(frac(i*.6180339887498949), 1.5)) / 100
		noise := .8 * (u(1) + u(2) + u(3) - 1.5)
		hour := math.Mod(i, 24)
		rate, count := math.Exp(.5+.6*math.Sin(v)+.1*v), 0.0
		for p, below := math.Exp(-rate), math.Exp(-rate); below < u(5); below += p {
			count++
			p *= rate / count
		}
		hit := 0.0
		if u(4) < 1/(1+math.Exp(-2*math.Sin(v)-.3*v+1)) {
			hit = 1
		}
		x, h, b, n = append(x, v), append(h, hour), append(b, hit), append(n, count)
		y = append(y, math.Sin(v)+.2*v+noise)
		cycle = append(cycle, math.Cos(2*math.Pi*hour/24)+.5*math.Sin(4*math.Pi*hour/24)+noise)
	}
	return x, h, y, cycle, b, n
}

// latents are mean and standard deviation of f at values of a column.
func latents(t *testing.T, fitted *credence.Fitted, column string, at []float64) (mean, sd []float64) {
	t.Helper()
	source := must.Value(table.New().Numbers(column, at).Numbers("z", make([]float64, len(at))).Source())(t)
	rows := must.Value(fitted.Frame.(*frame.Frame).Bind(source, frame.IgnoreTargets))(t)
	var b credence.Batch
	must.Succeed(t, rows.Read(&b, 0, len(at)))
	var d credence.Distribution
	must.Succeed(t, fitted.DistributionTo(credence.NewWorkspace(1), &d, &b))
	for i := range at {
		m, v := d.Latent(i)
		mean, sd = append(mean, m), append(sd, math.Sqrt(v))
	}
	return mean, sd
}

// Curves are those of mgcv 1.8-41 by REML at the same knots, within a tenth of its standard error, inside the data and
// beyond; and so are the effective degrees of freedom, Σ w Var f / φ, within 5 %. y, b, n and x are made in R as
// madeRows does:
//
//	m <- gam(y ~ s(x, bs="cr", k=8), family=…, method="REML", knots=list(x=quantile(unique(x), seq(0, 1, length=8))))
//	predict(m, data.frame(x=c(0, .37, 2, 4.5, 7, 9.9, 11)), se.fit=TRUE); sum(m$edf)
func TestSmoothsAreThoseOfMgcv(t *testing.T) {
	x, h, y, cycle, b, n := madeRows()
	source := must.Value(table.New().Numbers("x", x).Numbers("h", h).Numbers("y", y).Numbers("c", cycle).Numbers("b", b).Numbers("n", n).Source())(t)
	for _, c := range []peerCurve{
		{"y ~ s(x, k=8)", "gaussian", "exact(hyper=ml)", []float64{0.0258, 0.4388, 1.3189, -0.0750, 2.0987, 1.4536, 0.4288},
			[]float64{0.0291, 0.0186, 0.0195, 0.0261, 0.0296, 0.0512, 0.1242}, 7.964, 0.16038, func(float64) float64 { return 1 }},
		{"b ~ s(x, k=8)", "bernoulli", "svi(hyper=ml, covariance=full)", []float64{-0.6677, 0.0099, 1.2304, -1.3449, 2.1858, 0.9362, -1.5808},
			[]float64{0.1499, 0.0960, 0.1102, 0.1491, 0.2260, 0.3153, 0.8584}, 7.605, 1, func(f float64) float64 { return 1 / (2 + 2*math.Cosh(f)) }},
		{"n ~ s(x, k=8)", "poisson", "svi(hyper=ml, covariance=full)", []float64{0.5363, 0.7883, 1.2789, 0.3335, 1.6179, 1.1840, 0.5465},
			[]float64{0.0508, 0.0324, 0.0272, 0.0506, 0.0328, 0.0657, 0.1533}, 7.812, 1, math.Exp},
	} {
		c.check(t, source, []float64{0, .37, 2, 4.5, 7, 9.9, 11}, x, nil)
	}
}

// The same of two published sets: claims by the age of the driver, of 678,013 policies, and the power of a plant by the
// temperature. In R the former are c claims of n policies at each age:
//
//	m <- gam(c ~ s(x, bs="cr", k=10) + offset(log(n)), family=poisson, method="REML", knots=list(x=quantile(unique(x), seq(0, 1, length=10))))
//	m <- gam(y ~ s(x1, bs="cr", k=10), method="REML", knots=…)
//
// Claims do not rise or fall with the age as a whole, so that under hyper=ml the straight part has variance 0, and with
// it goes what mgcv leaves free: integrated it is as in mgcv.
func TestPublishedSmoothsAreThoseOfMgcv(t *testing.T) {
	_, columns := readColumns(t, "fremtpl2_age", "fremtpl2_age.csv.gz")
	counts := map[[2]float64]float64{}
	for i, text := range columns[0] {
		counts[[2]float64{must.Value(strconv.ParseFloat(text, 64))(t), must.Value(strconv.ParseFloat(columns[1][i], 64))(t)}]++
	}
	var claims, age, policies []float64
	for _, row := range slices.SortedFunc(maps.Keys(counts), func(a, b [2]float64) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) }) {
		claims, age, policies = append(claims, row[0]), append(age, row[1]), append(policies, counts[row])
	}
	source := must.Value(table.New().Numbers("n", claims).Numbers("x", age).Numbers("w", policies).Source())(t)
	peerCurve{"n ~ s(x) + weight(w)", "poisson", "svi(covariance=full)", []float64{-2.22975, -2.75395, -3.38646, -3.19783, -3.31397, -3.21183, -2.92458},
		[]float64{.03983, .01890, .01453, .01410, .01760, .02638, .10630}, 8.967981, 1, math.Exp}.check(t, source, []float64{18, 22, 30, 45, 60, 75, 90}, age, policies)

	_, columns = readColumns(t, "power", "power.csv.gz")
	var x, y []float64
	for i, text := range columns[0] {
		x, y = append(x, must.Value(strconv.ParseFloat(text, 64))(t)), append(y, must.Value(strconv.ParseFloat(columns[4][i], 64))(t))
	}
	source = must.Value(table.New().Numbers("x", x).Numbers("y", y).Source())(t)
	peerCurve{"y ~ s(x)", "gaussian", "exact(hyper=ml)", []float64{490.97647, 485.16489, 471.79403, 457.10723, 442.64475, 434.30704, 430.64061},
		[]float64{.83643, .20212, .14038, .15670, .13260, .15570, .82623}, 8.910697, 25.63247, func(float64) float64 { return 1 }}.check(t, source, []float64{2, 6, 12, 18, 24, 30, 36}, x, nil)
}

// peerCurve is what mgcv makes of a set: its curve at some values, standard errors and effective degrees of freedom.
type peerCurve struct {
	formula, family, engine string
	fit, se                 []float64
	df, noise               float64
	weight                  func(f float64) float64
}

// check holds a fit against it; the rows are of x, and stand for so many each, nil for one.
func (c peerCurve) check(t *testing.T, source credence.Source, at, x, times []float64) {
	t.Helper()
	fitted := must.Value(fit.Table(t.Context(), source, fit.Options{Formula: c.formula, Family: c.family, Engine: c.engine}))(t)
	mean, sd := latents(t, fitted, "x", at)
	for i, m := range mean {
		t.Logf("%s: %.4f ± %.4f, of mgcv %.4f ± %.4f", c.family, m, sd[i], c.fit[i], c.se[i])
		if off := (m - c.fit[i]) / c.se[i]; !(math.Abs(off) <= .1) {
			t.Errorf("%s, value %d: %.4f is %.2f standard errors from mgcv's %.4f", c.family, i, m, off, c.fit[i])
		}
	}
	df := 0.0
	mean, sd = latents(t, fitted, "x", x)
	for i, s := range sd {
		df += linop.At(times, i) * c.weight(mean[i]) * s * s / c.noise
	}
	t.Logf("%s: %.3f degrees of freedom, of mgcv %.3f", c.family, df, c.df)
	if !(math.Abs(df/c.df-1) <= .05) {
		t.Errorf("%s: %.3f effective degrees of freedom, of mgcv %.3f", c.family, df, c.df)
	}
}

// The curve of the hours is that of mgcv's cyclic spline with a knot an hour, but for the harmonics beyond the tenth,
// and meets itself:
//
//	m <- gam(c ~ s(h, bs="cc", k=25), method="REML", knots=list(h=0:24)); predict(m, data.frame(h=c(0, 3, 8, 13, 20)), se.fit=TRUE)
func TestCyclicSmoothMeetsItself(t *testing.T) {
	_, h, _, cycle, _, _ := madeRows()
	source := must.Value(table.New().Numbers("h", h).Numbers("c", cycle).Source())(t)
	fitted := must.Value(fit.Table(t.Context(), source, fit.Options{Formula: "c ~ s(h, period=24)", Engine: "exact(hyper=ml)"}))(t)
	mean, sd := latents(t, fitted, "h", []float64{0, 3, 8, 13, 20, 24, -48, 20.25, -3.75})
	const se = .0351
	for i, want := range []float64{0.9696, 1.1812, -0.8996, -0.6838, 0.0113} {
		if !(math.Abs(mean[i]-want) <= .2*se) || !(math.Abs(sd[i]/se-1) <= .05) {
			t.Errorf("value %d: %.4f ± %.4f, of mgcv %.4f ± %.4f", i, mean[i], sd[i], want, se)
		}
	}
	for _, pair := range [][2]int{{0, 5}, {0, 6}, {7, 8}} {
		if a, b := pair[0], pair[1]; !(math.Abs(mean[a]-mean[b]) <= 1e-9) || !(math.Abs(sd[a]-sd[b]) <= 1e-9) {
			t.Errorf("a period apart: %v ± %v and %v ± %v", mean[a], sd[a], mean[b], sd[b])
		}
	}
}
