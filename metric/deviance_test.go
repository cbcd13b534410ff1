package metric

import (
	"math"
	"math/big"
	"testing"
)

func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// Twice the log likelihood lost against the saturated model, from densities.
// Lgamma cancels between the two; the tolerance is its rounding error at the
// arguments used (values up to 1e4, so 1e-12 each).
func TestDevianceIsLostLikelihood(t *testing.T) {
	const likelihoodTolerance = 1e-10
	poisson := func(y, mean float64) float64 {
		if mean == 0 {
			return 0 // y is 0 too
		}
		return y*math.Log(mean) - mean - logGamma(y+1)
	}
	negativeBinomial := func(y, mean, size float64) float64 {
		value := logGamma(y+size) - logGamma(size) - logGamma(y+1) - size*math.Log1p(mean/size)
		if y > 0 {
			value += y * math.Log(mean/(mean+size))
		}
		return value
	}
	binomial := func(y, n, mean float64) float64 {
		value := logGamma(n+1) - logGamma(y+1) - logGamma(n-y+1)
		if y > 0 {
			value += y * math.Log(mean/n)
		}
		if y < n {
			value += (n - y) * math.Log(1-mean/n)
		}
		return value
	}
	gamma := func(y, mean float64) float64 { return -math.Log(mean) - y/mean } // shape 1
	for _, mean := range []float64{0.01, 0.5, 1, 3.7, 12, 1000} {
		for _, y := range []float64{0, 1, 2, 4, 17, 1100} {
			near(t, "Poisson", Score(PoissonDeviance(y, mean)), 2*(poisson(y, y)-poisson(y, mean)), likelihoodTolerance)
			for _, size := range []float64{0.3, 1, 8, 500} {
				near(t, "negative binomial", Score(NegativeBinomialDeviance(y, mean, size)),
					2*(negativeBinomial(y, y, size)-negativeBinomial(y, mean, size)), likelihoodTolerance)
			}
			if y > 0 {
				near(t, "gamma", Score(GammaDeviance(y, mean)), 2*(gamma(y, y)-gamma(y, mean)), likelihoodTolerance)
			}
		}
	}
	for _, n := range []float64{1, 2, 10} {
		for y := 0.0; y <= n; y++ {
			for _, p := range []float64{0.001, 0.3, 0.5, 0.999} {
				near(t, "binomial", Score(BinomialDeviance(y, n, n*p)), 2*(binomial(y, n, y)-binomial(y, n, n*p)), likelihoodTolerance)
			}
		}
	}
}

// Dobson (1990), p. 93, the example of glm in R: a 3×3 table of counts, margins
// fitted. The means are then row × column / total, and R prints the deviances
// 10.5814 (null) and 5.1291 (residual).
func TestPoissonDeviancePublished(t *testing.T) {
	counts := [3][3]float64{{18, 17, 15}, {20, 10, 20}, {25, 13, 12}} // treatment × outcome
	var rows, columns [3]float64
	total := 0.0
	for i := range counts {
		for j, y := range counts[i] {
			rows[i] += y
			columns[j] += y
			total += y
		}
	}
	var null, residual Deviance
	for i := range counts {
		for j, y := range counts[i] {
			null.Add(PoissonDeviance(y, total/9), 1)
			residual.Add(PoissonDeviance(y, rows[i]*columns[j]/total), 1)
		}
	}
	const printed = 0.5e-4 // R prints four decimals
	if got := must[DevianceResult](t)(null.Result()).Deviance; !(math.Abs(float64(got)-10.5814) <= printed) {
		t.Errorf("null deviance %v", got)
	}
	if got := must[DevianceResult](t)(residual.Result()).Deviance; !(math.Abs(float64(got)-5.1291) <= printed) {
		t.Errorf("residual deviance %v", got)
	}
}

// scikit-learn's documentation, mean_poisson_deviance and mean_gamma_deviance:
// 1.4260 and 1.0568, means of four rows.
func TestDeviancePublished(t *testing.T) {
	means := []float64{0.5, 0.5, 2, 2}
	var poisson, gamma Deviance
	for i, mean := range means {
		poisson.Add(PoissonDeviance([]float64{2, 0, 1, 4}[i], mean), 1)
		gamma.Add(GammaDeviance([]float64{2, 0.5, 1, 4}[i], mean), 1)
	}
	near(t, "Poisson", must[DevianceResult](t)(poisson.Result()).Deviance, 4*1.4260, 1e-4)
	near(t, "gamma", must[DevianceResult](t)(gamma.Result()).Deviance, 4*1.0568, 1e-4)
}

// One trial is twice the log loss.
func TestBinomialDevianceIsLogLoss(t *testing.T) {
	for _, r := range classRows(200, 0, false, 20) {
		got := must[ClassificationResult](t)(classify([]classRow{r}).Result())
		near(t, "deviance", Score(BinomialDeviance(r.y, 1, r.p)), 2*float64(got.LogLoss), 1e-14)
	}
}

// A large size is the Poisson family; the difference is O((y−mean)²/size).
func TestNegativeBinomialLimit(t *testing.T) {
	for _, y := range []float64{0, 1, 5, 300} {
		for _, mean := range []float64{0.2, 5, 280} {
			poisson := PoissonDeviance(y, mean)
			near(t, "size 1e12", Score(NegativeBinomialDeviance(y, mean, 1e12)), poisson, 1e-7)
			if got := NegativeBinomialDeviance(y, mean, math.Inf(1)); got != poisson {
				t.Errorf("infinite size: %v, want %v", got, poisson)
			}
		}
	}
}

// bigLogRatio returns log(a/b) in 200 bits by the artanh series, after halving
// the ratio into [1/2, 2].
func bigLogRatio(a, b float64) *big.Float {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	logNear1 := func(x *big.Float) *big.Float {
		r := number(0).Quo(number(0).Sub(x, number(1)), number(0).Add(x, number(1)))
		square, power, total := number(0).Mul(r, r), number(0).Set(r), number(0)
		for k := 1; k < 400; k += 2 {
			total.Add(total, number(0).Quo(power, number(float64(k))))
			power.Mul(power, square)
		}
		return total.Mul(total, number(2))
	}
	ratio := number(0).Quo(number(a), number(b))
	exponent := ratio.MantExp(nil)
	ratio.SetMantExp(ratio, -exponent) // in [1/2, 1)
	log := logNear1(ratio)
	return log.Add(log, number(0).Mul(number(float64(exponent)), logNear1(number(2))))
}

// The textbook formulas in 200 bits: relative precision must hold from means
// that touch the target to means that are absurd.
func TestDeviancePrecision(t *testing.T) {
	// A few roundings, of which the input (mean−y)/y is the largest: its error of
	// 1 ulp of x counts twice in x².
	const tolerance = 2e-15
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	check := func(what string, got float64, want *big.Float, y, mean float64) {
		t.Helper()
		exact, _ := want.Float64()
		if !(math.Abs(got-exact) <= tolerance*exact) {
			t.Errorf("%s(%g, %g) is %.17g, want %.17g", what, y, mean, got, exact)
		}
	}
	for _, y := range []float64{1, 3, 1000, 123456789} {
		for _, factor := range []float64{1e-200, 1e-20, 1e-3, 0.3, 0.599, 0.601, 0.9, 0.99, 1 - 1e-6, 1 - 1e-9, 1 + 1e-12, 1 + 1e-8, 1.01, 1.5, 1.69, 1.71, 10, 1e10} {
			mean := y * factor
			difference := number(0).Sub(number(y), number(mean))
			poisson := number(0).Sub(number(0).Mul(number(y), bigLogRatio(y, mean)), difference)
			check("Poisson", PoissonDeviance(y, mean), poisson.Mul(poisson, number(2)), y, mean)

			gamma := number(0).Sub(number(0).Quo(difference, number(mean)), bigLogRatio(y, mean))
			check("gamma", GammaDeviance(y, mean), gamma.Mul(gamma, number(2)), y, mean)
		}
		for _, size := range []float64{0.01, 2.5, 1e4} {
			// y + size and mean + size round before the logarithm, so the means
			// are a few hundredths from the target, or more.
			for _, factor := range []float64{1e-200, 1e-20, 1e-3, 0.3, 0.9, 1.1, 1.5, 10, 1e10} {
				mean := y * factor
				ySum, meanSum := number(0).Add(number(y), number(size)), number(0).Add(number(mean), number(size))
				yFloat, _ := ySum.Float64()
				meanFloat, _ := meanSum.Float64()
				second := number(0).Mul(ySum, bigLogRatio(yFloat, meanFloat))
				want := number(0).Sub(number(0).Mul(number(y), bigLogRatio(y, mean)), second)
				got := NegativeBinomialDeviance(y, mean, size)
				exact, _ := want.Mul(want, number(2)).Float64()
				// The oracle itself rounds its two sums: an error of 1e-16·(y+size) each.
				if slack := 1e-13*exact + 1e-15*(y+size); !(math.Abs(got-exact) <= slack) {
					t.Errorf("negative binomial(%g, %g, %g) is %.17g, want %.17g", y, mean, size, got, exact)
				}
			}
		}
	}
}

// Near the target every deviance is (y−mean)²/variance to first order, which a
// form that cancels would miss altogether.
func TestDevianceNearTheTarget(t *testing.T) {
	const y, n, size, step = 40.0, 100.0, 3.0, 0x1p-24 // mean is exact
	mean := y + step
	const tolerance = 1e-7 // the third-order term, relative: about step
	for name, c := range map[string][2]float64{
		"Poisson":           {PoissonDeviance(y, mean), step * step / y},
		"binomial":          {BinomialDeviance(y, n, mean), step * step / (y * (1 - y/n))},
		"negative binomial": {NegativeBinomialDeviance(y, mean, size), step * step / (y + y*y/size)},
		"gamma":             {GammaDeviance(y, mean), step * step / (y * y)},
	} {
		if !(math.Abs(c[0]/c[1]-1) <= tolerance) {
			t.Errorf("%s: %g, want %g", name, c[0], c[1])
		}
	}
}

func TestDevianceDomain(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string][2]float64{
		"Poisson at the target":   {PoissonDeviance(7, 7), 0},
		"Poisson 0, 0":            {PoissonDeviance(0, 0), 0},
		"Poisson 0":               {PoissonDeviance(0, 1.5), 3},
		"Poisson mean 0":          {PoissonDeviance(1, 0), inf},
		"Poisson mean infinite":   {PoissonDeviance(1, inf), inf},
		"Poisson 0, infinite":     {PoissonDeviance(0, inf), inf},
		"Poisson tiny target":     {PoissonDeviance(1e-300, 1e100), 2e100},
		"Poisson negative":        {PoissonDeviance(-1, 1), nan},
		"Poisson negative mean":   {PoissonDeviance(1, -1), nan},
		"Poisson infinite":        {PoissonDeviance(inf, 1), nan},
		"Poisson NaN":             {PoissonDeviance(nan, 1), nan},
		"Poisson mean NaN":        {PoissonDeviance(1, nan), nan},
		"binomial all":            {BinomialDeviance(3, 3, 3), 0},
		"binomial none":           {BinomialDeviance(0, 3, 0), 0},
		"binomial impossible":     {BinomialDeviance(2, 3, 3), inf},
		"binomial impossible too": {BinomialDeviance(2, 3, 0), inf},
		"binomial at the target":  {BinomialDeviance(2, 3, 2), 0},
		"binomial no trials":      {BinomialDeviance(0, 0, 0), 0},
		"binomial too many":       {BinomialDeviance(4, 3, 2), nan},
		"binomial mean too large": {BinomialDeviance(2, 3, 4), nan},
		"binomial NaN":            {BinomialDeviance(2, nan, 1), nan},
		"binomial infinite":       {BinomialDeviance(2, inf, 1), nan},
		"negbin 0":                {NegativeBinomialDeviance(0, 3, 1), 4 * math.Ln2},
		"negbin 0, 0":             {NegativeBinomialDeviance(0, 0, 1), 0},
		"negbin mean 0":           {NegativeBinomialDeviance(2, 0, 3), inf},
		"negbin mean infinite":    {NegativeBinomialDeviance(2, inf, 3), inf},
		"negbin at the target":    {NegativeBinomialDeviance(2, 2, 3), 0},
		"negbin size 0":           {NegativeBinomialDeviance(2, 1, 0), nan},
		"negbin size NaN":         {NegativeBinomialDeviance(2, 1, nan), nan},
		"negbin negative":         {NegativeBinomialDeviance(-2, 1, 1), nan},
		"gamma at the target":     {GammaDeviance(2, 2), 0},
		"gamma 0":                 {GammaDeviance(0, 1), nan},
		"gamma mean 0":            {GammaDeviance(1, 0), inf},
		"gamma mean infinite":     {GammaDeviance(1, inf), inf},
		"gamma negative mean":     {GammaDeviance(1, -1), nan},
		"gamma infinite":          {GammaDeviance(inf, 1), nan},
	} {
		if got, want := c[0], c[1]; got != want && !(math.IsNaN(got) && math.IsNaN(want)) && !(math.Abs(got/want-1) < 1e-15) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestDevianceWeights(t *testing.T) {
	var d Deviance
	d.Add(1.5, 2)
	d.Add(math.Inf(1), 0)
	d.Add(0.25, 4)
	near(t, "total", must[DevianceResult](t)(d.Result()).Deviance, 4, 0)
	d.Add(math.Inf(1), 1)
	if got := must[DevianceResult](t)(d.Result()); !math.IsInf(float64(got.Deviance), 1) || got.InfiniteRows != 1 {
		t.Errorf("%+v", got)
	}
}
