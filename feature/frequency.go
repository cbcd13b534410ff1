package feature

import (
	"fmt"
	"math"
	"math/rand/v2"
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
)

// Sampling says how the frequencies of one draw depend on each other. Each of
// them alone has exactly the spectral density, so every sampling is unbiased.
type Sampling string

// The samplings.
const (
	// IID frequencies are independent.
	IID Sampling = "iid"
	// Orthogonal frequencies come in groups of up to d with directions at right
	// angles, which makes the error of isotropic kernels smaller (Yu et al. 2016).
	Orthogonal Sampling = "orthogonal"
)

// DefaultSampling is orthogonal where it is defined.
func (k Kernel) DefaultSampling() Sampling {
	if k == Laplacian || k == Cauchy {
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
func (k Kernel) check(sampling Sampling) error {
	if sampling != "" && sampling != IID && sampling != Orthogonal {
		return fmt.Errorf("feature: unknown kind of frequencies %q: use iid or orthogonal", sampling)
	}
	if k == Laplacian || k == Cauchy {
		if sampling == Orthogonal {
			return fmt.Errorf("feature: %s is a product over its inputs, so orthogonal frequencies are not defined: use kind=iid", k)
		}
		return nil
	}
	if _, ok := k.freedom(); !ok {
		return fmt.Errorf("feature: unknown kernel %q: use rbf, laplacian, cauchy, matern12, matern32 or matern52", k)
	}
	return nil
}

// Draw returns n standard frequencies (for lengthscale 1) in d dimensions, n×d.
func (k Kernel) Draw(sampling Sampling, n, d int, rng *rand.Rand) ([]float64, error) {
	if n < 1 || d < 1 {
		return nil, fmt.Errorf("feature: %d frequencies in %d dimensions: give at least one of both", n, d)
	}
	if err := k.check(sampling); err != nil {
		return nil, err
	}
	if sampling == "" {
		sampling = k.DefaultSampling()
	}
	omega := make([]float64, n*d)
	if k == Laplacian || k == Cauchy {
		for i := range omega {
			if k == Laplacian {
				omega[i] = math.Tan(math.Pi * (rng.Float64() - 0.5)) // standard Cauchy, by its quantile function
			} else {
				omega[i] = rng.ExpFloat64() // Laplace(0, 1), by a random sign
				if rng.Uint64()&1 == 1 {
					omega[i] = -omega[i]
				}
			}
		}
		return omega, nil
	}
	freedom, _ := k.freedom()
	for i := range omega {
		omega[i] = rng.NormFloat64()
	}
	if sampling == Orthogonal {
		for first := 0; first < n; first += d {
			orthogonalise(omega[first*d:min(first+d, n)*d], d)
		}
	}
	if freedom > 0 {
		for i := range n {
			u := 0.0 // one χ² of 2ν degrees of freedom for the whole frequency: a multivariate t
			for range freedom {
				z := rng.NormFloat64()
				u += z * z
			}
			scale := math.Sqrt(float64(freedom) / u)
			for j := i * d; j < (i+1)*d; j++ {
				// u is 0 with a chance of 2^-64, and then the frequency is far out indeed.
				omega[j] = limit(omega[j] * scale)
			}
		}
	}
	return omega, nil
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
