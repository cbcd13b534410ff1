package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// levelled draws rows of two categories and a number. more adds a row of weight 0, which has a level of either category
// that no other row has.
func levelled(t *testing.T, more bool, target func(f float64, rng *rand.Rand) float64) credence.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 26))
	var g, h []string
	var x, y, w []float64
	effects := make([]float64, 20)
	for k := range effects {
		effects[k] = rng.NormFloat64()
	}
	for i := range 120 {
		level, other := i%12, i*7%5
		g, h, x = append(g, fmt.Sprint("g", level)), append(h, fmt.Sprint("h", other)), append(x, 5+rng.NormFloat64())
		f := 0.5*effects[level] + 0.4*effects[12+other] + (0.3+0.4*effects[19-level])*(x[i]-5)
		y, w = append(y, target(f, rng)), append(w, 1)
	}
	if more {
		g, h, x, y, w = append(g, "new"), append(h, "new"), append(x, 5), append(y, y[0]), append(w, 0)
	}
	return must.Value(table.New().Categories("g", g).Categories("h", h).Numbers("x", x).Numbers("y", y).Numbers("w", w).Source())(t)
}

// TestUnseenLevelsAreLevelsWithoutRows: a level that no row of training has is scored as the same model
// scores a level that is there without a row, whose weight has the prior for a posterior, under every posterior.
func TestUnseenLevelsAreLevelsWithoutRows(t *testing.T) {
	gaussian := func(f float64, rng *rand.Rand) float64 { return f + 0.5*rng.NormFloat64() }
	class := func(f float64, rng *rand.Rand) float64 {
		if f+rng.NormFloat64() > 0 {
			return 1
		}
		return 0
	}
	const exact, searched = 1e-6, 2e-3
	for _, c := range []struct {
		formula, family, prior, engine string
		target                         func(f float64, rng *rand.Rand) float64
		tolerance                      float64
	}{
		{"y ~ x + onehot(g)", "", "", "", gaussian, exact},
		{"y ~ x + g + h", "", "", "exact(hyper=mode)", gaussian, exact},
		{"y ~ x + onehot(g) + g:x", "", "", "", gaussian, exact},
		{"y ~ onehot(g) + onehot(h) + g:h", "", "", "", gaussian, exact},
		{"y ~ g:h - 1", "", "", "exact", gaussian, exact},
		{"y ~ x + (1|g)", "", "", "", gaussian, exact},
		{"y ~ x + (x||g, sd=0.3) + (1|h)", "", "normal(variance=2)", "", gaussian, exact},
		{"y ~ x + (1|g/h)", "", "", "", gaussian, exact},
		{"y ~ x + (x||g)", "bernoulli", "", "", class, searched},
		{"y ~ x + onehot(g)", "bernoulli", "", "svi", class, searched},
		{"y ~ x + onehot(g) + g:x", "bernoulli", "", "svi(covariance=diagonal)", class, searched},
		{"y ~ x + onehot(g)", "bernoulli", "normal", "laplace", class, searched},
		{"y ~ x + onehot(g)", "", "", "convex", gaussian, searched},
		{"y ~ x + onehot(g)", "studentt", "", "svi", gaussian, searched},
		{"y ~ x + keep(g)", "", "spikeslab(inclusion=0.5, slab=1)", "ep", gaussian, searched},
		{"y ~ x + onehot(g)", "", "spikeslab(inclusion=0.3, slab=1)", "ep", gaussian, searched},
	} {
		name := c.formula + ", " + c.engine
		var latent [2][][2]float64
		for k := range latent {
			o := fit.Options{Formula: c.formula + " + weight(w)", Family: c.family, Prior: c.prior, Engine: c.engine, Seed: 1, Unseen: "prior", Threads: 1}
			fitted := must.Value(fit.Table(t.Context(), levelled(t, k == 1, c.target), o))(t)
			bound := must.Value(score.Bind[map[string]any](must.Value(score.New(fitted, score.Options{}))(t)))(t)
			for _, row := range []map[string]any{{"g": "new", "h": "h1", "x": 6.5}, {"g": "g3", "h": "new", "x": 4.0}, {"g": "new", "h": "new", "x": 7.0}, {"g": "g1", "h": "h2", "x": 5.5}} {
				must.Succeed(t, bound.Rows([]map[string]any{row}, func(rows *score.Rows) error {
					mean, variance := rows.Latent(0)
					latent[k] = append(latent[k], [2]float64{mean, math.Sqrt(variance)})
					return nil
				}))
			}
		}
		for i, want := range latent[1] {
			got := latent[0][i]
			if !(math.Abs(got[0]-want[0]) <= c.tolerance*want[1]) || !(math.Abs(got[1]-want[1]) <= c.tolerance*want[1]) {
				t.Errorf("%s, row %d: f is %.8g ± %.8g, with the level %.8g ± %.8g", name, i, got[0], got[1], want[0], want[1])
			}
		}
		if !(latent[0][0][1] > 1.1*latent[0][3][1]) {
			t.Errorf("%s: a level not seen is known to %v, another to %v", name, latent[0][0][1], latent[0][3][1])
		}
	}
}
