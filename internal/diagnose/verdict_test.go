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
		if gap := LogMean(logs) - elbo; *r.EvidenceGap != gap {
			t.Errorf("size %g: gap %g, want %g", c.size, *r.EvidenceGap, gap)
		}
	}
}

// TestVerdict: the verdict names the figure that decides it, speaks against a posterior exactly
// where a warning does, and reassures without reserve only after a converged fit without warnings.
func TestVerdict(t *testing.T) {
	vary, hardly, low := 0.8, 0.994, 0.05
	for _, c := range []struct {
		k        float64
		share    *float64
		warnings []string
		status   credence.Status
		want     string
	}{
		{0.26, &vary, nil, credence.Converged, "Pareto k 0.26: the approximation is close to the posterior"},
		{0.6, &vary, nil, credence.Converged, "Pareto k 0.60: the approximation is usable"},
		{0.78, &hardly, nil, credence.Converged, "Pareto k 0.78, effective share 0.994: the weights of draws hardly vary, so the approximation is close to the posterior"},
		{0.78, &vary, nil, credence.Converged, "Pareto k 0.78 ± 0.16, effective share 0.80: at the limit of 0.7, and the approximation may be usable"},
		{0.78, &low, nil, credence.Converged, "Pareto k 0.78, effective share 0.05: the spread of the approximation is not to be relied on"},
		{0.95, &vary, nil, credence.Converged, "Pareto k 0.95, effective share 0.80: the spread of the approximation is not to be relied on"},
		{0.95, nil, nil, credence.Converged, "Pareto k 0.95: the spread of the approximation is not to be relied on"},
		{0.26, &vary, []string{"a column is constant"}, credence.Converged, "Pareto k 0.26: the approximation is close to the posterior of this model, of which the warnings speak"},
		{0.78, &hardly, []string{"a block has vanished"}, credence.Converged, "Pareto k 0.78, effective share 0.994: the weights of draws hardly vary, so the approximation is close to the posterior of this model, of which the warnings speak"},
		{0, &hardly, nil, credence.IterationLimit, "Pareto k 0.00, but the fit stopped before it had converged: the posterior may be elsewhere"},
		{0.95, &vary, nil, credence.IterationLimit, "Pareto k 0.95, effective share 0.80: the spread of the approximation is not to be relied on"},
	} {
		got := Verdict(&credence.Report{ParetoK: &c.k, EffectiveShare: c.share, Status: c.status, Warnings: c.warnings})
		if got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if c.share != nil && Reliable(c.k, *c.share) == strings.Contains(got, "not to be relied on") {
			t.Errorf("k %g, share %g: %s, but the warning says otherwise", c.k, *c.share, got)
		}
	}
}
