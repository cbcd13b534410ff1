package conform

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
)

// Online tests an online engine. begin returns one that has seen nothing and whose
// intercept begins at the given mean, of which 0 is the usual one. precision is that of
// the numbers that the engine keeps.
func Online(t *testing.T, begin func(intercept float64) credence.Online, precision float64) {
	t.Helper()
	rows := onlineRows(300)
	fresh := func() credence.Online { return begin(0) }
	t.Run("pieces", func(t *testing.T) {
		whole, pieces := fresh(), fresh()
		want := learned(whole, rows)
		got := make([]float64, rows.Sparse.Rows)
		for i := range got {
			pieces.Learn(sparseRows(rows, i, i+1), got[i:i+1])
		}
		same(t, "scores of rows one at a time", got, want)
		same(t, "weights after rows one at a time", finished(pieces), finished(whole))
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
		same(t, "weights after rows of weight 0", finished(more), finished(l))
		last.Target, last.Weight = slices.Repeat([]float64{math.NaN()}, 8), nil
		learned(more, &last)
		same(t, "weights after rows without a target", finished(more), finished(l))
	})
	t.Run("score", func(t *testing.T) { onlineScore(t, fresh(), rows) })
	t.Run("weights", func(t *testing.T) { onlineWeights(t, fresh, rows) })
	t.Run("offsets", func(t *testing.T) {
		// An intercept that begins at c and a constant offset c make the same scores, and so
		// the same steps: every engine moves its weights by what it scored.
		const c = -0.5
		for _, weight := range [][]float64{nil, rows.Weight} {
			held, offset := *rows, *rows
			held.Weight, offset.Weight = weight, weight
			held.Offset, offset.Offset = nil, slices.Repeat([]float64{c}, rows.Sparse.Rows)
			a, b := begin(0), begin(c)
			nearAll(t, "score with an offset and with an intercept that begins there", learned(a, &offset), learned(b, &held), precision)
			got := finished(a)
			got[0] += c // the mean of the intercept
			nearAll(t, "weight with an offset and with an intercept that begins there", got, finished(b), precision)
		}
	})
}

// onlineScore checks that scores are those of the weights and of the likelihood that the
// engine describes, which are what a model file keeps.
func onlineScore(t *testing.T, l credence.Online, rows *credence.Batch) {
	learned(l, rows)
	l.Finish()
	fitted := credence.Fitted{Members: make([]credence.Member, 1)}
	l.Describe(&fitted)
	lik, err := credence.Require[credence.Predictive]("conform", "likelihood", fitted.Members[0].Model.Likelihood)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, rows.Sparse.Rows)
	for i := range want {
		w := l.Weight(credence.InterceptSlot)
		mean, variance := rows.Offset[i]+w.Mean, w.Variance
		columns, values := rows.Sparse.Row(i)
		for k, j := range columns {
			w = l.Weight(int(j))
			mean += values[k] * w.Mean
			variance += values[k] * values[k] * w.Variance
		}
		want[i] = lik.PredictiveMean(mean, variance)
	}
	all := *rows
	all.Target = slices.Repeat([]float64{math.NaN()}, rows.Sparse.Rows)
	nearAll(t, "score without a target", learned(l, &all), want, 1e-14)
}

// onlineWeights checks that weights count copies of a row: one step of weight 2ε and
// two steps of weight ε differ by what the first of the two changes for the
// second, which is of order ε of the step. Steps of another weight, δ, which is next to
// nothing, keep the number of rows the same for learners that count rows, to forget or
// to refresh what they know.
func onlineWeights(t *testing.T, fresh func() credence.Online, rows *credence.Batch) {
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
		return finished(l)
	}
	base, once, twice := after(delta, delta), after(2*epsilon, delta), after(epsilon, epsilon)
	for i := range base {
		step := once[i] - base[i]
		if base[i] == 0 && once[i] == 0 && twice[i] == 0 {
			continue // a variance, of which the engine has none
		}
		if step == 0 || !(math.Abs(twice[i]-once[i]) <= order*math.Abs(step)) {
			t.Errorf("slot %d, moment %d: a row of weight 2ε moves it by %g, two of weight ε by %g", i/2-1, 1+i%2, step, twice[i]-base[i])
		}
	}
}

const onlineFeatures = 6

// onlineRows draws n rows of half of the features, with weights and offsets and logistic
// labels.
func onlineRows(n int) *credence.Batch {
	rng := rand.New(rand.NewPCG(41, 42))
	b := &credence.Batch{X: linop.Dense{Rows: n}}
	b.Sparse.Reset(onlineFeatures)
	for range n {
		columns := rng.Perm(onlineFeatures)[:onlineFeatures/2]
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
		b.Target = append(b.Target, likelihood.Bernoulli{}.Sample(rng, f))
		b.Weight = append(b.Weight, []float64{0.5, 1, 2.5}[rng.IntN(3)])
	}
	return b
}

// learned learns the rows and returns their scores.
func learned(l credence.Online, rows *credence.Batch) []float64 {
	probability := make([]float64, rows.Sparse.Rows)
	l.Learn(rows, probability)
	return probability
}

// finished returns the means and variances of the intercept and of the weights.
func finished(l credence.Online) []float64 {
	l.Finish()
	var moments []float64
	for slot := credence.InterceptSlot; slot < onlineFeatures; slot++ {
		w := l.Weight(slot)
		moments = append(moments, w.Mean, w.Variance)
	}
	return moments
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
