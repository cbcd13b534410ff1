package exact

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// table is data in memory.
type table struct {
	x              linop.Dense
	sparse         linop.CSR
	target         []float64
	offset, weight []float64
	precision      []float64
	reads          int
}

func (t *table) Rows() int { return t.x.Rows }

func (t *table) Read(dst *credence.Batch, first, count int) error {
	t.reads += count
	dst.First = first
	dst.X.Reshape(count, t.x.Cols)
	for i := range count {
		copy(dst.X.Row(i), t.x.Row(first+i))
	}
	if t.sparse.Cols > 0 {
		dst.Sparse.Reset(t.sparse.Cols)
		for i := range count {
			dst.Sparse.AppendRow(t.sparse.Row(first + i))
		}
	}
	part := func(dst, all []float64) []float64 {
		if all == nil {
			return nil
		}
		return append(dst[:0], all[first:first+count]...)
	}
	dst.Target = part(dst.Target, t.target)
	dst.Offset = part(dst.Offset, t.offset)
	dst.Weight = part(dst.Weight, t.weight)
	dst.Precision = part(dst.Precision, t.precision)
	return nil
}

// plain are features that are the inputs themselves: an intercept, the dense
// inputs, and the sparse ones, in blocks of the given sizes.
type plain struct {
	intercept     bool
	dense, sparse int
	sizes         []int // of the blocks after the intercept
	unit          int   // block of size 1, wherever its lengthscales are; 0 for none
	runs          []ability.LevelRun
}

func (p plain) LevelRuns() []ability.LevelRun { return p.runs }

func (p plain) DenseWeights() int { return p.Weights() - p.sparse }

// byLevels gives features sparse columns by levels, one block a run.
func (p plain) byLevels(runs ...ability.LevelRun) plain {
	p.runs = nil
	for _, r := range runs {
		r.First = p.Weights()
		p.runs = append(p.runs, r)
		p.sparse += r.Levels * r.Columns
		p.sizes = append(slices.Clip(p.sizes), r.Levels*r.Columns)
	}
	return p
}

// levelTable draws rows with a level of every key of the runs. Where a key is named within another, as "g in h", its
// level says which of the other.
func levelTable(seed uint64, n, p int, features plain) *table {
	rng := rand.New(rand.NewPCG(seed, 17))
	t := randomTable(seed, n, p, 0)
	t.sparse.Reset(features.sparse)
	dense := features.DenseWeights()
	effects := make([]float64, features.sparse)
	for j := range effects {
		effects[j] = rng.NormFloat64()
	}
	for i := range n {
		level := map[string]int{}
		columns, values := []int32{}, []float64{}
		for _, r := range features.runs {
			g, had := level[r.Key]
			if inner, outer, nested := strings.Cut(r.Key, " in "); !had {
				if g = rng.IntN(r.Levels); nested && inner != "" {
					level[outer] = g / 3
				}
				level[r.Key] = g
			}
			for c := range r.Columns {
				v := 1.0
				if r.First != features.runs[0].First || c > 0 {
					v = rng.NormFloat64()
				}
				columns, values = append(columns, int32(r.First-dense+g*r.Columns+c)), append(values, v)
				t.target[i] += v * effects[columns[len(columns)-1]]
			}
		}
		t.sparse.AppendRow(columns, values)
	}
	return t
}

func (p plain) Weights() int {
	d := p.dense + p.sparse
	if p.intercept {
		d++
	}
	return d
}

func (p plain) Blocks() []credence.Block {
	var blocks []credence.Block
	next := 0
	if p.intercept {
		blocks = append(blocks, credence.Block{Name: "(intercept)", Count: 1, Intercept: true})
		next = 1
	}
	for k, size := range p.sizes {
		blocks = append(blocks, credence.Block{Name: string(rune('a' + k)), First: next, Count: size})
		next += size
	}
	if p.unit > 0 {
		blocks[p.unit].Unit = true
	}
	return blocks
}

func (p plain) Transform(_ *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	shift := 0
	if p.intercept {
		shift = 1
	}
	phi.Dense.Reshape(rows.Rows(), p.dense+shift)
	phi.Sparse.Reset(p.sparse)
	for i := range rows.Rows() {
		row := phi.Dense.Row(i)
		if p.intercept {
			row[0] = 1
		}
		copy(row[shift:], rows.X.Row(i))
		if p.sparse > 0 {
			phi.Sparse.AppendRow(rows.Sparse.Row(i))
		}
	}
}

// bent are features with hyper-parameters: input j of d becomes tanh(x_j/ℓ_j) beside
// the input itself, and sparse columns stay.
type bent struct {
	plain
	length []float64
	held   []bool
}

func newBent(inputs, sparse int) bent {
	b := bent{plain: plain{intercept: true, dense: 2 * inputs, sparse: sparse, sizes: []int{inputs, inputs}}}
	if sparse > 0 {
		b.sizes = append(b.sizes, sparse)
	}
	b.length, b.held = make([]float64, inputs), make([]bool, inputs)
	for j := range b.length {
		b.length[j] = 1 + 0.3*float64(j)
	}
	return b
}

func (p bent) Transform(_ *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	d := len(p.length)
	phi.Dense.Reshape(rows.Rows(), 1+2*d)
	phi.Sparse.Reset(p.sparse)
	for i := range rows.Rows() {
		row, x := phi.Dense.Row(i), rows.X.Row(i)
		row[0] = 1
		copy(row[1:], x)
		for j, l := range p.length {
			row[1+d+j] = math.Tanh(x[j] / l)
		}
		if p.sparse > 0 {
			phi.Sparse.AppendRow(rows.Sparse.Row(i))
		}
	}
}

func (p bent) Hyper() []credence.Hyper {
	var out []credence.Hyper
	for j, l := range p.length {
		out = append(out, credence.Hyper{Block: 2, Name: "length.b." + string(rune('1'+j)), Value: l, Start: 1, Held: p.held[j], PriorSD: 1, Lower: 0.01, Upper: 100})
	}
	return out
}

func (p bent) WithHyper(values []float64) credence.Features {
	p.length = append([]float64(nil), values...)
	return p
}

func (p bent) Pullback(_ *credence.Workspace, grad []float64, rows *credence.Batch, phi *credence.Design, dPhi []float64) {
	d := len(p.length)
	for i := range rows.Rows() {
		row, x, g := phi.Dense.Row(i), rows.X.Row(i), dPhi[i*phi.Dense.Cols:]
		for j, l := range p.length {
			v := row[1+d+j]
			grad[j] -= g[1+d+j] * (1 - v*v) * x[j] / l
		}
	}
}

var _ credence.Tunable = bent{}

// randomTable draws n rows with p dense and s sparse inputs and a target that depends on them.
func randomTable(seed uint64, n, p, s int) *table {
	rng := rand.New(rand.NewPCG(seed, 7))
	t := &table{x: linop.NewDense(n, p)}
	t.sparse.Reset(s)
	for i := range n {
		y := 0.3 * rng.NormFloat64()
		for j := range p {
			v := rng.NormFloat64()
			t.x.Row(i)[j] = v
			y += math.Tanh(v) / (1 + float64(j))
		}
		if s > 0 {
			columns, values := []int32{}, []float64{}
			for j := range s {
				if rng.IntN(4) == 0 {
					v := rng.NormFloat64()
					columns, values = append(columns, int32(j)), append(values, v)
					y += 0.5 * v
				}
			}
			t.sparse.AppendRow(columns, values)
		}
		t.target = append(t.target, y)
	}
	return t
}

// withRoles gives the table offsets, and weights with precisions.
func (t *table) withRoles(seed uint64, offset, weight bool) *table {
	rng := rand.New(rand.NewPCG(seed, 8))
	for range t.target {
		if offset {
			t.offset = append(t.offset, rng.NormFloat64())
		}
		if weight {
			t.weight = append(t.weight, float64(rng.IntN(4)))
			t.precision = append(t.precision, 1/(0.2+rng.ExpFloat64()))
		}
	}
	return t
}

// repeated returns the table with every row as often as its weight says.
func (t *table) repeated() *table {
	out := &table{x: linop.Dense{Cols: t.x.Cols, Stride: t.x.Cols}}
	out.sparse.Reset(t.sparse.Cols)
	for i, w := range t.weight {
		for range int(w) {
			out.x.Data = append(out.x.Data, t.x.Row(i)...)
			out.x.Rows++
			if t.sparse.Cols > 0 {
				out.sparse.AppendRow(t.sparse.Row(i))
			}
			out.target = append(out.target, t.target[i])
			if t.offset != nil {
				out.offset = append(out.offset, t.offset[i])
			}
			if t.precision != nil {
				out.precision = append(out.precision, t.precision[i])
			}
		}
	}
	return out
}

func (t *table) batch() *credence.Batch {
	b := &credence.Batch{}
	_ = t.Read(b, 0, t.Rows())
	return b
}

// designOf returns Φ of all rows as one dense matrix.
func designOf(features credence.Features, t *table) *mat.Dense {
	var phi credence.Design
	features.Transform(credence.NewWorkspace(1), &phi, t.batch())
	n, d := phi.Dims()
	if d == 0 {
		return nil
	}
	out := mat.NewDense(n, d, nil)
	for i := range n {
		for j, v := range phi.Dense.Row(i) {
			out.Set(i, j, v)
		}
		if phi.Sparse.Cols > 0 {
			columns, values := phi.Sparse.Row(i)
			for k, j := range columns {
				v := 1.0
				if values != nil {
					v = values[k]
				}
				out.Set(i, phi.Dense.Cols+int(j), v)
			}
		}
	}
	return out
}

// reference is the answer of dense algebra: log N(y|0, K) with K = σ²I + ΦΛΦᵀ, and the
// posterior ΛΦᵀK⁻¹y, Λ − ΛΦᵀK⁻¹ΦΛ, rows repeated by their weight and σ² divided by their precision.
// Under an intercept, weight 0, the columns of blocks without hyper-parameters and the target are less
// their means.
func reference(t testing.TB, features credence.Features, data *table, noise float64, lambda []float64) (evidence float64, mean *mat.VecDense, cov *mat.Dense) {
	t.Helper()
	if data.weight != nil {
		data = data.repeated()
	}
	n, d := data.Rows(), features.Weights()
	y := mat.NewVecDense(n, nil)
	for i, v := range data.target {
		if data.offset != nil {
			v -= data.offset[i]
		}
		y.SetVec(i, v)
	}
	k := mat.NewSymDense(n, nil)
	for i := range n {
		k.SetSym(i, i, noise)
		if data.precision != nil {
			k.SetSym(i, i, noise/data.precision[i])
		}
	}
	phi := designOf(features, data)
	back := mat.NewDense(max(1, d), max(1, d), nil) // from (b̃, w) to (b, w)
	for j := range d {
		back.Set(j, j, 1)
	}
	location := 0.0
	if list := features.Blocks(); len(list) > 0 && list[0].Intercept {
		location = stat.Mean(y.RawVector().Data, data.precision)
		tuned := map[int]bool{}
		if tunable, ok := features.(credence.Tunable); ok {
			for _, h := range tunable.Hyper() {
				tuned[h.Block] = true
			}
		}
		for b, block := range list {
			for j := block.First; j < block.First+block.Count && b > 0 && !tuned[b]; j++ {
				if keyed := features.(ability.Keyed); len(keyed.LevelRuns()) > 0 && j >= keyed.DenseWeights() {
					break // sparse columns stand where they are
				}
				back.Set(0, j, -stat.Mean(mat.Col(nil, j, phi), data.precision))
			}
		}
		for i := range n {
			y.SetVec(i, y.AtVec(i)-location)
		}
		var centred mat.Dense
		centred.Mul(phi, back)
		phi = &centred
	}
	var scaled mat.Dense
	if d > 0 {
		scaled.CloneFrom(phi)
		for i := range n {
			for j, l := range lambda {
				scaled.Set(i, j, phi.At(i, j)*l)
			}
		}
		var product mat.Dense
		product.Mul(&scaled, phi.T())
		for i := range n {
			for j := i; j < n; j++ {
				k.SetSym(i, j, k.At(i, j)+product.At(i, j))
			}
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		t.Fatal("the reference covariance is not positive definite")
	}
	var alpha mat.VecDense
	must.Succeed(t, chol.SolveVecTo(&alpha, y))
	evidence = -0.5 * (float64(n)*math.Log(2*math.Pi) + chol.LogDet() + mat.Dot(y, &alpha))
	if d == 0 {
		return evidence, nil, nil
	}
	mean = mat.NewVecDense(d, nil)
	mean.MulVec(scaled.T(), &alpha)
	var solved mat.Dense
	must.Succeed(t, chol.SolveTo(&solved, &scaled))
	cov = mat.NewDense(d, d, nil)
	cov.Mul(scaled.T(), &solved)
	cov.Scale(-1, cov)
	for j, l := range lambda {
		cov.Set(j, j, cov.At(j, j)+l)
	}
	mean.SetVec(0, mean.AtVec(0)+location)
	var own mat.VecDense
	own.MulVec(back, mean)
	cov.Product(back, cov, back.T())
	return evidence, &own, cov
}

func model(features credence.Features, p prior.Normal, l likelihood.Gaussian) credence.Model {
	return credence.Model{Features: features, Likelihood: l, Prior: p}
}

func near(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
		t.Errorf("%s is %.15g, want %.15g (off by %.2g, allowed %.2g)", what, got, want, got-want, tolerance*(1+math.Abs(want)))
	}
}

// opened is a fit on all rows of data, before its first climb.
func opened(t *testing.T, features credence.Features, data *table) *fit {
	t.Helper()
	e := must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{}))(t)
	run := &fit{Engine: e, data: data}
	run.ws = credence.NewWorkspace(2)
	must.Succeed(t, run.open(context.Background(), 0, true))
	return run
}
