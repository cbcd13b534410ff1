package gibbs

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

// fares say how every column would fare beside those that are in. With N the rows' noise, A the
// columns that are in and V their prior variances,
//
//	M⁻¹ = N⁻¹ − N⁻¹X_A C X_AᵀN⁻¹      C = (V⁻¹ + X_AᵀN⁻¹X_A)⁻¹
//
// so that all that is asked of M comes from products of the few columns that are in with all others.
type fares struct {
	order      []int     // the k columns that are in
	inverse    []float64 // C, k×k, in their order
	s, q       []float64 // of every column
	logDensity float64   // of y given the state
	*products
}

// products are sums over rows under W: that is N⁻¹ for classes, and 1 for normal targets, whose rows
// have one precision.
type products struct {
	of      [][]float64 // XᵀWx_j of columns that are or were in, nil for others
	held    int         // how many there are
	squares []float64   // x_jᵀWx_j of every column
	cross   []float64   // XᵀW(y − Xm), m the prior means of kept columns
	square  float64     // (y − Xm)ᵀW(y − Xm)
}

// heldNumbers bounds the products that a chain holds.
const heldNumbers = 4_000_000

// common returns the products of all columns, which chains of normal targets share where they would hold as many; else
// nil, and every chain takes those that it meets.
func (f *fit) common() [][]float64 {
	d := f.Table.Count()
	if f.Classes || d*d > f.config.Chains*heldNumbers {
		return nil
	}
	all, list := make([]float64, d*d), make([][]float64, d)
	f.Products(credence.NewWorkspace(f.config.Threads), all, nil)
	kernel.Symmetrize(d, all, d)
	for j := range list {
		list[j] = all[j*d : (j+1)*d]
	}
	return list
}

func newFares(d int) fares {
	return fares{s: make([]float64, d), q: make([]float64, d)}
}

// precision is what W leaves of N⁻¹.
func (c *chain) precision() float64 {
	if c.Classes {
		return 1
	}
	return math.Exp(-2 * c.logNoise)
}

// weigh multiplies numbers of the rows by W.
func (c *chain) weigh(rows []float64) {
	if c.Classes {
		floats.Div(rows, c.noise)
	}
}

// takeTargets takes the products anew for the targets and the noise of the rows.
func (c *chain) takeTargets() {
	d := c.Table.Count()
	c.products = &products{of: make([][]float64, d), squares: make([]float64, d), cross: make([]float64, d)}
	for i := range c.row {
		c.row[i] = 1
	}
	c.weigh(c.row)
	copy(c.of, c.shared)
	c.Squares(c.squares, c.row)
	gap := slices.Clone(c.y)
	for j, m := range c.KeptMean {
		if m != 0 {
			c.Column(c.column, j)
			kernel.Axpy(-m, c.column, gap)
		}
	}
	copy(c.row, gap)
	c.weigh(c.row)
	c.square = kernel.Dot(gap, c.row)
	c.MulTrans(c.ws, c.cross, c.row)
}

// product returns XᵀWx_j.
func (c *chain) product(j int) []float64 {
	if c.of[j] != nil {
		return c.of[j]
	}
	if d := len(c.of); c.held >= len(c.order)+1+heldNumbers/d {
		for l := range c.of {
			if c.of[l] != nil && !c.in[l] {
				c.of[l] = nil
				c.held--
			}
		}
	}
	c.held++
	c.of[j] = make([]float64, len(c.of))
	c.Column(c.column, j)
	c.weigh(c.column)
	c.MulTrans(c.ws, c.of[j], c.column)
	return c.of[j]
}

// included adds the columns that are in to a list.
func (c *chain) included(list []int) []int {
	for j, in := range c.in {
		if in {
			list = append(list, j)
		}
	}
	return list
}

// refresh takes C, S, Q and the density anew.
func (c *chain) refresh() error {
	d, pool, tau := c.Table.Count(), c.ws.Pool(), c.precision()
	c.order = c.included(c.order[:0])
	k := len(c.order)
	upper, solved := make([]float64, k*k), make([]float64, k)
	c.panel, c.inverse = grown(c.panel, k*d), grown(c.inverse, k*k)
	c.logDensity = -(tau*c.square + float64(c.Rows)*math.Log(2*math.Pi) + c.logNoises()) / 2
	for a, j := range c.order {
		row, v := c.product(j), c.variance(j)
		copy(c.panel[a*d:], row)
		for b, l := range c.order[a:] {
			upper[a*k+a+b] = tau * row[l]
		}
		upper[a*k+a] += 1 / v
		solved[a] = tau * c.cross[j]
		c.logDensity -= math.Log(v) / 2
	}
	if _, ok := pool.Cholesky(k, upper, k); !ok {
		return errDegenerate
	}
	pool.CholeskyInverse(k, upper, k, c.inverse, k)
	kernel.Symmetrize(k, c.inverse, k)
	pool.TrsmLeft(true, k, 1, upper, k, solved, 1)
	pool.TrsmLeft(true, k, d, upper, k, c.panel, d)
	for j, v := range c.squares {
		c.s[j], c.q[j] = tau*v, tau*c.cross[j]
	}
	for a, x := range solved {
		row := c.panel[a*d : (a+1)*d]
		for j, g := range row {
			c.s[j] -= tau * tau * g * g
		}
		kernel.Axpy(-tau*x, row, c.q)
		c.logDensity += x*x/2 - math.Log(upper[a*k+a])
	}
	return nil
}

// logNoises is log |N|.
func (c *chain) logNoises() float64 {
	if !c.Classes {
		return 2 * float64(c.Rows) * c.logNoise
	}
	sum := 0.0
	for _, v := range c.noise {
		sum += math.Log(v)
	}
	return sum
}

// flip takes column j in or out. Its own S comes from C, as the changes of all S do: errors of a sum
// that is carried on would grow tenfold each time that a column comes and goes.
func (c *chain) flip(j int) {
	v, tau, k := c.variance(j), c.precision(), len(c.order)
	clear(c.change) // XᵀM⁻¹x_j
	var scale float64
	if c.in[j] { // M⁻¹x_a = N⁻¹X_A C e_a / v_a, and 1 − v_aS_a = C_aa/v_a
		a := slices.Index(c.order, j)
		for b, l := range c.order {
			kernel.Axpy(tau*c.inverse[a*k+b]/v, c.of[l], c.change)
		}
		scale = -v * v / c.inverse[a*k+a]
		c.leave(a)
	} else {
		own, near := c.product(j), c.near[:0]
		for _, l := range c.order {
			near = append(near, tau*own[l])
		}
		c.near, c.solved = near, grown(c.solved, k)
		c.ws.Pool().Gemv(false, k, k, 1, c.inverse, k, near, 0, c.solved)
		kernel.Axpy(tau, own, c.change)
		for a, l := range c.order {
			kernel.Axpy(-tau*c.solved[a], c.of[l], c.change)
		}
		scale = v / (1 + v*c.change[j])
		c.enter(j, 1/scale)
	}
	of := c.q[j]
	c.logDensity += scale*of*of/2 + math.Log(math.Abs(scale)/v)/2
	s, q := c.s[:len(c.change)], c.q[:len(c.change)]
	for l, t := range c.change {
		by := scale * t
		s[l] -= by * t
		q[l] -= by * of
	}
	c.in[j] = !c.in[j]
}

// enter borders C by column j, of which c.solved is C times its products with the others, and schur
// the variance that they leave of it, in units of its precision.
func (c *chain) enter(j int, schur float64) {
	k := len(c.order)
	c.inverse = grown(c.inverse, (k+1)*(k+1))
	for a := k - 1; a >= 0; a-- {
		copy(c.inverse[a*(k+1):], c.inverse[a*k:(a+1)*k])
	}
	for a, u := range c.solved {
		row := c.inverse[a*(k+1) : (a+1)*(k+1)]
		kernel.Axpy(u/schur, c.solved, row[:k])
		row[k], c.inverse[k*(k+1)+a] = -u/schur, -u/schur
	}
	c.inverse[k*(k+1)+k] = 1 / schur
	c.order = append(c.order, j)
}

// leave takes the column at place a of the order out of C.
func (c *chain) leave(a int) {
	k := len(c.order)
	row := append(c.near[:0], c.inverse[a*k:(a+1)*k]...)
	for b, v := range row {
		if b != a {
			kernel.Axpy(-v/row[a], row, c.inverse[b*k:(b+1)*k])
		}
	}
	to := 0
	for i, v := range c.inverse[:k*k] {
		if i/k != a && i%k != a {
			c.inverse[to] = v
			to++
		}
	}
	c.near, c.inverse, c.order = row, c.inverse[:to], slices.Delete(c.order, a, a+1)
}

// grown returns x with the length n, and its contents as far as they go.
func grown(x []float64, n int) []float64 { return slices.Grow(x, max(0, n-len(x)))[:n] }
