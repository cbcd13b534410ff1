package score_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// bent is a row of a table whose y bends with x, and with z less.
type bent struct{ Y, X, Z float64 }

func bentRows(n int) []bent {
	rng := rand.New(rand.NewPCG(8, 26))
	rows := make([]bent, n)
	for i := range rows {
		rows[i].X, rows[i].Z = 40+10*rng.NormFloat64(), rng.Float64()
		rows[i].Y = 5*math.Sin((rows[i].X-40)/8) + rows[i].Z + .3*rng.NormFloat64()
	}
	return rows
}

// TestSmooths: what a smooth term adds is the difference of f between two rows that differ in its column alone, with
// the variance of that difference; it is told between the ends of the column, along the column that matters most.
func TestSmooths(t *testing.T) {
	rows := bentRows(150)
	low, high, mean := rows[0].X, rows[0].X, 0.0
	for _, r := range rows {
		low, high, mean = min(low, r.X), max(high, r.X), mean+r.X/float64(len(rows))
	}
	for _, c := range []struct {
		formula string
		columns int
		raw     bool
	}{{"Y ~ X + Z + rbf(X, n=20)", 1, false}, {"Y ~ rbf(Z, X, n=30)", 2, false}, {"Y ~ Z + radial(X, centres=8)", 1, false}, {"Y ~ Z + sigmoid(X, centres=6)", 1, false}, {"Y ~ Z + s(X)", 1, false}, {"Y ~ Z + s(X)", 1, true}} {
		source := must.Value(table.Structs(rows))(t)
		model := must.Value(fit.Table(context.Background(), source, fit.Options{Formula: c.formula, Raw: c.raw}))(t)
		smooths := score.Smooths(model)
		if len(smooths) != 1 {
			t.Errorf("%s: %+v", c.formula, smooths)
			continue
		}
		s := smooths[0]
		if s.Straight != strings.Contains(c.formula, "s(X") || s.Column != "X" || s.Columns != c.columns || s.From != low || s.To != high || s.Lowest.At < low || s.Highest.At > high || !(s.Highest.Mean > s.Lowest.Mean) {
			t.Errorf("%s: %+v", c.formula, s)
		}
		zs := 0.0
		for _, r := range rows {
			zs += r.Z / float64(len(rows))
		}
		for _, e := range []*score.Effect{s.Lowest, s.Highest} {
			wantMean, wantSD := difference(t, model, bent{X: e.At, Z: zs}, bent{X: mean, Z: zs}, s.Straight)
			if !(math.Abs(e.Mean-wantMean) <= 1e-8*(1+math.Abs(wantMean))) || !(math.Abs(e.SD-wantSD) <= 1e-6*wantSD) {
				t.Errorf("%s at %v: %v ± %v, want %v ± %v", c.formula, e.At, e.Mean, e.SD, wantMean, wantSD)
			}
		}
	}
}

// difference returns mean and standard deviation of f of one row less that of another, without what the linear part
// adds, but of a term whose straight part that is.
func difference(t *testing.T, model *credence.Fitted, a, b bent, straight bool) (mean, sd float64) {
	t.Helper()
	fr := model.Frame.(*frame.Frame)
	var rows credence.Batch
	must.Succeed(t, must.Value(fr.Bind(must.Value(table.Structs([]bent{a, b}))(t), frame.IgnoreTargets))(t).Read(&rows, 0, 2))
	ws := credence.NewWorkspace(1)
	second := 0.0
	for k := range model.Members {
		m := &model.Members[k]
		var phi credence.Design
		m.Model.Features.Transform(ws, &phi, &rows)
		d := credence.Design{Dense: linop.NewDense(1, phi.Dense.Cols)}
		d.Sparse.Reset(0)
		d.Sparse.AppendRow(nil, nil)
		for _, block := range m.Model.Features.Blocks() {
			for j := block.First; j < block.First+block.Count && (straight || block.Name != "linear"); j++ {
				d.Dense.Row(0)[j] = phi.Dense.Row(0)[j] - phi.Dense.Row(1)[j]
			}
		}
		var f, v [1]float64
		m.Posterior.Latent(ws, f[:], v[:], &d)
		mean += model.Share(k) * f[0]
		second += model.Share(k) * (v[0] + f[0]*f[0])
	}
	return mean, math.Sqrt(second - mean*mean)
}

// TestSmoothsWithoutEnds: a model whose file has no ends tells its smooth terms without what they add, and one of plain
// columns tells none.
func TestSmoothsWithoutEnds(t *testing.T) {
	source := must.Value(table.Structs(bentRows(60)))(t)
	model := must.Value(fit.Table(context.Background(), source, fit.Options{Formula: "Y ~ rbf(X, n=7)"}))(t)
	fr := *model.Frame.(*frame.Frame)
	fr.Inputs = append([]frame.Input{}, fr.Inputs...)
	for i := range fr.Inputs {
		fr.Inputs[i].Ends = nil
	}
	model.Frame = &fr
	if got := score.Smooths(model); len(got) != 1 || got[0] != (score.Smooth{Block: "rbf(X)", Weights: 14, Columns: 1}) {
		t.Errorf("%+v", got)
	}
	plain := must.Value(fit.Table(context.Background(), source, fit.Options{Formula: "Y ~ X"}))(t)
	if got := score.Smooths(plain); got != nil {
		t.Errorf("%+v", got)
	}
}

// TestIntervals: intervals are told unless they are known to hold too few weights.
func TestIntervals(t *testing.T) {
	for share, want := range map[float64]bool{0.01: false, 0.79: false, 0.85: true} {
		if told, why := score.Intervals(&credence.Report{WeightCoverage: &share}); told != want || told != (why == "") {
			t.Errorf("coverage %v: %v, %q", share, told, why)
		}
	}
	if told, _ := score.Intervals(&credence.Report{}); !told {
		t.Error("an unknown coverage hides intervals")
	}
}

// TestSmoothsSayTheSame: in another unit, or of the other sign, a column has its smooth term at other values, and the
// same effects; what stands in a row of weight 0 moves neither its ends nor its effects, and a row of weight 2 is the
// row twice.
func TestSmoothsSayTheSame(t *testing.T) {
	type row struct{ Y, X, W float64 }
	var rows []row
	for i, r := range bentRows(120) {
		rows = append(rows, row{r.Y, r.X, float64(1 + i%2)})
	}
	smooth := func(rows []row) score.Smooth {
		model := must.Value(fit.Table(context.Background(), must.Value(table.Structs(rows))(t), fit.Options{Formula: "Y ~ rbf(X, n=15) + weight(W)"}))(t)
		return score.Smooths(model)[0]
	}
	changed := func(change func(r row) []row) (out []row) {
		for _, r := range rows {
			out = append(out, change(r)...)
		}
		return out
	}
	want := smooth(rows)
	for name, c := range map[string]struct {
		rows   []row
		factor float64
	}{
		"unit":    {changed(func(r row) []row { return []row{{r.Y, 1024 * r.X, r.W}} }), 1024},
		"sign":    {changed(func(r row) []row { return []row{{r.Y, -r.X, r.W}} }), -1},
		"nothing": {append(changed(func(r row) []row { return []row{r} }), row{1e3, 1e6, 0}), 1},
		"copies": {changed(func(r row) (out []row) {
			for range int(r.W) {
				out = append(out, row{r.Y, r.X, 1})
			}
			return out
		}), 1},
	} {
		got := smooth(c.rows)
		from, to := got.From/c.factor, got.To/c.factor
		if c.factor < 0 {
			from, to = to, from
		}
		if !(math.Abs(from-want.From) <= 1e-9) || !(math.Abs(to-want.To) <= 1e-9) {
			t.Errorf("%s: from %v to %v, want %v to %v", name, got.From, got.To, want.From, want.To)
		}
		for _, pair := range [][2]*score.Effect{{got.Lowest, want.Lowest}, {got.Highest, want.Highest}} {
			// Searches end within 1e-6 nats a row of each other.
			if !(math.Abs(pair[0].At/c.factor-pair[1].At) <= 1e-6) || !(math.Abs(pair[0].Mean-pair[1].Mean) <= 1e-2*pair[1].SD) || !(math.Abs(pair[0].SD/pair[1].SD-1) <= 1e-2) {
				t.Errorf("%s: %+v, want %+v", name, *pair[0], *pair[1])
			}
		}
	}
}
