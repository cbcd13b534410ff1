package convex

import (
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
)

// dualTable is the system of a table of fewer rows than weights. With Λ the inverse of the diagonal,
// G the weights of the rows and Φ centred,
//
//	A⁻¹ = Λ − ΛΦᵀG^½ S⁻¹ G^½ΦΛ,  S = I + G^½ΦΛΦᵀG^½,  ΦA⁻¹Φᵀ = G^−½ (I − S⁻¹) G^−½
//
// (Woodbury), in O(n³) operations and 3n² numbers.
type dualTable struct {
	diagonal
	byColumn linop.CSR // the sparse columns
	lambda   []float64
	kernel   []float64 // ΦΛΦᵀ, n×n, upper
	of       []float64 // λ that the kernel is of
	roots    []float64 // of G
	upper    []float64 // U, UᵀU = S
	inverse  []float64 // S⁻¹
	inverted bool
}

func newDual(d diagonal) *dualTable {
	n, p := d.table.Dims()
	t := &dualTable{diagonal: d, byColumn: d.table.phi.Sparse.Transpose(), lambda: make([]float64, p), roots: make([]float64, n)}
	t.kernel, t.upper, t.inverse = make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	return t
}

// leastPrecision keeps Λ finite.
const leastPrecision = 1e-12

func (t *dualTable) factor(_ context.Context, precision []float64) error {
	clear(t.lambda)
	t.addTo(t.lambda, 1, precision)
	for j, v := range t.lambda {
		t.lambda[j] = 1 / math.Max(v, leastPrecision)
	}
	if !slices.Equal(t.lambda, t.of) {
		t.setKernel()
		t.of = append(t.of[:0], t.lambda...)
	}
	n := len(t.roots)
	weights := t.rowWeights(precision)
	for i := range t.roots {
		t.roots[i] = math.Sqrt(at(weights, i, 1))
	}
	for i, r := range t.roots {
		for k := i; k < n; k++ {
			t.upper[i*n+k] = t.kernel[i*n+k] * r * t.roots[k]
		}
		t.upper[i*n+i]++
	}
	t.inverted = false
	return factorise(t.table.ws, n, t.upper)
}

// setKernel forms ΦΛΦᵀ.
func (t *dualTable) setKernel() {
	n, ws, phi := len(t.roots), t.table.ws, t.table.phi
	dense := phi.Dense.Cols
	ws.Pool().SyrkWeighted(n, dense, 1, phi.Dense.Data, max(1, phi.Dense.Stride), t.lambda[:dense], 0, t.kernel, n)
	if t.byColumn.Rows > 0 {
		t.byColumn.AddGram(ws.Pool(), &linop.Dense{Rows: n, Cols: n, Stride: n, Data: t.kernel}, t.lambda[dense:])
	}
	if t.table.means == nil {
		return
	}
	// (φ − φ₀c)ᵀΛ(φ' − φ'₀c) for the intercept's own column φ₀ = 1 and c with c₀ = 0.
	scaled, of := append([]float64(nil), t.table.means...), make([]float64, n)
	for j := range scaled {
		scaled[j] *= t.lambda[j]
	}
	phi.Mul(ws, of, scaled)
	mass := kernel.Dot(scaled, t.table.means)
	for i := range n {
		for k := i; k < n; k++ {
			t.kernel[i*n+k] += mass - of[i] - of[k]
		}
	}
}

func (t *dualTable) solve(_ context.Context, dst, v []float64) error {
	copy(dst, v)
	for j, l := range t.lambda {
		dst[j] *= l
	}
	rows := make([]float64, len(t.roots))
	t.table.project(rows, dst)
	for i, r := range t.roots {
		rows[i] *= r
	}
	solveUpper(t.table.ws, len(rows), t.upper, rows)
	for i, r := range t.roots {
		rows[i] *= r
	}
	back := make([]float64, len(dst))
	t.table.projectTrans(back, rows)
	for j, l := range t.lambda {
		dst[j] -= l * back[j]
	}
	return nil
}

func (t *dualTable) mul(dst, x []float64) {
	rows := make([]float64, len(t.roots))
	t.table.project(rows, x)
	for i, r := range t.roots {
		rows[i] *= r * r
	}
	t.table.projectTrans(dst, rows)
	for j, l := range t.lambda {
		dst[j] += x[j] / l
	}
}

func (t *dualTable) logDet() (float64, bool) {
	sum := logDet(len(t.roots), t.upper)
	for _, l := range t.lambda {
		sum -= math.Log(l)
	}
	return sum, true
}

func (t *dualTable) invert() {
	if !t.inverted {
		n := len(t.roots)
		t.table.ws.Pool().CholeskyInverse(n, t.upper, n, t.inverse, n)
		t.inverted = true
	}
}

func (t *dualTable) variances(_ context.Context, z []float64) error {
	t.invert()
	n, rows := len(t.roots), t.rowSites()
	for i, r := range t.roots[:rows] {
		if r > 0 {
			z[i] = math.Max(1-t.inverse[i*n+i], 0) / (r * r)
		} else {
			z[i] = t.kernel[i*n+i] // of a row that does not count: its prior variance bounds it
		}
	}
	if len(z) > rows {
		all := make([]float64, len(t.lambda))
		t.weightVariances(all)
		copy(z[rows:], all[t.sparse:])
	}
	return nil
}

// weightVariances stores λ − λ² φᵀTφ of every centred column φ, T = G^½S⁻¹G^½.
func (t *dualTable) weightVariances(dst []float64) {
	t.invert()
	n, ws, phi := len(t.roots), t.table.ws, t.table.phi
	sums, all := make([]float64, n), 0.0 // T1 and 1ᵀT1
	for i, r := range t.roots {
		sums[i] = r * kernel.Dot(t.inverse[i*n:(i+1)*n], t.roots)
		all += sums[i]
	}
	dense := phi.Dense.Cols
	scaled := make([]float64, n*dense) // G^½Φ
	for i, r := range t.roots {
		copy(scaled[i*dense:], phi.Dense.Row(i))
		kernel.Scale(r, scaled[i*dense:(i+1)*dense])
	}
	product := make([]float64, n*dense)
	ws.Pool().Gemm(false, false, n, dense, n, 1, t.inverse, n, scaled, dense, 0, product, dense)
	ws.InRuns(len(dst), func(from, to int) {
		for j := from; j < to; j++ {
			square, cross := 0.0, 0.0
			if j < dense {
				for i := range n {
					square += scaled[i*dense+j] * product[i*dense+j]
					cross += phi.Dense.Row(i)[j] * sums[i]
				}
			} else {
				for i, v := range t.byColumn.Each(j - dense) {
					part, row := 0.0, t.inverse[i*n:(i+1)*n]
					for k, w := range t.byColumn.Each(j - dense) {
						part += w * t.roots[k] * row[k]
					}
					square += v * t.roots[i] * part
					cross += v * sums[i]
				}
			}
			if mean := at(t.table.means, j, 0); mean != 0 {
				square += mean * (mean*all - 2*cross)
			}
			l := t.lambda[j]
			dst[j] = math.Max(l-l*l*square, 1e-12*l)
		}
	})
}

func (t *dualTable) covariance(dst []float64, scale float64) {
	n, d, phi := len(t.roots), len(t.lambda), t.table.phi
	half := make([]float64, n*d) // U⁻ᵀG^½ΦΛ
	for i, r := range t.roots {
		row := half[i*d : (i+1)*d]
		copy(row, phi.Dense.Row(i))
		for j, v := range phi.Sparse.Each(i) {
			row[phi.Dense.Cols+j] += v
		}
		if t.table.means != nil {
			kernel.Axpy(-row[0], t.table.means, row)
		}
		for j, l := range t.lambda {
			row[j] *= r * l
		}
	}
	t.table.ws.Pool().TrsmLeft(true, n, d, t.upper, n, half, d)
	clear(dst)
	t.table.ws.Pool().Gram(n, d, half, d, nil, dst, d)
	for j, l := range t.lambda {
		kernel.Scale(-scale, dst[j*d+j:(j+1)*d])
		dst[j*d+j] += scale * l
	}
}

func (t *dualTable) posterior(mean []float64, root float64) credence.Posterior {
	q := &posterior.Dual{
		Mean: mean, PriorVariance: slices.Clone(t.lambda), Centre: slices.Clone(t.table.means),
		Factor: slices.Clone(t.upper), Scale: root,
	}
	n, _ := t.table.Dims()
	q.Design.Dense = linop.NewDense(n, t.table.phi.Dense.Cols)
	for i, r := range t.roots {
		kernel.Axpy(r, t.table.phi.Dense.Row(i), q.Design.Dense.Row(i))
	}
	q.Design.Sparse = t.table.phi.Sparse.ScaleRows(t.roots)
	return q
}
