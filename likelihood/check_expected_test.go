package likelihood_test

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/likelihood"
)

// bruteForce integrates g against N(mean, variance) by the trapezium rule on a
// fixed grid that is fine in units of f and of standard deviations, wide enough for
// the growth of eᶠ: an oracle that shares nothing with the rules under test.
func bruteForce(mean, variance, resolution float64, g func(f, logNormal float64)) (step float64) {
	sd := math.Sqrt(variance)
	return bruteForceWithin((12+sd)*sd, mean, variance, resolution, g)
}

// bruteForceWithin is bruteForce on mean ± reach.
func bruteForceWithin(reach, mean, variance, resolution float64, g func(f, logNormal float64)) (step float64) {
	step = math.Min(0.05*math.Sqrt(variance), resolution)
	reach = math.Ceil(reach / step)
	for k := -reach; k <= reach; k++ {
		d := k * step
		g(mean+d, -d*d/(2*variance)-math.Log(2*math.Pi*variance)/2)
	}
	return step
}

func likelihoodExpected(t *testing.T, lik fullLikelihood, c conformance) {
	for _, y := range c.Targets {
		for _, s := range spreads {
			mean, variance := s[0], s[1]
			value, first, second := lik.ExpectedLogDensity(y, mean, variance)
			var sums, sizes [3]float64
			if variance == 0 {
				sums[0], sums[1], sums[2] = lik.Derivatives(y, mean)
				sums[2] /= 2
			} else {
				step := bruteForce(mean, variance, c.Resolution, func(f, logNormal float64) {
					v, d1, d2 := lik.Derivatives(y, f)
					w := math.Exp(logNormal)
					if w == 0 {
						return
					}
					for i, x := range [3]float64{v, d1, d2 / 2} {
						sums[i] += w * x
						sizes[i] += w * math.Abs(x)
					}
				})
				for i := range sums {
					sums[i] *= step
					sizes[i] *= step
				}
			}
			// The logistic mixture is off by up to 1e-10 per trial, other forms by
			// the rounding of the terms.
			for i, got := range [3]float64{value, first, second} {
				tolerance := 2e-10*(1+math.Abs(y)*boolToFloat(lik.Discrete())) + 1e-10*sizes[i]
				if !(math.Abs(got-sums[i]) <= tolerance) && got != sums[i] {
					t.Errorf("E log p, result %d, at y=%g mean=%g variance=%g: got %.15g, want %.15g (off by %.2g)",
						i, y, mean, variance, got, sums[i], got-sums[i])
				}
			}
		}
		// The gradients are those of the value, by central differences.
		for _, s := range [][2]float64{{0.3, 0.2}, {-1, 1}, {2, 4}, {-6, 20}} {
			mean, variance := s[0], s[1]
			_, dMean, dVariance := lik.ExpectedLogDensity(y, mean, variance)
			value := func(mean, variance float64) float64 {
				v, _, _ := lik.ExpectedLogDensity(y, mean, variance)
				return v
			}
			size := math.Abs(value(mean, variance))
			// The fourth-order error and the rounding of the value over the step.
			step := 1e-3 * math.Sqrt(variance)
			difference := fivePoint(step, func(by float64) float64 { return value(mean+by, variance) })
			near(t, dMean, difference, 1e-8+2e-15*size/step, "∂E log p/∂mean at y=%g mean=%g variance=%g", y, mean, variance)
			step = 1e-3 * variance
			difference = fivePoint(step, func(by float64) float64 { return value(mean, variance+by) })
			near(t, dVariance, difference, 1e-8+2e-15*size/step, "∂E log p/∂variance at y=%g mean=%g variance=%g", y, mean, variance)
		}
	}
}

// fivePoint is the five-point central difference of g at 0.
func fivePoint(step float64, g func(by float64) float64) float64 {
	return (8*(g(step)-g(-step)) - (g(2*step) - g(-2*step))) / (12 * step)
}

func boolToFloat(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func likelihoodTilted(t *testing.T, lik fullLikelihood, c conformance) {
	for _, y := range c.Targets {
		for _, s := range spreads {
			mean, variance := s[0], s[1]
			logZ, dMean, dVariance := lik.TiltedMoments(y, mean, variance)
			if variance == 0 {
				value, slope, bend := lik.Derivatives(y, mean)
				near(t, logZ, value, 1e-12, "logZ at y=%g mean=%g without variance", y, mean)
				near(t, dMean, slope, 1e-12, "∂logZ/∂mean at y=%g mean=%g without variance", y, mean)
				near(t, dVariance, (bend+slope*slope)/2, 1e-9*(1+math.Abs(bend)+slope*slope), "∂logZ/∂variance at y=%g mean=%g without variance", y, mean)
				continue
			}
			// The peak of a log-concave integrand is displaced by variance·ℓ'(mean) at
			// most; nothing here moves it by more than 200.
			_, slope, _ := lik.Derivatives(y, mean)
			reach := 13*math.Sqrt(variance) + math.Min(200, variance*math.Abs(slope))
			peak, fine := math.Inf(-1), c.Resolution
			bruteForceWithin(reach, mean, variance, c.Resolution, func(f, logNormal float64) {
				v, _, d2 := lik.Derivatives(y, f)
				if v+logNormal > peak {
					peak, fine = v+logNormal, 0.2/math.Sqrt(1/variance+math.Abs(d2))
				}
			})
			fine = math.Max(math.Min(fine, c.Resolution), 1e-4)
			var z, first, second, size float64
			step := bruteForceWithin(reach, mean, variance, fine, func(f, logNormal float64) {
				v, d1, d2 := lik.Derivatives(y, f)
				w := math.Exp(v + logNormal - peak)
				if w == 0 {
					return
				}
				z += w
				first += w * d1
				second += w * (d2 + d1*d1) / 2
				size += w * (math.Abs(d2) + d1*d1) / 2
			})
			want := peak + math.Log(z*step)
			if math.IsInf(peak, -1) || peak < -1e15 {
				continue // the target is impossible to rounding
			}
			// 1e-8 where the logistic mixture serves; rounding of large log
			// densities otherwise.
			rounding := 1e-8 + 1e-14*math.Abs(peak)
			near(t, logZ, want, rounding, "logZ at y=%g mean=%g variance=%g", y, mean, variance)
			near(t, dMean, first/z, rounding*10, "∂logZ/∂mean at y=%g mean=%g variance=%g", y, mean, variance)
			near(t, dVariance, second/z, rounding*10*(1+size/z), "∂logZ/∂variance at y=%g mean=%g variance=%g", y, mean, variance)
		}
	}
}

func likelihoodPredictive(t *testing.T, lik fullLikelihood, c conformance) {
	// The steps of counts in the thousands are sharper than the resolution.
	cases, sharp := spreads, math.Min(c.Resolution, 0.01)
	if c.Quick {
		cases, sharp = [][2]float64{{0, 0}, {0.3, 0.2}, {2, 4}}, c.Resolution
	}
	for _, s := range cases {
		mean, variance := s[0], s[1]
		var first, within, between float64
		if variance == 0 {
			first, within = lik.Mean(mean), lik.Variance(mean)
		} else {
			centre := lik.Mean(mean)
			step := bruteForce(mean, variance, c.Resolution, func(f, logNormal float64) {
				w := math.Exp(logNormal)
				if w == 0 {
					return
				}
				d := lik.Mean(f) - centre
				first += w * d
				within += w * lik.Variance(f)
				between += w * d * d
			})
			first *= step
			within *= step
			between = between*step - first*first
			first += centre
		}
		near(t, lik.PredictiveMean(mean, variance), first, 1e-9, "predictive mean at mean=%g variance=%g", mean, variance)
		near(t, lik.PredictiveVariance(mean, variance), within+between, 1e-8, "predictive variance at mean=%g variance=%g", mean, variance)
		if both, ok := lik.(interface {
			PredictiveMoments(mean, variance float64) (expected, spread float64)
		}); ok {
			if m, v := both.PredictiveMoments(mean, variance); m != lik.PredictiveMean(mean, variance) || v != lik.PredictiveVariance(mean, variance) {
				t.Errorf("predictive moments at mean=%g variance=%g are %g and %g at once, %g and %g apart", mean, variance, m, v, lik.PredictiveMean(mean, variance), lik.PredictiveVariance(mean, variance))
			}
		}
		if !(math.Abs(mean) <= 12) {
			continue // the CDF is 0 or 1 for every target of interest
		}
		for _, y := range c.Targets {
			want := lik.CDF(y, mean)
			if variance > 0 {
				want = 0
				step := bruteForce(mean, variance, sharp, func(f, logNormal float64) {
					if logNormal > -60 {
						want += math.Exp(logNormal) * lik.CDF(y, f)
					}
				})
				want *= step
			}
			near(t, lik.PredictiveCDF(y, mean, variance), want, 2e-9*c.loose(), "predictive CDF at y=%g mean=%g variance=%g", y, mean, variance)
		}
		for _, p := range probabilities {
			checkQuantile(t, lik, c, func(y float64) float64 { return lik.PredictiveCDF(y, mean, variance) }, p,
				lik.PredictiveQuantile(p, mean, variance), "at mean=%g variance=%g", mean, variance)
		}
	}
}

// likelihoodBatch: the batch form gives the numbers of the scalar one, and nothing
// is allocated. Families take 64 rows at a time: these are more than twice as many.
func likelihoodBatch(t *testing.T, lik fullLikelihood, c conformance) {
	var y, mean, variance []float64
	for shift := 0.0; len(y) <= 2*64; shift += 0.1 {
		for _, target := range c.Targets {
			for _, s := range spreads[2:9] {
				y, mean, variance = append(y, target), append(mean, s[0]+shift), append(variance, s[1])
			}
		}
	}
	n := len(y)
	a, b, d := make([]float64, n), make([]float64, n), make([]float64, n)
	equal := func(what string, i int, got, want float64) {
		t.Helper()
		// Reordered constants may differ in the last bits.
		near(t, got, want, 1e-13, "batch %s of row %d", what, i)
	}
	lik.ExpectedLogDensities(a, b, d, y, nil, mean, variance)
	for i := range y {
		v0, v1, v2 := lik.ExpectedLogDensity(y[i], mean[i], variance[i])
		equal("value", i, a[i], v0)
		equal("∂mean", i, b[i], v1)
		equal("∂variance", i, d[i], v2)
	}
	if allocations := testing.AllocsPerRun(3, func() {
		lik.ExpectedLogDensities(a, b, d, y, nil, mean, variance)
	}); allocations > 0 {
		t.Errorf("batches of %d rows allocate %g times", n, allocations)
	}
}

// likelihoodParameters checks the gradients by central differences on the
// logarithm of positive parameters.
func likelihoodParameters(t *testing.T, lik likelihood.Parametric, c conformance) {
	list := lik.Parameters()
	values := make([]float64, len(list))
	for i, p := range list {
		values[i] = p.Value
	}
	gradient := make([]float64, len(list))
	const step = 1e-5
	moved := func(j int, by float64) fullLikelihood {
		at := append([]float64(nil), values...)
		if list[j].Positive {
			at[j] *= math.Exp(by)
		} else {
			at[j] += by
		}
		return lik.WithParameters(at).(fullLikelihood)
	}
	same := lik.WithParameters(values)
	for _, y := range c.Targets {
		for _, f := range append([]float64{-8, 8}, latents...) {
			near(t, same.LogDensity(y, f), lik.LogDensity(y, f), 1e-12, "density at the same parameters, y=%g f=%g", y, f)
			lik.ExpectedParameterGradient(gradient, y, f, 0)
			for j, p := range list {
				up, down := moved(j, step).LogDensity(y, f), moved(j, -step).LogDensity(y, f)
				// Second-order error and rounding over the step.
				near(t, gradient[j], (up-down)/(2*step), 1e-7+1e-15*math.Abs(up)/step, "gradient in %s at y=%g f=%g", p.Name, y, f)
			}
		}
		for _, s := range spreads {
			mean, variance := s[0], s[1]
			if !(math.Abs(mean) <= 12) {
				continue
			}
			lik.ExpectedParameterGradient(gradient, y, mean, variance)
			for j, p := range list {
				up, _, _ := moved(j, step).ExpectedLogDensity(y, mean, variance)
				down, _, _ := moved(j, -step).ExpectedLogDensity(y, mean, variance)
				near(t, gradient[j], (up-down)/(2*step), 1e-7+1e-15*math.Abs(up)/step+1e-9*math.Abs(y), "expected gradient in %s at y=%g mean=%g variance=%g", p.Name, y, mean, variance)
			}
		}
	}
}

// likelihoodPrecision checks the family of a row of its own precision: the variance is divided by it, the mean
// and what is held stay, and gradients in its parameters are those in the parameters of the family.
func likelihoodPrecision(t *testing.T, lik likelihood.Parametric, c conformance) {
	const step, precise = 1e-5, 1e-12
	row := func(l likelihood.Family, precision float64) likelihood.Parametric {
		return l.(likelihood.Dispersed).WithPrecision(precision).(likelihood.Parametric)
	}
	parameters := lik.Parameters()
	values, gradient := make([]float64, len(parameters)), make([]float64, len(parameters))
	for k, p := range parameters {
		values[k] = p.Value
	}
	for _, precision := range []float64{0.3, 1, 7} {
		own := row(lik, precision)
		for _, f := range latents {
			near(t, own.Mean(f), lik.Mean(f), precise, "mean of f %v at precision %v", f, precision)
			near(t, own.Variance(f)*precision, lik.Variance(f), precise, "variance of f %v at precision %v", f, precision)
		}
		for k, p := range parameters {
			if state := own.Parameters()[k].State; state != p.State {
				t.Errorf("%s is %v at precision %v and %v without", p.Name, state, precision, p.State)
			}
			for _, y := range c.Targets {
				own.ExpectedParameterGradient(gradient, y, 0.4, 0)
				at := func(by float64) float64 {
					values[k] = p.Value * math.Exp(by)
					defer func() { values[k] = p.Value }()
					return row(lik.WithParameters(values), precision).LogDensity(y, 0.4)
				}
				// The density's own rounding, over twice the step, beside the difference's error.
				tolerance := 1e-8 + 1e-15/step*(1+math.Abs(at(0)))
				near(t, gradient[k], (at(step)-at(-step))/(2*step), tolerance, "gradient in %s of y %v at precision %v", p.Name, y, precision)
			}
		}
	}
}
