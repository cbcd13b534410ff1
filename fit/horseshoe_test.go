package fit_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// TestHorseshoe: more columns than rows of which two matter are fitted, saved, loaded and scored, whatever the
// threads; weights that matter stand and others are shrunk; select says why it has nothing to call.
func TestHorseshoe(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const n, p = 40, 60
	y, columns := make([]float64, n), table.New()
	for j := range p {
		x := make([]float64, n)
		for i := range n {
			x[i] = rng.NormFloat64()
			y[i] += map[int]float64{3: 2, 7: -1.5}[j] * x[i]
		}
		columns = columns.Numbers("x"+string(rune('A'+j/26))+string(rune('a'+j%26)), x)
	}
	class := make([]float64, n)
	for i := range n {
		y[i] += 5 + 0.3*rng.NormFloat64()
		if y[i] > 5 {
			class[i] = 1
		}
	}
	rows := must.Value(columns.Numbers("y", y).Numbers("class", class).Source())(t)
	for target, other := range map[string]string{"y": "class", "class": "y"} {
		o := fit.Options{Formula: target + " ~ . - " + other, Prior: "horseshoe", Engine: "gibbs(sweeps=400)", Threads: 1}
		if target == "y" {
			o.Engine = "" // auto
		}
		if job, err := fit.New(o); err != nil {
			t.Fatal(err)
		} else if prepared, err := job.Prepare(t.Context(), rows); err != nil {
			t.Fatal(err)
		} else if why := prepared.Explain()[len(prepared.Explain())-1].Text; target == "y" && why != "gibbs: draws follow the long tails of a horseshoe prior" {
			t.Error(why)
		}
		fitted := must.Value(fit.Table(context.Background(), rows, o))(t)
		if fitted.Report.Engine != "gibbs" || fitted.Report.RHat == nil {
			t.Errorf("%+v", fitted.Report)
		}
		path := filepath.Join(t.TempDir(), "m.safetensors")
		must.Succeed(t, modelfile.Save(path, fitted))
		again := must.Value(modelfile.Load(path))(t)
		terms := must.Value(score.Terms(again, score.TermOptions{}))(t)
		for _, term := range terms {
			want, matters := map[string]float64{"xAd": 2, "xAh": -1.5, "(intercept)": 5}[term.Name]
			if term.Inclusion != nil {
				t.Errorf("%s has an inclusion", term.Name)
			}
			if target == "y" && (!(math.Abs(term.Mean-want) <= 0.35) || !matters && term.SD > 0.3) {
				t.Errorf("%s: %.3f ± %.3f, want %v", term.Name, term.Mean, term.SD, want)
			}
			if sign := math.Copysign(1, want); target == "class" && matters && term.Name != "(intercept)" && sign*term.Mean < 0.5 {
				t.Errorf("%s: %.3f ± %.3f", term.Name, term.Mean, term.SD)
			}
		}
		o.Threads = 2
		twice := must.Value(fit.Table(context.Background(), rows, o))(t)
		row := map[string]any{}
		for _, c := range rows.Schema().Columns {
			row[c.Name] = 0.5
		}
		a, err := score.Row(again, row)
		b, wrong := score.Row(twice, row)
		if err != nil || wrong != nil || a != b {
			t.Errorf("%s: %+v (%v), %+v (%v)", target, a, err, b, wrong)
		}
	}
	if _, err := fit.Select(context.Background(), rows, fit.Options{Formula: "y ~ .", Prior: "horseshoe"}, selection.Options{}); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), "leaves no weight at 0: use spikeslab") {
		t.Errorf("select: %v", err)
	}
	for engine, c := range map[string][2]string{
		"gibbs(flips=1000)": {"horseshoe", "flips is an option for the prior spikeslab"},
		"gibbs(sweeps=100)": {"spikeslab", "sweeps is an option for the prior horseshoe"},
		"ep":                {"horseshoe", "use --prior spikeslab, or --engine gibbs"},
	} {
		if _, err := fit.New(fit.Options{Engine: engine, Prior: c[0]}); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s with %s: %v", engine, c[0], err)
		}
	}
}
