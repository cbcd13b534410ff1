package data

import "gonum.org/v1/gonum/mathext/prng"

// Folds returns the test rows of the folds that scikit-learn's
// KFold(n_splits=folds, shuffle=True, random_state=seed) makes of the rows, so
// that results can be set beside those published for them. Its generator is
// the Mersenne Twister of Matsumoto & Nishimura (1998) as NumPy's RandomState
// seeds it, its shuffle that of Fisher and Yates with rejection.
func Folds(rows, folds int, seed uint32) [][]int {
	order := make([]int, rows)
	for i := range order {
		order[i] = i
	}
	twister := prng.NewMT19937()
	twister.Seed(uint64(seed))
	for i := rows - 1; i > 0; i-- {
		j := int(below(twister, uint32(i)))
		order[i], order[j] = order[j], order[i]
	}
	out := make([][]int, folds)
	first := 0
	for k := range out {
		count := rows / folds
		if k < rows%folds {
			count++
		}
		out[k] = order[first : first+count]
		first += count
	}
	return out
}

// below returns a number from 0 to limit, inclusive, by masking and rejection.
func below(t *prng.MT19937, limit uint32) uint32 {
	mask := limit
	for shift := 1; shift < 32; shift *= 2 {
		mask |= mask >> shift
	}
	for {
		if v := t.Uint32() & mask; v <= limit {
			return v
		}
	}
}
