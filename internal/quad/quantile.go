package quad

import "math"

// Quantile returns the root of cdf(y) = p for a continuous distribution on
// [lower, upper], to about 1e-12 of its size. start and scale say where the
// mass is, roughly; they affect speed only. p ≤ 0 gives lower and p ≥ 1 upper.
func Quantile(cdf func(float64) float64, p, start, scale, lower, upper float64) float64 {
	switch {
	case math.IsNaN(p):
		return p
	case p <= 0:
		return lower
	case p >= 1:
		return upper
	}
	if !(scale > 0) || math.IsInf(scale, 1) {
		scale = 1
	}
	start = math.Min(math.Max(start, lower), upper)
	lo, hi := start, start
	atLo := cdf(start) - p
	if math.IsNaN(atLo) {
		return atLo
	}
	atHi := atLo
	for step := scale; atLo >= 0; step *= 2 {
		if lo <= lower {
			return lower
		}
		hi, atHi = lo, atLo
		if lo-step <= lower && !math.IsInf(lower, -1) {
			// Towards a finite end by halves: the quantile may be many orders of
			// magnitude closer to it than start is.
			lo = lower + (lo-lower)/16
			if lo-lower < 1e-300 {
				return lower
			}
		} else {
			lo -= step
		}
		if math.IsInf(lo, -1) {
			return lo
		}
		atLo = cdf(lo) - p
	}
	for step := scale; atHi < 0; step *= 2 {
		lo, atLo = hi, atHi
		hi = math.Min(hi+step, upper)
		if math.IsInf(hi, 1) || hi == lo {
			return hi
		}
		atHi = cdf(hi) - p
	}
	return root(func(y float64) float64 { return cdf(y) - p }, lo, hi, atLo, atHi)
}

// root finds the zero of an increasing function in [lo, hi], where it is atLo < 0
// and atHi ≥ 0, by the method of Illinois, with a bisection after every step that
// did not halve the bracket.
func root(g func(float64) float64, lo, hi, atLo, atHi float64) float64 {
	side := 0
	for range 200 {
		width := hi - lo
		if width <= 1e-13*math.Max(math.Abs(lo), math.Abs(hi)) {
			break
		}
		y := hi - atHi*width/(atHi-atLo)
		if !(y > lo && y < hi) {
			y = lo + width/2
		}
		for range 2 {
			v := g(y)
			if v == 0 {
				return y
			}
			// The end that stays put twice has its value halved, which pulls the
			// next secant across the root.
			if v < 0 {
				lo, atLo = y, v
				if side < 0 {
					atHi /= 2
				}
				side = -1
			} else {
				hi, atHi = y, v
				if side > 0 {
					atLo /= 2
				}
				side = 1
			}
			if hi-lo <= width/2 {
				break
			}
			y = lo + (hi-lo)/2
			if y <= lo || y >= hi {
				return hi
			}
		}
	}
	return hi
}

// Count returns the smallest whole number y in [lower, upper] with cdf(y) ≥ p.
// start and scale as in Quantile. p ≤ 0 gives lower and p ≥ 1 upper; NaN where cdf is.
func Count(cdf func(float64) float64, p, start, scale, lower, upper float64) float64 {
	switch {
	case math.IsNaN(p):
		return p
	case p <= 0:
		return lower
	case p >= 1:
		return upper
	}
	if math.IsInf(start, 1) {
		return start
	}
	if !(scale >= 1) || math.IsInf(scale, 1) {
		scale = 1
	}
	start = math.Min(math.Max(math.Floor(start), lower), upper)
	lo, hi := start, start // cdf(lo) < p ≤ cdf(hi) once bracketed
	first := cdf(start)
	switch {
	case math.IsNaN(first):
		return first
	case first >= p:
		for step := math.Ceil(scale / 2); ; step *= 2 {
			if hi <= lower {
				return lower
			}
			lo = math.Max(math.Floor(hi-step), lower)
			if lo == hi {
				return hi
			}
			if cdf(lo) < p {
				break
			}
			hi = lo
		}
	default:
		for step := math.Ceil(scale / 2); ; step *= 2 {
			hi = math.Min(math.Floor(lo+step), upper)
			if hi == lo || math.IsInf(hi, 1) {
				return hi
			}
			if cdf(hi) >= p {
				break
			}
			lo = hi
		}
	}
	for hi-lo > 1 {
		mid := math.Floor(lo + (hi-lo)/2)
		if lo >= 0 && hi > 4*(lo+1) { // by halves of the logarithm: counts lie as far apart as 1e300
			mid = math.Floor(math.Sqrt(lo+1) * math.Sqrt(hi))
		}
		if mid <= lo || mid >= hi {
			break
		}
		if cdf(mid) >= p {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
