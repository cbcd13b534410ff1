package conform

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/linop"
)

// Learner is what the suite asks of an online learner: it scores every row of a
// batch and then learns the row; rows with the target NaN it only scores. A learner may
// have Score, which scores alone, and Finish, which ends what is under way between rows.
type Learner interface {
	Learn(b *credence.Batch, probability []float64)
}

// Online tests an online learner of a class 0 or 1. begin returns a learner that has
// seen nothing and whose bias begins at the given mean, of which 0 is the usual one.
// precision is that of the numbers that the learner keeps.
func Online(t *testing.T, begin func(bias float64) Learner, precision float64) {
	t.Helper()
	rows := onlineRows(300, 6)
	fresh := func() Learner { return begin(0) }
	t.Run("pieces", func(t *testing.T) {
		whole, pieces := fresh(), fresh()
		want := learned(whole, rows)
		got := make([]float64, rows.Sparse.Rows)
		for i := range got {
			pieces.Learn(sparseRows(rows, i, i+1), got[i:i+1])
		}
		same(t, "scores of rows one at a time", got, want)
		same(t, "weights after rows one at a time", probed(pieces, 0), probed(whole, 0))
	})
	t.Run("absent roles", func(t *testing.T) {
		bare, full := *rows, *rows
		bare.Weight, bare.Offset = nil, nil
		full.Weight, full.Offset = slices.Repeat([]float64{1}, rows.Sparse.Rows), make([]float64, rows.Sparse.Rows)
		same(t, "scores with weights 1 and offsets 0", learned(fresh(), &full), learned(fresh(), &bare))
	})
	t.Run("only scored", func(t *testing.T) {
		l, more := fresh(), fresh()
		learned(l, rows)
		learned(more, rows)
		last := *sparseRows(rows, 0, 8)
		last.Target, last.Weight = slices.Repeat([]float64{1}, 8), make([]float64, 8)
		learned(more, &last)
		same(t, "weights after rows of weight 0", probed(more, 0), probed(l, 0))
		last.Target, last.Weight = slices.Repeat([]float64{math.NaN()}, 8), nil
		learned(more, &last)
		same(t, "weights after rows without a target", probed(more, 0), probed(l, 0))
	})
	t.Run("score", func(t *testing.T) {
		l, all := fresh(), *rows
		scorer, ok := l.(interface {
			Score(b *credence.Batch, probability []float64)
		})
		if !ok {
			t.Skip("the learner has no Score")
		}
		learned(l, rows)
		finish(l)
		all.Target = slices.Repeat([]float64{math.NaN()}, rows.Sparse.Rows)
		got := make([]float64, rows.Sparse.Rows)
		scorer.Score(rows, got)
		// Sums of the same few numbers, perhaps in another order.
		nearAll(t, "score", got, learned(l, &all), 1e-15)
	})
	t.Run("weights", func(t *testing.T) { onlineWeights(t, fresh, rows) })
	t.Run("offsets", func(t *testing.T) {
		// A bias that begins at c and a constant offset c make the same scores, and so
		// the same steps: every learner moves its weights by what it scored.
		const c = -0.5
		for _, weight := range [][]float64{nil, rows.Weight} {
			held, offset := *rows, *rows
			held.Weight, offset.Weight = weight, weight
			held.Offset, offset.Offset = nil, slices.Repeat([]float64{c}, rows.Sparse.Rows)
			a, b := begin(0), begin(c)
			nearAll(t, "score with an offset and with a bias that begins there", learned(a, &offset), learned(b, &held), precision)
			nearAll(t, "probe with an offset and with a bias that begins there", probed(a, c), probed(b, 0), precision)
		}
	})
}

// onlineWeights checks that weights count copies of a row: one step of weight 2ε and
// two steps of weight ε differ by what the first of the two changes for the
// second, which is of order ε of the step. Steps of another weight, δ, which is next to
// nothing, keep the number of rows the same for learners that count rows, to forget or
// to refresh what they know.
func onlineWeights(t *testing.T, fresh func() Learner, rows *credence.Batch) {
	const (
		epsilon = 1.0 / 64
		delta   = 1e-9 * epsilon
		order   = 2 * epsilon // of a difference, to the whole step
	)
	after := func(weights ...float64) []float64 {
		l := fresh()
		learned(l, rows)
		row := &credence.Batch{X: linop.Dense{Rows: len(weights)}, Weight: weights}
		row.Sparse.Reset(rows.Sparse.Cols)
		for range weights {
			columns, values := []int32{}, []float64{}
			for j := range rows.Sparse.Cols {
				columns, values = append(columns, int32(j)), append(values, 0.7+0.2*float64(j))
			}
			row.Sparse.AppendRow(columns, values)
			row.Target, row.Offset = append(row.Target, 1), append(row.Offset, 0.3)
		}
		learned(l, row)
		return probed(l, 0)
	}
	base, once, twice := after(delta, delta), after(2*epsilon, delta), after(epsilon, epsilon)
	for i := range base {
		step := once[i] - base[i]
		if step == 0 || !(math.Abs(twice[i]-once[i]) <= order*math.Abs(step)) {
			t.Errorf("probe %d: a row of weight 2ε moves it by %g, two of weight ε by %g", i, step, twice[i]-base[i])
		}
	}
}

// onlineRows draws n rows of half of the given number of features, with weights and
// offsets and logistic labels.
func onlineRows(n, features int) *credence.Batch {
	rng := rand.New(rand.NewPCG(41, 42))
	b := &credence.Batch{X: linop.Dense{Rows: n}}
	b.Sparse.Reset(features)
	for range n {
		columns := rng.Perm(features)[:features/2]
		slices.Sort(columns)
		f := 0.4 * rng.NormFloat64()
		b.Offset = append(b.Offset, f)
		var index []int32
		var values []float64
		for _, j := range columns {
			v := 0.5 + rng.Float64()
			index, values = append(index, int32(j)), append(values, v)
			f += v * (float64(j) - 2.3) / 2
		}
		b.Sparse.AppendRow(index, values)
		b.Target = append(b.Target, boolToFloat(rng.Float64() < 1/(1+math.Exp(-f))))
		b.Weight = append(b.Weight, []float64{0.5, 1, 2.5}[rng.IntN(3)])
	}
	return b
}

// learned learns the rows and returns their scores.
func learned(l Learner, rows *credence.Batch) []float64 {
	probability := make([]float64, rows.Sparse.Rows)
	l.Learn(rows, probability)
	return probability
}

func finish(l Learner) {
	if f, ok := l.(interface{ Finish() }); ok {
		f.Finish()
	}
}

// probed returns what scores tell of the weights: for each of six features alone, and
// for none, the slope of Φ⁻¹(score) between two offsets and Φ⁻¹(score) over the slope. For
// a probit link these are the inverse of the standard deviation of f, noise
// included, and the mean of f; for another link, functions of the mean.
func probed(l Learner, offset float64) []float64 {
	finish(l)
	const features = 6
	b := &credence.Batch{X: linop.Dense{Rows: 2 * (features + 1)}}
	b.Sparse.Reset(features)
	for i := range 2 * (features + 1) {
		var index []int32
		if i < 2*features {
			index = []int32{int32(i / 2)}
		}
		b.Sparse.AppendRow(index, nil)
		b.Target, b.Offset = append(b.Target, math.NaN()), append(b.Offset, offset+float64(i%2))
	}
	probability := learned(l, b)
	for i := 0; i < len(probability); i += 2 {
		low, high := special.NormalQuantile(probability[i]), special.NormalQuantile(probability[i+1])
		probability[i], probability[i+1] = high-low, low/(high-low)
	}
	return probability
}

// sparseRows is rows [first, last) of a batch of sparse rows.
func sparseRows(b *credence.Batch, first, last int) *credence.Batch {
	p := *b
	p.X.Rows, p.Sparse.Rows = last-first, last-first
	p.Sparse.Start = b.Sparse.Start[first : last+1]
	p.Target, p.Weight, p.Offset = b.Target[first:last], b.Weight[first:last], b.Offset[first:last]
	return &p
}

func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	nearAll(t, what, got, want, 0)
}

func nearAll(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*(1+math.Abs(want[i]))) {
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}
