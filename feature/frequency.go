package feature

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
)

// Kernel is a stationary kernel k(τ) with k(0) = 1, whose spectral density gives random
// frequencies. τ is divided by the lengthscales before.
type Kernel string

// The kernels, with r = √(2ν)‖τ‖ for Matérn. Laplacian and Cauchy are products over the inputs.
const (
	RBF       Kernel = "rbf"       // exp(-½‖τ‖²)
	Laplacian Kernel = "laplacian" // exp(-‖τ‖₁)
	Cauchy    Kernel = "cauchy"    // Π 1/(1+τ_j²)
	Matern12  Kernel = "matern12"  // exp(-r)
	Matern32  Kernel = "matern32"  // (1+r) exp(-r)
	Matern52  Kernel = "matern52"  // (1+r+r²/3) exp(-r)
	// Cosine is Π cos(2πτ_j), with periods for lengthscales: a factor of [RandomFourier], which makes it a component of
	// a spectral mixture (Wilson & Adams 2013).
	Cosine Kernel = "cosine"
)

// Sampling says how the frequencies of one draw depend on each other. Each of
// them alone has exactly the spectral density, or amplitudes that make up for it.
type Sampling string

// The samplings.
const (
	// IID frequencies are independent.
	IID Sampling = "iid"
	// Orthogonal frequencies come in groups of up to d with directions at right
	// angles, which makes the error of isotropic kernels smaller (Yu et al. 2016).
	Orthogonal Sampling = "orthogonal"
	// Quasi frequencies, of one dimension or two, are those of evenly spread points, twice as far out as the spectral
	// density has them, with amplitudes that make up for that. Frequencies of equal amplitudes leave the tails of the
	// density to a few of them, so that functions drawn from the prior have no fine detail: those of the data are then
	// fitted badly, by bands that are too narrow, however many they are.
	Quasi Sampling = "quasi"
	// Fastfood frequencies are never formed: products with them go by Hadamard transforms (Le, Sarlós & Smola 2013).
	Fastfood Sampling = "fastfood"
)

// DefaultSampling is that of d dimensions: quasi for one or two, else orthogonal where that is defined.
func (k Kernel) DefaultSampling(d int) Sampling {
	switch {
	case d <= 2:
		return Quasi
	case k == Laplacian || k == Cauchy:
		return IID
	}
	return Orthogonal
}

// freedom returns the degrees of freedom 2ν of the multivariate t that is the
// spectral density of a Matérn kernel; 0 for RBF, whose density is normal.
func (k Kernel) freedom() (int, bool) {
	switch k {
	case RBF:
		return 0, true
	case Matern12:
		return 1, true
	case Matern32:
		return 3, true
	case Matern52:
		return 5, true
	}
	return 0, false
}

// check refuses what Draw cannot draw.
func (k Kernel) check(sampling Sampling, d int) error {
	switch {
	case sampling != "" && sampling != IID && sampling != Orthogonal && sampling != Quasi && sampling != Fastfood:
		return fmt.Errorf("feature: unknown kind of frequencies %q: use quasi, iid, orthogonal or fastfood", sampling)
	case k == Cosine:
		return nil
	case sampling == Quasi && d > 2:
		return fmt.Errorf("feature: quasi frequencies are those of one column or two, not of %d: leave kind= out", d)
	}
	if k == Laplacian || k == Cauchy {
		if sampling == Orthogonal || sampling == Fastfood {
			return fmt.Errorf("feature: %s is a product over its inputs, so %s frequencies are not defined: use kind=iid", k, sampling)
		}
		return nil
	}
	if _, ok := k.freedom(); !ok {
		return fmt.Errorf("feature: unknown kernel %q: use rbf, laplacian, cauchy, matern12, matern32 or matern52", k)
	}
	return nil
}

// Draw returns n standard frequencies (for lengthscale 1) in d dimensions, n×d, and their amplitudes, whose squares add
// up to 1; nil means equal ones.
func (k Kernel) Draw(sampling Sampling, n, d int, rng *rand.Rand) (omega, amplitudes []float64, err error) {
	if n < 1 || d < 1 {
		return nil, nil, fmt.Errorf("feature: %d frequencies in %d dimensions: give at least one of both", n, d)
	}
	if err := k.check(sampling, d); err != nil {
		return nil, nil, err
	}
	switch cmp.Or(sampling, k.DefaultSampling(d)) {
	case Quasi:
		omega, amplitudes = k.quasi(n, d, rng)
		return omega, amplitudes, nil
	case Orthogonal:
		omega = k.random(n, d, rng, true)
	default:
		omega = k.random(n, d, rng, false)
	}
	return omega, nil, nil
}

// widening is how many times farther out than under the spectral density quasi frequencies are.
const widening = 2

// golden are the generalised golden numbers, the roots of g² = g + 1 and g³ = g + 1, whose powers are the steps of
// evenly spread points in one dimension and two, of which every first few are as evenly spread (Roberts 2018).
var golden = [...]float64{1.6180339887498949, 1.3247179572447460}

// quasi maps points of [0, 1)^d, shifted at random all together (Cranley & Patterson 1976), by quantiles of the
// spectral density. The amplitudes are roots of the shares of importance sampling. Frequencies ±ω are one, so that half
// of the space will do.
func (k Kernel) quasi(n, d int, rng *rand.Rand) (omega, amplitudes []float64) {
	omega, amplitudes = make([]float64, n*d), make([]float64, n)
	var shift, at [2]float64
	for j := range d {
		shift[j] = rng.Float64()
	}
	freedom, isotropic := k.freedom()
	df := float64(freedom)
	for i := range n {
		step := 1.0
		for j := range d {
			step /= golden[d-1]
			_, at[j] = math.Modf(shift[j] + float64(i)*step)
		}
		w := omega[i*d : (i+1)*d]
		switch {
		case !isotropic:
			at[0] = (1 + at[0]) / 2
			for j := range w {
				if k == Laplacian {
					w[j] = math.Tan(math.Pi * (at[j] - 0.5))
				} else {
					w[j] = math.Copysign(math.Log(2*min(at[j], 1-at[j])), at[j]-0.5)
				}
			}
		case d == 2:
			r := math.Sqrt(-2 * math.Log1p(-at[0]))
			if df > 0 {
				r = math.Sqrt(df * math.Expm1(-2/df*math.Log1p(-at[0])))
			}
			w[1], w[0] = math.Sincos(math.Pi * at[1])
			w[0], w[1] = r*w[0], r*w[1]
		case df > 0:
			w[0] = special.StudentQuantile((1+at[0])/2, df)
		default:
			w[0] = special.NormalQuantile((1 + at[0]) / 2)
		}
		log := k.logDensity(w)
		for j := range w {
			w[j] = limit(widening * limit(w[j]))
		}
		amplitudes[i] = math.Exp((k.logDensity(w) - log) / 2)
	}
	return omega, normalised(amplitudes)
}

// normalised divides amplitudes so that their squares add up to 1.
func normalised(amplitudes []float64) []float64 {
	kernel.Scale(1/math.Sqrt(dot(amplitudes, amplitudes)), amplitudes)
	return amplitudes
}

// logDensity is the logarithm of the spectral density but for a constant.
func (k Kernel) logDensity(w []float64) (log float64) {
	freedom, isotropic := k.freedom()
	square := dot(w, w)
	switch {
	case freedom > 0:
		return -float64(freedom+len(w)) / 2 * math.Log1p(square/float64(freedom))
	case isotropic:
		return -square / 2
	}
	for _, v := range w {
		if k == Laplacian {
			log -= math.Log1p(v * v)
		} else {
			log -= math.Abs(v)
		}
	}
	return log
}

func sign(rng *rand.Rand) float64 {
	if rng.Uint64()&1 == 1 {
		return -1
	}
	return 1
}

// random draws from the spectral density.
func (k Kernel) random(n, d int, rng *rand.Rand, orthogonal bool) []float64 {
	omega := make([]float64, n*d)
	if k == Laplacian || k == Cauchy || k == Cosine {
		for i := range omega {
			if k == Cosine {
				omega[i] = 2 * math.Pi * sign(rng)
			} else if k == Laplacian {
				omega[i] = math.Tan(math.Pi * (rng.Float64() - 0.5)) // standard Cauchy, by its quantile function
			} else {
				omega[i] = rng.ExpFloat64() * sign(rng) // Laplace(0, 1)
			}
		}
		return omega
	}
	freedom, _ := k.freedom()
	for i := range omega {
		omega[i] = rng.NormFloat64()
	}
	if orthogonal {
		for first := 0; first < n; first += d {
			orthogonalise(omega[first*d:min(first+d, n)*d], d)
		}
	}
	if freedom > 0 {
		for i := range n {
			scale := k.stretch(rng)
			for j := i * d; j < (i+1)*d; j++ {
				// u is 0 with a chance of 2^-64, and then the frequency is far out indeed.
				omega[j] = limit(omega[j] * scale)
			}
		}
	}
	return omega
}

// stretch draws what a normal frequency is multiplied by: one for the whole of it, from one χ² of 2ν degrees of
// freedom, for a multivariate t.
func (k Kernel) stretch(rng *rand.Rand) float64 {
	freedom, _ := k.freedom()
	if freedom == 0 {
		return 1
	}
	return math.Sqrt(float64(freedom) / chiSquare(freedom, rng))
}

// chiSquare draws a sum of squares of normal numbers.
func chiSquare(freedom int, rng *rand.Rand) (u float64) {
	for range freedom {
		z := rng.NormFloat64()
		u += z * z
	}
	return u
}

// orthogonalise makes the directions of the rows of g (m×d, m ≤ d) orthogonal and
// keeps their lengths.
//
// For independent normal rows each result is again N(0, I): in G = LQ with a
// positive diagonal of L, Q is uniformly distributed and independent of L,
// because G and GU have the same distribution for every rotation U; and the length of
// row i of G is that of row i of L, hence χ_d and independent of all directions.
// Gram–Schmidt twice over is orthogonal to rounding.
func orthogonalise(g []float64, d int) {
	m := len(g) / d
	length := make([]float64, m)
	for i := range m {
		row := g[i*d : (i+1)*d]
		length[i] = math.Sqrt(dot(row, row))
		for range 2 {
			for k := range i {
				before := g[k*d : (k+1)*d]
				c := dot(row, before)
				for j, v := range before {
					row[j] -= c * v
				}
			}
			norm := math.Sqrt(dot(row, row))
			for j := range row {
				row[j] /= norm
			}
		}
	}
	for i := range m {
		for j := i * d; j < (i+1)*d; j++ {
			g[j] *= length[i]
		}
	}
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}
