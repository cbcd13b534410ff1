package laplace

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/lbfgs"
	"github.com/credence-ml/credence/internal/special"
)

// parabolas is the problem of the mode with nearly all weights under a parabola. −log p(w) is concave in w², and so
// lies below the parabola that touches it at the present weight, of curvature ρ/r₁ + (1−ρ)/r₀: what lowers the
// objective with parabolas in its place lowers the objective itself, and they hardly change where the spike is all
// there is to a weight. Of the weights R under parabolas only their sum in f counts, Lu with u ~ N(0, I) and LLᵀ = X_R
// V⁻¹X_Rᵀ. So the search is over the few other weights and over u, which has as many numbers as there are rows, however
// many columns there are.
type parabolas struct {
	*fit
	p       normals
	few     []int     // columns of the other weights, in the order in which they came
	inside  []bool    // of every column that is not kept, whether it is one of them
	inverse []float64 // V⁻¹, 0 of those inside
	lines   []float64 // the few columns and the rows of Lᵀ, n numbers each
	at      []float64 // their weights
}

const (
	// fewShare is the share of its curvature at 0 that a parabola may lose before its weight is searched for,
	// and fewRows how many weights may be, in rows; those that lost most come first.
	fewShare = 0.01
	fewRows  = 4
	// jitter makes X_R V⁻¹X_Rᵀ positive definite where columns are centred, in units of its mean diagonal.
	jitter = 1e-10
)

// reducible says whether the rows have fewer products with each other than the columns have entries.
func (f *fit) reducible() bool {
	entries := 0
	for j := 0; j < f.Table.Count() && entries <= f.Rows*f.Rows; j++ {
		entries += f.Stored(j)
	}
	return entries > f.Rows*f.Rows
}

// parabolas returns the problem, in which weights that are kept are searched for.
func (f *fit) parabolas(p normals, weights int) *parabolas {
	r := &parabolas{fit: f, p: p, inside: make([]bool, weights), inverse: make([]float64, weights)}
	for j, v := range f.Kept {
		if v > 0 {
			r.few = append(r.few, j)
		}
	}
	return r
}

// minimise minimises from where m is, by rounds of parabolas.
func (r *parabolas) minimise(ctx context.Context, m *mode, cfg lbfgs.Config) error {
	m.objective, m.converged = r.fit.objective(r.p, m.weights, nil), false
	r.admit(m.weights)
	for left := cfg.MaxIterations; left > 0 && !m.converged; {
		if err := r.take(m.weights); err != nil {
			return err
		}
		cfg.MaxIterations, cfg.Curvature = left, r.metric()
		result, err := lbfgs.Minimise(r.at, func(x, gradient []float64) (float64, error) {
			return r.objective(x, gradient), ctx.Err()
		}, cfg)
		if err != nil {
			return err
		}
		r.store(m.weights)
		before := m.objective
		m.objective = r.fit.objective(r.p, m.weights, nil)
		m.iterations += result.Iterations
		left -= max(1, result.Iterations)
		more, moved := r.admit(m.weights)
		m.converged = !more && (moved < cfg.Tolerance && result.Converged || before-m.objective < cfg.Tolerance)
	}
	return nil
}

// admit takes all parabolas at w, and says whether there are more weights to be searched for, and how far the parabolas
// moved at w.
func (r *parabolas) admit(w []float64) (more bool, moved float64) {
	type loss struct {
		column int
		share  float64
	}
	var losses []loss
	highest := r.p.rate(special.Sigmoid(-r.p.odds(0)))
	r.each(r.p, w, nil, func(j int, q normals, spike, _ float64) {
		if r.inside[j] {
			return
		}
		top, rate := highest, q.rate(spike)
		if q.logOdds != r.p.logOdds {
			top = q.rate(special.Sigmoid(-q.odds(0)))
		}
		moved += math.Abs(1/r.inverse[j]-rate) * w[j] * w[j] / 2
		if r.inverse[j] = 1 / rate; rate < (1-fewShare)*top {
			losses = append(losses, loss{j, rate / top})
		}
	})
	slices.SortStableFunc(losses, func(a, b loss) int { return cmp.Compare(a.share, b.share) })
	losses = losses[:min(len(losses), max(0, fewRows*r.Rows-len(r.few)))]
	for _, l := range losses {
		r.few, r.inside[l.column], r.inverse[l.column] = append(r.few, l.column), true, 0
	}
	return len(losses) > 0, moved
}

// take makes columns and weights of the search at w, of which f.latent is Xw.
func (r *parabolas) take(w []float64) error {
	n, m := r.Rows, len(r.few)
	r.lines, r.at = make([]float64, (m+n)*n), make([]float64, m+n)
	u, upper := r.at[m:], r.lines[m*n:]
	copy(u, r.latent)
	for k, j := range r.few {
		column := r.lines[k*n : (k+1)*n]
		r.Column(column, j)
		r.at[k] = w[j]
		kernel.Axpy(-w[j], column, u)
	}
	r.Outer(r.ws, upper, r.inverse)
	size := math.SmallestNonzeroFloat32
	for i := range n {
		size += jitter / float64(n) * upper[i*n+i]
	}
	for i := range n {
		upper[i*n+i] += size
	}
	if pivot, ok := r.ws.Pool().Cholesky(n, upper, n); !ok {
		return fmt.Errorf("laplace: the covariance of the rows is not positive definite (row %d): scale the columns", pivot+1)
	}
	r.ws.Pool().TrsmLeft(true, n, 1, upper, n, u, 1)
	return nil
}

// objective is that of the fit with parabolas, but for their constants.
func (r *parabolas) objective(x, gradient []float64) float64 {
	n, m, pool := r.Rows, len(r.few), r.ws.Pool()
	pool.Gemv(true, m+n, n, 1, r.lines, n, x, 0, r.latent)
	sum := r.rowLoss()
	pool.Gemv(false, m+n, n, -1, r.lines, n, r.residual, 0, gradient)
	kernel.Axpy(1, x[m:], gradient[m:])
	return sum + kernel.Dot(x[m:], x[m:])/2 + r.summed(r.p, x[:m], gradient[:m], r.few)
}

// metric is a guess of the diagonal of the Hessian.
func (r *parabolas) metric() []float64 {
	n, m := r.Rows, len(r.few)
	squares := make([]float64, m+n)
	for k := range squares {
		squares[k] = kernel.Dot(r.lines[k*n:(k+1)*n], r.lines[k*n:(k+1)*n])
	}
	mean := r.toMetric(r.p, squares[:m], r.at[:m], r.few)
	for k, v := range squares[m:] {
		squares[m+k] = 1 + mean*v
	}
	return squares
}

// store takes all weights from those of the search: w_R = V⁻¹X_RᵀL⁻ᵀu.
func (r *parabolas) store(w []float64) {
	n, m := r.Rows, len(r.few)
	r.ws.Pool().TrsmLeft(false, n, 1, r.lines[m*n:], n, r.at[m:], 1)
	r.MulTrans(r.ws, w, r.at[m:])
	floats.Mul(w, r.inverse)
	for k, j := range r.few {
		w[j] = r.at[k]
	}
}
