package fit_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
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
	source := must.Value(table.New().Numbers("x", x).Numbers("z", z).Numbers("w", w).Numbers("y", y).Numbers("v", v).Source())(t)
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
		fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: c.formula, Family: c.family, Engine: c.engine, Prior: "normal(variance=1e4)", Raw: true}))(t)
		mean, variance := make([]float64, 3), make([]float64, 3)
		fitted.Members[0].Posterior.Marginals(mean, variance)
		for j := range mean {
			if sd := math.Sqrt(variance[j]); !(math.Abs(mean[j]/c.mean[j]-1) <= 0.02) || !(math.Abs(sd/c.sd[j]-1) <= 0.02) {
				t.Errorf("%s, %s: weight %d is %.6g ± %.6g, R has %.6g ± %.6g", c.family, c.engine, j, mean[j], sd, c.mean[j], c.sd[j])
			}
		}
		for _, v := range fitted.Report.Hyper {
			if v.Name == c.parameter && !(math.Abs(v.Value/c.value-1) <= 0.02) {
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

// TestPrecisionIsAWeight: under a family whose dispersion rows cannot divide, a precision is a weight, of which there
// is one.
func TestPrecisionIsAWeight(t *testing.T) {
	rows := must.Value(table.New().Numbers("x", []float64{1, 3, 2}).Numbers("w", []float64{1, 2, 1}).Numbers("k", []float64{0, 2, 1}).Source())(t)
	if _, err := fit.Table(t.Context(), rows, fit.Options{Formula: "k ~ x + precision(w) + weight(w)", Family: "poisson"}); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), "two weights") {
		t.Errorf("poisson with weight and precision: %v", err)
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
		fitted := must.Value(fit.Table(t.Context(), rows(c.w), fit.Options{Formula: "y ~ x + weight(w)", Family: c.family}))(t)
		const text = "weight(w) counts equal rows, and is no whole number in 1 of 6: write precision(w)"
		if all := strings.Join(fitted.Report.Warnings, "\n"); strings.Contains(all, text) != c.want {
			t.Errorf("%s, weight %v: warnings %s", c.family, c.w, all)
		}
	}
	fitted := must.Value(fit.Table(t.Context(), rows(3), fit.Options{Formula: "y ~ x + precision(w)"}))(t)
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
	for _, w := range []float64{0, -2} {
		if _, err := fit.Table(t.Context(), rows(w), fit.Options{Formula: "y ~ x + precision(w)"}); err == nil || !strings.Contains(err.Error(), "row 3: precision w is ") {
			t.Errorf("precision %v is fitted: %v", w, err)
		}
	}
}

// TestPrecisionAtTheFloorOfTheNoise: rows of precision 100 and a hundred times the noise are rows of precision 1, also
// where columns explain the target to the last digit and the noise is at its floor.
func TestPrecisionAtTheFloorOfTheNoise(t *testing.T) {
	type row struct{ X, Y, N float64 }
	noise := func(precision float64) float64 {
		rows := make([]row, 40)
		for i := range rows {
			x := math.Sin(float64(i))
			rows[i] = row{x, 3 + 2*x, precision}
		}
		fitted := must.Value(fit.Table(t.Context(), must.Value(table.Structs(rows))(t), fit.Options{Formula: "Y ~ X + precision(N)", Engine: "exact(hyper=mode)"}))(t)
		return fitted.Report.Hyper.Of("noise_variance", math.NaN())
	}
	if one, hundred := noise(1), noise(100); !(math.Abs(hundred/one-100) <= 1e-6*100) {
		t.Errorf("noise variances are %v of precision 1 and %v of 100", one, hundred)
	}
}
