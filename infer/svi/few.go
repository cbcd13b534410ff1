package svi

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
)

// few is the algebra of a full covariance by rows, for fewer rows than weights. With K = ΦΦᵀ = LLᵀ of a block of d
// weights of prior variance λ, all that the n rows say of the weights they say of
//
//	z = L⁻¹Φw ~ N(0, λI)      f = Lz      w | z ~ N(Vz, λ(I − VVᵀ)),  V = ΦᵀL⁻ᵀ
//
// so that a fit of z by the columns of L has the same bound, slopes and hyper-parameters, and its q(z) = N(m, C) is
// q(w) = N(Vm, λI − V(λI − C)Vᵀ). Columns stand about the means that the intercept takes off. Blocks of hardly more
// weights than rows stay as they are. A column of zeros beside L keeps its prior: its variance is what λ comes to where
// hyper-parameters are integrated over.
//
// It takes n²d operations and nd numbers more than the fit of n + 1 weights a block, in place of d³ and d².
type few struct {
	features credence.Features // of the weights
	groups   []base.Group
	zero     []int // columns that are 0 in every row
	means    []float64
	lines    linop.Dense     // Vᵀ
	design   credence.Design // the same as rows of the features' columns
	// of every group the weight of z that keeps its prior; -1 where none was added
	unseen []int
	known  map[*float64]*posterior.DualSum // by the factor of q(z)
}

// fewShare is how many times the weights must be those of z for the algebra by rows to be used.
const fewShare = 2

// jitter is what makes K positive definite where columns are centred, as a share of its mean diagonal: a row more of
// noise as faint.
const jitter = 1e-12

// byRows says of which groups the weights are replaced, and how many weights are left.
func byRows(groups []base.Group, rows int) (replaced []bool, weights int) {
	replaced = make([]bool, len(groups))
	for k, g := range groups {
		if replaced[k] = g.Count > fewShare*(rows+1); replaced[k] {
			weights += rows + 1
		} else {
			weights += g.Count
		}
	}
	return replaced, weights
}

// reduce replaces the problem by that of z where the rows are few and no features move. Free says that nothing is
// stated about hyper-parameters, which are then integrated over if z is small enough.
func (r *fit) reduce(ctx context.Context, free bool) error {
	n, d := r.Data.Total(), r.Dims
	_, learned := base.LearnedHypers(r.Features)
	replaced, weights := byRows(r.Groups, n)
	if r.config.Covariance != Full || r.Pattern != nil || len(learned) > 0 || fewShare*weights > d {
		return nil
	}
	ws := r.Workspace
	all, err := r.Data.Held(ctx, ws)
	if err != nil {
		return err
	}
	f := &few{features: r.Features, groups: r.Groups, known: map[*float64]*posterior.DualSum{}}
	if r.Groups[0].Intercept {
		f.means = base.Means(r.Groups, all.Sums.Totals, all.Sums.Square)
	}
	for j, square := range all.Sums.Squares {
		if square == 0 {
			f.zero = append(f.zero, j)
		}
	}
	dense := all.Design.Dense.Cols
	columns := base.NewColumns(&all.Design, f.means, nil)
	reduced := &all.Batch
	reduced.X = linop.NewDense(n, weights)
	f.lines = linop.NewDense(weights, d)
	var groups []base.Group
	next, column, scales := 0, make([]float64, n), make([]float64, d)
	for k, g := range r.Groups {
		own := g
		own.First, own.Block, own.Tuned = next, k, true // one size, and no means
		unseen := -1
		if !replaced[k] {
			for j := g.First; j < g.End(); j++ {
				columns.Column(column, j)
				at := next + j - g.First
				for i, v := range column {
					reduced.X.Row(i)[at] = v
				}
				f.lines.Row(at)[j] = 1
			}
		} else {
			clear(scales)
			for j := g.First; j < g.End(); j++ {
				scales[j] = 1
			}
			if err := f.lower(ws, columns, g, scales, reduced.X, next); err != nil {
				return err
			}
			own.Count, unseen = n+1, next+n
		}
		own.Of = own.Count
		next += own.Count
		groups, f.unseen = append(groups, own), append(f.unseen, unseen)
	}
	if f.means != nil { // rows without an intercept stand as they are, and its own is that of the means
		kernel.Axpy(1, f.means, f.lines.Row(0))
	}
	f.design = directions(f.lines, dense)
	if f.means != nil {
		kernel.Axpy(-1, f.means, f.lines.Row(0))
	}
	features := &combinations{}
	for _, g := range groups {
		features.blocks = append(features.blocks, credence.Block{Name: g.Name, First: g.First, Count: g.Count, Intercept: g.Intercept})
	}
	if free && weights <= base.FullWeights {
		r.config.Hyper, r.Hyper = param.Integrate, param.Integrate
	}
	r.few, r.Features, r.Groups, r.Dims = f, features, groups, weights
	r.Data, err = base.Open(r.Engine, credence.Model{Features: features, Likelihood: r.Likelihood, Prior: r.Prior}, &base.Memory{All: *reduced}, base.AllRoles)
	return err
}

// lower stores the L of a group, whose scales are 1, in the columns of x from weight next on, and its Vᵀ in as many
// lines.
func (f *few) lower(ws *credence.Workspace, columns *base.Columns, g base.Group, scales []float64, x linop.Dense, next int) error {
	n := columns.Rows
	outer := make([]float64, n*n)
	columns.Outer(ws, outer, scales)
	mean := 0.0
	for i := range n {
		mean += outer[i*n+i] / float64(n)
	}
	if mean == 0 {
		return nil
	}
	share := 1 / (jitter * mean) // I + K/δ = UᵀU, so that L = √δ Uᵀ
	kernel.Scale(share, outer)
	system := gauss.NewDual(ws, n)
	if err := system.Set(outer, nil); err != nil {
		return err
	}
	root, upper := math.Sqrt(1/share), system.Upper()
	for i := range n {
		for k := range i + 1 {
			x.Row(i)[next+k] = root * upper[k*n+i]
		}
	}
	const panel = 256
	vectors := make([]float64, min(panel, g.Count)*n)
	for first := g.First; first < g.End(); first += panel {
		count := min(panel, g.End()-first)
		for j := range count {
			columns.Column(vectors[j*n:(j+1)*n], first+j)
		}
		system.Half(vectors[:count*n], count)
		for j := range count {
			for k, v := range vectors[j*n : (j+1)*n] {
				f.lines.Row(next + k)[first+j] = v / root
			}
		}
	}
	return nil
}

// directions is the lines as rows of features that have so many dense columns.
func directions(lines linop.Dense, dense int) credence.Design {
	var out credence.Design
	out.Dense = linop.NewDense(lines.Rows, dense)
	out.Sparse.Reset(lines.Cols - dense)
	var places []int32
	var values []float64
	for k := range lines.Rows {
		row := lines.Row(k)
		copy(out.Dense.Row(k), row[:dense])
		if places, values = places[:0], values[:0]; lines.Cols > dense {
			for j, v := range row[dense:] {
				if v != 0 {
					places, values = append(places, int32(j)), append(values, v)
				}
			}
			out.Sparse.AppendRow(places, values)
		}
	}
	return out
}

// weights returns q(w) of a q(z).
func (f *few) weights(ws *credence.Workspace, of *posterior.Full) credence.Posterior {
	k, d := f.lines.Rows, f.lines.Cols
	shared := f.known[&of.Factor[0]]
	if shared == nil {
		shared = &posterior.DualSum{Design: f.design, Centre: f.means, Blocks: []int{d}, PriorVariance: make([]float64, d), Scale: 1, DF: of.DF}
		pairs := make([]float64, k*k)
		gauss.Root(of.Factor).Covariance(ws, pairs, k)
		kernel.Scale(-1, pairs)
		next := 0
		for b, g := range f.groups {
			if at := f.unseen[b]; at >= 0 {
				prior := -pairs[at*k+at]
				for j := next; j < at; j++ {
					pairs[j*k+j] += prior
				}
				for j := g.First; j < g.End(); j++ {
					shared.PriorVariance[j] = prior
				}
				next = at + 1
				continue
			}
			for j := g.First; j < g.End(); j++ {
				shared.PriorVariance[j], pairs[next*k+next] = -pairs[next*k+next], 0
				next++
			}
		}
		shared.Forms = posterior.Triangle(nil, k, pairs)
		f.known[&of.Factor[0]] = shared
	}
	q := *shared
	q.Mean = f.combined(of.Mean)
	return &q
}

// combined returns the means of w, or their slopes, that go with those of z.
func (f *few) combined(z []float64) []float64 {
	w := make([]float64, f.lines.Cols)
	for at, v := range z {
		kernel.Axpy(v, f.lines.Row(at), w)
	}
	base.Uncentre(f.means, w)
	return w
}

// combinations are features that pass the inputs on: combinations of columns.
type combinations struct{ blocks []credence.Block }

// Weights implements [credence.Features].
func (c *combinations) Weights() int {
	last := c.blocks[len(c.blocks)-1]
	return last.First + last.Count
}

// Blocks implements [credence.Features].
func (c *combinations) Blocks() []credence.Block { return c.blocks }

// Transform implements [credence.Features].
func (c *combinations) Transform(_ *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	phi.Dense.Reshape(rows.Rows(), c.Weights())
	for i := range rows.Rows() {
		copy(phi.Dense.Row(i), rows.X.Row(i))
	}
	phi.Sparse = linop.CSR{}
}
