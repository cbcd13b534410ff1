package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/table"
)

// TestOneCategory: one category beside a number, three rows a level, by auto and by every engine stated by hand: CPU
// seconds, how far the means of the weights are from those of the closed form or of the full covariance, in standard
// deviations, and what standard deviations of the slope and of the intercept are of theirs. auto takes at most three
// times the fastest of those within .1 that have covariances.
func TestOneCategory(t *testing.T) {
	study.Only(t)
	for _, family := range []likelihood.Family{likelihood.Gaussian{}, likelihood.Poisson{}} {
		normal := fmt.Sprint(family) == "gaussian"
		best := map[bool]string{true: "exact", false: "svi(covariance=full)"}[normal]
		for _, levels := range []int{300, 1000, 2000, 3000, 5000, 10_000, 20_000} {
			rng := rand.New(rand.NewPCG(uint64(levels), 3))
			effects := make([]float64, levels)
			for g := range effects {
				effects[g] = 0.8 * rng.NormFloat64()
			}
			var names []string
			var x, y []float64
			for _, i := range rng.Perm(3 * levels) {
				names, x = append(names, fmt.Sprint("g", i%levels)), append(x, rng.NormFloat64())
				y = append(y, family.(likelihood.Sampler).Sample(rng, 0.5+0.3*x[len(x)-1]+effects[i%levels]))
			}
			rows := must.Value(table.New().Categories("g", names).Numbers("x", x).Numbers("y", y).Source())(t)
			type answer struct {
				fitted         *credence.Fitted
				seconds        float64
				mean, variance []float64
			}
			run := func(engine string) (a answer) {
				a.seconds = math.Inf(1)
				for range 3 {
					began := study.Processor()
					a.fitted = must.Value(Table(t.Context(), rows, Options{Formula: "y ~ x + onehot(g)", Family: fmt.Sprint(family), Engine: engine, Threads: 1}))(t)
					a.seconds = min(a.seconds, (study.Processor() - began).Seconds())
					if a.seconds > time.Second.Seconds() {
						break
					}
				}
				q := a.fitted.Members[0].Posterior
				a.mean, a.variance = make([]float64, q.Weights()), make([]float64, q.Weights())
				q.Marginals(a.mean, a.variance)
				return a
			}
			auto := run("")
			engines := []string{"svi", best, "laplace"}
			if normal {
				engines = append(engines, "convex")
			}
			answers, fastest := map[string]answer{"auto": auto}, math.Inf(1)
			for _, engine := range engines {
				answers[engine] = run(engine)
			}
			want := answers[best]
			for _, engine := range append(engines, "auto") {
				a, square := answers[engine], 0.0
				for j, m := range a.mean {
					square += (m - want.mean[j]) * (m - want.mean[j]) / want.variance[j] / float64(len(a.mean))
				}
				if math.Sqrt(square) <= 0.1 && engine != "auto" && engine != "svi" && a.fitted.Report.Status == credence.Converged {
					fastest = min(fastest, a.seconds)
				}
				t.Logf("%s, %d levels, %s: %.2f CPU s, %s, means %.3f SD off, SDs of intercept and slope %.2f and %.2f", fmt.Sprint(family), levels, engine, a.seconds,
					a.fitted.Report.Status, math.Sqrt(square), math.Sqrt(a.variance[0]/want.variance[0]), math.Sqrt(a.variance[1]/want.variance[1]))
			}
			if auto.fitted.Report.Status != credence.Converged || auto.seconds > 3*fastest {
				t.Errorf("%s, %d levels: auto takes %.2f CPU s, %s, and the fastest engine %.2f", fmt.Sprint(family), levels, auto.seconds, auto.fitted.Report.Status, fastest)
			}
		}
	}
}
