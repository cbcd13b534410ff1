package exact

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestBends compares the curvature by formulas with differences of the slopes, and the slopes of the moments with
// differences of the moments.
func TestBends(t *testing.T) {
	ctx := context.Background()
	for name, p := range problems() {
		if keyed, ok := p.features.(ability.Keyed); ok && len(keyed.LevelRuns()) > 0 {
			continue // differences have to do
		}
		if p.data.Rows() > 100 || len(p.features.Blocks()) == 0 {
			continue
		}
		e := must.Value(New(model(p.features, prior.Normal{}, likelihood.Gaussian{}), Config{}))(t)
		at := values{noise: 0.4}
		for k := range e.groups {
			at.prior = append(at.prior, 0.3+0.4*float64(k))
		}
		for kind, f := range forms(t, e, p.data) {
			if kind == "dual" {
				continue
			}
			t.Run(fmt.Sprintf("%s %s", name, kind), func(t *testing.T) {
				must.Succeed(t, f.load(ctx, p.features))
				s := slopes{prior: make([]float64, len(at.prior))}
				moved := func(i int, by float64) ([]float64, hyper.Point) {
					v := values{noise: at.noise, prior: append([]float64(nil), at.prior...)}
					if i == 0 {
						v.noise *= math.Exp(2 * by)
					} else {
						v.prior[i-1] *= math.Exp(2 * by)
					}
					must.Value(f.evaluate(ctx, &v, &s))(t)
					var q hyper.Point
					f.moments(&v, &q)
					slope := []float64{2 * s.noise}
					for _, x := range s.prior {
						slope = append(slope, 2*x)
					}
					return slope, q
				}
				moved(0, 0)
				b := f.bends(&at)
				const h = 1e-4
				for i := range len(at.prior) + 1 {
					up, above := moved(i, h)
					down, below := moved(i, -h)
					for k := range up {
						near(t, fmt.Sprintf("curvature %d %d", i, k), b.hessian.At(i, k), (up[k]-down[k])/(2*h), 1e-6)
					}
					for j := range above.Variance {
						near(t, "slope of a mean", b.slopes.Mean[i*len(above.Variance)+j], (above.Mean[j]-below.Mean[j])/(2*h), 1e-6)
						near(t, "slope of a variance", b.slopes.Variance[i*len(above.Variance)+j], (above.Variance[j]-below.Variance[j])/(2*h), 1e-6)
					}
				}
			})
		}
	}
}
