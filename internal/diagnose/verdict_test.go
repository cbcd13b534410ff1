package diagnose

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
)

// TestJudge: a heavy tail of weights that hardly differ says nothing against a posterior; the
// same tail where it carries weight does.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		size float64
		warn bool
	}{{1e-3, false}, {1, true}} {
		elbo := -2.0
		r := credence.Report{ELBO: &elbo}
		logs := make([]float64, 1000)
		for i := range logs {
			// Order statistics of a Pareto distribution of shape 0.9.
			tail := math.Pow(1-(float64(i)+0.5)/1000, -0.9)
			logs[i] = math.Log1p(c.size * tail)
		}
		good := Judge(&r, logs)
		k, share := *r.ParetoK, *r.EffectiveShare
		if !(k > LimitK) || (share < trustedShare) != c.warn || good == c.warn {
			t.Errorf("size %g: k %.2f, share %.4f, reliable %v", c.size, k, share, good)
		}
		if r.EvidenceGapLeast != c.warn {
			t.Errorf("size %g: the gap is at least what is told: %v", c.size, r.EvidenceGapLeast)
		}
		if gap := LogMean(logs) - elbo; *r.EvidenceGap != gap {
			t.Errorf("size %g: gap %g, want %g", c.size, *r.EvidenceGap, gap)
		}
	}
}

// TestVerdict: the verdict names the figure that decides it, speaks against a posterior exactly
// where a warning does, and reassures without reserve only after a converged fit without warnings.
func TestVerdict(t *testing.T) {
	vary, hardly, most, low := 0.8, 0.994, 0.91, 0.05
	for _, c := range []struct {
		k        float64
		share    *float64
		warnings []string
		status   credence.Status
		want     string
	}{
		{0.26, &vary, nil, credence.Converged, "approximation check: the posterior is computed well (Pareto k 0.26)"},
		{0.6, &vary, nil, credence.Converged, "approximation check: the posterior is computed well enough (Pareto k 0.60)"},
		{0.78, &hardly, nil, credence.Converged, "approximation check: the posterior is computed well (importance weights nearly uniform, 99.4 % effective)"},
		{0.99, &most, nil, credence.Converged, "approximation check: the posterior is computed well (importance weights nearly uniform, 91.0 % effective)"},
		{0.78, &vary, nil, credence.Converged, "approximation check: the posterior is perhaps computed well enough (Pareto k 0.78 ± 0.16, effective sample 80 %)"},
		{0.78, &low, nil, credence.Converged, "approximation check: intervals may be too narrow (Pareto k 0.78, effective sample 5 %)"},
		{0.95, &vary, nil, credence.Converged, "approximation check: intervals may be too narrow (Pareto k 0.95, effective sample 80 %)"},
		{0.95, nil, nil, credence.Converged, "approximation check: intervals may be too narrow (Pareto k 0.95)"},
		{0.26, &vary, []string{"a column is constant"}, credence.Converged, "approximation check: the posterior is computed well (Pareto k 0.26)"},
		{0.78, &hardly, []string{"a block has vanished"}, credence.Converged, "approximation check: the posterior is computed well (importance weights nearly uniform, 99.4 % effective)"},
		{0, &hardly, nil, credence.IterationLimit, "approximation check: the fit stopped before it converged, so the posterior may be elsewhere (Pareto k 0.00)"},
		{0.95, &vary, nil, credence.IterationLimit, "approximation check: intervals may be too narrow (Pareto k 0.95, effective sample 80 %)"},
	} {
		got := Verdict(&credence.Report{ParetoK: &c.k, EffectiveShare: c.share, Status: c.status, Warnings: c.warnings})
		if got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if c.share != nil && Reliable(c.k, *c.share) == strings.Contains(got, "may be too narrow") {
			t.Errorf("k %g, share %g: %s, but the warning says otherwise", c.k, *c.share, got)
		}
	}
}
