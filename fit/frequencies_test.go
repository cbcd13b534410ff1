package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/spec"
	"github.com/credence-ml/credence/table"
)

// waves is a table of the columns a to h, uniform on ±2, and counts whose rate is exp(f).
func waves(t *testing.T, rows int, f func(x []float64) float64) credence.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 3))
	columns, counts := make([][]float64, 8), make([]float64, rows)
	for i := range rows {
		var x []float64
		for j := range columns {
			x = append(x, 4*rng.Float64()-2)
			columns[j] = append(columns[j], x[j])
		}
		counts[i] = likelihood.Poisson{}.Sample(rng, f(x))
	}
	b := table.New().Numbers("y", counts)
	for j, column := range columns {
		b.Numbers(string(rune('a'+j)), column)
	}
	return must.Value(b.Source())(t)
}

// Above 2,000 weights auto draws fewer frequencies, the largest numbers first and those that were left out before those
// stated, and says so; an engine that is named keeps what the formula says.
func TestNoSmoothIsTakenForIndependent(t *testing.T) {
	rows := waves(t, 60, func(x []float64) float64 { return x[0] / 2 })
	for _, c := range []struct {
		formula, engine string
		want            string // numbers of frequencies
		said            string // in the warning
	}{
		{"y ~ rbf(a) + rbf(a, b)", "", "rbf(a)=50 rbf(a, b)=60", ""},
		{"y ~ rbf(a, b, c) + rbf(d, e, f) + rbf(a, n=400) + rbf(b, n=300)", "", "rbf(a, b, c)=149 rbf(d, e, f)=149 rbf(a)=400 rbf(b)=300",
			"of rbf(a, b, c) 149 frequencies are drawn in place of 250, of rbf(d, e, f) 149 frequencies are drawn in place of 250: above 2000 weights"},
		{"y ~ rbf(a, n=3000) + rbf(b)", "", "rbf(a)=989 rbf(b)=10", "of rbf(a) 989 frequencies are drawn in place of 3000, of rbf(b) 10"},
		{"y ~ rbf(a, n=3000)", "svi", "rbf(a)=3000", ""},
	} {
		job := must.Value(New(Options{Formula: c.formula, Family: "poisson", Prior: "normal(variance=1)", Engine: c.engine}))(t)
		p := must.Value(job.Prepare(t.Context(), rows))(t)
		var got []string
		for _, d := range p.Frequencies() {
			got = append(got, fmt.Sprintf("%s=%d", d.Term, d.Count))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.formula, got, c.want)
		}
		if p.Model().Features.Weights() > 2000 == (c.engine == "") {
			t.Errorf("%s: %d weights", c.formula, p.Model().Features.Weights())
		}
		if !strings.HasPrefix(p.fewer, c.said) || c.said == "" && p.fewer != "" {
			t.Errorf("%s: %q, want %q", c.formula, p.fewer, c.said)
		}
		if p.entry.diagonal(must.Value(spec.ParseSpec(p.call))(t)) != (c.engine == "svi") {
			t.Errorf("%s: %s", c.formula, p.call)
		}
	}
}

// Independent weights that were asked for make a curve too narrow, and the warning names the remedy.
func TestIndependentWeightsOfASmoothAreWarnedOf(t *testing.T) {
	rows := waves(t, 400, func(x []float64) float64 { return 1 + math.Sin(2*x[0]) })
	fitted := must.Value(Table(t.Context(), rows, Options{Formula: "y ~ rbf(a, n=1001, lengthscale=1)", Family: "poisson", Engine: "svi(iterations=30)"}))(t)
	const want = "state fewer frequencies of rbf(a), n=50 for one column and n=100 for two, with covariance=full"
	if !strings.Contains(strings.Join(fitted.Report.Warnings, "; "), want) {
		t.Errorf("%q, want %q", fitted.Report.Warnings, want)
	}
	if n := fitted.Report.Frequencies; len(n) != 1 || n[0] != (credence.Value{Name: "rbf(a)", Value: 1001}) {
		t.Errorf("frequencies are %v", n)
	}
}
