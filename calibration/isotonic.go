package calibration

import "slices"

// vertex is a point of a cumulative sum diagram.
type vertex struct{ x, y float64 }

func (a vertex) minus(b vertex) vertex { return vertex{a.x - b.x, a.y - b.y} }

// left says whether the way from a over b to c turns left: the slope rises.
func left(a, b, c vertex) bool {
	p, q := b.minus(a), c.minus(b)
	return p.x*q.y > q.x*p.y
}

// uppers returns, for each of some ascending scores with so many ones of so many rows, the isotonic regression at the
// score when a further row with it is a one: Algorithms 1 and 2 of Vovk, Petej & Fedorova (2015), in O(n). The further
// row stands before those of the score, which it joins, for no regression has less behind a one.
func uppers(ones, counts []float64) []float64 {
	n := len(ones)
	p := make([]vertex, n+2) // P₋₁, P₀, …, the sums up to every score
	p[0] = vertex{-1, -1}
	for i := range n {
		p[i+2] = vertex{p[i+1].x + counts[i], p[i+1].y + ones[i]}
	}
	corners := []vertex{p[0]} // of the greatest convex minorant, from the left
	for _, next := range p[1:] {
		for k := len(corners); k > 1 && !left(corners[k-2], corners[k-1], next); k-- {
			corners = corners[:k-1]
		}
		corners = append(corners, next)
	}
	slices.Reverse(corners) // the leftmost on top
	out := make([]float64, n)
	for i := range n {
		top, next := corners[len(corners)-1], corners[len(corners)-2]
		slope := next.minus(top)
		out[i] = slope.y / slope.x
		// the score comes before the further row
		moved := vertex{p[i].x + p[i+2].x - p[i+1].x, p[i].y + p[i+2].y - p[i+1].y}
		p[i+1] = moved
		if along := moved.minus(top); along.y*slope.x >= slope.y*along.x { // it is not below the minorant
			continue
		}
		corners = corners[:len(corners)-1]
		for k := len(corners); k > 1 && !left(moved, corners[k-1], corners[k-2]); k-- {
			corners = corners[:k-1]
		}
		corners = append(corners, moved)
	}
	return out
}

// lowers is uppers where the further row is a zero: that of zeros, from the other end.
func lowers(ones, counts []float64) []float64 {
	zeros, back := make([]float64, len(ones)), slices.Clone(counts)
	for i := range ones {
		zeros[i] = counts[i] - ones[i]
	}
	slices.Reverse(zeros)
	slices.Reverse(back)
	out := uppers(zeros, back)
	slices.Reverse(out)
	for i := range out {
		out[i] = 1 - out[i]
	}
	return out
}
