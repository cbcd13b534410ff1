package likelihood

import (
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/internal/special"
)

// drawGamma draws from a gamma distribution of the given shape and scale 1
// (Marsaglia & Tsang 2000); below shape 1 by the boost U^(1/shape).
func drawGamma(rng *rand.Rand, shape float64) float64 {
	boost := 1.0
	if shape < 1 {
		boost = math.Exp(-rng.ExpFloat64() / shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		z := rng.NormFloat64()
		v := 1 + c*z
		if v <= 0 {
			continue
		}
		v *= v * v
		if -rng.ExpFloat64() < z*z/2+d-d*v+d*math.Log(v) {
			return boost * d * v
		}
	}
}

// drawStudent draws from a Student-t distribution of scale 1.
func drawStudent(rng *rand.Rand, df float64) float64 {
	return rng.NormFloat64() * math.Sqrt(df/2/drawGamma(rng, df/2))
}

// drawPoisson draws a Poisson count: by sequential search below mean 10, above by
// transformed rejection (Hörmann 1993, algorithm PTRS), whose final test uses
// the deviance form of the density so that means of 1e12 stay exact. Beyond 2⁵⁰,
// where counts lose their last digits, by the normal limit.
func drawPoisson(rng *rand.Rand, mean float64) float64 {
	switch {
	case mean < 10:
		p := math.Exp(-mean)
		u := rng.Float64()
		for k := 0.0; ; k++ {
			if u < p || k > 1000 { // 1000: only rounding of the sum of p leads here
				return k
			}
			u -= p
			p *= mean / (k + 1)
		}
	case mean > 1<<50:
		return math.Floor(math.Max(0, mean+math.Sqrt(mean)*rng.NormFloat64()))
	}
	logMean := math.Log(mean)
	b := 0.931 + 2.53*math.Sqrt(mean)
	a := -0.059 + 0.02483*b
	squeeze := 0.9277 - 3.6224/(b-2)
	inverseAlpha := 1.1239 + 1.1328/(b-3.4)
	for {
		u, v := rng.Float64()-0.5, rng.Float64()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + mean + 0.43)
		if us >= 0.07 && v <= squeeze {
			return k
		}
		if k < 0 || us < 0.013 && v > us {
			continue
		}
		logDensity := -mean
		if k > 0 {
			logDensity = poissonAtMode(k) - k*special.ExpRemainder(logMean-math.Log(k))
		}
		if math.Log(v*inverseAlpha/(a/(us*us)+b)) <= logDensity {
			return k
		}
	}
}

// drawBinomial draws a binomial count for success probability σ(f): by
// sequential search where fewer than 10 are expected on the rarer side,
// otherwise by transformed rejection (Hörmann 1993, algorithm BTRS).
func drawBinomial(rng *rand.Rand, n, f float64) float64 {
	if f > 0 {
		return n - drawBinomial(rng, n, -f)
	}
	p := special.Sigmoid(f) // at most ½
	if n*p < 10 {
		q := math.Exp(-n * special.Softplus(f)) // (1−p)ⁿ
		odds := math.Exp(f)
		u := rng.Float64()
		for k := 0.0; ; k++ {
			if u < q || k >= n || k > 1000 {
				return k
			}
			u -= q
			q *= odds * (n - k) / (k + 1)
		}
	}
	lik := Binomial{Trials: n}
	sd := math.Sqrt(n * p * (1 - p))
	b := 1.15 + 2.53*sd
	a := -0.0873 + 0.0248*b + 0.01*p
	c := n*p + 0.5
	squeeze := 0.92 - 4.2/b
	alpha := (2.83 + 5.1/b) * sd
	peak := lik.LogDensity(math.Floor((n+1)*p), f)
	for {
		u, v := rng.Float64()-0.5, rng.Float64()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + c)
		if us >= 0.07 && v <= squeeze {
			return k
		}
		if k < 0 || k > n {
			continue
		}
		if math.Log(v*alpha/(a/(us*us)+b)) <= lik.LogDensity(k, f)-peak {
			return k
		}
	}
}
