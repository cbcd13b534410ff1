package laplace

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
)

// marginals are the diagonal of H⁻¹, H = XᵀWX + diag v.
type marginals struct {
	variance []float64
	logDet   float64 // log |H|, NaN where it is not known
	near     float64 // about log |H| where it is not known
	raised   int     // curvatures v that were raised to the least
	err      float64 // of Random: root mean square of the standard errors over that of the variances
}

// flooredShare is the least curvature of a prior in units of the slab's, where one must be positive.
const flooredShare = 0.1

// spread finds the marginal variances at a mode, at which f.loss was called last.
func (f *fit) spread(p normals, w []float64) (*marginals, error) {
	f.loss(w, nil)
	bends, least, variances := f.bends(p, w, nil), flooredShare/p.slab, f.variances()
	if variances == Exact {
		if m, err := f.exact(bends, least); m != nil || err != nil {
			return m, err
		}
	}
	raised := f.floor(bends, least) // of exact ones where the mode is not a strict minimum
	var m *marginals
	var err error
	switch variances {
	case Nystrom:
		m, err = f.nystrom(bends)
	case Random:
		m = f.random(bends)
	default:
		m, err = f.exact(bends, least)
	}
	if m != nil {
		if m.raised = raised; math.IsNaN(m.logDet) {
			m.near, err = f.nearLogDet(bends, m.variance, mostFactored)
		}
	} else if err == nil {
		err = fmt.Errorf("laplace: the curvature at the mode is not positive: scale the columns")
	}
	return m, err
}

// variances is how they are found.
func (f *fit) variances() Variances {
	switch {
	case f.config.Variances != "":
		return f.config.Variances
	case min(f.Rows, f.Table.Count()) <= exactSide:
		return Exact
	}
	return Random
}

// floor raises curvatures of candidates to the least, and counts them.
func (f *fit) floor(bends []float64, least float64) (raised int) {
	for j, v := range bends {
		if v < least && f.Kept[j] == 0 {
			bends[j] = least
			raised++
		}
	}
	return raised
}

// exact is nil where H is not positive definite.
func (f *fit) exact(bends []float64, least float64) (*marginals, error) {
	if f.Table.Count() <= f.Rows {
		return f.primal(bends, least), nil
	}
	return f.dual(bends, least)
}

// primal factors H, d×d. Curvatures below the least count as that much in the prior, and what they lack stands with
// XᵀWX.
func (f *fit) primal(bends []float64, least float64) *marginals {
	d := len(bends)
	h, deviations := make([]float64, d*d), make([]float64, d)
	f.Products(f.ws, h, f.curvature)
	m := &marginals{variance: make([]float64, d)}
	for j, v := range bends {
		if v < least {
			h[j*d+j] += v - least
		}
		deviations[j] = 1 / math.Sqrt(math.Max(v, least))
		m.logDet -= 2 * math.Log(deviations[j])
	}
	system := gauss.Dense{Weights: d}.Factor(f.ws)
	if system.Set(h, 1, deviations) != nil {
		return nil
	}
	system.Variances(m.variance)
	m.logDet += system.LogDet()
	return m
}

// dual uses K = W⁻¹ + X_G V⁻¹X_Gᵀ, n×n, of the columns G whose curvature is above the least, K⁻¹ as [gauss.Dual] has
// it. The few others B, whose curvature may be negative, have the Schur complement S = diag v_B + X_BᵀK⁻¹X_B, and
//
//	(H⁻¹)_BB = S⁻¹      (H⁻¹)_jj = 1/v_j − x_jᵀK⁻¹x_j/v_j² + t_jᵀS⁻¹t_j/v_j², t_j = X_BᵀK⁻¹x_j
func (f *fit) dual(bends []float64, least float64) (*marginals, error) {
	n, d, pool := f.Rows, len(bends), f.ws.Pool()
	var few []int
	scales := make([]float64, d)
	m := &marginals{variance: make([]float64, d)}
	for j, v := range bends {
		if v < least {
			few = append(few, j)
			continue
		}
		scales[j] = 1 / v
		m.logDet += math.Log(v)
	}
	outer, roots, system := make([]float64, n*n), make([]float64, n), gauss.NewDual(f.ws, n)
	f.Outer(f.ws, outer, scales)
	for i, c := range f.curvature {
		roots[i] = math.Sqrt(c)
	}
	if err := system.Set(outer, roots); err != nil {
		return nil, fmt.Errorf("laplace: %w", err)
	}
	m.logDet += system.LogDet()
	f.Quadratics(f.ws, m.variance, system, nil)
	for j, v := range scales {
		m.variance[j] = v - v*v*m.variance[j]
	}
	if len(few) == 0 {
		return m, nil
	}
	// rows of products are X ᵀK⁻¹x_b of all columns
	size := len(few)
	products, solved := make([]float64, size*d), make([]float64, n)
	schur := make([]float64, size*size)
	for a, b := range few {
		f.Column(solved, b)
		system.Solve(solved, solved)
		f.MulTrans(f.ws, products[a*d:(a+1)*d], solved)
	}
	for a := range few {
		for c, b := range few {
			schur[a*size+c] = products[a*d+b]
		}
		schur[a*size+a] += bends[few[a]]
	}
	if _, ok := pool.Cholesky(size, schur, size); !ok {
		return nil, nil
	}
	for a := range size {
		m.logDet += 2 * math.Log(schur[a*size+a])
	}
	inverse := make([]float64, size*size)
	pool.CholeskyInverse(size, schur, size, inverse, size)
	pool.TrsmLeft(true, size, d, schur, size, products, d)
	for j, v := range scales {
		for a := range size {
			t := products[a*d+j]
			m.variance[j] += v * v * t * t
		}
	}
	for a, b := range few {
		m.variance[b] = inverse[a*size+a]
	}
	return m, nil
}

// mostFactored is the number of columns of which an estimate of log |H| factors H, fewer where they have more than
// factoredNumbers entries.
const (
	mostFactored    = 500
	factoredNumbers = 1 << 24
)

// nearLogDet is about log |H|, given the diagonal of H⁻¹: the part of H of the columns S that rows tell most of, so
// many at most, is factored, and the others are taken to be independent given the rows,
//
//	|H|⁻¹ = |(H⁻¹)_RR| / |H_SS| ≤ Π_R (H⁻¹)_jj / |H_SS|      R the others
func (f *fit) nearLogDet(bends, variance []float64, most int) (float64, error) {
	n, told := f.Rows, order.Places(len(bends))
	slices.SortStableFunc(told, func(a, b int) int { return cmp.Compare(bends[a]*variance[a], bends[b]*variance[b]) })
	size := min(len(told), most, max(1, factoredNumbers/n))
	columns, h, deviations := make([]float64, size*n), make([]float64, size*size), make([]float64, size)
	sum := 0.0
	for k, j := range told {
		if k >= size {
			sum -= math.Log(variance[j])
			continue
		}
		f.Column(columns[k*n:(k+1)*n], j)
		deviations[k] = 1 / math.Sqrt(bends[j])
		sum += math.Log(bends[j])
	}
	f.ws.Pool().SyrkWeighted(size, n, 1, columns, n, f.curvature, 0, h, size)
	system := gauss.Dense{Weights: size}.Factor(f.ws)
	if err := system.Set(h, 1, deviations); err != nil {
		return 0, fmt.Errorf("laplace: %w", err)
	}
	return sum + system.LogDet(), nil
}

// scaled stores column j times the square roots of the rows' curvatures.
func (f *fit) scaled(dst []float64, j int) {
	f.Column(dst, j)
	for i, c := range f.curvature {
		dst[i] *= math.Sqrt(c)
	}
}

// clip keeps a variance between next to nothing and that of the prior alone.
func clip(variance, prior float64) float64 {
	return math.Min(math.Max(variance, 1e-12*prior), prior)
}

// project removes from v its parts along the rows of basis, which are orthonormal, twice for rounding.
func project(v, basis []float64) {
	n := len(v)
	for range 2 {
		for first := 0; first < len(basis); first += n {
			row := basis[first : first+n]
			kernel.Axpy(-kernel.Dot(row, v), row, v)
		}
	}
}
