package convex

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// thin leaves the columns that are in one row at most, such as words that a single text has, out of the systems of a
// table of classes. Given f' of the other columns, the weights of a row's own columns depend on that row alone, so that
// they are integrated out. With λ what A has beside the rows, G the rows' weights, and κ_i = Σ φ²/λ over row i's own
// columns,
//
//	A' = Φ'ᵀG'Φ' + λ',  G' = G/(1 + κG),  z = z'/(1 + κG)² + κ/(1 + κG),
//
// and draws of A' are completed by those of the other weights given f'. The intercept of A' stands at the means of the
// columns that are left. Its prior there is as wide as at the means of all, and differs by λ_0 c² beside the λ of the
// other weights, 1e-10 of it for words of one text among thousands.
type thin struct {
	*beside          // of all columns
	few     *beside  // of those that are left
	rest    *free    // their system
	kept    []int    // their places
	single  []single // the others
	// At the last precisions.
	lambda                []float64 // of all weights
	kappa, share, weights []float64 // κ, 1/(1 + κG) and G of every row
}

// single is the one entry of a column, 0 of one that has none.
type single struct {
	weight, row int
	value       float64
}

// thinShare is the share of columns in one row at most from which on the rest is a system of its own.
const thinShare = 0.25

// newThin returns nil where too few columns are in one row at most.
func newThin(all *beside) *thin {
	table := all.table
	n, d := table.Dims()
	dense := d
	if table.byColumn != nil {
		dense -= table.byColumn.Rows
	}
	t := &thin{beside: all, lambda: make([]float64, d), kappa: make([]float64, n), share: make([]float64, n)}
	var byColumn linop.CSR
	byColumn.Reset(n)
	for j := range d {
		if j < dense {
			t.kept = append(t.kept, j)
			continue
		}
		switch rows, values := table.byColumn.Row(j - dense); len(rows) {
		case 0:
			t.single = append(t.single, single{weight: j})
		case 1:
			t.single = append(t.single, single{j, int(rows[0]), linop.At(values, 0)})
		default:
			t.kept = append(t.kept, j)
			byColumn.AppendRow(rows, values)
		}
	}
	if float64(len(t.single)) < thinShare*float64(d) {
		return nil
	}
	left := &columns{ws: table.ws, phi: &credence.Design{Dense: table.phi.Dense, Sparse: byColumn.Transpose()}, byColumn: &byColumn}
	if table.means != nil {
		left.means = t.left(table.means)
	}
	t.few = &beside{table: left, classes: true, first: all.first, heavy: all.heavy}
	t.rest = &free{measured: new(measured), near: t.few.preconditioner}
	return t
}

// left returns the numbers of the columns that are left.
func (t *thin) left(of []float64) []float64 {
	out := make([]float64, len(t.kept))
	for k, j := range t.kept {
		out[k] = of[j]
	}
	return out
}

// take sets what a fit has learned.
func (t *thin) take(all *free) {
	t.few.normal = t.left(t.normal)
	*t.rest.measured, t.rest.ws, t.rest.seed = t.few.operators(), all.ws, all.seed
}

func (t *thin) factor(ctx context.Context, precision []float64) error {
	n := len(t.kappa)
	copy(t.lambda, t.normal)
	kernel.Axpy(1, precision[n:], t.lambda[t.first:][:len(precision)-n])
	for j, v := range t.lambda {
		t.lambda[j] = math.Max(v, leastPrecision)
	}
	clear(t.kappa)
	for _, s := range t.single {
		t.kappa[s.row] += s.value * s.value / t.lambda[s.weight]
	}
	t.weights = precision[:n]
	left := make([]float64, n, n+len(t.kept))
	for i, g := range t.weights {
		t.share[i] = 1 / (1 + t.kappa[i]*g)
		left[i] = g * t.share[i]
	}
	if len(precision) > n {
		for _, j := range t.kept[t.first:] {
			left = append(left, precision[n+j-t.first])
		}
	}
	return t.rest.factor(ctx, left)
}

// mean is that of a column, at which the intercept stands.
func (t *thin) mean(s single) float64 { return at(t.table.means, s.weight, 0) }

// solve stores A⁻¹v.
func (t *thin) solve(ctx context.Context, f *free, dst, v []float64) error {
	n := len(t.kappa)
	right, own, rows := t.left(v), make([]float64, n), make([]float64, n)
	for _, s := range t.single {
		own[s.row] += s.value / t.lambda[s.weight] * (v[s.weight] + t.mean(s)*v[0])
	}
	for i, q := range own {
		rows[i] = -t.weights[i] * t.share[i] * q
	}
	part := make([]float64, len(right))
	t.few.table.MulVecTrans(part, rows)
	kernel.Axpy(1, part, right)
	clear(part)
	if err := t.rest.solve(ctx, part, right); err != nil {
		return err
	}
	f.products, f.steps = f.products+t.rest.products, f.steps+t.rest.steps
	t.rest.products, t.rest.steps = 0, 0
	t.few.table.MulVec(rows, part)
	for i, q := range own { // −G f
		rows[i] = -t.weights[i] * t.share[i] * (rows[i] + q)
	}
	for k, j := range t.kept {
		dst[j] = part[k]
	}
	for _, s := range t.single {
		dst[s.weight] = (v[s.weight] + t.mean(s)*v[0] + s.value*rows[s.row]) / t.lambda[s.weight]
		dst[0] += t.mean(s) * dst[s.weight]
	}
	return nil
}

// drawn makes some draws, as [free.drawn] does.
func (t *thin) drawn(ctx context.Context, f *free, first, count int) ([]float64, linop.Convergence, error) {
	seen, report, err := t.rest.drawn(ctx, first, count)
	if err != nil {
		return nil, report, err
	}
	n, squares := len(t.kappa), make([]float64, len(f.a.precision))
	for i, share := range t.share {
		row := seen.Row(i)
		squares[i] = share * (share*kernel.Dot(row, row) + float64(count)*t.kappa[i])
	}
	if len(squares) > n {
		for k, j := range t.kept[t.first:] {
			row := seen.Row(n + k)
			squares[n+j-t.first] = kernel.Dot(row, row)
		}
		for _, s := range t.single { // of the mean given f', and the variance around it
			move := s.value / t.lambda[s.weight] * t.weights[s.row] * t.share[s.row]
			row := seen.Row(s.row)
			squares[n+s.weight-t.first] = move*move*kernel.Dot(row, row) + float64(count)*(1-s.value*move)/t.lambda[s.weight]
		}
	}
	own := make([]float64, n)
	for c := range count {
		draw, rng := f.last[first+c], credence.Rand(f.seed, credence.ConvexDraws, credence.ConvexSingle+uint64(first+c))
		for k, j := range t.kept {
			draw[j] = t.rest.last[first+c][k]
		}
		clear(own)
		for _, s := range t.single {
			draw[s.weight] = rng.NormFloat64() / math.Sqrt(t.lambda[s.weight])
			own[s.row] += s.value * draw[s.weight]
		}
		for i, share := range t.share { // how far f of a row's own columns is to go, over κ
			if kappa := t.kappa[i]; kappa > 0 {
				to := math.Sqrt(kappa*share)*rng.NormFloat64() - kappa*t.weights[i]*share*seen.Row(i)[c]
				own[i] = (to - own[i]) / kappa
			}
		}
		for _, s := range t.single {
			draw[s.weight] += s.value / t.lambda[s.weight] * own[s.row]
			draw[0] += t.mean(s) * draw[s.weight]
		}
	}
	return squares, report, nil
}
