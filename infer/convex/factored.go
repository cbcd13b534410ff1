package convex

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/posterior"
)

// factored is the system of a table whose A is factored, so that variances are exact.
type factored interface {
	system
	// take sets what a fit has learned: the operators, offsets, and the diagonal that A has beside the rows.
	take(m measured, offset, normal []float64)
	// mul stores Ax.
	mul(dst, x []float64)
	// weightVariances stores diag A⁻¹ of (b̃, w).
	weightVariances(dst []float64)
	// covariance stores the upper triangle of scale A⁻¹ of (b̃, w), d×d.
	covariance(dst []float64, scale float64)
	// tracedBy returns tr ΦᵀWΦA⁻¹ for normal targets, with diag A⁻¹ and the precisions of the sites.
	tracedBy(variances, precision []float64) float64
	// posterior is N(mean, root² A⁻¹) of the weights at zero of the columns.
	posterior(mean []float64, root float64) credence.Posterior
}

// diagonal is what A has beside the rows.
type diagonal struct {
	measured
	offsets
	table   *columns
	classes bool
	normal  []float64 // prior precisions of (b̃, w) times σ²
	sparse  int       // first weight that is a site of its own
}

func (t *diagonal) take(m measured, offset, normal []float64) {
	t.measured, t.offsets, t.normal = m, offsets{offset}, normal
}

func (t *diagonal) sites(dst, u []float64) {
	t.measured.sites(dst, u)
	t.add(dst)
}

// rowSites is the number of rows that are sites; weights that are follow them.
func (t *diagonal) rowSites() int {
	if !t.classes {
		return 0
	}
	rows, _ := t.table.Dims()
	return rows
}

// rowWeights returns the weights of the rows in A, nil where all are 1.
func (t *diagonal) rowWeights(precision []float64) []float64 {
	if t.classes {
		return precision[:t.rowSites()]
	}
	if t.table.roots == nil {
		return nil
	}
	weights := make([]float64, len(t.table.roots))
	for i, r := range t.table.roots {
		weights[i] = r * r
	}
	return weights
}

// addTo adds the diagonal to dst, whose elements are stride apart.
func (t *diagonal) addTo(dst []float64, stride int, precision []float64) {
	for j, v := range t.normal {
		dst[j*stride] += v
	}
	for k, v := range precision[t.rowSites():] {
		dst[(t.sparse+k)*stride] += v
	}
}

// tracedBy returns tr ΦᵀWΦA⁻¹ = tr A⁻¹A less the diagonal's part, for diag A⁻¹.
func (t *diagonal) tracedBy(variances, precision []float64) float64 {
	rest := make([]float64, len(t.normal))
	t.addTo(rest, 1, precision)
	return float64(len(rest)) - kernel.Dot(rest, variances)
}

// exactTable is the system of a table of so few columns that A is formed and factored. The first sites are
// its rows, for classes; the last ones weights under a prior that is not normal.
type exactTable struct {
	diagonal
	fixed   []float64 // ΦᵀWΦ, centred, for normal targets
	upper   []float64 // d×d
	inverse []float64 // U⁻¹
}

func newExact(d diagonal) *exactTable {
	_, p := d.table.Dims()
	return &exactTable{diagonal: d, upper: make([]float64, p*p)}
}

func (t *exactTable) gram(dst, weights []float64) {
	clear(dst)
	n, d := t.table.Dims()
	for first, count := range credence.Blocks(n) { // the order of additions of every engine
		part := t.table.phi.Window(first, count)
		var of []float64
		if weights != nil {
			of = weights[first : first+count]
		}
		part.AddGram(t.table.ws, dst, of)
	}
	credence.LiftGram(dst, d, t.table.phi.Dense.Cols)
	if t.table.means != nil {
		problem.CentreGram(dst, t.table.means)
	}
}

func (t *exactTable) factor(_ context.Context, precision []float64) error {
	d := len(t.normal)
	if t.classes {
		t.gram(t.upper, t.rowWeights(precision))
	} else {
		if t.fixed == nil {
			t.fixed = make([]float64, d*d)
			t.gram(t.fixed, t.rowWeights(nil))
		}
		copy(t.upper, t.fixed)
	}
	t.addTo(t.upper, d+1, precision)
	return factorise(t.table.ws, d, t.upper)
}

func (t *exactTable) solve(_ context.Context, dst, v []float64) error {
	copy(dst, v)
	solveUpper(t.table.ws, len(v), t.upper, dst)
	return nil
}

func (t *exactTable) mul(dst, x []float64) {
	d := len(x)
	rows := make([]float64, d) // Ux
	for i := range d {
		rows[i] = kernel.Dot(t.upper[i*d+i:(i+1)*d], x[i:])
	}
	clear(dst)
	for i, v := range rows {
		kernel.Axpy(v, t.upper[i*d+i:(i+1)*d], dst[i:])
	}
}

func (t *exactTable) logDet() (float64, bool) { return logDet(len(t.normal), t.upper), true }

// invert makes inverse the factor F of A⁻¹ = FFᵀ of (b̃, w).
func (t *exactTable) invert() {
	d := len(t.normal)
	if t.inverse == nil {
		t.inverse = make([]float64, d*d)
	}
	clear(t.inverse)
	for j := range d {
		t.inverse[j*d+j] = 1
	}
	t.table.ws.Pool().TrsmRight(false, d, d, t.upper, d, t.inverse, d)
}

func (t *exactTable) variances(_ context.Context, z []float64) error {
	rows := t.rowSites()
	all := make([]float64, len(t.normal))
	t.weightVariances(all)
	copy(z[rows:], all[t.sparse:])
	if !t.classes {
		return nil
	}
	if t.table.means != nil {
		problem.UncentreFactor(t.table.means, t.inverse)
	}
	q := posterior.Full{Mean: make([]float64, len(all)), Factor: t.inverse}
	q.Latent(t.table.ws, make([]float64, rows), z[:rows], t.table.phi)
	return nil
}

func (t *exactTable) weightVariances(dst []float64) {
	t.invert()
	d := len(dst)
	for j := range dst {
		row := t.inverse[j*d : (j+1)*d]
		dst[j] = kernel.Dot(row, row)
	}
}

func (t *exactTable) covariance(dst []float64, scale float64) {
	t.invert()
	d := len(t.normal)
	t.table.ws.Pool().Syrk(d, d, scale, t.inverse, d, 0, dst, d)
}

func (t *exactTable) posterior(mean []float64, root float64) credence.Posterior {
	t.invert()
	if t.table.means != nil {
		problem.UncentreFactor(t.table.means, t.inverse)
	}
	kernel.Scale(root, t.inverse)
	return &posterior.Full{Mean: mean, Factor: t.inverse}
}
