package hyper

// Shape is η of the LKJ prior of correlations, whose density is |R|^(η−1).
const Shape = 2

// LKJ is the prior of the coordinate of a partial correlation with column c, of k: the odds of a symmetric Beta
// distribution.
func LKJ(k, c int) BetaPrime {
	b := Shape + float64(k-2-c)/2
	return BetaPrime{A: b, B: b, Scale: 1}
}
