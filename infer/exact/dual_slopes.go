package exact

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
)

// slopesFromGrams stores ½λ[αᵀGα − tr(K⁻¹G)] for every group's G.
func (p *dual) slopesFromGrams(at *values, slope *slopes) {
	n := p.n
	sums := make([]float64, n)
	for k, g := range p.grams {
		p.ws.Each(n, func(i int) {
			row, inverse, a := g[i*n+i:(i+1)*n], p.inverse[i*n+i:(i+1)*n], p.alpha[i]
			sum := 0.0
			for j, v := range row {
				sum += v * (a*p.alpha[i+j] - inverse[j])
			}
			sums[i] = 2*sum - row[0]*(a*a-inverse[0]) // the diagonal stands once
		})
		slope.prior[k] = at.prior[k] * kernel.Sum(sums) / 2
	}
}

// run is the number of rows whose sums a worker adds up at a time.
const run = 64

// slopesFromDesign stores the slopes of all values from K⁻¹Φ, block by block.
func (p *dual) slopesFromDesign(ctx context.Context, at *values, slope *slopes) error {
	n, cols := p.n, p.dense
	p.projectTo(p.project)
	quadratic := make([]float64, p.d) // φ_jᵀK⁻¹φ_j
	if p.columns.Rows > 0 && p.intercept {
		p.sums = append(p.sums[:0], make([]float64, n)...)
		p.ws.Each(n, func(i int) {
			p.sums[i] = kernel.Sum(p.inverse[i*n : (i+1)*n])
		})
	}
	for j := range p.columns.Rows {
		quadratic[cols+j] = p.columnForm(j)
	}
	clear(slope.hyper)
	for k := range p.rows.Blocks() {
		b, err := p.rows.Block(ctx, k)
		if err != nil {
			return err
		}
		first, rows := k*credence.BlockRows, b.Rows()
		p.slab = order.Resized(p.slab, rows*cols)
		slab := p.slab
		p.ws.Pool().Gemm(false, false, rows, cols, n, 1, p.inverse[first*n:], n, p.design.Dense.Data, max(1, cols), 0, slab, max(1, cols))
		// Runs of rows have sums of their own, which are added in the order of the rows.
		p.ws.Pool().Run((rows+run-1)/run, func(i, _ int) { p.turnRows(slab, first, i*run, min(rows, (i+1)*run)) })
		for from := 0; from < rows; from += run {
			kernel.Axpy(1, p.part[from/run*cols:][:cols], quadratic[:cols])
		}
		if slope.hyper == nil {
			continue
		}
		window := p.design.Window(first, rows)
		p.features.(credence.Tunable).Pullback(p.ws, slope.hyper, b, &window, slab)
	}
	for k, g := range p.groups {
		sum := 0.0
		for j := g.First; j < g.End(); j++ {
			sum += p.project[j]*p.project[j] - quadratic[j]
		}
		slope.prior[k] = at.prior[k] * sum / 2
	}
	return nil
}

// turnRows adds up φ_ij (K⁻¹Φ)_ij over the rows [from, to) of a block in the run's part, and
// turns K⁻¹Φ, in slab, into the slopes in Φ.
func (p *dual) turnRows(slab []float64, first, from, to int) {
	cols := p.dense
	sums := p.part[from/run*cols:][:cols]
	clear(sums)
	project, lambda := p.project[:cols], p.lambda[:cols]
	for i := from; i < to; i++ {
		row, phi, a := slab[i*cols:][:cols], p.design.Dense.Row(first + i)[:cols], p.alpha[first+i]
		for j := range sums {
			v := row[j]
			sums[j] += phi[j] * v
			row[j] = (a*project[j] - v) * lambda[j]
		}
	}
}

// projectTo stores Φᵀα in dst.
func (p *dual) projectTo(dst []float64) {
	if cols := p.dense; cols > 0 {
		p.ws.Pool().Gemv(true, p.n, cols, 1, p.design.Dense.Data, cols, p.alpha, 0, dst)
	}
	for j := p.dense; j < p.d; j++ {
		dst[j] = p.columns.AddRowDot(0, j-p.dense, p.alpha)
		if p.intercept {
			dst[j] -= p.means[j] * kernel.Sum(p.alpha)
		}
	}
}

// columnForm returns φᵀK⁻¹φ of a sparse column, centred.
func (p *dual) columnForm(j int) float64 {
	quadratic := 0.0
	for i, v := range p.columns.Each(j) {
		row := p.inverse[i*p.n : (i+1)*p.n]
		for o, u := range p.columns.Each(j) {
			quadratic += v * u * row[o]
		}
	}
	if p.intercept {
		mean := p.means[p.dense+j]
		quadratic += mean * (mean*kernel.Sum(p.sums) - 2*p.columns.AddRowDot(0, j, p.sums))
	}
	return quadratic
}
