package newton

import (
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/kernel"
)

// Depth is the number of earlier points that a step for d weights draws on, each of two d×d matrices: fewer where
// they take much memory, and where so many would tell a few weights all that rounding makes of them.
func Depth(d int) int {
	switch {
	case d > 2000:
		return 1
	case d > 700:
		return 3
	case d > 400:
		return 5
	}
	return min(deepest, d+2)
}

const deepest = 12

// natural are the natural parameters of the normal likelihood that stands for the rows at a point, and
// those that a whole step takes in their place.
type natural struct {
	sites, curvature []float64 // H and H(m, V)
	shift, pull      []float64 // b = (H + Λ⁻¹)m and H(m, V)m + g
}

// mixture is Anderson acceleration (Walker & Ni 2011, "Anderson acceleration for fixed-point iterations") of
// the step η ← η̂ of natural parameters η = (H, b), whose plain form overshoots in some directions and
// creeps in others where classes are nearly separated. With η_k and η̂_k those of earlier points, the next are
//
//	η − Σ γ_k (η − η_k) + ρ (η̂ − η − Σ γ_k r_k)      r_k = (η̂ − η) − (η̂_k − η_k)
//
// where γ makes the residual η̂ − η − Σ γ_k r_k least in the metric of q, but for correlations:
// Σ ψ_i u_i² + ½ Σ ψ_i ψ_j R_ij², with R its part of H, and u that of b less R m.
type mixture []natural // the latest first

// keep takes in a point that a step leaves, in the memory of the one that it takes the place of.
func (x *mixture) keep(p natural) {
	var room natural
	if last := Depth(int(math.Sqrt(float64(len(p.sites))))) - 1; len(*x) > last {
		room, *x = (*x)[last], (*x)[:last]
	}
	p.sites, p.curvature = append(room.sites[:0], p.sites...), append(room.curvature[:0], p.curvature...)
	*x = slices.Insert(*x, 0, p)
}

// Remember has climbs at other hyper-parameters draw on the points of the last climb, whichever is the last then: what
// each of them comes to does not depend on the others.
func (n *Newton) Remember() { n.near = n.earlier }

// leastStep is that from a point on which climbs at other hyper-parameters draw, about in standard deviations: of
// shorter ones rounding is a share that would be seen in where those go.
const leastStep = 1e-4

// moved returns the earlier points of a climb that ended at the first of them for one that begins at p, where the
// weights have variances psi: as far from p as they were from there, since at nearly the same hyper-parameters steps
// change alike.
func (x mixture) moved(p natural, psi []float64) (out mixture) {
	moved := func(earlier, end, begin []float64) []float64 {
		earlier = slices.Clone(earlier)
		kernel.Axpy(1, begin, earlier)
		kernel.Axpy(-1, end, earlier)
		return earlier
	}
	for k, q := range x {
		square := 0.0
		for j, v := range psi {
			square += v * (q.pull[j] - q.shift[j]) * (q.pull[j] - q.shift[j])
		}
		if end := x[0]; k > 0 && square >= leastStep*leastStep {
			out = append(out, natural{moved(q.sites, end.sites, p.sites), moved(q.curvature, end.curvature, p.curvature),
				moved(q.shift, end.shift, p.shift), moved(q.pull, end.pull, p.pull)})
		}
	}
	return out
}

// mix stores the sites of the next point in sites, and b less their product with the mean in h, by
// a step of length rho from a point.
func (n *Newton) mix(x mixture, sites, h []float64, p natural, at *Point, rho float64) {
	d := n.Dims
	gamma := n.shares(x, p, at)
	n.Workspace.Each(len(n.runs), func(i int) {
		row := n.runs[i].of
		x.mix(row(sites), gamma, rho, row(p.sites), row(p.curvature), func(k int) (at, to []float64) { return row(x[k].sites), row(x[k].curvature) })
	})
	b := make([]float64, d)
	x.mix(b, gamma, rho, p.shift, p.pull, func(k int) (at, to []float64) { return x[k].shift, x[k].pull })
	n.Layout.Mul(h, sites, at.Mean)
	for j := range h {
		h[j] = b[j] - h[j]
	}
}

// mix stores the next of a run of parameters in dst.
func (x mixture) mix(dst, gamma []float64, rho float64, at, to []float64, earlier func(k int) (at, to []float64)) {
	own := 1.0 // the share of the point itself
	for _, g := range gamma {
		own -= g
	}
	copy(dst, at)
	kernel.Scale(own*(1-rho), dst)
	kernel.Axpy(own*rho, to, dst)
	for k, g := range gamma {
		a, b := earlier(k)
		kernel.Axpy(g*(1-rho), a, dst)
		kernel.Axpy(g*rho, b, dst)
	}
}

// shares returns γ, none where there are no earlier points or they do not tell.
func (n *Newton) shares(x mixture, p natural, at *Point) []float64 {
	d, m, psi := n.Dims, len(x), at.Psi
	if m == 0 {
		return nil
	}
	metric := n.levels.metric(psi)
	residual := func(p natural) []float64 { // u
		u, difference := make([]float64, d), make([]float64, d)
		n.Layout.Mul(u, p.sites, at.Mean)
		n.Layout.Mul(difference, p.curvature, at.Mean)
		for j := range u {
			u[j] += p.pull[j] - p.shift[j] - difference[j]
		}
		return u
	}
	last, before := residual(p), make([][]float64, m)
	for k := range x {
		before[k] = residual(x[k])
	}
	width := m * (m + 1)
	rows := make([]float64, len(n.runs)*width) // products of residuals, of each run of H and b, summed in their order
	n.Workspace.InRuns(len(n.runs), func(from, until int) {
		room := make([]float64, (m+2)*n.runs[from].length())
		for i := from; i < until; i++ {
			run := n.runs[i]
			length := run.length()
			part := func(k int) []float64 { return room[k*length : (k+1)*length] }
			residual, weighted, sum := part(m), part(m+1), rows[i*width:(i+1)*width]
			copy(residual, run.of(p.curvature))
			kernel.Axpy(-1, run.of(p.sites), residual)
			for k := range m {
				r := part(k)
				copy(r, residual)
				kernel.Axpy(-1, run.of(x[k].curvature), r)
				kernel.Axpy(1, run.of(x[k].sites), r)
			}
			for k := range m {
				if metric != nil {
					for j, v := range run.of(metric) {
						weighted[j] = v * part(k)[j]
					}
				} else {
					for j, r := range part(k) {
						weighted[j] = psi[i] * psi[i+j] * r
					}
					weighted[0] /= 2
				}
				for l := range k + 1 {
					sum[k*m+l] = kernel.Dot(weighted, part(l))
					for j := run.first; j < run.last; j++ {
						sum[k*m+l] += psi[j] * (last[j] - before[k][j]) * (last[j] - before[l][j])
					}
					sum[l*m+k] = sum[k*m+l]
				}
				sum[m*m+k] = kernel.Dot(weighted, residual)
				for j := run.first; j < run.last; j++ {
					sum[m*m+k] += psi[j] * (last[j] - before[k][j]) * last[j]
				}
			}
		}
	})
	sum := rows[:width]
	for i := 1; i < len(n.runs); i++ {
		kernel.Axpy(1, rows[i*width:(i+1)*width], sum)
	}
	gamma := slices.Clone(sum[m*m:])
	if !solvePositive(m, sum[:m*m], gamma, gamma, true) {
		return nil
	}
	return gamma
}

// Shift returns b = (H + Λ⁻¹)m of a point.
func (n *Newton) Shift(at *Point) []float64 {
	shift := make([]float64, n.Dims)
	n.Layout.Mul(shift, at.Sites, at.Mean)
	pull := make([]float64, n.Dims)
	n.precision(pull, at.Mean, at.Prior)
	kernel.Axpy(1, pull, shift)
	return shift
}

// natural returns the natural parameters at a point, sharing its sites and the curvature there.
func (n *Newton) natural(at *Point, s *Statistics) natural {
	p := natural{at.Sites, s.Curvature, n.Shift(at), make([]float64, n.Dims)}
	n.Layout.Mul(p.pull, p.curvature, at.Mean)
	kernel.Axpy(1, s.Gradient, p.pull)
	return p
}
