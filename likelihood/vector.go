package likelihood

import (
	"math"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// rowsAtOnce is the number of rows that share a vector.
const rowsAtOnce = 64

// logSigmoidRows stores E log σ(cf), c = 2y−1, with its gradients.
func logSigmoidRows(value, dMean, dVariance, y, mean, variance []float64) {
	var m [rowsAtOnce]float64
	for from := 0; from < len(y); from += rowsAtOnce {
		n := min(rowsAtOnce, len(y)-from)
		target := y[from : from+n]
		for i, t := range target {
			m[i] = mean[from+i]
			if t != 0 {
				m[i] = -m[i]
			}
		}
		v, a, b := value[from:from+n], dMean[from:from+n], dVariance[from:from+n]
		positive := [rowsAtOnce]bool{} // the targets may be one of the destinations
		for i, t := range target {
			positive[i] = t != 0
		}
		quad.SoftplusRows(v, a, b, m[:n], variance[from:from+n])
		for i := range n {
			v[i], b[i] = -v[i], -b[i]
			if !positive[i] {
				a[i] = -a[i]
			}
		}
	}
}

// integrand is log p(y|f) of a family whose expectations are by quadrature.
type integrand int

const (
	probit   integrand = iota
	cloglog            // at y = 1
	softplus           // of a Poisson count y > 0
	logSum             // log(1+eᶠ) itself
)

// terms are rows that are integrated together, with the integrand at one node.
type terms struct {
	y, mean, sd          [rowsAtOnce]float64
	f                    [rowsAtOnce]float64
	value, first, second [rowsAtOnce]float64
	a, b                 [rowsAtOnce]float64
	place                [rowsAtOnce]int
	total, size          [3][rowsAtOnce]float64
	edge                 [3][rowsAtOnce]float64 // size of the two outermost terms
}

// The trapezium rule of quad.Normal where sd is at most 2.2, for many rows at once: nodes a step of 0.9 apart in
// units of sd, out to 9, where the normal density is 1e-18, then midpoints while sums change.
const (
	vectorStep   = 0.9
	vectorEnd    = 10
	vectorLevels = 4
	widestRow    = 2.2
)

// expectedRows stores the expectations of the rows with y > 0, or of all for probit, and calls alone
// for each of the others and for those that do not settle.
func expectedRows(kind integrand, value, dMean, dVariance, y, mean, variance []float64,
	alone func(y, mean, variance float64) (value, dMean, dVariance float64)) {
	var t terms
	var left [rowsAtOnce]int
	for from := 0; from < len(y); from += rowsAtOnce {
		n, rest := 0, 0
		for i := from; i < min(len(y), from+rowsAtOnce); i++ {
			if v := variance[i]; v > 0 && v <= widestRow*widestRow && (y[i] > 0 || kind == probit) {
				t.y[n], t.mean[n], t.sd[n], t.place[n] = y[i], mean[i], math.Sqrt(v), i
				n++
			} else {
				left[rest] = i
				rest++
			}
		}
		rest = t.integrate(kind, n, value, dMean, dVariance, &left, rest)
		for _, i := range left[:rest] {
			value[i], dMean[i], dVariance[i] = alone(y[i], mean[i], variance[i])
		}
	}
}

// integrate stores the expectations of the first n rows at their places, and adds those that do
// not settle to the rest already in left.
func (t *terms) integrate(kind integrand, n int, value, dMean, dVariance []float64, left *[rowsAtOnce]int, rest int) int {
	t.begin(kind, n)
	for level := 1; n > 0; level++ {
		open := t.refine(kind, n, level)
		w := vectorStep / float64(int(1)<<level) / math.Sqrt(2*math.Pi)
		still := 0
		for k, i := range t.place[:n] {
			switch {
			case !open[k]:
				value[i], dMean[i], dVariance[i] = w*t.total[0][k], w*t.total[1][k], w*t.total[2][k]
				if kind == softplus {
					value[i] += poissonAtMode(t.y[k])
				}
			case level == vectorLevels:
				left[rest] = i
				rest++
			default:
				t.move(still, k)
				still++
			}
		}
		n = still
		if level == vectorLevels {
			break
		}
	}
	return rest
}

// eachSoftplus calls do for every row with softplusTimes at mean − shift and the number of times.
func eachSoftplus(mean, variance []float64, shift float64, times func(i int) float64,
	do func(i int, n, value, dMean, dVariance float64)) {
	var t terms
	var n, shifted, value, first, second [rowsAtOnce]float64
	for from := 0; from < len(mean); from += rowsAtOnce {
		count := min(rowsAtOnce, len(mean)-from)
		for i := range count {
			n[i], shifted[i] = times(from+i), mean[from+i]-shift
		}
		softplusTimesRows(&t, value[:count], first[:count], second[:count], n[:count], shifted[:count], variance[from:from+count])
		for i := range count {
			do(from+i, n[i], value[i], first[i], second[i])
		}
	}
}

// softplusTimesRows is softplusTimes for up to rowsAtOnce rows.
func softplusTimesRows(t *terms, value, dMean, dVariance, times, mean, variance []float64) {
	var left, few [rowsAtOnce]int
	n, rest, small := 0, 0, 0
	for i, v := range variance {
		switch {
		case times[i] <= manyTimes:
			few[small] = i
			small++
		case v > 0 && v <= widestRow*widestRow:
			t.mean[n], t.sd[n], t.place[n] = mean[i], math.Sqrt(v), i
			n++
		default:
			left[rest] = i
			rest++
		}
	}
	rest = t.integrate(logSum, n, value, dMean, dVariance, &left, rest)
	for _, i := range left[:rest] {
		value[i], dMean[i], dVariance[i] = quad.SoftplusExact(mean[i], variance[i])
	}
	for k, i := range few[:small] {
		t.mean[k], t.sd[k] = mean[i], variance[i]
	}
	quad.SoftplusRows(t.value[:small], t.first[:small], t.second[:small], t.mean[:small], t.sd[:small])
	for k, i := range few[:small] {
		value[i], dMean[i], dVariance[i] = t.value[k], t.first[k], t.second[k]
	}
}

// begin sums over the coarsest nodes.
func (t *terms) begin(kind integrand, n int) {
	for j := range 3 {
		clear(t.total[j][:n])
		clear(t.size[j][:n])
	}
	if n == 0 {
		return
	}
	t.node(kind, -vectorEnd*vectorStep, n)
	t.node(kind, vectorEnd*vectorStep, n)
	t.edge = t.size
	for k := 1 - vectorEnd; k < vectorEnd; k++ {
		t.node(kind, float64(k)*vectorStep, n)
	}
}

// refine halves the step for the level-th time, and says which rows are open still: two steps must
// agree to 1e-8, so that the finer one is right to 1e-12, as quad.Normal demands.
func (t *terms) refine(kind integrand, n, level int) (open [rowsAtOnce]bool) {
	coarse := t.total
	step := vectorStep / float64(int(1)<<(level-1))
	half := vectorEnd << (level - 1)
	for k := -half; k < half; k++ {
		t.node(kind, (float64(k)+0.5)*step, n)
	}
	const agree, negligible = 1e-8, 1e-15
	for i := range n {
		for j := range 3 {
			gap := math.Abs(t.total[j][i] - 2*coarse[j][i])
			if !(gap <= agree*t.size[j][i] && t.edge[j][i] <= negligible*t.size[j][i]) {
				open[i] = true
			}
		}
	}
	return open
}

// move puts a row in the place of an earlier one.
func (t *terms) move(to, from int) {
	if to == from {
		return
	}
	t.y[to], t.mean[to], t.sd[to], t.place[to] = t.y[from], t.mean[from], t.sd[from], t.place[from]
	for j := range 3 {
		t.total[j][to], t.size[j][to], t.edge[j][to] = t.total[j][from], t.size[j][from], t.edge[j][from]
	}
}

// node adds the terms of one node.
func (t *terms) node(kind integrand, z float64, n int) {
	for i := range n {
		t.f[i] = t.mean[i] + z*t.sd[i]
	}
	switch kind {
	case probit:
		t.probit(n)
	case cloglog:
		t.cloglog(n)
	case logSum:
		t.logSum(n)
	default:
		t.softplus(n)
	}
	w := math.Exp(-z * z / 2)
	for j, x := range [3]*[rowsAtOnce]float64{&t.value, &t.first, &t.second} {
		total, size := &t.total[j], &t.size[j]
		for i := range n {
			v := w * x[i]
			total[i] += v
			size[i] += math.Abs(v)
		}
	}
}

// probit stores log Φ(cf) with its first derivative and half its second in f.
func (t *terms) probit(n int) {
	for i := range n {
		if t.y[i] == 0 {
			t.f[i] = -t.f[i]
		}
	}
	kernel.MillsRatio(t.a[:n], t.f[:n])
	kernel.NormalCDF(t.b[:n], t.f[:n])
	for i := range n {
		x, r := t.f[i], t.a[i]
		slope := r * (x + r)
		value := 0.0
		switch {
		case x > -5:
			value = math.Log(t.b[i])
		case x > -14:
			value = -x*x/2 - special.LogSqrt2Pi - math.Log(r)
		default: // x + r cancels
			value, r, slope = special.LogNormalCDFDerivatives(x)
		}
		if t.y[i] == 0 {
			r = -r
		}
		t.value[i], t.first[i], t.second[i] = value, r, -slope/2
	}
}

// cloglog stores log(1−e^−μ), μ = e^f, with its first derivative and half its second.
func (t *terms) cloglog(n int) {
	kernel.Exp(t.a[:n], t.f[:n])
	for i := range n {
		t.b[i] = -t.a[i]
	}
	kernel.Exp(t.b[:n], t.b[:n])
	for i := range n {
		mu := t.a[i]
		switch {
		case mu < 0.05: // the series of cloglogDerivatives, and of log((1−e^−μ)/μ)
			square := mu * mu
			tail := 1.0/12 - square*(1.0/720-square/30240)
			b := 1 + mu*(-0.5+mu*tail)
			t.value[i] = t.f[i] - mu/2 + square*(1.0/24-square*(1.0/2880-square/181440))
			t.first[i], t.second[i] = b, -b*mu*(0.5+mu*tail)/2
		case mu > 700:
			t.value[i], t.first[i], t.second[i] = -t.b[i], 0, 0
		default:
			rest := 1 - t.b[i]
			b := mu * t.b[i] / rest
			t.value[i], t.first[i], t.second[i] = math.Log(rest), b, b*(1-mu-b)/2
		}
	}
}

// softplus stores y log μ − μ, less its greatest value, μ = log(1+e^f), with its first
// derivative and half its second.
func (t *terms) softplus(n int) {
	kernel.Log1pExp(t.value[:n], t.f[:n])
	kernel.Logistic(t.first[:n], t.f[:n])
	for i := range n {
		y, mu, p := t.y[i], t.value[i], t.first[i]
		if u := mu/y - 1; math.Abs(u) < 1e-2 {
			t.value[i] = y * special.LogRemainder(u)
		} else {
			t.value[i] = y * (math.Log(mu/y) - u)
		}
		if t.f[i] < -7 { // the direct form cancels
			first, second := softplusDerivatives(y, t.f[i])
			t.first[i], t.second[i] = first, second/2
			continue
		}
		q, rho := 1-p, p/mu
		t.first[i] = y*rho - p
		t.second[i] = (y*rho*(q-rho) - p*q) / 2
	}
}

// logSum stores log(1+e^f) with its first derivative and half its second.
func (t *terms) logSum(n int) {
	kernel.Log1pExp(t.value[:n], t.f[:n])
	kernel.Logistic(t.first[:n], t.f[:n])
	for i := range n {
		t.a[i] = -t.value[i]
	}
	kernel.Exp(t.a[:n], t.a[:n]) // σ(−f)
	for i := range n {
		t.second[i] = t.first[i] * t.a[i] / 2
	}
}
