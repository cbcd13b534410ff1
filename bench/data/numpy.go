package data

import (
	"math"
	"math/bits"
)

// Stream draws what numpy.random.default_rng([seed, purpose]) draws: PCG64 in its
// XSL-RR form (O'Neill 2014), seeded by her seed sequence (O'Neill 2015, as NumPy
// fixes it).
type Stream struct {
	high, low       uint64 // state
	addHigh, addLow uint64 // increment
	normal          *ziggurat
}

// NewStream returns the stream of two words of entropy.
func NewStream(seed, purpose uint32) *Stream {
	words := seedSequence([]uint32{seed, purpose})
	s := &Stream{
		addHigh: words[2]<<1 | words[3]>>63, addLow: words[3]<<1 | 1,
		normal: newZiggurat(),
	}
	s.step()
	var carry uint64
	s.low, carry = bits.Add64(s.low, words[1], 0)
	s.high, _ = bits.Add64(s.high, words[0], carry)
	s.step()
	return s
}

// seedSequence returns four words of 64 bits from entropy of at most four words.
func seedSequence(entropy []uint32) [4]uint64 {
	const (
		firstA, timesA     = 0x43b0d7e5, 0x931e8875
		firstB, timesB     = 0x8b51f9dd, 0x58f38ded
		mixLeft, mixRight  = 0xca01f9dd, 0x4973f715
		half               = 16
		poolWords, outputs = 4, 8
	)
	constant := uint32(firstA)
	hash := func(v uint32) uint32 {
		v ^= constant
		constant *= timesA
		v *= constant
		return v ^ v>>half
	}
	var pool [poolWords]uint32
	for i := range pool {
		v := uint32(0)
		if i < len(entropy) {
			v = entropy[i]
		}
		pool[i] = hash(v)
	}
	for from := range pool {
		for to := range pool {
			if from != to {
				v := mixLeft*pool[to] - mixRight*hash(pool[from])
				pool[to] = v ^ v>>half
			}
		}
	}
	var words [4]uint64
	constant = firstB
	for i := range outputs {
		v := pool[i%poolWords] ^ constant
		constant *= timesB
		v *= constant
		v ^= v >> half
		words[i/2] |= uint64(v) << (32 * (i % 2))
	}
	return words
}

// step is that of a linear congruential generator of 128 bits.
func (s *Stream) step() {
	const timesHigh, timesLow = 0x2360ed051fc65da4, 0x4385df649fccf645
	high, low := bits.Mul64(s.low, timesLow)
	high += s.high*timesLow + s.low*timesHigh
	var carry uint64
	s.low, carry = bits.Add64(low, s.addLow, 0)
	s.high, _ = bits.Add64(high, s.addHigh, carry)
}

// Uint64 returns 64 random bits.
func (s *Stream) Uint64() uint64 {
	s.step()
	return bits.RotateLeft64(s.high^s.low, -int(s.high>>58))
}

// Float64 is uniform in [0, 1).
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }

// ziggurat holds the layers of Marsaglia & Tsang (2000) for the normal density, 256
// of them, over magnitudes of 52 bits.
type ziggurat struct {
	width   [256]float64 // edge of a layer over 2^52
	density [256]float64 // at the edge
	inside  [256]uint64  // magnitudes below are under the curve
}

// The edge of the lowest layer, and the area of each.
const (
	tailStart = 3.6541528853610087963519472518
	layerArea = 0.0049286732339746519
)

func newZiggurat() *ziggurat {
	z := new(ziggurat)
	edge := tailStart
	z.width[255], z.density[255], z.density[0] = edge/(1<<52), math.Exp(-edge*edge/2), 1
	z.inside[0] = uint64(edge * z.density[255] / layerArea * (1 << 52))
	z.width[0] = layerArea / z.density[255] / (1 << 52)
	for i := 254; i >= 1; i-- {
		next := math.Sqrt(-2 * math.Log(layerArea/edge+z.density[i+1]))
		z.inside[i+1] = uint64(next / edge * (1 << 52))
		z.width[i], z.density[i] = next/(1<<52), math.Exp(-next*next/2)
		edge = next
	}
	return z
}

// Normal is standard normal.
func (s *Stream) Normal() float64 {
	z := s.normal
	for {
		word := s.Uint64()
		layer := word & 0xff
		negative := word>>8&1 == 1
		magnitude := word >> 9 & (1<<52 - 1)
		x := float64(magnitude) * z.width[layer]
		if negative {
			x = -x
		}
		if magnitude < z.inside[layer] {
			return x
		}
		if layer == 0 {
			for {
				beyond := -math.Log1p(-s.Float64()) / tailStart
				level := -math.Log1p(-s.Float64())
				if 2*level > beyond*beyond {
					if magnitude>>8&1 == 1 {
						return -(tailStart + beyond)
					}
					return tailStart + beyond
				}
			}
		}
		if (z.density[layer-1]-z.density[layer])*s.Float64()+z.density[layer] < math.Exp(-x*x/2) {
			return x
		}
	}
}

// Poisson draws a count: by the product of uniforms for a mean below 10, else by the
// transformed rejection of Hörmann (1993).
func (s *Stream) Poisson(mean float64) float64 {
	if mean < 10 {
		limit, product := math.Exp(-mean), 1.0
		for count := 0.0; ; count++ {
			if product *= s.Float64(); !(product > limit) {
				return count
			}
		}
	}
	root, logMean := math.Sqrt(mean), math.Log(mean)
	b := 0.931 + 2.53*root
	a := -0.059 + 0.02483*b
	inverse := 1.1239 + 1.1328/(b-3.4)
	edge := 0.9277 - 3.6224/(b-2)
	for {
		u := s.Float64() - 0.5
		v := s.Float64()
		side := 0.5 - math.Abs(u)
		k := math.Floor((2*a/side+b)*u + mean + 0.43)
		if side >= 0.07 && v <= edge {
			return k
		}
		if k < 0 || side < 0.013 && v > side {
			continue
		}
		factorial, _ := math.Lgamma(k + 1)
		if math.Log(v)+math.Log(inverse)-math.Log(a/(side*side)+b) <= k*logMean-mean-factorial {
			return k
		}
	}
}
