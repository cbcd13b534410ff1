package fit_test

import (
	"cmp"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// precise is n rows, from row first on, of precision 1, 5 and 20 whose noise is evenly spread
// quantiles: gamma(y) of shape 2w and gaussian(v) of variance 0.64/w. R makes the same of
//
//	i <- 1:n; x <- sin(i); z <- cos(1.7*i); w <- c(1,5,20)[i %% 3 + 1]; u <- (i*0.6180339887498949) %% 1
//	mu <- exp(0.5 + 0.3*x - 0.2*z); y <- qgamma(u, shape=2*w, rate=2*w/mu)
//	v <- 1 + 2*x - z + qnorm(u)*0.8/sqrt(w)
func precise(t *testing.T, first, n int) credence.Source {
	x, z, w, y, v := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for k := range n {
		i := first + k + 1
		x[k], z[k], w[k] = math.Sin(float64(i)), math.Cos(1.7*float64(i)), []float64{1, 5, 20}[i%3]
		u := math.Mod(float64(i)*0.6180339887498949, 1)
		y[k] = likelihood.Gamma{Shape: param.Hold(2 * w[k])}.PredictiveQuantile(u, 0.5+0.3*x[k]-0.2*z[k], 0)
		v[k] = 1 + 2*x[k] - z[k] + special.NormalQuantile(u)*0.8/math.Sqrt(w[k])
	}
	source, err := table.New().Numbers("x", x).Numbers("z", z).Numbers("w", w).Numbers("y", y).Numbers("v", v).Source()
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// TestPrecisionIsThatOfR compares precision(w) under a weak prior with R 4.2.2 on the 600 rows of
// precise: coef(summary(glm(y ~ x + z, Gamma("log"), weights=w))), whose standard errors have
// Pearson's dispersion 0.49845 (the shape of greatest likelihood is 2.03625), and
// coef(summary(lm(v ~ x + z, weights=w))), sigma² 0.63361.
func TestPrecisionIsThatOfR(t *testing.T) {
	rows := precise(t, 0, 600)
	for _, c := range []struct {
		formula, family, engine string
		mean, sd                []float64
		parameter               string
		value                   float64
	}{
		{"y ~ x + z + precision(w)", "gamma", "svi(covariance=full)",
			[]float64{0.49940953, 0.29087055, -0.19229667}, []float64{0.0097907487, 0.0138407581, 0.0138332819}, "shape", 2.03625},
		{"v ~ x + z + precision(w)", "gaussian", "exact",
			[]float64{0.99966470, 1.98961320, -0.99298495}, []float64{0.011038675, 0.015604898, 0.015596469}, "noise_variance", 0.63361},
		{"v ~ x + z + precision(w)", "gaussian", "svi(covariance=full)",
			[]float64{0.99966470, 1.98961320, -0.99298495}, []float64{0.011038675, 0.015604898, 0.015596469}, "noise_variance", 0.63361},
	} {
		fitted, err := fit.Table(t.Context(), rows, fit.Options{Formula: c.formula, Family: c.family, Engine: c.engine, Prior: "normal(variance=1e4)", Raw: true})
		if err != nil {
			t.Fatal(err)
		}
		mean, variance := make([]float64, 3), make([]float64, 3)
		fitted.Members[0].Posterior.Marginals(mean, variance)
		for j := range mean {
			if sd := math.Sqrt(variance[j]); math.Abs(mean[j]/c.mean[j]-1) > 0.02 || math.Abs(sd/c.sd[j]-1) > 0.02 {
				t.Errorf("%s, %s: weight %d is %.6g ± %.6g, R has %.6g ± %.6g", c.family, c.engine, j, mean[j], sd, c.mean[j], c.sd[j])
			}
		}
		for _, v := range fitted.Report.Hyper {
			if v.Name == c.parameter && math.Abs(v.Value/c.value-1) > 0.02 {
				t.Errorf("%s, %s: %s is %.6g, R has %.6g", c.family, c.engine, v.Name, v.Value, c.value)
			}
		}
		for _, text := range fitted.Report.Warnings {
			t.Errorf("%s, %s: %s", c.family, c.engine, text)
		}
	}
}

// TestPrecisionCoversNewRows: 90 % intervals of new rows, whose noise is evenly spread quantiles too,
// hold 88 to 92 % of the targets of every precision.
func TestPrecisionCoversNewRows(t *testing.T) {
	rows, fresh := precise(t, 0, 600), precise(t, 600, 900)
	for formula, family := range map[string]string{
		"y ~ x + z + precision(w)": "gamma", "v ~ x + z + precision(w)": "gaussian", "v ~ x + z + precision(w) ": "studentt(df=200)",
	} {
		fitted, err := fit.Table(t.Context(), rows, fit.Options{Formula: formula, Family: family})
		if err != nil {
			t.Fatal(err)
		}
		scorer, err := score.New(fitted, score.Options{})
		if err != nil {
			t.Fatal(err)
		}
		scored, err := scorer.Table(fresh, score.UseTargets)
		if err != nil {
			t.Fatal(err)
		}
		var inside, all [3]float64
		err = scored.Each(t.Context(), func(rows *score.Rows) error {
			for i := range rows.Len() {
				k, p, y := (rows.First()+i+1)%3, rows.Predict(i), rows.Target(i)
				if all[k]++; p.Lower <= y && y <= p.Upper {
					inside[k]++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for k, w := range []int{1, 5, 20} {
			if share := inside[k] / all[k]; share < 0.88 || share > 0.92 {
				t.Errorf("%s: 90%% intervals hold %.1f%% of the rows of precision %d", family, 100*share, w)
			}
		}
	}
}

// TestPrecisionOfOtherFamilies: under a family whose dispersion rows cannot divide a precision is a
// weight, to the bit.
func TestPrecisionOfOtherFamilies(t *testing.T) {
	n := 60
	x, w, k := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], w[i], k[i] = math.Sin(float64(3*i)), 0.5+float64(i%4), float64(i%3)
	}
	rows, err := table.New().Numbers("x", x).Numbers("w", w).Numbers("k", k).Source()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range []string{"poisson", "negbinomial", "ordinal", "binomial(trials=2)"} {
		var fits [2]*credence.Fitted
		for i, role := range []string{"precision", "weight"} {
			if fits[i], err = fit.Table(t.Context(), rows, fit.Options{Formula: "k ~ x + " + role + "(w)", Family: family}); err != nil {
				t.Fatal(err)
			}
			for _, text := range fits[i].Report.Warnings {
				if strings.Contains(text, "precision") {
					t.Errorf("%s: %s", family, text)
				}
			}
		}
		if got, want := *fits[0].Report.ELBO, *fits[1].Report.ELBO; got != want {
			t.Errorf("%s: the bound is %v with precisions and %v with weights", family, got, want)
		}
	}
	if _, err := fit.Table(t.Context(), rows, fit.Options{Formula: "k ~ x + precision(w) + weight(w)", Family: "poisson"}); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), "two weights") {
		t.Errorf("poisson with weight and precision: %v", err)
	}
}

// TestPrecisionBesideWeight: a row of weight 3 and its own precision is three such rows.
func TestPrecisionBesideWeight(t *testing.T) {
	var x, w, p, y [2][]float64
	for i := range 40 {
		f := float64(i)
		counts := [2]int{1, i%3 + 1}
		for k, times := range counts {
			for range times {
				x[k], w[k] = append(x[k], math.Sin(f)), append(w[k], float64(i%3+1))
				p[k], y[k] = append(p[k], 0.3+math.Mod(f*0.7, 3)), append(y[k], math.Exp(math.Sin(f)+math.Cos(5*f)))
			}
		}
	}
	for _, family := range []string{"gaussian", "gamma"} {
		var evidence [2]float64
		for k, formula := range []string{"y ~ x + weight(w) + precision(p)", "y ~ x + precision(p)"} {
			rows, err := table.New().Numbers("x", x[k]).Numbers("w", w[k]).Numbers("p", p[k]).Numbers("y", y[k]).Source()
			if err != nil {
				t.Fatal(err)
			}
			fitted, err := fit.Table(t.Context(), rows, fit.Options{Formula: formula, Family: family})
			if err != nil {
				t.Fatal(err)
			}
			if evidence[k] = 0; fitted.Report.Evidence != nil {
				evidence[k] = *fitted.Report.Evidence
			} else {
				evidence[k] = *fitted.Report.ELBO
			}
		}
		if math.Abs(evidence[0]-evidence[1]) > 1e-6*math.Abs(evidence[1]) {
			t.Errorf("%s: evidence %.12g with weights and %.12g of repeated rows", family, evidence[0], evidence[1])
		}
	}
}

// TestPrecisionIsCopies: under a known noise a row of precision 4 is the row four times, in every number of the prior and of the
// posterior; the log evidence differs by the constants of the rows' densities.
func TestPrecisionIsCopies(t *testing.T) {
	var a, b, p, y [2][]float64
	constant := 0.0
	for i := range 30 {
		f := float64(i)
		times, precision := 1, 1.0
		if i%3 == 0 {
			times, precision = 4, 4
			constant += 1.5*math.Log(2*math.Pi*0.3) + math.Log(2)
		}
		for k, copies := range []int{1, times} {
			for range copies {
				a[k], b[k] = append(a[k], 3+math.Sin(7*f)), append(b[k], math.Cos(4*f))
				p[k], y[k] = append(p[k], []float64{precision, 1}[k]), append(y[k], 5+2*math.Sin(7*f)-math.Cos(3*f))
			}
		}
	}
	engines := map[string][]string{
		"normal(variance=2)":               {"exact", "svi(covariance=full, tolerance=1e-14)", "convex"},
		"normal":                           {"exact(tolerance=1e-14)", "svi(covariance=full, tolerance=1e-14)", "exact(hyper=mode, tolerance=1e-14)"},
		"laplace(scale=1)":                 {"convex"},
		"spikeslab":                        {"ep(tolerance=1e-12)", "laplace(tolerance=1e-14)"},
		"spikeslab(slab=1, inclusion=0.3)": {"ep(tolerance=1e-12)", "laplace(tolerance=1e-14)", "gibbs(chains=1, flips=2000)"},
		"":                                 {"lasso(lambda=0.1)", "ridge(lambda=0.1)"},
	}
	for _, formula := range []string{"y ~ a + b", "y ~ 0 + a + b", "y ~ a + rbf(b, n=5, lengthscale=1)"} {
		for prior, list := range engines {
			for _, engine := range list {
				name := formula + ", " + prior + ", " + engine
				var fits [2]*credence.Fitted
				var mean, variance [2][]float64
				for k := range fits {
					rows, err := table.New().Numbers("a", a[k]).Numbers("b", b[k]).Numbers("p", p[k]).Numbers("y", y[k]).Source()
					if err != nil {
						t.Fatal(err)
					}
					// The columns as they are: the frame's standard deviations are of rows.
					options := fit.Options{Formula: formula + " + precision(p)", Family: "gaussian(variance=0.3)", Prior: prior, Engine: engine, Raw: true, Seed: 4}
					if fits[k], err = fit.Table(t.Context(), rows, options); err != nil {
						t.Fatal(err)
					}
					d := fits[k].Members[0].Posterior.Weights()
					mean[k], variance[k] = make([]float64, d), make([]float64, d)
					fits[k].Members[0].Posterior.Marginals(mean[k], variance[k])
				}
				for j, v := range variance[1] {
					unit := cmp.Or(math.Sqrt(v), math.Abs(mean[1][j]), 1)
					if gap := math.Abs(mean[0][j]-mean[1][j]) / unit; gap > 1e-10 || math.Abs(variance[0][j]-v) > 1e-10*v {
						t.Errorf("%s: weight %d is off by %g standard deviations, its variance by %g", name, j, gap, variance[0][j]/v-1)
					}
				}
				one, copies := fits[0].Report, fits[1].Report
				for _, of := range [][2]credence.Values{{one.Hyper, copies.Hyper}, {one.HyperPrior, copies.HyperPrior}, {one.HyperSD, copies.HyperSD}} {
					for k, v := range of[1] {
						if strings.HasPrefix(v.Name, "cross_validated") { // folds are of rows
							continue
						}
						if got := of[0][k]; got.Name != v.Name || math.Abs(got.Value/v.Value-1) > 1e-10 {
							t.Errorf("%s: %s is %v, of copies %v", name, v.Name, got.Value, v.Value)
						}
					}
				}
				for _, of := range [][2]*float64{{one.Evidence, copies.Evidence}, {one.EvidenceMode, copies.EvidenceMode}, {one.ELBO, copies.ELBO}, {one.ELBOMode, copies.ELBOMode}, {one.EvidenceBound, copies.EvidenceBound}, {one.EvidenceEstimate, copies.EvidenceEstimate}} {
					if of[0] != nil && math.Abs(*of[0]-constant-*of[1]) > 1e-10*math.Abs(*of[1]) {
						t.Errorf("%s: the log evidence is %v, of copies %v", name, *of[0]-constant, *of[1])
					}
				}
			}
		}
	}
}

// TestPrecisionIsAsked: a weight that is no whole number under a learned dispersion names precision,
// and a precision that is missing, or not above 0, is named where rows are predicted.
func TestPrecisionIsAsked(t *testing.T) {
	rows := func(w float64) credence.Source {
		source, err := table.New().Numbers("x", []float64{1, 2, 3, 5, 8, 9}).Numbers("w", []float64{1, 2, w, 4, 1, 2}).
			Numbers("y", []float64{2, 3, 5, 7, 12, 11}).Source()
		if err != nil {
			t.Fatal(err)
		}
		return source
	}
	for _, c := range []struct {
		family string
		w      float64
		want   bool
	}{{"gaussian", 0.5, true}, {"gaussian", 3, false}, {"gaussian(variance=1)", 0.5, false}, {"gamma", 0.5, true}, {"poisson", 0.5, false}} {
		fitted, err := fit.Table(t.Context(), rows(c.w), fit.Options{Formula: "y ~ x + weight(w)", Family: c.family})
		if err != nil {
			t.Fatal(err)
		}
		const text = "weight(w) counts equal rows, and is no whole number in 1 of 6: write precision(w)"
		if all := strings.Join(fitted.Report.Warnings, "\n"); strings.Contains(all, text) != c.want {
			t.Errorf("%s, weight %v: warnings %s", c.family, c.w, all)
		}
	}
	fitted, err := fit.Table(t.Context(), rows(3), fit.Options{Formula: "y ~ x + precision(w)"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		row  map[string]any
		want string
	}{
		{map[string]any{"x": 1.0, "w": nil}, "precision w is missing"},
		{map[string]any{"x": 1.0}, `"w"`},
		{map[string]any{"x": 1.0, "w": 0.0}, "precision w is 0: precisions must be above 0"},
	} {
		if _, err := score.Row(fitted, c.row); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("row %v: the error reads %v, want %q", c.row, err, c.want)
		}
	}
	one, err := score.Row(fitted, map[string]any{"x": 4.0, "w": 1.0})
	if err != nil {
		t.Fatal(err)
	}
	hundred, err := score.Row(fitted, map[string]any{"x": 4.0, "w": 100.0})
	if err != nil || !(hundred.SD < one.SD/2) || hundred.Mean != one.Mean {
		t.Errorf("precision 1 predicts %+v, precision 100 %+v: %v", one, hundred, err)
	}
	for _, w := range []float64{0, -2} {
		if _, err := fit.Table(t.Context(), rows(w), fit.Options{Formula: "y ~ x + precision(w)"}); err == nil || !strings.Contains(err.Error(), "row 3: precision w is ") {
			t.Errorf("precision %v is fitted: %v", w, err)
		}
	}
}
