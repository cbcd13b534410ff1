package problem_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// TestLinks: a fit begins where the mean of the family is that of the targets, whatever its link.
func TestLinks(t *testing.T) {
	for text, l := range conform.Links(t) {
		batch := &credence.Batch{X: linop.Dense{Rows: 4}, Target: []float64{0, 0, 0, 1}}
		batch.Sparse.Reset(0)
		rows := must.Value(problem.Open("test", credence.Model{Features: conform.Columns{Intercept: true}, Likelihood: l}, conform.Memory{All: batch}, problem.AllRoles))(t)
		sums := must.Value(rows.Held(t.Context(), credence.NewWorkspace(1)))(t).Sums
		f, ok := sums.Location(l)
		// half a target of 1 more, and of classes half a target of 0
		want := 1.5 / 4
		if _, kind := likelihood.Describe(l); kind == likelihood.Classes {
			want = 1.5 / 5
		}
		if mean := l.Mean(f); !ok || !(math.Abs(mean-want) <= 1e-12) {
			t.Errorf("%s begins at f = %v, %v, where its mean is %v, want %v", text, f, ok, mean, want)
		}
	}
}

// TestHeld: by hand, the sums and scales of four rows of weights and precisions, their units, what they are under other
// features, and that columns which no sum holds and weights of nothing are refused.
func TestHeld(t *testing.T) {
	batch := &credence.Batch{
		X: linop.Dense{Rows: 4, Cols: 1, Stride: 1, Data: []float64{1, 3, 2, 2}}, Target: []float64{5, 6, 7, 9}, Offset: []float64{5, 5, 6, 9},
		Weight: []float64{1, 2, 1, 1}, Precision: []float64{4, 1, 2, 1},
	}
	batch.Sparse.Reset(0)
	ctx, ws := context.Background(), credence.NewWorkspace(1)
	features := conform.Columns{Dense: 1, Intercept: true}
	open := func(l credence.Likelihood, roles problem.Roles) *problem.Held {
		t.Helper()
		rows := must.Value(problem.Open("test", credence.Model{Features: features, Likelihood: l}, conform.Memory{All: batch}, roles))(t)
		held := must.Value(rows.Held(ctx, ws))(t)
		return held
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
			t.Errorf("%s is %.15g, want %.15g", what, got, want)
		}
	}
	h := open(likelihood.Gaussian{}, problem.AllRoles)
	// w·p is 4, 2, 2, 1: the column's mean is 16/9, its square 34/9; y − offset is 0, 1, 1, 0 with the mean 4/9.
	near("Σw", h.Sums.Weight, 5)
	near("Σwp", h.Sums.Square, 9)
	near("½ Σw log p", h.Sums.LogPrecision, math.Log(8)/2)
	near("Σwpφ", h.Sums.Totals[1], 16)
	near("Σwpφ²", h.Sums.Squares[1], 34)
	near("the target's mean", h.Fitted().TargetMean, 33./5)
	near("the target's variance", h.Fitted().TargetVariance, 227./5-33./5*33/5)
	groups := must.Value(problem.Groups("test", features, prior.Normal{}))(t)
	s := h.Sums.Scales(credence.Model{Likelihood: likelihood.Gaussian{}}, groups)
	variance := 4./9 - 16./81
	near("s²", s.Square, variance)
	near("c", s.C[1], math.Sqrt(34./9-256./81))
	near("the noise's scale", s.Noise, math.Sqrt(variance*9/5))
	near("the intercept's mean", s.Intercept.Mean, 4./9)
	near("its variance", s.Intercept.Variance, 100*variance)
	near("x̄", s.Intercept.Columns[1], 16./9)
	u := h.Units(s, s.Intercept.Columns)
	near("the unit", u.Scale, math.Sqrt(variance))
	// N(y | f, σ²/p) to the power w: what a density in units lacks.
	near("the Jacobian", u.Jacobian, math.Log(8)/2-5*math.Log(s.Noise))
	roots := h.Roots()
	near("a root", roots[0], math.Sqrt(4*5./9))
	near("a target", u.Targets(h, roots)[1], math.Sqrt(2*5./9)*(1-4./9)/math.Sqrt(variance))
	if err := h.Transform(ctx, ws, conform.Columns{Dense: 1}); err != nil || len(h.Sums.Totals) != 1 || h.Sums.Totals[0] != 16 {
		t.Errorf("without an intercept the column's sum is %v: %v", h.Sums.Totals, err)
	}
	batch.Precision, batch.Target = nil, []float64{0, 1, 1, 0}
	s = open(likelihood.Bernoulli{}, problem.AllRoles).Sums.Scales(credence.Model{Likelihood: likelihood.Bernoulli{}}, groups)
	near("the mean of classes", s.Intercept.Mean, math.Log(3.5/2.5)-30./5)
	near("s² of classes", s.Square, 6.25)
	counts := open(likelihood.Poisson{}, problem.AllRoles).Sums
	location, _ := counts.Location(likelihood.Poisson{})
	near("the location of counts", location, math.Log(3.5/(3*math.Exp(5)+math.Exp(6)+math.Exp(9))))
	for _, c := range []struct {
		value, weight float64
		want          string
	}{
		{1e200, 1, "test: the squares of feature column linear.1 add up to +Inf: scale the column"},
		{1, 0, "test: the rows' weights add up to 0: at least one must be positive"},
	} {
		batch.X.Data[2] = c.value
		for i := range batch.Weight {
			batch.Weight[i] = c.weight
		}
		rows, err := problem.Open("test", credence.Model{Features: features, Likelihood: likelihood.Bernoulli{}}, conform.Memory{All: batch}, problem.AllRoles)
		if err == nil {
			_, err = rows.Held(ctx, ws)
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("the error reads %v, want %q", err, c.want)
		}
	}
}
