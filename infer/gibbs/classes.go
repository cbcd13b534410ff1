package gibbs

import (
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
)

// renew draws the weights, and given them the variables that make the rows of classes normal. Without
// them the chain would have to integrate f out, which no closed form does. Its law being the posterior times
// the sum of its flips' weights, the step is accepted by their ratio.
func (c *chain) renew() error {
	weights := make([]float64, c.Table.Count())
	if err := c.drawWeights(weights); err != nil {
		return err
	}
	before := c.total
	y, noise := append([]float64(nil), c.y...), append([]float64(nil), c.noise...)
	old := c.fares
	c.fares = newFares(c.Table.Count())
	if err := c.drawRows(weights); err != nil {
		return err
	}
	c.takeTargets()
	if err := c.refresh(); err != nil {
		return err
	}
	c.probabilities()
	if c.rng.Float64() < c.total/before {
		return nil
	}
	c.fares = old
	copy(c.y, y)
	copy(c.noise, noise)
	c.probabilities()
	return nil
}

// rowSteps is how often weights and rows are drawn in turn before weights count as those of a set of
// columns whose rows were not kept.
const rowSteps = 5

// settleRows draws weights given the active columns, and with classes their rows' variables with them.
func (c *chain) settleRows(weights []float64) error {
	for step := 0; c.Classes && step < rowSteps; step++ {
		if err := c.drawWeights(weights); err != nil {
			return err
		}
		if err := c.drawRows(weights); err != nil {
			return err
		}
	}
	return c.drawWeights(weights)
}

// drawRows draws, at the weights, nil for none but the intercept's prior mean, the normal target and
// the noise variance of every row.
func (c *chain) drawRows(weights []float64) error {
	if weights == nil {
		weights = c.KeptMean
	}
	c.Mul(c.ws, c.row, weights)
	for i, unit := range c.Unit() {
		if unit == 0 {
			c.y[i], c.noise[i] = 0, 1
			continue
		}
		f, copies := c.row[i]/unit+c.OffsetOf(i), int(math.Round(unit*unit))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return errNoNumbers
		}
		if c.Link == likelihood.Probit {
			sum := 0.0
			for range copies {
				sum += f + truncated(c.rng, f, c.Setting.Target[i] == 1)
			}
			c.y[i], c.noise[i] = unit*(sum/float64(copies)-c.OffsetOf(i)), 1
			continue
		}
		omega := 0.0
		for range copies {
			omega += polyaGamma(c.rng, f)
		}
		c.y[i] = unit * (float64(copies)*(c.Setting.Target[i]-0.5)/omega - c.OffsetOf(i))
		c.noise[i] = unit * unit / omega
	}
	return nil
}

// truncated draws x ~ N(0, 1) under f + x > 0, or f + x < 0, by the inverse of the distribution
// function of its tail.
func truncated(rng *rand.Rand, f float64, positive bool) float64 {
	if positive {
		return -truncated(rng, -f, false)
	}
	// x < −f: the logarithm of Φ(x) is that of u Φ(−f).
	u := math.Log(1-rng.Float64()) + special.LogNormalCDF(-f)
	if u > -30 {
		return special.NormalQuantile(math.Exp(u))
	}
	x := -math.Sqrt(-2 * u) // Newton steps on log Φ(x) = u, concave and increasing
	for range 50 {
		value, slope, _ := special.LogNormalCDFDerivatives(x)
		move := (u - value) / slope
		if x += move; math.Abs(move) < 1e-12*math.Abs(x) {
			break
		}
	}
	return x
}

// seam is where the two series of the Jacobi distribution meet (Devroye 2009).
const seam = 0.64

// first is the x below which all but the first term of the series is 0, in any number of digits.
const first = 0.005

// polyaGamma draws ω ~ PG(1, f): a quarter of the tilted Jacobi distribution J*(1, f/2), by the
// alternating series method of Polson, Scott & Windle (2013, algorithm 1).
func polyaGamma(rng *rand.Rand, f float64) float64 {
	z := math.Abs(f) / 2
	rate := math.Pi*math.Pi/8 + z*z/2
	// Masses of the exponential piece right of the seam, and of the inverse Gaussian left of it.
	right := math.Log(math.Pi/(2*rate)) - rate*seam
	root := math.Sqrt(1 / seam)
	a := -z + special.LogNormalCDF(root*(seam*z-1))
	b := z + special.LogNormalCDF(-root*(seam*z+1))
	left := math.Ln2 + special.LogAddExp(a, b)
	share := special.Sigmoid(right - left)
	for {
		var x float64
		if rng.Float64() < share {
			x = seam + rng.ExpFloat64()/rate
		} else {
			x = inverseGaussian(rng, z)
		}
		if x < first {
			return x / 4
		}
		sum := jacobi(0, x)
		y := rng.Float64() * sum
		for n := 1; ; n++ {
			if n%2 == 1 {
				if sum -= jacobi(n, x); y <= sum {
					return x / 4
				}
			} else if sum += jacobi(n, x); y > sum {
				break
			}
		}
	}
}

// jacobi is coefficient n of the series of the density at x.
func jacobi(n int, x float64) float64 {
	k := float64(n) + 0.5
	if x > seam {
		return math.Pi * k * math.Exp(-k*k*math.Pi*math.Pi*x/2)
	}
	return math.Pi * k * math.Pow(2/(math.Pi*x), 1.5) * math.Exp(-2*k*k/x)
}

// inverseGaussian draws from the inverse Gaussian with mean 1/z and shape 1, left of the seam.
func inverseGaussian(rng *rand.Rand, z float64) float64 {
	if z*seam < 1 { // the mean is right of the seam: a tail of the Lévy distribution, tilted
		for {
			var e1, e2 float64
			for {
				e1, e2 = rng.ExpFloat64(), rng.ExpFloat64()
				if e1*e1 <= 2*e2/seam {
					break
				}
			}
			x := 1 + seam*e1
			x = seam / (x * x)
			if rng.Float64() < math.Exp(-z*z*x/2) {
				return x
			}
		}
	}
	mean := 1 / z
	for {
		n := rng.NormFloat64()
		square := mean * n * n
		x := mean + mean*(square-math.Sqrt(square*(4+square)))/2
		if rng.Float64() > mean/(mean+x) {
			x = mean / x * mean
		}
		if x < seam {
			return x
		}
	}
}
