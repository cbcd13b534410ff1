package kernel

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence/internal/study"
)

// The references compute with 300 bits (1500 where a normal tail cancels), by
// series that need no more than their definition.

const referenceBits = 300

func number(x float64) *big.Float { return new(big.Float).SetPrec(referenceBits).SetFloat64(x) }

func quotient(x, y *big.Float) *big.Float {
	return new(big.Float).SetPrec(referenceBits).Quo(x, y)
}

func product2(x, y *big.Float) *big.Float {
	return new(big.Float).SetPrec(referenceBits).Mul(x, y)
}

func sum2(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(referenceBits).Add(x, y) }

// bigExp halves the argument until its series is short.
func bigExp(x *big.Float) *big.Float {
	const halvings = 20
	z := new(big.Float).SetPrec(referenceBits).SetMantExp(x, -halvings)
	sum, term := number(1), number(1)
	for k := 1; k < 40; k++ {
		term = quotient(product2(term, z), number(float64(k)))
		sum = sum2(sum, term)
	}
	for range halvings {
		sum = product2(sum, sum)
	}
	return sum
}

// bigLog1p is 2 atanh(e/(2+e)) for e in [0, 1].
func bigLog1p(e *big.Float) *big.Float {
	s := quotient(e, sum2(number(2), e))
	square := product2(s, s)
	sum, power := number(0), s
	for k := range 100 {
		sum = sum2(sum, quotient(power, number(float64(2*k+1))))
		power = product2(power, square)
	}
	return product2(number(2), sum)
}

func bigLogistic(x float64) *big.Float {
	e := bigExp(number(-math.Abs(x)))
	n := number(1)
	if x < 0 {
		n = e
	}
	return quotient(n, sum2(number(1), e))
}

func bigLog1pExp(x float64) *big.Float {
	return sum2(number(max(x, 0)), bigLog1p(bigExp(number(-math.Abs(x)))))
}

// bigPi by Machin's formula.
var bigPi = func() *big.Float {
	atan := func(n float64) *big.Float {
		x := quotient(number(1), number(n))
		square := product2(x, x)
		sum, power := number(0), x
		for k := range 220 {
			sum = sum2(sum, quotient(power, number(float64(1-2*(k&1))*float64(2*k+1))))
			power = product2(power, square)
		}
		return sum
	}
	return sum2(product2(number(16), atan(5)), product2(number(-4), atan(239)))
}()

// bigMills is Q(a)/φ(a) for a ≥ 0: the upper tail by Laplace's continued
// fraction, or below 3 by ½/φ(a) − Σ a^(2n+1)/(2n+1)!!.
func bigMills(a float64) *big.Float {
	x := number(a)
	if a > 3 {
		f := x
		for n := 700; n > 0; n-- {
			f = sum2(x, quotient(number(float64(n)), f))
		}
		return quotient(number(1), f)
	}
	root := new(big.Float).SetPrec(referenceBits).Sqrt(product2(number(2), bigPi))
	inverse := product2(root, bigExp(product2(product2(x, x), number(0.5))))
	sum, term := number(0), x
	for n := 1; n < 150; n++ {
		sum = sum2(sum, term)
		term = quotient(product2(term, product2(x, x)), number(float64(2*n+1)))
	}
	return sum2(product2(inverse, number(0.5)), product2(number(-1), sum))
}

func bigDensity(a float64) *big.Float {
	root := new(big.Float).SetPrec(referenceBits).Sqrt(product2(number(2), bigPi))
	return quotient(bigExp(product2(product2(number(a), number(a)), number(-0.5))), root)
}

func bigNormalCDF(x float64) *big.Float {
	q := product2(bigDensity(math.Abs(x)), bigMills(math.Abs(x)))
	if x < 0 {
		return q
	}
	return sum2(number(1), product2(number(-1), q))
}

func bigMillsRatio(x float64) *big.Float {
	if x < 0 {
		return quotient(number(1), bigMills(-x))
	}
	return quotient(bigDensity(x), bigNormalCDF(x))
}

// ulps is the error of got in units of the last place of the true value.
func ulps(got float64, want *big.Float) float64 {
	rounded, _ := want.Float64()
	if math.IsInf(rounded, 0) || math.IsInf(got, 0) {
		if got == rounded {
			return 0
		}
		return math.Inf(1)
	}
	unit := math.Nextafter(math.Abs(rounded), math.Inf(1)) - math.Abs(rounded)
	e, _ := sum2(number(got), product2(number(-1), want)).Float64()
	return math.Abs(e) / unit
}

// limitULP is the accuracy that the elementwise functions promise. The plain Go
// twins rest on math.Exp, which is itself up to 1.3 units off.
const limitULP, limitTwinULP = 2.0, 3.0

func TestElementwise(t *testing.T) {
	for _, c := range []struct {
		name      string
		f         unary
		low, high float64
		want      func(float64) *big.Float
		special   map[float64]float64
	}{
		{"Exp", exp, -746, 710, func(x float64) *big.Float { return bigExp(number(x)) },
			map[float64]float64{math.Inf(-1): 0, math.Inf(1): math.Inf(1), 1e300: math.Inf(1), -1e300: 0, 0: 1}},
		{"Log1pExp", log1pExp, -746, 60, bigLog1pExp,
			map[float64]float64{math.Inf(-1): 0, math.Inf(1): math.Inf(1), 1e300: 1e300, -1e300: 0, 800: 800}},
		{"Logistic", logistic, -746, 60, bigLogistic,
			map[float64]float64{math.Inf(-1): 0, math.Inf(1): 1, 1e300: 1, -1e300: 0, 0: 0.5}},
		{"NormalCDF", normalCDF, -38.8, 9, bigNormalCDF,
			map[float64]float64{math.Inf(-1): 0, math.Inf(1): 1, 1e300: 1, -1e300: 0, -40: 0, 0: 0.5}},
		{"MillsRatio", mills, -60, 38.8, bigMillsRatio,
			map[float64]float64{math.Inf(-1): math.NaN(), math.Inf(1): 0, 1e300: 0, -1e300: 1e300, 40: 0, -1e17: 1e17}},
	} {
		count := 2000
		if !study.Long() {
			count = 400
		}
		r := rand.New(rand.NewPCG(1, 2))
		x := make([]float64, count)
		want := make([]*big.Float, count)
		for i := range x {
			switch i % 4 {
			case 0:
				x[i] = c.low + (c.high-c.low)*r.Float64()
			case 1:
				x[i] = max(c.low, min(c.high, r.NormFloat64()))
			case 2: // near zero
				x[i] = math.Ldexp(r.Float64()-0.5, -r.IntN(60))
			default: // where the result is subnormal, and where branches meet
				x[i] = c.low + 10*r.Float64()
			}
			want[i] = c.want(x[i])
		}
		var narrower []float64
		for _, isa := range isas() {
			got := make([]float64, count)
			applyOn(isa, c.f, c.name, got, x)
			if isa == AVX512 {
				if i := sameBits(got, narrower); i >= 0 {
					t.Errorf("%s: AVX-512 and AVX2 differ at %v: %v, %v", c.name, x[i], got[i], narrower[i])
				}
			}
			narrower = got
			worst, where := 0.0, 0
			for i := range x {
				if e := ulps(got[i], want[i]); !(e <= worst) {
					worst, where = e, i
				}
			}
			t.Logf("%s %v: at most %.2f ulp, at %v", c.name, isa, worst, x[where])
			limit := limitULP
			if isa == PureGo {
				limit = limitTwinULP
			}
			if !(worst <= limit) {
				t.Errorf("%s %v: error of %.2f ulp at %v: got %v, want %v", c.name, isa, worst, x[where], got[where], want[where])
			}
			for a, b := range c.special {
				one := []float64{a}
				applyOn(isa, c.f, c.name, one, one)
				if one[0] != b && !(math.Abs(one[0]-b) <= 4e-16*math.Abs(b)) && !(one[0] != one[0] && b != b) {
					t.Errorf("%s %v: %v gives %v, want %v", c.name, isa, a, one[0], b)
				}
			}
			one := []float64{math.NaN()}
			applyOn(isa, c.f, c.name, one, one)
			if !math.IsNaN(one[0]) {
				t.Errorf("%s %v: NaN gives %v", c.name, isa, one[0])
			}
			// In place, at any length and offset, an element gives the same.
			for n := range 40 {
				for offset := range 3 {
					y := append([]float64(nil), x[offset:offset+n]...)
					applyOn(isa, c.f, c.name, y, y)
					if i := sameBits(y, got[offset:offset+n]); i >= 0 {
						t.Fatalf("%s %v: element %d of %d at offset %d depends on its place", c.name, isa, i, n, offset)
					}
				}
			}
		}
	}
}

// bigSinCos reduces by π/2 with all the bits it takes, then uses the series.
func bigSinCos(x float64) (sin, cos *big.Float) {
	q := quotient(product2(number(2), number(x)), bigPi)
	n, _ := sum2(q, number(math.Copysign(0.5, x))).Int(nil)
	turns := new(big.Float).SetPrec(referenceBits).SetInt(n)
	r := sum2(number(x), product2(number(-0.5), product2(turns, bigPi)))
	z := product2(number(-1), product2(r, r))
	s, c, term := number(0), number(0), number(1)
	for k := range 60 {
		if k%2 == 0 {
			c = sum2(c, term)
			term = quotient(term, number(float64(k+1)))
			s = sum2(s, term)
		} else {
			term = quotient(product2(term, z), number(float64(k+1)))
		}
	}
	s = product2(s, r)
	minus := func(x *big.Float) *big.Float { return product2(number(-1), x) }
	switch new(big.Int).And(n, big.NewInt(3)).Int64() {
	case 1:
		return c, minus(s)
	case 2:
		return minus(s), minus(c)
	case 3:
		return minus(c), s
	}
	return s, c
}

func TestSinCos(t *testing.T) {
	count := 2000
	if !study.Long() {
		count = 400
	}
	r := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, count)
	for i := range x {
		switch i % 5 {
		case 0:
			x[i] = 2*math.Pi*r.Float64() - math.Pi
		case 1:
			x[i] = 200 * r.NormFloat64()
		case 2: // close to multiples of π/2, where the result cancels
			x[i] = math.Pi / 2 * math.Round(1e5*r.NormFloat64())
		case 3:
			x[i] = math.Ldexp(r.Float64()-0.5, 31-r.IntN(60))
		default:
			x[i] = math.Nextafter(math.Pi/2*math.Round(1e8*r.NormFloat64()), r.NormFloat64())
		}
	}
	x = append(x, 0, 1<<30, -(1 << 30), math.Nextafter(1<<30, 0), 3e9)
	for _, isa := range isas() {
		sin, cos := make([]float64, len(x)), make([]float64, len(x))
		sinCosOn(isa, sin, cos, x)
		worst := 0.0
		for i, v := range x {
			s, c := bigSinCos(v)
			e := max(ulps(sin[i], s), ulps(cos[i], c))
			if isa == PureGo {
				// Package math promises absolute accuracy only: it loses
				// relative accuracy at multiples of π/2.
				wantSin, _ := s.Float64()
				wantCos, _ := c.Float64()
				e = max(math.Abs(sin[i]-wantSin), math.Abs(cos[i]-wantCos)) / 0x1p-53
			}
			if e > worst {
				worst = e
			}
			if math.Abs(v) >= sinCosLimit {
				continue
			}
			if !(e <= limitULP) {
				t.Fatalf("%v: error of %.2f ulp at %v: got %v, %v", isa, e, v, sin[i], cos[i])
			}
		}
		t.Logf("SinCos %v: at most %.2f ulp", isa, worst)
		// Arguments out of range in the midst of others, in place.
		for n := 1; n < 40; n++ {
			y := append([]float64(nil), x[:n]...)
			y[n/2] = []float64{math.NaN(), math.Inf(1), 1e300, -4e9}[n%4]
			c := make([]float64, n)
			bad := y[n/2]
			sinCosOn(isa, y, c, y)
			for i := range y {
				wantSin, wantCos := sin[i], cos[i]
				if i == n/2 {
					wantSin, wantCos = math.Sincos(bad)
				}
				if !closeEnough(AVX2, y[i], wantSin) || !closeEnough(AVX2, c[i], wantCos) {
					t.Fatalf("%v: element %d of %d: got %v, %v; want %v, %v", isa, i, n, y[i], c[i], wantSin, wantCos)
				}
			}
		}
	}
}

func ExampleLogistic() {
	x := []float64{-1000, 0, 1000}
	Logistic(x, x)
	fmt.Println(x)
	// Output: [0 0.5 1]
}
