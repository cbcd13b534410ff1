package posterior

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/arrow"
	"github.com/credence-ml/credence/linop"
)

// randomArrow is the posterior of weights of variance 1 and random rows of dense columns and some levels of several
// columns.
func randomArrow(t testing.TB, dense, levels, columns int) *Arrow {
	t.Helper()
	rng := rand.New(rand.NewPCG(21, 22))
	d := dense + levels*columns
	cells := linop.CSR{Rows: levels, Cols: d, Start: make([]int, levels+1)}
	pattern, err := arrow.New(d, dense, [][]ability.LevelRun{{{Key: "g", First: dense, Levels: levels, Columns: columns}}}, cells)
	if err != nil {
		t.Fatal(err)
	}
	ws := credence.NewWorkspace(1)
	phi := &credence.Design{Dense: linop.NewDense(3*levels, dense)}
	phi.Sparse.Reset(d - dense)
	for i := range 3 * levels {
		for j := range dense {
			phi.Dense.Row(i)[j] = rng.NormFloat64()
		}
		var places []int32
		var values []float64
		for c := range columns {
			places, values = append(places, int32(i%levels*columns+c)), append(values, rng.NormFloat64())
		}
		phi.Sparse.AppendRow(places, values)
	}
	h, covariance, ones, mean := make([]float64, pattern.Len()), make([]float64, pattern.Len()), make([]float64, d), make([]float64, d)
	for j := range ones {
		ones[j], mean[j] = 1, rng.NormFloat64()
	}
	pattern.AddRows(ws, h, phi, nil)
	pattern.Close(h)
	factor := pattern.NewFactor(ws)
	if lost := factor.Set(h, 0.3, ones, []float64{0}); lost >= 0 {
		t.Fatalf("weight %d is lost", lost)
	}
	factor.Inverse(covariance)
	return NewArrow(mean, pattern, covariance, 0)
}

// TestArrowConforms: rows of the suite have any levels together, so that their variances are those of sums of rows.
func TestArrowConforms(t *testing.T) {
	for _, s := range [][3]int{{3, 5, 1}, {4, 6, 3}, {0, 7, 2}, {9, 1, 4}} {
		checkPosterior(t, randomArrow(t, s[0], s[1], s[2]), s[1]*s[2], 1e-11)
	}
}

func TestArrowRefuses(t *testing.T) {
	for name, spoil := range map[string]func(q *Arrow){
		"numbers of a covariance":            func(q *Arrow) { q.Values = q.Values[1:] },
		"degrees of freedom":                 func(q *Arrow) { q.DF = 2 },
		"levels of 2 weights":                func(q *Arrow) { q.Heads[0][0].Levels = 9 },
		"13 weights, 14 of them dense":       func(q *Arrow) { q.Dense = 14 },
		"cells of 4 levels":                  func(q *Arrow) { q.Cells.Sparse.Rows = 4 },
		"weight 3 belongs to two levels":     func(q *Arrow) { q.Heads[0] = append(q.Heads[0], q.Heads[0][0]) },
		"13 weights, 3 of them dense, and c": func(q *Arrow) { q.Cells.Sparse.Cols = 2 },
	} {
		good := randomArrow(t, 3, 5, 2)
		q := &Arrow{Mean: good.Mean, Dense: good.Dense, Heads: good.Heads, Cells: good.Cells, Values: good.Values}
		if err := q.Validate(); err != nil {
			t.Fatal(err)
		}
		q = &Arrow{Mean: good.Mean, Dense: good.Dense, Heads: good.Heads, Cells: good.Cells, Values: good.Values}
		spoil(q)
		if err := q.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestArrowOfNestedLevels: four rows, each a level of its own, two and two of them within a level of another key,
// beside an intercept. ΦΦᵀ has the eigenvalues 7 of the constant, 3 of the difference of pairs and 1, twice, of those
// within pairs, so that the variance of a row is (7/8 + 3/4 + 1/2 + 1/2)/4.
func TestArrowOfNestedLevels(t *testing.T) {
	cells := linop.CSR{Rows: 6, Cols: 7, Start: []int{0, 1, 2, 3, 4, 4, 4}, Index: []int32{4, 4, 5, 5}}
	runs := [][]ability.LevelRun{{{Key: "h in g", First: 1, Levels: 4, Columns: 1}}, {{Key: "g", First: 5, Levels: 2, Columns: 1}}}
	pattern, err := arrow.New(7, 1, runs, cells)
	if err != nil {
		t.Fatal(err)
	}
	phi := &credence.Design{Dense: linop.NewDense(4, 1)}
	phi.Sparse.Reset(6)
	for i := range 4 {
		phi.Dense.Row(i)[0] = 1
		phi.Sparse.AppendRow([]int32{int32(i), int32(4 + i/2)}, []float64{1, 1})
	}
	ws := credence.NewWorkspace(1)
	h, covariance := make([]float64, pattern.Len()), make([]float64, pattern.Len())
	pattern.AddRows(ws, h, phi, nil)
	pattern.Close(h)
	factor := pattern.NewFactor(ws)
	if lost := factor.Set(h, 1, []float64{1, 1, 1, 1, 1, 1, 1}, []float64{0}); lost >= 0 {
		t.Fatalf("weight %d is lost", lost)
	}
	factor.Inverse(covariance)
	q := NewArrow([]float64{1, 2, 3, 4, 5, 6, 7}, pattern, covariance, 7)
	if err := q.Validate(); err != nil || q.LatentDF() != 7 {
		t.Fatalf("%v, %v degrees of freedom", err, q.LatentDF())
	}
	mean, variance := make([]float64, 4), make([]float64, 4)
	q.Latent(ws, mean, variance, phi)
	for i, want := range []float64{9, 10, 12, 13} {
		if mean[i] != want || !(math.Abs(variance[i]-0.65625) <= 1e-12) {
			t.Errorf("row %d: %v ± %v", i, mean[i], variance[i])
		}
	}
}

// TestArrowDrawsAreStudent: a draw of 9 degrees of freedom has the covariance, and the kurtosis 3·7/5.
func TestArrowDrawsAreStudent(t *testing.T) {
	q := randomArrow(t, 1, 2, 1)
	q.DF = 9
	sampler, err := NewSampler(credence.NewWorkspace(1), q, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	rng, dst := rand.New(rand.NewPCG(3, 4)), make([]float64, 3)
	mean, variance := make([]float64, 3), make([]float64, 3)
	q.Marginals(mean, variance)
	second, fourth := 0.0, 0.0
	const n = 40000
	for range n {
		sampler.Draw(rng, dst)
		v := (dst[1] - mean[1]) * (dst[1] - mean[1]) / variance[1]
		second, fourth = second+v/n, fourth+v*v/n
	}
	if kurtosis := fourth / (second * second); !(math.Abs(second-1) <= 0.05) || !(math.Abs(kurtosis-4.2) <= 0.6) {
		t.Errorf("a variance of %v, a kurtosis of %v", second, kurtosis)
	}
}
