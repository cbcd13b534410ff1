package credence

import (
	"math"
	"slices"
)

// recursive is the ability of a family of counts whose probabilities follow each other, as package likelihood
// describes.
type recursive interface {
	Recursion(zero, ratio, f []float64) (size float64)
}

// countNodes are nodes of the trapezium rule over f, which all parts of a likelihood share. mass begins as the
// probability of f at a node and of the count 0 there, and becomes that of the counts that follow.
type countNodes struct {
	f, mass, zero, ratio []float64
	groups               []countGroup
}

// countGroup are the nodes of one likelihood, up to place end.
type countGroup struct {
	family recursive
	end    int
	size   float64
}

const (
	// mostCounts is the largest count up to which all are added up; the first try is fewCounts.
	mostCounts, fewCounts = 512, 32
	// mostNodes are as many as cost less than root finding, and mostTerms as many nodes times counts as cost less than
	// some hundreds of distribution functions.
	mostNodes, mostTerms = 2048, 1 << 21
	// nodesEnd is how far normal distributions of f reach, in standard deviations.
	nodesEnd = 6.8
)

// countQuantiles is Quantiles of counts up to a few hundred, whose probabilities are added up from 0: exact but where
// the distribution function is within 1e-9 of a probability. It is false for what is no such row.
func (d *Distribution) countQuantiles(dst []float64, i int, probabilities []float64) bool {
	return d.eachCount(i, mostCounts, func(most int, next func(y float64) float64) bool {
		for k := range dst {
			dst[k] = -1
		}
		below, left := 0.0, len(dst)
		for y := 0; y <= most && left > 0; y++ {
			below += next(float64(y))
			for k, p := range probabilities {
				if dst[k] < 0 && below >= p {
					dst[k] = float64(y)
					left--
				}
			}
		}
		return left == 0
	})
}

// eachCount calls do with the probabilities of the counts of row i, to be asked for from 0 to most in order, and again
// with more of them, up to about limit, until do is satisfied. It is false where do never is, and for what is no row of
// such counts.
func (d *Distribution) eachCount(i, limit int, do func(most int, next func(y float64) float64) bool) bool {
	if _, ok := d.parts[0].likelihood.(recursive); !ok || d.tables == nil || d.parts[0].perRow != nil {
		return false
	}
	if mean, _ := d.Latent(i); mean > math.Log(float64(limit)) {
		return false
	}
	nodes, ok := d.tables.nodes.Get().(*countNodes)
	if !ok {
		nodes = &countNodes{}
	}
	defer d.tables.nodes.Put(nodes)
	for most := fewCounts; most <= limit && nodes.place(d, i, float64(most)) && most*len(nodes.f) <= mostTerms; most *= 4 {
		if do(most, nodes.next) {
			return true
		}
	}
	return false
}

// place stores the nodes of row i for counts up to most; false where there would be too many.
func (n *countNodes) place(d *Distribution, i int, most float64) bool {
	n.f, n.mass, n.groups = n.f[:0], n.mass[:0], n.groups[:0]
	for rest := d.parts; len(rest) > 0; {
		count := 1
		for count < len(rest) && rest[count].likelihood == rest[0].likelihood {
			count++
		}
		if !n.share(rest[:count], i, most, d.total) {
			return false
		}
		n.groups = append(n.groups, countGroup{family: rest[0].likelihood.(recursive), end: len(n.f)})
		rest = rest[count:]
	}
	n.zero, n.ratio = slices.Grow(n.zero[:0], len(n.f))[:len(n.f)], slices.Grow(n.ratio[:0], len(n.f))[:len(n.f)]
	first := 0
	for k := range n.groups {
		g := &n.groups[k]
		g.size = g.family.Recursion(n.zero[first:g.end], n.ratio[first:g.end], n.f[first:g.end])
		first = g.end
	}
	for j, zero := range n.zero {
		n.mass[j] *= zero
	}
	return true
}

// share adds the nodes of parts of one likelihood.
func (n *countNodes) share(parts []part, i int, most, total float64) bool {
	width := 1 / math.Sqrt(most+1) // of the distribution function of the largest count in f, at the least
	low, high, step := math.Inf(1), math.Inf(-1), math.Inf(1)
	for k := range parts {
		_, m, v := parts[k].at(i)
		sd := math.Sqrt(v)
		low, high = math.Min(low, m-nodesEnd*sd), math.Max(high, m+nodesEnd*sd)
		step = math.Min(step, sd*width/math.Sqrt(v+width*width)*(0.72-0.3*width)) // as in quad.Step
	}
	if !(step > 0 && high-low <= mostNodes*step) { // nor where f is known
		return false
	}
	first := len(n.f)
	for j := range int((high-low)/step) + 1 {
		n.f, n.mass = append(n.f, low+float64(j)*step), append(n.mass, 0)
	}
	mass := n.mass[first:]
	for k := range parts {
		_, m, v := parts[k].at(i)
		sd := math.Sqrt(v)
		h := step / sd
		middle := min(int((m-low)/step+0.5), len(mass)-1)
		x := (low + float64(middle)*step - m) / sd
		density := parts[k].share / total * h / math.Sqrt(2*math.Pi) * math.Exp(-x*x/2)
		reach, bend := int(nodesEnd/h)+1, math.Exp(-h*h)
		up, down := math.Exp(-(x+h/2)*h), math.Exp((x-h/2)*h)
		mass[middle] += density
		for j, v := middle+1, density*up; j < len(mass) && j <= middle+reach; j++ {
			mass[j] += v
			up *= bend
			v *= up
		}
		for j, v := middle-1, density*down; j >= 0 && j >= middle-reach; j-- {
			mass[j] += v
			down *= bend
			v *= down
		}
	}
	return true
}

// next returns the probability of the count y, which is asked for all counts in order.
func (n *countNodes) next(y float64) (sum float64) {
	first := 0
	for _, g := range n.groups {
		mass, ratio := n.mass[first:g.end], n.ratio[first:g.end]
		first = g.end
		factor := 0.0
		if y > 0 {
			factor = (1 + (y-1)/g.size) / y
		}
		sum += nextCount(mass, ratio, factor)
	}
	return sum
}

// nextCount takes masses to the next count, of which it returns the sum; a factor of 0 leaves the first.
func nextCount(mass, ratio []float64, factor float64) float64 {
	var sums [4]float64
	ratio = ratio[:len(mass)]
	if factor == 0 {
		for _, m := range mass {
			sums[0] += m
		}
		return sums[0]
	}
	j := 0
	for ; j+4 <= len(mass); j += 4 {
		m, r := mass[j:j+4:j+4], ratio[j:j+4:j+4]
		m[0] *= r[0] * factor
		m[1] *= r[1] * factor
		m[2] *= r[2] * factor
		m[3] *= r[3] * factor
		sums[0] += m[0]
		sums[1] += m[1]
		sums[2] += m[2]
		sums[3] += m[3]
	}
	for ; j < len(mass); j++ {
		mass[j] *= ratio[j] * factor
		sums[0] += mass[j]
	}
	return (sums[0] + sums[1]) + (sums[2] + sums[3])
}
