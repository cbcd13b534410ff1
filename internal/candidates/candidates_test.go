package candidates_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// load returns the columns of a problem with weights and precisions, dense and sparse ones together, and the same
// written out: rows times the roots of weights times precisions over the mean precision, columns centred at their means
// by these.
func load(t *testing.T, n, dense, sparse int) (*candidates.Table, linop.Dense, credence.Model, *conform.Selection) {
	t.Helper()
	s := conform.NewSelection(n, dense+sparse, 3, 0.4, 1, 0.5, true, 6)
	s.Features = conform.Columns{Dense: dense, Sparse: sparse, Intercept: true}
	for i := range n {
		s.Weight, s.Precision = append(s.Weight, float64(1+i%3)), append(s.Precision, 0.5+float64(i%4))
	}
	model := credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}
	table := must.Value(candidates.Load(context.Background(), credence.NewWorkspace(2), "test", model, conform.Memory{All: &s.Batch}))(t)
	d := 1 + dense + sparse
	x, total, precise, square := linop.NewDense(n, d), 0.0, 0.0, make([]float64, n)
	for i, w := range s.Weight {
		square[i] = w * s.Precision[i]
		total, precise = total+w, precise+square[i]
	}
	for j := range d {
		mean := 0.0
		for i, w := range square {
			if j > 0 {
				mean += w / precise * s.X.Row(i)[j-1]
			}
		}
		for i, w := range square {
			v := 1.0
			if j > 0 {
				v = s.X.Row(i)[j-1] - mean
			}
			x.Row(i)[j] = math.Sqrt(w*total/precise) * v
		}
	}
	return table, x, model, s
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-10*(1+math.Abs(want[i]))) {
			t.Fatalf("%s: element %d is %.12g, want %.12g", what, i, got[i], want[i])
		}
	}
}

// TestProducts compares every product with the plain sums over columns that are written out.
func TestProducts(t *testing.T) {
	ws, rng := credence.NewWorkspace(3), rand.New(rand.NewPCG(1, 9))
	for _, c := range [][3]int{{9, 4, 0}, {9, 0, 7}, {12, 5, 20}, {40, 3, 4}} {
		n, d := c[0], 1+c[1]+c[2]
		table, x, _, _ := load(t, n, c[1], c[2])
		random := func(size int) []float64 {
			out := make([]float64, size)
			for i := range out {
				out[i] = 0.2 + rng.Float64()
			}
			return out
		}
		u, w := random(n), random(d)
		got, want := make([]float64, n), make([]float64, n)
		table.Mul(ws, got, w)
		x.MulVec(want, w)
		near(t, "Mul", got, want)
		for j := range d {
			table.Column(got, j)
			for i := range n {
				want[i] = x.Row(i)[j]
			}
			near(t, "Column", got, want)
		}
		got, want = make([]float64, d), make([]float64, d)
		table.MulTrans(ws, got, u)
		x.MulVecTrans(want, u)
		near(t, "MulTrans", got, want)
		table.Squares(got, nil)
		for j := range d {
			want[j] = 0
			for i := range n {
				want[j] += x.Row(i)[j] * x.Row(i)[j]
			}
		}
		near(t, "Squares", got, want)
		rows, sums := make([]float64, n), make([]float64, n)
		table.RowSquares(rows, w)
		for i := range n {
			for j, v := range w {
				sums[i] += v * x.Row(i)[j] * x.Row(i)[j]
			}
		}
		near(t, "RowSquares", rows, sums)

		outer := make([]float64, n*n)
		table.Outer(ws, outer, w)
		products := make([]float64, d*d)
		table.Products(ws, products, u)
		for i := range n {
			for k := i; k < n; k++ {
				sum := 0.0
				for j := range d {
					sum += w[j] * x.Row(i)[j] * x.Row(k)[j]
				}
				near(t, "Outer", outer[i*n+k:i*n+k+1], []float64{sum})
			}
		}
		for i := range d {
			for k := i; k < d; k++ {
				sum := 0.0
				for r := range n {
					sum += u[r] * x.Row(r)[i] * x.Row(r)[k]
				}
				near(t, "Products", products[i*d+k:i*d+k+1], []float64{sum})
			}
		}
		dual, factor, ones := gauss.NewDual(ws, n), gauss.Dense{Weights: d}.Factor(ws), make([]float64, d)
		for j := range ones {
			ones[j] = 1
		}
		must.Succeed(t, errors.Join(dual.Set(outer, nil), factor.Set(products, 1, ones)))
		precision := candidates.Precision{Table: table, WS: ws, ByRow: u, Prior: w}
		precision.MulVec(got, w)
		gauss.Dense{Weights: d}.Mul(want, products, w)
		for j, v := range w {
			want[j] += v * v
		}
		near(t, "Precision", got, want)
		for i := range n {
			outer[i*n+i]++
		}
		for j := range d {
			products[j*d+j]++
		}
		quadratic := func(size int, upper []float64, column func(k int) float64) float64 {
			solved := make([]float64, size)
			for k := range solved { // Uᵀv = x, by substitution
				solved[k] = column(k)
				for l := range k {
					solved[k] -= upper[l*size+k] * solved[l]
				}
				solved[k] /= upper[k*size+k]
			}
			sum := 0.0
			for _, v := range solved {
				sum += v * v
			}
			return sum
		}
		if _, ok := ws.Pool().Cholesky(n, outer, n); !ok {
			t.Fatal("not positive definite")
		}
		table.Quadratics(ws, got, dual, nil)
		for j := range d {
			want[j] = quadratic(n, outer, func(k int) float64 { return x.Row(k)[j] })
		}
		near(t, "Quadratics", got, want)
		if _, ok := ws.Pool().Cholesky(d, products, d); !ok {
			t.Fatal("not positive definite")
		}
		got, want = make([]float64, n), make([]float64, n)
		table.RowQuadratics(ws, got, factor)
		for i := range n {
			want[i] = quadratic(d, products, func(k int) float64 { return x.Row(i)[k] })
		}
		near(t, "RowQuadratics", got, want)
	}
}

// TestDesign: the columns come back as the features gave them, with rows times the roots of weights.
func TestDesign(t *testing.T) {
	table, x, _, s := load(t, 9, 4, 5)
	phi := table.Design()
	for i := range 9 {
		got, want := make([]float64, 10), make([]float64, 10)
		phi.Each(i, func(j int, v float64) { got[j] = v })
		want[0] = x.Row(i)[0]
		for j, v := range s.X.Row(i) {
			want[j+1] = want[0] * v
		}
		near(t, "Design", got, want)
	}
}

// TestCompress: rows beyond the columns are replaced by as many as there are columns, and products, the
// products with the target and the sum of its squares stay.
func TestCompress(t *testing.T) {
	ws := credence.NewWorkspace(1)
	table, x, model, _ := load(t, 60, 4, 3)
	setting := must.Value(table.NewSetting("test", model, candidates.Sparse, true))(t)
	y := append([]float64(nil), setting.Target...)
	table.Compress(ws, setting)
	if table.Rows != 8 || len(setting.Target) != 8 {
		t.Fatalf("%d rows, %d targets", table.Rows, len(setting.Target))
	}
	got, want := make([]float64, 8), make([]float64, 8)
	table.MulTrans(ws, got, setting.Target)
	x.MulVecTrans(want, y)
	near(t, "Xᵀy", got, want)
	sum, kept := 0.0, setting.Rest
	for _, v := range y {
		sum += v * v
	}
	for _, v := range setting.Target {
		kept += v * v
	}
	near(t, "Σ y²", []float64{kept}, []float64{sum})
	table.Squares(got, nil)
	for j := range want {
		want[j] = 0
		for i := range 60 {
			want[j] += x.Row(i)[j] * x.Row(i)[j]
		}
	}
	near(t, "squares", got, want)
}

// TestIndependent: the intercept of independent weights stands at the means of columns, and none is kept of columns
// whose means are rounding.
func TestIndependent(t *testing.T) {
	for _, by := range []float64{0, 5} {
		s := conform.NewSelection(9, 2, 1, 0, 1, 0.5, false, 2)
		for j := range 2 {
			sum := 0.0
			for i := range s.Target {
				sum += s.X.Row(i)[j] / 9
			}
			for i := range s.Target {
				s.X.Row(i)[j] -= sum
			}
		}
		s.Shift(by)
		model := credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}
		table := must.Value(candidates.Load(context.Background(), credence.NewWorkspace(1), "test", model, conform.Memory{All: &s.Batch}))(t)
		q, square := table.Independent([]float64{0, 1, 2}, []float64{1, 2, 3}, nil), table.Units.Scale*table.Units.Scale
		near(t, "variances", q.Variance, []float64{square, 2 * square, 3 * square})
		near(t, "means", q.Mean, []float64{table.Units.Centre - 3*by*table.Units.Scale, table.Units.Scale, 2 * table.Units.Scale})
		if kept := q.Centre != nil; kept != (by > 0) {
			t.Errorf("of columns about %v a centre %v is kept", by, q.Centre)
		} else if kept {
			near(t, "centre", q.Centre, []float64{0, by, by})
		}
	}
}

// TestStart: classes that are all the same have a finite prior mean, half a count from the boundary, counted by
// weights; and a guess of the noise is not below the least that is learned.
func TestStart(t *testing.T) {
	s := conform.NewSelection(9, 3, 1, 0, 1, 0.5, false, 2)
	settingOf := func(l credence.Likelihood) *candidates.Setting {
		model := credence.Model{Features: s.Features, Likelihood: l, Prior: prior.SpikeSlab{}}
		table := must.Value(candidates.Load(context.Background(), credence.NewWorkspace(1), "test", model, conform.Memory{All: &s.Batch}))(t)
		return must.Value(table.NewSetting("test", model, candidates.Sparse, true))(t)
	}
	if got := settingOf(likelihood.Gaussian{NoiseVariance: param.From(1e-30)}).Noise.Start; got != hyper.LeastLogNoise {
		t.Errorf("the noise starts at %v", got)
	}
	s.Features = conform.Columns{Dense: 3, Intercept: true, Kept: 2}
	once := settingOf(likelihood.Gaussian{})
	kept := once.KeptBlocks[0]
	for i := range s.Target {
		s.Target[i] = 1
		s.Weight = append(s.Weight, 4)
	}
	y := s.Target
	if s.Target = conform.NewSelection(9, 3, 1, 0, 1, 0.5, false, 2).Target; true {
		weighed := settingOf(likelihood.Gaussian{})
		if !(math.Abs(weighed.Size-once.Size) <= 1e-12*once.Size) {
			t.Errorf("candidates of rows of weight 4 have the size %v, of those of weight 1 %v", weighed.Size, once.Size)
		}
		if got := weighed.KeptBlocks[0]; !(math.Abs(got.Start-kept.Start) <= 1e-12) || !(math.Abs(got.Prior.Scale-kept.Prior.Scale) <= 1e-12) {
			t.Errorf("of rows of weight 4 a kept block starts at %v under %+v, of those of weight 1 at %v under %+v", got.Start, got.Prior, kept.Start, kept.Prior)
		}
	}
	s.Target, s.Features = y, conform.Columns{Dense: 3, Intercept: true}
	if got := settingOf(likelihood.Bernoulli{}).KeptMean[0]; !(math.Abs(got-math.Log(36.5/0.5)) <= 1e-12) {
		t.Errorf("the intercept of 36 ones has the prior mean %v", got)
	}
}

// TestWithout: without an intercept nothing is centred, dense or sparse.
func TestWithout(t *testing.T) {
	s := conform.NewSelection(9, 4, 1, 0, 1, 0.5, true, 2)
	for _, intercept := range []bool{false, true} {
		model := credence.Model{Features: conform.Columns{Dense: 2, Sparse: 2, Intercept: intercept}, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}
		table := must.Value(candidates.Load(context.Background(), credence.NewWorkspace(1), "test", model, conform.Memory{All: &s.Batch}))(t)
		centred := 0
		for _, m := range table.Means {
			if m != 0 {
				centred++
			}
		}
		if want := map[bool]int{true: 4}[intercept]; centred != want {
			t.Errorf("intercept %t: %d columns are centred, %v", intercept, centred, table.Means)
		}
	}
}

// TestOwnOdds: candidates whose odds are stated share none, a group by its first weight; nothing is learned of the odds
// where no candidate shares them, and columns apart are counted one by one.
func TestOwnOdds(t *testing.T) {
	s := conform.NewSelection(9, 5, 1, 0, 1, 0.5, false, 2)
	s.Features = conform.Columns{Dense: 5, Intercept: true, Together: []credence.Block{{Name: "three", Count: 3}}}
	for _, c := range []struct {
		odds              []float64
		together, apart   int
		first, last, none float64
	}{
		{nil, 3, 5, -1, -1, -1},
		{[]float64{0, 0, 0, 0, 0.5, 0}, 2, 4, -1, -1, math.Log(0.5)},
		{[]float64{0, 3, 3, 3, 0, 0}, 2, 2, math.Log(3), math.Log(3), -1},
		{[]float64{0, 3, 3, 3, 0.5, 2}, 0, 0, math.Log(3), math.Log(3), math.Log(0.5)},
	} {
		model := credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{Odds: c.odds}}
		table := must.Value(candidates.Load(context.Background(), credence.NewWorkspace(1), "test", model, conform.Memory{All: &s.Batch}))(t)
		setting := must.Value(table.NewSetting("test", model, candidates.Sparse, true))(t)
		if setting.Shared != c.together || setting.Odds.Learned != (c.together > 0) {
			t.Errorf("%v: %d share odds, learned %t, want %d", c.odds, setting.Shared, setting.Odds.Learned, c.together)
		}
		for j, want := range map[int]float64{1: c.first, 3: c.last, 4: c.none} {
			if got, own := setting.OddsOf(j, -1); got != want || own != (want != -1) {
				t.Errorf("%v: log odds %v of weight %d, own %t, want %v", c.odds, got, j, own, want)
			}
		}
		if apart := must.Value(table.NewSetting("test", model, candidates.Sparse, false))(t); apart.Shared != c.apart {
			t.Errorf("%v: %d share odds apart, want %d", c.odds, apart.Shared, c.apart)
		}
	}
}

// TestApart: columns of a group that are candidates apart have the setting of columns without one.
func TestApart(t *testing.T) {
	var settings [2]*candidates.Setting
	for k, together := range [][]credence.Block{nil, {{Name: "twenty", Count: 20}}} {
		s := conform.NewSelection(30, 25, 3, 0, 1, 0.5, false, 2)
		model := credence.Model{Features: conform.Columns{Dense: 25, Intercept: true, Together: together}, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}
		table := must.Value(candidates.Load(context.Background(), credence.NewWorkspace(1), "test", model, conform.Memory{All: &s.Batch}))(t)
		settings[k] = must.Value(table.NewSetting("test", model, candidates.Sparse, false))(t)
	}
	if !reflect.DeepEqual(settings[0], settings[1]) {
		t.Errorf("%+v, of columns without a group %+v", settings[1], settings[0])
	}
}

// TestSlabScale: the slab of classes is over the root of how many candidates are expected: half of few, and of many the
// mean of the prior of their share.
func TestSlabScale(t *testing.T) {
	scale := func(p int) float64 {
		s := conform.NewSelection(9, p, 1, 0, 1, 0.5, false, 2)
		s.Divide(0.5)
		model := credence.Model{Features: conform.Columns{Dense: p, Intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: prior.SpikeSlab{}}
		table := must.Value(candidates.Load(context.Background(), credence.NewWorkspace(1), "test", model, conform.Memory{All: &s.Batch}))(t)
		setting := must.Value(table.NewSetting("test", model, candidates.Sparse, true))(t)
		return setting.SlabPrior.Scale * math.Sqrt(setting.Size)
	}
	for p, expected := range map[int]float64{6: 3, 1000: 1000 * 3.0 / 102} {
		if got, want := scale(p), 2.5/math.Sqrt(expected); !(math.Abs(got/want-1) <= 1e-12) {
			t.Errorf("%d columns: %v, want %v", p, got, want)
		}
	}
}

// TestExpected: of normal targets as many candidates are expected as the default prior of π says, 20 at most, and half
// of few; a prior that is stated is taken at its word. The slab is over the root of their number.
func TestExpected(t *testing.T) {
	for p, c := range map[int]struct{ sparse, flat, stated float64 }{60: {6, 20, 6}, 1000: {20, 20, 100}, 30: {3, 15, 3}, 200: {20, 20, 20}} {
		s := conform.NewSelection(9, p, 1, 0, 1, 0.5, false, 2)
		settingOf := func(odds, stated [2]float64) *candidates.Setting {
			model := credence.Model{Features: conform.Columns{Dense: p, Intercept: true}, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{InclusionPrior: stated}}
			table := must.Value(candidates.Load(context.Background(), credence.NewWorkspace(1), "test", model, conform.Memory{All: &s.Batch}))(t)
			return must.Value(table.NewSetting("test", model, odds, true))(t)
		}
		stated := settingOf(candidates.Flat, [2]float64{1, 9})
		for name, of := range map[string]struct {
			setting  *candidates.Setting
			expected float64
		}{
			"sparse": {settingOf(candidates.Sparse, [2]float64{}), c.sparse}, "flat": {settingOf(candidates.Flat, [2]float64{}), c.flat}, "stated": {stated, c.stated},
		} {
			if got := float64(p) / (1 + math.Exp(-of.setting.Odds.Start)); !(math.Abs(got/of.expected-1) <= 1e-9) {
				t.Errorf("%d columns, %s: %v are in at the start, want %v", p, name, got, of.expected)
			}
			if got, want := of.setting.SlabPrior.Scale/stated.SlabPrior.Scale, math.Sqrt(c.stated/of.expected); !(math.Abs(got/want-1) <= 1e-9) {
				t.Errorf("%d columns, %s: a slab of %v of that of the stated prior, want %v", p, name, got, want)
			}
		}
		if a, b := stated.OddsA, stated.OddsB; a != 1 || b != 9 {
			t.Errorf("Beta(%v, %v) is not what was stated", a, b)
		}
	}
}

// TestSettingsOfOtherUnits: a target a·y + c under stated variances a² times as large has the setting of y, since all
// is in units of the target; what is told of it is in its own: noise, and variances of kept blocks, a² times as
// large. The intercept stands at the mean of the target by weights times precisions, with a deviation of 10 of its own,
// and a slab or a noise that is stated begins there; what is held is not learned, and what is guessed is.
func TestSettingsOfOtherUnits(t *testing.T) {
	const n, a, c = 30, 50.0, -700.0
	s := conform.NewSelection(n, 6, 2, 0.3, 1, 0.5, true, 4)
	for i := range n {
		s.Weight, s.Precision, s.Offset = append(s.Weight, float64(1+i%2)), append(s.Precision, 0.5+float64(i%3)), append(s.Offset, 0.1*float64(i%5))
	}
	y, offset := s.Target, s.Offset
	of := func(by, add float64, stated func(v float64) param.Parameter) (*candidates.Table, *candidates.Setting, credence.Model) {
		s.Target, s.Offset = make([]float64, n), make([]float64, n)
		for i := range n {
			s.Target[i], s.Offset[i] = by*y[i]+add, by*offset[i]
		}
		model := credence.Model{Features: conform.Columns{Dense: 4, Sparse: 2, Kept: 2, Intercept: true}, Likelihood: likelihood.Gaussian{NoiseVariance: stated(0.3 * by * by)}, Prior: prior.SpikeSlab{Slab: stated(4 * by * by), Inclusion: stated(0.25)}}
		table := must.Value(candidates.Load(context.Background(), credence.NewWorkspace(1), "test", model, conform.Memory{All: &s.Batch}))(t)
		return table, must.Value(table.NewSetting("test", model, candidates.Sparse, true))(t), model
	}
	guess := func(v float64) param.Parameter { return param.Parameter{Value: v, State: param.Guess} }
	for _, stated := range []func(v float64) param.Parameter{param.Hold, guess} {
		table, one, _ := of(1, 0, stated)
		moved, other, model := of(a, c, stated)
		learned := stated(1).State != param.Held
		if one.Noise.Learned != learned || one.Slab.Learned != learned || one.Odds.Learned != learned {
			t.Errorf("learned %v, %v and %v, want %v", one.Noise.Learned, one.Slab.Learned, one.Odds.Learned, learned)
		}
		sum, total, weights := 0.0, 0.0, 0.0
		for i := range n {
			w := s.Weight[i] * s.Precision[i]
			sum, total, weights = sum+w*(y[i]-offset[i]), total+w, weights+s.Weight[i]
		}
		square := 0.0
		for i := range n {
			gap := y[i] - offset[i] - sum/total
			square += s.Weight[i] * s.Precision[i] * gap * gap / total
		}
		scale := math.Sqrt(square)
		for _, of := range []struct {
			what            string
			got, moved, own float64
		}{
			{"noise", one.Noise.Start, other.Noise.Start, math.Log(0.3)/2 - math.Log(table.Units.Noise)},
			{"slab", one.Slab.Start, other.Slab.Start, math.Log(2 / scale)},
			{"odds", one.Odds.Start, other.Odds.Start, math.Log(0.25 / 0.75)},
			{"variance of the intercept", one.Kept[0], other.Kept[0], 100},
			{"mean of the intercept", one.KeptMean[0], other.KeptMean[0], 0},
			{"variance of a kept column", one.Kept[2], other.Kept[2], math.Exp(2 * one.KeptBlocks[0].Start)},
			{"variance of a candidate", one.Kept[3], other.Kept[3], 0},
			{"size", one.Size, other.Size, one.Size},
			{"scale of the slab", one.SlabPrior.Scale, other.SlabPrior.Scale, 1 / math.Sqrt(one.Size*math.Max(1, 0.25*4))},
			{"kept variance", one.KeptValues([]float64{0.7})[0].Value, other.KeptValues([]float64{0.7})[0].Value / (a * a), math.Exp(1.4) * square},
			{"unit", table.Units.Scale, moved.Units.Scale / a, scale},
			{"rows", table.Total, moved.Total, weights},
		} {
			if gap := 1e-9 * (1 + math.Abs(of.own)); !(math.Abs(of.got-of.own) <= gap) || !(math.Abs(of.moved-of.own) <= gap) {
				t.Errorf("%s: %v, and %v in other units, want %v", of.what, of.got, of.moved, of.own)
			}
		}
		near(t, "targets", other.Target, one.Target)
		fitted := other.Fitted(moved, model, model.Prior, nil, 0.5, []float64{0.2}, credence.Value{Name: "slab", Value: 7})
		noise := 0.5 * moved.Units.Noise * moved.Units.Noise
		want := []credence.Value{{Name: "noise_variance", Value: noise}, {Name: "slab", Value: 7}, {Name: "prior_variance.kept", Value: math.Exp(0.4) * moved.Units.Scale * moved.Units.Scale}}
		if !slices.Equal(fitted.Report.Hyper, want) || fitted.Report.Status != credence.Converged {
			t.Errorf("%v, %v, want %v", fitted.Report.Status, fitted.Report.Hyper, want)
		}
		if g := fitted.Members[0].Model.Likelihood.(likelihood.Gaussian); g.NoiseVariance.Value != noise {
			t.Errorf("the noise of the model is %v, want %v", g.NoiseVariance.Value, noise)
		}
		if kept := fitted.Members[0].Model.Prior.(prior.SpikeSlab).Kept; len(kept) != 1 || kept["kept"] != want[2].Value {
			t.Errorf("the prior keeps %v, want %v", kept, want[2])
		}
	}
}

// TestRotate: with as few orthogonal columns as rows f can be all that it can be with all columns, at the same sum of
// squared weights; the weights that come back make the same f, and the intercept, which has no part in that sum, is one
// of them.
func TestRotate(t *testing.T) {
	const n, dense, sparse = 6, 4, 9
	ws, rng := credence.NewWorkspace(1), rand.New(rand.NewPCG(4, 4))
	table, x, _, _ := load(t, n, dense, sparse)
	rotated, back, ok := table.Rotate(ws)
	if !ok || rotated.Rows != n || rotated.Count() > n+1 || rotated.Intercept != rotated.Count()-1 {
		t.Fatalf("%t: %d columns, the intercept %d", ok, rotated.Count(), rotated.Intercept)
	}
	weights, got, want := make([]float64, rotated.Count()), make([]float64, n), make([]float64, n)
	for j := range weights {
		weights[j] = rng.NormFloat64()
	}
	own := back(weights)
	rotated.Mul(ws, got, weights)
	x.MulVec(want, own)
	near(t, "f", got, want)
	sums := [2]float64{}
	for k, list := range [][]float64{weights[:rotated.Intercept], own[1:]} {
		for _, w := range list {
			sums[k] += w * w
		}
	}
	near(t, "squares of weights", sums[:1], sums[1:])
	near(t, "intercept", own[:1], weights[rotated.Intercept:])
	for j := range rotated.Intercept {
		for k := range j {
			product := 0.0
			a, b := make([]float64, n), make([]float64, n)
			rotated.Column(a, j)
			rotated.Column(b, k)
			for i := range a {
				product += a[i] * b[i]
			}
			if !(math.Abs(product) <= 1e-9) {
				t.Errorf("columns %d and %d have the product %v", j, k, product)
			}
		}
	}
}

// TestResolves: rows resolve a slab from where its variance, times the weight of the rows and the mean square of a
// column, is that of the noise, which of classes is 4 for logits and π/2 for probits; a slab that is held they resolve.
func TestResolves(t *testing.T) {
	table := &candidates.Table{Total: 50}
	for _, c := range []struct {
		setting candidates.Setting
		noise   float64
	}{
		{candidates.Setting{Size: 0.5}, 3},
		{candidates.Setting{Size: 0.5, Classes: true, Link: likelihood.Logit}, 2},
		{candidates.Setting{Size: 0.5, Classes: true, Link: likelihood.Probit}, math.Sqrt(math.Pi / 2)},
	} {
		edge := math.Log(c.noise / math.Sqrt(50*0.5))
		for _, learned := range []bool{true, false} {
			c.setting.Slab.Learned = learned
			if c.setting.Resolves(table, edge-1e-6, math.Log(3)) == learned || !c.setting.Resolves(table, edge+1e-6, math.Log(3)) {
				t.Errorf("%+v: the edge is not at %v", c.setting, edge)
			}
		}
	}
}

// TestTold: a fit whose inclusions are more than twice what rows resolve, by a candidate or more, says by how much; the
// sums are over candidates, of which a group counts once.
func TestTold(t *testing.T) {
	s := candidates.Setting{Candidates: []candidates.Candidate{{First: 1, Count: 2}, {First: 3, Count: 1}, {First: 4, Count: 1}}}
	for _, c := range []struct {
		inclusion, resolved []float64
		says                string
	}{
		{[]float64{1, 0.9, 0.9, 0.8, 0.7}, []float64{1, 0.3, 0.3, 0.2, 0.1}, "of 2.4 features expected to be in, 1.8 are"},
		{[]float64{1, 0.9, 0.9, 0.8, 0.7}, []float64{1, 0.6, 0.6, 0.5, 0.2}, ""},
		{[]float64{1, 0.5, 0.5, 0.4, 0.1}, []float64{1, 0.1, 0.1, 0, 0}, ""},
	} {
		out := new(credence.Fitted)
		s.TakeResolved(out, c.inclusion, c.resolved)
		if got := strings.Join(out.Report.Warnings, "; "); (got == "") != (c.says == "") || !strings.Contains(got, c.says) || &out.Resolved[0] != &c.resolved[0] {
			t.Errorf("%v of %v: %q, want %q", c.resolved, c.inclusion, got, c.says)
		}
	}
}

// TestPairs: engines for selection take gaussian targets and classes by logit or probit under a spike-and-slab prior,
// and those with a spike at 0 no other spike; each of the others is refused.
func TestPairs(t *testing.T) {
	for _, c := range []struct {
		l            credence.Likelihood
		p            credence.Prior
		takes, point bool
	}{
		{likelihood.Gaussian{}, prior.SpikeSlab{}, true, true},
		{likelihood.Bernoulli{}, prior.SpikeSlab{}, true, true},
		{likelihood.Bernoulli{Link: likelihood.Probit}, prior.SpikeSlab{}, true, true},
		{likelihood.Bernoulli{Link: likelihood.Cloglog}, prior.SpikeSlab{}, false, false},
		{likelihood.Poisson{}, prior.SpikeSlab{}, false, false},
		{likelihood.Gaussian{NoiseVariance: param.Hold(-1)}, prior.SpikeSlab{}, false, false},
		{likelihood.Gaussian{}, prior.Normal{}, false, false},
		{likelihood.Gaussian{}, prior.SpikeSlab{Slab: param.Hold(-1)}, false, false},
		{likelihood.Gaussian{}, prior.SpikeSlab{Spike: param.Hold(0.01), Slab: param.Hold(1)}, true, false},
	} {
		if err := candidates.Supports("test", c.l, c.p); (err == nil) != c.takes {
			t.Errorf("%v, %v: %v", c.l, c.p, err)
		}
		if err := candidates.PointSpike("test", c.l, c.p); (err == nil) != c.point {
			t.Errorf("%v, %v: the point 0: %v", c.l, c.p, err)
		}
		features := conform.Columns{Dense: 2}
		check := func(features credence.Features, options error) error {
			return candidates.Check(credence.Model{Features: features, Likelihood: c.l, Prior: c.p}, "test", func(l credence.Likelihood, p credence.Prior) error { return candidates.Supports("test", l, p) }, options)
		}
		if none, bad := check(nil, nil), check(features, errors.New("bad")); none == nil || bad == nil || (check(features, nil) == nil) != c.takes {
			t.Errorf("%v, %v: %v without features, %v of bad options", c.l, c.p, none, bad)
		}
	}
}

// TestCheckpointsOfOtherData: the checkpoint of a fit is not that of another target, offset, weight or precision, nor
// of other columns, of the same means; nor of another family, prior, option or engine.
func TestCheckpointsOfOtherData(t *testing.T) {
	kind := func(change func(s *conform.Selection), model credence.Model, options any) string {
		s := conform.NewSelection(12, 4, 2, 0.3, 1, 0.5, true, 4)
		for i := range 12 {
			s.Weight, s.Precision, s.Offset = append(s.Weight, float64(1+i%2)), append(s.Precision, 1), append(s.Offset, 0.1*float64(i%5))
		}
		change(s)
		model.Features = conform.Columns{Dense: 4, Intercept: true}
		table := must.Value(candidates.Load(context.Background(), credence.NewWorkspace(1), "test", model, conform.Memory{All: &s.Batch}))(t)
		file := table.Checkpoint("path", "test", 3, model, options)
		k := must.Value(file.Kind())(t)
		if file.Path != "path" || k.Name != "test" || k.Format != 3 {
			t.Errorf("%q, %q, format %d", file.Path, k.Name, k.Format)
		}
		return fmt.Sprint(k.Fingerprint)
	}
	same, model := func(*conform.Selection) {}, credence.Model{Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}
	first := kind(same, model, 1)
	if again := kind(same, model, 1); again != first {
		t.Errorf("the same has the prints %s and %s", first, again)
	}
	for what, other := range map[string]string{
		"target":    kind(func(s *conform.Selection) { s.Target[3]++ }, model, 1),
		"offset":    kind(func(s *conform.Selection) { s.Offset[3]++ }, model, 1),
		"weight":    kind(func(s *conform.Selection) { s.Weight[3]++ }, model, 1),
		"precision": kind(func(s *conform.Selection) { s.Precision[3]++ }, model, 1),
		"column":    kind(func(s *conform.Selection) { s.X.Row(3)[1], s.X.Row(5)[1] = s.X.Row(3)[1]+1, s.X.Row(5)[1]-1 }, model, 1),
		"option":    kind(same, model, 2),
		"family":    kind(same, credence.Model{Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(2)}, Prior: prior.SpikeSlab{}}, 1),
		"prior":     kind(same, credence.Model{Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{Slab: param.Hold(2)}}, 1),
	} {
		if other == first {
			t.Errorf("another %s has the same print", what)
		}
	}
}
