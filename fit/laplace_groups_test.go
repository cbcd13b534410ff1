package fit_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/table"
)

// TestLaplaceOfGlmer: with fixed effects as an offset, at glmer's estimates, the Laplace evidence is glmer's
// log-likelihood: of 56 herds by period (lme4's cbpp), and of counts with correlated intercepts and slopes. R 4.2.2,
// lme4 1.1-31:
//
//	s <- glmerControl(tolPwrss=1e-13); F <- cbind(incidence, size-incidence) ~ period + (1|herd)
//	m <- glmer(F, cbpp, binomial, control=s); f <- glmer(F, cbpp, binomial, control=s, devFunOnly=TRUE); -f(c(m@theta, fixef(m)))/2
//
// and likewise y ~ x + (1+x|g) under poisson, of the rows below.
func TestLaplaceOfGlmer(t *testing.T) {
	incidence := []float64{2, 3, 4, 0, 3, 1, 1, 8, 2, 0, 2, 2, 0, 2, 0, 5, 0, 0, 1, 3, 0, 0, 1, 8, 1, 3, 0, 12, 2, 0, 0, 0, 1, 1, 0, 2, 0, 5, 3, 1, 2, 1, 0, 0, 1, 2, 0, 0, 11, 0, 0, 0, 1, 1, 1, 0}
	size := []float64{14, 12, 9, 5, 22, 18, 21, 22, 16, 16, 20, 10, 10, 9, 6, 18, 25, 24, 4, 17, 17, 18, 20, 16, 10, 9, 5, 34, 9, 6, 8, 6, 22, 22, 18, 22, 25, 27, 22, 22, 10, 8, 6, 5, 21, 24, 19, 23, 19, 2, 3, 2, 19, 15, 15, 15}
	herd := []int{1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 9, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 15}
	period := []int{1, 2, 3, 4, 1, 2, 3, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}
	fixed := []float64{-1.39834286447114531, -1.39834286447114531 - 0.99192497497573884, -1.39834286447114531 - 1.12821621594333976, -1.39834286447114531 - 1.57974541364919197}
	var herds, groups []string
	var eta, x, y, of []float64
	for i, h := range herd {
		herds, eta = append(herds, fmt.Sprint("h", h)), append(eta, fixed[period[i]-1])
	}
	for i := range 120 {
		g, at := float64(i/8), float64(i%8)/4-0.875
		groups, x = append(groups, fmt.Sprint("g", g)), append(x, at)
		y = append(y, math.Floor(math.Exp(0.5+0.4*at+math.Sin(3*g)+0.5*math.Cos(5*g)*at)+float64(i*37%10)/10))
		of = append(of, 0.44924143489323420+0.45819211197271137*at)
	}
	for _, c := range []struct {
		rows            *table.Builder
		formula, family string
		want            float64
	}{
		{table.New().Categories("herd", herds).Numbers("incidence", incidence).Numbers("size", size).Numbers("eta", eta), "incidence ~ 0 + offset(eta) + (1 | herd, sd=0.64206992772917926)", "binomial(trials=size)", -92.02628620802},
		{table.New().Categories("g", groups).Numbers("x", x).Numbers("y", y).Numbers("eta", of), "y ~ 0 + offset(eta) + (1 + x | g, sd=[0.75009689838636273, 0.19765120516997436], cor=-0.20802660903085912)", "poisson", -179.337646382289},
	} {
		rows := must.Value(c.rows.Source())(t)
		got := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: c.formula, Family: c.family, Engine: "laplace(tolerance=1e-9)", Raw: true}))(t)
		if e := *got.Report.EvidenceEstimate; !(math.Abs(e-c.want) <= 1e-6) {
			t.Errorf("%s: %.9f, in glmer %.9f", c.formula, e, c.want)
		}
	}
}
