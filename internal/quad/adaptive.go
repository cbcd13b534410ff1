package quad

import (
	"math"
	"slices"
)

// The 15-point Kronrod extension of the 7-point Gauss rule on [−1, 1], by
// symmetry: nodes, Kronrod weights and Gauss weights (zero where the node is
// not in the Gauss rule). Piessens et al., QUADPACK (1983), routine QK15.
var kronrod = [8][3]float64{
	{0, 0.209482141084727828012999174891714, 0.417959183673469387755102040816327},
	{0.207784955007898467600689403773245, 0.204432940075298892414161999234649, 0},
	{0.405845151377397166906606412076961, 0.190350578064785409913256402421014, 0.381830050505118944950369775488975},
	{0.586087235467691130294144691258380, 0.169004726639267902826583426598550, 0},
	{0.741531185599394439863864773280788, 0.140653259715525918745189590510238, 0.279705391489276667901467771423780},
	{0.864864423359769072789712788640926, 0.104790010322250183839876322541518, 0},
	{0.949107912342758524526189684047851, 0.063092092629978553290700663189204, 0.129484966168869693270611432679082},
	{0.991455371120812639206854697526329, 0.022935322010529224963732008058970, 0},
}

// maxPanels bounds the work of Adaptive.
const maxPanels = 200

type panel struct {
	lo, hi     float64
	value      [3]float64
	difference [3]float64 // |Kronrod − Gauss|
}

// Adaptive integrates three functions together from the first to the last of
// the ascending breaks, placing a panel between each two and halving the panel
// with the largest error until every sum is settled to the relative tolerance
// or 200 panels are used. Breaks belong where the integrand turns sharply.
func Adaptive(g func(x float64) (a, b, c float64), breaks []float64, tolerance float64) (a, b, c float64) {
	var panels [maxPanels]panel
	n := 0
	for i := 1; i < len(breaks) && n < maxPanels/2; i++ {
		if breaks[i] > breaks[i-1] {
			panels[n].integrate(g, breaks[i-1], breaks[i])
			n++
		}
	}
	for {
		var total, size, difference [3]float64
		for i := range panels[:n] {
			for j := range 3 {
				total[j] += panels[i].value[j]
				size[j] += math.Abs(panels[i].value[j])
				difference[j] += panels[i].difference[j]
			}
		}
		worst, largest := -1, 0.0
		for j := range 3 {
			if difference[j] <= tolerance*size[j] {
				continue
			}
			for i := range panels[:n] {
				if share := panels[i].difference[j] / size[j]; share > largest {
					worst, largest = i, share
				}
			}
		}
		if worst < 0 || n == maxPanels {
			return total[0], total[1], total[2]
		}
		lo, hi := panels[worst].lo, panels[worst].hi
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			return total[0], total[1], total[2]
		}
		panels[worst].integrate(g, lo, mid)
		panels[n].integrate(g, mid, hi)
		n++
	}
}

func (p *panel) integrate(g func(float64) (float64, float64, float64), lo, hi float64) {
	centre, half := lo+(hi-lo)/2, (hi-lo)/2
	var fine, coarse [3]float64
	for i, k := range kronrod {
		for _, sign := range [2]float64{1, -1} {
			if i == 0 && sign < 0 {
				continue
			}
			a, b, c := g(centre + sign*half*k[0])
			for j, v := range [3]float64{a, b, c} {
				fine[j] += k[1] * v
				coarse[j] += k[2] * v
			}
		}
	}
	p.lo, p.hi = lo, hi
	for j := range 3 {
		p.value[j] = half * fine[j]
		p.difference[j] = math.Abs(half * (fine[j] - coarse[j]))
	}
}

// wideBend is the standard deviation beyond which Bent places panels where a bend is, which steps of [Normal] would
// have to be halved down to.
const wideBend = 20

// Bent is [Normal] of functions that bend within some units of f = 0 and nowhere else, at 1 and beyond as smoothly as
// log f and e^f: the work does not grow with the standard deviation.
func Bent(g func(f float64) (a, b, c float64), mean, variance float64) (a, b, c float64) {
	sd := math.Sqrt(variance)
	if !(sd > wideBend) {
		return Normal(g, mean, variance)
	}
	var memory [24]float64
	low, high := mean-12*sd, mean+12*sd
	breaks := append(memory[:0], low)
	for _, f := range []float64{mean - 6*sd, mean - 3*sd, mean - sd, mean, mean + sd, mean + 3*sd, mean + 6*sd,
		-40, -10, -3, 0, 3, 10, 100, 1000, 1e5, 1e8} {
		if low < f && f < high {
			breaks = append(breaks, f)
		}
	}
	breaks = append(breaks, high)
	slices.Sort(breaks)
	return Adaptive(func(f float64) (float64, float64, float64) {
		z := (f - mean) / sd
		w := math.Exp(-z*z/2) / (sd * math.Sqrt(2*math.Pi))
		a, b, c := g(f)
		return w * a, w * b, w * c
	}, breaks, settled/100)
}
