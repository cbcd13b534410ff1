package ep

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestForms compares the forms by rows and by columns at the same sites, for dense and for sparse columns.
func TestForms(t *testing.T) {
	near := func(what string, got, want []float64, tolerance float64) {
		t.Helper()
		for i, v := range want {
			if !(math.Abs(got[i]-v) <= tolerance*(1+math.Abs(v))) {
				t.Errorf("%s: number %d is %.12g by rows, %.12g by columns", what, i, got[i], v)
			}
		}
	}
	for _, sparse := range []bool{false, true} {
		s := conform.NewSelection(15, 24, 4, 0.3, 1, 0.5, sparse, 6)
		s.Divide(0)
		e := must.Value(New(credence.Model{Features: s.Features, Likelihood: likelihood.Bernoulli{}, Prior: prior.SpikeSlab{}}, Config{}))(t)
		f := must.Value(e.newFit(context.Background(), conform.Memory{All: &s.Batch}))(t)
		rows, weights := make([]site, 15), make([]site, 25)
		for i := range rows {
			rows[i] = site{1e-6 + math.Pow(0.3*float64(i%6), 3), math.Sin(float64(i))}
		}
		for j := range weights {
			weights[j] = site{0.5 + float64(j*j%7), math.Cos(float64(j))}
		}
		byRows := f.q
		if _, ok := byRows.form.(*dual); !ok {
			t.Fatalf("%T", byRows.form)
		}
		byColumns := newNormal(f.Table, f.ws, Full)
		byColumns.form = newPrimal(f.ws, 15, 25)
		apart := newNormal(f.Table, f.ws, Diagonal)
		for _, q := range []*normal{byRows, byColumns, apart} {
			must.Succeed(t, q.take(weights, rows, true))
		}
		near("means", byRows.mean, byColumns.mean, 1e-9)
		near("means of the diagonal form", apart.mean, byColumns.mean, 10*meanTolerance)
		near("variances", byRows.variance, byColumns.variance, 1e-9)
		near("means of rows", byRows.rowMean, byColumns.rowMean, 1e-9)
		near("variances of rows", byRows.rowVariance, byColumns.rowVariance, 1e-8)
		near("log integral", []float64{byRows.integral(byRows)}, []float64{byColumns.integral(byColumns)}, 1e-9)
	}
}
