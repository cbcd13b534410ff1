package protocol

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
	twister := newTwister(seed)
	for i := rows - 1; i > 0; i-- {
		j := int(twister.below(uint32(i)))
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

// twister is MT19937.
type twister struct {
	state [624]uint32
	next  int
}

func newTwister(seed uint32) *twister {
	t := &twister{next: 624}
	t.state[0] = seed
	for i := 1; i < len(t.state); i++ {
		previous := t.state[i-1]
		t.state[i] = 1812433253*(previous^previous>>30) + uint32(i)
	}
	return t
}

func (t *twister) uint32() uint32 {
	const n, m = 624, 397
	if t.next == n {
		for i := range n {
			y := t.state[i]&0x80000000 | t.state[(i+1)%n]&0x7fffffff
			v := t.state[(i+m)%n] ^ y>>1
			if y&1 == 1 {
				v ^= 0x9908b0df
			}
			t.state[i] = v
		}
		t.next = 0
	}
	y := t.state[t.next]
	t.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// below returns a number from 0 to limit, inclusive, by masking and rejection.
func (t *twister) below(limit uint32) uint32 {
	mask := limit
	for shift := 1; shift < 32; shift *= 2 {
		mask |= mask >> shift
	}
	for {
		if v := t.uint32() & mask; v <= limit {
			return v
		}
	}
}
